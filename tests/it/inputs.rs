//! What a look-up takes as given: the commit and what was known there, the policy, outcomes, the time of retention.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Sandbox, pluck, string};

const TASK: &str = "what about the cache";

fn candidates(sandbox: &Sandbox, more: &[&str]) -> BTreeSet<String> {
    let found = sandbox.json(&[&["query", TASK, "--top-k", "50"], more].concat());
    let mut ids = BTreeSet::from_iter(pluck(&found["items"], "id"));
    ids.extend(pluck(&found["rejected"], "id"));
    assert_eq!(found["candidates"], json!(ids.len()));
    ids
}

fn ids<const N: usize>(of: [&String; N]) -> BTreeSet<String> {
    of.into_iter().cloned().collect()
}

#[test]
fn at_a_commit_counts_what_was_known_there() {
    let sandbox = Sandbox::empty();
    let unborn = sandbox.record("the cache, before any commit", &[]);
    let first = sandbox.commit(&[("a", "1")], "first");
    let at_first = sandbox.record("the cache, at the first commit", &["a"]);
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    let side = sandbox.commit(&[("b", "1")], "side");
    let on_side = sandbox.record("the cache, on a side branch", &["b"]);
    sandbox.git(&["checkout", "-q", "main"]);
    let second = sandbox.commit(&[("c", "1")], "second");
    let at_second = sandbox.record("the cache, at the second commit", &["c"]);

    let all = ids([&unborn, &at_first, &on_side, &at_second]);
    assert_eq!(candidates(&sandbox, &[]), all, "from whatever branch");
    assert_eq!(
        candidates(&sandbox, &["--at", "HEAD"]),
        ids([&unborn, &at_first, &at_second])
    );
    assert_eq!(
        candidates(&sandbox, &["--at", &first]),
        ids([&unborn, &at_first])
    );
    assert_eq!(
        candidates(&sandbox, &["--at", "HEAD~1"]),
        ids([&unborn, &at_first])
    );
    assert_eq!(
        candidates(&sandbox, &["--at", "side"]),
        ids([&unborn, &at_first, &on_side])
    );
    assert_eq!(
        candidates(&sandbox, &["--at", &first, "--corpus", "all"]),
        all
    );
    assert_eq!(
        candidates(&sandbox, &["--corpus", "ancestors"]),
        ids([&unborn, &at_first, &at_second])
    );

    for commit in [&first, &side, &second] {
        let found = sandbox.json(&["query", TASK, "--at", commit, "--node", "b"]);
        let date: i64 = sandbox
            .git(&["show", "-s", "--format=%ct", commit])
            .parse()
            .expect("a number");
        let time = git_score_context::record::Time(date).to_string();
        assert_eq!(
            (&found["commit"], &found["time"]),
            (&json!(commit), &json!(time))
        );
        let tree = sandbox.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
        assert_eq!(found["code_tree"], json!(tree));
        assert_eq!(
            found["unresolved_nodes"].as_array().map(Vec::len),
            Some(usize::from(commit != &side))
        );
    }
}

#[test]
fn a_record_without_a_commit_counts_from_its_time_on() {
    let sandbox = Sandbox::empty();
    let early = sandbox.record("the cache, early", &[]);
    sandbox.set_clock("2026-11-30T13:00:00Z");
    let commit = sandbox.commit(&[("a", "1")], "first");
    let line =
        json!({"text": "the cache, said later of the time before", "time": "2027-01-01T00:00:00Z"});
    sandbox.git(&["checkout", "-q", "--orphan", "empty"]);
    let late = string(&sandbox.record_lines(&[line])[0]["id"]);
    sandbox.git(&["checkout", "-q", "main"]);
    assert_eq!(candidates(&sandbox, &["--at", &commit]), ids([&early]));
    assert_eq!(candidates(&sandbox, &[]), ids([&early, &late]));
}

#[test]
fn an_anchor_may_be_named() {
    let sandbox = Sandbox::new();
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    let second = sandbox.commit(&[("a", "1")], "second");
    let line =
        json!({"text": "the cache, as it was", "anchor": "HEAD~1", "nodes": ["a", "src/cache.rs"]});
    let said = &sandbox.record_lines(&[line])[0];
    assert_eq!(said["unresolved"], json!(["a"]), "it was not there yet");
    let id = string(&said["id"]);
    assert_eq!(sandbox.json_lines(&["log"])[0]["anchors"], json!([first]));
    assert_eq!(candidates(&sandbox, &["--at", &first]), ids([&id]));
    assert_eq!(candidates(&sandbox, &["--at", &second]), ids([&id]));
}

