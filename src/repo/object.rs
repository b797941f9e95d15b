//! Objects in and out: blobs and trees, as owned bytes and lists.
//!
//! A missing object is never fetched; where a partial clone may lack it, the answer is `None`.

use gix::bstr::ByteSlice;
use gix::objs::Find as _;

use super::open::{Repo, RepoError, own, theirs};
use crate::id::{BlobId, CommitId, ObjectId, TreeId};

/// How many paths of one tree are listed: the largest public repositories have some hundred thousand.
/// (Few in tests, which would else take seconds to get there.)
const MAX_PATHS: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };

/// How many bytes these paths have together.
const MAX_PATH_BYTES: usize = 256 << 20;

/// How deep they lie: Git itself goes no deeper (`core.maxTreeDepth`).
const MAX_DEPTH: usize = 2048;

/// What a tree entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A tree.
    Directory,
    /// A blob, executable or not.
    File,
    /// A blob that holds the path it points to.
    Symlink,
    /// A commit of another repository, which is not in this object store.
    Submodule,
}

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, or the path from the root; quoted as Git quotes it where it is not UTF-8.
    pub path: String,
    /// What it is.
    pub mode: Mode,
    /// Its object.
    pub id: ObjectId,
}

/// The kinds of object that we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes.
    Blob,
    /// A list of names.
    Tree,
    /// A tree with a message.
    Commit,
}

/// An object as it was written, kept to write it again should a concurrent `gc --prune=now` have taken it.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub id: ObjectId,
    /// What it is.
    pub kind: Kind,
    /// Its content, without Git's header.
    pub bytes: Vec<u8>,
}

impl Repo {
    /// The content of a blob; none when it is not here.
    ///
    /// # Errors
    /// When it is damaged or no blob, or the machine would not read it.
    pub fn blob(&self, id: BlobId) -> Result<Option<Vec<u8>>, RepoError> {
        let mut bytes = Vec::new();
        let doing = || format!("reading blob {id}");
        match self.find(doing, id.0, &mut bytes).map_err(moved)? {
            Some(gix::objs::Kind::Blob) => Ok(Some(bytes)),
            Some(kind) => Err(RepoError::Git {
                doing: doing(),
                cause: format!("it is a {kind}"),
                transient: false,
            }),
            None => Ok(None),
        }
    }

