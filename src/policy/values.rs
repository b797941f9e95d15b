//! The rules, and every number that they read, with its default (`scoring.md`, Policy).
//!
//! In: nothing. Out: a [`Policy`] of defaults. Knows neither a file nor a range.

use serde::{Deserialize, Serialize};

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

/// Among 2,000 records answers at most one in ten unrelated questions of the nine open histories, and among a sample of 200 less than a third of
/// those whose answer was taken away (README, "How well it finds").
pub(super) const ANSWER_FLOOR: f64 = 0.42;
