//! Recomputing a look-up from what it pinned, and comparing every byte.
//!
//! In: a stored look-up. Out: whether today's binary comes to the same bytes, or what differs and why. Never writes.

use serde::Serialize;

use crate::graph::{EXTRACTOR, Graph, GraphError};
use crate::id::RecordId;
use crate::policy::Rule;
use crate::query::{
    Evaluated, QueryError, Touches, digest_of, evaluate, evaluate_pinned, facts_of, history,
    view_at, visible_digest,
};
use crate::record::{Attention, Inputs, Tombstone, Visibility, Was};
use crate::repo::{Repo, RepoError};
use crate::store::view::View;
use crate::store::{Lean, Lookup, Store, StoreError, Stored, Visible};

/// What a replay came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same bytes.
    Identical,
    /// The same bytes from the pinned ground; the graph is of another version. The flag says whether today's graph would come to
    /// something else.
    IdenticalWithGraphOf {
        /// The version that the look-up used.
        extractor: String,
        /// Whether a look-up with today's graph would differ.
        differs_today: bool,
    },
    /// Other bytes.
    Differs,
    /// The same but for records that were forgotten since.
    Removed,
    /// The asked commit is no longer here, so that which records were visible cannot be told.
    HistoryRemoved,
    /// The asked commit has other ancestors now, or these touched other nodes: a graft, or an unshallow.
    HistoryChanged,
    /// A rule that this binary does not know.
    OtherRule,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Identical => f.write_str("identical"),
            Verdict::IdenticalWithGraphOf { extractor, .. } => {
                write!(f, "identical (graph of extractor {extractor})")
            }
            Verdict::Differs => f.write_str("differs"),
            Verdict::Removed => f.write_str("removed"),
            Verdict::HistoryRemoved => f.write_str("history removed"),
            Verdict::HistoryChanged => f.write_str("history changed"),
            Verdict::OtherRule => f.write_str("other rule"),
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One replayed look-up.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// The look-up.
    pub id: RecordId,
    /// What the replay came to.
    pub result: Verdict,
    /// The places that differ, as `result.items.0.score: 0.5, now 0.4`, or the reason for another result.
    pub differs: Vec<String>,
}

