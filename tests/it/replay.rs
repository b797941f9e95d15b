//! Look-ups recomputed: after clean-ups, after history is thrown away, after somebody has changed what is stored; and what
//! `explain` and `replay --at` say of them.

use std::collections::BTreeMap;

use git_score_context::record::Attention;
use serde_json::{Value, json};

use crate::support::{ATTENTION, Entries, Sandbox, id_of, pluck, string};

const TASK: &str = "what about the session cache";

/// Some records, and a look-up about them; gives its id.
fn look_up(sandbox: &Sandbox) -> String {
    sandbox.record("the session cache is cold", &["src/cache.rs", "src/os"]);
    sandbox.record("the disk is slow", &["src/os/disk.rs"]);
    string(&sandbox.json(&["query", TASK, "--node", "src"])["attention_id"])
}

fn replay(sandbox: &Sandbox, id: &str, code: i32) -> (String, Value, String) {
    let said = sandbox.exits(code, &["replay", id, "--json"]);
    let line: Value = serde_json::from_str(&said.out).expect("one line of JSON");
    assert_eq!(line["id"], json!(id));
    (string(&line["result"]), line["differs"].clone(), said.err)
}

/// Changes the stored record of a look-up, which moves to the id that its inputs then have.
fn tamper(sandbox: &Sandbox, id: &str, change: impl FnOnce(&mut Attention)) -> String {
    let entries = sandbox.entries(ATTENTION);
    let (mode, blob) = &entries[&format!("2026-11-30/{}/{id}/attention.json", &id[..2])];
    let mut attention = Attention::decode(sandbox.content(blob).as_bytes()).expect("a look-up");
    change(&mut attention);
    let new_id = attention.inputs.id().to_string();
    let bytes = String::from_utf8(attention.encode()).expect("UTF-8");
    let new_blob = sandbox.blob(&bytes);
    let mut changed = BTreeMap::new();
    for (path, entry) in &entries {
        let path = path.replace(
            &format!("/{}/{id}/", &id[..2]),
            &format!("/{}/{new_id}/", &new_id[..2]),
        );
        changed.insert(path, entry.clone());
    }
    let path = format!("2026-11-30/{}/{new_id}/attention.json", &new_id[..2]);
    changed.insert(path, (mode.clone(), new_blob));
    sandbox.set_entries(ATTENTION, &changed);
    new_id
}

#[test]
fn a_look_up_is_identical_whatever_happens_around_it() {
    let sandbox = Sandbox::new();
    let id = look_up(&sandbox);
    let first = sandbox.run(&["show", &id, "--json"]).out;
    let identical = |step: &str| {
        let (result, differs, _) = replay(&sandbox, &id, 0);
        assert_eq!(
            (result.as_str(), &differs),
            ("identical", &json!([])),
            "{step}"
        );
    };
    identical("at once");
    sandbox.step(80 * 86_400);
    identical("later");
    sandbox.record("the session cache is gone", &["src/cache.rs"]);
    identical("with more records");
    sandbox.commit(
        &[
            ("src/cache.rs", "fn other() {}\n"),
            (
                "score-context/policy.toml",
                "version = 1\n[attention]\ntop_k = 1\n",
            ),
        ],
        "change",
    );
    identical("with other code and another policy");
    sandbox.git(&["config", "score-context.retentionDays", "1"]);
    identical("with another retention");
    // As long as nobody lets it go: the first write of a day would.
    sandbox.step(200 * 86_400);
    identical("much later");
    sandbox.collect_garbage();
    identical("after the clean-up");
    std::fs::remove_dir_all(sandbox.path(".git/score-context")).expect("removed");
    identical("without caches");
    assert_eq!(
        sandbox.run(&["replay", &id[..10]]).out.trim_end(),
        format!("{id}  identical")
    );
    assert_eq!(sandbox.run(&["show", &id, "--json"]).out, first);
}

