//! What history says: trailers and messages become records that stand where they were said, each once, however often it is asked.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Sandbox, collect, pluck, string, strings};

/// The figures of a report: added, anchored, known.
pub fn ingest(sandbox: &Sandbox, more: &[&str]) -> (u64, u64, u64) {
    let report = sandbox.json(&[&["ingest"], more].concat());
    let count = |key: &str| report[key].as_u64().expect("a number");
    (count("added"), count("anchored"), count("known"))
}

pub fn line_of(sandbox: &Sandbox, text: &str) -> Value {
    let mut lines = sandbox.json_lines(&["log", "--grep", text]);
    assert_eq!(lines.len(), 1, "one record says '{text}'");
    lines.remove(0)
}

#[test]
fn trailers_become_records_that_stand_at_their_commit() {
    let sandbox = Sandbox::new();
    let message = "Cache on disk\n\nSome prose about it.\n\nDecision: keep the cache\n  on disk\nRejected: redis, one more service\nAssumption: disks are fast\nFinding: it was slow\nconstraint: no network\nSigned-off-by: A <a@example.invalid>\n";
    let commit = sandbox.commit(
        &[("src/cache.rs", "fn c() {}\n"), ("doc/cache.md", "x\n")],
        message,
    );
    let time = sandbox.now();
    assert_eq!(ingest(&sandbox, &[]), (5, 0, 0));
    let lines = sandbox.json_lines(&["log"]);
    let kinds: BTreeSet<String> = lines.iter().map(|line| string(&line["kind"])).collect();
    assert_eq!(
        kinds,
        BTreeSet::from(
            [
                "decision",
                "rejected",
                "assumption",
                "finding",
                "constraint"
            ]
            .map(str::to_owned)
        )
    );
    for line in &lines {
        assert_eq!(
            (&line["source"], &line["type"], &line["session"]),
            (&json!("trailer"), &json!("reasoning"), &Value::Null)
        );
        assert_eq!(
            (&line["anchors"], &line["time"]),
            (&json!([commit]), &json!(time))
        );
        assert_eq!(line["nodes"], json!(["doc/cache.md", "src/cache.rs"]));
    }
    assert_eq!(
        line_of(&sandbox, "on disk")["text"],
        "keep the cache on disk",
        "unfolded"
    );

    let id = string(&line_of(&sandbox, "on disk")["id"]);
    let shown = sandbox.json(&["show", &id]);
    assert!(
        shown["record"].get("nodes").is_none(),
        "a trailer's nodes stand in its anchor: {shown}"
    );
    let object = sandbox.git(&["rev-parse", "HEAD:src/cache.rs"]);
    assert_eq!(
        shown["anchors"][0]["objects"]["src/cache.rs"],
        json!(object)
    );
    let found = sandbox.json(&["query", "where to keep the cache"]);
    assert!(pluck(&found["items"], "id").contains(&id));
}

#[test]
fn the_nodes_of_a_commit_are_the_paths_it_touched() {
    let sandbox = Sandbox::empty();
    let nodes = |text: &str| strings(&line_of(&sandbox, text)["nodes"]);
    sandbox.commit(
        &[("a", "a\n"), ("b", "b\n"), ("dir/c", "c\n")],
        "x\n\nDecision: the first\n",
    );
    sandbox.git(&["mv", "a", "dir/moved"]);
    sandbox.git(&["rm", "-q", "b"]);
    sandbox.commit(&[], "x\n\nDecision: a rename and a removal\n");
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    sandbox.commit(
        &[("side", "s\n"), ("both", "side\n")],
        "x\n\nDecision: on the side\n",
    );
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit(&[("both", "main\n")], "x\n\nDecision: on main\n");
    let mut merge = sandbox.command("git", "r");
    merge.args(["merge", "-q", "--no-commit", "side"]);
    collect(merge, None);
    sandbox.commit(
        &[("both", "merged\n"), ("evil", "e\n")],
        "x\n\nDecision: the merge\n",
    );
    sandbox.commit(&[], "x\n\nDecision: nothing touched\n");
    assert_eq!(
        sandbox.git(&["rev-list", "--merges", "--count", "HEAD"]),
        "1"
    );

    assert_eq!(ingest(&sandbox, &[]), (6, 0, 0));
    assert_eq!(nodes("the first"), ["a", "b", "dir/c"]);
    assert_eq!(nodes("a rename and a removal"), ["a", "b", "dir/moved"]);
    assert_eq!(nodes("on the side"), ["both", "side"]);
    assert_eq!(
        nodes("the merge"),
        ["both", "evil"],
        "only what differs from every parent"
    );
    assert_eq!(nodes("nothing touched"), Vec::<String>::new());
}

