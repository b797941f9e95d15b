//! A clock that is wrong: nothing goes on one look at it, what goes can be put back, and no clock is a panic.

use std::fs;

use serde_json::{Value, json};

use crate::forget::objects_hold;
use crate::support::{Sandbox, pluck, string};

const DAY: i64 = 86_400;
const UNDO: &str = "refs/score-local/undo";

fn look_up(sandbox: &Sandbox, task: &str) -> String {
    string(&sandbox.json(&["query", task, "--node", "src"])["attention_id"])
}

/// Three records and a look-up on one day.
fn filled() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    let texts = [
        "sessions live in redis",
        "the cache is a map",
        "a lonely quokka",
    ];
    let ids = texts.map(|text| sandbox.record(text, &["src/cache.rs"]));
    look_up(&sandbox, "sessions in redis");
    (sandbox, ids.to_vec())
}

fn count(sandbox: &Sandbox) -> String {
    sandbox.run(&["log", "--count"]).out.trim().to_owned()
}

/// Expires everything: two writes see the day.
fn expire(sandbox: &Sandbox) {
    sandbox.step(95 * DAY);
    // No look-up: it would pin what is not let go yet.
    sandbox.run(&["record", "the day before", "--node", "src"]);
    sandbox.step(DAY);
    let said = sandbox.run(&["record", "a new day", "--node", "src"]);
    assert!(said.err.contains("prune --undo"), "{}", said.err);
}

#[test]
fn one_look_at_a_clock_lets_nothing_go() {
    for arguments in [
        &["query", "anything"][..],
        &["record", "more"],
        &["outcome", "t", "--verdict", "pass"],
        &["session", "start", "goal"],
        &["ingest"],
    ] {
        let (sandbox, ids) = filled();
        let before = sandbox.replays_in("r");
        sandbox.step(91 * DAY);
        let said = sandbox.run(arguments);
        let lines: Vec<&str> = said
            .err
            .lines()
            .filter(|line| line.contains("clock"))
            .collect();
        assert_eq!(lines.len(), 1, "{arguments:?}: {}", said.err);
        for word in ["2027-03-01", "2026-11-30", "nothing", "prune --force"] {
            assert!(lines[0].contains(word), "{word}: {}", lines[0]);
        }
        assert!(
            sandbox
                .log_ids()
                .is_superset(&ids.iter().cloned().collect()),
            "{arguments:?}"
        );
        let after = sandbox.replays_in("r");
        assert!(
            before.keys().all(|id| after.contains_key(id)),
            "{arguments:?}"
        );
        assert_eq!(sandbox.json(&["status"])["over"]["doubted"], true);
        // It is told once a day, and a right clock has lost nothing.
        assert!(
            !sandbox
                .run(&["query", "anything else"])
                .err
                .contains("clock")
        );
        sandbox.step(-90 * DAY);
        let said = sandbox.run(&["record", "the clock is right again"]);
        assert!(said.err.contains("went back"), "{}", said.err);
        sandbox.step(DAY);
        assert_eq!(sandbox.run(&["record", "and still is"]).err, "");
        assert!(
            sandbox
                .log_ids()
                .is_superset(&ids.iter().cloned().collect())
        );
    }
}

#[test]
fn a_commit_and_a_hook_under_the_same_clock_vouch_for_nothing() {
    let (sandbox, ids) = filled();
    sandbox.run(&["hook", "install"]);
    sandbox.step(91 * DAY);
    sandbox.commit(&[("a", "1")], "ahead\n\nDecision: under a wrong clock\n");
    sandbox.run(&["record", "ahead as well", "--node", "src"]);
    sandbox.commit(&[("a", "2")], "ahead\n\nDecision: and once more\n");
    for arguments in [
        &["prune"][..],
        &["prune", "--older-than", "90"],
        &["prune", "--gone"],
    ] {
        let said = sandbox.exits(128, arguments);
        assert!(said.err.contains("prune --force"), "{}", said.err);
    }
    assert!(
        sandbox
            .log_ids()
            .is_superset(&ids.iter().cloned().collect())
    );
    // From a minute before midnight to a minute after it is no day.
    sandbox.set_clock("2027-03-01T23:59:30Z");
    sandbox.run(&["query", "one"]);
    sandbox.set_clock("2027-03-02T00:00:30Z");
    sandbox.run(&["query", "two"]);
    assert!(
        sandbox
            .log_ids()
            .is_superset(&ids.iter().cloned().collect())
    );
}

