//! `calibrate`: the floor and the gap that labelled pairs ask for (`scoring.md`, calibrate).
//!
//! In: what a rule made of each pair, scored without any floor. Out: both distributions, a floor, a gap ratio, and a policy file with
//! them. Never writes.

use super::figures::{Seen, floor_answering};

/// The share of controls that a floor may answer where the distributions overlap (`scoring.md`, measured/1).
const CALIBRATED: f64 = 0.1;
/// Shares of controls for which the trade-off is told.
const TOLD: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.5];

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
    /// The floor that follows; none without a relevant record and a control.
    pub floor: Option<f64>,
    /// The largest gap ratio that keeps the weakest relevant record that the floor keeps; none without one.
    pub gap: Option<f64>,
    /// Floors with the share of the pairs they keep, and of the controls they answer.
    pub trade: Vec<(f64, f64, f64)>,
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
    if let (Some(worst), Some(best)) = (made.relevant.first(), made.controls.last()) {
        made.separates = worst > best;
        made.floor = match made.separates {
            true => Some((worst * best.max(0.0)).sqrt()),
            false => floor_answering(&controls, CALIBRATED),
        };
    }
    for most in TOLD {
        if let Some(floor) = floor_answering(&controls, most) {
            let kept = made
                .relevant
                .iter()
                .filter(|score| **score >= floor)
                .count();
            let answered = made
                .controls
                .iter()
                .filter(|score| **score >= floor && **score > 0.0);
            let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
            let answered = share(answered.count(), made.controls.len());
            made.trade.push((floor, share(kept, pairs.len()), answered));
        }
    }
    let floor = made.floor.unwrap_or(0.0);
    let kept = pairs
        .iter()
        .filter(|one| score(one).is_some_and(|score| score >= floor));
    let gaps = kept.filter_map(|one| Some(one.weakest? / one.top.first()?.0));
    made.gap = gaps.min_by(f64::total_cmp).map(|gap| gap.clamp(0.0, 1.0));
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

/// A policy file with these values in `[attention]`; every value that stood there is kept in a comment, and nothing else is touched.
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
                let old = format!("# before calibrate: {}", lines[at].trim());
                lines[at] = new;
                lines.insert(at, old);
            }
            None => lines.insert(header + 1, new),
        }
    }
    lines.join("\n") + "\n"
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
        assert_eq!(made.floor, Some((0.4f64 * 0.1).sqrt()));
        assert_eq!(made.gap, Some(0.5));
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
        // One of ten controls may be answered: just above the second best of them.
        assert_eq!(made.floor, Some(0.8f64.next_up()));
        assert_eq!((made.missed, made.gap), (1, Some(1.0)));
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
        assert_eq!(
            with_values("", &[("noise_floor", 1.0)]),
            "version = 1\n\n[attention]\nnoise_floor = 1.0\n"
        );
    }
}
