//! The factors of rule `measured/1` (`scoring.md`, measured/1), where they differ from those of `seed/1`. They are the start of that page; what
//! was tried beyond it stands in the README. The one thing added is [`floor_shift`].
//!
//! In: the terms of the task, a record, what became of its nodes, its touch counts. Out: numbers. Each depends on the question and the
//! record alone, never on what else is stored. Only `+ - * /` and the exactly rounded square root.

use crate::score::ground::Stand;
use crate::score::weights::Weights;
use crate::store::view::Prior;
use crate::token::{Terms, terms};

/// A word of the first line counts half as much again (`scoring.md`, measured/1, semantic).
const FIRST_LINE: f64 = 0.5;
/// Weight of the words of a record at which its length halves what they say (same place).
const LENGTH: f64 = 60.0;
/// Least likeness of the texts with which a record may be selected, so that the code alone never answers (same place, gate).
const LEAST_LIKENESS: f64 = 0.3;
/// What a touched node is worth however often it has changed since (same place, structural).
const TOUCHED: f64 = 0.2;
/// Changes of the ground that halve what a touched node is worth beyond that (same place).
const CHANGES: f64 = 3.0;
/// What is left of a score when all the ground is gone (same place).
const GONE: f64 = 0.75;

/// How many candidates `answer_floor` is meant for.
const CANDIDATES: f64 = 2000.0;
/// How far the floor rises when the number of candidates doubles beyond that: the floors that answer one in ten controls of the nine open
/// histories are .240, .264, .285, .302, .319 and .324 at 30, 100, 200, 500, 1,000 and 2,000 records.
/// Found with a prototype of the rule and fitted to all nine at once, not checked on a history left out. With it 7.8 % of these controls are
/// answered at 20,000 records, and 9.3 % at 2,000.
const FLOOR_PER_DOUBLING: f64 = 0.014;

/// What is added to `answer_floor` among so many candidates. The best score of an unrelated question grows with their number, so a fixed
/// floor would answer ever more of them. Below 2,000 it stays: a lower one would answer more questions of the same project that have no
/// answer. No score depends on it, and a look-up holds the number.
pub fn floor_shift(candidates: usize) -> f64 {
    FLOOR_PER_DOUBLING * libm::log2((candidates as f64).max(CANDIDATES) / CANDIDATES)
}

/// The task, as the rule reads it.
pub struct Asked<'w> {
    terms: Terms,
    root_of_weight: f64,
    weights: &'w Weights,
}

impl<'w> Asked<'w> {
    /// Reads a task once for all records.
    pub fn new(task: &str, weights: &'w Weights) -> Self {
        let terms = terms(task);
        let weight = sum(terms.iter().map(|term| weights.of(term)));
        Self {
            terms,
            root_of_weight: weight.sqrt(),
            weights,
        }
    }

    /// T: the weight of the words that task and record share, those of the record's first line counting more, by the length of both;
    /// 0 and above.
    pub fn likeness(&self, prior: &Prior) -> f64 {
        let texts = std::iter::once(&prior.text).chain(&prior.reasons);
        let said = Terms::of(texts.map(String::as_str));
        let first = terms(prior.text.lines().next().unwrap_or_default());
        let (mut all, mut shared) = (0.0, 0.0);
        for term in said.iter() {
            let weight = self.weights.of(term);
            all += weight;
            if self.terms.contains(term) {
                shared += weight;
                if first.contains(term) {
                    shared += FIRST_LINE * weight;
                }
            }
        }
        if shared == 0.0 {
            return 0.0;
        }
        shared / (self.root_of_weight * (1.0 + all / LENGTH))
    }
}

/// The semantic factor of a likeness, 0 to 1.
pub fn semantic(likeness: f64) -> f64 {
    likeness / (1.0 + likeness)
}

/// Whether a record of this likeness may be selected at all.
pub fn may_answer(likeness: f64) -> bool {
    likeness >= LEAST_LIKENESS
}

