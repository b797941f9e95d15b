//! Credentials before the host of an address.
//!
//! In: a text. Out: where they stand: the password, and a token in the place of the user. The host stays, whatever stands before it.

use crate::mask::span::{FAR, Span, back, is_blank, is_break, run, seek, span};
use crate::mask::value::{has_digit_and_letter, is_dummy, is_generated, is_placeholder};

/// Finds every credential in the user's place of an address.
pub fn find_in_urls(text: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(sign) = seek(bytes, at, usize::MAX, b"://") {
        at = sign + 3;
        let scheme = back(bytes, sign, 24, |byte| {
            byte.is_ascii_alphanumeric() || b"+.-".contains(&byte)
        });
        if sign - scheme < 2 {
            continue;
        }
        let Some(host) = authority(bytes, at) else {
            continue;
        };
        let user_end = run(bytes, at, host - at, |byte| byte != b':');
        let user = &text[at..user_end];
        if is_token(user) {
            found.push(span(at..user_end, "token"));
        }
        let password = text.get(user_end + 1..host).unwrap_or_default();
        if !is_placeholder(password) && password != "x-oauth-basic" && !password.starts_with('<') {
            found.push(span(user_end + 1..host, "password"));
        }
    }
}

/// Where the `@` stands that ends what is before the host: the last one before the path. A password may have a slash where what stands
/// before it is no host and port.
fn authority(bytes: &[u8], at: usize) -> Option<usize> {
    let stop = |byte: u8| is_blank(byte) || is_break(byte) || b"\"'<>`,".contains(&byte);
    let end = run(bytes, at, FAR, |byte| !stop(byte) && byte != b'/');
    let last = |end: usize| {
        bytes[at..end]
            .iter()
            .rposition(|byte| *byte == b'@')
            .map(|found| at + found)
    };
    if let Some(found) = last(end) {
        return Some(found);
    }
    let rest = &bytes[at..end];
    let colon = rest.iter().position(|byte| *byte == b':')?;
    let port = rest[colon + 1..].iter().all(u8::is_ascii_digit);
    if port
        || rest.starts_with(b"[")
        || bytes.get(end) != Some(&b'/')
        || bytes.get(end + 1) == Some(&b'/')
    {
        return None;
    }
    let upto = run(bytes, end, 120, |byte| !stop(byte) && byte != b':');
    let found = last(upto)?;
    bytes
        .get(found + 1)
        .is_some_and(u8::is_ascii_alphanumeric)
        .then_some(found)
}

/// A user that no one is called: long, and of a generator.
fn is_token(user: &str) -> bool {
    let plain = user
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let digits = user.bytes().filter(u8::is_ascii_digit).count();
    user.len() >= 20
        && plain
        && digits >= 2
        && has_digit_and_letter(user)
        && is_generated(user)
        && !is_dummy(user)
}
