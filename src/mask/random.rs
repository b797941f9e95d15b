//! Single words that only a random generator writes: the last resort, and a conservative one.
//!
//! In: a text. Out: where they stand. Digests that say so, paths, identifiers and hexadecimal words are left.

use std::ops::Range;

use crate::mask::span::{FAR, Span, back, changes, decoded, is_blank, is_break, span};

/// Shortest word that is judged by its look alone.
const SHORTEST_RANDOM: usize = 24;
/// Longest: more is data and no credential.
const LONGEST_RANDOM: usize = 256;
/// Bits for each character, of at least so many. Random Base64 of 24 characters has 4.2 on average, an identifier seldom more than 3.9.
const LEAST_ENTROPY: f64 = 3.9;

/// Finds words that only a random generator writes: long, of all three character classes, changing between them all the time. Of a link
/// or a path only the part is taken that is random.
pub fn find_random(text: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    let mut start = 0;
    for at in 0..=bytes.len() {
        if bytes.get(at).is_some_and(|byte| is_inside(*byte)) {
            continue;
        }
        if at - start >= SHORTEST_RANDOM && bytes.get(at) != Some(&b'@') {
            for part in parts(bytes, start, at) {
                let word = &bytes[part.clone()];
                let fits = (SHORTEST_RANDOM..=LONGEST_RANDOM).contains(&word.len());
                if fits && is_random(word) && !is_public(bytes, part.start, word) {
                    found.push(span(part, "random string"));
                }
            }
        }
        start = at + 1;
    }
}

