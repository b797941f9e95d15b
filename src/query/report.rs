//! The JSON form of an answer (`cli.md`, `query --json`): results joined with the texts and nodes of the records.
//!
//! The text of a record that was turned down never leaves the store this way.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::id::{CommitId, RecordId, TreeId};
use crate::policy::{Policy, Selecting};
use crate::record::{Attention, Factors, Ground, Kind, Reason, Time, Verdict};
use crate::render::{Shown, untrusted_block};
use crate::store::view::View;

/// One look-up, ready to be written as JSON.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    attention_id: Option<RecordId>,
    commit: Option<CommitId>,
    code_tree: TreeId,
    corpus: TreeId,
    rule: &'a str,
    policy: &'a Policy,
    task: &'a str,
    current_nodes: &'a [String],
    session: Option<&'a str>,
    time: Time,
    selection: Selecting,
    threshold: f64,
    candidates: u64,
    best: Option<f64>,
    focus_size: u64,
    focus_expansion: &'a BTreeMap<String, u64>,
    focus_hop_skipped: bool,
    unresolved_nodes: &'a [String],
    /// What was selected, with its text.
    pub items: Vec<ItemReport<'a>>,
    /// What was turned down, without.
    pub rejected: Vec<RejectedReport<'a>>,
    extractor: &'a str,
    unicode: &'a str,
    visible: RecordId,
    digest: RecordId,
    rendered: String,
}

/// A selected record.
#[derive(Debug, Serialize)]
pub struct ItemReport<'a> {
    id: RecordId,
    session: Option<&'a str>,
    kind: Kind,
    text: &'a str,
    reasons: &'a [String],
    nodes: &'a [String],
    anchors: &'a [CommitId],
    time: Time,
    verdict: Option<Verdict>,
    score: f64,
    factors: Factors,
    ground: &'a [Ground],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    copies: &'a [RecordId],
}

/// A record that was turned down.
#[derive(Debug, Serialize)]
pub struct RejectedReport<'a> {
    id: RecordId,
    session: Option<&'a str>,
    kind: Kind,
    nodes: &'a [String],
    verdict: Option<Verdict>,
    score: f64,
    factors: Factors,
    reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<RecordId>,
}

impl<'a> Report<'a> {
    /// Joins a look-up with the records it is about.
    pub fn new(id: Option<RecordId>, attention: &'a Attention, view: &'a View) -> Self {
        let (inputs, result) = (&attention.inputs, &attention.result);
        let items = result.items.iter().filter_map(|item| {
            let prior = view.prior(item.id)?;
            Some(ItemReport {
                id: item.id,
                session: prior.session.as_deref(),
                kind: prior.kind,
                text: &prior.text,
                reasons: &prior.reasons,
                nodes: &prior.nodes,
                anchors: &prior.anchors,
                time: prior.time,
                verdict: item.verdict,
                score: item.score,
                factors: item.factors,
                ground: &item.ground,
                copies: &item.copies,
            })
        });
        let rejected = result.rejected.iter().filter_map(|rejected| {
            let prior = view.prior(rejected.id)?;
            Some(RejectedReport {
                id: rejected.id,
                session: prior.session.as_deref(),
                kind: prior.kind,
                nodes: &prior.nodes,
                verdict: rejected.verdict,
                score: rejected.score,
                factors: rejected.factors,
                reason: rejected.reason,
                by: rejected.by,
            })
        });
        Self {
            attention_id: id,
            commit: inputs.commit,
            code_tree: inputs.code_tree,
            corpus: inputs.corpus,
            rule: &inputs.rule,
            policy: &inputs.policy,
            task: &inputs.task,
            current_nodes: &inputs.current_nodes,
            session: inputs.session.as_deref(),
            time: inputs.time,
            selection: result.selection,
            threshold: result.threshold,
            candidates: result.candidates,
            best: result.best,
            focus_size: result.focus_size,
            focus_expansion: &result.focus_expansion,
            focus_hop_skipped: result.focus_hop_skipped,
            unresolved_nodes: &result.unresolved_nodes,
            items: items.collect(),
            rejected: rejected.collect(),
            extractor: &inputs.extractor,
            unicode: &inputs.unicode,
            visible: inputs.visible,
            digest: result.digest,
            rendered: block(attention, view),
        }
    }
}

/// The untrusted block of what a look-up selected; empty when that is nothing. It holds nothing that depends on the clock or on the
/// look-up's id, so that the same records give the same block.
pub fn block(attention: &Attention, view: &View) -> String {
    let shown = attention.result.items.iter().filter_map(|item| {
        let prior = view.prior(item.id)?;
        Some(Shown {
            id: prior.id,
            kind: prior.kind,
            text: &prior.text,
            reasons: &prior.reasons,
            nodes: &prior.nodes,
            session: prior.session.as_deref(),
            verdict: item.verdict,
            score: None,
        })
    });
    let shown: Vec<_> = shown.collect();
    untrusted_block(&shown, &attention.inputs.policy)
}
