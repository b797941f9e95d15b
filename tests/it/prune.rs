//! Retention: what goes when its time is over, what outlives it, and that the look-ups that stay replay as before.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::forget::{files_holding, objects_hold};
use crate::support::{ATTENTION, RECORDS, Sandbox, pluck, string};

const DAY: i64 = 86_400;
const BOTH: [&str; 2] = ["src/cache.rs", "src/os"];

fn look_up(sandbox: &Sandbox, task: &str) -> Value {
    sandbox.json(&["query", task, "--node", "src"])
}

fn counts(pruned: &Value) -> (u64, u64) {
    let count = |key: &str| pruned[key].as_u64().expect("a number");
    (count("records"), count("lookups"))
}

#[test]
fn what_a_session_said_goes_and_what_a_commit_said_stays() {
    let sandbox = Sandbox::new();
    sandbox.commit(&[("a", "1")], "start\n\nDecision: from a commit\n");
    sandbox.run(&["ingest"]);
    sandbox.run(&["session", "start", "old goal"]);
    let old = sandbox.record("old words", &BOTH);
    look_up(&sandbox, "old words");
    sandbox.step(60 * DAY);
    let young = sandbox.record("young words", &BOTH);
    let kept = string(&look_up(&sandbox, "young words")["attention_id"]);
    // Before and on the last day nothing goes; a segment of a month that is over goes with the month's last day.
    assert_eq!(counts(&sandbox.json(&["prune"])), (0, 0));
    sandbox.step(30 * DAY);
    assert_eq!(counts(&sandbox.json(&["prune"])), (0, 0));
    sandbox.step(DAY);
    let status = sandbox.json(&["status"]);
    assert_eq!(
        (&status["over"]["records"], &status["over"]["lookups"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(counts(&sandbox.json(&["prune"])), (3, 1));
    assert_eq!(counts(&sandbox.json(&["prune"])), (0, 0));
    let left = sandbox.json_lines(&["log"]);
    let texts = pluck(&json!(left), "text");
    assert_eq!(texts, ["young words", "from a commit"]);
    assert_eq!(
        sandbox.run(&["log", "--type", "session", "--count"]).out,
        "0\n"
    );
    assert_eq!(
        sandbox.replays_in("r").keys().cloned().collect::<Vec<_>>(),
        [kept]
    );
    sandbox.exits(128, &["show", &old]);
    sandbox.run(&["show", &young]);
    sandbox.run(&["fsck"]);

    // Said again it is there again, as young as it is.
    assert_eq!(
        sandbox.json(&["record", "old words", "--node", BOTH[0], "--node", BOTH[1]])["known"],
        false
    );
    assert_eq!(look_up(&sandbox, "old words")["items"][0]["id"], json!(old));
}

#[test]
fn what_replaced_a_record_outlives_retention() {
    let sandbox = Sandbox::new();
    sandbox.commit(
        &[("src/cache.rs", "2")],
        "one\n\nDecision: sessions live in redis\n",
    );
    sandbox.run(&["ingest"]);
    let old = string(&sandbox.json_lines(&["log"])[0]["id"]);
    let middle = sandbox.record_with("the quokka table", &BOTH, &["--supersedes", &old]);
    let last = sandbox.record_with("signed wombat cookies", &BOTH, &["--supersedes", &middle]);
    sandbox.step(95 * DAY);
    sandbox.commit(&[("b", "2")], "two\n\nDecision: sessions live in memory\n");
    sandbox.run(&["ingest"]);
    // One look at a clock lets nothing go, and what goes could be put back for a week.
    sandbox.step(DAY);
    sandbox.run(&["prune", "--no-undo"]);
    sandbox.collect_garbage();
    let said = sandbox.stored_lines();
    assert!(
        !said
            .iter()
            .any(|(_, line)| line.contains("quokka") || line.contains("wombat"))
    );

    for more in [&[][..], &["--at", "HEAD"]] {
        let arguments = [&["query", "sessions in redis", "--node", "src"][..], more].concat();
        let report = sandbox.json(&arguments);
        assert!(!pluck(&report["items"], "id").contains(&old), "{more:?}");
        let rejected = report["rejected"].as_array().expect("a list");
        let of_old = rejected
            .iter()
            .find(|one| one["id"] == json!(old))
            .expect("listed");
        assert_eq!(
            (&of_old["reason"], &of_old["by"]),
            (&json!("superseded"), &json!(last))
        );
    }
    // Before the replacement was said, it replaces nothing.
    let before = sandbox.json(&[
        "query",
        "sessions in redis",
        "--node",
        "src",
        "--at",
        "HEAD~2",
    ]);
    assert_eq!(before["candidates"], 0);
    let shown = sandbox.json(&["show", &middle]);
    assert_eq!(
        (&shown["record"], &shown["tombstone"]["why"]),
        (&Value::Null, &json!("expired"))
    );
    assert!(sandbox.run(&["show", &middle]).out.contains(&old));
    sandbox.run(&["fsck"]);
}

#[test]
fn a_verdict_outlives_retention() {
    let sandbox = Sandbox::new();
    sandbox.run(&[
        "outcome",
        "sessions",
        "--verdict",
        "fail",
        "--rationale",
        "the quokka grew",
    ]);
    sandbox.step(50 * DAY);
    sandbox.record_with("sessions live in cookies", &BOTH, &["--task", "sessions"]);
    let fresh = look_up(&sandbox, "sessions in cookies")["items"][0].clone();
    assert_eq!(fresh["factors"]["bonus"], -0.2);
    sandbox.step(45 * DAY);
    let pruned = sandbox.json(&["prune", "--force", "--no-undo"]);
    assert_eq!(counts(&pruned), (1, 0));
    sandbox.collect_garbage();
    assert!(
        !sandbox
            .stored_lines()
            .iter()
            .any(|(_, line)| line.contains("quokka"))
    );
    let item = look_up(&sandbox, "sessions in cookies")["items"][0].clone();
    assert_eq!(
        (&item["verdict"], &item["score"]),
        (&json!("fail"), &fresh["score"])
    );
    // A later outcome has the last word, as ever.
    sandbox.run(&["outcome", "sessions", "--verdict", "pass"]);
    assert_eq!(
        look_up(&sandbox, "sessions in cookies")["items"][0]["verdict"],
        "pass"
    );
    assert_eq!(
        sandbox.run(&["log", "--type", "outcome", "--count"]).out,
        "1\n"
    );
}

#[test]
fn the_days_in_force_are_the_users_else_the_larger() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &BOTH);
    look_up(&sandbox, "words");
    sandbox.step(95 * DAY);
    let policy = "version = 1\n[privacy]\nretention_days = 200\nattention_days = 10\n";
    sandbox.commit(&[("score-context/policy.toml", policy)], "longer");
    assert_eq!(
        counts(&sandbox.json(&["prune", "--force"])),
        (0, 1),
        "a file makes nothing shorter than 90"
    );
    sandbox.git(&["config", "score-context.retentionDays", "94"]);
    assert_eq!(counts(&sandbox.json(&["prune", "--force"])), (1, 0));
    sandbox.git(&["config", "score-context.retentionDays", "never"]);
    assert!(sandbox.exits(128, &["prune"]).err.contains("retentionDays"));
    sandbox.exits(2, &["prune", "--older-than", "-1"]);
    sandbox.git(&["config", "--unset", "score-context.retentionDays"]);

    sandbox.record("today", &[]);
    look_up(&sandbox, "words");
    sandbox.step(2 * DAY);
    assert_eq!(
        counts(&sandbox.json(&["prune", "--older-than", "2"])),
        (0, 0)
    );
    assert_eq!(
        counts(&sandbox.json(&["prune", "--older-than", "1"])),
        (1, 1)
    );
}

#[test]
fn look_ups_of_a_purged_history_are_named_and_dropped_when_asked() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &BOTH);
    let kept = string(&look_up(&sandbox, "words")["attention_id"]);
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    sandbox.commit(&[("src/key.rs", "// the quokka key\n")], "a secret");
    let amended = string(&look_up(&sandbox, "words")["attention_id"]);
    sandbox.git(&["commit", "-q", "--amend", "-m", "the same tree"]);
    assert_eq!(
        sandbox.json(&["status"])["gone"],
        0,
        "an amended message changes no code"
    );
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["branch", "-q", "-D", "side"]);
    assert_eq!(sandbox.json(&["status"])["gone"], 1);
    assert!(sandbox.run(&["status"]).out.contains("prune --gone"));
    assert!(sandbox.run(&["fsck"]).out.contains(&amended));
    sandbox.collect_garbage();
    let holds = || {
        let mut command = sandbox.command("git", "r");
        command.args(["cat-file", "--batch-all-objects", "--batch"]);
        crate::support::collect(command, None)
            .out
            .contains("quokka")
    };
    assert!(holds(), "the look-up pins the code");
    sandbox.run(&["prune"]);
    assert_eq!(sandbox.replays_in("r").len(), 2);
    assert_eq!(sandbox.json(&["prune", "--gone"])["gone"], json!([amended]));
    sandbox.collect_garbage();
    assert!(!holds());
    assert_eq!(
        sandbox.replays_in("r").keys().cloned().collect::<Vec<_>>(),
        [kept]
    );
    assert_eq!(sandbox.json(&["status"])["gone"], 0);
}

