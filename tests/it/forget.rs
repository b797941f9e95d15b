//! `forget`: after it, and Git's own clean-up, no object and no file of ours holds the text; what is left is told apart from damage.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use git_score_context::Repo;
use git_score_context::record::{Gone, Tombstone};
use git_score_context::store::Store;
use serde_json::json;

use crate::support::{ATTENTION, Sandbox, collect, pluck, string};

/// What is to be forgotten: no word of it stands anywhere else.
const SECRET: &str = "the quokka vault opens with marmalade";

/// Whether any object of the repository, reachable or not, holds these bytes.
pub fn objects_hold(sandbox: &Sandbox, text: &str) -> bool {
    let mut command = sandbox.command("git", "r");
    command.args(["cat-file", "--batch-all-objects", "--batch"]);
    let said = collect(command, None);
    assert_eq!(said.code, 0, "{}", said.err);
    said.out.contains(text)
}

/// The files of ours, and the reference logs, that hold these bytes.
pub fn files_holding(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let mut open = vec![
        sandbox.path(".git/score-context"),
        sandbox.path(".git/logs/refs"),
        sandbox.path(".git/refs"),
    ];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => open.push(path),
                path => {
                    let bytes = fs::read(&path).unwrap_or_default();
                    if String::from_utf8_lossy(&bytes).contains(text) {
                        found.push(path.display().to_string());
                    }
                }
            }
        }
    }
    found
}

#[track_caller]
fn assert_gone(sandbox: &Sandbox, text: &str) {
    sandbox.git(&["gc", "-q", "--prune=now"]);
    assert!(!objects_hold(sandbox, text), "an object holds the text");
    assert_eq!(files_holding(sandbox, text), Vec::<String>::new());
}

fn look_up(sandbox: &Sandbox, task: &str) -> serde_json::Value {
    sandbox.json(&["query", task, "--node", "src"])
}

#[test]
fn nothing_holds_the_text_any_more_and_the_look_ups_say_so() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.logAllRefUpdates", "always"]);
    let before = string(&look_up(&sandbox, "vault keys and locks")["attention_id"]);
    sandbox.record("vault keys are rotated", &["src/cache.rs", "src/os"]);
    let id = sandbox.record_with(
        SECRET,
        &["src/cache.rs", "src/os"],
        &["--reason", "a bandicoot said so"],
    );
    let mut asked = Vec::new();
    for task in [
        "open the vault",
        "what does the vault open with",
        "unrelated",
    ] {
        let report = look_up(&sandbox, task);
        asked.push(string(&report["attention_id"]));
        sandbox.step(60);
    }
    assert!(pluck(&look_up(&sandbox, "marmalade vault")["items"], "id").contains(&id));
    asked.push(string(
        &look_up(&sandbox, "marmalade vault")["attention_id"],
    ));
    let quoting = string(&look_up(&sandbox, &format!("why:\n{SECRET}?"))["attention_id"]);
    let at = sandbox.json(&["query", "vault", "--at", "HEAD", "--node", "src/os"]);
    asked.push(string(&at["attention_id"]));

    let said = sandbox.run(&["forget", &id[..10]]);
    assert!(
        said.out.contains(&format!("{quoting}  look-up dropped")),
        "{}",
        said.out
    );
    assert!(said.err.contains("git gc --prune=now"), "{}", said.err);
    let replays = sandbox.replays_in("r");
    assert_eq!(replays[&before], "identical");
    assert!(!replays.contains_key(&quoting));
    for lookup in &asked {
        assert_eq!(replays[lookup], "removed", "{lookup}");
        sandbox.expect_replay(lookup, "removed");
        let shown = sandbox.run(&["show", lookup]).out;
        let explained = sandbox.run(&["explain", lookup]);
        assert!(
            !shown.contains("quokka") && !explained.out.contains(&id[..12]),
            "{shown}"
        );
        assert!(
            explained.err.contains("forgotten since"),
            "{}",
            explained.err
        );
        sandbox.run(&["explain", lookup, "-v"]);
    }
    assert_gone(&sandbox, "quokka");
    assert_gone(&sandbox, "bandicoot");
    assert!(sandbox.run(&["show", &id]).out.contains("forgotten"));
    assert_eq!(
        sandbox.json(&["show", &id])["tombstone"]["why"],
        "forgotten"
    );
    assert!(!sandbox.log_ids().contains(&id));
    sandbox.run(&["fsck"]);

    // Saying it again is known and brings nothing back.
    let again = sandbox.json(&[
        "record",
        SECRET,
        "--node",
        "src/cache.rs",
        "--node",
        "src/os",
        "--reason",
        "a bandicoot said so",
    ]);
    assert_eq!(
        (string(&again["id"]), &again["known"]),
        (id.clone(), &json!(true))
    );
    assert!(!objects_hold(&sandbox, "quokka"));
    // Once more does no harm.
    sandbox.run(&["forget", &id]);
    assert_eq!(sandbox.replays_in("r")[&asked[0]], "removed");
}

