//! `calibrate`: the floor and the gap that labelled pairs ask for (`scoring.md`, calibrate).
//!
//! In: what a rule made of each pair, scored without any floor. Out: both distributions, a floor, a gap ratio, and a policy file with
//! them. Never writes.

use super::figures::{Seen, floor_answering};

/// The share of controls that a floor may answer where the distributions overlap (`scoring.md`, measured/1).
const CALIBRATED: f64 = 0.1;
/// Shares of controls for which the trade-off is told.
const TOLD: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.5];

/// So many pairs that can be scored, and so many controls, it takes to write a floor, and so many pairs to raise the gap ratio: a share of
/// one in ten cannot be seen in fewer than ten.
pub const LEAST: usize = 10;

/// What labelled pairs say of a rule. Scores stand on the scale of the policy's floor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// For each pair whose records can be selected the score of the weakest.
    pub relevant: Vec<f64>,
    /// For each control the best score; 0 where no record may answer.
    pub controls: Vec<f64>,
    /// Pairs whose records are not there, or can never be selected.
    pub missed: usize,
    /// Whether every relevant record scores above every control.
    pub separates: bool,
    /// The floor that follows, with as few digits as part the same scores, at least four; none without a relevant record and a control,
    /// and where the scores separate and no control scores above 0: then nothing says how low the floor may be.
    pub floor: Option<f64>,
    /// The largest gap ratio that keeps the weakest relevant record of each pair that the floor keeps. Pairs whose records all come first
    /// do not say any; none where there are no others.
    pub gap: Option<f64>,
    /// The pairs that `gap` comes from.
    pub gap_pairs: usize,
    /// Floors with the share of the pairs they keep, and of the controls they answer.
    pub trade: Vec<(f64, f64, f64)>,
}

impl Calibration {
    /// How many pairs keep their records at a floor, and how many controls are answered.
    pub fn at(&self, floor: f64) -> (usize, usize) {
        let kept = self.relevant.iter().filter(|score| **score >= floor);
        // 0 stands for a control that no record may answer.
        let answered = |score: &&f64| **score >= floor && **score > 0.0;
        (kept.count(), self.controls.iter().filter(answered).count())
    }

    /// The gap ratio to have instead of the present one; none where that may stay. It comes down for a single pair that would lose a
    /// record, and goes up only by `LEAST` pairs.
    pub fn gap_instead_of(&self, present: f64) -> Option<f64> {
        let gap = self.gap?;
        (gap < present || (gap > present && self.gap_pairs >= LEAST)).then_some(gap)
    }

    /// Why the floor is not to be written, in one sentence; none where it may be.
    pub fn lack(&self) -> Option<String> {
        let (pairs, controls) = (self.relevant.len(), self.controls.len());
        if pairs < LEAST || controls < LEAST {
            return Some(format!(
                "so few lines give no floor to rely on: it takes {LEAST} pairs whose records can be found and {LEAST} controls, and here are \
                 {pairs} and {controls}"
            ));
        }
        let Some(floor) = self.floor else {
            return Some(
                "no control finds any record, so nothing says how low the floor may be: add controls that share words with records"
                    .into(),
            );
        };
        let best = self.relevant.last().copied().unwrap_or(0.0);
        (self.at(floor).0 == 0).then(|| {
            format!(
                "the floor that answers one control in ten is {floor}, and the best record that should come back has {best:.4}: with it nothing \
                 would be found"
            )
        })
    }

    /// As few digits after the point as part the same scores, at least four.
    fn short(&self, floor: f64) -> f64 {
        let mut scale = 10_000.0;
        while scale < 1e12 {
            let parts = [(floor * scale).round(), (floor * scale).ceil()];
            let fits = |short: &f64| *short > 0.0 && self.at(*short) == self.at(floor);
            if let Some(short) = parts.map(|part| part / scale).into_iter().find(fits) {
                return short;
            }
            scale *= 10.0;
        }
        floor
    }
}