#[test]
fn an_outcome_moves_what_belongs_to_its_task() {
    let sandbox = Sandbox::new();
    let id = sandbox.record_with(
        "the cache is written through",
        &["src/cache.rs"],
        &["--task", "t1", "--session", "s1"],
    );
    let item = |more: &[&str]| {
        let found = sandbox.json(&[&["query", TASK], more].concat());
        let all = [found["items"].as_array(), found["rejected"].as_array()];
        let mut all = all.into_iter().flatten().flatten();
        all.find(|one| one["id"] == json!(id))
            .cloned()
            .expect("it is a candidate")
    };
    let bonus = |item: &Value| (item["factors"]["bonus"].as_f64(), item["verdict"].clone());
    let before = item(&[]);
    assert_eq!(bonus(&before), (Some(0.0), Value::Null));

    sandbox.run(&["outcome", "t2", "--verdict", "fail"]);
    assert_eq!(bonus(&item(&[])), (Some(0.0), Value::Null), "another task");
    sandbox.step(60);
    sandbox.run(&[
        "outcome",
        "t1",
        "--verdict",
        "fail",
        "--rationale",
        "lost writes",
    ]);
    let failed = item(&[]);
    assert_eq!(bonus(&failed), (Some(-0.2), json!("fail")));
    let score = |item: &Value| item["score"].as_f64().expect("a number");
    assert!(score(&failed) < score(&before));

    sandbox.step(60);
    sandbox.run(&["outcome", "t1", "--verdict", "pass"]);
    assert_eq!(
        bonus(&item(&[])),
        (Some(0.0), json!("pass")),
        "the latest counts, and a pass adds nothing by default"
    );
    assert_eq!(sandbox.json_lines(&["log"])[0]["verdict"], "pass");

    let policy = "version = 1\n[attention]\noutcome_reward = 0.125\n";
    std::fs::write(sandbox.top("reward.toml"), policy).expect("written");
    assert_eq!(
        bonus(&item(&["--policy", "../reward.toml"])),
        (Some(0.0), json!("pass")),
        "nobody else stands there"
    );
    sandbox.record_with(
        "quite another matter",
        &["src/cache.rs"],
        &["--session", "s2"],
    );
    let corroborated = item(&["--policy", "../reward.toml"]);
    assert_eq!(bonus(&corroborated), (Some(0.125), json!("pass")));
    assert_eq!(corroborated["factors"]["corroboration"], json!(2));
}

#[test]
fn the_policy_of_the_code_tree_is_in_force() {
    let sandbox = Sandbox::new();
    sandbox.record("the cache is cold", &[]);
    let policy = |text: &str| format!("version = 1\n{text}\n");
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let threshold = policy("[attention]\nselection = \"threshold\"\nscore_threshold = 0.9");
    sandbox.commit(&[("score-context/policy.toml", &threshold)], "a policy");
    let found = sandbox.json(&["query", TASK]);
    assert_eq!(
        (&found["selection"], &found["threshold"], &found["items"]),
        (&json!("threshold"), &json!(0.9), &json!([]))
    );
    assert_eq!(found["policy"]["score_threshold"], json!(0.9));
    assert_eq!(
        sandbox.json(&["query", TASK, "--at", &before])["selection"],
        "rank",
        "that of the asked commit"
    );

    std::fs::write(
        sandbox.top("other.toml"),
        policy("[attention]\nnoise_floor = 0.5"),
    )
    .expect("written");
    let found = sandbox.json(&["query", TASK, "--policy", "../other.toml"]);
    assert_eq!(
        (&found["selection"], &found["policy"]["noise_floor"]),
        (&json!("rank"), &json!(0.5))
    );

    // Not the one of the work tree.
    sandbox.write(&[("score-context/policy.toml", "nonsense")]);
    assert_eq!(sandbox.json(&["query", TASK])["threshold"], json!(0.9));
}

#[test]
fn a_policy_that_is_none_is_named_with_its_key() {
    let sandbox = Sandbox::new();
    sandbox.record("the cache is cold", &[]);
    let bad = [
        ("[attention]\ntop_kk = 5\n", "attention.top_kk"),
        ("[attention]\nnoise_floor = 1.5\n", "attention.noise_floor"),
        ("[attention]\ntop_k = \"five\"\n", "attention.top_k"),
        ("[attention]\nrule = \"seed/9\"\n", "attention.rule"),
        ("[privacy]\nretention_days = 0\n", "privacy.retention_days"),
        ("[elsewhere]\nx = 1\n", "elsewhere"),
    ];
    for (text, key) in bad {
        let text = format!("version = 1\n{text}");
        std::fs::write(sandbox.top("bad.toml"), &text).expect("written");
        let said = sandbox.exits(128, &["query", TASK, "--policy", "../bad.toml"]);
        assert!(
            said.err.contains(key) && said.err.contains("bad.toml"),
            "{key}: {}",
            said.err
        );
        assert_eq!(said.out, "");
    }
    sandbox.commit(
        &[(
            "score-context/policy.toml",
            "version = 1\n[attention]\ntop_kk = 5\n",
        )],
        "a bad policy",
    );
    let is_named =
        |text: &str| text.contains("top_kk") && text.contains("score-context/policy.toml");
    let said = sandbox.exits(128, &["query", TASK]);
    assert!(is_named(&said.err), "{}", said.err);
    // A check that finds fault is a negative answer, and the state of things is shown all the same.
    let said = sandbox.exits(1, &["policy", "check"]);
    assert!(is_named(&said.out), "{}", said.out);
    let said = sandbox.run(&["status"]);
    assert!(is_named(&said.out), "{}", said.out);
    sandbox.run(&["record", "recording goes on"]);
    sandbox.run(&["query", TASK, "--at", "HEAD~1"]);
}

