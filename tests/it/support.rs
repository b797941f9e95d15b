//! The harness: real repositories of the real `git` in a temporary directory, where nothing of the machine's own settings is seen,
//! and the clock stands until a test moves it.
//!
//! A sandbox that goes out of scope replays every look-up it caused and has `git fsck --strict` look at every repository, so that
//! each test also tests those two. Every command's standard error is searched for a panic.

mod said;
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use git_score_context::record::Time;
use serde_json::Value;
use tempfile::TempDir;

use said::{finish, finish_fed};

pub use said::{Said, collect, id_of, json_lines, pluck, string, strings};
pub use trees::Entries;

/// The program under test.
pub const TOOL: &str = env!("CARGO_BIN_EXE_git-score-context");
/// The reference that holds the records.
pub const RECORDS: &str = "refs/score-local/records";
/// The reference that holds the look-ups.
pub const ATTENTION: &str = "refs/score-local/attention";
/// Where the clock of a sandbox stands at first: 2026-11-30T12:00:00Z.
const START: i64 = 1_796_040_000;

/// A temporary directory with a repository `r` in it.
pub struct Sandbox {
    top: TempDir,
    clock: AtomicI64,
    /// Repositories that are looked at in the end, below the top.
    repositories: Mutex<BTreeSet<String>>,
    /// Look-ups that are not to be identical in the end, with what they are to be.
    replays: Mutex<BTreeMap<String, String>>,
    is_checked: AtomicBool,
}

impl Sandbox {
    /// With one commit, `start`, that holds `src/cache.rs` and `src/os/disk.rs`.
    pub fn new() -> Self {
        let sandbox = Self::empty();
        let files = [
            ("src/cache.rs", "fn a() {}\n"),
            ("src/os/disk.rs", "fn b() {}\n"),
        ];
        sandbox.commit(&files, "start");
        sandbox
    }

    /// Without a commit.
    pub fn empty() -> Self {
        Self::initialised(&[])
    }

    /// Without a commit, made by `git init` with these arguments.
    pub fn initialised(arguments: &[&str]) -> Self {
        let sandbox = Self {
            top: tempfile::tempdir().expect("a temporary directory"),
            clock: AtomicI64::new(START),
            repositories: Mutex::new(BTreeSet::from(["r".to_owned()])),
            replays: Mutex::default(),
            is_checked: AtomicBool::new(true),
        };
        fs::create_dir(sandbox.top("home")).expect("a folder");
        let settings = "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[protocol \"file\"]\n\tallow = always\n";
        fs::write(sandbox.top("home/.gitconfig"), settings).expect("written");
        let init = [&["init", "-q"], arguments, &["r"]].concat();
        sandbox.git_in(".", &init);
        sandbox
    }

    /// A path below the top, where `r` lies.
    pub fn top(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    /// A path in the repository.
    pub fn path(&self, path: &str) -> PathBuf {
        self.top("r").join(path)
    }

    /// Has one more repository looked at in the end.
    pub fn also_check(&self, repository: &str) {
        self.repositories
            .lock()
            .expect("no panic")
            .insert(repository.to_owned());
    }

    /// A look-up that is to come to something else than `identical` in the end.
    pub fn expect_replay(&self, id: &str, result: &str) {
        self.replays
            .lock()
            .expect("no panic")
            .insert(id.to_owned(), result.to_owned());
    }

    /// Nothing is looked at in the end: the test has damaged the repository.
    pub fn leave_unchecked(&self) {
        self.is_checked.store(false, Relaxed);
    }

    /// Moves the clock of the tool and of new commits.
    pub fn step(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Relaxed);
    }

    /// Sets the clock.
    pub fn set_clock(&self, time: &str) {
        self.clock
            .store(time.parse::<Time>().expect("a time").0, Relaxed);
    }

    /// What the clock shows, in RFC 3339.
    pub fn now(&self) -> String {
        Time(self.clock.load(Relaxed)).to_string()
    }

