//! The post-commit hook under the real `git`: that it runs, that the user's own hook still does, that nobody notices, and that
//! nothing of it stays.
//!
//! The tool is a script here, which writes down how it was called, makes noise on both streams, and fails.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use git_score_context::hook::{self, Done, Earlier, HookError, State};
use tempfile::TempDir;

/// A repository with one commit, a tool, and a log that tool and hooks write to.
struct Place {
    top: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            top: tempfile::tempdir().expect("a temporary directory"),
        };
        fs::create_dir(place.path("home")).expect("a folder");
        fs::create_dir(place.path("it's a tool")).expect("a folder");
        let tool = format!(
            "#!/bin/sh\necho tool $* $(pwd) $(cat) >>'{}'\necho noise\necho noise >&2\nexit 3\n",
            place.path("log").display()
        );
        script(&place.tool(), &tool, 0o755);
        place.git(".", &["init", "-q", "-b", "main", "r"]);
        place.commit("r", "start");
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    fn tool(&self) -> PathBuf {
        self.path("it's a tool/git-score-context")
    }

    fn hooks(&self) -> PathBuf {
        self.path("r/.git/hooks")
    }

    fn command(&self, program: &str, dir: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"))
        {
            command.env_remove(name);
        }
        command
            .current_dir(self.path(dir))
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("XDG_CONFIG_HOME");
        for (name, value) in [("NAME", "A"), ("EMAIL", "a@example.invalid")] {
            command
                .env(format!("GIT_AUTHOR_{name}"), value)
                .env(format!("GIT_COMMITTER_{name}"), value);
        }
        command.stdin(Stdio::null());
        command
    }

    fn git(&self, dir: &str, arguments: &[&str]) -> Output {
        let output = self
            .command("git", dir)
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// Commits a new file named after the subject; gives what the user saw.
    fn commit(&self, dir: &str, subject: &str) -> String {
        fs::write(self.path(dir).join(subject), subject).expect("written");
        self.git(dir, &["add", "-A"]);
        said(&self.git(dir, &["commit", "-q", "-m", subject]))
    }

    fn head(&self, dir: &str) -> String {
        said(&self.git(dir, &["rev-parse", "HEAD"]))
            .trim()
            .to_owned()
    }

    fn install(&self) -> Result<hook::Report, HookError> {
        install(&self.hooks(), &self.tool())
    }

    /// A hook of the user's, which writes down how it was called.
    fn own_hook(&self, mode: u32) {
        let text = format!(
            "#!/bin/sh\necho own $* $(cat) >>'{}'\nexit 7\n",
            self.path("log").display()
        );
        script(&self.hooks().join("post-commit"), &text, mode);
    }

    /// What the log has gained; the folder of this place is written `TOP`.
    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        let _ = fs::remove_file(self.path("log"));
        let top = self.top.path().canonicalize().expect("it exists");
        text.lines()
            .map(|line| line.replace(&top.display().to_string(), "TOP"))
            .collect()
    }
}

/// What became of the post-commit hook; the others are installed with it.
fn install(dir: &Path, tool: &Path) -> Result<hook::Report, HookError> {
    hook::install(dir, tool).map(|mut reports| reports.remove(0))
}

fn uninstall(dir: &Path) -> Result<hook::Report, HookError> {
    hook::uninstall(dir).map(|mut reports| reports.remove(0))
}

fn status(dir: &Path, tool: &Path) -> Result<hook::Status, HookError> {
    hook::status(dir, tool).map(|mut all| all.remove(0))
}

fn script(file: &Path, text: &str, mode: u32) {
    fs::create_dir_all(file.parent().expect("in a folder")).expect("a folder");
    fs::write(file, text).expect("written");
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("the mode is set");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Name, mode, and link or content of a file.
type Listed = (PathBuf, u32, Option<PathBuf>, Option<Vec<u8>>);

fn listing(dir: &Path) -> Vec<Listed> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let mode = path
                .symlink_metadata()
                .expect("it exists")
                .permissions()
                .mode();
            let (link, bytes) = (fs::read_link(&path).ok(), fs::read(&path).ok());
            (path, mode, link, bytes)
        })
        .collect();
    files.sort();
    files
}