#[test]
fn a_look_up_outlives_its_branch() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    sandbox.commit(&[("src/topic.rs", "fn t() {}\n")], "topic");
    sandbox.record("the session cache of the topic", &["src/topic.rs"]);
    let found = sandbox.json(&["query", TASK, "--node", "src/topic.rs"]);
    let (id, commit, tree) = (
        string(&found["attention_id"]),
        string(&found["commit"]),
        string(&found["code_tree"]),
    );
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["branch", "-q", "-D", "topic"]);
    sandbox.collect_garbage();
    let there = |object: &str| {
        sandbox
            .command("git", "r")
            .args(["cat-file", "-e", object])
            .output()
            .expect("git runs")
            .status
            .success()
    };
    assert!(!there(&commit), "the commit is gone");
    assert!(there(&tree), "its tree is held by the look-up");
    assert_eq!(replay(&sandbox, &id, 0).0, "identical");
    sandbox.run(&["explain", &id]);
    sandbox.run(&["show", &id]);
}

#[test]
fn history_that_was_thrown_away_is_told_apart() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    let commit = sandbox.commit(&[("src/topic.rs", "fn t() {}\n")], "topic");
    sandbox.record("the session cache of the topic", &["src/topic.rs"]);
    let id = string(&sandbox.json(&["query", TASK, "--at", &commit])["attention_id"]);
    assert_eq!(replay(&sandbox, &id, 0).0, "identical");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["branch", "-q", "-D", "topic"]);
    sandbox.collect_garbage();
    let (result, _, err) = replay(&sandbox, &id, 0);
    assert_eq!(result, "history removed");
    assert!(err.contains(&commit), "{err}");
    assert!(
        sandbox
            .run(&["replay", "--all"])
            .out
            .contains("history removed")
    );
    for command in ["explain", "show"] {
        let said = sandbox.exits(128, &[command, &id]);
        assert!(said.err.contains(&commit), "{command}: {}", said.err);
    }
    let findings = sandbox.json(&["fsck"]);
    assert_eq!(
        findings["damage"],
        json!([]),
        "nothing that was recorded is lost"
    );
    assert!(findings["warnings"].to_string().contains(&id));
    sandbox.expect_replay(&id, "history removed");
}

#[test]
fn other_ancestors_than_then_are_told_apart() {
    let sandbox = Sandbox::new();
    sandbox.record("the session cache at the start", &["src"]);
    let tip = sandbox.commit(&[("a", "1")], "second");
    let id = string(&sandbox.json(&["query", TASK, "--at", &tip])["attention_id"]);
    sandbox.git(&["replace", "--graft", &tip]);
    assert_eq!(replay(&sandbox, &id, 0).0, "history changed");
    sandbox.git(&["replace", "-d", &tip]);
    assert_eq!(replay(&sandbox, &id, 0).0, "identical");
}

#[test]
fn a_changed_result_differs_and_says_where() {
    let sandbox = Sandbox::new();
    let id = look_up(&sandbox);
    let other = string(&sandbox.json(&["query", "another question"])["attention_id"]);
    let same = tamper(&sandbox, &id, |attention| {
        attention.result.items[0].score *= 2.0
    });
    assert_eq!(same, id, "results are no part of the id");
    let (result, differs, err) = replay(&sandbox, &id, 1);
    let [place] = &differs.as_array().expect("an array")[..] else {
        panic!("{differs}")
    };
    assert_eq!(result, "differs");
    assert!(
        string(place).starts_with("result.items.0.score: "),
        "{place}"
    );
    assert!(err.contains("result.items.0.score"), "{err}");

    let said = sandbox.exits(1, &["replay", "--all"]);
    assert!(
        said.out.contains(&format!("{id}  differs"))
            && said.out.contains(&format!("{other}  identical")),
        "{}",
        said.out
    );
    sandbox.expect_replay(&id, "differs");
}

