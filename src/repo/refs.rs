//! References: read, and swapped against the value that was read.
//!
//! The swap is the only way to write one. `refs/score-local/*` point at trees, so no identity and no signature is involved.

use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::open::{Repo, RepoError, own, theirs};
use crate::id::ObjectId;

/// An object that was written so long before its reference is made young again. Far less than any limit of age that a clean-up has.
const YOUNG: std::time::Duration = std::time::Duration::from_secs(60);

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
        let reading = |error: &gix::Error| RepoError::git(format!("reading {name}"), error);
        let found = self
            .git
            .try_find_reference(name)
            .map_err(|error| reading(&error))?;
        match found.map(|reference| reference.target().try_id().map(own)) {
            None => Ok(None),
            Some(Some(id)) => Ok(Some(id)),
            Some(None) => Err(RepoError::Git {
                doing: format!("reading {name}"),
                cause: "it is a symbolic reference".into(),
                transient: false,
            }),
        }
    }

    /// Sets `name` to `new` if it still has the value `old` (none: does not exist). No reference log is begun.
    ///
    /// # Errors
    /// When the reference's lock is held, or the file system refuses.
    pub fn swap(
        &self,
        name: &str,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Swap, RepoError> {
        let change = Change::Update {
            log: LogChange {
                mode: RefLog::AndReference,
                force_create_reflog: false,
                message: "score-context".into(),
            },
            expected: match old {
                Some(old) => PreviousValue::MustExistAndMatch(Target::Object(theirs(old))),
                None => PreviousValue::MustNotExist,
            },
            new: Target::Object(theirs(new)),
        };
        self.change(name, change, old.is_some())
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
        // A reference log is only written where the user asked for one everywhere (`core.logAllRefUpdates=always`);
        // then it needs a name, and none may be configured.
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

    fn locked(&self, name: &str) -> RepoError {
        let path = self.common_dir().join(format!("{name}.lock"));
        let seconds = std::fs::metadata(&path)
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|time| time.elapsed().ok())
            .map(|age| age.as_secs());
        RepoError::Locked { path, seconds }
    }

    /// Makes sure that the objects of a reference that was just swapped are there and young. One that existed before may have been
    /// unreachable for weeks: made young, as Git does when it writes an object again, it is spared by a clean-up with a limit of age.
    /// One that a clean-up without a limit has taken meanwhile is written again.
    ///
    /// What lies in a file of its own is there; the repository is opened again, to see packs that are newer than this handle, only for
    /// what does not: a commit pays for each opening.
    ///
    /// # Errors
    /// When the object store cannot be written.
    pub fn settle(
        &self,
        objects: &[super::object::Object],
        reference: &str,
    ) -> Result<(), RepoError> {
        let modified = |path: &std::path::Path| std::fs::metadata(path)?.modified();
        let swapped = modified(&self.common_dir().join(reference));
        let mut fresh = None;
        for object in objects {
            let file = self.loose_file(object.id);
            if let Ok(written) = modified(&file) {
                if let Ok(swapped) = swapped
                    && written + YOUNG < swapped
                {
                    // Another's file cannot be touched; then it is as safe as any object that Git writes.
                    let file = std::fs::File::open(&file);
                    drop(file.and_then(|file| file.set_modified(swapped)));
                }
                continue;
            }
            let fresh = match &mut fresh {
                Some(fresh) => fresh,
                none => none.insert(self.reopen()?),
            };
            if !fresh.has(object.id) {
                fresh.rewrite(object)?;
            }
        }
        Ok(())
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

    /// Writes objects and a reference through to the disk where `core.fsync` asks for it; the library never does.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn sync(
        &self,
        objects: &[super::object::Object],
        reference: &str,
    ) -> Result<(), RepoError> {
        let (loose, references) = self.fsync_wanted();
        let mut files = Vec::new();
        if loose {
            files.extend(objects.iter().map(|object| self.loose_file(object.id)));
        }
        if references {
            files.push(self.common_dir().join(reference));
        }
        for file in files {
            let synced = sync_with_directory(&file);
            match synced {
                // Already packed, or never loose: then whoever packed it has synced it.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(RepoError::Git {
                        doing: format!("syncing {}", file.display()),
                        cause: error.to_string(),
                        transient: false,
                    });
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Whether `core.fsync` (or the older `core.fsyncObjectFiles`) covers loose objects, and references.
    fn fsync_wanted(&self) -> (bool, bool) {
        let old = self
            .config("core.fsyncObjectFiles")
            .is_some_and(|value| matches!(value.as_str(), "true" | "yes" | "on" | "1"));
        let (mut loose, mut references) = (old, false);
        for part in self.config("core.fsync").unwrap_or_default().split(',') {
            let (on, name) = match part.trim().strip_prefix('-') {
                Some(name) => (false, name),
                None => (true, part.trim()),
            };
            match name {
                "none" => (loose, references) = (false, false),
                "loose-object" | "objects" => loose = on,
                "reference" => references = on,
                "all" | "committed" | "added" => (loose, references) = (on, on),
                _ => {}
            }
        }
        (loose, references)
    }
}

fn sync_with_directory(file: &std::path::Path) -> std::io::Result<()> {
    std::fs::File::open(file)?.sync_all()?;
    match file.parent() {
        Some(directory) => std::fs::File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}
