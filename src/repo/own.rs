//! The folders in which this tool reads and writes files: its own in the common dir, and the work tree where a user asks for it.
//!
//! In: nothing. Out: folders of the gateway (`files/`), below roots that Git was told to trust. Never touches a file itself.

use std::path::Path;

use super::files::{FileError, Folder, Listed};
use super::open::{Repo, RepoError};

impl Repo {
    /// The directory that all worktrees share.
    pub fn common(&self) -> Folder {
        Folder::at(self.common_dir())
    }

    /// Caches, locks and marks: `score-context` in the common dir. It may not exist yet.
    pub fn cache(&self) -> Folder {
        self.common().below("score-context")
    }

    /// The top of the work tree; none in a bare repository. The links that lead to it are the user's own.
    pub fn top(&self) -> Option<Folder> {
        let top = self.work_tree()?;
        Some(Folder::at(
            top.canonicalize().unwrap_or_else(|_| top.to_owned()),
        ))
    }

    /// The content of a file of our own that says how far something has come; none where there is none, or something else stands there.
    ///
    /// # Errors
    /// When the machine would not read it.
    pub fn state(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, RepoError> {
        match self.cache().read(name, most) {
            Err(FileError::Refused { .. }) => Ok(None),
            read => Ok(read?),
        }
    }

    /// What stands in a folder; nothing where it is not there, or something else stands in its place.
    ///
    /// # Errors
    /// When the machine would not say.
    pub fn listed(&self, folder: &Folder) -> Result<Vec<Listed>, RepoError> {
        match folder.list() {
            Err(FileError::Refused { .. }) => Ok(Vec::new()),
            listed => Ok(listed?),
        }
    }

    /// Removes a file below the common dir, and never what a link leads to; false where there was none.
    ///
    /// # Errors
    /// When it is a folder, lies elsewhere or behind a link, or the file system refuses.
    pub fn remove_own(&self, path: &Path) -> Result<bool, FileError> {
        let below = path.strip_prefix(self.common_dir()).map_err(|_| {
            FileError::refused(path, "does not lie in the repository, so it is not removed")
        })?;
        self.common().remove(below)
    }
}

impl From<FileError> for RepoError {
    fn from(error: FileError) -> Self {
        match error {
            error @ FileError::Refused { .. } => Self::Refused(error.to_string()),
            FileError::Io { verb, path, cause } => Self::Machine {
                doing: format!("cannot {verb} '{}'", path.display()),
                cause: cause.to_string(),
            },
        }
    }
}
