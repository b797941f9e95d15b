//! What kind of thing a stored line is.
//!
//! In: the bytes of one line. Out: whether it is an anchor or a tombstone, and of what, or a record of its own. Told by its decoded `type` and
//! `of` and by nothing else: what a record says may hold any words. Never reads the rest of the line.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Deserialize;

use crate::id::RecordId;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// When and where a record stands.
    Anchor(RecordId),
    /// What is left of a record.
    Tombstone(RecordId),
    /// A record of its own, named by the hash of the line: also what is damaged, and what only a newer version can read.
    Record,
}

/// The two fields that decide.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    of: RecordId,
}

/// Most lines hold neither word and need not be decoded. It can only say "maybe": JSON may write any letter as `\u0061`.
static MAYBE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)anchor|tombstone|\\u").expect("the pattern is tested below")
});

/// What a line is.
pub(super) fn shape_of(line: &[u8]) -> Shape {
    // An array would be read as a struct too, and no record is one.
    if line.first() != Some(&b'{') || !MAYBE.is_match(line) {
        return Shape::Record;
    }
    match serde_json::from_slice::<Head<'_>>(line) {
        Ok(Head { r#type, of }) if r#type == "anchor" => Shape::Anchor(of),
        Ok(Head { r#type, of }) if r#type == "tombstone" => Shape::Tombstone(of),
        _ => Shape::Record,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{
        Anchor, Gone, Kind, Outcome, Reasoning, Record, Source, Tombstone, Verdict,
    };
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    /// The whole line decoded, and then looked at.
    fn oracle(line: &str) -> Shape {
        let Ok(Value::Object(line)) = serde_json::from_str(line) else {
            return Shape::Record;
        };
        let of = line.get("of").and_then(Value::as_str);
        let of = of.and_then(|of| of.parse().ok());
        match (line.get("type").and_then(Value::as_str), of) {
            (Some("anchor"), Some(of)) => Shape::Anchor(of),
            (Some("tombstone"), Some(of)) => Shape::Tombstone(of),
            _ => Shape::Record,
        }
    }

    /// Words that tell a kind, and others.
    fn word() -> impl Strategy<Value = String> {
        let id = RecordId::of(b"x").to_string();
        let mean = vec![
            "anchor".to_owned(),
            "tombstone".to_owned(),
            "reasoning".to_owned(),
            format!(r#"{{"type":"anchor","of":"{id}"}}"#),
            format!(r#"","type":"anchor","of":"{id}"#),
            id,
        ];
        prop_oneof![prop::sample::select(mean), "\\PC{0,12}"]
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            word().prop_map(Value::from),
            prop::collection::vec(word(), 0..3).prop_map(Value::from),
            (word(), word()).prop_map(|(key, word)| json!({key: word})),
            any::<u32>().prop_map(Value::from),
            Just(Value::Null),
        ]
    }

    /// The same JSON with every letter of its words escaped.
    fn escaped(line: &str) -> String {
        let escape = |letter: char| match letter.is_ascii_lowercase() && letter != 'u' {
            true => format!("\\u{:04x}", u32::from(letter)),
            false => letter.to_string(),
        };
        line.chars().map(escape).collect()
    }

    fn records(word: &str) -> Vec<Record> {
        let of = RecordId::of(word.as_bytes());
        let said = Reasoning {
            text: format!("about {word}"),
            task: Some(word.to_owned()),
            session: Some(word.to_owned()),
            key: Some(word.to_owned()),
            reasons: vec![word.to_owned()],
            nodes: vec![word.to_owned()],
            ..Reasoning::new(Source::Session, Kind::Decision)
        };
        let outcome = Outcome {
            source: Source::Trailer,
            task: Some(word.to_owned()),
            of: vec![of],
            verdict: Verdict::Pass,
            rationale: None,
            coverage: None,
            surfaced: vec![word.to_owned()],
            missing: Vec::new(),
            time: None,
        };
        let anchor = Anchor {
            of,
            branch: Some(word.to_owned()),
            ..Anchor::at(None, crate::record::Time(0))
        };
        let stone = Tombstone {
            task: Some(word.to_owned()),
            ..Tombstone::new(of, Gone::Expired)
        };
        vec![
            Record::Reasoning(said),
            Record::Outcome(outcome),
            Record::Anchor(anchor),
            Record::Tombstone(stone),
        ]
    }

    proptest! {
        #[test]
        fn any_object_is_what_decoding_it_says(
            kind in word(),
            of in value(),
            fields in prop::collection::vec((word(), value()), 0..4),
            at in 0usize..5,
        ) {
            let mut pairs: Vec<(String, Value)> = fields;
            pairs.retain(|(key, _)| key != "type" && key != "of");
            pairs.insert(at.min(pairs.len()), ("type".to_owned(), Value::from(kind)));
            pairs.insert((at / 2).min(pairs.len()), ("of".to_owned(), of));
            let line = Value::Object(pairs.into_iter().collect::<Map<_, _>>());
            let spaced = serde_json::to_string_pretty(&line).expect("a JSON form");
            let line = line.to_string();
            prop_assert_eq!(shape_of(line.as_bytes()), oracle(&line), "{}", line);
            prop_assert_eq!(shape_of(spaced.as_bytes()), oracle(&spaced), "{}", spaced);
        }

        #[test]
        fn what_records_say_does_not_make_them_others(word in word()) {
            for record in records(&word) {
                let line = record.encode().text;
                let expected = match Record::decode(line.as_bytes()) {
                    Ok(Record::Anchor(anchor)) => Shape::Anchor(anchor.of),
                    Ok(Record::Tombstone(stone)) => Shape::Tombstone(stone.of),
                    _ => Shape::Record,
                };
                prop_assert_eq!(shape_of(line.as_bytes()), expected, "{}", line);
                prop_assert_eq!(oracle(&line), expected, "{}", line);
            }
        }

        #[test]
        fn any_bytes_are_something(line in prop::collection::vec(any::<u8>(), 0..80)) {
            let text = String::from_utf8_lossy(&line);
            prop_assert_eq!(shape_of(text.as_bytes()), oracle(&text));
            shape_of(&line);
        }
    }

    #[test]
    fn letters_may_be_escaped_and_a_field_twice_is_damage() {
        let of = RecordId::of(b"x");
        let line = format!(r#"{{"type":"anchor","of":"{of}","time":7}}"#);
        for line in [line.clone(), escaped(&line)] {
            assert_eq!(shape_of(line.as_bytes()), Shape::Anchor(of), "{line}");
        }
        let twice = format!(r#"{{"type":"anchor","of":"{of}","type":"reasoning"}}"#);
        assert_eq!(shape_of(twice.as_bytes()), Shape::Record);
        let list = format!(r#"["anchor","{of}"]"#);
        assert_eq!(shape_of(list.as_bytes()), Shape::Record);
    }
}
