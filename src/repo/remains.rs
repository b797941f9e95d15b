//! What writing leaves behind: reference logs, temporary files, and the weight of objects.
//!
//! In: names of ours. Out: logs emptied, files named, sizes. Never looks into anything.

use std::path::PathBuf;
use std::time::Duration;

use super::files::{Folder, Sort};
use super::open::{Repo, RepoError, is_of_machine};
use crate::id::ObjectId;

/// A file that a writer has not touched for so long was left by one that died.
pub(super) const LEFT: Duration = Duration::from_secs(3600);

impl Repo {
    /// Empties the log of a reference of ours, under the lock of the reference: earlier values, which may hold what was forgotten,
    /// are kept by nothing then. Git goes on writing to a log that is there.
    ///
    /// # Errors
    /// When the lock is held, or the file system refuses.
    pub fn empty_log(&self, name: &str) -> Result<(), RepoError> {
        /// Together as long as Git waits for the lock of a reference, and somewhat more.
        const TRIES: usize = 50;
        const PAUSE: Duration = Duration::from_millis(10);
        let logs = self.common().below("logs");
        if logs.look(name)?.is_none() {
            return Ok(());
        }
        let mut held = self.lock_reference(name);
        for _ in 0..TRIES {
            if !matches!(held, Err(RepoError::Locked { .. })) {
                break;
            }
            std::thread::sleep(PAUSE);
            held = self.lock_reference(name);
        }
        let held = held?;
        logs.empty(name)?;
        drop(held);
        Ok(())
    }

    /// Temporary files of writers that died: of the object store (`.tmpXXXXXX`, which `git gc` does not know) and of the common dir's
    /// `score-context`; sorted.
    ///
    /// # Errors
    /// When the machine would not say what is there.
    pub fn left_over(&self) -> Result<Vec<PathBuf>, RepoError> {
        let objects = self.common().below("objects");
        let mut found = Vec::new();
        let is_theirs = |name: &str| {
            name.strip_prefix(".tmp").is_some_and(|rest| {
                rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
        };
        self.files_in(&objects, &is_theirs, &mut found)?;
        let is_ours = |name: &str| {
            let number = name.rsplit('.').next().unwrap_or_default();
            let is_numbered =
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            name.ends_with(".tmp") || name.contains('.') && is_numbered
        };
        for folder in [self.cache(), self.cache().below("seen")] {
            self.files_in(&folder, &is_ours, &mut found)?;
        }
        found.sort();
        Ok(found)
    }

    /// Bytes that an object's own file takes on the disk; none where it is packed.
    ///
    /// # Errors
    /// When the machine would not say.
    pub fn loose_bytes(&self, id: ObjectId) -> Result<Option<u64>, RepoError> {
        let file = self.loose_file(id);
        let meta = match std::fs::metadata(&file) {
            Ok(meta) => meta,
            Err(error) if is_of_machine(&error) => return Err(RepoError::io(&file, &error)),
            Err(_) => return Ok(None),
        };
        #[cfg(unix)]
        let bytes = std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
        #[cfg(not(unix))]
        let bytes = meta.len();
        Ok(Some(bytes))
    }

    /// The old files with such names in a folder.
    fn files_in(
        &self,
        folder: &Folder,
        is_meant: &dyn Fn(&str) -> bool,
        found: &mut Vec<PathBuf>,
    ) -> Result<(), RepoError> {
        for file in self.listed(folder)? {
            let is_meant = file.sort == Sort::File && file.name.to_str().is_some_and(is_meant);
            if is_meant && file.age().is_some_and(|age| age > LEFT) {
                found.push(folder.path().join(&file.name));
            }
        }
        Ok(())
    }
}
