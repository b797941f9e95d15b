//! The index of the records: the same answers with it, without it, and when it is damaged.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use git_score_context::Repo;
use git_score_context::id::CommitId;
use git_score_context::record::{Anchor, Record, Time};
use git_score_context::store::{Broken, Put, Store, Visible, view::View};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::properties::record;
use crate::support::{RECORDS, Sandbox, string};

/// The files of the index.
fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = fs::read_dir(sandbox.path(".git/score-context/index"));
    let mut files: Vec<_> = folder
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// What a look-up sees, with whatever index there is, and what the blobs themselves say.
fn both(sandbox: &Sandbox, visible: &Visible<'_>) -> [(View, Vec<Broken>); 2] {
    let repo = Repo::open(&sandbox.path(""), None).expect("it opens");
    let store = Store::new(&repo);
    let id = store.corpus_id().expect("there are records");
    let lean = store.lean(id).expect("it can be read");
    let whole = store.corpus(id).expect("it can be read");
    let broken = (lean.broken.clone(), whole.broken.clone());
    [
        (lean.into_view(visible), broken.0),
        (whole.into_view(visible), broken.1),
    ]
}

#[track_caller]
fn assert_same(sandbox: &Sandbox, visible: &Visible<'_>) {
    let [lean, whole] = both(sandbox, visible);
    assert!(lean == whole, "{lean:?}\n{whole:?}");
}

#[test]
fn a_look_up_sees_the_same_with_and_without_an_index() {
    let sandbox = Sandbox::new();
    let repo = Repo::open(&sandbox.path(""), None).expect("it opens");
    let commits: BTreeSet<CommitId> = [sandbox
        .git(&["rev-parse", "HEAD"])
        .parse()
        .expect("a commit")]
    .into();
    let day = RefCell::new(0);
    let puts = vec((record(), any::<bool>(), any::<bool>()), 1..40);
    let config = ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..Default::default()
    };
    let result = TestRunner::new(config).run(&(puts, any::<bool>()), |(records, is_next_day)| {
        *day.borrow_mut() += i64::from(is_next_day);
        let now = Time(1_796_040_000 + 86_400 * *day.borrow());
        let put = |(record, is_anchored, is_here): &(Record, bool, bool)| {
            let commit = commits.first().copied().filter(|_| *is_here);
            let anchor = is_anchored.then(|| Anchor::at(commit, now));
            Put::new(record, anchor, true)
        };
        let puts: Vec<Put> = records.iter().map(put).collect();
        Store::new(&repo).put(&puts, now).expect("written");
        // Read twice: what the first reading has indexed, the second one takes from there.
        for _ in 0..2 {
            assert_same(&sandbox, &Visible::All);
            assert_same(
                &sandbox,
                &Visible::At {
                    ancestors: &commits,
                    clock: now,
                },
            );
        }
        // A write finds what is there, whatever the index has of it. Anchors and tombstones are not for `put` to find.
        let id = Store::new(&repo).corpus_id().expect("there are records");
        let is_known = |(record, ..): &&(Record, bool, bool)| {
            !matches!(record, Record::Anchor(_) | Record::Tombstone(_))
        };
        let puts: Vec<Put> = records.iter().filter(is_known).map(put).collect();
        Store::new(&repo).put(&puts, now).expect("written");
        prop_assert_eq!(
            Store::new(&repo).corpus_id().expect("there are records"),
            id
        );
        Ok(())
    });
    result.expect("the same every time");
    let files = files(&sandbox);
    assert!((1..=8).contains(&files.len()), "{files:?}");
    // And without any, as it was before there was one.
    fs::remove_dir_all(sandbox.path(".git/score-context/index")).expect("removed");
    assert_same(&sandbox, &Visible::All);
}

/// A memory with a bit of everything, indexed.
fn indexed() -> Sandbox {
    let sandbox = Sandbox::new();
    let lines: Vec<Value> = (0..60)
        .map(|n| json!({"text": format!("the cache keeps {n} entries"), "nodes": ["src/cache.rs"], "task": "t"}))
        .collect();
    sandbox.record_lines(&lines);
    let old = sandbox.record("redis keeps the sessions", &["src"]);
    sandbox.record_with(
        "cookies keep the sessions",
        &["src"],
        &["--supersedes", &old],
    );
    sandbox.run(&[
        "outcome",
        "t",
        "--verdict",
        "fail",
        "--rationale",
        "too slow",
    ]);
    sandbox.run(&["query", "the cache", "--no-record"]);
    assert!(!files(&sandbox).is_empty(), "there is an index");
    sandbox
}

