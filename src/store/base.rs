//! The handle on the memory, the names of its references, and why it could not answer.
//!
//! The operations lie in the files beside this one.

use std::time::{Duration, Instant};

use super::journal;
use super::wait::Wait;
use crate::id::TreeId;
use crate::repo::{Repo, RepoError};

/// The reference that holds the records.
pub const RECORDS: &str = "refs/score-local/records";
/// The reference that holds the look-ups.
pub const ATTENTION: &str = "refs/score-local/attention";

/// Why the store could not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The repository could not be read or written.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// Another writer was always faster, or held the lock, until patience ran out.
    #[error("could not write to {reference} within {seconds:.1} s: {cause}")]
    Busy {
        /// The reference.
        reference: &'static str,
        /// How long it was tried.
        seconds: f64,
        /// What stood in the way last.
        cause: String,
    },
    /// The store cannot be written at all: a read-only file system, or no permission.
    #[error("the store cannot be written: {0}")]
    ReadOnly(String),
    /// An id that names no look-up, or several.
    #[error("{0}")]
    NoSuch(String),
    /// A stored look-up whose parts are missing or unreadable.
    #[error("look-up {id} is damaged: {cause}")]
    Damaged {
        /// The look-up.
        id: String,
        /// What is wrong.
        cause: String,
    },
}

/// The memory of one repository.
pub struct Store<'r> {
    pub(super) repo: &'r Repo,
    pub(super) patience: Duration,
}

impl<'r> Store<'r> {
    /// The memory of `repo`; a write gives up after five seconds of lost races and held locks.
    pub fn new(repo: &'r Repo) -> Self {
        Self {
            repo,
            patience: Duration::from_secs(5),
        }
    }

    /// The same, but a write gives up after `patience`.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The tree that names the present state of the records; the empty tree when nothing was recorded.
    ///
    /// # Errors
    /// When the reference is damaged.
    pub fn corpus_id(&self) -> Result<TreeId, StoreError> {
        let tree = self.tree_behind(RECORDS)?;
        Ok(tree.unwrap_or_else(|| self.repo.empty_tree()))
    }

    /// The tree a reference of ours points to; none when there is no such reference.
    pub(super) fn tree_behind(
        &self,
        reference: &'static str,
    ) -> Result<Option<TreeId>, StoreError> {
        let mut wait = Wait::new(Instant::now(), self.patience);
        let (id, found) = loop {
            let Some(id) = self.repo.reference(reference)? else {
                return Ok(None);
            };
            match self.repo.kind(id)?.as_deref() {
                Some("tree") => return Ok(Some(TreeId(id))),
                Some(other) => break (id, format!("a {other}")),
                None if journal::mend(self.repo).unwrap_or(false) => {}
                // Taken by a clean-up that is under way: whoever wrote it writes it again.
                None if self.repo.gc_is_running() && wait.once_more() => {}
                None => break (id, "missing in this repository".to_owned()),
            }
        };
        Err(StoreError::NoSuch(format!(
            "{reference} has to point to a tree, but {id} is {found}\nhint: 'git fsck' tells what is lost, 'git update-ref -d {reference}' begins anew"
        )))
    }
}
