//! The factors of rule `measured/1`, where they differ from those of `seed/1`. It began as `scoring.md` has it; likeness, the part of the
//! code, and the floor were found by measurement since, and what was tried stands in the README ("How well it finds").
//!
//! In: the terms of the task, a record, what became of its nodes, what was counted in Git's history. Out: numbers. Each depends on the
//! question, the record and Git's history, never on what else is stored. Only `+ - * /` and the exactly rounded square root.

use crate::repo::Kept;
use crate::score::ground::Stand;
use crate::score::weights::Weights;
use crate::store::view::Prior;
use crate::token::{Terms, terms};

/// Of BM25, as it is usually run: where a further occurrence of a word adds half of what is left to add, and how much of that a text's
/// length decides.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Words of a text of usual length. BM25 takes the mean of what is stored, on which no score may depend; this is near that of the nine
/// open histories and of the records made from python/peps (README, "How well it finds").
const USUAL_LENGTH: f64 = 80.0;
/// How much more a word of the first line counts (same place).
const FIRST_LINE: f64 = 0.25;
/// How much the words of the text count, and those of the code that its commit wrote (same place).
const TEXT: f64 = 0.7;
const CODE: f64 = 1.3;
/// Least likeness with which a record may be selected, so that the code alone never answers (same place, gate).
const LEAST_LIKENESS: f64 = 0.3;
/// What a touched node is worth however often it has changed since (same place, structural).
const TOUCHED: f64 = 0.2;
/// Changes of the ground that halve what a touched node is worth beyond that (same place).
const CHANGES: f64 = 3.0;
/// What is left of that when no line stands any more that the record's commit wrote there (README, "How well it finds").
const WRITTEN_OVER: f64 = 0.5;
/// What is left of a score when all the ground is gone (same place).
const GONE: f64 = 0.75;

/// How many candidates `answer_floor` is meant for.
const CANDIDATES: f64 = 2000.0;
/// How far the floor rises when the number of candidates doubles beyond that: about what keeps the share of the controls of the nine open
/// histories that are answered at 20,000 records where it is at 2,000. Fitted to all nine at once, not checked on a history left out.
const FLOOR_PER_DOUBLING: f64 = 0.008;
/// How far it lies lower when no current node is there, so that neither structure nor code can speak. Without it such a question would
/// hardly ever be answered; 0.1 would answer as many unrelated ones as with nodes on the nine open histories, and far more among the longer
/// texts of rejected ideas (README, "How well it finds").
const WITHOUT_NODES: f64 = 0.06;

