//! Whether a value that follows a name is its secret.
//!
//! In: a name, a sign, a value. Out: yes or no. The table of what each sign asks for stands in `in_quotes` and in `without_quotes`.

use crate::mask::follow::{Sign, Value};
use crate::mask::name::{Name, Sort};
use crate::mask::span::{
    FAR, back, blanks, is_blank, is_break, is_quote, line_end, line_start, run,
};
use crate::mask::value::{
    has_digit_and_letter, is_algorithm, is_code, is_generated, is_named, is_odd_word, is_path,
    is_placeholder, is_prose, is_strong, is_version,
};

/// Whether this is the secret of this name.
pub fn is_fit(text: &str, name: &Name, sign: Sign, value: &Value) -> bool {
    let content = &text[value.start..value.end];
    let content = content.trim_end_matches('\\');
    // `PASS (Verified=true)` is a result.
    let is_result =
        name.sort == Sort::Weak && name.bare && matches!(sign, Sign::Call | Sign::Is | Sign::Blank);
    // The next name of a list of settings without values.
    let is_setting = content.ends_with('=')
        && content.len() < 32
        && !content.bytes().any(|byte| byte.is_ascii_digit());
    if is_result
        || is_setting
        || content.len() < 2
        || is_placeholder(content)
        || content.starts_with("~/")
        || is_hash(content)
    {
        return false;
    }
    let pair = content.split_once('/').is_some_and(|(user, rest)| {
        name.kind == "password"
            && !user.is_empty()
            && user.bytes().all(|byte| byte.is_ascii_lowercase())
            && is_odd_word(rest)
    });
    if is_path(content)
        && !pair
        && !(value.quoted
            && name.sort == Sort::Password
            && content.contains(['!', '#', '$', '%', '&', '*']))
    {
        return false;
    }
    if value.below && !value.quoted {
        return content.len() >= 6
            && is_strong(content)
            && !is_code(content)
            && !is_named(content)
            && fits_weak(name, content);
    }
    match value.quoted {
        true => in_quotes(text, name, sign, value, content),
        false => without_quotes(text, name, sign, value, content),
    }
}

/// Whether a word in a sentence is one that only a password is.
pub fn is_odd(word: &str) -> bool {
    is_odd_word(word)
}

/// What only hides the secret: a digest, a sealed value.
fn is_hash(content: &str) -> bool {
    [
        "$2a$",
        "$2b$",
        "$2y$",
        "$argon2",
        "$5$",
        "$6$",
        "$1$",
        "$y$",
        "$scrypt",
        "$pbkdf2",
        "pbkdf2_",
        "pbkdf2:",
        "{SSHA}",
        "{SHA}",
        "{bcrypt}",
        "{MD5}",
        "ENC[",
        "ENC(",
        "-----BEGIN",
        "ssh-",
        "vault:",
    ]
    .iter()
    .any(|start| content.starts_with(start))
}

/// A word of the same sort in the value: a label, a field, a reference, not the secret.
fn mentions(content: &str) -> bool {
    let lower = content.to_ascii_lowercase();
    let says = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "api_key",
        "api-key",
        "apikey",
        "credential",
        "-key",
        "_key",
    ]
    .iter()
    .any(|word| lower.contains(word));
    says && !content.bytes().any(|byte| byte.is_ascii_digit())
        && !content.contains(['!', '#', '$', '%', '^', '&', '*', '+', '~'])
}

/// A name that says little needs a value that says much.
fn fits_weak(name: &Name, content: &str) -> bool {
    name.sort != Sort::Weak
        || is_generated(content)
        || (name.kind == "password" && content.len() >= 6 && is_strong(content))
        || (name.bare && name.kind == "password" && content.len() >= 6 && is_strong(content))
}

