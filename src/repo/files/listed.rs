//! What stands in a folder: names and what they name, seen without following or opening anything.

use std::ffi::OsString;
use std::time::{Duration, UNIX_EPOCH};

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Other(&'static str),
}

/// One entry of a folder, or one file.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name in the folder.
    pub name: OsString,
    /// What it is.
    pub sort: Sort,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last written, since 1970, where the system says so.
    pub modified: Option<Duration>,
}

impl Listed {
    /// How long ago it was last written.
    pub fn age(&self) -> Option<Duration> {
        UNIX_EPOCH.elapsed().ok()?.checked_sub(self.modified?)
    }
}

/// What is known of a file before it is opened, and again once it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub sort: Sort,
    pub len: u64,
    pub modified: Option<Duration>,
    /// Whose it is; zero where the system has no such thing.
    pub owner: u32,
    pub group: u32,
    /// Who may do what with it.
    pub mode: u32,
    /// How many names it has.
    pub names: u64,
}

impl Sort {
    /// Why that is no file to be opened; none for a regular file.
    pub(super) fn trouble(self) -> Option<String> {
        let what = match self {
            Sort::File => return None,
            Sort::Folder => "a folder, and a file has to be there",
            Sort::Link => "a symbolic link, and nothing is read or written through one",
            Sort::Other(what) => what,
        };
        Some(format!(
            "is {what}; remove it or move it away, then run again"
        ))
    }
}