const CALL: &str = "tool hook run post-commit TOP/r";

#[test]
fn a_commit_calls_the_tool_and_shows_nothing_of_it() {
    let place = Place::new();
    let report = place.install().expect("installed");
    assert_eq!((report.done, report.earlier), (Done::Installed, None));
    assert_eq!(place.commit("r", "one"), "");
    assert_eq!(place.log(), [CALL]);
    let old = place.head("r");
    assert_eq!(
        said(&place.git("r", &["commit", "-q", "--amend", "-m", "again", "-n"])),
        ""
    );
    let rewrite = format!(
        "tool hook run post-rewrite amend TOP/r {old} {}",
        place.head("r")
    );
    assert_eq!(place.log(), [CALL, &rewrite]);
    fs::create_dir(place.path("r/sub")).expect("a folder");
    assert_eq!(place.commit("r/sub", "two"), "");
    assert_eq!(place.log(), [CALL]);
}

#[test]
fn the_users_hook_runs_first_with_its_arguments_input_and_status() {
    let place = Place::new();
    place.own_hook(0o755);
    assert_eq!(
        place.install().expect("installed").earlier,
        Some(Earlier::Runs)
    );
    place.commit("r", "one");
    assert_eq!(place.log(), ["own", CALL]);

    fs::write(place.path("input"), "from stdin").expect("written");
    let run = [
        "hook",
        "run",
        "--to-stdin=../input",
        "post-commit",
        "--",
        "a",
        "b c",
    ];
    let output = place
        .command("git", "r")
        .args(run)
        .output()
        .expect("git runs");
    assert_eq!(
        (output.status.code(), said(&output).as_str()),
        (Some(7), "")
    );
    let with = "tool hook run post-commit a b c TOP/r";
    assert_eq!(place.log(), ["own a b c from stdin", with]);

    // The input is meant for the user's hook: a post-commit hook has none that the tool could want.
    uninstall(&place.hooks()).expect("removed");
    fs::remove_file(place.hooks().join("post-commit")).expect("removed");
    place.install().expect("installed");
    assert!(
        place
            .command("git", "r")
            .args(run)
            .status()
            .expect("git runs")
            .success()
    );
    assert_eq!(place.log(), [with]);
}

#[test]
fn twice_is_once_and_nothing_stays() {
    for mode in [0o755, 0o700, 0o644] {
        let place = Place::new();
        place.own_hook(mode);
        let before = listing(&place.hooks());
        assert_eq!(place.install().expect("installed").done, Done::Installed);
        let installed = listing(&place.hooks());
        assert_eq!(place.install().expect("installed").done, Done::Already);
        assert_eq!(listing(&place.hooks()), installed);
        place.commit("r", "one");
        assert_eq!(place.log().iter().filter(|line| *line == CALL).count(), 1);
        assert_eq!(
            uninstall(&place.hooks()).expect("removed").done,
            Done::Removed
        );
        assert_eq!(listing(&place.hooks()), before);
        assert_eq!(
            uninstall(&place.hooks()).expect("nothing to do").done,
            Done::NotThere
        );
        assert_eq!(listing(&place.hooks()), before);
    }
}

#[test]
fn a_hook_that_was_switched_off_stays_off() {
    let place = Place::new();
    // The second one would be read by its shell, which asks for no permission to run.
    let asks = format!(
        "#!/bin/sh\necho own $0 >>'{}'\n",
        place.path("log").display()
    );
    for text in ["#!/bin/sh\necho own\n", &asks] {
        script(&place.hooks().join("post-commit"), text, 0o644);
        assert_eq!(
            place.install().expect("installed").earlier,
            Some(Earlier::Off)
        );
        assert_eq!(place.commit("r", &format!("of {} bytes", text.len())), "");
        assert_eq!(place.log(), [CALL]);
        assert_eq!(
            uninstall(&place.hooks()).expect("removed").earlier,
            Some(Earlier::Off)
        );
    }
}

