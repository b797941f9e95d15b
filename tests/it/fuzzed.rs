//! What the fuzz targets promise (`fuzz/README.md`), of made-up inputs, of our own fixtures, and of every input that was kept.
//!
//! The checks are those of the targets, the same files. The inputs are made of the words of `fuzz/dictionaries`, of parts of the kept
//! ones and of anything, so that most are almost of the form.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Sandbox, TOOL, collect};

#[path = "../../fuzz/src/checks/mod.rs"]
mod checks;

/// What holds of any input of a target.
type Check = fn(&[u8]);

/// Every target but the server, which is run by itself: what holds of any input, and of a long one.
const TARGETS: [(&str, Check, Check); 8] = [
    ("record", checks::record::check, checks::record::slow),
    ("policy", checks::policy::check, checks::policy::slow),
    ("state", checks::state::check, checks::state::slow),
    ("document", checks::document::check, checks::document::slow),
    ("trailer", checks::trailer::check, checks::trailer::slow),
    ("prompt", checks::prompt::check, checks::prompt::slow),
    ("mask", checks::mask::check, checks::mask::slow),
    ("cache", checks::cache::check, checks::cache::slow),
];

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of)
}

/// The files of a folder, by name; none where there is no such folder.
fn files(of: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder(of)).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    let read = |path: PathBuf| (path.display().to_string(), fs::read(&path).expect("a file"));
    paths.into_iter().map(read).collect()
}

/// The inputs that were kept, or of those the ones that still break a promise.
fn kept(target: &str, open: bool) -> Vec<(String, Vec<u8>)> {
    let mut all = files(&format!("fuzz/inputs/{target}"));
    all.retain(|(name, _)| name.contains("/open-") == open);
    all
}

/// Our own fixtures, as inputs of a target.
fn fixtures(target: &str) -> Vec<Vec<u8>> {
    let lines = |name: &str| -> Vec<Vec<u8>> {
        let text = fs::read_to_string(folder(name)).expect(name);
        text.lines().map(|line| line.as_bytes().to_vec()).collect()
    };
    let whole = |name: &str| files(name).into_iter().map(|(_, bytes)| bytes).collect();
    match target {
        "trailer" => whole("fixtures/trailers"),
        "state" => whole("fixtures/state"),
        "record" | "prompt" | "mask" => lines("fixtures/hostile.jsonl"),
        "mcp" => {
            let told =
                ["2025-06-18", "2026-07-28"].map(|era| lines(&format!("fixtures/mcp/{era}.jsonl")));
            let messages = told.concat().into_iter().filter_map(|line| {
                let line: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
                Some([b"\x02", line.get("to")?.to_string().as_bytes()].concat())
            });
            messages.collect()
        }
        _ => Vec::new(),
    }
}

/// The words of a dictionary in the fuzzer's form: one a line in quotes, with `\\`, `\"` and `\xNN`.
fn words(target: &str) -> Vec<Vec<u8>> {
    let text =
        fs::read_to_string(folder(&format!("fuzz/dictionaries/{target}.dict"))).expect(target);
    let word = |line: &str| {
        let mut rest = line.strip_prefix('"')?.strip_suffix('"')?.bytes();
        let mut word = Vec::new();
        while let Some(byte) = rest.next() {
            word.push(match byte {
                b'\\' => match rest.next()? {
                    b'x' => {
                        let digits = [rest.next()?, rest.next()?];
                        u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                    }
                    other => other,
                },
                other => other,
            });
        }
        Some(word)
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| word(line).expect(line)).collect()
}

/// Inputs that are almost of the form: words and anything, or a known input with some of it put in.
fn inputs(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let words = words(target);
    assert!(words.len() > 10, "a dictionary");
    let piece = prop_oneof![
        6 => select(words),
        1 => vec(any::<u8>(), 0..6),
        1 => "[a-z0-9 ]{0,12}".prop_map(String::into_bytes),
    ];
    let pieces = vec(piece, 0..40).prop_map(|pieces| pieces.concat());
    let mut known: Vec<_> = kept(target, false)
        .into_iter()
        .map(|(_, bytes)| bytes)
        .collect();
    known.extend(fixtures(target));
    known.push(Vec::new());
    known.retain(|bytes| bytes.len() < 8192);
    let changed = (
        select(known),
        pieces.clone(),
        any::<Index>(),
        any::<Index>(),
    );
    let changed = changed.prop_map(|(mut known, piece, at, length)| {
        let at = at.index(known.len() + 1);
        let end = at + length.index(known.len() + 1 - at).min(length.index(16));
        known.splice(at..end, piece.into_iter().take(60));
        known
    });
    prop_oneof![pieces, changed]
}

