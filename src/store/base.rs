//! The handle on the memory, the names of its references, and why it could not answer.
//!
//! The operations lie in the files beside this one.

use std::time::Duration;

use super::journal;
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
    /// The records that a look-up read were replaced and cleaned away before it could be kept; asked again, it reads those that are there.
    #[error("the records were replaced and cleaned away while they were read")]
    Outrun,
    /// A stored look-up whose parts are missing or unreadable.
    #[error("look-up {id} is damaged: {cause}")]
    Damaged {
        /// The look-up.
        id: String,
        /// What is wrong.
        cause: String,
    },
}

impl StoreError {
    /// What is to be named and passed over.
    ///
    /// # Errors
    /// The error itself, when the machine is at fault.
    pub fn damage(self) -> Result<Self, RepoError> {
        match self {
            Self::Repo(error) => error.damage().map(Self::Repo),
            error => Ok(error),
        }
    }

    /// Whether the machine would not let us read: see [`RepoError::is_machine`].
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Repo(error) if error.is_machine())
    }
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
        let Some(id) = self.repo.reference(reference)? else {
            return Ok(None);
        };
        let kind = |repo: &Repo| repo.kind(id);
        let found = match kind(self.repo) {
            Ok(Some(kind)) if kind == "tree" => return Ok(Some(TreeId(id))),
            Ok(Some(kind)) => format!("a {kind}"),
            // Missing or damaged: the last writes are kept twice.
            _ if journal::mend(self.repo).unwrap_or(false) => return Ok(Some(TreeId(id))),
            Ok(None) => "missing in this repository".to_owned(),
            Err(error) => format!("damaged: {error}"),
        };
        Err(StoreError::NoSuch(format!(
            "{reference} has to point to a tree, but {id} is {found}\nhint: 'git score-context fsck --repair' mends what it can, 'git update-ref -d {reference}' begins anew"
        )))
    }
}
