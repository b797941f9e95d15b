//! The memory as one look-up sees it: plain data, in id order, everything merged that stands in several anchors.
//!
//! Filled by `corpus.rs` from the stored lines and a set of visible commits; read by scoring, the log and the notes. Never reads
//! anything itself.

use std::collections::BTreeMap;

use crate::id::{CommitId, ObjectId, RecordId};
use crate::record::{Kind, Source, Time, Verdict};

/// A visible reasoning record, with what its visible anchors say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The record.
    pub id: RecordId,
    /// What it is.
    pub kind: Kind,
    /// Where it was taken from.
    pub source: Source,
    /// What it says.
    pub text: String,
    /// Why.
    pub reasons: Vec<String>,
    /// Confidence in an assumption.
    pub confidence: Option<String>,
    /// What it replaces.
    pub supersedes: Vec<RecordId>,
    /// The label of the session that said it.
    pub session: Option<String>,
    /// The label of the task it belongs to.
    pub task: Option<String>,
    /// An importer's own id.
    pub key: Option<String>,
    /// What it is about, sorted, each once: its own nodes and those of its anchors in force.
    pub nodes: Vec<String>,
    /// For the path of each node the object it had, of the newest anchor that knows one.
    pub objects: BTreeMap<String, ObjectId>,
    /// The earliest time of its visible anchors.
    pub time: Time,
    /// Commits of its visible anchors that none replaces, oldest first.
    pub anchors: Vec<CommitId>,
    /// Commits of the replaced ones.
    pub former_anchors: Vec<CommitId>,
    /// The commit of its earliest visible anchor, if that has one.
    pub first_commit: Option<CommitId>,
    /// Branches on which a session said it.
    pub branches: Vec<String>,
    /// Linked worktrees in which a session said it.
    pub worktrees: Vec<String>,
}

/// A visible outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The record.
    pub id: RecordId,
    /// The label of the task it speaks of.
    pub task: Option<String>,
    /// The records it speaks of.
    pub of: Vec<RecordId>,
    /// How it ended.
    pub verdict: Verdict,
    /// The prose.
    pub rationale: Option<String>,
    /// When: its own time, else the earliest of its visible anchors.
    pub time: Time,
}

/// Everything that is visible to one look-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Every visible reasoning record, in id order.
    pub priors: Vec<Prior>,
    /// Every visible outcome, in id order.
    pub endings: Vec<Ending>,
    /// For each record that a visible one (or the tombstone of one) replaces, the id that replaces it directly; of several the smallest.
    pub replaced_by: BTreeMap<RecordId, RecordId>,
}

impl View {
    /// The visible reasoning record with this id.
    pub fn prior(&self, id: RecordId) -> Option<&Prior> {
        let at = self
            .priors
            .binary_search_by_key(&id, |prior| prior.id)
            .ok()?;
        self.priors.get(at)
    }
}
