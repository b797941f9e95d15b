//! From what was seen of each case to figures, and to the interval of a difference.
//!
//! In: one [`Seen`] for each case. Out: means. The same cases give the same figures: the resampling has a fixed seed.

use serde::Serialize;

/// The share of controls at which a ranker without a floor of its own is given one, and rules are compared.
const CALIBRATED: f64 = 0.1;
/// How many times cases are drawn for an interval.
const DRAWS: usize = 2000;
/// How many records count as the first ones.
const FIRST: usize = 5;

/// What one ranker made of one case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Whether nothing should have come back.
    pub is_control: bool,
    /// Whether a right record was among those asked of.
    pub is_known: bool,
    /// Whether the youngest right record was at least 30 days old.
    pub is_old: bool,
    /// 1 / place of the first right record; 0 where none was ranked.
    pub reciprocal: f64,
    /// The share of the right records among the first five.
    pub recall: f64,
    /// The discounted gain of the first five, as a share of the best possible.
    pub gain: f64,
    /// For each selected record whether it is right.
    pub selected: Vec<bool>,
    /// Whether anything was selected with the right records taken away.
    pub is_answered_without: bool,
    /// Whether a replaced record was selected.
    pub holds_replaced: bool,
    /// What the rule adds to its floor among so many candidates.
    pub shift: f64,
    /// Of the right records the score of the weakest that may be selected at all; none where one may not.
    pub weakest: Option<f64>,
    /// What would be selected without any floor: scores, and whether each is right.
    pub top: Vec<(f64, bool)>,
    /// The same with the right records taken away.
    pub top_without: Vec<(f64, bool)>,
}

impl Seen {
    /// Takes in the whole ranking: for each record, best first, whether it is right.
    pub fn rank(&mut self, ranking: impl Iterator<Item = bool>, right: usize) {
        let discount = |place: usize| 1.0 / libm::log2(place as f64 + 2.0);
        let (mut found, mut gain) = (0usize, 0.0);
        for (place, _) in ranking.enumerate().filter(|(_, is_right)| *is_right) {
            if self.reciprocal == 0.0 {
                self.reciprocal = 1.0 / (place + 1) as f64;
            }
            if place < FIRST {
                found += 1;
                gain += discount(place);
            }
        }
        if right > 0 {
            let ideal: f64 = (0..right.min(FIRST)).map(discount).sum();
            self.recall = found as f64 / right as f64;
            self.gain = gain / ideal;
        }
    }

    /// What is selected at another floor.
    fn at_floor(&self, floor: f64, gap: f64) -> &[(f64, bool)] {
        let best = self.top.first().map_or(0.0, |(score, _)| *score);
        let cut = (floor + self.shift).max(gap * best);
        let count = self
            .top
            .iter()
            .take_while(|(score, _)| *score >= cut)
            .count();
        &self.top[..count]
    }
}

/// The figures of one ranker; shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// The rule or baseline.
    pub rule: String,
    /// Cases with an answer among the records.
    pub cases: usize,
    /// Mean of 1 / place of the first right record.
    pub mrr: f64,
    /// The same over references at least 30 days old.
    pub mrr_30d: f64,
    /// Share of the cases in which the first record of all is a right one.
    pub first: f64,
    /// Mean share of the right records among the first five.
    pub recall5: f64,
    /// Mean normalised discounted gain of the first five.
    pub ndcg5: f64,
    /// Share of the cases in which a right record was selected.
    pub selected: f64,
    /// Mean number of records of an answer.
    pub size: f64,
    /// Mean share of right records in an answer.
    pub precision: f64,
    /// Share of the cases without any answer.
    pub empty: f64,
    /// Share of the controls that were answered.
    pub controls: f64,
    /// Share of the cases still answered with the right records taken away.
    pub removed: f64,
    /// Share of answers that hold a replaced record.
    pub replaced: f64,
    /// Share of the cases selected at the floor that answers one in ten controls; none without controls.
    pub selected_at_10: Option<f64>,
    /// That floor.
    pub floor_at_10: Option<f64>,
    /// Cases whose right record was not among the records.
    pub unknown: usize,
}

