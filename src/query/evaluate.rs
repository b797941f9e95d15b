//! From fixed inputs to a selection: the part of a look-up that a replay repeats.

use std::collections::BTreeSet;

use crate::graph::Graph;
use crate::id::RecordId;
use crate::policy::Rule;
use crate::record::{Inputs, Selection, Time, Visibility};
use crate::repo::{Past, Repo, RepoError, WINDOW, Window};
use crate::score::{self, FocusFacts, Question, Read, Stand, Weights, touch};
use crate::store::view::{Prior, View};
use crate::store::{Lean, Visible};

/// What scoring made of the inputs.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// What was selected, what was turned down, and why.
    pub result: Selection,
    /// What scoring read of code and history, packed (`design.md` section 4).
    pub ground: Vec<u8>,
}

/// Where `measured/1` has its touch counts from; no other rule reads them.
#[derive(Clone, Copy, Debug)]
pub enum Touches<'a> {
    /// Counted in Git's history.
    Counted(&'a Window),
    /// As a look-up pinned them: its ground.
    Pinned(&'a [u8]),
}

/// The window of history that a look-up counts in; empty under a rule that does not count, and before the first commit. What it had to find
/// out is kept for the next one. `progress` hears of commits compared: done, and known to be wanted.
///
/// # Errors
/// When the history of the commit cannot be walked.
pub fn window(
    repo: &Repo,
    rule: Option<Rule>,
    commit: Option<crate::id::CommitId>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Window, RepoError> {
    match (rule, commit) {
        (Some(Rule::Measured1), Some(commit)) => {
            let mut past = Past::open(repo);
            let window = past.window(repo, commit, WINDOW, progress)?;
            past.keep(repo);
            Ok(window)
        }
        _ => Ok(Window::default()),
    }
}

/// Scores every candidate of `view` against `graph`.
pub fn evaluate(view: &View, graph: &Graph, inputs: &Inputs, touches: Touches) -> Evaluated {
    let question = question(inputs);
    let focus = score::focus(graph, &inputs.current_nodes, &inputs.policy);
    let candidates = score::candidates(view, &question);
    let grounds = score::grounds(graph, &focus, &candidates);
    let facts = focus.facts;
    let counts = match (inputs.policy.rule(), touches) {
        (Some(Rule::Measured1), Touches::Counted(window)) => {
            let current = touch::live(&facts);
            let touching = touch::touching(&current, &candidates, &grounds);
            touch::counts(graph, window, &current, &candidates, &touching)
        }
        (Some(Rule::Measured1), Touches::Pinned(ground)) => {
            let pinned = pinned(ground, &candidates, &facts);
            pinned.map(|pinned| pinned.counts).unwrap_or_default()
        }
        (Some(Rule::Seed1) | None, _) => Vec::new(),
    };
    finish(view, inputs, facts, &grounds, &counts)
}

/// Scores every candidate of `view` from the ground that a look-up pinned, without a graph; none when that does not fit the candidates.
/// `facts` is what the look-up says of its focus.
pub fn evaluate_pinned(
    view: &View,
    inputs: &Inputs,
    ground: &[u8],
    facts: FocusFacts,
) -> Option<Evaluated> {
    let candidates = score::candidates(view, &question(inputs));
    let Pinned { grounds, counts } = pinned_under(inputs, ground, &candidates, &facts)?;
    Some(finish(view, inputs, facts, &grounds, &counts))
}

/// The ground that a look-up pinned without the part of some candidates; none when it does not fit the candidates.
pub fn ground_without(
    view: &View,
    inputs: &Inputs,
    ground: &[u8],
    facts: &FocusFacts,
    gone: &BTreeSet<RecordId>,
) -> Option<Vec<u8>> {
    let candidates = score::candidates(view, &question(inputs));
    let Pinned { grounds, counts } = pinned_under(inputs, ground, &candidates, facts)?;
    let stays: Vec<bool> = candidates
        .iter()
        .map(|prior| !gone.contains(&prior.id))
        .collect();
    Some(packed(&kept(grounds, &stays), &kept(counts, &stays)))
}

/// What stands at the places that stay.
fn kept<T>(all: Vec<T>, stays: &[bool]) -> Vec<T> {
    let each = all.into_iter().zip(stays);
    each.filter_map(|(one, stays)| stays.then_some(one))
        .collect()
}

/// What a look-up says of its focus.
pub fn facts_of(result: &Selection) -> FocusFacts {
    FocusFacts {
        size: result.focus_size,
        expansion: result.focus_expansion.clone(),
        hop_skipped: result.focus_hop_skipped,
        unresolved: result.unresolved_nodes.clone(),
    }
}

/// What a look-up pinned; the counts are empty under a rule that does not count.
struct Pinned {
    grounds: Vec<Vec<Stand>>,
    counts: Vec<Vec<u64>>,
}

fn pinned_under(
    inputs: &Inputs,
    ground: &[u8],
    candidates: &[&Prior],
    facts: &FocusFacts,
) -> Option<Pinned> {
    match inputs.policy.rule() {
        Some(Rule::Measured1) => pinned(ground, candidates, facts),
        Some(Rule::Seed1) | None => {
            let (grounds, rest) = score::unpack_ground(ground, &node_counts(candidates))?;
            let counts = Vec::new();
            rest.is_empty().then_some(Pinned { grounds, counts })
        }
    }
}

fn pinned(ground: &[u8], candidates: &[&Prior], facts: &FocusFacts) -> Option<Pinned> {
    let (grounds, rest) = score::unpack_ground(ground, &node_counts(candidates))?;
    let touching = touch::touching(&touch::live(facts), candidates, &grounds);
    let counts = touch::unpack(rest, &touching)?;
    Some(Pinned { grounds, counts })
}

fn node_counts(candidates: &[&Prior]) -> Vec<usize> {
    candidates.iter().map(|prior| prior.nodes.len()).collect()
}

fn finish(
    view: &View,
    inputs: &Inputs,
    facts: FocusFacts,
    grounds: &[Vec<Stand>],
    counts: &[Vec<u64>],
) -> Evaluated {
    let read = Read {
        grounds,
        touch_counts: counts,
        current: touch::live(&facts).len(),
    };
    Evaluated {
        result: score::rank(view, &question(inputs), read, facts),
        ground: packed(grounds, counts),
    }
}

fn packed(grounds: &[Vec<Stand>], counts: &[Vec<u64>]) -> Vec<u8> {
    let mut ground = score::pack_ground(grounds);
    ground.extend(touch::pack(counts));
    ground
}

/// What the rules need of the inputs.
fn question(inputs: &Inputs) -> Question<'_> {
    Question {
        task: &inputs.task,
        current_nodes: &inputs.current_nodes,
        session: inputs.session.as_deref(),
        time: inputs.time,
        policy: &inputs.policy,
        weights: Weights::frozen(),
    }
}

/// The records of `corpus` that count for a look-up about `commit`.
///
/// # Errors
/// When the history of the commit cannot be walked.
pub fn view_at(
    repo: &Repo,
    corpus: Lean,
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
