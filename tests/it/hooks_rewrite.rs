//! Commits that are rewritten, copied, merged and applied: one decision stays one decision, and it stands where its commit stands now.

use std::fs;

use crate::real::Real;

fn decided(subject: &str, text: &str) -> String {
    format!("{subject}\n\nDecision: {text}\n")
}

#[test]
fn an_amended_commit_keeps_its_decision_and_says_so() {
    let real = Real::hooked();
    let old = real.commit("a", &decided("one", "use one"));
    assert_eq!(real.anchors("use one"), (vec![old.clone()], vec![]));
    real.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        &decided("one, again", "use one"),
    ]);
    let new = real.head();
    assert_eq!(
        real.anchors("use one"),
        (vec![new.clone()], vec![old.clone()])
    );
    // The old id and the new one are both places where it was known.
    for at in [&old, &new] {
        let found = real.tool(&["query", "use one", "--at", at, "--oneline"]);
        assert!(found.contains("use one"), "{found}");
    }
    // The decision withdrawn from the message is still a decision that was made.
    real.git(&["commit", "-q", "--amend", "-m", "without a trailer"]);
    let last = real.head();
    let mut former = vec![old, new];
    former.sort();
    assert_eq!(real.anchors("use one"), (vec![last], former));
    real.check();
}

#[test]
fn what_a_session_said_follows_with_its_time_and_todays_objects() {
    let real = Real::hooked();
    let old = real.commit("a", "one");
    let now = [
        "-c",
        "x.y=z",
        "score-context",
        "record",
        "keep a",
        "--node",
        "a",
    ];
    let output = real
        .command("git", "r")
        .args(now)
        .env("SCORE_CONTEXT_NOW", "2020-01-02T03:04:05Z")
        .output()
        .expect("git runs");
    assert!(output.status.success());
    fs::write(real.path("r/a"), "changed").expect("written");
    real.git(&["commit", "-q", "-a", "--amend", "-m", "one, again"]);
    assert_eq!(real.anchors("keep a"), (vec![real.head()], vec![old]));
    assert_eq!(real.records("keep a")[0]["time"], "2020-01-02T03:04:05Z");
    let lines = real.lines();
    let new = lines
        .iter()
        .find(|line| line["commit"] == real.head().as_str());
    let new = new.expect("an anchor at the new commit");
    let blob = real.git(&["rev-parse", "HEAD:a"]);
    assert_eq!(new["objects"]["a"], blob.as_str());
    assert_eq!(new["time"], "2020-01-02T03:04:05Z");
    real.check();
}

#[test]
fn without_a_post_rewrite_hook_both_commits_say_it() {
    let real = Real::hooked();
    let old = real.commit("a", &decided("one", "use one"));
    let amend = [
        "commit",
        "-q",
        "--amend",
        "--no-post-rewrite",
        "-m",
        &decided("again", "use one"),
    ];
    real.git(&amend);
    let mut both = vec![old, real.head()];
    both.sort();
    assert_eq!(real.anchors("use one"), (both.clone(), vec![]));

    // The same without any hook, and a catch-up.
    let amend = [
        "-c",
        "core.hooksPath=/dev/null",
        "commit",
        "-q",
        "--amend",
        "-m",
        &decided("third", "use one"),
    ];
    real.git(&amend);
    real.tool(&["ingest"]);
    both.push(real.head());
    both.sort();
    assert_eq!(real.anchors("use one"), (both, vec![]));
    real.check();
}

