//! What a look-up was asked and what it found, with the one byte encoding of both.
//!
//! Plain data that scoring fills and a replay compares.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::document::{Invalid, Time, Verdict};
use crate::id::{CommitId, RecordId, TreeId};
use crate::policy::{Policy, Selecting};

/// What made up a score (`scoring.md`, Common).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// Likeness of the texts, 0 to 1.
    pub semantic: f64,
    /// Nearness in the code, 0 to 1.
    pub structural: f64,
    /// What the outcome adds or takes, -1 to 1.
    pub bonus: f64,
    /// What age leaves, 0 to 1.
    pub recency: f64,
    /// What is left of the record's ground, 0 to 1.
    pub live_ratio: f64,
    /// Distinct sessions that stand on the same ground, this one counted.
    pub corroboration: u64,
}

/// What became of a node since the record was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There, with the very content it had.
    Same,
    /// There, with other content, or content that was never known.
    Changed,
    /// Its path is gone, its blob stands at exactly one other path.
    Moved,
    /// Not there.
    Gone,
}

/// One node of a record, seen from the code tree of a look-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ground {
    /// The name the record gave.
    pub node: String,
    /// What became of it.
    pub state: State,
    /// The name it has now; none when it is gone.
    pub now: Option<String>,
}

/// Why a candidate was turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its score is below the floor.
    BelowFloor,
    /// Too far behind the best.
    OutsideGap,
    /// Good enough, but `top_k` others are better.
    BeyondTopK,
    /// A visible record replaces it.
    Superseded,
    /// Another record says the same of the same nodes.
    Copy,
}

/// A selected record; its text stays in the corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The record.
    pub id: RecordId,
    /// Its latest visible outcome.
    pub verdict: Option<Verdict>,
    /// What it earned.
    pub score: f64,
    /// What made up the score.
    pub factors: Factors,
    /// Its nodes today.
    pub ground: Vec<Ground>,
    /// Records it stands for, since they say the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<RecordId>,
}

/// A candidate that was turned down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    /// The record.
    pub id: RecordId,
    /// Its latest visible outcome.
    pub verdict: Option<Verdict>,
    /// What it earned all the same.
    pub score: f64,
    /// What made up the score.
    pub factors: Factors,
    /// Why it was turned down.
    pub reason: Reason,
    /// The record that replaces it or stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<RecordId>,
}

/// What a look-up was asked, everything by id or value: the same inputs give the same result on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// The commit asked about; none before the first one.
    pub commit: Option<CommitId>,
    /// Its tree.
    pub code_tree: TreeId,
    /// The tree of all records.
    pub corpus: TreeId,
    /// Which records of the corpus counted.
    pub visibility: Visibility,
    /// `blake3` over the ids of the visible records, in order.
    pub visible: RecordId,
    /// The rule, as `seed/1`.
    pub rule: String,
    /// The version of the graph.
    pub extractor: String,
    /// The version of Unicode that tokens were made with.
    pub unicode: String,
    /// Every number that can change a result.
    pub policy: Policy,
    /// The task, masked.
    pub task: String,
    /// The nodes the task is about, as asked.
    pub current_nodes: Vec<String>,
    /// The session that asks.
    pub session: Option<String>,
    /// The clock.
    pub time: Time,
}

/// Which records of the corpus count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Those with an anchor at the commit or an ancestor of it.
    Ancestors,
    /// Every one.
    All,
}

/// What a look-up found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// How the cut-off was made.
    pub selection: Selecting,
    /// The cut-off that was applied.
    pub threshold: f64,
    /// How many candidates there were, also superseded ones and copies.
    pub candidates: u64,
    /// The best score of those that are neither; none without any.
    pub best: Option<f64>,
    /// Nodes in the focus; 0 means that the structural axis was silent.
    pub focus_size: u64,
    /// How many nodes each current node brought, itself counted.
    pub focus_expansion: BTreeMap<String, u64>,
    /// Whether the hop was left out since the focus was large already.
    pub focus_hop_skipped: bool,
    /// Current nodes that the code tree does not have.
    pub unresolved_nodes: Vec<String>,
    /// What was selected, best first.
    pub items: Vec<Item>,
    /// What was turned down, best first, the first `rejected_k`.
    pub rejected: Vec<Rejected>,
    /// `blake3` over all candidates (`design.md` section 4).
    pub digest: RecordId,
}

/// One look-up: what was asked and what was found, and nothing that is neither but what `forget` took out of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attention {
    /// Always `attention`.
    pub r#type: AttentionType,
    /// What was asked.
    pub inputs: Inputs,
    /// What was found.
    pub result: Selection,
    /// Records of its corpus that were forgotten since, and are in neither any more; in order, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RecordId>,
}

/// The one value of an attention record's `type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionType {
    /// A look-up.
    #[default]
    Attention,
}

impl Attention {
    /// The canonical bytes, a line with its line break.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self)
            .expect("strings, finite numbers and lists always have a JSON form");
        bytes.push(b'\n');
        bytes
    }

    /// Reads what [`Attention::encode`] wrote.
    ///
    /// # Errors
    /// When it is not that.
    pub fn decode(bytes: &[u8]) -> Result<Self, Invalid> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

impl Inputs {
    /// The look-up's id: over its inputs, never over its results, so that `forget` can change these.
    pub fn id(&self) -> RecordId {
        let bytes = serde_json::to_vec(self)
            .expect("strings, finite numbers and lists always have a JSON form");
        RecordId::of(&bytes)
    }
}
