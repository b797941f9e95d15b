//! Every number that can change a result: default, range, unit and source (`scoring.md`, Policy).
//!
//! In: the text of a policy file. Out: a [`Policy`], or one sentence that names the key at fault. Never reads a file, and never puts a
//! default in the place of a value it does not understand.

use serde::{Deserialize, Serialize};
use toml::Value;

/// A rule that this version can apply (`scoring.md`); frozen once released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The formula as the project was asked for.
    #[default]
    Seed1,
    /// The same formula with factors chosen by measurement.
    Measured1,
}

/// The rules this version can apply, in the order of their age.
pub const RULES: [Rule; 2] = [Rule::Seed1, Rule::Measured1];

impl Rule {
    /// The name in a policy and in a look-up.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Seed1 => "seed/1",
            Rule::Measured1 => "measured/1",
        }
    }

    /// The rule of this name; none when this version does not know it.
    pub fn named(name: &str) -> Option<Self> {
        RULES.into_iter().find(|rule| rule.as_str() == name)
    }
}

/// The version of the file form this version reads.
const VERSION: i64 = 1;

/// How the cut-off is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selecting {
    /// max(noise floor, gap ratio · best score).
    Rank,
    /// The score threshold alone.
    Threshold,
}

impl Selecting {
    /// The word used in JSON and in the policy file.
    pub fn as_str(self) -> &'static str {
        match self {
            Selecting::Rank => "rank",
            Selecting::Threshold => "threshold",
        }
    }
}

/// Every number that can change a result; stored in full with each look-up, in the order declared here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The rule. A stored policy may name one that this version does not know; a file may not.
    pub rule: String,
    /// Weight of the likeness of the texts, 0 to 1.
    pub w_semantic: f64,
    /// Weight of the nearness in the code, 0 to 1.
    pub w_structural: f64,
    /// How the cut-off is made.
    pub selection: Selecting,
    /// Lowest score ever selected by `rank`, 0 to 1.
    pub noise_floor: f64,
    /// Lowest score ever selected by `rank` under `measured/1` among 2,000 candidates, 0 to 1; none under a rule that has no such floor, so that what
    /// `seed/1` stored keeps its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_floor: Option<f64>,
    /// Lowest share of the best score that `rank` still selects, 0 to 1.
    pub rank_gap_ratio: f64,
    /// The cut-off of `threshold`, 0 to 1.
    pub score_threshold: f64,
    /// Most records selected, at least 1.
    pub top_k: u64,
    /// Most rejected records listed, at least 1.
    pub rejected_k: u64,
    /// What is left of a score when all the ground is gone, 0 to 1.
    pub live_ratio_floor: f64,
    /// Steps by which the focus is widened, 0 or 1.
    pub structural_hops: u64,
    /// Largest focus that is still widened, in nodes, at least 1.
    pub max_focus_nodes: u64,
    /// Fewest live nodes with which the structural axis speaks, at least 1.
    pub min_structural_ground: u64,
    /// What a failed outcome takes, 0 to 1.
    pub outcome_bonus: f64,
    /// What a passed outcome adds, 0 to 1.
    pub outcome_reward: f64,
    /// Fewest sessions on the same ground with which a passed outcome counts, at least 1.
    pub min_corroboration: u64,
    /// Whether age lowers a score.
    pub recency_decay: bool,
    /// Age that halves a score, in days, above 0.
    pub half_life_days: f64,
    /// Age at which what a session recorded is no longer a candidate, in days, at least 1.
    pub retention_days: u64,
    /// Age at which look-ups are pruned, in days, at least 1.
    pub attention_days: u64,
    /// Longest text of one record in the untrusted block, in bytes, at least 1.
    pub max_prior_chars: u64,
    /// Longest untrusted block, in bytes, at least 1.
    pub max_prior_total_chars: u64,
}

