//! Facts of blobs that were read before: encoding, and files of them in the cache.
//!
//! In: facts, or the reason why a blob has none, by blob and language. Out: the same, unchanged, in another process. Bytes that are not
//! sound give nothing. Never reads a repository.

use std::borrow::Cow;

use rkyv::util::AlignedVec;

use crate::graph::cache::{self, FACTS, HEADER};
use crate::graph::extract::REASONS;
use crate::graph::facts::{Facts, Language};
use crate::id::{ObjectId, TreeId};
use crate::repo::{Folder, Map};

/// What facts are kept under: the blob and how it is read.
pub type Key = (ObjectId, Language);

/// The facts of a blob, or the reason why it has none.
pub type Read = Result<Box<Facts>, &'static str>;

/// Bytes of an index entry: object id 32, its length 1, language 1, zeros 2, place of the facts 8, their length 8.
const ENTRY: usize = 52;

/// Facts start at multiples of this.
const ALIGN: usize = 16;

/// One part in so many of a tree's blobs is rather read again than looked for in one more file.
const SPARE: usize = 32;

/// A tree whose facts come from so many files gets one of its own.
const MAX_PARTS: usize = 4;

/// A file of facts.
pub struct Kept {
    name: String,
    map: Map,
    /// Keys with the place of their bytes in the map, sorted.
    index: Vec<(Key, usize, usize)>,
}

impl Kept {
    /// The sound files of facts in a directory that this extractor made, the most recently used first, as many as it takes to have the
    /// facts of almost all keys.
    pub fn near(dir: &Folder, extractor: &str, keys: &[Key]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut missing: Vec<&Key> = keys.iter().collect();
        for name in cache::newest(dir, &FACTS) {
            if missing.len() <= keys.len() / SPARE {
                break;
            }
            if let Some(file) =
                cache::open(dir, &name, &FACTS, extractor).and_then(|map| Self::over(name, map))
            {
                missing.retain(|key| file.find(key).is_none());
                found.push(file);
            }
        }
        found
    }

    fn over(name: String, map: Map) -> Option<Self> {
        let payload = map.get(HEADER..)?;
        let count = u64::from_le_bytes(*payload.first_chunk()?);
        let count = usize::try_from(count).ok()?;
        let entries = payload.get(ALIGN..)?.get(..count.checked_mul(ENTRY)?)?;
        let mut index = Vec::with_capacity(count);
        for entry in entries.as_chunks::<ENTRY>().0 {
            let id = ObjectId::from_bytes(entry.get(..usize::from(entry[32]))?).ok()?;
            let place = u64::from_le_bytes(*entry.get(36..)?.first_chunk()?);
            let len = u64::from_le_bytes(*entry.get(44..)?.first_chunk()?);
            let key = (id, Language::from_number(entry[33])?);
            index.push((
                key,
                usize::try_from(place).ok()?,
                usize::try_from(len).ok()?,
            ));
        }
        Some(Self { name, map, index })
    }

    /// The facts of a key, with their bytes; none where it has none, or where the file was cut under us.
    pub fn read(&self, key: &Key) -> Option<(Read, &[u8])> {
        let bytes = self.find(key)?;
        // A copy cannot change between being checked and being read.
        let mut copy = AlignedVec::<ALIGN>::with_capacity(bytes.len());
        copy.extend_from_slice(bytes);
        let read = decode(&copy)?;
        (!self.map.is_cut()).then_some((read, bytes))
    }

    /// The encoded facts of a key.
    pub fn find(&self, key: &Key) -> Option<&[u8]> {
        let at = self.index.binary_search_by_key(key, |entry| entry.0).ok()?;
        let (_, place, len) = self.index[at];
        self.map.get(HEADER..)?.get(place..place.checked_add(len)?)
    }
}

/// Facts as bytes: what sort they are, then the facts.
pub fn encode(read: &Read) -> Vec<u8> {
    let mut out = vec![0; ALIGN];
    match read {
        Ok(facts) => {
            let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(facts.as_ref());
            out.extend_from_slice(
                &bytes.expect("facts of plain numbers and texts always serialise"),
            );
        }
        Err(reason) => {
            let number = REASONS
                .iter()
                .position(|known| known == reason)
                .unwrap_or(0);
            out[0] = number as u8 + 1;
        }
    }
    out
}

/// The facts of bytes that `encode` made and that lie at a multiple of 16.
pub fn decode(bytes: &[u8]) -> Option<Read> {
    let (head, facts) = bytes.split_at_checked(ALIGN)?;
    if head[0] != 0 {
        return Some(Err(REASONS.get(usize::from(head[0]) - 1)?));
    }
    let facts = rkyv::from_bytes::<Facts, rkyv::rancor::Error>(facts).ok()?;
    facts.ends_upwards().then(|| Ok(Box::new(facts)))
}

