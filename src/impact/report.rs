//! What is known of a change: plain data, and what can be counted from it.

use serde_json::{Value, json};

use super::compare::Change;
use crate::graph::GraphError;
use crate::id::CommitId;
use crate::repo::RepoError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ImpactError {
    /// The repository could not be read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// A code graph could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// `A...B` of two commits without a common ancestor.
    #[error("{0} and {1} have no commit in common; 'A..B' compares them all the same")]
    Unrelated(CommitId, CommitId),
}

/// A place that calls or imports something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Line, from 1; of the tree after the change, or before it where the place is gone.
    pub line: u32,
    /// The node it is attributed to; the file itself for its top level.
    pub node: String,
    /// The call or import as written, on one line; a bare name where only that is known.
    pub text: String,
    /// Whether it was changed with the definition, or is gone.
    pub is_changed: bool,
    /// Whether it only has the name: the definition it reaches is not known.
    pub is_guess: bool,
    /// Why it breaks; none when it does not, or when that cannot be told.
    pub why: Option<String>,
}

/// One definition whose signature differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its node before the change; a path for a whole file.
    pub node: String,
    /// What differs.
    pub changes: Vec<Change>,
    /// Its parameters and return annotation before, as in `(a, b=1) -> int`; one a definition.
    pub before: Vec<String>,
    /// The same after; empty when it is gone.
    pub after: Vec<String>,
    /// Its call sites, by file and line.
    pub callers: Vec<Place>,
    /// Imports of it, where it is gone, by file and line.
    pub importers: Vec<Place>,
    /// Methods of classes below that stand in for it and do not take what it takes now, by file and line.
    pub overrides: Vec<Place>,
    /// Call sites of its name whose target is not known.
    pub unresolved: u32,
}

impl Changed {
    /// Whether no call can break by it; see `Change::is_note`.
    pub fn is_note(&self) -> bool {
        self.changes.iter().all(Change::is_note) && self.breaks().next().is_none()
    }

    /// The places that break and were not changed with it.
    pub fn breaks(&self) -> impl Iterator<Item = &Place> {
        let places = self
            .callers
            .iter()
            .chain(&self.importers)
            .chain(&self.overrides);
        places.filter(|place| place.why.is_some())
    }
}

/// What a change does to those who use what it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Definitions whose signature differs so that a call may not fit any more, in order of names.
    pub changed: Vec<Changed>,
    /// Definitions whose signature differs in what no call can break by: a default's value, an annotation. In order of names.
    pub notes: Vec<Changed>,
    /// Paths whose content is not in this (partial) clone.
    pub missing: Vec<String>,
}

impl Report {
    /// How many places break.
    pub fn breaks(&self) -> usize {
        self.changed
            .iter()
            .map(|changed| changed.breaks().count())
            .sum()
    }

    /// The JSON form (`impact --json`).
    pub fn to_json(&self) -> Value {
        let all = |changed: &[Changed]| changed.iter().map(Changed::to_json).collect::<Vec<_>>();
        json!({
            "changed": all(&self.changed), "notes": all(&self.notes),
            "breaks": self.breaks(), "missing": self.missing,
        })
    }
}

impl Changed {
    fn to_json(&self) -> Value {
        let changes = self
            .changes
            .iter()
            .map(|change| json!({"kind": change.kind(), "detail": change.detail()}));
        json!({
            "node": self.node,
            "changes": changes.collect::<Vec<_>>(),
            "before": self.before,
            "after": self.after,
            "callers": self.callers.iter().map(Place::to_json).collect::<Vec<_>>(),
            "importers": self.importers.iter().map(Place::to_json).collect::<Vec<_>>(),
            "overrides": self.overrides.iter().map(Place::to_json).collect::<Vec<_>>(),
            "breaks": self.breaks().map(Place::to_json).collect::<Vec<_>>(),
            "unresolved": self.unresolved,
        })
    }
}

impl Place {
    fn to_json(&self) -> Value {
        json!({
            "node": self.node, "file": self.file, "line": self.line, "text": self.text,
            "changed": self.is_changed, "guess": self.is_guess, "why": self.why,
        })
    }
}
