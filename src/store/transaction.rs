//! One write: read the reference, edit the tree, swap, and prove that it is there.
//!
//! The swap is what guards; the advisory lock only avoids lost races (1,600 appends by 8 processes: 20.9 s and 1,934 lost races
//! without it, 9.9 s and none with it). The only place that waits, and so the only one that looks at a monotonic clock.

use std::fs::{File, TryLockError};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::base::StoreError;
use super::join::join;
use super::journal;
use super::last::{Event, Last, Outcome};
use super::notes::NOTES;
use super::undo::UNDO;
use super::wait::Wait;
use crate::id::{ObjectId, TreeId};
use crate::repo::{FileError, KeptPack, Object, Repo, RepoError, Swap};

/// How often a missing object is waited for before it counts as damage; a `gc` moves objects for moments only.
const MOST_TRANSIENT: u32 = 10;

/// What becomes of a reference.
#[derive(Clone, Copy, Debug)]
pub(super) enum New {
    /// Nothing.
    Same,
    /// It points here.
    At(ObjectId),
    /// It goes.
    Gone,
}

/// Edits the tree behind `reference` with `edit`, until a swap succeeds. `edit` gets the present root (none: no such reference)
/// and returns the new root, or none when there is nothing to write; it is called again after a lost race.
pub(super) fn edit<T>(
    repo: &Repo,
    reference: &'static str,
    patience: Duration,
    mut edit: impl FnMut(Option<TreeId>, &mut Vec<Object>) -> Result<(Option<TreeId>, T), RepoError>,
) -> Result<T, StoreError> {
    change(repo, reference, patience, |old, written| {
        let (new, done) = edit(old.map(TreeId), written)?;
        Ok((new.map_or(New::Same, |TreeId(new)| New::At(new)), done))
    })
}

/// The same for a reference that points at anything.
pub(super) fn change<T>(
    repo: &Repo,
    reference: &'static str,
    patience: Duration,
    mut edit: impl FnMut(Option<ObjectId>, &mut Vec<Object>) -> Result<(New, T), RepoError>,
) -> Result<T, StoreError> {
    let begun = Instant::now();
    let lock = advisory_lock(repo, patience)?;
    let mut wait = Wait::new(begun, patience);
    let mut transient = 0;
    loop {
        let tried = attempt(repo, reference, &mut edit);
        repo.drop_written();
        let cause = match tried {
            Ok(Some(done)) => {
                if lock.is_some() {
                    repo.gather_packs();
                }
                return Ok(done);
            }
            Ok(None) => "another process moved it each time".to_owned(),
            Err(error @ RepoError::Locked { .. }) => error.to_string(),
            Err(
                error @ RepoError::Git {
                    transient: true, ..
                },
            ) if transient < MOST_TRANSIENT => {
                transient += 1;
                error.to_string()
            }
            // Something took or damaged it that nobody here knows of.
            Err(error @ (RepoError::Missing { .. } | RepoError::Git { .. }))
                if journal::mend(repo).unwrap_or(false) =>
            {
                error.to_string()
            }
            Err(error) => return Err(write_error(repo, error)),
        };
        if !wait.once_more() {
            return Err(StoreError::Busy {
                reference,
                seconds: begun.elapsed().as_secs_f64(),
                cause,
            });
        }
    }
}

/// One try. `None` when the reference moved meanwhile.
fn attempt<T>(
    repo: &Repo,
    reference: &str,
    edit: &mut impl FnMut(Option<ObjectId>, &mut Vec<Object>) -> Result<(New, T), RepoError>,
) -> Result<Option<T>, RepoError> {
    let old = repo.reference(reference)?;
    let mut last = Last::read(repo);
    if let Some(ours) = last.replaced(reference, old)
        && take_back(repo, reference, ours, old, &mut last)?
    {
        return Ok(None);
    }
    let mut written = Vec::new();
    let (new, done) = edit(old, &mut written)?;
    let swapped = match (old, new) {
        (_, New::Same) | (None, New::Gone) => return Ok(Some(done)),
        (Some(old), New::At(new)) if old == new => return Ok(Some(done)),
        (old, New::At(new)) => put(repo, reference, old, new, &written, &mut last)?,
        (Some(old), New::Gone) => {
            last.set(repo, reference, Some(old), None);
            repo.remove(reference, old)?
        }
    };
    Ok((swapped == Swap::Done).then_some(done))
}

/// Objects, then the reference that needs them; acknowledged means there.
fn put(
    repo: &Repo,
    reference: &str,
    old: Option<ObjectId>,
    new: ObjectId,
    written: &[Object],
    last: &mut Last,
) -> Result<Swap, RepoError> {
    journal::keep(repo, reference, new, written);
    last.set(repo, reference, old, Some(new));
    let size: usize = written.iter().map(|object| object.bytes.len()).sum();
    let durable = repo.durable_objects(size > journal::MOST);
    let keep = || match written.is_empty() {
        true => Ok(None),
        false => repo.keep(written, durable).map(Some),
    };
    let mut kept = keep()?;
    let swapped = repo.swap(reference, old, new)?;
    if swapped == Swap::Done {
        last.set(repo, reference, Some(new), Some(new));
        // Only somebody who removes files by hand can have taken it.
        if kept.as_ref().is_some_and(|kept| !kept.is_there()) {
            kept = keep()?;
        }
        kept.into_iter().for_each(KeptPack::release);
    }
    Ok(swapped)
}