    /// A command that sees nothing of the machine's own settings, to be run in a directory below the top.
    pub fn command(&self, program: impl AsRef<OsStr>, dir: &str) -> Command {
        let mut command = Command::new(program);
        let date = format!("@{} +0000", self.clock.load(Relaxed));
        let home = self.top("home");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let tool = Path::new(TOOL)
            .parent()
            .expect("the program lies in a folder");
        let mut directories = vec![tool.to_owned()];
        directories.extend(std::env::split_paths(&path));
        let path = std::env::join_paths(directories).expect("no path with a colon");
        command
            .current_dir(self.top(dir))
            .env_clear()
            .env("PATH", path)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("SCORE_CONTEXT_NOW", self.now())
            .stdin(Stdio::null());
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "A U Thor")
                .env(format!("GIT_{role}_EMAIL"), "author@example.invalid")
                .env(format!("GIT_{role}_DATE"), &date);
        }
        command
    }

    /// The tool, to be run in the repository.
    pub fn tool(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(TOOL, "r");
        command.args(arguments);
        command
    }

    /// Runs the tool; it must succeed.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Said {
        self.exits(0, arguments)
    }

    /// Runs the tool; it must end with this code.
    #[track_caller]
    pub fn exits(&self, code: i32, arguments: &[&str]) -> Said {
        finish(self.tool(arguments), code)
    }

    /// Runs the tool in another directory below the top; it must end with this code.
    #[track_caller]
    pub fn exits_in(&self, dir: &str, code: i32, arguments: &[&str]) -> Said {
        let mut command = self.command(TOOL, dir);
        command.args(arguments);
        finish(command, code)
    }

    /// Runs the tool with this on its standard input; it must end with this code.
    #[track_caller]
    pub fn feed(&self, input: &[u8], code: i32, arguments: &[&str]) -> Said {
        finish_fed(self.tool(arguments), input, code)
    }

    /// The one JSON document that a successful command prints.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let mut lines = self.json_lines(arguments);
        assert_eq!(lines.len(), 1, "{arguments:?} prints one document");
        lines.remove(0)
    }

    /// The JSON lines that a successful command prints.
    #[track_caller]
    pub fn json_lines(&self, arguments: &[&str]) -> Vec<Value> {
        let arguments = [arguments, &["--json"]].concat();
        json_lines(&self.run(&arguments).out)
    }

    /// Records a text about these nodes; gives the id.
    #[track_caller]
    pub fn record(&self, text: &str, nodes: &[&str]) -> String {
        self.record_with(text, nodes, &[])
    }

    /// Records a text about these nodes, with further arguments; gives the id.
    #[track_caller]
    pub fn record_with(&self, text: &str, nodes: &[&str], more: &[&str]) -> String {
        let nodes = nodes.iter().flat_map(|node| ["--node", node]);
        let arguments: Vec<&str> = ["record", text]
            .into_iter()
            .chain(nodes)
            .chain(more.iter().copied())
            .collect();
        string(&self.json(&arguments)["id"])
    }

    /// Records JSON values in one write; gives what was said of each.
    #[track_caller]
    pub fn record_lines(&self, lines: &[Value]) -> Vec<Value> {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        json_lines(
            &self
                .feed(lines.as_bytes(), 0, &["record", "--stdin", "--json"])
                .out,
        )
    }

    /// The ids of all reasoning records.
    #[track_caller]
    pub fn log_ids(&self) -> BTreeSet<String> {
        let lines = self.json_lines(&["log"]);
        lines.iter().map(|line| string(&line["id"])).collect()
    }

    /// Runs git in the repository; it must succeed. Gives what it printed, without white space at the end.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in("r", arguments)
    }

    /// Runs git in a directory below the top.
    #[track_caller]
    pub fn git_in(&self, dir: &str, arguments: &[&str]) -> String {
        let mut command = self.command("git", dir);
        command.args(arguments);
        finish(command, 0).out.trim_end().to_owned()
    }

    /// Runs git in the repository with this on its standard input.
    #[track_caller]
    pub fn git_fed(&self, input: &[u8], arguments: &[&str]) -> String {
        let mut command = self.command("git", "r");
        command.args(arguments);
        finish_fed(command, input, 0).out.trim_end().to_owned()
    }

    /// Writes files without committing them.
    pub fn write(&self, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = self.path(path);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            fs::write(path, content).expect("written");
        }
    }

    /// Commits everything in the work tree after writing these files, a minute after the commit before; gives its id.
    #[track_caller]
    pub fn commit(&self, files: &[(&str, &str)], message: &str) -> String {
        self.step(60);
        self.write(files);
        self.git(&["add", "-A"]);
        self.git_fed(
            message.as_bytes(),
            &[
                "commit",
                "-q",
                "--allow-empty",
                "--cleanup=verbatim",
                "-F",
                "-",
            ],
        );
        self.git(&["rev-parse", "HEAD"])
    }

    /// Drops everything that no reference holds, at once.
    pub fn collect_garbage(&self) {
        self.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.git(&["gc", "-q", "--prune=now"]);
    }

    /// What `replay --all` says of each look-up of a repository.
    #[track_caller]
    pub fn replays_in(&self, repository: &str) -> BTreeMap<String, String> {
        let mut command = self.command(TOOL, repository);
        command.args(["replay", "--all", "--json"]);
        let said = collect(command, None);
        assert!(said.code == 0 || said.code == 1, "{said:?}");
        let results = json_lines(&said.out);
        let results = results
            .iter()
            .map(|line| (string(&line["id"]), string(&line["result"])));
        results.collect()
    }

    /// Replays every look-up and has Git check every object.
    #[track_caller]
    pub fn check(&self) {
        for repository in self.repositories.lock().expect("no panic").iter() {
            let expected = self.replays.lock().expect("no panic");
            for (id, result) in self.replays_in(repository) {
                let right = expected.get(&id).map_or("identical", String::as_str);
                assert_eq!(result, right, "the replay of {id} in {repository}");
            }
            self.assert_sound(repository);
        }
    }

    /// `git fsck --strict` finds nothing but dangling objects.
    #[track_caller]
    pub fn assert_sound(&self, repository: &str) {
        let mut command = self.command("git", repository);
        command.args(["fsck", "--strict", "--no-progress"]);
        let said = collect(command, None);
        let is_talk = |line: &&str| {
            line.starts_with("dangling ")
                || line.starts_with("notice: HEAD points to an unborn")
                || *line == "notice: No default references"
        };
        let faults: Vec<&str> = said
            .out
            .lines()
            .chain(said.err.lines())
            .filter(|line| !is_talk(line))
            .collect();
        assert!(
            faults.is_empty() && said.code == 0,
            "git fsck in {repository}: {faults:?}"
        );
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.is_checked.load(Relaxed) && !std::thread::panicking() {
            self.check();
        }
    }
}