#[test]
fn what_a_session_said_expires_and_what_history_says_does_not() {
    let sandbox = Sandbox::new();
    sandbox.commit(&[("a", "1")], "x\n\nDecision: the cache, from a trailer\n");
    sandbox.run(&["ingest"]);
    let trailer = sandbox.log_ids().pop_first().expect("one");
    let old = string(
        &sandbox.record_lines(&[
            json!({"text": "the cache, long ago", "time": "2026-08-20T12:00:00Z"}),
        ])[0]["id"],
    );
    let newer = string(
        &sandbox.record_lines(&[
            json!({"text": "the cache, some weeks ago", "time": "2026-11-01T12:00:00Z"}),
        ])[0]["id"],
    );
    let days =
        |sandbox: &Sandbox| sandbox.json(&["query", TASK])["policy"]["retention_days"].clone();

    assert_eq!(
        (candidates(&sandbox, &[]), days(&sandbox)),
        (ids([&trailer, &newer]), json!(90))
    );
    sandbox.git(&["config", "score-context.retentionDays", "200"]);
    assert_eq!(
        (candidates(&sandbox, &[]), days(&sandbox)),
        (ids([&trailer, &newer, &old]), json!(200))
    );
    sandbox.git(&["config", "score-context.retentionDays", "10"]);
    assert_eq!(
        (candidates(&sandbox, &[]), days(&sandbox)),
        (ids([&trailer]), json!(10))
    );
    for bad in ["0", "-1", "many", ""] {
        sandbox.git(&["config", "score-context.retentionDays", bad]);
        let said = sandbox.exits(128, &["query", TASK]);
        assert!(
            said.err
                .to_lowercase()
                .contains("score-context.retentiondays"),
            "{}",
            said.err
        );
    }
    sandbox.git(&["config", "--unset", "score-context.retentionDays"]);

    // What somebody commits can make nobody's memory shorter, only longer.
    sandbox.commit(
        &[(
            "score-context/policy.toml",
            "version = 1\n[privacy]\nretention_days = 5\n",
        )],
        "shorter",
    );
    assert_eq!(
        (candidates(&sandbox, &[]), days(&sandbox)),
        (ids([&trailer, &newer]), json!(90))
    );
    sandbox.commit(
        &[(
            "score-context/policy.toml",
            "version = 1\n[privacy]\nretention_days = 500\n",
        )],
        "longer",
    );
    assert_eq!(
        (candidates(&sandbox, &[]), days(&sandbox)),
        (ids([&trailer, &newer, &old]), json!(500))
    );
    // Nothing was lost meanwhile: it is a matter of what is asked.
    assert_eq!(sandbox.log_ids(), ids([&trailer, &newer, &old]));
}

#[test]
fn a_replacement_outlives_its_retention() {
    let sandbox = Sandbox::new();
    let old = sandbox.record("the cache is cold", &[]);
    let line =
        json!({"text": "the cache was warm", "time": "2026-01-01T00:00:00Z", "supersedes": [old]});
    sandbox.record_lines(&[line]);
    let found = sandbox.json(&["query", TASK]);
    assert_eq!(
        (&found["candidates"], &found["items"]),
        (&json!(1), &json!([]))
    );
    assert_eq!(found["rejected"][0]["reason"], "superseded");
}

#[test]
fn age_counts_only_where_the_policy_says_so() {
    let sandbox = Sandbox::new();
    sandbox.record("the cache is cold", &[]);
    sandbox.step(30 * 86_400);
    let recency = |more: &[&str]| {
        sandbox.json(&[&["query", TASK], more].concat())["items"][0]["factors"]["recency"].as_f64()
    };
    assert_eq!(recency(&[]), Some(1.0));
    std::fs::write(
        sandbox.top("decay.toml"),
        "version = 1\n[attention]\nrecency_decay = true\n",
    )
    .expect("written");
    assert_eq!(recency(&["--policy", "../decay.toml"]), Some(0.5));
}
