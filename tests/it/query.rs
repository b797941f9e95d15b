//! A look-up from outside: what it answers, what it leaves out and why, and the form of its JSON.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::{ATTENTION, RECORDS, Sandbox, pluck, string};

fn keys(value: &Value) -> BTreeSet<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

#[test]
fn the_json_form_has_every_key_of_the_contract() {
    let sandbox = Sandbox::new();
    let reasoned = ["--reason", "range scans", "--session", "s1"];
    let selected = sandbox.record_with("the cache uses a B-tree", &["src/cache.rs"], &reasoned);
    sandbox.record("unrelated words entirely", &["src/os"]);
    let commit = sandbox.git(&["rev-parse", "HEAD"]);
    let found = sandbox.json(&[
        "query",
        "change the cache",
        "--node",
        "src/os",
        "--node",
        "nowhere",
    ]);

    let wanted = [
        "attention_id",
        "commit",
        "code_tree",
        "corpus",
        "rule",
        "policy",
        "task",
        "current_nodes",
        "session",
        "time",
        "selection",
        "threshold",
        "candidates",
        "best",
        "focus_size",
        "focus_expansion",
        "focus_hop_skipped",
        "unresolved_nodes",
        "items",
        "rejected",
        "extractor",
        "visible",
        "digest",
        "rendered",
    ];
    let missing: Vec<_> = wanted
        .iter()
        .filter(|key| found.get(key).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(found["attention_id"].as_str().map(str::len), Some(64));
    assert_eq!(found["commit"], json!(commit));
    assert_eq!(
        found["code_tree"],
        json!(sandbox.git(&["rev-parse", "HEAD^{tree}"]))
    );
    assert_eq!(found["corpus"], json!(sandbox.git(&["rev-parse", RECORDS])));
    assert_eq!(
        (&found["rule"], &found["policy"]["rule"]),
        (&json!("seed/1"), &json!("seed/1"))
    );
    assert_eq!(found["policy"]["noise_floor"], json!(0.037));
    assert_eq!(
        (&found["task"], &found["session"]),
        (&json!("change the cache"), &Value::Null)
    );
    assert_eq!(found["current_nodes"], json!(["nowhere", "src/os"]));
    assert_eq!(found["time"], json!(sandbox.now()));
    assert_eq!(
        (&found["selection"], &found["candidates"]),
        (&json!("rank"), &json!(2))
    );
    assert_eq!(found["focus_expansion"]["nowhere"], json!(0));
    assert!(
        found["focus_expansion"]["src/os"].as_u64() >= Some(2),
        "the directory and the file in it"
    );
    assert!(found["focus_size"].as_u64() >= Some(2));
    assert_eq!(
        (&found["focus_hop_skipped"], &found["unresolved_nodes"]),
        (&json!(false), &json!(["nowhere"]))
    );

    let item = &found["items"][0];
    let wanted = [
        "id", "session", "kind", "text", "reasons", "nodes", "anchors", "time", "verdict", "score",
        "factors", "ground",
    ];
    assert_eq!(
        keys(item),
        BTreeSet::from(wanted),
        "no copies, so no key for them"
    );
    assert_eq!(
        (&item["id"], &item["session"], &item["kind"]),
        (&json!(selected), &json!("s1"), &json!("decision"))
    );
    assert_eq!(
        (&item["reasons"], &item["nodes"]),
        (&json!(["range scans"]), &json!(["src/cache.rs"]))
    );
    assert_eq!(
        (&item["anchors"], &item["time"]),
        (&json!([commit]), &json!(sandbox.now()))
    );
    assert_eq!(
        (&item["verdict"], &item["text"]),
        (&Value::Null, &json!("the cache uses a B-tree"))
    );
    assert_eq!(
        item["ground"],
        json!([{"node": "src/cache.rs", "state": "same", "now": "src/cache.rs"}])
    );
    let factors = BTreeSet::from([
        "semantic",
        "structural",
        "bonus",
        "recency",
        "live_ratio",
        "corroboration",
    ]);
    assert_eq!(keys(&item["factors"]), factors);

    let rejected = &found["rejected"][0];
    let wanted = [
        "id", "session", "kind", "nodes", "verdict", "score", "factors", "reason",
    ];
    assert_eq!(
        keys(rejected),
        BTreeSet::from(wanted),
        "never its text; `by` only where there is one"
    );
    assert_eq!(
        (&rejected["reason"], keys(&rejected["factors"])),
        (&json!("below_floor"), factors)
    );
    assert!(
        !found.to_string().contains("unrelated"),
        "the text of what was turned down stays in the store"
    );
}

#[test]
fn oneline_gives_each_selected_record_a_line_with_its_whole_text() {
    let sandbox = Sandbox::new();
    let text = format!("the cache\nkeeps {}", "very ".repeat(60));
    let text = text.trim();
    let id = sandbox.record_with(text, &["src/cache.rs"], &["--kind", "constraint"]);
    sandbox.record("something else", &[]);
    let out = sandbox
        .run(&["query", "what of the cache and what it keeps", "--oneline"])
        .out;
    let [line] = out.lines().collect::<Vec<_>>()[..] else {
        panic!("{out}")
    };
    let parts: Vec<&str> = line.splitn(4, "  ").collect();
    assert!(
        parts[0].parse::<f64>().is_ok_and(|score| score > 0.0),
        "{line}"
    );
    assert!(id.starts_with(parts[1]) && parts[1].len() >= 7, "{line}");
    assert_eq!(
        (parts[2], parts[3]),
        ("constraint", text.replace('\n', " ").as_str())
    );
    assert_eq!(
        sandbox
            .run(&["query", "nothing fits this", "--oneline"])
            .out,
        ""
    );
}

#[test]
fn nothing_selected_says_what_was_looked_at() {
    let sandbox = Sandbox::new();
    let empty = sandbox.json(&["query", "anything"]);
    assert_eq!(
        (&empty["candidates"], &empty["best"], &empty["threshold"]),
        (&json!(0), &Value::Null, &json!(0.037))
    );
    for n in 0..7 {
        sandbox.record(&format!("record number {n}"), &[]);
    }
    let found = sandbox.json(&["query", "quite different words"]);
    assert_eq!(
        (&found["candidates"], &found["items"]),
        (&json!(7), &json!([]))
    );
    assert_eq!(
        (&found["best"], &found["threshold"]),
        (&json!(0.0), &json!(0.037))
    );
    let out = sandbox.run(&["query", "quite different words"]).out;
    assert!(out.contains("7 records") && out.contains("0.037"), "{out}");
    assert!(out.contains(&string(&found["attention_id"])), "{out}");
}

#[test]
fn the_task_may_come_from_standard_input() {
    let sandbox = Sandbox::new();
    sandbox.record("the cache uses a B-tree", &[]);
    let said = sandbox.feed(
        b"which tree does the cache use\n",
        0,
        &["query", "-", "--json"],
    );
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(found["task"], "which tree does the cache use");
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_node_is_named_from_where_one_stands() {
    let sandbox = Sandbox::new();
    let named = |dir: &str, node: &str| -> Value {
        let said = sandbox.exits_in(
            dir,
            0,
            &["query", "x", "--node", node, "--json", "--no-record"],
        );
        serde_json::from_str::<Value>(&said.out).expect("JSON")["current_nodes"][0].clone()
    };
    let absolute = sandbox.path("src/os/disk.rs").display().to_string();
    let cases = [
        ("r", "src/os/disk.rs"),
        ("r", "./src//os/disk.rs"),
        ("r", "src\\os\\disk.rs"),
        ("r/src", "os/disk.rs"),
        ("r/src/os", "../os/disk.rs"),
        ("r/src", absolute.as_str()),
    ];
    for (dir, node) in cases {
        assert_eq!(named(dir, node), "src/os/disk.rs", "{node} in {dir}");
    }
    assert_eq!(
        (named("r", "src/os/"), named("r/src", "..")),
        (json!("src/os"), json!("."))
    );
    sandbox.exits(128, &["query", "x", "--node", "../outside"]);
}

#[test]
fn a_look_up_need_not_be_recorded() {
    let sandbox = Sandbox::new();
    sandbox.record("the cache is cold", &[]);
    let said = sandbox.run(&["query", "the cache", "--no-record", "--json"]);
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (&found["attention_id"], said.err.as_str()),
        (&Value::Null, "")
    );
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(sandbox.git(&["for-each-ref", ATTENTION]), "");
}

#[test]
fn a_store_that_cannot_be_written_still_answers() {
    let sandbox = Sandbox::new();
    let id = sandbox.record("the cache is cold", &[]);
    // Not by file modes, which do not stop root: the folder of the lock file cannot be made.
    let folder = sandbox.path(".git/score-context");
    fs::remove_dir_all(&folder).expect("removed");
    fs::write(&folder, "").expect("written");
    let said = sandbox.run(&["query", "the cache", "--json"]);
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (&found["attention_id"], pluck(&found["items"], "id")),
        (&Value::Null, vec![id.clone()])
    );
    assert!(said.err.starts_with("warning: "), "{}", said.err);
    assert!(sandbox.run(&["query", "the cache"]).out.contains(&id[..7]));
    assert!(
        sandbox
            .exits(128, &["record", "cannot be kept"])
            .err
            .starts_with("fatal: ")
    );
    fs::remove_file(&folder).expect("removed");
    assert_eq!(sandbox.log_ids(), BTreeSet::from([id]));
}

