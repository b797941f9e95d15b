//! The steps of the gateway where the system opens nothing relative to an open folder: every component is looked at before it is used.
//!
//! In: folders and single names. Out: what the system says. Somebody who swaps a folder between the look and the use is not stopped here.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::listed::{Facts, Sort};

/// A folder that was seen to be one.
pub struct Dir(PathBuf);

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    Read,
    Write,
    Append,
    New(u32),
    WriteOrNew(u32),
    AppendOrNew(u32),
}

impl Dir {
    pub fn root(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path)?.is_dir() {
            true => Ok(Self(path)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn make(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub fn look(&self, name: &OsStr) -> io::Result<Facts> {
        Ok(facts(&fs::symlink_metadata(self.0.join(name))?))
    }

    pub fn owner(&self) -> io::Result<u32> {
        Ok(0)
    }

    pub fn open(&self, name: &OsStr, how: How) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match how {
            How::Read => options.read(true),
            How::Write => options.read(true).write(true),
            How::Append => options.read(true).append(true),
            How::New(_) => options.write(true).create_new(true),
            How::WriteOrNew(_) => options.read(true).write(true).create(true).truncate(false),
            How::AppendOrNew(_) => options.read(true).append(true).create(true),
        };
        options.open(self.0.join(name))
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), self.0.join(to))
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = fs::read_dir(&self.0)?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

pub fn facts_of(file: &File) -> io::Result<Facts> {
    Ok(facts(&file.metadata()?))
}

/// Such a system has no mode to hand on.
pub fn dress(_: &File, _: &Facts) -> io::Result<()> {
    Ok(())
}

/// Such a system has no mode.
pub fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Such a system has no number for it.
pub fn user() -> u32 {
    0
}

fn facts(meta: &Metadata) -> Facts {
    let kind = meta.file_type();
    let modified = meta.modified().ok();
    Facts {
        sort: match () {
            () if kind.is_symlink() => Sort::Link,
            () if kind.is_dir() => Sort::Folder,
            () if kind.is_file() => Sort::File,
            () => Sort::Other("no regular file, and one has to be there"),
        },
        len: meta.len(),
        modified: modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()),
        owner: 0,
        group: 0,
        mode: 0,
        names: 1,
    }
}
