//! The notes that Git shows beside commits: `refs/notes/score-local`.
//!
//! In: what the text of a commit's note is to become. Out: one commit without parents on a tree of notes, many of them fanned out by
//! the first two digits; Git reads any fan-out, and any that Git has made is read here. What a note says, and which part of it is ours, is not known
//! here. Needs no identity, and signs nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::base::{Store, StoreError};
use super::transaction::{self, New};
use crate::id::{BlobId, CommitId, ObjectId, RecordId, TreeId};
use crate::record::Kind as Said;
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// The reference that holds the notes.
pub const NOTES: &str = "refs/notes/score-local";
/// Digits of a commit's name that make a folder.
const FAN: usize = 2;
/// Up to so many notes lie side by side, as Git itself lets few of them: a commit with a decision writes one tree less.
const MOST_FLAT: usize = 64;

/// A record that the note of a commit tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Where it stands.
    pub commit: CommitId,
    /// The record.
    pub id: RecordId,
    /// What it is.
    pub kind: Said,
    /// What it says, in full.
    pub text: String,
}

impl Store<'_> {
    /// The commits that have a note, ours or anybody's.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn noted(&self) -> Result<BTreeSet<CommitId>, StoreError> {
        let Some(commit) = self.repo.reference(NOTES)? else {
            return Ok(BTreeSet::new());
        };
        let entries = self.repo.list(self.repo.tree_of(CommitId(commit))?)?;
        let files = entries.iter().filter(|entry| entry.mode == Mode::File);
        Ok(files
            .filter_map(|entry| entry.path.replace('/', "").parse().ok())
            .collect())
    }

    /// The text of every note, ours or anybody's.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn notes(&self) -> Result<BTreeMap<CommitId, Vec<u8>>, StoreError> {
        let mut notes: BTreeMap<CommitId, Vec<u8>> = BTreeMap::new();
        let Some(commit) = self.repo.reference(NOTES)? else {
            return Ok(notes);
        };
        for entry in self.repo.list(self.repo.tree_of(CommitId(commit))?)? {
            if let (Mode::File, Ok(commit)) = (entry.mode, entry.path.replace('/', "").parse()) {
                let text = self.repo.blob(BlobId(entry.id))?.unwrap_or_default();
                notes.entry(commit).or_default().extend(text);
            }
        }
        Ok(notes)
    }

    /// Gives each of these commits the note that `text` makes of the one it has (empty without one); an empty text is no note. Without
    /// any note left the reference goes.
    ///
    /// # Errors
    /// When the notes cannot be read or written. Then nothing was written.
    pub fn edit_notes(
        &self,
        commits: &BTreeSet<CommitId>,
        text: &dyn Fn(CommitId, &[u8]) -> Vec<u8>,
    ) -> Result<(), StoreError> {
        if commits.is_empty() {
            return Ok(());
        }
        transaction::change(self.repo, NOTES, self.patience, |old, written| {
            let root = match old {
                Some(commit) => self.repo.tree(self.repo.tree_of(CommitId(commit))?)?,
                None => Vec::new(),
            };
            let root = edit(self.repo, root, commits, text, written)?;
            if root.is_empty() {
                return Ok((New::Gone, ()));
            }
            let tree = TreeId(
                self.repo
                    .write(Kind::Tree, self.repo.tree_bytes(&root), written)?,
            );
            let commit = self.repo.write(Kind::Commit, commit_of(tree), written)?;
            Ok((New::At(commit), ()))
        })
    }
}

