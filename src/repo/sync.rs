//! What is written through to the disk, and when, as `core.fsync` asks.
//!
//! In: the configuration, files. Out: files that are on the disk. The order is the caller's: objects, their folder, then the reference.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::open::Repo;

/// Whether files of a kind outlive a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durable(bool);

impl Durable {
    /// Writes a new file, readable for all.
    pub(super) fn write(
        self,
        path: &Path,
        content: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o444);
        let mut file = options.open(path)?;
        content(&mut file)?;
        self.file(&file)
    }

    pub(super) fn file(self, file: &File) -> io::Result<()> {
        match self.0 {
            true => file.sync_all(),
            false => Ok(()),
        }
    }

    /// Makes the names in a folder durable. Where folders cannot be opened as files the system does it by itself.
    pub(super) fn folder(self, folder: &Path) -> io::Result<()> {
        if !self.0 || cfg!(windows) {
            return Ok(());
        }
        File::open(folder)?.sync_all()
    }
}

/// The components of `core.fsync` that matter here.
struct Wanted {
    loose: bool,
    pack: bool,
    reference: bool,
}

impl Repo {
    /// Whether the objects of a write are synced. A small one stands in for loose objects, which Git does not sync unless it is asked to; the
    /// journal has its objects too. A large one is a pack as any other, which Git does.
    pub fn durable_objects(&self, is_large: bool) -> Durable {
        let wanted = self.fsync_wanted();
        Durable(match is_large {
            true => wanted.pack || wanted.loose,
            false => wanted.loose,
        })
    }

    /// Whether references are synced.
    pub fn durable_references(&self) -> Durable {
        Durable(self.fsync_wanted().reference)
    }

    /// As Git reads `core.fsync`, and the older `core.fsyncObjectFiles`.
    fn fsync_wanted(&self) -> Wanted {
        let old = self
            .config("core.fsyncObjectFiles")
            .is_some_and(|value| matches!(value.as_str(), "true" | "yes" | "on" | "1"));
        // Git's default on most systems: `committed,-loose-object`.
        let mut wanted = Wanted {
            loose: old,
            pack: true,
            reference: false,
        };
        for part in self.config("core.fsync").unwrap_or_default().split(',') {
            let (on, name) = match part.trim().strip_prefix('-') {
                Some(name) => (false, name),
                None => (true, part.trim()),
            };
            match name {
                "none" => (wanted.loose, wanted.pack, wanted.reference) = (false, false, false),
                "loose-object" => wanted.loose = on,
                "pack" => wanted.pack = on,
                "reference" => wanted.reference = on,
                "objects" | "committed" | "added" => (wanted.loose, wanted.pack) = (on, on),
                "all" => (wanted.loose, wanted.pack, wanted.reference) = (on, on, on),
                _ => {}
            }
        }
        wanted
    }
}
