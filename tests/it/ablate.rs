//! `ablate` from outside, with the five tasks that ship with it and the planner that plans nothing.

use std::fs;

use serde_json::json;

use crate::support::{Sandbox, json_lines};

const POLICY: &str = "version = 1\n[attention]\nrule = \"measured/1\"\n";

fn fixture(name: &str) -> String {
    format!("{}/fixtures/ablate/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A repository with the folders the decisions are about, and the decisions.
fn seeded() -> Sandbox {
    let sandbox = Sandbox::empty();
    let files = [
        ("score-context/policy.toml", POLICY),
        ("src/store/a.py", "a = 1\n"),
        ("src/graph/a.py", "b = 1\n"),
        ("src/score/a.py", "c = 1\n"),
        ("src/record/a.py", "d = 1\n"),
    ];
    sandbox.commit(&files, "start");
    let decisions = fs::read(fixture("decisions.jsonl")).expect("there");
    sandbox.feed(&decisions, 0, &["record", "--stdin"]);
    sandbox
}

#[test]
fn both_arms_of_the_five_tasks() {
    let sandbox = seeded();
    let (tasks, stub) = (
        fixture("tasks.jsonl"),
        format!("sh '{}'", fixture("planner.sh")),
    );
    let pairs = sandbox.json_lines(&["ablate", &tasks, "--planner", &stub]);
    assert_eq!(pairs.len(), 5);
    for pair in &pairs {
        // The stub says yes where the section holds a record: every task finds the decision it would go against.
        assert_eq!(
            (&pair["without"]["success"], &pair["with"]["success"]),
            (&json!(false), &json!(true)),
            "{pair}"
        );
        assert!(
            pair["with"]["cost"].as_f64() > pair["without"]["cost"].as_f64(),
            "{pair}"
        );
    }
    let text = sandbox.run(&["ablate", &tasks, "--planner", &stub]).out;
    assert!(
        text.contains("0 of 5")
            && text.contains("5 of 5")
            && text.contains("measures nothing about models"),
        "{text}"
    );
    assert!(sandbox.replays_in("r").is_empty(), "no look-up is recorded");
}

#[test]
fn a_planner_that_fails_is_named() {
    let sandbox = seeded();
    let tasks = fixture("tasks.jsonl");
    let said = sandbox.exits(128, &["ablate", &tasks, "--planner", "exit 3"]);
    assert!(
        said.err.contains("'refs'") && said.err.contains('3'),
        "{}",
        said.err
    );
    let said = sandbox.exits(128, &["ablate", &tasks, "--planner", "echo no"]);
    assert!(
        said.err.contains("success, attempts and cost"),
        "{}",
        said.err
    );
    sandbox.write(&[("bad.jsonl", "{\"id\":\"a\"}\n")]);
    sandbox.exits(2, &["ablate", "bad.jsonl", "--planner", "cat"]);
}

#[test]
fn a_rejected_idea_is_found_by_what_would_propose_it_again() {
    let sandbox = seeded();
    let task = "fall back to a namesake when an import leads outside of the repository";
    let found = sandbox.json(&["query", task, "--node", "src/graph"]);
    assert_eq!(found["items"][0]["kind"], "rejected");
    let rendered = found["rendered"].as_str().expect("a text");
    assert!(
        rendered.contains("tried and rejected, because: it invents call edges"),
        "{rendered}"
    );
    let lines = json_lines(&sandbox.run(&["log", "--kind", "rejected", "--json"]).out);
    assert_eq!(lines[0]["id"], found["items"][0]["id"]);
}

#[test]
fn records_of_other_languages_are_found_in_their_own() {
    let sandbox = Sandbox::empty();
    sandbox.commit(
        &[
            ("score-context/policy.toml", POLICY),
            ("src/a.py", "a = 1\n"),
        ],
        "start",
    );
    let said = [
        (
            "Sitzungen liegen in signierten Keksen, nicht in der Datenbank",
            "Wo liegen Sitzungen: Datenbank oder signierte Kekse?",
        ),
        (
            "Les sessions sont stockées dans des cookies signés",
            "où stocker les sessions, cookies signés ou base",
        ),
        (
            "会话保存在签名的缓存中而不是数据库",
            "会话应该保存在数据库吗",
        ),
        (
            "セッションは署名付きクッキーに保存する",
            "セッションの保存場所を変更する",
        ),
        ("세션은 서명된 쿠키에 저장한다", "세션 저장 위치를 변경"),
        (
            "Сессии хранятся в подписанных файлах, а не в базе",
            "где хранятся сессии: в базе или в файлах",
        ),
        ("सत्र हस्ताक्षरित कुकी में रखे जाते हैं", "सत्र कुकी में रखे जाते हैं या नहीं"),
    ];
    let ids: Vec<String> = said
        .iter()
        .map(|(text, _)| sandbox.record(text, &[]))
        .collect();
    for ((_, question), id) in said.iter().zip(&ids) {
        let found = sandbox.json(&["query", question]);
        assert_eq!(found["items"][0]["id"], json!(id), "{question}");
    }
    let silent = sandbox.run(&["query", "the of … ??"]).out;
    assert!(
        silent.contains("nothing fits") && silent.contains("no word"),
        "{silent}"
    );
}
