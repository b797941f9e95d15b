//! One blob to its facts, or to the reason why it has none.
//!
//! In: a blob's bytes, its language and its path. Out: `Facts`. The limits are bytes, the longest line and the parser's steps, so the
//! answer depends on the blob and its path alone. Never reads a repository.

use std::borrow::Cow;

use crate::graph::facts::{Facts, Language, NONE};
use crate::graph::syntax::Parsers;
use crate::graph::{javascript, python};

/// The largest blob that is read, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// The longest line of a blob that is read, in bytes: longer ones are minified code or data (10 MB of it took 6.8 s).
const MAX_LINE: usize = 20_000;

/// Where a NUL makes a blob binary, as Git looks for it.
const BINARY_BYTES: usize = 8000;

/// Where a mark of generated code is looked for.
const MARK_BYTES: usize = 1000;

/// Stands for bytes that are not UTF-8: a letter, so that a name with such bytes stays one name, and one that no source has in a name
/// (LATIN EPIGRAPHIC LETTER ARCHAIC M).
const MARK: char = '\u{a7ff}';

/// Why a blob has no facts.
pub const REASONS: [&str; 5] = [
    "too large",
    "binary",
    "long lines",
    "generated",
    "parse given up",
];

/// Why a path is not read at all: `vendored`, `generated`; `None`: it is read.
pub fn unread(path: &str) -> Option<&'static str> {
    let mut folders = path.split('/');
    let name = folders.next_back().unwrap_or(path);
    if folders.any(|folder| {
        matches!(
            folder,
            "node_modules" | "vendor" | "bower_components" | "site-packages"
        )
    }) {
        return Some("vendored");
    }
    let generated =
        name.contains(".min.") || name.ends_with("_pb2.py") || name.ends_with("_pb2_grpc.py");
    generated.then_some("generated")
}

/// The facts of a blob, or why it has none: `binary`, `long lines`, `generated`, `too large`, `parse given up`.
pub fn facts(
    parsers: &mut Parsers,
    language: Language,
    bytes: &[u8],
) -> Result<Facts, &'static str> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err("too large");
    }
    if bytes.iter().take(BINARY_BYTES).any(|&byte| byte == 0) {
        return Err("binary");
    }
    if language == Language::Project {
        return Ok(Facts {
            text: String::from_utf8_lossy(bytes).into_owned(),
            ..Facts::default()
        });
    }
    if bytes
        .split(|&byte| byte == b'\n')
        .any(|line| line.len() > MAX_LINE)
    {
        return Err("long lines");
    }
    if is_generated(bytes) {
        return Err("generated");
    }
    let readable = readable(language, bytes);
    let bytes = readable.as_ref();
    let tree = parsers.parse(language, bytes).ok_or("parse given up")?;
    let mut facts = match language {
        Language::Python => python::extract(&tree, bytes),
        _ => javascript::extract(&tree, bytes, language),
    };
    if matches!(readable, Cow::Owned(_)) {
        forget_marked(&mut facts);
    }
    Ok(facts)
}

/// Source bytes as UTF-8, with the same lines: decoded where a Python file says how, else every byte that is not UTF-8 as `MARK`. Bytes
/// that are UTF-8 are as they were.
pub fn readable(language: Language, bytes: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return Cow::Borrowed(bytes);
    }
    if let Some(encoding) = encoding(bytes).filter(|_| language == Language::Python) {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        return Cow::Owned(text.into_owned().into_bytes());
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(MARK);
        }
    }
    Cow::Owned(text.into_bytes())
}

/// The encoding that one of the first two lines of a Python file names (PEP 263).
fn encoding(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let comments = bytes.split(|&byte| byte == b'\n').take(2);
    let mut named = comments.filter_map(|line| {
        let line = String::from_utf8_lossy(line.get(..line.len().min(MARK_BYTES))?);
        let (_, rest) = line.trim_start().strip_prefix('#')?.split_once("coding")?;
        let name = rest.strip_prefix([':', '='])?.trim_start();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'));
        Some(
            name.get(..end.unwrap_or(name.len()))?
                .to_ascii_lowercase()
                .replace('_', "-"),
        )
    });
    // Python's names for Latin-1 that are no label of the WHATWG's list, which the library goes by.
    let name = match named.next()?.as_str() {
        "latin-1" | "iso-latin-1" | "l1" => "latin1".to_owned(),
        name => name.to_owned(),
    };
    encoding_rs::Encoding::for_label(name.as_bytes())
}

