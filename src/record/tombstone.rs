//! What is left of a record that was forgotten or has expired: ids, where it stood, and never a text.
//!
//! In: the record and its anchors, one by one. Out: a line of its own, which stands in their place.

use serde::{Deserialize, Serialize};

use super::document::{Record, Time, Verdict};
use crate::id::{CommitId, RecordId};

/// What is left of a record: its id, and what others still need to know of it. Never a text. Several of one record, as a corpus has
/// them where its anchors lay in other blobs, count together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The record that is gone.
    pub of: RecordId,
    /// Why it is gone.
    pub why: Gone,
    /// What it was; none where only an anchor of it stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Was>,
    /// What it replaced stays replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<RecordId>,
    /// How the task ended, where an outcome has expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The label of the task that the verdict is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The records that the verdict is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<RecordId>,
    /// When the outcome was, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Where and when it stood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Stood>,
}

impl Tombstone {
    /// Of a record of which nothing is known but that it is gone.
    pub fn new(of: RecordId, why: Gone) -> Self {
        Self {
            of,
            why,
            was: None,
            supersedes: Vec::new(),
            verdict: None,
            task: None,
            about: Vec::new(),
            time: None,
            at: Vec::new(),
        }
    }

    /// Takes in what `record` or an anchor of it says that outlives it. Of a forgotten outcome not even the verdict does.
    pub fn take(&mut self, record: &Record) {
        match record {
            Record::Session(_) => self.was = Some(Was::Session),
            Record::Task(_) => self.was = Some(Was::Task),
            Record::Reasoning(said) => {
                self.was = Some(Was::Reasoning);
                self.supersedes = said.supersedes.clone();
            }
            Record::Outcome(outcome) => {
                self.was = Some(Was::Outcome);
                if self.why == Gone::Expired {
                    self.verdict = Some(outcome.verdict);
                    self.task = outcome.task.clone();
                    self.about = outcome.of.clone();
                    self.time = outcome.time;
                }
            }
            Record::Anchor(anchor) => self.at.push(Stood {
                commit: anchor.commit,
                time: anchor.time,
            }),
            Record::Tombstone(other) => self.join(other.clone()),
        }
    }

    /// Takes in another one of the same record.
    pub fn join(&mut self, other: Self) {
        if other.why == Gone::Forgotten {
            self.why = Gone::Forgotten;
        }
        self.was = self.was.or(other.was);
        self.supersedes.extend(other.supersedes);
        self.supersedes.sort();
        self.supersedes.dedup();
        self.verdict = self.verdict.or(other.verdict);
        self.task = self.task.take().or(other.task);
        self.about.extend(other.about);
        self.about.sort();
        self.about.dedup();
        self.time = self.time.or(other.time);
        self.at.extend(other.at);
        self.at.sort();
        self.at.dedup();
    }

    /// Whether anything would be missed without it: that it was forgotten, what it replaced, how a task ended.
    pub fn matters(&self) -> bool {
        self.why == Gone::Forgotten || !self.supersedes.is_empty() || self.verdict.is_some()
    }
}

/// What a record was that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Was {
    /// A session.
    Session,
    /// A task.
    Task,
    /// What retrieval returns.
    Reasoning,
    /// How a task ended.
    Outcome,
}

/// Where and when a record stood that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stood {
    /// The commit; none before the first one.
    pub commit: Option<CommitId>,
    /// When it was said.
    pub time: Time,
}

/// Why a record is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gone {
    /// Somebody asked for it.
    Forgotten,
    /// Its time of retention is over.
    Expired,
}
