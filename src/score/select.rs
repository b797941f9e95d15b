//! What is selected, and why the rest is not (`scoring.md`, Selection and Replacement).
//!
//! In: every candidate with its score, in id order. Out: the selection, the rejected, and the digest over all. Never changes a score.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::id::RecordId;
use crate::policy::{Policy, Rule, Selecting};
use crate::record::{Ground, Item, Reason, Rejected, Selection, State};
use crate::score::factors::Scored;
use crate::score::focus::FocusFacts;
use crate::score::ground::Stand;
use crate::score::measured;
use crate::score::touch::live;

/// What was decided about one candidate.
#[derive(Clone, Default)]
struct Fate {
    /// None where it was selected.
    reason: Option<Reason>,
    /// What replaces it or stands for it.
    by: Option<RecordId>,
    /// The candidates it stands for.
    copies: Vec<RecordId>,
}

/// Selects among the candidates, which come in id order. `replaced_by` is the direct relation.
pub fn select(
    scored: &[Scored],
    replaced_by: &BTreeMap<RecordId, RecordId>,
    policy: &Policy,
    focus: FocusFacts,
) -> Selection {
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_unstable_by(|left, right| best_first(&scored[*left], &scored[*right]));
    let mut fates = set_aside(scored, &order, replaced_by);
    let mut eligible: Vec<usize> = order.clone();
    eligible.retain(|at| fates[*at].reason.is_none());
    let best = eligible.first().map(|at| scored[*at].score);
    let may_answer = |at: &&usize| scored[**at].may_answer;
    let best_answer = eligible.iter().find(may_answer).map(|at| scored[*at].score);
    let current = live(&focus).len();
    let floor = floor(policy, scored.len(), current);
    let threshold = cut_off(policy, floor, best_answer);
    let mut place = 0;
    for at in &eligible {
        fates[*at].reason = match scored[*at].may_answer {
            true => turn_down(scored[*at].score, place, threshold, floor, policy),
            false => Some(Reason::BelowFloor),
        };
        place += u64::from(scored[*at].may_answer);
    }
    let (mut items, mut rejected) = (Vec::new(), Vec::new());
    for at in order {
        match fates[at].reason {
            None => items.push(item(&scored[at], &fates[at])),
            Some(reason) if (rejected.len() as u64) < policy.rejected_k => {
                rejected.push(turned_down(&scored[at], &fates[at], reason));
            }
            Some(_) => {}
        }
    }
    Selection {
        selection: policy.selection,
        threshold,
        candidates: scored.len() as u64,
        best,
        focus_size: focus.size,
        focus_expansion: focus.expansion,
        focus_hop_skipped: focus.hop_skipped,
        unresolved_nodes: focus.unresolved,
        items,
        rejected,
        digest: digest(scored, &fates),
    }
}

fn best_first(left: &Scored, right: &Scored) -> Ordering {
    let by_score = right.score.total_cmp(&left.score);
    by_score.then_with(|| left.prior.id.cmp(&right.prior.id))
}

/// Finds the replaced and the copies: what takes no place and does not set the best score.
fn set_aside(
    scored: &[Scored],
    order: &[usize],
    replaced_by: &BTreeMap<RecordId, RecordId>,
) -> Vec<Fate> {
    let mut fates = vec![Fate::default(); scored.len()];
    let mut ends = BTreeMap::new();
    let mut alike = HashMap::new();
    for scored in scored {
        *alike.entry(likeness(scored)).or_insert(0) += 1;
    }
    let mut first_of_text = HashMap::new();
    let mut first_of_both = HashMap::new();
    for at in order {
        let prior = scored[*at].prior;
        if replaced_by.contains_key(&prior.id) {
            fates[*at].reason = Some(Reason::Superseded);
            fates[*at].by = Some(end_of_chain(prior.id, replaced_by, &mut ends));
            continue;
        }
        if alike.get(&likeness(&scored[*at])) == Some(&1) {
            continue;
        }
        let first = *first_of_text.entry(prior.text.as_str()).or_insert(*at);
        let first = if scored[first].prior.nodes == prior.nodes {
            first
        } else {
            let key = (first, prior.nodes.as_slice());
            *first_of_both.entry(key).or_insert(*at)
        };
        if first != *at {
            fates[*at].reason = Some(Reason::Copy);
            fates[*at].by = Some(scored[first].prior.id);
            fates[first].copies.push(prior.id);
        }
    }
    fates
}

