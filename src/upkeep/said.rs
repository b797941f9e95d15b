//! What records say, for those who take it out.
//!
//! In: a corpus, ids, lines. Out: texts with plain white space, and which other records hold them. Never changes anything.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::id::RecordId;
use crate::record::Time;
use crate::repo::Repo;
use crate::store::{Corpus, Store, StoreError};

/// What a record says, its white space made plain, so that a task that repeats it in other lines is known.
pub(super) fn texts_of(corpus: &Corpus, id: RecordId) -> Vec<String> {
    let texts = if let Some(said) = corpus.reasoning.get(&id) {
        let reasons = said.reasons.iter().map(String::as_str);
        std::iter::once(said.text.as_str()).chain(reasons).collect()
    } else if let Some(outcome) = corpus.outcomes.get(&id) {
        outcome.rationale.iter().map(String::as_str).collect()
    } else if let Some(session) = corpus.sessions.get(&id) {
        vec![session.goal.as_str()]
    } else {
        let task = corpus.tasks.get(&id);
        task.map(|task| task.text.as_str())
            .into_iter()
            .collect::<Vec<_>>()
    };
    let plain = texts.into_iter().map(plain);
    plain.filter(|text| !text.is_empty()).collect()
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a line says that cannot be read as a record: the strings of its JSON that are sentences or may be secrets, or all of it.
pub(super) fn texts_of_line(line: &[u8]) -> Vec<String> {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return vec![plain(&String::from_utf8_lossy(line))];
    };
    let (mut texts, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => texts.push(plain(&text)),
            Value::Array(values) => open.extend(values),
            Value::Object(fields) => open.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    // The names of kinds and of objects stand everywhere.
    let is_id = |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let says = |text: &str| {
        text.contains(' ')
            || text
                .chars()
                .any(|character| !character.is_ascii_lowercase())
    };
    texts.retain(|text| says(text) && !is_id(text) && text.parse::<Time>().is_err());
    texts
}

/// Calls back with every text in which a word is not rare: what other records say, and the paths of the present code.
pub(super) fn tell_others(
    repo: &Repo,
    corpus: &Corpus,
    ids: &BTreeSet<RecordId>,
    tell: &mut dyn FnMut(&str),
) {
    for id in corpus
        .ids()
        .filter(|id| !ids.contains(id) && !corpus.is_forgotten(*id))
    {
        texts_of(corpus, id).iter().for_each(|text| tell(text));
    }
    let commit = repo.head().ok().and_then(|head| head.commit);
    let tree = commit.and_then(|commit| repo.tree_of(commit).ok());
    let paths = tree
        .and_then(|tree| repo.list(tree).ok())
        .unwrap_or_default();
    paths.iter().for_each(|entry| tell(&entry.path));
}

/// Whether a text holds another one, from the border of a word to the border of a word.
fn holds_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        let is_inside = |one: Option<char>, other: Option<char>| {
            [one, other]
                .iter()
                .all(|one| one.is_some_and(char::is_alphanumeric))
        };
        !is_inside(before, words.chars().next()) && !is_inside(words.chars().next_back(), after)
    })
}

pub(super) fn others_with(
    corpus: &Corpus,
    ids: &BTreeSet<RecordId>,
    texts: &BTreeSet<String>,
) -> Vec<RecordId> {
    let holds = |id: &RecordId| {
        let said = texts_of(corpus, *id);
        let mut pairs = said
            .iter()
            .flat_map(|one| texts.iter().map(move |text| (one, text)));
        pairs.any(|(one, text)| holds_words(one, text))
    };
    let others = corpus
        .ids()
        .filter(|id| !ids.contains(id) && !corpus.is_forgotten(*id));
    others.filter(holds).collect()
}

pub(super) fn pinned_texts(
    store: &Store<'_>,
    ids: &BTreeSet<RecordId>,
) -> Result<BTreeSet<String>, StoreError> {
    let mut corpora = BTreeSet::new();
    for stored in store.lookups()? {
        match store.pinned_corpus(&stored) {
            Ok(pinned) => corpora.extend(pinned),
            Err(error) => drop(error.damage()?),
        }
    }
    // What upkeep has let go can be put back.
    match store.waiting_corpora() {
        Ok(waiting) => corpora.extend(waiting),
        Err(error) => drop(error.damage()?),
    }
    let mut texts = BTreeSet::new();
    for id in corpora {
        match store.corpus(id) {
            Ok(corpus) => texts.extend(ids.iter().flat_map(|id| texts_of(&corpus, *id))),
            Err(error) => drop(error.damage()?),
        }
    }
    Ok(texts)
}