/// What is added to `answer_floor` among so many candidates, for a question with so many current nodes that are there. The best score of
/// an unrelated question grows with the number of candidates, so a fixed floor would answer ever more of them. Below 2,000 it stays: a
/// lower one would answer more questions of the same project that have no answer. No score depends on it, and a look-up holds both
/// numbers.
pub fn floor_shift(candidates: usize, current: usize) -> f64 {
    let doublings = libm::log2((candidates as f64).max(CANDIDATES) / CANDIDATES);
    let lower = if current == 0 { WITHOUT_NODES } else { 0.0 };
    FLOOR_PER_DOUBLING * doublings - lower
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

    /// T: the weight of the words that task and record share, by how often and in how long a text, and of the words of the task in the
    /// code that the record's commit wrote, by the root of the weight of the task; 0 and above.
    pub fn likeness(&self, prior: &Prior, words: &[usize], holders: &[u64]) -> f64 {
        let likeness = self.of_text(prior) + self.of_code(words, holders);
        if likeness == 0.0 {
            return 0.0;
        }
        likeness / self.root_of_weight
    }

    /// What the code says that the record's commit wrote and that still stands in the current nodes: the weight of each word of the task
    /// in it, by the root of how many commits wrote such lines.
    fn of_code(&self, words: &[usize], holders: &[u64]) -> f64 {
        let mut words = words.iter().peekable();
        let mut said = 0.0;
        for (at, term) in self.terms.iter().enumerate() {
            if words.next_if(|word| **word == at).is_some() {
                let holders = holders.get(at).copied().unwrap_or(1).max(1);
                said += self.weights.of(term) / (holders as f64).sqrt();
            }
        }
        CODE * said
    }

    /// What text and reasons say of the task: BM25 with frozen weights in place of the rarity of words in what is stored; words of the
    /// first line once more.
    fn of_text(&self, prior: &Prior) -> f64 {
        let texts = std::iter::once(&prior.text).chain(&prior.reasons);
        let said = Terms::counted(texts.map(String::as_str));
        let mut counts = vec![0u32; self.terms.len()];
        for term in &said {
            if let Some(at) = self.terms.place(term) {
                counts[at] += 1;
            }
        }
        let first = terms(prior.text.lines().next().unwrap_or_default());
        let length = 1.0 - B + B * (said.len() as f64 / USUAL_LENGTH);
        let mut likeness = 0.0;
        for (term, count) in self.terms.iter().zip(counts) {
            if count == 0 {
                continue;
            }
            let count = f64::from(count);
            let mut worth = count * (K1 + 1.0) / (count + K1 * length);
            if first.contains(term) {
                worth += FIRST_LINE;
            }
            likeness += self.weights.of(term) * worth;
        }
        TEXT * likeness
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

/// The mean over the live current nodes of what the record's touch is worth, by how often each has changed since and how much still
/// stands there of what the record's commit wrote; 0 without any.
pub fn structural(touch_counts: &[u64], kept: &[Kept], current: usize) -> f64 {
    if current == 0 {
        return 0.0;
    }
    let worth = |(count, kept): (&u64, &Kept)| {
        let changed = TOUCHED + (1.0 - TOUCHED) / (1.0 + *count as f64 / CHANGES);
        let stands = kept.standing as f64 / kept.added.max(1) as f64;
        changed * (WRITTEN_OVER + (1.0 - WRITTEN_OVER) * stands)
    };
    sum(touch_counts.iter().zip(kept).map(worth)) / current as f64
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

    fn weights() -> Weights {
        Weights::parse("cach\t0.5\nstore\t0.25\nsession\t0.25\n").expect("a table")
    }

    #[test]
    fn likeness_by_hand() {
        let weights = weights();
        // Q = cach 0.5 + redi 1 + store 0.25 + session 0.25 = 2.
        let asked = Asked::new("cached redis sessions are stored", &weights);
        assert_eq!(asked.root_of_weight, 2f64.sqrt());
        let worth = |count: f64, words: f64| {
            count * 2.2 / (count + 1.2 * (1.0 - 0.75 + 0.75 * (words / 80.0)))
        };
        // Four words: cach twice, redi, which stands in the first line, and first.
        let said = prior("a", "redis first\ncaching caches", &[]);
        let by_hand = 0.5 * worth(2.0, 4.0) + (worth(1.0, 4.0) + 0.25);
        assert_eq!(asked.likeness(&said, &[], &[]), 0.7 * by_hand / 2f64.sqrt());
        // A reason counts as the text does, but is no first line.
        let mut reasoned = prior("a", "first", &[]);
        reasoned.reasons = vec!["redis".into()];
        assert_eq!(
            asked.likeness(&reasoned, &[], &[]),
            0.7 * worth(1.0, 2.0) / 2f64.sqrt()
        );
        let other = prior("a", "nothing shared", &[]);
        assert_eq!(asked.likeness(&other, &[], &[]), 0.0);
        assert_eq!(Asked::new("?", &weights).likeness(&said, &[], &[]), 0.0);
    }

    #[test]
    fn code_by_hand() {
        let weights = weights();
        // In the order of their bytes: cach 0.5, redi 1, session 0.25, store 0.25; together 2.
        let asked = Asked::new("cached redis sessions are stored", &weights);
        let other = prior("a", "nothing shared", &[]);
        // Lines with cach are of this commit alone, lines with redi of four commits.
        let by_hand = CODE * (0.5 + 1.0 / 2.0) / 2f64.sqrt();
        assert_eq!(asked.likeness(&other, &[0, 1], &[1, 4, 2, 0]), by_hand);
    }

    #[test]
    fn the_floor_rises_with_the_candidates() {
        assert_eq!(floor_shift(2000, 1), 0.0);
        assert_eq!(floor_shift(4000, 1), FLOOR_PER_DOUBLING);
        assert_eq!(floor_shift(0, 3), 0.0);
        assert_eq!(floor_shift(0, 0), -WITHOUT_NODES);
    }

    #[test]
    fn semantic_and_gate() {
        assert_eq!(semantic(1.0), 0.5);
        assert_eq!(semantic(0.0), 0.0);
        assert!(may_answer(0.3) && !may_answer(0.3f64.next_down()));
    }

    #[test]
    fn structural_by_hand() {
        let (all, half, none) = (kept(4, 4), kept(4, 2), kept(4, 0));
        // Untouched since: 1. Three changes: 0.2 + 0.8 / 2 = 0.6. Of three current nodes one is not touched.
        assert_eq!(structural(&[0], &[all], 1), 1.0);
        assert_eq!(structural(&[3], &[all], 1), 0.2 + 0.8 / 2.0);
        assert_eq!(
            structural(&[0, 3], &[all, all], 3),
            (1.0 + (0.2 + 0.8 / 2.0)) / 3.0
        );
        // Half of what was written stands, none of it, and nothing was written, only taken away.
        assert_eq!(structural(&[0], &[half], 1), 0.75);
        assert_eq!(structural(&[0], &[none], 1), 0.5);
        assert_eq!(structural(&[0], &[kept(0, 0)], 1), 0.5);
        assert_eq!(structural(&[], &[], 2), 0.0);
        assert_eq!(structural(&[], &[], 0), 0.0);
        assert!(structural(&[u64::MAX], &[all], 1) >= 0.2);
    }

    fn kept(added: u64, standing: u64) -> Kept {
        Kept { added, standing }
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
