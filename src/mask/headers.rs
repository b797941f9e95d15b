//! Headers that carry a credential: `Authorization` of any scheme, `Cookie`, and the word `Bearer`.
//!
//! In: a text. Out: where the credentials stand. The scheme stays where it is known, and so do placeholders and sentences about headers.

use crate::mask::follow::{Sign, read, shut, sign};
use crate::mask::span::{
    FAR, LONGEST_VALUE, Span, blanks, is_blank, is_break, is_quote, run, span,
};
use crate::mask::value::{
    has_digit_and_letter, is_algorithm, is_code, is_dummy, is_generated, is_named, is_placeholder,
    is_strong,
};

/// Finds every credential in a header.
pub fn find_headers(text: &str, lower: &str, found: &mut Vec<Span>) {
    // A header in the value of one that was found is of that value.
    let mut done = 0;
    for (at, name) in lower.match_indices("authorization") {
        if at < done {
            continue;
        }
        if let Some((from, end, kind)) =
            header(text, at, at + name.len()).and_then(|(from, end)| credential(text, from, end))
        {
            // Of a longer one the rest goes too.
            let end = if end - from + 64 > LONGEST_HEADER {
                token_end(text.as_bytes(), from).max(end)
            } else {
                end
            };
            found.push(span(from..end, kind));
            done = end;
        }
    }
    done = 0;
    for (at, name) in lower.match_indices("cookie") {
        let is_name = at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
        if let Some((from, end)) =
            header(text, at, at + name.len()).filter(|_| is_name && at >= done)
        {
            cookies(text, from, end, found);
            done = end;
        }
    }
    for (at, name) in lower.match_indices("bearer") {
        let bytes = text.as_bytes();
        let from = blanks(bytes, at + name.len());
        let end = token_end(bytes, from);
        let token = &text[from..end];
        let is_word = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let fits = from > at + name.len()
            && token.len() >= 12
            && token.bytes().any(|byte| byte.is_ascii_digit());
        if is_word
            && fits
            && !is_named(token)
            && !is_algorithm(token)
            && !is_dummy(token)
            && !is_placeholder(token)
        {
            found.push(span(from..end, "bearer token"));
        }
    }
}

/// So much of the value of a header is read to find the credential in it.
const LONGEST_HEADER: usize = 1024;

/// Where the value of a header stands whose name ends here.
fn header(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let shut = shut(bytes, end);
    let at = blanks(bytes, shut.at);
    let (sign, behind) = sign(bytes, at)?;
    let known = match sign {
        Sign::Colon | Sign::Assign | Sign::Arrow => true,
        Sign::Comma => shut.quote,
        _ => false,
    };
    if !known {
        return None;
    }
    // On the next line only in quotes.
    let mut value = run(bytes, behind, FAR, |byte| is_blank(byte) || is_break(byte));
    let prefix = run(bytes, value, 1, |byte| b"bfru$@".contains(&byte));
    if bytes.get(prefix).is_some_and(|byte| is_quote(*byte)) {
        value = prefix;
    }
    let slashes = run(bytes, value, 4, |byte| byte == b'\\');
    if bytes.get(slashes).is_some_and(|byte| is_quote(*byte)) {
        let quoted = read(text, value, 0)?;
        return Some((quoted.start, quoted.end));
    }
    let value = blanks(bytes, behind);
    let outer = bytes[..start]
        .iter()
        .rev()
        .take(8)
        .copied()
        .find(|byte| !(byte.is_ascii_alphabetic() || *byte == b'-'));
    let quote = outer.filter(|byte| is_quote(*byte)).unwrap_or(b'\n');
    let end = run(bytes, value, LONGEST_HEADER, |byte| {
        !is_break(byte) && byte != quote
    });
    let end = crate::mask::span::floor(text, end);
    // An escaped line feed ends the line of a text in a text.
    let cut = ["\\n", "\\r"]
        .iter()
        .filter_map(|cut| text.get(value..end)?.find(cut))
        .min();
    Some((value, cut.map_or(end, |cut| value + cut)))
}

fn token_end(bytes: &[u8], from: usize) -> usize {
    let end = run(bytes, from, 2 * LONGEST_VALUE, |byte| {
        byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte)
    });
    end - bytes[from..end]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'.')
        .count()
}

