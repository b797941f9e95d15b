//! Text to terms, by the rule of `scoring.md` (measured/1, Tokens): tokens, identifiers whole and in parts, then the English stem.
//!
//! In: any text. Out: the set of its terms, sorted by their bytes. Frozen with `measured/1`; the stemmer is the Snowball algorithm
//! "English" (Porter 2) as `rust-stemmers` 1.2 has it. A language that it does not know keeps its words, or loses a letter that looks
//! like an English ending, on both sides alike.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::token::words::{Class, SHORTEST, classify, is_function_word};

/// The set of a text's terms, sorted by their bytes, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(Vec<String>);

impl Terms {
    /// Whether the text has no term at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The terms, sorted by their bytes, each once.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether this is one of them.
    pub fn contains(&self, term: &str) -> bool {
        self.place(term).is_some()
    }

    /// Which one it is, from 0; none when it is not one of them.
    pub fn place(&self, term: &str) -> Option<usize> {
        let found = self.0.binary_search_by(|own| own.as_str().cmp(term));
        found.ok()
    }

    /// The terms of several texts as one set.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all = Vec::new();
        for text in texts {
            collect(text, &mut all);
        }
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// Every term of several texts as often as it occurs, in the order of the texts: what a search that counts words needs.
    pub fn counted<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
        let mut all = Vec::new();
        for text in texts {
            collect(text, &mut all);
        }
        all
    }
}

/// The set of terms of `text`.
pub fn terms(text: &str) -> Terms {
    Terms::of([text])
}

fn collect(text: &str, all: &mut Vec<String>) {
    let text: String = text.nfkc().collect();
    let stemmer = Stemmer::create(Algorithm::English);
    let (mut start, mut current) = (0, Class::Border);
    for (at, character) in text.char_indices() {
        let class = match character {
            // Inside an identifier; at its ends it is cut off again.
            '_' => Class::Word,
            _ if character.is_ascii_alphanumeric() => Class::Word,
            _ if character.is_ascii() => Class::Border,
            _ => classify(character),
        };
        if class != current {
            stretch(&text[start..at], current, &stemmer, all);
            (start, current) = (at, class);
        }
    }
    stretch(&text[start..], current, &stemmer, all);
}

fn stretch(text: &str, class: Class, stemmer: &Stemmer, all: &mut Vec<String>) {
    match class {
        Class::Border => {}
        Class::Word => identifier(text.trim_matches('_'), stemmer, all),
        Class::Cjk => {
            let characters: Vec<char> = text.chars().collect();
            match characters.as_slice() {
                [_] => all.push(text.to_owned()),
                several => all.extend(several.windows(2).map(|pair| pair.iter().collect())),
            }
        }
    }
}

/// The whole, its parts between underscores, and the parts of these between changes of case.
fn identifier(name: &str, stemmer: &Stemmer, all: &mut Vec<String>) {
    word(name, stemmer, all);
    let has_parts = name.contains('_');
    for part in name.split('_') {
        if has_parts {
            word(part, stemmer, all);
        }
        let mut start = 0;
        for border in case_borders(part) {
            word(&part[start..border], stemmer, all);
            start = border;
        }
        if start > 0 {
            word(&part[start..], stemmer, all);
        }
    }
}

/// Where a lower-case letter or a number meets an upper-case letter, and before the last upper-case letter of several that a
/// lower-case one follows: `parse|HTTP|Header`, `utf8|Decoder`.
fn case_borders(word: &str) -> Vec<usize> {
    if !word.chars().skip(1).any(char::is_uppercase) {
        return Vec::new();
    }
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut borders = Vec::new();
    for at in 1..characters.len() {
        let (place, here) = characters[at];
        let before = characters[at - 1].1;
        let after = characters.get(at + 1).map(|(_, after)| *after);
        let is_first_upper = !before.is_uppercase() && here.is_uppercase();
        let is_last_upper =
            before.is_uppercase() && here.is_uppercase() && after.is_some_and(char::is_lowercase);
        if is_first_upper || is_last_upper {
            borders.push(place);
        }
    }
    borders
}

fn word(text: &str, stemmer: &Stemmer, all: &mut Vec<String>) {
    let lower: String = match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.to_lowercase().nfkc().collect(),
    };
    if lower.chars().take(SHORTEST).count() < SHORTEST || is_function_word(&lower) {
        return;
    }
    all.push(stemmer.stem(&lower).into_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn made(text: &str) -> Vec<String> {
        terms(text).iter().map(str::to_owned).collect()
    }

    #[test]
    fn identifiers_are_kept_whole_and_in_parts() {
        assert_eq!(
            made("parse_HTTPHeaders"),
            ["header", "http", "httpheader", "pars", "parse_httphead"]
        );
        assert_eq!(
            made("XMLHttpRequest"),
            ["http", "request", "xml", "xmlhttprequest"]
        );
        assert_eq!(made("utf8Decoder"), ["decod", "utf8", "utf8decod"]);
        // Underscores at the ends are no part of it, and what is too short or says nothing is left out.
        assert_eq!(
            made("__init__ the_x of_CACHE"),
            ["cach", "init", "of_cach", "the_x"]
        );
    }

    #[test]
    fn words_are_stemmed() {
        assert_eq!(made("caching caches cached"), ["cach"]);
        assert_eq!(made("The sessions are stored"), ["session", "store"]);
    }

    #[test]
    fn other_scripts_have_terms() {
        assert_eq!(made("缓存策略"), ["存策", "策略", "缓存"]);
        assert_eq!(made("кэш Сессии"), ["кэш", "сессии"]);
        assert_eq!(made("सत्र कैश"), ["कैश", "सत्र"]);
        assert!(terms("").is_empty() && terms("a … ?? of").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_terms_in_order(text in any::<String>()) {
            let set = terms(&text);
            let list: Vec<_> = set.iter().collect();
            prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(list.iter().all(|term| set.contains(term)));
        }
    }
}