#[test]
fn a_rebase_is_followed_in_one_write() {
    let real = Real::hooked();
    real.git(&["config", "core.logAllRefUpdates", "always"]);
    real.git(&["checkout", "-q", "-b", "side"]);
    for n in 0..60 {
        real.commit(
            &format!("s{n}"),
            &decided(&format!("s{n}"), &format!("decision {n}.")),
        );
    }
    let old: Vec<_> = commits(&real, 60);
    for way in ["--merge", "--apply"] {
        real.git(&["checkout", "-q", "main"]);
        real.commit(way, "m");
        let before = real.writes();
        real.git(&["rebase", "-q", "-f", way, "main", "side"]);
        // Following is one write; the catch-up of the hook finds everything known.
        assert_eq!(real.writes() - before, 1, "{way}");
        let new = commits(&real, 60);
        for n in [0, 30, 59] {
            let (anchors, former) = real.anchors(&format!("decision {n}."));
            assert_eq!(anchors, [new[n].clone()], "{way}");
            assert!(former.contains(&old[n]));
        }
    }
    assert_eq!(real.tool(&["log", "--kind", "decision", "--count"]), "60");
    let report = real.tool(&["ingest"]);
    assert!(
        report.contains(" 0 records added, 0 known records now"),
        "{report}"
    );
    real.check();
}

/// The newest commits, oldest first.
fn commits(real: &Real, count: usize) -> Vec<String> {
    let log = real.git(&["log", "--reverse", "--format=%H", &format!("-{count}")]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn several_commits_become_one() {
    let real = Real::hooked();
    let one = real.commit("a", &decided("one", "use one"));
    let two = real.commit("b", &decided("fixup! one", "use two"));
    let three = real.commit("c", &decided("squash! one", "use one"));
    let rebase = ["rebase", "-q", "-i", "--autosquash", "HEAD~3"];
    let output = real
        .command("git", "r")
        .args(rebase)
        .env("GIT_SEQUENCE_EDITOR", "true")
        .env("GIT_EDITOR", "true")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{output:?}");
    let new = real.head();
    let mut former = vec![one, three];
    former.sort();
    assert_eq!(real.anchors("use one"), (vec![new.clone()], former));
    assert_eq!(real.anchors("use two"), (vec![new], vec![two]));
    // What it is about is what the one commit touches.
    let nodes = real.records("use two")[0]["nodes"].clone();
    assert_eq!(nodes, serde_json::json!(["a", "b", "c"]));
    real.check();
}

#[test]
fn a_rebase_that_is_given_up_has_moved_nothing() {
    let real = Real::hooked();
    real.git(&["checkout", "-q", "-b", "side"]);
    let old = real.commit("a", &decided("one", "use one"));
    real.git(&["checkout", "-q", "main"]);
    real.commit("m", "m");
    let stop = [
        "-c",
        "sequence.editor=sed -i s/^pick/edit/",
        "rebase",
        "-q",
        "-i",
        "main",
        "side",
    ];
    real.git(&stop);
    real.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        &decided("on the way", "use one"),
    ]);
    real.git(&["rebase", "--abort"]);
    assert_eq!(real.anchors("use one"), (vec![old.clone()], vec![]));
    // Not given up, it counts in the end.
    real.git(&stop);
    real.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        &decided("on the way", "use one"),
    ]);
    real.git(&["rebase", "--continue"]);
    assert_eq!(real.anchors("use one"), (vec![real.head()], vec![old]));
    real.check();
}

#[test]
fn a_commit_that_comes_back_is_a_rewritten_one_no_longer() {
    let real = Real::hooked();
    real.git(&["checkout", "-q", "-b", "side"]);
    let old = real.commit("a", &decided("one", "use one"));
    real.git(&["checkout", "-q", "main"]);
    real.commit("m", "m");
    // The first rebase gives both dates the same value, so that the way back ends where it began.
    let rebase = |onto| {
        let rebase = ["rebase", "-q", "--committer-date-is-author-date", "--onto"];
        real.git(&[&rebase[..], &[onto, "side~1", "side"]].concat());
        real.head()
    };
    let there = rebase("main");
    let back = rebase("main~1");
    assert_eq!(
        back, old,
        "the author's and the committer's date are one second"
    );
    assert_eq!(
        real.anchors("use one"),
        (vec![old.clone()], vec![there.clone()])
    );
    assert_eq!(rebase("main"), there);
    assert_eq!(real.anchors("use one"), (vec![there], vec![old]));
    real.check();
}

