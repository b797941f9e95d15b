//! The index: derived files in the common dir that spare a write reading every blob of the memory, and a look-up parsing it.
//!
//! In: places of the corpus, sections of blobs that were parsed. Out: the ids and the records of a blob, or nothing. Kept by the name of
//! the blob, whose content never changes, so that a new corpus needs only its new blobs. A file that is damaged or of another version
//! is never believed, and one that cannot be written is no error: the work is then done each time. Files are never changed in place.

use std::ffi::OsString;

use super::layout::Place;
use super::section::{self, Ids, Section};
use crate::id::{BlobId, RecordId};
use crate::record::Record;
use crate::repo::{Access, FileError, Folder, Map, Repo};

/// What a file begins with. The number is raised with every change of the format, and of what a line is read as.
const MAGIC: &[u8; 16] = b"score-records 1\n";
/// Bytes before the directory: magic 16, digest of the rest of the header and of the directory 32, count 8, version of the program 24.
const HEADER: usize = 80;
/// Bytes of what an entry is found by: the blob 33, what its name says 33.
const KEY: usize = 66;
/// Bytes of a directory entry: the key, then place 8, length 8 and digest 32 of the ids and of the facts.
const ENTRY: usize = KEY + 2 * 48;
/// So many single records are read one by one before they are worth a file.
const MOST_UNINDEXED: usize = 16;

/// Everything that is indexed.
pub(super) struct Index {
    files: Vec<Mapped>,
}

struct Mapped {
    name: OsString,
    map: Map,
}

/// What an entry is found by, and its content.
type Row = ([u8; KEY], Section);

/// A blob's part of a file, not yet checked.
struct Part<'a> {
    ids: &'a [u8],
    ids_digest: &'a [u8],
    facts: &'a [u8],
    facts_digest: &'a [u8],
    map: &'a Map,
}

/// How much of what is not indexed yet is to be, now that somebody has read it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Nothing: a corpus of the past.
    Nothing,
    /// Single records, and so many segments: somebody waits for a write.
    Few(usize),
    /// Everything.
    All,
}

impl Keep {
    /// Which of these places are to be indexed; none where that is not worth a file yet.
    pub(super) fn choose<'p>(self, unindexed: &[&'p Place]) -> Vec<&'p Place> {
        let most = match self {
            Keep::Nothing => return Vec::new(),
            Keep::Few(most) => most,
            Keep::All => usize::MAX,
        };
        let segments = unindexed.iter().filter(|place| place.is_segment());
        let mut chosen: Vec<_> = segments.take(most).copied().collect();
        let singles = unindexed.iter().filter(|place| !place.is_segment());
        if !chosen.is_empty() || singles.clone().count() >= MOST_UNINDEXED {
            chosen.extend(singles);
        }
        chosen
    }
}

impl Index {
    /// Opens what is there.
    pub(super) fn open(repo: &Repo) -> Self {
        let folder = folder(repo);
        // In the order of their names: that of a folder is anybody's.
        let names = folder.list().unwrap_or_default().into_iter();
        let ours = names.filter(|file| {
            file.name
                .to_str()
                .is_some_and(|name| name.ends_with(".idx"))
        });
        Self {
            files: ours.filter_map(|file| open(&folder, file.name)).collect(),
        }
    }

    /// Whether a blob is in it, be it only as one that has to be read itself.
    pub(super) fn has(&self, place: &Place) -> bool {
        self.part(place).is_some()
    }

    /// The ids of a blob.
    pub(super) fn ids(&self, place: &Place) -> Option<Ids> {
        let part = self.part(place)?;
        let ids = is_sound(part.ids, part.ids_digest).then(|| Ids::of(part.ids))?;
        // What was read counts only where the file was what it was until the end.
        ids.filter(|_| part.map.is_whole())
    }

    /// The records of a blob.
    pub(super) fn records(&self, place: &Place) -> Option<Vec<(RecordId, Record)>> {
        let part = self.part(place)?;
        let records =
            is_sound(part.facts, part.facts_digest).then(|| section::decode(part.facts))?;
        records.filter(|_| part.map.is_whole())
    }

    fn part(&self, place: &Place) -> Option<Part<'_>> {
        let (blob, name) = (blob_key(place.blob), name_key(place)?);
        self.files.iter().find_map(|file| {
            let entries = file.entries();
            let at = entries
                .binary_search_by(|entry| entry[..33].cmp(&blob))
                .ok()?;
            // The same blob under another name is damage, to be told by who reads it.
            (entries[at][33..KEY] == name).then(|| file.part(&entries[at]))?
        })
    }

    /// Adds sections to what is indexed. Small files are taken into the new one, so that there are never many, and blobs that are not
    /// among the `live` ones are left behind on the way.
    pub(super) fn keep(self, repo: &Repo, new: Vec<(&Place, Section)>, live: &[Place]) {
        if new.is_empty() {
            return;
        }
        let mut live: Vec<_> = live.iter().map(|place| blob_key(place.blob)).collect();
        live.sort_unstable();
        let mut rows: Vec<Row> = Vec::new();
        for (place, section) in new {
            let Some(name) = name_key(place) else {
                continue;
            };
            let mut key = [0; KEY];
            key[..33].copy_from_slice(&blob_key(place.blob));
            key[33..].copy_from_slice(&name);
            rows.push((key, section));
        }
        let mut size: usize = rows.iter().map(|(_, section)| section.facts.len()).sum();
        let mut files = self.files;
        files.sort_by_key(|file| file.map.len());
        let mut absorbed = Vec::new();
        for file in &files {
            let entries = file.entries();
            let kept = entries.iter().filter(|entry| {
                live.binary_search_by(|key| key[..].cmp(&entry[..33]))
                    .is_ok()
            });
            let is_stale = kept.clone().count() * 2 < entries.len();
            if file.map.len() > size * 2 && !is_stale {
                continue;
            }
            for entry in kept {
                let Some(part) = file.part(entry) else {
                    continue;
                };
                let mut key = [0; KEY];
                key.copy_from_slice(&entry[..KEY]);
                let section = Section {
                    ids: part.ids.to_vec(),
                    facts: part.facts.to_vec(),
                };
                // Damage is not carried on.
                if is_sound(&section.ids, part.ids_digest)
                    && is_sound(&section.facts, part.facts_digest)
                    && file.map.is_whole()
                {
                    rows.push((key, section));
                }
            }
            size += file.map.len();
            absorbed.push(&file.name);
        }
        rows.sort_by_key(|(key, _)| *key);
        rows.dedup_by(|(a, _), (b, _)| a == b);
        let folder = folder(repo);
        if let Ok(name) = write(&folder, &rows) {
            for old in absorbed.into_iter().filter(|old| **old != *name) {
                drop(folder.remove(old));
            }
        }
        drop_left_over(&folder);
    }
}

