//! Where lines stand in the tree of records, and how a day folds into its month.
//!
//! ```text
//! 2026-11-30/<id>.json      a single append: the record and its anchor, one line each, each as it was hashed
//! 2026-11/<digest>.jsonl    a segment: the lines of a bulk write, or of days that are over
//! ```
//!
//! Lines are copied as they are, also those that this version cannot read.

use super::journal;
use crate::id::{BlobId, RecordId, TreeId};
use crate::record::{Record, Source};
use crate::repo::{Entry, Kind, Mode, Object, Repo, RepoError};

/// Most single records of one day before it folds (`design.md` section 3).
pub(super) const MOST_SINGLES: usize = 256;
/// A segment is closed when it holds this many bytes: small enough to be rewritten by a fold, large enough that 100,000 records
/// are a few hundred objects.
pub(super) const SEGMENT_BYTES: usize = 512 * 1024;

/// What may share a segment: what a session said expires, what history says does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Session,
    Derived,
}

/// One blob of the corpus.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// `2026-11-30` or `2026-11`.
    pub folder: String,
    /// `<id>.json` or `<digest>.jsonl`.
    pub name: String,
    pub blob: BlobId,
}

impl Place {
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.folder, self.name)
    }

    pub(super) fn is_segment(&self) -> bool {
        self.name.ends_with(".jsonl")
    }

    /// The id that content with this text is named by: a single record's by its first line, a segment's by all of it.
    pub(super) fn id_of(&self, text: &str) -> RecordId {
        let hashed = match self.is_segment() {
            true => text,
            false => text.lines().next().unwrap_or_default(),
        };
        RecordId::of(hashed.as_bytes())
    }
}

/// Whether a folder holds single records of one day, and not segments of a month.
pub(super) fn is_day(folder: &str) -> bool {
    let form = "0000-00-00".bytes().zip(folder.bytes());
    let fits = |(form, byte): (u8, u8)| byte == form || form == b'0' && byte.is_ascii_digit();
    folder.len() == "2026-11-30".len() && form.into_iter().all(fits)
}

/// The class of a record that stands alone; of an anchor that of what it anchors, and of a tombstone that of what it is left of, which
/// only its neighbours tell.
pub(super) fn class_of(record: &Record) -> Option<Class> {
    let source = match record {
        Record::Session(_) | Record::Task(_) => Source::Session,
        Record::Reasoning(reasoning) => reasoning.source,
        Record::Outcome(outcome) => outcome.source,
        Record::Anchor(_) | Record::Tombstone(_) => return None,
    };
    Some(match source {
        Source::Session => Class::Session,
        Source::Trailer | Source::Commit | Source::State | Source::Adr => Class::Derived,
    })
}

/// Every blob of a corpus, in the order of the tree. What is no blob of ours is left out.
pub(super) fn places(repo: &Repo, root: TreeId) -> Result<Vec<Place>, RepoError> {
    let mut places = Vec::new();
    for folder in repo.tree(root)? {
        if folder.mode != Mode::Directory {
            continue;
        }
        let entries = match repo.tree(TreeId(folder.id)) {
            Err(RepoError::Missing { .. }) if journal::mend(repo).unwrap_or(false) => {
                repo.tree(TreeId(folder.id))
            }
            entries => entries,
        };
        for entry in entries? {
            if entry.mode == Mode::File {
                places.push(Place {
                    folder: folder.path.clone(),
                    name: entry.path,
                    blob: BlobId(entry.id),
                });
            }
        }
    }
    Ok(places)
}

/// The tree of records, opened for an edit: folders with their entries, read when first touched.
pub(super) struct Edit<'r> {
    repo: &'r Repo,
    folders: Vec<(String, Folder)>,
    /// What somebody else put beside them; it stays.
    others: Vec<Entry>,
}

enum Folder {
    Closed(TreeId),
    Open(Vec<Entry>),
}

