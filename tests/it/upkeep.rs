//! `fsck`, `status` and `log --type`: what they name, what they leave alone, and the exit codes.

use serde_json::{Value, json};

use crate::support::{ATTENTION, RECORDS, Sandbox, string};

fn warnings(sandbox: &Sandbox) -> Vec<String> {
    let said = sandbox.json(&["fsck"]);
    assert_eq!(said["damage"], json!([]));
    let warnings = said["warnings"].as_array().expect("a list");
    warnings.iter().map(string).collect()
}

#[track_caller]
fn one_warning(sandbox: &Sandbox, words: &str) {
    let all = warnings(sandbox);
    assert!(all.len() == 1 && all[0].contains(words), "{words}: {all:?}");
}

#[test]
fn what_would_carry_or_take_the_memory_is_named() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &["src"]);
    sandbox.run(&["query", "words"]);
    assert_eq!(warnings(&sandbox), Vec::<String>::new());
    sandbox.git(&["remote", "add", "o", "../nowhere"]);
    assert_eq!(warnings(&sandbox), Vec::<String>::new());
    for (key, value, words) in [
        ("remote.o.mirror", "true", "remote.o.mirror"),
        ("remote.o.push", "+refs/*:refs/*", "pushes there carry"),
        (
            "remote.o.push",
            "refs/score-local/*:refs/x/*",
            "pushes there carry",
        ),
        ("remote.o.push", "refs/notes/*", "pushes there carry"),
        ("remote.o.push", "refs/sc*", "pushes there carry"),
        ("remote.o.fetch", "+refs/*:refs/*", "--prune delete"),
    ] {
        let before = sandbox.git(&["config", "--get-all", "remote.o.fetch"]);
        sandbox.git(&["config", "--replace-all", key, value]);
        one_warning(&sandbox, words);
        sandbox.git(&["config", "--unset-all", key]);
        sandbox.git(&["config", "--replace-all", "remote.o.fetch", &before]);
    }
    for harmless in ["refs/heads/*", "HEAD", "refs/notes/commits", ":"] {
        sandbox.git(&["config", "--replace-all", "remote.o.push", harmless]);
        assert_eq!(warnings(&sandbox), Vec::<String>::new(), "{harmless}");
    }
    sandbox.git(&["config", "--replace-all", "remote.o.push", "+refs/*:refs/*"]);
    for kept_out in ["^refs/score-local/*", "^refs/notes/score-local"] {
        sandbox.git(&["config", "--add", "remote.o.push", kept_out]);
    }
    assert_eq!(warnings(&sandbox), Vec::<String>::new());
}

#[test]
fn copies_that_came_back_from_a_remote_are_named() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &["src"]);
    sandbox.git_in(".", &["init", "-q", "--bare", "m"]);
    sandbox.git(&["push", "-q", "--mirror", "../m"]);
    sandbox.git(&["remote", "add", "o", "../m"]);
    sandbox.git(&[
        "fetch",
        "-q",
        "o",
        "+refs/score-local/*:refs/remotes/o/score-local/*",
    ]);
    one_warning(&sandbox, "pushed to o");
    let command = warnings(&sandbox)[0]
        .split('\'')
        .nth(1)
        .expect("a command")
        .to_owned();
    assert!(
        command.starts_with("git push o --delete refs/score-local/records"),
        "{command}"
    );
    sandbox.git(&["update-ref", "-d", "refs/remotes/o/score-local/records"]);
    sandbox.git(&["update-ref", "refs/backup/x", RECORDS]);
    one_warning(&sandbox, "refs/backup/x");
    let status = sandbox.run(&["status"]).out;
    assert!(status.contains("refs/backup/x"), "{status}");
}

