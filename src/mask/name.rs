//! Names that say that a secret follows: `DB_PASSWORD`, `clientSecret`, `api key`.
//!
//! In: a text. Out: the names in it, each with how much it says. Reads each word once, and never what follows it.

use crate::mask::span::{FAR, back, is_blank, run};

/// How much a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A password: any word may be one.
    Password,
    /// A secret, a token, a key: random, or nearly.
    Secret,
    /// Something that is now and then secret: only what a generator wrote counts.
    Weak,
}

/// A name in a text, in bytes.
#[derive(Debug)]
pub struct Name {
    pub start: usize,
    pub end: usize,
    pub sort: Sort,
    pub kind: &'static str,
    /// All capitals with `_`, as an environment has them.
    pub shouted: bool,
    /// The name is the word alone: `password`, not `userPassword`.
    pub bare: bool,
    /// The first word of several: `set`, `get`.
    pub verb: Option<String>,
}

const PASSWORDS: &[&str] = &[
    "contrasena",
    "kennwort",
    "masterauth",
    "motdepasse",
    "passcode",
    "passe",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "passwort",
    "psk",
    "pswd",
    "pwd",
    "senha",
];

const SECRETS: &[&str] = &[
    "apikey",
    "apikeys",
    "cred",
    "credential",
    "credentials",
    "creds",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// Before `key`.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "access", "account", "admin", "api", "auth", "authentication", "encryption", "master", "priv", "private", "secret", "service", "shared", "signing",
    "storage", "subscription",
];

/// Before `key`, where only what is random counts.
#[rustfmt::skip]
const MAYBE_KEYS: &[&str] = &[
    "aes", "app", "application", "cipher", "client", "consumer", "cookie", "crypt", "crypto", "database", "db", "deploy", "des", "encrypt", "hmac", "ingest",
    "integration", "jwt", "license", "management", "rest", "sas", "security", "server", "session", "sign", "user", "webhook", "write",
];

/// Alone, where only what is random counts.
const WEAK: &[&str] = &[
    "auth",
    "bearer",
    "dsn",
    "jwt",
    "mnemonic",
    "pepper",
    "salt",
    "secrete",
    "seed",
    "session",
    "sessionid",
    "sid",
    "ticket",
    "webhook",
];

/// Before `token` or `key`: a place in a text, a page, a thread; or public.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "bos", "cancel", "cancellation", "continuation", "continue", "current", "design", "eos", "foreign", "next", "page", "pad", "pagination", "primary", "pub", "public",
    "publishable", "special", "start", "stop", "sync", "unk",
];

/// Behind the word that says secret, and saying nothing more.
#[rustfmt::skip]
const TAILS: &[&str] = &[
    "admin", "b64", "backup", "base", "base64", "clear", "confirm", "confirmation", "current", "default", "dev", "env", "here", "live", "main", "new", "old", "plain",
    "plaintext", "primary", "prod", "production", "raw", "root", "secondary", "staging", "str", "string", "test", "text", "value", "var", "verification",
];

/// Behind the word that says secret: what stands there is about it, and no secret.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "address", "age", "alg", "algorithm", "alias", "arn", "attempts", "audience", "balance", "budget", "by", "callback", "class", "column", "columns", "contract", "count", "date", "dir",
    "enabled", "encoder", "endpoint", "error", "event", "expire", "expires", "expiration", "expiry", "exp", "factory", "field", "fields", "file", "filename", "fingerprint",
    "flow", "folder", "form", "format", "generator", "handler", "hash", "hashed", "header", "headers", "hint", "icon", "id", "ids", "index", "info", "input", "is", "issuer", "kind", "label", "len",
    "length", "lifetime", "limit", "link", "list", "location", "manager", "map", "max", "message", "method", "min", "mode", "msg", "name", "names", "page", "parser", "path", "pattern",
    "placeholder", "policy", "prefix", "price", "prompt", "provider", "ref", "reference", "regex", "required", "reset", "rotation", "rules", "scope", "scopes", "selector", "service", "set",
    "size", "stamp", "state", "status", "store", "strength", "suffix", "symbol", "time", "timeout", "title", "ttl", "type", "types", "uri", "url", "usage", "validator", "vault", "version", "view",
];

