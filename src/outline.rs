//! Structural context for a prompt: the definitions around the focus of a task, bounded by files and lines.
//!
//! In: a tree, a task, the nodes it is about. Out: lines of source by file, whole definitions where they fit, else signatures and the
//! lines that hold words of the task; what is most relevant first. Text comes from the object store, never from the work tree; the same
//! tree and question give the same answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::graph::{Graph, GraphError, NodeKind};
use crate::id::{BlobId, TreeId};
use crate::query::{QueryError, policy_of};
use crate::repo::{Repo, RepoError};
use crate::score::focus;
use crate::token::tokens;

/// The longest definition that is shown whole, in lines, however little room there is; a third of the room that is left where that is
/// more, and for a current node two thirds.
const WHOLE: u32 = 60;
/// Lines of a signature at most.
const SIGNATURE: u32 = 12;
/// Lines of a definition or file that are shown for the words of the task alone, at most.
const MATCHES: usize = 12;
/// Definitions looked at when the task names no node.
const BY_NAME: usize = 200;

/// A file with more bytes than this is shown like one that is no text; the code graph reads none of that size either.
const MOST_TEXT: u64 = 4 << 20;

/// Why there is no outline.
#[derive(Debug, thiserror::Error)]
pub enum OutlineError {
    /// The repository could not be read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The code graph could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The policy, which says how far the focus reaches, could not be read.
    #[error(transparent)]
    Policy(#[from] QueryError),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is to be done, in words.
    pub task: String,
    /// What it is about: root-relative paths or `path::Qualified.name`.
    pub nodes: Vec<String>,
    /// Files at most.
    pub max_files: usize,
    /// Lines at most, over all files.
    pub max_lines: usize,
}

/// A definition, or a file without any, that is shown at least in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its node.
    pub node: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Whether every line of it is shown.
    pub is_whole: bool,
    /// Whether it is a current node or beneath one; else it is a neighbour.
    pub is_current: bool,
    /// How many words of the task it holds.
    pub words: usize,
}

/// The lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The file.
    pub path: String,
    /// What is shown of it, most relevant first.
    pub shown: Vec<Shown>,
    /// Line numbers, from 1, with their text, ascending.
    pub lines: Vec<(u32, String)>,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The files, most relevant first.
    pub files: Vec<Part>,
    /// Nodes in the focus; 0 when no node was named, or none is there.
    pub focus_size: u64,
    /// Nodes asked for that the tree does not have.
    pub unresolved: Vec<String>,
    /// Definitions of the focus of which no line is shown.
    pub left_out: usize,
    /// The files these stand in.
    pub left_out_files: usize,
}

impl Outline {
    /// The JSON form (`outline --json`).
    pub fn to_json(&self) -> Value {
        let files = self.files.iter().map(|part| {
            let shown = part.shown.iter().map(|shown| {
                json!({
                    "node": shown.node, "lines": [shown.lines.0, shown.lines.1], "whole": shown.is_whole,
                    "current": shown.is_current, "words": shown.words,
                })
            });
            let lines = part
                .lines
                .iter()
                .map(|(number, text)| json!({"line": number, "text": text}));
            json!({
                "path": part.path, "definitions": shown.collect::<Vec<_>>(), "lines": lines.collect::<Vec<_>>(),
            })
        });
        json!({
            "files": files.collect::<Vec<_>>(), "focus_size": self.focus_size, "unresolved_nodes": self.unresolved,
            "left_out": {"definitions": self.left_out, "files": self.left_out_files},
        })
    }
}

/// A definition that may be shown.
struct Candidate {
    node: u32,
    path: String,
    lines: (u32, u32),
    is_current: bool,
    words: usize,
}

