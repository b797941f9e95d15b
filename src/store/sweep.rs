//! Look-ups that go, or change, all in one swap.
//!
//! In: what is to become of each. Out: the tree of look-ups without those that go, and with those that change. What is no look-up of
//! ours stays where it is. Never decides which.

use super::base::{ATTENTION, Store, StoreError};
use super::erase::{Eraser, Erasure};
use super::lookup::{self, Stored};
use super::transaction;
use super::undo::{OF_LOOKUPS, OF_RECORDS, UNDO};
use crate::id::{ObjectId, RecordId, TreeId};
use crate::record::Time;
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// What becomes of a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays; the corpus it pins without what is taken out of every corpus.
    Keep,
    /// It goes, with its pins.
    Drop,
    /// It stays, with another record and other ground.
    Change {
        /// The bytes of its record.
        bytes: Vec<u8>,
        /// What scoring read of code and history, packed.
        ground: Vec<u8>,
    },
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Look-ups that are gone.
    pub dropped: Vec<RecordId>,
    /// Look-ups that are others now.
    pub changed: Vec<RecordId>,
}

/// Says what becomes of a look-up, told whether its corpus held anything that is taken out.
pub type Decide<'d> = dyn FnMut(&Stored, bool) -> Result<Fate, RepoError> + 'd;

impl Store<'_> {
    /// Drops whole days of look-ups, those before `day` (`2026-11-30`), without looking at any; says how many look-ups went. `keep`:
    /// the clock, where they are to be kept for an undo. A day that changes meanwhile stays for the next pass.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing went.
    pub fn drop_lookups_before(&self, day: &str, keep: Option<Time>) -> Result<usize, StoreError> {
        let Some(root) = self.tree_behind(ATTENTION)? else {
            return Ok(0);
        };
        let mut over = self.repo.tree(root)?;
        over.retain(|entry| is_older(entry, day));
        if let Some(now) = keep {
            self.keep_lookups(&over, now)?;
        }
        transaction::edit(self.repo, ATTENTION, self.patience, |root, written| {
            let Some(root) = root else {
                return Ok((None, 0));
            };
            let mut entries = self.repo.tree(root)?;
            let mut gone = Vec::new();
            entries.retain(|entry| {
                let is_over = over.contains(entry);
                if is_over {
                    gone.push(TreeId(entry.id));
                }
                !is_over
            });
            let mut count = 0;
            for day in gone {
                for fan in directories(self.repo, day)? {
                    count += directories(self.repo, TreeId(fan.id))?.len();
                }
            }
            if count == 0 {
                return Ok((None, 0));
            }
            let bytes = self.repo.tree_bytes(&entries);
            let new = self.repo.write(Kind::Tree, bytes, written)?;
            Ok((Some(TreeId(new)), count))
        })
    }

    /// The first day from which records are kept, a month counting as its last one; none without any.
    ///
    /// # Errors
    /// When the tree of records is damaged.
    pub fn first_day(&self) -> Result<Option<String>, StoreError> {
        let folders = directories(self.repo, self.corpus_id()?)?;
        let days = folders.into_iter().map(|folder| match folder.path.len() {
            7 => format!("{}-31", folder.path),
            _ => folder.path,
        });
        Ok(days.min())
    }

    /// The first day from which look-ups are kept; none without any.
    ///
    /// # Errors
    /// When the tree of look-ups is damaged.
    pub fn first_lookup_day(&self) -> Result<Option<String>, StoreError> {
        let Some(root) = self.tree_behind(ATTENTION)? else {
            return Ok(None);
        };
        Ok(directories(self.repo, root)?
            .into_iter()
            .map(|day| day.path)
            .min())
    }

    /// The objects that are a look-up's own.
    ///
    /// # Errors
    /// When its tree is damaged.
    pub fn own_objects(&self, stored: &Stored) -> Result<Vec<(ObjectId, Mode)>, StoreError> {
        let entries = self.repo.tree(stored.tree())?;
        let files = entries.iter().filter(|entry| entry.mode == Mode::File);
        let mut own: Vec<_> = files.map(|entry| (entry.id, entry.mode)).collect();
        own.push((stored.tree().0, Mode::Directory));
        Ok(own)
    }

    /// The corpus that a look-up pins; none where that is damaged.
    ///
    /// # Errors
    /// When its tree is damaged.
    pub fn pinned_corpus(&self, stored: &Stored) -> Result<Option<TreeId>, StoreError> {
        Ok(lookup::corpus_of(self.repo, stored)?)
    }

    /// Takes records out of every pinned corpus, and of the look-ups what `decide` says; also of those that upkeep has let go and that
    /// can still be put back.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing was written, or what was done stays done.
    pub fn sweep(&self, erasure: &Erasure, decide: &mut Decide<'_>) -> Result<Swept, StoreError> {
        let mut swept = self.sweep_at(ATTENTION, erasure, &mut |sweep, root, written| {
            sweep.days(root, decide, written)
        })?;
        let waiting = self.sweep_at(UNDO, erasure, &mut |sweep, root, written| {
            sweep.passes(root, decide, written)
        })?;
        swept.dropped.extend(waiting.dropped);
        swept.changed.extend(waiting.changed);
        Ok(swept)
    }

    fn sweep_at(
        &self,
        reference: &'static str,
        erasure: &Erasure,
        part: &mut Part<'_>,
    ) -> Result<Swept, StoreError> {
        transaction::edit(self.repo, reference, self.patience, |root, written| {
            let mut sweep = Sweep {
                repo: self.repo,
                eraser: Eraser::new(self.repo, erasure),
                swept: Swept::default(),
            };
            let Some(root) = root else {
                return Ok((None, sweep.swept));
            };
            let new = part(&mut sweep, root, written)?;
            Ok(((new != root).then_some(new), sweep.swept))
        })
    }
}

