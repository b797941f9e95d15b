//! How much a term says: a frozen table (`scoring.md`, measured/1, Weights).
//!
//! In: a stem. Out: its weight, 0 to 1; a stem that is not listed weighs 1. Never looks at the records, so that no score depends on
//! what else is stored.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Stems and weights, one a line, a tab between: made from the commit messages of nine public histories (python/mypy, pytest-dev/pytest,
/// sqlalchemy/sqlalchemy, canonical/cloud-init, jquery/jquery, zotero/zotero, qunitjs/qunit, microsoft/playwright, sveltejs/svelte).
/// It holds single stems and counts of them, no text of theirs. Part of the rule, frozen.
const FROZEN: &str = include_str!("weights-en-1.tsv");

static TABLE: LazyLock<Weights> = LazyLock::new(|| {
    let parsed = Weights::parse(FROZEN);
    parsed.expect("a unit test reads the frozen table")
});

/// A table of weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights(HashMap<Box<str>, f64>);

impl Weights {
    /// The table of the rule.
    pub fn frozen() -> &'static Self {
        &TABLE
    }

    /// Reads a table: a line for each stem, a tab, a weight from 0 to 1.
    ///
    /// # Errors
    /// One sentence that names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut table = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let entry = line.split_once('\t').and_then(|(stem, weight)| {
                let weight: f64 = weight.parse().ok()?;
                (0.0..=1.0).contains(&weight).then_some((stem, weight))
            });
            let (stem, weight) = entry.ok_or_else(|| {
                format!(
                    "line {}: not a stem, a tab, and a weight from 0 to 1",
                    number + 1
                )
            })?;
            table.insert(stem.into(), weight);
        }
        Ok(Self(table))
    }

    /// The weight of a stem.
    pub fn of(&self, stem: &str) -> f64 {
        self.0.get(stem).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frozen_table() {
        let table = Weights::frozen();
        assert_eq!(table.0.len(), FROZEN.lines().count());
        assert_eq!(table.of("fix"), 0.108779);
        assert_eq!(table.of("nobody-ever-wrote-this"), 1.0);
    }

    #[test]
    fn a_bad_line_is_named() {
        for line in ["word", "word\tmany", "word\t1.5", "word\tNaN"] {
            let refusal = Weights::parse(&format!("good\t0.5\n{line}\n"));
            assert!(
                refusal.is_err_and(|why| why.starts_with("line 2: ")),
                "{line}"
            );
        }
    }
}
