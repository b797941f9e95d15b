//! The catch-up with history: which commits are taken, that taking them twice adds nothing, and the hook that triggers it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::ingest::{ingest, line_of};
use crate::support::{RECORDS, Sandbox, TOOL, collect, string};

#[test]
fn a_second_run_adds_nothing() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        sandbox.commit(
            &[("a", &n.to_string())],
            &format!("change {n}\n\nwith quite a few words of body\n\nDecision: option {n}\n"),
        );
    }
    assert_eq!(ingest(&sandbox, &["--messages"]), (60, 0, 0));
    let before = sandbox.git(&["rev-parse", RECORDS]);
    let ids = sandbox.log_ids();
    let report = sandbox.json(&["ingest", "--messages"]);
    assert_eq!(
        (&report["commits"], &report["added"]),
        (&json!(0), &json!(0)),
        "the mark spares the work"
    );
    sandbox.step(86_400);
    assert_eq!(
        ingest(&sandbox, &["--messages", "--history"]),
        (0, 0, 60),
        "all commits again"
    );
    std::fs::remove_dir_all(sandbox.path(".git/score-context")).expect("removed");
    assert_eq!(
        ingest(&sandbox, &["--messages"]),
        (0, 0, 60),
        "the mark is derived"
    );
    assert_eq!(sandbox.git(&["rev-parse", RECORDS]), before);
    let newest = sandbox.commit(&[("a", "x")], "one more\n\nDecision: one more option\n");
    assert_eq!(ingest(&sandbox, &["--messages"]), (1, 0, 0));
    assert_eq!(
        line_of(&sandbox, "one more option")["anchors"],
        json!([newest])
    );
    assert_eq!(sandbox.log_ids().len(), ids.len() + 1);
}

#[test]
fn a_source_added_later_still_takes_what_came_before() {
    let sandbox = Sandbox::new();
    sandbox.commit(
        &[("a", "1")],
        "told\n\nfive whole words of body\n\nDecision: also decided\n",
    );
    assert_eq!(ingest(&sandbox, &[]), (1, 0, 0));
    assert_eq!(ingest(&sandbox, &["--messages"]).0, 1);
    assert_eq!(ingest(&sandbox, &["--messages=all"]).0, 1, "the start");
    assert_eq!(sandbox.json(&["ingest", "--messages=all"])["commits"], 0);
}

#[test]
fn a_range_takes_what_lies_in_it() {
    let sandbox = Sandbox::new();
    for n in 0..5 {
        sandbox.commit(
            &[("a", &n.to_string())],
            &format!("x\n\nDecision: option {n}\n"),
        );
    }
    assert_eq!(ingest(&sandbox, &["HEAD~3..HEAD~1"]), (2, 0, 0));
    let texts: BTreeSet<String> = sandbox
        .json_lines(&["log"])
        .iter()
        .map(|line| string(&line["text"]))
        .collect();
    assert_eq!(
        texts,
        BTreeSet::from(["option 2", "option 3"].map(str::to_owned))
    );
    assert_eq!(ingest(&sandbox, &["HEAD~1.."]), (1, 0, 0));
    assert_eq!(ingest(&sandbox, &[]), (2, 0, 3), "a range moves no mark");
    sandbox.exits(2, &["ingest", "HEAD~1...HEAD"]);
    sandbox.exits(128, &["ingest", "HEAD..nowhere"]);
}

#[test]
fn the_whole_history_is_that_of_every_branch_and_tag() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    sandbox.commit(&[("b", "1")], "x\n\nDecision: on a branch\n");
    sandbox.git(&["checkout", "-q", "--detach"]);
    sandbox.commit(&[("t", "1")], "x\n\nDecision: under a tag\n");
    sandbox.git(&["tag", "-a", "-m", "tagged", "v1"]);
    sandbox.git(&["tag", "a-blob", "HEAD:t"]);
    sandbox.git(&["checkout", "-q", "main"]);
    assert_eq!(ingest(&sandbox, &[]), (0, 0, 0));
    assert_eq!(ingest(&sandbox, &["--history"]), (2, 0, 0));
}

#[test]
fn a_shallow_clone_gives_what_it_has() {
    let sandbox = Sandbox::new();
    for n in 0..6 {
        sandbox.commit(
            &[(&format!("f{n}"), "1")],
            &format!("x\n\nDecision: option {n}\n"),
        );
    }
    let url = format!("file://{}", sandbox.path("").display());
    sandbox.git_in(".", &["clone", "-q", "--depth", "3", &url, "shallow"]);
    sandbox.also_check("shallow");
    let json = |arguments: &[&str]| -> Value {
        let said = sandbox.exits_in("shallow", 0, &[arguments, &["--json"]].concat());
        serde_json::from_str(&said.out).expect("JSON")
    };
    let report = json(&["ingest"]);
    assert_eq!(
        (&report["commits"], &report["added"]),
        (&json!(3), &json!(2))
    );
    // What the commit at the border changed is not known here, and it says so.
    let refused = report["refused"].to_string();
    assert!(refused.contains("border of a shallow clone"), "{refused}");
    assert_eq!(json(&["ingest"])["commits"], 0);
    assert_eq!(json(&["query", "which option"])["candidates"], 2);
    assert_eq!(
        json(&["query", "which option", "--at", "HEAD~1"])["candidates"],
        1
    );
    // What a deeper fetch brings was never seen.
    sandbox.git_in("shallow", &["fetch", "-q", "--unshallow"]);
    let report = json(&["ingest"]);
    assert_eq!((&report["added"], &report["known"]), (&json!(4), &json!(2)));
}

