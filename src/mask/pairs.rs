//! Passwords without a name of their own: the second of a pair, what a database is told, the data of a secret of Kubernetes.
//!
//! In: a text. Out: where they stand.

use crate::mask::follow::{read, shut};
use crate::mask::span::{FAR, Span, blanks, is_blank, is_break, line_end, run, span};
use crate::mask::value::{is_code, is_odd_word, is_placeholder, is_prose, is_strong};

/// Finds every password that stands where only its place says so.
pub fn find_in_pairs(text: &str, lower: &str, found: &mut Vec<Span>) {
    identified(text, lower, found);
    for (at, name) in lower
        .match_indices("auth")
        .chain(lower.match_indices("login"))
    {
        second(text, at + name.len(), found);
    }
    for head in CALLS {
        for (at, name) in lower.match_indices(head) {
            strings(text, at + name.len(), found);
        }
    }
    for name in ["mnemonic", "seed phrase", "recovery phrase"] {
        for (at, name) in lower.match_indices(name) {
            phrase(text, at + name.len(), found);
        }
    }
    kubernetes(text, lower, found);
}

/// Calls that are given a password or a key among their strings, in lower case.
#[rustfmt::skip]
const CALLS: [&str; 14] = [
    "bcrypt.compare(", "bcrypt.hash(", "createhmac(", "getconnection(", "hmac.new(", "jwt.decode(", "jwt.encode(", "jwt.sign(", "jwt.verify(", "mysqli(", "mysqli_connect(",
    "networkcredential(", "passwordauthentication(", "securestring ",
];

/// Every string of a call that is no word: `jwt.sign(payload, "x")`.
fn strings(text: &str, from: usize, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let upto = run(bytes, from, 160, |byte| !is_break(byte) && byte != b';');
    let mut at = from;
    for _ in 0..4 {
        let quote = run(bytes, at, upto.saturating_sub(at), |byte| {
            byte != b'"' && byte != b'\''
        });
        let value = (quote < upto)
            .then(|| read(text, quote, 0))
            .flatten()
            .filter(|value| value.quoted);
        let Some(value) = value else { return };
        if is_odd_word(&text[value.start..value.end]) {
            found.push(span(value.start..value.end, "password"));
        }
        at = value.end + 1;
    }
}

/// The twelve words or more of a wallet.
fn phrase(text: &str, from: usize, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let start = run(bytes, from, 8, |byte| {
        !byte.is_ascii_alphabetic() && !is_break(byte)
    });
    let (mut end, mut words) = (start, 0);
    let mut at = start;
    while words < 24 {
        let word = run(bytes, at, 9, |byte| byte.is_ascii_lowercase());
        if !(3..=8).contains(&(word - at)) {
            break;
        }
        (end, words) = (word, words + 1);
        at = blanks(bytes, word);
        if at == word {
            break;
        }
    }
    if words >= 12 && start > from {
        found.push(span(start..end, "seed phrase"));
    }
}

/// `IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin BY "x"`.
fn identified(text: &str, lower: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    for (at, word) in lower.match_indices("identified ") {
        let mut from = at + word.len();
        for _ in 0..4 {
            let end = run(bytes, from, 40, |byte| {
                byte.is_ascii_alphanumeric() || b"_'\"".contains(&byte)
            });
            let is_by = lower[from..crate::mask::span::floor(lower, end)].eq("by");
            from = blanks(bytes, end);
            if !is_by {
                continue;
            }
            let value = read(text, from, b')')
                .filter(|value| !matches!(&text[value.start..value.end], "PASSWORD" | "VALUES"));
            if let Some(value) = value.filter(|value| {
                value.end - value.start >= 3
                    && !is_placeholder(&text[value.start..value.end])
                    && (value.quoted || is_strong(&text[value.start..value.end]))
            }) {
                found.push(span(value.start..value.end, "password"));
            }
            break;
        }
    }
}

/// `auth=("user", "x")`, `HTTPBasicAuth('user', 'x')`, `login("user", "x")`: two strings in brackets.
fn second(text: &str, from: usize, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let name = shut(bytes, from);
    let open = run(bytes, name.at, 8, |byte| {
        is_blank(byte) || b"=:([".contains(&byte)
    });
    if !bytes[name.at..open].iter().any(|byte| b"([".contains(byte)) {
        return;
    }
    let Some(user) = read(text, open, 0).filter(|value| value.quoted) else {
        return;
    };
    let comma = run(bytes, user.end, 4, |byte| b"\"'`\\".contains(&byte));
    if bytes.get(comma) != Some(&b',') {
        return;
    }
    let value = read(text, comma + 1, 0).filter(|value| value.quoted);
    let Some(value) = value else { return };
    let content = &text[value.start..value.end];
    if content.len() >= 6
        && is_strong(content)
        && !is_code(content)
        && !is_placeholder(content)
        && !is_prose(content)
    {
        found.push(span(value.start..value.end, "password"));
    }
}

/// Base64 below `data:` in a text with `kind: Secret`.
fn kubernetes(text: &str, lower: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let is_secret = [
        "kind: secret\n",
        "kind: 'secret'\n",
        "kind: \"secret\"\n",
        "kind: secret\r",
    ]
    .iter()
    .any(|kind| lower.contains(kind))
        || lower.ends_with("kind: secret");
    if !is_secret {
        return;
    }
    // Each line is read once, whatever is indented below what.
    let mut done = 0;
    for (at, word) in lower.match_indices("data:") {
        let is_word =
            at == 0 || !bytes[at - 1].is_ascii_alphanumeric() || lower[..at].ends_with("string");
        if at < done || !is_word {
            continue;
        }
        let mut line = line_end(bytes, at + word.len(), FAR);
        while line < bytes.len() {
            let start = run(bytes, line, 2, is_break);
            let key = blanks(bytes, start);
            if key == start
                || bytes.get(key) == Some(&b'#')
                    && key > start
                    && line_end(bytes, key, FAR) == bytes.len()
            {
                break;
            }
            let end = line_end(bytes, key, usize::MAX);
            let colon = run(bytes, key, 80, |byte| {
                byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
            });
            if bytes.get(colon) == Some(&b':') {
                if let Some(value) = read(text, colon + 1, 0).filter(|value| value.end <= end) {
                    scalar(text, value.start, value.end, found);
                }
            } else {
                scalar(text, key, end, found);
            }
            line = end.max(start + 1);
            done = line;
        }
    }
}

fn scalar(text: &str, start: usize, end: usize, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let whole = bytes[start..end]
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte));
    let multiple = (end - start).is_multiple_of(4);
    if whole && multiple && end - start >= 12 && !is_placeholder(&text[start..end]) {
        found.push(span(start..end, "secret"));
    }
}