/// What equal texts have in common, cheap to compare: nearly every record is told apart by this, and its text is never hashed.
fn likeness(scored: &Scored) -> (u64, usize, Option<[u8; 8]>) {
    let text = scored.prior.text.as_bytes();
    (
        scored.factors.semantic.to_bits(),
        text.len(),
        text.last_chunk().copied(),
    )
}

/// The record at the end of the chain of replacements. Every end found is kept in `ends`, so that long chains are walked once; a
/// cycle, which only damaged data has, ends at the record that closes it.
fn end_of_chain(
    start: RecordId,
    replaced_by: &BTreeMap<RecordId, RecordId>,
    ends: &mut BTreeMap<RecordId, RecordId>,
) -> RecordId {
    let mut walked = BTreeSet::new();
    let mut at = start;
    while walked.insert(at) {
        match (ends.get(&at), replaced_by.get(&at)) {
            (Some(end), _) => {
                at = *end;
                break;
            }
            (None, Some(next)) if walked.contains(next) => break,
            (None, Some(next)) => at = *next,
            (None, None) => break,
        }
    }
    ends.extend(walked.into_iter().map(|record| (record, at)));
    at
}

fn cut_off(policy: &Policy, floor: f64, best: Option<f64>) -> f64 {
    match (policy.selection, best) {
        (Selecting::Rank, Some(best)) => floor.max(policy.rank_gap_ratio * best),
        (Selecting::Rank, None) | (Selecting::Threshold, _) => floor,
    }
}

/// The lowest score that is ever selected among so many candidates, for a question with so many current nodes that are there.
fn floor(policy: &Policy, candidates: usize, current: usize) -> f64 {
    match (policy.selection, policy.rule().unwrap_or_default()) {
        (Selecting::Threshold, _) => policy.score_threshold,
        (Selecting::Rank, Rule::Seed1) => policy.noise_floor,
        (Selecting::Rank, Rule::Measured1) => {
            let floor = policy.answer_floor.unwrap_or_default();
            (floor + measured::floor_shift(candidates, current)).clamp(0.0, 1.0)
        }
    }
}

/// Why the candidate at this place among the eligible is turned down; none where it is selected.
fn turn_down(
    score: f64,
    place: u64,
    threshold: f64,
    floor: f64,
    policy: &Policy,
) -> Option<Reason> {
    if score >= threshold {
        (place >= policy.top_k).then_some(Reason::BeyondTopK)
    } else if score >= floor {
        Some(Reason::OutsideGap)
    } else {
        Some(Reason::BelowFloor)
    }
}

fn item(scored: &Scored, fate: &Fate) -> Item {
    let nodes = scored.prior.nodes.iter().zip(scored.ground);
    Item {
        id: scored.prior.id,
        verdict: scored.verdict,
        score: scored.score,
        factors: scored.factors,
        ground: nodes.map(|(node, stand)| node_today(node, stand)).collect(),
        copies: fate.copies.clone(),
    }
}

fn node_today(node: &str, stand: &Stand) -> Ground {
    let now = match stand.state {
        State::Same | State::Changed => Some(node.to_owned()),
        State::Moved => stand.now.clone(),
        State::Gone => None,
    };
    Ground {
        node: node.to_owned(),
        state: stand.state,
        now,
    }
}

fn turned_down(scored: &Scored, fate: &Fate, reason: Reason) -> Rejected {
    Rejected {
        id: scored.prior.id,
        verdict: scored.verdict,
        score: scored.score,
        factors: scored.factors,
        reason,
        by: fate.by,
    }
}

/// `blake3` over all candidates in id order (`design.md` section 4, Determinism): a replay checks every one of them.
fn digest(scored: &[Scored], fates: &[Fate]) -> RecordId {
    let mut hasher = blake3::Hasher::new();
    for (scored, fate) in scored.iter().zip(fates) {
        let factors = &scored.factors;
        hasher.update(scored.prior.id.as_bytes());
        let numbers = [
            factors.semantic,
            factors.structural,
            factors.bonus,
            factors.recency,
            factors.live_ratio,
            scored.score,
        ];
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(&factors.corroboration.to_le_bytes());
        hasher.update(&[reason_byte(fate.reason)]);
    }
    RecordId::from(*hasher.finalize().as_bytes())
}

fn reason_byte(reason: Option<Reason>) -> u8 {
    match reason {
        None => 0,
        Some(Reason::BelowFloor) => 1,
        Some(Reason::OutsideGap) => 2,
        Some(Reason::BeyondTopK) => 3,
        Some(Reason::Superseded) => 4,
        Some(Reason::Copy) => 5,
    }
}