fn in_quotes(text: &str, name: &Name, sign: Sign, value: &Value, content: &str) -> bool {
    let blank = content.contains([' ', '\t']);
    let password = name.sort == Sort::Password;
    let longer = name.shouted && content.len() >= 4 && !is_prose(content) && !mentions(content);
    let sets = name
        .verb
        .as_deref()
        .is_some_and(|verb| ["set", "with", "use", "basic", "add"].contains(&verb));
    if !fits_weak(name, content) {
        return false;
    }
    let plain = match (password, blank) {
        (true, true) => content.len() >= 8 && !is_prose(content),
        (true, false) => {
            content.len() >= 3
                && (!mentions(content) || content.ends_with('!'))
                && !is_call(content)
        }
        (false, true) => name.sort == Sort::Secret && is_phrase(content),
        (false, false) => {
            content.len() >= 6
                && !is_code(content)
                && !mentions(content)
                && !is_version(content)
                && !is_algorithm(content)
        }
    };
    match sign {
        Sign::Assign | Sign::Arrow | Sign::Colon => {
            plain && !is_selector(text, name) && !is_dependency(name, content)
        }
        Sign::Tag => plain && !is_version(content),
        Sign::Else => longer || plain && is_strong(content),
        Sign::Compare => {
            !blank
                && content.len() >= 6
                && is_strong(content)
                && !is_code(content)
                && !mentions(content)
                || blank && password && plain && content.len() >= 12
        }
        Sign::Comma => {
            longer
                || !blank
                    && content.len() >= 6
                    && is_strong(content)
                    && !is_code(content)
                    && !is_named(content)
                    && !is_numbered(content)
                || blank && password && plain && has_digit_and_letter(content)
        }
        Sign::Call => plain && (sets || is_strong(content) && !is_named(content) && !blank),
        Sign::Column => plain && is_strong(content),
        Sign::Is | Sign::Blank => {
            let sql = password
                && (text[name.start..name.end]
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase())
                    || is_sql(text, name.start))
                && text.as_bytes().get(value.end) == Some(&b'\'');
            let option = is_option(text.as_bytes(), name.start);
            plain && (sql || option || is_odd_word(content))
        }
    }
}

fn without_quotes(text: &str, name: &Name, sign: Sign, value: &Value, content: &str) -> bool {
    if !fits_weak(name, content) && sign != Sign::Else || is_version(content) {
        return false;
    }
    let bytes = text.as_bytes();
    let password = name.sort == Sort::Password;
    let strong = is_strong(content) && !is_code(content);
    match sign {
        Sign::Assign => match password {
            true => {
                content.len() >= 3 && !is_code(content) && !is_variable(text, name, value, content)
            }
            false => content.len() >= 6 && strong && !is_identifier_with_digit(text, name, content),
        },
        Sign::Arrow => content.len() >= 6 && is_odd_word(content),
        Sign::Colon => {
            let dotted = name.start > 0
                && bytes[name.start - 1] == b'.'
                && bytes.get(name.end) == Some(&b':')
                && bytes.get(name.end + 1).is_some_and(|byte| !is_blank(*byte));
            if dotted || content.contains(':') && !content.contains(['!', '#', '$', '%']) {
                return false;
            }
            let line = &bytes[value.end..line_end(bytes, value.end, FAR)];
            let alone = line
                .iter()
                .all(|byte| is_blank(*byte) || b",}\"')`".contains(byte));
            let setting = name.shouted
                && alone
                && content.len() >= 4
                && !mentions(content)
                && !is_code(content);
            let least = if password { 6 } else { 8 };
            let measure = !alone
                && content
                    .bytes()
                    .next()
                    .is_some_and(|byte| byte.is_ascii_digit())
                && content.len() < 10
                && content.contains('-');
            setting && password
                || content.len() >= least && strong && !measure && (password || !is_named(content))
        }
        Sign::Comma | Sign::Column => {
            let close = bytes
                .get(blanks(bytes, value.end))
                .is_none_or(|byte| b"|,\r\n".contains(byte));
            close
                && (is_generated(content)
                    || password
                        && bytes.get(blanks(bytes, value.end)) == Some(&b'|')
                        && is_odd_word(content))
        }
        Sign::Is => is_odd_word(content) || content.len() >= 8 && is_odd_tail(content),
        Sign::Blank => spaced(text, name, value, content),
        Sign::Tag => {
            content.len() >= 4 && (password || strong) && !mentions(content) && !is_code(content)
        }
        Sign::Else => content.len() >= 4 && !mentions(content) && !is_code(content),
        Sign::Call => {
            strong
                && content.len() >= 6
                && bytes.get(value.end) == Some(&b')')
                && is_odd_word(content)
        }
        Sign::Compare => false,
    }
}

