//! The guard of a push, and what an installation changes besides: the configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::real::{Real, said, script};

/// With one record, and a bare repository `d` as `origin`.
fn remembering() -> Real {
    let real = Real::hooked();
    real.tool(&["record", "top secret", "--node", "start"]);
    real.git_in(".", &["init", "-q", "--bare", "d"]);
    real.git(&["remote", "add", "origin", "../d"]);
    real
}

fn refs(real: &Real, dir: &str) -> Vec<String> {
    let refs = real.git_in(dir, &["for-each-ref", "--format=%(refname)"]);
    refs.lines().map(str::to_owned).collect()
}

#[test]
fn a_push_of_the_memory_is_stopped_and_told_how_to_push_the_rest() {
    let real = remembering();
    real.git(&["tag", "v1"]);
    let records = real.git(&["rev-parse", "refs/score-local/records"]);
    let pushes: [&[&str]; 7] = [
        &["--mirror", "origin"],
        &["origin", "refs/*:refs/*"],
        &["origin", "refs/score-local/records"],
        &["origin", "refs/score-local/records^{tree}:refs/tags/t"],
        &["origin", &format!("{records}:refs/score-local/records")],
        &["origin", "refs/notes/score-local"],
        &[
            "origin",
            "main",
            "refs/notes/score-local^{tree}:refs/tags/t",
        ],
    ];
    for push in pushes {
        let (done, told) = real.try_git(&[&["push", "-q"], push].concat());
        assert!(!done, "{push:?}");
        let names = ["refs/score-local/", "refs/notes/score-local"];
        let first = told.lines().next().unwrap_or_default();
        assert!(
            names.iter().any(|name| first.contains(name)),
            "{push:?}: {told}"
        );
        assert_eq!(refs(&real, "d"), [""; 0], "{push:?}");
    }
    // The very command that is printed pushes the rest.
    let (_, told) = real.try_git(&["push", "--mirror", "origin"]);
    let command = told.lines().find_map(|line| line.strip_prefix("hint:   "));
    let command = command.expect("a command");
    let output = real
        .command("sh", "r")
        .args(["-c", command])
        .output()
        .expect("sh runs");
    assert!(output.status.success(), "{command}: {}", said(&output));
    assert_eq!(refs(&real, "d"), ["refs/heads/main", "refs/tags/v1"]);
}

#[test]
fn other_pushes_are_not_disturbed() {
    let real = remembering();
    for branch in ["refs/score-local", "score-local/x", "notes/score-local"] {
        real.git(&["branch", branch]);
    }
    real.git(&["update-ref", "refs/notes/score-local-not", "HEAD"]);
    let pushes: [&[&str]; 5] = [
        &["--all", "origin"],
        &["--tags", "origin"],
        &["origin", "refs/notes/score-local-not"],
        &["--delete", "origin", "score-local/x"],
        &["origin", "main"],
    ];
    for push in pushes {
        assert_eq!(
            real.try_git(&[&["push", "-q"], push].concat()),
            (true, String::new()),
            "{push:?}"
        );
    }
    // An old leak is mended by a deletion.
    real.git(&[
        "push",
        "-q",
        "--no-verify",
        "origin",
        "refs/score-local/records",
    ]);
    assert!(refs(&real, "d").contains(&"refs/score-local/records".to_owned()));
    real.git(&["push", "-q", "origin", ":refs/score-local/records"]);
    assert!(!refs(&real, "d").contains(&"refs/score-local/records".to_owned()));
}

#[test]
fn the_users_own_hook_hears_everything_and_has_its_say() {
    let real = Real::new();
    real.git_in(".", &["init", "-q", "--bare", "d"]);
    let own = |verdict: u8| {
        let log = real.path("log");
        let text = format!(
            "#!/bin/sh\necho \"$1 $2\" >'{0}'\ncat >>'{0}'\nexit {verdict}\n",
            log.display()
        );
        script(&real.path("r/.git/hooks/pre-push"), &text);
    };
    let heard = || fs::read_to_string(real.path("log")).unwrap_or_default();
    own(0);
    real.git(&[
        "push",
        "-q",
        "--dry-run",
        "../d",
        "main",
        "main^{commit}:refs/tags/b",
    ]);
    let before = heard();
    assert_eq!(before.lines().count(), 3, "{before}");
    real.tool(&["hook", "install"]);
    real.git(&[
        "push",
        "-q",
        "--dry-run",
        "../d",
        "main",
        "main^{commit}:refs/tags/b",
    ]);
    assert_eq!(heard(), before);
    // Nothing to push is no line, and stays none.
    real.git(&["push", "-q", "../d", "main"]);
    real.git(&["push", "-q", "../d", "main"]);
    assert_eq!(heard(), "../d ../d\n");

    // A push that is stopped is none of its business; otherwise its word counts.
    real.tool(&["record", "top secret"]);
    fs::remove_file(real.path("log")).expect("removed");
    assert!(!real.try_git(&["push", "-q", "--mirror", "../d"]).0);
    assert_eq!(heard(), "");
    real.tool(&["hook", "uninstall"]);
    own(1);
    real.tool(&["hook", "install"]);
    real.commit("a", "one");
    assert!(!real.try_git(&["push", "-q", "../d", "main"]).0);
    assert!(heard().contains("refs/heads/main"));
    assert_ne!(real.git_in("d", &["rev-parse", "main"]), real.head());
}