/// The outline of a tree for a task.
///
/// # Errors
/// When the repository or its policy cannot be read.
pub fn outline(
    repo: &Repo,
    tree: TreeId,
    request: &Request,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Outline, OutlineError> {
    let graph = Graph::at(repo, tree, progress)?;
    let policy = policy_of(repo, tree)?;
    let words: Vec<String> = tokens(&request.task).iter().map(str::to_owned).collect();
    let focus = focus(&graph, &request.nodes, &policy);
    let mut outline = Outline {
        focus_size: focus.facts.size,
        unresolved: focus.facts.unresolved.clone(),
        ..Outline::default()
    };
    let mut current = BTreeSet::new();
    for node in request.nodes.iter().filter_map(|name| graph.find(name)) {
        current.insert(node);
        current.extend(graph.beneath(node));
    }
    let nodes: Vec<u32> = match request.nodes.is_empty() {
        true => by_name(&graph, &words),
        false => focus.members().collect(),
    };
    let mut texts = Texts::default();
    let mut candidates = Vec::new();
    for node in nodes {
        let is_current = current.contains(&node);
        if let Some(path) = shown_in(&graph, node, is_current) {
            let text = texts.of(repo, &graph, &path)?;
            let lines = match graph.lines(node) {
                (0, _) => (1, text.len() as u32),
                lines => lines,
            };
            let words = held(&words, graph.name(node), slice(text, lines));
            candidates.push(Candidate {
                node,
                path,
                lines,
                is_current,
                words,
            });
        }
    }
    candidates
        .sort_by(|a, b| (b.is_current, b.words, a.node).cmp(&(a.is_current, a.words, b.node)));
    let mut room = Room {
        graph: &graph,
        words: &words,
        files: request.max_files,
        lines: request.max_lines,
        parts: Vec::new(),
    };
    let mut left_out: Vec<&Candidate> = Vec::new();
    for candidate in &candidates {
        let text = texts.of(repo, &graph, &candidate.path)?;
        if !room.take(candidate, text) {
            left_out.push(candidate);
        }
    }
    outline.left_out = left_out.len();
    let files: BTreeSet<&str> = left_out.iter().map(|left| left.path.as_str()).collect();
    outline.left_out_files = files.len();
    for (path, shown, numbers) in room.parts {
        let text = texts.of(repo, &graph, &path)?;
        let line = |number: u32| {
            let text = text.get(number.checked_sub(1)? as usize)?;
            Some((number, text.clone()))
        };
        outline.files.push(Part {
            lines: numbers.into_iter().filter_map(line).collect(),
            path,
            shown,
        });
    }
    graph.check()?;
    Ok(outline)
}

/// Without a node: the definitions whose names hold words of the task, the most words first.
fn by_name(graph: &Graph, words: &[String]) -> Vec<u32> {
    let mut found: Vec<(usize, u32)> = (0..graph.len() as u32)
        .filter(|node| !graph.kind(*node).is_path())
        .map(|node| (held(words, graph.name(node), &[]), node))
        .filter(|(held, _)| *held > 0)
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(BY_NAME);
    found.into_iter().map(|(_, node)| node).collect()
}

/// The file of a definition; of a file that is a current node and has no definitions, the file.
fn shown_in(graph: &Graph, node: u32, is_current: bool) -> Option<String> {
    let name = graph.name(node);
    match graph.kind(node) {
        NodeKind::File => {
            (is_current && graph.beneath(node).next().is_none()).then(|| name.to_owned())
        }
        kind if kind.is_path() => None,
        _ => name
            .rmatch_indices("::")
            .filter_map(|(at, _)| name.get(..at))
            .find(|path| graph.find(path).is_some())
            .map(str::to_owned),
    }
}

/// How many words of the task stand in a name, also as a part of a longer word, or in a text.
fn held(words: &[String], name: &str, text: &[String]) -> usize {
    let name = name.to_lowercase();
    let held = tokens(&text.join("\n"));
    let held: BTreeSet<&str> = held.iter().collect();
    words
        .iter()
        .filter(|word| name.contains(word.as_str()) || held.contains(word.as_str()))
        .count()
}

/// Some lines, from 1, both ends included.
fn slice(text: &[String], lines: (u32, u32)) -> &[String] {
    let first = lines.0.saturating_sub(1) as usize;
    let last = (lines.1 as usize).min(text.len());
    text.get(first..last).unwrap_or_default()
}

/// The lines of files, read once each; none of a file that is not here or is no text.
#[derive(Default)]
struct Texts(BTreeMap<String, Vec<String>>);

impl Texts {
    fn of(&mut self, repo: &Repo, graph: &Graph, path: &str) -> Result<&[String], RepoError> {
        if !self.0.contains_key(path) {
            let object = graph.find(path).and_then(|file| graph.object(file));
            let bytes = match object {
                // What is too large to be source has no lines that anybody wants to see.
                Some(object) => match repo.blob_within(BlobId(object), MOST_TEXT)? {
                    Ok(bytes) => bytes.unwrap_or_default(),
                    Err(_) => Vec::new(),
                },
                None => Vec::new(),
            };
            let text = match bytes.contains(&0) {
                true => String::new(),
                false => String::from_utf8_lossy(&bytes).into_owned(),
            };
            let lines = text.lines().map(str::to_owned).collect();
            self.0.insert(path.to_owned(), lines);
        }
        Ok(self.0.get(path).map_or(&[], Vec::as_slice))
    }
}

/// What is shown so far, and how much may still be.
struct Room<'a> {
    graph: &'a Graph,
    words: &'a [String],
    /// Files that may be opened, those that are open included.
    files: usize,
    /// Lines that are left.
    lines: usize,
    parts: Vec<(String, Vec<Shown>, BTreeSet<u32>)>,
}

