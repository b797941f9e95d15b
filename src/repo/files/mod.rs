//! The one gateway to files: of our own folder in the common dir, and of the work tree where a user asked for it.
//!
//! In: a root that the user trusts already, and names below it. Out: bytes, maps, and files written under another name and renamed. No
//! component below the root may be a symbolic link, and nothing but a regular file is ever opened, so that a repository that somebody
//! else has made cannot send a read or a write elsewhere, or hold it up. Never opens a file without these checks.

mod error;
mod fault;
mod folder;
mod listed;
mod map;
#[cfg(not(unix))]
mod portable;
mod system;
#[cfg(unix)]
mod unix;
mod write;

pub use error::FileError;
pub use fault::guard_maps;
pub use folder::Folder;
pub use listed::{Listed, Sort};
pub use map::Map;
pub use write::{Access, Draft};

#[cfg(all(test, unix))]
mod tests;