impl Mapped {
    fn entries(&self) -> &[[u8; ENTRY]] {
        let count = self.count().unwrap_or(0);
        let directory = self.map.get(HEADER..).unwrap_or_default();
        let entries = directory.as_chunks::<ENTRY>().0;
        entries.get(..count).unwrap_or_default()
    }

    fn count(&self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(*self.map.get(48..)?.first_chunk()?)).ok()
    }

    fn part<'a>(&'a self, entry: &'a [u8; ENTRY]) -> Option<Part<'a>> {
        let number = |at: usize| -> Option<usize> {
            usize::try_from(u64::from_le_bytes(*entry.get(at..)?.first_chunk()?)).ok()
        };
        let bytes = |at: usize| self.map.get(number(at)?..)?.get(..number(at + 8)?);
        Some(Part {
            ids: bytes(KEY)?,
            ids_digest: &entry[KEY + 16..KEY + 48],
            facts: bytes(KEY + 48)?,
            facts_digest: &entry[KEY + 64..],
            map: &self.map,
        })
    }
}

fn is_sound(bytes: &[u8], digest: &[u8]) -> bool {
    blake3::hash(bytes).as_bytes()[..] == *digest
}

/// Where its files are.
pub(super) fn folder(repo: &Repo) -> Folder {
    repo.cache().below("index")
}

fn open(folder: &Folder, name: OsString) -> Option<Mapped> {
    let map = folder.map(&name).ok()??;
    let mapped = Mapped { name, map };
    let head = mapped.map.get(..HEADER)?;
    let end = HEADER + mapped.count()?.checked_mul(ENTRY)?;
    let digest = blake3::hash(mapped.map.get(48..end)?);
    (head[..16] == *MAGIC && head[16..48] == *digest.as_bytes() && head[56..] == version())
        .then_some(mapped)
}

/// The version of the program: another one may read a line as something else.
fn version() -> [u8; 24] {
    let mut bytes = [0; 24];
    let text = env!("CARGO_PKG_VERSION").as_bytes();
    let len = text.len().min(bytes.len());
    bytes[..len].copy_from_slice(&text[..len]);
    bytes
}

fn blob_key(BlobId(id): BlobId) -> [u8; 33] {
    let mut key = [0; 33];
    let name = id.as_bytes();
    key[0] = name.len() as u8;
    key[1..=name.len()].copy_from_slice(name);
    key
}

/// What the name of a place says its content is.
fn name_key(place: &Place) -> Option<[u8; 33]> {
    let id: RecordId = place.name.split('.').next()?.parse().ok()?;
    let mut key = [0; 33];
    key[0] = u8::from(place.is_segment());
    key[1..].copy_from_slice(id.as_bytes());
    Some(key)
}

/// Writes a file of sorted rows; gives its name.
fn write(folder: &Folder, rows: &[Row]) -> Result<String, FileError> {
    let mut directory = Vec::with_capacity(rows.len() * ENTRY);
    let mut place = (HEADER + rows.len() * ENTRY) as u64;
    for (key, section) in rows {
        directory.extend_from_slice(key);
        for bytes in [&section.ids, &section.facts] {
            directory.extend_from_slice(&place.to_le_bytes());
            directory.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            directory.extend_from_slice(blake3::hash(bytes).as_bytes());
            place += bytes.len() as u64;
        }
    }
    let mut rest = (rows.len() as u64).to_le_bytes().to_vec();
    rest.extend_from_slice(&version());
    rest.extend_from_slice(&directory);
    let digest = blake3::hash(&rest);
    let name = format!("{}.idx", &digest.to_hex()[..32]);
    let mut file = folder.draft(&name, Access::Usual)?;
    file.add(MAGIC)?;
    file.add(digest.as_bytes())?;
    file.add(&rest)?;
    for (_, section) in rows {
        file.add(&section.ids)?;
        file.add(&section.facts)?;
    }
    file.keep(false)?;
    Ok(name)
}

/// Removes what writers that died have left.
fn drop_left_over(folder: &Folder) {
    for file in folder.list().unwrap_or_default() {
        let is_left = file
            .name
            .to_str()
            .is_some_and(|name| name.ends_with(".tmp"));
        if is_left && file.age().is_some_and(|age| age.as_secs() > 3600) {
            drop(folder.remove(&file.name));
        }
    }
}