impl Room<'_> {
    /// Shows a definition as far as there is room; false when not one line of it.
    fn take(&mut self, candidate: &Candidate, text: &[String]) -> bool {
        let place = self
            .parts
            .iter()
            .position(|(path, ..)| *path == candidate.path);
        if place.is_none() && self.parts.len() >= self.files {
            return false;
        }
        let shown = place.map(|at| &self.parts[at].2);
        let new = |wanted: &BTreeSet<u32>| -> usize {
            let is_new = |line: &&u32| shown.is_none_or(|shown| !shown.contains(line));
            wanted.iter().filter(is_new).count()
        };
        let (first, last) = candidate.lines;
        let whole: BTreeSet<u32> = (first..=last).collect();
        let around = self.headers(candidate);
        let thirds = if candidate.is_current { 2 } else { 1 };
        let longest = WHOLE.max((self.lines / 3) as u32 * thirds);
        let is_short = last.saturating_sub(first) < longest;
        let all: BTreeSet<u32> = whole.union(&around).copied().collect();
        let mut wanted = all;
        if !is_short || new(&wanted) > self.lines {
            wanted = self.excerpt(candidate, text);
            wanted.extend(around);
            if new(&wanted) > self.lines {
                return false;
            }
        }
        if wanted.is_empty() {
            return false;
        }
        self.lines -= new(&wanted);
        let at = place.unwrap_or_else(|| {
            self.parts
                .push((candidate.path.clone(), Vec::new(), BTreeSet::new()));
            self.parts.len() - 1
        });
        let (_, shown, lines) = &mut self.parts[at];
        lines.extend(wanted);
        shown.push(Shown {
            node: self.graph.name(candidate.node).to_owned(),
            lines: candidate.lines,
            is_whole: whole.is_subset(lines),
            is_current: candidate.is_current,
            words: candidate.words,
        });
        true
    }

    /// The first lines of what a definition stands in.
    fn headers(&self, candidate: &Candidate) -> BTreeSet<u32> {
        let name = self.graph.name(candidate.node);
        let dots = name.rmatch_indices('.').map(|(at, _)| at);
        dots.filter(|at| *at > candidate.path.len())
            .filter_map(|at| self.graph.find(name.get(..at)?))
            .map(|node| self.graph.lines(node).0)
            .filter(|line| *line > 0)
            .collect()
    }

    /// A definition's signature and the lines that hold words of the task; of a class also the signatures of its members.
    fn excerpt(&self, candidate: &Candidate, text: &[String]) -> BTreeSet<u32> {
        let (first, last) = candidate.lines;
        let is_symbol = !self.graph.kind(candidate.node).is_path();
        let mut lines = BTreeSet::new();
        if is_symbol {
            lines.extend(signature(text, (first, last)));
            for member in self.graph.beneath(candidate.node) {
                lines.extend(signature(text, self.graph.lines(member)));
            }
        }
        let matching = (first..=last).filter(|line| {
            let line = slice(text, (*line, *line));
            held(self.words, "", line) > 0
        });
        let matching: Vec<u32> = matching.take(MATCHES).collect();
        lines.extend(matching);
        lines
    }
}

/// The lines of a definition up to where its body begins.
fn signature(text: &[String], lines: (u32, u32)) -> Vec<u32> {
    let mut taken = Vec::new();
    let mut depth = 0i32;
    for (at, line) in (lines.0..=lines.1).zip(slice(text, lines)) {
        taken.push(at);
        for character in line.chars() {
            match character {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
        }
        let is_decorator = line.trim_start().starts_with('@');
        if depth <= 0 && !is_decorator || at - lines.0 + 1 >= SIGNATURE {
            break;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_signature_ends_where_the_body_begins() {
        let text = lines("@cached\ndef f(\n    a,\n    b=(1, 2),\n) -> int:\n    return 1\n");
        assert_eq!(signature(&text, (1, 6)), [1, 2, 3, 4, 5]);
        assert_eq!(signature(&lines("function f(a) {\n}\n"), (1, 2)), [1]);
        assert!(signature(&[], (1, 3)).is_empty());
    }

    #[test]
    fn words_count_in_names_and_texts() {
        let words = [
            "cache".to_owned(),
            "session".to_owned(),
            "cookie".to_owned(),
        ];
        assert_eq!(held(&words, "a.py::SessionCache", &lines("return 1")), 2);
        assert_eq!(held(&words, "a.py::f", &lines("cookie = get_cookie()")), 1);
    }
}
