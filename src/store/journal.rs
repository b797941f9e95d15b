//! The last objects that were written, to write them again should they be gone.
//!
//! Git does not sync loose objects to the disk, nor what stands in for them here, unless it is told to: after a loss of power a reference may
//! need what is empty or half there. So what a write has added is also kept here for a while, in one file of the common dir that only
//! grows and is set aside when it is long. In: objects. Out: those that a reference needs and that are not there or are damaged,
//! written once more; nothing else ever comes back. Deleting the files takes no record away.

use std::collections::{BTreeMap, BTreeSet};

use super::undo::PRIVATE;
use crate::id::{ObjectId, TreeId};
use crate::repo::{Access, Kind, Mode, Object, Repo, RepoError};

/// The file in our own folder, and what was set aside.
const NAME: &str = "journal";
const OLD: &str = "journal.old";
/// A file this long is set aside, and what was set aside before goes: thousands of single records.
const LONGEST: u64 = 1024 * 1024;
/// A write of more bytes is not kept: it would push out everything else. It is synced to the disk instead, unless Git is told not to.
pub(super) const MOST: usize = 512 * 1024;
/// What a value of a reference is marked with; objects are marked with their kind.
const VALUE: u8 = b'r';

/// What is kept.
#[derive(Default)]
pub(super) struct Kept {
    objects: BTreeMap<ObjectId, Object>,
    /// The values that references were about to get, oldest first.
    values: Vec<(String, ObjectId)>,
}

/// Keeps objects for a while, and the value that a reference is about to get. What cannot be kept is no error: then it is as safe as
/// before.
pub(super) fn keep(repo: &Repo, reference: &str, value: ObjectId, objects: &[Object]) {
    let mut bytes = Vec::new();
    for object in objects {
        let mark = match object.kind {
            Kind::Blob => b'b',
            Kind::Tree => b't',
            Kind::Commit => b'c',
        };
        push(&mut bytes, mark, object.id, &object.bytes);
        if bytes.len() > MOST {
            return;
        }
    }
    push(&mut bytes, VALUE, value, reference.as_bytes());
    // It holds what records say, and nobody else need read it.
    let cache = repo.cache();
    let added = cache.append(NAME, &bytes, Some(Access::Private));
    if added.is_ok_and(|len| len > LONGEST) {
        drop(cache.rename(NAME, OLD));
    }
}

fn push(bytes: &mut Vec<u8>, mark: u8, id: ObjectId, content: &[u8]) {
    let name = id.as_bytes();
    bytes.push(mark);
    bytes.push(name.len() as u8);
    bytes.extend_from_slice(name);
    // What is too long for this is too long to be kept.
    bytes.extend_from_slice(
        &u32::try_from(content.len())
            .unwrap_or(u32::MAX)
            .to_le_bytes(),
    );
    bytes.extend_from_slice(content);
}

/// Writes again what the references need, what is kept here, and what is not there or is damaged. Whether that was anything.
pub(super) fn mend(repo: &Repo) -> Result<bool, RepoError> {
    let kept = read_all(repo)?;
    if kept.objects.is_empty() {
        return Ok(false);
    }
    // A pack that cannot be read hides what stands elsewhere too.
    let is_mended = !repo.mend_packs().is_empty();
    // What another process has written or packed since this one began is there.
    let fresh = repo.reopen()?;
    let roots = PRIVATE.map(|reference| fresh.reference(reference));
    // One that holds no name is for whoever repairs it.
    let roots = roots
        .into_iter()
        .filter_map(|value| value.ok().flatten())
        .collect();
    let lost = kept.lost(&fresh, roots);
    if lost.is_empty() {
        return Ok(is_mended);
    }
    // First the files that cannot be read: what is there is not looked for elsewhere.
    lost.iter()
        .for_each(|object| fresh.drop_damaged_file(object.id));
    fresh.keep(&lost, fresh.durable_objects(false))?.release();
    Ok(true)
}

/// The newest value of a reference that the journal knows and that is whole, or can be made whole out of it.
pub(super) fn newest_value(repo: &Repo, reference: &str) -> Result<Option<ObjectId>, RepoError> {
    let kept = read_all(repo)?;
    let values = kept.values.iter().rev();
    for (_, value) in values.filter(|(name, _)| name == reference) {
        let lost = kept.lost(repo, vec![*value]);
        if !lost.is_empty() {
            repo.keep(&lost, repo.durable_objects(false))?.release();
        }
        if repo.reopen()?.has_tree_complete(TreeId(*value)).is_ok() {
            return Ok(Some(*value));
        }
    }
    Ok(None)
}

fn read_all(repo: &Repo) -> Result<Kept, RepoError> {
    let mut kept = Kept::default();
    for name in [OLD, NAME] {
        let bytes = repo.state(name, LONGEST + 2 * MOST as u64)?;
        kept.read(&bytes.unwrap_or_default());
    }
    Ok(kept)
}

impl Kept {
    /// What these objects need, what is kept here, and what is not there.
    fn lost(&self, repo: &Repo, mut open: Vec<ObjectId>) -> Vec<Object> {
        let (mut seen, mut lost) = (BTreeSet::new(), Vec::new());
        while let Some(id) = open.pop() {
            // Below what is older than the journal nothing is missing that it could have.
            let Some(object) = self.objects.get(&id).filter(|_| seen.insert(id)) else {
                continue;
            };
            if !repo.is_whole(object) {
                lost.push(object.clone());
            }
            match object.kind {
                Kind::Blob => {}
                Kind::Tree => {
                    let entries = repo
                        .entries_of(&object.bytes)
                        .unwrap_or_default()
                        .into_iter();
                    let ours = entries.filter(|entry| entry.mode != Mode::Submodule);
                    open.extend(ours.map(|entry| entry.id));
                }
                Kind::Commit => open.extend(tree_of(&object.bytes)),
            }
        }
        // Its name is made of its content: what was damaged here mends nothing.
        lost.retain(|object| repo.is_named_right(object));
        lost
    }

    /// The objects, in the order of their names.
    pub(super) fn into_objects(self) -> Vec<Object> {
        self.objects.into_values().collect()
    }

    /// Takes in a file; what a dying process has left unfinished at its end is nothing.
    pub(super) fn read(&mut self, mut rest: &[u8]) {
        let mut next = || -> Option<(u8, ObjectId, Vec<u8>)> {
            let (head, after) = rest.split_at_checked(2)?;
            let (name, after) = after.split_at_checked(usize::from(head[1]))?;
            let (len, after) = after.split_first_chunk()?;
            let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
            let (bytes, after) = after.split_at_checked(len)?;
            rest = after;
            Some((head[0], ObjectId::from_bytes(name).ok()?, bytes.to_vec()))
        };
        while let Some((mark, id, bytes)) = next() {
            let kind = match mark {
                b'b' => Kind::Blob,
                b't' => Kind::Tree,
                b'c' => Kind::Commit,
                VALUE => {
                    let reference = String::from_utf8_lossy(&bytes).into_owned();
                    self.values.push((reference, id));
                    continue;
                }
                _ => return,
            };
            self.objects.insert(id, Object { id, kind, bytes });
        }
    }
}

/// The tree of a commit of ours, which begins with it.
fn tree_of(commit: &[u8]) -> Option<ObjectId> {
    let line = commit.split(|byte| *byte == b'\n').next()?;
    let id = line.strip_prefix(b"tree ")?;
    std::str::from_utf8(id).ok()?.parse().ok()
}