/// Another program has put a value in the place of `ours`: both become one. Whether the reference was written.
fn take_back(
    repo: &Repo,
    reference: &str,
    ours: ObjectId,
    theirs: Option<ObjectId>,
    last: &mut Last,
) -> Result<bool, RepoError> {
    let mut written = Vec::new();
    let is_there = |id: ObjectId| repo.tree(TreeId(id)).is_ok();
    let (joined, outcome) = match theirs {
        // Notes are derived, and what has expired is kept for an undo alone.
        _ if reference == NOTES || reference == UNDO => (theirs, None),
        None => (None, Some(Outcome::Deleted)),
        Some(theirs) if !is_there(theirs) && is_there(ours) => {
            (Some(ours), Some(Outcome::Restored))
        }
        Some(theirs) => match join(repo, reference, TreeId(ours), TreeId(theirs), &mut written) {
            Ok(TreeId(joined)) => (Some(joined), Some(Outcome::Joined)),
            Err(RepoError::Missing { .. }) => {
                written.clear();
                (Some(theirs), Some(Outcome::Lost))
            }
            Err(error) => return Err(error),
        },
    };
    if let Some(outcome) = outcome {
        last.push(
            repo,
            Event {
                reference: reference.to_owned(),
                before: ours,
                outcome,
            },
        );
    }
    match joined {
        Some(joined) if theirs != Some(joined) => {
            put(repo, reference, theirs, joined, &written, last)?;
            Ok(true)
        }
        _ => {
            last.set(repo, reference, theirs, theirs);
            Ok(false)
        }
    }
}

/// A reference that holds no name any more gets the value that a writer here left last.
pub(super) fn restore(
    repo: &Repo,
    reference: &'static str,
    patience: Duration,
) -> Result<bool, StoreError> {
    let _lock = advisory_lock(repo, patience)?;
    let mut last = Last::read(repo);
    let before = last.value(reference);
    let before = before.filter(|before| repo.tree(TreeId(*before)).is_ok());
    let (Some(before), true) = (before, repo.reference(reference).is_err()) else {
        return Ok(false);
    };
    repo.overwrite(reference, Some(before))?;
    last.push(
        repo,
        Event {
            reference: reference.to_owned(),
            before,
            outcome: Outcome::Restored,
        },
    );
    last.set(repo, reference, Some(before), Some(before));
    Ok(true)
}

/// What was not told yet; it is now.
pub(super) fn take_events(repo: &Repo, patience: Duration) -> Result<Vec<Event>, StoreError> {
    let _lock = advisory_lock(repo, patience)?;
    Ok(Last::read(repo).take_events(repo))
}

/// Held while the file lives. None where the common dir cannot take a lock file, and where its holder keeps it for half of
/// `patience`, since that one may be stopped for good: the swap guards all the same, and the other half is for races over it.
///
/// A turnstile stands before the lock, held by whoever is next. Without it a writer that goes on at once takes the lock again before
/// those who wait are awake, and one of eight had no turn in five seconds.
fn advisory_lock(repo: &Repo, patience: Duration) -> Result<Option<File>, StoreError> {
    let cache = repo.cache();
    let open = |name: &str| -> Result<File, StoreError> {
        let file = cache.make().and_then(|()| cache.lock_file(name));
        file.map_err(|error| match error {
            error @ FileError::Refused { .. } => StoreError::Repo(error.into()),
            error => StoreError::ReadOnly(error.to_string()),
        })
    };
    let (turnstile, lock) = (open("turnstile")?, open("lock")?);
    match turnstile.try_lock().and_then(|()| lock.try_lock()) {
        Ok(()) => return Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {}
        // A file system without locks.
        Err(TryLockError::Error(_)) => return Ok(None),
    }
    let (give, take) = mpsc::sync_channel(1);
    let waiting = thread::Builder::new().spawn(move || {
        if turnstile.lock().is_ok() && lock.lock().is_ok() {
            drop(turnstile);
            // Nobody may be left to take it; then it is dropped here, which lets the lock go.
            drop(give.send(lock));
        }
    });
    Ok(waiting
        .ok()
        .and_then(|_| take.recv_timeout(patience / 2).ok()))
}

fn write_error(repo: &Repo, error: RepoError) -> StoreError {
    let probe = repo.common_dir().join("objects");
    let read_only = std::fs::metadata(&probe).is_ok_and(|meta| meta.permissions().readonly());
    match error {
        RepoError::Git { cause, .. }
            if read_only
                || cause.contains("Permission denied")
                || cause.contains("Read-only file system") =>
        {
            StoreError::ReadOnly(cause)
        }
        error => StoreError::Repo(error),
    }
}

/// The new root after putting `id` at the one-level name `name` of `root` (none: taking it out).
pub(super) fn replace_entry(
    repo: &Repo,
    root: Option<TreeId>,
    name: &str,
    entry: Option<(crate::repo::Mode, ObjectId)>,
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    let mut entries = match root {
        Some(root) => repo.tree(root)?,
        None => Vec::new(),
    };
    entries.retain(|entry| entry.path != name);
    if let Some((mode, id)) = entry {
        entries.push(crate::repo::Entry {
            path: name.to_owned(),
            mode,
            id,
        });
    }
    let bytes = repo.tree_bytes(&entries);
    Ok(TreeId(repo.write(
        crate::repo::Kind::Tree,
        bytes,
        written,
    )?))
}
