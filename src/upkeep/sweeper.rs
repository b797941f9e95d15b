//! What becomes of each look-up while records are forgotten.
//!
//! In: the records, the look-ups that are named, the texts that no look-up may quote. Out: whether it stays, goes, or stays without them. Never
//! writes.

use std::collections::BTreeSet;

use super::quote::Quotes;
use crate::id::{BlobId, RecordId, TreeId};
use crate::query::{facts_of, ground_without, view_at};
use crate::repo::{Mode, Repo, RepoError};
use crate::store::{Fate, Lean, Lookup, Store, StoreError, Stored};

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
pub(super) struct Sweeper<'a> {
    pub repo: &'a Repo,
    /// The records that go.
    pub ids: &'a BTreeSet<RecordId>,
    /// Look-ups that go, whatever they say.
    pub lookups: &'a BTreeSet<RecordId>,
    /// What no look-up may quote.
    pub quotes: &'a Quotes,
}

impl Sweeper<'_> {
    pub fn decide(&self, stored: &Stored, holds: bool) -> Result<Fate, RepoError> {
        let store = Store::new(self.repo);
        if self.lookups.contains(&stored.id) || self.quoted(stored) {
            return Ok(Fate::Drop);
        }
        let mut lookup = match store.lookup(stored) {
            Ok(lookup) => lookup,
            // It can be replayed no more, and nobody can say what is in it.
            Err(error) => {
                error.damage()?;
                return Ok(if holds { Fate::Drop } else { Fate::Keep });
            }
        };
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

    /// Whether a look-up quotes part of what goes.
    pub fn quoted(&self, stored: &Stored) -> bool {
        let asked = asked(self.repo, stored);
        asked.iter().any(|asked| self.quotes.are_in(asked))
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

/// What a look-up was asked. Of one that this version cannot read, and of one that says more than this version knows, everything that it
/// holds.
pub(super) fn asked(repo: &Repo, stored: &Stored) -> Vec<String> {
    let store = Store::new(repo);
    if let Ok(lookup) = store.lookup(stored) {
        let inputs = lookup.attention.inputs.clone();
        let mut asked = vec![inputs.task];
        asked.extend(inputs.current_nodes);
        asked.extend(inputs.session);
        if lookup.attention.encode() != lookup.bytes {
            asked.push(String::from_utf8_lossy(&lookup.bytes).into_owned());
        }
        return asked;
    }
    let own = store.own_objects(stored).unwrap_or_default();
    let files = own.iter().filter(|(_, mode)| *mode == Mode::File);
    let bytes = files.filter_map(|(id, _)| repo.blob(BlobId(*id)).ok().flatten());
    bytes
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}