#[test]
fn a_record_in_a_segment_goes_alone() {
    let sandbox = Sandbox::new();
    let mut lines: Vec<_> = (0..60)
        .map(|n| json!({"text": format!("decision number {n}"), "nodes": ["src/cache.rs"]}))
        .collect();
    lines.insert(
        30,
        json!({"text": SECRET, "nodes": ["src/os", "src/cache.rs"], "session": "s"}),
    );
    let ids: Vec<String> = sandbox
        .record_lines(&lines)
        .iter()
        .map(|said| string(&said["id"]))
        .collect();
    let lookup = string(&look_up(&sandbox, "decision about the vault")["attention_id"]);
    sandbox.expect_replay(&lookup, "removed");
    sandbox.run(&["forget", &ids[30]]);
    assert_gone(&sandbox, "quokka");
    let left = sandbox.log_ids();
    assert_eq!(left.len(), 60);
    assert!(ids.iter().all(|id| (*id == ids[30]) != left.contains(id)));
    assert_eq!(sandbox.replays_in("r")[&lookup], "removed");
    sandbox.run(&["fsck"]);
    // A fold carries the tombstone along.
    sandbox.step(86_400);
    sandbox.record("a day later", &[]);
    assert_eq!(
        sandbox.json(&[
            "record",
            SECRET,
            "--session",
            "s",
            "--node",
            "src/os",
            "--node",
            "src/cache.rs"
        ])["known"],
        true
    );
}

#[test]
fn what_came_from_a_commit_does_not_come_back_and_leaves_its_note() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.commit(&[("a", "1")], "keep\n\nDecision: a plain one\n");
    let purged = sandbox.commit(&[("b", "2")], &format!("say it\n\nDecision: {SECRET}\n"));
    let records = sandbox.json_lines(&["log", "--grep", "quokka"]);
    let id = string(&records[0]["id"]);
    assert!(
        sandbox
            .git(&["notes", "--ref=score-local", "show", &purged])
            .contains("quokka")
    );
    let lookup = string(&look_up(&sandbox, "the vault")["attention_id"]);
    sandbox.expect_replay(&lookup, "removed");
    sandbox.run(&["forget", &id]);
    assert!(
        !sandbox
            .git(&["log", "--notes=score-local", "--format=%N"])
            .contains("quokka")
    );
    assert!(
        sandbox
            .git(&["log", "--notes=score-local", "--format=%N"])
            .contains("a plain one")
    );

    for again in [
        &["ingest", "--history"][..],
        &["ingest", "HEAD~1..HEAD"],
        &["hook", "notes", "--rebuild"],
    ] {
        sandbox.run(again);
        assert_eq!(
            sandbox.json_lines(&["log", "--grep", "quokka"]).len(),
            0,
            "{again:?}"
        );
    }
    sandbox.git(&[
        "cherry-pick",
        "--allow-empty",
        "--keep-redundant-commits",
        &purged,
    ]);
    sandbox.git(&[
        "commit",
        "-q",
        "--amend",
        "--allow-empty",
        "-m",
        &format!("other\n\nDecision: {SECRET}"),
    ]);
    assert_eq!(sandbox.json_lines(&["log", "--grep", "quokka"]).len(), 0);

    // The commits go as well, as after a purge of history: then nothing is left.
    sandbox.git(&["reset", "-q", "--hard", &format!("{purged}~1")]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.run(&["prune", "--gone"]);
    assert!(!sandbox.replays_in("r").contains_key(&lookup));
    assert_gone(&sandbox, "quokka");
}

