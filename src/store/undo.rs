//! What upkeep has let go, kept for some days, so that a pass that should not have been can be taken back.
//!
//! ```text
//! refs/score-local/undo -> tree  2026-12-02/records/2026-08/<digest>.jsonl   the lines that a pass of that day took out, by their month
//!                                2026-12-02/attention/2026-08-30 -> tree      the days of look-ups that it took out, as they were
//! ```
//!
//! In: what is about to go, by reference. Out: the same, put back beside what was written since. It is kept before it goes, so that a process
//! that dies between the two has lost nothing. Never holds what was forgotten: `sweep.rs` reaches it as it does every corpus.

use std::collections::{BTreeMap, BTreeSet};

use super::base::{ATTENTION, RECORDS, Store, StoreError};
use super::erase::{Eraser, Erasure};
use super::find::{Found, find_ids};
use super::layout::{self, Edit, Place};
use super::line::{Shape, shape_of};
use super::lookup::Stored;
use super::notes::NOTES;
use super::transaction::{self, New, replace_entry};
use crate::id::{RecordId, TreeId};
use crate::record::{Anchor, Gone, Record, Time};
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// The reference that holds what upkeep has let go.
pub const UNDO: &str = "refs/score-local/undo";
/// Every reference of ours: each holds what is private to this machine.
pub const PRIVATE: [&str; 4] = [RECORDS, ATTENTION, UNDO, NOTES];

pub(super) const OF_RECORDS: &str = "records";
pub(super) const OF_LOOKUPS: &str = "attention";

/// What the passes of one day have let go.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The day.
    pub day: String,
    /// The corpus of what went from the records.
    pub corpus: Option<TreeId>,
    /// How many records that is.
    pub records: usize,
    /// The look-ups.
    pub lookups: Vec<Stored>,
}

/// What was put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// The day on which it was let go.
    pub day: String,
    /// Records.
    pub records: usize,
    /// Look-ups.
    pub lookups: usize,
}

/// The first days that are still kept: what was written before would go again at once.
#[derive(Clone, Debug)]
pub struct FirstKept {
    /// Of records.
    pub records: String,
    /// Of look-ups.
    pub lookups: String,
}

/// A line of a record that went, or of an anchor of it, with the month it stood in.
struct Kept {
    of: RecordId,
    anchor: Option<Anchor>,
    month: String,
    text: String,
}

