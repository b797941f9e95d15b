//! The house plan (`design.md`, section 5), held: who may import whom, and where the outside world may be named.
//!
//! In: every `.rs` under `src/`, as tokens. Out: one line per breach, `src/file.rs:line: what and why`. Tokens and not syntax
//! trees, because a path in the arguments of a macro is an import too. Code under `#[cfg(test)]` is free. What a room hands on
//! under its own name (`pub use`) is not followed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;

use tokens::{Reader, Written};

mod tokens;

/// From left to right; a room imports only from groups to the left of its own.
const PLAN: [&[&str]; 10] = [
    &["id", "token", "mask", "policy", "threads"],
    &["record", "repo"],
    &["store", "graph"],
    &["score"],
    &["render"],
    &["query"],
    &[
        "replay", "ingest", "impact", "outline", "measure", "hook", "upkeep",
    ],
    &["mcp"],
    &["cli"],
    &["main"],
];

/// What may be named only in some rooms: `a::b` is a path, `a!` a macro, `a_*` any name that begins so.
const OUTSIDE: [(&[&str], &[&str]); 7] = [
    (&["gix", "gix_*"], &["repo", "store"]),
    (&["tree_sitter", "tree_sitter_*"], &["graph"]),
    (&["clap", "clap_*"], &["cli", "main"]),
    (&["rmcp", "rmcp_*"], &["mcp"]),
    (
        &["std::env", "SystemTime", "Timestamp::now", "Zoned::now"],
        &["cli", "mcp", "main"],
    ),
    (&["Instant"], &["store", "cli", "mcp", "main"]),
    (
        &[
            "println!",
            "eprintln!",
            "print!",
            "eprint!",
            "dbg!",
            "io::stdout",
            "io::stderr",
        ],
        &["cli", "mcp", "main"],
    ),
];

/// The module a file of `src/` holds: `store/mod.rs` is `store`, `lib.rs` the root.
fn module_of(file: &str) -> Vec<String> {
    let mut module: Vec<String> = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if file == "lib.rs" || module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    module
}

fn group_of(room: &str) -> Option<usize> {
    PLAN.iter().position(|group| group.contains(&room))
}

/// The path from the root of the crate; none when it stays in the file or leads to another crate.
fn absolute(own: &[String], written: &Written) -> Option<Vec<String>> {
    let segments = &written.segments;
    let start = usize::from(segments[0] == "self");
    let up = segments[start..]
        .iter()
        .take_while(|segment| *segment == "super")
        .count();
    match segments[0].as_str() {
        "crate" | "git_score_context" => Some(segments[1..].to_vec()),
        _ if up > written.depth => {
            let base = own.len().checked_sub(up - written.depth)?;
            Some([&own[..base], &segments[start + up..]].concat())
        }
        _ => None,
    }
}

/// Why a file that holds `own` must not use `written`, if so.
fn breach(own: &[String], written: &Written, modules: &BTreeSet<Vec<String>>) -> Option<String> {
    let target = absolute(own, written)?;
    // A room that has no file yet is a room all the same.
    let is_room = |module: &[String]| matches!(module, [room] if group_of(room).is_some());
    let held = (0..=target.len())
        .rev()
        .map(|length| &target[..length])
        .find(|module| modules.contains(*module) || is_room(module))?;
    let shown = written.segments.join("::");
    let (Some(own_room), Some(room)) = (own.first(), held.first()) else {
        let is_free = own.is_empty() || own == ["main"];
        return (!is_free).then(|| format!("`{shown}` reaches lib.rs, which only names the rooms"));
    };
    if own_room == room {
        let is_parent = held.len() < own.len() && own.starts_with(held);
        return is_parent.then(|| format!("`{shown}` reaches the mod.rs of its own folder"));
    }
    match group_of(room).cmp(&group_of(own_room)) {
        std::cmp::Ordering::Less => None,
        std::cmp::Ordering::Equal => Some(format!(
            "`{shown}`: `{room}` is in the same group as `{own_room}`"
        )),
        std::cmp::Ordering::Greater => Some(format!(
            "`{shown}`: `{room}` is to the right of `{own_room}`"
        )),
    }
}

