//! Whether what was asked quotes a text that is to be forgotten.
//!
//! In: the texts, what was asked. Out: yes or no, rather once too often. A quotation is, whatever the case and whatever stands between the words:
//!
//! - the whole of a text, from the border of a word to the border of a word;
//! - four words of it in a row, or three that are not all function words;
//! - two words of it in a row that are no function words, one of which is rare: in no other record, and in no path of the code;
//! - one word that looks as secrets do: of at least six characters, letters with digits, or of at least eight with marks that names do not
//!   have; such a one has to be rare where it is shorter than sixteen.
//!
//! In writing without spaces two characters count as a word. A single plain word is no quotation, however rare: [`Quotes::share_a_rare_word`]
//! tells of it.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;

use crate::token::{Class, classify, is_function_word};

/// What a word weighs; a character of writing without spaces weighs one.
const WORD: usize = 2;
/// Fewest characters of a word with digits that looks like a secret.
const SECRET: usize = 6;
/// Fewest characters of a word with marks that looks like a secret.
const MARKED: usize = 8;
/// From so many characters on a word that looks like a secret need not be rare.
const LONG: usize = 16;
/// Fewest characters of a plain word that is worth telling of.
const PLAIN: usize = 4;

/// Texts that are to be forgotten, made ready.
pub struct Quotes {
    texts: Vec<Text>,
    /// Words that look like secrets, and which part of them is rare.
    secrets: BTreeSet<String>,
    rare: BTreeSet<String>,
}

struct Text {
    units: Vec<Unit>,
    places: BTreeMap<String, Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    word: String,
    weight: usize,
}

impl Unit {
    /// Whether it says nothing by itself. The list has no words of one or two letters.
    fn is_function_word(&self) -> bool {
        self.weight == WORD && (self.word.chars().count() < 3 || is_function_word(&self.word))
    }
}

