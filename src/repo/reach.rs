//! What a clean-up would keep: the commits that any reference, or any worktree's `HEAD`, leads to.
//!
//! In: nothing. Out: commits, and their trees. Reference logs do not count: who purges a history expires them, or means to.

use std::collections::BTreeSet;

use gix::bstr::ByteSlice;

use super::open::{Repo, RepoError, own, theirs};
use crate::id::{CommitId, TreeId};

/// References of ours, which lead to no commit of anybody's.
const OURS: [&str; 2] = ["refs/score-local/", "refs/notes/score-local"];

impl Repo {
    /// Every commit that can be reached.
    ///
    /// # Errors
    /// When references or commits cannot be read.
    pub fn reachable(&self) -> Result<BTreeSet<CommitId>, RepoError> {
        let reading = |error: &gix::Error| RepoError::git("reading the references", error);
        let references = self.git.references().map_err(|error| reading(&error))?;
        let mut tips: BTreeSet<CommitId> = self.heads().into_iter().collect();
        tips.extend(self.head()?.commit);
        for mut reference in references.all().map_err(|error| reading(&error))?.flatten() {
            let name = reference.name().as_bstr().to_str_lossy().into_owned();
            if OURS.iter().any(|ours| name.starts_with(ours)) {
                continue;
            }
            // A tag may name a tree or a blob, and a remote HEAD may point nowhere: neither leads to a commit.
            if let Ok(commit) = reference.peel_to_commit() {
                tips.insert(CommitId(own(&commit.id)));
            }
        }
        let walk = self
            .git
            .rev_walk(tips.iter().map(|tip| theirs(tip.0)))
            .all();
        let walked: Option<BTreeSet<CommitId>> = walk.ok().and_then(|walk| {
            walk.map(|info| info.ok().map(|info| CommitId(own(&info.id))))
                .collect()
        });
        match walked {
            Some(walked) => Ok(walked),
            // The library gives up at a commit that it finds malformed.
            None => {
                let tips: Vec<CommitId> = tips.into_iter().collect();
                Ok(self.unseen(&tips, &BTreeSet::new())?.into_iter().collect())
            }
        }
    }

    /// The trees of these commits; one that cannot be read has none.
    pub fn trees_of(&self, commits: &BTreeSet<CommitId>) -> BTreeSet<TreeId> {
        let trees = commits
            .iter()
            .filter_map(|commit| self.tree_of(*commit).ok());
        trees.collect()
    }

    /// What the main worktree and every linked one have checked out without a branch.
    fn heads(&self) -> Vec<CommitId> {
        let mut files = vec![self.common_dir().join("HEAD")];
        let linked = std::fs::read_dir(self.common_dir().join("worktrees"));
        files.extend(
            linked
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path().join("HEAD")),
        );
        let heads = files.into_iter().filter_map(|file| {
            let text = std::fs::read_to_string(file).ok()?;
            text.trim().parse().ok().map(CommitId)
        });
        heads.filter(|commit| self.has(commit.0)).collect()
    }
}
