//! What stands under `refs/score-local/records`, read with Git itself: the same bytes that were hashed, each thing once, held by nothing but a tree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{ATTENTION, RECORDS, Sandbox, id_of, string, strings};

#[test]
fn the_same_record_twice_adds_nothing_and_says_so() {
    let sandbox = Sandbox::new();
    let arguments = [
        "record",
        "use a B-tree",
        "--node",
        "src/cache.rs",
        "--reason",
        "range scans",
    ];
    let first = sandbox.json(&arguments);
    assert_eq!(first["known"], false);
    let before = sandbox.git(&["rev-parse", RECORDS]);

    sandbox.commit(&[("other", "x")], "another commit");
    let again = sandbox.json(&arguments);
    assert_eq!(
        (&again["id"], &again["known"]),
        (&first["id"], &json!(true))
    );
    assert!(sandbox.run(&arguments).out.contains("known"));
    assert_eq!(sandbox.git(&["rev-parse", RECORDS]), before);
    let shown = sandbox.json(&["show", &string(&first["id"])]);
    assert_eq!(
        shown["anchors"].as_array().map(Vec::len),
        Some(1),
        "no second anchor"
    );

    let line = json!({"text": "twice in one write", "key": "jira-7"});
    let both = sandbox.record_lines(&[line.clone(), line]);
    assert_eq!(
        (&both[0]["known"], &both[1]["known"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(sandbox.run(&["log", "--count"]).out, "2\n");
}

#[test]
fn everything_a_record_says_makes_its_id_and_nothing_else_does() {
    let sandbox = Sandbox::new();
    let base = json!({"text": "t", "nodes": ["b", "a"], "reasons": ["r"], "session": "s", "task": "k", "key": "x"});
    let varied = |key: &str, value: Value| {
        let mut line = base.clone();
        line[key] = value;
        line
    };
    let other = sandbox.record("something to replace", &[]);
    let mut lines = vec![base.clone()];
    lines.push(varied("text", json!("u")));
    lines.push(varied("kind", json!("finding")));
    lines.push(varied("nodes", json!(["a"])));
    lines.push(varied("reasons", json!(["q"])));
    lines.push(varied("session", json!("s2")));
    lines.push(varied("task", json!("k2")));
    lines.push(varied("key", json!("y")));
    lines.push(varied("supersedes", json!([other])));
    let ids: BTreeSet<String> = sandbox
        .record_lines(&lines)
        .iter()
        .map(|said| string(&said["id"]))
        .collect();
    assert_eq!(ids.len(), lines.len(), "each key counts");

    let same = [
        varied("time", json!("2020-02-02T02:02:02Z")),
        varied("nodes", json!(["a", "./b/"])),
        varied("kind", json!("decision")),
        varied("supersedes", Value::Null),
    ];
    for said in sandbox.record_lines(&same) {
        assert_eq!(
            said["known"], true,
            "when it was said, and the order of nodes, are no part of the id"
        );
    }
}

#[test]
fn ids_and_the_corpus_do_not_depend_on_the_order_of_writing() {
    let texts = ["one", "two", "three", "four"];
    let corpus = |order: &[usize]| {
        let sandbox = Sandbox::new();
        for at in order {
            sandbox.record(texts[*at], &["src/cache.rs"]);
        }
        (sandbox.log_ids(), sandbox.git(&["rev-parse", RECORDS]))
    };
    let first = corpus(&[0, 1, 2, 3]);
    assert_eq!(corpus(&[3, 1, 0, 2]), first);
    assert_eq!(first.0.len(), 4);
}

#[test]
fn what_is_stored_is_what_was_hashed() {
    let sandbox = Sandbox::new();
    let lines: Vec<Value> = (0..40)
        .map(|n| json!({"text": format!("in a segment {n} é"), "nodes": ["src"]}))
        .collect();
    let mut said = sandbox.record_lines(&lines);
    said.extend(sandbox.record_lines(&[json!({"text": "alone", "session": "s"})]));
    let ids: BTreeSet<String> = said.iter().map(|said| string(&said["id"])).collect();

    let mut found = BTreeSet::new();
    for (path, (mode, object)) in sandbox.entries(RECORDS) {
        assert_eq!(mode, "100644", "{path}");
        let (folder, name) = path.split_once('/').expect("a folder and a name");
        let content = sandbox.content(&object);
        assert!(content.ends_with('\n'));
        match name.strip_suffix(".jsonl") {
            Some(digest) => {
                assert_eq!((folder, digest), ("2026-11", id_of(&content).as_str()));
            }
            None => {
                let first = content.lines().next().unwrap_or_default();
                assert_eq!(
                    (folder, name),
                    ("2026-11-30", format!("{}.json", id_of(first)).as_str())
                );
            }
        }
        for pair in content.lines().collect::<Vec<_>>().chunks(2) {
            let [record, anchor] = pair else {
                panic!("a record without its anchor: {pair:?}")
            };
            let anchor: Value = serde_json::from_str(anchor).expect("JSON");
            assert_eq!(
                (&anchor["type"], &anchor["of"]),
                (&json!("anchor"), &json!(id_of(record)))
            );
            assert_eq!(anchor["commit"], sandbox.git(&["rev-parse", "HEAD"]));
            found.insert(id_of(record));
        }
    }
    assert_eq!(found, ids);
    assert_eq!(sandbox.log_ids(), ids);
}

#[test]
fn the_references_point_at_trees_and_nothing_of_ours_shows() {
    let sandbox = Sandbox::new();
    let before = (
        sandbox.git(&["log", "--all", "--format=%H"]),
        sandbox.git(&["status", "--porcelain"]),
    );
    sandbox.record("kept out of sight", &["src"]);
    sandbox.run(&["query", "out of sight"]);
    for reference in [RECORDS, ATTENTION] {
        assert_eq!(sandbox.git(&["cat-file", "-t", reference]), "tree");
    }
    let after = (
        sandbox.git(&["log", "--all", "--format=%H"]),
        sandbox.git(&["status", "--porcelain"]),
    );
    assert_eq!(after, before);
    assert_eq!(
        sandbox
            .git(&["for-each-ref", "--format=%(refname)", "refs/score-local"])
            .lines()
            .count(),
        2
    );
}

#[test]
fn a_write_needs_no_commit_no_identity_and_no_signature() {
    let sandbox = Sandbox::empty();
    for (key, value) in [
        ("user.useConfigOnly", "true"),
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
        ("gpg.program", "/bin/false"),
        ("core.logAllRefUpdates", "always"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    for arguments in [
        ["record", "before the first commit"],
        ["record", "and one more"],
        ["query", "the first commit"],
    ] {
        let mut command = sandbox.tool(&arguments);
        for role in ["AUTHOR", "COMMITTER"] {
            for what in ["NAME", "EMAIL", "DATE"] {
                command.env_remove(format!("GIT_{role}_{what}"));
            }
        }
        let said = crate::support::collect(command, None);
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
    }
    let found = sandbox.json(&["query", "before the first commit"]);
    assert_eq!(
        (&found["commit"], &found["candidates"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(strings(&found["items"][0]["anchors"]), Vec::<String>::new());
    let log = sandbox.git(&["reflog", "show", RECORDS]);
    assert!(!log.contains("author@example.invalid"), "{log}");
}

#[test]
fn everything_survives_the_hardest_clean_up() {
    let sandbox = Sandbox::new();
    sandbox.commit(&[("a", "1")], "one\n\nDecision: taken from a trailer\n");
    sandbox.run(&["ingest"]);
    let alone = sandbox.record("keep me", &["src/cache.rs"]);
    let lines: Vec<Value> = (0..30)
        .map(|n| json!({"text": format!("keep {n}")}))
        .collect();
    sandbox.record_lines(&lines);
    sandbox.run(&["session", "start", "keep", "--subgoal", "everything"]);
    sandbox.run(&["outcome", "keep", "--verdict", "pass"]);
    let look_up = string(&sandbox.json(&["query", "keep me", "--node", "src"])["attention_id"]);
    let before = (
        sandbox.log_ids(),
        sandbox.entries(RECORDS),
        sandbox.entries(ATTENTION),
    );
    assert_eq!(before.0.len(), 32);
    sandbox.collect_garbage();
    assert_eq!(
        (
            sandbox.log_ids(),
            sandbox.entries(RECORDS),
            sandbox.entries(ATTENTION)
        ),
        before
    );
    assert!(sandbox.log_ids().contains(&alone));
    assert_eq!(
        sandbox.replays_in("r"),
        BTreeMap::from([(look_up, "identical".to_owned())])
    );
    sandbox.run(&["fsck"]);
}