impl Default for Policy {
    /// The defaults of `seed/1`.
    fn default() -> Self {
        Self {
            rule: Rule::Seed1.as_str().to_owned(),
            w_semantic: 0.6,
            w_structural: 0.4,
            selection: Selecting::Rank,
            noise_floor: 0.037,
            answer_floor: None,
            rank_gap_ratio: 0.35,
            score_threshold: 0.15,
            top_k: 5,
            rejected_k: 20,
            live_ratio_floor: 0.25,
            structural_hops: 1,
            max_focus_nodes: 2000,
            min_structural_ground: 2,
            outcome_bonus: 0.2,
            outcome_reward: 0.0,
            min_corroboration: 2,
            recency_decay: false,
            half_life_days: 30.0,
            retention_days: 90,
            attention_days: 90,
            max_prior_chars: 800,
            max_prior_total_chars: 4000,
        }
    }
}

impl Policy {
    /// The defaults of a rule (`scoring.md`, Policy).
    pub fn of(rule: Rule) -> Self {
        let given = Self {
            rule: rule.as_str().to_owned(),
            ..Self::default()
        };
        match rule {
            Rule::Seed1 => given,
            Rule::Measured1 => Self {
                w_semantic: 0.7,
                w_structural: 0.3,
                answer_floor: Some(ANSWER_FLOOR),
                ..given
            },
        }
    }

    /// The rule; none when this version does not know it.
    pub fn rule(&self) -> Option<Rule> {
        Rule::named(&self.rule)
    }
}

/// Answers one in ten unrelated questions on the nine open histories (`scoring.md`, measured/1).
const ANSWER_FLOOR: f64 = 0.324;

