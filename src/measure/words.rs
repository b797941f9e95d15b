//! The words of texts, for the baselines: each text is taken apart once, however many cases are asked of its record.
//!
//! In: texts. Out: numbers of stemmed words, as often as they occur. Which number a word has depends on the order of the questions and
//! must not reach any result. Never forgets a text: it lives as long as the cases of one history are run.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::token::Terms;

/// Words of texts that were asked for before.
#[derive(Default)]
pub struct Words(RwLock<Known>);

#[derive(Default)]
struct Known {
    numbers: HashMap<String, u32>,
    texts: HashMap<String, Arc<[u32]>>,
}

impl Words {
    /// Every word of a text as often as it occurs.
    pub fn of(&self, text: &str) -> Arc<[u32]> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = known.texts.get(text) {
            return Arc::clone(words);
        }
        drop(known);
        let words = Terms::counted([text]);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let next = |numbers: &mut HashMap<String, u32>, word: String| {
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        };
        let numbers = words
            .into_iter()
            .map(|word| next(&mut known.numbers, word))
            .collect();
        let words = known.texts.entry(text.to_owned()).or_insert(numbers);
        Arc::clone(words)
    }

    /// The number of a word; none of one that no text asked for so far has.
    pub fn number(&self, word: &str) -> Option<u32> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.numbers.get(word).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_number_in_all_texts() {
        let words = Words::default();
        let first = words.of("parse quotations, parsing");
        let second = words.of("quotations");
        assert_eq!((first.len(), second.len()), (3, 1));
        assert_eq!((first[0], first[1]), (first[2], second[0]));
        assert_eq!(words.of("parse quotations, parsing"), first);
        assert_eq!(words.number("pars"), Some(first[0]));
        assert_eq!(words.number("bracket"), None);
    }
}
