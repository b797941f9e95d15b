//! What a character is, and which words carry no meaning: the part of the rule that every way of making tokens shares.
//!
//! In: a character, or a word in lower case. Out: its class; whether it is a function word. Frozen with `seed/1`.

use std::sync::LazyLock;

use unicode_general_category::{GeneralCategory, get_general_category};

/// The function words (English, German), frozen as part of the rule: one a line.
const FUNCTION_WORDS: &str = include_str!("function-words-1.txt");

/// Fewest characters of a token that is not CJK (`scoring.md`, Tokens).
pub const SHORTEST: usize = 3;

/// What a character is to the rule.
#[derive(Clone, Copy, PartialEq)]
pub enum Class {
    /// Part of a word: a letter, a mark or a number.
    Word,
    /// Part of a stretch that is told by its pairs.
    Cjk,
    /// Neither.
    Border,
}

/// The class of a character.
pub fn classify(character: char) -> Class {
    use GeneralCategory as G;
    match get_general_category(character) {
        G::UppercaseLetter
        | G::LowercaseLetter
        | G::TitlecaseLetter
        | G::ModifierLetter
        | G::OtherLetter => {}
        G::NonspacingMark | G::SpacingMark | G::EnclosingMark => {}
        G::DecimalNumber | G::LetterNumber | G::OtherNumber => {}
        _ => return Class::Border,
    }
    // The ranges of `scoring.md`, Tokens.
    match u32::from(character) {
        0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF => Class::Cjk,
        0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => Class::Cjk,
        _ => Class::Word,
    }
}

/// Buckets by length and outer letters: a look-up asks this a million times, and most answers are found in an empty bucket.
static BUCKETS: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let mut buckets = vec![Vec::new(); 1024];
    for word in FUNCTION_WORDS.lines().filter(|word| !word.is_empty()) {
        buckets[bucket(word)].push(word);
    }
    buckets
});

fn bucket(word: &str) -> usize {
    match word.as_bytes() {
        [first, .., last] => {
            (usize::from(*first) * 37 + usize::from(*last) * 5 + word.len()) % 1024
        }
        _ => 0,
    }
}

/// Whether a word, in lower case, is one of the frozen list.
pub fn is_function_word(word: &str) -> bool {
    BUCKETS[bucket(word)].contains(&word)
}
