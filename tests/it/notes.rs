//! The notes under `refs/notes/score-local`, as Git itself shows and writes them.

use std::fs;

use crate::real::{Real, said};

const NOTES: &str = "refs/notes/score-local";

fn show(real: &Real, commit: &str) -> String {
    real.git(&["notes", "--ref=score-local", "show", commit])
}

/// The lines of a note without their ids.
fn texts(note: &str) -> Vec<&str> {
    note.lines()
        .map(|line| line.rsplit_once(" (").map_or(line, |(text, _)| text))
        .collect()
}

#[test]
fn a_commit_shows_what_was_decided_there() {
    let real = Real::hooked();
    let message = "one\n\nRejected: the slow way\nDecision: use one\nDecision: use\ttwo\u{202e}\n";
    let one = real.commit("a", message);
    real.tool(&[
        "record",
        "said beside it\nat length",
        "--kind",
        "finding",
        "--node",
        "a",
    ]);
    let note = show(&real, "HEAD");
    let expected = [
        "decision: use one",
        "decision: use two\\u{202e}",
        "finding: said beside it",
        "rejected: the slow way",
    ];
    assert_eq!(texts(&note), expected);
    // The id at the end of a line is one that can be asked for.
    let id = note
        .lines()
        .next()
        .and_then(|line| line.rsplit_once(" ("))
        .expect("an id")
        .1
        .trim_end_matches(')');
    assert!(real.tool(&["show", id]).contains("use one"));
    let log = real.git(&["log", "-1", "--notes=score-local"]);
    assert!(
        log.contains("Notes (score-local):\n    decision: use one ("),
        "{log}"
    );
    // One commit without parents, whatever is added; and a message tells nothing twice.
    real.git(&["config", "score-context.ingest", "trailers,messages=all"]);
    let two = real.commit("b", "two\n\nDecision: use three\n");
    assert_eq!(texts(&show(&real, &two)), ["decision: use three"]);
    assert_eq!(texts(&show(&real, &one)), expected);
    assert_eq!(real.git(&["rev-list", "--count", NOTES]), "1");
    assert_eq!(real.git(&["rev-list", "--count", "--all"]), "4");
    real.check();
}

#[test]
fn they_are_derived_and_rebuilt_to_the_byte() {
    let real = Real::new();
    // What was there before the installation gets its notes with it.
    real.tool(&["record", "from before"]);
    real.tool(&["hook", "install"]);
    assert_eq!(texts(&show(&real, "HEAD")), ["decision: from before"]);
    for n in 0..5 {
        real.commit(
            &format!("f{n}"),
            &format!("f{n}\n\nDecision: number {n}\nRejected: not {n}\n"),
        );
    }
    real.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        "again\n\nDecision: number 4\n",
    ]);
    let before = real.git(&["rev-parse", NOTES]);
    real.tool(&["hook", "notes", "--rebuild"]);
    assert_eq!(real.git(&["rev-parse", NOTES]), before);
    real.git(&["update-ref", "-d", NOTES]);
    real.tool(&["hook", "notes", "--rebuild"]);
    assert_eq!(real.git(&["rev-parse", NOTES]), before);
    // The same by a catch-up in a repository whose commits were never hooked.
    real.git(&["update-ref", "-d", NOTES]);
    real.git(&["update-ref", "-d", "refs/score-local/records"]);
    real.git(&[
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "more\n\nDecision: number 5\n",
    ]);
    real.tool(&["ingest", "--history"]);
    assert_eq!(
        real.git(&["notes", "--ref=score-local", "list"])
            .lines()
            .count(),
        6
    );
    real.check();
}

#[test]
fn an_amended_commit_is_noted_once() {
    for setting in [None, Some("refs/notes/*")] {
        let real = Real::hooked();
        if let Some(setting) = setting {
            real.git(&["config", "notes.rewriteRef", setting]);
        }
        let old = real.commit("a", "one\n\nDecision: say it once\n");
        real.git(&["notes", "--ref=score-local", "append", "-m", "by hand"]);
        real.commit("b", "two\n\nDecision: say it twice\n");
        // So that no commit stays the one it is, which it else does within a second.
        let rebase = ["rebase", "-q", "--signoff", "HEAD~2"];
        real.git(&rebase);
        real.git(&["commit", "-q", "--amend", "--no-edit", "--date=@1"]);
        assert_eq!(
            texts(&show(&real, "HEAD")),
            ["decision: say it twice"],
            "{setting:?}"
        );
        let first = show(&real, "HEAD~1");
        let by_hand: &[&str] = if setting.is_some() {
            &["", "by hand"]
        } else {
            &[]
        };
        assert_eq!(
            texts(&first),
            [&["decision: say it once"], by_hand].concat(),
            "{setting:?}"
        );
        // Of ours nothing is left at the old commit; what somebody wrote there stays.
        assert_eq!(show(&real, &old), "by hand");
        assert_eq!(real.git(&["rev-list", "--count", NOTES]), "1");
        real.check();
    }
}