impl Store<'_> {
    /// Takes records that are over their time out of the present corpus, and folds the days before that of `as_of`. `keep`: the clock, where
    /// they are kept for an undo, from `corpus`, which is the present one or was it just now.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing went.
    pub fn expire(
        &self,
        ids: BTreeSet<RecordId>,
        corpus: TreeId,
        as_of: Time,
        keep: Option<Time>,
    ) -> Result<(), StoreError> {
        if let Some(now) = keep {
            self.keep_records(&ids, corpus, now)?;
        }
        let (why, today) = (Gone::Expired, as_of.day());
        let erasure = Erasure { ids, why };
        let edited = transaction::edit(self.repo, RECORDS, self.patience, |root, written| {
            let Some(root) = root else {
                return Ok((None, corpus));
            };
            let rest = Eraser::new(self.repo, &erasure).corpus(root, written)?;
            let mut edit = Edit::new(self.repo, Some(rest))?;
            edit.fold(&today, written)?;
            Ok((Some(edit.finish(written)?), root))
        })?;
        match keep {
            // Another writer may have added an anchor to one of them meanwhile.
            Some(now) if edited != corpus => self.keep_records(&erasure.ids, edited, now),
            _ => Ok(()),
        }
    }

    /// Keeps the lines of these records, as they stand in this corpus.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing was written.
    fn keep_records(
        &self,
        ids: &BTreeSet<RecordId>,
        corpus: TreeId,
        now: Time,
    ) -> Result<(), StoreError> {
        let mut months: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if ids.is_empty() {
            return Ok(());
        }
        for line in lines(self.repo, corpus)? {
            if ids.contains(&line.of) {
                months.entry(line.month).or_default().push(line.text);
            }
        }
        if months.is_empty() {
            return Ok(());
        }
        self.keep(now, OF_RECORDS, |old, written| {
            let mut edit = Edit::new(self.repo, old)?;
            for (month, lines) in &months {
                edit.add_segments(month, lines, written)?;
            }
            edit.finish(written)
        })
    }

    /// Keeps whole days of look-ups, as they stand.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing was written.
    pub(super) fn keep_lookups(&self, days: &[Entry], now: Time) -> Result<(), StoreError> {
        if days.is_empty() {
            return Ok(());
        }
        self.keep(now, OF_LOOKUPS, |old, written| {
            with_days(self.repo, old, days.iter().cloned(), written)
        })
    }

    /// Puts something into a part of the day's pass.
    fn keep(
        &self,
        now: Time,
        part: &str,
        mut add: impl FnMut(Option<TreeId>, &mut Vec<Object>) -> Result<TreeId, RepoError>,
    ) -> Result<(), StoreError> {
        let (repo, today) = (self.repo, now.day());
        transaction::edit(repo, UNDO, self.patience, |root, written| {
            let pass = below(repo, root, &today)?;
            let new = add(below(repo, pass, part)?, written)?;
            let directory = |id: TreeId| Some((Mode::Directory, id.0));
            let pass = replace_entry(repo, pass, part, directory(new), written)?;
            let root = replace_entry(repo, root, &today, directory(pass), written)?;
            Ok((Some(root), ()))
        })
    }

    /// What can be put back, by the day of the pass.
    ///
    /// # Errors
    /// When a tree is damaged.
    pub fn waiting(&self) -> Result<Vec<Waiting>, StoreError> {
        let repo = self.repo;
        let Some(root) = self.tree_behind(UNDO)? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for pass in passes(repo, root)? {
            let pass_tree = Some(TreeId(pass.id));
            let corpus = below(repo, pass_tree, OF_RECORDS)?;
            let lines = corpus.map(|corpus| lines(repo, corpus)).transpose()?;
            let records = lines.iter().flatten().filter(|line| line.anchor.is_none());
            let mut lookups = Vec::new();
            if let Some(days) = below(repo, pass_tree, OF_LOOKUPS)? {
                for day in directories(repo, days)? {
                    lookups.extend(lookups_of(repo, &day)?);
                }
            }
            all.push(Waiting {
                day: pass.path,
                corpus,
                records: records.map(|line| line.of).collect::<BTreeSet<_>>().len(),
                lookups,
            });
        }
        Ok(all)
    }

    /// The corpora of what can be put back: of records that went, and those that look-ups pin that went.
    ///
    /// # Errors
    /// When a tree is damaged.
    pub fn waiting_corpora(&self) -> Result<BTreeSet<TreeId>, StoreError> {
        let mut corpora = BTreeSet::new();
        for waiting in self.waiting()? {
            corpora.extend(waiting.corpus);
            for stored in &waiting.lookups {
                corpora.extend(self.pinned_corpus(stored)?);
            }
        }
        Ok(corpora)
    }

    /// The first day of which a pass can be put back, by names alone.
    ///
    /// # Errors
    /// When the tree is damaged.
    pub fn first_waiting_day(&self) -> Result<Option<String>, StoreError> {
        let Some(root) = self.tree_behind(UNDO)? else {
            return Ok(None);
        };
        Ok(passes(self.repo, root)?
            .into_iter()
            .map(|pass| pass.path)
            .min())
    }

    /// Lets go for good what passes before `day` have let go.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing was written.
    pub fn drop_waiting_before(&self, day: &str) -> Result<(), StoreError> {
        self.drop_passes(|pass| pass.path.as_str() < day)
    }

    /// Lets go for good whatever could be put back, also where it is damaged.
    ///
    /// # Errors
    /// When the store cannot be written. Then nothing was written.
    pub fn drop_waiting(&self) -> Result<(), StoreError> {
        transaction::change(self.repo, UNDO, self.patience, |_, _| Ok((New::Gone, ())))
    }

    fn drop_passes(&self, is_over: impl Fn(&Entry) -> bool) -> Result<(), StoreError> {
        let repo = self.repo;
        transaction::change(repo, UNDO, self.patience, |root, written| {
            let Some(root) = root else {
                return Ok((New::Same, ()));
            };
            let mut entries = repo.tree(TreeId(root))?;
            let before = entries.len();
            entries.retain(|pass| !is_over(pass));
            if entries.len() == before {
                return Ok((New::Same, ()));
            }
            if entries.is_empty() {
                return Ok((New::Gone, ()));
            }
            let bytes = repo.tree_bytes(&entries);
            Ok((New::At(repo.write(Kind::Tree, bytes, written)?), ()))
        })
    }

    /// Puts back what the last pass took out, beside what was written since: under the day it had, or under that of `now` where it would go
    /// again at once. What stands again stays as it is; what was forgotten does not come back. None where there is nothing.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then run again: what was put back stays.
    pub fn undo(&self, first: &FirstKept, now: Time) -> Result<Option<Undone>, StoreError> {
        let repo = self.repo;
        let Some(root) = self.tree_behind(UNDO)? else {
            return Ok(None);
        };
        let Some(pass) = passes(repo, root)?.pop() else {
            return Ok(None);
        };
        let mut undone = Undone {
            day: pass.path.clone(),
            ..Undone::default()
        };
        if let Some(corpus) = below(repo, Some(TreeId(pass.id)), OF_RECORDS)? {
            undone.records = self.restore_records(corpus, &first.records, now)?;
        }
        if let Some(days) = below(repo, Some(TreeId(pass.id)), OF_LOOKUPS)? {
            undone.lookups = self.restore_lookups(days, &first.lookups, now)?;
        }
        // What another pass has added meanwhile is not put back yet, and stays.
        self.drop_passes(|one| *one == pass)?;
        Ok(Some(undone))
    }

    fn restore_records(&self, corpus: TreeId, first: &str, now: Time) -> Result<usize, StoreError> {
        let repo = self.repo;
        let kept = lines(repo, corpus)?;
        let wanted: BTreeSet<RecordId> = kept.iter().map(|line| line.of).collect();
        let today = self.day_of(now);
        transaction::edit(repo, RECORDS, self.patience, |root, written| {
            let found = match root {
                Some(root) => find_ids(repo, root, &wanted)?,
                None => Found::default(),
            };
            let missing = Missing::of(&kept, found);
            if missing.lines.is_empty() {
                return Ok((None, 0));
            }
            let mut edit = Edit::new(repo, root)?;
            if let Some(root) = root {
                without_stones(repo, root, &missing.records, &mut edit, written)?;
            }
            let mut months: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for line in missing.lines {
                // A month counts as its last day.
                let is_over = format!("{}-31", line.month).as_str() < first;
                let month = if is_over { &today[..7] } else { &line.month };
                months.entry(month).or_default().push(line.text.clone());
            }
            for (month, lines) in months {
                edit.add_segments(month, &lines, written)?;
            }
            Ok((Some(edit.finish(written)?), missing.records.len()))
        })
    }

    fn restore_lookups(&self, days: TreeId, first: &str, now: Time) -> Result<usize, StoreError> {
        let repo = self.repo;
        let mut entries = directories(repo, days)?;
        let mut count = 0;
        for day in &entries {
            count += lookups_of(repo, day)?.len();
        }
        let today = self.day_of(now);
        for day in &mut entries {
            if day.path.as_str() < first {
                day.path.clone_from(&today);
            }
        }
        transaction::edit(repo, ATTENTION, self.patience, |root, written| {
            let root = with_days(repo, root, entries.iter().cloned(), written)?;
            Ok((Some(root), count))
        })
    }
}

