//! References: read, and swapped against the value that was read.
//!
//! The swap is the only way to write one. `refs/score-local/*` point at trees, so no identity and no signature is involved.

use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
use std::io::Write as _;

use gix::refs::transaction::{Change, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::open::{Repo, RepoError, own, theirs};
use crate::id::ObjectId;

/// Who is said to have moved a reference, in a log.
const WHO: &str = "score-context <score-context@localhost>";

/// How a compare-and-swap ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The reference has the new value.
    Done,
    /// It had another value than expected; nothing was changed.
    Moved,
}

impl Repo {
    /// The object a reference points at; none when there is no such reference.
    ///
    /// # Errors
    /// When it cannot be read: damaged, or symbolic.
    pub fn reference(&self, name: &str) -> Result<Option<ObjectId>, RepoError> {
        let reading = |error: &gix::Error| RepoError::read(format!("reading {name}"), error);
        let found = self
            .git
            .try_find_reference(name)
            .map_err(|error| reading(&error))?;
        match found.map(|reference| reference.target().try_id().map(own)) {
            None => self.ensure_absent(name).map(|()| None),
            Some(Some(id)) => Ok(Some(id)),
            Some(None) => Err(RepoError::Git {
                doing: format!("reading {name}"),
                cause: "it is a symbolic reference".into(),
                transient: false,
            }),
        }
    }

    /// Sets `name` to `new` if it still has the value `old` (none: does not exist). No reference log is begun, unless the user wants
    /// one of every reference.
    ///
    /// # Errors
    /// When the reference's lock is held, or the file system refuses.
    pub fn swap(
        &self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Swap, RepoError> {
        let lock = self.lock_reference(name)?;
        if self.reference_on_disk(name)? != old {
            return Ok(Swap::Moved);
        }
        let written = self
            .log_swap(name, old, new)
            .and_then(|()| lock.commit(&format!("{new}\n"), self.durable_references()));
        match written {
            Ok(()) => Ok(Swap::Done),
            Err(error) => Err(RepoError::write(format!("writing {name}"), &error)),
        }
    }

    /// Sets a reference of ours whatever it holds, also where that is no name of an object; none: it goes.
    ///
    /// # Errors
    /// When the reference's lock is held, or the file system refuses.
    pub fn overwrite(&self, name: &str, new: Option<ObjectId>) -> Result<(), RepoError> {
        let lock = self.lock_reference(name)?;
        let writing = |error: std::io::Error| RepoError::write(format!("writing {name}"), &error);
        if let Some(new) = new {
            let text = format!("{new}\n");
            return lock
                .commit(&text, self.durable_references())
                .map_err(writing);
        }
        match std::fs::remove_file(self.common_dir().join(name)) {
            Err(error) if error.kind() != NotFound => return Err(writing(error)),
            _ => drop(lock),
        }
        // It may stand in the table of packed references as well.
        if let Ok(Some(old)) = self.reference(name) {
            self.remove(name, old)?;
        }
        Ok(())
    }

    /// The value of a reference whose lock is held, read anew: a table of packed references that was read before may be old.
    fn reference_on_disk(&self, name: &str) -> Result<Option<ObjectId>, RepoError> {
        let damaged = |cause: &str| RepoError::Git {
            doing: format!("reading {name}"),
            cause: cause.to_owned(),
            transient: false,
        };
        match std::fs::read_to_string(self.common_dir().join(name)) {
            Ok(text) if text.starts_with("ref:") => Err(damaged("it is a symbolic reference")),
            Ok(text) => match text.trim_end().parse() {
                Ok(id) => Ok(Some(id)),
                Err(_) => Err(damaged("its file does not hold the name of an object")),
            },
            // A folder stands there where a reference was deleted.
            Err(error) if matches!(error.kind(), NotFound | IsADirectory | NotADirectory) => {
                let reading = |error: &gix::Error| RepoError::git("reading packed-refs", error);
                let packed = self.git.refs.open_packed_buffer();
                let packed = packed.map_err(|error| reading(&error))?;
                let found = packed
                    .as_ref()
                    .map(|packed| packed.try_find(name))
                    .transpose();
                let found = found.map_err(|error| reading(&error))?.flatten();
                Ok(found.map(|found| own(&found.target())))
            }
            Err(error) => Err(RepoError::io(&self.common_dir().join(name), &error)),
        }
    }

    /// Adds to the log of a reference: to one that is there, and to a new one where the user wants a log of everything.
    fn log_swap(&self, name: &str, old: Option<ObjectId>, new: ObjectId) -> std::io::Result<()> {
        let log = self.common_dir().join("logs").join(name);
        let is_wanted = self
            .config("core.logAllRefUpdates")
            .is_some_and(|value| value.eq_ignore_ascii_case("always"));
        if !is_wanted && !log.is_file() {
            return Ok(());
        }
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.append(true).create(true).open(log)?;
        let none = gix::ObjectId::null(self.git.object_hash()).to_string();
        let old = old.map_or(none, |old| old.to_string());
        // A log needs a name, and none may be configured.
        let line = format!("{old} {new} {WHO} 0 +0000\tscore-context\n");
        file.write_all(line.as_bytes())
    }

    /// Removes `name`, with its log, if it still has the value `old`.
    ///
    /// # Errors
    /// When the reference's lock is held, or the file system refuses.
    pub fn remove(&self, name: &str, old: ObjectId) -> Result<Swap, RepoError> {
        let change = Change::Delete {
            expected: PreviousValue::MustExistAndMatch(Target::Object(theirs(old))),
            log: RefLog::AndReference,
        };
        self.change(name, change, true)
    }

    fn change(&self, name: &str, change: Change, is_there: bool) -> Result<Swap, RepoError> {
        let edit = RefEdit {
            change,
            name: FullName::try_from(name).expect("our reference names are valid"),
            deref: false,
        };
        let committer = gix::actor::SignatureRef {
            name: "score-context".into(),
            email: "score-context@localhost".into(),
            time: "0 +0000",
        };
        match self.git.edit_references_as([edit], Some(committer)) {
            Ok(_) => Ok(Swap::Done),
            Err(error) if error.is_conflict() => Ok(Swap::Moved),
            Err(error) if error.is_not_found() && is_there => Ok(Swap::Moved),
            Err(error) if error.is_retryable() => Err(self.locked(name)),
            Err(error) => Err(RepoError::git(format!("writing {name}"), &error)),
        }
    }

    /// Whether a `git gc` is at work here. It knows which references there were when it began, and with `--prune=now` deletes
    /// whatever they do not reach.
    pub fn gc_is_running(&self) -> bool {
        let lock = self.common_dir().join("gc.pid");
        let Ok(text) = std::fs::read_to_string(&lock) else {
            return false;
        };
        let pid = text.split_whitespace().next().unwrap_or_default();
        // A gc that was killed leaves its file. Where processes cannot be looked up, its age has to tell.
        match std::path::Path::new("/proc/self").exists() {
            true => std::path::Path::new("/proc").join(pid).exists(),
            false => std::fs::metadata(&lock)
                .and_then(|meta| meta.modified())
                .is_ok_and(|time| time.elapsed().is_ok_and(|age| age.as_secs() < 600)),
        }
    }

    pub(super) fn loose_file(&self, id: ObjectId) -> std::path::PathBuf {
        let name = id.to_string();
        let store = self.common_dir().join("objects");
        store.join(&name[..2]).join(&name[2..])
    }
}