impl<'r> Edit<'r> {
    pub(super) fn new(repo: &'r Repo, root: Option<TreeId>) -> Result<Self, RepoError> {
        let (mut folders, mut others) = (Vec::new(), Vec::new());
        if let Some(root) = root {
            for entry in repo.tree(root)? {
                match entry.mode {
                    Mode::Directory => {
                        folders.push((entry.path, Folder::Closed(TreeId(entry.id))));
                    }
                    Mode::File | Mode::Symlink | Mode::Submodule => others.push(entry),
                }
            }
        }
        Ok(Self {
            repo,
            folders,
            others,
        })
    }

    fn folder(&mut self, name: &str) -> Result<&mut Vec<Entry>, RepoError> {
        let at = match self.folders.iter().position(|(folder, _)| folder == name) {
            Some(at) => at,
            None => {
                self.folders
                    .push((name.to_owned(), Folder::Open(Vec::new())));
                self.folders.len() - 1
            }
        };
        let folder = &mut self.folders[at].1;
        if let Folder::Closed(id) = folder {
            *folder = Folder::Open(self.repo.tree(*id)?);
        }
        match folder {
            Folder::Open(entries) => Ok(entries),
            Folder::Closed(_) => unreachable!("it was opened above"),
        }
    }

    /// Adds a blob with these lines.
    pub(super) fn add(
        &mut self,
        folder: &str,
        name: &str,
        lines: &str,
        written: &mut Vec<Object>,
    ) -> Result<(), RepoError> {
        let id = self
            .repo
            .write(Kind::Blob, lines.as_bytes().to_vec(), written)?;
        let entries = self.folder(folder)?;
        entries.retain(|entry| entry.path != name);
        entries.push(Entry {
            path: name.to_owned(),
            mode: Mode::File,
            id,
        });
        Ok(())
    }

    /// Puts other lines in the place of a blob, `2026-11-30/<id>.json`; without any it goes.
    pub(super) fn replace(
        &mut self,
        place: &str,
        lines: &str,
        written: &mut Vec<Object>,
    ) -> Result<(), RepoError> {
        let Some((folder, name)) = place.split_once('/') else {
            return Ok(());
        };
        self.folder(folder)?.retain(|entry| entry.path != name);
        match (lines.lines().next(), is_day(folder)) {
            (None, _) => Ok(()),
            (Some(first), true) => {
                let name = format!("{}.json", RecordId::of(first.as_bytes()));
                self.add(folder, &name, lines, written)
            }
            (Some(_), false) => self.add_segment(folder, lines, written),
        }
    }

    /// Adds lines of one class to a month, in as many segments as they need.
    pub(super) fn add_segments(
        &mut self,
        month: &str,
        lines: &[String],
        written: &mut Vec<Object>,
    ) -> Result<(), RepoError> {
        let mut segment = String::new();
        for line in lines {
            if !segment.is_empty() && segment.len() + line.len() > SEGMENT_BYTES {
                self.add_segment(month, &std::mem::take(&mut segment), written)?;
            }
            segment.push_str(line);
            segment.push('\n');
        }
        if !segment.is_empty() {
            self.add_segment(month, &segment, written)?;
        }
        Ok(())
    }

    fn add_segment(
        &mut self,
        month: &str,
        lines: &str,
        written: &mut Vec<Object>,
    ) -> Result<(), RepoError> {
        let name = format!("{}.jsonl", RecordId::of(lines.as_bytes()));
        self.add(month, &name, lines, written)
    }

