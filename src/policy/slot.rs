//! The keys of a policy file: where the value of each lies, what it may be, what it counts, and where its default comes from.
//!
//! In: a key, a value of TOML. Out: the value put in its place, or what is wrong with it. Never reads a file.

use toml::Value;

use super::values::{Policy, RULES, Rule, Selecting};

/// The place of one value in a policy, with what may stand there.
pub(super) enum Slot<'a> {
    Rule(&'a mut String),
    Selection(&'a mut Selecting),
    Flag(&'a mut bool),
    /// 0 to 1.
    Share(&'a mut f64),
    /// 0 to 1, or nothing.
    Floor(&'a mut Option<f64>),
    /// Above 0.
    Positive(&'a mut f64),
    /// From the first number to the second.
    Count(&'a mut u64, u64, u64),
}

/// What stands for the value of a key that the rule in force does not use.
const UNUSED: &str = "unused";

/// TOML has no larger integer.
const MOST: u64 = i64::MAX as u64;

const GIVEN: &str = "given with the project";
const OURS: &str = "ours";
const FORMULA: &str = "the formula the project was asked for, exactly";
const FLOOR: &str =
    "given: geometric mean of the worst relevant (0.0619) and the best control (0.0217)";
const ANSWERED: &str =
    "measured: answers at most one in ten unrelated questions of nine histories, of 2,000 records";
const GAP: &str = "given: keeps the weakest relevant record";
const LIVE: &str = "given: decisions on build and configuration stay reachable";
const DECAY: &str = "given: retention already drops old session records";

/// Key, unit and source of every value, in the order of the documentation.
pub(super) const KEYS: [(&str, &str, &str); 23] = [
    ("attention.rule", "", FORMULA),
    ("attention.w_semantic", "", GIVEN),
    ("attention.w_structural", "", GIVEN),
    ("attention.selection", "", GIVEN),
    ("attention.noise_floor", "", FLOOR),
    ("attention.answer_floor", "", ANSWERED),
    ("attention.rank_gap_ratio", "", GAP),
    ("attention.score_threshold", "", GIVEN),
    ("attention.top_k", "records", GIVEN),
    ("attention.rejected_k", "records", OURS),
    ("attention.live_ratio_floor", "", LIVE),
    ("attention.structural_hops", "steps", GIVEN),
    ("attention.max_focus_nodes", "nodes", OURS),
    ("attention.min_structural_ground", "nodes", GIVEN),
    ("attention.outcome_bonus", "", GIVEN),
    ("attention.outcome_reward", "", GIVEN),
    ("attention.min_corroboration", "sessions", GIVEN),
    ("attention.recency_decay", "", DECAY),
    ("attention.half_life_days", "days", GIVEN),
    ("privacy.retention_days", "days", GIVEN),
    ("privacy.attention_days", "days", OURS),
    ("privacy.max_prior_chars", "bytes", GIVEN),
    ("privacy.max_prior_total_chars", "bytes", GIVEN),
];

/// The place of a key, with its range; `None` for a key nobody knows.
pub(super) fn slot<'a>(policy: &'a mut Policy, key: &str) -> Option<Slot<'a>> {
    let p = policy;
    Some(match key {
        "attention.rule" => Slot::Rule(&mut p.rule),
        "attention.w_semantic" => Slot::Share(&mut p.w_semantic),
        "attention.w_structural" => Slot::Share(&mut p.w_structural),
        "attention.selection" => Slot::Selection(&mut p.selection),
        "attention.noise_floor" => Slot::Share(&mut p.noise_floor),
        "attention.answer_floor" => Slot::Floor(&mut p.answer_floor),
        "attention.rank_gap_ratio" => Slot::Share(&mut p.rank_gap_ratio),
        "attention.score_threshold" => Slot::Share(&mut p.score_threshold),
        "attention.top_k" => Slot::Count(&mut p.top_k, 1, MOST),
        "attention.rejected_k" => Slot::Count(&mut p.rejected_k, 1, MOST),
        "attention.live_ratio_floor" => Slot::Share(&mut p.live_ratio_floor),
        "attention.structural_hops" => Slot::Count(&mut p.structural_hops, 0, 1),
        "attention.max_focus_nodes" => Slot::Count(&mut p.max_focus_nodes, 1, MOST),
        "attention.min_structural_ground" => Slot::Count(&mut p.min_structural_ground, 1, MOST),
        "attention.outcome_bonus" => Slot::Share(&mut p.outcome_bonus),
        "attention.outcome_reward" => Slot::Share(&mut p.outcome_reward),
        "attention.min_corroboration" => Slot::Count(&mut p.min_corroboration, 1, MOST),
        "attention.recency_decay" => Slot::Flag(&mut p.recency_decay),
        "attention.half_life_days" => Slot::Positive(&mut p.half_life_days),
        "privacy.retention_days" => Slot::Count(&mut p.retention_days, 1, MOST),
        "privacy.attention_days" => Slot::Count(&mut p.attention_days, 1, MOST),
        "privacy.max_prior_chars" => Slot::Count(&mut p.max_prior_chars, 1, MOST),
        "privacy.max_prior_total_chars" => Slot::Count(&mut p.max_prior_total_chars, 1, MOST),
        _ => return None,
    })
}

impl Slot<'_> {
    pub(super) fn get(&self) -> Value {
        match self {
            Slot::Rule(rule) => Value::String((*rule).clone()),
            Slot::Selection(selecting) => Value::String(selecting.as_str().to_owned()),
            Slot::Flag(flag) => Value::Boolean(**flag),
            Slot::Share(number) | Slot::Positive(number) => Value::Float(**number),
            Slot::Floor(floor) => match **floor {
                Some(floor) => Value::Float(floor),
                None => Value::String(UNUSED.to_owned()),
            },
            Slot::Count(count, ..) => Value::Integer(i64::try_from(**count).unwrap_or(i64::MAX)),
        }
    }

    pub(super) fn range(&self) -> String {
        match self {
            Slot::Rule(_) => RULES.map(Rule::as_str).join(", "),
            Slot::Selection(_) => "rank, threshold".to_owned(),
            Slot::Flag(_) => "true, false".to_owned(),
            Slot::Share(_) | Slot::Floor(_) => "0 to 1".to_owned(),
            Slot::Positive(_) => "above 0".to_owned(),
            Slot::Count(_, least, MOST) => format!("at least {least}"),
            Slot::Count(_, least, most) => format!("{least} to {most}"),
        }
    }

    /// Takes a value in; the sentence that says why not.
    pub(super) fn set(self, value: &Value) -> Result<(), String> {
        let range = self.range();
        let out_of_range = || format!("{value} is out of range ({range})");
        match (self, value) {
            (Slot::Rule(place), Value::String(rule)) if Rule::named(rule).is_some() => {
                place.clone_from(rule)
            }
            (Slot::Rule(_), Value::String(rule)) => {
                return Err(format!(
                    "the rule '{}' is not in this version, which knows {range}",
                    rule.escape_debug()
                ));
            }
            (Slot::Selection(place), Value::String(name)) => match name.as_str() {
                "rank" => *place = Selecting::Rank,
                "threshold" => *place = Selecting::Threshold,
                _ => return Err(format!("'{}' is none of {range}", name.escape_debug())),
            },
            (Slot::Flag(place), Value::Boolean(flag)) => *place = *flag,
            (Slot::Share(place), Value::Float(_) | Value::Integer(_)) => {
                *place = share(value).ok_or_else(out_of_range)?;
            }
            (Slot::Floor(place), Value::Float(_) | Value::Integer(_)) => {
                *place = Some(share(value).ok_or_else(out_of_range)?);
            }
            (Slot::Positive(place), Value::Float(_) | Value::Integer(_)) => {
                *place = number(value)
                    .filter(|days| *days > 0.0 && days.is_finite())
                    .ok_or_else(out_of_range)?;
            }
            (Slot::Count(place, least, most), Value::Integer(count)) => {
                let count = u64::try_from(*count)
                    .ok()
                    .filter(|count| (least..=most).contains(count));
                *place = count.ok_or_else(out_of_range)?;
            }
            (slot, value) => return Err(format!("{} where {} belongs", kind(value), slot.kind())),
        }
        Ok(())
    }

    fn kind(&self) -> &'static str {
        match self {
            Slot::Rule(_) | Slot::Selection(_) => "a string",
            Slot::Flag(_) => "true or false",
            Slot::Share(_) | Slot::Floor(_) | Slot::Positive(_) => "a number",
            Slot::Count(..) => "a whole number",
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Integer(whole) => Some(*whole as f64),
        _ => None,
    }
}

/// A number from 0 to 1. Adding zero makes a negative zero positive, so that equal policies have equal bytes.
fn share(value: &Value) -> Option<f64> {
    let share = number(value).filter(|share| (0.0..=1.0).contains(share))?;
    Some(share + 0.0)
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number with a fraction",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a time",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}
