//! Values that the text itself calls a secret: what follows a name that says so.
//!
//! In: a text. Out: where the values stand. A value that only refers to a secret, a placeholder, code and prose are left. Errs on the side
//! of masking where the name says much and the notation is that of a setting, on the side of leaving in prose and code.

use crate::mask::follow::{
    Shut, Sign, Value, below, cell, element, escaped, fallback, paired, read, shut, sign, typed,
    whole, wrapped,
};
use crate::mask::judge::{is_fit, is_odd};
use crate::mask::name::{Name, Sort, names};
use crate::mask::span::{Span, back, blanks, is_blank, is_break, is_quote, line_start, run, span};

/// Finds every value that the text calls a secret.
pub fn find_named(text: &str, found: &mut Vec<Span>) {
    // A name in a value that was found is of the value.
    let mut done = 0;
    for name in names(text) {
        if name.start < done {
            continue;
        }
        let fit = candidates(text, &name)
            .into_iter()
            .find(|(sign, value)| is_fit(text, &name, *sign, value));
        if let Some((_, value)) = fit {
            let value = whole(text.as_bytes(), value);
            found.push(span(value.start..value.end, name.kind));
            done = value.end;
        }
        if let Some(value) = before(text, &name) {
            found.push(span(value.start..value.end, name.kind));
        }
    }
}

/// Everything behind a name that may be its value, the likeliest first.
fn candidates(text: &str, name: &Name) -> Vec<(Sign, Value)> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut add = |sign: Sign, value: Option<Value>| all.extend(value.map(|value| (sign, value)));
    if in_braces(bytes, name.start) {
        add(Sign::Else, in_default(text, name.end));
        return all;
    }
    let shut = shut(bytes, name.end);
    let at = blanks(bytes, shut.at);
    let is_tag = is_tag(bytes, name.start);
    if is_tag {
        add(Sign::Tag, element(text, name.end));
    }
    add(Sign::Tag, escaped(text, name.end));
    add(Sign::Tag, cell(text, name.end));
    if shut.quote {
        add(Sign::Tag, paired(text, shut.at));
        let opened = bytes.get(at) == Some(&b'>')
            && back(bytes, name.start, 80, |byte| !b"<>\n".contains(&byte))
                .checked_sub(1)
                .is_some_and(|open| bytes[open] == b'<');
        if opened {
            add(Sign::Tag, element(text, at));
        }
    } else {
        add(Sign::Tag, listed(text, name, at));
    }
    if let Some((sign, behind)) = sign(bytes, at) {
        signed(text, &shut, sign, behind, &mut add);
    } else if at > shut.at || shut.quote {
        add(Sign::Is, said(text, at));
        add(
            Sign::Blank,
            typed(bytes, at)
                .filter(|_| !shut.quote)
                .and_then(|value| read(text, value, 0)),
        );
        add(Sign::Blank, read(text, at, 0).filter(|_| at > shut.at));
    }
    if shut.quote || shut.bracket || name.shouted {
        add(Sign::Else, fallback(text, shut.at));
    }
    all
}

/// The values behind a sign.
fn signed(
    text: &str,
    shut: &Shut,
    sign: Sign,
    behind: usize,
    add: &mut impl FnMut(Sign, Option<Value>),
) {
    let bytes = text.as_bytes();
    match sign {
        Sign::Comma if !shut.quote || shut.bracket => add(
            Sign::Column,
            read(text, behind, 0).filter(|value| !value.quoted),
        ),
        Sign::Call if shut.quote => {}
        Sign::Call => {
            add(Sign::Call, read(text, behind, b')'));
            add(
                Sign::Is,
                read(text, behind, b')')
                    .filter(|value| !value.quoted && bytes.get(value.end) == Some(&b')')),
            );
        }
        Sign::Column => add(Sign::Column, read(text, behind, b'|')),
        _ => {
            let typed = typed(bytes, behind).filter(|_| sign == Sign::Colon);
            add(
                if typed.is_some() { Sign::Assign } else { sign },
                read(text, typed.unwrap_or(behind), 0),
            );
            add(sign, wrapped(text, behind));
            add(sign, below(text, behind));
            if sign == Sign::Colon {
                add(Sign::Is, said(text, behind));
            }
            if matches!(sign, Sign::Assign | Sign::Colon) {
                add(Sign::Else, fallback(text, behind));
            }
        }
    }
}

/// Whether a name stands in `${…`, perhaps behind others: `${db.password`.
fn in_braces(bytes: &[u8], at: usize) -> bool {
    let start = back(bytes, at, 64, |byte| {
        byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
    });
    start >= 2 && bytes[start - 1] == b'{' && b"$%".contains(&bytes[start - 2])
}

