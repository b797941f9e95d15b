//! Blocks between `-----BEGIN` and `-----END`, and what is public by its form.
//!
//! In: a text. Out: where private keys stand, and the ranges in which nothing is a credential: certificates, public keys, hashes that say
//! so, data of images. Reads each block once.

use std::ops::Range;

use crate::mask::issuers::In;
use crate::mask::span::{FAR, LONGEST_VALUE, Span, is_blank, is_break, run, seek, span};

const BEGIN: &[u8] = b"-----BEGIN ";

/// Finds private keys, and the ranges of blocks that are public.
pub fn find_blocks(text: &str, found: &mut Vec<Span>, public: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = seek(bytes, at, usize::MAX, BEGIN) {
        let label = start + BEGIN.len();
        let label_end = run(bytes, label, 80, |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
        });
        let open = label_end + 5;
        if !bytes[label_end..].starts_with(b"-----") {
            at = label;
            continue;
        }
        let is_private = text[label..label_end].contains("PRIVATE KEY");
        let end = block_end(bytes, open);
        if is_private {
            found.push(span(start..end, "private key"));
        } else {
            public.push(start..end);
        }
        at = end.max(open);
    }
}

/// Behind the `-----END …-----` of a block, when the next dashes are that; else behind the lines that look like its content.
fn block_end(bytes: &[u8], open: usize) -> usize {
    let dashes = seek(bytes, open, 8 * LONGEST_VALUE, b"-----");
    if let Some(close) = dashes.filter(|close| bytes[*close..].starts_with(b"-----END ")) {
        let label = run(bytes, close + 9, 80, |byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
        });
        if bytes[label..].starts_with(b"-----") {
            return label + 5;
        }
    }
    let upto = dashes.unwrap_or(bytes.len());
    let mut end = open;
    loop {
        let gap = run(bytes, end, FAR, |byte| {
            is_blank(byte) || is_break(byte) || b"\\nr+>|".contains(&byte)
        });
        let line = run(bytes, gap, LONGEST_VALUE, |byte| {
            byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
        });
        if line < gap + 16 || line > upto {
            return end;
        }
        end = line;
    }
}

/// Ranges that are public by their form: keys of ssh, hashes that say so, data in addresses.
pub fn find_public(text: &str, lower: &str, public: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let base = |byte: u8| In::Base.has(byte);
    for (start, most) in [
        ("ssh-rsa ", false),
        ("ssh-dss ", false),
        ("ssh-ed25519 ", false),
        ("ecdsa-sha2-", false),
        ("ssh-ed25519@openssh.com ", false),
        (";base64,", true),
    ] {
        let mut at = 0;
        while let Some(found) = lower.get(at..).and_then(|rest| rest.find(start)) {
            let from = at + found + start.len();
            let from = if start.ends_with('-') {
                run(bytes, from, 32, |byte| !is_blank(byte)) + 1
            } else {
                from
            };
            let is_key = most || bytes.get(from..from + 4) == Some(b"AAAA");
            at = if is_key {
                run(bytes, from, usize::MAX, base)
            } else {
                from.min(bytes.len())
            };
            if is_key {
                public.push(from..at);
            }
        }
    }
    let digest = [
        "sha1-", "sha224-", "sha256-", "sha384-", "sha512-", "md5-", "blake3-", "sha1:", "sha256:",
        "sha384:", "sha512:", "md5:", "h1:",
    ];
    for start in digest {
        for (found, _) in lower.match_indices(start) {
            let from = found + start.len();
            let end = run(bytes, from, FAR, base);
            let is_word = found == 0 || !bytes[found - 1].is_ascii_alphanumeric();
            if is_word && end - from >= 20 {
                public.push(from..end);
            }
        }
    }
}
