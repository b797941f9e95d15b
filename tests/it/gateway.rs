//! Links, pipes and cut files where the tool keeps its own, in what a repository brings along: nothing is written, read or removed
//! elsewhere, nothing waits, and no signal ends a command.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Said, Sandbox, TOOL, collect};

/// A command that waits for a pipe is ended after so many seconds.
const PATIENCE: &str = "30";
/// How `timeout` ends then.
const TIMED_OUT: i32 = 124;

/// Runs the tool; it ends by itself, with an exit code of ours.
#[track_caller]
fn ends(sandbox: &Sandbox, arguments: &[&str]) -> Said {
    let mut command = sandbox.command("timeout", "r");
    command.arg(PATIENCE).arg(TOOL).args(arguments);
    let said = collect(command, None);
    assert_ne!(said.code, TIMED_OUT, "{arguments:?} waits");
    assert!(
        [0, 1, 2, 128].contains(&said.code),
        "{arguments:?}: {said:?}"
    );
    said
}

/// It ends with 128 and this in one sentence.
#[track_caller]
fn refuses(sandbox: &Sandbox, arguments: &[&str], why: &str) {
    let said = ends(sandbox, arguments);
    assert_eq!(said.code, 128, "{arguments:?}: {said:?}");
    assert!(said.err.contains(why), "{arguments:?}: {}", said.err);
}

/// A place outside of the repository, with a file that nobody may touch.
fn outside(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.top("outside");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("profile"), "theirs\n").expect("written");
    folder
}

#[track_caller]
fn untouched(folder: &Path) {
    let names = fs::read_dir(folder).expect("a folder").flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["profile"]);
    let text = fs::read_to_string(folder.join("profile")).expect("there");
    assert_eq!(text, "theirs\n");
}

fn pipe(path: &Path) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("a folder");
    }
    drop(fs::remove_file(path));
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo runs").success());
}

/// Every file below a folder, with its bytes and its mode.
fn all_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let meta = path.symlink_metadata().expect("there");
        if meta.is_dir() {
            found.extend(all_below(&path));
        } else if meta.is_file() {
            let bytes = fs::read(&path).expect("there");
            found.push((path, bytes, meta.permissions().mode()));
        }
    }
    found.sort();
    found
}

