//! Where the memory could leak: names that nobody masked, characters that hide, pushes under another name, hooks that Git no longer runs.

use std::fs;

use serde_json::json;

use crate::real::Real;
use crate::support::{ATTENTION, RECORDS, Sandbox, collect, string};

/// Made up here, so that no file holds anything that a scanner would take for one: a different one for each place.
fn token(place: &str) -> String {
    let digest = git_score_context::id::RecordId::of(place.as_bytes()).to_string();
    format!("ghp_{}", &digest[..36])
}

/// The content of every blob that our references hold, but for the code that look-ups pin, and of the notes.
fn ours(sandbox: &Sandbox) -> String {
    let mut all = String::new();
    for reference in [RECORDS, ATTENTION, "refs/notes/score-local"] {
        let mut command = sandbox.command("git", "r");
        command.args(["rev-parse", "-q", "--verify", reference]);
        if collect(command, None).code != 0 {
            continue;
        }
        for (path, (_, object)) in sandbox.entries(reference) {
            if !path.contains("/code/") {
                all.push_str(&sandbox.content(&object));
            }
        }
    }
    all
}

#[test]
fn names_of_branches_worktrees_and_paths_are_masked_where_they_are_stored() {
    let sandbox = Sandbox::new();
    let t = token;
    sandbox.run(&["hook", "install"]);
    // A linked worktree and its branch, a decision document, a path that a trailer's commit touched, a state file's own folder.
    sandbox.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        &format!("fix/{}", t("branch")),
        &format!("../{}", t("worktree")),
    ]);
    let linked = t("worktree");
    sandbox.exits_in(
        &linked,
        0,
        &["record", "said in a worktree", "--node", "src"],
    );
    sandbox.exits_in(
        &linked,
        0,
        &["session", "start", "a goal", "--assume", "all is well"],
    );
    sandbox.exits_in(&linked, 0, &["outcome", "a task", "--verdict", "pass"]);
    let document = format!("docs/adr/{}.md", t("document"));
    let state = format!("{}/state.json", t("folder"));
    let path = format!("src/{}.rs", t("path"));
    let files = [
        (document.as_str(), "# A title\n\n## Decision\n\nWe do it.\n"),
        (state.as_str(), "{\"decisions\": [\"from a state file\"]}"),
        (path.as_str(), "fn c() {}\n"),
    ];
    sandbox.commit(&files, "subject\n\nDecision: from a trailer\n");
    sandbox.git(&[
        "commit",
        "-q",
        "--amend",
        "-m",
        "other\n\nDecision: from a trailer\n",
    ]);
    sandbox.run(&["ingest", "--messages=all"]);
    sandbox.run(&["query", "what was said", "--node", "src"]);
    let all = ours(&sandbox);
    for place in ["branch", "worktree", "document", "folder", "path"] {
        assert!(!all.contains(&t(place)), "{place} was stored");
    }
    for text in [
        "said in a worktree",
        "We do it",
        "from a state file",
        "from a trailer",
        "all is well",
    ] {
        assert!(all.contains(text), "{text}");
    }
    assert!(
        all.contains("\"branch\":\"fix/[masked: github token]\""),
        "{all}"
    );
    assert!(all.contains("docs/adr/[masked: github token].md"), "{all}");
}

/// One of every kind that does not show.
const HIDDEN: [char; 26] = [
    '\u{7f}',
    '\u{80}',
    '\u{85}',
    '\u{9b}',
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{17b4}',
    '\u{180e}',
    '\u{200b}',
    '\u{200f}',
    '\u{2028}',
    '\u{2029}',
    '\u{202e}',
    '\u{2065}',
    '\u{2066}',
    '\u{3164}',
    '\u{fe00}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{fff0}',
    '\u{fffb}',
    '\u{e0001}',
    '\u{e0041}',
    '\u{e01ef}',
];

fn hiding() -> String {
    let mut text = String::from("keep the session cache");
    for character in HIDDEN {
        text.push('x');
        text.push(character);
    }
    text.push_str("❤\u{fe0f}\u{fe0f}\u{fe0e}");
    text
}

#[track_caller]
fn assert_shows_all(printed: &str, what: &str) {
    for character in HIDDEN {
        assert!(
            !printed.contains(character),
            "{what}: {character:?} in {printed:?}"
        );
    }
    assert!(
        !printed.contains("\u{fe0f}\u{fe0f}"),
        "{what}: a run of selectors"
    );
}

