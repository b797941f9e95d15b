//! Rule `measured/1` from outside: asked, explained and replayed beside `seed/1`, with the changes of the ground counted in Git's history.

use std::fs;

use serde_json::{Value, json};

use crate::support::{ATTENTION, Sandbox, pluck, string};

/// A repository with a policy that names the rule, and `src/cache.py`.
fn measured() -> Sandbox {
    let sandbox = Sandbox::empty();
    let files = [
        (
            "score-context/policy.toml",
            "version = 1\n[attention]\nrule = \"measured/1\"\n",
        ),
        ("src/cache.py", "def load():\n    pass\n"),
        ("src/other.py", "def other():\n    pass\n"),
    ];
    sandbox.commit(&files, "start");
    sandbox
}

/// Changes `src/cache.py` once more.
fn change(sandbox: &Sandbox, number: usize) -> String {
    let text = format!("def load():\n    return {number}\n");
    sandbox.commit(
        &[("src/cache.py", text.as_str())],
        &format!("change {number}"),
    )
}

fn structural(found: &Value, id: &str) -> f64 {
    let items = found["items"].as_array().expect("items");
    let rejected = found["rejected"].as_array().expect("rejected");
    let mut all = items.iter().chain(rejected);
    let one = all.find(|one| one["id"] == id).expect("listed");
    one["factors"]["structural"].as_f64().expect("a number")
}

#[test]
fn a_look_up_has_the_defaults_of_its_rule() {
    let sandbox = measured();
    let id = sandbox.record("the cache evicts by age", &["src/cache.py"]);
    let found = sandbox.json(&["query", "evict from the cache", "--node", "src/cache.py"]);
    assert_eq!(found["rule"], "measured/1");
    let policy = &found["policy"];
    assert_eq!(
        (&policy["w_semantic"], &policy["w_structural"]),
        (&json!(0.7), &json!(0.3))
    );
    assert!(policy["answer_floor"].is_f64());
    assert_eq!(pluck(&found["items"], "id"), [id.as_str()]);
    // Nothing has touched the file since, and the only current node is touched.
    assert_eq!(structural(&found, &id), 1.0);
    assert!(found["focus_size"].as_u64() > Some(0) && found["focus_hop_skipped"] == false);
    let table = sandbox
        .run(&["explain", &string(&found["attention_id"])])
        .out;
    assert!(
        table.contains("measured/1") && table.contains("0.7"),
        "{table}"
    );
}

#[test]
fn age_is_counted_in_changes_of_the_ground() {
    let sandbox = measured();
    sandbox.run(&[
        "record",
        "the cache evicts by age",
        "--node",
        "src/cache.py",
    ]);
    let id = string(&sandbox.json_lines(&["log"])[0]["id"]);
    for number in 0..3 {
        change(&sandbox, number);
    }
    sandbox.commit(&[("src/other.py", "x = 1\n")], "elsewhere");
    let ask = |node: &str| sandbox.json(&["query", "evict from the cache", "--node", node]);
    assert_eq!(
        structural(&ask("src/cache.py"), &id),
        0.2 + 0.8 / 2.0,
        "three changes"
    );
    assert_eq!(
        structural(&ask("src/cache.py::load"), &id),
        0.2 + 0.8 / 2.0,
        "a symbol is its file"
    );
    assert_eq!(
        structural(&ask("src"), &id),
        0.2 + 0.8 / (1.0 + 4.0 / 3.0),
        "a directory is all beneath it"
    );
    assert_eq!(structural(&ask("src/other.py"), &id), 0.0);
    let both = [
        "query",
        "evict",
        "--node",
        "src/cache.py",
        "--node",
        "src/other.py",
    ];
    assert_eq!(
        structural(&sandbox.json(&both), &id),
        (0.2 + 0.8 / 2.0) / 2.0,
        "the mean of two"
    );
    // The cache of what commits touched is derived: without it, and with a damaged one, the answer is the same.
    let file = sandbox.path(".git/score-context/touched.bin");
    assert!(file.is_file());
    fs::write(&file, "score-touched 1 nonsense\n").expect("written");
    assert_eq!(structural(&ask("src/cache.py"), &id), 0.2 + 0.8 / 2.0);
}

#[test]
fn an_unrelated_question_in_the_same_file_is_not_answered() {
    let sandbox = measured();
    sandbox.record("the cache evicts by age", &["src/cache.py"]);
    let found = sandbox.json(&[
        "query",
        "translate the manual into Welsh",
        "--node",
        "src/cache.py",
    ]);
    assert_eq!(found["items"], json!([]));
    assert_eq!(found["rejected"][0]["reason"], "below_floor");
    assert!(found["rejected"][0]["factors"]["structural"] == json!(1.0));
}

