//! Bad input and damaged data: one clear sentence, the right exit code, nothing half-written, and never a panic.

use std::fs;

use serde_json::{Value, json};

use crate::support::{RECORDS, Said, Sandbox, TOOL, collect, string};

/// One sentence that says `fatal`, with hints behind it at most.
#[track_caller]
pub fn assert_fatal(said: &Said, words: &[&str]) {
    assert_eq!(said.code, 128, "{said:?}");
    assert_eq!(said.out, "", "standard output is for data");
    let mut lines = said.err.lines();
    assert!(
        lines.next().is_some_and(|line| line.starts_with("fatal: ")),
        "{}",
        said.err
    );
    assert!(lines.all(|line| line.starts_with("hint: ")), "{}", said.err);
    for word in words {
        assert!(said.err.contains(word), "no '{word}' in: {}", said.err);
    }
}

#[test]
fn a_bad_revision() {
    let sandbox = Sandbox::new();
    let id = string(&sandbox.json(&["query", "a task"])["attention_id"]);
    let blob = sandbox.git(&["rev-parse", "HEAD:src/cache.rs"]);
    for rev in [
        "no-such-branch",
        "HEAD~99",
        "deadbeef",
        "",
        "--all",
        "HEAD^{tree}",
        blob.as_str(),
        "HEAD..HEAD",
        "\u{0}x",
    ] {
        if rev.contains('\0') {
            continue;
        }
        for command in [
            vec!["query", "a task"],
            vec!["replay", &id],
            vec!["graph", "nodes"],
        ] {
            let at = format!("--at={rev}");
            let said = collect(sandbox.tool(&[&command[..], &[&at]].concat()), None);
            assert_fatal(&said, &["revision"]);
        }
    }
    assert_fatal(
        &sandbox.exits(128, &["ingest", "no-such-branch"]),
        &["no-such-branch"],
    );
    let said = sandbox.feed(
        br#"{"text": "t", "anchor": "nowhere"}"#,
        2,
        &["record", "--stdin"],
    );
    assert!(
        said.err.contains("line 1") && said.err.contains("nowhere"),
        "{}",
        said.err
    );
    assert_eq!(sandbox.git(&["for-each-ref", RECORDS]), "");
}

#[test]
fn an_id_that_names_nothing_or_too_much() {
    let sandbox = Sandbox::new();
    for n in 0..40 {
        sandbox.record(&format!("record {n}"), &[]);
    }
    sandbox.run(&["query", "a"]);
    let none = "0123456789abcdef";
    for command in [
        vec!["show", none],
        vec!["replay", none],
        vec!["explain", none],
    ] {
        assert_fatal(&sandbox.exits(128, &command), &[none]);
    }
    assert!(
        sandbox
            .exits(2, &["record", "x", "--supersedes", none])
            .err
            .contains(none)
    );
    // Of forty ids two begin with the same digit.
    let ids = sandbox.log_ids();
    let digit = ids
        .iter()
        .find(|id| ids.iter().filter(|other| other[..1] == id[..1]).count() > 1)
        .expect("two of them")[..1]
        .to_owned();
    assert_fatal(&sandbox.exits(128, &["show", &digit]), &["ambiguous"]);
    assert!(
        sandbox
            .exits(2, &["record", "x", "--supersedes", &digit])
            .err
            .contains("ambiguous")
    );
    for i in 0..2 {
        sandbox.step(1);
        for _ in 0..8 {
            sandbox.step(1);
            sandbox.run(&["query", &format!("again {i}")]);
        }
    }
    let look_ups: Vec<String> = sandbox.replays_in("r").into_keys().collect();
    let twin = look_ups
        .iter()
        .find(|id| {
            look_ups
                .iter()
                .filter(|other| other[..1] == id[..1])
                .count()
                > 1
        })
        .expect("two of them");
    assert_fatal(&sandbox.exits(128, &["replay", &twin[..1]]), &["ambiguous"]);
    for command in ["show", "replay", "explain"] {
        assert_ne!(
            collect(sandbox.tool(&[command, ""]), None).code,
            0,
            "{command} of nothing"
        );
    }
}

#[test]
fn a_broken_record_is_named_and_skipped() {
    let sandbox = Sandbox::new();
    let sound = sandbox.record("the sound one", &["src"]);
    let spoiled = sandbox.record("the spoiled one", &["src"]);
    let before = sandbox.entries(RECORDS);
    let path = format!("2026-11-30/{spoiled}.json");
    let damages: [&[u8]; 6] = [
        b"",
        b"{\"type\":\"reasoning\",\"source\":\"session\",\"kind\":\"dec",
        b"not JSON at all\n",
        b"\xff\xfe\x00\x01",
        b"{\"type\":\"omen\"}\n",
        b"{\"type\":\"reasoning\",\"source\":\"session\",\"text\":\"another text under this name\"}\n",
    ];
    for damage in damages {
        let mut entries = before.clone();
        let blob = sandbox.git_fed(damage, &["hash-object", "-w", "--stdin"]);
        entries.insert(path.clone(), ("100644".to_owned(), blob));
        sandbox.set_entries(RECORDS, &entries);
        let shown = String::from_utf8_lossy(damage);
        let said = sandbox.run(&["query", "the sound one", "--json", "--no-record"]);
        let found: Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!(found["items"][0]["id"], json!(sound), "{shown}");
        assert!(
            said.err.contains(&spoiled[..12]) && said.err.starts_with("warning: "),
            "{shown}: {}",
            said.err
        );
        assert!(sandbox.log_ids().contains(&sound));
        let said = sandbox.exits(1, &["fsck"]);
        assert!(said.out.contains(&spoiled), "{shown}: {}", said.out);
        sandbox.run(&["status"]);
        sandbox.record("the memory goes on", &[]);
    }
    sandbox.set_entries(RECORDS, &before);
    sandbox.run(&["fsck"]);
}

