//! Anchors that follow rewritten commits.
//!
//! An anchor at the new commit stands for those at the old ones. The old ones stay where they are; only an anchor that stands at the
//! new commit already is written again, since there is never a second one for the same record and commit.

use std::collections::BTreeSet;

use super::append::{Fresh, add_fresh};
use super::base::{RECORDS, Store, StoreError};
use super::corpus::Corpus;
use super::layout::{Class, Edit};
use super::{lean, transaction};
use crate::id::RecordId;
use crate::record::{Anchor, Record, Source, Time};

impl Store<'_> {
    /// Adds these anchors, each with the commits that it replaces, in one write; at most one for each record and commit. Says how
    /// many were written: what stands so already is not, nor the anchor of a record that is not there. `now` gives the day of writing.
    ///
    /// # Errors
    /// When the store cannot be written, or other writers are faster until patience runs out. Then nothing was written.
    pub fn follow(&self, anchors: &[Anchor], now: Time) -> Result<usize, StoreError> {
        if anchors.is_empty() {
            return Ok(0);
        }
        let day = now.day();
        transaction::edit(self.repo, RECORDS, self.patience, |root, written| {
            let Some(root) = root else {
                return Ok((None, 0));
            };
            let of = anchors.iter().map(|anchor| anchor.of).collect();
            let corpus = lean::read_about(self.repo, root, &of)?;
            let (gone, fresh) = plan(&corpus, anchors);
            if fresh.is_empty() {
                return Ok((None, 0));
            }
            let mut edit = Edit::new(self.repo, Some(root))?;
            for (place, rest) in corpus.without(&gone) {
                edit.replace(place, &rest, written)?;
            }
            edit.fold(&day, written)?;
            let fresh: Vec<_> = fresh.iter().map(|anchor| lines(&corpus, anchor)).collect();
            add_fresh(&mut edit, &fresh, &day, written)?;
            Ok((Some(edit.finish(written)?), fresh.len()))
        })
    }
}

/// The anchors to be taken out, and those to be written.
fn plan(corpus: &Corpus, anchors: &[Anchor]) -> (BTreeSet<RecordId>, Vec<Anchor>) {
    let (mut gone, mut fresh) = (BTreeSet::new(), Vec::new());
    for anchor in anchors {
        if corpus.source(anchor.of).is_none() || corpus.is_forgotten(anchor.of) {
            continue;
        }
        let stands = corpus
            .anchors
            .get(&anchor.of)
            .map_or(&[][..], Vec::as_slice);
        let there = stands
            .iter()
            .find(|(_, there)| there.commit == anchor.commit);
        let new = match there {
            None => anchor.clone(),
            Some((_, there))
                if anchor
                    .replaces
                    .iter()
                    .all(|old| there.replaces.contains(old)) =>
            {
                continue;
            }
            Some((id, there)) => {
                gone.insert(*id);
                let mut replaces = [&there.replaces[..], &anchor.replaces].concat();
                replaces.sort();
                replaces.dedup();
                Anchor {
                    replaces,
                    ..there.clone()
                }
            }
        };
        // A commit can come back, rewritten there and back again with its dates kept: then it counts as rewritten no longer.
        for (id, old) in stands {
            let is_old = old
                .commit
                .is_some_and(|commit| new.replaces.contains(&commit));
            let back = |commit: &_| new.commit == Some(*commit);
            if is_old && old.replaces.iter().any(back) && gone.insert(*id) {
                let mut old = old.clone();
                old.replaces.retain(|commit| !back(commit));
                fresh.push(old);
            }
        }
        fresh.push(new);
    }
    (gone, fresh)
}

fn lines(corpus: &Corpus, anchor: &Anchor) -> Fresh {
    let line = Record::Anchor(anchor.clone()).encode();
    Fresh {
        class: match corpus.source(anchor.of) {
            Some(Source::Session) => Class::Session,
            _ => Class::Derived,
        },
        text: format!("{}\n", line.text),
        name: line.id,
    }
}