#[test]
fn quiet_is_quiet_and_a_hook_says_nothing() {
    let (sandbox, ids) = filled();
    sandbox.run(&["hook", "install"]);
    sandbox.step(91 * DAY);
    let before = sandbox.git(&["rev-parse", "refs/score-local/attention"]);
    assert_eq!(sandbox.run(&["hook", "run", "post-commit"]).err, "");
    assert_eq!(
        sandbox.git(&["rev-parse", "refs/score-local/attention"]),
        before
    );
    let said = sandbox.run(&["record", "quietly", "-q"]);
    assert_eq!(said.err, "");
    assert!(
        sandbox
            .log_ids()
            .is_superset(&ids.iter().cloned().collect())
    );
}

#[test]
fn what_two_writes_saw_expires_and_can_be_put_back() {
    let (sandbox, ids) = filled();
    let replays = sandbox.replays_in("r");
    let lines = sandbox.stored_lines();
    let words = sandbox.json(&["query", "sessions in redis", "--node", "src", "--no-record"]);
    expire(&sandbox);
    assert!(
        sandbox
            .log_ids()
            .is_disjoint(&ids.iter().cloned().collect())
    );
    let undo = &sandbox.json(&["status"])["undo"];
    assert_eq!(
        undo,
        &json!([{"day": "2027-03-06", "records": 3, "lookups": 1}])
    );
    assert!(sandbox.run(&["status"]).out.contains("prune --undo"));
    sandbox.run(&["fsck"]);

    sandbox.collect_garbage();
    fs::remove_dir_all(sandbox.path(".git/score-context")).expect("removed");
    let back = sandbox.json(&["prune", "--undo"]);
    assert_eq!(
        back,
        json!({"day": "2027-03-06", "records": 3, "lookups": 1})
    );
    let after = sandbox.stored_lines();
    for (_, line) in lines {
        assert!(after.iter().any(|(_, other)| *other == line), "{line}");
    }
    let again = sandbox.replays_in("r");
    for id in replays.keys() {
        assert_eq!(again.get(id).map(String::as_str), Some("identical"));
    }
    assert_eq!(
        sandbox.git(&["for-each-ref", UNDO]),
        "",
        "there is nothing left to put back"
    );
    assert_eq!(
        sandbox.exits(1, &["prune", "--undo", "--json"]).out.trim(),
        r#"{"day":null,"lookups":0,"records":0}"#
    );
    // It does not go again at once.
    for _ in 0..4 {
        sandbox.step(DAY);
        sandbox.run(&["record", "a day later", "--node", "src"]);
    }
    assert!(
        sandbox
            .log_ids()
            .is_superset(&ids.iter().cloned().collect())
    );
    // By the right clock they are as young as they were: a look-up goes by the time of a record.
    sandbox.set_clock("2026-12-01T12:00:00Z");
    let asked = sandbox.json(&["query", "sessions in redis", "--node", "src", "--no-record"]);
    assert_eq!(pluck(&asked["items"], "id"), pluck(&words["items"], "id"));
    sandbox.run(&["fsck"]);
}