#[test]
fn what_is_no_file_of_ours_does_no_harm() {
    let sandbox = Sandbox::new();
    let id = sandbox.record("the sound one", &["src"]);
    let mut entries = sandbox.entries(RECORDS);
    let blob = sandbox.blob("somebody's notes\n");
    for path in [
        "README",
        "2026-11-30/deep/er/file.json",
        "2026-11/",
        "elsewhere/x",
        "000000é00/x.json",
    ] {
        let path = if path.ends_with('/') {
            format!("{path}x.jsonl")
        } else {
            path.to_owned()
        };
        entries.insert(path, ("100644".to_owned(), blob.clone()));
    }
    entries.insert(
        "2026-11-30/link.json".to_owned(),
        ("120000".to_owned(), blob),
    );
    sandbox.set_entries(RECORDS, &entries);
    assert!(sandbox.log_ids().contains(&id));
    sandbox.record("another one", &[]);
    sandbox.step(86_400);
    sandbox.record("folds the day before", &[]);
    assert_eq!(sandbox.log_ids().len(), 3);
    sandbox.run(&["query", "the sound one"]);
}

#[test]
fn a_reference_to_nothing() {
    let sandbox = Sandbox::new();
    sandbox.leave_unchecked();
    sandbox.record("once", &[]);
    let id = string(&sandbox.json(&["query", "once"])["attention_id"]);
    let nowhere = "1".repeat(40);
    for reference in ["records", "attention"] {
        sandbox.record(&format!("before {reference}"), &[]);
        sandbox.run(&["query", reference]);
        let file = sandbox.path(&format!(".git/refs/score-local/{reference}"));
        let before = fs::read(&file).expect("it is there");
        fs::write(&file, format!("{nowhere}\n")).expect("written");
        let command: &[&str] = if reference == "records" {
            &["log"]
        } else {
            &["replay", "--all"]
        };
        // Whoever knows what was written last puts it back, and says so once.
        let said = sandbox.run(command);
        assert!(
            said.err.contains("led nowhere") && said.err.contains(reference),
            "{}",
            said.err
        );
        assert_eq!(fs::read(&file).expect("it is there"), before);
        assert!(!sandbox.run(command).err.contains("led nowhere"));

        fs::write(&file, format!("{nowhere}\n")).expect("written");
        sandbox.forget_last_write();
        assert_fatal(&sandbox.exits(128, command), &[&nowhere]);
        let said = sandbox.exits(1, &["fsck"]);
        assert!(
            said.out.contains(reference) && said.out.contains(&nowhere),
            "{}",
            said.out
        );
        let write: &[&str] = if reference == "records" {
            &["record", "not on ruins"]
        } else {
            &["query", "on ruins", "--json"]
        };
        let said = collect(sandbox.tool(write), None);
        assert_eq!(
            said.code,
            if reference == "records" { 128 } else { 0 },
            "{said:?}"
        );
        assert_eq!(
            fs::read_to_string(&file).expect("it is there").trim(),
            nowhere,
            "it is not overwritten"
        );
        for garbage in ["nonsense\n", "", "ref: refs/heads/main\n"] {
            fs::write(&file, garbage).expect("written");
            sandbox.forget_last_write();
            let said = collect(sandbox.tool(command), None);
            assert!(
                said.code == 128 && said.err.contains(reference),
                "{garbage:?}: {said:?}"
            );
        }
        fs::write(&file, before).expect("written");
    }
    sandbox.run(&["replay", &id]);
}

#[test]
fn a_look_up_that_lost_a_pin_differs_and_the_others_are_replayed() {
    let sandbox = Sandbox::new();
    sandbox.leave_unchecked();
    sandbox.record("the cache is cold", &["src"]);
    let sound = string(&sandbox.json(&["query", "the cache"])["attention_id"]);
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    sandbox.commit(&[("src/topic/file.rs", "fn only_here() {}\n")], "topic");
    let spoiled = string(&sandbox.json(&["query", "the cache, on a topic"])["attention_id"]);
    let tree = sandbox.git(&["rev-parse", "HEAD:src/topic"]);
    fs::remove_file(sandbox.path(&format!(".git/objects/{}/{}", &tree[..2], &tree[2..])))
        .expect("removed");
    fs::remove_dir_all(sandbox.path(".git/score-context")).expect("removed");
    let said = sandbox.exits(1, &["fsck"]);
    assert!(
        said.out.contains(&spoiled) && said.out.contains(&tree),
        "{}",
        said.out
    );
    let results = sandbox.replays_in("r");
    assert_eq!(
        (results[&sound].as_str(), results[&spoiled].as_str()),
        ("identical", "differs")
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let sandbox = Sandbox::new();
    let lines: Vec<Value> = (0..2_000)
        .map(|n| json!({"text": format!("record {n} {}", "word ".repeat(20))}))
        .collect();
    sandbox.record_lines(&lines);
    for command in [
        "log",
        "log --json",
        "graph nodes",
        "replay --all",
        "policy show",
    ] {
        let mut shell = sandbox.command("sh", "r");
        shell.args([
            "-c",
            &format!("{{ \"$0\" {command}; echo $? >../code; }} | head -n 1 >/dev/null"),
            TOOL,
        ]);
        let said = collect(shell, None);
        assert_eq!(
            said.err
                .lines()
                .filter(|line| !line.starts_with("no look-up"))
                .count(),
            0,
            "{command}: {}",
            said.err
        );
        assert_eq!(
            fs::read_to_string(sandbox.top("code")).expect("written"),
            "0\n",
            "{command}"
        );
    }
}