#[test]
fn the_same_question_in_two_clones_has_the_same_bytes() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        let nodes: &[&str] = if n % 2 == 0 {
            &["src/cache.rs"]
        } else {
            &["src/os", "src/cache.rs"]
        };
        sandbox.record_with(
            &format!("decision {n} about the cache or the disk"),
            nodes,
            &["--session", &format!("s{}", n % 3)],
        );
    }
    sandbox.run(&["outcome", "t", "--verdict", "fail"]);
    sandbox.git_in(".", &["clone", "-q", "r", "clone"]);
    sandbox.git_in(".", &["clone", "-q", "--bare", "r", "bare.git"]);
    let ask = |dir: &str| {
        let said = sandbox.exits_in(
            dir,
            0,
            &[
                "query",
                "which cache for the disk",
                "--node",
                "src/os",
                "--json",
            ],
        );
        assert_eq!(said.err, "");
        (said.out, sandbox.git_in(dir, &["rev-parse", ATTENTION]))
    };
    let first = ask("r");
    for other in ["clone", "bare.git"] {
        sandbox.also_check(other);
        sandbox.git_in(
            other,
            &[
                "fetch",
                "-q",
                "../r",
                "+refs/score-local/records:refs/score-local/records",
            ],
        );
        assert_eq!(ask(other), first, "{other}");
    }
    assert_eq!(
        ask("r"),
        first,
        "asked again at the same time it is the same look-up"
    );
    sandbox.step(1);
    assert_ne!(ask("r").1, first.1, "the clock is an input");
}
