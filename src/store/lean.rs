//! One state of the memory as a look-up needs it: out of the index where that has a blob, parsed where it has not.
//!
//! In: the tree of records. Out: the same view as [`Corpus`] gives, without a line of text. What was parsed is given to the index on the
//! way. Never answers for a blob that is no longer there.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::base::{Store, StoreError};
use super::corpus::{Broken, Corpus, Parsed, Visible, parse, read_places};
use super::index::{Index, Keep};
use super::layout::{self, Place};
use super::section::{self, Section};
use super::view::View;
use crate::id::{CommitId, RecordId, TreeId};
use crate::record::{Record, Tombstone};
use crate::repo::{Repo, RepoError};

/// So many blobs are read one after the other: starting the threads takes longer.
const FEW: usize = 16;

/// One state of the memory, for views alone.
pub struct Lean {
    corpus: Corpus,
    /// What could not be read.
    pub broken: Vec<Broken>,
}

impl Lean {
    /// The records that count, merged with what their visible anchors say.
    pub fn into_view(self, visible: &Visible<'_>) -> View {
        self.corpus.into_view(visible)
    }

    /// What is left of a record that is gone.
    pub fn tombstone(&self, id: RecordId) -> Option<&Tombstone> {
        self.corpus.tombstones.get(&id)
    }

    /// Whether somebody asked that this record be forgotten.
    pub fn is_forgotten(&self, id: RecordId) -> bool {
        self.corpus.is_forgotten(id)
    }
}

impl Store<'_> {
    /// Reads one state of the memory for a look-up. What cannot be read is named in [`Lean::broken`] and skipped.
    ///
    /// # Errors
    /// When a tree of it is missing or damaged, or the machine would not read a part of it.
    pub fn lean(&self, id: TreeId) -> Result<Lean, StoreError> {
        // What only a look-up of the past has read will not be read again so soon.
        let keep = match self.corpus_id()? == id {
            true => Keep::All,
            false => Keep::Nothing,
        };
        Ok(read(self.repo, id, keep)?)
    }
}

/// A blob, and whether it was parsed and can now be indexed.
struct Read {
    parsed: Parsed,
    is_new: bool,
}

fn read(repo: &Repo, root: TreeId, keep: Keep) -> Result<Lean, RepoError> {
    let places = layout::places(repo, root)?;
    let index = Index::open(repo);
    let read = each(repo, &places, |repo, place| {
        Ok(match index.records(place) {
            Some(records) if repo.has(place.blob.0)? => Read {
                parsed: Parsed::known(place, records),
                is_new: false,
            },
            _ => Read {
                parsed: parse(repo, place)?,
                is_new: !index.has(place),
            },
        })
    })?;
    let new = places.iter().zip(&read).filter(|(_, read)| read.is_new);
    let parsed: Vec<_> = new.map(|(place, read)| (place, &read.parsed)).collect();
    let unindexed: Vec<_> = parsed.iter().map(|(place, _)| *place).collect();
    let chosen: BTreeSet<_> = keep
        .choose(&unindexed)
        .into_iter()
        .map(Place::path)
        .collect();
    let sections = parsed
        .into_iter()
        .filter(|(place, _)| chosen.contains(&place.path()));
    let sections = sections
        .map(|(place, parsed)| (place, section_of(parsed)))
        .collect();
    index.keep(repo, sections, &places);
    let mut corpus = Corpus::from_parsed(read.into_iter().map(|read| read.parsed).collect());
    let broken = std::mem::take(&mut corpus.broken);
    Ok(Lean { corpus, broken })
}

impl Store<'_> {
    /// The part of the memory that has to do with what stands at one of these commits: of every record that does everything that is
    /// there, and whatever lies in the same blobs.
    ///
    /// # Errors
    /// When the reference, or a tree of the records, is missing or damaged.
    pub fn corpus_at(&self, commits: &BTreeSet<CommitId>) -> Result<Corpus, StoreError> {
        let root = self.corpus_id()?;
        let places = layout::places(self.repo, root)?;
        let index = Index::open(self.repo);
        let mut of = BTreeSet::new();
        let stands = |commit: Option<CommitId>| commit.is_some_and(|id| commits.contains(&id));
        for place in &places {
            match index.ids(place) {
                Some(ids) => of.extend(
                    ids.anchors()
                        .filter(|(_, at)| stands(*at))
                        .map(|(of, _)| of),
                ),
                None => {
                    let records = parse(self.repo, place)?.records.into_iter();
                    of.extend(records.filter_map(|(_, _, record)| match record {
                        Record::Anchor(anchor) if stands(anchor.commit) => Some(anchor.of),
                        _ => None,
                    }));
                }
            }
        }
        Ok(read_about(self.repo, root, &of)?)
    }
}

/// Reads every blob that has to do with one of these records: that has it, an anchor of it, or a tombstone. What is not indexed may.
pub(super) fn read_about(
    repo: &Repo,
    root: TreeId,
    of: &BTreeSet<RecordId>,
) -> Result<Corpus, RepoError> {
    if of.is_empty() {
        return Ok(Corpus::default());
    }
    let places = layout::places(repo, root)?;
    let index = Index::open(repo);
    let about = places.iter().filter(|place| {
        let ids = index.ids(place);
        ids.is_none_or(|ids| !ids.stones.is_empty() || ids.has_any(of))
    });
    read_places(repo, &about.collect::<Vec<_>>())
}

/// Indexes everything that is not, after a write of many records.
///
/// # Errors
/// When a tree of it is missing or damaged, or the machine would not read a part of it.
pub(super) fn bring_up(repo: &Repo, root: TreeId) -> Result<(), RepoError> {
    let places = layout::places(repo, root)?;
    let index = Index::open(repo);
    let new: Vec<_> = places.iter().filter(|place| !index.has(place)).collect();
    let chosen = Keep::All.choose(&new);
    let sections = each(repo, &chosen, |repo, place| {
        Ok((*place, section_of(&parse(repo, place)?)))
    })?;
    index.keep(repo, sections, &places);
    Ok(())
}

/// What the index keeps of a blob.
pub(super) fn section_of(parsed: &Parsed) -> Section {
    match parsed.broken.is_empty() {
        true => section::encode(parsed.lines()),
        false => Section::unreadable(),
    }
}

/// Does the same for each place, many at a time where there are many.
fn each<P: Sync, T: Send>(
    repo: &Repo,
    places: &[P],
    of: impl Fn(&Repo, &P) -> Result<T, RepoError> + Sync,
) -> Result<Vec<T>, RepoError> {
    if places.len() <= FEW {
        return places.iter().map(|place| of(repo, place)).collect();
    }
    let shared = repo.share();
    crate::threads::ready();
    let each = places.par_iter();
    each.map_init(|| shared.local(), |repo, place| of(repo, place))
        .collect()
}
