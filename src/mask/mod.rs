//! Credentials out of any text before it is stored.
//!
//! In: any text. Out: the same text with each credential replaced by its kind, `[masked: github token]`, and the kinds found. First come
//! known shapes, then values that the text itself calls a secret, last single words that only a random generator writes. Commit ids,
//! digests, UUIDs, paths and identifiers stay. Errs on the side of masking where a name says secret, and on the side of leaving
//! where only the look of a word speaks. Never looks anywhere but at the text.

mod blocks;
mod commands;
mod follow;
mod headers;
mod issuers;
mod judge;
#[cfg(test)]
mod linear;
#[cfg(test)]
mod lists;
mod marked;
mod name;
mod named;
mod pairs;
mod random;
#[cfg(test)]
mod reported;
mod span;
#[cfg(test)]
mod table;
mod urls;
mod value;

use std::ops::Range;

use blocks::{find_blocks, find_public};
use commands::find_in_commands;
use headers::find_headers;
use marked::{find_marked, find_placed};
use named::find_named;
use pairs::find_in_pairs;
use random::find_random;
use span::{MARK, Span};
use urls::find_in_urls;

/// More sweeps than any text needs.
const MOST_SWEEPS: usize = 16;

/// What became of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masked {
    /// The text without its credentials.
    pub text: String,
    /// The kind of each one taken out, in the order of the text (a second sweep's after the first's).
    pub what: Vec<String>,
}

/// Takes the credentials out of a text. Masking a masked text changes nothing.
pub fn mask(text: &str) -> Masked {
    let mut masked = Masked {
        text: text.to_owned(),
        what: Vec::new(),
    };
    // A replacement can free the border of what stood next to it, so we sweep until nothing is found; a text without credentials is
    // swept once. The tests know no text that needs more than a few; the bound keeps a mistake in a pattern from stopping a command.
    for _ in 0..MOST_SWEEPS {
        let spans = find(&masked.text);
        if spans.is_empty() {
            return masked;
        }
        let mut text = String::with_capacity(masked.text.len());
        let mut done = 0;
        for span in spans {
            text.push_str(&masked.text[done..span.start]);
            text.push_str(&format!("{MARK}{}]", span.kind));
            masked.what.push(span.kind.to_owned());
            done = span.end;
        }
        text.push_str(&masked.text[done..]);
        masked.text = text;
    }
    masked
}

