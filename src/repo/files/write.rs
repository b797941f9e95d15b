//! Files written: under another name and renamed, or at their end; never over what is there, and never through a link.
//!
//! In: bytes. Out: a file that is whole or as it was before. Nothing here brings bytes to the disk but where it says so.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::FileError;
use super::folder::{Folder, Spot};
use super::listed::{Facts, Sort};
use super::system::{self, How};

/// Who may read a file that is written, and what may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A file of ours, for this user alone. Whatever is there and no folder is replaced.
    Private,
    /// A file of ours, for whom the user lets read. Whatever is there and no folder is replaced.
    Usual,
    /// A file of the user's: it keeps its mode and its owner, and anything but a regular file of theirs is an error.
    Users,
    /// A program of ours that anybody may run. Whatever is there and no folder is replaced.
    Program,
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Access::Private => 0o600,
            Access::Usual | Access::Users => 0o666,
            Access::Program => 0o755,
        }
    }
}

/// A file that is being written, not yet under its name. Dropped without [`Draft::keep`] it is gone.
pub struct Draft {
    spot: Spot,
    temporary: OsString,
    file: io::BufWriter<File>,
    access: Access,
    /// What is to be replaced, or to be looked like.
    before: Option<Facts>,
    is_kept: bool,
}

/// As many names as a writer tries before it gives up.
const TRIES: u32 = 64;

impl Folder {
    /// Begins a file that is to stand under a name; its folder is made.
    ///
    /// # Errors
    /// When something stands there that is not to be replaced, or the file system refuses.
    pub fn draft(&self, name: impl AsRef<Path>, access: Access) -> Result<Draft, FileError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let spot = self.place(name.as_ref())?;
        let before = spot.look()?;
        match access {
            Access::Users => spot.check_owner(&before)?,
            _ if before.is_some_and(|facts| facts.sort == Sort::Folder) => spot.check(&before)?,
            _ => {}
        }
        let mut tries = 0;
        let (temporary, file) = loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let mut temporary = spot.name.clone();
            // The form that tells what a writer has left that died.
            temporary.push(format!(".{}-{number}.tmp", std::process::id()));
            match spot.dir.open(&temporary, How::New(access.mode())) {
                Ok(file) => break (temporary, file),
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                }
                Err(cause) => return Err(FileError::io("write", &spot.path)(cause)),
            }
        };
        Ok(Draft {
            spot,
            temporary,
            file: io::BufWriter::with_capacity(1 << 16, file),
            access,
            before,
            is_kept: false,
        })
    }

    /// Puts a file in the place of the one of that name, whole or not at all.
    ///
    /// # Errors
    /// As for [`Folder::draft`].
    pub fn replace(
        &self,
        name: impl AsRef<Path>,
        bytes: &[u8],
        access: Access,
    ) -> Result<(), FileError> {
        let mut draft = self.draft(name, access)?;
        draft.add(bytes)?;
        draft.keep(false)
    }

    /// Puts a copy of a user's file beside it, which looks like that file: who may not read the one may not read the other.
    ///
    /// # Errors
    /// As for [`Folder::draft`], and where the file is not there.
    pub fn replace_like(
        &self,
        name: impl AsRef<Path>,
        bytes: &[u8],
        like: impl AsRef<Path>,
    ) -> Result<(), FileError> {
        let (_, facts) = self.place(like.as_ref())?.open_there(How::Read)?;
        let mut draft = self.draft(name, Access::Users)?;
        draft.before = Some(facts);
        draft.add(bytes)?;
        draft.keep(false)
    }

    /// As [`Folder::replace`], and on the disk when it returns: the file, then its name.
    ///
    /// # Errors
    /// As for [`Folder::draft`].
    pub fn replace_synced(
        &self,
        name: impl AsRef<Path>,
        bytes: &[u8],
        access: Access,
    ) -> Result<(), FileError> {
        let mut draft = self.draft(name, access)?;
        draft.add(bytes)?;
        draft.keep(true)
    }

    /// Makes a file where there is none of that name, whole; false where there is one, which is not looked at.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn create(
        &self,
        name: impl AsRef<Path>,
        bytes: &[u8],
        access: Access,
    ) -> Result<bool, FileError> {
        let mut draft = self.draft(name, access)?;
        draft.add(bytes)?;
        let written = draft.file.flush();
        written.map_err(FileError::io("write", &draft.spot.path))?;
        // Linked into place, so that of two processes that make one at once both find the same. The draft goes when it is dropped.
        match draft.spot.dir.link(&draft.temporary, &draft.spot.name) {
            Ok(()) => Ok(true),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // A file system without second names.
            Err(_) if draft.before.is_none() => draft.keep(false).map(|()| true),
            Err(cause) => Err(FileError::io("write", &draft.spot.path)(cause)),
        }
    }

    /// Writes at the end of a file, all of it or nothing, and gives its new length. `new`: for whom it is made where there is none;
    /// without that, it is an error that there is none.
    ///
    /// # Errors
    /// When it is no regular file of the user's, or the file system refuses.
    pub fn append(
        &self,
        name: impl AsRef<Path>,
        bytes: &[u8],
        new: Option<Access>,
    ) -> Result<u64, FileError> {
        let name = name.as_ref();
        let spot = self.place(name)?;
        let how = match new {
            Some(access) => How::AppendOrNew(access.mode()),
            None => How::Append,
        };
        let (mut file, facts) = spot.open_there(how)?;
        let writing = |cause| FileError::io("write", &spot.path)(cause);
        if facts.names > 1 {
            // Another name of the same file is anywhere, and what stands there is not ours to change.
            let mut all = Vec::new();
            file.rewind()
                .and_then(|()| file.read_to_end(&mut all))
                .map_err(writing)?;
            all.extend_from_slice(bytes);
            self.replace(name, &all, Access::Users)?;
            return Ok(all.len() as u64);
        }
        if let Err(cause) = file.write_all(bytes) {
            // Half an entry would hide all that come after it.
            file.set_len(facts.len).map_err(writing)?;
            return Err(writing(cause));
        }
        Ok(spot.facts_of(&file)?.len)
    }
}

impl Draft {
    /// Writes on.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let written = self.file.write_all(bytes);
        written.map_err(FileError::io("write", &self.spot.path))
    }

    /// Puts it under its name; `sync`: file and name are on the disk then.
    ///
    /// # Errors
    /// When the file system refuses; then what was there is as it was.
    pub fn keep(mut self, sync: bool) -> Result<(), FileError> {
        let writing = FileError::io("write", &self.spot.path);
        self.put(sync).map_err(writing)
    }

    fn put(&mut self, sync: bool) -> io::Result<()> {
        self.file.flush()?;
        let file = self.file.get_ref();
        match (self.access, &self.before) {
            (Access::Users, Some(before)) => system::dress(file, before)?,
            // Whatever the mask says.
            (Access::Private | Access::Program, _) => {
                system::set_mode(file, self.access.mode())?;
            }
            _ => {}
        }
        if sync {
            file.sync_all()?;
        }
        let name: &OsStr = &self.spot.name;
        self.spot.dir.rename(&self.temporary, name)?;
        self.is_kept = true;
        if sync {
            self.spot.dir.sync()?;
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_kept {
            drop(self.spot.dir.remove(&self.temporary));
        }
    }
}
