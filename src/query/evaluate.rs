//! From fixed inputs to a selection: the part of a look-up that a replay repeats.

use std::collections::{BTreeMap, BTreeSet};

use super::history::History;
use crate::graph::Graph;
use crate::id::RecordId;
use crate::policy::Rule;
use crate::record::{Inputs, Selection, Time, Visibility};
use crate::repo::{Repo, RepoError, Window};
use crate::score::{
    self, Authorship, FocusFacts, Lines, Question, Read, Stand, Weights, blame, touch,
};
use crate::store::view::{Prior, View};
use crate::store::{Lean, Visible};
use crate::token::terms;

/// What scoring made of the inputs.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// What was selected, what was turned down, and why.
    pub result: Selection,
    /// What scoring read of code and history, packed (`design.md` section 4).
    pub ground: Vec<u8>,
}

/// Where that comes from which `measured/1` counts in Git's history; no other rule reads it.
#[derive(Clone, Copy, Debug)]
pub enum Touches<'a> {
    /// Counted in history itself.
    Counted(&'a History),
    /// As a look-up pinned them: its ground.
    Pinned(&'a [u8]),
}

/// Scores every candidate of `view` against `graph`.
pub fn evaluate(view: &View, graph: &Graph, inputs: &Inputs, touches: Touches) -> Evaluated {
    let question = question(inputs);
    let focus = score::focus(graph, &inputs.current_nodes, &inputs.policy);
    let candidates = score::candidates(view, &question);
    let grounds = score::grounds(graph, &focus, &candidates);
    let facts = focus.facts;
    let counted = match (inputs.policy.rule(), touches) {
        (Some(Rule::Measured1), Touches::Counted(history)) => Some(count(
            graph,
            &history.window,
            &history.lines,
            &inputs.task,
            &touch::live(&facts),
            &candidates,
            &grounds,
        )),
        (Some(Rule::Measured1), Touches::Pinned(ground)) => {
            pinned(ground, &inputs.task, &candidates, &facts).and_then(|pinned| pinned.counted)
        }
        (Some(Rule::Seed1) | None, _) => None,
    };
    finish(view, inputs, facts, &grounds, counted)
}

/// What `measured/1` counts in Git's history, one entry for each candidate.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// For each current node that it touches how often that has changed since.
    pub touches: Vec<Vec<u64>>,
    /// What their commits wrote in the current nodes.
    pub authorship: Authorship,
}

/// Counts for these candidates. `current` are the names of the current nodes that are there, sorted.
pub fn count(
    graph: &Graph,
    window: &Window,
    lines: &BTreeMap<String, Lines>,
    task: &str,
    current: &[&str],
    candidates: &[&Prior],
    grounds: &[Vec<Stand>],
) -> Counted {
    let touching = touch::touching(current, candidates, grounds);
    Counted {
        touches: touch::counts(graph, window, current, candidates, &touching),
        authorship: blame::authorship(&terms(task), window, lines, current, candidates, &touching),
    }
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
    let Pinned { grounds, counted } = pinned_under(inputs, ground, &candidates, &facts)?;
    Some(finish(view, inputs, facts, &grounds, counted))
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
    let Pinned { grounds, counted } = pinned_under(inputs, ground, &candidates, facts)?;
    let stays: Vec<bool> = candidates
        .iter()
        .map(|prior| !gone.contains(&prior.id))
        .collect();
    let counted = counted.map(|counted| Counted {
        touches: kept(counted.touches, &stays),
        authorship: Authorship {
            holders: counted.authorship.holders,
            words: kept(counted.authorship.words, &stays),
            kept: kept(counted.authorship.kept, &stays),
        },
    });
    Some(packed(&kept(grounds, &stays), counted.as_ref()))
}

/// For each candidate the words of the task in the code that its commit wrote, as a look-up pinned them, in the form in which they are
/// compared; those without any are left out, and so are all under a rule that reads no code.
pub fn code_words(
    view: &View,
    inputs: &Inputs,
    ground: &[u8],
    facts: &FocusFacts,
) -> BTreeMap<RecordId, Vec<String>> {
    let candidates = score::candidates(view, &question(inputs));
    let pinned = pinned_under(inputs, ground, &candidates, facts);
    let Some(counted) = pinned.and_then(|pinned| pinned.counted) else {
        return BTreeMap::new();
    };
    let task = terms(&inputs.task);
    let named = |words: &Vec<usize>| -> Vec<String> {
        let named = words.iter().filter_map(|word| task.iter().nth(*word));
        named.map(str::to_owned).collect()
    };
    let each = candidates.iter().zip(&counted.authorship.words);
    each.filter(|(_, words)| !words.is_empty())
        .map(|(prior, words)| (prior.id, named(words)))
        .collect()
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

/// What a look-up pinned; nothing is counted under a rule that does not count.
struct Pinned {
    grounds: Vec<Vec<Stand>>,
    counted: Option<Counted>,
}

fn pinned_under(
    inputs: &Inputs,
    ground: &[u8],
    candidates: &[&Prior],
    facts: &FocusFacts,
) -> Option<Pinned> {
    match inputs.policy.rule() {
        Some(Rule::Measured1) => pinned(ground, &inputs.task, candidates, facts),
        Some(Rule::Seed1) | None => {
            let (grounds, rest) = score::unpack_ground(ground, &node_counts(candidates))?;
            let counted = None;
            rest.is_empty().then_some(Pinned { grounds, counted })
        }
    }
}

fn pinned(ground: &[u8], task: &str, candidates: &[&Prior], facts: &FocusFacts) -> Option<Pinned> {
    let (grounds, rest) = score::unpack_ground(ground, &node_counts(candidates))?;
    let touching = touch::touching(&touch::live(facts), candidates, &grounds);
    let (touches, rest) = touch::unpack(rest, &touching)?;
    let authorship = blame::unpack(rest, terms(task).len(), &touching)?;
    let counted = Some(Counted {
        touches,
        authorship,
    });
    Some(Pinned { grounds, counted })
}

fn node_counts(candidates: &[&Prior]) -> Vec<usize> {
    candidates.iter().map(|prior| prior.nodes.len()).collect()
}

fn finish(
    view: &View,
    inputs: &Inputs,
    facts: FocusFacts,
    grounds: &[Vec<Stand>],
    counted: Option<Counted>,
) -> Evaluated {
    let read = Read {
        grounds,
        touch_counts: counted.as_ref().map_or(&[], |counted| &counted.touches),
        authorship: counted.as_ref().map(|counted| &counted.authorship),
        current: touch::live(&facts).len(),
    };
    Evaluated {
        result: score::rank(view, &question(inputs), read, facts),
        ground: packed(grounds, counted.as_ref()),
    }
}

fn packed(grounds: &[Vec<Stand>], counted: Option<&Counted>) -> Vec<u8> {
    let mut ground = score::pack_ground(grounds);
    if let Some(counted) = counted {
        ground.extend(touch::pack(&counted.touches));
        ground.extend(blame::pack(&counted.authorship));
    }
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