#[test]
fn each_part_of_a_look_up_is_compared() {
    let sandbox = Sandbox::new();
    let id = look_up(&sandbox);
    let before = sandbox.entries(ATTENTION);
    let folder = format!("2026-11-30/{}/{id}", &id[..2]);
    let differs = |what: &str, change: &dyn Fn(&mut Entries)| {
        let mut entries = before.clone();
        change(&mut entries);
        sandbox.set_entries(ATTENTION, &entries);
        assert_eq!(replay(&sandbox, &id, 1).0, "differs", "{what}");
    };
    let blob = |content: &str| ("100644".to_owned(), sandbox.blob(content));
    differs("another digest", &|entries| {
        let record = format!("{folder}/attention.json");
        let text = sandbox.content(&entries[&record].1);
        let start = text.find("\"digest\":\"").expect("a digest") + "\"digest\":\"".len();
        let changed = format!(
            "{}{}{}",
            &text[..start],
            "0".repeat(64),
            &text[start + 64..]
        );
        entries.insert(record, blob(&changed));
    });
    differs("white space", &|entries| {
        let record = format!("{folder}/attention.json");
        let text = sandbox.content(&entries[&record].1);
        entries.insert(record, blob(&text.replacen(':', ": ", 1)));
    });
    differs("no JSON", &|entries| {
        drop(entries.insert(format!("{folder}/attention.json"), blob("{")))
    });
    differs("no record", &|entries| {
        drop(entries.remove(&format!("{folder}/attention.json")))
    });
    differs("other ground", &|entries| {
        drop(entries.insert(format!("{folder}/ground"), blob("x")))
    });
    differs("other code", &|entries| {
        drop(entries.insert(format!("{folder}/code/more"), blob("x")))
    });
    differs("no code", &|entries| {
        entries.retain(|path, _| !path.starts_with(&format!("{folder}/code/")))
    });
    differs(
        "a record less in the corpus, and no tombstone",
        &|entries| {
            let pinned = format!("{folder}/corpus/");
            let record = entries
                .keys()
                .find(|path| path.starts_with(&pinned))
                .expect("one")
                .clone();
            entries.remove(&record);
        },
    );
    sandbox.set_entries(ATTENTION, &before);
    assert_eq!(replay(&sandbox, &id, 0).0, "identical");
}

#[test]
fn changed_inputs_do_not_fit_the_id() {
    let sandbox = Sandbox::new();
    let id = look_up(&sandbox);
    let before = sandbox.entries(ATTENTION);
    let other = tamper(&sandbox, &id, |attention| {
        attention.inputs.task = "quite another task".to_owned()
    });
    assert_ne!(other, id);
    // Under its new id it is a look-up like any other, only with results that do not belong to it.
    assert_eq!(replay(&sandbox, &other, 1).0, "differs");
    let moved = sandbox.entries(ATTENTION);
    let back: BTreeMap<_, _> = moved
        .into_iter()
        .map(|(path, entry)| {
            (
                path.replace(
                    &format!("/{}/{other}/", &other[..2]),
                    &format!("/{}/{id}/", &id[..2]),
                ),
                entry,
            )
        })
        .collect();
    sandbox.set_entries(ATTENTION, &back);
    let (result, differs, _) = replay(&sandbox, &id, 1);
    assert_eq!(result, "differs");
    assert!(differs.to_string().contains(&other), "{differs}");
    sandbox.exits(1, &["fsck"]);
    sandbox.set_entries(ATTENTION, &before);
}

#[test]
fn a_graph_of_another_version_is_recomputed_from_what_was_pinned() {
    let sandbox = Sandbox::new();
    let id = look_up(&sandbox);
    let other = tamper(&sandbox, &id, |attention| {
        attention.inputs.extractor = "of old".to_owned()
    });
    assert_eq!(
        replay(&sandbox, &other, 0).0,
        "identical (graph of extractor of old)"
    );
    assert_eq!(
        sandbox.run(&["replay", &other]).out.trim_end(),
        format!("{other}  identical (graph of extractor of old)")
    );
    sandbox.expect_replay(&other, "identical (graph of extractor of old)");

    let worse = tamper(&sandbox, &other, |attention| {
        attention.result.items[0].factors.structural = 0.25
    });
    assert_eq!(worse, other);
    assert_eq!(replay(&sandbox, &other, 1).0, "differs");
    sandbox.expect_replay(&other, "differs");
}

