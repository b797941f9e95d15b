//! Characters that do not show: which they are, and text in which they can do nothing.
//!
//! In: any text. Out: the same text on one line with every such character written out, or as JSON with every such character escaped.
//! Does no I/O.
//!
//! Hidden is what Unicode calls a control, a format character or a line or paragraph separator, and the whole class
//! Default_Ignorable_Code_Point, with what is reserved for it and not assigned yet, so that a later version of Unicode opens no gap:
//! selectors, fillers, tags, joiners, soft hyphens, annotations; and the blank Braille pattern and the noncharacters, which show as
//! little. Of these a text for people keeps what it cannot be written without: the selector that makes a sign a picture (one, right
//! behind the sign), the joiner between two pictures, and the joiners inside words of the scripts that need them (behind a virama, and
//! between two Arabic letters).

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory as G, get_general_category};

/// Controls, format characters, separators of lines, and everything that is ignorable by default.
const IGNORABLE: [(u32, u32); 17] = [
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0xE0000, 0xE0FFF),
];
/// The scripts of India, Burma and the Khmer, where a joiner behind a virama changes the shape of a letter.
const VIRAMAS: [char; 14] = [
    '\u{94d}', '\u{9cd}', '\u{a4d}', '\u{acd}', '\u{b4d}', '\u{bcd}', '\u{c4d}', '\u{ccd}',
    '\u{d4d}', '\u{dca}', '\u{f84}', '\u{1039}', '\u{103a}', '\u{17d2}',
];
const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const AS_TEXT: char = '\u{fe0e}';
const AS_PICTURE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// Untrusted text as one line: line breaks and tabs as spaces, every character that would move the cursor, turn the direction or not
/// show at all as `\u{202e}`. What it returns holds none of these, so doing it again changes nothing. For a terminal; no markup is
/// escaped.
pub fn visible(text: &str) -> String {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        if character == '\r' && next == Some('\n') {
            continue;
        }
        let shown = match character {
            '\t' => ' ',
            other if is_line_break(other) => ' ',
            other => other,
        };
        if is_hidden(shown) && !is_needed(before, shown, next) {
            out.extend(shown.escape_unicode());
            before = Some('}');
        } else {
            out.push(shown);
            before = Some(shown);
        }
    }
    out
}

/// JSON with everything hidden in it escaped, which any reader of JSON turns back: what is printed can neither steer a terminal nor hide
/// from who reads it. In: JSON as it is written compactly, where such a character can only stand inside a string. Line breaks between
/// documents stay.
pub fn inert_json(json: &str) -> Cow<'_, str> {
    if json
        .bytes()
        .all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\n')
    {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '\n' || !is_hidden(character) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(out)
}

/// What Unicode, and a terminal, take for the end of a line.
pub(super) fn is_line_break(character: char) -> bool {
    let breaks = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    breaks.contains(&character)
}

/// Whether a character does not show, wherever it stands.
pub(super) fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let number = u32::from(character);
    let is_in = |(first, last): &(u32, u32)| (*first..=*last).contains(&number);
    let is_no_character = number & 0xFFFE == 0xFFFE || (0xFDD0..=0xFDEF).contains(&number);
    is_no_character
        || IGNORABLE.iter().any(is_in)
        || matches!(
            get_general_category(character),
            G::Control | G::Format | G::LineSeparator | G::ParagraphSeparator
        )
}

/// Whether a hidden character stands where a text cannot be written without it. What stands before and behind is looked at, and each
/// of these is one that shows, so of a run of them at most the first stays.
fn is_needed(before: Option<char>, character: char, next: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match character {
        AS_TEXT | AS_PICTURE if before.is_ascii() => {
            (before.is_ascii_digit() || "#*".contains(before)) && next == Some(KEYCAP)
        }
        AS_TEXT | AS_PICTURE => is_picture(before),
        JOINER if is_picture(before) || before == AS_PICTURE || is_tone(before) => {
            next.is_some_and(is_picture)
        }
        JOINER | NON_JOINER if VIRAMAS.contains(&before) => {
            next.is_some_and(|next| get_general_category(next) == G::OtherLetter)
        }
        NON_JOINER => is_arabic(before) && next.is_some_and(is_arabic),
        _ => false,
    }
}

