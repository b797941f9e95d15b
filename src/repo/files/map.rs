//! A file as bytes in memory: read where it is small, mapped where it is large.
//!
//! In: a file of a folder. Out: its bytes, and whether they are still those that were opened. A mapped file that somebody cuts shows
//! zeros from there on and says that it is not whole; it is never a signal that ends the process.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;
use rkyv::util::AlignedVec;

use super::error::FileError;
use super::fault::{self, Slot};
use super::folder::{Folder, Spot};
use super::listed::Facts;
use super::system::{self, How};

/// A file up to this is read. That costs 40 microseconds more than to map it; at 256 KiB it was 150, at 14 MiB 11 milliseconds.
const SMALL: u64 = 64 * 1024;

/// No cache is longer than this; what is, is none of ours.
const MOST: u64 = 1 << 30;

/// The bytes of a file. They begin at a multiple of 16.
pub struct Map(Bytes);

enum Bytes {
    Read(AlignedVec),
    Mapped {
        // Before the map, so that what is let go is not watched any more.
        slot: Slot,
        map: Mmap,
        file: File,
        facts: Facts,
    },
}

impl Folder {
    /// The bytes of a file, to be looked at in places; none where there is none.
    ///
    /// # Errors
    /// When it is no regular file of the user's, or cannot be read.
    pub fn map(&self, name: impl AsRef<Path>) -> Result<Option<Map>, FileError> {
        let Some(spot) = self.find(name.as_ref())? else {
            return Ok(None);
        };
        let Some((file, facts)) = spot.open(How::Read)? else {
            return Ok(None);
        };
        if facts.len > MOST {
            let why = format!("is longer than {MOST} bytes, and is not read for that");
            return Err(FileError::refused(&spot.path, why));
        }
        let mapped = match facts.len > SMALL {
            true => mapped(&spot, file, facts)?,
            false => Err(file),
        };
        let bytes = match mapped {
            Ok(bytes) => bytes,
            Err(file) => read(&spot, file, facts.len)?,
        };
        Ok(Some(Map(bytes)))
    }
}

/// A file that is cut while it is read is as short as it is then, and its digest says so.
fn read(spot: &Spot, file: File, len: u64) -> Result<Bytes, FileError> {
    let mut bytes = AlignedVec::new();
    let reading = FileError::io("read", &spot.path);
    bytes.reserve(usize::try_from(len).unwrap_or(0));
    let read = bytes.extend_from_reader(&mut file.take(len));
    read.map_err(reading)?;
    Ok(Bytes::Read(bytes))
}

/// The file, mapped and watched; the file itself where nothing watches, or where something was cut before.
#[expect(unsafe_code, reason = "a file is mapped; see SAFETY")]
fn mapped(spot: &Spot, file: File, facts: Facts) -> Result<Result<Bytes, File>, FileError> {
    if !fault::is_guarded() {
        return Ok(Err(file));
    }
    // SAFETY: caches are written under another name and renamed, and removed, but never written in place by us. Whoever does so all the
    // same changes plain bytes, which nobody trusts to be anything: every user checks each place it reads, as bytes. A file that is cut
    // shows zeros, by the watch that `slot` is.
    let map = unsafe { Mmap::map(&file) }.map_err(FileError::io("read", &spot.path))?;
    Ok(match Slot::take(&map) {
        Some(slot) => Ok(Bytes::Mapped {
            slot,
            map,
            file,
            facts,
        }),
        None => Err(file),
    })
}

impl Map {
    /// Whether what was read until now was really in the file: no page of it had been cut off. Costs next to nothing.
    pub fn is_cut(&self) -> bool {
        match &self.0 {
            Bytes::Read(_) => false,
            Bytes::Mapped { slot, .. } => slot.is_cut(),
        }
    }

    /// Whether these are still the bytes that were opened: nobody has cut the file or written in it. To be asked after the last look
    /// at them; where it is not so, nothing that was made of them counts.
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Bytes::Read(_) => true,
            Bytes::Mapped {
                slot, file, facts, ..
            } => {
                let now = system::facts_of(file);
                !slot.is_cut()
                    && now.is_ok_and(|now| (now.len, now.modified) == (facts.len, facts.modified))
            }
        }
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Read(bytes) => bytes,
            Bytes::Mapped { map, .. } => map,
        }
    }
}
