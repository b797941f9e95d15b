//! Text to tokens, by the rules of `scoring.md` (Common): the only tokenizer.
//!
//! In: any text. Out: the set of its tokens, sorted by their bytes. The rule is frozen with `seed/1`: its word list, its character
//! ranges and the order of its steps. Never depends on anything but the text, this file, and the Unicode tables named in [`UNICODE`].

mod terms;
mod words;

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization;

use crate::token::words::SHORTEST;

pub use crate::token::terms::{Terms, terms};
pub use crate::token::words::{Class, classify, is_function_word};

/// The versions of Unicode that tokens are made with: of the normalization, of the general categories, of the lower-case mapping.
///
/// Three crates bring a table each, and the last one is the compiler's own, so the text differs between builds that may tokenize
/// characters of the newest versions differently.
pub const UNICODE: &str = match std::str::from_utf8(&UNICODE_BYTES) {
    Ok(text) => text,
    Err(_) => "unknown",
};

const UNICODE_BYTES: [u8; 43] = {
    let mut bytes = *b"nfkc 00.0.0, categories 16.0.0, case 00.0.0";
    put_version(&mut bytes, 5, unicode_normalization::UNICODE_VERSION);
    put_version(&mut bytes, 37, char::UNICODE_VERSION);
    bytes
};

const fn put_version(bytes: &mut [u8; 43], at: usize, version: (u8, u8, u8)) {
    bytes[at] = b'0' + version.0 / 10;
    bytes[at + 1] = b'0' + version.0 % 10;
    bytes[at + 3] = b'0' + version.1 % 10;
    bytes[at + 5] = b'0' + version.2 % 10;
}

/// The set of a text's tokens.
///
/// One buffer holds them all, as spans of the normalized text: a look-up makes ten thousand of these.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    text: String,
    spans: Vec<Span>,
}

/// One token: where it stands, and its first eight bytes, which decide most comparisons without touching the text.
#[derive(Clone, Copy, Debug)]
struct Span {
    prefix: u64,
    start: usize,
    end: usize,
}

impl Tokens {
    /// How many different tokens there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the text has no token at all.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The tokens, sorted by their bytes, each once.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.spans
            .iter()
            .map(|span| &self.text[span.start..span.end])
    }

    /// The Jaccard index |A ∩ B| / |A ∪ B|, 0 to 1; 0 when either set is empty.
    pub fn jaccard(&self, other: &Tokens) -> f64 {
        if self.is_empty() || other.is_empty() {
            return 0.0;
        }
        let common = self.common(other);
        common as f64 / (self.len() + other.len() - common) as f64
    }

    /// How many tokens both sets have: one pass over two sorted lists.
    fn common(&self, other: &Tokens) -> usize {
        let (mut own, mut others, mut common) = (0, 0, 0);
        while let (Some(left), Some(right)) = (self.spans.get(own), other.spans.get(others)) {
            match compare(&self.text, left, &other.text, right) {
                Ordering::Less => own += 1,
                Ordering::Greater => others += 1,
                Ordering::Equal => {
                    common += 1;
                    own += 1;
                    others += 1;
                }
            }
        }
        common
    }

    /// Makes a set of what was collected.
    fn sorted(text: String, mut spans: Vec<Span>) -> Self {
        spans.sort_unstable_by(|left, right| compare(&text, left, &text, right));
        spans.dedup_by(|left, right| compare(&text, left, &text, right).is_eq());
        Self { text, spans }
    }
}

impl PartialEq for Tokens {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The set of tokens of `text`.
pub fn tokens(text: &str) -> Tokens {
    if text.is_ascii() {
        ascii(text)
    } else {
        general(text)
    }
}

/// The rule for text in which normalization changes nothing and there is no CJK.
fn ascii(text: &str) -> Tokens {
    let text = text.to_ascii_lowercase();
    let mut spans = Vec::with_capacity(text.len() / 8);
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            push_word(&text, start, at, at - start, &mut spans);
            start = at + 1;
        }
    }
    push_word(&text, start, text.len(), text.len() - start, &mut spans);
    Tokens::sorted(text, spans)
}

/// The rule as it is written.
fn general(text: &str) -> Tokens {
    let lower = text.nfkc().collect::<String>().to_lowercase();
    let text: String = lower.nfkc().collect();
    let mut spans = Vec::with_capacity(text.len() / 8);
    let (mut start, mut length, mut current) = (0, 0, Class::Border);
    for (at, character) in text.char_indices() {
        let class = classify(character);
        if class != current {
            push_stretch(&text, current, start, at, length, &mut spans);
            (start, length, current) = (at, 0, class);
        }
        length += 1;
    }
    push_stretch(&text, current, start, text.len(), length, &mut spans);
    Tokens::sorted(text, spans)
}

