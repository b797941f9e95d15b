//! What leads to an object: references, what worktrees have checked out and staged, reference logs.
//!
//! In: objects. Out: the strongest root that leads to each of them; and the plain files beside the objects. Whatever Git's own clean-up keeps
//! alive is a root here. Links are not followed. Never writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::objs::Find;

use super::open::{Repo, RepoError, own, theirs};
use crate::id::ObjectId;

/// References of ours.
const OURS: [&str; 2] = ["refs/score-local/", "refs/notes/score-local"];

/// Something that keeps objects alive, the strongest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// A reference of the user's.
    Reference(String),
    /// The `HEAD` of a worktree that is on no branch, or what is staged in it; the file.
    Worktree(PathBuf),
    /// A reference of ours.
    Ours(String),
    /// A log of earlier values; the file.
    Log(PathBuf),
}

impl Root {
    /// Whether it is the user's own, and no log.
    pub fn is_theirs(&self) -> bool {
        matches!(self, Self::Reference(_) | Self::Worktree(_))
    }
}

impl Repo {
    /// The references below a prefix, with what they point at, in order; symbolic ones are left out.
    ///
    /// # Errors
    /// When the references cannot be read.
    pub fn references_below(&self, prefix: &str) -> Result<Vec<(String, ObjectId)>, RepoError> {
        let reading = |error: &gix::Error| RepoError::git("reading the references", error);
        let references = self.git.references().map_err(|error| reading(&error))?;
        let all = references.all().map_err(|error| reading(&error))?;
        let mut found = Vec::new();
        for reference in all.flatten() {
            let name = reference.name().as_bstr().to_str_lossy().into_owned();
            if let (true, Some(id)) = (name.starts_with(prefix), reference.target().try_id()) {
                found.push((name, own(id)));
            }
        }
        found.sort();
        Ok(found)
    }

    /// The first root that leads to each of these objects; one to which none does is left out. Missing objects lead nowhere.
    ///
    /// # Errors
    /// When the references cannot be read.
    pub fn roots_of(
        &self,
        wanted: &BTreeSet<ObjectId>,
    ) -> Result<BTreeMap<ObjectId, Root>, RepoError> {
        let mut found = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut bytes = Vec::new();
        for (root, tips) in self.roots()? {
            if found.len() == wanted.len() {
                break;
            }
            let mut open: Vec<ObjectId> = tips;
            while let Some(id) = open.pop() {
                if !seen.insert(id) {
                    continue;
                }
                if wanted.contains(&id) {
                    found.insert(id, root.clone());
                }
                self.links_of(id, &mut bytes, &mut |next, is_blob| {
                    match is_blob {
                        // It leads nowhere, and need not be read.
                        true if wanted.contains(&next) && seen.insert(next) => {
                            found.insert(next, root.clone());
                        }
                        true => {}
                        false => open.push(next),
                    }
                });
            }
        }
        Ok(found)
    }

    /// Every root with its tips, the strongest first.
    fn roots(&self) -> Result<Vec<(Root, Vec<ObjectId>)>, RepoError> {
        let (ours, theirs): (Vec<_>, Vec<_>) = self
            .references_below("refs/")?
            .into_iter()
            .partition(|(name, _)| OURS.iter().any(|ours| name.starts_with(ours)));
        let mut roots: Vec<(Root, Vec<ObjectId>)> = Vec::new();
        roots.extend(
            theirs
                .into_iter()
                .map(|(name, id)| (Root::Reference(name), vec![id])),
        );
        let mut folders = vec![self.common_dir().to_owned()];
        folders.extend(files_of(&self.common_dir().join("worktrees"), false));
        for folder in &folders {
            let head = folder.join("HEAD");
            let text = std::fs::read_to_string(&head).unwrap_or_default();
            if let Ok(id) = text.trim().parse() {
                roots.push((Root::Worktree(head), vec![id]));
            }
            let index = folder.join("index");
            let staged = self.staged_in(&index);
            if !staged.is_empty() {
                roots.push((Root::Worktree(index), staged));
            }
        }
        roots.extend(
            ours.into_iter()
                .map(|(name, id)| (Root::Ours(name), vec![id])),
        );
        for folder in folders {
            for log in files_of(&folder.join("logs"), true) {
                let text = std::fs::read(&log).unwrap_or_default();
                let lines = text.lines();
                let ids = lines.flat_map(|line| line.splitn(3, |byte| *byte == b' ').take(2));
                let ids = ids.filter_map(|id| id.to_str().ok()?.parse().ok());
                roots.push((Root::Log(log), ids.collect()));
            }
        }
        Ok(roots)
    }

