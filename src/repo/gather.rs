//! Many small packs made into few.
//!
//! Each write leaves a pack (`kept.rs`). Here those of about the same size become one, so that of a thousand writes a dozen packs are left,
//! and what writers that died left kept is given back to Git. In: the list of packs that were written here. Out: fewer packs, the same
//! objects. Only for whoever holds the writers' lock. Never drops an object, and never touches a pack that Git made.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::files::Access;
use super::kept::{KEEP, KeptPack, LIST, PackFiles};
use super::open::Repo;
use super::pack;
use super::remains::LEFT;

/// So many packs may lie side by side before they are made fewer. Git itself packs everything anew at fifty (`gc.autoPackLimit`).
const MOST_PACKS: usize = 16;
/// A pack of so many bytes is left to Git.
const LARGE: u64 = 32 * 1024 * 1024;

/// A pack that no writer is at work with.
struct Small {
    size: u64,
    files: PackFiles,
}

impl Repo {
    /// Gives back what writers that died left kept, and makes few packs of many. What fails is tried again by the next writer.
    pub fn gather_packs(&self) {
        let noted = self.noted_packs();
        let count = noted.len();
        let (mut small, mut listed) = (Vec::new(), Vec::new());
        for name in noted {
            let files = self.pack_files(name);
            match is_held(&files) || is_begun(&files) {
                true => listed.push(files),
                false => small.extend(self.small(files)),
            }
        }
        if small.len() > MOST_PACKS {
            small.sort_by(|a, b| (a.size, &a.files.name).cmp(&(b.size, &b.files.name)));
            let rest = small.split_off(alike(&small));
            match self.merged(small) {
                Some(merged) => listed.extend(merged),
                // Nothing was changed.
                None => return,
            }
            small = rest;
        }
        listed.extend(small.into_iter().map(|small| small.files));
        if listed.len() == count {
            return;
        }
        let names: String = listed
            .iter()
            .map(|files| format!("{}\n", files.name))
            .collect();
        // Else the list names packs that are gone, which the next writer finds out.
        drop(self.cache().replace(LIST, names.as_bytes(), Access::Usual));
    }

    /// The pack, given back to Git; none where it is gone, large, or was never finished.
    fn small(&self, files: PackFiles) -> Option<Small> {
        let keep = files.file("keep");
        // One with our words and no lock is of a writer that died; a person's own stays.
        if fs::read_to_string(&keep).is_ok_and(|text| text == KEEP || text.is_empty()) {
            drop(fs::remove_file(keep));
        }
        if !files.file("idx").exists() {
            // Taken over by a clean-up, or never finished: Git has never seen it then. A writer without the lock may be about to begin,
            // so that nothing goes which is not old.
            [files.file("tmp"), files.file("pack")]
                .iter()
                .for_each(|file| {
                    if is_old(file) {
                        drop(fs::remove_file(file));
                    }
                });
            return None;
        }
        let size = fs::metadata(files.file("pack")).ok()?.len();
        (size < LARGE).then_some(Small { size, files })
    }

