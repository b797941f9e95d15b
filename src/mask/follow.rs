//! What follows a name: how the name is closed, the sign, and the value, in the notations of programs, settings, markup and prose.
//!
//! In: a text and a place in it. Out: places. Never judges a value, and never looks further than a bound.

use crate::mask::span::{
    FAR, LONGEST_VALUE, blanks, is_blank, is_break, is_quote, line_end, run, seek,
};

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `=`, `:=`, `?=` and the like.
    Assign,
    /// `=>`
    Arrow,
    /// `==`, `!=`
    Compare,
    /// `:`
    Colon,
    /// `,` behind a name in quotes.
    Comma,
    /// `(`
    Call,
    /// What holds when the name has no value: `:-`, `||`, `default`.
    Else,
    /// The content of an element, or the value of a pair of attributes.
    Tag,
    /// The next column of a table.
    Column,
    /// `is`, `was`
    Is,
    /// Blanks only.
    Blank,
}

/// A value, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub start: usize,
    pub end: usize,
    /// In quotes, or closed by a tag.
    pub quoted: bool,
    /// On a line of its own, below the name.
    pub below: bool,
}

/// How a name ends: quotes and brackets that belong to it.
#[derive(Clone, Copy, Debug)]
pub struct Shut {
    pub at: usize,
    pub quote: bool,
    pub bracket: bool,
}

/// Skips what closes a name: `"]`, `**`, `[25]`, `&quot;`, `?`.
pub fn shut(bytes: &[u8], from: usize) -> Shut {
    let mut shut = Shut {
        at: from,
        quote: false,
        bracket: false,
    };
    for _ in 0..6 {
        let rest = &bytes[shut.at..];
        if let Some(length) = quote_at(rest) {
            shut.quote = true;
            shut.at += length;
        } else if rest.starts_with(b"]") {
            shut.bracket = true;
            shut.at += 1;
        } else if rest.starts_with(b"[") {
            let end = run(bytes, shut.at + 1, 8, |byte| byte.is_ascii_digit());
            if bytes.get(end) != Some(&b']') {
                break;
            }
            shut.at = end + 1;
        } else if rest.starts_with(b"**") {
            shut.at += 2;
        } else if rest.starts_with(b"?:") || rest.starts_with(b"!:") {
            shut.at += 1;
        } else if shut.quote && rest.starts_with(b")") {
            shut.bracket = true;
            shut.at += 1;
        } else {
            break;
        }
    }
    shut
}

/// The length of a quote that stands here, with the backslashes or as the entity it is written with.
fn quote_at(rest: &[u8]) -> Option<usize> {
    let slashes = rest
        .iter()
        .take(4)
        .take_while(|byte| **byte == b'\\')
        .count();
    if rest.get(slashes).is_some_and(|byte| is_quote(*byte)) {
        return Some(slashes + 1);
    }
    ENTITIES
        .iter()
        .find(|entity| rest.starts_with(entity))
        .map(|entity| entity.len())
}

const ENTITIES: [&[u8]; 6] = [b"&quot;", b"&#34;", b"&#39;", b"&apos;", b"\\u0022", b"%22"];

#[rustfmt::skip]
const SIGNS: [(&[u8], Sign); 26] = [
    (b"->", Sign::Arrow), (b"\xe2\x86\x92", Sign::Arrow), (b"\xef\xbc\x9a", Sign::Colon),
    (b"===", Sign::Compare), (b"!==", Sign::Compare), (b"==", Sign::Compare), (b"!=", Sign::Compare),
    (b":::=", Sign::Assign), (b"::=", Sign::Assign), (b":=", Sign::Assign), (b"??=", Sign::Assign), (b"||=", Sign::Assign),
    (b"?=", Sign::Assign), (b"+=", Sign::Assign), (b".=", Sign::Assign), (b"<-", Sign::Assign), (b"=>", Sign::Arrow),
    (b"%3D", Sign::Assign), (b"%3d", Sign::Assign), (b"=", Sign::Assign),
    (b"%3A", Sign::Colon), (b":", Sign::Colon), (b",", Sign::Comma), (b".assign(", Sign::Call), (b"(", Sign::Call), (b"|", Sign::Column),
];