#[test]
fn a_commit_that_touches_very_much_is_told_by_directories() {
    let sandbox = Sandbox::empty();
    let files = |count: usize| -> Vec<(String, String)> {
        (0..count)
            .map(|n| {
                (
                    format!("d{}/e{}/f{n}", n % 3, n % 7),
                    format!("{count} {n}\n"),
                )
            })
            .collect()
    };
    let commit = |count: usize, message: &str| {
        let files = files(count);
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, content)| (path.as_str(), content.as_str()))
            .collect();
        sandbox.commit(&files, message);
    };
    commit(100, "x\n\nDecision: a hundred paths\n");
    commit(101, "x\n\nDecision: a hundred and one\n");
    ingest(&sandbox, &[]);
    assert_eq!(
        strings(&line_of(&sandbox, "a hundred paths")["nodes"]).len(),
        100
    );
    let directories: BTreeSet<String> =
        (0..101).map(|n| format!("d{}/e{}", n % 3, n % 7)).collect();
    let line = line_of(&sandbox, "a hundred and one");
    assert_eq!(strings(&line["nodes"]), Vec::from_iter(directories));
    let tree = sandbox.git(&["rev-parse", "HEAD:d1/e1"]);
    let shown = sandbox.json(&["show", &string(&line["id"])]);
    assert_eq!(shown["anchors"][0]["objects"]["d1/e1"], json!(tree));
}

#[test]
fn messages_are_taken_to_the_degree_asked_for() {
    let count = |degree: &[&str]| {
        let sandbox = Sandbox::new();
        sandbox.commit(&[("a", "1")], "subject only");
        sandbox.commit(&[("a", "2")], "short\n\nfour words of body\n");
        let told = sandbox.commit(&[("a", "3")], "told\n\nfive whole words of body\n\nDecision: also decided\nSigned-off-by: A <a@b.c>\n");
        ingest(&sandbox, degree);
        let lines = sandbox.json_lines(&["log"]);
        let messages: Vec<&Value> = lines
            .iter()
            .filter(|line| line["source"] == "commit")
            .collect();
        if let Some(line) = messages
            .iter()
            .find(|line| line["anchors"] == json!([told]))
        {
            assert_eq!(
                (&line["kind"], &line["text"]),
                (
                    &json!("finding"),
                    &json!("told\n\nfive whole words of body")
                )
            );
            assert_eq!(line["nodes"], json!(["a"]));
            let shown = sandbox.json(&["show", &string(&line["id"])]);
            assert_eq!(
                shown["record"]["nodes"],
                json!(["a"]),
                "a message's nodes are part of what it says"
            );
        }
        (messages.len(), lines.len() - messages.len())
    };
    assert_eq!(count(&[]), (0, 1));
    assert_eq!(count(&["--messages=none"]), (0, 1));
    assert_eq!(count(&["--messages"]), (1, 1));
    assert_eq!(count(&["--messages=explaining"]), (1, 1));
    assert_eq!(count(&["--messages=all"]), (4, 1));
}

