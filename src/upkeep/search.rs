//! The raw search: whatever below our references holds a phrase, sound or not.
//!
//! In: phrases. Out: the objects of the store that hold one; and of these which records, look-ups and notes are. Every object is read once,
//! whoever wrote it; then only the trees of ours are walked, every reference below `refs/score-local/` alike. Never changes anything.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::phrase::Phrase;
use crate::id::{BlobId, CommitId, ObjectId, RecordId, TreeId};
use crate::record::Record;
use crate::repo::{Mode, Repo, RepoError, Scanned};
use crate::store::{NOTES, line_is_of};

/// Where our references stand.
const OURS: &str = "refs/score-local/";

/// The objects that hold a phrase, and those that were read for it.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    read: BTreeSet<ObjectId>,
    /// Those that hold one.
    pub found: BTreeSet<ObjectId>,
    /// How many could not be read.
    pub unread: usize,
}

/// What of ours holds a phrase.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// Records, by what they are: also damaged ones and those of a newer version, by the hash of the line.
    pub records: BTreeMap<RecordId, String>,
    /// Look-ups whose own record or ground holds it.
    pub lookups: BTreeSet<RecordId>,
    /// Look-ups whose pinned code holds it, with the objects.
    pub code: BTreeMap<RecordId, Rc<BTreeSet<ObjectId>>>,
    /// How many notes.
    pub notes: usize,
    /// Paths in our trees that are not of this tool, each with its reference.
    pub others: BTreeSet<String>,
    /// The references below ours that lead to any of it.
    pub references: BTreeSet<String>,
}

impl Scan {
    /// Reads every object of the store that was not read before. `progress` hears of objects: read, and to be read.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn go_on(
        &mut self,
        repo: &Repo,
        phrases: &[Phrase],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), RepoError> {
        if phrases.is_empty() {
            return Ok(());
        }
        let there = repo.all_objects()?;
        let new: Vec<ObjectId> = there
            .iter()
            .copied()
            .filter(|id| !self.read.contains(id))
            .collect();
        let holds = |bytes: &[u8]| phrases.iter().any(|phrase| phrase.is_in(bytes));
        let Scanned { found, unread } = repo.objects_with(&new, &holds, progress)?;
        self.read = there.into_iter().collect();
        self.found.extend(found);
        // What a clean-up has taken meanwhile holds nothing.
        self.found.retain(|id| self.read.contains(id));
        self.unread += unread;
        Ok(())
    }
}

impl Hits {
    /// What of ours is, or leads to, one of the objects found.
    ///
    /// # Errors
    /// When the references cannot be read.
    pub fn among(repo: &Repo, phrases: &[Phrase], scan: &Scan) -> Result<Self, RepoError> {
        let mut hits = Self::default();
        if scan.found.is_empty() {
            return Ok(hits);
        }
        for (name, id) in repo.references_below(OURS)? {
            let mut walk = Walk {
                repo,
                phrases,
                found: &scan.found,
                hits: &mut hits,
                seen: BTreeSet::new(),
                code: BTreeMap::new(),
                is_hit: false,
            };
            let tree = match repo.kind(id)?.as_deref() {
                Some("commit") => repo.tree_of(CommitId(id)).unwrap_or(TreeId(id)),
                _ => TreeId(id),
            };
            walk.folder(tree, &format!("{name}:"), None);
            let is_hit = walk.is_hit || scan.found.contains(&id);
            if is_hit {
                hits.references.insert(name);
            }
        }
        for (name, id) in repo.references_below(NOTES)? {
            if name == NOTES {
                let tree = repo.tree_of(CommitId(id));
                let entries = tree.and_then(|tree| repo.list(tree)).unwrap_or_default();
                let notes = entries
                    .iter()
                    .filter(|entry| scan.found.contains(&entry.id));
                hits.notes = notes.count();
            }
        }
        Ok(hits)
    }

    /// Whether anything of ours holds it, code that look-ups pin left aside.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.lookups.is_empty()
            && self.notes == 0
            && self.others.is_empty()
    }
}

