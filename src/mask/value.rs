//! What a value looks like: a placeholder, a reference, code, prose, or something that may be a credential.
//!
//! In: a value. Out: yes or no. Looks at nothing around it.

use crate::mask::span::{MARK, changes, decoded, is_mixed};

/// Words that stand where a secret would.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "any", "apikey", "auto", "basic", "bearer", "bool", "boolean", "bytes", "char", "default", "empty", "false", "hidden", "int", "integer",
    "invalid", "key", "masked", "nil", "none", "null", "number", "object", "optional", "pass", "passphrase", "passwd", "password", "placeholder",
    "pwd", "redacted", "required", "secret", "self", "str", "string", "tbd", "text", "todo", "token", "true", "undefined", "unset",
    "unknown", "value", "varchar", "void",
];

/// Names of algorithms and formats, which a sentence puts behind the word `token:` or `password:`.
#[rustfmt::skip]
const ALGORITHMS: &[&str] = &[
    "aes", "argon2", "base16", "base32", "base58", "base64", "bcrypt", "blake", "ecdsa", "ed25519", "ed448", "es256", "es384", "es512",
    "hmac", "hs256", "hs384", "hs512", "md5", "oauth", "oauth2", "oidc", "pbkdf2", "pkcs", "ps256", "rfc", "rs256", "rs384", "rs512", "rsa", "scrypt",
    "secp256", "sha1", "sha2", "sha3", "sha5", "sha-", "totp", "utf", "uuid4", "uuidv", "x25519", "x509",
];

/// Words of a sentence about a secret, as an interface says it.
#[rustfmt::skip]
const PROSE: &[&str] = &[
    "a", "already", "an", "and", "are", "at", "be", "cannot", "change", "characters", "confirm", "enter", "expired", "for", "forgot", "from", "has", "in",
    "incorrect", "invalid", "is", "key", "least", "match", "missing", "must", "new", "no", "not", "of", "or", "password", "passwords", "please", "required", "reset", "secret",
    "should", "the", "this", "to", "token", "too", "used", "was", "with", "wrong", "you", "your",
];

/// A value that only refers to where the secret is: `$TOKEN`, `<token>`, `{token}`, `%s`, `***`, or a mark of ours.
pub fn is_reference(value: &str) -> bool {
    let Some(first) = value.chars().next() else {
        return true;
    };
    if value.contains("${")
        || value.contains("{{")
        || value.contains("...")
        || value.contains("***")
        || value.contains('…')
        || value.contains("#{")
        || value.contains("<%")
    {
        return true;
    }
    if value.chars().all(|character| character == first) {
        return true;
    }
    let inner = &value[first.len_utf8()..];
    let word = inner.trim_end_matches(['%', '}', '>', ')', ']', '@', '|', '?', '!']);
    let is_name = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.-:".contains(&byte));
    match first {
        '<' | '{' | '[' | '(' | '|' => true,
        '-' => !is_generated(value),
        '$' => !is_password_like(value) || inner.contains(['$', '>', '[', '(']),
        '%' | '*' | '&' | '#' | '=' | '!' | '^' => is_name || !is_password_like(value),
        ':' | '@' => is_name && !has_digit_and_letter(word),
        _ => false,
    }
}

/// Digits, letters and a sign in so few characters are no name.
fn is_password_like(value: &str) -> bool {
    let inner = value.get(1..).unwrap_or_default();
    value.len() >= 8
        && has_digit_and_letter(value)
        && inner.contains(['!', '#', '%', '^', '&', '*', '+', '=', '~', '@', '?'])
}

/// A word that stands where a secret would.
pub fn is_placeholder(value: &str) -> bool {
    let value = value.trim_matches(|character: char| character == '_' || character == ' ');
    let lower = value.to_ascii_lowercase();
    is_reference(value)
        || PLACEHOLDERS.contains(&lower.as_str())
        || [
            "your", "my_", "my-", "change", "replace", "insert", "enter-", "enter_", "some-",
            "some_", "put-", "put_", "sample", "dummy", "todo", "fixme", "notset", "not-set",
            "not_set",
        ]
        .iter()
        .any(|start| lower.starts_with(start) && value.len() < 40)
        || [
            "placeholder",
            "redacted",
            "example",
            "changeme",
            "change-me",
            "change_me",
            "xxxx",
            "<your",
            "your_",
            "your-",
            "_here",
            "-here",
            "goes-here",
        ]
        .iter()
        .any(|part| lower.contains(part))
        || value.contains(MARK)
        || ["sha1", "sha2", "sha3", "sha5", "md5", "blake"]
            .iter()
            .any(|digest| lower.starts_with(digest))
}

/// The rest of a token that only shows the form: `ghp_xxxxxxxx`, `AKIA…EXAMPLE`, or one with a mark of ours in it.
pub fn is_dummy(rest: &str) -> bool {
    let lower = rest.to_ascii_lowercase();
    let mut seen = [false; 256];
    lower
        .bytes()
        .for_each(|byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|is_there| **is_there).count() <= 2
        || [
            "example",
            "xxxxx",
            "your_",
            "your-",
            "placeholder",
            "....",
            "****",
        ]
        .iter()
        .any(|part| lower.contains(part))
}

pub fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a value is the name of an algorithm or a format.
pub fn is_algorithm(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ALGORITHMS.iter().any(|name| lower.starts_with(name)) && value.len() < 24
}

