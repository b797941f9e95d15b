//! What was not found: whether it is really not there.
//!
//! The library answers "not found" also when it could not look: a pack's index that cannot be opened is left out, a file whose state
//! cannot be asked for counts as absent (gix-odb 0.87, gix-ref 0.69). To us these are two answers, since what is missing is skipped and
//! named, and an error of the machine ends the command. So whatever is not found is looked for once more, here, by plain calls of the
//! system of which none may fail. In: names. Out: there, not there, or an error. Costs nothing as long as everything is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::odb::pack::index;
use gix::refs::packed;

use super::open::{Repo, RepoError, own, theirs};
use crate::id::{CommitId, ObjectId};

/// How many symbolic references or tags may lead to one another (Git: 5).
const DEPTH: usize = 5;

/// The indices of packs that were opened to look for what was not found, by their path: in a partial clone that is asked often.
#[derive(Default)]
pub(super) struct Indices(std::cell::RefCell<BTreeMap<PathBuf, index::File>>);

/// Whether the system says that nothing is at a path; none when it says neither.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether anything is at a path, be it a link that leads nowhere.
///
/// # Errors
/// When the system does not say.
pub(super) fn is_there(path: &Path) -> Result<bool, RepoError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(RepoError::io(path, &error)),
    }
}

/// The entries of a folder; none when there is no such folder.
pub(super) fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, RepoError> {
    let failed = |error: io::Error| RepoError::io(folder, &error);
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<Result<_, io::Error>>().map_err(failed),
        Err(error) if is_absence(&error) => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

/// Objects.
impl Repo {
    /// Reads an object as it is named; none when it is not here.
    pub(super) fn find(
        &self,
        doing: impl Fn() -> String,
        id: ObjectId,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<gix::objs::Kind>, RepoError> {
        use gix::objs::Find as _;
        let find = |git: &gix::Repository, bytes: &mut Vec<u8>| {
            let found = git.objects.try_find(&theirs(id), bytes);
            let found = found.map(|found| found.map(|data| data.kind));
            found.map_err(|error| RepoError::read(doing(), &error))
        };
        match find(&self.raw, bytes)? {
            None => self.once_more(&doing, id, |git| find(git, bytes)),
            found => Ok(found),
        }
    }

    /// The kind and size of an object; none when it is not here.
    pub(super) fn size_and_kind(
        &self,
        id: ObjectId,
    ) -> Result<Option<(gix::objs::Kind, u64)>, RepoError> {
        let doing = || format!("reading {id}");
        let find = |git: &gix::Repository| {
            let found = git.try_find_header(theirs(id));
            let found = found.map_err(|error| RepoError::read(doing(), &error))?;
            Ok(found.map(|header| (header.kind(), header.size())))
        };
        match find(&self.raw)? {
            None => self.once_more(&doing, id, find),
            found => Ok(found),
        }
    }

    /// Looks for what the library did not find: none only when it is in no file of the object store.
    pub(super) fn once_more<T>(
        &self,
        doing: &dyn Fn() -> String,
        id: ObjectId,
        find: impl FnOnce(&gix::Repository) -> Result<Option<T>, RepoError>,
    ) -> Result<Option<T>, RepoError> {
        let Some(place) = self.place_of(id)? else {
            return Ok(None);
        };
        // A handle of its own: the one at hand has given up on a file.
        let fresh = self.reopen()?;
        match find(&fresh.raw)? {
            None => Err(RepoError::Machine {
                doing: doing(),
                cause: format!("it is in {}, which cannot be read", place.display()),
            }),
            found => Ok(found),
        }
    }

    /// The file of the object store that holds an object.
    fn place_of(&self, id: ObjectId) -> Result<Option<PathBuf>, RepoError> {
        let own = self.git.objects.store_ref().path().to_owned();
        let others = gix::odb::alternate::resolve(own.clone(), self.git.current_dir());
        let others = others.map_err(|error| RepoError::read("reading alternates", &error))?;
        let name = id.to_string();
        for store in std::iter::once(own).chain(others) {
            let loose = store.join(&name[..2]).join(&name[2..]);
            if is_there(&loose)? {
                return Ok(Some(loose));
            }
            for entry in entries(&store.join("pack"))? {
                let path = entry.path();
                let is_index = path.extension().is_some_and(|ending| ending == "idx");
                if is_index && self.holds(&path, id)? && is_there(&path.with_extension("pack"))? {
                    return Ok(Some(path.with_extension("pack")));
                }
            }
        }
        Ok(None)
    }

    /// Whether the index of a pack names an object. One that is damaged names none: `git fsck` tells.
    fn holds(&self, path: &Path, id: ObjectId) -> Result<bool, RepoError> {
        let mut opened = self.indices.0.borrow_mut();
        if !opened.contains_key(path) {
            match index::File::at(path, self.git.object_hash()) {
                Ok(index) => drop(opened.insert(path.to_owned(), index)),
                Err(error) => {
                    return match RepoError::read(format!("reading {}", path.display()), &error) {
                        error @ RepoError::Machine { .. } => Err(error),
                        _ => Ok(false),
                    };
                }
            }
        }
        let index = opened.get(path);
        Ok(index.is_some_and(|index| index.lookup(theirs(id)).is_some()))
    }
}

/// A reference, as it is written.
pub(super) struct Named {
    /// `refs/heads/main`.
    pub name: String,
    /// What it points at; none for one that points at another reference.
    pub id: Option<ObjectId>,
    /// What a packed tag leads to.
    peeled: Option<ObjectId>,
}

/// References.
impl Repo {
    /// Makes sure that there is no such reference.
    pub(super) fn ensure_absent(&self, name: &str) -> Result<(), RepoError> {
        let found = |file: &Path| RepoError::Machine {
            doing: format!("reading {name}"),
            cause: format!("it is in {}, which cannot be read", file.display()),
        };
        for base in [self.git.common_dir(), self.git.git_dir()] {
            let file = base.join(name);
            match fs::symlink_metadata(&file) {
                // A folder is empty, or holds longer names.
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(found(&file)),
                Err(error) if is_absence(&error) => {}
                Err(error) => return Err(RepoError::io(&file, &error)),
            }
        }
        let is_in = |packed: packed::Buffer| packed.try_find(name).is_ok_and(|it| it.is_some());
        match self.packed()?.is_some_and(is_in) {
            true => Err(found(&self.git.refs.packed_refs_path())),
            false => Ok(()),
        }
    }

    fn packed(&self) -> Result<Option<packed::Buffer>, RepoError> {
        let packed = self.git.refs.open_packed_buffer();
        packed.map_err(|error| RepoError::read("reading packed-refs", &error))
    }

    /// Every reference below `refs/heads/` or the like, or `refs/`, sorted. Those that cannot be read as one are left out.
    pub(super) fn names(&self, prefix: &str) -> Result<Vec<Named>, RepoError> {
        let mut files = BTreeSet::new();
        let bases = BTreeSet::from([self.git.common_dir(), self.git.git_dir()]);
        for base in bases {
            let mut open = vec![prefix.trim_end_matches('/').to_owned()];
            while let Some(folder) = open.pop() {
                for entry in entries(&base.join(&folder))? {
                    let Ok(name) = entry.file_name().into_string() else {
                        continue;
                    };
                    let name = format!("{folder}/{name}");
                    let file = entry.path();
                    let kind = entry
                        .file_type()
                        .map_err(|error| RepoError::io(&file, &error))?;
                    match kind.is_dir() {
                        true => open.push(name),
                        false => drop(files.insert(name)),
                    }
                }
            }
        }
        let mut found = Vec::new();
        for name in files.iter() {
            // The lock of another writer, or whatever else lies there.
            if gix::refs::FullName::try_from(name.as_str()).is_err() {
                continue;
            }
            match self.raw_reference(name) {
                Ok(Some(id)) => found.push(Named {
                    name: name.clone(),
                    id,
                    peeled: None,
                }),
                Err(error) if error.is_machine() => return Err(error),
                // Deleted meanwhile, or damaged.
                Ok(None) | Err(_) => {}
            }
        }
        if let Some(packed) = self.packed()? {
            let all = packed.iter_prefixed(prefix.into());
            let all = all.map_err(|error| RepoError::read("reading packed-refs", &error))?;
            for one in all.flatten() {
                let name = one.name.as_bstr().to_str_lossy().into_owned();
                if !files.contains(&name) {
                    found.push(Named {
                        name,
                        id: Some(own(&one.target())),
                        peeled: one.object.is_some().then(|| own(&one.object())),
                    });
                }
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// What a reference says: none when it is not there, and `Some(None)` when it points at another.
    pub(super) fn raw_reference(&self, name: &str) -> Result<Option<Option<ObjectId>>, RepoError> {
        let found = self.git.try_find_reference(name);
        let found = found.map_err(|error| RepoError::read(format!("reading {name}"), &error))?;
        if found.is_none() {
            self.ensure_absent(name)?;
        }
        Ok(found.map(|found| found.target().try_id().map(own)))
    }

    /// The commit that a reference leads to. None of a tag on a tree, and of one that leads nowhere.
    pub(super) fn tip(&self, named: &Named) -> Result<Option<CommitId>, RepoError> {
        let mut id = named.peeled.or(named.id);
        let mut name = named.name.clone();
        for _ in 0..DEPTH {
            if id.is_some() {
                break;
            }
            let found = self.git.try_find_reference(name.as_str());
            let Ok(Some(found)) = found else {
                self.ensure_absent(&name)?;
                return Ok(None);
            };
            id = found.target().try_id().map(own);
            if let Some(next) = found.target().try_name() {
                name = next.as_bstr().to_str_lossy().into_owned();
            }
        }
        let Some(mut id) = id else { return Ok(None) };
        let mut bytes = Vec::new();
        for _ in 0..DEPTH {
            let kind = match self.find(|| format!("reading {id}"), id, &mut bytes) {
                Err(error) if error.is_machine() => return Err(error),
                Ok(Some(kind)) => kind,
                Ok(None) | Err(_) => return Ok(None),
            };
            match kind {
                gix::objs::Kind::Commit => return Ok(Some(CommitId(id))),
                gix::objs::Kind::Tag => {
                    let target = gix::objs::TagRefIter::from_bytes(&bytes, self.git.object_hash());
                    let Ok(target) = target.target_id() else {
                        return Ok(None);
                    };
                    id = own(&target);
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}