/// Signs and pictures: those of the symbols that have a form of either kind, and a few signs of punctuation that do.
fn is_picture(character: char) -> bool {
    !character.is_ascii()
        && matches!(
            get_general_category(character),
            G::OtherSymbol | G::MathSymbol
        )
        || matches!(character, '\u{203c}' | '\u{2049}' | '\u{3030}' | '\u{303d}')
}

/// The tone of skin behind a picture.
fn is_tone(character: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&character)
}

fn is_arabic(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{8a0}'..='\u{8c9}')
        && get_general_category(character) == G::OtherLetter
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_whole_class_is_hidden() {
        let hidden = [
            0x00, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0xAD, 0x34F, 0x600, 0x61C, 0x6DD, 0x70F, 0x115F,
            0x1160, 0x17B4, 0x180B, 0x180E, 0x180F, 0x200B, 0x200F, 0x2028, 0x202E, 0x2060, 0x2065,
            0x2066, 0x206F, 0x2800, 0x3164, 0xFE00, 0xFE0E, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF8,
            0xFFF9, 0xFFFB, 0xFFFE, 0xFDD0, 0x1BCA0, 0x1D173, 0x13430, 0x1FFFE, 0xE0000, 0xE0001,
            0xE0041, 0xE007F, 0xE0080, 0xE0100, 0xE01EF, 0xE0FFF,
        ];
        for number in hidden {
            let character = char::from_u32(number).expect("a character");
            assert!(is_hidden(character), "U+{number:04X}");
            let said = visible(&format!("a{character}b"));
            assert!(!said.contains(character), "U+{number:04X}: {said}");
        }
        for character in "aé中あأ\u{301}\u{93f}€→½ \u{a0}\u{3000}\u{fffd}😀".chars() {
            assert!(!is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn what_a_text_cannot_be_written_without_stays() {
        for text in [
            "❤\u{fe0f} and 👩\u{200d}💻, 👩🏽\u{200d}💻 and ❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "☎\u{fe0e}",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn of_a_run_nothing_stays_that_could_hold_a_message() {
        for (text, right) in [
            ("❤\u{fe0f}\u{fe0f}\u{fe0e}", "❤\u{fe0f}\\u{fe0f}\\u{fe0e}"),
            ("a\u{fe0f}b", "a\\u{fe0f}b"),
            ("a\u{200d}b\u{200c}c", "a\\u{200d}b\\u{200c}c"),
            ("1\u{fe0f}2", "1\\u{fe0f}2"),
            ("👩\u{200d}\u{200d}💻", "👩\\u{200d}\\u{200d}💻"),
            ("😀\u{e0100}\u{e01ef}", "😀\\u{e0100}\\u{e01ef}"),
            ("\u{fe0f}", "\\u{fe0f}"),
            ("\n\u{fe0f}", " \\u{fe0f}"),
        ] {
            assert_eq!(visible(text), right);
        }
    }

    #[test]
    fn json_says_the_same_with_nothing_hidden_in_it() {
        let said = serde_json::json!({"text": "a\u{9b}31m\u{202e}b\u{2028}\u{e0041}\u{7f}\n\"é😀"});
        let plain = said.to_string();
        let inert = inert_json(&plain);
        assert!(!inert.chars().any(is_hidden), "{inert}");
        assert!(
            inert.contains("\\u009b31m\\u202eb\\u2028\\udb40\\udc41\\u007f\\n\\\"é😀"),
            "{inert}"
        );
        let back: serde_json::Value = serde_json::from_str(&inert).expect("JSON");
        assert_eq!(back, said);
        assert_eq!(inert_json("{}\n{}\n"), "{}\n{}\n");
    }

    proptest! {
        #[test]
        fn visible_twice_is_once(text in "[\\PC\u{200b}-\u{200f}\u{fe00}-\u{fe0f}\u{620}-\u{630}❤☎👩😀1#a\u{20e3}\u{94d}क\r\n]{0,24}") {
            let once = visible(&text);
            prop_assert_eq!(&visible(&once), &once);
            let json = serde_json::Value::from(text.as_str()).to_string();
            let back: serde_json::Value = serde_json::from_str(&inert_json(&json)).expect("JSON");
            prop_assert_eq!(back, serde_json::Value::from(text));
        }
    }
}
