//! What `hook install` prints: a stranger who reads it knows every file that was changed, and how to undo it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::Sandbox;

fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let folder = fs::read_dir(sandbox.path(".git/hooks"))
        .into_iter()
        .flatten()
        .flatten();
    let names = folder
        .map(|entry| entry.path())
        .chain([sandbox.path(".git/config")]);
    for name in names {
        found.insert(name.clone(), fs::read(name).expect("a file"));
    }
    found
}

#[test]
fn every_change_is_told_and_the_way_back() {
    let sandbox = Sandbox::new();
    let mine = sandbox.path(".git/hooks/pre-push");
    fs::create_dir_all(sandbox.path(".git/hooks")).expect("a folder");
    fs::write(&mine, "#!/bin/sh\nexit 0\n").expect("written");
    #[cfg(unix)]
    fs::set_permissions(&mine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let before = files(&sandbox);
    let told = sandbox.run(&["hook", "install"]).out;
    let after = files(&sandbox);
    for (name, content) in &after {
        if before.get(name) != Some(content) {
            let name = name.display().to_string();
            assert!(told.contains(&name), "{name} was changed: {told}");
        }
    }
    for line in sandbox.git(&["config", "--local", "--list"]).lines() {
        let is_ours = line.contains("hiderefs") || line.contains("score-context");
        let value = line.split_once('=').expect("a value").1;
        assert!(!is_ours || told.contains(value), "{line}: {told}");
    }
    for words in [
        "undo",
        "git score-context hook uninstall",
        "without the tool",
        "refs/notes/score-local",
        "a new commit",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    // Done by hand, as it says, it is undone as well.
    let told_undo = sandbox.run(&["hook", "uninstall"]);
    assert!(
        told_undo.err.contains("records and look-ups stay"),
        "{}",
        told_undo.err
    );
    assert_eq!(files(&sandbox), before);
}

#[test]
fn without_notes_none_are_told() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["hook", "install", "--no-notes"]).out;
    assert!(
        !told.contains("git log --notes") && told.contains("hook uninstall"),
        "{told}"
    );
}
