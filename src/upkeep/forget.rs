//! `forget`: records out of everything, for good.
//!
//! In: ids. Out: what was changed. In this order, so that a process that is killed anywhere can be followed by another that finishes:
//! a tombstone, which hides the record from every reader at once and keeps it from being taken in again; the look-ups; the present
//! corpus; once more those look-ups that were kept meanwhile; the reference logs. The text is needed until the look-ups are done, so the
//! present corpus comes after them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::phrase::Phrase;
use super::quote::Quotes;
use super::said::{others_with, pinned_texts, tell_others, texts_of, texts_of_line};
use super::sweeper::{Sweeper, asked};
use crate::id::RecordId;
use crate::record::{Gone, Record, Time, Tombstone};
use crate::repo::{Repo, RepoError};
use crate::store::{Corpus, Erasure, PRIVATE, Store, StoreError, Swept};

/// Fewest bytes of a text that is searched for everywhere afterwards: shorter ones stand in many places that have nothing to do with it.
const TELLING: usize = 12;

/// What is to go.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Records, and lines that cannot be read, by their hash.
    pub records: BTreeSet<RecordId>,
    /// Look-ups.
    pub lookups: BTreeSet<RecordId>,
}

/// What a forgetting did, or would do.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    /// The records, in order.
    pub ids: Vec<RecordId>,
    /// Look-ups that stay without them.
    pub changed: BTreeSet<RecordId>,
    /// Look-ups that are gone, since they were named, since their task quoted the text, or since they could not be read.
    pub dropped: BTreeSet<RecordId>,
    /// Look-ups that stay and hold a single rare word of the texts.
    pub rare_word: BTreeSet<RecordId>,
    /// Other records that hold one of the texts.
    pub same_text: Vec<RecordId>,
    /// The texts, as far as they can be searched for everywhere.
    pub phrases: Vec<Phrase>,
}

/// What has to be known of what goes, before anything does.
struct Plan {
    corpus: Corpus,
    texts: BTreeSet<String>,
    quotes: Quotes,
}

impl Plan {
    fn of(repo: &Repo, ids: &BTreeSet<RecordId>) -> Result<Self, StoreError> {
        let store = Store::new(repo);
        let root = store.corpus_id()?;
        let corpus = store.corpus(root)?;
        let mut texts: BTreeSet<String> =
            ids.iter().flat_map(|id| texts_of(&corpus, *id)).collect();
        // Where an interrupted run has emptied the present corpus, the texts may still stand in a corpus that a late look-up pins.
        if texts.is_empty() && !ids.is_empty() {
            texts = pinned_texts(&store, ids)?;
        }
        if ids.iter().any(|id| corpus.line(*id).is_none()) {
            let odd = store.odd_lines(root)?.into_iter();
            let odd = odd.filter(|line| ids.contains(&line.id));
            texts.extend(odd.flat_map(|line| texts_of_line(&line.bytes)));
        }
        let quotes = Quotes::of(texts.iter().map(String::as_str), |tell| {
            tell_others(repo, &corpus, ids, tell);
        });
        Ok(Self {
            corpus,
            texts,
            quotes,
        })
    }

    fn begun(&self, ids: &BTreeSet<RecordId>) -> Forgotten {
        let telling = self.texts.iter().filter(|text| text.len() >= TELLING);
        Forgotten {
            ids: ids.iter().copied().collect(),
            same_text: others_with(&self.corpus, ids, &self.texts),
            phrases: telling
                .filter_map(|text| Phrase::new(text.as_bytes()))
                .collect(),
            ..Forgotten::default()
        }
    }
}

/// What would go, and nothing changed.
///
/// # Errors
/// When the repository cannot be read.
pub fn preview(repo: &Repo, wish: &Wish) -> Result<Forgotten, StoreError> {
    let plan = Plan::of(repo, &wish.records)?;
    let mut done = plan.begun(&wish.records);
    let store = Store::new(repo);
    let erased = Erasure {
        ids: wish.records.clone(),
        why: Gone::Forgotten,
    };
    let sweeper = Sweeper {
        repo,
        ids: &wish.records,
        lookups: &wish.lookups,
        quotes: &plan.quotes,
    };
    for stored in store.lookups()? {
        if wish.lookups.contains(&stored.id) || sweeper.quoted(&stored) {
            done.dropped.insert(stored.id);
        } else if let Ok(Some(corpus)) = store.pinned_corpus(&stored)
            && !store
                .held(&BTreeSet::from([corpus]), &erased.ids)?
                .is_empty()
        {
            done.changed.insert(stored.id);
        }
    }
    Ok(done)
}

