//! Taking records out of trees of records: the lines of the record and of its anchors go, a tombstone stands in their place.
//!
//! In: ids, the root of a corpus. Out: the root of the same corpus without them. A blob or folder that several corpora share is looked
//! at once. What cannot be read stays as it is, as does whatever somebody else put there. Never swaps a reference.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::append::{Fresh, add_fresh};
use super::base::{RECORDS, Store, StoreError};
use super::layout::{self, Class, Edit, Place};
use super::line::{Shape, shape_of};
use super::transaction;
use crate::id::{BlobId, RecordId, TreeId};
use crate::record::{Gone, Record, Time, Tombstone};
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// Records to be taken out, and why.
#[derive(Clone, Debug)]
pub struct Erasure {
    /// Which.
    pub ids: BTreeSet<RecordId>,
    /// Why; the tombstone says it.
    pub why: Gone,
}

/// A line that this version cannot read as a record.
#[derive(Clone, Debug)]
pub struct OddLine {
    /// The hash of the line, by which it can be taken out.
    pub id: RecordId,
    /// The id that its blob is called by, where that is another one.
    pub named: Option<RecordId>,
    /// The line.
    pub bytes: Vec<u8>,
}

impl Default for Erasure {
    /// Of nothing.
    fn default() -> Self {
        Self {
            ids: BTreeSet::new(),
            why: Gone::Expired,
        }
    }
}

/// Takes records out of any number of corpora.
pub(super) struct Eraser<'a> {
    repo: &'a Repo,
    erasure: &'a Erasure,
    /// What became of a blob; none where nothing had to go.
    blobs: HashMap<(BlobId, bool), Option<Vec<u8>>>,
    folders: HashMap<TreeId, TreeId>,
    roots: HashMap<TreeId, TreeId>,
}

impl<'a> Eraser<'a> {
    pub(super) fn new(repo: &'a Repo, erasure: &'a Erasure) -> Self {
        Self {
            repo,
            erasure,
            blobs: HashMap::new(),
            folders: HashMap::new(),
            roots: HashMap::new(),
        }
    }

    /// The corpus without the records; itself where it holds none of them.
    pub(super) fn corpus(
        &mut self,
        root: TreeId,
        written: &mut Vec<Object>,
    ) -> Result<TreeId, RepoError> {
        if self.erasure.ids.is_empty() {
            return Ok(root);
        }
        if let Some(done) = self.roots.get(&root) {
            return Ok(*done);
        }
        let mut entries = self.repo.tree(root)?;
        let mut is_changed = false;
        for entry in &mut entries {
            if entry.mode == Mode::Directory {
                let folder = self.folder(TreeId(entry.id), written)?;
                is_changed |= folder.0 != entry.id;
                entry.id = folder.0;
            }
        }
        let empty = self.repo.empty_tree().0;
        entries.retain(|entry| entry.mode != Mode::Directory || entry.id != empty);
        let new = match is_changed {
            true => self.tree(&entries, written)?,
            false => root,
        };
        self.roots.insert(root, new);
        Ok(new)
    }

    fn folder(&mut self, folder: TreeId, written: &mut Vec<Object>) -> Result<TreeId, RepoError> {
        if let Some(done) = self.folders.get(&folder) {
            return Ok(*done);
        }
        let entries = self.repo.tree(folder)?;
        let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut is_changed = false;
        for entry in entries {
            let place = Place {
                folder: String::new(),
                name: entry.path.clone(),
                blob: BlobId(entry.id),
            };
            let rest = match entry.mode {
                Mode::File => self.blob(&place)?,
                Mode::Directory | Mode::Symlink | Mode::Submodule => None,
            };
            let Some(rest) = rest else {
                kept.push(entry);
                continue;
            };
            is_changed = true;
            if rest.is_empty() {
                continue;
            }
            let path = name_of(&place, &rest);
            let id = self.repo.write(Kind::Blob, rest, written)?;
            kept.push(Entry { path, id, ..entry });
        }
        // A tombstone that was there already: the same name, and so the same content.
        let mut names = BTreeSet::new();
        kept.retain(|entry| names.insert(entry.path.clone()));
        let new = match is_changed {
            true => self.tree(&kept, written)?,
            false => folder,
        };
        self.folders.insert(folder, new);
        Ok(new)
    }

