//! JSON in the order it is written, which the conditions of a package's `exports` depend on.
//!
//! In: a text, maybe with the comments and trailing commas that tsconfig files may have. Out: a value. Never reads a file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value; of numbers and truth values only that they are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// A number, `true` or `false`.
    Plain,
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, its keys in the order they are written.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// The object that a text holds; none when it holds anything else, or is no JSON.
    pub fn object(text: &str) -> Option<Self> {
        serde_json::from_str(&plain(text))
            .ok()
            .filter(|value| matches!(value, Self::Map(_)))
    }

    /// The value under a key of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        // Of a key that is written twice the last one counts.
        let mut pairs = self.pairs().iter().rev();
        pairs.find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// The text, of a text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; of anything else none.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// The keys and values of an object; of anything else none.
    pub fn pairs(&self) -> &[(String, Self)] {
        match self {
            Self::Map(pairs) => pairs,
            _ => &[],
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Json::Map(pairs))
    }
}

/// JSON without the comments and trailing commas that tsconfig files may have.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(c) = chars.next() {
        if inside {
            out.push(c);
            if c == '\\' {
                out.extend(chars.next());
            }
            inside = c != '"';
            continue;
        }
        match (c, chars.peek()) {
            ('/', Some('/')) => {
                while chars.peek().is_some_and(|&c| c != '\n') {
                    chars.next();
                }
            }
            ('/', Some('*')) => {
                chars.next();
                let mut star = false;
                for c in chars.by_ref() {
                    if star && c == '/' {
                        break;
                    }
                    star = c == '*';
                }
            }
            ('}' | ']', _) => {
                let end = out.trim_end().len();
                if out.get(..end).is_some_and(|out| out.ends_with(',')) {
                    out.truncate(end - 1);
                }
                out.push(c);
            }
            _ => {
                inside = c == '"';
                out.push(c);
            }
        }
    }
    out.trim_start_matches('\u{feff}').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_comments_and_trailing_commas() {
        let text = "\u{feff}{ // a\n \"b\": [1, null, \"x\",], /* \"c\": 1 */ \"a\": {\"z\": true, \"y\": 1.5,}, \"b2\": \"a,}\" }";
        let value = Json::object(text).expect("it is read");
        let keys: Vec<&str> = value.pairs().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "b2"]);
        let items = [Json::Plain, Json::Null, Json::Text("x".into())];
        assert_eq!(value.get("b").map(Json::items), Some(&items[..]));
        let inner: Vec<&str> = value.pairs()[1]
            .1
            .pairs()
            .iter()
            .map(|(key, _)| key.as_str())
            .collect();
        assert_eq!(inner, ["z", "y"]);
        assert_eq!(value.get("b2").and_then(Json::as_str), Some("a,}"));
        for text in ["", "[]", "{", "1", "{\"a\":1}x"] {
            assert_eq!(Json::object(text), None, "{text}");
        }
    }
}
