//! The working memory of a session, read back from the store by the library.

use git_score_context::query::memory::{Memory, Note, memory, unverified};
use git_score_context::record::{Anchor, Outcome, Record, Source, Time, Verdict};
use git_score_context::store::Corpus;
use git_score_context::{Put, Repo, Store};

use crate::support::{Sandbox, string};

/// What is stored now.
fn corpus(sandbox: &Sandbox) -> Corpus {
    let repo = Repo::open(&sandbox.path("."), None).expect("a repository");
    let store = Store::new(&repo);
    let id = store.corpus_id().expect("a corpus");
    store.corpus(id).expect("it can be read")
}

fn read(sandbox: &Sandbox, session: Option<&str>) -> Result<Memory, String> {
    memory(&corpus(sandbox), session)
}

fn now(sandbox: &Sandbox) -> Time {
    sandbox.now().parse().expect("a time")
}

fn texts(notes: &[Note]) -> Vec<&str> {
    notes.iter().map(|note| note.text.as_str()).collect()
}

/// A session with two assumptions, its id, and the id of its goal.
fn started(sandbox: &Sandbox) -> (String, String) {
    let said = sandbox.json(&[
        "--json",
        "session",
        "start",
        "make it fast",
        "--subgoal",
        "measure",
        "--assume",
        "the disk is slow=high",
        "--assume",
        "nobody else writes",
    ]);
    (
        string(&said["session"]).to_owned(),
        string(&said["tasks"][0]["id"]).to_owned(),
    )
}

#[test]
fn everything_of_a_session_in_order_of_time() {
    let sandbox = Sandbox::new();
    let began = now(&sandbox);
    let (session, goal) = started(&sandbox);
    let of = ["--session", &session, "--task", &goal];
    for (text, kind) in [
        ("reads are cached", "decision"),
        ("a write takes 9 ms", "finding"),
        ("no threads", "rejected"),
    ] {
        sandbox.step(60);
        sandbox.record_with(
            text,
            &["src/cache.rs"],
            &[&of[..], &["--kind", kind]].concat(),
        );
    }
    sandbox.step(60);
    sandbox.record_with("of another session", &[], &["--session", "other"]);
    sandbox.exits(
        0,
        &[
            "outcome",
            &goal,
            "--verdict",
            "fail",
            "--rationale",
            "still slow",
        ],
    );
    sandbox.step(60);
    sandbox.exits(0, &["outcome", &goal, "--verdict", "pass"]);

    let found = read(&sandbox, Some(&session[..9])).expect("a session");
    assert_eq!(
        found,
        read(&sandbox, None).expect("the one session that was started")
    );
    assert_eq!(
        (found.session.as_str(), found.start),
        (session.as_str(), Some(began))
    );
    let top = found.goal.as_ref().expect("it has a goal");
    assert_eq!(
        (top.id.to_string(), top.text.as_str()),
        (goal, "make it fast")
    );
    assert_eq!(
        top.verdict.map(|verdict| verdict.as_str()),
        Some("pass"),
        "the latest one"
    );
    assert_eq!(
        found
            .subgoals
            .iter()
            .map(|goal| goal.text.as_str())
            .collect::<Vec<_>>(),
        ["measure"]
    );
    assert_eq!(found.assumptions.len(), 2);
    let sure = found
        .assumptions
        .iter()
        .find(|note| note.text == "the disk is slow")
        .expect("it is there");
    assert_eq!(sure.confidence.as_deref(), Some("high"));
    assert_eq!(texts(&found.decisions), ["reads are cached"]);
    assert_eq!(texts(&found.findings), ["a write takes 9 ms"]);
    assert_eq!(texts(&found.rejected), ["no threads"]);
    assert_eq!(found.decisions[0].nodes, ["src/cache.rs"]);
    let ends: Vec<_> = found
        .outcomes
        .iter()
        .map(|end| (end.verdict.as_str(), end.rationale.as_deref()))
        .collect();
    assert_eq!(ends, [("fail", Some("still slow")), ("pass", None)]);

    let other = read(&sandbox, Some("other")).expect("a label is enough");
    assert_eq!(
        (texts(&other.decisions), &other.goal),
        (vec!["of another session"], &None)
    );
}

#[test]
fn an_assumption_is_open_until_a_record_or_an_outcome_speaks_of_it() {
    let sandbox = Sandbox::new();
    let (session, goal) = started(&sandbox);
    sandbox.record_with(
        "users read more than they write",
        &[],
        &["--kind", "assumption", "--session", "other"],
    );
    let open = |session: Option<&str>| -> Vec<String> {
        let notes = unverified(&corpus(&sandbox), session).expect("a session or none");
        notes.into_iter().map(|note| note.text).collect()
    };
    assert_eq!(open(None).len(), 3);
    assert_eq!(open(Some("other")), ["users read more than they write"]);

    // A task may pass although what it took for granted is wrong.
    sandbox.exits(0, &["outcome", &goal, "--verdict", "pass"]);
    assert_eq!(open(Some(&session)).len(), 2);

    let memory = read(&sandbox, None).expect("a session");
    let wrong = memory
        .assumptions
        .iter()
        .find(|note| note.text == "the disk is slow")
        .expect("it is there");
    sandbox.record_with(
        "the disk takes 0.1 ms",
        &[],
        &["--kind", "finding", "--supersedes", &wrong.id.to_string()],
    );
    assert_eq!(open(Some(&session)), ["nobody else writes"]);

    // An outcome that names the record itself does settle it.
    let left = unverified(&corpus(&sandbox), Some(&session)).expect("a session");
    let outcome = Record::Outcome(Outcome {
        source: Source::Session,
        task: None,
        of: vec![left[0].id],
        verdict: Verdict::Pass,
        rationale: None,
        coverage: None,
        surfaced: Vec::new(),
        missing: Vec::new(),
        time: Some(now(&sandbox)),
    });
    let put = Put::new(&outcome, Some(Anchor::at(None, now(&sandbox))), false);
    let repo = Repo::open(&sandbox.path("."), None).expect("a repository");
    let stored = Store::new(&repo).put(&[put], now(&sandbox));
    assert_eq!(stored.expect("written").len(), 1);
    assert_eq!(open(Some(&session)), [""; 0]);
    assert_eq!(open(None), ["users read more than they write"]);
}

#[test]
fn a_session_that_is_not_there_is_named() {
    let sandbox = Sandbox::new();
    assert_eq!(
        read(&sandbox, None),
        Err("no session has been started yet".into())
    );
    assert_eq!(
        read(&sandbox, Some("nine")),
        Err("no session has the label or the id 'nine'".into())
    );
    assert_eq!(
        read(&sandbox, Some(" ")),
        Err("no session has the label or the id ''".into())
    );
}