    fn tree(&self, entries: &[Entry], written: &mut Vec<Object>) -> Result<TreeId, RepoError> {
        let bytes = self.repo.tree_bytes(entries);
        Ok(TreeId(self.repo.write(Kind::Tree, bytes, written)?))
    }

    /// What is left of a blob; none where nothing has to go.
    fn blob(&mut self, place: &Place) -> Result<Option<Vec<u8>>, RepoError> {
        let key = (place.blob, place.is_segment());
        if let Some(done) = self.blobs.get(&key) {
            return Ok(done.clone());
        }
        // Of one that is missing nothing can be told.
        let text = self.repo.blob(place.blob)?;
        let rest = text.and_then(|text| without(&text, self.erasure));
        self.blobs.insert(key, rest.clone());
        Ok(rest)
    }
}

/// What a blob with these bytes is called: a single record by its first line, a segment by all of it.
fn name_of(place: &Place, bytes: &[u8]) -> String {
    match place.is_segment() {
        true => format!("{}.jsonl", RecordId::of(bytes)),
        false => {
            let first = lines_of(bytes).next().unwrap_or_default();
            format!("{}.json", RecordId::of(first))
        }
    }
}

/// The lines without those of the records and their anchors; each record's first one becomes its tombstone, where it needs one. None
/// where nothing has to go. In bytes: a line that is no text, or none that this version can read, can be taken out all the same.
fn without(text: &[u8], erasure: &Erasure) -> Option<Vec<u8>> {
    let mut stones: BTreeMap<RecordId, Tombstone> = BTreeMap::new();
    let mut lines: Vec<Result<&[u8], RecordId>> = Vec::new();
    for line in lines_of(text) {
        let Some((of, record)) = line_of(line, &erasure.ids, erasure.why) else {
            lines.push(Ok(line));
            continue;
        };
        if !stones.contains_key(&of) {
            lines.push(Err(of));
        }
        let stone = stones.entry(of);
        let stone = stone.or_insert_with(|| Tombstone::new(of, erasure.why));
        match record {
            // What it keeps of an outcome holds a label, and of what is forgotten not even the verdict stays.
            Some(Record::Tombstone(old)) if erasure.why == Gone::Forgotten => {
                stone.join(forgotten(old));
            }
            Some(record) => stone.take(&record),
            None => {}
        }
    }
    if stones.is_empty() {
        return None;
    }
    let mut rest = Vec::with_capacity(text.len());
    for line in lines {
        match line {
            Ok(line) => rest.extend_from_slice(line),
            Err(of) => match stones.remove(&of) {
                Some(stone) if stone.matters() => {
                    rest.extend_from_slice(Record::Tombstone(stone).encode().text.as_bytes());
                }
                _ => continue,
            },
        }
        rest.push(b'\n');
    }
    Some(rest)
}

/// The lines of a blob, each without its end.
pub(super) fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let all = text.split_inclusive(|byte| *byte == b'\n');
    all.map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// A tombstone as `forget` leaves it: ids and places, no label and no verdict.
fn forgotten(stone: Tombstone) -> Tombstone {
    Tombstone {
        why: Gone::Forgotten,
        verdict: None,
        task: None,
        about: Vec::new(),
        time: None,
        ..stone
    }
}

/// The record to be taken out that a line is, or is an anchor of, with what the line says where it can be read. Of tombstones those
/// that say more than a forgotten record may leave.
fn line_of(line: &[u8], ids: &BTreeSet<RecordId>, why: Gone) -> Option<(RecordId, Option<Record>)> {
    let shape = shape_of(line);
    let decoded = || Record::decode(line).ok();
    match shape {
        Shape::Anchor(of) if ids.contains(&of) => Some((of, decoded())),
        Shape::Tombstone(of) if ids.contains(&of) && why == Gone::Forgotten => match decoded() {
            Some(Record::Tombstone(stone)) => {
                // One that a newer version wrote may hold more than this one can see.
                let is_bare = Record::Tombstone(forgotten(stone.clone()))
                    .encode()
                    .text
                    .as_bytes()
                    == line;
                (!is_bare).then_some((of, Some(Record::Tombstone(stone))))
            }
            _ => Some((of, None)),
        },
        // What stands alone goes by the hash of its line, also an anchor whose own id is named.
        _ => {
            let id = RecordId::of(line);
            ids.contains(&id).then(|| (id, decoded()))
        }
    }
}