#[test]
fn the_guard_stands_without_the_tool_and_in_somebody_elses_hook() {
    let real = Real::new();
    let tool = real.path("bin/git-score-context");
    fs::create_dir(real.path("bin")).expect("a folder");
    // Not by this process: another test that starts a program meanwhile would hand the open file on to it, and then nobody may run it.
    let copy = || {
        let mut command = real.command("cp", "r");
        command
            .arg(env!("CARGO_BIN_EXE_git-score-context"))
            .arg(&tool);
        assert!(command.status().expect("cp runs").success());
    };
    copy();
    let run = |arguments: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", real.path("bin").display());
        let mut command = real.command("git", "r");
        let output = command
            .args(arguments)
            .env("PATH", path)
            .output()
            .expect("git runs");
        (output.status.success(), said(&output))
    };
    real.git_in(".", &["init", "-q", "--bare", "d"]);
    assert!(run(&["score-context", "hook", "install"]).0);
    assert!(run(&["score-context", "record", "top secret"]).0);
    fs::remove_file(&tool).expect("removed");
    let (done, told) = run(&["push", "-q", "--mirror", "../d"]);
    assert!(
        !done && told.contains("is private to this machine"),
        "{told}"
    );

    copy();
    assert!(run(&["score-context", "hook", "uninstall"]).0);
    let theirs = "#!/bin/sh\nexec git score-context hook run pre-push \"$@\"\n";
    script(&real.path("r/.git/hooks/pre-push"), theirs);
    let (done, told) = run(&["push", "-q", "--mirror", "../d"]);
    assert!(!done && told.contains("git push '../d'"), "{told}");
    assert_eq!(run(&["push", "-q", "../d", "main"]), (true, String::new()));
    assert_eq!(refs(&real, "d"), ["refs/heads/main"]);
}

#[test]
fn the_configuration_is_as_before_after_an_uninstall() {
    let endings = [
        "",
        "\n[transfer]\n\thideRefs = refs/mine\n",
        "\n# mine\n[transfer]",
        "\n\tx = y \\\n z",
    ];
    for ending in endings {
        let real = Real::new();
        let config = real.path("r/.git/config");
        let mut text = fs::read_to_string(&config)
            .expect("UTF-8")
            .trim_end()
            .to_owned();
        text.push_str(ending);
        fs::write(&config, &text).expect("written");
        fs::set_permissions(&config, fs::Permissions::from_mode(0o640)).expect("the mode is set");
        for _ in 0..2 {
            real.tool(&["hook", "install"]);
        }
        let hidden = real.git(&["config", "--get-all", "transfer.hideRefs"]);
        let ours = ["refs/score-local", "refs/notes/score-local"];
        let mine: &[&str] = if ending.contains("mine\n") && ending.contains("hideRefs") {
            &["refs/mine"]
        } else {
            &[]
        };
        assert_eq!(hidden.lines().collect::<Vec<_>>(), [mine, &ours].concat());
        assert_eq!(real.git(&["config", "score-context.notes"]), "true");
        real.tool(&["hook", "install", "--no-notes"]);
        assert!(!real.try_git(&["config", "score-context.notes"]).0);
        real.tool(&["hook", "uninstall"]);
        assert_eq!(
            fs::read_to_string(&config).expect("UTF-8"),
            text,
            "{ending:?}"
        );
        let mode = fs::metadata(&config)
            .expect("it exists")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(!real.path("r/.git/config.lock").exists());
    }
}

#[test]
fn what_git_adds_in_between_stays() {
    let real = Real::hooked();
    for (key, value) in [
        ("score-context.ingest", "messages"),
        ("transfer.fsckObjects", "true"),
        ("remote.o.url", "x"),
    ] {
        real.git(&["config", key, value]);
    }
    real.tool(&["hook", "uninstall"]);
    let list = real.git(&["config", "--local", "--list"]);
    for kept in [
        "score-context.ingest=messages",
        "transfer.fsckobjects=true",
        "remote.o.url=x",
    ] {
        assert!(list.lines().any(|line| line == kept), "{list}");
    }
    assert!(
        !list.contains("hiderefs") && !list.contains("score-context.notes"),
        "{list}"
    );
}

#[test]
fn an_installation_that_cannot_be_is_none() {
    let real = Real::new();
    let config = real.path("r/.git/config");
    let before = fs::read(&config).expect("it exists");
    let hooks = || {
        fs::read_dir(real.path("r/.git/hooks"))
            .expect("a folder")
            .count()
    };
    let count = hooks();

    // Git's own lock.
    let lock = real.path("r/.git/config.lock");
    fs::write(&lock, "").expect("written");
    let (done, told) = real.try_git(&["score-context", "hook", "install"]);
    assert!(!done && told.contains("config"), "{told}");
    assert!(lock.exists());
    fs::remove_file(&lock).expect("removed");
    assert_eq!(
        (fs::read(&config).expect("it exists"), hooks()),
        (before.clone(), count)
    );

    // A folder where a hook belongs.
    fs::create_dir(real.path("r/.git/hooks/pre-push")).expect("a folder");
    let (done, told) = real.try_git(&["score-context", "hook", "install"]);
    assert!(!done && told.contains("pre-push"), "{told}");
    assert_eq!(
        (fs::read(&config).expect("it exists"), hooks()),
        (before, count + 1)
    );
}

#[test]
fn who_fetches_from_here_does_not_see_the_memory() {
    let real = remembering();
    real.commit("a", "one\n\nDecision: keep it here\n");
    assert!(refs(&real, "r").contains(&"refs/notes/score-local".to_owned()));
    let url = format!("file://{}", real.path("r").display());
    real.git_in(".", &["clone", "-q", "--mirror", &url, "m"]);
    assert_eq!(refs(&real, "m"), ["refs/heads/main"]);
    let status = real.tool(&["hook", "status"]);
    assert!(
        status.contains("hidden          yes") && status.contains("notes           yes"),
        "{status}"
    );
}
