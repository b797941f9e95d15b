//! `session show`: what a session has in mind, to people and to programs, from another process than wrote it.

use serde_json::json;

use crate::support::{Sandbox, string};

#[test]
fn everything_a_session_said_is_shown() {
    let sandbox = Sandbox::new();
    let started = sandbox.json(&[
        "session",
        "start",
        "move sessions out of redis",
        "--subgoal",
        "sign the cookie",
        "--assume",
        "cookies stay small=low",
    ]);
    let session = string(&started["session"]);
    let goal = string(&started["tasks"][0]["id"]);
    let of = ["--session", &session, "--task", &goal];
    let old = sandbox.record_with("sessions stay in redis", &["src/cache.rs"], &of);
    sandbox.step(1);
    let more = [
        &of[..],
        &["--supersedes", &old, "--reason", "one service less"],
    ]
    .concat();
    let new = sandbox.record_with("signed\u{1b}[2J cookies", &["src/cache.rs"], &more);
    for kind in ["finding", "constraint", "rejected"] {
        sandbox.record_with(
            &format!("a {kind}"),
            &[],
            &[&of[..], &["--kind", kind]].concat(),
        );
    }
    sandbox.record("of nobody's session", &[]);
    sandbox.run(&[
        "outcome",
        &goal,
        "--verdict",
        "fail",
        "--rationale",
        "cookies grew",
    ]);

    let shown = sandbox.json(&["session", "show", &session[..12]]);
    assert_eq!(sandbox.json(&["session", "show"]), shown, "the last one");
    assert_eq!(shown["goal"]["verdict"], "fail");
    assert_eq!(shown["subgoals"][0]["text"], "sign the cookie");
    assert_eq!(shown["assumptions"][0]["confidence"], "low");
    assert_eq!(shown["decisions"].as_array().map(Vec::len), Some(2));
    assert_eq!(shown["decisions"][0]["replaced_by"], json!(new));
    assert_eq!(shown["outcomes"][0]["rationale"], "cookies grew");

    let text = sandbox.run(&["session", "show"]).out;
    for line in [
        "move sessions out of redis (fail)",
        "sign the cookie",
        "cookies stay small (low)",
        "a finding",
        "a constraint",
        "a rejected",
        "because one service less",
        "fail: cookies grew",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(
        text.contains(&format!("replaced by {}", &new[..12])),
        "{text}"
    );
    assert!(
        !text.contains('\u{1b}') && !text.contains("nobody"),
        "{text}"
    );
}

#[test]
fn a_session_that_is_not_there_is_named() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .exits(128, &["session", "show"])
            .err
            .contains("no session")
    );
    let said = sandbox.exits(128, &["session", "show", "x"]);
    assert!(said.err.contains("'x'"), "{}", said.err);
}
