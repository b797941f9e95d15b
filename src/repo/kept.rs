//! A pack for each write, kept from Git's clean-ups until a reference holds what is in it.
//!
//! A clean-up knows the references there were when it began, and takes whatever they do not lead to: `git prune` files of single objects,
//! `git repack -ad` the packs that it saw. It leaves packs alone that came later, and those with a `.keep` file beside them. So a write
//! puts all its objects, also those that happen to be there already, into a pack of its own with such a file, swaps the
//! reference, looks whether the pack is still there, and only then removes the file. In: objects. Out: files in `objects/pack`.
//!
//! Many small packs would slow down every Git command and call `git gc --auto`; `gather.rs` makes few of them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use super::files::Access;
use super::object::Object;
use super::open::{Repo, RepoError};
use super::pack::{self, Encoded};
use super::sync::Durable;

/// What our `.keep` files say: Git shows it to nobody, and a person who looks should know whose it is.
pub(super) const KEEP: &str = "git-score-context is writing; 'git score-context fsck --repair' removes this if it was killed\n";
/// The names of the packs that were written here and are small still, a line each.
pub(super) const LIST: &str = "packs";
/// No list of ours is longer: it is made short again at sixteen lines.
const MOST: u64 = 1024 * 1024;

/// A pack that Git leaves alone while this lives. Dropped without [`KeptPack::release`] it is removed again: nothing refers to it.
pub struct KeptPack {
    files: Option<PackFiles>,
    /// Locked while the writer lives, so that others can tell a write under way from one that died.
    _keep: File,
}

/// Where the files of one pack are.
#[derive(Clone, Debug)]
pub(super) struct PackFiles {
    pub name: String,
    folder: PathBuf,
}

impl PackFiles {
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("pack-{}.{ending}", self.name))
    }

    /// Removes the pack, in the order in which Git does it: no index ever names a pack that is gone.
    pub(super) fn remove(&self) {
        for ending in ["idx", "pack", "keep", "tmp"] {
            // What is not there need not go, and what cannot be removed wastes space and harms nobody.
            drop(fs::remove_file(self.file(ending)));
        }
    }
}

impl Repo {
    /// Writes objects into a pack of their own, whether they are there already or not.
    ///
    /// # Errors
    /// When the object store cannot be written. Then nothing is left of it.
    pub fn keep(&self, objects: &[Object], durable: Durable) -> Result<KeptPack, RepoError> {
        let encoded = pack::encode(self.hash(), &pack::entries(objects));
        let kept = self.keep_encoded(&encoded, durable);
        kept.map_err(|error| RepoError::write("writing to the object store", &error))
    }

    pub(super) fn keep_encoded(&self, pack: &Encoded, durable: Durable) -> io::Result<KeptPack> {
        let files = self.new_pack()?;
        // Noted first: whoever comes after a writer that was killed finds here what it has begun.
        self.note_pack(&files.name)?;
        fs::create_dir_all(&files.folder)?;
        let kept = begin(files.clone())?;
        let (data, index) = (files.file("pack"), files.file("tmp"));
        durable.write(&data, |file| file.write_all(&pack.pack))?;
        durable.write(&index, |file| file.write_all(&pack.index))?;
        // From here on Git sees it.
        fs::rename(&index, files.file("idx"))?;
        durable.folder(&files.folder)?;
        Ok(kept)
    }

    /// A name that no pack has. Git names packs by their content; two writes of the same content must not share one, since the first
    /// may be in the hands of a clean-up already.
    fn new_pack(&self) -> io::Result<PackFiles> {
        let mut bytes = vec![0; self.hash().len_in_bytes()];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let name = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(self.pack_files(name))
    }

    pub(super) fn pack_files(&self, name: String) -> PackFiles {
        let folder = self.common_dir().join("objects").join("pack");
        PackFiles { name, folder }
    }

    fn note_pack(&self, name: &str) -> io::Result<()> {
        let line = format!("{name}\n");
        let added = self
            .cache()
            .append(LIST, line.as_bytes(), Some(Access::Usual));
        added.map(drop).map_err(io::Error::other)
    }

    /// The packs that were noted, oldest first, each once; what is no name is left out.
    pub(super) fn noted_packs(&self) -> Vec<String> {
        let bytes = self.cache().read(LIST, MOST).ok().flatten();
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        let digits = self.hash().len_in_hex();
        let is_name =
            |line: &&str| line.len() == digits && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut seen = std::collections::BTreeSet::new();
        let names = text.lines().filter(is_name);
        names
            .filter(|name| seen.insert(*name))
            .map(str::to_owned)
            .collect()
    }
}

impl KeptPack {
    /// Whether its files are there.
    pub fn is_there(&self) -> bool {
        let files = self.files.iter();
        let mut all = files.flat_map(|files| [files.file("pack"), files.file("idx")]);
        all.all(|file| file.is_file())
    }

    /// The same, telling where it is; none where it is not there any more.
    pub(super) fn release_if_there(mut self) -> Option<PackFiles> {
        let is_there = self.is_there();
        let files = self.files.take()?;
        drop(fs::remove_file(files.file("keep")));
        is_there.then_some(files)
    }

    /// Leaves it to Git, now that a reference holds what is in it: a clean-up that saw it kept does not touch it, and a later one
    /// sees the reference.
    pub fn release(mut self) {
        if let Some(files) = self.files.take() {
            drop(fs::remove_file(files.file("keep")));
        }
    }
}

impl Drop for KeptPack {
    fn drop(&mut self) {
        if let Some(files) = &self.files {
            files.remove();
        }
    }
}

/// Makes the file that keeps a pack. It has its name only when it is locked, so that one without a lock is of a writer that died.
fn begin(files: PackFiles) -> io::Result<KeptPack> {
    let temporary = files.file("tmp");
    let mut keep = File::create_new(&temporary)?;
    let kept = KeptPack {
        _keep: keep.try_clone()?,
        files: Some(files.clone()),
    };
    // Where there are no locks nobody can tell that this writer lives, and its pack goes on being kept if it dies.
    drop(keep.try_lock());
    keep.write_all(KEEP.as_bytes())?;
    fs::rename(temporary, files.file("keep"))?;
    Ok(kept)
}