/// What is to be put back of what was kept.
struct Missing<'k> {
    records: BTreeSet<RecordId>,
    lines: Vec<&'k Kept>,
}

impl<'k> Missing<'k> {
    fn of(kept: &'k [Kept], mut found: Found) -> Self {
        let mut missing = Self {
            records: BTreeSet::new(),
            lines: Vec::new(),
        };
        for line in kept {
            let is_new = match &line.anchor {
                _ if found.forgotten.contains(&line.of) => false,
                Some(anchor) => found.anchors.insert((line.of, anchor.commit)),
                None => found.records.insert(line.of) && missing.records.insert(line.of),
            };
            if is_new {
                missing.lines.push(line);
            }
        }
        missing
    }
}

/// The lines of records and anchors in a corpus. What is neither, and what cannot be read, does not expire.
fn lines(repo: &Repo, corpus: TreeId) -> Result<Vec<Kept>, RepoError> {
    let mut kept = Vec::new();
    for place in layout::places(repo, corpus)? {
        let Some(month) = place.folder.get(..7) else {
            continue;
        };
        for text in text_of(repo, &place)?.split_terminator('\n') {
            let (of, anchor) = match shape_of(text.as_bytes()) {
                Shape::Tombstone(_) => continue,
                Shape::Record => (RecordId::of(text.as_bytes()), None),
                Shape::Anchor(of) => match Record::decode(text.as_bytes()) {
                    Ok(Record::Anchor(anchor)) => (of, Some(anchor)),
                    _ => continue,
                },
            };
            kept.push(Kept {
                of,
                anchor,
                month: month.to_owned(),
                text: text.to_owned(),
            });
        }
    }
    Ok(kept)
}