#[test]
fn the_configuration_names_the_sources() {
    let sandbox = Sandbox::new();
    sandbox.commit(
        &[("a", "1")],
        "told\n\nfive whole words of body\n\nDecision: also decided\n",
    );
    sandbox.git(&["config", "score-context.ingest", "messages"]);
    assert_eq!(ingest(&sandbox, &[]), (1, 0, 0));
    assert_eq!(sandbox.json_lines(&["log"])[0]["source"], "commit");
    sandbox.git(&[
        "config",
        "score-context.ingest",
        "trailers,state,adr,messages=all",
    ]);
    assert_eq!(
        ingest(&sandbox, &[]).0,
        2,
        "the trailer, and the start, which explains nothing"
    );
    sandbox.git(&["config", "score-context.ingest", "trailers,gossip"]);
    let said = sandbox.exits(128, &["ingest"]);
    assert!(
        said.err.contains("score-context.ingest") && said.err.contains("gossip"),
        "{}",
        said.err
    );
}

#[test]
fn a_cherry_pick_adds_an_anchor_and_no_record() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    let message = "x\n\nDecision: pick this one\nOutcome: pass in the field\n";
    let original = sandbox.commit(&[("picked", "1")], message);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit(&[("other", "1")], "meanwhile");
    sandbox.step(60);
    sandbox.git(&["cherry-pick", "-x", "side"]);
    let picked = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(ingest(&sandbox, &["side"]), (2, 0, 0));
    assert_eq!(ingest(&sandbox, &["main"]), (0, 2, 0));
    assert_eq!(
        line_of(&sandbox, "pick this one")["anchors"],
        json!([original, picked]),
        "oldest first"
    );
    assert_eq!(
        sandbox.run(&["log", "--type", "outcome", "--count"]).out,
        "1\n"
    );
    for commit in [&original, &picked] {
        let found = sandbox.json(&["query", "which one to pick", "--at", commit]);
        assert_eq!(
            (&found["candidates"], &found["items"][0]["anchors"]),
            (&json!(1), &json!([commit]))
        );
    }
}

#[test]
fn an_outcome_speaks_of_the_decisions_of_its_commit() {
    let sandbox = Sandbox::new();
    sandbox.commit(
        &[("a", "1")],
        "x\n\nDecision: the cache on disk\nFinding: the cache was cold\nOutcome: fail too slow\n",
    );
    sandbox.commit(
        &[("a", "2")],
        "x\n\nDecision: the cache in memory\nOutcome: pass\n",
    );
    assert_eq!(ingest(&sandbox, &[]), (5, 0, 0));
    let found = sandbox.json(&["query", "where is the cache"]);
    let all = [&found["items"], &found["rejected"]];
    let all: Vec<&Value> = all
        .into_iter()
        .flat_map(|list| list.as_array().expect("an array"))
        .collect();
    let of = |text: &str| {
        let id = &line_of(&sandbox, text)["id"];
        let one = all
            .iter()
            .find(|one| one["id"] == *id)
            .expect("a candidate");
        (one["verdict"].clone(), one["factors"]["bonus"].as_f64())
    };
    assert_eq!(of("on disk"), (json!("fail"), Some(-0.2)));
    assert_eq!(
        of("was cold"),
        (Value::Null, Some(0.0)),
        "a finding is no decision"
    );
    assert_eq!(of("in memory"), (json!("pass"), Some(0.0)));
}

#[test]
fn what_cannot_be_kept_is_reported_and_the_rest_is_kept() {
    let sandbox = Sandbox::new();
    let cases = [
        ("x\n\nDecision: sound\nOutcome: maybe later\n", "maybe"),
        ("x\n\nOutcome: pass\n", "Outcome"),
        ("x\n\nDecision:\nFinding: also sound\n", "empty"),
    ];
    let mut named = Vec::new();
    for (at, (message, word)) in cases.iter().enumerate() {
        named.push((sandbox.commit(&[("a", &at.to_string())], message), *word));
    }
    let long = format!("x\n\nDecision: long {}\n", "word ".repeat(4_000));
    sandbox.commit(&[("a", "long")], &long);
    let report = sandbox.json(&["ingest"]);
    assert_eq!(report["added"], 3);
    let refused = strings(&report["refused"]);
    assert_eq!(refused.len(), named.len(), "{refused:?}");
    for (why, (commit, word)) in refused.iter().zip(&named) {
        assert!(why.contains(&commit[..12]) && why.contains(word), "{why}");
    }
    assert!(string(&line_of(&sandbox, "long word")["text"]).len() <= 16 * 1024);
}
