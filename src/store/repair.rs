//! Bringing back what can be had of a damaged memory, and dropping what cannot, so that Git's own clean-up works again.
//!
//! In: the references of ours. Out: references that lead to nothing missing or damaged, and a sentence for each thing that was mended or
//! dropped. An error of the machine ends it before anything is written: what cannot be read today may be read tomorrow.

use std::collections::BTreeSet;

use super::base::{ATTENTION, RECORDS, Store, StoreError};
use super::journal;
use super::layout::{Place, is_day};
use super::lookup::{self, Stored};
use super::notes::NOTES;
use super::transaction;
use super::undo::{PRIVATE, UNDO};
use crate::id::{BlobId, CommitId, ObjectId, RecordId, TreeId};
use crate::record::Attention;
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// How closely a repair looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Whether everything that our trees name is there: once a day.
    Names,
    /// Everything is read, and what look-ups pin is walked.
    Content,
}

impl Store<'_> {
    /// Mends or drops whatever is damaged, and says what.
    ///
    /// # Errors
    /// When the repository cannot be read for another reason than damage, or cannot be written.
    pub fn repair(&self, depth: Depth) -> Result<Vec<String>, StoreError> {
        let mut told = Vec::new();
        for lock in self.repo.break_locks(&PRIVATE) {
            let lock = lock.display();
            told.push(format!(
                "removed {lock}, the lock of a writer that was killed"
            ));
        }
        if depth == Depth::Content {
            told.extend(self.repo.mend_packs());
        }
        if journal::mend(self.repo)? {
            told.push("wrote objects again that were missing or damaged, from the journal of the last writes".into());
        }
        let repo = self.repo.reopen()?;
        let store = Store {
            repo: &repo,
            ..*self
        };
        for reference in [RECORDS, ATTENTION, UNDO] {
            told.extend(store.repair_reference(reference)?);
        }
        told.extend(store.repair_notes()?);
        // Look-ups first: a folder of records that is lost may stand in a corpus that one pins.
        for reference in [ATTENTION, RECORDS] {
            let (bad, sentences) =
                transaction::edit(&repo, reference, self.patience, |root, written| {
                    let mut mender = Mender::new(&repo, depth);
                    let Some(root) = root else {
                        return Ok((None, (mender.bad, mender.told)));
                    };
                    let new = match reference {
                        RECORDS => mender.records(root, written)?,
                        _ => mender.attention(root, written)?,
                    };
                    Ok((Some(new), (mender.bad, mender.told)))
                })?;
            told.extend(sentences);
            bad.into_iter().for_each(|id| repo.drop_damaged_file(id));
        }
        Ok(told)
    }

    /// A reference that holds no name, or the name of what is not there, gets the newest value that is whole.
    fn repair_reference(&self, reference: &'static str) -> Result<Option<String>, StoreError> {
        let why = match self.repo.reference(reference) {
            Ok(None) => return Ok(None),
            Ok(Some(id)) => match self.repo.tree(TreeId(id)) {
                Ok(_) => return Ok(None),
                Err(error) if is_damage(&error) => error.to_string(),
                Err(error) => return Err(error.into()),
            },
            Err(error) if is_damage(&error) => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        let known = journal::newest_value(self.repo, reference)?;
        let found = match (known, reference) {
            (None, RECORDS) => self.newest_pinned_corpus(),
            (known, _) => known,
        };
        self.repo.overwrite(reference, found)?;
        Ok(Some(match found {
            Some(id) => format!(
                "{reference} was unusable ({why}); it is now at {id}, the newest state that is whole"
            ),
            None => format!(
                "{reference} was unusable ({why}), and no earlier state of it is left: dropped"
            ),
        }))
    }

    fn newest_pinned_corpus(&self) -> Option<ObjectId> {
        let lookups = self.lookups().ok()?;
        let corpora = lookups.iter().rev().filter_map(|stored| {
            let corpus = lookup::corpus_of(self.repo, stored).ok()??;
            self.repo.has_tree_complete(corpus).ok()?;
            Some(corpus.0)
        });
        corpora.into_iter().next()
    }

    /// Notes are derived: where one cannot be read all go.
    fn repair_notes(&self) -> Result<Option<String>, StoreError> {
        let found = self.repo.reference(NOTES).and_then(|commit| match commit {
            Some(commit) => {
                let tree = self.repo.tree_of(CommitId(commit))?;
                self.repo.has_tree_complete(tree)
            }
            None => Ok(()),
        });
        match found {
            Ok(()) => Ok(None),
            Err(error) if is_damage(&error) => {
                self.repo.overwrite(NOTES, None)?;
                Ok(Some(format!(
                    "{NOTES} was unusable ({error}): dropped; 'git score-context hook notes --rebuild' makes the notes anew"
                )))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether something stored is missing or wrong, and not the machine at fault.
fn is_damage(error: &RepoError) -> bool {
    !error.is_machine()
}

struct Mender<'r> {
    repo: &'r Repo,
    depth: Depth,
    /// Trees that were found whole: look-ups share most of what they pin.
    sound: BTreeSet<TreeId>,
    /// What is dropped since its object is damaged.
    bad: Vec<ObjectId>,
    told: Vec<String>,
}

impl<'r> Mender<'r> {
    fn new(repo: &'r Repo, depth: Depth) -> Self {
        Self {
            repo,
            depth,
            sound: BTreeSet::new(),
            bad: Vec::new(),
            told: Vec::new(),
        }
    }

    fn records(&mut self, root: TreeId, written: &mut Vec<Object>) -> Result<TreeId, RepoError> {
        let mut kept = Vec::new();
        for mut folder in self.repo.tree(root)? {
            if folder.mode == Mode::Directory {
                let Some(entries) = self.day(&folder)? else {
                    continue;
                };
                let before = entries.clone();
                let entries = self.blobs(&folder.path, entries, written)?;
                if entries.is_empty() {
                    continue;
                }
                if entries != before || !self.repo.has(folder.id)? {
                    folder.id =
                        self.repo
                            .write(Kind::Tree, self.repo.tree_bytes(&entries), written)?;
                }
            }
            kept.push(folder);
        }
        Ok(TreeId(self.repo.write(
            Kind::Tree,
            self.repo.tree_bytes(&kept),
            written,
        )?))
    }

    /// The entries of a folder of records. Of one that is damaged those that the newest look-up pins which has them.
    fn day(&mut self, folder: &Entry) -> Result<Option<Vec<Entry>>, RepoError> {
        let path = format!("{RECORDS}:{}", folder.path);
        if let Some(entries) = self.entries(&path, folder.id)? {
            return Ok(Some(entries));
        }
        let mut best: Option<Vec<Entry>> = None;
        for stored in Store::new(self.repo).lookups().unwrap_or_default() {
            let pinned = lookup::corpus_of(self.repo, &stored).ok().flatten();
            let folders = pinned.and_then(|corpus| self.repo.tree(corpus).ok());
            let mut folders = folders.into_iter().flatten();
            let same = folders.find(|other| other.path == folder.path && other.id != folder.id);
            let entries = same.and_then(|same| self.repo.tree(TreeId(same.id)).ok());
            // Days only grow until they are folded, so that the longest is the latest.
            if entries.as_ref().map(Vec::len) > best.as_ref().map(Vec::len) {
                best = entries;
            }
        }
        if let Some(entries) = &best {
            let count = entries.len();
            self.told.push(format!(
                "took {count} entries of {path} from what a look-up pins"
            ));
        }
        Ok(best)
    }

    /// The entries of a folder of ours; none where it is damaged, which is told.
    fn entries(&mut self, path: &str, id: ObjectId) -> Result<Option<Vec<Entry>>, RepoError> {
        match self.repo.tree(TreeId(id)) {
            Ok(entries) => Ok(Some(entries)),
            Err(error) if is_damage(&error) => {
                self.drop(path, id, &error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn drop(&mut self, path: &str, id: ObjectId, why: &str) {
        self.bad.push(id);
        self.told.push(format!("dropped {path}: {why}"));
    }

    fn blobs(
        &mut self,
        folder: &str,
        entries: Vec<Entry>,
        written: &mut Vec<Object>,
    ) -> Result<Vec<Entry>, RepoError> {
        let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
        for mut entry in entries {
            let path = format!("{RECORDS}:{folder}/{}", entry.path);
            if entry.mode != Mode::File {
                kept.push(entry);
                continue;
            }
            if self.depth == Depth::Names {
                match self.repo.has(entry.id)? {
                    true => kept.push(entry),
                    false => self.drop(&path, entry.id, "it is missing"),
                }
                continue;
            }
            let place = Place {
                folder: folder.to_owned(),
                name: entry.path.clone(),
                blob: BlobId(entry.id),
            };
            let Some(text) = self.text(&path, entry.id)? else {
                continue;
            };
            let sound = self.sound_lines(&path, &text);
            if sound.is_empty() {
                continue;
            }
            let ending = if place.is_segment() { "jsonl" } else { "json" };
            let name = format!("{}.{ending}", place.id_of(&sound));
            let is_ours = is_day(folder) || folder.len() == 7;
            if is_ours && (sound != text || name != entry.path) {
                if sound == text {
                    self.told
                        .push(format!("renamed {path} to {name}, the id of its content"));
                }
                entry.id = self.repo.write(Kind::Blob, sound.into_bytes(), written)?;
                entry.path = name;
            }
            if kept.iter().all(|other| other.path != entry.path) {
                kept.push(entry);
            }
        }
        Ok(kept)
    }

    fn text(&mut self, path: &str, id: ObjectId) -> Result<Option<String>, RepoError> {
        let why = match self.repo.blob(BlobId(id)) {
            Ok(Some(bytes)) => match String::from_utf8(bytes) {
                Ok(text) => return Ok(Some(text)),
                Err(_) => "it is not UTF-8".to_owned(),
            },
            Ok(None) => "it is missing".to_owned(),
            Err(error) if is_damage(&error) => error.to_string(),
            Err(error) => return Err(error),
        };
        self.drop(path, id, &why);
        Ok(None)
    }

    /// The lines that are of some version of the format: documents. What else stands there nobody can ever read.
    fn sound_lines(&mut self, path: &str, text: &str) -> String {
        let mut sound = String::with_capacity(text.len());
        for (number, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line) {
                Ok(_) => sound.push_str(line),
                Err(error) => {
                    let number = number + 1;
                    self.told.push(format!(
                        "dropped {path}:{number}: it is no document ({error})"
                    ));
                }
            }
        }
        sound
    }

    fn attention(&mut self, root: TreeId, written: &mut Vec<Object>) -> Result<TreeId, RepoError> {
        self.folder(root, String::new(), 0, written)
    }

    /// Levels: days, the first two digits, look-ups.
    fn folder(
        &mut self,
        tree: TreeId,
        above: String,
        level: usize,
        written: &mut Vec<Object>,
    ) -> Result<TreeId, RepoError> {
        let path = format!("{ATTENTION}:{}", above.trim_end_matches('/'));
        let Some(entries) = self.entries(&path, tree.0)? else {
            return Ok(self.repo.empty_tree());
        };
        let mut kept = Vec::with_capacity(entries.len());
        for mut entry in entries.clone() {
            if entry.mode == Mode::Directory && level < 2 {
                let below = format!("{above}{}/", entry.path);
                entry.id = self.folder(TreeId(entry.id), below, level + 1, written)?.0;
                if TreeId(entry.id) == self.repo.empty_tree() {
                    continue;
                }
            }
            if entry.mode == Mode::Directory
                && level == 2
                && let Ok(id) = entry.path.parse::<RecordId>()
                && let Err(error) = self.look_up(&Stored::new("", id, TreeId(entry.id)))
            {
                match is_damage(&error) {
                    true => self.drop(&format!("look-up {id}"), entry.id, &error.to_string()),
                    false => return Err(error),
                }
                continue;
            }
            kept.push(entry);
        }
        if kept == entries {
            return Ok(tree);
        }
        Ok(TreeId(self.repo.write(
            Kind::Tree,
            self.repo.tree_bytes(&kept),
            written,
        )?))
    }

    /// Whether a look-up can be read, and what it pins is there.
    fn look_up(&mut self, stored: &Stored) -> Result<(), RepoError> {
        let wrong = |cause: &str| RepoError::Git {
            doing: "reading it".into(),
            cause: cause.into(),
            transient: false,
        };
        let parts = lookup::parts_of(self.repo, stored)?;
        let parts = parts.ok_or_else(|| wrong("it lacks a part"))?;
        if self.depth == Depth::Names {
            for part in [parts.record.0, parts.ground.0, parts.corpus.0, parts.code.0] {
                if !self.repo.has(part)? && part != self.repo.empty_tree().0 {
                    return Err(wrong("a part of it is missing"));
                }
            }
            return Ok(());
        }
        for blob in [parts.record, parts.ground] {
            let bytes = self.repo.blob(blob)?;
            let bytes = bytes.ok_or_else(|| self.repo.missing_blob(blob.0))?;
            if blob == parts.record && serde_json::from_slice::<serde_json::Value>(&bytes).is_err()
            {
                return Err(wrong("its record is no document"));
            }
            // Of a look-up that this version can read, the id has to be that of what was asked.
            if blob == parts.record
                && let Ok(attention) = Attention::decode(&bytes)
                && attention.inputs.id() != stored.id
            {
                return Err(wrong("its inputs have another id"));
            }
        }
        for pin in [parts.corpus, parts.code] {
            if self.sound.contains(&pin) {
                continue;
            }
            self.repo.has_tree_complete(pin)?;
            self.sound.insert(pin);
        }
        Ok(())
    }
}