/// The mean over the live current nodes of what the record's touch is worth, by how often each has changed since; 0 without any.
pub fn structural(touch_counts: &[u64], current: usize) -> f64 {
    if current == 0 {
        return 0.0;
    }
    let worth = |count: &u64| TOUCHED + (1.0 - TOUCHED) / (1.0 + *count as f64 / CHANGES);
    sum(touch_counts.iter().map(worth)) / current as f64
}

/// A sum that is 0 where there is nothing; std's would be −0, which is another sequence of bytes.
fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |sum, number| sum + number)
}

/// What is left of a score by the share of the record's nodes that are still there, 0.75 to 1.
pub fn live_ratio(ground: &[Stand], nodes: usize) -> f64 {
    if nodes == 0 {
        return 1.0;
    }
    let live = ground.iter().filter(|stand| stand.is_live()).count();
    GONE + (1.0 - GONE) * (live as f64 / nodes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::State;
    use crate::score::conformance::prior;

    /// Every weight is a power of two, so that each figure can be computed by hand.
    fn weights() -> Weights {
        Weights::parse("cach\t0.5\nstore\t0.25\nsession\t0.25\n").expect("a table")
    }

    #[test]
    fn likeness_by_hand() {
        let weights = weights();
        // Q = cach 0.5 + redi 1 + store 0.25 + session 0.25 = 2.
        let asked = Asked::new("cached redis sessions are stored", &weights);
        assert_eq!(asked.root_of_weight, 2f64.sqrt());
        // I = (cach 0.5 + redi 1) + half of redi, which stands in the first line = 2; R = redi 1 + first 1 + cach 0.5 = 2.5.
        let said = prior("a", "redis first\ncaching", &[]);
        let by_hand = 2.0 / (2f64.sqrt() * (1.0 + 2.5 / 60.0));
        assert_eq!(asked.likeness(&said), by_hand);
        // A reason counts as the text does, but is no first line.
        let mut reasoned = prior("a", "first", &[]);
        reasoned.reasons = vec!["redis".into()];
        assert_eq!(
            asked.likeness(&reasoned),
            1.0 / (2f64.sqrt() * (1.0 + 2.0 / 60.0))
        );
        assert_eq!(asked.likeness(&prior("a", "nothing shared", &[])), 0.0);
        assert_eq!(Asked::new("?", &weights).likeness(&said), 0.0);
    }

    #[test]
    fn the_floor_rises_with_the_candidates() {
        assert_eq!(floor_shift(2000), 0.0);
        assert_eq!(floor_shift(4000), FLOOR_PER_DOUBLING);
        assert_eq!(floor_shift(0), 0.0);
    }

    #[test]
    fn semantic_and_gate() {
        assert_eq!(semantic(1.0), 0.5);
        assert_eq!(semantic(0.0), 0.0);
        assert!(may_answer(0.3) && !may_answer(0.3f64.next_down()));
    }

    #[test]
    fn structural_by_hand() {
        // Untouched since: 1. Three changes: 0.2 + 0.8 / 2 = 0.6. Of three current nodes one is not touched.
        assert_eq!(structural(&[0], 1), 1.0);
        assert_eq!(structural(&[3], 1), 0.2 + 0.8 / 2.0);
        assert_eq!(structural(&[0, 3], 3), (1.0 + (0.2 + 0.8 / 2.0)) / 3.0);
        assert_eq!(structural(&[], 2), 0.0);
        assert_eq!(structural(&[], 0), 0.0);
        assert!(structural(&[u64::MAX], 1) >= 0.2);
    }

    #[test]
    fn live_ratio_by_hand() {
        let stand = |state| Stand {
            state,
            in_focus: false,
            now: None,
        };
        assert_eq!(live_ratio(&[], 0), 1.0);
        assert_eq!(live_ratio(&[stand(State::Gone)], 1), 0.75);
        assert_eq!(
            live_ratio(&[stand(State::Gone), stand(State::Same)], 2),
            0.875
        );
    }
}
