//! What a look-up selects and what it turns down, and what it says became of a record's ground.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::support::{Sandbox, pluck, string, strings};

#[test]
fn an_unknown_node_is_no_error() {
    let sandbox = Sandbox::new();
    let recorded = sandbox.json(&[
        "record",
        "about something to come",
        "--node",
        "src/new.rs",
        "--node",
        "src/cache.rs",
    ]);
    assert_eq!(recorded["unresolved"], json!(["src/new.rs"]));
    let found = sandbox.json(&["query", "something to come", "--node", "src/new.rs"]);
    assert_eq!(
        (&found["unresolved_nodes"], &found["focus_size"]),
        (&json!(["src/new.rs"]), &json!(0))
    );
    let states: Vec<String> = pluck(&found["items"][0]["ground"], "state");
    assert_eq!(states, ["same", "gone"], "in the order of the names");
    assert_eq!(found["items"][0]["factors"]["live_ratio"], json!(0.5));
    // The file comes into being; nothing about the record has to change.
    sandbox.commit(&[("src/new.rs", "fn n() {}\n")], "new");
    let found = sandbox.json(&["query", "something to come", "--node", "src/new.rs"]);
    assert_eq!(
        (
            &found["unresolved_nodes"],
            &found["items"][0]["factors"]["live_ratio"]
        ),
        (&json!([]), &json!(1.0))
    );
}

#[test]
fn what_became_of_a_node_is_told() {
    let sandbox = Sandbox::empty();
    let file = |name: &str| format!("the content of {name}\n");
    let names = ["changed", "gone", "moved", "same", "twice"];
    let contents: Vec<String> = names.iter().map(|name| file(name)).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .copied()
        .zip(contents.iter().map(String::as_str))
        .collect();
    sandbox.commit(&files, "start");
    sandbox.record("about five files", &names);
    for name in ["gone", "moved", "twice"] {
        fs::remove_file(sandbox.path(name)).expect("removed");
    }
    let after = [
        ("changed", "otherwise\n"),
        ("new/moved", &file("moved")),
        ("copy1", &file("twice")),
        ("copy2", &file("twice")),
    ];
    sandbox.commit(&after.map(|(path, content)| (path, content)), "after");
    let found = sandbox.json(&["query", "about five files"]);
    let right = json!([
        {"node": "changed", "state": "changed", "now": "changed"},
        {"node": "gone", "state": "gone", "now": null},
        {"node": "moved", "state": "moved", "now": "new/moved"},
        {"node": "same", "state": "same", "now": "same"},
        {"node": "twice", "state": "gone", "now": null},
    ]);
    assert_eq!(found["items"][0]["ground"], right);
    assert_eq!(found["items"][0]["factors"]["live_ratio"], json!(0.6));
}

#[test]
fn the_session_that_asks_does_not_hear_itself() {
    let sandbox = Sandbox::new();
    let own = sandbox.record_with("the cache is cold", &[], &["--session", "mine"]);
    let other = sandbox.record_with("the cache is warm", &[], &["--session", "yours"]);
    let nobody = sandbox.record("the cache is there", &[]);
    let found = |session: &[&str]| {
        let found = sandbox.json(&[&["query", "the cache"], session].concat());
        BTreeSet::from_iter(pluck(&found["items"], "id"))
    };
    assert_eq!(
        found(&[]),
        BTreeSet::from([own.clone(), other.clone(), nobody.clone()])
    );
    assert_eq!(
        found(&["--session", "mine"]),
        BTreeSet::from([other, nobody.clone()])
    );
    assert!(found(&["--session", "yours"]).contains(&own));
    let asked = sandbox.json(&["query", "the cache", "--session", "mine"]);
    assert_eq!(
        (&asked["session"], &asked["candidates"]),
        (&json!("mine"), &json!(2))
    );
}

