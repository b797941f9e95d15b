//! `impact` from outside, where classes, notes and other lines of history come in.

use serde_json::{Value, json};

use crate::support::{Sandbox, pluck, string};

/// The report on a second commit that changes one file.
fn report(path: &str, before: &str, after: &str) -> Value {
    let sandbox = Sandbox::empty();
    sandbox.commit(&[(path, before)], "start");
    sandbox.commit(&[(path, after)], "change");
    sandbox.exits(0, &["impact"]);
    sandbox.json(&["impact"])
}

/// The kinds of change in a list of the report, with what of it.
fn kinds(list: &Value) -> Vec<String> {
    let all = list.as_array().expect("a list");
    all.iter()
        .flat_map(|one| one["changes"].as_array().expect("a list"))
        .map(|change| format!("{} {}", string(&change["kind"]), string(&change["detail"])))
        .collect()
}

fn breaks(report: &Value) -> Vec<String> {
    let all = report["changed"].as_array().expect("a list");
    let places = all
        .iter()
        .flat_map(|one| one["breaks"].as_array().expect("a list"));
    places
        .map(|place| format!("{} {}", string(&place["node"]), string(&place["why"])))
        .collect()
}

#[test]
fn what_no_call_can_break_by_is_a_note() {
    let cases = [
        (
            "a.py",
            "def f(a: int, b=1): pass\n",
            "def f(a: str, b=1): pass\n",
            "annotation changed a: int is now str",
        ),
        (
            "a.py",
            "def f(a, b=1): pass\n",
            "def f(a, b=2) -> int: pass\n",
            "default changed b: 1 is now 2",
        ),
        (
            "a.py",
            "def f(a, /, *b): pass\n",
            "def f(x, /, *y): pass\n",
            "parameter renamed a is now x",
        ),
        (
            "a.ts",
            "export function f(a: A) {}\n",
            "export function f(b: A) {}\n",
            "parameter renamed a is now b",
        ),
        (
            "a.ts",
            "export const f = (a?: A): B => a\n",
            "export const f = (a?: A): C => a\n",
            "return annotation changed B is now C",
        ),
    ];
    for (path, before, after, kind) in cases {
        let report = report(path, before, after);
        assert_eq!(report["changed"], json!([]), "{after}");
        let found = kinds(&report["notes"]);
        assert_eq!(found.first().map(String::as_str), Some(kind), "{after}");
    }
    let alarms = [
        ("a.py", "def f(a, b=1): pass\n", "def f(x, b=2): pass\n"),
        (
            "a.ts",
            "export function f({ a }) {}\n",
            "export function f({ b }) {}\n",
        ),
        (
            "a.ts",
            "export function f(a?: A) {}\n",
            "export function f(a: A) {}\n",
        ),
        ("a.py", "def f(*, a): pass\n", "def f(*, b): pass\n"),
    ];
    for (path, before, after) in alarms {
        let report = report(path, before, after);
        assert_eq!(report["notes"], json!([]), "{after}");
        assert_eq!(
            report["changed"].as_array().map(Vec::len),
            Some(1),
            "{after}"
        );
    }
}

#[test]
fn a_note_is_told_and_is_no_negative_answer() {
    let sandbox = Sandbox::empty();
    sandbox.commit(&[("a.py", "def f(a=1): pass\nf()\n")], "start");
    sandbox.commit(&[("a.py", "def f(a=2): pass\nf()\n")], "change");
    let said = sandbox.exits(0, &["impact", "--exit-code"]).out;
    assert_eq!(
        said,
        "note: a.py::f\n  default changed: a: 1 is now 2\n  was (a=1)\n  now (a=2)\n  1 call site, 0 changed with it; 0 of that name could not be resolved\n\nno signature changes that a call can break by\n"
    );
}

