//! `graph` from outside: what it says of one node, at any commit, and its forms for other tools.

use serde_json::json;

use crate::support::{Sandbox, pluck, string};

/// A package with a class, callers, and a call of the same name that nobody can follow.
fn package() -> Sandbox {
    let sandbox = Sandbox::empty();
    let files = [
        (
            "pkg/core.py",
            "class Base:\n    def __init__(self, size):\n        self.size = size\n\n    def run(self):\n        return self.size\n\n\nclass Job(Base):\n    pass\n",
        ),
        (
            "pkg/use.py",
            "from pkg.core import Job\n\n\ndef work(thing):\n    Job(1).run()\n    thing.run()\n",
        ),
        ("pkg/__init__.py", ""),
    ];
    sandbox.commit(&files, "start");
    sandbox
}

#[test]
fn a_count_of_callers_says_what_was_not_resolved() {
    let sandbox = package();
    let found = sandbox.json(&["graph", "callers", "pkg/core.py::Base.run"]);
    assert_eq!(pluck(&found["callers"], "node"), ["pkg/use.py::work"]);
    assert_eq!(found["unresolved"], json!({"run": 1}));
    let said = sandbox
        .run(&["graph", "callers", "pkg/core.py::Base.run"])
        .out;
    assert!(
        said.ends_with("1 caller; 1 call site of the name run could not be resolved\n"),
        "{said}"
    );
    let none = sandbox.run(&["graph", "callers", "pkg/use.py::work"]).out;
    assert_eq!(
        none,
        "0 callers; every call site of the name work was resolved\n"
    );
    // Of a directory: who calls into it from outside.
    let inside = sandbox.json(&["graph", "callers", "pkg"]);
    assert_eq!(inside["callers"], json!([]));
}

#[test]
fn one_node_with_its_edges() {
    let sandbox = package();
    let shown = sandbox.json(&["graph", "show", "pkg/core.py::Job"]);
    assert_eq!(string(&shown["kind"]), "class");
    assert_eq!(shown["lines"], json!([9, 10]));
    assert_eq!(
        pluck(&shown["inherits_from"], "node"),
        ["pkg/core.py::Base"]
    );
    assert_eq!(pluck(&shown["called_by"], "node"), ["pkg/use.py::work"]);
    let importers = sandbox.json(&["graph", "importers", "pkg/core.py::Job"]);
    assert_eq!(pluck(&importers["importers"], "node"), ["pkg/use.py"]);
    assert_eq!(string(&importers["file"]), "pkg/core.py");
    let near = sandbox.json_lines(&["graph", "neighbours", "pkg/use.py"]);
    let near: Vec<String> = near.iter().map(|line| string(&line["node"])).collect();
    assert_eq!(near, ["pkg/use.py::work", "pkg/core.py"]);
}

#[test]
fn a_node_is_named_from_where_one_stands_and_at_a_commit() {
    let sandbox = package();
    sandbox.commit(&[("pkg/use.py", "x = 1\n")], "less");
    let then = sandbox.exits_in(
        "r/pkg",
        0,
        &["graph", "callers", "core.py::Job", "--at", "HEAD~1"],
    );
    assert!(then.out.starts_with("pkg/use.py::work"), "{}", then.out);
    let now = sandbox.json(&["graph", "callers", "pkg/core.py::Job"]);
    assert_eq!(now["callers"], json!([]));
    let lost = sandbox.exits(128, &["graph", "show", "pkg/use.py::work"]);
    assert_eq!(
        lost.err,
        "fatal: 'pkg/use.py::work' is no node of the code graph of HEAD\n"
    );
}

#[test]
fn the_forms_for_other_tools_hold_every_node_and_edge() {
    let sandbox = package();
    sandbox.commit(&[("a \"q\".py", "def f(): pass\n")], "quotes");
    let nodes = sandbox.run(&["graph", "nodes"]).out.lines().count();
    let edges = sandbox.run(&["graph", "edges"]).out.lines().count();
    let lines = sandbox.run(&["graph", "export"]).out;
    assert_eq!(lines.lines().count(), nodes + edges);
    let dot = sandbox.run(&["graph", "export", "--format", "dot"]).out;
    assert_eq!(dot.lines().count(), 4 + nodes + edges);
    assert!(dot.contains("  \"a \\\"q\\\".py\";"), "{dot}");
    let mermaid = sandbox.run(&["graph", "export", "--format", "mermaid"]).out;
    assert_eq!(mermaid.lines().count(), 1 + nodes + edges);
    assert!(mermaid.contains("[\"a #34;q#34;.py\"]"), "{mermaid}");
}