#[test]
fn a_rule_of_another_version_is_no_difference() {
    let sandbox = Sandbox::new();
    let id = look_up(&sandbox);
    let other = tamper(&sandbox, &id, |attention| {
        attention.inputs.rule = "learned/7".to_owned();
        attention.inputs.policy.rule = "learned/7".to_owned();
    });
    let (result, _, err) = replay(&sandbox, &other, 0);
    assert_eq!(result, "other rule");
    assert!(err.contains("learned/7"), "{err}");
    sandbox.expect_replay(&other, "other rule");
}

#[test]
fn explain_gives_the_factors_of_each_record() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        sandbox.record(
            &format!("the session cache, number {n}{n}"),
            &["src/cache.rs", "src/os"],
        );
    }
    let found = sandbox.json(&["query", TASK, "--node", "src"]);
    let id = string(&found["attention_id"]);
    let rows = sandbox.json_lines(&["explain", &id]);
    let listed: Vec<&Value> = [&found["items"], &found["rejected"]]
        .into_iter()
        .flat_map(|list| list.as_array().expect("an array"))
        .collect();
    assert_eq!((rows.len(), listed.len()), (25, 25));
    for (row, listed) in rows.iter().zip(listed) {
        assert_eq!(
            (&row["id"], &row["score"], &row["factors"]),
            (&listed["id"], &listed["score"], &listed["factors"])
        );
    }
    assert_eq!(
        sandbox.json_lines(&["explain", &id, "-v"]).len(),
        30,
        "also those that were not listed"
    );

    let record = string(&found["rejected"][3]["id"]);
    let one = sandbox.json_lines(&["explain", &id, &record[..16]]);
    assert_eq!(
        one.iter().map(|row| string(&row["id"])).collect::<Vec<_>>(),
        std::slice::from_ref(&record)
    );
    let table = sandbox.run(&["explain", &id, &record]).out;
    for word in [
        "semantic",
        "structural",
        "bonus",
        "recency",
        "live",
        &record[..12],
        TASK,
    ] {
        assert!(table.contains(word), "{word}: {table}");
    }
    sandbox.exits(2, &["explain", &id, &"0".repeat(64)]);
    sandbox.exits(128, &["explain", &"0".repeat(64)]);
}

#[test]
fn the_same_task_is_asked_at_another_commit() {
    let sandbox = Sandbox::new();
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    let early = sandbox.record("the session cache is cold", &["src/cache.rs", "src/os"]);
    sandbox.git(&["rm", "-q", "-r", "src/os"]);
    sandbox.commit(&[], "without the disk");
    let late = sandbox.record("the session cache is warm", &["src/cache.rs"]);
    let now = sandbox.json(&["query", TASK, "--node", "src"]);
    let id = string(&now["attention_id"]);
    assert_eq!(pluck(&now["items"], "id").len(), 2);

    let then = sandbox.json(&["replay", &id, "--at", &first]);
    assert_eq!(
        (&then["task"], &then["current_nodes"]),
        (&json!(TASK), &json!(["src"]))
    );
    assert_eq!(
        (&then["commit"], pluck(&then["items"], "id")),
        (&json!(first), vec![early.clone()])
    );
    let text = sandbox.run(&["replay", &id, "--at", &first]).out;
    assert!(text.contains(&id[..12]), "what it is compared with: {text}");
    let row = |record: &str| {
        let rows = text.rsplit("compared").next().expect("a part");
        rows.lines()
            .find(|line| line.contains(&record[..12]))
            .expect("a row")
            .to_owned()
    };
    assert!(
        row(&early).contains("live 0.50 to 1.00"),
        "the factor that moved it: {text}"
    );
    assert!(row(&late).contains("not"), "not there then: {text}");
    sandbox.exits(128, &["replay", &id, "--at", "no-such-rev"]);
    sandbox.exits(2, &["replay", "--all", "--at", &first]);
    sandbox.exits(2, &["replay"]);
}

#[test]
fn nothing_to_replay_is_a_success() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&["replay", "--all", "--json"]);
    assert_eq!(said.out, "");
    assert_eq!(
        id_of(""),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "blake3 of nothing"
    );
}
