//! What references hold, and copies of what they may not.
//!
//! In: trees and commits. Out: whether a clean-up would keep them; the objects of a tree, read into memory. Never writes.

use gix::bstr::ByteSlice;

use super::object::{Kind, Mode, Object};
use super::open::{Repo, RepoError, own, theirs};
use crate::id::{BlobId, CommitId, ObjectId, TreeId};

/// Commits with dates this much older than the asked one may still lie on the way to it: clocks differ.
const SKEW: i64 = 86_400;

/// Takes objects up to a number of bytes.
pub struct Take<'w> {
    most: usize,
    written: &'w mut Vec<Object>,
}

impl<'w> Take<'w> {
    /// All of them.
    pub fn all(written: &'w mut Vec<Object>) -> Self {
        let most = usize::MAX;
        Self { most, written }
    }

    /// No more when they have so many bytes together.
    pub fn at_most(most: usize, written: &'w mut Vec<Object>) -> Self {
        Self { most, written }
    }

    fn push(&mut self, id: ObjectId, kind: Kind, bytes: Vec<u8>) {
        self.most = self.most.saturating_sub(bytes.len());
        self.written.push(Object { id, kind, bytes });
    }
}

impl Repo {
    /// Takes every object of a tree that does not stand at the same place in `held`, which references hold. In a partial clone blobs may
    /// be missing.
    ///
    /// # Errors
    /// When an object is missing or damaged.
    pub fn take_below(
        &self,
        tree: TreeId,
        held: Option<TreeId>,
        take: &mut Take<'_>,
    ) -> Result<(), RepoError> {
        let mut open = vec![(tree, held)];
        while let Some((tree, held)) = open.pop() {
            if Some(tree) == held || take.most == 0 {
                continue;
            }
            let entries = self.tree(tree)?;
            let beside = held.map_or_else(|| Ok(Vec::new()), |held| self.tree(held))?;
            take.push(tree.0, Kind::Tree, self.tree_bytes(&entries));
            for entry in entries {
                let other = beside.iter().find(|other| other.path == entry.path);
                if other.is_some_and(|other| other.id == entry.id) {
                    continue;
                }
                match entry.mode {
                    Mode::Directory => {
                        let other = other.filter(|other| other.mode == Mode::Directory);
                        open.push((TreeId(entry.id), other.map(|other| TreeId(other.id))));
                    }
                    Mode::File | Mode::Symlink => match self.blob(BlobId(entry.id))? {
                        Some(bytes) => take.push(entry.id, Kind::Blob, bytes),
                        None if self.is_partial() => {}
                        None => return Err(self.missing("blob", entry.id)),
                    },
                    Mode::Submodule => {}
                }
            }
        }
        Ok(())
    }

    /// Whether `HEAD` or any reference of somebody else's leads to a commit. Says no where it cannot be read.
    pub fn is_held(&self, commit: CommitId) -> bool {
        let head = self.head().ok().and_then(|head| head.commit);
        if head == Some(commit) {
            return true;
        }
        let Ok(time) = self.commit(commit).map(|commit| commit.time) else {
            return false;
        };
        // The history of `HEAD` alone nearly always tells.
        self.leads_to(
            head.map(|head| theirs(head.0)).into_iter().collect(),
            commit,
            time,
        ) || self.leads_to(self.tips(), commit, time)
    }

    /// What every reference but ours leads to.
    fn tips(&self) -> Vec<gix::ObjectId> {
        let mut tips = Vec::new();
        let references = self.git.references();
        let all = references.iter().flat_map(|all| all.all());
        for mut reference in all.flatten().flatten() {
            let name = reference.name().as_bstr().to_str_lossy().into_owned();
            if !name.starts_with("refs/score-local/")
                && let Ok(tip) = reference.peel_to_commit()
            {
                tips.push(tip.id);
            }
        }
        tips
    }

    /// Whether the history of these commits has another one, of this date.
    fn leads_to(&self, tips: Vec<gix::ObjectId>, commit: CommitId, time: i64) -> bool {
        let sorting = gix::revision::walk::Sorting::ByCommitTimeCutoff {
            order: Default::default(),
            seconds: time - SKEW,
        };
        let walk = self.git.rev_walk(tips).sorting(sorting);
        let mut walked = walk.all().into_iter().flatten().flatten();
        walked.any(|info| own(&info.id) == commit.0)
    }
}
