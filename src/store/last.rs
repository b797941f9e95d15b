//! What writers here last made of each reference, so that a value that none of them wrote is noticed.
//!
//! A tree has no history that Git could compare: `git fetch other refs/score-local/records:refs/score-local/records` replaces the memory
//! without a word. In: references and their values. Out: whether a value is ours. Kept in the file of the writers' lock, which each
//! has open anyway, in one write of a fixed length. What cannot be read is unknown, and then nothing is noticed; deleting it is safe.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;

use super::transaction::LOCK;
use crate::id::ObjectId;
use crate::repo::Repo;

/// Bytes of the file: three references of a line each, and what is to be told.
const LEN: usize = 2048;
/// What has no value.
const NONE: &str = "-";

/// The value before and after the last write. A writer that was killed has left either.
type Values = (Option<ObjectId>, Option<ObjectId>);

/// The last writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Last {
    values: BTreeMap<String, Values>,
    /// What happened and nobody was told yet.
    events: Vec<Event>,
}

/// What another program did to a reference of ours, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The reference.
    pub reference: String,
    /// What it pointed to before.
    pub before: ObjectId,
    /// What became of that.
    pub outcome: Outcome,
}

/// What became of a memory that another program replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both are kept, as one.
    Joined,
    /// What is there now leads nowhere; what was there before is back.
    Restored,
    /// What was there before could not be read any more.
    Lost,
    /// The reference was deleted, which is how one begins anew; nothing was done.
    Deleted,
}

impl Outcome {
    const ALL: [(Self, &str); 4] = [
        (Self::Joined, "joined"),
        (Self::Restored, "restored"),
        (Self::Lost, "lost"),
        (Self::Deleted, "deleted"),
    ];

    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(outcome, _)| *outcome == self);
        found.map_or("", |(_, word)| word)
    }
}

impl Last {
    pub(super) fn read(repo: &Repo) -> Self {
        let text = fs::read_to_string(repo.cache_dir().join(LOCK)).unwrap_or_default();
        let mut last = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [first, reference, third] = words[..] else {
                continue;
            };
            let event = Outcome::ALL.iter().find(|(_, word)| *word == first);
            match (event, reference.parse(), third.parse()) {
                (Some((outcome, _)), _, Ok(before)) => last.events.push(Event {
                    reference: reference.to_owned(),
                    before,
                    outcome: *outcome,
                }),
                (None, was, now) => {
                    let is_known = |text: &str, id: bool| id || text == NONE;
                    if is_known(reference, was.is_ok()) && is_known(third, now.is_ok()) {
                        last.values.insert(first.to_owned(), (was.ok(), now.ok()));
                    }
                }
                _ => {}
            }
        }
        last
    }

    /// What stood there before, where the present value is none that a writer here has left.
    pub(super) fn replaced(&self, reference: &str, value: Option<ObjectId>) -> Option<ObjectId> {
        let (was, now) = self.values.get(reference)?;
        match value == *was || value == *now {
            true => None,
            false => *now,
        }
    }

    /// The value that a writer here left.
    pub(super) fn value(&self, reference: &str) -> Option<ObjectId> {
        self.values.get(reference)?.1
    }

    /// A write is about to happen, or has been seen to have.
    pub(super) fn set(&mut self, reference: &str, was: Option<ObjectId>, now: Option<ObjectId>) {
        self.values.insert(reference.to_owned(), (was, now));
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Whether there is anything to tell.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Writes it down. What fails is no error: then a foreign value is not noticed.
    pub(super) fn write(&self, repo: &Repo) {
        let text = |id: &Option<ObjectId>| id.map_or(NONE.to_owned(), |id| id.to_string());
        let values = self.values.iter();
        let mut lines: String = values
            .map(|(reference, (was, now))| format!("{reference} {} {}\n", text(was), text(now)))
            .collect();
        for event in &self.events {
            let (word, before) = (event.outcome.word(), event.before);
            lines.push_str(&format!("{word} {} {before}\n", event.reference));
        }
        // Many events that nobody was told of: the oldest values and events stand first, and are told.
        lines.truncate(
            lines[..lines.len().min(LEN)]
                .rfind('\n')
                .map_or(0, |end| end + 1),
        );
        let file = OpenOptions::new()
            .write(true)
            .open(repo.cache_dir().join(LOCK));
        drop(file.and_then(|mut file| file.write_all(format!("{lines:<LEN$}").as_bytes())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_nobody_here_wrote_is_noticed() {
        let id = |digit: char| -> ObjectId {
            let text: String = std::iter::repeat_n(digit, 40).collect();
            text.parse().expect("an id")
        };
        let mut last = Last::default();
        assert_eq!(last.replaced("r", Some(id('a'))), None, "nothing is known");
        last.set("r", None, Some(id('a')));
        assert_eq!(last.replaced("r", None), None, "killed before the swap");
        assert_eq!(last.replaced("r", Some(id('a'))), None);
        assert_eq!(last.replaced("r", Some(id('b'))), Some(id('a')));
        assert_eq!(last.replaced("other", Some(id('b'))), None);
    }
}
