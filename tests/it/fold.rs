//! Days that fold into their month: when they do, that nothing is lost or changed by it, and what may stand together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{RECORDS, Sandbox, id_of, string};

/// As many as go into one day before it folds (`design.md` section 3).
const MOST_SINGLES: usize = 256;

#[test]
fn fields_that_this_version_does_not_know_survive_a_fold() {
    let sandbox = Sandbox::new();
    let record = r#"{"type":"reasoning","source":"session","mood":{"b":1,"a":[2.50]},"kind":"decision","text":"from tomorrow"}"#;
    let id = id_of(record);
    let anchor = format!(
        r#"{{"type":"anchor","of":"{id}","commit":null,"time":"2026-11-30T12:00:00Z","weather":"rain"}}"#
    );
    let strange = r#"{"type":"omen","text":"a kind of record that nobody knows yet"}"#;
    let blob = sandbox.blob(&format!("{record}\n{anchor}\n"));
    let strange_blob = sandbox.blob(&format!("{strange}\n"));
    let file = |id: &str| format!("2026-11-30/{id}.json");
    let mode = || "100644".to_owned();
    let entries = BTreeMap::from([
        (file(&id), (mode(), blob)),
        (file(&id_of(strange)), (mode(), strange_blob)),
    ]);
    sandbox.set_entries(RECORDS, &entries);
    assert_eq!(sandbox.log_ids(), BTreeSet::from([id.clone()]));
    sandbox.run(&["query", "what of tomorrow"]);

    sandbox.step(86_400);
    sandbox.record("the day after", &[]);
    let lines = sandbox.stored_lines();
    for line in [record, anchor.as_str(), strange] {
        let found: Vec<_> = lines.iter().filter(|(_, stored)| stored == line).collect();
        assert!(
            matches!(found[..], [(path, _)] if path.starts_with("2026-11/")),
            "{line}: {found:?}"
        );
    }
    assert_eq!(
        sandbox.json(&["show", &id])["record"]["mood"],
        json!({"b": 1, "a": [2.5]})
    );
}

#[test]
fn a_full_day_folds_into_its_month() {
    let sandbox = Sandbox::new();
    let mut ids = BTreeSet::new();
    let mut write = |batch: usize, count: usize| {
        let lines: Vec<Value> = (0..count)
            .map(|n| json!({"text": format!("record {batch} {n}")}))
            .collect();
        ids.extend(
            sandbox
                .record_lines(&lines)
                .iter()
                .map(|said| string(&said["id"])),
        );
    };
    for batch in 0..MOST_SINGLES / 16 {
        write(batch, 16);
    }
    assert_eq!(paths_below(&sandbox, "2026-11-30/"), MOST_SINGLES);
    assert_eq!(paths_below(&sandbox, "2026-11/"), 0);
    write(MOST_SINGLES, 1);
    assert_eq!(paths_below(&sandbox, "2026-11-30/"), 0);
    assert_eq!(paths_below(&sandbox, "2026-11/"), 1);
    assert_eq!(sandbox.log_ids(), ids);
    assert_eq!(
        sandbox.json(&["record", "record 3 3"])["known"],
        true,
        "known also in a segment"
    );
    sandbox.run(&["query", "record 3 3"]);
}

#[test]
fn the_first_append_of_a_day_folds_the_days_before() {
    let sandbox = Sandbox::new();
    let mut ids = BTreeSet::new();
    for day in ["2026-11-28", "2026-11-29", "2026-12-01", "2026-12-02"] {
        sandbox.set_clock(&format!("{day}T23:59:59Z"));
        ids.extend((0..3).map(|n| sandbox.record(&format!("{day} {n}"), &[])));
        assert_eq!(paths_below(&sandbox, &format!("{day}/")), 3);
    }
    let folders: BTreeSet<String> = sandbox
        .git(&["ls-tree", "--name-only", RECORDS])
        .lines()
        .map(str::to_owned)
        .collect();
    let right = ["2026-11", "2026-12", "2026-12-02"].map(str::to_owned);
    assert_eq!(folders, BTreeSet::from(right));
    assert_eq!(
        (
            paths_below(&sandbox, "2026-11/"),
            paths_below(&sandbox, "2026-12/")
        ),
        (1, 1)
    );
    assert_eq!(sandbox.log_ids(), ids);
}

#[test]
fn a_look_up_reads_a_folded_corpus_as_it_was() {
    let sandbox = Sandbox::new();
    for day in 0..4 {
        sandbox.record(
            &format!("decision of day {day} about the disk"),
            &["src/os"],
        );
        sandbox.json(&["query", "what about the disk", "--node", "src/os"]);
        sandbox.step(86_400);
    }
    sandbox.collect_garbage();
    assert_eq!(sandbox.replays_in("r").len(), 4);
}

#[test]
fn what_a_session_said_and_what_history_says_never_share_a_segment() {
    let sandbox = Sandbox::new();
    for round in 0..3 {
        for n in 0..2 {
            sandbox.commit(
                &[],
                &format!(
                    "change {round} {n}\n\nDecision: from a trailer {round} {n}\nOutcome: pass\n"
                ),
            );
        }
        sandbox.run(&["ingest"]);
        sandbox.record(&format!("from a session {round}"), &[]);
        sandbox.run(&[
            "session",
            "start",
            &format!("goal {round}"),
            "--assume",
            "the disk is fast=low",
        ]);
        let many: Vec<Value> = (0..20)
            .map(|n| json!({"text": format!("bulk {round} {n}")}))
            .collect();
        sandbox.record_lines(&many);
        sandbox.step(86_400);
    }
    sandbox.record("folds the last day", &[]);

    let mut classes: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut class_of: BTreeMap<String, &str> = BTreeMap::new();
    let lines = sandbox.stored_lines();
    for (path, line) in &lines {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let class = match value["type"].as_str() {
            Some("anchor") => continue,
            Some("session" | "task") => "session",
            _ if value["source"] == "session" => "session",
            _ => "derived",
        };
        class_of.insert(id_of(line), class);
        classes.entry(path.clone()).or_default().insert(class);
    }
    for (path, line) in &lines {
        let value: Value = serde_json::from_str(line).expect("JSON");
        if value["type"] == "anchor" {
            classes
                .entry(path.clone())
                .or_default()
                .insert(class_of[&string(&value["of"])]);
        }
    }
    for (path, classes) in &classes {
        assert_eq!(classes.len(), 1, "{path} holds {classes:?}");
    }
    let derived = classes
        .values()
        .filter(|classes| classes.contains("derived"))
        .count();
    assert!(
        derived >= 1 && derived < classes.len(),
        "both classes are there"
    );
}

fn paths_below(sandbox: &Sandbox, folder: &str) -> usize {
    sandbox
        .entries(RECORDS)
        .keys()
        .filter(|path| path.starts_with(folder))
        .count()
}
