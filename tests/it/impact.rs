//! `impact` from outside: kinds of change, what they break, and what must raise no alarm.

use serde_json::{Value, json};

use crate::support::{Sandbox, pluck, string};

const LIB: &str = "def send(to, text, retry=1):\n    return (to, text, retry)\n\n\ndef log(*parts):\n    return parts\n";
const USE: &str = "from lib import send, log\n\n\ndef a():\n    send('x', 'y')\n\n\ndef b():\n    send('x', text='y', retry=2)\n\n\ndef c(args):\n    send(*args)\n    log(1, 2)\n";

/// A repository with a function and its callers, after a second commit that changes files.
fn changed(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.commit(&[("lib.py", LIB), ("use.py", USE)], "start");
    sandbox.commit(files, "change");
    sandbox
}

/// The kinds of change of a node.
fn kinds(report: &Value, node: &str) -> Vec<String> {
    let lists = [&report["changed"], &report["notes"]];
    let mut all = lists
        .iter()
        .flat_map(|list| list.as_array().expect("a list"));
    let one = all.find(|one| one["node"] == node);
    one.map_or_else(Vec::new, |one| pluck(&one["changes"], "kind"))
}

/// Where it breaks and why, over all nodes.
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
fn each_kind_of_change_and_the_calls_it_breaks() {
    let cases: [(&str, &str, &[&str]); 10] = [
        (
            "def send(to, text, retry, tag):",
            "parameter added, required",
            &[
                "use.py::a does not give 'retry'",
                "use.py::b does not give 'tag'",
            ],
        ),
        (
            "def send(to, text, retry=1, tag=2):",
            "parameter added, optional",
            &[],
        ),
        (
            "def send(to, tag=0, text='', retry=1):",
            "parameter added, optional",
            &["use.py::a argument 2 went to 'text' and goes to 'tag' now"],
        ),
        (
            "def send(to, text):",
            "parameter removed",
            &["use.py::b names 'retry', which is no parameter"],
        ),
        (
            "def send(to, body, retry=1):",
            "parameter renamed",
            &["use.py::b does not give 'body'"],
        ),
        (
            "def send(text, to, retry=1):",
            "parameters reordered",
            &[
                "use.py::a argument 1 went to 'to' and goes to 'text' now",
                "use.py::b gives 'text' twice",
            ],
        ),
        ("def send(to, text, retry=5):", "default changed", &[]),
        (
            "def send(to, text, retry):",
            "default removed",
            &["use.py::a does not give 'retry'"],
        ),
        (
            "def send(to, *, text, retry=1):",
            "parameter kind changed",
            &[
                "use.py::a gives 2 arguments, and 1 is taken",
                "use.py::c does not give 'text'",
            ],
        ),
        (
            "def send(to, text, retry=1) -> str:",
            "return annotation changed",
            &[],
        ),
    ];
    for (line, kind, right) in cases {
        let lib = LIB.replace("def send(to, text, retry=1):", line);
        let sandbox = changed(&[("lib.py", &lib)]);
        let report = sandbox.json(&["impact"]);
        let found = kinds(&report, "lib.py::send");
        assert!(found.contains(&kind.to_owned()), "{line}: {found:?}");
        let is_note = matches!(kind, "default changed" | "return annotation changed");
        let (list, other) = if is_note {
            ("notes", "changed")
        } else {
            ("changed", "notes")
        };
        assert_eq!(pluck(&report[list], "node"), ["lib.py::send"], "{line}");
        assert_eq!(report[other], json!([]), "{line}");
        let mut found = breaks(&report);
        found.sort();
        let why: Vec<&str> = found.iter().map(String::as_str).collect();
        match line.contains("body") {
            // Which of the two faults of one call is told is of no matter.
            true => assert!(
                why.len() == 1 && why[0].starts_with("use.py::b "),
                "{why:?}"
            ),
            false => assert_eq!(why, right, "{line}"),
        }
        let code = if right.is_empty() { 0 } else { 1 };
        sandbox.exits(code, &["impact", "--exit-code"]);
        sandbox.exits(0, &["impact"]);
    }
}

#[test]
fn a_changed_body_raises_no_alarm() {
    let lib = LIB.replace("return parts", "return list(parts) + [send]");
    let sandbox = changed(&[("lib.py", &lib), ("new.py", "def fresh(a): pass\n")]);
    assert_eq!(sandbox.json(&["impact"])["changed"], json!([]));
    let said = sandbox.run(&["impact", "--exit-code"]);
    assert_eq!(said.out, "no signature changes\n");
}

#[test]
fn callers_that_were_changed_with_it_do_not_break() {
    let lib = LIB.replace("retry=1)", "retry, tag)");
    let user = USE
        .replace("send('x', 'y')", "send('x', 'y', 1, 2)")
        .replace("retry=2)", "retry=2, tag=3)");
    let sandbox = changed(&[("lib.py", &lib), ("use.py", &user)]);
    let report = sandbox.json(&["impact"]);
    assert_eq!(breaks(&report), [""; 0]);
    let callers = &report["changed"][0]["callers"];
    assert_eq!(
        pluck(callers, "node"),
        ["use.py::a", "use.py::b", "use.py::c"]
    );
    let with: Vec<bool> = callers
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|caller| caller["changed"].as_bool())
        .collect();
    assert_eq!(with, [true, true, false]);
}