#[test]
fn settings_are_never_written_through_a_link() {
    const SETTINGS: [(&str, &str); 6] = [
        ("claude-code", ".claude/settings.local.json"),
        ("claude-code", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("codex", ".codex/config.toml"),
    ];
    for (client, file) in SETTINGS {
        let sandbox = Sandbox::new();
        let outside = outside(&sandbox);
        let path = sandbox.path(file);
        let folder = path.parent().expect("a folder").to_owned();
        let write = ["agent", "setup", client, "--write"];
        let undo = ["agent", "setup", client, "--undo"];
        fs::create_dir_all(&folder).expect("a folder");
        // The file itself, to something that is there and to something that is not.
        for target in ["profile", "new"] {
            symlink(outside.join(target), &path).expect("a link");
            refuses(&sandbox, &write, "is a symbolic link");
            refuses(&sandbox, &undo, "is a symbolic link");
            fs::remove_file(&path).expect("removed");
            untouched(&outside);
        }
        // The copy that is made of it.
        let backup = sandbox.path(&format!("{file}.score-context-backup"));
        let before = if file.ends_with("toml") {
            "a = 1\n"
        } else {
            "{\"a\": 1}\n"
        };
        for target in ["profile", "new"] {
            fs::write(&path, before).expect("written");
            symlink(outside.join(target), &backup).expect("a link");
            refuses(&sandbox, &write, "is a symbolic link");
            assert_eq!(fs::read_to_string(&path).expect("there"), before);
            refuses(&sandbox, &undo, "is a symbolic link");
            fs::remove_file(&backup).expect("removed");
            untouched(&outside);
        }
        // A pipe.
        pipe(&path);
        refuses(&sandbox, &write, "is a pipe");
        fs::remove_file(&path).expect("removed");
        // The folder.
        if folder != sandbox.path("") && fs::remove_dir(&folder).is_ok() {
            symlink(&outside, &folder).expect("a link");
            refuses(&sandbox, &write, "is a symbolic link");
            ends(&sandbox, &undo);
            untouched(&outside);
        }
    }
}

#[test]
fn settings_keep_bytes_and_modes() {
    let sandbox = Sandbox::new();
    let path = sandbox.path(".claude/settings.local.json");
    let before = "{\n  // mine\n  \"model\": \"x\"\n}\n";
    sandbox.write(&[(".claude/settings.local.json", before)]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    ends(&sandbox, &["agent", "setup", "claude-code", "--write"]);
    assert_ne!(fs::read_to_string(&path).expect("there"), before);
    let backup = sandbox.path(".claude/settings.local.json.score-context-backup");
    assert_eq!(fs::read_to_string(&backup).expect("there"), before);
    assert_eq!((mode(&path), mode(&backup)), (0o600, 0o600));
    ends(&sandbox, &["agent", "setup", "claude-code", "--undo"]);
    assert_eq!(fs::read_to_string(&path).expect("there"), before);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(all_below(&sandbox.path(".claude")).len(), 1);
    assert!(!sandbox.path(".mcp.json").exists());
}

#[test]
fn a_linked_folder_of_ours_is_neither_written_nor_emptied() {
    let sandbox = Sandbox::new();
    sandbox.record("the session cache lives on disk", &["src/cache.rs"]);
    let outside = outside(&sandbox);
    let own = sandbox.path(".git/score-context");
    for target in [outside.clone(), outside.join("new")] {
        fs::remove_dir_all(&own)
            .or_else(|_| fs::remove_file(&own))
            .expect("removed");
        symlink(target, &own).expect("a link");
        let why = "is a symbolic link";
        refuses(&sandbox, &["prune", "--caches"], why);
        refuses(&sandbox, &["prune"], why);
        refuses(
            &sandbox,
            &["record", "another", "--node", "src/cache.rs"],
            why,
        );
        // What only reads has its answer.
        let asked = ends(
            &sandbox,
            &[
                "query",
                "change the session cache",
                "--node",
                "src/cache.rs",
            ],
        );
        assert!(asked.out.contains("lives on disk"), "{asked:?}");
        assert!(asked.err.contains(why), "{asked:?}");
        for command in [&["status"][..], &["fsck"], &["log"], &["graph", "stats"]] {
            assert_eq!(ends(&sandbox, command).code, 0, "{command:?}");
        }
        untouched(&outside);
    }
    fs::remove_file(&own).expect("removed");
    sandbox.record("another", &["src/cache.rs"]);
}

#[test]
fn a_linked_folder_or_file_in_ours_is_not_followed() {
    let sandbox = Sandbox::new();
    let outside = outside(&sandbox);
    let own = sandbox.path(".git/score-context");
    sandbox.record("the session cache lives on disk", &["src/cache.rs"]);
    for folder in ["index", "seen", "prompts"] {
        drop(fs::remove_dir_all(own.join(folder)));
        symlink(&outside, own.join(folder)).expect("a link");
    }
    for file in ["touched.bin", "graph-x.bin", "index-x"] {
        drop(fs::remove_file(own.join(file)));
        symlink(outside.join("profile"), own.join(file)).expect("a link");
    }
    ends(&sandbox, &["ingest"]);
    ends(&sandbox, &["record", "more", "--node", "src/cache.rs"]);
    ends(&sandbox, &["query", "the cache", "--node", "src/cache.rs"]);
    let input =
        br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"the session cache"}"#;
    sandbox.feed(input, 0, &["hook", "prompt", "claude-code"]);
    untouched(&outside);
    assert_eq!(ends(&sandbox, &["prune", "--caches"]).code, 0);
    untouched(&outside);
    // The links themselves are what goes.
    assert!(own.join("index").symlink_metadata().is_err());
    assert!(own.join("graph-x.bin").symlink_metadata().is_err());
}

#[test]
fn a_pipe_in_the_place_of_any_file_of_ours_holds_nothing_up() {
    let sandbox = Sandbox::new();
    let own = sandbox.path(".git/score-context");
    let all = |sandbox: &Sandbox| {
        ends(sandbox, &["ingest"]);
        ends(
            sandbox,
            &["query", "the session cache", "--node", "src/cache.rs"],
        );
        ends(
            sandbox,
            &[
                "record",
                "the cache moves",
                "--node",
                "src/cache.rs",
                "--agent",
                "a",
            ],
        );
        for command in [
            &["status"][..],
            &["fsck"],
            &["log"],
            &["graph", "stats"],
            &["hook", "status"],
        ] {
            ends(sandbox, command);
        }
        let input = br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"the session cache"}"#;
        let mut command = sandbox.command("timeout", "r");
        command
            .arg(PATIENCE)
            .arg(TOOL)
            .args(["hook", "prompt", "claude-code"]);
        assert_eq!(collect(command, Some(input)).code, 0);
    };
    sandbox.run(&["hook", "install"]);
    sandbox.write(&[
        (
            "score-context/policy.toml",
            "version = 1\n[attention]\nrule = \"measured/1\"\n",
        ),
        ("src/a.py", "def a():\n    return 1\n"),
    ]);
    sandbox.record("the session cache moves to the disk", &["src/cache.rs"]);
    for number in 0..20 {
        sandbox.record(&format!("the widget {number} is round"), &["src/cache.rs"]);
    }
    for number in 0..20 {
        sandbox.commit(
            &[("src/more.rs", &format!("fn c{number}() {{}}\n"))],
            "more",
        );
    }
    all(&sandbox);
    let files: Vec<PathBuf> = all_below(&own).into_iter().map(|(path, ..)| path).collect();
    let has = |name: &str| {
        files
            .iter()
            .any(|path| path.to_string_lossy().contains(name))
    };
    for name in [
        "graph-",
        "facts-",
        "lock",
        "turnstile",
        "journal",
        "seen/",
        "prompts/",
        "index/",
        "touched.bin",
    ] {
        assert!(has(name), "{name}: {files:?}");
    }
    for file in files
        .iter()
        .map(PathBuf::as_path)
        .chain([own.join("salt").as_path()])
    {
        pipe(file);
        sandbox.commit(
            &[("src/more.rs", &format!("// {}\n", file.display()))],
            "again",
        );
        all(&sandbox);
        ends(&sandbox, &["prune", "--caches"]);
        drop(fs::remove_file(file));
    }
    pipe(&own.join("lock"));
    refuses(
        &sandbox,
        &["record", "the cache stays", "--node", "src/cache.rs"],
        "is a pipe",
    );
    fs::remove_file(own.join("lock")).expect("removed");
    // The folder itself.
    fs::remove_dir_all(&own).expect("removed");
    pipe(&own);
    refuses(
        &sandbox,
        &["record", "the cache stays", "--node", "src/cache.rs"],
        "is no folder",
    );
    refuses(&sandbox, &["prune", "--caches"], "is no folder");
    fs::remove_file(&own).expect("removed");
}