    /// The size of a blob in bytes, without reading all of it; none when it is not here.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn blob_size(&self, id: BlobId) -> Result<Option<u64>, RepoError> {
        Ok(self.size_and_kind(id.0)?.map(|(_, size)| size))
    }

    /// Whether the object is here.
    ///
    /// # Errors
    /// When the machine would not say.
    pub fn has(&self, id: ObjectId) -> Result<bool, RepoError> {
        let is_here = self.raw.has_object(theirs(id));
        Ok(is_here || self.size_and_kind(id)?.is_some())
    }

    /// The entries of one tree, in Git's order, `path` being the name.
    ///
    /// # Errors
    /// When it is missing, damaged or no tree.
    pub fn tree(&self, id: TreeId) -> Result<Vec<Entry>, RepoError> {
        let mut bytes = Vec::new();
        let entries = self.raw_tree(id, &mut bytes)?;
        Ok(entries.into_iter().map(entry_of).collect())
    }

    /// Every path below a tree, directories included, sorted by the bytes of the path.
    ///
    /// # Errors
    /// When a tree is missing or damaged, or has more than `MAX_PATHS` paths: ten trees that hold one another ten times are a few hundred
    /// bytes and ten thousand million paths.
    pub fn list(&self, root: TreeId) -> Result<Vec<Entry>, RepoError> {
        let mut entries = Vec::new();
        let mut open = vec![(String::new(), root)];
        let mut bytes = Vec::new();
        let mut length = 0;
        let mut is_counted = false;
        while let Some((prefix, id)) = open.pop() {
            for entry in self.raw_tree(id, &mut bytes)? {
                let path = format!("{prefix}{}", quoted(entry.filename));
                let (mode, id) = (mode(entry.mode), own(entry.oid));
                if mode == Mode::Directory {
                    open.push((format!("{path}/"), TreeId(id)));
                }
                length += path.len();
                // Before much is kept: how much there is, each tree counted once.
                let is_much = entries.len() >= MAX_PATHS / 16 || length > MAX_PATH_BYTES / 16;
                let mut is_over = false;
                if is_much && !is_counted {
                    is_counted = true;
                    let (count, bytes) = self.extent(root, MAX_DEPTH)?;
                    is_over = count > MAX_PATHS as u64 || bytes > MAX_PATH_BYTES as u64;
                }
                if is_over || entries.len() >= MAX_PATHS || length > MAX_PATH_BYTES {
                    return Err(RepoError::Git {
                        doing: format!("listing tree {root}"),
                        cause: format!(
                            "it has more than {MAX_PATHS} paths, or {} MiB of them",
                            MAX_PATH_BYTES >> 20
                        ),
                        transient: false,
                    });
                }
                entries.push(Entry { path, mode, id });
            }
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// What stands at `path` below `root`; none when nothing does.
    ///
    /// # Errors
    /// When a tree on the way is missing or damaged.
    pub fn entry(&self, root: TreeId, path: &str) -> Result<Option<Entry>, RepoError> {
        let mut at = Entry {
            path: path.to_owned(),
            mode: Mode::Directory,
            id: root.0,
        };
        let mut bytes = Vec::new();
        for name in path
            .split('/')
            .filter(|name| !name.is_empty() && *name != ".")
        {
            if at.mode != Mode::Directory {
                return Ok(None);
            }
            let entries = self.raw_tree(TreeId(at.id), &mut bytes)?;
            let Some(entry) = entries.iter().find(|entry| quoted(entry.filename) == name) else {
                return Ok(None);
            };
            (at.mode, at.id) = (mode(entry.mode), own(entry.oid));
        }
        Ok(Some(at))
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// When the commit is missing or damaged.
    pub fn tree_of(&self, commit: CommitId) -> Result<TreeId, RepoError> {
        Ok(self.header(commit)?.tree)
    }

    /// What kind of object a name has, `commit`, `tree`, `blob` or `tag`; none when it is not here.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn kind(&self, id: ObjectId) -> Result<Option<String>, RepoError> {
        Ok(self.size_and_kind(id)?.map(|(kind, _)| kind.to_string()))
    }

    /// Names an object, and keeps it in `written` to be put into a pack ([`Repo::keep`]); until then it can be read through this handle
    /// alone. It is written whether it is there already or not: what happens to be there a clean-up may be about to take.
    ///
    /// # Errors
    /// When its content has the name of another one.
    pub fn write(
        &self,
        kind: Kind,
        bytes: Vec<u8>,
        written: &mut Vec<Object>,
    ) -> Result<ObjectId, RepoError> {
        let id = gix::objs::Write::write_buf(&self.raw.objects, theirs_kind(kind), &bytes);
        let id = own(&id.map_err(|error| RepoError::git("naming an object", &error))?);
        written.push(Object { id, kind, bytes });
        Ok(id)
    }

    /// Whether an object is here with just this content.
    pub fn is_whole(&self, object: &Object) -> bool {
        let mut bytes = Vec::new();
        let found = self.raw.objects.try_find(&theirs(object.id), &mut bytes);
        let kind = found.map(|found| found.map(|data| data.kind));
        matches!(kind, Ok(Some(kind)) if kind == theirs_kind(object.kind)) && bytes == object.bytes
    }

    /// Whether the name of an object is that of its content.
    pub fn is_named_right(&self, object: &Object) -> bool {
        let kind = theirs_kind(object.kind);
        gix::objs::compute_hash(self.hash(), kind, &object.bytes)
            .is_ok_and(|id| own(&id) == object.id)
    }

    /// The entries of a tree with these bytes.
    ///
    /// # Errors
    /// When they are none of a tree.
    pub fn entries_of(&self, bytes: &[u8]) -> Result<Vec<Entry>, RepoError> {
        let tree = gix::objs::TreeRef::from_bytes(bytes, self.hash());
        let tree = tree.map_err(|error| RepoError::git("reading a tree", &error))?;
        Ok(tree.entries.into_iter().map(entry_of).collect())
    }

    /// Removes the file of an object that is damaged: `git fsck` complains of it for ever, and nothing can be read from it.
    pub fn drop_damaged_file(&self, id: ObjectId) {
        let file = self.loose_file(id);
        let mut bytes = Vec::new();
        // Of an object that stands elsewhere too, the sound one is found.
        if file.is_file() && self.raw.objects.try_find(&theirs(id), &mut bytes).is_err() {
            drop(std::fs::remove_file(file));
        }
    }

    /// Lets go what was written and is in a pack by now, or is not wanted any more.
    pub fn drop_written(&self) {
        drop(self.raw.objects.reset_object_memory());
    }

    /// The bytes of a tree with these entries, brought into Git's order. Names must be single path components.
    pub fn tree_bytes(&self, entries: &[Entry]) -> Vec<u8> {
        let mut sorted: Vec<_> = entries
            .iter()
            .map(|entry| gix::objs::tree::Entry {
                mode: match entry.mode {
                    Mode::Directory => gix::objs::tree::EntryKind::Tree.into(),
                    Mode::File => gix::objs::tree::EntryKind::Blob.into(),
                    Mode::Symlink => gix::objs::tree::EntryKind::Link.into(),
                    Mode::Submodule => gix::objs::tree::EntryKind::Commit.into(),
                },
                filename: entry.path.as_str().into(),
                oid: theirs(entry.id),
            })
            .collect();
        sorted.sort();
        let tree = gix::objs::Tree { entries: sorted };
        let mut bytes = Vec::new();
        gix::objs::WriteTo::write_to(&tree, &mut bytes)
            .expect("memory can always be written, and our names hold no NUL");
        bytes
    }

    pub(super) fn raw_tree<'a>(
        &self,
        id: TreeId,
        bytes: &'a mut Vec<u8>,
    ) -> Result<Vec<gix::objs::tree::EntryRef<'a>>, RepoError> {
        bytes.clear();
        if id == self.empty_tree() {
            return Ok(Vec::new());
        }
        let doing = || format!("reading tree {id}");
        match self.find(doing, id.0, bytes).map_err(moved)? {
            Some(gix::objs::Kind::Tree) => {}
            Some(kind) => {
                return Err(RepoError::Git {
                    doing: format!("reading tree {id}"),
                    cause: format!("it is a {kind}"),
                    transient: false,
                });
            }
            None => return Err(self.missing("tree", id.0)),
        }
        gix::objs::TreeRef::from_bytes(bytes, self.git.object_hash())
            .map(|tree| tree.entries)
            .map_err(|error| damaged("tree", id.0, &error))
    }

    /// Whether a tree and every tree and blob below it is here. In a partial clone blobs may be missing without damage.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn has_tree_complete(&self, root: TreeId) -> Result<(), RepoError> {
        let is_partial = self.is_partial();
        for entry in self.list(root)? {
            let is_blob = matches!(entry.mode, Mode::File | Mode::Symlink);
            if is_blob && !is_partial && !self.has(entry.id)? {
                return Err(self.missing("blob", entry.id));
            }
        }
        Ok(())
    }

    /// What to say of a blob that something names and that is not here.
    pub fn missing_blob(&self, id: ObjectId) -> RepoError {
        self.missing("blob", id)
    }

    pub(super) fn missing(&self, what: &'static str, id: ObjectId) -> RepoError {
        RepoError::Missing {
            what,
            id,
            partial: self.is_partial(),
        }
    }
}