/// `:-x}`, `:x}`, `-x}`, `:=x}`; not `:?x}`, which is a message.
fn in_default(text: &str, at: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let sign = run(bytes, at, 2, |byte| b":-=".contains(&byte));
    let first = bytes.get(sign)?;
    if sign == at || b"?+}".contains(first) {
        return None;
    }
    let value = read(text, sign, b'}')?;
    let closed = run(bytes, value.end, 4, |byte| is_quote(byte) || byte == b'\\');
    (bytes.get(closed) == Some(&b'}')).then_some(Value {
        quoted: true,
        ..value
    })
}

/// Whether a name is that of an element: `<password`, `<db:password`.
fn is_tag(bytes: &[u8], at: usize) -> bool {
    let start = back(bytes, at, 48, |byte| {
        byte.is_ascii_alphanumeric() || b":._-".contains(&byte)
    });
    start >= 1 && bytes[start - 1] == b'<'
}

/// `- name: DB_PASSWORD` and `value: x` on the next line, `Name=DB_PASSWORD,Value=x`.
fn listed(text: &str, name: &Name, at: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let start = back(bytes, name.start, 4, |byte| {
        is_blank(byte) || is_quote(byte)
    });
    let key = back(bytes, start.checked_sub(1)?, 16, |byte| {
        byte.is_ascii_alphabetic()
    });
    let word = text.get(key..start - 1)?.to_ascii_lowercase();
    let is_key = b":=".contains(&bytes[start - 1])
        && ["name", "key", "parametername", "parameterkey"].contains(&word.as_str());
    is_key.then(|| paired(text, at))?
}

/// `is now x`, `was x`, `set to x`; also what stands in backticks or brackets.
fn said(text: &str, at: usize) -> Option<Value> {
    const VERBS: [&str; 25] = [
        "ist",
        "lautet",
        "est",
        "is",
        "was",
        "are",
        "be",
        "now",
        "currently",
        "still",
        "set",
        "to",
        "changed",
        "became",
        "will",
        "used",
        "simply",
        "just",
        "of",
        "equals",
        "being",
        "rotated",
        "as",
        "like",
        "for",
    ];
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, at);
    for _ in 0..4 {
        let end = run(bytes, at, 12, |byte| byte.is_ascii_alphabetic());
        let word = &text[at..end];
        if !VERBS.contains(&word)
            || !bytes
                .get(end)
                .is_some_and(|byte| is_blank(*byte) || *byte == b':')
        {
            break;
        }
        at = blanks(bytes, end + 1);
    }
    at = run(bytes, at, 2, |byte| byte == b'*' || byte == b'(');
    read(text, at, b')')
}

/// `x is the password`, `"x" == password`: the value stands before its name.
fn before(text: &str, name: &Name) -> Option<Value> {
    let bytes = text.as_bytes();
    let start = line_start(bytes, name.start, 120);
    let start = (start..name.start).find(|at| text.is_char_boundary(*at))?;
    let line = text.get(start..name.start)?;
    let compared = line
        .trim_end_matches(|character: char| {
            character.is_ascii_alphanumeric() || "_.-".contains(character)
        })
        .trim_end();
    let operand = compared.trim_end_matches(['=', '!']);
    if compared.len() - operand.len() >= 2 {
        let operand = operand.trim_end();
        let quote = operand
            .chars()
            .next_back()
            .filter(|last| matches!(last, '"' | '\''))?;
        let inner = &operand[..operand.len() - 1];
        let open = inner.rfind(quote)?;
        let value = Value {
            start: start + open + 1,
            end: start + inner.len(),
            quoted: true,
            below: false,
        };
        return is_fit(text, name, Sign::Compare, &value).then_some(value);
    }
    let words = line.trim_end();
    let head = [
        " is the", " is my", " is our", " is a", " as the", " as my", " as", " is", " for the",
    ]
    .iter()
    .find_map(|verb| {
        let short = words.strip_suffix(verb);
        short.or_else(|| {
            words.rsplit_once(' ').and_then(|(rest, last)| {
                rest.strip_suffix(verb)
                    .filter(|_| last.bytes().all(|byte| byte.is_ascii_alphabetic()))
            })
        })
    })?;
    let from = head
        .rfind([' ', '\t', '"', '\'', '(', '#', ';', '/', '*'])
        .map_or(0, |at| at + 1);
    let inner = head.trim_end_matches(['"', '\'', '`', ')']);
    let from = if from > inner.len() {
        inner.rfind([' ', '"', '\'', '`']).map_or(0, |at| at + 1)
    } else {
        from
    };
    let word = inner.get(from..)?.trim_start_matches('`');
    let end = start + inner.len();
    let value = Value {
        start: end - word.len(),
        end,
        quoted: false,
        below: false,
    };
    let fits = name.sort != Sort::Weak && is_odd(word) && !is_break(*bytes.get(end)?);
    fits.then_some(value)
}