/// Takes in one stretch of characters of one class, `length` of them.
fn push_stretch(
    text: &str,
    class: Class,
    start: usize,
    end: usize,
    length: usize,
    spans: &mut Vec<Span>,
) {
    match class {
        Class::Border => {}
        Class::Word => push_word(text, start, end, length, spans),
        Class::Cjk if length == 1 => spans.push(span(text, start, end)),
        Class::Cjk => {
            let mut from = start;
            let after_first = text[start..end].char_indices().skip(1);
            for (offset, character) in after_first {
                let at = start + offset;
                spans.push(span(text, from, at + character.len_utf8()));
                from = at;
            }
        }
    }
}

fn push_word(text: &str, start: usize, end: usize, length: usize, spans: &mut Vec<Span>) {
    if length >= SHORTEST && !is_function_word(&text[start..end]) {
        spans.push(span(text, start, end));
    }
}

fn span(text: &str, start: usize, end: usize) -> Span {
    let mut prefix = [0; 8];
    let bytes = &text.as_bytes()[start..end];
    let taken = bytes.len().min(8);
    prefix[..taken].copy_from_slice(&bytes[..taken]);
    Span {
        prefix: u64::from_be_bytes(prefix),
        start,
        end,
    }
}

/// The order of the tokens' bytes. No token contains a zero byte, so a padded prefix never hides a difference.
fn compare(left_text: &str, left: &Span, right_text: &str, right: &Span) -> Ordering {
    left.prefix.cmp(&right.prefix).then_with(|| {
        let left = &left_text.as_bytes()[left.start..left.end];
        left.cmp(&right_text.as_bytes()[right.start..right.end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use unicode_general_category::{GeneralCategory, get_general_category};

    #[derive(serde::Deserialize)]
    struct Fixture {
        tokens: Vec<Case>,
    }

    #[derive(serde::Deserialize)]
    struct Case {
        text: String,
        tokens: Vec<String>,
    }

    #[test]
    fn conformance() {
        let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/scoring.json"))
            .expect("the fixture is valid");
        assert_eq!(fixture.tokens.len(), 20);
        for case in fixture.tokens {
            let made: Vec<_> = tokens(&case.text).iter().map(str::to_owned).collect();
            assert_eq!(made, case.tokens, "{}", case.text);
        }
    }

    #[test]
    fn the_versions_of_unicode() {
        let (major, minor, update) = unicode_normalization::UNICODE_VERSION;
        assert!(UNICODE.starts_with(&format!(
            "nfkc {major}.{minor}.{update}, categories 16.0.0, case "
        )));
        let (major, minor, update) = char::UNICODE_VERSION;
        assert!(UNICODE.ends_with(&format!("case {major}.{minor}.{update}")));
        // Added with 16.0, so an older table would not know it; the newer ones of 17.0 must be unknown.
        assert_eq!(
            get_general_category('\u{1C89}'),
            GeneralCategory::UppercaseLetter
        );
        assert_eq!(
            get_general_category('\u{A7CE}'),
            GeneralCategory::Unassigned
        );
    }

    #[test]
    fn function_words_are_whole_words() {
        assert!(tokens("the with between yourselves über").is_empty());
        assert_eq!(tokens("thee withal").len(), 2);
    }

    #[test]
    fn jaccard_of_known_sets() {
        assert_eq!(
            tokens("alpha beta gamma").jaccard(&tokens("beta gamma delta")),
            0.5
        );
        assert_eq!(
            tokens("alphabets one").jaccard(&tokens("alphabetic one")),
            1.0 / 3.0
        );
        assert_eq!(tokens("alpha").jaccard(&tokens("")), 0.0);
        assert_eq!(tokens("").jaccard(&tokens("")), 0.0);
    }

    proptest! {
        #[test]
        fn the_fast_path_is_the_rule(text in "[ -~\n\t]{0,200}") {
            prop_assert_eq!(ascii(&text), general(&text));
        }

        #[test]
        fn jaccard_is_that_of_sets(left in "[a-d ]{0,60}", right in "[a-dé缓存 ]{0,60}") {
            let (left, right) = (tokens(&left), tokens(&right));
            let (a, b): (BTreeSet<_>, BTreeSet<_>) = (left.iter().collect(), right.iter().collect());
            prop_assert_eq!(a.len(), left.len());
            let expected = match (a.len(), b.len()) {
                (0, _) | (_, 0) => 0.0,
                _ => a.intersection(&b).count() as f64 / a.union(&b).count() as f64,
            };
            prop_assert_eq!(left.jaccard(&right), expected);
            prop_assert_eq!(right.jaccard(&left), expected);
        }

        #[test]
        fn any_text_has_tokens_in_order(text in any::<String>()) {
            let set = tokens(&text);
            let list: Vec<_> = set.iter().collect();
            prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
