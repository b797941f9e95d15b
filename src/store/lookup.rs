//! Look-ups with their pins: the attention record, the corpus it read, the code tree it scored against, what scoring read of code.
//!
//! The pins are tree entries, so that `git gc --prune=now` can never take away what a replay needs.

use super::base::{ATTENTION, RECORDS, Store, StoreError};
use super::transaction::{self, replace_entry};
use crate::id::{BlobId, CommitId, RecordId, TreeId};
use crate::record::{Attention, Inputs, Time};
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError, Take};

/// What a look-up read, besides the record of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// The tree of records.
    pub corpus: TreeId,
    /// The tree of code.
    pub code: TreeId,
}

/// A stored look-up.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// Its id.
    pub id: RecordId,
    /// The bytes of its record, as stored.
    pub bytes: Vec<u8>,
    /// The same, read.
    pub attention: Attention,
    /// The trees it is held by.
    pub pins: Pins,
    /// What scoring read of code and history, packed.
    pub ground: Vec<u8>,
}

/// Where a look-up stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The day of writing.
    pub day: String,
    /// The look-up.
    pub id: RecordId,
    /// Its folder.
    tree: TreeId,
}

impl Stored {
    pub(super) fn new(day: &str, id: RecordId, tree: TreeId) -> Self {
        let day = day.to_owned();
        Self { day, id, tree }
    }

    pub(super) fn tree(&self) -> TreeId {
        self.tree
    }
}

/// Parts of a look-up that are to become others.
pub(super) struct Parts {
    pub record: Option<Vec<u8>>,
    pub ground: Option<Vec<u8>>,
    pub corpus: Option<TreeId>,
}

/// So many bytes of a code tree that no branch holds are written anew for a look-up. A larger one is as safe as Git keeps what nothing
/// refers to: for two weeks, unless told otherwise.
const MOST_CODE: usize = 64 * 1024 * 1024;

const RECORD: &str = "attention.json";
const CORPUS: &str = "corpus";
const CODE: &str = "code";
const GROUND: &str = "ground";
/// Everything that the folder of a look-up holds.
pub(super) const PARTS: [&str; 4] = [RECORD, CORPUS, CODE, GROUND];