/// Checks what was kept and the fixtures, also at length, and so many made-up inputs.
fn check(target: &str, cases: u32) {
    let of = |(name, ..): &&(&str, Check, Check)| *name == target;
    let (_, check, slow) = TARGETS.iter().find(of).expect("a target");
    for (name, bytes) in kept(target, false) {
        // The name is seen where the check panics.
        println!("{name}");
        check(&bytes);
        if bytes.len() <= 1024 {
            slow(&bytes);
        }
    }
    fixtures(target).iter().for_each(|bytes| check(bytes));
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    let done = runner.run(&inputs(target), |bytes| {
        check(&bytes);
        Ok(())
    });
    if let Err(error) = done {
        panic!("{target}: {error}");
    }
}

#[test]
fn any_line_of_a_record() {
    check("record", 512);
}

#[test]
fn any_policy() {
    check("policy", 512);
}

#[test]
fn any_state_file() {
    check("state", 256);
}

#[test]
fn any_decision_document() {
    check("document", 256);
}

#[test]
fn any_commit_message() {
    check("trailer", 512);
}

#[test]
fn any_prompt() {
    check("prompt", 256);
}

#[test]
fn nothing_that_hides_is_shown() {
    for text in [
        "a\u{2065}b",
        "a\u{fff0}b",
        "a\u{fff8}b",
        "a\u{fe0f}\u{fe0e}\u{fe0f}b",
    ] {
        let shown = git_score_context::render::visible(text);
        assert_eq!(checks::prompt::hidden(&shown, true), None, "{shown:?}");
    }
}

#[test]
fn any_text_that_is_masked() {
    check("mask", 256);
}

#[test]
fn any_cache_file() {
    check("cache", 256);
}

/// An input that is mended loses its `open-`, and one of the tests above looks at it from then on.
#[test]
#[ignore = "known and not mended yet: fuzz/inputs/*/open-*"]
fn what_is_still_open() {
    for (target, check, slow) in TARGETS {
        for (name, bytes) in kept(target, true) {
            println!("{name}");
            check(&bytes);
            slow(&bytes);
        }
    }
}

/// Many lines at a time, one server for each era and for none.
#[test]
fn any_line_for_the_server() {
    let sandbox = Sandbox::new();
    let said_to = |begin: &str, lines: &[Vec<u8>]| {
        let mut command = sandbox.command(TOOL, "r");
        command.arg("mcp");
        let said = collect(
            command,
            Some(&[begin.as_bytes(), &lines.join(&b"\n"[..]), b"\n"].concat()),
        );
        let out = match begin {
            "" => &said.out[..],
            _ => {
                said.out
                    .split_once('\n')
                    .expect("the handshake is answered")
                    .1
            }
        };
        checks::mcp::check(lines.iter().map(Vec::as_slice), out);
    };
    let line = |bytes: &[u8]| checks::mcp::line_of(bytes.get(1..).unwrap_or_default());
    let known = kept("mcp", false)
        .into_iter()
        .map(|(_, bytes)| bytes)
        .chain(fixtures("mcp"));
    let known: Vec<Vec<u8>> = known.map(|bytes| line(&bytes)).collect();
    for begin in ["", checks::mcp::HANDSHAKE] {
        said_to(begin, &known);
        let mut runner = TestRunner::new(Config {
            cases: 12,
            failure_persistence: None,
            ..Config::default()
        });
        let done = runner.run(&vec(inputs("mcp"), 1..40), |lines| {
            let lines: Vec<Vec<u8>> = lines.iter().map(|bytes| line(bytes)).collect();
            said_to(begin, &lines);
            Ok(())
        });
        if let Err(error) = done {
            panic!("{error}");
        }
    }
}