fn theirs_kind(kind: Kind) -> gix::objs::Kind {
    match kind {
        Kind::Blob => gix::objs::Kind::Blob,
        Kind::Tree => gix::objs::Kind::Tree,
        Kind::Commit => gix::objs::Kind::Commit,
    }
}

/// A packed object that cannot be read may just have been moved by a repack.
fn moved(error: RepoError) -> RepoError {
    match error {
        RepoError::Git { doing, cause, .. } => RepoError::Git {
            doing,
            cause,
            transient: true,
        },
        error => error,
    }
}

fn damaged(what: &str, id: ObjectId, error: &dyn std::fmt::Display) -> RepoError {
    RepoError::Git {
        doing: format!("reading {what} {id}"),
        cause: error.to_string(),
        transient: true,
    }
}

fn entry_of(entry: gix::objs::tree::EntryRef<'_>) -> Entry {
    Entry {
        path: quoted(entry.filename),
        mode: mode(entry.mode),
        id: own(entry.oid),
    }
}

fn mode(mode: gix::objs::tree::EntryMode) -> Mode {
    match mode.kind() {
        gix::objs::tree::EntryKind::Tree => Mode::Directory,
        gix::objs::tree::EntryKind::Blob | gix::objs::tree::EntryKind::BlobExecutable => Mode::File,
        gix::objs::tree::EntryKind::Link => Mode::Symlink,
        gix::objs::tree::EntryKind::Commit => Mode::Submodule,
    }
}

/// A name as it is, or as Git's C-style quoting writes it where it is not UTF-8.
pub(super) fn quoted(name: &[u8]) -> String {
    match name.to_str() {
        Ok(name) => name.to_owned(),
        Err(_) => {
            let mut text = String::from("\"");
            for byte in name {
                match byte {
                    b'"' | b'\\' => {
                        text.push('\\');
                        text.push(char::from(*byte));
                    }
                    b'/' | b' '..=b'~' => text.push(char::from(*byte)),
                    _ => text.push_str(&format!("\\{byte:03o}")),
                }
            }
            text.push('"');
            text
        }
    }
}
