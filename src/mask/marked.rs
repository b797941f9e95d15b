//! Credentials that carry the mark of their issuer, or a form that nothing else has.
//!
//! In: a text. Out: where they stand. Looks at nothing around them but the border of the word.

use std::sync::OnceLock;

use crate::mask::issuers::{ISSUERS, In, Issuer, Look};
use crate::mask::span::{
    FAR, LONGEST_VALUE, Span, back, decoded, is_border, is_mixed, run, seek, span,
};
use crate::mask::value::is_dummy;

/// The first issuer whose mark starts with each byte; behind it those of the next byte.
fn starts() -> &'static [usize; 257] {
    static STARTS: OnceLock<[usize; 257]> = OnceLock::new();
    STARTS.get_or_init(|| {
        let mut all = [0; 257];
        for (byte, start) in all.iter_mut().enumerate() {
            *start =
                ISSUERS.partition_point(|issuer| usize::from(issuer.mark.as_bytes()[0]) < byte);
        }
        all
    })
}

/// Finds every credential with a mark.
pub fn find_marked(text: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let starts = starts();
    let mut at = 0;
    while at < bytes.len() {
        let first = usize::from(bytes[at]);
        let some = starts[first]..starts[first + 1];
        let is_start = (!some.is_empty() || is_own_form(bytes[at])) && is_border(bytes, at);
        let end = if is_start {
            let mut issued = ISSUERS[some].iter().filter_map(|one| issued(text, at, one));
            issued.next().or_else(|| formed(text, at))
        } else {
            None
        };
        match end {
            Some((start, end, kind)) if end > at => {
                found.push(span(start..end, kind));
                at = end;
            }
            _ => at += 1,
        }
    }
}

type Place = (usize, usize, &'static str);

/// A token of this issuer that starts here.
fn issued(text: &str, at: usize, issuer: &Issuer) -> Option<Place> {
    let bytes = text.as_bytes();
    if !bytes[at..].starts_with(issuer.mark.as_bytes()) {
        return None;
    }
    let from = at + issuer.mark.len();
    let mut end = trimmed(
        bytes,
        from,
        run(bytes, from, FAR, |byte| issuer.rest.has(byte)),
    );
    let rest = &text[from..end];
    let fits = rest.len() >= issuer.least && (issuer.most == 0 || rest.len() <= issuer.most);
    let looks = match issuer.look {
        Look::Any => true,
        Look::Digit => rest.bytes().any(|byte| byte.is_ascii_digit()),
        Look::Mixed => is_mixed(rest),
    };
    if !fits || !looks || is_dummy(rest) {
        return None;
    }
    if end == from + FAR {
        end = trimmed(
            bytes,
            from,
            run(bytes, end, usize::MAX, |byte| issuer.rest.has(byte)),
        );
    }
    Some((at, end, issuer.kind))
}

/// Without the full stop that ends a sentence.
fn trimmed(bytes: &[u8], from: usize, end: usize) -> usize {
    let dots = bytes[from..end]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'.')
        .count();
    end - dots
}

