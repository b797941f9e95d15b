//! Call sites and imports one by one: where they stand, what they reach, and what arguments a call gives.
//!
//! In: what the linker found of each site, and the source of its file. Out: plain data. Never reads a repository, and never recurses.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::graph::facts::Language;
use crate::graph::syntax::{Parsers, Step, Walk};

/// The longest text of a call that is kept, in bytes.
const MAX_TEXT: usize = 400;

/// Which sites are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Files whose call sites and imported modules are listed.
    pub files: BTreeSet<String>,
    /// Names whose imports are listed, in every file.
    pub names: BTreeSet<String>,
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The file it stands in.
    pub file: String,
    /// The node it is attributed to; the file itself for its top level.
    pub caller: String,
    /// Its first line, from 1.
    pub line: u32,
    /// The last name it calls, as written.
    pub name: String,
    /// The nodes it calls, in order of names; for a class also the constructor that runs, inherited or not.
    pub targets: Vec<String>,
    /// Whether something outside the tree is called.
    pub is_foreign: bool,
    /// Whether the receiver of a method stands before the dot; none where that cannot be told.
    pub is_bound: Option<bool>,
}

/// A name or module that an import brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The importing file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The name as its module has it, or the module as written.
    pub name: String,
    /// The nodes it stands for: definitions, or files for modules; in order of names.
    pub targets: Vec<String>,
    /// Whether it leads anywhere; a name that its module does not have leads nowhere.
    pub is_found: bool,
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arguments {
    /// How many stand by position; of spread ones none is counted.
    pub positional: u32,
    /// The names of those given by name, in source order.
    pub named: Vec<String>,
    /// Whether more may come by position: `*args`, `...rest`.
    pub is_open: bool,
    /// Whether more may come by name: `**more`.
    pub is_open_named: bool,
}

/// A call site with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it stands and what it reaches.
    pub called: Called,
    /// The call as written, on one line, at most 400 bytes; empty where it has another form (a decorator, JSX).
    pub text: String,
    /// What it gives; none where it has another form.
    pub arguments: Option<Arguments>,
}

/// Everything that was asked for of one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Call sites, by file, in source order.
    pub calls: Vec<Site>,
    /// Imports, by file.
    pub imports: Vec<Imported>,
}

/// A call as its syntax has it.
struct Written {
    text: String,
    arguments: Arguments,
}

/// Gives the call sites of one file their texts and arguments.
pub fn with_arguments(
    parsers: &mut Parsers,
    language: Language,
    source: &[u8],
    calls: Vec<Called>,
) -> Vec<Site> {
    let mut written = written(parsers, language, source);
    let sites = calls.into_iter().map(|called| {
        let key = (called.line, called.name.clone());
        let mut found = written
            .get_mut(&key)
            .map(std::mem::take)
            .unwrap_or_default();
        // Of several calls of a name on a line each has its own, as long as both sides list them alike.
        let first = (!found.is_empty()).then(|| found.remove(0));
        if !found.is_empty() {
            written.insert(key, found);
        }
        match first {
            Some(Written { text, arguments }) => Site {
                called,
                text,
                arguments: Some(arguments),
            },
            None => Site {
                called,
                text: String::new(),
                arguments: None,
            },
        }
    });
    sites.collect()
}

/// The calls of a source by first line and last name, in the order in which they end.
fn written(
    parsers: &mut Parsers,
    language: Language,
    source: &[u8],
) -> BTreeMap<(u32, String), Vec<Written>> {
    let mut found: BTreeMap<(u32, String), Vec<Written>> = BTreeMap::new();
    let Some(tree) = parsers.parse(language, source) else {
        return found;
    };
    let Some(walk) = Walk::new(&tree, language) else {
        return found;
    };
    let mut open: Vec<Node> = Vec::new();
    for step in walk {
        match step {
            Step::Enter(_, _, node) => open.push(node),
            Step::Comment(_) => {}
            Step::Leave => {
                if let Some((line, name, call)) = open.pop().and_then(|node| call(node, source)) {
                    found.entry((line, name)).or_default().push(call);
                }
            }
        }
    }
    found
}

/// The first line, the last name and the arguments of a node that is a call.
fn call(node: Node, source: &[u8]) -> Option<(u32, String, Written)> {
    let callee = match node.kind() {
        "call" | "call_expression" => node.child_by_field_name("function")?,
        "new_expression" => node.child_by_field_name("constructor")?,
        _ => return None,
    };
    let name = last_name(callee);
    let text = |node: Node| {
        let bytes = source.get(node.byte_range()).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let mut arguments = Arguments::default();
    if let Some(list) = node.child_by_field_name("arguments") {
        match list.kind() {
            "generator_expression" => arguments.positional = 1,
            // A tagged template: its parts are the arguments.
            "template_string" => arguments.is_open = true,
            _ => {
                let mut cursor = list.walk();
                for argument in list.named_children(&mut cursor) {
                    match argument.kind() {
                        "comment" => {}
                        "keyword_argument" => {
                            let name = argument.child_by_field_name("name");
                            arguments.named.extend(name.map(text));
                        }
                        "list_splat" | "spread_element" => arguments.is_open = true,
                        "dictionary_splat" => arguments.is_open_named = true,
                        _ => arguments.positional += 1,
                    }
                }
            }
        }
    }
    let whole = text(node);
    let mut flat = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.len() > MAX_TEXT {
        // The end is kept by a digest, so that two long calls that differ there differ here.
        let digest = blake3::hash(flat.as_bytes()).to_hex();
        let cut = (0..MAX_TEXT).rev().find(|at| flat.is_char_boundary(*at));
        flat.truncate(cut.unwrap_or(0));
        flat.push_str(&format!("… {}", digest.get(..8).unwrap_or_default()));
    }
    let line = node.start_position().row as u32 + 1;
    let name = name.map(text).unwrap_or_default();
    Some((
        line,
        name,
        Written {
            text: flat,
            arguments,
        },
    ))
}

/// The node of the last name in a callee: of `a.b` the `b`.
fn last_name(mut callee: Node) -> Option<Node> {
    loop {
        callee = match callee.kind() {
            "identifier" | "super" | "import" => return Some(callee),
            "attribute" => return callee.child_by_field_name("attribute"),
            "member_expression" => return callee.child_by_field_name("property"),
            "parenthesized_expression" | "non_null_expression" | "instantiation_expression" => {
                callee.named_child(0)?
            }
            _ => return None,
        };
    }
}