/// Finds floor and gap: the geometric mean of the worst relevant and the best control score where they separate, else the lowest floor that
/// answers one in ten controls.
pub fn calibrate(seen: &[&Seen]) -> Calibration {
    let controls: Vec<&Seen> = seen.iter().copied().filter(|one| one.is_control).collect();
    let pairs: Vec<&Seen> = seen.iter().copied().filter(|one| !one.is_control).collect();
    let score = |one: &Seen| one.weakest.map(|score| score - one.shift);
    let best = |one: &&Seen| one.top.first().map_or(0.0, |(score, _)| score - one.shift);
    let mut made = Calibration {
        relevant: pairs.iter().filter_map(|one| score(one)).collect(),
        controls: controls.iter().map(best).collect(),
        ..Calibration::default()
    };
    made.missed = pairs.len() - made.relevant.len();
    made.relevant.sort_by(f64::total_cmp);
    made.controls.sort_by(f64::total_cmp);
    if let (Some(&worst), Some(&best)) = (made.relevant.first(), made.controls.last()) {
        made.separates = worst > best;
        made.floor = match made.separates {
            true => (best > 0.0).then(|| (worst * best).sqrt()),
            false => floor_answering(&controls, CALIBRATED),
        };
        made.floor = made.floor.map(|floor| made.short(floor));
    }
    for most in TOLD {
        if let Some(floor) = floor_answering(&controls, most) {
            let floor = made.short(floor);
            let (kept, answered) = made.at(floor);
            let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
            let answered = share(answered, controls.len());
            made.trade.push((floor, share(kept, pairs.len()), answered));
        }
    }
    let floor = made.floor.unwrap_or(0.0);
    let kept = pairs
        .iter()
        .filter(|one| score(one).is_some_and(|score| score >= floor));
    let gaps: Vec<f64> = kept
        .filter_map(|one| Some(one.weakest? / one.top.first()?.0))
        .filter(|gap| *gap < 1.0)
        .collect();
    made.gap_pairs = gaps.len();
    let gap = gaps.into_iter().min_by(f64::total_cmp);
    // Four digits, downward, so that what was kept stays kept.
    made.gap = gap.map(|gap| (gap.max(0.0) * 10_000.0).floor() / 10_000.0);
    made
}

/// How many scores of each list fall into each of `bins` equal parts from 0 to the highest score; the upper border of each part first.
pub fn histogram(made: &Calibration, bins: usize) -> Vec<(f64, usize, usize)> {
    let highest = made
        .relevant
        .iter()
        .chain(&made.controls)
        .copied()
        .fold(0.0, f64::max);
    if highest <= 0.0 || bins == 0 {
        return Vec::new();
    }
    let mut parts: Vec<(f64, usize, usize)> = (1..=bins)
        .map(|bin| (highest * bin as f64 / bins as f64, 0, 0))
        .collect();
    let place = |score: f64| ((score.max(0.0) / highest * bins as f64) as usize).min(bins - 1);
    for score in &made.relevant {
        parts[place(*score)].1 += 1;
    }
    for score in &made.controls {
        parts[place(*score)].2 += 1;
    }
    parts
}