#[test]
fn a_linked_hook_stays_a_link() {
    let place = Place::new();
    let text = format!(
        "#!/bin/sh\necho linked >>'{}'\n",
        place.path("log").display()
    );
    script(&place.path("r/scripts/mine"), &text, 0o755);
    symlink("../../scripts/mine", place.hooks().join("post-commit")).expect("a link");
    let before = listing(&place.hooks());
    place.install().expect("installed");
    place.commit("r", "one");
    assert_eq!(place.log(), ["linked", CALL]);
    uninstall(&place.hooks()).expect("removed");
    assert_eq!(listing(&place.hooks()), before);

    fs::remove_file(place.path("r/scripts/mine")).expect("removed");
    let before = listing(&place.hooks());
    place
        .install()
        .expect("a link that leads nowhere is kept too");
    uninstall(&place.hooks()).expect("removed");
    assert_eq!(listing(&place.hooks()), before);
}

/// Husky 9: the hook in `.husky/_` finds the user's script by its own name and folder.
#[test]
fn a_hook_that_asks_for_its_name_hears_the_old_one() {
    let place = Place::new();
    let log = place.path("log").display().to_string();
    let folder = place.path("r/.husky/_");
    script(
        &folder.join("h"),
        "n=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n[ ! -f \"$s\" ] && exit 0\nsh -e \"$s\" \"$@\"\nexit $?\n",
        0o644,
    );
    script(
        &folder.join("post-commit"),
        "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n",
        0o755,
    );
    script(
        &place.path("r/.husky/post-commit"),
        &format!("echo husky >>'{log}'\n"),
        0o644,
    );
    place.git("r", &["config", "core.hooksPath", ".husky/_"]);
    let found = hook::place(
        Some(Path::new(".husky/_")),
        None,
        &place.path("r/.git"),
        Some(&place.path("r")),
    )
    .expect("a folder");
    install(&found.dir, &place.tool()).expect("installed");
    assert_eq!(place.commit("r", "one"), "");
    assert_eq!(place.log(), ["husky", CALL]);

    // `npm install` writes Husky's file again; then ours has to be installed again, and the earlier one is still Husky's.
    script(
        &folder.join("post-commit"),
        "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n",
        0o755,
    );
    assert_eq!(
        install(&found.dir, &place.tool()).expect("installed").done,
        Done::Installed
    );
    place.commit("r", "two");
    assert_eq!(place.log(), ["husky", CALL]);
}

#[test]
fn hooks_of_other_kinds_are_executed() {
    let place = Place::new();
    let log = place.path("log").display().to_string();
    let guarded = format!(
        "#!/usr/bin/env bash\nmain() {{ echo guarded >>'{log}'; }}\nif [ \"${{BASH_SOURCE[0]}}\" = \"$0\" ]; then main; fi\n"
    );
    let awk = format!("#!/usr/bin/awk -f\nBEGIN {{ print \"awk\" >>\"{log}\" }}\n");
    let bare = format!("echo bare >>'{log}'\n");
    for (text, line) in [(guarded, "guarded"), (awk, "awk"), (bare, "bare")] {
        script(&place.hooks().join("post-commit"), &text, 0o755);
        place.commit("r", &format!("{line} before"));
        assert_eq!(place.log(), [line]);
        place.install().expect("installed");
        place.commit("r", line);
        assert_eq!(place.log(), [line, CALL]);
        uninstall(&place.hooks()).expect("removed");
    }
}