/// The text of a blob; nothing where it is none.
fn text_of(repo: &Repo, place: &Place) -> Result<String, RepoError> {
    let bytes = repo.blob(place.blob)?.unwrap_or_default();
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// Takes the tombstones of these records out: they are back, and not expired.
fn without_stones(
    repo: &Repo,
    root: TreeId,
    of: &BTreeSet<RecordId>,
    edit: &mut Edit<'_>,
    written: &mut Vec<Object>,
) -> Result<(), RepoError> {
    let is_over = |line: &str| {
        line.contains(r#":"tombstone""#)
            && matches!(Record::decode(line.as_bytes()), Ok(Record::Tombstone(stone))
                if stone.why == Gone::Expired && of.contains(&stone.of))
    };
    for place in layout::places(repo, root)? {
        let text = text_of(repo, &place)?;
        if !text.contains(r#":"tombstone""#) {
            continue;
        }
        let kept = text
            .split_inclusive('\n')
            .filter(|line| !is_over(line.trim_end_matches('\n')));
        let rest: String = kept.collect();
        if rest != text {
            edit.replace(&place.path(), &rest, written)?;
        }
    }
    Ok(())
}

/// The look-ups of a day.
fn lookups_of(repo: &Repo, day: &Entry) -> Result<Vec<Stored>, RepoError> {
    let mut found = Vec::new();
    for fan in directories(repo, TreeId(day.id))? {
        for entry in directories(repo, TreeId(fan.id))? {
            if let Ok(id) = entry.path.parse() {
                found.push(Stored::new(&day.path, id, TreeId(entry.id)));
            }
        }
    }
    Ok(found)
}

/// A tree of look-ups with these days beside those that it has.
fn with_days(
    repo: &Repo,
    root: Option<TreeId>,
    days: impl Iterator<Item = Entry>,
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    /// Days hold folders by the first two digits, and those the look-ups.
    const LEVELS: usize = 2;
    let mut entries = root.map_or(Ok(Vec::new()), |root| repo.tree(root))?;
    for day in days {
        unite(repo, &mut entries, day, LEVELS, written)?;
    }
    let bytes = repo.tree_bytes(&entries);
    Ok(TreeId(repo.write(Kind::Tree, bytes, written)?))
}

/// Puts an entry beside others; folders of one name become one, so many levels down. Below that, what is there stays.
fn unite(
    repo: &Repo,
    entries: &mut Vec<Entry>,
    new: Entry,
    levels: usize,
    written: &mut Vec<Object>,
) -> Result<(), RepoError> {
    let Some(old) = entries.iter_mut().find(|old| old.path == new.path) else {
        entries.push(new);
        return Ok(());
    };
    let are_folders = old.mode == Mode::Directory && new.mode == Mode::Directory;
    if !are_folders || levels == 0 || old.id == new.id {
        return Ok(());
    }
    let mut inner = repo.tree(TreeId(old.id))?;
    for entry in repo.tree(TreeId(new.id))? {
        unite(repo, &mut inner, entry, levels - 1, written)?;
    }
    let bytes = repo.tree_bytes(&inner);
    old.id = repo.write(Kind::Tree, bytes, written)?;
    Ok(())
}

/// The passes, by their day.
fn passes(repo: &Repo, root: TreeId) -> Result<Vec<Entry>, RepoError> {
    let mut passes = directories(repo, root)?;
    passes.retain(|pass| layout::is_day(&pass.path));
    passes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(passes)
}

fn directories(repo: &Repo, tree: TreeId) -> Result<Vec<Entry>, RepoError> {
    let mut entries = repo.tree(tree)?;
    entries.retain(|entry| entry.mode == Mode::Directory);
    Ok(entries)
}

/// The tree of this name in another one, if there is one.
fn below(repo: &Repo, root: Option<TreeId>, name: &str) -> Result<Option<TreeId>, RepoError> {
    let Some(root) = root else { return Ok(None) };
    let found = repo.entry(root, name)?;
    let tree = found.filter(|entry| entry.mode == Mode::Directory);
    Ok(tree.map(|entry| TreeId(entry.id)))
}