#[test]
fn the_log_of_the_notes_keeps_nothing_back() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.git(&["config", "core.logAllRefUpdates", "always"]);
    let id = sandbox.record(SECRET, &["src"]);
    let log = sandbox.path(".git/logs/refs/notes/score-local");
    assert!(
        fs::metadata(&log).is_ok_and(|meta| meta.len() > 0),
        "a log is kept of everything"
    );
    sandbox.run(&["forget", &id]);
    assert!(fs::metadata(&log).is_ok_and(|meta| meta.len() == 0) || !log.exists());
    assert_gone(&sandbox, "quokka");
}

#[test]
fn sessions_tasks_and_outcomes_can_be_forgotten_too() {
    let sandbox = Sandbox::new();
    let started = sandbox.json(&["session", "start", SECRET, "--subgoal", "look at the dingo"]);
    let session = string(&started["session"]);
    let goal = string(&started["tasks"][0]["id"]);
    sandbox.record_with(
        "in the vault",
        &["src/os", "src/cache.rs"],
        &["--task", &goal],
    );
    let outcome = sandbox.json(&[
        "outcome",
        &goal,
        "--verdict",
        "fail",
        "--rationale",
        "a numbat was seen",
    ]);
    let asked = look_up(&sandbox, "in the vault");
    assert_eq!(asked["items"][0]["verdict"], "fail");

    let said = sandbox.run(&["forget", &session]);
    assert!(
        said.err.contains(&goal[..12]),
        "the goal says the same: {}",
        said.err
    );
    sandbox.run(&["forget", &goal, &string(&outcome["id"])]);
    sandbox.expect_replay(&string(&asked["attention_id"]), "removed");
    assert_gone(&sandbox, "quokka");
    assert_gone(&sandbox, "numbat");
    assert!(look_up(&sandbox, "in the vault")["items"][0]["verdict"].is_null());
    assert_eq!(
        sandbox.run(&["log", "--type", "task", "--count"]).out,
        "1\n"
    );
}

#[test]
fn what_a_forgotten_record_replaced_stays_replaced() {
    let sandbox = Sandbox::new();
    let old = sandbox.record("sessions live in redis", &["src/cache.rs", "src/os"]);
    let new = sandbox.record_with(SECRET, &["src/cache.rs", "src/os"], &["--supersedes", &old]);
    let asked = string(&look_up(&sandbox, "sessions in redis")["attention_id"]);
    sandbox.expect_replay(&asked, "removed");
    sandbox.run(&["forget", &new]);
    let report = look_up(&sandbox, "sessions in redis");
    assert_eq!(report["items"], json!([]));
    assert_eq!(
        (
            &report["rejected"][0]["reason"],
            &report["rejected"][0]["by"]
        ),
        (&json!("superseded"), &json!(new))
    );
    assert_gone(&sandbox, "quokka");
}

#[test]
fn a_look_up_can_be_dropped_by_its_id() {
    let sandbox = Sandbox::new();
    sandbox.record("something", &[]);
    let asked = string(&look_up(&sandbox, SECRET)["attention_id"]);
    let kept = string(&look_up(&sandbox, "something")["attention_id"]);
    sandbox.run(&["forget", &asked]);
    assert_eq!(
        sandbox.replays_in("r").keys().cloned().collect::<Vec<_>>(),
        [kept]
    );
    assert_gone(&sandbox, "quokka");
    sandbox.exits(128, &["forget", &asked]);
    sandbox.exits(2, &["forget", ""]);
    sandbox.exits(2, &["forget"]);
}

