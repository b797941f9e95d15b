//! `forget`: records out of everything, for good.
//!
//! In: ids. Out: what was changed. In this order, so that a process that is killed anywhere can be followed by another that finishes:
//! a tombstone, which hides the record from every reader at once and keeps it from being taken in again; the look-ups; the present
//! corpus; once more those look-ups that were kept meanwhile; the reference logs. The text is needed until the look-ups are done, so the
//! present corpus comes after them.

use std::collections::BTreeSet;

use crate::id::{RecordId, TreeId};
use crate::query::{facts_of, ground_without, view_at};
use crate::record::{Attention, Gone, Record, Time, Tombstone};
use crate::repo::{Repo, RepoError};
use crate::store::{
    ATTENTION, Corpus, Erasure, Fate, Lean, Lookup, NOTES, RECORDS, Store, StoreError, Stored,
    Swept,
};

/// What a forgetting did.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    /// The records, in order.
    pub ids: Vec<RecordId>,
    /// Look-ups that stay without them.
    pub changed: BTreeSet<RecordId>,
    /// Look-ups that are gone, since their task held the text, or since they could not be read.
    pub dropped: BTreeSet<RecordId>,
    /// Other records that hold one of the texts.
    pub same_text: Vec<RecordId>,
}

/// Takes these records out of the present corpus, of every stored look-up and of every corpus that one pins. Records that were
/// forgotten before are finished, where that was interrupted. `now` gives the day of writing; `progress` hears of look-ups.
///
/// # Errors
/// When the repository cannot be read or written. Then run again: what was done stays done.
pub fn forget(
    repo: &Repo,
    ids: &BTreeSet<RecordId>,
    now: Time,
    progress: &mut dyn FnMut(usize),
) -> Result<Forgotten, StoreError> {
    let store = Store::new(repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    let mut texts: BTreeSet<String> = ids.iter().flat_map(|id| texts_of(&corpus, *id)).collect();
    let mut done = Forgotten {
        ids: ids.iter().copied().collect(),
        same_text: others_with(&corpus, ids, &texts),
        ..Forgotten::default()
    };
    store.bury(&stones(&corpus, ids), now)?;
    let erasure = Erasure {
        ids: ids.clone(),
        why: Gone::Forgotten,
    };
    // Where an interrupted run has emptied the present corpus, the texts may still stand in a corpus that a late look-up pins.
    if texts.is_empty() {
        texts = pinned_texts(&store, ids)?;
    }
    let mut looked = BTreeSet::new();
    for _ in 0..2 {
        let sweeper = Sweeper {
            repo,
            ids,
            texts: &texts,
        };
        let swept = store.sweep(&erasure, &mut |stored, holds| {
            looked.insert(stored.id);
            progress(looked.len());
            sweeper.decide(stored, holds)
        })?;
        done.add(swept);
        store.erase(&erasure, now)?;
    }
    for name in [RECORDS, ATTENTION, NOTES] {
        repo.empty_log(name)?;
    }
    // A writer that died may have left the text in one; what cannot be removed is named by `fsck`.
    for file in repo.left_over()? {
        drop(repo.remove_own(&file));
    }
    Ok(done)
}

impl Forgotten {
    fn add(&mut self, swept: Swept) {
        self.changed.extend(swept.changed);
        self.dropped.extend(swept.dropped);
    }
}

/// A tombstone for each of the records, of which what is there says how much it needs; none for one that is buried and not there.
fn stones(corpus: &Corpus, ids: &BTreeSet<RecordId>) -> Vec<Tombstone> {
    let new = ids.iter().filter(|id| !corpus.is_forgotten(**id));
    let stone = |id: &RecordId| {
        let mut stone = Tombstone::new(*id, Gone::Forgotten);
        let anchors = corpus.anchors.get(id).into_iter().flatten();
        let lines = std::iter::once(*id).chain(anchors.map(|(anchor, _)| *anchor));
        for (line, _) in lines.filter_map(|line| corpus.line(line)) {
            if let Ok(record) = Record::decode(line.as_bytes()) {
                stone.take(&record);
            }
        }
        stone
    };
    new.map(stone).collect()
}

/// What a record says, its white space made plain, so that a task that repeats it in other lines is known.
fn texts_of(corpus: &Corpus, id: RecordId) -> Vec<String> {
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

fn others_with(
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

fn pinned_texts(
    store: &Store<'_>,
    ids: &BTreeSet<RecordId>,
) -> Result<BTreeSet<String>, StoreError> {
    let (mut texts, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for stored in store.lookups()? {
        if let Some(corpus) = pinned_corpus(store, &stored, &mut seen)? {
            texts.extend(ids.iter().flat_map(|id| texts_of(&corpus, *id)));
        }
    }
    Ok(texts)
}

/// The one record whose id begins so in the corpora that look-ups pin: one that has expired since; none where there is none, or several.
///
/// # Errors
/// When the look-ups cannot be listed.
pub fn pinned(repo: &Repo, prefix: &str) -> Result<Option<RecordId>, StoreError> {
    let store = Store::new(repo);
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for stored in store.lookups()? {
        if let Some(corpus) = pinned_corpus(&store, &stored, &mut seen)? {
            let ids = corpus.ids().filter(|id| id.to_string().starts_with(prefix));
            found.extend(ids);
        }
    }
    Ok(found.pop_first().filter(|_| found.is_empty()))
}

/// The corpus that a look-up pins, the first time that it is met; none where either is damaged.
fn pinned_corpus(
    store: &Store<'_>,
    stored: &Stored,
    seen: &mut BTreeSet<TreeId>,
) -> Result<Option<Corpus>, StoreError> {
    let lookup = match store.lookup(stored) {
        Ok(lookup) => lookup,
        Err(error) => return Ok(error.damage().map(|_| None)?),
    };
    if !seen.insert(lookup.pins.corpus) {
        return Ok(None);
    }
    match store.corpus(lookup.pins.corpus) {
        Ok(corpus) => Ok(Some(corpus)),
        Err(error) => Ok(error.damage().map(|_| None)?),
    }
}

/// A pinned corpus that could not be read, before the records were taken out.
fn unread(id: TreeId) -> impl Fn(StoreError) -> RepoError {
    move |error| match error {
        StoreError::Repo(error) => error,
        other => RepoError::Git {
            doing: format!("reading the corpus {id}"),
            cause: other.to_string(),
            transient: false,
        },
    }
}

/// Says what becomes of each look-up.
struct Sweeper<'a> {
    repo: &'a Repo,
    ids: &'a BTreeSet<RecordId>,
    texts: &'a BTreeSet<String>,
}

impl Sweeper<'_> {
    fn decide(&self, stored: &Stored, holds: bool) -> Result<Fate, RepoError> {
        let store = Store::new(self.repo);
        let mut lookup = match store.lookup(stored) {
            Ok(lookup) => lookup,
            // It can be replayed no more, and nobody can say what is in it.
            Err(error) => {
                error.damage()?;
                return Ok(if holds { Fate::Drop } else { Fate::Keep });
            }
        };
        if self.is_asked_with(&lookup.attention) {
            return Ok(Fate::Drop);
        }
        if !holds {
            return Ok(Fate::Keep);
        }
        let pinned = lookup.pins.corpus;
        let corpus = store.corpus(pinned).map_err(unread(pinned))?;
        let held = |id: &&RecordId| corpus.line(**id).is_some();
        let removed: Vec<RecordId> = self.ids.iter().filter(held).copied().collect();
        let lean = store.lean(pinned).map_err(unread(pinned))?;
        lookup.ground = self.ground(&lookup, lean)?;
        let attention = &mut lookup.attention;
        attention.removed.extend(removed);
        attention.removed.sort();
        attention.removed.dedup();
        let result = &mut attention.result;
        result.items.retain(|item| !self.ids.contains(&item.id));
        result.rejected.retain(|one| !self.ids.contains(&one.id));
        for item in &mut result.items {
            item.copies.retain(|id| !self.ids.contains(id));
        }
        Ok(Fate::Change {
            bytes: attention.encode(),
            ground: lookup.ground,
        })
    }

    fn is_asked_with(&self, attention: &Attention) -> bool {
        let inputs = &attention.inputs;
        let asked = std::iter::once(&inputs.task).chain(&inputs.current_nodes);
        let asked: Vec<String> = asked.map(|text| plain(text)).collect();
        let holds = |text: &String| asked.iter().any(|asked| holds_words(asked, text));
        self.texts.iter().any(holds)
    }

    /// The pinned ground without the records' part. Where the candidates cannot be told any more, nothing is left of it: such a
    /// look-up is not replayed from it either.
    fn ground(&self, lookup: &Lookup, corpus: Lean) -> Result<Vec<u8>, RepoError> {
        let inputs = &lookup.attention.inputs;
        let view = view_at(
            self.repo,
            corpus,
            inputs.visibility,
            inputs.commit,
            inputs.time,
        );
        let facts = facts_of(&lookup.attention.result);
        match view {
            Ok(view) => {
                let thin = ground_without(&view, inputs, &lookup.ground, &facts, self.ids);
                Ok(thin.unwrap_or_default())
            }
            Err(RepoError::Missing { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}
