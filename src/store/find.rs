//! Finding what a put needs to know of the corpus, without reading all of it into memory.
//!
//! In: ids. Out: which of them are there, and where they stand. A commit must not pay for everything that was ever recorded.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::corpus::{parse, text_of};
use super::index::Index;
use super::index::Keep;
use super::layout::{self, Place};
use super::lean::section_of;
use super::line::{Shape, shape_of};
use crate::id::{CommitId, RecordId, TreeId};
use crate::record::{Gone, Record};
use crate::repo::{Repo, RepoError};

/// So many blobs are read one after the other.
const FEW: usize = 16;

/// What is there of some records.
#[derive(Default)]
pub(super) struct Found {
    /// Those that are there.
    pub records: BTreeSet<RecordId>,
    /// Whatever was forgotten.
    pub forgotten: BTreeSet<RecordId>,
    /// Where those that are there stand.
    pub anchors: BTreeSet<(RecordId, Option<CommitId>)>,
}

/// What is there of the records `wanted`. Only blobs that have one of them by the index, and those that are not indexed, are read; their
/// lines are hashed, which is ten times cheaper than parsing them.
pub(super) fn find_ids(
    repo: &Repo,
    root: TreeId,
    wanted: &BTreeSet<RecordId>,
) -> Result<Found, RepoError> {
    /// A write waits, so that of the segments that a fold has made only these are indexed at once.
    const SEGMENTS: usize = 2;
    let all = layout::places(repo, root)?;
    let index = Index::open(repo);
    let mut stones = Found::default();
    let (mut places, mut unindexed) = (Vec::new(), Vec::new());
    for place in &all {
        match index.ids(place) {
            Some(ids) => {
                for line in ids.stones.lines() {
                    look_at(line, wanted, &mut stones);
                }
                if ids.has_any(wanted) {
                    places.push(place);
                }
            }
            None => {
                places.push(place);
                if !index.has(place) {
                    unindexed.push(place);
                }
            }
        }
    }
    let chosen = Keep::Few(SEGMENTS).choose(&unindexed);
    let sections = chosen
        .into_iter()
        .map(|place| Ok((place, section_of(&parse(repo, place)?))));
    index.keep(repo, sections.collect::<Result<_, RepoError>>()?, &all);
    // What is damaged has nothing that we look for; of what the machine would not read nobody knows.
    let look = |repo: &Repo, place: &Place| -> Result<Found, RepoError> {
        let text = text_of(repo, place)?.unwrap_or_default();
        let mut found = Found::default();
        // As `corpus.rs` parts them: a line is named by all of its bytes.
        for line in text.split_terminator('\n') {
            look_at(line, wanted, &mut found);
        }
        Ok(found)
    };
    // Starting the threads takes longer than reading a few blobs, and a commit pays for it.
    let found: Result<Vec<Found>, RepoError> = match places.len() <= FEW {
        true => places.iter().map(|place| look(repo, place)).collect(),
        false => {
            let shared = repo.share();
            crate::threads::ready();
            let each = places.par_iter();
            each.map_init(|| shared.local(), |repo, place| look(repo, place))
                .collect()
        }
    };
    let mut all = stones;
    for found in found? {
        all.records.extend(found.records);
        all.forgotten.extend(found.forgotten);
        all.anchors.extend(found.anchors);
    }
    Ok(all)
}

fn look_at(line: &str, wanted: &BTreeSet<RecordId>, found: &mut Found) {
    // Parsed whole only where it matters.
    match shape_of(line.as_bytes()) {
        Shape::Anchor(of) => {
            if wanted.contains(&of)
                && let Ok(Record::Anchor(anchor)) = Record::decode(line.as_bytes())
            {
                found.anchors.insert((anchor.of, anchor.commit));
            }
        }
        Shape::Tombstone(_) => {
            if let Ok(Record::Tombstone(stone)) = Record::decode(line.as_bytes())
                && stone.why == Gone::Forgotten
            {
                found.forgotten.insert(stone.of);
            }
        }
        Shape::Record => {
            let id = RecordId::of(line.as_bytes());
            if wanted.contains(&id) {
                found.records.insert(id);
            }
        }
    }
}