    fn staged_in(&self, index: &Path) -> Vec<ObjectId> {
        let hash = self.git.object_hash();
        let options = gix::index::decode::Options::default();
        match gix::index::File::at(index, hash, true, options) {
            Ok(index) => index.entries().iter().map(|entry| own(&entry.id)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Calls back with everything that an object names, and whether that is a blob for sure.
    fn links_of(&self, id: ObjectId, bytes: &mut Vec<u8>, tell: &mut dyn FnMut(ObjectId, bool)) {
        bytes.clear();
        let found = self.raw.objects.try_find(&theirs(id), bytes);
        let Some(kind) = found.ok().flatten().map(|data| data.kind) else {
            return;
        };
        match kind {
            gix::objs::Kind::Blob => {}
            gix::objs::Kind::Tree => {
                let tree = gix::objs::TreeRef::from_bytes(bytes, self.git.object_hash());
                for entry in tree.iter().flat_map(|tree| &tree.entries) {
                    match entry.mode.kind() {
                        gix::objs::tree::EntryKind::Tree => tell(own(entry.oid), false),
                        gix::objs::tree::EntryKind::Commit => {}
                        _ => tell(own(entry.oid), true),
                    }
                }
            }
            gix::objs::Kind::Commit | gix::objs::Kind::Tag => {
                let header = bytes.lines().take_while(|line| !line.is_empty());
                for line in header {
                    let named = [&b"tree "[..], b"parent ", b"object "];
                    let mut named = named.iter().filter_map(|name| line.strip_prefix(*name));
                    let id = named.next().and_then(|id| id.to_str().ok()?.parse().ok());
                    if let Some(id) = id {
                        tell(id, false);
                    }
                }
            }
        }
    }

    /// Every regular file of the common dir that holds no objects: settings, references and their logs, worktrees, caches; in order.
    pub fn plain_files(&self) -> Vec<PathBuf> {
        let mut files = files_of(self.common_dir(), false);
        let objects = self.common_dir().join("objects");
        files.retain(|path| *path != objects);
        let mut all = Vec::new();
        for path in files {
            match std::fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => all.extend(files_of(&path, true)),
                Ok(meta) if meta.is_file() => all.push(path),
                _ => {}
            }
        }
        all
    }

    /// The folders of all work trees of this repository, in order.
    pub fn work_trees(&self) -> Vec<PathBuf> {
        let mut all: BTreeSet<PathBuf> = self.work_tree().map(Path::to_owned).into_iter().collect();
        if self
            .common_dir()
            .file_name()
            .is_some_and(|name| name == ".git")
        {
            all.extend(self.common_dir().parent().map(Path::to_owned));
        }
        for folder in files_of(&self.common_dir().join("worktrees"), false) {
            let text = std::fs::read_to_string(folder.join("gitdir")).unwrap_or_default();
            all.extend(Path::new(text.trim()).parent().map(Path::to_owned));
        }
        let known = all.into_iter().filter_map(|path| path.canonicalize().ok());
        known.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// What a folder holds, in order: with `is_deep` the files in it and below, else what lies in it. Links are not followed.
fn files_of(folder: &Path, is_deep: bool) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_deep => open.push(entry.path()),
                Ok(kind) if kind.is_file() || !is_deep => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
