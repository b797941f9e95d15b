//! State files and decision documents, as committed: each decision once, at the commit that brought it, whatever the file says later.

use std::fs;

use serde_json::{Value, json};

use crate::ingest::{ingest, line_of};
use crate::support::{Sandbox, string, strings};

fn state(decisions: &[&str]) -> String {
    let decisions: Vec<Value> = decisions
        .iter()
        .map(|text| json!({"text": text, "nodes": ["src/cache.rs"]}))
        .collect();
    json!({ "decisions": decisions }).to_string()
}

#[test]
fn a_state_file_that_grows_gives_each_decision_at_the_commit_that_brought_it() {
    let sandbox = Sandbox::new();
    let first = sandbox.commit(&[("agent/state.json", &state(&["one"]))], "a");
    let second = sandbox.commit(&[("agent/state.json", &state(&["one", "two"]))], "b");
    sandbox.commit(&[("agent/state.json", &state(&["two"]))], "c");
    sandbox.write(&[("agent/state.json", &state(&["never committed"]))]);
    assert_eq!(ingest(&sandbox, &[]), (2, 0, 0));
    assert_eq!(line_of(&sandbox, "one")["anchors"], json!([first]));
    let two = line_of(&sandbox, "two");
    assert_eq!(two["anchors"], json!([second]));
    assert_eq!(two["source"], "state");
    assert_eq!(two["nodes"], json!(["src/cache.rs"]));
    assert_eq!(ingest(&sandbox, &[]), (0, 0, 0));
    assert_eq!(ingest(&sandbox, &["--history"]), (0, 0, 2));
    let answer = sandbox.json(&["query", "one", "--node", "src/cache.rs"]);
    assert_eq!(answer["items"][0]["ground"][0]["state"], "same");
}

#[test]
fn an_outcome_that_comes_later_speaks_of_what_was_decided_before() {
    let sandbox = Sandbox::new();
    let mut task =
        json!({"task": "t", "decisions": ["keep it in memory"], "files": "src/cache.rs"});
    sandbox.commit(&[("state.json", &task.to_string())], "a");
    task["outcome"] = json!({"verdict": "fail", "rationale": "it grew"});
    sandbox.commit(&[("state.json", &task.to_string())], "b");
    assert_eq!(ingest(&sandbox, &[]), (2, 0, 0));
    let answer = sandbox.json(&["query", "keep it in memory", "--node", "src/cache.rs"]);
    let verdict = |list: &str| answer[list][0]["verdict"].clone();
    assert!(
        verdict("items") == "fail" || verdict("rejected") == "fail",
        "{answer}"
    );
}

#[test]
fn nodes_are_found_from_the_root_from_the_file_and_by_the_end_of_an_absolute_path() {
    let sandbox = Sandbox::new();
    let said = json!({"decisions": [
        {"text": "from the root", "nodes": ["./src/cache.rs::a"]},
        {"text": "from the folder", "nodes": ["lib\\x.py"]},
        {"text": "absolute", "nodes": ["/home/somebody/r/src/os/disk.rs"]},
        {"text": "nowhere", "nodes": ["gone.py"]},
        {"text": "no nodes"},
    ]});
    let files = [
        ("pkg/state.json", &*said.to_string()),
        ("pkg/lib/x.py", "x = 1\n"),
    ];
    sandbox.commit(&files, "a");
    assert_eq!(ingest(&sandbox, &[]).0, 5);
    for (text, node) in [
        ("from the root", "src/cache.rs::a"),
        ("from the folder", "pkg/lib/x.py"),
        ("absolute", "src/os/disk.rs"),
        ("nowhere", "gone.py"),
        ("no nodes", "pkg/lib/x.py"),
    ] {
        assert_eq!(line_of(&sandbox, text)["nodes"], json!([node]), "{text}");
    }
}

#[test]
fn broken_files_are_named_and_the_rest_is_taken() {
    let sandbox = Sandbox::new();
    let files = [
        ("a/state.json", "{ broken"),
        ("b/state.json", "{\"decisions\": \"fine\", \"odd\": 1}"),
    ];
    sandbox.commit(&files, "a\n\nDecision: by a trailer\n");
    let report = sandbox.json(&["ingest"]);
    assert_eq!(report["added"], 2);
    let unread = strings(&report["unread"]);
    assert_eq!(unread.len(), 2, "{unread:?}");
    assert!(unread[0].contains("a/state.json: no JSON: "), "{unread:?}");
    assert!(unread[1].ends_with("b/state.json: 'odd' is not understood"));
    sandbox.commit(
        &[("b/state.json", "{\"decisions\": \"also\", \"odd\": 1}")],
        "b",
    );
    let report = sandbox.json(&["ingest"]);
    assert_eq!(
        (&report["added"], &report["unread"]),
        (&json!(1), &json!([]))
    );
}

#[test]
fn the_place_of_a_state_file_is_a_setting_and_an_argument() {
    let sandbox = Sandbox::new();
    let files = [
        ("plans/x/memo.json", &*state(&["from a plan"])),
        ("state.json", &*state(&["from the root"])),
        ("notes/1.md", "# 1. A\n\n## Decision\n\nfrom a note\n"),
    ];
    sandbox.commit(&files, "a");
    sandbox.git(&["config", "score-context.stateFile", "plans/*/memo.json"]);
    assert_eq!(ingest(&sandbox, &[]), (1, 0, 0));
    assert_eq!(ingest(&sandbox, &["--state", "state.json"]).0, 1);
    assert_eq!(ingest(&sandbox, &["--adr", "notes"]).0, 1);
    assert_eq!(ingest(&sandbox, &["--adr", "notes"]), (0, 0, 0));
    let said = sandbox.run(&["ingest", "--state", "gone.json"]);
    assert!(said.err.contains("gone.json"), "{}", said.err);
    sandbox.git(&["config", "score-context.stateFile", "plans/["]);
    let said = sandbox.exits(128, &["ingest"]);
    assert!(said.err.contains("score-context.stateFile"), "{}", said.err);
}

