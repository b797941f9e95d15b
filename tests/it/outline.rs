//! `outline` from outside: what is shown first, what bounds it, and where its text comes from.

use serde_json::json;

use crate::support::{Sandbox, pluck, string};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::empty();
    let long = (0..150)
        .map(|at| format!("    x{at} = {at}\n"))
        .collect::<String>();
    let files = [
        (
            "store.py",
            "import codec\n\n\nclass Store:\n    def load(self, key):\n        return codec.decode(key)\n\n    def save(self, key):\n        cookie = key\n        return cookie\n",
        ),
        ("codec.py", "def decode(text):\n    return text\n"),
        (
            "long.py",
            &format!("def long(\n    a,\n    b,\n):\n{long}    return cookie\n"),
        ),
        ("far.py", "def cookie_jar():\n    return 1\n"),
    ];
    sandbox.commit(&files, "start");
    sandbox
}

#[test]
fn current_nodes_come_first_then_the_words_of_the_task() {
    let sandbox = sandbox();
    let found = sandbox.json(&["outline", "keep the cookie", "--node", "store.py"]);
    assert_eq!(pluck(&found["files"], "path"), ["store.py", "codec.py"]);
    let first = &found["files"][0]["definitions"];
    assert_eq!(string(&first[0]["node"]), "store.py::Store");
    let shown = pluck(first, "node");
    let place = |name: &str| shown.iter().position(|node| node == name);
    assert!(
        place("store.py::Store.save") < place("store.py::Store.load"),
        "{shown:?}"
    );
    assert_eq!(found["left_out"], json!({"definitions": 0, "files": 0}));
    let text = sandbox
        .run(&["outline", "keep the cookie", "--node", "store.py"])
        .out;
    assert!(
        text.starts_with("store.py\n    4  class Store:\n"),
        "{text}"
    );
    assert!(text.ends_with("\nnothing left out\n"), "{text}");
}

#[test]
fn files_and_lines_are_bounded_and_what_is_left_out_is_said() {
    let sandbox = sandbox();
    let arguments = [
        "outline",
        "cookie",
        "--node",
        "store.py",
        "--max-files",
        "1",
    ];
    let text = sandbox.run(&arguments).out;
    assert!(!text.contains("codec.py\n"), "{text}");
    assert!(
        text.ends_with("left out: 1 definitions in 1 files, and lines of 0 more\n"),
        "{text}"
    );
    let found = sandbox.json(&["outline", "cookie", "--node", ".", "--max-lines", "5"]);
    let lines: usize = found["files"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| file["lines"].as_array().expect("a list").len())
        .sum();
    assert!(lines <= 5, "{found}");
    assert_ne!(found["left_out"]["definitions"], json!(0));
}

#[test]
fn a_long_definition_shows_its_signature_and_the_lines_that_matter() {
    let sandbox = sandbox();
    let found = sandbox.json(&["outline", "cookie", "--node", "long.py"]);
    let lines = found["files"][0]["lines"].as_array().expect("a list");
    let numbers: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["line"].as_u64())
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 155]);
    assert_eq!(found["files"][0]["definitions"][0]["whole"], json!(false));
}

#[test]
fn the_text_is_that_of_the_commit() {
    let sandbox = sandbox();
    sandbox.commit(
        &[("codec.py", "def decode(other):\n    return other\n")],
        "next",
    );
    sandbox.write(&[("codec.py", "nothing of the kind\n")]);
    let now = sandbox.run(&["outline", "x", "--node", "codec.py"]).out;
    assert!(now.contains("def decode(other):"), "{now}");
    let then = sandbox
        .run(&["outline", "x", "--node", "codec.py", "--at", "HEAD~1"])
        .out;
    assert!(then.contains("def decode(text):"), "{then}");
}

#[test]
fn without_a_node_names_speak() {
    let sandbox = sandbox();
    let found = sandbox.json(&["outline", "the cookie jar"]);
    assert_eq!(pluck(&found["files"], "path"), ["far.py"]);
    let lost = sandbox.run(&["outline", "x", "--node", "nowhere.py"]);
    assert_eq!(lost.out, "nothing left out\n");
    assert!(
        lost.err.contains("'nowhere.py' is not in the code graph"),
        "{}",
        lost.err
    );
}
