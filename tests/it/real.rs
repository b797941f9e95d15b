//! A repository of the real `git` with the real tool on the `PATH`, for tests of what the hooks do.
//!
//! Nothing of the machine's own settings is seen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const TOOL: &str = env!("CARGO_BIN_EXE_git-score-context");

/// A temporary directory with a repository `r` in it.
pub struct Real {
    top: TempDir,
}

impl Real {
    /// With one commit.
    pub fn new() -> Self {
        Self::initialised(&[])
    }

    /// The same, made by `git init` with these arguments.
    pub fn initialised(arguments: &[&str]) -> Self {
        let real = Self {
            top: tempfile::tempdir().expect("a temporary directory"),
        };
        fs::create_dir(real.path("home")).expect("a folder");
        let settings = "[user]\n\tname = A\n\temail = a@example.invalid\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n";
        fs::write(real.path("home/.gitconfig"), settings).expect("written");
        real.git_in(".", &[&["init", "-q"], arguments, &["r"]].concat());
        real.commit("start", "start");
        real
    }

    /// The same, with the hooks installed.
    pub fn hooked() -> Self {
        let real = Self::new();
        real.tool(&["hook", "install"]);
        real
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    pub fn command(&self, program: &str, dir: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        let tool = Path::new(TOOL).parent().expect("in a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.path(dir))
            .env("PATH", format!("{tool}:{path}"))
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null());
        command
    }

    /// Runs Git and says how it ended and what it said on both streams.
    pub fn try_git(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.command("git", "r").args(arguments).output();
        let output = output.expect("git runs");
        (output.status.success(), said(&output))
    }

    /// What Git prints; it must succeed.
    pub fn git_in(&self, dir: &str, arguments: &[&str]) -> String {
        let output = self.command("git", dir).args(arguments).output();
        let output = output.expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in("r", arguments)
    }

    /// What the tool prints; it must succeed.
    pub fn tool(&self, arguments: &[&str]) -> String {
        self.git(&[&["score-context"], arguments].concat())
    }

    /// Writes a file of this name and commits it; gives the commit.
    pub fn commit(&self, file: &str, message: &str) -> String {
        self.commit_in("r", file, message)
    }

    pub fn commit_in(&self, dir: &str, file: &str, message: &str) -> String {
        fs::write(self.path(dir).join(file), message).expect("written");
        self.git_in(dir, &["add", "-A"]);
        self.git_in(dir, &["commit", "-q", "-m", message]);
        self.git_in(dir, &["rev-parse", "HEAD"])
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// The records whose text holds `text`, as `log --json` prints them.
    pub fn records(&self, text: &str) -> Vec<Value> {
        let lines = self.tool(&["log", "--json", "--grep", text]);
        let parse = |line| serde_json::from_str(line).expect("JSON");
        lines.lines().map(parse).collect()
    }

    /// The commits of the one record whose text holds `text`: in force, and former.
    pub fn anchors(&self, text: &str) -> (Vec<String>, Vec<String>) {
        let records = self.records(text);
        assert_eq!(records.len(), 1, "{records:?}");
        let of = |key: &str| {
            let commits = records[0][key].as_array().expect("a list").iter();
            let mut commits: Vec<_> = commits
                .map(|commit| commit.as_str().expect("an id").to_owned())
                .collect();
            commits.sort();
            commits
        };
        (of("anchors"), of("former_anchors"))
    }

    /// Every line of every stored record and anchor.
    pub fn lines(&self) -> Vec<Value> {
        let tree = "refs/score-local/records";
        let files = self.git(&["ls-tree", "-r", "--format=%(objectname)", tree]);
        let mut lines = Vec::new();
        for blob in files.lines() {
            let text = self.git(&["cat-file", "blob", blob]);
            let parse = |line| serde_json::from_str::<Value>(line).expect("JSON");
            lines.extend(text.lines().map(parse));
        }
        lines
    }

    /// How often the records have been written since `core.logAllRefUpdates` is `always`.
    pub fn writes(&self) -> usize {
        let log = self.path("r/.git/logs/refs/score-local/records");
        fs::read_to_string(log).unwrap_or_default().lines().count()
    }

    /// There is never a second anchor for one record and commit, and nothing is broken.
    pub fn check(&self) {
        let lines = self.lines();
        let anchors = lines.iter().filter(|line| line["type"] == "anchor");
        let mut places: Vec<_> = anchors
            .map(|anchor| format!("{} {}", anchor["of"], anchor["commit"]))
            .collect();
        places.sort();
        let all = places.len();
        places.dedup();
        assert_eq!(places.len(), all, "a second anchor for a record and commit");
        self.tool(&["fsck"]);
        self.git(&["fsck", "--strict", "--no-progress"]);
    }
}

/// Both streams.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Writes an executable file.
pub fn script(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(file.parent().expect("in a folder")).expect("a folder");
    fs::write(file, text).expect("written");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("the mode is set");
}