impl Store<'_> {
    /// Keeps a look-up with everything it read. The same look-up twice is one. `now` gives the day of writing.
    ///
    /// # Errors
    /// When the store cannot be written, or other writers are faster until patience runs out. Then nothing was written.
    pub fn put_lookup(
        &self,
        attention: &Attention,
        ground: &[u8],
        now: Time,
    ) -> Result<RecordId, StoreError> {
        let id = attention.inputs.id();
        let (day, name) = (self.day_of(now), id.to_string());
        let bytes = attention.encode();
        let corpus = attention.inputs.corpus;
        let head = self.repo.head()?.commit;
        let kept = transaction::edit(self.repo, ATTENTION, self.patience, |root, written| {
            let repo = self.repo;
            // A look-up about a commit has that commit's clock, and may be asked again on another day.
            if attention.inputs.time != now && stands_on_any_day(repo, root, &name)? {
                return Ok((None, id));
            }
            let day_tree = child(repo, root, &day)?;
            let fan = child(repo, day_tree, &name[..2])?;
            self.hold_pins(&attention.inputs, written)?;
            let folder = folder(repo, attention, &bytes, ground, written)?;
            let directory = |id: TreeId| Some((Mode::Directory, id.0));
            let fan = replace_entry(repo, fan, &name, directory(folder), written)?;
            let day_tree = replace_entry(repo, day_tree, &name[..2], directory(fan), written)?;
            let root = replace_entry(repo, root, &day, directory(day_tree), written)?;
            Ok((Some(root), id))
        });
        let kept = kept.map_err(|error| self.outrun(error, corpus))?;
        if let Err(error) = self.verify_pins(&attention.inputs, head) {
            self.drop_lookup(&day, &name)?;
            return Err(self.outrun(error, corpus));
        }
        Ok(kept)
    }

    /// Whether a clean-up has taken a pin in the moment between the look at what holds it and the swap, if anything has moved since. Other
    /// writers wait for the lock, but Git does not.
    fn verify_pins(&self, inputs: &Inputs, head: Option<CommitId>) -> Result<(), StoreError> {
        let has_head_moved = self.repo.head()?.commit != head;
        if !has_head_moved && self.corpus_id()? == inputs.corpus {
            return Ok(());
        }
        let repo = self.repo.reopen()?;
        repo.has_tree_complete(inputs.corpus)?;
        if !has_head_moved {
            return Ok(());
        }
        // A clean-up that is under way may not have seen what held the code.
        let store = Store {
            repo: &repo,
            ..*self
        };
        let mut written = Vec::new();
        store.hold_code(inputs, &mut written)?;
        if !written.is_empty() {
            repo.keep(&written, repo.durable_objects(false))?.release();
        }
        Ok(repo.reopen()?.has_tree_complete(inputs.code_tree)?)
    }

    /// Adds to a write those parts of the pinned trees that no reference surely holds. While the records are at the pinned corpus, and a
    /// branch at the asked commit, whoever cleans up sees both. What was replaced meanwhile a clean-up may have seen as garbage.
    fn hold_pins(&self, inputs: &Inputs, written: &mut Vec<Object>) -> Result<(), RepoError> {
        let repo = self.repo;
        let records = repo.reference(RECORDS)?.map(TreeId);
        if records != Some(inputs.corpus) {
            repo.take_below(inputs.corpus, records, &mut Take::all(written))?;
        }
        self.hold_code(inputs, written)
    }

    fn hold_code(&self, inputs: &Inputs, written: &mut Vec<Object>) -> Result<(), RepoError> {
        let repo = self.repo;
        if inputs.commit.is_some_and(|commit| !repo.is_held(commit)) {
            let head = repo.head()?.commit;
            let head = head.map(|head| repo.tree_of(head)).transpose()?;
            repo.take_below(
                inputs.code_tree,
                head,
                &mut Take::at_most(MOST_CODE, written),
            )?;
        }
        Ok(())
    }

    /// A pin that a clean-up has taken since the records have moved on is no damage.
    fn outrun(&self, error: StoreError, corpus: TreeId) -> StoreError {
        let has_moved = self.corpus_id().is_ok_and(|now| now != corpus);
        match error {
            StoreError::Repo(RepoError::Missing { .. }) if has_moved => StoreError::Outrun,
            error => error,
        }
    }

    /// Takes a look-up out again: one that pins what is not there would stop the user's own `git gc`.
    fn drop_lookup(&self, day: &str, name: &str) -> Result<(), StoreError> {
        transaction::edit(self.repo, ATTENTION, self.patience, |root, written| {
            let repo = self.repo;
            let day_tree = child(repo, root, day)?;
            let fan = child(repo, day_tree, &name[..2])?;
            let fan = replace_entry(repo, fan, name, None, written)?;
            let directory = |id: TreeId| Some((Mode::Directory, id.0));
            let day_tree = replace_entry(repo, day_tree, &name[..2], directory(fan), written)?;
            let root = replace_entry(repo, root, day, directory(day_tree), written)?;
            Ok((Some(root), ()))
        })
    }

    /// Every stored look-up, by day and id.
    ///
    /// # Errors
    /// When the reference or a tree of it is damaged.
    pub fn lookups(&self) -> Result<Vec<Stored>, StoreError> {
        let mut all = Vec::new();
        let Some(root) = self.tree_behind(ATTENTION)? else {
            return Ok(all);
        };
        // What somebody else put here is no look-up, and must not hide those that are.
        let directories = |id: TreeId| -> Result<_, RepoError> {
            let entries = self.repo.tree(id)?.into_iter();
            Ok(entries.filter(|entry| entry.mode == Mode::Directory))
        };
        for day in directories(root)? {
            for fan in directories(TreeId(day.id))? {
                for entry in directories(TreeId(fan.id))? {
                    if let Ok(id) = entry.path.parse() {
                        all.push(Stored {
                            day: day.path.clone(),
                            id,
                            tree: TreeId(entry.id),
                        });
                    }
                }
            }
        }
        Ok(all)
    }

    /// The look-up with this id or unique beginning of one.
    ///
    /// # Errors
    /// When there is none, or there are several.
    pub fn find_lookup(&self, id: &str) -> Result<Stored, StoreError> {
        let mut found: Vec<_> = self.lookups()?;
        found.retain(|stored| stored.id.to_string().starts_with(id));
        found.dedup_by_key(|stored| stored.id);
        match (found.pop(), found.len()) {
            (Some(stored), 0) if !id.is_empty() => Ok(stored),
            (None, _) => Err(StoreError::NoSuch(format!("no look-up has the id '{id}'"))),
            (_, others) => Err(StoreError::NoSuch(format!(
                "the id '{id}' is ambiguous: {} look-ups begin with it",
                others + 1
            ))),
        }
    }

    /// Reads a stored look-up.
    ///
    /// # Errors
    /// When a part of it is missing or unreadable; the text names the part.
    pub fn lookup(&self, stored: &Stored) -> Result<Lookup, StoreError> {
        let damaged = |cause: String| StoreError::Damaged {
            id: stored.id.to_string(),
            cause,
        };
        let unread = |error: RepoError| match error.is_machine() {
            true => error.into(),
            false => damaged(error.to_string()),
        };
        let entries = self.repo.tree(stored.tree).map_err(unread)?;
        let entry = |name: &str| {
            entries
                .iter()
                .find(|entry| entry.path == name)
                .ok_or_else(|| damaged(format!("it has no '{name}'")))
        };
        let blob = |name: &str| -> Result<Vec<u8>, StoreError> {
            let found = self.repo.blob(BlobId(entry(name)?.id));
            let found = found.map_err(unread)?;
            found.ok_or_else(|| damaged(format!("the blob of '{name}' is missing")))
        };
        let bytes = blob(RECORD)?;
        let attention = Attention::decode(&bytes).map_err(|error| damaged(error.to_string()))?;
        Ok(Lookup {
            id: stored.id,
            attention,
            pins: Pins {
                corpus: TreeId(entry(CORPUS)?.id),
                code: TreeId(entry(CODE)?.id),
            },
            ground: blob(GROUND)?,
            bytes,
        })
    }
}