/// The credentials of a text, in its order, none overlapping another.
fn find(text: &str) -> Vec<Span> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut public = Vec::new();
    find_marks(text, &mut public);
    find_blocks(text, &mut found, &mut public);
    find_public(text, &lower, &mut public);
    find_marked(text, &mut found);
    find_placed(text, &lower, &mut found);
    find_in_urls(text, &mut found);
    find_headers(text, &lower, &mut found);
    find_in_commands(text, &lower, &mut found);
    find_named(text, &mut found);
    find_in_pairs(text, &lower, &mut found);
    find_random(text, &mut found);
    leave_public(text, &mut found, public);
    // Stable, so of two at one place the one found first names the kind.
    found.sort_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::new();
    for span in found {
        match merged.last_mut() {
            Some(last)
                if span.start < last.end || (span.start == last.end && span.kind == last.kind) =>
            {
                last.end = last.end.max(span.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// The marks of an earlier sweep: no part of one is a credential.
fn find_marks(text: &str, public: &mut Vec<Range<usize>>) {
    for (start, mark) in text.match_indices(MARK) {
        let kind = start + mark.len();
        let end = span::run(text.as_bytes(), kind, 40, |byte| {
            byte.is_ascii_lowercase() || byte == b' '
        });
        if text.as_bytes().get(end) == Some(&b']') {
            public.push(start..end + 1);
        }
    }
}

/// Drops what starts in a range that is public, and what holds a mark of ours: that was a credential in an earlier sweep.
fn leave_public(text: &str, found: &mut Vec<Span>, mut public: Vec<Range<usize>>) {
    public.sort_by_key(|range| range.start);
    found.retain(|span| {
        let before = public.partition_point(|range| range.start <= span.start);
        let inside = before
            .checked_sub(1)
            .is_some_and(|at| span.start < public[at].end);
        let whole = text.is_char_boundary(span.start) && text.is_char_boundary(span.end);
        !inside && whole && !text[span.start..span.end].contains(MARK.trim_end())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made up here, so that no file holds anything that looks like a credential to a scanner.
    fn random(length: usize) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(LETTERS[(state >> 16) as usize % LETTERS.len()])
        };
        (0..length).map(|_| next()).collect()
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(mask(text).text, expected, "{text}");
    }

    #[test]
    fn known_shapes() {
        let (r, upper) = (random, |length| random(length).to_uppercase());
        let cases = [
            (format!("AKIA{}", upper(16)), "aws key"),
            (format!("ghp_{}", r(36)), "github token"),
            (format!("gho_{}", r(36)), "github token"),
            (format!("github_pat_{}_{}", r(22), r(59)), "github token"),
            (format!("glpat-{}", r(20)), "gitlab token"),
            (format!("xoxb-{}-{}", "1234567890", r(24)), "slack token"),
            (format!("AIza{}", r(35)), "google key"),
            (format!("sk_live_{}", r(24)), "stripe key"),
            (format!("rk_live_{}", r(24)), "stripe key"),
            (format!("sk-{}", r(48)), "api key"),
            (format!("sk-ant-api03-{}", r(90)), "api key"),
            (format!("npm_{}", r(36)), "npm token"),
            (format!("pypi-AgEIcHlwaS5vcmc{}", r(60)), "pypi token"),
            (format!("eyJ{}.eyJ{}.{}", r(20), r(40), r(43)), "jwt"),
            (r(40), "random string"),
        ];
        for (credential, kind) in cases {
            let masked = mask(&format!("use {credential} here, ({credential})"));
            assert_eq!(
                masked.text,
                format!("use [masked: {kind}] here, ([masked: {kind}])"),
                "{credential}"
            );
            assert_eq!(masked.what, [kind, kind]);
        }
    }

    #[test]
    fn private_keys() {
        let body = format!("{}\n{}", random(64), random(64));
        let block =
            format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
        check(&format!("a\n{block}\nb"), "a\n[masked: private key]\nb");
        let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}");
        check(
            &format!("a {cut}\nthe rest"),
            "a [masked: private key]\nthe rest",
        );
        let escaped = block.replace('\n', "\\n");
        check(&format!("\"{escaped}\""), "\"[masked: private key]\"");
    }

    #[test]
    fn what_the_text_calls_a_secret() {
        check(
            "postgres://app:s3cret@db:5432/x",
            "postgres://app:[masked: password]@db:5432/x",
        );
        check(
            "redis://:pa@ss@host and more",
            "redis://:[masked: password]@host and more",
        );
        check("password=hunter2", "password=[masked: password]");
        check(
            "DB_PASSWORD=swordfish next",
            "DB_PASSWORD=[masked: password] next",
        );
        check(
            "{\"password\": \"hunter2\"}",
            "{\"password\": \"[masked: password]\"}",
        );
        check(
            "{\\\"password\\\":\\\"hunter2\\\"}",
            "{\\\"password\\\":\\\"[masked: password]\\\"}",
        );
        check(
            "the password: hunter2.",
            "the password: [masked: password].",
        );
        check("secret: 9fkq2lamx8", "secret: [masked: secret]");
        check("token=abc123", "token=[masked: secret]");
        check("API_KEY='0a1b2c3d4e'", "API_KEY='[masked: secret]'");
        check(
            "aws_secret_access_key = 0a1b2c3d4e5f",
            "aws_secret_access_key = [masked: secret]",
        );
        check(
            "mysql --password hunter22 -e x",
            "mysql --password [masked: password] -e x",
        );
        check(
            "Authorization: Bearer abc123DEF456xyz",
            "Authorization: Bearer [masked: bearer token]",
        );
        check(
            "Authorization: Basic dXNlcjpwYXNz",
            "Authorization: Basic [masked: authorization]",
        );
    }

    #[test]
    fn what_is_no_credential() {
        let texts = [
            "reverts da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
            "\"integrity\": \"sha512-AbCdEf0123456789AbCdEf0123456789abcdEFGHijklMNOP==\"",
            "the key SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
            "golang.org/x/mod h1:Zb7khfcRGKk+kqfxFaP5tZqCnDZMjC5VtUBs87Hr6QM=",
            "id 550e8400-e29b-41d4-a716-446655440000, and 550E8400-E29B-41D4-A716-446655440000",
            "src/components/Base64UrlEncoder2/getUserByEmailAddressV2.test.tsx",
            "getUserByEmailAddressAndPassword2FA calls HTTP2ServerConnectionPoolManager",
            "password=$PASSWORD secret=${{ secrets.TOKEN }} token=<token> password=**** api_key=YOUR_API_KEY",
            "token = lexer.next_token() and token=parser.current, password = getpass(\"x\")",
            "password: hashed with argon2id; Token: base64url; secret: rotate it monthly",
            "max_tokens=4096, tokens: 12, the token is kept in .env, token=/run/secrets/db",
            "postgres://user:$PW@host, postgres://host:5432/db, https://example.com/a:b@c",
            "pass=12 fail=3, Bearer authentication, Authorization: Basic authentication",
            "see https://lore.kernel.org/git/CAP8UFD3bpLrVW97DH7j=V9H2GsTSAkksC9L3QujQERFk_kLnZA@mail.gmail.com/",
            "in function _ZN3std3env8home_dir17hfd1c3b6676cd78f6E",
            "sk-fading-circle-container-wrapper, -----BEGIN CERTIFICATE-----",
            "a key: value store; monkey: banana2; the primary key: user_id2",
        ];
        for text in texts {
            assert_eq!(
                mask(text),
                Masked {
                    text: text.to_owned(),
                    what: Vec::new()
                }
            );
        }
    }

    proptest! {
        #[test]
        fn masking_is_idempotent(
            parts in proptest::collection::vec(
                prop_oneof![
                    any::<String>(),
                    "(password|secret|token|api_key|://a:)( ?[:=] ?)?[\"']?[a-zA-Z0-9@$\\[\\]]{0,40}[\"'@]?",
                    "(ghp_|sk-|AKIA|npm_|eyJ|Bearer |--token )[A-Za-z0-9.]{0,50}",
                    "[A-Za-z0-9/+_=-]{0,60}",
                    Just("-----BEGIN PRIVATE KEY-----".to_owned()),
                    Just("-----END PRIVATE KEY-----".to_owned()),
                    Just("[masked: jwt]".to_owned()),
                ],
                0..8,
            )
        ) {
            let once = mask(&parts.concat());
            let twice = mask(&once.text);
            prop_assert_eq!(&twice.text, &once.text);
            prop_assert!(twice.what.is_empty());
        }
    }
}