#[test]
fn a_merge_brings_nothing_that_a_parent_said() {
    let sandbox = Sandbox::new();
    sandbox.commit(&[("state.json", "{\"decisions\": [\"a\"]}")], "a");
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    sandbox.commit(&[("state.json", "{\"decisions\": [\"a\", \"b\"]}")], "b");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit(&[("state.json", "{\"decisions\": [\"a\", \"c\"]}")], "c");
    sandbox
        .command("git", "r")
        .args(["merge", "-q", "side"])
        .output()
        .expect("git runs");
    let merged = "{\"decisions\": [\"a\", \"b\", \"c\", \"d\"]}";
    let merge = sandbox.commit(&[("state.json", merged)], "merge");
    assert_eq!(ingest(&sandbox, &[]), (4, 0, 0));
    for line in sandbox.json_lines(&["log"]) {
        let is_of_merge = strings(&line["anchors"]) == [merge.clone()];
        assert_eq!(is_of_merge, string(&line["text"]) == "d", "{line}");
    }
}

#[test]
fn the_hook_takes_both_and_says_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    let commit = sandbox.commit(&[("state.json", &state(&["one"]))], "a");
    assert_eq!(line_of(&sandbox, "one")["anchors"], json!([commit]));
    let broken = sandbox.commit(&[("state.json", "{ broken")], "b");
    sandbox.commit(&[("docs/adr/0001-x.md", FIRST)], "c");
    assert_eq!(line_of(&sandbox, "redis")["source"], "adr");
    assert_eq!(sandbox.git(&["rev-parse", "HEAD~1"]), broken);
    assert!(
        sandbox
            .git(&["notes", "--ref=score-local", "show", &commit])
            .contains("one")
    );
    // What is amended is followed.
    sandbox.git(&["commit", "-q", "--amend", "-m", "d"]);
    let amended = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(line_of(&sandbox, "redis")["anchors"], json!([amended]));
}

const FIRST: &str = "# 1. Keep sessions in redis\n\n## Status\n\nAccepted\n\n## Decision\n\nSessions stay in redis, see `src/cache.rs`.\n";
const SECOND: &str = "# 2. Sign cookies\n\n## Status\n\nAccepted\n\nSupersedes [1](0001-x.md)\n\n## Decision\n\nSessions move to cookies.\n";

#[test]
fn a_decision_document_that_supersedes_another_takes_its_place() {
    let sandbox = Sandbox::new();
    let first = sandbox.commit(
        &[
            ("docs/adr/0001-x.md", FIRST),
            ("docs/adr/README.md", "# Log\n"),
        ],
        "a",
    );
    let over = FIRST.replace("Accepted", "Superseded by [2](0002-y.md)");
    let second = sandbox.commit(
        &[
            ("docs/adr/0001-x.md", &over),
            ("docs/adr/0002-y.md", SECOND),
        ],
        "b",
    );
    assert_eq!(ingest(&sandbox, &[]), (2, 0, 0));
    let old = line_of(&sandbox, "Keep sessions in redis");
    assert_eq!(old["anchors"], json!([first]));
    assert_eq!(old["nodes"], json!(["src/cache.rs"]));
    let new = line_of(&sandbox, "Sign cookies");
    assert_eq!(
        (&new["anchors"], &new["supersedes"]),
        (&json!([second]), &json!([old["id"]]))
    );
    assert_eq!(new["nodes"], json!(["docs/adr/0002-y.md"]));
    let answer = sandbox.json(&["query", "keep sessions in redis", "--node", "src/cache.rs"]);
    let rejected = &answer["rejected"][0];
    assert_eq!(
        (&rejected["id"], &rejected["reason"]),
        (&old["id"], &json!("superseded"))
    );
    // What was known before that is unchanged.
    let before = sandbox.json(&["query", "keep sessions in redis", "--at", &first]);
    assert_eq!(before["items"][0]["id"], old["id"]);
}

#[test]
fn a_partial_clone_names_what_it_cannot_read() {
    let sandbox = Sandbox::new();
    sandbox.commit(
        &[("state.json", &state(&["one"]))],
        "a\n\nDecision: by a trailer\n",
    );
    sandbox.commit(&[("state.json", &state(&["two"]))], "b");
    sandbox.git(&["config", "uploadpack.allowFilter", "true"]);
    for (filter, added) in [("blob:none", 2), ("tree:0", 0)] {
        let url = format!("file://{}", sandbox.path("").display());
        sandbox.git_in(".", &["clone", "-q", "--filter", filter, &url, filter]);
        let said = sandbox.exits_in(filter, 0, &["ingest", "--json"]);
        let report: Value = serde_json::from_str(&said.out).expect("JSON");
        let told = strings(&report["unread"]).len() + strings(&report["refused"]).len();
        assert!(told > 0, "{report}");
        assert_eq!(report["added"], added, "{filter}: {report}");
        fs::remove_dir_all(sandbox.top(filter)).expect("removed");
    }
}
