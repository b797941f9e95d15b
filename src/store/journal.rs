//! The last objects that were written, to write them again should they be gone.
//!
//! A bare `git prune --expire=now` beside a writer knows which references there were when it began, leaves no file that tells of it, and
//! deletes whatever was written since, however often a writer looks. So what a write has added is also kept here for a while, in one
//! file of the common dir that only grows and is set aside when it is long. In: objects. Out: those that a reference needs and that are
//! not there, written once more; nothing else ever comes back. Deleting the files is always safe.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use super::base::{ATTENTION, RECORDS};
use super::notes::NOTES;
use crate::id::{CommitId, ObjectId, TreeId};
use crate::repo::{Kind, Mode, Object, Repo, RepoError};

/// A file this long is set aside, and what was set aside before goes: thousands of single records.
const LONGEST: u64 = 1024 * 1024;
/// A write of more bytes is not kept: it would push out everything else.
const MOST: usize = 512 * 1024;

fn paths(repo: &Repo) -> [PathBuf; 2] {
    let directory = repo.cache_dir();
    [directory.join("journal.old"), directory.join("journal")]
}

/// Keeps objects for a while. What cannot be kept is no error: then it is as safe as before.
pub(super) fn keep(repo: &Repo, objects: &[Object]) {
    let mut bytes = Vec::new();
    for object in objects {
        let Ok(len) = u32::try_from(object.bytes.len()) else {
            return;
        };
        bytes.push(match object.kind {
            Kind::Blob => b'b',
            Kind::Tree => b't',
            Kind::Commit => b'c',
        });
        let name = object.id.as_bytes();
        bytes.push(name.len() as u8);
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(&object.bytes);
        if bytes.len() > MOST {
            return;
        }
    }
    let [old, path] = paths(repo);
    let write = || -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        // It holds what records say, and nobody else need read it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let len = file.metadata()?.len();
        if let Err(error) = file.write_all(&bytes) {
            // Half an entry would hide all that come after it.
            file.set_len(len)?;
            return Err(error);
        }
        if file.metadata()?.len() > LONGEST {
            fs::rename(&path, &old)?;
        }
        Ok(())
    };
    drop(write());
}

/// Writes again what the references need, what is kept here, and what is not there. Whether that was anything.
pub(super) fn mend(repo: &Repo) -> Result<bool, RepoError> {
    let mut kept = BTreeMap::new();
    for path in paths(repo) {
        read(&fs::read(path).unwrap_or_default(), &mut kept);
    }
    let mut is_mended = false;
    if kept.is_empty() {
        return Ok(is_mended);
    }
    // What another process has written or packed since this one began is there.
    let repo = repo.reopen()?;
    let mut seen = BTreeSet::new();
    for reference in [RECORDS, ATTENTION, NOTES] {
        let mut open: Vec<_> = repo.reference(reference)?.into_iter().collect();
        while let Some(id) = open.pop() {
            // Below what is older than the journal nothing is missing that it could have.
            let Some(object) = kept.get(&id).filter(|_| seen.insert(id)) else {
                continue;
            };
            if !repo.has(id) {
                // Its name is made of its content: what was damaged here comes to another name and mends nothing.
                is_mended |= repo.write(object.kind, object.bytes.clone(), &mut Vec::new())? == id;
            }
            match object.kind {
                Kind::Blob => {}
                Kind::Tree => {
                    let entries = repo.tree(TreeId(id)).unwrap_or_default().into_iter();
                    let ours = entries.filter(|entry| entry.mode != Mode::Submodule);
                    open.extend(ours.map(|entry| entry.id));
                }
                Kind::Commit => open.extend(repo.tree_of(CommitId(id)).map(|tree| tree.0).ok()),
            }
        }
    }
    Ok(is_mended)
}

/// The objects of a file; what a dying process has left unfinished at its end is none.
fn read(mut rest: &[u8], kept: &mut BTreeMap<ObjectId, Object>) {
    let mut next = || -> Option<Object> {
        let (head, after) = rest.split_at_checked(2)?;
        let (name, after) = after.split_at_checked(usize::from(head[1]))?;
        let (len, after) = after.split_first_chunk()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (bytes, after) = after.split_at_checked(len)?;
        rest = after;
        Some(Object {
            id: ObjectId::from_bytes(name).ok()?,
            kind: match head[0] {
                b'b' => Kind::Blob,
                b't' => Kind::Tree,
                b'c' => Kind::Commit,
                _ => return None,
            },
            bytes: bytes.to_vec(),
        })
    };
    while let Some(object) = next() {
        kept.insert(object.id, object);
    }
}