#[test]
fn without_the_tool_a_commit_is_as_before() {
    let place = Place::new();
    place.own_hook(0o755);
    place.install().expect("installed");
    let elsewhere = place.path("bin/git-score-context");
    fs::create_dir(place.path("bin")).expect("a folder");
    fs::rename(place.tool(), &elsewhere).expect("moved");
    assert_eq!(place.commit("r", "one"), "");
    assert_eq!(place.log(), ["own"]);

    let path = format!(
        "{}:{}",
        place.path("bin").display(),
        std::env::var("PATH").expect("a PATH")
    );
    let commit = ["commit", "-q", "--allow-empty", "-m", "two"];
    let output = place
        .command("git", "r")
        .args(commit)
        .env("PATH", path)
        .output()
        .expect("git runs");
    assert_eq!(
        (output.status.code(), said(&output).as_str()),
        (Some(0), "")
    );
    assert_eq!(place.log(), ["own", CALL]);

    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o644)).expect("the mode is set");
    assert_eq!(place.commit("r", "three"), "");
    assert_eq!(place.log(), ["own"]);
}

#[test]
fn a_rebase_leaves_the_tool_alone_and_the_users_hook_not() {
    let place = Place::new();
    place.own_hook(0o755);
    place.git("r", &["branch", "base"]);
    for (dir, branch) in [("r", "side"), ("wt", "other")] {
        if dir == "wt" {
            place.git(
                "r",
                &["worktree", "add", "-q", "-b", branch, "../wt", "base"],
            );
        } else {
            place.git(dir, &["checkout", "-q", "-b", branch]);
        }
        place.commit(dir, &format!("{branch} one"));
        place.commit(dir, &format!("{branch} two"));
    }
    place.git("r", &["checkout", "-q", "main"]);
    place.commit("r", "main one");
    place.install().expect("installed");
    place.log();
    for (dir, branch) in [("r", "side"), ("wt", "other")] {
        for way in ["--merge", "--apply"] {
            let tips = place.git(dir, &["log", "-2", "--reverse", "--format=%H", branch]);
            let old: Vec<_> = said(&tips).lines().map(str::to_owned).collect();
            place.git(dir, &["rebase", "-q", "-f", way, "main", branch]);
            let tips = place.git(dir, &["log", "-2", "--reverse", "--format=%H", branch]);
            let new: Vec<_> = said(&tips).lines().map(str::to_owned).collect();
            let pairs = format!("{} {} {} {}", old[0], new[0], old[1], new[1]);
            let once = format!("tool hook run post-rewrite rebase TOP/{dir} {pairs}");
            let log = place.log();
            // That way fires no post-commit hook.
            let own = log.iter().filter(|line| *line == "own").count();
            assert_eq!(own, if way == "--merge" { 2 } else { 0 }, "{log:?}");
            assert_eq!(log[own..], [once], "{way}");
        }
    }
    // Stopped in the middle, by either way to rebase, also when the hook is not told where the repository is.
    place.git("r", &["checkout", "-q", "main"]);
    for folder in ["rebase-merge", "rebase-apply"] {
        script(
            &place.path("r/.git").join(folder).join("rebasing"),
            "",
            0o644,
        );
        place.commit("r", folder);
        assert_eq!(place.log(), ["own"], "{folder}");
        fs::remove_dir_all(place.path("r/.git").join(folder)).expect("removed");
        place.commit("r", &format!("{folder} is over"));
        assert_eq!(place.log(), ["own", CALL]);
    }
}

#[test]
fn worktrees_share_the_hook_also_of_a_bare_repository() {
    let place = Place::new();
    place.install().expect("installed");
    place.git("r", &["worktree", "add", "-q", "../wt"]);
    place.commit("wt", "one");
    assert_eq!(place.log(), ["tool hook run post-commit TOP/wt"]);

    place.git(".", &["clone", "-q", "--bare", "r", "bare.git"]);
    place.git("bare.git", &["worktree", "add", "-q", "../bare-wt", "main"]);
    let found = hook::place(None, None, &place.path("bare.git"), None).expect("a folder");
    install(&found.dir, &place.tool()).expect("installed");
    place.commit("bare-wt", "two");
    assert_eq!(place.log(), ["tool hook run post-commit TOP/bare-wt"]);
}