/// The sign that stands here, and the place behind it.
pub fn sign(bytes: &[u8], at: usize) -> Option<(Sign, usize)> {
    let rest = &bytes[at.min(bytes.len())..];
    if rest.starts_with(b"||") && !rest.starts_with(b"||=") {
        return None;
    }
    let (text, sign) = SIGNS.iter().find(|(text, _)| rest.starts_with(text))?;
    Some((*sign, at + text.len()))
}

/// The value that starts here, behind blanks: in quotes, or up to the next blank or sign that ends it. `stop` ends it too.
pub fn read(text: &str, at: usize, stop: u8) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, at);
    // `b"`, `@"`, `N'`: a letter or sign that belongs to the quote.
    let prefix = run(bytes, at, 2, |byte| b"bBrRfFuULN@$".contains(&byte));
    if bytes.get(prefix).is_some_and(|byte| is_quote(*byte)) {
        at = prefix;
    }
    let Some(open) = quote_at(bytes.get(at..)?) else {
        return bare(text, at, stop);
    };
    let from = at + open;
    let quote = &bytes[at..from];
    let last = quote[open - 1];
    if open > 1 && !is_quote(last) {
        let end = seek(bytes, from, FAR, quote)?;
        return Some(Value {
            start: from,
            end,
            quoted: true,
            below: false,
        })
        .filter(|_| end > from);
    }
    if open == 1 && bytes[from..].starts_with(&[last, last]) {
        let end = seek(bytes, from + 2, LONGEST_VALUE, &[last, last, last])?;
        return Some(Value {
            start: from + 2,
            end,
            quoted: true,
            below: false,
        })
        .filter(|_| end > from + 2);
    }
    match close(bytes, from, last, open - 1) {
        Some(end) if end > from => Some(Value {
            start: from,
            end,
            quoted: true,
            below: false,
        }),
        Some(_) => None,
        None => bare(text, from, stop),
    }
}

/// Where the quote is closed, on this line or for a backtick on a later one. The backslashes of the opening one belong to the closing one.
fn close(bytes: &[u8], from: usize, quote: u8, slashes: usize) -> Option<usize> {
    let most = from + LONGEST_VALUE;
    let mut at = from;
    while at < most {
        at = run(bytes, at, most - at, |byte| {
            byte != quote && !is_break(byte)
        });
        if bytes.get(at) != Some(&quote) {
            return None;
        }
        let before = bytes[from..at]
            .iter()
            .rev()
            .take(8)
            .take_while(|byte| **byte == b'\\')
            .count();
        if slashes == 0 && before.is_multiple_of(2) {
            return Some(at);
        }
        if slashes > 0 && before <= slashes {
            return Some(at - before);
        }
        at += 1;
    }
    None
}

/// A value without quotes is judged by so much of it.
const LONGEST_BARE: usize = 600;

/// All of a value without quotes that was judged by its start.
pub fn whole(bytes: &[u8], value: Value) -> Value {
    if value.quoted || value.end - value.start < LONGEST_BARE {
        return value;
    }
    let end = run(bytes, value.end, usize::MAX, |byte| {
        byte.is_ascii_alphanumeric() || b"+/=_.~%-".contains(&byte)
    });
    Value { end, ..value }
}

/// A value without quotes.
fn bare(text: &str, at: usize, stop: u8) -> Option<Value> {
    let bytes = text.as_bytes();
    let inside = |byte: u8| {
        !is_blank(byte)
            && !is_break(byte)
            && !is_quote(byte)
            && !b",;<>".contains(&byte)
            && byte != stop
    };
    let mut end = run(bytes, at, LONGEST_BARE, inside);
    let value = &text[at..crate::mask::span::floor(text, end)];
    // The next parameter of an address, and the line feed of a text in a text.
    let cuts = ["\\n", "\\r", "%26", "&&"]
        .iter()
        .filter_map(|cut| value.find(cut));
    let query = value.match_indices('&').find(|(cut, _)| {
        let next = run(bytes, at + cut + 1, 32, |byte| {
            byte.is_ascii_alphanumeric() || b"_-;".contains(&byte)
        });
        next > at + cut + 1 && matches!(bytes.get(next), Some(b'='))
    });
    let cut = cuts
        .chain(query.map(|(cut, _)| cut))
        .min()
        .unwrap_or(value.len());
    end = at
        + value[..cut]
            .trim_end_matches(['.', ')', ']', '}', '\\', '?', ':', '|'])
            .len();
    (end > at).then_some(Value {
        start: at,
        end,
        quoted: false,
        below: false,
    })
}

