//! What a record says does not make it another kind of line: labels that are the names of kinds.

use crate::forget::{files_holding, objects_hold};
use crate::support::{Sandbox, string};

const SECRET: &str = "the quokka vault opens with marmalade";
/// Labels that are the kinds of lines, and one that looks like a line.
const LABELS: [&str; 4] = [
    "anchor",
    "tombstone",
    "reasoning",
    r#"","type":"anchor","of":""#,
];

#[test]
fn a_record_with_the_label_of_a_kind_can_be_forgotten() {
    for label in LABELS {
        for option in ["--task", "--session"] {
            let sandbox = Sandbox::new();
            let id = sandbox.record_with(SECRET, &["src/cache.rs"], &[option, label]);
            sandbox.run(&["forget", &id]);
            assert!(!sandbox.log_ids().contains(&id), "{option} {label}");
            sandbox.collect_garbage();
            assert!(!objects_hold(&sandbox, "quokka"), "{option} {label}");
            assert_eq!(files_holding(&sandbox, "quokka"), Vec::<String>::new());
        }
    }
}

#[test]
fn the_same_record_again_keeps_its_first_anchor() {
    for label in LABELS {
        let sandbox = Sandbox::new();
        let said = ["record", SECRET, "--task", label];
        let first = sandbox.json(&said);
        let start = sandbox.git(&["rev-parse", "HEAD"]);
        sandbox.commit(&[("a", "1")], "next");
        let again = sandbox.json(&said);
        assert_eq!(string(&again["id"]), string(&first["id"]), "{label}");
        assert_eq!(again["known"], true, "{label}");
        let lines = sandbox.json_lines(&["log"]);
        assert_eq!(lines.len(), 1);
        assert_eq!(string(&lines[0]["anchors"][0]), start, "{label}");
        sandbox.run(&["fsck"]);
    }
}
