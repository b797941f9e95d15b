//! What a clean-up would keep: the commits that any reference, or any worktree's `HEAD`, leads to.
//!
//! In: nothing. Out: commits, and their trees. Reference logs do not count: who purges a history expires them, or means to.

use std::collections::BTreeSet;

use super::absent::entries;
use super::open::{Repo, RepoError, is_of_machine, own, theirs};
use crate::id::{CommitId, TreeId};

/// References of ours, which lead to no commit of anybody's.
const OURS: [&str; 2] = ["refs/score-local/", "refs/notes/score-local"];

impl Repo {
    /// Every commit that can be reached.
    ///
    /// # Errors
    /// When references or commits cannot be read.
    pub fn reachable(&self) -> Result<BTreeSet<CommitId>, RepoError> {
        let mut tips: BTreeSet<CommitId> = self.heads()?.into_iter().collect();
        tips.extend(self.head()?.commit);
        for named in self.names("refs/")? {
            if !OURS.iter().any(|ours| named.name.starts_with(ours)) {
                tips.extend(self.tip(&named)?);
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

    /// The trees of these commits; one that is missing or damaged has none.
    ///
    /// # Errors
    /// When the machine would not read one.
    pub fn trees_of(&self, commits: &BTreeSet<CommitId>) -> Result<BTreeSet<TreeId>, RepoError> {
        let mut trees = BTreeSet::new();
        for commit in commits {
            match self.tree_of(*commit) {
                Err(error) if error.is_machine() => return Err(error),
                tree => trees.extend(tree),
            }
        }
        Ok(trees)
    }

    /// What the main worktree and every linked one have checked out without a branch.
    fn heads(&self) -> Result<Vec<CommitId>, RepoError> {
        let mut files = vec![self.common_dir().join("HEAD")];
        for entry in entries(&self.common_dir().join("worktrees"))? {
            files.push(entry.path().join("HEAD"));
        }
        let mut heads = Vec::new();
        for file in files {
            let text = match std::fs::read(&file) {
                Err(error) if is_of_machine(&error) => return Err(RepoError::io(&file, &error)),
                text => text.unwrap_or_default(),
            };
            let head = std::str::from_utf8(&text).ok();
            if let Some(head) = head.and_then(|text| text.trim().parse().ok())
                && self.has(head)?
            {
                heads.push(CommitId(head));
            }
        }
        Ok(heads)
    }
}