/// The value on the next line: a scalar of YAML, a string in brackets, an item of a list.
pub fn below(text: &str, at: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut at = blanks(bytes, at);
    at = run(bytes, at, 3, |byte| b"|>+-(\\[".contains(&byte));
    at = blanks(bytes, at);
    if !bytes.get(at).is_some_and(|byte| is_break(*byte)) {
        return None;
    }
    at = run(bytes, at, 4, is_break);
    let line = at;
    at = blanks(bytes, at);
    if bytes[at.min(bytes.len())..].starts_with(b"- ") {
        at = blanks(bytes, at + 2);
    }
    let value = read(text, at, 0)?;
    let indented = at > line || value.quoted;
    let rest = &text[value.end..crate::mask::span::floor(text, line_end(bytes, value.end, FAR))];
    let alone = rest
        .bytes()
        .all(|byte| is_blank(byte) || is_quote(byte) || b"\\,;])}".contains(&byte));
    (indented && alone).then_some(Value {
        below: true,
        ..value
    })
}

/// Behind a type, where one stands between a name and `=`: `: Option<&str> = "x"`, ` string = "x"`.
pub fn typed(bytes: &[u8], at: usize) -> Option<usize> {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b" _.<>[]&|?':*".contains(&byte);
    let end = run(bytes, at, 48, inside);
    let equals = bytes.get(end) == Some(&b'=')
        && bytes.get(end + 1) != Some(&b'=')
        && bytes.get(end + 1) != Some(&b'>');
    let is_type = equals && end > at + 1 && bytes[at..end].iter().any(u8::is_ascii_alphabetic);
    let value = blanks(bytes, end + 1);
    let prefix = run(bytes, value, 2, |byte| byte.is_ascii_alphabetic());
    (is_type && bytes.get(prefix).is_some_and(|byte| is_quote(*byte))).then_some(value)
}

/// The value of the same element or object: `name="password" value="x"`, `"name": "TOKEN", "value": "x"`, a `value:` on the next line.
pub fn paired(text: &str, from: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    // What other attributes the tag has is skipped, where the value is an element in it.
    let tag = run(bytes, from, 120, |byte| {
        !b"<>{},:".contains(&byte) && !is_break(byte)
    });
    let opened =
        bytes.get(tag) == Some(&b'>') && bytes[tag..].iter().take(40).any(|byte| *byte == b'<');
    let from = if opened { tag } else { from };
    let mut at = run(bytes, from, 80, |byte| {
        is_blank(byte) || is_break(byte) || b",;\"'\\/>{".contains(&byte)
    });
    if bytes[at..].starts_with(b"<") {
        at += 1;
    } else if at == from {
        return None;
    }
    let word = bytes.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") && !word.eq_ignore_ascii_case(b"conte") {
        return None;
    }
    let end = run(bytes, at, 16, |byte| byte.is_ascii_alphabetic());
    let shut = shut(bytes, end);
    let at = blanks(bytes, shut.at);
    match bytes.get(at) {
        Some(b'>') => element(text, at),
        Some(b'=' | b':') => read(text, at + 1, 0),
        _ => None,
    }
}

