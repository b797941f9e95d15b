//! What writers here last made of each reference, so that a value that none of them wrote is noticed.
//!
//! A tree has no history that Git could compare: `git fetch other refs/score-local/records:refs/score-local/records` replaces the memory
//! without a word. In: references and their values. Out: whether a value is ours. Kept in a file that grows by a line with each write, of
//! which the last one counts. What cannot be read is unknown, and then nothing is noticed; deleting it is safe.

use std::collections::BTreeMap;

use crate::id::ObjectId;
use crate::repo::{Access, Repo};

/// The file in our own folder.
const NAME: &str = "last";
/// A file this long is written anew with what counts in it.
const LONGEST: u64 = 16 * 1024;
/// Nothing of ours is longer: what nobody was told of yet, and half a line.
const MOST: u64 = 1024 * 1024;
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
        let bytes = repo.cache().read(NAME, MOST).ok().flatten();
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
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

    /// A write is about to happen, or has happened. What cannot be noted is no error: then a foreign value is not noticed.
    pub(super) fn set(
        &mut self,
        repo: &Repo,
        reference: &str,
        was: Option<ObjectId>,
        now: Option<ObjectId>,
    ) {
        self.values.insert(reference.to_owned(), (was, now));
        self.add(repo, &line(reference, &(was, now)));
    }

    /// Something is to be told.
    pub(super) fn push(&mut self, repo: &Repo, event: Event) {
        self.add(repo, &event.line());
        self.events.push(event);
    }

    /// What is to be told; it is told then.
    pub(super) fn take_events(&mut self, repo: &Repo) -> Vec<Event> {
        let events = std::mem::take(&mut self.events);
        if !events.is_empty() {
            self.compact(repo);
        }
        events
    }

    /// Whether there is anything to tell.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    fn add(&self, repo: &Repo, line: &str) {
        let added = repo
            .cache()
            .append(NAME, line.as_bytes(), Some(Access::Usual));
        if added.is_ok_and(|len| len > LONGEST) {
            self.compact(repo);
        }
    }

    fn compact(&self, repo: &Repo) {
        let values = self.values.iter();
        let mut lines: String = values
            .map(|(reference, values)| line(reference, values))
            .collect();
        lines.extend(self.events.iter().map(Event::line));
        drop(repo.cache().replace(NAME, lines.as_bytes(), Access::Usual));
    }
}

fn line(reference: &str, (was, now): &Values) -> String {
    let text = |id: &Option<ObjectId>| id.map_or(NONE.to_owned(), |id| id.to_string());
    format!("{reference} {} {}\n", text(was), text(now))
}

impl Event {
    fn line(&self) -> String {
        let word = self.outcome.word();
        format!("{word} {} {}\n", self.reference, self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: Values) -> Last {
        let values = BTreeMap::from([("r".to_owned(), values)]);
        let events = Vec::new();
        Last { values, events }
    }

    #[test]
    fn a_value_that_nobody_here_wrote_is_noticed() {
        let id = |digit: char| -> ObjectId {
            let text: String = std::iter::repeat_n(digit, 40).collect();
            text.parse().expect("an id")
        };
        let last = Last::default();
        assert_eq!(last.replaced("r", Some(id('a'))), None, "nothing is known");
        let last = known((None, Some(id('a'))));
        assert_eq!(last.replaced("r", None), None, "killed before the swap");
        assert_eq!(last.replaced("r", Some(id('a'))), None);
        assert_eq!(last.replaced("r", Some(id('b'))), Some(id('a')));
        assert_eq!(last.replaced("other", Some(id('b'))), None);
    }
}