#[test]
fn both_rules_replay_side_by_side() {
    let sandbox = measured();
    sandbox.record("the cache evicts by age", &["src/cache.py"]);
    sandbox.write(&[("seed.toml", "version = 1\n[attention]\nrule = \"seed/1\"\n")]);
    let ask = ["query", "evict from the cache", "--node", "src/cache.py"];
    let measured = sandbox.json(&ask);
    let seed = sandbox.json(&[&ask[..], &["--policy", "seed.toml"]].concat());
    assert_ne!(measured["attention_id"], seed["attention_id"]);
    assert_eq!(seed["rule"], "seed/1");
    assert!(
        seed["policy"].get("answer_floor").is_none(),
        "seed/1 stores what it always stored"
    );
    // History goes on; the counts that were pinned stay what they were.
    change(&sandbox, 1);
    sandbox.record("another", &["src/cache.py"]);
    let results: Vec<_> = sandbox.replays_in("r").into_values().collect();
    assert_eq!(results, ["identical", "identical"]);
}

#[test]
fn other_touches_are_a_changed_history() {
    let sandbox = measured();
    sandbox.record("the cache evicts by age", &["src/cache.py"]);
    change(&sandbox, 1);
    let middle = change(&sandbox, 2);
    change(&sandbox, 3);
    let ask = ["query", "evict from the cache", "--node", "src/cache.py"];
    let id = string(&sandbox.json(&ask)["attention_id"]);
    assert_eq!(sandbox.replays_in("r")[&id], "identical");
    // In place of the second change stands one that touches nothing.
    let tree = sandbox.git(&["rev-parse", &format!("{middle}~1^{{tree}}")]);
    let parent = sandbox.git(&["rev-parse", &format!("{middle}~1")]);
    let other = sandbox.git(&["commit-tree", &tree, "-p", &parent, "-m", "nothing"]);
    sandbox.git(&["replace", &middle, &other]);
    assert_eq!(sandbox.replays_in("r")[&id], "history changed");
    let said = sandbox.run(&["replay", &id]);
    assert!(
        said.err.contains("rewritten") || said.out.contains("rewritten"),
        "{said:?}"
    );
    sandbox.git(&["replace", "-d", &middle]);
}

#[test]
fn a_changed_pin_is_a_difference() {
    let sandbox = measured();
    sandbox.record("the cache evicts by age", &["src/cache.py"]);
    let ask = ["query", "evict from the cache", "--node", "src/cache.py"];
    let id = string(&sandbox.json(&ask)["attention_id"]);
    let tree = sandbox.git(&["ls-tree", "-r", "-t", ATTENTION]);
    let place = |end: &str| {
        let line = tree.lines().find(|line| line.ends_with(end)).expect(end);
        line.split('\t').nth(1).expect("a path").to_owned()
    };
    let path = place("/ground");
    let blob = sandbox
        .command("git", "r")
        .args(["cat-file", "blob", &format!("{ATTENTION}:{path}")])
        .output()
        .expect("git")
        .stdout;
    let mut forged = blob.clone();
    *forged.last_mut().expect("not empty") += 1;
    let forged = sandbox.git_fed(&forged, &["hash-object", "-w", "--stdin"]);
    // The tree of references is rebuilt with the forged blob in place of the pinned one.
    let index = sandbox.top("forged-index");
    let git = |arguments: &[&str]| {
        let mut command = sandbox.command("git", "r");
        let made = command
            .env("GIT_INDEX_FILE", &index)
            .args(arguments)
            .output()
            .expect("git");
        assert!(made.status.success(), "{arguments:?}");
        String::from_utf8(made.stdout)
            .expect("UTF-8")
            .trim()
            .to_owned()
    };
    let lines: Vec<&str> = tree.lines().filter(|line| line.ends_with(&path)).collect();
    assert_eq!(lines.len(), 1);
    let folder = path.trim_end_matches("/ground");
    let entries = sandbox.git(&["ls-tree", &format!("{ATTENTION}:{folder}")]);
    let entries: String = entries
        .lines()
        .map(|line| match line.ends_with("\tground") {
            true => format!("100644 blob {forged}\tground\n"),
            false => format!("{line}\n"),
        })
        .collect();
    let mut tree = sandbox.git_fed(entries.as_bytes(), &["mktree"]);
    for part in folder.rsplit('/') {
        tree = sandbox.git_fed(
            format!("040000 tree {tree}\t{part}\n").as_bytes(),
            &["mktree"],
        );
    }
    let _ = git;
    sandbox.git(&["update-ref", ATTENTION, &tree]);
    assert_eq!(sandbox.replays_in("r")[&id], "differs");
    sandbox.expect_replay(&id, "differs");
}