/// Whether a look-up of this name was kept before, on whatever day.
fn stands_on_any_day(repo: &Repo, root: Option<TreeId>, name: &str) -> Result<bool, RepoError> {
    let Some(root) = root else { return Ok(false) };
    for day in repo.tree(root)? {
        let fan = child(repo, Some(TreeId(day.id)), &name[..2])?;
        if child(repo, fan, name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The tree called `name` below `root`, if there is one.
fn child(repo: &Repo, root: Option<TreeId>, name: &str) -> Result<Option<TreeId>, RepoError> {
    let Some(root) = root else { return Ok(None) };
    let entries = repo.tree(root)?;
    let found = entries.iter().find(|entry| entry.path == name);
    Ok(found.map(|entry| TreeId(entry.id)))
}

/// The four parts of a look-up, as one tree.
fn folder(
    repo: &Repo,
    attention: &Attention,
    bytes: &[u8],
    ground: &[u8],
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    let mut pin = |id: TreeId| -> Result<_, RepoError> {
        // The empty tree need not be in the store to be read, but `git fsck` wants to see it where a tree names it.
        if id == repo.empty_tree() {
            repo.write(Kind::Tree, Vec::new(), written)?;
        }
        Ok(id.0)
    };
    let corpus = pin(attention.inputs.corpus)?;
    let code = pin(attention.inputs.code_tree)?;
    let record = repo.write(Kind::Blob, bytes.to_vec(), written)?;
    let ground = repo.write(Kind::Blob, ground.to_vec(), written)?;
    let entry = |path: &str, mode, id| Entry {
        path: path.to_owned(),
        mode,
        id,
    };
    let entries = [
        entry(RECORD, Mode::File, record),
        entry(CORPUS, Mode::Directory, corpus),
        entry(CODE, Mode::Directory, code),
        entry(GROUND, Mode::File, ground),
    ];
    let tree = repo.tree_bytes(&entries);
    Ok(TreeId(repo.write(Kind::Tree, tree, written)?))
}

/// Where the parts of a look-up are.
pub(super) struct PartIds {
    pub record: BlobId,
    pub ground: BlobId,
    pub corpus: TreeId,
    pub code: TreeId,
}

/// The parts of a look-up; none where one is not named.
pub(super) fn parts_of(repo: &Repo, stored: &Stored) -> Result<Option<PartIds>, RepoError> {
    let entries = repo.tree(stored.tree)?;
    let named = |name: &str, mode: Mode| {
        let entry = entries.iter().find(|entry| entry.path == name);
        entry
            .filter(|entry| entry.mode == mode)
            .map(|entry| entry.id)
    };
    let all = || {
        Some(PartIds {
            record: BlobId(named(RECORD, Mode::File)?),
            ground: BlobId(named(GROUND, Mode::File)?),
            corpus: TreeId(named(CORPUS, Mode::Directory)?),
            code: TreeId(named(CODE, Mode::Directory)?),
        })
    };
    Ok(all())
}

/// Whether something was forgotten in the look-up with this folder. One that cannot be read holds nothing that matters.
pub(super) fn is_cut(repo: &Repo, tree: TreeId) -> Result<bool, RepoError> {
    let entries = repo.tree(tree)?;
    let record = entries.iter().find(|entry| entry.path == RECORD);
    let bytes = record
        .map(|entry| repo.blob(BlobId(entry.id)))
        .transpose()?;
    let attention = bytes.flatten().map(|bytes| Attention::decode(&bytes));
    Ok(matches!(attention, Some(Ok(attention)) if !attention.removed.is_empty()))
}

/// The corpus that a look-up pins; none where that is damaged.
pub(super) fn corpus_of(repo: &Repo, stored: &Stored) -> Result<Option<TreeId>, RepoError> {
    let entries = repo.tree(stored.tree)?;
    let pin = entries
        .iter()
        .find(|entry| entry.path == CORPUS && entry.mode == Mode::Directory);
    Ok(pin.map(|pin| TreeId(pin.id)))
}

/// The folder of a look-up with some of its parts replaced.
pub(super) fn with_parts(
    repo: &Repo,
    stored: &Stored,
    parts: Parts,
    written: &mut Vec<Object>,
) -> Result<TreeId, RepoError> {
    let mut entries = repo.tree(stored.tree)?;
    let mut put = |name: &str, id: Option<crate::id::ObjectId>| {
        let entry = entries.iter_mut().find(|entry| entry.path == name);
        if let (Some(entry), Some(id)) = (entry, id) {
            entry.id = id;
        }
    };
    for (name, bytes) in [(RECORD, parts.record), (GROUND, parts.ground)] {
        let id = bytes.map(|bytes| repo.write(Kind::Blob, bytes, written));
        put(name, id.transpose()?);
    }
    // A corpus of which nothing is left: see `folder`.
    if parts.corpus == Some(repo.empty_tree()) {
        repo.write(Kind::Tree, Vec::new(), written)?;
    }
    put(CORPUS, parts.corpus.map(|tree| tree.0));
    let bytes = repo.tree_bytes(&entries);
    Ok(TreeId(repo.write(Kind::Tree, bytes, written)?))
}
