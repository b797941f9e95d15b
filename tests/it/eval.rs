//! `eval` from outside: labelled cases of a small history, whose figures can be computed by hand.

use serde_json::{Value, json};

use crate::support::Sandbox;

/// Five commits on three files; the cases of [`cases`] ask at the last one.
fn history() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::empty();
    let commits = [
        ("src/cache.py", "Evict the oldest entries from the cache"),
        ("src/parser.py", "Parse nested quotations without recursion"),
        ("docs/manual.md", "Describe quotations in the manual"),
        ("src/parser.py", "Reject unbalanced brackets early"),
        ("src/cache.py", "Spell a variable in another way"),
    ];
    let made = commits.iter().enumerate();
    let made = made.map(|(at, (path, message))| {
        sandbox.step(20 * 86_400);
        sandbox.commit(&[(path, format!("x = {at}\n").as_str())], message)
    });
    let made = made.collect();
    sandbox.run(&["ingest", "--history", "--messages=all"]);
    (sandbox, made)
}

fn cases(commits: &[String]) -> String {
    let at = &commits[4];
    let lines = [
        json!({"id": "old", "kind": "strong", "at": at, "task": "Evict entries from the cache by size", "nodes": ["src/cache.py"], "relevant": [commits[0]]}),
        json!({"id": "new", "kind": "strong", "at": at, "task": "Reject unbalanced brackets later", "nodes": ["src/parser.py"], "relevant": [commits[3]]}),
        json!({"id": "none", "kind": "control-none", "at": at, "task": "Translate Welsh subtitles", "nodes": [], "relevant": []}),
        json!({"id": "busy", "kind": "control-busy", "at": at, "task": "Translate Welsh subtitles", "nodes": ["src/cache.py"], "relevant": []}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn row<'r>(rows: &'r [Value], rule: &str) -> &'r Value {
    rows.iter().find(|row| row["rule"] == rule).expect(rule)
}

#[test]
fn the_figures_can_be_computed_by_hand() {
    let (sandbox, commits) = history();
    sandbox.write(&[("cases.jsonl", &cases(&commits))]);
    let rows = sandbox.json_lines(&["eval", "cases.jsonl"]);
    let rules: Vec<_> = rows.iter().map(|row| row["rule"].as_str()).collect();
    let expected = [
        "seed/1",
        "measured/1",
        "BM25",
        "BM25 with path words",
        "git log -- files",
    ];
    assert_eq!(rules, expected.map(Some));
    for key in [
        "rule",
        "cases",
        "mrr",
        "mrr_30d",
        "first",
        "recall5",
        "ndcg5",
        "selected",
        "size",
        "precision",
        "empty",
        "controls",
        "removed",
        "replaced",
    ] {
        assert!(rows.iter().all(|row| row.get(key).is_some()), "{key}");
    }
    let measured = row(&rows, "measured/1");
    assert_eq!(
        (&measured["cases"], &measured["mrr"], &measured["mrr_30d"]),
        (&json!(2), &json!(1.0), &json!(1.0))
    );
    assert_eq!(
        (&measured["selected"], &measured["controls"]),
        (&json!(1.0), &json!(0.0))
    );
    assert_eq!(measured["replaced"], json!(0.0));
    // `git log -- src/cache.py` puts the newest change of the file before the right one, `-- src/parser.py` the right one first.
    let log = row(&rows, "git log -- files");
    assert_eq!((&log["mrr"], &log["mrr_30d"]), (&json!(0.75), &json!(0.5)));
    assert_eq!((&log["first"], &log["recall5"]), (&json!(0.5), &json!(1.0)));
    assert_eq!(
        log["controls"],
        json!(0.5),
        "asked without files it has nothing to say"
    );
    // The commit that touches no source file is no record here: four are left.
    let newest = sandbox.json_lines(&["eval", "cases.jsonl", "--newest", "1", "--rule", "seed/1"]);
    assert_eq!(
        row(&newest, "seed/1")["cases"],
        json!(0),
        "the only record asked of is the newest commit"
    );
    let text = sandbox.run(&["eval", "cases.jsonl"]).out;
    assert!(
        text.contains("measured/1 against") && text.contains("git log -- files"),
        "{text}"
    );
}

#[test]
fn a_sample_keeps_the_right_records() {
    let (sandbox, commits) = history();
    sandbox.write(&[("cases.jsonl", &cases(&commits))]);
    let one = [
        "eval",
        "cases.jsonl",
        "--rule",
        "measured/1",
        "--sample",
        "1",
    ];
    let rows = sandbox.json_lines(&one);
    let measured = row(&rows, "measured/1");
    // Of the four records only the right one is left, however old it is; without it there is nothing to answer with.
    assert_eq!(
        (&measured["cases"], &measured["first"], &measured["removed"]),
        (&json!(2), &json!(1.0), &json!(0.0))
    );
    assert_eq!(rows, sandbox.json_lines(&one));
    let all = [
        "eval",
        "cases.jsonl",
        "--rule",
        "measured/1",
        "--sample",
        "9",
    ];
    let whole = ["eval", "cases.jsonl", "--rule", "measured/1"];
    assert_eq!(sandbox.json_lines(&all), sandbox.json_lines(&whole));
}

#[test]
fn the_same_cases_give_the_same_bytes() {
    let (sandbox, commits) = history();
    sandbox.write(&[("cases.jsonl", &cases(&commits))]);
    let once = sandbox.run(&["eval", "cases.jsonl"]).out;
    assert_eq!(once, sandbox.run(&["eval", "cases.jsonl"]).out);
}

#[test]
fn cases_of_many_commits_are_answered_in_their_order_and_leave_no_graph() {
    let (sandbox, commits) = history();
    let at = |commit: &str, task: &str, node: &str, right: &str| json!({"at": commit, "task": task, "nodes": [node], "relevant": [right]});
    let old = "Evict entries from the cache by size";
    let new = "Reject unbalanced brackets later";
    let lines = [
        at(&commits[4], new, "src/parser.py", &commits[3]),
        at(&commits[1], old, "src/parser.py", &commits[0]),
        at(&commits[4], old, "src/cache.py", &commits[0]),
        at(&commits[1], old, "src/cache.py", &commits[0]),
        at(&commits[3][..12], new, "src/parser.py", &commits[1]),
    ];
    let file =
        |lines: &[Value]| -> String { lines.iter().map(|line| format!("{line}\n")).collect() };
    sandbox.write(&[("all.jsonl", &file(&lines))]);
    let whole = sandbox.json_lines(&["eval", "all.jsonl"]);
    for rule in ["seed/1", "measured/1", "BM25", "git log -- files"] {
        let mut sum = 0.0;
        for line in &lines {
            sandbox.write(&[("one.jsonl", &file(std::slice::from_ref(line)))]);
            let alone = sandbox.json_lines(&["eval", "one.jsonl"]);
            sum += row(&alone, rule)["mrr"].as_f64().expect("a number");
        }
        let mean = row(&whole, rule)["mrr"].as_f64().expect("a number");
        assert!((mean - sum / 5.0).abs() < 1e-9, "{rule}: {mean} and {sum}");
    }
    let kept = std::fs::read_dir(sandbox.path(".git/score-context"));
    let names = kept.into_iter().flatten().flatten();
    let names: Vec<String> = names
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("graph-") || name.starts_with("facts-"))
        .collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn other_weights_and_several_histories() {
    let (sandbox, commits) = history();
    std::fs::create_dir(sandbox.path("open")).expect("a folder");
    std::fs::create_dir(sandbox.path("weights")).expect("a folder");
    sandbox.write(&[
        ("open/r.jsonl", &cases(&commits)),
        (
            "weights/r.tsv",
            "cach\t0.0\nevict\t0.0\nentri\t0.0\nsize\t0.0\n",
        ),
    ]);
    let arguments = [
        "eval",
        "open",
        "--histories",
        "..",
        "--weights",
        "weights",
        "--rule",
        "measured/1",
    ];
    let rows = sandbox.json_lines(&arguments);
    // With every word of the old case worth nothing only the code ranks it, and the gate keeps it from answering.
    assert_eq!(row(&rows, "measured/1")["selected"], json!(0.5));
    sandbox.write(&[("weights/r.tsv", "cach\n")]);
    let said = sandbox.exits(2, &arguments);
    assert!(said.err.contains("r.tsv: line 1: "), "{}", said.err);
    sandbox.exits(2, &["eval", "open"]);
}

#[test]
fn what_is_wrong_with_a_case_is_said() {
    let (sandbox, _) = history();
    sandbox.write(&[("cases.jsonl", "{\"task\":\"a\"}\n{\"task\":1}\n")]);
    let said = sandbox.exits(2, &["eval", "cases.jsonl"]);
    assert!(said.err.contains("cases.jsonl: line 2: "), "{}", said.err);
    sandbox.write(&[("cases.jsonl", "{\"task\":\"a\",\"at\":\"nowhere\"}\n")]);
    let said = sandbox.exits(128, &["eval", "cases.jsonl"]);
    assert!(said.err.contains("nowhere"), "{}", said.err);
    let said = sandbox.exits(2, &["eval", "cases.jsonl", "--rule", "best/1"]);
    assert!(said.err.contains("seed/1, measured/1"), "{}", said.err);
    sandbox.exits(128, &["eval", "no-such-file"]);
}