/// The parts of a word that are judged each for itself: all of it, or the segments of a link or of a path.
fn parts(bytes: &[u8], start: usize, end: usize) -> Vec<Range<usize>> {
    let link = back(bytes, start, FAR, |byte| {
        !is_blank(byte) && !is_break(byte) && !b"\"'`<>()".contains(&byte)
    });
    let address = &bytes[link..start];
    let scheme = address.windows(3).position(|window| window == b"://");
    let word = &bytes[start..end];
    let is_path = || {
        let words = word.split(|byte| *byte == b'/').filter(|part| {
            part.len() >= 2
                && part
                    .iter()
                    .all(|byte| byte.is_ascii_lowercase() || b"-_".contains(byte))
        });
        word.contains(&b'/') && (word[0] == b'/' || words.count() >= 2)
    };
    if scheme.is_none() && !is_path() {
        return std::iter::once(start..end).collect();
    }
    let is_query = address.contains(&b'?') || address.contains(&b'#');
    if scheme.is_some_and(|scheme| is_of_documents(&address[scheme + 3..], word)) && !is_query {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut from = start;
    for (at, byte) in word.iter().enumerate() {
        if *byte == b'/' || *byte == b'=' && at + 2 < word.len() {
            all.push(from..start + at);
            from = start + at + 1;
        }
    }
    all.push(from..end);
    all
}

/// Hosts whose links name documents, people and posts.
const DOCUMENTS: [&str; 24] = [
    "airtable.com",
    "atlassian.net",
    "bitbucket.org",
    "canva.com",
    "docs.google.com",
    "drive.google.com",
    "dropbox.com",
    "excalidraw.com",
    "figma.com",
    "forms.gle",
    "github.com",
    "gitlab.com",
    "linear.app",
    "loom.com",
    "lore.kernel.org",
    "lucid.app",
    "miro.com",
    "notion.site",
    "notion.so",
    "sharepoint.com",
    "slack.com",
    "trello.com",
    "youtube.com",
    "zoom.us",
];

fn is_of_documents(host: &[u8], word: &[u8]) -> bool {
    let mut all = host.to_ascii_lowercase();
    all.extend(
        word.iter()
            .take_while(|byte| **byte != b'/')
            .map(u8::to_ascii_lowercase),
    );
    let end = all
        .iter()
        .position(|byte| b"/:?".contains(byte))
        .unwrap_or(all.len());
    DOCUMENTS.iter().any(|name| {
        let host = all[..end].strip_suffix(name.as_bytes());
        host.is_some_and(|before| before.is_empty() || before.ends_with(b"."))
    })
}

/// Whether a word is as random as a key, and public: a mangled symbol, an id, a digest that says so.
fn is_public(bytes: &[u8], start: usize, word: &[u8]) -> bool {
    #[rustfmt::skip]
    let known = [
        &b"_Z"[..], b"AAAAC3NzaC1", b"AAAAB3NzaC1", b"AAAAE2VjZHNh", b"AAAAG", b"sha1-", b"sha224-", b"sha256-", b"sha384-", b"sha512-", b"md5-",
        b"blake3-", b"R_kgDO", b"MDEwO", b"MDQ6", b"MDExO", b"MDEyO", b"chatcmpl-", b"file-", b"asst_", b"thread_", b"toolu_", b"pk_live_", b"pk_test_", b"phc_",
    ];
    let node = word.len() > 8
        && word
            .iter()
            .take(8)
            .collect::<Vec<_>>()
            .windows(4)
            .any(|window| window == [&b'k', &b'w', &b'D', &b'O']);
    let cid = word.len() == 46 && word.starts_with(b"Qm");
    let announced = [
        &b"sha1:"[..],
        b"sha256:",
        b"sha384:",
        b"sha512:",
        b"md5:",
        b"h1:",
        b"base64,",
    ];
    let before = bytes[start.saturating_sub(8)..start].to_ascii_lowercase();
    let plain =
        decoded(word.strip_suffix(b"--").unwrap_or(word), LONGEST_RANDOM).is_some_and(|text| {
            text.iter()
                .all(|byte| (0x20..0x7f).contains(byte) || is_break(*byte))
                && (!text.contains(&b':') || is_plain_object(&text))
        });
    known.iter().any(|start| word.starts_with(start))
        || node
        || cid
        || is_id(word)
        || announced.iter().any(|end| before.ends_with(end))
        || plain
        || is_named_public(bytes, start)
        || is_digest(bytes, start)
}

/// An object in JSON that names nothing secret.
fn is_plain_object(text: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(text).to_ascii_lowercase();
    let secret = [
        "pass", "secret", "token", "auth", "key", "cred", "pwd", "\"alg\"", "sess",
    ];
    lower.starts_with("{\"") && !secret.iter().any(|part| lower.contains(part))
}

/// `price_1MoBy5…`: a short word that is no word for a secret, and an id.
fn is_id(word: &[u8]) -> bool {
    let Some(sign) = word.iter().position(|byte| *byte == b'_') else {
        return false;
    };
    let (prefix, rest) = (&word[..sign], &word[sign + 1..]);
    let secret = [
        "key", "tok", "sec", "pat", "auth", "sk", "rk", "pw", "api", "pass", "live", "test",
        "priv", "cred",
    ];
    let prefix = String::from_utf8_lossy(prefix);
    let plain =
        (2..=8).contains(&prefix.len()) && prefix.bytes().all(|byte| byte.is_ascii_lowercase());
    plain
        && rest.len() <= 30
        && rest.iter().all(u8::is_ascii_alphanumeric)
        && !secret.iter().any(|part| prefix.contains(part))
}

/// Whether a word is of the digest of a password: `$2b$12$…`, `$argon2id$…`.
fn is_digest(bytes: &[u8], start: usize) -> bool {
    let from = back(bytes, start, 120, |byte| {
        byte.is_ascii_alphanumeric() || b"$=,./+".contains(&byte)
    });
    let head = &bytes[from..start];
    let sorts = [
        &b"$2"[..],
        b"$argon2",
        b"$5$",
        b"$6$",
        b"$1$",
        b"$y$",
        b"$scrypt$",
        b"$pbkdf2",
    ];
    sorts.iter().any(|sort| head.starts_with(sort))
}

/// Whether the name before a value says that it is public: `contentHash: "…"`, `etag=…`.
fn is_named_public(bytes: &[u8], start: usize) -> bool {
    let sign = back(bytes, start, 6, |byte| b"\"':= \\".contains(&byte));
    if sign == start || !bytes[sign..start].iter().any(|byte| b":=".contains(byte)) {
        return false;
    }
    let from = back(bytes, sign, 32, |byte| {
        byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
    });
    let name = String::from_utf8_lossy(&bytes[from..sign]).to_ascii_lowercase();
    [
        "hash",
        "digest",
        "checksum",
        "integrity",
        "fingerprint",
        "etag",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "md5",
        "commit",
        "public",
        "pubkey",
        "cert",
        "cursor",
        "message-id",
        "nonce",
    ]
    .iter()
    .any(|part| name.contains(part))
}

/// Whether only a generator writes this.
fn is_random(word: &[u8]) -> bool {
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