#[test]
fn putting_back_joins_what_was_written_since_and_takes_tombstones_away() {
    let sandbox = Sandbox::new();
    let old = sandbox.record("sessions live in redis", &["src/cache.rs"]);
    let new = sandbox.record_with(
        "sessions live in cookies",
        &["src/cache.rs"],
        &["--supersedes", &old],
    );
    sandbox.run(&[
        "outcome",
        "sessions",
        "--verdict",
        "fail",
        "--rationale",
        "the quokka grew",
    ]);
    let asked = look_up(&sandbox, "sessions");
    expire(&sandbox);
    assert_eq!(sandbox.json(&["show", &new])["tombstone"]["why"], "expired");
    assert_eq!(sandbox.json(&["status"])["tombstones"], 2);
    // One of them is said again.
    sandbox.record("sessions live in redis", &["src/cache.rs"]);
    sandbox.run(&["prune", "--undo"]);
    assert_eq!(sandbox.json(&["status"])["tombstones"], 0);
    assert_eq!(
        sandbox.json(&["show", &new])["record"]["text"],
        "sessions live in cookies"
    );
    let lines = sandbox.stored_lines();
    let redis = lines.iter().filter(|(_, line)| line.contains("in redis"));
    assert_eq!(redis.count(), 1, "{lines:?}");
    assert!(sandbox.replays_in("r").contains_key(&asked));
    assert_eq!(
        sandbox.run(&["log", "--type", "outcome", "--count"]).out,
        "1\n"
    );
    sandbox.run(&["fsck"]);
}

#[test]
fn a_commit_and_a_record_of_the_days_before_vouch_for_the_clock() {
    let (sandbox, _) = filled();
    sandbox.step(90 * DAY);
    sandbox.commit(&[("a", "1")], "work goes on");
    sandbox.record("work goes on", &["src"]);
    // Nobody has seen this machine's clock.
    fs::remove_dir_all(sandbox.path(".git/score-context/seen")).expect("removed");
    sandbox.step(DAY);
    let said = sandbox.run(&["record", "the next day", "--node", "src"]);
    assert_eq!(count(&sandbox), "2", "{}", said.err);
    assert!(!said.err.contains("clock says"), "{}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    assert!(
        said.err.contains("3 records of sessions and 1 look-ups"),
        "{}",
        said.err
    );
}

#[test]
fn marks_that_are_damaged_were_never_seen() {
    for text in [
        "",
        "2027-03-01\n",
        "look 2027-02-01T00:00:00Z",
        "look x\n",
        "\u{0}\u{0}",
    ] {
        let (sandbox, ids) = filled();
        sandbox.step(91 * DAY);
        sandbox.run(&["query", "one"]);
        fs::write(sandbox.path(".git/score-context/seen/clock"), text).expect("written");
        sandbox.step(DAY);
        assert!(
            sandbox.run(&["query", "two"]).err.contains("clock"),
            "{text:?}"
        );
        assert!(
            sandbox
                .log_ids()
                .is_superset(&ids.iter().cloned().collect()),
            "{text:?}"
        );
        sandbox.step(DAY);
        sandbox.run(&["query", "three"]);
        assert_eq!(count(&sandbox), "0", "{text:?}");
    }
}

#[test]
fn what_is_written_while_the_clock_is_behind_does_not_go_when_it_is_right() {
    // With a commit and without one, by a day and by years, with and without what was seen before.
    for (has_commit, days, is_new) in [
        (true, 400, false),
        (true, 20_000, false),
        (false, 400, false),
        (false, 20_000, false),
        (true, 20_000, true),
    ] {
        let sandbox = if has_commit {
            Sandbox::new()
        } else {
            Sandbox::empty()
        };
        if !is_new {
            sandbox.record("before", &[]);
        }
        sandbox.step(-days * DAY);
        let id = sandbox.record("under a clock that is behind", &[]);
        let asked = string(&sandbox.json(&["query", "a clock that is behind"])["attention_id"]);
        sandbox.step(DAY);
        let later = sandbox.record("a day later it still is", &[]);
        sandbox.step((days - 1) * DAY);
        for _ in 0..4 {
            sandbox.step(DAY);
            sandbox.run(&["record", "right again"]);
            let ids = sandbox.log_ids();
            assert!(
                ids.contains(&id) && ids.contains(&later),
                "{has_commit} {days} {is_new}"
            );
            let is_known = sandbox.replays_in("r").contains_key(&asked);
            assert!(is_known || is_new, "{has_commit} {days}");
        }
    }
}