/// Finds every name that says secret, in the order of the text.
pub fn names(text: &str) -> Vec<Name> {
    let bytes = text.as_bytes();
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = run(bytes, at, usize::MAX, inside);
        if end > at {
            // Of a long run the end decides.
            let start = at.max(end.saturating_sub(64));
            all.extend(name(text, start, end));
        }
        at = end.max(at) + 1;
    }
    all
}

fn name(text: &str, start: usize, end: usize) -> Option<Name> {
    let word = text[start..end].trim_end_matches('-');
    // `n` of `\n` is not of the name.
    let escape =
        text.as_bytes()[..start].last() == Some(&b'\\') && word.starts_with(['n', 'r', 't']);
    let (start, word) = if escape {
        (start + 1, &word[1..])
    } else {
        (start, word)
    };
    let end = start + word.len();
    let lower = word.to_ascii_lowercase();
    if ![
        "pass", "psk", "pwd", "pw", "secret", "token", "key", "cred", "auth", "bearer", "cookie",
        "jwt", "mnemonic", "pepper", "salt", "seed", "sess", "sid", "ticket", "webhook",
        "kennwort", "contrase", "senha", "dsn",
    ]
    .iter()
    .any(|part| lower.contains(part))
    {
        return None;
    }
    let mut words = split(word);
    let verb = words.first().filter(|_| words.len() > 1).cloned();
    let all = words.len();
    while words.len() > 1 && words.last().is_some_and(|last| is_tail(last)) {
        words.pop();
    }
    if words.len() == 1 && matches!(words[0].as_str(), "key" | "keys") {
        words.splice(0..0, previous(text, start));
    }
    let shouted = word
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && (word.contains('_') || word.len() > 8);
    // The one name that is no ASCII.
    let spanish = lower.ends_with("contrase") && text[end..].starts_with("ña");
    let end = if spanish { end + "ña".len() } else { end };
    let spanish = spanish.then_some(Sort::Password);
    let sort = spanish
        .or_else(|| sort_of(&words))
        .or_else(|| sort_within(&words))
        .or_else(|| of_vendor(&words, shouted))?;
    let is_password = ["pass", "pwd", "pw", "psk", "kennwort", "contrase", "senha"]
        .iter()
        .any(|part| lower.contains(part));
    let kind = match sort {
        Sort::Password => "password",
        Sort::Weak if is_password => "password",
        _ => "secret",
    };
    Some(Name {
        start,
        end,
        sort,
        kind,
        shouted,
        bare: all == 1,
        verb,
    })
}

