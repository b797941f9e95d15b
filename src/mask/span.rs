//! Where a credential stands, and how words are told from random ones.
//!
//! Shared by the ways of finding one. Never decides alone that something is a credential.

/// How every replacement begins.
pub const MARK: &str = "[masked: ";

/// A credential in a text, in bytes.
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// What it is, in words.
    pub kind: &'static str,
}

/// A credential at this place.
pub fn span(range: std::ops::Range<usize>, kind: &'static str) -> Span {
    Span {
        start: range.start,
        end: range.end,
        kind,
    }
}

/// Whether a token that words may look like is none: a digit, and letters of both cases, or a sign that Base64 alone has.
pub fn is_mixed(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digit = bytes.iter().any(u8::is_ascii_digit);
    let cases =
        bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    let restless = changes(bytes) * 3 > bytes.len();
    cases && (digit || restless) || digit && bytes.len() >= 32 || value.ends_with('=')
}

/// How often a digit, a lower-case and an upper-case letter follow each other; signs between them do not count.
pub fn changes(word: &[u8]) -> usize {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        _ => None,
    };
    let differs = |pair: &&[u8]| matches!((class(pair[0]), class(pair[1])), (Some(left), Some(right)) if left != right);
    word.windows(2).filter(differs).count()
}