#[test]
fn what_others_wrote_stays_whatever_its_fan_out() {
    let real = Real::hooked();
    let one = real.commit("a", "one\n\nDecision: use one\n");
    let blob = real.git(&["hash-object", "-w", "--stdin"]);
    fs::write(real.path("deep"), format!("{blob} by hand\n")).expect("written");
    let by_hand = real.git(&["hash-object", "-w", "../deep"]);
    // Git's own way with many notes: two folders, then the rest of the name.
    let (top, rest) = one.split_at(2);
    let (below, rest) = rest.split_at(2);
    let tree = |lines: String| {
        fs::write(real.path("lines"), lines).expect("written");
        let output = real
            .command("git", "r")
            .args(["mktree"])
            .stdin(fs::File::open(real.path("lines")).expect("it exists"))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let other = "e".repeat(rest.len());
    let mut inner = [
        format!("100644 blob {by_hand}\t{rest}\n"),
        format!("100644 blob {by_hand}\t{other}\n"),
    ];
    inner.sort_by_key(|line| line.rsplit('\t').next().map(str::to_owned));
    let inner = tree(inner.concat());
    let middle = tree(format!("040000 tree {inner}\t{below}\n"));
    let flat = "d".repeat(40);
    let root = tree(format!(
        "040000 tree {middle}\t{top}\n100644 blob {by_hand}\t{flat}\n100644 blob {by_hand}\treadme\n"
    ));
    let commit = real.git(&["commit-tree", "-m", "theirs", &root]);
    real.git(&["update-ref", NOTES, &commit]);

    let two = real.commit("b", "two\n\nDecision: use two\n");
    real.tool(&["hook", "notes", "--rebuild"]);
    assert_eq!(texts(&show(&real, &two)), ["decision: use two"]);
    let first = show(&real, &one);
    assert!(
        first.starts_with("decision: use one (") && first.ends_with(" by hand"),
        "{first}"
    );
    let listed = real.git(&["notes", "--ref=score-local", "list"]);
    assert_eq!(listed.lines().count(), 4, "{listed}");
    assert!(listed.contains(&flat) && listed.contains(&format!("{top}{below}{other}")));
    assert!(
        real.git(&["ls-tree", "--name-only", NOTES])
            .contains("readme")
    );
    real.tool(&["hook", "uninstall"]);
    let listed = real.git(&["notes", "--ref=score-local", "list"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(show(&real, &one).ends_with(" by hand"));
}

#[test]
fn they_come_with_an_installation_and_go_with_it() {
    let real = Real::new();
    let exists = || real.try_git(&["rev-parse", "-q", "--verify", NOTES]).0;
    real.tool(&["record", "one"]);
    real.commit("a", "one\n\nDecision: use one\n");
    real.tool(&["ingest"]);
    assert!(!exists());
    let (done, told) = real.try_git(&["score-context", "hook", "notes", "--rebuild"]);
    assert!(!done && told.contains("hook install"), "{told}");
    real.tool(&["hook", "install", "--no-notes"]);
    real.commit("b", "two\n\nDecision: use two\n");
    assert!(!exists());
    real.tool(&["hook", "install"]);
    assert_eq!(
        real.git(&["notes", "--ref=score-local", "list"])
            .lines()
            .count(),
        3
    );
    real.tool(&["hook", "install", "--no-notes"]);
    assert!(!exists());
    real.tool(&["hook", "install"]);
    real.tool(&["hook", "uninstall"]);
    assert!(!exists());
    assert_eq!(real.tool(&["log", "--count"]), "3");
}

#[test]
fn a_note_that_cannot_be_written_is_no_failure() {
    let real = Real::hooked();
    real.commit("a", "one\n\nDecision: use one\n");
    let lock = real.path("r/.git").join(format!("{NOTES}.lock"));
    fs::write(&lock, "").expect("written");
    real.commit("b", "two\n\nDecision: use two\n");
    let (done, told) = real.try_git(&["score-context", "record", "three"]);
    assert!(
        done && told.contains("warning: the notes could not be written")
            && told.contains("--rebuild"),
        "{told}"
    );
    assert_eq!(real.tool(&["log", "--count"]), "3");
    fs::remove_file(&lock).expect("removed");
    real.tool(&["hook", "notes", "--rebuild"]);
    assert_eq!(
        texts(&show(&real, "HEAD")),
        ["decision: three", "decision: use two"]
    );
    real.check();
}

#[test]
fn neither_identity_nor_signature_nor_sha1_is_needed() {
    let real = Real::initialised(&["--object-format=sha256"]);
    real.tool(&["hook", "install"]);
    let settings =
        "[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n";
    fs::write(real.path("home/.gitconfig"), settings).expect("written");
    real.tool(&["record", "use one"]);
    assert_eq!(texts(&show(&real, "HEAD")), ["decision: use one"]);
    real.git(&["fsck", "--strict", "--no-progress"]);
}