fn is_tail(word: &str) -> bool {
    TAILS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The word before, when only a blank or a dot parts it from this one: `API key`, `s3.secret.key`.
fn previous(text: &str, start: usize) -> Vec<String> {
    let bytes = text.as_bytes();
    let upto = back(bytes, start, 2, |byte| is_blank(byte) || byte == b'.');
    if upto == start {
        return Vec::new();
    }
    let from = back(bytes, upto, FAR.min(20), |byte| {
        byte.is_ascii_alphanumeric() || byte == b'_'
    });
    split(&text[from..upto])
}

/// The words of a name, in lower case: parted by signs, by numbers, and by a change of case.
fn split(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let parts = match before {
            _ if !byte.is_ascii_alphanumeric() => true,
            Some(before) if byte.is_ascii_uppercase() => {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && next_is_lower)
            }
            Some(before) => {
                byte.is_ascii_digit() != before.is_ascii_digit()
                    && before.is_ascii_alphanumeric()
                    && !(byte.is_ascii_digit() && word == "b")
                    && !(word.ends_with("64"))
            }
            None => false,
        };
        if parts && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// What the last words say.
fn sort_of(words: &[String]) -> Option<Sort> {
    let last = words.last()?.as_str();
    let before = words
        .len()
        .checked_sub(2)
        .map_or("", |at| words[at].as_str());
    let ends = |ends: &[&str]| ends.iter().any(|end| last.ends_with(end));
    if PASSWORDS.contains(&last)
        || ends(&["password", "passwd", "passphrase", "passwort", "passcode"])
    {
        return Some(Sort::Password);
    }
    match (before, last) {
        ("pass", "word" | "phrase" | "code" | "wd") => return Some(Sort::Password),
        ("", "pass" | "pw") => return Some(Sort::Weak),
        (_, "pass" | "pw" | "psw") => return Some(Sort::Password),
        _ => {}
    }
    if HARMLESS.contains(&before) || last.ends_with("webtoken") {
        return None;
    }
    let glued = ends(&[
        "token",
        "secret",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
        "authkey",
        "accountkey",
        "masterkey",
    ]);
    if matches!(last, "tokens" | "keys") && before != "api" {
        return None;
    }
    if SECRETS.contains(&last)
        || glued
        || (matches!(last, "key" | "keys") && KEYS.contains(&before))
    {
        return Some(Sort::Secret);
    }
    let dbpass = last.len() > 4
        && last.ends_with("pass")
        && !["bypass", "compass", "trespass", "surpass", "overpass"].contains(&last);
    let glued_pwd = last.len() > 3 && last.ends_with("pwd");
    if dbpass || glued_pwd {
        return Some(Sort::Password);
    }
    let maybe = WEAK.contains(&last)
        || (last == "key" && MAYBE_KEYS.contains(&before))
        || (last == "id" && before == "session");
    maybe.then_some(Sort::Weak)
}

/// `HEROKU_KEY`, in capitals: a key to something, unless it is one of a table or of a store.
fn of_vendor(words: &[String], shouted: bool) -> Option<Sort> {
    const OTHERS: [&str; 14] = [
        "cache",
        "config",
        "group",
        "hash",
        "idempotency",
        "kms",
        "lookup",
        "object",
        "partition",
        "registry",
        "row",
        "sort",
        "storage",
        "unique",
    ];
    let before = words.len().checked_sub(2).map(|at| words[at].as_str())?;
    let is_key = words.last().is_some_and(|last| last == "key");
    let other = OTHERS.contains(&before) || HARMLESS.contains(&before);
    (shouted && is_key && !other).then_some(Sort::Weak)
}

/// What a word before the last ones says, where the last ones are not about it: `password_super_secure`.
fn sort_within(words: &[String]) -> Option<Sort> {
    let last = words.last()?;
    let at = (1..words.len())
        .rev()
        .find(|at| matches!(sort_of(&words[..*at]), Some(Sort::Password | Sort::Secret)))?;
    let is_about = ABOUT.contains(&last.as_str())
        || words[at..]
            .iter()
            .any(|word| ABOUT.contains(&word.as_str()));
    (!is_about).then_some(Sort::Weak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_much_they_say() {
        let sort = |text: &str| names(text).first().map(|name| name.sort);
        for name in [
            "DB_PASSWORD",
            "userPassword",
            "passwd",
            "PGPASSWORD",
            "MYSQL_PWD",
            "db-pass",
            "passPhrase",
            "password2",
            "NEW_PASSWORD_1",
            "spring.mail.password",
        ] {
            assert_eq!(sort(name), Some(Sort::Password), "{name}");
        }
        for name in [
            "SECRET_KEY",
            "secretKeyBase",
            "client-secret",
            "apikey",
            "X-Api-Key",
            "accountKey",
            "_authToken",
            "API key",
            "mySecretString",
            "githubtoken",
        ] {
            assert_eq!(sort(name), Some(Sort::Secret), "{name}");
        }
        for name in ["sessionid", "password_super_secure", "auth", "app_key"] {
            assert_eq!(sort(name), Some(Sort::Weak), "{name}");
        }
        for name in [
            "token_url",
            "max_tokens",
            "passwordHash",
            "primary_key",
            "nextPageToken",
            "jsonwebtoken",
            "keyboard",
            "monkey",
            "compass",
            "secretName",
            "public_key",
            "a key",
        ] {
            assert_eq!(sort(name), None, "{name}");
        }
    }
}