/// Sums up. `gap` is the least share of the best score that is still selected. Without `own_floor`, selections are made at the floor that
/// answers one in ten of these very controls, which favours the ranker; `never_silent` ones have no floor at all.
pub fn figures(
    rule: &str,
    seen: &[&Seen],
    gap: f64,
    has_own_floor: bool,
    is_never_silent: bool,
) -> Figures {
    let cases: Vec<&Seen> = seen
        .iter()
        .copied()
        .filter(|one| !one.is_control && one.is_known)
        .collect();
    let asked: Vec<&Seen> = seen.iter().copied().filter(|one| !one.is_control).collect();
    let controls: Vec<&Seen> = seen.iter().copied().filter(|one| one.is_control).collect();
    let old: Vec<&Seen> = cases.iter().copied().filter(|one| one.is_old).collect();
    let floor = floor_answering(&controls, CALIBRATED);
    let at_floor = |one: &Seen, floor: f64| -> Vec<bool> {
        one.at_floor(floor, gap)
            .iter()
            .map(|(_, is_right)| *is_right)
            .collect()
    };
    let selected = |one: &Seen| match floor {
        Some(floor) if !has_own_floor && !is_never_silent => at_floor(one, floor),
        _ => one.selected.clone(),
    };
    let without = |one: &Seen| match floor {
        Some(floor) if !has_own_floor && !is_never_silent => one
            .top_without
            .first()
            .is_some_and(|(score, _)| *score >= floor + one.shift),
        _ => one.is_answered_without,
    };
    let answers: Vec<Vec<bool>> = cases.iter().map(|one| selected(one)).collect();
    let given: Vec<&Vec<bool>> = answers.iter().filter(|answer| !answer.is_empty()).collect();
    let right = |answer: &[bool]| answer.iter().filter(|is_right| **is_right).count() as f64;
    Figures {
        rule: rule.to_owned(),
        cases: cases.len(),
        mrr: mean(cases.iter().map(|one| one.reciprocal)),
        mrr_30d: mean(old.iter().map(|one| one.reciprocal)),
        first: share(cases.iter().map(|one| one.reciprocal == 1.0)),
        recall5: mean(cases.iter().map(|one| one.recall)),
        ndcg5: mean(cases.iter().map(|one| one.gain)),
        selected: share(answers.iter().map(|answer| right(answer) > 0.0)),
        size: mean(given.iter().map(|answer| answer.len() as f64)),
        precision: mean(
            given
                .iter()
                .map(|answer| right(answer) / answer.len() as f64),
        ),
        empty: share(answers.iter().map(Vec::is_empty)),
        controls: share(controls.iter().map(|one| !selected(one).is_empty())),
        removed: share(asked.iter().map(|one| without(one))),
        replaced: share(seen.iter().map(|one| one.holds_replaced)),
        selected_at_10: floor
            .filter(|_| !is_never_silent)
            .map(|floor| share(cases.iter().map(|one| right(&at_floor(one, floor)) > 0.0))),
        floor_at_10: floor.filter(|_| !is_never_silent),
        unknown: asked.len() - cases.len(),
    }
}

/// The lowest floor at which at most this share of the controls is answered; none without controls.
pub fn floor_answering(controls: &[&Seen], most: f64) -> Option<f64> {
    if controls.is_empty() {
        return None;
    }
    let mut best: Vec<f64> = controls
        .iter()
        .filter_map(|one| one.top.first().map(|(score, _)| *score - one.shift))
        .collect();
    best.sort_by(|left, right| right.total_cmp(left));
    let allowed = (most * controls.len() as f64) as usize;
    // Just above the best score that must stay unanswered.
    Some(best.get(allowed).map_or(0.0, |score| score.next_up()))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    if count == 0 { 0.0 } else { sum / count as f64 }
}

fn share(values: impl Iterator<Item = bool>) -> f64 {
    mean(values.map(|value| f64::from(u8::from(value))))
}

/// How much better one ranker places the right record than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Difference of the means of 1 / place.
    pub mrr: f64,
    /// Nineteen of twenty resamplings of the cases lie between these.
    pub interval: (f64, f64),
}

/// The difference of `MRR` over the same cases, with the interval of 2,000 resamplings, each pair of a case kept together; `old_only`
/// takes references at least 30 days old.
pub fn difference(one: &[&Seen], other: &[&Seen], old_only: bool) -> Difference {
    let pairs: Vec<f64> = one
        .iter()
        .zip(other)
        .filter(|(one, _)| !one.is_control && one.is_known && (one.is_old || !old_only))
        .map(|(one, other)| one.reciprocal - other.reciprocal)
        .collect();
    if pairs.is_empty() {
        return Difference {
            mrr: 0.0,
            interval: (0.0, 0.0),
        };
    }
    let mut random = Random(0x5eed);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| mean((0..pairs.len()).map(|_| pairs[random.below(pairs.len())])))
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = DRAWS / 40;
    Difference {
        mrr: mean(pairs.iter().copied()),
        interval: (means[tail], means[DRAWS - 1 - tail]),
    }
}

/// SplitMix64: the same numbers on every machine, and no more is asked of it.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * most as u128) >> 64) as usize
    }
}