/// The content of the element whose tag ends here, or ends after its attributes.
pub fn element(text: &str, from: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let tag = run(bytes, from, FAR, |byte| !b"<>".contains(&byte));
    if bytes.get(tag) != Some(&b'>') || tag > from && bytes[tag - 1] == b'/' {
        return None;
    }
    let mut start = run(bytes, tag + 1, FAR, |byte| is_blank(byte) || is_break(byte));
    let data = b"<![CDATA[";
    let is_data = bytes[start.min(bytes.len())..].starts_with(data);
    if is_data {
        start += data.len();
    }
    let mut end = run(bytes, start, LONGEST_VALUE, |byte| {
        byte != b'<' && !(is_data && byte == b']') && !is_break(byte)
    });
    let close = run(bytes, end, FAR, |byte| is_blank(byte) || is_break(byte));
    let closed = bytes[close.min(bytes.len())..].starts_with(if is_data { b"]]" } else { b"</" });
    end = start
        + text[start..crate::mask::span::floor(text, end)]
            .trim_end()
            .len();
    (closed && end > start).then_some(Value {
        start,
        end,
        quoted: true,
        below: false,
    })
}

/// The content of an element that is written with entities: `&lt;password&gt;x&lt;/password&gt;`.
pub fn escaped(text: &str, from: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let start = from + 4;
    if !bytes[from..].starts_with(b"&gt;") {
        return None;
    }
    let end = seek(bytes, start, FAR, b"&lt;/")?;
    (end > start).then_some(Value {
        start,
        end,
        quoted: true,
        below: false,
    })
}

/// The next cell or the string of a property list: `</td><td>x</td>`, `</key><string>x</string>`.
pub fn cell(text: &str, from: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    if !bytes[from..].starts_with(b"</") {
        return None;
    }
    let end = run(bytes, from + 2, 32, |byte| byte.is_ascii_alphanumeric());
    let next = run(bytes, end + 1, 80, |byte| is_blank(byte) || is_break(byte));
    let tag = run(bytes, next + 1, 16, |byte| byte.is_ascii_alphanumeric());
    let name = bytes.get(next + 1..tag)?;
    let is_cell = [&b"td"[..], b"dd", b"string", b"value", b"code"].contains(&name);
    (bytes.get(next) == Some(&b'<') && is_cell).then(|| element(text, tag))?
}

/// What stands in quotes behind a mark of a default on the rest of the line: `|| "x"`, `.unwrap_or("x")`, `default="x"`.
pub fn fallback(text: &str, from: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let end = crate::mask::span::floor(
        text,
        run(bytes, from, 160, |byte| !is_break(byte) && byte != b';'),
    );
    let rest = text.get(from..end)?;
    let marks = [
        "||",
        "??",
        "?:",
        " or ",
        "unwrap_or",
        "or_else",
        "OrElse",
        "default",
        "Default",
        ")) {",
        ") {",
    ];
    let inner = rest.trim_start().strip_prefix('{').map(str::trim_start);
    let block = inner
        .filter(|inner| inner.starts_with(['"', '\'']))
        .map(|inner| end - inner.len());
    let at = marks
        .iter()
        .filter_map(|mark| rest.find(mark).map(|at| from + at + mark.len()))
        .chain(block)
        .min()?;
    let open = run(bytes, at, 24, |byte| {
        byte.is_ascii_alphabetic() || b" _(=:|{,".contains(&byte)
    });
    let open = bytes[at..open]
        .iter()
        .rposition(|byte| !byte.is_ascii_alphabetic())
        .map_or(at, |last| at + last + 1);
    read(text, open, 0).filter(|value| value.quoted)
}

/// The string that a call is given which only wraps it: `SecretStr("x")`, `String::from("x")`.
pub fn wrapped(text: &str, at: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let at = blanks(bytes, at);
    let head = run(bytes, at, 48, |byte| {
        byte.is_ascii_alphanumeric() || b"_.: ".contains(&byte)
    });
    let name = text.get(at..head)?.trim_end().to_ascii_lowercase();
    let wraps = [
        "secretstr",
        "some",
        "from",
        "string",
        "str",
        "secret",
        "password",
        "tosecurestring",
        "token",
        "text",
        "plain",
        "literal",
        "bytes",
        "encode",
    ];
    let is_wrap = wraps.iter().any(|wrap| name.ends_with(wrap)) && !name.contains("get");
    (is_wrap && bytes.get(head) == Some(&b'('))
        .then(|| read(text, head + 1, 0))?
        .filter(|value| value.quoted)
}