#[test]
fn copies_merges_and_patches_are_taken_at_once() {
    let real = Real::hooked();
    real.git(&["checkout", "-q", "-b", "side"]);
    let side = real.commit("a", &decided("one", "use one"));
    let patch = real.git(&["format-patch", "-1", "--stdout"]);
    fs::write(real.path("patch"), patch + "\n").expect("written");
    real.git(&["checkout", "-q", "main"]);
    real.commit("m", "m");

    real.git(&["cherry-pick", "side"]);
    let mut both = vec![side.clone(), real.head()];
    both.sort();
    assert_eq!(real.anchors("use one"), (both.clone(), vec![]));

    real.git(&["reset", "-q", "--hard", "HEAD~1"]);
    real.git(&["am", "-q", "../patch"]);
    both.push(real.head());
    both.sort();
    both.dedup();
    assert_eq!(real.anchors("use one"), (both, vec![]));

    real.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let message = decided("merge", "merged for a reason");
    real.git(&["merge", "-q", "--no-ff", "-m", &message, "side"]);
    assert_eq!(real.anchors("merged for"), (vec![real.head()], vec![]));

    // Fast-forwarded: made elsewhere, without hooks.
    let elsewhere = real.git_in(".", &["clone", "-q", "r", "other"]);
    assert_eq!(elsewhere, "");
    let theirs = real.commit_in("other", "t", &decided("theirs", "from elsewhere"));
    real.git(&["pull", "-q", "--ff-only", "../other", "main"]);
    assert_eq!(real.anchors("from elsewhere"), (vec![theirs], vec![]));
    real.check();
}

#[test]
fn a_worktree_of_its_own_is_followed_in_the_common_memory() {
    let real = Real::hooked();
    real.git(&["worktree", "add", "-q", "-b", "wt", "../wt"]);
    let old = real.commit_in("wt", "a", &decided("one", "use one"));
    real.git_in(
        "wt",
        &[
            "commit",
            "-q",
            "--amend",
            "-m",
            &decided("again", "use one"),
        ],
    );
    let new = real.git_in("wt", &["rev-parse", "HEAD"]);
    assert_eq!(real.anchors("use one"), (vec![new], vec![old]));
    assert_eq!(real.git_in("wt", &["status", "--porcelain"]), "");
    real.check();
}

#[test]
fn a_rewrite_that_could_not_be_followed_is_followed_later() {
    for next in ["commit", "ingest"] {
        let real = Real::hooked();
        let old = real.commit("a", &decided("one", "use one"));
        let lock = real.path("r/.git/refs/score-local/records.lock");
        fs::write(&lock, "").expect("written");
        real.git(&["commit", "-q", "--amend", "-m", &decided(next, "use one")]);
        fs::remove_file(&lock).expect("removed");
        let new = real.head();
        assert_eq!(real.anchors("use one"), (vec![old.clone()], vec![]));
        match next {
            "commit" => drop(real.commit("b", "b")),
            _ => drop(real.tool(&["ingest"])),
        }
        assert_eq!(
            real.anchors("use one"),
            (vec![new.clone()], vec![old]),
            "{next}"
        );
        let note = real.git(&["notes", "--ref=score-local", "show", &new]);
        assert!(note.contains("use one"), "{note}");
        real.check();
    }
}

#[test]
fn a_list_that_makes_no_sense_does_nothing() {
    let real = Real::hooked();
    let old = real.commit("a", &decided("one", "use one"));
    let gone = "0123456789".repeat(4);
    fs::write(
        real.path("list"),
        format!("{old} {gone}\n{old}\n\nx y z\n\u{fffd}\n"),
    )
    .expect("written");
    real.git(&[
        "hook",
        "run",
        "--to-stdin=../list",
        "post-rewrite",
        "--",
        "amend",
    ]);
    assert_eq!(real.anchors("use one"), (vec![old], vec![]));
    real.check();
}