#[test]
fn a_shallow_history_says_so() {
    let sandbox = measured();
    for number in 0..4 {
        change(&sandbox, number);
    }
    let url = format!("file://{}", sandbox.path("").display());
    sandbox.git_in(".", &["clone", "-q", "--depth", "2", &url, "shallow"]);
    let ask = ["query", "evict from the cache", "--node", "src/cache.py"];
    let said = sandbox.exits_in("shallow", 0, &ask);
    assert!(said.err.contains("shallow"), "{}", said.err);
    assert!(!sandbox.run(&ask).err.contains("shallow"));
}

#[test]
fn what_a_commit_wrote_speaks_for_it() {
    let sandbox = measured();
    let write = |line: &str, subject: &str| {
        let text = format!("def load():\n    {line}\n    return 1\n");
        sandbox.commit(&[("src/cache.py", text.as_str())], subject)
    };
    write("evictOldest(quota)", "Mend #17");
    sandbox.commit(
        &[("src/other.py", "quota = evictOldest\n")],
        "Elsewhere #18",
    );
    sandbox.run(&["ingest", "--history", "--messages=all"]);
    let ask = [
        "query",
        "the quota evicts too much",
        "--node",
        "src/cache.py",
    ];
    // Nothing in its message, but in the code that stands in the current node; not what a commit wrote elsewhere.
    let found = sandbox.json(&ask);
    let of = |found: &Value| {
        let items = found["items"].as_array().expect("items");
        items
            .iter()
            .map(|item| string(&item["text"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&found), ["Mend #17"]);
    let explained = sandbox
        .run(&["explain", &string(&found["attention_id"])])
        .out;
    assert!(
        explained.contains("(its code: evict, quota)"),
        "{explained}"
    );
    // A symbol has the lines of its own.
    let symbol = [
        "query",
        "the quota evicts too much",
        "--node",
        "src/cache.py::load",
    ];
    assert_eq!(of(&sandbox.json(&symbol)), ["Mend #17"]);
    // Indented and moved it still stands; written over it does not.
    let moved = "def first():\n    pass\n\ndef load():\n    if 1:\n        evictOldest(quota)\n    return 1\n";
    sandbox.commit(&[("src/cache.py", moved)], "tidy");
    assert_eq!(of(&sandbox.json(&ask)), ["Mend #17"]);
    write("pass", "away with it");
    assert_eq!(of(&sandbox.json(&ask)), [""; 0]);
}

#[test]
fn what_a_session_said_has_no_code() {
    let sandbox = measured();
    let text = "def load():\n    evictOldest(quota)\n";
    sandbox.commit(&[("src/cache.py", text)], "start over");
    // Its anchor is the commit that the session stood on, which is not the session's work.
    sandbox.record("mend 17", &["src/cache.py"]);
    let found = sandbox.json(&[
        "query",
        "the quota evicts too much",
        "--node",
        "src/cache.py",
    ]);
    assert_eq!(found["items"], json!([]));
}

#[test]
fn a_renamed_file_keeps_its_authors() {
    let sandbox = measured();
    let text = "def load():\n    evictOldest(quota)\n    return 1\n";
    sandbox.commit(&[("src/cache.py", text)], "Mend #17");
    sandbox.git(&["mv", "src/cache.py", "src/store.py"]);
    sandbox.git(&["mv", "src/other.py", "elsewhere.py"]);
    sandbox.git(&["commit", "-q", "-m", "Tidy the tree"]);
    let more = format!("{text}    # one more\n");
    sandbox.commit(&[("src/store.py", more.as_str())], "Say more");
    sandbox.run(&["ingest", "--history", "--messages=all"]);
    let ask = [
        "query",
        "the quota evicts too much",
        "--node",
        "src/store.py",
    ];
    let id = string(&sandbox.json(&ask)["attention_id"]);
    let rows = sandbox.json_lines(&["explain", &id]);
    let code = |message: &str| {
        let record = sandbox.json_lines(&["log", "--grep", message]);
        let id = &record[0]["id"];
        let row = rows.iter().find(|row| row["id"] == *id).expect("a row");
        row["code"].clone()
    };
    assert_eq!(code("Mend #17"), json!(["evict", "quota"]));
    assert_eq!(code("Tidy the tree"), json!([]));
}

#[test]
fn what_a_partial_clone_lacks_has_no_author() {
    let sandbox = measured();
    let text = "def load():\n    evictOldest(quota)\n    return 1\n";
    sandbox.commit(&[("src/cache.py", text)], "Mend #17");
    change(&sandbox, 1);
    sandbox.commit(&[("src/cache.py", text)], "Back again");
    sandbox.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", sandbox.path("").display());
    sandbox.git_in(".", &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    let ask = [
        "query",
        "the quota evicts too much",
        "--node",
        "src/cache.py",
    ];
    let said = sandbox.exits_in("partial", 0, &ask);
    assert!(
        said.err.contains("not all of history is here"),
        "{}",
        said.err
    );
    assert!(!sandbox.run(&ask).err.contains("history"));
}