/// Recomputes a stored look-up. `progress` hears of a graph being built.
///
/// # Errors
/// When the repository cannot be read; what a look-up itself lacks is a result and no error.
pub fn replay(
    repo: &Repo,
    stored: &Stored,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Replayed, QueryError> {
    recompute(repo, stored, progress).or_else(|error| match lost(&error) {
        Some(cause) => Ok(Replayed {
            id: stored.id,
            result: Verdict::Differs,
            differs: vec![cause],
        }),
        None => Err(error),
    })
}

/// What of its pins a look-up has lost; none for any other error. A partial clone lacks objects without damage.
fn lost(error: &QueryError) -> Option<String> {
    let error = match error {
        QueryError::Repo(error)
        | QueryError::Store(StoreError::Repo(error))
        | QueryError::Graph(GraphError::Repo(error)) => error,
        _ => return None,
    };
    matches!(error, RepoError::Missing { partial: false, .. }).then(|| error.to_string())
}

fn recompute(
    repo: &Repo,
    stored: &Stored,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Replayed, QueryError> {
    let replayed = |result, differs| Replayed {
        id: stored.id,
        result,
        differs,
    };
    let store = Store::new(repo);
    let lookup = match store.lookup(stored) {
        Ok(lookup) => lookup,
        Err(StoreError::Damaged { cause, .. }) => {
            return Ok(replayed(Verdict::Differs, vec![cause]));
        }
        Err(error) => return Err(error.into()),
    };
    let inputs = &lookup.attention.inputs;
    if let Err(cause) = check(&lookup) {
        return Ok(replayed(Verdict::Differs, vec![cause]));
    }
    if Rule::named(&inputs.rule).is_none() {
        return Ok(replayed(
            Verdict::OtherRule,
            vec![format!("rule {}", inputs.rule)],
        ));
    }
    let corpus = store.lean(lookup.pins.corpus)?;
    if let Err(why) = check_corpus(&lookup, &corpus) {
        return Ok(replayed(Verdict::Differs, vec![why]));
    }
    let removed: Vec<Tombstone> = stones(&lookup, &corpus);
    let view = match view_at(repo, corpus, inputs.visibility, inputs.commit, inputs.time) {
        Ok(view) => view,
        Err(RepoError::Missing { id, .. }) if inputs.visibility == Visibility::Ancestors => {
            let why = format!("commit {id} is no longer here");
            return Ok(replayed(Verdict::HistoryRemoved, vec![why]));
        }
        Err(error) => return Err(error.into()),
    };
    if visible_digest(&view) != inputs.visible {
        let removed = visible_stones(repo, inputs, removed)?;
        let is_removal = digest_with(&view, &removed) == inputs.visible;
        return Ok(match (is_removal, inputs.visibility) {
            (true, _) => {
                let why = removed.iter().map(|stone| stone.of);
                let why = why.map(|id| format!("record {} was forgotten since", id.short()));
                replayed(Verdict::Removed, why.collect())
            }
            (false, Visibility::Ancestors) => {
                let why = "the asked commit has other ancestors than it had".into();
                replayed(Verdict::HistoryChanged, vec![why])
            }
            (false, Visibility::All) => {
                replayed(Verdict::Differs, vec!["the visible records".into()])
            }
        });
    }
    if inputs.extractor == EXTRACTOR {
        let graph = Graph::at(repo, lookup.pins.code, progress)?;
        let pinned = Touches::Pinned(&lookup.ground);
        let differs = differences(&lookup, &evaluate(&view, &graph, inputs, pinned));
        graph.check()?;
        if !differs.is_empty() {
            return Ok(replayed(Verdict::Differs, differs));
        }
        let tells_otherwise = tells_otherwise(repo, &lookup, &view, &graph, progress)?;
        graph.check()?;
        if tells_otherwise {
            let why = "Git's history tells other things of the current nodes than it did: it was rewritten, or more or less of it is here";
            return Ok(replayed(Verdict::HistoryChanged, vec![why.into()]));
        }
        return Ok(replayed(Verdict::Identical, differs));
    }
    let Some(recomputed) = from_ground(&lookup, &view) else {
        let why = "the pinned ground does not fit the candidates".into();
        return Ok(replayed(Verdict::Differs, vec![why]));
    };
    let differs = differences(&lookup, &recomputed);
    if !differs.is_empty() {
        return Ok(replayed(Verdict::Differs, differs));
    }
    let graph = Graph::at(repo, lookup.pins.code, progress)?;
    let today = evaluate(&view, &graph, inputs, Touches::Pinned(&lookup.ground));
    graph.check()?;
    let result = Verdict::IdenticalWithGraphOf {
        extractor: inputs.extractor.clone(),
        differs_today: !differences(&lookup, &today).is_empty(),
    };
    Ok(replayed(result, Vec::new()))
}

/// Whether the stored parts belong together.
fn check(lookup: &Lookup) -> Result<(), String> {
    let inputs = &lookup.attention.inputs;
    if inputs.id() != lookup.id {
        return Err(format!("its inputs have the id {}", inputs.id()));
    }
    if lookup.pins.code != inputs.code_tree {
        return Err(format!(
            "it pins the code tree {}, but was asked about {}",
            lookup.pins.code, inputs.code_tree
        ));
    }
    Ok(())
}

/// Whether a look-up pins the corpus that it read, or what `forget` has left of it: a tombstone for each record that is not there.
fn check_corpus(lookup: &Lookup, corpus: &Lean) -> Result<(), String> {
    let (pinned, read) = (lookup.pins.corpus, lookup.attention.inputs.corpus);
    let removed = &lookup.attention.removed;
    let all_buried = removed.iter().all(|id| corpus.is_forgotten(*id));
    match pinned == read {
        true => Ok(()),
        false if !removed.is_empty() && all_buried => Ok(()),
        false => Err(format!("it pins the corpus {pinned}, but read {read}")),
    }
}

/// What is left of the records that were forgotten since.
fn stones(lookup: &Lookup, corpus: &Lean) -> Vec<Tombstone> {
    let removed = lookup.attention.removed.iter();
    let stones = removed.filter_map(|id| corpus.tombstone(*id));
    stones.cloned().collect()
}

/// Those of them that counted when the look-up was asked, and could change its answer.
fn visible_stones(
    repo: &Repo,
    inputs: &Inputs,
    mut stones: Vec<Tombstone>,
) -> Result<Vec<Tombstone>, RepoError> {
    stones.retain(|stone| matches!(stone.was, Some(Was::Reasoning | Was::Outcome)));
    if let (Visibility::Ancestors, false) = (inputs.visibility, stones.is_empty()) {
        let ancestors = inputs.commit.map(|commit| repo.ancestors(commit));
        let visible = Visible::At {
            ancestors: &ancestors.transpose()?.unwrap_or_default(),
            clock: inputs.time,
        };
        stones.retain(|stone| visible.shows_stone(stone));
    }
    Ok(stones)
}

/// The digest of the visible records, as it was before some of them were forgotten.
fn digest_with(view: &View, removed: &[Tombstone]) -> RecordId {
    let ids = |was: Was| {
        let of = removed.iter().filter(move |stone| stone.was == Some(was));
        of.map(|stone| stone.of)
    };
    let priors = view.priors.iter().map(|prior| prior.id);
    let endings = view.endings.iter().map(|ending| ending.id);
    digest_of(
        &priors.chain(ids(Was::Reasoning)).collect(),
        &endings.chain(ids(Was::Outcome)).collect(),
    )
}

/// The scores recomputed from the pinned ground, without a graph.
fn from_ground(lookup: &Lookup, view: &View) -> Option<Evaluated> {
    let facts = facts_of(&lookup.attention.result);
    evaluate_pinned(view, &lookup.attention.inputs, &lookup.ground, facts)
}

/// Whether history tells other things today than the look-up pinned; not where the asked commit is no longer here.
fn tells_otherwise(
    repo: &Repo,
    lookup: &Lookup,
    view: &View,
    graph: &Graph,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<bool, QueryError> {
    let inputs = &lookup.attention.inputs;
    if inputs.policy.rule() != Some(Rule::Measured1) {
        return Ok(false);
    }
    let history = history(
        repo,
        graph,
        inputs.policy.rule(),
        &inputs.current_nodes,
        inputs.commit,
        progress,
    );
    let history = match history {
        Ok(history) => history,
        Err(RepoError::Missing { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let today = evaluate(view, graph, inputs, Touches::Counted(&history));
    Ok(today.ground != lookup.ground)
}

/// Where the recomputed bytes differ from the stored ones; empty when nothing does.
fn differences(lookup: &Lookup, recomputed: &Evaluated) -> Vec<String> {
    let attention = Attention {
        r#type: Default::default(),
        inputs: lookup.attention.inputs.clone(),
        result: recomputed.result.clone(),
        // No result, but what was done to the look-up.
        removed: lookup.attention.removed.clone(),
    };
    let bytes = attention.encode();
    let mut differs = Vec::new();
    if bytes != lookup.bytes {
        match (
            serde_json::from_slice(&lookup.bytes),
            serde_json::from_slice(&bytes),
        ) {
            (Ok(before), Ok(now)) => compare("", &before, &now, &mut differs),
            _ => differs.push("the record is no JSON".into()),
        }
        if differs.is_empty() {
            differs.push("the bytes of the record, though not what they say".into());
        }
    }
    if recomputed.ground != lookup.ground {
        differs.push("what was read of the code".into());
    }
    differs
}

/// Most differences that are named; more would only say the same.
const MOST_NAMED: usize = 20;

fn compare(
    place: &str,
    before: &serde_json::Value,
    now: &serde_json::Value,
    differs: &mut Vec<String>,
) {
    use serde_json::Value;
    if before == now || differs.len() >= MOST_NAMED {
        return;
    }
    let at = |key: &str| {
        if place.is_empty() {
            key.to_owned()
        } else {
            format!("{place}.{key}")
        }
    };
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let keys: std::collections::BTreeSet<_> = before.keys().chain(now.keys()).collect();
            for key in keys {
                let (before, now) = (before.get(key), now.get(key));
                compare(
                    &at(key),
                    before.unwrap_or(&Value::Null),
                    now.unwrap_or(&Value::Null),
                    differs,
                );
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (index, (before, now)) in before.iter().zip(now).enumerate() {
                compare(&at(&index.to_string()), before, now, differs);
            }
        }
        _ => differs.push(format!("{place}: {before}, now {now}")),
    }
}

/// Every candidate of a look-up with its factors, not only those that were listed.
///
/// # Errors
/// When what it pinned cannot be read.
pub fn every_candidate(
    repo: &Repo,
    lookup: &Lookup,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(View, Attention), QueryError> {
    let inputs = &lookup.attention.inputs;
    let corpus = Store::new(repo).lean(lookup.pins.corpus)?;
    let view = view_at(repo, corpus, inputs.visibility, inputs.commit, inputs.time)?;
    let mut all = lookup.clone();
    all.attention.inputs.policy.rejected_k = u64::MAX;
    // What scoring read of the code is pinned: no graph is needed, and none of another version can creep in.
    let result = match from_ground(&all, &view) {
        Some(evaluated) => evaluated.result,
        None => {
            let graph = Graph::at(repo, lookup.pins.code, progress)?;
            let pinned = Touches::Pinned(&lookup.ground);
            let evaluated = evaluate(&view, &graph, &all.attention.inputs, pinned);
            graph.check()?;
            evaluated.result
        }
    };
    let attention = Attention {
        r#type: Default::default(),
        inputs: inputs.clone(),
        result,
        removed: lookup.attention.removed.clone(),
    };
    Ok((view, attention))
}
