//! What still holds a phrase after it was taken out, and why.
//!
//! In: the objects that hold it. Out: for each what keeps it on the disk: something of ours, the user's own history, a reference log, a pack that
//! Git never rewrites, the store of another repository, a plain file, or nothing but that Git has not cleaned up yet. Never changes
//! anything, and cannot know of clones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::phrase::Phrase;
use super::search::{Hits, Scan};
use crate::id::ObjectId;
use crate::repo::{Repo, RepoError, Root, Whereabouts};

/// A file of more bytes is not read: a hundred million objects staged.
const LARGEST: u64 = 1 << 30;

/// What still holds a phrase.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Of ours.
    pub ours: Hits,
    /// References of the user's, and what worktrees have checked out or staged.
    pub history: BTreeSet<String>,
    /// Reference logs that lead to it.
    pub logs: BTreeSet<PathBuf>,
    /// The `.keep` files of packs that Git never rewrites.
    pub kept: BTreeSet<PathBuf>,
    /// Object stores of other repositories.
    pub borrowed: BTreeSet<PathBuf>,
    /// Objects that the next clean-up takes.
    pub waiting: usize,
    /// Plain files that hold it themselves.
    pub files: BTreeSet<PathBuf>,
    /// Objects that could not be read.
    pub unread: usize,
}

/// Says what still holds it. `more`: files beside those of the Git directory.
///
/// # Errors
/// When the references cannot be read.
pub fn left(
    repo: &Repo,
    phrases: &[Phrase],
    scan: &Scan,
    more: &[PathBuf],
) -> Result<Left, RepoError> {
    let mut left = Left {
        ours: Hits::among(repo, phrases, scan)?,
        unread: scan.unread,
        files: files_with(repo.plain_files().iter().chain(more), phrases),
        ..Left::default()
    };
    if scan.found.is_empty() {
        return Ok(left);
    }
    let roots = repo.roots_of(&scan.found)?;
    let mut loose: BTreeSet<ObjectId> = scan.found.clone();
    for (id, root) in roots {
        match root {
            Root::Reference(name) => drop(left.history.insert(name)),
            Root::Worktree(file) => drop(left.history.insert(file.display().to_string())),
            // Told by what it is there.
            Root::Ours(_) => {}
            Root::Log(file) => drop(left.logs.insert(file)),
        }
        loose.remove(&id);
    }
    for places in repo.whereabouts(&loose).into_values() {
        for place in places {
            match place {
                Whereabouts::Here => left.waiting += 1,
                Whereabouts::Kept(keep) => drop(left.kept.insert(keep)),
                Whereabouts::Borrowed(store) => drop(left.borrowed.insert(store)),
            }
        }
    }
    Ok(left)
}

/// The files that hold one of the phrases.
pub fn files_with<'p>(
    files: impl Iterator<Item = &'p PathBuf>,
    phrases: &[Phrase],
) -> BTreeSet<PathBuf> {
    let holds = |file: &&PathBuf| {
        let bytes = read(file).unwrap_or_default();
        phrases.iter().any(|phrase| phrase.is_in(&bytes))
    };
    match phrases.is_empty() {
        true => BTreeSet::new(),
        false => files.filter(holds).cloned().collect(),
    }
}

/// A regular file that is not too large; a link is not followed, and a pipe would never end.
fn read(file: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(file).ok()?;
    match meta.is_file() && meta.len() <= LARGEST {
        true => std::fs::read(file).ok(),
        false => None,
    }
}