/// The states in which a process that is killed can leave things, made with the library's own steps.
#[test]
fn what_was_interrupted_is_hidden_and_can_be_finished() {
    let sandbox = Sandbox::new();
    sandbox.record("other things", &["src/os"]);
    let id = sandbox.record(SECRET, &["src/cache.rs", "src/os"]);
    let early = string(&look_up(&sandbox, "the vault")["attention_id"]);
    let repo = Repo::open(&sandbox.path("."), None).expect("a repository");
    let store = Store::new(&repo);
    let record = id.parse().expect("an id");
    let now = sandbox.now().parse().expect("a time");
    store
        .bury(&[Tombstone::new(record, Gone::Forgotten)], now)
        .expect("written");

    // Killed after the tombstone: nobody sees the record, every look-up replays, a new one pins the line that is still there.
    assert!(!sandbox.log_ids().contains(&id));
    assert!(sandbox.run(&["show", &id]).out.contains("forgotten"));
    let late = look_up(&sandbox, "the vault again");
    assert!(!pluck(&late["items"], "id").contains(&id));
    assert_eq!(sandbox.replays_in("r")[&early], "identical");
    assert!(sandbox.run(&["fsck"]).out.contains("forget"), "it is named");

    sandbox.run(&["forget", &id]);
    assert_eq!(sandbox.replays_in("r")[&early], "removed");
    assert_eq!(
        sandbox.replays_in("r")[&string(&late["attention_id"])],
        "identical"
    );
    sandbox.expect_replay(&early, "removed");
    assert_gone(&sandbox, "quokka");
    assert!(!sandbox.run(&["fsck"]).out.contains("forget"));
}

#[test]
fn killed_at_any_moment_it_can_be_finished() {
    for round in 0..12u64 {
        let sandbox = Sandbox::new();
        let lines: Vec<_> = (0..40)
            .map(|n| json!({"text": format!("n {n}"), "nodes": ["src"]}))
            .collect();
        sandbox.record_lines(&lines);
        let id = sandbox.record(SECRET, &["src/cache.rs", "src/os"]);
        let asked: Vec<String> = (0..4)
            .map(|n| string(&look_up(&sandbox, &format!("vault {n}"))["attention_id"]))
            .collect();
        let mut command = sandbox.tool(&["forget", &id]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(2 + round * 3));
        drop(child.kill());
        drop(child.wait());
        // Nothing is half written: every look-up is as it was, or without the record.
        for (lookup, result) in sandbox.replays_in("r") {
            assert!(
                result == "identical" || result == "removed",
                "{lookup}: {result}"
            );
        }
        sandbox.assert_sound("r");
        for lock in ["records.lock", "attention.lock"] {
            // Git leaves a lock of a killed process to its owner; so do we.
            drop(fs::remove_file(
                sandbox.path(".git/refs/score-local").join(lock),
            ));
        }
        sandbox.run(&["forget", &id]);
        for lookup in &asked {
            sandbox.expect_replay(lookup, "removed");
        }
        assert_eq!(sandbox.replays_in("r").len(), 4);
        assert_gone(&sandbox, "quokka");
    }
}

#[test]
fn a_pin_that_was_changed_otherwise_still_differs() {
    let sandbox = Sandbox::new();
    let forgotten = sandbox.record("first of all", &[]);
    sandbox.run(&["forget", &forgotten]);
    let kept = sandbox.record("vault", &["src/os"]);
    let asked = string(&look_up(&sandbox, "vault")["attention_id"]);
    let entries = sandbox.entries(ATTENTION);
    let mut other = entries.clone();
    other.retain(|path, _| !path.ends_with(&format!("{kept}.json")));
    assert_ne!(other, entries);
    sandbox.set_entries(ATTENTION, &other);
    assert_eq!(
        sandbox.replays_in("r")[&asked],
        "differs",
        "a tombstone of long ago excuses nothing"
    );
    sandbox.set_entries(ATTENTION, &entries);
    assert_eq!(sandbox.replays_in("r")[&asked], "identical");
}