/// Whether a value is more than a word of prose.
pub fn is_strong(value: &str) -> bool {
    if is_algorithm(value) || is_version(value) {
        return false;
    }
    let has_sign = value.contains(['!', '#', '$', '%', '^', '&', '*', '+', '=', '~', '@']);
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    has_digit_and_letter(value)
        || (has_sign && has_letter)
        || (value.len() >= 16 && is_mixed(value))
}

/// A word in the middle of a sentence that no one writes but as a password: letters with digits or signs, no measure, no name.
pub fn is_odd_word(value: &str) -> bool {
    let measure = value
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit())
        && value
            .trim_start_matches(|character: char| {
                character.is_ascii_digit() || character == '-' || character == '.'
            })
            .bytes()
            .all(|byte| byte.is_ascii_lowercase())
        && value.len() < 16;
    let address = value.contains('@') && value.contains('.') && !value.contains(['!', '#', '$']);
    let elided = value.contains(['(', ')', '[', ']', '{', '}', '<', '>', '/', '\\', '…']);
    value.len() >= 6
        && (!value.ends_with('=') || has_digit_and_letter(value))
        && !is_error_code(value)
        && is_strong(value)
        && !measure
        && !address
        && !elided
        && !is_placeholder(value)
        && !is_code(value)
        && !is_named(value)
}

/// Capitals and then digits: `AADSTS7000222`.
fn is_error_code(value: &str) -> bool {
    let letters = value.trim_end_matches(|last: char| last.is_ascii_digit());
    !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Words joined by `_` or `-`, with a number at most at the end of one: `user_id2`, `DB_PASSWORD`, `x-request-id`.
pub fn is_named(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['_', '-']).collect();
    let word = |part: &&str| {
        let letters = part.trim_end_matches(|character: char| character.is_ascii_digit());
        let one_case = letters
            .bytes()
            .skip(1)
            .all(|byte| byte.is_ascii_lowercase())
            || letters.bytes().all(|byte| byte.is_ascii_uppercase());
        letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && one_case
            && letters.len() < 16
            && part.len() < letters.len() + 3
    };
    let words = parts
        .iter()
        .filter(|part| part.bytes().any(|byte| byte.is_ascii_alphabetic()))
        .count();
    words > 1 && parts.iter().all(word)
}

/// `^9.0.2`, `>=1.4,<2`, `0.12.5`, `v1.2.3-rc.1`.
pub fn is_version(value: &str) -> bool {
    let core = value.trim_start_matches(['^', '~', '>', '<', '=', 'v', 'V', ' ']);
    let numbers = core.split(['.', '-', '+', ',']).take(2);
    core.contains('.')
        && core.len() < 32
        && numbers.clone().count() == 2
        && numbers.into_iter().all(|part| {
            !part.is_empty()
                && (part == "x" || part == "*" || part.bytes().all(|byte| byte.is_ascii_digit()))
        })
}

/// A sentence, not a passphrase.
pub fn is_prose(value: &str) -> bool {
    let words = || {
        value.split([' ', '\t']).map(|word| {
            word.trim_matches(|character: char| !character.is_alphanumeric())
                .to_ascii_lowercase()
        })
    };
    value.contains([' ', '\t'])
        && words()
            .filter(|word| PROSE.contains(&word.as_str()))
            .count()
            * 4
            >= words().count()
}

/// An expression rather than a value: a call, an index, a path in a program, a file.
pub fn is_code(value: &str) -> bool {
    let identifier = |part: &str| {
        let starts =
            part.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_');
        let word = part
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        starts && word && (part.len() < 30 || part.len() < 60 && part.contains('_'))
    };
    let head = value.split(['(', '[']).next().unwrap_or_default();
    let chain = |text: &str| {
        text.split(['.', ':', '?', '!'])
            .filter(|part| !part.is_empty())
            .all(identifier)
    };
    let head_of_call = head.trim_start_matches(['&', '*', '!', '@']);
    let is_call = head.len() < value.len() && chain(head_of_call);
    let is_chain =
        value.contains("::") || value.contains("->") || (value.contains('.') && chain(value));
    is_call || is_chain || is_path(value)
}

/// A path of a file system or an address.
pub fn is_path(value: &str) -> bool {
    let part = |part: &str| {
        part.len() < 24
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-~@:".contains(&byte))
    };
    let rooted =
        value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../");
    let drive = value.len() > 3
        && value.as_bytes()[0].is_ascii_alphabetic()
        && value[1..].starts_with(":\\");
    let slashes = value.contains('/') && value.split('/').all(part);
    let is_base64 =
        value.len() >= 32 && is_mixed(value) && changes(value.as_bytes()) * 3 > value.len();
    value.contains("://") || drive || ((slashes || rooted) && !is_base64)
}

/// Long, with digits and letters that change all the time, or a user and a password in Base64: what a name that says little needs.
pub fn is_generated(value: &str) -> bool {
    let bytes = value.as_bytes();
    let pair = || {
        let plain = decoded(bytes, 64).unwrap_or_default();
        plain.len() >= 5
            && plain.contains(&b':')
            && plain.iter().all(|byte| (0x20..0x7f).contains(byte))
    };
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let spread = value.len() >= 16
        && digits >= 2
        && has_digit_and_letter(value)
        && changes(bytes) * 5 >= bytes.len();
    !value.contains([' ', '\t']) && (spread || value.len() >= 8 && pair())
}
