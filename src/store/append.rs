//! Adding records: one, or many at once; the same thing twice adds nothing.

use super::base::{RECORDS, Store, StoreError};
use super::find::{Found, find_ids};
use super::layout::{Class, Edit, class_of};
use super::notes::Noted;
use super::{lean, transaction};
use crate::id::{RecordId, TreeId};
use crate::record::{Anchor, Line, Record, Source, Time};
use crate::repo::{Object, RepoError};

/// Up to so many records are written as single blobs of the day; more become segments at once.
const MOST_AS_SINGLES: usize = 16;

/// A record to be added, with when and where it stands.
#[derive(Clone, Debug)]
pub struct Put {
    /// What it says, encoded once.
    pub line: Line,
    /// Whether only what a session said shares its segment.
    class: Class,
    /// When and where.
    anchor: Option<Anchor>,
    /// Whether a known record gets this anchor as a further one: what another commit says does, what `record` says does not.
    anchors_known: bool,
}

impl Put {
    /// From a record and its anchor, whose `of` is filled in here. What is put is masked, all of it: this is the way into the memory, so
    /// no writer and no new field can forget it.
    pub fn new(record: &Record, anchor: Option<Anchor>, anchors_known: bool) -> Self {
        let mut what = Vec::new();
        let record = record.clone().masked(&mut what);
        let line = record.encode();
        let class = class_of(&record).unwrap_or(Class::Derived);
        let anchor = anchor.map(|anchor| Anchor {
            of: line.id,
            ..anchor.masked(&mut what)
        });
        Self {
            line,
            class,
            anchor,
            anchors_known,
        }
    }
}

impl Put {
    /// What a note at its commit tells; none without a commit, and where the commit's message tells it already.
    pub fn noted(&self) -> Option<Noted> {
        let commit = self.anchor.as_ref()?.commit?;
        match Record::decode(self.line.text.as_bytes()) {
            Ok(Record::Reasoning(said)) if said.source != Source::Commit => Some(Noted {
                commit,
                id: self.line.id,
                kind: said.kind,
                text: said.text,
            }),
            _ => None,
        }
    }
}

/// What became of one put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is new and was written.
    Added,
    /// It was known; the anchor is new and was written.
    Anchored,
    /// Nothing was written.
    Known,
}

impl Store<'_> {
    /// Adds records in one write and says of each what became of it, in the order given. `now` gives the day of writing.
    ///
    /// # Errors
    /// When the store cannot be written, or other writers are faster until patience runs out. Then nothing was written.
    pub fn put(&self, puts: &[Put], now: Time) -> Result<Vec<Receipt>, StoreError> {
        if puts.is_empty() {
            return Ok(Vec::new());
        }
        let day = self.day_of(now);
        let receipts = transaction::edit(self.repo, RECORDS, self.patience, |root, written| {
            self.edit_in(root, puts, &day, written)
        })?;
        // Whoever has written so many does not notice, and everybody after would.
        if puts.len() > MOST_AS_SINGLES {
            lean::bring_up(self.repo, self.corpus_id()?)?;
        }
        Ok(receipts)
    }

    fn edit_in(
        &self,
        root: Option<TreeId>,
        puts: &[Put],
        day: &str,
        written: &mut Vec<Object>,
    ) -> Result<(Option<TreeId>, Vec<Receipt>), RepoError> {
        let mut known = Known::read(self, root, puts)?;
        let mut receipts = Vec::with_capacity(puts.len());
        let mut fresh: Vec<Fresh> = Vec::new();
        for put in puts {
            let (receipt, lines) = known.take(put);
            receipts.push(receipt);
            if let Some((text, name)) = lines {
                let class = put.class;
                fresh.push(Fresh { class, text, name });
            }
        }
        if fresh.is_empty() {
            return Ok((None, receipts));
        }
        let mut edit = Edit::new(self.repo, root)?;
        edit.fold(day, written)?;
        add_fresh(&mut edit, &fresh, day, written)?;
        let root = edit.finish(written)?;
        Ok((Some(root), receipts))
    }
}

/// Lines that are new, and the id that names them when they stand alone.
pub(super) struct Fresh {
    pub class: Class,
    pub text: String,
    pub name: RecordId,
}

/// Adds few lines as single records of the day, many as segments.
pub(super) fn add_fresh(
    edit: &mut Edit<'_>,
    fresh: &[Fresh],
    day: &str,
    written: &mut Vec<Object>,
) -> Result<(), RepoError> {
    if fresh.len() <= MOST_AS_SINGLES {
        for fresh in fresh {
            edit.add(day, &format!("{}.json", fresh.name), &fresh.text, written)?;
        }
        return edit.fold(day, written);
    }
    for class in [Class::Session, Class::Derived] {
        let of_class = fresh.iter().filter(|fresh| fresh.class == class);
        let lines: Vec<String> = of_class
            .flat_map(|fresh| fresh.text.lines().map(str::to_owned))
            .collect();
        edit.add_segments(&day[..7], &lines, written)?;
    }
    Ok(())
}

/// What the corpus already holds of the things to be added.
struct Known(Found);

impl Known {
    fn read(store: &Store<'_>, root: Option<TreeId>, puts: &[Put]) -> Result<Self, RepoError> {
        let Some(root) = root else {
            return Ok(Self(Found::default()));
        };
        let wanted = puts.iter().map(|put| put.line.id).collect();
        Ok(Self(find_ids(store.repo, root, &wanted)?))
    }

    /// What becomes of a put, with the lines to be written and the id that names them.
    fn take(&mut self, put: &Put) -> (Receipt, Option<(String, RecordId)>) {
        let id = put.line.id;
        if self.0.forgotten.contains(&id) {
            return (Receipt::Known, None);
        }
        let anchor = put
            .anchor
            .as_ref()
            .map(|anchor| Record::Anchor(anchor.clone()).encode());
        let place = put.anchor.as_ref().map(|anchor| (id, anchor.commit));
        if self.0.records.insert(id) {
            let mut text = format!("{}\n", put.line.text);
            if let (Some(anchor), Some(place)) = (anchor, place) {
                self.0.anchors.insert(place);
                text.push_str(&anchor.text);
                text.push('\n');
            }
            return (Receipt::Added, Some((text, id)));
        }
        match (anchor, place) {
            (Some(anchor), Some(place)) if put.anchors_known && self.0.anchors.insert(place) => (
                Receipt::Anchored,
                Some((format!("{}\n", anchor.text), anchor.id)),
            ),
            _ => (Receipt::Known, None),
        }
    }
}
