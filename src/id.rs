//! Names of things: records by the hash of what they say, Git objects by the name Git gave them.
//!
//! In: bytes or hexadecimal text. Out: small copyable values that order and print as their hexadecimal form.
//! Never reads a repository and never decides whether a name exists.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a text is not an id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{text}' is not {what}")]
pub struct BadId {
    text: String,
    what: &'static str,
}

impl BadId {
    fn new(text: &str, what: &'static str) -> Self {
        let text = text.chars().take(80).collect();
        Self { text, what }
    }
}

/// The id of a record or a look-up: `blake3` of its canonical bytes, 32 bytes, printed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId([u8; 32]);

impl RecordId {
    /// The id of what these bytes say.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 12 hexadecimal digits: enough to tell a hundred million records apart by eye.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl From<[u8; 32]> for RecordId {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for RecordId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId::new(text, "a record id (64 hexadecimal digits)");
        let bytes = unhex(text).ok_or_else(bad)?;
        Ok(Self(bytes.try_into().map_err(|_| bad())?))
    }
}

/// The name of a Git object: 20 bytes (SHA-1) or 32 bytes (SHA-256).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    len: u8,
    bytes: [u8; 32],
}

impl ObjectId {
    /// From the raw bytes of the name.
    ///
    /// # Errors
    /// When it has neither 20 nor 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadId> {
        if bytes.len() != 20 && bytes.len() != 32 {
            return Err(BadId::new(&hex(bytes), "an object id (20 or 32 bytes)"));
        }
        let mut own = [0; 32];
        own[..bytes.len()].copy_from_slice(bytes);
        Ok(Self {
            len: bytes.len() as u8,
            bytes: own,
        })
    }

    /// The raw bytes, 20 or 32 of them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl FromStr for ObjectId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId::new(text, "an object id (40 or 64 hexadecimal digits)");
        Self::from_bytes(&unhex(text).ok_or_else(bad)?).map_err(|_| bad())
    }
}

/// Kinds of Git object are told apart by type, so that a tree can never be asked for where a commit is meant.
macro_rules! object_kind {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub ObjectId);

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                text.parse().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

object_kind!(
    /// The name of a commit.
    CommitId
);
object_kind!(
    /// The name of a tree.
    TreeId
);
object_kind!(
    /// The name of a blob.
    BlobId
);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.as_bytes()))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.as_bytes()))
    }
}

impl Serialize for RecordId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RecordId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Serialize for ObjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// `None` unless `text` is an even number of hexadecimal digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    bytes
        .chunks_exact(2)
        .map(|pair| Some((digit(&pair[0])? * 16 + digit(&pair[1])?) as u8))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_text_and_back() {
        let id = RecordId::of(b"what a record says");
        assert_eq!(id.to_string().parse(), Ok(id));
        for digits in [40, 64] {
            let text = "0a".repeat(digits / 2);
            assert_eq!(text.parse::<ObjectId>().map(|id| id.to_string()), Ok(text));
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "0", "zz", &"0".repeat(39), &"0".repeat(41), "é"] {
            assert!(text.parse::<ObjectId>().is_err(), "{text}");
            assert!(text.parse::<RecordId>().is_err(), "{text}");
        }
    }

    #[test]
    fn order_is_that_of_the_text() {
        let mut ids: Vec<_> = (0..50u8).map(|byte| RecordId::of(&[byte])).collect();
        ids.sort();
        assert!(
            ids.windows(2)
                .all(|pair| pair[0].to_string() < pair[1].to_string())
        );
    }
}