/// Keep the facts of a tree, sorted by key: those that were not kept yet, or all where they come from many files.
pub fn keep_new(
    dir: &Folder,
    tree: TreeId,
    extractor: &str,
    entries: &[(Key, &Cow<'_, [u8]>)],
    kept: &[Kept],
) {
    let new = entries
        .iter()
        .filter(|(_, bytes)| matches!(bytes, Cow::Owned(_)));
    let count = new.clone().count();
    if count == 0 {
        return;
    }
    let own = cache::name_of(&FACTS, &tree.to_string());
    let is_whole = kept.len() >= MAX_PARTS
        || count * 4 > entries.len()
        || kept.iter().any(|file| file.name == own);
    let written: Vec<(Key, &[u8])> = match is_whole {
        true => entries
            .iter()
            .map(|(key, bytes)| (*key, bytes.as_ref()))
            .collect(),
        false => new.map(|(key, bytes)| (*key, bytes.as_ref())).collect(),
    };
    let is_kept = keep(dir, tree, extractor, &written);
    if kept.iter().any(|file| !file.map.is_whole()) {
        // What was copied from a file that was cut meanwhile is nothing.
        drop(dir.remove(own));
        return;
    }
    if is_kept && !is_whole {
        for file in kept {
            cache::touch(dir, &file.name, &own);
        }
    }
}

/// Keep encoded facts under a tree's name, sorted by key; false when they could not be kept.
fn keep(dir: &Folder, tree: TreeId, extractor: &str, entries: &[(Key, &[u8])]) -> bool {
    let mut index = vec![0; ALIGN];
    index[..8].copy_from_slice(&(entries.len() as u64).to_le_bytes());
    let mut place = (ALIGN + entries.len() * ENTRY).next_multiple_of(ALIGN);
    for ((id, language), bytes) in entries {
        let mut entry = [0; ENTRY];
        let name = id.as_bytes();
        entry[..name.len()].copy_from_slice(name);
        entry[32] = name.len() as u8;
        entry[33] = *language as u8;
        entry[36..44].copy_from_slice(&(place as u64).to_le_bytes());
        entry[44..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        index.extend_from_slice(&entry);
        place += bytes.len().next_multiple_of(ALIGN);
    }
    index.resize(index.len().next_multiple_of(ALIGN), 0);
    let mut payload: Vec<&[u8]> = Vec::with_capacity(entries.len() * 2 + 1);
    payload.push(&index);
    for (_, bytes) in entries {
        payload.push(bytes);
        payload.push(&[0; ALIGN][..bytes.len().next_multiple_of(ALIGN) - bytes.len()]);
    }
    cache::keep(dir, &FACTS, tree, extractor, &payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extract;
    use crate::graph::syntax::Parsers;

    #[test]
    fn facts_come_back_as_they_were() {
        let text = b"import a\nclass C(a.B):\n    def m(self, x: int = 1) -> C:\n        return self.m(x)\n";
        let facts =
            extract::facts(&mut Parsers::default(), Language::Python, text).expect("it is read");
        let id =
            |byte: u8, len: usize| ObjectId::from_bytes(&vec![byte; len]).expect("20 or 32 bytes");
        let dir = tempfile::tempdir().expect("a temporary directory");
        let first: Read = Ok(Box::new(facts));
        let second: Read = Err("long lines");
        let (a, b) = (encode(&first), encode(&second));
        let keys = [
            (id(1, 20), Language::Python),
            (id(2, 20), Language::Tsx),
            (id(3, 32), Language::Project),
        ];
        let entries = [
            (keys[0], a.as_slice()),
            (keys[1], b.as_slice()),
            (keys[2], a.as_slice()),
        ];
        let dir = Folder::at(dir.path());
        assert!(keep(&dir, TreeId(id(9, 20)), "1", &entries));
        let found = Kept::near(&dir, "1", &keys);
        let get = |key| {
            found
                .first()
                .and_then(|file| file.find(key))
                .and_then(decode)
        };
        assert_eq!(get(&keys[0]), Some(first.clone()));
        assert_eq!(get(&keys[1]), Some(second));
        assert_eq!(get(&keys[2]), Some(first));
        assert_eq!(get(&(id(1, 20), Language::Tsx)), None);
        assert!(Kept::near(&dir, "2", &keys).is_empty());
    }
}
