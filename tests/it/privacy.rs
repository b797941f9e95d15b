//! Credentials are taken out before any object is written, whichever way a text comes in, and the answer says what was taken.

use serde_json::{Value, json};

use crate::support::{ATTENTION, RECORDS, Sandbox, collect, string, strings};

/// Made up here, so that no file holds anything that a scanner would take for one: a different one for each place.
fn token(place: &str) -> String {
    let digest = git_score_context::id::RecordId::of(place.as_bytes()).to_string();
    format!("ghp_{}", &digest[..36])
}

/// Every object of the repository but commits and tags, reachable or not.
fn everything_but_commits(sandbox: &Sandbox) -> String {
    let mut command = sandbox.command("git", "r");
    command.args(["cat-file", "--batch-all-objects", "--batch-check"]);
    let listed = collect(command, None).out;
    let mut all = String::new();
    for line in listed
        .lines()
        .filter(|line| line.contains(" blob ") || line.contains(" tree "))
    {
        let id = line.split(' ').next().unwrap_or_default();
        let mut command = sandbox.command("git", "r");
        command.args(["cat-file", "-p", id]);
        all.push_str(&collect(command, None).out);
    }
    all
}

#[track_caller]
fn assert_clean(sandbox: &Sandbox, places: &[&str]) {
    let all = everything_but_commits(sandbox);
    for place in places {
        assert!(
            !all.contains(&token(place)),
            "the token of {place} was written"
        );
    }
}

#[track_caller]
fn says_so(said: &Value) {
    let masked = strings(&said["masked"]);
    assert!(masked.iter().any(|what| what == "github token"), "{said}");
}

#[test]
fn record_masks_its_text_and_everything_else_it_keeps() {
    let sandbox = Sandbox::new();
    let t = token;
    let said = sandbox.json(&[
        "record",
        &format!("use {} here", t("text")),
        "--reason",
        &t("reason"),
        "--node",
        &format!("src/{}", t("node")),
        "--session",
        &t("session"),
        "--task",
        &t("task"),
    ]);
    says_so(&said);
    let line = json!({
        "text": t("stdin text"), "reasons": [t("stdin reason")], "nodes": [format!("a/{}", t("stdin node"))],
        "session": t("stdin session"), "task": t("stdin task"), "key": t("stdin key"),
    });
    says_so(&sandbox.record_lines(&[line])[0]);
    // A key that is not known is refused, and nothing of the line is written.
    let unknown = json!({"text": t("bad text"), "colour": t("bad value")}).to_string();
    sandbox.feed(unknown.as_bytes(), 2, &["record", "--stdin"]);
    assert_clean(
        &sandbox,
        &[
            "text",
            "reason",
            "node",
            "session",
            "task",
            "stdin text",
            "stdin reason",
            "stdin node",
            "stdin session",
            "stdin task",
            "stdin key",
            "bad text",
            "bad value",
        ],
    );
    assert!(
        sandbox
            .run(&["log"])
            .out
            .contains("use [masked: github token] here")
    );
}

#[test]
fn outcomes_and_sessions_mask_everything_they_keep() {
    let sandbox = Sandbox::new();
    let t = token;
    says_so(&sandbox.json(&[
        "outcome",
        &t("task"),
        "--verdict",
        "fail",
        "--rationale",
        &t("rationale"),
        "--surfaced",
        &format!("s/{}", t("surfaced")),
        "--missing",
        &format!("m/{}", t("missing")),
    ]));
    says_so(&sandbox.json(&[
        "session",
        "start",
        &format!("goal {}", t("goal")),
        "--subgoal",
        &format!("part {}", t("part")),
        "--assume",
        &format!("so {}=high", t("assume")),
        "--agent",
        "agent-name-of-mine",
    ]));
    assert_clean(
        &sandbox,
        &[
            "task",
            "rationale",
            "surfaced",
            "missing",
            "goal",
            "part",
            "assume",
        ],
    );
    assert!(!everything_but_commits(&sandbox).contains("agent-name-of-mine"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let salt = std::fs::metadata(sandbox.path(".git/score-context/salt")).expect("made");
        assert_eq!((salt.permissions().mode() & 0o777, salt.len()), (0o600, 32));
    }
}

#[test]
fn ingest_masks_trailers_and_messages() {
    let sandbox = Sandbox::new();
    let t = token;
    let message = format!(
        "subject {}\n\nThe body says more than five words, and {} too.\n\nDecision: use {}\nRejected: not {}\nOutcome: fail with {}\n",
        t("subject"),
        t("body"),
        t("decision"),
        t("rejected"),
        t("outcome")
    );
    sandbox.commit(&[("a", "1")], &message);
    says_so(&sandbox.json(&["ingest", "--messages"]));
    assert_clean(
        &sandbox,
        &["subject", "body", "decision", "rejected", "outcome"],
    );
    sandbox.run(&["hook", "install"]);
    sandbox.commit(
        &[("b", "2")],
        &format!("hooked\n\nDecision: and {}\n", t("hooked")),
    );
    assert_eq!(
        sandbox
            .json_lines(&["log", "--kind", "decision", "--grep", "and [masked"])
            .len(),
        1
    );
    assert_clean(&sandbox, &["hooked"]);
}

#[test]
fn a_look_up_masks_what_it_was_asked() {
    let sandbox = Sandbox::new();
    let t = token;
    sandbox.record("words", &["src"]);
    let said = sandbox.json(&[
        "query",
        &format!("words with {}", t("task")),
        "--node",
        &format!("src/{}", t("node")),
        "--session",
        &t("session"),
    ]);
    assert!(string(&said["task"]).contains("[masked: github token]"));
    let id = string(&said["attention_id"]);
    let loud = sandbox.run(&["query", &format!("words with {}", t("task"))]);
    assert!(
        loud.err.contains("github token") && !loud.err.contains(&t("task")),
        "{}",
        loud.err
    );
    sandbox.run(&["replay", &id, "--at", "HEAD"]);
    assert_clean(&sandbox, &["task", "node", "session"]);
    for reference in [RECORDS, ATTENTION] {
        assert!(!sandbox.git(&["for-each-ref", reference]).is_empty());
    }
}