#[test]
fn a_chain_of_replacements_ends_in_its_last() {
    let sandbox = Sandbox::new();
    let task = "change the redis session cache";
    let a = sandbox.record("use redis for the session cache", &["src/cache.rs"]);
    let b = sandbox.record_with(
        "session data moves to signed cookies",
        &["src/cache.rs"],
        &["--supersedes", &a],
    );
    let between = sandbox.json(&["query", task]);
    assert_eq!(
        pluck(&between["items"], "id"),
        std::slice::from_ref(&b),
        "the better match of the two is the replaced one"
    );
    let c = sandbox.record_with(
        "session data moves to tokens",
        &["src/cache.rs"],
        &["--supersedes", &b[..12]],
    );
    for at in [&[][..], &["--at", "HEAD"]] {
        let found = sandbox.json(&[&["query", task, "--node", "src/cache.rs"], at].concat());
        assert_eq!(
            pluck(&found["items"], "id"),
            std::slice::from_ref(&c),
            "{at:?}"
        );
        assert_eq!(found["candidates"], json!(3));
        assert_eq!(
            found["best"], found["items"][0]["score"],
            "a replaced record does not set the best score"
        );
        let rejected = found["rejected"].as_array().expect("an array");
        assert_eq!(
            BTreeSet::from_iter(pluck(&found["rejected"], "id")),
            BTreeSet::from([a.clone(), b.clone()])
        );
        for one in rejected {
            assert_eq!(
                (&one["reason"], &one["by"]),
                (&json!("superseded"), &json!(c))
            );
            assert!(one["factors"]["semantic"].as_f64() > Some(0.0));
        }
    }
    let replaced = sandbox.json_lines(&["log", "--grep", "redis"]);
    assert_eq!(replaced[0]["supersedes"], json!([]));
    assert_eq!(
        sandbox.json_lines(&["log", "--grep", "cookies"])[0]["supersedes"],
        json!([a])
    );
    sandbox.exits(
        2,
        &[
            "record",
            "replaces nothing",
            "--supersedes",
            &"0".repeat(64),
        ],
    );
    assert_eq!(sandbox.run(&["log", "--count"]).out, "3\n");
}

#[test]
fn a_replacement_of_the_asking_session_counts() {
    let sandbox = Sandbox::new();
    let a = sandbox.record("use redis for the cache", &[]);
    sandbox.record_with(
        "use cookies for it",
        &[],
        &["--supersedes", &a, "--session", "mine"],
    );
    let found = sandbox.json(&["query", "use redis", "--session", "mine"]);
    assert_eq!(
        (&found["items"], &found["candidates"]),
        (&json!([]), &json!(1))
    );
    assert_eq!(found["rejected"][0]["reason"], "superseded");
}

#[test]
fn one_of_several_copies_stands_for_all() {
    let sandbox = Sandbox::new();
    let say = |session: &str, nodes: &[&str]| {
        sandbox.record_with("the cache is cold", nodes, &["--session", session])
    };
    let copies = BTreeSet::from([
        say("s1", &["src"]),
        say("s2", &["src"]),
        say("s3", &["src"]),
    ]);
    let other_ground = say("s4", &["src/os"]);
    let found = sandbox.json(&["query", "the cache is cold"]);
    let ids = pluck(&found["items"], "id");
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&other_ground));
    let item = found["items"]
        .as_array()
        .and_then(|items| items.iter().find(|item| item["id"] != json!(other_ground)));
    let item = item.expect("the other one");
    let mut standing = BTreeSet::from_iter(strings(&item["copies"]));
    assert_eq!(standing.len(), 2);
    for one in found["rejected"].as_array().expect("an array") {
        assert_eq!((&one["reason"], &one["by"]), (&json!("copy"), &item["id"]));
    }
    assert_eq!(
        BTreeSet::from_iter(pluck(&found["rejected"], "id")),
        standing
    );
    standing.insert(string(&item["id"]));
    assert_eq!(standing, copies);
    assert_eq!(found["candidates"], json!(4));
}

#[test]
fn no_more_than_top_k_are_selected() {
    let sandbox = Sandbox::new();
    for n in 0..7 {
        sandbox.record(&format!("the cache, version {n}{n}{n}"), &[]);
    }
    let selected = |more: &[&str]| sandbox.json(&[&["query", "the cache version"], more].concat());
    assert_eq!(pluck(&selected(&[])["items"], "id").len(), 5);
    let found = selected(&["--top-k", "2"]);
    assert_eq!(
        (
            pluck(&found["items"], "id").len(),
            &found["policy"]["top_k"]
        ),
        (2, &json!(2))
    );
    assert_eq!(pluck(&found["rejected"], "reason"), ["beyond_top_k"; 5]);
    sandbox.exits(2, &["query", "the cache version", "--top-k", "0"]);
}