impl Quotes {
    /// Of these texts. `others` calls back with every text in which a word is not rare.
    pub fn of<'t>(
        texts: impl IntoIterator<Item = &'t str>,
        others: impl FnOnce(&mut dyn FnMut(&str)),
    ) -> Self {
        let texts: Vec<String> = texts.into_iter().map(folded).collect();
        let mut rare = BTreeSet::new();
        let mut secrets = BTreeSet::new();
        for text in &texts {
            rare.extend(units(text).into_iter().map(|unit| unit.word));
            secrets.extend(suspects(text).map(str::to_owned));
        }
        let mut short: BTreeSet<String> = secrets.clone();
        short.retain(|word| word.chars().count() < LONG);
        if !rare.is_empty() {
            others(&mut |other| {
                let other = folded(other);
                for unit in units(&other) {
                    rare.remove(&unit.word);
                }
                short.retain(|word| {
                    let is_common = other.contains(word.as_str());
                    if is_common {
                        secrets.remove(word);
                    }
                    !is_common
                });
            });
        }
        let texts = texts.iter().map(|text| Text::new(units(text)));
        Self {
            texts: texts.filter(|text| !text.units.is_empty()).collect(),
            secrets,
            rare,
        }
    }

    /// Whether what was asked quotes one of them.
    pub fn are_in(&self, asked: &str) -> bool {
        let asked = folded(asked);
        if self
            .secrets
            .iter()
            .any(|secret| asked.contains(secret.as_str()))
        {
            return true;
        }
        let units = units(&asked);
        self.texts.iter().any(|text| self.quotes(text, &units))
    }

    /// Whether a rare word of a text stands in what was asked, be it only that one.
    pub fn share_a_rare_word(&self, asked: &str) -> bool {
        let units = units(&folded(asked));
        let tells = |unit: &Unit| unit.weight < WORD || unit.word.chars().count() >= PLAIN;
        let mut telling = units.iter().filter(|unit| tells(unit));
        telling.any(|unit| self.rare.contains(&unit.word) && !unit.is_function_word())
    }

    fn quotes(&self, text: &Text, asked: &[Unit]) -> bool {
        for (at, unit) in asked.iter().enumerate() {
            for &place in text.places.get(&unit.word).into_iter().flatten() {
                // A run that began before was looked at where it began.
                if at > 0 && place > 0 && asked[at - 1] == text.units[place - 1] {
                    continue;
                }
                let both = asked[at..].iter().zip(&text.units[place..]);
                let run = both.take_while(|(one, other)| one == other);
                let run: Vec<&Unit> = run.map(|(unit, _)| unit).collect();
                if run.len() == text.units.len() || self.is_quotation(&run) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether some part of a run of equal words is too much to be chance.
    fn is_quotation(&self, run: &[&Unit]) -> bool {
        let weight: usize = run.iter().map(|unit| unit.weight).sum();
        let tells = |unit: &&&Unit| !unit.is_function_word();
        let has_content = run.iter().any(|unit| tells(&unit));
        if weight >= 4 * WORD || weight >= 3 * WORD && has_content {
            return true;
        }
        let told: usize = run.iter().filter(tells).map(|unit| unit.weight).sum();
        told >= 2 * WORD && run.iter().any(|unit| self.rare.contains(&unit.word))
    }
}

impl Text {
    fn new(units: Vec<Unit>) -> Self {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, unit) in units.iter().enumerate() {
            places.entry(unit.word.clone()).or_default().push(at);
        }
        Self { units, places }
    }
}

/// In one form and without case.
fn folded(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// The words of a folded text.
fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, units: &mut Vec<Unit>| {
        if !word.is_empty() {
            let word = std::mem::take(word);
            let weight = WORD;
            units.push(Unit { word, weight });
        }
    };
    for character in text.chars() {
        match classify(character) {
            Class::Word => word.push(character),
            Class::Border => end(&mut word, &mut units),
            Class::Cjk => {
                end(&mut word, &mut units);
                units.push(Unit {
                    word: character.to_string(),
                    weight: 1,
                });
            }
        }
    }
    end(&mut word, &mut units);
    units
}

/// The words of a folded text that look as secrets do.
fn suspects(text: &str) -> impl Iterator<Item = &str> {
    let is_around = |character: char| "\"'`()[]{}<>,;:!?.…“”‘’«»".contains(character);
    let parts = text.split(|character: char| {
        character.is_whitespace() || matches!(character, '=' | '"' | '\'' | '`')
    });
    let words = parts.map(move |word| word.trim_matches(is_around));
    words.filter(|word| {
        let length = word.chars().count();
        let has = |test: fn(char) -> bool| word.chars().any(test);
        let has_letter = has(char::is_alphabetic);
        length >= SECRET && has_letter && has(char::is_numeric)
            || length >= MARKED && has_letter && has(|mark| "!@#$%^&*+~?|".contains(mark))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(texts: &[&str], others: &[&str]) -> Quotes {
        Quotes::of(texts.iter().copied(), |tell| {
            others.iter().for_each(|other| tell(other));
        })
    }

    #[test]
    fn parts_of_a_text_are_quotations() {
        let said = quotes(
            &[
                "The quokka vault opens with marmalade",
                "hunter2x is in the safe, p@ssword! too",
            ],
            &[
                "the door opens with a key",
                "a vault of keys",
                "src/cache.rs",
            ],
        );
        for asked in [
            "why does the QUOKKA vault need it",
            "quokka vault?",
            "vault opens with what",
            "opens,\nwith: marmalade",
            "is hunter2x still valid",
            "use (hunter2X)",
            "see p@ssword!",
            "x = 'p@ssword'",
            "the quokka vault opens with marmalade",
        ] {
            assert!(said.are_in(asked), "{asked}");
        }
        for asked in [
            "open the vault",
            "what does the vault open with",
            "marmalade vault",
            "in the safety net, too",
            "hunter 2",
            "unrelated",
            "",
        ] {
            assert!(!said.are_in(asked), "{asked}");
        }
        assert!(said.share_a_rare_word("marmalade vault"));
        assert!(!said.share_a_rare_word("open the vault with keys"));
    }

    #[test]
    fn short_texts_count_whole_and_common_words_do_not() {
        let short = quotes(&["redis"], &[]);
        assert!(short.are_in("is Redis up") && !short.are_in("redistribute"));
        let said = quotes(
            &["we store it as utf8mb4 in the end of it"],
            &["utf8mb4 is a charset, in the end"],
        );
        assert!(
            !said.are_in("what is utf8mb4"),
            "another record says it too"
        );
        assert!(!said.are_in("as the end"), "two words, one a function word");
        assert!(
            !quotes(&["put it in the safe"], &[]).are_in("x it in the y"),
            "three function words"
        );
        assert!(said.are_in("and in the end of"), "four words");
        let long = "a1b2c3d4e5f6g7h8";
        assert!(quotes(&[long, "x y"], &[long]).are_in(&format!("z{long}z")));
        assert!(!quotes(&[], &[]).are_in("anything") && !quotes(&["?!"], &[]).are_in("?!"));
    }

    #[test]
    fn other_scripts_are_told_too() {
        let said = quotes(
            &["サーバーの鍵は金庫にある", "пароль лежит под ковром"],
            &[],
        );
        assert!(said.are_in("なぜ鍵は金庫にあるか"));
        assert!(!said.are_in("サーバ"), "three characters");
        assert!(said.are_in("Пароль лежит где"));
        // Composed and decomposed.
        assert!(
            quotes(&["café\u{301}s über alles immer"], &[])
                .are_in("cafe\u{301}\u{301}s u\u{308}ber alles")
        );
    }

    #[test]
    fn long_texts_are_compared_in_reasonable_time() {
        let many = "a b ".repeat(800);
        let said = quotes(&[&many], &[]);
        assert!(!said.are_in(&"b b a a ".repeat(800).replace("a b", "x")));
    }
}
