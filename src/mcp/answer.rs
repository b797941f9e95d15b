//! What a tool answers: text for the model, the same as data for programs, or a sentence that says what went wrong.
//!
//! In: values of any size. Out: values of at most [`MOST_BYTES`]. The same value is always cut the same way.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// Longest answer as compact JSON, in bytes: some ten thousand tokens.
pub const MOST_BYTES: usize = 40_000;
/// Longest list of an answer, before its size is looked at.
const MOST_ITEMS: usize = 50;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the model reads; none where that would be empty.
    pub text: Option<String>,
    /// The same for programs.
    pub data: Value,
}

impl Answer {
    /// Data whose text is its JSON.
    pub fn of(data: &impl Serialize) -> Result<Self, Failure> {
        let data = bounded(to_value(data)?);
        Ok(Self {
            text: Some(data.to_string()),
            data,
        })
    }

    /// Data with a text of its own, which says all that was stored.
    pub fn with_text(data: &impl Serialize, text: String) -> Result<Self, Failure> {
        Ok(Self {
            text: (!text.is_empty()).then_some(text),
            data: bounded(to_value(data)?),
        })
    }
}

/// Why there is no answer: one sentence with its causes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// An error of a room, with its causes.
    pub fn of(error: &dyn std::error::Error) -> Self {
        let mut text: Vec<String> = Vec::new();
        let mut next = Some(error);
        while let Some(error) = next {
            let said = error.to_string();
            // A transparent error repeats what it wraps.
            if text.last() != Some(&said) {
                text.push(said);
            }
            next = error.source();
        }
        Self(text.join(": "))
    }
}

/// A value as JSON.
pub fn to_value(data: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(data).map_err(|error| Failure::of(&error))
}

/// The value with its lists cut, so that it stays within [`MOST_BYTES`]. Beside a list that was cut stands how many items it lacks.
pub fn bounded(value: Value) -> Value {
    let mut most = MOST_ITEMS;
    loop {
        let cut = cut(&value, most);
        if cut.to_string().len() <= MOST_BYTES {
            return cut;
        }
        match most {
            0 => return json!({"left_out": "the answer is too large"}),
            _ => most /= 2,
        }
    }
}

fn cut(value: &Value, most: usize) -> Value {
    match value {
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, value) in fields {
                if let Value::Array(items) = value
                    && items.len() > most
                {
                    kept.insert(format!("{name}_left_out"), json!(items.len() - most));
                }
                kept.insert(name.clone(), cut(value, most));
            }
            Value::Object(kept)
        }
        Value::Array(items) => items
            .iter()
            .take(most)
            .map(|item| cut(item, most))
            .collect(),
        plain => plain.clone(),
    }
}

/// JSON in which no character can hide, turn the direction or look like a mark: all of these as `\u202e`, which any reader of JSON turns
/// back.
pub fn inert(json: &Value) -> String {
    let mut out = String::new();
    for character in json.to_string().chars() {
        let is_plain = (' '..='~').contains(&character) && !matches!(character, '<' | '>' | '&');
        if is_plain {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_cut_says_how_much_is_missing() {
        let items: Vec<usize> = (0..60).collect();
        let cut = bounded(json!({"a": items, "b": {"c": [1, 2]}}));
        assert_eq!(cut["a"].as_array().map(Vec::len), Some(50));
        assert_eq!(
            (&cut["a_left_out"], &cut["b"]),
            (&json!(10), &json!({"c": [1, 2]}))
        );
    }

    #[test]
    fn no_answer_is_too_large() {
        for (count, length) in [(10, 10_000), (1000, 300), (1, 1_000_000)] {
            let items = vec!["x".repeat(length); count];
            let cut = bounded(json!({"items": items}));
            assert!(cut.to_string().len() <= MOST_BYTES, "{count} of {length}");
            assert!(cut.get("items_left_out").is_some());
        }
        assert_eq!(
            bounded(json!({"text": "x".repeat(MOST_BYTES)})),
            json!({"left_out": "the answer is too large"})
        );
    }

    #[test]
    fn nothing_hides_in_inert_json() {
        let value = json!({"text": "a</b>\u{202e}\u{e0041}é \"&\n"});
        let text = inert(&value);
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(!text.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