/// Definitions whose name holds a byte that nobody can read lose it, and so does what stands in them: a cut name would be an invented one.
fn forget_marked(facts: &mut Facts) {
    let mut lost = vec![false; facts.definitions.len()];
    for at in 0..lost.len() {
        let definition = &facts.definitions[at];
        let is_marked = definition.name != NONE && facts.names.get(definition.name).contains(MARK);
        let above = lost.get(definition.parent as usize).copied();
        if is_marked || above.unwrap_or(false) {
            lost[at] = true;
            facts.definitions[at].name = NONE;
        }
    }
}

/// Does a comment at the top say that a tool wrote the file?
fn is_generated(bytes: &[u8]) -> bool {
    let top = String::from_utf8_lossy(bytes.get(..bytes.len().min(MARK_BYTES)).unwrap_or_default());
    top.lines().any(|line| {
        let comment = line.trim_start().starts_with(['#', '/', '*']);
        comment && (line.contains("@generated") || line.contains("DO NOT EDIT"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_read() {
        let long = vec![b'x'; MAX_LINE + 1];
        let large = b"x = 1\n".repeat(200_000);
        let cases: [(&[u8], &str); 5] = [
            (b"x = 1\0", "binary"),
            (&long, "long lines"),
            (&large, "too large"),
            (b"# @generated by a tool\nx = 1\n", "generated"),
            (b"// Code generated by a tool. DO NOT EDIT.\n", "generated"),
        ];
        let mut parsers = Parsers::default();
        for (bytes, reason) in cases {
            assert_eq!(
                facts(&mut parsers, Language::Python, bytes).err(),
                Some(reason)
            );
        }
        assert_eq!(unread("a/node_modules/x.js"), Some("vendored"));
        assert_eq!(unread("a/x.min.js"), Some("generated"));
        assert_eq!(unread("vendor.js"), None);
    }

    #[test]
    fn names_that_are_not_utf_8_are_decoded_or_forgotten() {
        let names = |language, bytes: &[u8]| {
            let facts = facts(&mut Parsers::default(), language, bytes).expect("it is read");
            let named = facts.definitions.iter().filter(|found| found.name != NONE);
            let names = named.map(|found| facts.names.get(found.name).to_owned());
            names.collect::<Vec<_>>()
        };
        let source = b"class caf\xe9:\n    def inside(self): pass\ndef after(): return '\xe9'\n";
        let said = |line: &str| [line.as_bytes(), source].concat();
        assert_eq!(names(Language::Python, source), ["after"]);
        for line in [
            "# -*- coding: latin-1 -*-\n",
            "#!/bin/python\n# vim: set fileencoding=ISO_8859-1 :\n",
        ] {
            assert_eq!(
                names(Language::Python, &said(line)),
                ["caf\u{e9}", "inside", "after"]
            );
        }
        let koi8 = b"# coding: koi8-r\ndef \xc4\xc1(): pass\n";
        assert_eq!(names(Language::Python, koi8), ["\u{434}\u{430}"]);
        assert_eq!(
            names(Language::Python, &said("# coding: no-such-thing\n")),
            ["after"]
        );
        let script = b"function caf\xe9() { function inside() {} }\nfunction after() {}\n";
        assert_eq!(names(Language::JavaScript, script), ["after"]);
        let sound = "# coding: latin-1\ndef caf\u{e9}(): pass\n";
        assert_eq!(names(Language::Python, sound.as_bytes()), ["caf\u{e9}"]);
    }

    #[test]
    fn any_bytes_are_read_without_panic() {
        let mut parsers = Parsers::default();
        let deep_brackets = "(".repeat(20_000);
        let deep_calls = format!("a{}", ".b()".repeat(4_000));
        let deep_functions = "def f():\n".to_owned()
            + &(1..300)
                .map(|n| format!("{}def f():\n", " ".repeat(n)))
                .collect::<String>();
        let texts = [
            "",
            "\u{feff}def f(): pass",
            "class",
            "def (",
            "import",
            "from . import",
            "from .. import *",
            "export",
            "export default",
            "export { a as",
            "import {",
            "const {a: {b, ...c}, ...d} = e",
            "class A extends { m( }",
            "<<<<<<< HEAD\nx\n=======\n",
            "for (const",
            "async",
            "@",
            "x = lambda: (yield)",
            "nonlocal x\nglobal y",
            "match x:\n case [a, *b]: pass",
            deep_brackets.as_str(),
            deep_calls.as_str(),
            deep_functions.as_str(),
        ];
        for language in [
            Language::Python,
            Language::JavaScript,
            Language::TypeScript,
            Language::Tsx,
        ] {
            for text in texts {
                let _ = facts(&mut parsers, language, text.as_bytes());
                let _ = facts(&mut parsers, language, text.replace(' ', "\r").as_bytes());
            }
            let _ = facts(
                &mut parsers,
                language,
                &[0xff, 0xfe, b'd', b'e', b'f', b' ', 0xc3],
            );
        }
    }
}