#[test]
fn overrides_that_do_not_take_what_the_method_takes_now() {
    let base = "class Base:\n    def run(self, a):\n        pass\n\n\n";
    let below = "class Old(Base):\n    def run(self, a):\n        pass\n\n\nclass Deep(Old):\n    def run(self, a, *rest, **more):\n        pass\n\n\nclass Odd(Base):\n    def run(self):\n        pass\n\n\nclass With(Base):\n    def run(self, a, b=0):\n        pass\n\n\nclass None_(Base):\n    pass\n";
    let with = |line: &str| base.replace("def run(self, a):", line);
    let added = report(
        "a.py",
        &format!("{base}{below}"),
        &format!("{}{below}", with("def run(self, a, b=0):")),
    );
    assert_eq!(
        breaks(&added),
        ["a.py::Old.run overrides it, and does not take 'b'"]
    );
    assert_eq!(
        pluck(&added["changed"][0]["overrides"], "text"),
        ["run of Old"]
    );
    let gone = report(
        "a.py",
        &format!("{base}{below}"),
        &format!("{}{below}", with("def run(self):")),
    );
    assert_eq!(
        breaks(&gone),
        [
            "a.py::Old.run overrides it, and still needs 'a'",
            "a.py::Deep.run overrides it, and still needs 'a'",
            "a.py::With.run overrides it, and still needs 'a'",
        ]
    );
    let with_it = report(
        "a.py",
        &format!("{base}{below}"),
        &format!("{base}{below}").replace("def run(self, a):", "def run(self, a, b=0):"),
    );
    assert_eq!(breaks(&with_it), [""; 0]);
}

#[test]
fn the_fields_of_a_dataclass_are_what_it_takes() {
    let class = |fields: &str| {
        format!(
            "from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n{fields}\n    def move(self): pass\n\n\ndef make():\n    return Point(1, y=2)\n"
        )
    };
    let two = class("    x: int\n    y: int\n");
    let three = report("a.py", &two, &class("    x: int\n    y: int\n    z: int\n"));
    assert_eq!(kinds(&three["changed"]), ["parameter added, required z"]);
    assert_eq!(breaks(&three), ["a.py::make does not give 'z'"]);
    assert_eq!(three["changed"][0]["before"], json!(["(x, y)"]));
    let optional = report(
        "a.py",
        &two,
        &class("    x: int\n    y: int\n    z: int = 0\n"),
    );
    assert_eq!(kinds(&optional["changed"]), ["parameter added, optional z"]);
    assert_eq!(breaks(&optional), [""; 0]);
    let own = two.replace("def move(self)", "def __init__(self, *args, **more)");
    assert_eq!(breaks(&report("a.py", &two, &own)), [""; 0]);
}

#[test]
fn three_dots_compare_with_where_the_lines_parted() {
    let sandbox = Sandbox::empty();
    sandbox.commit(
        &[("a.py", "def f(a): pass\n"), ("b.py", "def g(a): pass\n")],
        "start",
    );
    sandbox.git(&["branch", "side"]);
    sandbox.commit(&[("a.py", "def f(a, b): pass\n")], "here");
    sandbox.git(&["checkout", "-q", "side"]);
    sandbox.commit(&[("b.py", "def g(a, b): pass\n")], "there");
    let names = |range: &str| {
        let report = sandbox.json(&["impact", range]);
        pluck(&report["changed"], "node")
    };
    assert_eq!(names("main...side"), ["b.py::g"]);
    assert_eq!(names("side...main"), ["a.py::f"]);
    assert_eq!(names("main..side"), ["a.py::f", "b.py::g"]);
    assert_eq!(names("main..."), ["b.py::g"]);
    sandbox.git(&["checkout", "-q", "--orphan", "other"]);
    sandbox.commit(&[("a.py", "x = 1\n")], "apart");
    let said = sandbox.exits(128, &["impact", "main...other"]).err;
    assert!(said.contains("have no commit in common"), "{said}");
}

#[test]
fn a_caller_that_only_its_name_speaks_for_is_named_when_asked() {
    let files = |parameters: &str| {
        [
            (
                "request.py",
                format!("class Request:\n    def cancel(self{parameters}): pass\n"),
            ),
            (
                "consumer.py",
                "import weakref\nactive = weakref.WeakSet()\ndef stop(late):\n    for request in tuple(filter(late, active)):\n        request.cancel()\n".to_owned(),
            ),
            (
                "batch.py",
                "from request import Request\ndef batch(n):\n    for one in [Request() for _ in range(n)]:\n        one.cancel()\n".to_owned(),
            ),
        ]
    };
    let sandbox = Sandbox::empty();
    for parameters in ["", ", pool"] {
        let files = files(parameters);
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        sandbox.commit(&files, "change");
    }
    assert_eq!(
        breaks(&sandbox.json(&["impact"])),
        ["batch.py::batch does not give 'pool'"]
    );
    let sure = sandbox.json(&["impact"]);
    let asked = sandbox.json(&["impact", "--guesses"]);
    let places = |report: &Value| -> Vec<String> {
        let callers = report["changed"][0]["callers"].as_array().expect("a list");
        callers.iter().map(|place| string(&place["file"])).collect()
    };
    assert_eq!(places(&sure), ["batch.py"]);
    assert_eq!(places(&asked), ["batch.py", "consumer.py"]);
}
