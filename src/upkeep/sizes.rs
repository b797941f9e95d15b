//! What the memory weighs.
//!
//! In: the references of ours. Out: bytes of content, and of the files that are not packed yet. A pinned corpus or code tree is counted
//! with no look-up: it is shared with the records and with history. Never reads a blob.

use std::collections::BTreeSet;

use crate::id::{BlobId, ObjectId, TreeId};
use crate::repo::{Mode, Repo, RepoError};
use crate::store::{Store, StoreError};

/// The weight of one kind of thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Bytes of content.
    pub content: u64,
    /// Bytes on the disk of objects that are files of their own; packed ones take a share of a pack.
    pub loose: u64,
    /// Objects that are files of their own.
    pub files: u64,
}

/// What there is of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The present corpus.
    pub records: Weight,
    /// The look-ups, without what they pin.
    pub lookups: Weight,
    /// Corpora of the past that only look-ups hold.
    pub pinned: Weight,
    /// What upkeep has let go and can put back, as far as nothing else holds it.
    pub undo: Weight,
}

/// Weighs everything.
///
/// # Errors
/// When a tree of ours is damaged.
pub fn sizes(repo: &Repo) -> Result<Sizes, StoreError> {
    let store = Store::new(repo);
    let mut scale = Scale {
        repo,
        seen: BTreeSet::new(),
    };
    let mut sizes = Sizes::default();
    scale.tree(store.corpus_id()?, &mut sizes.records)?;
    for stored in store.lookups()? {
        for (id, mode) in store.own_objects(&stored)? {
            scale.object(id, mode, &mut sizes.lookups)?;
        }
        if let Some(corpus) = store.pinned_corpus(&stored)? {
            // A pin that is damaged has no weight; `fsck` names it.
            if let Err(error) = scale.tree(corpus, &mut sizes.pinned) {
                error.damage()?;
            }
        }
    }
    // Where it is damaged, `fsck` says so.
    for waiting in store.waiting().unwrap_or_default() {
        for stored in &waiting.lookups {
            for (id, mode) in store.own_objects(stored)? {
                scale.object(id, mode, &mut sizes.undo)?;
            }
        }
        let mut corpora: BTreeSet<TreeId> = waiting.corpus.into_iter().collect();
        for stored in &waiting.lookups {
            corpora.extend(store.pinned_corpus(stored)?);
        }
        for corpus in corpora {
            drop(scale.tree(corpus, &mut sizes.undo));
        }
    }
    Ok(sizes)
}

struct Scale<'a> {
    repo: &'a Repo,
    seen: BTreeSet<ObjectId>,
}

impl Scale<'_> {
    fn tree(&mut self, root: TreeId, weight: &mut Weight) -> Result<(), RepoError> {
        let mut open = vec![root];
        while let Some(tree) = open.pop() {
            if self.seen.contains(&tree.0) {
                continue;
            }
            self.object(tree.0, Mode::Directory, weight)?;
            for entry in self.repo.tree(tree)? {
                match entry.mode {
                    Mode::Directory => open.push(TreeId(entry.id)),
                    Mode::File | Mode::Symlink => self.object(entry.id, entry.mode, weight)?,
                    Mode::Submodule => {}
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, id: ObjectId, mode: Mode, weight: &mut Weight) -> Result<(), RepoError> {
        if !self.seen.insert(id) {
            return Ok(());
        }
        if mode != Mode::Directory {
            weight.content += self.repo.blob_size(BlobId(id))?.unwrap_or(0);
        }
        if let Some(bytes) = self.repo.loose_bytes(id)? {
            weight.loose += bytes;
            weight.files += 1;
        }
        Ok(())
    }
}