#[test]
fn what_another_worktree_has_checked_out_is_reachable() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &BOTH);
    sandbox.git(&["worktree", "add", "-q", "--detach", "../wt"]);
    let commit = [
        "-C",
        "../wt",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "detached",
    ];
    fs::write(sandbox.top("wt/src/new.rs"), "fn n() {}\n").expect("written");
    sandbox.git(&["-C", "../wt", "add", "-A"]);
    sandbox.git(&commit);
    sandbox.exits_in("wt", 0, &["query", "words"]);
    assert_eq!(sandbox.json(&["prune", "--gone"])["gone"], json!([]));
    sandbox.git(&["worktree", "remove", "--force", "../wt"]);
    assert_eq!(
        sandbox.json(&["prune", "--gone"])["gone"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

#[test]
fn left_over_files_and_caches_go_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &BOTH);
    sandbox.run(&["session", "start", "goal", "--agent", "me"]);
    look_up(&sandbox, "words");
    let ours = sandbox.path(".git/score-context");
    let old = SystemTime::now() - Duration::from_secs(7200);
    let left = [
        sandbox.path(".git/objects/.tmpAb3dEf"),
        ours.join("salt.4242"),
        ours.join("graph-0.1-2.tmp"),
    ];
    for path in &left {
        let file = File::create(path).expect("made");
        file.set_modified(old).expect("its age can be set");
    }
    let young = sandbox.path(".git/objects/.tmpYoung1");
    let other = sandbox.path(".git/objects/.tmp-a-folder-of-git");
    for path in [&young, &other] {
        File::create(path).expect("made");
    }
    File::open(&other)
        .and_then(|file| file.set_modified(old))
        .expect("its age can be set");
    assert_eq!(sandbox.json(&["status"])["left_over"], 3);
    assert_eq!(sandbox.json(&["prune"])["files"], 3);
    assert!(left.iter().all(|path| !path.exists()) && young.exists() && other.exists());
    let caches = || {
        let names = fs::read_dir(&ours).expect("there").flatten();
        names
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".bin"))
            .count()
    };
    assert!(caches() > 0);
    sandbox.run(&["prune", "--caches"]);
    assert_eq!(caches(), 0);
    assert!(ours.join("salt").exists() && ours.join("lock").exists());
}

