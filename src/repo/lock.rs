//! The lock of a reference, as Git takes it: the file `<reference>.lock` beside it, which becomes the reference.
//!
//! Git never breaks such a lock, since nobody can tell whose it is. Ours can be told: the file is made under a name in our own folder first,
//! locked by the system for as long as its writer lives, and then linked to the name that Git knows. So a lock file that is the
//! same file as one of ours and that the system lets go was left by a writer that was killed, and whoever comes next removes it. A
//! lock file of anybody else is never touched.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::open::{Repo, RepoError};
use super::sync::Durable;

/// How often a folder is made again that a `git pack-refs` beside us removes when it is empty.
const MOST_FOLDERS: usize = 8;
/// What our files are called in our own folder, before the number of the process.
const PREFIX: &str = "reference.";

/// A reference that nobody else can write while this lives.
pub(super) struct RefLock {
    reference: PathBuf,
    lock: PathBuf,
    /// Ours, and locked; none where the file system has no links.
    own: Option<PathBuf>,
    file: File,
}

impl Repo {
    /// Takes the lock of a reference, if need be from a writer that died.
    pub(super) fn lock_reference(&self, name: &str) -> Result<RefLock, RepoError> {
        let taken = self.take_lock(name);
        taken.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => self.locked(name),
            _ => RepoError::write(format!("locking {name}"), &error),
        })
    }

    fn take_lock(&self, name: &str) -> io::Result<RefLock> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let reference = self.common_dir().join(name);
        let lock = self.common_dir().join(format!("{name}.lock"));
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let own = format!("{PREFIX}{}.{number}", std::process::id());
        let own = self.cache_dir().join(own);
        self.cache().make().map_err(io::Error::other)?;
        // What a process of the same number left.
        drop(fs::remove_file(&own));
        let file = File::create_new(&own)?;
        drop(file.try_lock());
        let mut taken = RefLock {
            reference,
            lock,
            own: Some(own.clone()),
            file,
        };
        let mut broken = false;
        for _ in 0..MOST_FOLDERS {
            match fs::hard_link(&own, &taken.lock) {
                Ok(()) => return Ok(taken),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    taken.lock.parent().map_or(Ok(()), fs::create_dir_all)?;
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if broken || !self.break_lock(&taken.lock) {
                        taken.forget();
                        return Err(error);
                    }
                    broken = true;
                }
                // No links here: then as Git does it, and a kill leaves what Git's leave.
                Err(_) => {
                    taken.forget();
                    taken.file = File::create_new(&taken.lock)?;
                    taken.own = None;
                    return Ok(taken);
                }
            }
        }
        taken.forget();
        Err(ErrorKind::NotFound.into())
    }

    /// Removes a lock file that a writer of ours left when it was killed. Whether it did.
    fn break_lock(&self, lock: &Path) -> bool {
        match self.dead_owner(lock) {
            // The lock is held until both names are gone, so that nobody else does the same at once.
            Some((own, held)) => {
                let is_removed = fs::remove_file(lock).is_ok();
                drop(fs::remove_file(own));
                drop(held);
                is_removed
            }
            None => false,
        }
    }

    /// Our own name of a lock file whose writer is dead, with the file, locked.
    fn dead_owner(&self, lock: &Path) -> Option<(PathBuf, File)> {
        let wanted = identity(&fs::symlink_metadata(lock).ok()?)?;
        for entry in fs::read_dir(self.cache_dir()).ok()?.flatten() {
            let name = entry.file_name();
            if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
                continue;
            }
            let own = entry.path();
            let is_same = |path: &Path| {
                let meta = fs::symlink_metadata(path).ok();
                meta.and_then(|meta| identity(&meta)) == Some(wanted)
            };
            if !is_same(&own) {
                continue;
            }
            let file = File::open(&own).ok()?;
            // Looked at again under the lock: meanwhile its writer may have finished and another one begun.
            return (file.try_lock().is_ok() && is_same(&own) && is_same(lock))
                .then_some((own, file));
        }
        None
    }

    /// The lock files of these references, each with whether its writer is known to be dead.
    pub fn held_locks(&self, names: &[&str]) -> Vec<(PathBuf, bool)> {
        let locks = names
            .iter()
            .map(|name| self.common_dir().join(format!("{name}.lock")));
        let there = locks.filter(|lock| fs::symlink_metadata(lock).is_ok());
        there
            .map(|lock| {
                let is_dead = self.dead_owner(&lock).is_some();
                (lock, is_dead)
            })
            .collect()
    }

    /// Removes the lock files of these references that writers of ours left when they were killed; says which.
    pub fn break_locks(&self, names: &[&str]) -> Vec<PathBuf> {
        let held = self.held_locks(names);
        let dead = held.into_iter().filter(|(_, is_dead)| *is_dead);
        dead.map(|(lock, _)| lock)
            .filter(|lock| self.break_lock(lock))
            .collect()
    }

    /// What is said of a lock that is held: where it is and how old.
    pub(super) fn locked(&self, name: &str) -> RepoError {
        let path = self.common_dir().join(format!("{name}.lock"));
        let seconds = fs::metadata(&path)
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|time| time.elapsed().ok())
            .map(|age| age.as_secs());
        RepoError::Locked { path, seconds }
    }
}

impl RefLock {
    /// Makes `text` the content of the reference.
    pub(super) fn commit(mut self, text: &str, durable: Durable) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        durable.file(&self.file)?;
        // A folder that a deleted reference left; one that holds anything stays, and the renaming says so.
        if self.reference.is_dir() {
            fs::remove_dir(&self.reference)?;
        }
        fs::rename(&self.lock, &self.reference)?;
        let folder = self.reference.parent();
        folder.map_or(Ok(()), |folder| durable.folder(folder))
    }

    /// Gives our own name back; there is no lock.
    fn forget(&mut self) {
        self.lock = PathBuf::new();
    }
}

impl Drop for RefLock {
    fn drop(&mut self) {
        // After the renaming the name is gone, or by now another writer's.
        if !self.lock.as_os_str().is_empty() && self.is_ours() {
            drop(fs::remove_file(&self.lock));
        }
        if let Some(own) = &self.own {
            drop(fs::remove_file(own));
        }
    }
}

impl RefLock {
    fn is_ours(&self) -> bool {
        let there = fs::symlink_metadata(&self.lock).ok();
        let ours = self.file.metadata().ok();
        match (there, ours) {
            (Some(there), Some(ours)) => identity(&there) == identity(&ours),
            _ => false,
        }
    }
}

/// What tells whether two names are one file; none where the system does not say.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not say")]
fn identity(meta: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}