#[test]
fn foreign_entries_are_named_and_are_no_damage() {
    let sandbox = Sandbox::new();
    let id = sandbox.record("words", &["src"]);
    sandbox.run(&["query", "words"]);
    let blob = ("100644".to_owned(), sandbox.blob("somebody else's\n"));
    let mut records = sandbox.entries(RECORDS);
    records.insert("readme".to_owned(), blob.clone());
    records.insert("2026-11-30/notes.txt".to_owned(), blob.clone());
    records.insert("stuff/x".to_owned(), blob.clone());
    sandbox.set_entries(RECORDS, &records);
    let mut lookups = sandbox.entries(ATTENTION);
    lookups.insert("2026-11-30/ab/file".to_owned(), blob);
    sandbox.set_entries(ATTENTION, &lookups);
    let all = warnings(&sandbox);
    for path in [
        "records:readme",
        "records:2026-11-30/notes.txt",
        "records:stuff",
        "attention:2026-11-30/ab/file",
    ] {
        assert!(all.iter().any(|one| one.contains(path)), "{path}: {all:?}");
    }
    assert_eq!(all.len(), 4);
    assert!(sandbox.log_ids().contains(&id));
    // Whatever is done beside them leaves them there.
    let other = sandbox.record("other words", &[]);
    sandbox.run(&["forget", &other]);
    sandbox.run(&["prune"]);
    assert!(
        sandbox
            .entries(RECORDS)
            .contains_key("2026-11-30/notes.txt")
    );
    assert!(sandbox.entries(RECORDS).contains_key("readme"));
    assert!(
        sandbox
            .entries(ATTENTION)
            .contains_key("2026-11-30/ab/file")
    );
}

#[test]
fn notes_out_of_step_are_named_and_made_anew() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.commit(&[("a", "1")], "one\n\nDecision: words\n");
    assert_eq!(warnings(&sandbox), Vec::<String>::new());
    sandbox.git(&["notes", "--ref=score-local", "append", "-m", "by hand"]);
    assert_eq!(
        warnings(&sandbox),
        Vec::<String>::new(),
        "what others write there is theirs"
    );
    sandbox.git(&["notes", "--ref=score-local", "remove", "HEAD"]);
    one_warning(&sandbox, "hook notes --rebuild");
    sandbox.run(&["hook", "notes", "--rebuild"]);
    assert_eq!(warnings(&sandbox), Vec::<String>::new());
}

#[test]
fn damage_exits_with_one() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &["src"]);
    let mut records = sandbox.entries(RECORDS);
    let path = records.keys().next().expect("one").clone();
    records.insert(
        path.clone(),
        (
            "100644".to_owned(),
            sandbox.blob("{\"type\":\"reasoning\"}\n"),
        ),
    );
    sandbox.set_entries(RECORDS, &records);
    let said = sandbox.exits(1, &["fsck"]);
    assert!(
        said.out.contains("damage: ") && said.out.contains(&path),
        "{}",
        said.out
    );
    sandbox.leave_unchecked();
}

