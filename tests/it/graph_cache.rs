//! The kept graphs and facts from outside: damage, several writers, several trees, and what `stats` says of what was left out.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::json;

use crate::support::Sandbox;

const EDGES: [&str; 3] = ["graph", "edges", "--json"];

/// What is done to the bytes of a file.
type Damage = fn(&[u8]) -> Vec<u8>;

/// Forty small modules that call one another.
fn modules() -> Sandbox {
    let sandbox = Sandbox::empty();
    let files: Vec<(String, String)> = (0..40)
        .map(|at| {
            let next = (at + 1) % 40;
            (
                format!("pkg/m{at}.py"),
                format!("from pkg.m{next} import f{next}\n\n\ndef f{at}():\n    f{next}()\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    sandbox.commit(&files, "start");
    sandbox
}

/// The files of the cache whose names begin so, in order.
fn kept(sandbox: &Sandbox, prefix: &str) -> Vec<PathBuf> {
    let dir = fs::read_dir(sandbox.path(".git/score-context"));
    let entries = dir.into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(prefix))
        })
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_damaged_or_foreign_file_is_built_anew() {
    let sandbox = modules();
    let right = sandbox.run(&EDGES).out;
    let sound: Vec<(PathBuf, Vec<u8>)> = [kept(&sandbox, "graph-"), kept(&sandbox, "facts-")]
        .concat()
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).expect("it is there")))
        .collect();
    assert_eq!(sound.len(), 2);
    let damages: [Damage; 5] = [
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| [bytes, b"more"].concat(),
        |bytes| {
            let mut bytes = bytes.to_vec();
            let at = bytes.len() * 2 / 3;
            bytes[at] ^= 0x40;
            bytes
        },
        |_| b"something else altogether".repeat(100),
    ];
    for damage in damages {
        for (path, bytes) in &sound {
            fs::write(path, damage(bytes)).expect("written");
        }
        assert_eq!(sandbox.run(&EDGES).out, right);
        for (path, bytes) in &sound {
            assert_eq!(&fs::read(path).expect("it is there"), bytes);
        }
    }
}

#[test]
fn several_processes_may_build_at_once() {
    let sandbox = modules();
    let right = sandbox.run(&EDGES).out;
    for _ in 0..3 {
        for path in [kept(&sandbox, "graph-"), kept(&sandbox, "facts-")].concat() {
            fs::remove_file(path).expect("removed");
        }
        let running: Vec<_> = (0..4)
            .map(|_| {
                let mut tool = sandbox.tool(&EDGES);
                tool.stdout(Stdio::piped()).stderr(Stdio::piped());
                tool.spawn().expect("it starts")
            })
            .collect();
        for process in running {
            let said = process.wait_with_output().expect("it ends");
            assert_eq!(String::from_utf8_lossy(&said.stderr), "");
            assert_eq!(String::from_utf8_lossy(&said.stdout), right);
        }
        assert_eq!(kept(&sandbox, "graph-").len(), 1);
        assert_eq!(kept(&sandbox, "facts-").len(), 1);
    }
}

#[test]
fn later_trees_keep_only_what_is_new_and_earlier_ones_stay() {
    let sandbox = modules();
    sandbox.run(&EDGES);
    let whole = fs::metadata(&kept(&sandbox, "facts-")[0])
        .expect("there")
        .len();
    for round in 0..12 {
        let text = format!("def f3():\n    return {round}\n");
        sandbox.commit(&[("pkg/m3.py", &text)], "next");
        let said = sandbox.run(&EDGES).out;
        let facts = kept(&sandbox, "facts-");
        if round == 0 {
            let small = facts
                .iter()
                .map(|path| fs::metadata(path).expect("there").len())
                .min();
            assert!(
                small.is_some_and(|small| small * 5 < whole),
                "{small:?} of {whole}"
            );
        }
        assert!(facts.len() <= 8, "{}", facts.len());
        assert!(kept(&sandbox, "graph-").len() <= 8);
        if round % 4 == 3 {
            for path in [kept(&sandbox, "graph-"), facts].concat() {
                fs::remove_file(path).expect("removed");
            }
            assert_eq!(sandbox.run(&EDGES).out, said, "round {round}");
        }
    }
    // An earlier tree that is kept is read, not built.
    let at = ["graph", "edges", "--json", "--at", "HEAD~1"];
    let before = sandbox.run(&at).out;
    let count = kept(&sandbox, "graph-").len();
    assert!(count > 1);
    assert_eq!(sandbox.run(&at).out, before);
    assert_eq!(kept(&sandbox, "graph-").len(), count);
}

#[test]
fn what_has_no_symbols_is_counted_by_reason() {
    let sandbox = Sandbox::empty();
    let long = format!("x = '{}'\n", "y".repeat(30_000));
    let large = "x = 1\n".repeat(200_000);
    sandbox.commit(
        &[
            ("a.py", "def f(): pass\n"),
            ("long.py", &long),
            ("large.py", &large),
            ("made.py", "# @generated\n"),
            ("nul.py", "x\0"),
            ("node_modules/m/i.js", "function f() {}\n"),
            ("vendor/v.js", "function f() {}\n"),
            ("x.min.js", "function f() {}\n"),
        ],
        "start",
    );
    std::os::unix::fs::symlink("a.py", sandbox.path("link.py")).expect("a link");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{head},sub");
    sandbox.git(&["update-index", "--add", "--cacheinfo", &entry]);
    sandbox.git(&["add", "link.py"]);
    sandbox.git(&["commit", "-qm", "links"]);
    let stats = sandbox.json(&["graph", "stats"]);
    assert_eq!(
        stats["without_symbols"],
        json!({
            "binary": 1, "generated": 2, "long lines": 1, "submodule": 1, "symlink": 1, "too large": 1, "vendored": 2,
        })
    );
    assert_eq!(stats["languages"], json!({"python": 1}));
    let nodes = sandbox.run(&["graph", "nodes"]).out;
    for path in [
        "long.py",
        "large.py",
        "made.py",
        "nul.py",
        "link.py",
        "sub",
        "vendor/v.js",
    ] {
        assert!(nodes.contains(path), "{path}");
    }
    assert!(!nodes.contains("v.js::"));
}