/// One reference, walked. What cannot be read holds nothing that anybody could still read.
struct Walk<'a> {
    repo: &'a Repo,
    phrases: &'a [Phrase],
    found: &'a BTreeSet<ObjectId>,
    hits: &'a mut Hits,
    /// Folders outside look-ups, which many look-ups share.
    seen: BTreeSet<TreeId>,
    code: BTreeMap<TreeId, Rc<BTreeSet<ObjectId>>>,
    is_hit: bool,
}

impl Walk<'_> {
    /// A folder of anything, at this path; `lookup`: the look-up whose folder it is.
    fn folder(&mut self, tree: TreeId, path: &str, lookup: Option<RecordId>) {
        if lookup.is_none() && !self.seen.insert(tree) {
            return;
        }
        for entry in self.repo.tree(tree).unwrap_or_default() {
            let name = entry.path.as_str();
            let below = format!("{path}{name}/");
            match (entry.mode, lookup) {
                (Mode::Directory, Some(lookup)) if name == "code" => {
                    let code = self.code_of(TreeId(entry.id));
                    if !code.is_empty() {
                        self.is_hit = true;
                        self.hits.code.insert(lookup, code);
                    }
                }
                (Mode::Directory, _) => self.folder(TreeId(entry.id), &below, name.parse().ok()),
                (Mode::Submodule, _) => {}
                _ if !self.found.contains(&entry.id) => {}
                (_, Some(lookup)) => {
                    self.is_hit = true;
                    self.hits.lookups.insert(lookup);
                }
                (mode, None) => {
                    self.is_hit = true;
                    let is_record = mode == Mode::File && is_record(path, name);
                    if !is_record || !self.lines(BlobId(entry.id)) {
                        self.hits.others.insert(format!("{path}{name}"));
                    }
                }
            }
        }
    }

    /// The records of a blob whose lines hold it. Whether there are any.
    fn lines(&mut self, blob: BlobId) -> bool {
        let bytes = self.repo.blob(blob).ok().flatten().unwrap_or_default();
        let mut is_any = false;
        for line in bytes.split(|byte| *byte == b'\n') {
            if !self.phrases.iter().any(|phrase| phrase.is_in(line)) {
                continue;
            }
            is_any = true;
            let (of, is_itself) = line_is_of(line);
            let known = self.hits.records.entry(of).or_default();
            if is_itself || known.is_empty() {
                *known = kind_of(line).to_owned();
            }
        }
        is_any
    }

    /// The objects below a code tree that hold it; each tree is walked once.
    fn code_of(&mut self, tree: TreeId) -> Rc<BTreeSet<ObjectId>> {
        if let Some(known) = self.code.get(&tree) {
            return Rc::clone(known);
        }
        let mut all: BTreeSet<ObjectId> = BTreeSet::new();
        all.extend(self.found.contains(&tree.0).then_some(tree.0));
        for entry in self.repo.tree(tree).unwrap_or_default() {
            match entry.mode {
                Mode::Directory => all.extend(self.code_of(TreeId(entry.id)).iter().copied()),
                Mode::Submodule => {}
                _ => all.extend(self.found.contains(&entry.id).then_some(entry.id)),
            }
        }
        let all = Rc::new(all);
        self.code.insert(tree, Rc::clone(&all));
        all
    }
}

/// Whether a blob is called as one of records is, in a folder of a day or a month.
fn is_record(path: &str, name: &str) -> bool {
    let folder = path.trim_end_matches('/').rsplit(['/', ':']).next();
    let is_folder = folder.is_some_and(|folder| {
        let digits = folder
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
        digits && matches!(folder.len(), 7 | 10)
    });
    let stem = name.strip_suffix(".json").or(name.strip_suffix(".jsonl"));
    is_folder && stem.is_some_and(|stem| stem.parse::<RecordId>().is_ok())
}

/// What a line is, in a word.
fn kind_of(line: &[u8]) -> &'static str {
    match Record::decode(line) {
        Ok(Record::Session(_)) => "session",
        Ok(Record::Task(_)) => "task",
        Ok(Record::Reasoning(said)) => said.kind.as_str(),
        Ok(Record::Outcome(_)) => "outcome",
        Ok(Record::Anchor(_)) => "anchor",
        Ok(Record::Tombstone(_)) => "tombstone",
        Err(_) => match serde_json::from_slice::<serde_json::Value>(line) {
            Ok(serde_json::Value::Object(_)) => "unknown",
            _ => "damaged",
        },
    }
}
