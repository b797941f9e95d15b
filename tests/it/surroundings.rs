//! Repositories of every kind, and what is none: each works, or is refused with one clear sentence before anything is written.

use std::fs;

use serde_json::{Value, json};

use crate::errors::assert_fatal;
use crate::support::{RECORDS, Sandbox, collect};

/// Commands that read or write the memory; all of them must refuse what the gate refuses.
const COMMANDS: [&[&str]; 12] = [
    &["query", "a task"],
    &["record", "a text"],
    &["outcome", "t", "--verdict", "pass"],
    &["session", "start", "a goal"],
    &["ingest"],
    &["log"],
    &["show", "abc"],
    &["replay", "--all"],
    &["fsck"],
    &["status"],
    &["quickstart"],
    &["hook", "install"],
];

/// Every command is refused with these words, and no reference of ours comes into being.
fn assert_refused(sandbox: &Sandbox, words: &[&str]) {
    for command in COMMANDS {
        assert_fatal(&collect(sandbox.tool(command), None), words);
    }
    assert!(!sandbox.path(".git/refs/score-local").exists());
}

#[test]
fn not_a_repository() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.top("elsewhere")).expect("a folder");
    for command in COMMANDS {
        let said = sandbox.exits_in("elsewhere", 128, command);
        assert_fatal(&said, &["not a git repository"]);
    }
    assert_fatal(
        &sandbox.exits_in("elsewhere", 128, &["-C", "nowhere", "log"]),
        &["nowhere"],
    );
}

#[test]
fn a_repository_without_a_commit() {
    let sandbox = Sandbox::empty();
    for command in [
        &["ingest"][..],
        &["log"],
        &["replay", "--all"],
        &["fsck"],
        &["status"],
        &["quickstart"],
        &["graph", "nodes"],
    ] {
        sandbox.run(command);
    }
    let found = sandbox.json(&["query", "anything", "--node", "src"]);
    assert_eq!(
        (
            &found["commit"],
            &found["candidates"],
            &found["unresolved_nodes"]
        ),
        (&Value::Null, &json!(0), &json!(["src"]))
    );
    let id = sandbox.record("the first word", &["src"]);
    let found = sandbox.json(&["query", "the first word"]);
    assert_eq!(
        (&found["items"][0]["id"], &found["items"][0]["anchors"]),
        (&json!(id), &json!([]))
    );
    assert_fatal(
        &sandbox.exits(128, &["query", "anything", "--at", "HEAD"]),
        &["HEAD"],
    );
}

#[test]
fn a_bare_repository() {
    let sandbox = Sandbox::new();
    sandbox.commit(&[("a", "1")], "x\n\nDecision: the cache is cold\n");
    sandbox.git_in(".", &["clone", "-q", "--bare", "r", "bare.git"]);
    sandbox.also_check("bare.git");
    let run = |arguments: &[&str]| sandbox.exits_in("bare.git", 0, arguments);
    run(&["ingest"]);
    run(&["record", "the cache is warm", "--node", "src/cache.rs"]);
    let found: Value =
        serde_json::from_str(&run(&["query", "the cache", "--node", "src", "--json"]).out)
            .expect("JSON");
    assert_eq!(
        (&found["candidates"], &found["unresolved_nodes"]),
        (&json!(2), &json!([]))
    );
    for command in [
        &["log"][..],
        &["replay", "--all"],
        &["fsck"],
        &["status"],
        &["quickstart"],
    ] {
        run(command);
    }
    assert!(sandbox.top("bare.git/score-context").is_dir());
    assert_eq!(
        sandbox.git(&["for-each-ref", RECORDS]),
        "",
        "the other repository has none of it"
    );
}

#[test]
fn a_repository_with_longer_names() {
    let sandbox = Sandbox::initialised(&["--object-format=sha256"]);
    let commit = sandbox.commit(
        &[("src/cache.rs", "fn a() {}\n")],
        "x\n\nDecision: the cache is cold\n",
    );
    assert_eq!(commit.len(), 64);
    sandbox.run(&["ingest"]);
    sandbox.record("the cache is warm", &["src/cache.rs"]);
    let found = sandbox.json(&["query", "the cache", "--at", "HEAD"]);
    assert_eq!(
        (&found["commit"], &found["candidates"]),
        (&json!(commit), &json!(2))
    );
    assert_eq!(found["items"][0]["anchors"], json!([commit]));
    sandbox.run(&["quickstart"]);
    sandbox.collect_garbage();
}