/// Why the room must not name this part of the outside world, if so.
fn outside(room: &str, segments: &[String]) -> Option<String> {
    let is = |name: &str| match name.split_once("::") {
        Some((one, two)) => segments
            .windows(2)
            .any(|pair| pair[0] == one && pair[1] == two),
        None => match name.strip_suffix('*') {
            Some(start) => segments[0].starts_with(start),
            None => segments.iter().any(|segment| segment == name),
        },
    };
    let (_, rooms) = OUTSIDE
        .iter()
        .find(|(names, rooms)| !rooms.contains(&room) && names.iter().any(|name| is(name)))?;
    Some(format!(
        "`{}` may be named only in {}",
        segments.join("::"),
        rooms.join(", ")
    ))
}

/// Every breach in these files of `src/`: name relative to it, and text.
fn breaches(files: &[(String, String)]) -> Vec<String> {
    let modules: BTreeSet<Vec<String>> = files
        .iter()
        .map(|(file, _)| module_of(file))
        .chain([Vec::new()])
        .collect();
    let mut tests: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut read = Vec::new();
    let mut found = Vec::new();
    for (file, text) in files {
        let own = module_of(file);
        let mut reader = Reader::default();
        match text.parse::<TokenStream>() {
            Ok(tokens) => reader.read(tokens, 0),
            Err(error) => found.push(format!("src/{file}:{}: {error}", error.span().start().line)),
        }
        tests.extend(
            reader
                .test_modules
                .iter()
                .map(|name| [own.as_slice(), std::slice::from_ref(name)].concat()),
        );
        read.push((file, own, reader.written));
    }
    for (file, own, written) in read {
        let room = own.first().map_or("lib", String::as_str);
        if room != "lib" && group_of(room).is_none() {
            found.push(format!(
                "src/{file}:1: `{room}` is no room of the house plan"
            ));
        }
        if tests.iter().any(|test| own.starts_with(test)) {
            continue;
        }
        for written in written {
            let why = breach(&own, &written, &modules)
                .into_iter()
                .chain(outside(room, &written.segments));
            found.extend(why.map(|why| format!("src/{file}:{}: {why}", written.line)));
        }
    }
    found
}

fn sources(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name in UTF-8");
        if path.is_dir() {
            sources(&path, &format!("{prefix}{name}/"), files);
        } else if name.ends_with(".rs") {
            files.push((
                format!("{prefix}{name}"),
                fs::read_to_string(&path).expect("UTF-8"),
            ));
        }
    }
}