#[test]
fn a_policy_is_never_written_through_a_link() {
    let sandbox = Sandbox::new();
    let outside = outside(&sandbox);
    let pairs: String = (0..12)
        .map(|number| {
            let text = format!("the module number{number} keeps its own cache of widgets{number}");
            let id = sandbox.record(&text, &["src/cache.rs"]);
            format!("{{\"task\":\"change number{number} widgets{number} cache\",\"nodes\":[\"src/cache.rs\"],\"relevant\":[\"{id}\"]}}\n")
        })
        .collect();
    sandbox.write(&[("pairs.jsonl", &pairs)]);
    let write = ["calibrate", "pairs.jsonl", "--write"];
    let folder = sandbox.path("score-context");
    symlink(&outside, &folder).expect("a link");
    refuses(&sandbox, &write, "is a symbolic link");
    fs::remove_file(&folder).expect("removed");
    fs::create_dir(&folder).expect("a folder");
    for target in ["profile", "new"] {
        symlink(outside.join(target), folder.join("policy.toml")).expect("a link");
        refuses(&sandbox, &write, "is a symbolic link");
        fs::remove_file(folder.join("policy.toml")).expect("removed");
    }
    pipe(&folder.join("policy.toml"));
    refuses(&sandbox, &write, "is a pipe");
    untouched(&outside);
}