/// A word with a number: `username1`.
fn is_numbered(content: &str) -> bool {
    let letters = content.trim_end_matches(|last: char| last.is_ascii_digit());
    content.len() - letters.len() <= 2 && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Random, though it has a sign that prose has too.
fn is_odd_tail(content: &str) -> bool {
    is_generated(content) && !is_code(content)
}

/// `--password x`, `ENV DB_PASSWORD x`, `password Tr0ub4dor!`.
fn spaced(text: &str, name: &Name, value: &Value, content: &str) -> bool {
    const WORDS: [&str; 27] = [
        "flag",
        "option",
        "options",
        "argument",
        "arguments",
        "switch",
        "instead",
        "parameter",
        "is",
        "and",
        "or",
        "to",
        "for",
        "from",
        "with",
        "on",
        "in",
        "when",
        "must",
        "file",
        "prompt",
        "value",
        "should",
        "can",
        "was",
        "has",
        "once",
    ];
    let bytes = text.as_bytes();
    let word = content.len() >= 4
        && !WORDS.contains(&content)
        && !content.starts_with('-')
        && !mentions(content)
        && !is_code(content);
    if is_option(bytes, name.start) {
        let next = blanks(bytes, value.end);
        let ends = bytes
            .get(next)
            .is_none_or(|byte| is_break(*byte) || is_quote(*byte) || b"-|;&>\\)".contains(byte));
        return word
            && (has_digit_and_letter(content)
                || content.contains(['!', '#', '$', '%', '^', '&', '*', '+', '@'])
                || ends);
    }
    let line = line_start(bytes, name.start, 24);
    let start = &bytes[line..name.start];
    let docker = start.eq_ignore_ascii_case(b"ENV ")
        || start.eq_ignore_ascii_case(b"ARG ")
        || start.eq_ignore_ascii_case(b"SetEnv ");
    if docker && name.shouted {
        return word;
    }
    let capital = content.bytes().any(|byte| byte.is_ascii_uppercase());
    let sign = content.contains(['!', '#', '$', '%', '^', '&', '*', '+', '=', '@', '_', '-']);
    content.len() >= 8
        && is_odd_word(content)
        && has_digit_and_letter(content)
        && (capital || sign || content.len() >= 20)
        && !content.contains(['.', ':', '/'])
}

/// Whether a name after this place is that of a command-line option, as in `--db-password x`.
fn is_option(bytes: &[u8], start: usize) -> bool {
    bytes[start..].starts_with(b"--")
        || bytes[start..].starts_with(b"-storepass")
        || bytes[start..].starts_with(b"-keypass")
        || {
            let word = back(bytes, start, 48, |byte| {
                byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte)
            });
            bytes[word..].starts_with(b"--")
        }
}

/// Words of a database before a name.
fn is_sql(text: &str, start: usize) -> bool {
    let line = line_start(text.as_bytes(), start, 120);
    let before = text
        .get(line..start)
        .unwrap_or_default()
        .to_ascii_lowercase();
    [
        "alter ",
        "create ",
        " identified",
        " with ",
        "set ",
        "grant ",
    ]
    .iter()
    .any(|word| before.contains(word))
}