#[test]
fn every_line_of_log_has_the_promised_keys() {
    let sandbox = Sandbox::new();
    let started = sandbox.json(&[
        "session",
        "start",
        "the goal",
        "--subgoal",
        "a part",
        "--agent",
        "me",
    ]);
    let session = string(&started["session"]);
    let goal = string(&started["tasks"][0]["id"]);
    sandbox.record_with("words", &["src"], &["--task", &goal, "--session", &session]);
    sandbox.run(&[
        "outcome",
        &goal,
        "--verdict",
        "fail",
        "--rationale",
        "why",
        "--coverage",
        "0.5",
        "--surfaced",
        "src",
        "--missing",
        "src/os",
    ]);
    let trailers = "t\n\nDecision: from a trailer\nOutcome: pass at once\n";
    let commit = sandbox.commit(&[("a", "1")], trailers);
    sandbox.run(&["ingest"]);
    const KEYS: [&str; 13] = [
        "id",
        "type",
        "source",
        "session",
        "kind",
        "text",
        "reasons",
        "nodes",
        "supersedes",
        "anchors",
        "former_anchors",
        "time",
        "verdict",
    ];
    for (kind, count) in [
        ("reasoning", 2),
        ("session", 1),
        ("task", 2),
        ("outcome", 2),
    ] {
        let lines = sandbox.json_lines(&["log", "--type", kind]);
        assert_eq!(lines.len(), count, "{kind}");
        for line in &lines {
            for key in KEYS {
                assert!(line.get(key).is_some(), "{kind} has {key}: {line}");
            }
            assert_eq!(line["type"], kind);
            assert!(
                line["time"].is_string() && line["anchors"].is_array(),
                "{line}"
            );
        }
        assert_eq!(
            sandbox.run(&["log", "--type", kind]).out.lines().count(),
            count
        );
    }
    let outcomes = sandbox.json_lines(&["log", "--type", "outcome"]);
    let of = |source: &str| -> Value {
        let found = outcomes.iter().find(|line| line["source"] == source);
        found.expect("there is one").clone()
    };
    let (trailer, said) = (of("trailer"), of("session"));
    assert_eq!(
        (&trailer["verdict"], &trailer["anchors"]),
        (&json!("pass"), &json!([commit]))
    );
    assert_eq!(trailer["of"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&said["task"], &said["coverage"], &said["nodes"]),
        (&json!(goal), &json!(0.5), &json!(["src", "src/os"]))
    );
    let tasks = sandbox.json_lines(&["log", "--type", "task"]);
    assert!(tasks.iter().all(|task| task["session"] == json!(session)));
    assert!(tasks.iter().any(|task| task["parent"] == json!(goal)));
    assert!(sandbox.json_lines(&["log", "--type", "session"])[0]["agent"].is_string());
}

#[test]
fn the_filters_of_log_hold_for_every_type() {
    let sandbox = Sandbox::new();
    sandbox.record("on main", &["src"]);
    sandbox.run(&[
        "outcome",
        "t",
        "--verdict",
        "pass",
        "--rationale",
        "on main",
    ]);
    sandbox.git(&["worktree", "add", "-q", "-b", "side", "../wt"]);
    sandbox.exits_in("wt", 0, &["record", "on the side", "--node", "src/os"]);
    sandbox.exits_in(
        "wt",
        0,
        &["outcome", "t", "--verdict", "fail", "--surfaced", "src/os"],
    );
    sandbox.exits_in("wt", 0, &["session", "start", "aside"]);
    let count = |arguments: &[&str]| {
        let arguments = [&["log", "--count"][..], arguments].concat();
        sandbox.run(&arguments).out.trim().to_owned()
    };
    assert_eq!(count(&["--branch", "main"]), "1");
    assert_eq!(count(&["--branch", "side"]), "1");
    assert_eq!(count(&["--worktree", "wt"]), "1");
    assert_eq!(count(&["--worktree", "other"]), "0");
    assert_eq!(count(&["--type", "outcome", "--branch", "side"]), "1");
    assert_eq!(count(&["--type", "outcome", "--worktree", "wt"]), "1");
    assert_eq!(count(&["--type", "outcome", "--node", "src"]), "1");
    assert_eq!(count(&["--type", "outcome", "--grep", "on main"]), "1");
    assert_eq!(count(&["--type", "session", "--worktree", "wt"]), "1");
    assert_eq!(count(&["--type", "session", "--branch", "main"]), "0");
    sandbox.exits(2, &["log", "--type", "outcome", "--kind", "decision"]);
}

#[test]
fn status_is_one_screen_and_says_what_things_weigh() {
    let sandbox = Sandbox::new();
    for n in 0..10 {
        sandbox.record(&format!("record number {n}"), &["src"]);
        sandbox.run(&["query", &format!("number {n}")]);
    }
    let text = sandbox.run(&["status"]).out;
    assert!(text.lines().count() <= 24, "{text}");
    for words in [
        "records    10",
        "bytes a record",
        "a look-up",
        "90 days",
        "not installed",
        "rule seed/1",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // Small writes are packs from the start.
    assert_eq!(
        sandbox.json(&["status"])["sizes"]["lookups"]["loose_files"],
        0
    );
    sandbox.collect_garbage();
    assert_eq!(
        sandbox.json(&["status"])["sizes"]["lookups"]["loose_files"],
        0
    );
}