#[test]
fn hooks_are_never_written_through_a_link() {
    let sandbox = Sandbox::new();
    let outside = outside(&sandbox);
    let hooks = sandbox.path(".git/hooks");
    drop(fs::remove_dir_all(&hooks));
    symlink(&outside, &hooks).expect("a link");
    refuses(&sandbox, &["hook", "install"], "is a symbolic link");
    fs::remove_file(&hooks).expect("removed");
    fs::create_dir(&hooks).expect("a folder");
    symlink(
        outside.join("profile"),
        hooks.join("post-commit.score-context.new"),
    )
    .expect("a link");
    pipe(&hooks.join("post-merge"));
    pipe(&hooks.join("pre-push.score-context.new"));
    ends(&sandbox, &["hook", "status"]);
    assert_eq!(ends(&sandbox, &["hook", "install"]).code, 0);
    untouched(&outside);
    assert_eq!(ends(&sandbox, &["hook", "uninstall"]).code, 0);
    untouched(&outside);
    // A folder that the repository brings along.
    fs::create_dir(sandbox.path("tools")).expect("a folder");
    symlink(&outside, sandbox.path("tools/hooks")).expect("a link");
    sandbox.git(&["config", "core.hooksPath", "tools/hooks"]);
    refuses(&sandbox, &["hook", "install"], "is a symbolic link");
    untouched(&outside);
}

#[test]
fn a_cache_of_somebody_else_is_not_believed() {
    let sandbox = Sandbox::new();
    sandbox.run(&["graph", "nodes"]);
    let right = sandbox.run(&["graph", "nodes"]).out;
    let own = sandbox.path(".git/score-context");
    for (path, ..) in all_below(&own) {
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
            // Only the superuser can give a file away.
            return;
        }
    }
    assert_eq!(ends(&sandbox, &["graph", "nodes"]).out, right);
    sandbox.record("the cache moves", &["src/cache.rs"]);
    sandbox.write(&[(".mcp.json", "{}\n")]);
    std::os::unix::fs::chown(sandbox.path(".mcp.json"), Some(12_345), None).expect("given");
    refuses(
        &sandbox,
        &["agent", "setup", "cursor", "--write"].map(|word| {
            if word == "cursor" {
                "claude-code"
            } else {
                word
            }
        }),
        "belongs to another user",
    );
}

/// The tool beside somebody who cuts and fills its caches in place, again and again.
#[test]
fn a_cache_that_is_cut_under_a_command_is_no_signal_and_no_wrong_answer() {
    let sandbox = Sandbox::new();
    let source: String = (0..4000)
        .map(|number| {
            format!("def function_with_a_long_name_{number}(a, b):\n    return a + {number}\n\n")
        })
        .collect();
    sandbox.commit(&[("src/large.py", &source)], "large");
    let ask = ["graph", "edges"];
    let right = sandbox.run(&ask).out;
    let own = sandbox.path(".git/score-context");
    let sound: Vec<_> = all_below(&own)
        .into_iter()
        .filter(|(path, ..)| path.extension().is_some_and(|ending| ending == "bin"))
        .collect();
    assert!(
        sound.iter().any(|(_, bytes, _)| bytes.len() > 256 * 1024),
        "one is mapped"
    );
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                for (path, bytes, _) in &sound {
                    drop(fs::write(path, bytes));
                    std::thread::sleep(std::time::Duration::from_millis(3));
                    let file = fs::OpenOptions::new().write(true).open(path);
                    drop(file.and_then(|file| file.set_len(8192)));
                }
            }
        });
        for _ in 0..12 {
            let said = ends(&sandbox, &ask);
            match said.code {
                0 => assert_eq!(said.out, right),
                _ => assert!(
                    said.err.contains("was changed while it was read"),
                    "{said:?}"
                ),
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
