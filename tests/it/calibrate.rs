//! `calibrate` from outside: pairs written by hand, on the records of the repository itself.

use std::fs;

use serde_json::json;

use crate::support::Sandbox;

const POLICY: &str =
    "version = 1\n\n[attention]\nrule = \"measured/1\"\nanswer_floor = 0.9 # too high\n";

const SUBJECTS: [&str; 10] = [
    "cache",
    "parser",
    "queue",
    "socket",
    "ledger",
    "palette",
    "scheduler",
    "tokenizer",
    "router",
    "archive",
];

/// Ten records with a pair each, and ten controls that share one word with some record. The node of every pair is in the record, so
/// each record comes first.
fn remembered() -> (Sandbox, String) {
    let sandbox = Sandbox::empty();
    let paths: Vec<String> = SUBJECTS.map(|word| format!("src/{word}.py")).into();
    let mut files: Vec<(&str, &str)> = paths
        .iter()
        .map(|path| (path.as_str(), "x = 1\n"))
        .collect();
    files.push(("score-context/policy.toml", POLICY));
    sandbox.commit(&files, "start");
    let mut lines = String::new();
    let mut first = String::new();
    for (word, path) in SUBJECTS.iter().zip(&paths) {
        let id = sandbox.record(
            &format!("the {word} evicts its oldest entries by age"),
            &[path],
        );
        let pair = json!({"task": format!("evict old entries from the {word} by size"), "nodes": [path], "relevant": [id]});
        let control = json!({"task": format!("translate the manual of age {word} subtitles"), "nodes": [], "relevant": []});
        lines.push_str(&format!("{pair}\n{control}\n"));
        first = match first.is_empty() {
            true => id,
            false => first,
        };
    }
    sandbox.write(&[("pairs.jsonl", &lines)]);
    (sandbox, first)
}

fn policy(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path("score-context/policy.toml")).expect("there")
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
    let controls = made["controls"].as_array().expect("ten");
    let best = controls.iter().map(score).fold(0.0, f64::max);
    assert!(worst > best && best > 0.0, "{made}");
    assert!(
        (score(&made["floor"]) - (worst * best).sqrt()).abs() < 1e-4,
        "{made}"
    );
    assert_eq!(
        (&made["gap"], &made["gap_pairs"]),
        (&json!(null), &json!(0)),
        "each record comes first"
    );
    let text = sandbox.run(&["calibrate", "pairs.jsonl"]).out;
    for said in [
        "10 of 10 pairs are answered",
        "0 of 10 controls",
        "at the present 0.9 it is 0 and 0",
        "nothing is said of rank_gap_ratio, which stays 0.35",
        "a hint and no proof",
        "█",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert_eq!(policy(&sandbox), POLICY, "nothing is written unasked");
}

#[test]
fn what_is_written_is_in_force_after_the_next_commit() {
    let (sandbox, id) = remembered();
    let ask = [
        "query",
        "evict old entries from the cache",
        "--node",
        "src/cache.py",
    ];
    assert_eq!(
        sandbox.json(&ask)["items"],
        json!([]),
        "the floor is too high"
    );
    let said = sandbox.run(&["calibrate", "pairs.jsonl", "--write"]);
    assert!(said.err.contains("commit it"), "{}", said.err);
    let file = policy(&sandbox);
    assert!(
        file.contains("# before calibrate: answer_floor = 0.9 # too high\nanswer_floor = 0."),
        "{file}"
    );
    assert!(
        !file.contains("rank_gap_ratio"),
        "records that come first say nothing of the gap: {file}"
    );
    sandbox.run(&["policy", "check", "score-context/policy.toml"]);
    assert_eq!(
        sandbox.json(&ask)["items"],
        json!([]),
        "only once it is committed"
    );
    sandbox.commit(&[], "calibrated");
    assert_eq!(sandbox.json(&ask)["items"][0]["id"], json!(id));
    let said = sandbox.run(&["calibrate", "pairs.jsonl", "--write"]);
    assert!(said.err.contains("says so already"), "{}", said.err);
    assert_eq!(policy(&sandbox), file);
    // A floor of one rule is none of another.
    let said = sandbox.exits(
        128,
        &["calibrate", "pairs.jsonl", "--rule", "seed/1", "--write"],
    );
    assert!(said.err.contains("measured/1"), "{}", said.err);
}

#[test]
fn the_rest_of_the_policy_stays_as_it_is() {
    let (sandbox, _) = remembered();
    let ours = "# Why these values: see docs.\nversion = 1\n\n[privacy] # kept long\nretention_days = 90\n\n[attention]\n# Most first.\ntop_k = 3\nrule = \"measured/1\" # since May\n";
    sandbox.write(&[("score-context/policy.toml", ours)]);
    sandbox.run(&["calibrate", "pairs.jsonl", "--write"]);
    let file = policy(&sandbox);
    let rest: String = file
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("answer_floor = "))
        .collect();
    assert_eq!(rest, ours);
    assert_ne!(file, ours);
    // A form that is not changed line by line is left alone, and what to set is said.
    let dotted = "version = 1\nattention.rule = \"measured/1\"\n";
    sandbox.write(&[("score-context/policy.toml", dotted)]);
    let said = sandbox.exits(128, &["calibrate", "pairs.jsonl", "--write"]);
    assert!(
        said.err.contains("by hand: answer_floor = 0."),
        "{}",
        said.err
    );
    assert_eq!(policy(&sandbox), dotted);
}

#[test]
fn a_floor_that_would_be_wrong_is_not_written() {
    let (sandbox, _) = remembered();
    let all = fs::read_to_string(sandbox.path("pairs.jsonl")).expect("there");
    let few: String = all.split_inclusive('\n').take(7).collect();
    // What is asked of a record, asked again as a control: the records that should come back score no higher.
    let turned: String = all
        .lines()
        .enumerate()
        .map(|(at, line)| match at % 2 {
            0 => format!(
                "{}\n{}\n",
                line.replace("\"relevant\"", "\"kind\":\"control\",\"relevant\""),
                line.replace("evict old entries from the", "the")
            ),
            _ => String::new(),
        })
        .collect();
    let silent: String = all
        .lines()
        .map(|line| match line.contains("translate") {
            true => format!(
                "{}\n",
                json!({"task": "translate Welsh subtitles", "relevant": []})
            ),
            false => format!("{line}\n"),
        })
        .collect();
    sandbox.write(&[
        ("few.jsonl", &few),
        ("turned.jsonl", &turned),
        ("silent.jsonl", &silent),
    ]);
    for (file, lack) in [
        ("few.jsonl", "here are 4 and 3"),
        ("turned.jsonl", "nothing would be found"),
        ("silent.jsonl", "add controls that share words"),
    ] {
        let shown = sandbox.run(&["calibrate", file]).out;
        assert!(shown.contains(lack), "{file}: {shown}");
        let said = sandbox.exits(128, &["calibrate", file, "--write"]);
        assert!(
            said.err.contains(lack) && said.out.contains('█'),
            "{}",
            said.err
        );
        assert_eq!(policy(&sandbox), POLICY);
    }
    let text = sandbox.run(&["calibrate", "turned.jsonl"]).out;
    assert!(
        text.contains("the two overlap") && text.contains("controls answered\n"),
        "{text}"
    );
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
    assert!(
        text.contains("1 pairs and 0 controls: so few lines"),
        "{text}"
    );
    sandbox.exits(128, &["calibrate", "only.jsonl", "--write"]);
    sandbox.exits(2, &["calibrate", "none.jsonl"]);
    sandbox.exits(2, &["calibrate", "pairs.jsonl", "--rule", "best/1"]);
}
