//! A phrase looked for in raw bytes, in whatever form a file of this tool may hold it.
//!
//! In: the phrase, any bytes. Out: whether they hold it: as it is, with other white space, and written as JSON writes it, once or several
//! times over. Case is kept. Knows nothing of records.

use regex::bytes::Regex;

/// Fewest bytes of a phrase that are no white space: fewer stand nearly everywhere.
pub const SHORTEST: usize = 4;
/// How often JSON may stand in JSON: a record in the answer of a tool in the log of a program.
const DEEPEST: usize = 3;

/// A phrase to be looked for.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// White space is one space, none at the ends.
    bytes: Vec<u8>,
    /// Finds the longest part that neither JSON nor white space can change, or an escape that can stand for anything. Most bytes hold
    /// neither and are not looked at any further.
    maybe: Regex,
}

impl Phrase {
    /// To look for these bytes; none where they are too few to be looked for.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let bytes = plain(bytes).trim_ascii().to_vec();
        let seen = bytes.iter().filter(|byte| **byte != b' ').count();
        if seen < SHORTEST {
            return None;
        }
        let can_change = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\\' | b'/' | 0x7f);
        let parts = bytes.split(can_change);
        // Long ones are cut: the pattern is compiled.
        let part = parts.max_by_key(|part| part.len()).unwrap_or_default();
        let part = &part[..part.len().min(64)];
        let part: String = part.iter().map(|byte| format!(r"\x{byte:02x}")).collect();
        let maybe = match part.is_empty() {
            true => String::new(),
            false => format!(r"(?-u){part}|\\u"),
        };
        let maybe = Regex::new(&maybe).expect("only bytes in hexadecimal");
        Some(Self { bytes, maybe })
    }

    /// Whether these bytes hold it.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        if bytes.len() < self.bytes.len() || !self.maybe.is_match(bytes) {
            return false;
        }
        let mut form = plain(bytes);
        for _ in 0..DEEPEST {
            if self.stands_in(&form) {
                return true;
            }
            match unescaped(&form) {
                Some(inner) => form = plain(&inner),
                None => return false,
            }
        }
        self.stands_in(&form)
    }

    fn stands_in(&self, form: &[u8]) -> bool {
        let mut parts = form.windows(self.bytes.len());
        parts.any(|part| part == self.bytes)
    }
}

/// Every run of white space as one space; what is no text stays.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if !character.is_whitespace() {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            } else if out.last() != Some(&b' ') {
                out.push(b' ');
            }
        }
        out.extend_from_slice(chunk.invalid());
    }
    out
}

/// The bytes with every escape of JSON replaced by what it stands for; none where there is none.
fn unescaped(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut is_other) = (bytes, false);
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match escape(rest) {
            Some((character, length)) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[length..];
                is_other = true;
            }
            None => {
                out.push(b'\\');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    is_other.then_some(out)
}

/// What an escape at the beginning of these bytes stands for, and its length.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let simple = match bytes.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let high = unit(bytes)?;
            if let Some(character) = char::from_u32(high) {
                return Some((character, 6));
            }
            let low = unit(&bytes[6..])?;
            let pair = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
            let pair = char::decode_utf16(pair).next()?.ok()?;
            return Some((pair, 12));
        }
        _ => return None,
    };
    Some((simple, 2))
}

/// The number of `\u0061`.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(br"\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn phrase(text: &str) -> Phrase {
        Phrase::new(text.as_bytes()).expect("it is long enough")
    }

    #[test]
    fn every_form_is_found_and_no_other() {
        let said = phrase("the \"quokka\"\n  vault / ключ \u{1f511} end\\n");
        for bytes in [
            "x the \"quokka\" vault / ключ \u{1f511} end\\n y",
            "the\t\t\"quokka\"\r\nvault\u{a0}/ ключ 🔑 end\\n",
            r#"{"text":"the \"quokka\"\n  vault \/ ключ 🔑 end\\n"}"#,
            r#"the \u0022quokka\u0022\u000a vault / \u043a\u043b\u044e\u0447 \ud83d\udd11 end\\n"#,
            r#"{\"text\":\"the \\\"quokka\\\"\\n vault / ключ 🔑 end\\\\n\"}"#,
        ] {
            assert!(said.is_in(bytes.as_bytes()), "{bytes}");
        }
        for bytes in [
            "",
            "the quokka vault",
            "The \"quokka\" vault / ключ 🔑 end\\n",
        ] {
            assert!(!said.is_in(bytes.as_bytes()), "{bytes}");
        }
        assert!(phrase("quokka").is_in(b"\xff\x00quokka\xfe"));
        assert!(phrase("quokka").is_in(br"\u0071uokk\u0061"));
        assert!(!phrase("quokka").is_in(br"\u007quokk"));
        assert!(phrase(r#""\\""/"#).is_in(r#""\\""/"#.as_bytes()));
        assert!(Phrase::new(b"\xff\xfe\xfd\xfc").is_some_and(|it| it.is_in(b"a\xff\xfe\xfd\xfcb")));
        for short in ["", "abc", " a b\nc ", "\u{a0}\u{a0}"] {
            assert!(Phrase::new(short.as_bytes()).is_none(), "{short:?}");
        }
    }

    proptest! {
        #[test]
        fn what_json_holds_is_found(
            before in any::<String>(),
            text in "\\PC{4,40}|[a-z\"\\\\/\n\t ]{8,30}",
            after in any::<String>(),
            depth in 0usize..3,
        ) {
            let Some(phrase) = Phrase::new(text.as_bytes()) else { return Ok(()) };
            let mut form = format!("{before}{text}{after}");
            for _ in 0..depth {
                form = serde_json::to_string(&form).expect("a JSON form");
            }
            prop_assert!(phrase.is_in(form.as_bytes()), "{form}");
        }

        #[test]
        fn any_bytes_can_be_searched(bytes in proptest::collection::vec(any::<u8>(), 0..60), text in any::<Vec<u8>>()) {
            if let Some(phrase) = Phrase::new(&text) {
                phrase.is_in(&bytes);
            }
        }
    }
}
