//! Every object of the store, reachable or not, and where those that matter lie on the disk.
//!
//! In: a test on the content of an object. Out: the objects that pass it; the files that hold an object. Reads also what no reference leads to.
//! Never writes and never deletes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use gix::objs::Find;
use rayon::prelude::*;

use super::open::{Repo, RepoError, own, theirs};
use crate::id::ObjectId;

/// So many objects are read by one thread at a time: neighbours in a pack are made of one another.
const CHUNK: usize = 512;

/// What a look at objects found.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    /// Those that passed.
    pub found: BTreeSet<ObjectId>,
    /// How many could not be read.
    pub unread: usize,
}

/// Where an object lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whereabouts {
    /// In a file of its own, or in a pack that Git rewrites.
    Here,
    /// In a pack that Git never rewrites, since this file stands beside it.
    Kept(PathBuf),
    /// In the object store of another repository.
    Borrowed(PathBuf),
}

impl Repo {
    /// The names of all objects that can be read here, also from alternates, each once, in the order in which they are best read.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn all_objects(&self) -> Result<Vec<ObjectId>, RepoError> {
        let listing = |error: &gix::Error| RepoError::git("listing the objects", error);
        let repo = self.reopen()?;
        let all = repo.raw.objects.iter().map_err(|error| listing(&error))?;
        let order = gix::odb::store::iter::Ordering::PackAscendingOffsetThenLooseLexicographical;
        let mut seen = BTreeSet::new();
        // A folder that a clean-up removes meanwhile holds nothing any more.
        let ids = all.with_ordering(order).flatten().map(|id| own(&id));
        Ok(ids.filter(|id| seen.insert(*id)).collect())
    }

    /// Those of the objects whose content passes the test. `progress` hears of objects: read, and in all.
    ///
    /// # Errors
    /// When the repository cannot be opened again.
    pub fn objects_with(
        &self,
        ids: &[ObjectId],
        passes: &(dyn Fn(&[u8]) -> bool + Sync),
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Scanned, RepoError> {
        let shared = self.reopen()?.share();
        let done = AtomicUsize::new(0);
        let each = ids.par_chunks(CHUNK).map_init(
            || (shared.local(), Vec::new()),
            |(repo, bytes), chunk| {
                let mut scanned = Scanned::default();
                for id in chunk {
                    bytes.clear();
                    let found = repo.raw.objects.try_find(&theirs(*id), bytes);
                    match found.map(|found| found.is_some()) {
                        Ok(true) if passes(bytes) => drop(scanned.found.insert(*id)),
                        // Without it, or gone since it was listed.
                        Ok(_) => {}
                        Err(_) => scanned.unread += 1,
                    }
                }
                let done = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
                progress(done, ids.len());
                scanned
            },
        );
        Ok(each.reduce(Scanned::default, |mut all, some| {
            all.found.extend(some.found);
            all.unread += some.unread;
            all
        }))
    }

    /// Every place in which each of these objects lies; one that lies nowhere is left out.
    pub fn whereabouts(
        &self,
        ids: &BTreeSet<ObjectId>,
    ) -> BTreeMap<ObjectId, BTreeSet<Whereabouts>> {
        let mut all: BTreeMap<ObjectId, BTreeSet<Whereabouts>> = BTreeMap::new();
        let ours = self.common_dir().join("objects");
        let borrowed = self.raw.objects.store_ref().alternate_db_paths();
        let stores = std::iter::once((ours.clone(), false));
        let stores = stores.chain(
            borrowed
                .unwrap_or_default()
                .into_iter()
                .map(|it| (it, true)),
        );
        for (store, is_borrowed) in stores {
            let place = |keep: Option<PathBuf>| match (is_borrowed, keep) {
                (true, _) => Whereabouts::Borrowed(store.clone()),
                (false, Some(keep)) => Whereabouts::Kept(keep),
                (false, None) => Whereabouts::Here,
            };
            for id in ids {
                let name = id.to_string();
                if store.join(&name[..2]).join(&name[2..]).is_file() {
                    all.entry(*id).or_default().insert(place(None));
                }
            }
            for pack in self.indices(&store.join("pack")) {
                let keep = pack.path().with_extension("keep");
                let keep = keep.is_file().then_some(keep);
                for id in ids.iter().filter(|id| pack.lookup(theirs(**id)).is_some()) {
                    all.entry(*id).or_default().insert(place(keep.clone()));
                }
            }
        }
        all
    }

    /// The indices of the packs in a folder, in the order of their names.
    fn indices(&self, folder: &Path) -> Vec<gix::odb::pack::index::File> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "idx"));
        paths.sort();
        let hash = self.git.object_hash();
        let open = |path: &PathBuf| gix::odb::pack::index::File::at(path, hash).ok();
        paths.iter().filter_map(open).collect()
    }
}