#[test]
fn every_import_points_left() {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        "",
        &mut files,
    );
    assert!(
        files.iter().any(|(file, _)| file == "lib.rs") && files.len() > 5,
        "{} files",
        files.len()
    );
    let found = breaches(&files);
    assert!(
        found.is_empty(),
        "{} breaches of the house plan:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Imports that each break the plan once: file, then its third line.
const WRONG_IMPORTS: &str = r##"
store/put.rs: use crate::query::Query;
store/put.rs: use crate::{id::RecordId, query::{self}};
store/put.rs: use {std::fmt, crate::{id::{RecordId}, query as q}};
store/put.rs: pub use crate::query::*;
store/put.rs: fn f() -> crate::query::Query { 0 }
store/put.rs: fn f() { g(1..crate::query::N); }
store/put.rs: fn f() { assert!(x == crate::query::N); }
store/put.rs: macro_rules! m { () => { $crate::query::N } }
store/put.rs: #[serde(with = "crate::query::time")] struct A;
store/put.rs: struct A(pub crate::query::Query, u8);
store/put.rs: struct A(pub (crate::query::Query, u8));
store/put.rs: use git_score_context::query::Query;
store/put.rs: use super::super::query::Query;
store/put.rs: mod inner { use super::super::super::query::Query; }
store/put.rs: use crate::store::Store;
store/put.rs: use crate::store::{self};
store/put.rs: use crate::store::*;
store/put.rs: use super::Store;
store/put.rs: use super::*;
store/put.rs: mod inner { use super::super::Store; }
store/deep/x.rs: use super::Deep;
store/deep/x.rs: use crate::store::Store;
token.rs: use crate::id::RecordId;
token.rs: use super::store::view::Prior;
token.rs: use crate::Error;
token.rs: use crate::upkeep::Fsck;
token.rs: use crate as root;
token.rs: #[cfg(test)] use crate::id::A; use crate::id::B;
token.rs: mod tests { use crate::store::A; }
"##;

/// Names of the outside world where they must not stand: file, then its third line.
const WRONG_NAMES: &str = r##"
graph/mod.rs: use gix::ObjectId;
query.rs: fn f() -> ::gix::ObjectId { 0 }
query.rs: use gix_hash::ObjectId;
store/mod.rs: use tree_sitter_python as python;
mcp.rs: #[derive(clap::Args)] struct A;
cli/mod.rs: use rmcp::tool;
query.rs: use std::{env, fs};
query.rs: fn f() { let a = std::env::var("A"); }
store/mod.rs: use std::time::{Duration, SystemTime};
query.rs: use std::time::Instant;
query.rs: fn f() { jiff::Timestamp::now(); }
query.rs: fn f() { println!("{}", 1); }
query.rs: fn f() { if a { std::eprintln!() } }
lib.rs: fn f() { dbg!(1); }
query.rs: fn f() { std::io::stdout().lock(); }
"##;

/// What the plan allows: file, then its text.
const RIGHT: &str = r##"
store/put.rs: use crate::id::RecordId; use crate::store::view::Prior; use super::view; use crate::store::deep::Deep;
store/put.rs: pub(in crate::store) fn f() {} pub(super) fn g() {} pub(crate) struct A(pub(crate) u8);
store/put.rs: mod inner { use super::A; } use gix::Repository; use std::time::Instant;
store/put.rs: #[cfg(test)] #[expect(x)] mod tests { use super::Store; use crate::query::Query; fn f() { println!(); } }
store/mod.rs: mod put; pub use put::Put; use self::view::Prior; use crate::store::view::Other; use crate::store::deep;
query.rs: /** See [`crate::cli`]. */ const A: &str = "crate::cli::x println!"; // crate::cli
query.rs: fn f() { self.gix(); a.println; env!("X"); b != (c); let environment = std::fs::read(1); }
query.rs: #![cfg(test)] use crate::cli::x;
query.rs: use crate::mask::mask;
lib.rs: pub mod query; pub use query::Query; use crate::store::view;
main.rs: use git_score_context::query; use clap::Parser; fn main() { println!("{:?}", std::env::args()); }
"##;

/// The breaches of each line of a table, in a house that also has the files a case points at.
fn breaches_of(table: &str) -> Vec<(&str, Vec<String>)> {
    let others = [
        "lib.rs",
        "id.rs",
        "token.rs",
        "store/mod.rs",
        "store/view.rs",
        "store/deep/mod.rs",
        "query.rs",
    ];
    let case = |case| {
        let (file, text) = str::split_once(case, ": ").expect("a file and its text");
        let mut files: Vec<(String, String)> = others
            .into_iter()
            .filter(|other| *other != file)
            .map(|other| (other.to_owned(), String::new()))
            .collect();
        files.push((file.to_owned(), format!("\n\n{text}\n")));
        (case, breaches(&files))
    };
    table
        .lines()
        .filter(|line| !line.is_empty())
        .map(case)
        .collect()
}

#[test]
fn a_wrong_import_is_found_in_every_form() {
    for (case, found) in breaches_of(WRONG_IMPORTS) {
        assert_eq!(found.len(), 1, "{case}: {found:?}");
        let file = case.split(": ").next().unwrap_or_default();
        assert!(
            found[0].starts_with(&format!("src/{file}:3: `")),
            "{found:?}"
        );
    }
    let [(_, room), (_, syntax)] = &breaches_of("attic.rs: const A: u8 = 0;\nid.rs: fn f( {")[..]
    else {
        panic!("two cases");
    };
    assert_eq!(
        room[..],
        ["src/attic.rs:1: `attic` is no room of the house plan"]
    );
    assert!(
        syntax.len() == 1 && syntax[0].starts_with("src/id.rs:3: "),
        "{syntax:?}"
    );
}

#[test]
fn the_outside_is_named_only_where_it_may_be() {
    for (case, found) in breaches_of(WRONG_NAMES) {
        assert!(
            found.len() == 1 && found[0].contains(".rs:3: `") && found[0].contains("only in"),
            "{case}: {found:?}"
        );
    }
}

#[test]
fn what_the_plan_allows_is_left_alone() {
    for (case, found) in breaches_of(RIGHT) {
        assert_eq!(found, [""; 0], "{case}");
    }
    let files = [
        ("query.rs", "#[cfg(test)]\nmod trial;"),
        ("query/trial.rs", "use crate::cli::x;"),
        ("cli/mod.rs", ""),
    ];
    let mut files = files.map(|(file, text)| (file.to_owned(), text.to_owned()));
    assert_eq!(breaches(&files), [""; 0]);
    files[0].1 = "mod trial;".to_owned();
    assert_eq!(breaches(&files).len(), 1);
}
