//! Values that the text itself calls a secret: passwords in URLs, assignments, command-line options.
//!
//! In: a text. Out: where the values stand. A value that only refers to a secret, a placeholder, code and prose are left.

use regex::Captures;

use crate::mask::shapes::{Shape, shape};
use crate::mask::span::{MARK, Span, is_mixed, span};

/// A password in a URL: user, colon, password, host.
static URL: Shape = shape(
    "password",
    &["://"],
    r#"(?i-u:\b[a-z][a-z0-9+.-]{1,20})://[^ \t\r\n/:@"'<>`]*:([^ \t\r\n/"'<>`]+)@"#,
);

/// A name that says secret, a sign, a value: group 1 the name, 2 the sign, 3 to 5 a quoted value, 6 a bare one.
static ASSIGNMENT: Shape = shape(
    "secret",
    &["pass", "pwd", "secret", "token", "key", "credential"],
    r#"(?i-u:(pass(?:word|wd|phrase|code)|(?:(?-u:\b)pwd|[a-z0-9][_-](?:pass|pwd))|(?:secret|api|access|private|account|auth|encryption|signing)[_-]?(?:access[_-]?)?key|secret|token|credentials?)[0-9]?)\\?["'`]?[ \t]{0,4}(:=|=>|==?|:|[ \t])[ \t]{0,4}(?:\\?"([^"\r\n]+)|\\?'([^'\r\n]+)|`([^`\r\n]+)|([^ \t\r\n"'`,;]+))"#,
);

/// Finds every value that the text calls a secret.
pub fn find_named(text: &str, lower: &str, found: &mut Vec<Span>) {
    for captures in URL.matches(text, lower) {
        let password = captures
            .get(1)
            .filter(|password| !is_reference(password.as_str()));
        found.extend(password.map(|password| span(password.range(), URL.kind)));
    }
    for captures in ASSIGNMENT.matches(text, lower) {
        found.extend(assigned(text, &captures));
    }
}

/// The value of an assignment, when it is a secret and no placeholder, no code and no prose.
fn assigned(text: &str, captures: &Captures) -> Option<Span> {
    let name = captures.get(1)?;
    let is_password = name.as_str().to_ascii_lowercase().contains("pa")
        || name.as_str().to_ascii_lowercase().contains("pwd");
    let sign = captures.get(2)?.as_str();
    let quoted = captures
        .get(3)
        .or_else(|| captures.get(4))
        .or_else(|| captures.get(5));
    let value = quoted.or_else(|| captures.get(6))?;
    let ending: &[char] = if quoted.is_some() {
        &['\\']
    } else {
        &['.', ')', ']', '}', '\\', '?']
    };
    let content = value.as_str().trim_end_matches(ending);
    let is_flag = sign.trim().is_empty() && is_option(&text[..name.start()]);
    let is_secret = match (sign, quoted) {
        _ if is_placeholder(content) || content.starts_with(['/', '.', '~']) => false,
        (_, _) if sign.trim().is_empty() => {
            is_flag && content.len() >= 6 && has_digit_and_letter(content)
        }
        (":", Some(_)) if content.contains([' ', '\t']) => false,
        (_, Some(_)) if is_password => true,
        (_, Some(_)) => content.len() >= 6 && !content.contains([' ', '\t']) && !is_code(content),
        (":", None) if is_password => content.len() >= 6 && is_strong(content),
        (":", None) => content.len() >= 8 && is_strong(content) && !is_code(content),
        (_, None) if is_password => content.len() >= 3 && !is_code(content),
        (_, None) => content.len() >= 6 && is_strong(content) && !is_code(content),
    };
    let kind = if is_password {
        "password"
    } else {
        ASSIGNMENT.kind
    };
    is_secret.then(|| span(value.start()..value.start() + content.len(), kind))
}

/// Whether a name after this text is the name of a command-line option, as in `--db-password x`.
fn is_option(before: &str) -> bool {
    let word = before
        .rsplit([' ', '\t', '\n', '"', '\'', '`'])
        .next()
        .unwrap_or_default();
    word.starts_with("--")
}

/// A value that only refers to where the secret is: `$TOKEN`, `<token>`, `{token}`, `%s`, `***`, or a mark of ours.
fn is_reference(value: &str) -> bool {
    let first = value.chars().next();
    value.starts_with([
        '$', '<', '{', '%', '[', '(', '*', '&', '#', '|', '…', '=', '-', '!',
    ]) || value.contains("${")
        || value.contains("{{")
        || value.contains("...")
        || value.chars().all(|character| Some(character) == first)
}

/// Words that stand where a secret would.
const PLACEHOLDERS: [&str; 26] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "string",
    "str",
    "bytes",
    "text",
    "value",
    "null",
    "none",
    "nil",
    "true",
    "false",
    "undefined",
    "unset",
    "empty",
    "todo",
    "tbd",
    "required",
    "optional",
    "hidden",
    "redacted",
    "masked",
    "placeholder",
];

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_reference(value)
        || PLACEHOLDERS.contains(&lower.as_str())
        || ["your", "my_", "my-", "changeme", "change_me", "change-me"]
            .iter()
            .any(|start| lower.starts_with(start))
        || ["example", "placeholder", "redacted", MARK]
            .iter()
            .any(|part| lower.contains(part))
        || ["sha1", "sha2", "sha3", "sha5", "md5", "blake"]
            .iter()
            .any(|digest| lower.starts_with(digest))
}

/// Names of algorithms and formats, which a sentence puts behind the word `token:` or `password:`.
const ALGORITHMS: [&str; 16] = [
    "argon2", "pbkdf2", "bcrypt", "scrypt", "base64", "base32", "base16", "oauth", "ed25519",
    "x25519", "secp256", "hmac", "aes", "rsa", "utf", "x509",
];

/// Whether a value is more than a word of prose.
fn is_strong(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if ALGORITHMS.iter().any(|name| lower.starts_with(name)) {
        return false;
    }
    let has_sign = value.contains(['!', '#', '$', '%', '^', '&', '*', '+', '=', '~']);
    let has_letter = value.contains(|character: char| character.is_ascii_alphabetic());
    has_digit_and_letter(value)
        || (has_sign && has_letter)
        || (value.len() >= 16 && is_mixed(value))
}

fn has_digit_and_letter(value: &str) -> bool {
    value.contains(|character: char| character.is_ascii_digit())
        && value.contains(|character: char| character.is_ascii_alphabetic())
}

/// An expression rather than a value: a call, an index, a path in a program, a file.
fn is_code(value: &str) -> bool {
    let identifier = |part: &str| {
        let starts =
            part.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_');
        let word = part
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_');
        starts && word && part.len() < 30
    };
    let head = value.split(['(', '[']).next().unwrap_or_default();
    let chain = |text: &str| {
        text.split(['.', ':'])
            .filter(|part| !part.is_empty())
            .all(identifier)
    };
    let is_call = head.len() < value.len() && chain(head);
    let is_chain = value.contains("::") || (value.contains('.') && chain(value));
    is_call || is_chain || (value.contains('/') && value.split('/').all(is_file_name))
}

fn is_file_name(part: &str) -> bool {
    part.len() < 20
        && part
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for shape in [&URL, &ASSIGNMENT] {
            shape.check();
        }
    }
}