/// A call, not a string with a bracket in it.
fn is_call(content: &str) -> bool {
    is_code(content) && content.contains(['(', '[']) && content.ends_with([')', ']'])
}

/// Three words or more, none of them of a sentence: `velvet tapir on toast`.
fn is_phrase(content: &str) -> bool {
    let words = content.split(' ').count();
    let plain = content.bytes().all(|byte| {
        byte.is_ascii_lowercase() || byte == b' ' || byte == b'-' || byte.is_ascii_digit()
    });
    words >= 4 && plain && !is_prose(content) && !mentions(content)
}

/// `input[type="password" …`, `type="password"`: handled as the name of something.
fn is_selector(text: &str, name: &Name) -> bool {
    let before = &text.as_bytes()[name.start.saturating_sub(2)..name.start];
    before.ends_with(b"[") && !text[name.end..].starts_with(['"', '\'', ']'])
}

/// A package and its version: `"csrf-token": "^1.2.3"`.
fn is_dependency(name: &Name, content: &str) -> bool {
    !name.shouted && is_version(content)
}

/// A variable that holds the secret rather than the secret: `password = raw_password;`, `login(user=u, password=pw)`.
fn is_variable(text: &str, name: &Name, value: &Value, content: &str) -> bool {
    let bytes = text.as_bytes();
    let word = content
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !content.as_bytes()[0].is_ascii_digit();
    if !word || name.shouted || content.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let spaced = is_blank(bytes[value.start - 1]);
    // `Password= followed by`: no one sets a blank behind the sign alone, and goes on with words.
    let mut after = bytes[value.end..].iter().take(2);
    let goes_on = after.next() == Some(&b' ') && after.next().is_some_and(u8::is_ascii_lowercase);
    if spaced && goes_on && bytes.get(name.end) == Some(&b'=') {
        return true;
    }
    let next = bytes
        .get(blanks(bytes, value.end))
        .copied()
        .unwrap_or(b'\n');
    let owner = back(bytes, name.start, 24, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte == b'$'
    });
    let owned = owner < name.start
        && [
            &b"self."[..],
            b"this.",
            b"user.",
            b"req.",
            b"request.",
            b"$this",
            b"obj.",
            b"model.",
            b"data.",
        ]
        .iter()
        .any(|start| bytes[owner..].starts_with(start));
    let common = [
        "pw", "pwd", "pass", "input", "raw", "hashed", "data", "result", "getpass", "await", "new",
        "async", "hash", "not", "lambda", "func", "function", "yield", "typeof",
    ]
    .contains(&content);
    mentions(content)
        || common
        || spaced && (owned || next == b';' || next == b'.')
        || matches!(next, b')' | b',' | b'(' | b'[') && !is_quote(next)
        || spaced && is_declared(bytes, name.start)
}

/// `let`, `const`, `var` before a name: a program, whose words are not secrets.
fn is_declared(bytes: &[u8], start: usize) -> bool {
    let before = back(bytes, start, 2, is_blank);
    let word = back(bytes, before, 8, |byte| byte.is_ascii_alphabetic());
    [
        &b"let"[..],
        b"const",
        b"var",
        b"mut",
        b"val",
        b"auto",
        b"final",
    ]
    .contains(&&bytes[word..before])
}

/// `token = next_token2`, `secret = secret1`.
fn is_identifier_with_digit(text: &str, name: &Name, content: &str) -> bool {
    let bytes = text.as_bytes();
    let sign = run(bytes, name.end, 4, |byte| is_blank(byte) || byte == b'=');
    let spaced = sign > name.end && bytes[sign - 1] == b' ';
    let letters = content.trim_end_matches(|character: char| character.is_ascii_digit());
    let short = content.len() - letters.len() <= 2
        && letters
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    spaced
        && short
        && (is_named(content)
            || ["token", "secret", "key", "value", "arg", "t", "s", "k"].contains(&letters))
}