    /// Folds what is due: days before `today`, and `today` itself once it holds more than [`MOST_SINGLES`].
    pub(super) fn fold(&mut self, today: &str, written: &mut Vec<Object>) -> Result<(), RepoError> {
        let mut due: Vec<String> = Vec::new();
        let days: Vec<String> = self
            .folders
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| is_day(name))
            .collect();
        for day in days {
            if day.as_str() < today || (day == today && self.folder(&day)?.len() > MOST_SINGLES) {
                due.push(day);
            }
        }
        for day in due {
            self.fold_day(&day, written)?;
        }
        Ok(())
    }

    fn fold_day(&mut self, day: &str, written: &mut Vec<Object>) -> Result<(), RepoError> {
        let month = day[..7].to_owned();
        let mut singles = self.folder(day)?.clone();
        // Whatever somebody else put here stays where it is.
        singles.retain(|entry| entry.mode == Mode::File);
        let mut lines = [Vec::new(), Vec::new()];
        for single in &singles {
            let bytes = self
                .repo
                .blob(BlobId(single.id))?
                .ok_or_else(|| self.repo.missing_blob(single.id))?;
            // A blob that is no text was damaged by somebody; it stays where it is, to be named by every reader.
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            let place = Place {
                folder: day.to_owned(),
                name: single.path.clone(),
                blob: BlobId(single.id),
            };
            if single.path != format!("{}.json", place.id_of(&text)) {
                continue;
            }
            let class = text
                .lines()
                .find_map(|line| {
                    Record::decode(line.as_bytes())
                        .ok()
                        .and_then(|record| class_of(&record))
                })
                .unwrap_or(Class::Derived);
            lines[class as usize].extend(text.lines().map(str::to_owned));
            self.folder(day)?.retain(|entry| entry.path != single.path);
        }
        for (class, lines) in [Class::Session, Class::Derived].into_iter().zip(lines) {
            if lines.is_empty() {
                continue;
            }
            let mut merged = self.take_open_segment(&month, class)?;
            merged.extend(lines);
            self.add_segments(&month, &merged, written)?;
        }
        Ok(())
    }

    /// Takes the smallest segment of a class out of its month when it is less than half full, so that a year of single appends is a
    /// handful of segments and not one per day.
    fn take_open_segment(&mut self, month: &str, class: Class) -> Result<Vec<String>, RepoError> {
        let mut smallest: Option<(usize, String, Vec<String>)> = None;
        for entry in self.folder(month)?.clone() {
            if entry.mode != Mode::File {
                continue;
            }
            let size = self.repo.blob_size(BlobId(entry.id))?.unwrap_or(u64::MAX);
            if size > SEGMENT_BYTES as u64 / 2 {
                continue;
            }
            let Some(Ok(text)) = self.repo.blob(BlobId(entry.id))?.map(String::from_utf8) else {
                continue;
            };
            let of_class = text.lines().find_map(|line| {
                Record::decode(line.as_bytes())
                    .ok()
                    .and_then(|record| class_of(&record))
            });
            let is_smaller = smallest
                .as_ref()
                .is_none_or(|(size, ..)| text.len() < *size);
            if of_class == Some(class) && is_smaller {
                let lines = text.lines().map(str::to_owned).collect();
                smallest = Some((text.len(), entry.path, lines));
            }
        }
        let Some((_, name, lines)) = smallest else {
            return Ok(Vec::new());
        };
        self.folder(month)?.retain(|entry| entry.path != name);
        Ok(lines)
    }

    /// Writes the folders that changed, and the root.
    pub(super) fn finish(self, written: &mut Vec<Object>) -> Result<TreeId, RepoError> {
        let mut root = self.others;
        for (path, folder) in self.folders {
            let id = match folder {
                Folder::Closed(id) => id.0,
                Folder::Open(entries) if entries.is_empty() => continue,
                Folder::Open(entries) => {
                    let bytes = self.repo.tree_bytes(&entries);
                    self.repo.write(Kind::Tree, bytes, written)?
                }
            };
            root.push(Entry {
                path,
                mode: Mode::Directory,
                id,
            });
        }
        let bytes = self.repo.tree_bytes(&root);
        Ok(TreeId(self.repo.write(Kind::Tree, bytes, written)?))
    }
}
