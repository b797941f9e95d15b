//! From fixed inputs to a selection: the part of a look-up that a replay repeats.

use std::collections::BTreeSet;

use crate::graph::Graph;
use crate::id::RecordId;
use crate::record::{Inputs, Selection, Time, Visibility};
use crate::repo::{Repo, RepoError};
use crate::score::{self, Question};
use crate::store::view::View;
use crate::store::{Corpus, Visible};

/// What scoring made of the inputs.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// What was selected, what was turned down, and why.
    pub result: Selection,
    /// What scoring read of the code, packed (`design.md` section 4).
    pub ground: Vec<u8>,
}

/// Scores every candidate of `view` against `graph`.
pub fn evaluate(view: &View, graph: &Graph, inputs: &Inputs) -> Evaluated {
    let question = question(inputs);
    let focus = score::focus(graph, &inputs.current_nodes, &inputs.policy);
    let candidates = score::candidates(view, &question);
    let grounds = score::grounds(graph, &focus, &candidates);
    let facts = focus.facts.clone();
    let result = score::rank(view, &question, &grounds, facts);
    Evaluated {
        result,
        ground: score::pack_ground(&grounds),
    }
}

/// What the rules need of the inputs.
pub(crate) fn question(inputs: &Inputs) -> Question<'_> {
    Question {
        task: &inputs.task,
        current_nodes: &inputs.current_nodes,
        session: inputs.session.as_deref(),
        time: inputs.time,
        policy: &inputs.policy,
    }
}

/// The records of `corpus` that count for a look-up about `commit`.
///
/// # Errors
/// When the history of the commit cannot be walked.
pub fn view_at(
    repo: &Repo,
    corpus: Corpus,
    visibility: Visibility,
    commit: Option<crate::id::CommitId>,
    clock: Time,
) -> Result<View, RepoError> {
    match visibility {
        Visibility::All => Ok(corpus.into_view(&Visible::All)),
        Visibility::Ancestors => {
            let ancestors = match commit {
                Some(commit) => repo.ancestors(commit)?,
                None => BTreeSet::new(),
            };
            let visible = Visible::At {
                ancestors: &ancestors,
                clock,
            };
            Ok(corpus.into_view(&visible))
        }
    }
}

/// `blake3` over the ids of the visible reasoning records, then of the visible outcomes, each in order.
pub fn visible_digest(view: &View) -> RecordId {
    let priors = view.priors.iter().map(|prior| prior.id);
    let endings = view.endings.iter().map(|ending| ending.id);
    digest_of(&priors.collect(), &endings.collect())
}

/// The same, of any ids.
pub fn digest_of(priors: &BTreeSet<RecordId>, endings: &BTreeSet<RecordId>) -> RecordId {
    let mut bytes = Vec::with_capacity(32 * (priors.len() + endings.len()));
    for id in priors.iter().chain(endings) {
        bytes.extend_from_slice(id.as_bytes());
    }
    RecordId::of(&bytes)
}