/// A policy file with these values in `[attention]`; every other value that stood there is kept in a comment, and nothing else is touched.
/// Knows the table as `[attention]` alone: whoever asks has to look whether the result says what it should.
pub fn with_values(file: &str, values: &[(&str, f64)]) -> String {
    let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        lines = vec!["version = 1".into(), String::new()];
    }
    let is_header = |line: &String| line.trim_start().starts_with('[');
    let is_ours = |line: &String| {
        let name = line
            .trim_start()
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        name.is_some_and(|(name, _)| name.trim() == "attention")
    };
    let header = lines.iter().position(is_ours).unwrap_or_else(|| {
        lines.push("[attention]".into());
        lines.len() - 1
    });
    for (key, value) in values {
        let after = lines[header + 1..].iter().position(is_header);
        let end = after.map_or(lines.len(), |after| header + 1 + after);
        let is_key = |line: &String| {
            let name = line.split_once('=').map(|(name, _)| name.trim());
            name.is_some_and(|name| name.trim_matches(['"', '\'']) == *key)
        };
        let new = format!("{key} = {value:?}");
        match lines[header + 1..end].iter().position(is_key) {
            Some(at) => {
                let at = header + 1 + at;
                let said = lines[at].split_once('=').map_or("", |(_, said)| said);
                let said = said.split_once('#').map_or(said, |(said, _)| said);
                if said.trim().parse() == Ok(*value) {
                    continue;
                }
                let old = format!("# before calibrate: {}", lines[at].trim());
                lines[at] = new;
                lines.insert(at, old);
            }
            None => lines.insert(header + 1, new),
        }
    }
    let end = match file.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    };
    lines.join(end) + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(weakest: f64, best: f64) -> Seen {
        Seen {
            is_known: true,
            weakest: Some(weakest),
            top: vec![(best, weakest == best)],
            ..Seen::default()
        }
    }

    fn control(best: f64) -> Seen {
        Seen {
            is_control: true,
            top: vec![(best, false)],
            ..Seen::default()
        }
    }

    #[test]
    fn what_separates_is_parted_in_the_middle() {
        let seen = [pair(0.4, 0.8), pair(0.9, 0.9), control(0.1), control(0.05)];
        let made = calibrate(&seen.each_ref());
        assert!(made.separates);
        assert_eq!(made.floor, Some(0.2));
        assert_eq!((made.gap, made.gap_pairs), (Some(0.5), 1));
        assert_eq!(made.at(0.2), (2, 0));
    }

    #[test]
    fn what_overlaps_is_a_trade() {
        let mut seen: Vec<Seen> = (0..10).map(|at| control(f64::from(at) / 10.0)).collect();
        seen.extend([
            pair(0.85, 0.85),
            pair(0.2, 0.5),
            Seen {
                is_known: true,
                ..Seen::default()
            },
        ]);
        let made = calibrate(&seen.iter().collect::<Vec<_>>());
        assert!(!made.separates);
        // One of ten controls may be answered: above the second best of them, also in the digits that are written.
        assert_eq!(made.floor, Some(0.8001));
        assert_eq!((made.missed, made.gap), (1, None));
        let (_, kept, answered) = made.trade[2];
        assert_eq!((kept, answered), (1.0 / 3.0, 0.1));
    }

    #[test]
    fn without_controls_there_is_no_floor() {
        let seen = [pair(0.4, 0.8)];
        let made = calibrate(&seen.each_ref());
        assert_eq!((made.floor, made.gap), (None, Some(0.5)));
        assert_eq!(calibrate(&[]), Calibration::default());
        assert!(histogram(&Calibration::default(), 5).is_empty());
    }

    #[test]
    fn pairs_whose_record_comes_first_say_nothing_of_the_gap() {
        let mut seen: Vec<Seen> = (0..30).map(|_| pair(0.9, 0.9)).collect();
        seen.extend((0..10).map(|_| control(0.1)));
        let gap = |seen: &[Seen]| calibrate(&seen.iter().collect::<Vec<_>>());
        let made = gap(&seen);
        assert_eq!((made.gap, made.gap_instead_of(0.35)), (None, None));
        // One pair lowers it and does not raise it; ten raise it.
        seen.push(pair(0.45, 0.9));
        let made = gap(&seen);
        assert_eq!(made.gap_instead_of(0.35), None);
        assert_eq!(made.gap_instead_of(0.6), Some(0.5));
        seen.extend((0..9).map(|_| pair(0.6, 0.8)));
        assert_eq!(gap(&seen).gap_instead_of(0.35), Some(0.5));
    }

    #[test]
    fn a_floor_that_is_not_to_be_written_says_why() {
        let lack = |seen: Vec<Seen>| calibrate(&seen.iter().collect::<Vec<_>>()).lack();
        let many = |pairs: f64, controls: f64| -> Vec<Seen> {
            let pairs = (0..10).map(|_| pair(pairs, pairs));
            pairs.chain((0..20).map(|_| control(controls))).collect()
        };
        assert_eq!(lack(many(0.5, 0.1)), None);
        let said = lack(vec![pair(0.5, 0.5), control(0.1)]).expect("too few");
        assert!(said.contains("here are 1 and 1"), "{said}");
        let said = lack(many(0.5, 0.0)).expect("no control finds anything");
        assert!(said.contains("add controls"), "{said}");
        // Above every record that should come back, and so above every answer.
        let said = lack(many(0.2, 0.6)).expect("it keeps nothing");
        assert!(said.contains("0.6001") && said.contains("0.2000"), "{said}");
        assert_eq!(
            calibrate(&[]).lack().map(|said| said.is_empty()),
            Some(false)
        );
    }

    #[test]
    fn every_score_falls_into_one_part() {
        let made = Calibration {
            relevant: vec![0.1, 1.0],
            controls: vec![0.0, 0.49, 0.51],
            ..Calibration::default()
        };
        assert_eq!(histogram(&made, 2), [(0.5, 1, 2), (1.0, 1, 1)]);
    }

    #[test]
    fn old_values_stay_in_a_comment() {
        let file = "version = 1 # ours\n[attention]\nrule = \"measured/1\"\n'answer_floor' = 0.3\n[privacy]\nretention_days = 5\n";
        let new = with_values(file, &[("answer_floor", 0.25), ("rank_gap_ratio", 0.5)]);
        let expected = "version = 1 # ours\n[attention]\nrank_gap_ratio = 0.5\nrule = \"measured/1\"\n# before calibrate: 'answer_floor' = 0.3\n\
            answer_floor = 0.25\n[privacy]\nretention_days = 5\n";
        assert_eq!(new, expected);
        assert_eq!(with_values(&new, &[("answer_floor", 0.25)]), new);
        let windows = with_values("[attention]\r\ntop_k = 3\r\n", &[("noise_floor", 0.5)]);
        assert_eq!(windows, "[attention]\r\nnoise_floor = 0.5\r\ntop_k = 3\r\n");
        assert_eq!(
            with_values("", &[("noise_floor", 1.0)]),
            "version = 1\n\n[attention]\nnoise_floor = 1.0\n"
        );
    }
}