/// What becomes of one part of what waits for an undo.
type Part<'p> =
    dyn FnMut(&mut Sweep<'_>, TreeId, &mut Vec<Object>) -> Result<TreeId, RepoError> + 'p;

/// Whether an entry is a day before `day`.
fn is_older(entry: &Entry, day: &str) -> bool {
    entry.mode == Mode::Directory && super::layout::is_day(&entry.path) && entry.path.as_str() < day
}

fn directories(repo: &Repo, tree: TreeId) -> Result<Vec<Entry>, RepoError> {
    let mut entries = repo.tree(tree)?;
    entries.retain(|entry| entry.mode == Mode::Directory);
    Ok(entries)
}

/// Writes a tree without the folders in it that are empty now.
fn tree(
    repo: &Repo,
    entries: &mut Vec<Entry>,
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    let empty = repo.empty_tree().0;
    entries.retain(|entry| entry.mode != Mode::Directory || entry.id != empty);
    let bytes = repo.tree_bytes(entries);
    Ok(TreeId(repo.write(Kind::Tree, bytes, written)?))
}

/// One try of a sweep.
struct Sweep<'a> {
    repo: &'a Repo,
    eraser: Eraser<'a>,
    swept: Swept,
}

impl Sweep<'_> {
    /// All days of look-ups.
    fn days(
        &mut self,
        root: TreeId,
        decide: &mut Decide<'_>,
        written: &mut Vec<Object>,
    ) -> Result<TreeId, RepoError> {
        let before = self.swept.clone();
        let mut days = self.repo.tree(root)?;
        for day in &mut days {
            self.day(day, decide, written)?;
        }
        match self.swept == before {
            true => Ok(root),
            false => tree(self.repo, &mut days, written),
        }
    }

    /// What passes of upkeep have let go. A corpus among it that cannot be read may hold what is to go, and goes.
    fn passes(
        &mut self,
        root: TreeId,
        decide: &mut Decide<'_>,
        written: &mut Vec<Object>,
    ) -> Result<TreeId, RepoError> {
        let mut passes = self.repo.tree(root)?;
        for pass in &mut passes {
            if pass.mode != Mode::Directory {
                continue;
            }
            let mut parts = self.repo.tree(TreeId(pass.id))?;
            for part in &mut parts {
                let rest = match part.path.as_str() {
                    OF_RECORDS => self.eraser.corpus(TreeId(part.id), written),
                    OF_LOOKUPS => self.days(TreeId(part.id), decide, written),
                    _ => continue,
                };
                part.id = match rest {
                    Ok(rest) => rest.0,
                    Err(RepoError::Missing { .. }) => self.repo.empty_tree().0,
                    Err(error) => return Err(error),
                };
            }
            pass.id = tree(self.repo, &mut parts, written)?.0;
        }
        tree(self.repo, &mut passes, written)
    }

    fn day(
        &mut self,
        day: &mut Entry,
        decide: &mut Decide<'_>,
        written: &mut Vec<Object>,
    ) -> Result<(), RepoError> {
        if day.mode != Mode::Directory {
            return Ok(());
        }
        let mut fans = self.repo.tree(TreeId(day.id))?;
        let before = self.swept.clone();
        for fan in &mut fans {
            if fan.mode != Mode::Directory {
                continue;
            }
            let mut entries = self.repo.tree(TreeId(fan.id))?;
            let before = self.swept.clone();
            let mut kept = Vec::with_capacity(entries.len());
            for entry in entries.drain(..) {
                kept.extend(self.one(&day.path, entry, decide, written)?);
            }
            if self.swept != before {
                fan.id = tree(self.repo, &mut kept, written)?.0;
            }
        }
        if self.swept != before {
            day.id = tree(self.repo, &mut fans, written)?.0;
        }
        Ok(())
    }

    /// What becomes of one entry; none when it goes.
    fn one(
        &mut self,
        day: &str,
        entry: Entry,
        decide: &mut Decide<'_>,
        written: &mut Vec<Object>,
    ) -> Result<Option<Entry>, RepoError> {
        let stored = match entry.path.parse() {
            Ok(id) if entry.mode == Mode::Directory => Stored::new(day, id, TreeId(entry.id)),
            _ => return Ok(Some(entry)),
        };
        let pinned = lookup::corpus_of(self.repo, &stored)?;
        let rest = pinned.map(|pinned| self.eraser.corpus(pinned, written));
        let rest = match rest.transpose() {
            Ok(rest) => rest,
            // What cannot be read can be replayed no more, and may hold what is to go.
            Err(RepoError::Missing { .. }) => {
                self.swept.dropped.push(stored.id);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let holds = rest != pinned;
        let fate = decide(&stored, holds)?;
        let (record, ground) = match fate {
            Fate::Drop => {
                self.swept.dropped.push(stored.id);
                return Ok(None);
            }
            Fate::Keep if !holds => return Ok(Some(entry)),
            Fate::Keep => (None, None),
            Fate::Change { bytes, ground } => (Some(bytes), Some(ground)),
        };
        self.swept.changed.push(stored.id);
        let parts = lookup::Parts {
            record,
            ground,
            corpus: rest,
        };
        let id = lookup::with_parts(self.repo, &stored, parts, written)?;
        Ok(Some(Entry { id: id.0, ..entry }))
    }
}