#[test]
fn json_carries_nothing_that_hides_and_means_the_same() {
    let sandbox = Sandbox::new();
    let text = hiding();
    let id = string(&sandbox.record_lines(&[json!({"text": text, "nodes": ["src"]})])[0]["id"]);
    for arguments in [
        &["log"][..],
        &["show", &id],
        &["query", &text, "--node", "src"],
        &["log", "--lookups"],
    ] {
        let mut command = sandbox.tool(arguments);
        command.arg("--json");
        let said = collect(command, None);
        if said.code == 2 {
            continue;
        }
        assert_shows_all(&said.out, &arguments.join(" "));
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(string(&sandbox.json_lines(&["log"])[0]["text"]), text);
    assert_eq!(
        string(&sandbox.json(&["query", "keep the session cache"])["items"][0]["text"]),
        text
    );
}

#[test]
fn nothing_hides_in_the_block_on_the_terminal_or_in_what_is_said() {
    let sandbox = Sandbox::new();
    let text = hiding();
    sandbox.record_lines(&[json!({"text": text, "nodes": ["src"]})]);
    let shown = sandbox.run(&["log"]);
    assert_shows_all(&shown.out, "log");
    let shown = sandbox.run(&["query", "keep the session cache", "--node", "src"]);
    assert_shows_all(&shown.out, "query");
    let shown = sandbox.feed(b"keep the session cache\n", 0, &["inject"]);
    assert!(
        shown.out.contains("<untrusted-prior-context"),
        "{}",
        shown.out
    );
    assert_shows_all(&shown.out, "inject");
    assert!(
        shown.out.contains("\\u{2065}") && shown.out.contains("\\u{fff0}"),
        "{}",
        shown.out
    );
    // An error repeats what was given.
    let said = sandbox.exits(128, &["show", &format!("no{}such", '\u{202e}')]);
    assert_shows_all(&said.err, "an error");
}

/// With one record that stands at the commit, one look-up, and a bare repository `d` as `origin`.
fn remembering() -> Real {
    let real = Real::hooked();
    real.commit("a", "one\n\nDecision: a trailer of it\n");
    real.tool(&["record", "top secret", "--node", "start"]);
    real.tool(&["query", "what is secret", "--node", "start"]);
    real.git_in(".", &["init", "-q", "--bare", "d"]);
    real.git(&["remote", "add", "origin", "../d"]);
    real
}

fn refs(real: &Real, dir: &str) -> Vec<String> {
    let refs = real.git_in(dir, &["for-each-ref", "--format=%(refname)"]);
    refs.lines().map(str::to_owned).collect()
}

#[test]
fn a_push_of_the_same_objects_under_another_name_is_stopped() {
    let real = remembering();
    let id = |rev: &str| real.git(&["rev-parse", rev]).trim().to_owned();
    let (records, attention) = (
        id("refs/score-local/records"),
        id("refs/score-local/attention"),
    );
    let notes = id("refs/notes/score-local");
    let listed = real.git(&["ls-tree", "-r", "refs/score-local/records"]);
    let blob = listed
        .split_whitespace()
        .nth(2)
        .expect("a record")
        .to_owned();
    let folder = real.git(&["ls-tree", "refs/score-local/records"]);
    let folder = folder.split_whitespace().nth(2).expect("a day").to_owned();
    // Copies: a branch of the notes' commit, a tag on the tree, a tag object on it, a commit that holds it, and one that holds one record.
    real.git(&["update-ref", "refs/heads/copy", &notes]);
    real.git(&["update-ref", "refs/tags/light", &records]);
    real.git(&["tag", "-a", "-m", "x", "heavy", &attention]);
    let wrapped = real.git(&["commit-tree", &records, "-p", "main", "-m", "x"]);
    real.git(&["update-ref", "refs/heads/wrapped", wrapped.trim()]);
    real.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},deep/er/x.json"),
    ]);
    let tree = real.git(&["write-tree"]);
    let deep = real.git(&["commit-tree", tree.trim(), "-p", "main", "-m", "x"]);
    real.git(&["update-ref", "refs/heads/deep", deep.trim()]);
    let after = real.git(&["commit-tree", "main^{tree}", "-p", deep.trim(), "-m", "x"]);
    real.git(&["update-ref", "refs/heads/after", after.trim()]);
    real.git(&["reset", "-q", "--hard"]);
    let pushes: Vec<String> = [
        format!("{notes}:refs/heads/x"),
        format!("{records}:refs/tags/x"),
        format!("{attention}:refs/tags/x"),
        format!("{folder}:refs/tags/x"),
        format!("{blob}:refs/tags/x"),
        format!("{notes}^{{tree}}:refs/tags/x"),
    ]
    .into_iter()
    .chain(["copy", "light", "heavy", "wrapped", "deep", "after"].map(str::to_owned))
    .collect();
    for push in &pushes {
        let (done, told) = real.try_git(&["push", "-q", "origin", push]);
        assert!(!done, "{push} went through");
        let first = told.lines().next().unwrap_or_default();
        assert!(
            first.contains("private to this machine") && first.contains("refs/"),
            "{push}: {told}"
        );
        assert_eq!(refs(&real, "d"), [""; 0], "{push}");
    }
    let (done, told) = real.try_git(&["push", "-q", "--all", "origin"]);
    assert!(!done && told.contains("refs/heads/"), "{told}");
}

