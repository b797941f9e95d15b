//! Why a file was not read or written, in one sentence.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// What stands there is nothing that may be read or written.
    #[error("'{}' {why}", .path.display())]
    Refused {
        /// Where: the file, or the folder above it that is the reason.
        path: PathBuf,
        /// What it is, and what helps.
        why: String,
    },
    /// The file system refused.
    #[error("cannot {verb} '{}': {cause}", .path.display())]
    Io {
        /// What was tried: `read`, `write`, `remove`.
        verb: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
}

impl FileError {
    /// What stands there is refused.
    pub(in crate::repo) fn refused(path: &Path, why: impl Into<String>) -> Self {
        Self::Refused {
            path: path.to_owned(),
            why: why.into(),
        }
    }

    /// The file system refused.
    pub(super) fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Io { verb, path, cause }
    }

    /// Whether there is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound)
    }

    /// Whether something stands there that is neither read nor written, unlike an error of the machine.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = match &error {
            FileError::Refused { .. } => io::ErrorKind::InvalidInput,
            FileError::Io { cause, .. } => cause.kind(),
        };
        Self::new(kind, error)
    }
}