fn is_own_form(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// A credential that starts here and is known by its form.
fn formed(text: &str, at: usize) -> Option<Place> {
    let bytes = text.as_bytes();
    // Forms whose characters go on after a border inside them start where all of them do, so that each is read once.
    let is_first = at == 0
        || !In::Url.has(bytes[at - 1])
        || bytes[at - 1] == b'='
        || !In::Url.has(bytes[at])
        || is_escape(bytes, at);
    if bytes[at..].starts_with(b"xox") {
        return slack(text, at);
    }
    if !is_first {
        return None;
    }
    let end = run(bytes, at, FAR, |byte| In::Url.has(byte) && byte != b'=');
    let word = &text[at..end];
    jwt(text, at, word)
        .or_else(|| encoded(text, at))
        .or_else(|| joined(text, at, word))
        .or_else(|| tailed(word).map(|kind| (at, end, kind)))
}

fn is_escape(bytes: &[u8], at: usize) -> bool {
    at >= 2 && (bytes[at - 2] == b'\\' || at >= 3 && bytes[at - 3] == b'%')
}

/// `xoxb-…`: digits first, or a word that no one writes.
fn slack(text: &str, at: usize) -> Option<Place> {
    let bytes = text.as_bytes();
    let rest = text
        .get(at + 4..)
        .filter(|rest| rest.starts_with('-') || rest.starts_with(".xox"))?;
    if !bytes[at + 3].is_ascii_lowercase() {
        return None;
    }
    let from = at + 4 + rest.len() - rest.trim_start_matches(['.', '-']).len();
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let near = run(bytes, from, FAR, inside);
    let token = &text[from..near];
    let first = token.split('-').next().unwrap_or_default();
    let random = first.len() >= 8 && first.bytes().any(|byte| byte.is_ascii_digit());
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let fits = digits >= 3
        && (token.starts_with(|first: char| first.is_ascii_digit())
            || token.starts_with("xox")
            || random);
    if !fits || token.len() < 10 || is_dummy(token) {
        return None;
    }
    let end = run(bytes, near, usize::MAX, inside);
    Some((at, end, "slack token"))
}

/// Three parts, or the five of an encrypted one, the first a JSON object in Base64.
fn jwt(text: &str, at: usize, word: &str) -> Option<Place> {
    let bytes = text.as_bytes();
    if !word.starts_with("eyJ") || word.len() < 11 {
        return None;
    }
    let part = |from: usize| {
        run(bytes, from, usize::MAX, |byte| {
            In::Url.has(byte) && byte != b'='
        })
    };
    let mut end = if word.len() < FAR {
        at + word.len()
    } else {
        part(at)
    };
    let mut parts = 1;
    while parts < 5 && bytes.get(end) == Some(&b'.') {
        let next = part(end + 1);
        let is_object = bytes[end + 1..].starts_with(b"ey") && next - end > 8;
        if parts == 1 && !is_object && next != end + 1 && next - end < 16 {
            break;
        }
        // The last part may be missing, the second of an encrypted one is often empty.
        if next == end + 1 && parts != 1 {
            end += usize::from(parts == 2);
            parts += 1;
            break;
        }
        end = next;
        parts += 1;
    }
    (parts > 1).then_some((at, end, "jwt"))
}

/// A private key or a token that is written in Base64 once more.
fn encoded(text: &str, at: usize) -> Option<Place> {
    let bytes = text.as_bytes();
    let key = bytes[at..].starts_with(b"LS0tLS1CRUdJTi");
    if !key && !bytes[at..].starts_with(b"ZXlK") {
        return None;
    }
    let near = run(bytes, at, 90, |byte| In::Base.has(byte));
    let head = decoded(&bytes[at..near], 60)?;
    let private = head.windows(11).any(|window| window == b"PRIVATE KEY");
    let token = near - at >= 60 && head.starts_with(b"eyJ");
    if !(if key { private } else { token }) {
        return None;
    }
    let end = run(bytes, near, usize::MAX, |byte| In::Base.has(byte));
    Some((at, end, if key { "private key" } else { "jwt" }))
}

/// Two or three words that a dot or a colon joins.
fn joined(text: &str, at: usize, word: &str) -> Option<Place> {
    let bytes = text.as_bytes();
    let end = at + word.len();
    let next = |from: usize| {
        run(bytes, from + 1, FAR, |byte| {
            In::Url.has(byte) && byte != b'='
        })
    };
    let second = match bytes.get(end) {
        Some(b'.' | b':') => next(end),
        _ => return None,
    };
    let rest = &text[end + 1..second];
    let alnum = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let colon = bytes[end] == b':';
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    if colon
        && digits
        && (5..=16).contains(&word.len())
        && rest.starts_with('A')
        && rest.len() >= 34
        && !is_dummy(rest)
    {
        return Some((at, second, "telegram token"));
    }
    if colon {
        return None;
    }
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    if word.starts_with("pat") && word.len() == 17 && alnum(word) && rest.len() == 64 && hex(rest) {
        return Some((at, second, "airtable token"));
    }
    if rest == "atlasv1" && bytes.get(second) == Some(&b'.') {
        let third = run(bytes, second + 1, FAR, |byte| In::Url.has(byte));
        let starts = back(bytes, end, 14, |byte| byte.is_ascii_alphanumeric());
        return (third - second > 50 && !is_dummy(&text[second..third])).then_some((
            starts,
            third,
            "terraform token",
        ));
    }
    let is_id = word.starts_with(['M', 'N', 'O']) && (23..=28).contains(&word.len());
    if is_id && (5..=7).contains(&rest.len()) && bytes.get(second) == Some(&b'.') {
        let third = next(second);
        return (third - second > 27).then_some((at, third, "discord token"));
    }
    None
}

/// Forms that are known by their end or by their middle.
fn tailed(word: &str) -> Option<&'static str> {
    let (head, tail) = word.rsplit_once('-').unwrap_or_default();
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_region = tail.strip_prefix("us").is_some_and(|rest| {
        (1..=2).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_region && head.len() == 32 && hex(head) {
        return Some("mailchimp key");
    }
    let is_mailgun = word.len() == 50
        && word.split('-').map(str::len).eq([32, 8, 8])
        && word.split('-').all(hex);
    let is_maxmind = word.ends_with("_mmk") && word.len() == 40;
    (is_mailgun || is_maxmind).then_some("api key")
}

/// Addresses whose path is the credential, and the secrets of Azure, which have their mark in the middle.
pub fn find_placed(text: &str, lower: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let path = |byte: u8| In::Url.has(byte) || b"/+@%:".contains(&byte);
    for (needle, least, kind) in PATHS {
        for (at, needle) in lower.match_indices(needle) {
            let from = at + needle.len();
            let end = run(bytes, from, FAR, path);
            let rest = &text[from..end];
            if rest.len() >= *least
                && rest.bytes().any(|byte| byte.is_ascii_digit())
                && !is_dummy(rest)
            {
                found.push(span(from..end, kind));
            }
        }
    }
    for (at, _) in text.match_indices("Q~") {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_~.-".contains(&byte);
        let start = at.saturating_sub(4);
        let end = run(bytes, at + 2, FAR, inside);
        let is_secret = at >= 4
            && bytes[at - 1].is_ascii_digit()
            && bytes[start..at].iter().all(|byte| inside(*byte));
        if is_secret && end - at >= 33 && !is_dummy(&text[at + 2..end]) {
            found.push(span(start..end, "azure secret"));
        }
    }
    for (at, _) in lower.match_indices("sig=") {
        let end = run(bytes, at + 4, FAR, |byte| {
            In::Base.has(byte) || byte == b'%'
        });
        if at > 0 && b"?&".contains(&bytes[at - 1]) && end - at >= 34 {
            found.push(span(at + 4..end, "azure signature"));
        }
    }
    let mut done = 0;
    while let Some(at) = seek(bytes, done, usize::MAX, b"Private-Lines:") {
        done = run(bytes, at + 14, LONGEST_VALUE, |byte| {
            In::Base.has(byte) || b" \r\n".contains(&byte)
        });
        if done - at > 64 {
            found.push(span(at + 14..done, "private key"));
        }
    }
}

/// What stands before the secret part of an address, in lower case; the least length of that part; what it is.
#[rustfmt::skip]
const PATHS: &[(&str, usize, &str)] = &[
    ("/api/webhooks/", 30, "discord webhook"),
    (".logic.azure.com/workflows/", 30, "webhook"),
    (".webhook.office.com/webhookb2/", 30, "webhook"),
    ("api.telegram.org/bot", 30, "telegram token"),
    ("chat.googleapis.com/v1/spaces/", 60, "webhook"),
    ("hooks.slack.com/services/", 20, "slack webhook"),
    ("hooks.slack.com/triggers/", 20, "slack webhook"),
    ("hooks.slack.com/workflows/", 20, "slack webhook"),
    ("x-amz-signature=", 60, "signature"),
    ("x-goog-signature=", 60, "signature"),
    ("hooks.zapier.com/hooks/catch/", 10, "webhook"),
];