#[test]
fn what_is_the_users_own_is_pushed_although_look_ups_pin_it() {
    let real = remembering();
    // The code tree stands in the look-up; an empty file and tree are nobody's.
    fs::write(real.path("r/empty"), "").expect("written");
    real.git(&["add", "-A"]);
    real.git(&["commit", "-q", "-m", "an empty file"]);
    let pushes: [&[&str]; 5] = [
        &["origin", "main^{tree}:refs/tags/code"],
        &["origin", "main~1^{tree}:refs/tags/before"],
        &["origin", "main:start:refs/tags/blob"],
        &["--all", "origin"],
        &["--tags", "origin"],
    ];
    for push in pushes {
        if push[1].contains(":start:") {
            let blob = real.git(&["rev-parse", "main:start"]);
            let spec = format!("{}:refs/tags/blob", blob.trim());
            assert_eq!(
                real.try_git(&["push", "-q", "origin", &spec]),
                (true, String::new())
            );
            continue;
        }
        let all = [&["push", "-q"], push].concat();
        assert_eq!(real.try_git(&all), (true, String::new()), "{push:?}");
    }
    assert!(refs(&real, "d").contains(&"refs/heads/main".to_owned()));
}

#[test]
fn the_guard_holds_up_no_push_when_the_tool_is_gone_or_broken() {
    let real = remembering();
    let hook = real.path("r/.git/hooks/pre-push");
    let text = fs::read_to_string(&hook).expect("it is there");
    for broken in ["/nowhere/at/all", "/bin/false-not-there"] {
        let tool = text
            .lines()
            .find(|line| line.starts_with("tool="))
            .expect("a line")
            .to_owned();
        fs::write(&hook, text.replace(&tool, &format!("tool='{broken}'"))).expect("written");
        let output = real
            .command("git", "r")
            .env("PATH", "/usr/bin:/bin")
            .args(["push", "-q", "origin", "main"])
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{output:?}");
        // By their names they are stopped all the same.
        let output = real
            .command("git", "r")
            .env("PATH", "/usr/bin:/bin")
            .args(["push", "-q", "origin", "refs/score-local/records"])
            .output()
            .expect("git runs");
        assert!(!output.status.success(), "{output:?}");
    }
}

#[test]
fn a_hooks_path_that_was_set_later_is_told_once_a_day_and_mended() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    assert_eq!(sandbox.run(&["record", "before"]).err, "");
    sandbox.git(&["config", "core.hooksPath", "elsewhere"]);
    let first = sandbox.run(&["record", "one"]);
    assert!(
        first.err.contains("core.hooksPath") && first.err.contains("hook install"),
        "{}",
        first.err
    );
    assert_eq!(sandbox.run(&["record", "two"]).err, "", "once a day");
    sandbox.step(24 * 3600);
    assert!(
        sandbox
            .run(&["record", "three"])
            .err
            .contains("core.hooksPath")
    );
    for command in [&["status"][..], &["fsck"], &["hook", "status"]] {
        let said = sandbox.run(command);
        let all = said.out + &said.err;
        assert!(
            all.contains("core.hooksPath")
                || command == ["hook", "status"] && all.contains("not installed"),
            "{command:?}: {all}"
        );
    }
    sandbox.run(&["hook", "install"]);
    assert!(sandbox.path("elsewhere/pre-push").exists());
    sandbox.step(24 * 3600);
    assert_eq!(sandbox.run(&["record", "four"]).err, "");
    // Both places are left as they were.
    sandbox.run(&["hook", "uninstall"]);
    assert!(!sandbox.path("elsewhere/pre-push").exists());
    assert!(!sandbox.path(".git/hooks/pre-push").exists());
    sandbox.step(24 * 3600);
    assert_eq!(
        sandbox.run(&["record", "five"]).err,
        "",
        "nothing is installed any more"
    );
}

#[test]
fn a_hooks_path_of_the_user_is_told_too() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.git(&["config", "--global", "core.hooksPath", "/nowhere"]);
    let said = sandbox.run(&["record", "one"]);
    assert!(said.err.contains("core.hooksPath"), "{}", said.err);
    let said = sandbox.run(&["fsck"]);
    assert!(said.out.contains("core.hooksPath"), "{}", said.out);
    sandbox.run(&["hook", "uninstall"]);
    assert!(!sandbox.path(".git/hooks/pre-push").exists());
}

/// What `docs/privacy.md` says of `git archive --remote`, by the real `git`.
#[test]
fn an_archive_of_a_remote_serves_the_records_by_their_name() {
    let real = remembering();
    let url = format!("--remote=file://{}", real.path("r").display());
    let archive = |what: &str| {
        let output = real
            .command("git", ".")
            .args(["archive", &url, what])
            .output();
        let output = output.expect("git runs");
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    // Hidden from a fetch, and not from this.
    let (done, tar) = archive("refs/score-local/records");
    assert!(done && tar.contains("top secret"));
    let records = real.git(&["rev-parse", "refs/score-local/records"]);
    assert!(
        !archive(records.trim()).0,
        "not by id, unless uploadArchive.allowUnreachable is set"
    );
    real.git(&["config", "uploadArchive.allowUnreachable", "true"]);
    assert!(archive(records.trim()).0);
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/privacy.md"));
    let page = page.expect("it is there");
    assert!(
        page.contains("git archive --remote") && page.contains("uploadArchive.allowUnreachable")
    );
}
