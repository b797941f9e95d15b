//! The system calls of the gateway: every step is relative to a folder that is open, so nobody can put a link under our feet.
//!
//! In: open folders and single names. Out: what the system says. Never decides what may be opened.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags, Stat};

use super::listed::{Facts, Sort};

/// An open folder.
pub struct Dir(OwnedFd);

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    Read,
    /// For its lock, its length or its time: not to be written over.
    Write,
    /// To write at its end.
    Append,
    /// A new one, with this mode.
    New(u32),
    /// As `Write`, and made where there is none.
    WriteOrNew(u32),
    /// As `Append`, and made where there is none.
    AppendOrNew(u32),
}

/// To go through a folder it need not be readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEP: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEP: OFlags = OFlags::RDONLY;

impl Dir {
    /// The root; links above it and in its place are the user's own.
    pub fn root(path: &Path) -> io::Result<Self> {
        let flags = STEP | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(fs::openat(CWD, path, flags, Mode::empty())?))
    }

    /// A folder in this one; an error where that is a link.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let flags = STEP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    pub fn make(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    pub fn look(&self, name: &OsStr) -> io::Result<Facts> {
        Ok(facts(&fs::statat(
            &self.0,
            name,
            AtFlags::SYMLINK_NOFOLLOW,
        )?))
    }

    /// Whose this folder is.
    pub fn owner(&self) -> io::Result<u32> {
        Ok(fs::fstat(&self.0)?.st_uid)
    }

    /// Opens without waiting and without following. What was opened has still to be looked at.
    pub fn open(&self, name: &OsStr, how: How) -> io::Result<File> {
        let always = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let (flags, mode) = match how {
            How::Read => (OFlags::RDONLY, 0),
            How::Write => (OFlags::RDWR, 0),
            How::Append => (OFlags::RDWR | OFlags::APPEND, 0),
            How::New(mode) => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode),
            How::WriteOrNew(mode) => (OFlags::RDWR | OFlags::CREATE, mode),
            How::AppendOrNew(mode) => (OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, mode),
        };
        let mode = Mode::from_raw_mode(mode as fs::RawMode);
        Ok(fs::openat(&self.0, name, flags | always, mode)?.into())
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// A second name; an error where there is something of that name.
    pub fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    /// Removes anything but a folder; a link itself, and not what it leads to.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes a folder that is empty.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::openat(&self.0, ".", flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in fs::Dir::new(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        Ok(names)
    }

    /// The folder itself to the disk, after a file in it was renamed.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::openat(&self.0, ".", flags, Mode::empty())?;
        Ok(fs::fsync(folder)?)
    }
}

/// What is known of an open file.
pub fn facts_of(file: &File) -> io::Result<Facts> {
    Ok(facts(&fs::fstat(file)?))
}

/// Makes an open file look like another one: who may do what with it, and, where that is allowed, whose it is.
pub fn dress(file: &File, like: &Facts) -> io::Result<()> {
    let meta = file.metadata()?;
    if (meta.uid(), meta.gid()) != (like.owner, like.group) {
        // Only the superuser may give a file away; who may not keeps what is then their own.
        drop(std::os::unix::fs::fchown(
            file,
            Some(like.owner),
            Some(like.group),
        ));
    }
    Ok(fs::fchmod(
        file,
        Mode::from_raw_mode((like.mode & 0o7777) as fs::RawMode),
    )?)
}

/// Gives an open file a mode, whatever the mask says.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    Ok(fs::fchmod(file, Mode::from_raw_mode(mode as fs::RawMode))?)
}

/// The user in whose name the process works.
#[expect(unsafe_code, reason = "the standard library does not ask for it")]
pub fn user() -> u32 {
    // SAFETY: it takes nothing, changes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

#[allow(
    clippy::unnecessary_cast,
    reason = "these numbers are narrower on other systems"
)]
fn facts(stat: &Stat) -> Facts {
    let sort = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Sort::File,
        FileType::Directory => Sort::Folder,
        FileType::Symlink => Sort::Link,
        FileType::Fifo => Sort::Other("a pipe, and a file has to be there"),
        FileType::Socket => Sort::Other("a socket, and a file has to be there"),
        _ => Sort::Other("a device, and a file has to be there"),
    };
    let seconds = u64::try_from(stat.st_mtime).ok();
    let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    let modified = seconds.map(|seconds| Duration::new(seconds, nanos));
    Facts {
        sort,
        len: u64::try_from(stat.st_size).unwrap_or(0),
        modified,
        owner: stat.st_uid,
        group: stat.st_gid,
        mode: stat.st_mode as u32,
        names: stat.st_nlink as u64,
    }
}
