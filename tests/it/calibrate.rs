//! `calibrate` from outside: pairs written by hand, on the records of the repository itself.

use std::fs;

use serde_json::json;

use crate::support::Sandbox;

const POLICY: &str =
    "version = 1\n\n[attention]\nrule = \"measured/1\"\nanswer_floor = 0.9 # too high\n";

fn remembered() -> (Sandbox, String) {
    let sandbox = Sandbox::empty();
    sandbox.commit(
        &[
            ("score-context/policy.toml", POLICY),
            ("src/cache.py", "x = 1\n"),
        ],
        "start",
    );
    let id = sandbox.record("the cache evicts by age", &["src/cache.py"]);
    sandbox.record("tabs instead of spaces", &[]);
    let pairs = [
        json!({"task": "evict from the cache", "nodes": ["src/cache.py"], "relevant": [id]}),
        json!({"task": "translate the manual", "nodes": ["src/cache.py"], "relevant": []}),
        json!({"task": "spaces in file names", "nodes": [], "relevant": []}),
    ];
    let lines: String = pairs.iter().map(|pair| format!("{pair}\n")).collect();
    sandbox.write(&[("pairs.jsonl", &lines)]);
    (sandbox, id)
}

#[test]
fn pairs_written_by_hand_give_a_floor_and_the_consequence() {
    let (sandbox, _) = remembered();
    let made = sandbox.json(&["calibrate", "pairs.jsonl"]);
    assert_eq!(
        (&made["rule"], &made["separates"], &made["missed"]),
        (&json!("measured/1"), &json!(true), &json!(0))
    );
    let score = |value: &serde_json::Value| value.as_f64().expect("a number");
    let worst = score(&made["relevant"][0]);
    let best = made["controls"]
        .as_array()
        .expect("two")
        .iter()
        .map(score)
        .fold(0.0, f64::max);
    assert!(worst > best && best > 0.0, "{made}");
    assert_eq!(score(&made["floor"]), (worst * best).sqrt());
    let text = sandbox.run(&["calibrate", "pairs.jsonl"]).out;
    assert!(
        text.contains("1 of 1 pairs are answered") && text.contains("0 of 2 controls"),
        "{text}"
    );
    assert!(
        text.contains('█') && text.contains("a hint and no proof"),
        "{text}"
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("score-context/policy.toml")).expect("there"),
        POLICY,
        "nothing is written unasked"
    );
}

#[test]
fn what_is_written_is_in_force_after_the_next_commit() {
    let (sandbox, id) = remembered();
    let ask = ["query", "evict from the cache", "--node", "src/cache.py"];
    assert_eq!(
        sandbox.json(&ask)["items"],
        json!([]),
        "the floor is too high"
    );
    sandbox.run(&["calibrate", "pairs.jsonl", "--write"]);
    let file = fs::read_to_string(sandbox.path("score-context/policy.toml")).expect("there");
    assert!(
        file.contains("# before calibrate: answer_floor = 0.9 # too high\nanswer_floor = 0."),
        "{file}"
    );
    sandbox.run(&["policy", "check", "score-context/policy.toml"]);
    sandbox.commit(&[], "calibrated");
    assert_eq!(sandbox.json(&ask)["items"][0]["id"], json!(id));
    // A floor of one rule is none of another.
    let said = sandbox.exits(
        128,
        &["calibrate", "pairs.jsonl", "--rule", "seed/1", "--write"],
    );
    assert!(said.err.contains("measured/1"), "{}", said.err);
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let (sandbox, _) = remembered();
    sandbox.write(&[
        (
            "only.jsonl",
            "{\"task\":\"evict\",\"relevant\":[\"nothing\"]}\n",
        ),
        ("none.jsonl", "\n"),
    ]);
    let text = sandbox.run(&["calibrate", "only.jsonl"]).out;
    assert!(text.contains("1 pairs and 0 controls"), "{text}");
    sandbox.exits(128, &["calibrate", "only.jsonl", "--write"]);
    sandbox.exits(2, &["calibrate", "none.jsonl"]);
    sandbox.exits(2, &["calibrate", "pairs.jsonl", "--rule", "best/1"]);
}
