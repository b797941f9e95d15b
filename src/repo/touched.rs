//! The form of the file in which is kept what commits touched: found by id, each checked by itself.
//!
//! In: bytes, commits. Out: commits, bytes. A look-up reads some thousand of the commits, and pays for no other: a head, the ids in
//! ascending order, where each entry ends, the entries. A commit whose entry is damaged counts as not kept. Never touches a file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::id::{CommitId, ObjectId};

/// The first bytes of the file; raised with every change of its form.
const MAGIC: &[u8; 16] = b"score-touched 2\n";
/// The magic, the length of an id, the number of commits, a check of both.
const HEAD: usize = MAGIC.len() + 8 + CHECK;
/// Bytes of a check: against damage, not against an enemy, who could write what he likes here.
const CHECK: usize = 8;
/// Most commits in a file.
const MOST_COMMITS: usize = 20_000;
/// Most bytes of all entries of a file.
const MOST_BYTES: usize = 64 << 20;

/// One commit, as far as touch counts need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Committer date, in seconds since 1970.
    pub time: i64,
    /// Its parents.
    pub parents: Vec<CommitId>,
    /// Every path it touched, sorted; empty for a merge, and where its parents are not here.
    pub paths: Arc<Vec<String>>,
}

/// The bytes of a file.
#[derive(Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    width: usize,
    count: usize,
}

impl Kept {
    /// A file as it was read; none when it is no such file, its head is damaged, or it is shorter than its head says.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (numbers, rest) = rest.split_at_checked(8)?;
        let (check, rest) = rest.split_first_chunk()?;
        let (width, count) = numbers.split_first_chunk()?;
        let width = u32::from_le_bytes(*width) as usize;
        let count = u32::from_le_bytes(*count.first_chunk()?) as usize;
        let is_whole = *check == check_of(MAGIC, numbers)
            && matches!(width, 20 | 32)
            && rest.len() / (width + 4) >= count;
        is_whole.then_some(Self {
            bytes,
            width,
            count,
        })
    }

    /// What it says of a commit.
    pub fn find(&self, id: CommitId) -> Option<Known> {
        let wanted = id.0.as_bytes();
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.name(middle).cmp(wanted) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return self.known(wanted, self.entry(middle)?),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    fn name(&self, at: usize) -> &[u8] {
        &self.bytes[HEAD + at * self.width..][..self.width]
    }

    fn entry(&self, at: usize) -> Option<&[u8]> {
        let ends = HEAD + self.count * self.width;
        let end = |at: usize| {
            let end = self.bytes[ends + at * 4..].first_chunk()?;
            Some(u32::from_le_bytes(*end) as usize)
        };
        let entries = &self.bytes[ends + self.count * 4..];
        let start = at.checked_sub(1).map_or(Some(0), end)?;
        entries.get(start..end(at)?)
    }

    fn known(&self, name: &[u8], entry: &[u8]) -> Option<Known> {
        let (check, said) = entry.split_first_chunk()?;
        if *check != check_of(name, said) {
            return None;
        }
        let (time, rest) = said.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let length = (u32::from_le_bytes(*count) as usize).checked_mul(self.width)?;
        let (parents, paths) = rest.split_at_checked(length)?;
        let parent = |name| Some(CommitId(ObjectId::from_bytes(name).ok()?));
        let paths = std::str::from_utf8(paths).ok()?;
        let paths = paths.split('\0').filter(|path| !path.is_empty());
        Some(Known {
            time: i64::from_le_bytes(*time),
            parents: parents
                .chunks_exact(self.width)
                .map(parent)
                .collect::<Option<_>>()?,
            paths: Arc::new(paths.map(str::to_owned).collect()),
        })
    }

    /// The bytes of a file that holds what is known as well, and nothing of the commits left out. When not all have room, what is known
    /// goes before what was only kept, and the newer before the older.
    pub fn with(&self, known: &BTreeMap<CommitId, Known>, left_out: &HashSet<CommitId>) -> Vec<u8> {
        let mut all: Vec<(bool, i64, CommitId, Vec<u8>)> = known
            .iter()
            .map(|(id, known)| (true, known.time, *id, entry_of(*id, known)))
            .collect();
        for at in 0..self.count {
            let id = ObjectId::from_bytes(self.name(at)).map(CommitId);
            let (Ok(id), Some(entry)) = (id, self.entry(at)) else {
                continue;
            };
            let time = entry.get(CHECK..).and_then(<[u8]>::first_chunk);
            if let Some(time) = time.filter(|_| !known.contains_key(&id)) {
                all.push((false, i64::from_le_bytes(*time), id, entry.to_vec()));
            }
        }
        all.retain(|(.., id, _)| !left_out.contains(id));
        all.sort_by_key(|(is_known, time, id, _)| Reverse((*is_known, *time, *id)));
        all.truncate(MOST_COMMITS);
        let mut total = 0;
        let room = all.iter().take_while(|(.., entry)| {
            total += entry.len();
            total <= MOST_BYTES
        });
        let room = room.count();
        all.truncate(room);
        all.sort_by_key(|(.., id, _)| *id);
        bytes_of(&all)
    }
}