/// Why a text is not a policy: one sentence that names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Not TOML at all.
    #[error("line {line}: {message}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What the TOML parser says.
        message: String,
    },
    /// A key this version does not know.
    #[error("{0}: unknown key")]
    UnknownKey(String),
    /// A key with a value that it cannot have.
    #[error("{key}: {problem}")]
    Value {
        /// The key, with its table.
        key: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// One value of a policy, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key with its table, `attention.top_k`.
    pub key: &'static str,
    /// The value in force.
    pub value: Value,
    /// The value without a policy file.
    pub default: Value,
    /// What the value may be.
    pub range: String,
    /// What a number counts; empty for a share and for what is no number.
    pub unit: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// The place of one value in a policy, with what may stand there.
enum Slot<'a> {
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
    "measured: answers one in ten unrelated questions of nine histories, of 2,000 records";
const GAP: &str = "given: keeps the weakest relevant record";
const LIVE: &str = "given: decisions on build and configuration stay reachable";
const DECAY: &str = "given: retention already drops old session records";

/// Key, unit and source of every value, in the order of the documentation.
const KEYS: [(&str, &str, &str); 23] = [
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
fn slot<'a>(policy: &'a mut Policy, key: &str) -> Option<Slot<'a>> {
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
    fn get(&self) -> Value {
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

    fn range(&self) -> String {
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
    fn set(self, value: &Value) -> Result<(), String> {
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

fn kind(value: &Value) -> &'static str {
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

impl Policy {
    /// Reads a policy file: `version = 1` and the tables `[attention]` and `[privacy]`. A key that is missing has its default.
    ///
    /// # Errors
    /// One sentence that names the key: no TOML, an unknown key or version, a value of the wrong type or out of range, a rule that
    /// this version does not know.
    pub fn parse(toml_text: &str) -> Result<Self, PolicyError> {
        let file: toml::Table = toml_text
            .parse()
            .map_err(|error| syntax(toml_text, &error))?;
        check_version(file.get("version"))?;
        // The rule comes first, wherever it stands: it decides the defaults of the keys that are missing.
        let named = |table: &Value| Rule::named(table.get("rule")?.as_str()?);
        let rule = file.get("attention").and_then(named).unwrap_or_default();
        let mut policy = Self::of(rule);
        for (table_name, table) in &file {
            let table = match (table_name.as_str(), table) {
                ("version", _) => continue,
                ("attention" | "privacy", Value::Table(table)) => table,
                ("attention" | "privacy", other) => {
                    return Err(bad(
                        table_name,
                        format!("{} where a table belongs", kind(other)),
                    ));
                }
                _ => {
                    return Err(PolicyError::UnknownKey(
                        table_name.escape_debug().to_string(),
                    ));
                }
            };
            for (name, value) in table {
                let key = format!("{table_name}.{}", name.escape_debug());
                let place = slot(&mut policy, &key);
                let place = place.ok_or_else(|| PolicyError::UnknownKey(key.clone()))?;
                place.set(value).map_err(|problem| bad(&key, problem))?;
            }
        }
        Ok(policy)
    }

    /// Every value with its default, range and source, in the order of the documentation.
    pub fn entries(&self) -> Vec<Entry> {
        let (mut own, mut default) = (self.clone(), Self::of(self.rule().unwrap_or_default()));
        let entry = |(key, unit, source)| {
            let own = slot(&mut own, key)?;
            let default = slot(&mut default, key)?.get();
            let (value, range) = (own.get(), own.range());
            Some(Entry {
                key,
                value,
                default,
                range,
                unit,
                source,
            })
        };
        KEYS.into_iter().filter_map(entry).collect()
    }
}

fn bad(key: &str, problem: String) -> PolicyError {
    PolicyError::Value {
        key: key.to_owned(),
        problem,
    }
}

fn check_version(version: Option<&Value>) -> Result<(), PolicyError> {
    let problem = match version {
        Some(Value::Integer(VERSION)) => return Ok(()),
        Some(Value::Integer(other)) => {
            format!("{other} is not known to this version, which reads version {VERSION}")
        }
        Some(other) => format!("{} where a whole number belongs", kind(other)),
        None => format!("missing; the first line has to be 'version = {VERSION}'"),
    };
    Err(bad("version", problem))
}

fn syntax(text: &str, error: &toml::de::Error) -> PolicyError {
    let at = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    PolicyError::Syntax {
        line,
        message: error.message().replace(['\n', '\r'], " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        Policy::parse(text)
            .map_err(|error| error.to_string())
            .expect_err(text)
    }

    #[test]
    fn an_empty_policy_is_the_default() {
        assert_eq!(Policy::parse("version = 1"), Ok(Policy::default()));
        assert_eq!(
            Policy::parse("version = 1\n[attention]\n[privacy]\n"),
            Ok(Policy::default())
        );
    }

    #[test]
    fn the_defaults_are_those_of_the_conformance_file() {
        #[derive(Deserialize)]
        struct Fixture {
            rule: String,
            policy: serde_json::Map<String, serde_json::Value>,
        }
        let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/scoring.json"))
            .expect("the fixture is valid");
        let own = serde_json::to_value(Policy::default()).expect("a policy has a JSON form");
        assert_eq!(own["rule"], fixture.rule);
        for (key, value) in fixture.policy {
            assert_eq!(own[&key], value, "{key}");
        }
    }

    #[test]
    fn every_key_can_be_set() {
        let text = "version = 1\n[privacy]\nretention_days = 7\nattention_days = 8\nmax_prior_chars = 9\n\
            max_prior_total_chars = 10\n[attention]\nrule = 'seed/1'\nw_semantic = 1\nw_structural = 0.5\n\
            selection = 'threshold'\nnoise_floor = 0\nanswer_floor = 0.3\nrank_gap_ratio = 0.1\nscore_threshold = 0.2\ntop_k = 2\nrejected_k = 3\n\
            live_ratio_floor = 0.3\nstructural_hops = 0\nmax_focus_nodes = 4\nmin_structural_ground = 1\noutcome_bonus = 0.4\n\
            outcome_reward = 0.6\nmin_corroboration = 5\nrecency_decay = true\nhalf_life_days = 1.5\n";
        let policy = Policy::parse(text).expect("every value is in range");
        let same: Vec<_> = policy
            .entries()
            .into_iter()
            .filter(|entry| entry.value == entry.default)
            .map(|entry| entry.key)
            .collect();
        assert_eq!(same, ["attention.rule"]);
        assert_eq!(policy.entries().len(), 23);
        let fields = serde_json::to_value(&policy).expect("a policy has a JSON form");
        assert_eq!(fields.as_object().map(serde_json::Map::len), Some(23));
    }

    #[test]
    fn each_rule_has_its_own_defaults() {
        let text = "version = 1\n[attention]\ntop_k = 3\nrule = 'measured/1'\n";
        let policy = Policy::parse(text).expect("the rule is known");
        let expected = Policy {
            top_k: 3,
            ..Policy::of(Rule::Measured1)
        };
        assert_eq!(policy, expected);
        assert_eq!((policy.w_semantic, policy.w_structural), (0.7, 0.3));
        assert_eq!(policy.answer_floor, Some(ANSWER_FLOOR));
        // What `seed/1` stores has the keys it always had.
        let stored = serde_json::to_string(&Policy::default()).expect("a policy has a JSON form");
        assert!(!stored.contains("answer_floor"), "{stored}");
    }

    #[test]
    fn a_refusal_names_the_key() {
        let cases = [
            (
                "top_k = 0",
                "attention.top_k: 0 is out of range (at least 1)",
            ),
            (
                "top_k = -3",
                "attention.top_k: -3 is out of range (at least 1)",
            ),
            (
                "top_k = 2.5",
                "attention.top_k: a number with a fraction where a whole number belongs",
            ),
            (
                "structural_hops = 2",
                "attention.structural_hops: 2 is out of range (0 to 1)",
            ),
            (
                "noise_floor = nan",
                "attention.noise_floor: nan is out of range (0 to 1)",
            ),
            (
                "noise_floor = 1.01",
                "attention.noise_floor: 1.01 is out of range (0 to 1)",
            ),
            (
                "half_life_days = inf",
                "attention.half_life_days: inf is out of range (above 0)",
            ),
            (
                "half_life_days = 0",
                "attention.half_life_days: 0 is out of range (above 0)",
            ),
            (
                "recency_decay = 1",
                "attention.recency_decay: a whole number where true or false belongs",
            ),
            (
                "selection = 'best'",
                "attention.selection: 'best' is none of rank, threshold",
            ),
            (
                "rule = 'measured/9'",
                "attention.rule: the rule 'measured/9' is not in this version, which knows seed/1, measured/1",
            ),
            ("topk = 5", "attention.topk: unknown key"),
            (
                "retention_days = 5",
                "attention.retention_days: unknown key",
            ),
            ("'a\nb' = 5", "attention.a\\nb: unknown key"),
        ];
        for (line, sentence) in cases {
            let line = line.replace("'a\nb'", "\"a\\nb\"");
            assert_eq!(
                refusal(&format!("version = 1\n[attention]\n{line}\n")),
                sentence
            );
        }
    }

    #[test]
    fn a_file_of_another_form_is_refused() {
        assert_eq!(
            refusal(""),
            "version: missing; the first line has to be 'version = 1'"
        );
        assert_eq!(
            refusal("version = 2"),
            "version: 2 is not known to this version, which reads version 1"
        );
        assert_eq!(
            refusal("version = '1'"),
            "version: a string where a whole number belongs"
        );
        assert_eq!(
            refusal("version = 1\nattention = 3"),
            "attention: a whole number where a table belongs"
        );
        assert_eq!(refusal("version = 1\n[other]\n"), "other: unknown key");
        assert!(refusal("version = 1\n[attention\n").starts_with("line 2: "));
        assert!(
            refusal("version = 1\n[attention]\ntop_k = 1\ntop_k = 2\n").starts_with("line 4: ")
        );
    }

    proptest! {
        #[test]
        fn a_stored_policy_comes_back_bit_for_bit(shares in proptest::array::uniform4(0.0..=1.0f64), days in 1e-9..1e9f64) {
            let [w_semantic, noise_floor, rank_gap_ratio, outcome_bonus] = shares;
            let policy = Policy { w_semantic, noise_floor, rank_gap_ratio, outcome_bonus, half_life_days: days, ..Policy::default() };
            let bytes = serde_json::to_vec(&policy).expect("a policy has a JSON form");
            let back: Policy = serde_json::from_slice(&bytes).expect("what was written can be read");
            prop_assert_eq!(&back, &policy);
            prop_assert_eq!(serde_json::to_vec(&back).expect("a policy has a JSON form"), bytes);
        }

        #[test]
        fn any_text_is_a_policy_or_a_sentence(text in any::<String>(), line in "[a-z_]{1,20} = [-0-9.a-z'\"\\[\\]]{1,9}") {
            for text in [text, format!("version = 1\n[attention]\n{line}")] {
                if let Err(error) = Policy::parse(&text) {
                    prop_assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
}