/// The measure of the first release: ten thousand commits are a few hundred objects, and a second run adds none.
#[test]
fn ten_thousand_commits_are_a_few_hundred_objects() {
    const COMMITS: usize = 10_000;
    let sandbox = Sandbox::empty();
    let mut stream = String::new();
    for n in 0..COMMITS {
        let message = format!(
            "Change number {n}\n\nThe body explains in some words why change {n} was made.\n"
        );
        let time = 1_700_000_000 + n * 60;
        let content = format!("content {n}\n");
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter A <a@example.invalid> {time} +0000\ndata {}\n{message}M 100644 inline d{}/f{}\ndata {}\n{content}",
            message.len(),
            n % 10,
            n % 97,
            content.len(),
        ));
    }
    sandbox.git_fed(stream.as_bytes(), &["fast-import", "--quiet"]);
    let objects = || -> usize {
        let counts = sandbox.git(&["count-objects", "-v"]);
        let numbers = counts.lines().filter_map(|line| {
            line.strip_prefix("count: ")
                .or(line.strip_prefix("in-pack: "))
        });
        numbers
            .map(|number| number.parse::<usize>().expect("a number"))
            .sum()
    };
    let before = objects();
    assert_eq!(ingest(&sandbox, &["--messages"]), (COMMITS as u64, 0, 0));
    let written = objects() - before;
    assert!(written <= 300, "{written} objects");
    let reference = sandbox.git(&["rev-parse", RECORDS]);
    assert_eq!(
        ingest(&sandbox, &["--messages", "--history"]),
        (0, 0, COMMITS as u64)
    );
    assert_eq!(
        (objects(), sandbox.git(&["rev-parse", RECORDS])),
        (before + written, reference)
    );
    assert_eq!(sandbox.run(&["log", "--count"]).out, format!("{COMMITS}\n"));
}

#[test]
fn the_installed_hook_takes_each_commit() {
    let sandbox = Sandbox::new();
    sandbox.commit(&[("before", "1")], "x\n\nDecision: before the hook\n");
    sandbox.run(&["hook", "install"]);
    let status = || {
        (
            sandbox.git(&["status", "--porcelain"]),
            sandbox.git(&["write-tree"]),
        )
    };
    sandbox.step(60);
    sandbox.write(&[("a", "1")]);
    sandbox.git(&["add", "a"]);
    let mut commit = sandbox.command("git", "r");
    commit.args([
        "commit",
        "-q",
        "-m",
        "x",
        "-m",
        "Decision: with the hook\nOutcome: nonsense",
    ]);
    let said = collect(commit, None);
    assert_eq!(
        (said.code, said.out.as_str(), said.err.as_str()),
        (0, "", ""),
        "a commit shows nothing of it"
    );
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let lines = sandbox.json_lines(&["log"]);
    assert_eq!(lines.len(), 1, "what came before is the business of ingest");
    assert_eq!(
        (&lines[0]["text"], &lines[0]["anchors"]),
        (&json!("with the hook"), &json!([head]))
    );
    assert_eq!(
        status(),
        (String::new(), sandbox.git(&["rev-parse", "HEAD^{tree}"]))
    );

    sandbox.git(&["worktree", "add", "-q", "../linked", "-b", "linked"]);
    std::fs::write(sandbox.top("linked/b"), "1").expect("written");
    sandbox.git_in("linked", &["add", "b"]);
    sandbox.git_in(
        "linked",
        &[
            "commit",
            "-q",
            "-m",
            "x",
            "-m",
            "Decision: in a linked worktree",
        ],
    );
    assert_eq!(
        line_of(&sandbox, "in a linked worktree")["nodes"],
        json!(["b"])
    );

    assert_eq!(ingest(&sandbox, &[]).0, 1, "the one before");
    sandbox.run(&["hook", "uninstall"]);
    sandbox.commit(&[("c", "1")], "x\n\nDecision: after the hook\n");
    assert_eq!(sandbox.run(&["log", "--count"]).out, "3\n");
}

#[test]
fn a_hook_gives_up_on_a_lock_and_catches_up_later() {
    let sandbox = Sandbox::new();
    sandbox.record("so that the folder is there", &[]);
    sandbox.run(&["hook", "install"]);
    let lock = sandbox.path(&format!(".git/{RECORDS}.lock"));
    std::fs::write(&lock, "").expect("written");
    let begun = std::time::Instant::now();
    sandbox.commit(&[("a", "1")], "x\n\nDecision: behind the lock\n");
    assert!(begun.elapsed().as_secs() < 4, "a hook waits half a second");
    std::fs::remove_file(&lock).expect("removed");
    sandbox.commit(&[("a", "2")], "x\n\nDecision: after the lock\n");
    let texts: BTreeSet<String> = sandbox
        .json_lines(&["log", "--grep", "the lock"])
        .iter()
        .map(|line| string(&line["text"]))
        .collect();
    assert_eq!(
        texts,
        BTreeSet::from(["behind the lock", "after the lock"].map(str::to_owned))
    );
}

#[test]
fn an_ingest_that_is_killed_starts_where_nothing_is_lost() {
    let sandbox = Sandbox::new();
    for n in 0..40 {
        sandbox.commit(
            &[("a", &n.to_string())],
            &format!("x\n\nDecision: option {n}\n"),
        );
    }
    for wait in [5, 10, 20, 40] {
        let mut child = sandbox
            .command(TOOL, "r")
            .args(["ingest"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        drop(child.kill());
        child.wait().expect("it ends");
        drop(std::fs::remove_file(
            sandbox.path(&format!(".git/{RECORDS}.lock")),
        ));
    }
    let (added, anchored, known) = ingest(&sandbox, &["--history"]);
    assert_eq!((added + known, anchored), (40, 0));
    assert_eq!(sandbox.run(&["log", "--count"]).out, "40\n");
}
