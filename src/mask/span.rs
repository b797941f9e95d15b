//! Where a credential stands, and the few steps with which every finder moves over a text.
//!
//! Shared by the ways of finding one. Never decides that something is a credential. Each step has a bound, which is what keeps masking
//! linear: a finder looks at most so many bytes ahead of where it stands. The tests count the bytes.

/// How every replacement begins.
pub const MARK: &str = "[masked: ";

/// More than this ahead is not looked at to decide what something is.
pub const FAR: usize = 400;

/// A longer value is data and no credential; of a key that is cut, the rest goes with the next value.
pub const LONGEST_VALUE: usize = 4096;

/// A credential in a text, in bytes.
#[derive(Debug)]
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

#[cfg(test)]
thread_local! {
    /// How many bytes the steps below have looked at.
    pub static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn count(bytes: usize) {
    LOOKED_AT.with(|all| all.set(all.get() + bytes));
}

#[cfg(not(test))]
fn count(_: usize) {}

/// The end of the run of such bytes that starts here, at most so long.
pub fn run(bytes: &[u8], from: usize, most: usize, inside: impl Fn(u8) -> bool) -> usize {
    let upto = bytes.len().min(from.saturating_add(most));
    let rest = bytes.get(from..upto).unwrap_or_default();
    let length = rest
        .iter()
        .position(|byte| !inside(*byte))
        .unwrap_or(rest.len());
    count(length + 1);
    from + length
}

/// The start of the run of such bytes that ends here, at most so long.
pub fn back(bytes: &[u8], from: usize, most: usize, inside: impl Fn(u8) -> bool) -> usize {
    let rest = &bytes[from.saturating_sub(most)..from];
    let length = rest
        .iter()
        .rev()
        .position(|byte| !inside(*byte))
        .unwrap_or(rest.len());
    count(length + 1);
    from - length
}

/// Behind the blanks that start here.
pub fn blanks(bytes: &[u8], from: usize) -> usize {
    run(bytes, from, 64, is_blank)
}

/// The end of this line, or of what is looked at of it.
pub fn line_end(bytes: &[u8], from: usize, most: usize) -> usize {
    run(bytes, from, most, |byte| !is_break(byte))
}

/// Where the line that holds this place starts, or what is looked at of it.
pub fn line_start(bytes: &[u8], from: usize, most: usize) -> usize {
    back(bytes, from, most, |byte| !is_break(byte))
}

/// The first place from here on with this needle, at most so far.
pub fn seek(bytes: &[u8], from: usize, most: usize, needle: &[u8]) -> Option<usize> {
    let upto = bytes.len().min(from.saturating_add(most));
    let rest = bytes.get(from..upto)?;
    let found = rest
        .windows(needle.len())
        .position(|window| window == needle);
    count(found.unwrap_or(rest.len()) + needle.len());
    found.map(|at| from + at)
}

/// The nearest place, not inside a character, at or before this one.
pub fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

pub fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

pub fn is_break(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

pub fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Whether a word may start here: no letter, digit or `_` before, though one may be the end of `\n` or `%3D`.
pub fn is_border(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else {
        return true;
    };
    if !(before.is_ascii_alphanumeric() || before == b'_') {
        return true;
    }
    let head = &bytes[at.saturating_sub(3)..at];
    let escaped = matches!(head, [.., b'\\', b'n' | b'r' | b't']);
    let percent =
        matches!(head, [b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    escaped || percent
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

/// What a Base64 text begins with when it is decoded, at most so many bytes; none when it is no Base64.
pub fn decoded(word: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut bits = 0u32;
    let mut held = 0;
    for byte in word.iter().take(most * 4 / 3 + 4) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out.truncate(most);
    Some(out)
}