#[test]
fn references_in_another_storage_are_refused() {
    let sandbox = Sandbox::initialised(&["--ref-format=reftable"]);
    sandbox.commit(&[("a", "1")], "start");
    sandbox.leave_unchecked();
    assert_refused(&sandbox, &["reftable"]);
}

#[test]
fn a_format_that_nobody_knows_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.leave_unchecked();
    let config = fs::read_to_string(sandbox.path(".git/config")).expect("it is there");
    let version = |version: &str| {
        config.replace(
            "repositoryformatversion = 0",
            &format!("repositoryformatversion = {version}"),
        )
    };
    let with = |text: String| fs::write(sandbox.path(".git/config"), text).expect("written");
    with(version("99"));
    assert_refused(&sandbox, &["99"]);
    with(version("1") + "[extensions]\n\tmoonlight = true\n");
    assert_refused(&sandbox, &["moonlight"]);
    with(version("many"));
    assert_refused(&sandbox, &["version"]);
    with(config.clone() + "[extensions]\n\tobjectFormat = sha256\n");
    assert_refused(&sandbox, &["bjectFormat"]);
    with(version("1") + "[extensions]\n\tpreciousObjects = true\n");
    sandbox.run(&["log"]);
    with(config + "[core\n");
    for command in COMMANDS {
        assert_eq!(collect(sandbox.tool(command), None).code, 128);
    }
}

#[test]
fn a_repository_of_somebody_else_is_refused_with_gits_own_hint() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let sandbox = Sandbox::new();
    if fs::metadata(sandbox.top("home"))
        .expect("it is there")
        .uid()
        != 0
    {
        // Only root can give a folder away.
        return;
    }
    let give = |uid: u32| {
        for path in ["", ".git"] {
            chown(sandbox.path(path), Some(uid), Some(uid)).expect("root may");
        }
    };
    give(12_345);
    assert_refused(&sandbox, &["dubious ownership", "safe.directory"]);
    let config = sandbox.top("home/.gitconfig");
    let before = fs::read_to_string(&config).expect("it is there");
    let place = sandbox.path("").canonicalize().expect("it is there");
    fs::write(
        &config,
        format!("{before}[safe]\n\tdirectory = {}\n", place.display()),
    )
    .expect("written");
    sandbox.record("an exception was made", &[]);
    fs::write(&config, before).expect("written");
    give(0);
}

#[test]
fn two_repositories_named_at_once_stop_everything() {
    let sandbox = Sandbox::new();
    sandbox.git_in(".", &["init", "-q", "other"]);
    let run = |git_dir: &str, arguments: &[&str]| {
        let mut command = sandbox.tool(arguments);
        command
            .env("GIT_DIR", sandbox.top(git_dir))
            .env("GIT_INDEX_FILE", sandbox.path(".git/index"));
        collect(command, None)
    };
    for command in COMMANDS {
        let said = run("r/.git", &[&["-C", "../other"], command].concat());
        assert_fatal(&said, &["GIT_DIR"]);
    }
    for repository in ["r", "other"] {
        assert_eq!(
            sandbox.git_in(repository, &["for-each-ref", "refs/score-local"]),
            ""
        );
    }
    // The same one twice, and the variable alone, are clear.
    assert_eq!(run("r/.git", &["-C", ".", "record", "named twice"]).code, 0);
    assert_eq!(run("other/.git", &["record", "by the variable"]).code, 0);
    let count = |repository: &str| sandbox.exits_in(repository, 0, &["log", "--count"]).out;
    assert_eq!(
        (count("r").as_str(), count("other").as_str()),
        ("1\n", "1\n")
    );
    let said = run("nowhere", &["log"]);
    assert_fatal(&said, &["GIT_DIR"]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}
