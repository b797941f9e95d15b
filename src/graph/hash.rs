//! A hash for tables that live as long as one build: fast, and the same on every machine.
//!
//! In: bytes. Out: 64 bits. Not for input that wants to do harm beyond wasting its own build's time: sizes are bounded by `extract.rs`, and
//! no order of such a table may reach output.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table that is never iterated over for output.
pub type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Rotate, xor, multiply: the hash of rustc's own tables (FxHash).
#[derive(Default)]
pub struct Mixer(u64);

/// The multiplier of FxHash: the golden ratio in 64 bits.
const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

impl Mixer {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last));
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn finish(&self) -> u64 {
        // The table takes the high bits for its buckets' tags and the low ones for their place.
        self.0.rotate_left(26)
    }
}

/// Finds the index of a text among texts that are kept elsewhere.
#[derive(Default)]
pub struct Interner {
    /// Index + 1 at the place that the hash of the text says or the next free one; 0: free. A power of two long, at most half full.
    slots: Vec<u32>,
    used: usize,
}

impl Interner {
    /// The index of a text, or where it would be. `text_of`: the text of an index.
    fn place<'text>(&self, text: &str, text_of: impl Fn(u32) -> &'text str) -> Result<u32, usize> {
        let mut hash = Mixer::default();
        hash.write(text.as_bytes());
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash.finish() as usize & mask;
        loop {
            match self.slots.get(at) {
                Some(&slot) if slot != 0 => {
                    if text_of(slot - 1) == text {
                        return Ok(slot - 1);
                    }
                    at = (at + 1) & mask;
                }
                _ => return Err(at),
            }
        }
    }

    /// The index of a text, `None` when it is not there.
    pub fn find<'text>(&self, text: &str, text_of: impl Fn(u32) -> &'text str) -> Option<u32> {
        self.place(text, text_of).ok()
    }

    /// The index of a text; `Err` with the index that it has from now on when it is new: the caller has to keep it there.
    pub fn index<'text>(
        &mut self,
        text: &str,
        text_of: impl Fn(u32) -> &'text str,
    ) -> Result<u32, u32> {
        if self.used * 2 >= self.slots.len() {
            self.grow(&text_of);
        }
        self.place(text, text_of).map_err(|at| {
            let index = self.used as u32;
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = index + 1;
            }
            self.used += 1;
            index
        })
    }

    fn grow<'text>(&mut self, text_of: &impl Fn(u32) -> &'text str) {
        let size = (self.slots.len() * 2).max(64);
        self.slots = vec![0; size];
        for index in 0..self.used as u32 {
            if let Err(at) = self.place(text_of(index), text_of) {
                self.slots[at] = index + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_indices_in_order_of_first_use() {
        let mut texts: Vec<String> = Vec::new();
        let mut interner = Interner::default();
        for number in (0..500).chain(0..700) {
            let text = format!("name{number}");
            let found = interner.index(&text, |at| texts[at as usize].as_str());
            match found {
                Ok(at) => assert_eq!(texts[at as usize], text),
                Err(at) => {
                    assert_eq!(at as usize, texts.len());
                    texts.push(text);
                }
            }
        }
        assert_eq!(texts.len(), 700);
        assert_eq!(
            interner.find("name699", |at| texts[at as usize].as_str()),
            Some(699)
        );
        assert_eq!(
            interner.find("name700", |at| texts[at as usize].as_str()),
            None
        );
    }
}