/// The credential in the value of an `Authorization` header.
fn credential(text: &str, from: usize, end: usize) -> Option<(usize, usize, &'static str)> {
    let bytes = text.as_bytes();
    let inside = |byte: u8| !is_blank(byte) && byte != b',' && byte != b'"' && byte != b'\'';
    let first = run(bytes, from, end - from, inside);
    let second = run(bytes, first, end - first, is_blank);
    let scheme = text[from..first].to_ascii_lowercase();
    let rest = text[second..end]
        .trim_end_matches(|last: char| last.is_whitespace() || "\"'`,;)}\\".contains(last));
    let is_scheme = second > first
        && !scheme.is_empty()
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && !is_generated(&scheme);
    if !is_scheme {
        let token = text[from..first].trim_end_matches(['.', ')', '\\', ';']);
        let kind = if scheme.starts_with("bearer") {
            "bearer token"
        } else {
            "authorization"
        };
        return is_token(token, false).then_some((from, from + token.len(), kind));
    }
    let parameters = [
        "response=",
        "signature=",
        "token=",
        "mac=",
        "key=",
        "nonce=",
        "credential=",
    ];
    let lower = rest.to_ascii_lowercase();
    if parameters.iter().any(|parameter| lower.contains(parameter)) && !is_placeholder(rest) {
        let closed = if rest.matches('"').count() % 2 == 1 {
            end.min(second + rest.len() + 1)
        } else {
            second + rest.len()
        };
        return Some((second, closed, "authorization"));
    }
    let third = run(bytes, second, end - second, |byte| {
        inside(byte) && byte != b'\\' && byte != b'`'
    });
    let token = text[second..third].trim_end_matches(['.', ')', ';', '}', ']']);
    let known = [
        "basic",
        "bearer",
        "token",
        "negotiate",
        "ntlm",
        "digest",
        "apikey",
        "api-key",
        "api-token",
        "key",
        "bot",
        "jwt",
        "oauth",
        "ssws",
        "geniekey",
    ]
    .contains(&scheme.as_str());
    let ends = third >= end || text[third..end].trim().is_empty();
    let kind = if scheme == "bearer" {
        "bearer token"
    } else {
        "authorization"
    };
    is_token(token, known && ends).then_some((second, second + token.len(), kind))
}

/// Whether this is a credential and no word about one. Behind a known scheme and at the end of a header more may be one.
fn is_token(token: &str, sure: bool) -> bool {
    let upper = token
        .bytes()
        .skip(1)
        .any(|byte| byte.is_ascii_uppercase() || b"+=".contains(&byte));
    let word = token.bytes().all(|byte| byte.is_ascii_lowercase());
    let about = token.starts_with("auth")
        || token.starts_with("cred")
        || token.starts_with("schem")
        || token.starts_with("requir");
    let looks = token.bytes().any(|byte| byte.is_ascii_digit())
        || (upper && !is_named(token))
        || (sure && word && token.len() >= 8 && !about);
    token.len() >= 6
        && looks
        && !is_placeholder(token)
        && !is_code(token)
        && !is_algorithm(token)
        && !is_dummy(token)
}

/// The values of cookies that name a session or look random.
fn cookies(text: &str, from: usize, end: usize, found: &mut Vec<Span>) {
    let mut at = from;
    for part in text[from..end].split(';') {
        let start = at;
        at += part.len() + 1;
        let Some(equals) = part.find('=') else {
            continue;
        };
        let name = part[..equals].to_ascii_lowercase();
        let value = part[equals + 1..].trim_end_matches(['"', '\'', ' ', '\\', '.', ')', '}', ',']);
        let names = [
            "sess", "sid", "token", "auth", "jwt", "csrf", "xsrf", "login", "remember", "secret",
            "id",
        ]
        .iter()
        .any(|part| name.contains(part));
        let strong = names && value.len() >= 8 && is_strong(value) && has_digit_and_letter(value);
        let is_plain = !value.contains([' ', '(', '[', '{', '<']);
        if is_plain && !is_placeholder(value) && !is_dummy(value) && (strong || is_generated(value))
        {
            found.push(span(
                start + equals + 1..start + equals + 1 + value.len(),
                "cookie",
            ));
        }
    }
}