/// Takes these records out of the present corpus, of every stored look-up and of every corpus that one pins, and the look-ups that are named
/// or quote one. Records that were forgotten before are finished, where that was interrupted. `now` gives the day of writing; `progress`
/// hears of look-ups.
///
/// # Errors
/// When the repository cannot be read or written. Then run again: what was done stays done.
pub fn forget(
    repo: &Repo,
    wish: &Wish,
    now: Time,
    progress: &mut dyn FnMut(usize),
) -> Result<Forgotten, StoreError> {
    let store = Store::new(repo);
    let ids = &wish.records;
    let plan = Plan::of(repo, ids)?;
    let mut done = plan.begun(ids);
    store.bury(&stones(&plan.corpus, ids), now)?;
    let erasure = Erasure {
        ids: ids.clone(),
        why: Gone::Forgotten,
    };
    let mut looked = BTreeSet::new();
    for _ in 0..2 {
        let sweeper = Sweeper {
            repo,
            ids,
            lookups: &wish.lookups,
            quotes: &plan.quotes,
        };
        let swept = store.sweep(&erasure, &mut |stored, holds| {
            looked.insert(stored.id);
            progress(looked.len());
            sweeper.decide(stored, holds)
        })?;
        done.add(swept);
        if !ids.is_empty() {
            store.erase(&erasure, now)?;
        }
    }
    for stored in store.lookups()? {
        let asked = asked(repo, &stored);
        if asked
            .iter()
            .any(|asked| plan.quotes.share_a_rare_word(asked))
        {
            done.rare_word.insert(stored.id);
        }
    }
    empty_logs(repo)?;
    // A writer that died may have left the text in one; what cannot be removed is named by `fsck`.
    for file in repo.left_over()? {
        drop(repo.remove_own(&file));
    }
    Ok(done)
}

/// Empties the log of every reference of ours, also of those that this version does not know.
fn empty_logs(repo: &Repo) -> Result<(), RepoError> {
    let logs = repo.common_dir().join("logs");
    let mut names: BTreeSet<String> = PRIVATE.map(str::to_owned).into();
    for file in repo.plain_files() {
        let name = file.strip_prefix(&logs).ok().and_then(|name| name.to_str());
        names.extend(
            name.filter(|name| name.starts_with("refs/score-local/"))
                .map(str::to_owned),
        );
    }
    names.iter().try_for_each(|name| repo.empty_log(name))
}

/// Takes the lines that hold one of the phrases out of the notes, whoever wrote them; a note that holds one across lines goes.
///
/// # Errors
/// When the notes cannot be read or written.
pub fn forget_in_notes(repo: &Repo, phrases: &[Phrase]) -> Result<(), StoreError> {
    let store = Store::new(repo);
    let holds = |bytes: &[u8]| phrases.iter().any(|phrase| phrase.is_in(bytes));
    store.edit_notes(&store.noted()?, &|_, old| {
        if !holds(old) {
            return old.to_vec();
        }
        let lines = old.split_inclusive(|byte| *byte == b'\n');
        let rest = lines
            .filter(|line| !holds(line))
            .collect::<Vec<_>>()
            .concat();
        match holds(&rest) {
            true => Vec::new(),
            false => rest,
        }
    })
}

/// Removes files; gives those that cannot be.
pub fn remove(files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let stays = |file: &&PathBuf| match std::fs::remove_file(file) {
        Ok(()) => false,
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    files.iter().filter(stays).cloned().collect()
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

/// The one record whose id begins so in the corpora that look-ups pin, or that upkeep has let go and can put back; none where there is none, or several.
///
/// # Errors
/// When the look-ups cannot be listed.
pub fn pinned(repo: &Repo, prefix: &str) -> Result<Option<RecordId>, StoreError> {
    let store = Store::new(repo);
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for stored in store.lookups()? {
        let Some(id) = store.pinned_corpus(&stored)? else {
            continue;
        };
        if !seen.insert(id) {
            continue;
        }
        let corpus = match store.corpus(id) {
            Ok(corpus) => Some(corpus),
            Err(error) => error.damage().map(|_| None)?,
        };
        if let Some(corpus) = corpus {
            let ids = corpus.ids().filter(|id| id.to_string().starts_with(prefix));
            found.extend(ids);
        }
    }
    for waiting in store.waiting_corpora().unwrap_or_default() {
        if let Ok(corpus) = store.corpus(waiting) {
            found.extend(corpus.ids().filter(|id| id.to_string().starts_with(prefix)));
        }
    }
    Ok(found.pop_first().filter(|_| found.is_empty()))
}

/// The one line that cannot be read as a record whose hash, or whose blob's name, begins so; none where there is none, or several.
///
/// # Errors
/// When the records cannot be listed.
pub fn odd(repo: &Repo, prefix: &str) -> Result<Option<RecordId>, StoreError> {
    let store = Store::new(repo);
    let begins = |id: RecordId| id.to_string().starts_with(prefix);
    let lines = store.odd_lines(store.corpus_id()?)?.into_iter();
    let found = lines.filter(|line| begins(line.id) || line.named.is_some_and(begins));
    let mut found: BTreeSet<RecordId> = found.map(|line| line.id).collect();
    Ok(found.pop_first().filter(|_| found.is_empty()))
}