#[test]
fn once_a_day_it_happens_by_itself_and_never_in_a_hook() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.record("old words", &BOTH);
    look_up(&sandbox, "old words");
    sandbox.step(95 * DAY);
    sandbox.commit(&[("a", "1")], "by hook\n\nDecision: from a commit\n");
    assert_eq!(
        sandbox.run(&["log", "--count"]).out,
        "2\n",
        "a commit pays for itself only"
    );
    // The first write that sees the day only says so; the next one, a day later, lets go.
    sandbox.run(&["outcome", "nothing", "--verdict", "pass"]);
    assert_eq!(sandbox.run(&["log", "--count"]).out, "2\n");
    sandbox.step(DAY);
    let said = sandbox.run(&["record", "new words", "--node", "src"]);
    assert_eq!(
        said.out.lines().count(),
        1,
        "it says nothing on standard output"
    );
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    assert_eq!(sandbox.run(&["log", "--count"]).out, "2\n");
    assert_eq!(sandbox.replays_in("r").len(), 0);
    let before = sandbox.git(&["rev-parse", RECORDS]);
    sandbox.run(&["query", "words", "--no-record"]);
    assert_eq!(sandbox.git(&["rev-parse", RECORDS]), before);
    assert!(
        sandbox.git(&["for-each-ref", ATTENTION]).is_empty() || sandbox.replays_in("r").is_empty()
    );
}

#[test]
fn days_that_are_over_are_folded() {
    let sandbox = Sandbox::new();
    for n in 0..5 {
        sandbox.record(&format!("number {n}"), &[]);
    }
    sandbox.step(DAY);
    assert_eq!(sandbox.entries(RECORDS).len(), 5);
    sandbox.run(&["prune"]);
    let left = sandbox.entries(RECORDS);
    assert!(
        left.len() == 1 && left.keys().all(|path| path.ends_with(".jsonl")),
        "{left:?}"
    );
    assert_eq!(sandbox.run(&["log", "--count"]).out, "5\n");
}

#[test]
fn what_has_expired_stands_nowhere_any_more() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.record("a lonely quokka", &BOTH);
    sandbox.run(&[
        "session",
        "start",
        "a goal",
        "--assume",
        "the wombat sleeps",
    ]);
    sandbox.run(&["fsck"]);
    sandbox.step(91 * DAY);
    sandbox.run(&["ingest"]);
    sandbox.step(DAY);
    // The day's upkeep comes first: this look-up does not pin what is over its time for another 90 days.
    look_up(&sandbox, "a lonely question");
    sandbox.run(&["prune", "--no-undo"]);
    sandbox.collect_garbage();
    for word in ["quokka", "wombat"] {
        assert!(!objects_hold(&sandbox, word), "{word}");
        assert_eq!(files_holding(&sandbox, word), Vec::<String>::new());
    }
    assert!(!sandbox.run(&["fsck"]).err.contains("warning"));
}

#[test]
fn what_has_expired_can_be_forgotten_where_a_look_up_pins_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.record("a lonely quokka", &BOTH);
    let asked = string(&look_up(&sandbox, "a quokka")["attention_id"]);
    sandbox.expect_replay(&asked, "removed");
    sandbox.git(&["config", "score-context.retentionDays", "1"]);
    sandbox.step(10 * DAY);
    sandbox.run(&["prune", "--force"]);
    sandbox.collect_garbage();
    assert!(objects_hold(&sandbox, "lonely"));
    sandbox.run(&["forget", &id[..12]]);
    sandbox.collect_garbage();
    assert!(!objects_hold(&sandbox, "lonely"));
}
