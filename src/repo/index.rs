//! The index as a tree: what the next commit would hold. Read, never written.

use std::collections::BTreeMap;

use gix::bstr::{BString, ByteSlice};

use super::absent::is_there;
use super::open::{Repo, RepoError, own};
use crate::id::TreeId;

impl Repo {
    /// The same repository with the tree of the index, as `git write-tree` would make it. The tree's objects are known to the handle
    /// alone and are never written; those of the files are in the object store already.
    ///
    /// # Errors
    /// When the index cannot be read, or holds paths that are not merged.
    pub fn staged(&self) -> Result<(Self, TreeId), RepoError> {
        let reading = |cause: String| RepoError::Git {
            doing: "reading the index".into(),
            cause,
            transient: false,
        };
        let mut repo = self.share().local();
        repo.raw = repo.raw.with_object_memory();
        let index = repo
            .git
            .index_or_empty()
            .map_err(|error| RepoError::read("reading the index", &error))?;
        // The library takes an index whose state cannot be asked for as one that is not there.
        let file = repo.git.index_path();
        if index.entries().is_empty() && is_there(&file)? {
            let read = repo.git.open_index();
            let read = read.map_err(|error| RepoError::read("reading the index", &error))?;
            if !read.entries().is_empty() {
                return Err(reading(format!("{} cannot be read", file.display())));
            }
        }
        let mut directories: BTreeMap<BString, Vec<gix::objs::tree::Entry>> = BTreeMap::new();
        directories.insert(BString::default(), Vec::new());
        for entry in index.entries() {
            let path = entry.path(&index);
            if entry.stage_raw() != 0 {
                return Err(RepoError::Refused(format!(
                    "'{path}' is not merged, so the index is no tree\nhint: resolve the conflict and 'git add' it"
                )));
            }
            // Announced by `git add -N`, without content yet.
            if entry
                .flags
                .contains(gix::index::entry::Flags::INTENT_TO_ADD)
            {
                continue;
            }
            let mode = entry
                .mode
                .to_tree_entry_mode()
                .ok_or_else(|| reading(format!("'{path}' has a mode of no meaning")))?;
            // A directory of a sparse index ends in a slash.
            let path = path.strip_suffix(b"/").unwrap_or(path);
            let (directory, name) = match path.rfind_byte(b'/') {
                Some(at) => (&path[..at], &path[at + 1..]),
                None => (&path[..0], path),
            };
            for at in directory.find_iter(b"/") {
                directories.entry(directory[..at].into()).or_default();
            }
            directories
                .entry(directory.into())
                .or_default()
                .push(gix::objs::tree::Entry {
                    mode,
                    filename: name.into(),
                    oid: entry.id,
                });
        }
        // What is deeper sorts after what is around it, so from behind every directory is complete when its turn comes.
        while let Some((path, mut entries)) = directories.pop_last() {
            entries.sort();
            let written = repo
                .raw
                .write_object(gix::objs::Tree { entries })
                .map_err(|error| RepoError::git("making a tree of the index", &error))?
                .detach();
            if path.is_empty() {
                return Ok((repo, TreeId(own(&written))));
            }
            let (directory, name) = match path.rfind_byte(b'/') {
                Some(at) => (&path[..at], &path[at + 1..]),
                None => (&path[..0], &path[..]),
            };
            directories
                .entry(directory.into())
                .or_default()
                .push(gix::objs::tree::Entry {
                    mode: gix::objs::tree::EntryKind::Tree.into(),
                    filename: name.into(),
                    oid: written,
                });
        }
        Err(reading("it has no root".into()))
    }
}
