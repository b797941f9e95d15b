//! Two states of a memory made one.
//!
//! In: what writers here left, and what another program put in its place. Out: a tree that holds both. Names in these trees are made of
//! content, so that the same name is the same thing, and the union has no conflicts. Records that somebody here forgot stay forgotten.

use super::base::{ATTENTION, RECORDS};
use super::erase::{Eraser, Erasure};
use super::layout::Place;
use super::{corpus, lookup};
use crate::id::{BlobId, TreeId};
use crate::record::Gone;
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// Levels of folders that are joined; below them an entry is one thing. Records: days. Look-ups: days, the first two digits.
fn levels(reference: &str) -> usize {
    match reference {
        RECORDS => 1,
        ATTENTION => 2,
        _ => 0,
    }
}

/// The union of `ours` and `theirs`.
pub(super) fn join(
    repo: &Repo,
    reference: &str,
    ours: TreeId,
    theirs: TreeId,
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    let joined = union(repo, ours, theirs, levels(reference), written)?;
    if reference != RECORDS {
        return Ok(joined);
    }
    let corpus = corpus::read(repo, joined)?;
    let buried = corpus.tombstones.keys().copied();
    let erasure = Erasure {
        ids: buried.filter(|id| corpus.is_forgotten(*id)).collect(),
        why: Gone::Forgotten,
    };
    Eraser::new(repo, &erasure).corpus(joined, written)
}

fn union(
    repo: &Repo,
    ours: TreeId,
    theirs: TreeId,
    levels: usize,
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    if ours == theirs {
        return Ok(ours);
    }
    let mut entries = repo.tree(ours)?;
    for entry in repo.tree(theirs)? {
        let same = entries.iter_mut().find(|own| own.path == entry.path);
        match same {
            None => entries.push(entry),
            Some(own) if levels > 0 && are_folders(own, &entry) => {
                let (ours, theirs) = (TreeId(own.id), TreeId(entry.id));
                own.id = union(repo, ours, theirs, levels - 1, written)?.0;
            }
            Some(own) if own.id == entry.id => {}
            Some(own) => {
                if is_theirs_kept(repo, own, &entry)? {
                    *own = entry;
                }
            }
        }
    }
    let bytes = repo.tree_bytes(&entries);
    Ok(TreeId(repo.write(Kind::Tree, bytes, written)?))
}

/// Of two things under one name only one can stay. A record is the one whose content has the name. A look-up is the present one, so that
/// its replay tells what was done to it, unless something was forgotten in ours.
fn is_theirs_kept(repo: &Repo, ours: &Entry, theirs: &Entry) -> Result<bool, RepoError> {
    if are_folders(ours, theirs) {
        return Ok(!lookup::is_cut(repo, TreeId(ours.id))?);
    }
    let is_right = |entry: &Entry| -> Result<bool, RepoError> {
        let blob = BlobId(entry.id);
        let folder = String::new();
        let name = entry.path.clone();
        let place = Place { folder, name, blob };
        Ok(corpus::text_of(repo, &place)?.is_ok_and(|text| {
            let id = place.id_of(&text).to_string();
            entry.path.split('.').next() == Some(&id)
        }))
    };
    Ok(!is_right(ours)? && is_right(theirs)?)
}

fn are_folders(a: &Entry, b: &Entry) -> bool {
    a.mode == Mode::Directory && b.mode == Mode::Directory
}