fn bytes_of(all: &[(bool, i64, CommitId, Vec<u8>)]) -> Vec<u8> {
    let width = all.first().map_or(20, |(.., id, _)| id.0.as_bytes().len());
    let numbers = [width, all.len()].map(|number| (number as u32).to_le_bytes());
    let mut bytes = MAGIC.to_vec();
    bytes.extend(numbers.as_flattened());
    bytes.extend(check_of(MAGIC, numbers.as_flattened()));
    for (.., id, _) in all {
        bytes.extend(id.0.as_bytes());
    }
    let mut end = 0u32;
    for (.., entry) in all {
        end += entry.len() as u32;
        bytes.extend(end.to_le_bytes());
    }
    for (.., entry) in all {
        bytes.extend(entry);
    }
    bytes
}

/// A check of the rest; date, number of parents, parents; paths with a zero byte between, which no path holds.
fn entry_of(id: CommitId, known: &Known) -> Vec<u8> {
    let mut said = known.time.to_le_bytes().to_vec();
    said.extend((known.parents.len() as u32).to_le_bytes());
    for parent in &known.parents {
        said.extend(parent.0.as_bytes());
    }
    said.extend(known.paths.join("\0").as_bytes());
    let mut entry = check_of(id.0.as_bytes(), &said).to_vec();
    entry.extend(said);
    entry
}

/// The first bytes of a hash over a name and what is said of it.
fn check_of(name: &[u8], said: &[u8]) -> [u8; CHECK] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name).update(said);
    let mut check = [0; CHECK];
    hasher.finalize_xof().fill(&mut check);
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(byte: u8) -> CommitId {
        CommitId(ObjectId::from_bytes(&[byte; 20]).expect("20 bytes are a name"))
    }

    fn known(time: i64, parents: &[u8], paths: &[&str]) -> Known {
        Known {
            time,
            parents: parents.iter().map(|byte| id(*byte)).collect(),
            paths: Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()),
        }
    }

    fn some() -> BTreeMap<CommitId, Known> {
        BTreeMap::from([
            (id(1), known(-5, &[], &["a b.py", "d/ä\\n\nc.js"])),
            (id(2), known(7, &[1], &[])),
            (id(9), known(i64::MAX, &[1, 2], &[])),
        ])
    }

    fn kept() -> Kept {
        let bytes = Kept::default().with(&some(), &HashSet::new());
        Kept::new(bytes).expect("a file")
    }

    #[test]
    fn what_is_kept_comes_back() {
        let kept = kept();
        for (id, known) in some() {
            assert_eq!(kept.find(id), Some(known));
        }
        assert_eq!(kept.find(id(3)), None);
        assert_eq!(Kept::default().find(id(1)), None);
    }

    #[test]
    fn more_is_added_and_some_left_out() {
        let later = BTreeMap::from([
            (id(2), known(8, &[9], &["x.py"])),
            (id(4), known(1, &[], &[])),
        ]);
        let bytes = kept().with(&later, &HashSet::from([id(9)]));
        let kept = Kept::new(bytes).expect("a file");
        assert_eq!(kept.find(id(1)), some().remove(&id(1)));
        assert_eq!(kept.find(id(2)), Some(known(8, &[9], &["x.py"])));
        assert_eq!(kept.find(id(4)), Some(known(1, &[], &[])));
        assert_eq!(kept.find(id(9)), None);
    }

    #[test]
    fn of_too_many_the_known_and_the_newest_stay() {
        let number = |number: u32| {
            let mut name = [0; 20];
            name[..4].copy_from_slice(&number.to_be_bytes());
            CommitId(ObjectId::from_bytes(&name).expect("20 bytes are a name"))
        };
        let most = MOST_COMMITS as u32;
        let first = (0..most)
            .map(|at| (number(at), known(i64::from(at), &[], &[])))
            .collect();
        let full = Kept::new(Kept::default().with(&first, &HashSet::new())).expect("a file");
        let next = BTreeMap::from([(number(most), known(-1, &[], &[]))]);
        let full = Kept::new(full.with(&next, &HashSet::new())).expect("a file");
        assert_eq!(full.count, MOST_COMMITS);
        assert!(full.find(number(most)).is_some() && full.find(number(1)).is_some());
        assert_eq!(full.find(number(0)), None);
    }

    proptest! {
        #[test]
        fn damage_is_never_believed(at in any::<prop::sample::Index>(), byte in 1u8.., cut in any::<prop::sample::Index>()) {
            let mut bytes = kept().bytes;
            let place = at.index(bytes.len());
            bytes[place] ^= byte;
            bytes.truncate(bytes.len() - cut.index(bytes.len()) / 2);
            if let Some(kept) = Kept::new(bytes) {
                for (id, known) in some() {
                    prop_assert!(kept.find(id).is_none_or(|found| found == known));
                }
                kept.with(&some(), &HashSet::new());
            }
        }
    }
}