    /// Gives back to Git every pack that a writer which died left kept, and replaces packs of ours that are damaged by what is sound in
    /// them. Says what it did.
    pub fn mend_packs(&self) -> Vec<String> {
        let mut told = Vec::new();
        let folder = self.common_dir().join("objects").join("pack");
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let name = name.strip_prefix("pack-")?.strip_suffix(".keep")?;
            Some(name.to_owned())
        });
        for files in names.map(|name| self.pack_files(name)) {
            let keep = files.file("keep");
            if fs::read_to_string(&keep).is_ok_and(|text| text == KEEP) && !is_held(&files) {
                let is_removed = fs::remove_file(&keep).is_ok();
                let keep = keep.display();
                told.extend(
                    is_removed
                        .then(|| format!("removed {keep}, which a writer that was killed left")),
                );
            }
        }
        for files in self
            .noted_packs()
            .into_iter()
            .map(|name| self.pack_files(name))
        {
            if !files.file("idx").exists() || is_held(&files) {
                continue;
            }
            let read = |ending| fs::read(files.file(ending)).ok();
            let Some((data, index)) = read("pack").zip(read("idx")) else {
                continue;
            };
            if pack::decode(self.hash(), &data, index.clone()).is_some() {
                continue;
            }
            let Some(sound) = pack::salvage(self.hash(), &data, index) else {
                continue;
            };
            let name = files.file("pack");
            let name = name.display();
            let count = sound.len();
            let encoded = pack::encode(self.hash(), &sound);
            let kept = match sound.is_empty() {
                true => Ok(None),
                false => self
                    .keep_encoded(&encoded, self.durable_objects(true))
                    .map(Some),
            };
            match kept {
                Ok(kept) => kept.into_iter().for_each(KeptPack::release),
                Err(error) => {
                    told.push(format!(
                        "{name} is damaged, and what is sound in it cannot be written: {error}"
                    ));
                    continue;
                }
            }
            files.remove();
            told.push(format!(
                "replaced {name}, which is damaged, by the {count} objects that are sound in it"
            ));
        }
        told
    }

    /// One pack of these; those that are damaged, not of ours or part of a larger index are left to Git. None where that failed.
    fn merged(&self, small: Vec<Small>) -> Option<Vec<PackFiles>> {
        let indexed = self.packs_in_common_index()?;
        let (mut entries, mut sources) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for Small { files, .. } in small {
            if indexed.contains(&format!("pack-{}.idx", files.name)) || files.file("keep").exists()
            {
                continue;
            }
            let read = |ending| fs::read(files.file(ending)).ok();
            let found = read("pack").zip(read("idx"));
            let found = found.and_then(|(data, index)| pack::decode(self.hash(), &data, index));
            let Some(found) = found else { continue };
            entries.extend(found.into_iter().filter(|entry| seen.insert(entry.id)));
            sources.push(files);
        }
        if sources.len() < 2 {
            return Some(sources);
        }
        let encoded = pack::encode(self.hash(), &entries);
        // What was acknowledged long ago must not be at risk again.
        let kept = self
            .keep_encoded(&encoded, self.durable_objects(true))
            .ok()?;
        let files = kept.release_if_there()?;
        sources.iter().for_each(PackFiles::remove);
        Some(vec![files])
    }

    /// The packs in an index over many (`git multi-pack-index`), which would name what is gone; none where that cannot be told.
    fn packs_in_common_index(&self) -> Option<BTreeSet<String>> {
        let folder = self.common_dir().join("objects").join("pack");
        if folder.join("multi-pack-index.d").exists() {
            return None;
        }
        let path = folder.join("multi-pack-index");
        if !path.exists() {
            return Some(BTreeSet::new());
        }
        let index = gix::odb::pack::multi_index::File::at(path, None).ok()?;
        let names = index.index_names().iter();
        Some(names.map(|name| name.display().to_string()).collect())
    }
}

/// How many of the packs, smallest first, become one: each next one that is no larger than all before it together. So a byte is copied a
/// few times only, however many writes there are.
fn alike(packs: &[Small]) -> usize {
    let mut sum = 0;
    let grows = |(at, small): &(usize, &Small)| {
        let fits = *at < 2 || small.size <= sum;
        sum += small.size;
        fits
    };
    packs.iter().enumerate().take_while(grows).count()
}

/// Whether a pack was begun lately and is not finished: its writer may have no lock.
fn is_begun(files: &PackFiles) -> bool {
    let data = files.file("pack");
    data.exists() && !files.file("idx").exists() && !is_old(&data)
}

/// Whether a file was left long ago.
fn is_old(file: &Path) -> bool {
    let written = fs::metadata(file).and_then(|meta| meta.modified());
    written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFT))
}

/// Whether a writer that lives is at work with a pack.
fn is_held(files: &PackFiles) -> bool {
    let Ok(keep) = File::open(files.file("keep")) else {
        return false;
    };
    match keep.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        // A file system without locks: nobody can tell.
        Err(TryLockError::Error(_)) => true,
    }
}