#[test]
fn a_damaged_index_is_not_believed() {
    let sandbox = indexed();
    let file = files(&sandbox).remove(0);
    let sound = fs::read(&file).expect("it is there");
    let ask = || {
        sandbox
            .run(&[
                "query",
                "keep the sessions",
                "--node",
                "src",
                "--json",
                "--no-record",
            ])
            .out
    };
    let right = ask();
    let known = sandbox
        .run(&[
            "record",
            "redis keeps the sessions",
            "--node",
            "src",
            "--json",
        ])
        .out;
    // Every kind of place, and the places in between at a step that meets them all in the end.
    let steps = (0..sound.len()).step_by(sound.len() / 40 + 1);
    for at in (0..90).step_by(11).chain(steps) {
        for cut in [false, true] {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x20;
            if cut {
                damaged.truncate(at);
            }
            // Under another name and renamed, as whoever maps the file expects it.
            let draft = sandbox.top("draft");
            fs::write(&draft, &damaged).expect("written");
            fs::rename(&draft, &file).expect("renamed");
            assert_eq!(ask(), right, "byte {at}, cut: {cut}");
            let again = sandbox
                .run(&[
                    "record",
                    "redis keeps the sessions",
                    "--node",
                    "src",
                    "--json",
                ])
                .out;
            assert_eq!(again, known, "byte {at}, cut: {cut}");
        }
    }
}

#[test]
fn an_index_that_cannot_be_written_is_no_error() {
    let sandbox = indexed();
    let right = sandbox
        .run(&["query", "the cache", "--json", "--no-record"])
        .out;
    fs::remove_dir_all(sandbox.path(".git/score-context/index")).expect("removed");
    fs::write(sandbox.path(".git/score-context/index"), "in the way").expect("written");
    assert_eq!(
        sandbox
            .run(&["query", "the cache", "--json", "--no-record"])
            .out,
        right
    );
    sandbox.record("and it still writes", &[]);
}

#[test]
fn a_blob_that_is_gone_is_named_though_it_was_indexed() {
    let sandbox = indexed();
    sandbox.leave_unchecked();
    // Nobody else knows it either.
    fs::remove_file(sandbox.path(".git/score-context/journal")).expect("removed");
    let segment = sandbox
        .entries(RECORDS)
        .into_iter()
        .find(|(path, _)| path.ends_with(".jsonl"));
    let (path, (_, blob)) = segment.expect("there is a segment");
    sandbox.lose(&blob);
    let said = sandbox.run(&["query", "the cache", "--json", "--no-record"]);
    assert!(
        said.err.contains(&path) && said.err.contains("missing"),
        "{}",
        said.err
    );
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(answer["candidates"], json!(2));
    // What it held can be said again.
    let again = sandbox.json(&[
        "record",
        "the cache keeps 7 entries",
        "--node",
        "src/cache.rs",
        "--task",
        "t",
    ]);
    assert!(sandbox.log_ids().contains(&string(&again["id"])));
}

#[test]
fn a_record_of_a_newer_version_does_not_keep_the_others_from_the_index() {
    let sandbox = indexed();
    let mut entries = sandbox.entries(RECORDS);
    let newer = r#"{"type":"omen","text":"of a later version"}"#;
    let known = Record::decode(newer.as_bytes());
    assert!(known.is_err(), "nobody knows this type");
    let (path, (mode, blob)) = entries.pop_last().expect("there is a segment");
    assert!(
        path.ends_with(".jsonl") || path.ends_with(".json"),
        "{path}"
    );
    let text = sandbox.git(&["cat-file", "blob", &blob]) + "\n" + newer + "\n";
    entries.insert(path.clone(), (mode, sandbox.blob(&text)));
    sandbox.set_entries(RECORDS, &entries);
    let before = files(&sandbox);
    for _ in 0..2 {
        let said = sandbox.run(&["query", "the cache", "--no-record"]);
        assert!(said.err.contains("omen"), "{}", said.err);
    }
    assert_same(&sandbox, &Visible::All);
    assert!(
        files(&sandbox).len() <= before.len() + 1,
        "it is indexed once and not each time"
    );
}