#[test]
fn what_somebody_changed_is_not_destroyed() {
    let place = Place::new();
    place.own_hook(0o755);
    let file = place.hooks().join("post-commit");
    place.install().expect("installed");
    let ours = fs::read_to_string(&file).expect("UTF-8");
    fs::write(&file, format!("{ours}echo mine\n")).expect("written");
    let before = listing(&place.hooks());
    assert!(matches!(place.install(), Err(HookError::Changed(_))));
    let sentence = uninstall(&place.hooks()).expect_err("changed").to_string();
    assert!(
        sentence.contains("was changed") && sentence.contains("post-commit'"),
        "{sentence}"
    );
    assert_eq!(listing(&place.hooks()), before);

    script(&file, "#!/bin/sh\necho another\n", 0o755);
    let before = listing(&place.hooks());
    assert!(matches!(place.install(), Err(HookError::Replaced { .. })));
    assert!(matches!(
        uninstall(&place.hooks()),
        Err(HookError::Replaced { .. })
    ));
    assert_eq!(listing(&place.hooks()), before);

    // As the sentences say: once it is deleted, the earlier hook comes back.
    fs::remove_file(&file).expect("removed");
    assert_eq!(
        uninstall(&place.hooks()).expect("removed").done,
        Done::Removed
    );
    place.commit("r", "one");
    assert_eq!(place.log(), ["own"]);
}

#[test]
fn another_binary_or_a_lost_permission_is_mended() {
    let place = Place::new();
    let state = |binary: &Path| status(&place.hooks(), binary).expect("readable").state;
    let file = place.hooks().join("post-commit");
    assert_eq!(state(&place.tool()), State::Absent);
    install(&place.hooks(), Path::new("/nowhere/tool")).expect("installed");
    assert_eq!(
        (state(Path::new("/nowhere/tool")), state(&place.tool())),
        (State::Current, State::Outdated)
    );
    assert_eq!(place.install().expect("installed").done, Done::Updated);
    assert_eq!(state(&place.tool()), State::Current);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("the mode is set");
    assert_eq!(state(&place.tool()), State::Outdated);
    assert_eq!(place.install().expect("installed").done, Done::Updated);
    place.commit("r", "one");
    assert_eq!(place.log(), [CALL]);
    fs::write(&file, "mine").expect("written");
    assert_eq!(state(&place.tool()), State::Foreign);
    assert_eq!(
        uninstall(&place.hooks()).expect("not ours").done,
        Done::NotThere
    );
    assert_eq!(fs::read(&file).expect("still there"), b"mine");
}

#[test]
fn a_folder_that_was_made_goes_and_one_that_cannot_be_is_named() {
    let place = Place::new();
    let hooks = place.path("r/.git/other/hooks");
    fs::create_dir(place.path("r/.git/other")).expect("a folder");
    install(&hooks, &place.tool()).expect("installed");
    install(&hooks, Path::new("/nowhere/tool")).expect("updated");
    uninstall(&hooks).expect("removed");
    assert!(!hooks.exists() && place.path("r/.git/other").exists());

    fs::create_dir(&hooks).expect("a folder");
    install(&hooks, &place.tool()).expect("installed");
    uninstall(&hooks).expect("removed");
    assert!(hooks.exists());

    fs::create_dir(hooks.join("post-commit")).expect("a folder");
    let sentence = install(&hooks, &place.tool())
        .expect_err("a folder is in the way")
        .to_string();
    assert!(sentence.starts_with("cannot read '"), "{sentence}");
    let file = place.path("r/start");
    let sentence = install(&file, &place.tool())
        .expect_err("a file")
        .to_string();
    assert!(
        sentence.starts_with("cannot ") && sentence.contains("r/start"),
        "{sentence}"
    );
}
