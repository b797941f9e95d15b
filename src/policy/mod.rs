//! Every number that can change a result: default, range, unit and source (`scoring.md`, Policy).
//!
//! In: the text of a policy file. Out: a [`Policy`], or one sentence that names the key at fault. Never reads a file, and never puts a
//! default in the place of a value it does not understand.

mod slot;
mod values;

use toml::Value;

use slot::{KEYS, kind, slot};
pub use values::{Policy, RULES, Rule, Selecting};

/// The version of the file form this version reads.
const VERSION: i64 = 1;

/// A policy file with more bytes than this is none: with every key and a comment to each it has a tenth. As a tree of values a text
/// takes fifty times as much memory.
pub const MOST_BYTES: u64 = 64 * 1024;

/// Why a text is not a policy: one sentence that names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Too large to be one; it was not read.
    #[error("it has {0} bytes; a policy has at most {MOST_BYTES}")]
    Size(u64),
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

impl Policy {
    /// Reads a policy file: `version = 1` and the tables `[attention]` and `[privacy]`. A key that is missing has its default.
    ///
    /// # Errors
    /// One sentence that names the key: no TOML, an unknown key or version, a value of the wrong type or out of range, a rule that
    /// this version does not know.
    pub fn parse(toml_text: &str) -> Result<Self, PolicyError> {
        if toml_text.len() as u64 > MOST_BYTES {
            return Err(PolicyError::Size(toml_text.len() as u64));
        }
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
    use serde::Deserialize;

    use super::values::ANSWER_FLOOR;
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
        let fixture: Fixture = serde_json::from_str(include_str!("../../fixtures/scoring.json"))
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