impl Store<'_> {
    /// Writes tombstones, so that the records they are of are hidden from every reader and are never taken in again, though their
    /// lines are still there. `now` gives the day of writing.
    ///
    /// # Errors
    /// When the store cannot be written. Then nothing was written.
    pub fn bury(&self, stones: &[Tombstone], now: Time) -> Result<(), StoreError> {
        let day = now.day();
        let line = |stone: &Tombstone| {
            let line = Record::Tombstone(stone.clone()).encode();
            Fresh {
                class: Class::Derived,
                text: format!("{}\n", line.text),
                name: line.id,
            }
        };
        let fresh: Vec<Fresh> = stones.iter().map(line).collect();
        if fresh.is_empty() {
            return Ok(());
        }
        transaction::edit(self.repo, RECORDS, self.patience, |root, written| {
            let mut edit = Edit::new(self.repo, root)?;
            add_fresh(&mut edit, &fresh, &day, written)?;
            Ok((Some(edit.finish(written)?), ()))
        })
    }

    /// Takes records out of the present corpus, and folds the days before that of `now`. Says whether anything changed.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing was written.
    pub fn erase(&self, erasure: &Erasure, now: Time) -> Result<bool, StoreError> {
        let day = now.day();
        transaction::edit(self.repo, RECORDS, self.patience, |root, written| {
            let Some(root) = root else {
                return Ok((None, false));
            };
            let rest = Eraser::new(self.repo, erasure).corpus(root, written)?;
            let mut edit = Edit::new(self.repo, Some(rest))?;
            edit.fold(&day, written)?;
            let new = edit.finish(written)?;
            Ok((Some(new), new != root))
        })
    }

    /// The lines of a corpus that cannot be read as records: damaged ones, and those of a newer version. What is not called as our blobs are
    /// is left out.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn odd_lines(&self, root: TreeId) -> Result<Vec<OddLine>, StoreError> {
        let mut found = Vec::new();
        for place in layout::places(self.repo, root)? {
            let name = place
                .name
                .split('.')
                .next()
                .and_then(|name| name.parse().ok());
            let (Some(name), Some(bytes)) = (name, self.repo.blob(place.blob)?) else {
                continue;
            };
            let is_whole = std::str::from_utf8(&bytes).is_ok();
            let is_named = place.is_segment() || name_of(&place, &bytes) == place.name;
            let first = lines_of(&bytes).next();
            let first = first.filter(|_| !is_named).map(RecordId::of);
            for line in lines_of(&bytes) {
                let id = RecordId::of(line);
                if !is_whole || !is_named || Record::decode(line).is_err() {
                    let named = (Some(id) == first).then_some(name);
                    let bytes = line.to_vec();
                    found.push(OddLine { id, named, bytes });
                }
            }
        }
        Ok(found)
    }

    /// Those of the records of which a line still stands in any of these corpora. What is damaged holds nothing.
    ///
    /// # Errors
    /// When the machine would not read a part of them.
    pub fn held(
        &self,
        roots: &BTreeSet<TreeId>,
        ids: &BTreeSet<RecordId>,
    ) -> Result<BTreeSet<RecordId>, RepoError> {
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut open: Vec<TreeId> = roots.iter().copied().collect();
        while let Some(tree) = open.pop() {
            let entries = match self.repo.tree(tree) {
                Ok(entries) => entries,
                Err(error) => error.damage().map(|_| Vec::new())?,
            };
            for entry in entries {
                if ids.is_empty() || !seen.insert(entry.id) {
                    continue;
                }
                match entry.mode {
                    Mode::Directory => open.push(TreeId(entry.id)),
                    Mode::File => {
                        let text = match self.repo.blob(BlobId(entry.id)) {
                            Ok(text) => text,
                            Err(error) => error.damage().map(|_| None)?,
                        };
                        let lines = text.iter().flat_map(|text| lines_of(text));
                        let of = |line| Some(line_of(line, ids, Gone::Forgotten)?.0);
                        found.extend(lines.filter_map(of));
                    }
                    Mode::Symlink | Mode::Submodule => {}
                }
            }
        }
        Ok(found)
    }
}

/// The record that a line belongs to, and whether it is that record itself, or an anchor or tombstone of it.
pub fn line_is_of(line: &[u8]) -> (RecordId, bool) {
    match shape_of(line) {
        Shape::Anchor(of) | Shape::Tombstone(of) => (of, false),
        Shape::Record => (RecordId::of(line), true),
    }
}