#[test]
fn what_is_removed_moved_or_renamed() {
    let removed = changed(&[("lib.py", "def log(*parts):\n    return parts\n")]);
    let report = removed.json(&["impact"]);
    assert_eq!(kinds(&report, "lib.py::send"), ["removed"]);
    assert_eq!(
        breaks(&report),
        [
            "use.py::a calls what is gone",
            "use.py::b calls what is gone",
            "use.py::c calls what is gone",
            "use.py imports what is gone",
        ]
    );

    let renamed = changed(&[("lib.py", &LIB.replace("def send", "def post"))]);
    let report = renamed.json(&["impact"]);
    assert_eq!(kinds(&report, "lib.py::send"), ["renamed"]);
    assert_eq!(report["changed"][0]["changes"][0]["detail"], "lib.py::post");
    assert_eq!(report["breaks"], json!(4));

    let (send, log) = LIB.split_once("\n\n\n").expect("two functions");
    let files = [("lib.py", log), ("mail.py", &format!("{send}\n"))];
    let moved = changed(&files);
    let report = moved.json(&["impact"]);
    assert_eq!(kinds(&report, "lib.py::send"), ["moved"]);
    assert_eq!(
        report["changed"][0]["changes"][0]["detail"],
        "mail.py::send"
    );
    assert_eq!(report["breaks"], json!(4));

    // Moved, and still to be had where it was.
    let log = format!("from mail import send\n\n\n{log}");
    let kept = changed(&[("lib.py", log.as_str()), files[1]]);
    let report = kept.json(&["impact"]);
    assert_eq!(kinds(&report, "lib.py::send"), ["moved"]);
    assert_eq!(report["breaks"], json!(0));
}

#[test]
fn a_constructor_is_called_by_its_class_and_by_classes_below() {
    let sandbox = Sandbox::empty();
    let base = "class Base:\n    def __init__(self, a):\n        self.a = a\n\n\nclass Sub(Base):\n    pass\n\n\nclass Own(Base):\n    def __init__(self):\n        super().__init__(1)\n";
    let user = "from base import Base, Sub, Own\n\nBase(1)\nSub(2)\nOwn()\n";
    sandbox.commit(&[("base.py", base), ("use.py", user)], "start");
    let base = base.replace("(self, a)", "(self, a, b)");
    sandbox.commit(&[("base.py", &base)], "change");
    let report = sandbox.json(&["impact"]);
    let places: Vec<Value> = report["changed"][0]["breaks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|place| json!([place["file"], place["line"]]))
        .collect();
    assert_eq!(
        places,
        [
            json!(["base.py", 12]),
            json!(["use.py", 3]),
            json!(["use.py", 4])
        ]
    );
}

#[test]
fn typescript_through_a_barrel() {
    let sandbox = Sandbox::empty();
    let files = [
        (
            "core/impl.ts",
            "export function run(a: string, b?: number) { return a }\nexport class Box { put(x: number) { return x } }\n",
        ),
        ("core/index.ts", "export * from './impl'\n"),
        (
            "use.ts",
            "import { run as go, Box } from './core'\nexport const one = () => go('a')\nexport function two(box: Box) { go('a', 1); box.put(1) }\n",
        ),
    ];
    sandbox.commit(&files, "start");
    let next = "export function run(a: string) { return a }\nexport class Box { put(x: number, y: number) { return x } }\n";
    sandbox.commit(&[("core/impl.ts", next)], "change");
    let report = sandbox.json(&["impact", "HEAD~1..HEAD"]);
    assert_eq!(
        breaks(&report),
        [
            "use.ts::two does not give 'y'",
            "use.ts::two gives 2 arguments, and 1 is taken",
        ]
    );
}

#[test]
fn what_is_staged_is_compared_with_head_and_nothing_is_written() {
    let sandbox = Sandbox::empty();
    sandbox.commit(&[("lib.py", LIB), ("use.py", USE)], "start");
    sandbox.write(&[("lib.py", &LIB.replace("retry=1", "retry"))]);
    assert_eq!(sandbox.json(&["impact", "--staged"])["breaks"], json!(0));
    sandbox.git(&["add", "lib.py"]);
    // What is in the work tree alone does not count.
    sandbox.write(&[("lib.py", "nothing\n")]);
    let index = std::fs::read(sandbox.path(".git/index")).expect("an index");
    let objects = sandbox.git(&["count-objects"]);
    let report = sandbox.json(&["impact", "--staged"]);
    assert_eq!(breaks(&report), ["use.py::a does not give 'retry'"]);
    sandbox.exits(1, &["impact", "--staged", "--exit-code"]);
    assert_eq!(
        std::fs::read(sandbox.path(".git/index")).expect("an index"),
        index
    );
    assert_eq!(sandbox.git(&["count-objects"]), objects);
}

#[test]
fn revisions_that_name_nothing() {
    let sandbox = changed(&[("lib.py", LIB)]);
    sandbox.exits(128, &["impact", "nowhere"]);
    sandbox.exits(2, &["impact", "HEAD", "--staged"]);
    // A first commit changes nothing that anybody could have called.
    let first = sandbox.git(&["rev-list", "--max-parents=0", "HEAD"]);
    assert_eq!(sandbox.json(&["impact", &first])["changed"], json!([]));
}