/// The entries of the root after the edit.
fn edit(
    repo: &Repo,
    mut root: Vec<Entry>,
    commits: &BTreeSet<CommitId>,
    text: &dyn Fn(CommitId, &[u8]) -> Vec<u8>,
    written: &mut Vec<Object>,
) -> Result<Vec<Entry>, RepoError> {
    let is_flat = root.len() + commits.len() <= MOST_FLAT
        && root.iter().all(|entry| entry.mode == Mode::File);
    if is_flat {
        for commit in commits {
            let name = commit.to_string();
            let old = take_file(&mut root, &name);
            if let Some(id) = renew(repo, *commit, &old, text, written)? {
                root.push(file(name, id));
            }
        }
        return Ok(root);
    }
    let mut folders: BTreeMap<String, Vec<(CommitId, String)>> = BTreeMap::new();
    for commit in commits {
        let name = commit.to_string();
        let (folder, rest) = name.split_at(FAN);
        folders
            .entry(folder.to_owned())
            .or_default()
            .push((*commit, rest.to_owned()));
    }
    for (folder, notes) in folders {
        let is_folder = |entry: &Entry| entry.mode == Mode::Directory && entry.path == folder;
        let mut entries = match root.iter().position(is_folder) {
            Some(at) => repo.tree(TreeId(root.remove(at).id))?,
            None => Vec::new(),
        };
        for (commit, rest) in notes {
            let mut blobs = take_file(&mut root, &format!("{folder}{rest}"));
            blobs.extend(take(repo, &mut entries, &rest, written)?);
            if let Some(id) = renew(repo, commit, &blobs, text, written)? {
                entries.push(file(rest, id));
            }
        }
        if !entries.is_empty() {
            root.push(directory(
                folder,
                repo.write(Kind::Tree, repo.tree_bytes(&entries), written)?,
            ));
        }
    }
    Ok(root)
}

/// Writes the note that a commit gets in the place of these; none where it gets none.
fn renew(
    repo: &Repo,
    commit: CommitId,
    blobs: &[BlobId],
    text: &dyn Fn(CommitId, &[u8]) -> Vec<u8>,
    written: &mut Vec<Object>,
) -> Result<Option<ObjectId>, RepoError> {
    let mut old = Vec::new();
    for blob in blobs {
        old.extend(repo.blob(*blob)?.unwrap_or_default());
    }
    let new = text(commit, &old);
    match new.is_empty() {
        true => Ok(None),
        false => repo.write(Kind::Blob, new, written).map(Some),
    }
}

/// Takes the note named `rest` out of the entries of a folder, or out of the folders below it.
fn take(
    repo: &Repo,
    entries: &mut Vec<Entry>,
    rest: &str,
    written: &mut Vec<Object>,
) -> Result<Vec<BlobId>, RepoError> {
    let mut blobs = take_file(entries, rest);
    let Some((folder, below)) = rest.split_at_checked(FAN) else {
        return Ok(blobs);
    };
    let is_folder = |entry: &Entry| entry.mode == Mode::Directory && entry.path == folder;
    if let Some(at) = entries.iter().position(is_folder) {
        let mut deeper = repo.tree(TreeId(entries[at].id))?;
        let found = take(repo, &mut deeper, below, written)?;
        if !found.is_empty() {
            entries.remove(at);
            if !deeper.is_empty() {
                let id = repo.write(Kind::Tree, repo.tree_bytes(&deeper), written)?;
                entries.push(directory(folder.to_owned(), id));
            }
        }
        blobs.extend(found);
    }
    Ok(blobs)
}

fn take_file(entries: &mut Vec<Entry>, name: &str) -> Vec<BlobId> {
    let is_note = |entry: &Entry| entry.mode == Mode::File && entry.path == name;
    let at = entries.iter().position(is_note);
    at.map(|at| BlobId(entries.remove(at).id))
        .into_iter()
        .collect()
}

fn file(path: String, id: ObjectId) -> Entry {
    Entry {
        path,
        mode: Mode::File,
        id,
    }
}

fn directory(path: String, id: ObjectId) -> Entry {
    Entry {
        path,
        mode: Mode::Directory,
        id,
    }
}

/// The same tree is the same commit: derived, so without a date of its own. The oldest of dates also puts it last in `git log --all`.
fn commit_of(tree: TreeId) -> Vec<u8> {
    let who = "git score-context <score-context@localhost> 0 +0000";
    format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nNotes of git score-context\n")
        .into_bytes()
}