#[test]
fn no_clock_is_a_panic_and_one_without_a_day_is_refused() {
    let (sandbox, ids) = filled();
    let run = |now: &str, arguments: &[&str]| {
        let mut command = sandbox.tool(arguments);
        command.env("SCORE_CONTEXT_NOW", now);
        crate::support::collect(command, None)
    };
    for (now, words) in [
        ("+010000-01-01T00:00:00Z", "0000 to 9999"),
        ("10000-01-01T00:00:00Z", "0000 to 9999"),
        ("+999999-01-01T00:00:00Z", "0000 to 9999"),
        ("-000001-01-01T00:00:00Z", "0000 to 9999"),
        ("9999-12-31T23:59:59Z", "0000 to 9999"),
        ("1969-12-31T23:59:59Z", "before 1970"),
        ("0000-01-01T00:00:00Z", "before 1970"),
        ("yesterday", "SCORE_CONTEXT_NOW"),
    ] {
        for arguments in [
            &["record", "x"][..],
            &["query", "x"],
            &["prune"],
            &["prune", "--undo"],
            &["session", "start", "x"],
            &["outcome", "x", "--verdict", "pass"],
            &["ingest"],
        ] {
            let said = run(now, arguments);
            assert_eq!(said.code, 128, "{now} {arguments:?}: {}", said.err);
            assert!(said.err.contains(words), "{now}: {}", said.err);
        }
        let said = run(now, &["hook", "run", "post-commit"]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{now}");
    }
    assert_eq!(sandbox.log_ids(), ids.iter().cloned().collect());
    // The last moment that has a day.
    assert_eq!(run("9999-12-30T22:00:00Z", &["query", "x"]).code, 0);
    assert_eq!(sandbox.log_ids(), ids.iter().cloned().collect());
}

#[test]
fn commits_of_any_date_are_read() {
    let sandbox = Sandbox::new();
    sandbox.record("words", &["src"]);
    for date in ["@253402300800 +0000", "@99999999999 +0000", "@0 +0000"] {
        let mut command = sandbox.command("git", "r");
        command.args([
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "odd\n\nDecision: of an odd date",
        ]);
        command
            .env("GIT_COMMITTER_DATE", date)
            .env("GIT_AUTHOR_DATE", date);
        assert_eq!(crate::support::collect(command, None).code, 0, "{date}");
        for arguments in [
            &["ingest"][..],
            &["query", "words", "--at", "HEAD"],
            &["query", "words"],
            &["status"],
            &["prune"],
        ] {
            sandbox.run(arguments);
        }
        sandbox.step(DAY);
    }
    sandbox.run(&["fsck"]);
}

#[test]
fn forgetting_reaches_what_could_be_put_back() {
    let (sandbox, ids) = filled();
    let asked = look_up(&sandbox, "where does a lonely quokka sleep");
    expire(&sandbox);
    sandbox.collect_garbage();
    assert!(objects_hold(&sandbox, "lonely"), "it can be put back");
    sandbox.run(&["forget", &ids[2][..12]]);
    sandbox.collect_garbage();
    assert!(!objects_hold(&sandbox, "lonely"));
    let back = sandbox.json(&["prune", "--undo"]);
    assert_eq!(back["records"], 2);
    assert!(!sandbox.log_ids().contains(&ids[2]));
    for (id, result) in sandbox.replays_in("r") {
        if result == "removed" {
            sandbox.expect_replay(&id, "removed");
        }
        assert_ne!(id, asked, "its task held the text");
    }
    let said = sandbox.run(&["fsck"]);
    assert!(!said.out.contains("forgotten"), "{}", said.out);
}

#[test]
fn what_could_be_put_back_goes_after_a_week() {
    let (sandbox, _) = filled();
    expire(&sandbox);
    for day in 1..=9 {
        sandbox.step(DAY);
        sandbox.run(&["query", &format!("day {day}")]);
        let is_there = !sandbox.git(&["for-each-ref", UNDO]).is_empty();
        assert!(is_there || day > 7, "{day}");
    }
    assert_eq!(sandbox.git(&["for-each-ref", UNDO]), "");
    sandbox.collect_garbage();
    assert!(!objects_hold(&sandbox, "lonely"));
    sandbox.exits(1, &["prune", "--undo"]);
}

#[test]
fn a_person_can_insist() {
    let (sandbox, _) = filled();
    sandbox.step(200 * DAY);
    assert!(
        sandbox
            .exits(128, &["prune", "--older-than", "0"])
            .err
            .contains("2026-11-30")
    );
    assert_eq!(count(&sandbox), "3");
    assert_eq!(
        sandbox.json(&["prune", "--older-than", "0", "--force"])["records"],
        3
    );
    assert_eq!(sandbox.json(&["prune", "--undo"])["records"], 3);
    // Under a clock that was seen, a number is enough.
    sandbox.step(DAY);
    sandbox.run(&["record", "new", "--node", "src"]);
    sandbox.step(3 * DAY);
    // A number goes by the time of a record where its day is not known any more.
    assert_eq!(sandbox.json(&["prune", "--older-than", "1"])["records"], 4);
    assert_eq!(sandbox.json(&["prune", "--no-undo"])["records"], 0);
    assert_eq!(sandbox.git(&["for-each-ref", UNDO]), "");
    sandbox.exits(2, &["prune", "--undo", "--older-than", "3"]);
    for days in ["18446744073709551615", "9223372036854775807", "4000000"] {
        sandbox.run(&["prune", "--older-than", days]);
    }
    sandbox.exits(2, &["prune", "--older-than", "18446744073709551616"]);
}

#[test]
fn writers_at_the_same_time_lose_nothing_to_a_pass() {
    let (sandbox, ids) = filled();
    sandbox.step(95 * DAY);
    sandbox.run(&["query", "anything"]);
    sandbox.step(DAY);
    let mut all: Vec<_> = (0..6)
        .map(|n| sandbox.tool(&["record", &format!("writer {n}"), "--node", "src"]))
        .collect();
    all.extend((0..2).map(|_| sandbox.tool(&["prune"])));
    let children: Vec<_> = all
        .iter_mut()
        .map(|command| {
            command
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .expect("it starts")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(count(&sandbox), "6");
    let undone: Value = sandbox.json(&["prune", "--undo"]);
    assert_eq!(undone["records"], 3);
    assert_eq!(count(&sandbox), "9");
    assert!(
        sandbox
            .log_ids()
            .is_superset(&ids.iter().cloned().collect())
    );
    sandbox.run(&["fsck"]);
}

#[test]
fn the_undo_is_as_private_as_the_memory() {
    let (sandbox, _) = filled();
    sandbox.run(&["hook", "install"]);
    expire(&sandbox);
    sandbox.git_in(".", &["init", "-q", "--bare", "m"]);
    let mut push = sandbox.command("git", "r");
    push.args(["push", "-q", "../m", "refs/score-local/undo:refs/heads/x"]);
    assert_ne!(crate::support::collect(push, None).code, 0);
    let seen = sandbox.git(&[
        "ls-remote",
        &format!("file://{}", sandbox.path("").display()),
    ]);
    assert!(!seen.contains("score-local"), "{seen}");
    sandbox.git(&["update-ref", "refs/heads/copy-not-ours", "HEAD"]);
    sandbox.git(&["update-ref", "refs/other/score-local/undo", UNDO]);
    assert!(
        sandbox
            .run(&["fsck"])
            .out
            .contains("refs/other/score-local/undo")
    );
    sandbox.git(&["update-ref", "-d", "refs/other/score-local/undo"]);
}
