//! Single words that only a random generator writes: the last resort, and a conservative one.
//!
//! In: a text. Out: where they stand. Digests that say so, paths, identifiers and hexadecimal words are left.

use crate::mask::span::{Span, changes, span};

/// Shortest word that is judged by its look alone.
const SHORTEST_RANDOM: usize = 24;
/// Longest: more is data and no credential.
const LONGEST_RANDOM: usize = 256;
/// Bits for each character, of at least so many. Random Base64 of 24 characters has 4.2 on average, an identifier seldom more than 3.9.
const LEAST_ENTROPY: f64 = 3.9;

/// Finds words that only a random generator writes: long, of all three character classes, changing between them all the time.
pub fn find_random(text: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    let mut start = 0;
    for at in 0..=bytes.len() {
        if bytes.get(at).is_some_and(|byte| is_inside(*byte)) {
            continue;
        }
        let (before, word) = (&bytes[..start], &bytes[start..at]);
        let fits = (SHORTEST_RANDOM..=LONGEST_RANDOM).contains(&word.len());
        if fits && !is_public(word, bytes.get(at)) && is_random(before, word) {
            found.push(span(start..at, "random string"));
        }
        start = at + 1;
    }
}

/// Whether a word names a mail, is a mangled symbol, or a public key of ssh (Base64 of its length and kind): as random as a key, and
/// public.
fn is_public(word: &[u8], after: Option<&u8>) -> bool {
    let public = [
        &b"_Z"[..],
        b"AAAAC3NzaC1",
        b"AAAAB3NzaC1",
        b"AAAAE2VjZHNh",
        b"AAAAG",
    ];
    after == Some(&b'@') || public.iter().any(|start| word.starts_with(start))
}

fn is_random(before: &[u8], word: &[u8]) -> bool {
    let digest = [
        &b"sha1-"[..],
        b"sha224-",
        b"sha256-",
        b"sha384-",
        b"sha512-",
        b"md5-",
        b"blake3-",
    ];
    let announced = [
        &b"sha1:"[..],
        b"sha256:",
        b"sha384:",
        b"sha512:",
        b"md5:",
        b"h1:",
        b"base64,",
    ];
    let before = &before[before.len().saturating_sub(8)..].to_ascii_lowercase();
    if digest.iter().any(|start| word.starts_with(start))
        || announced.iter().any(|end| before.ends_with(end))
    {
        return false;
    }
    // Of a path each part is judged; of Base64, which has a slash now and then, the longest part is long enough.
    let part = word
        .split(|byte| *byte == b'/')
        .max_by_key(|part| part.len())
        .unwrap_or_default();
    let count = |test: fn(&u8) -> bool| part.iter().filter(|byte| test(byte)).count();
    let classes = [
        count(u8::is_ascii_digit),
        count(u8::is_ascii_lowercase),
        count(u8::is_ascii_uppercase),
    ];
    part.len() >= 20
        && classes.iter().all(|count| *count >= 3)
        && changes(part) * 5 >= part.len() * 2
        && entropy(part) >= LEAST_ENTROPY
}

/// Shannon entropy in bits for each byte.
fn entropy(word: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in word {
        counts[usize::from(*byte)] += 1;
    }
    let length = word.len() as f64;
    let share = |count: &u32| f64::from(*count) / length;
    let bits = |count: &u32| share(count) * libm::log2(share(count));
    -counts
        .iter()
        .filter(|count| **count > 0)
        .map(bits)
        .sum::<f64>()
}
