//! Reading one state of the memory: every line of every blob, and the view that a set of visible commits gives.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;

use super::base::{Store, StoreError};
use super::journal;
use super::layout::{self, Place};
use super::view::{Ending, Prior, View};
use crate::id::{CommitId, RecordId, TreeId};
use crate::record::{
    Anchor, Gone, Outcome, Reasoning, Record, Session, Source, Task, Time, Tombstone,
};
use crate::repo::{Repo, RepoError};

/// A line, or a whole blob, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// `2026-11-30/<id>.json:1`.
    pub place: String,
    /// One sentence.
    pub reason: String,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// One state of the memory, every record parsed.
#[derive(Default)]
pub struct Corpus {
    /// Sessions.
    pub sessions: BTreeMap<RecordId, Session>,
    /// Tasks.
    pub tasks: BTreeMap<RecordId, Task>,
    /// Reasoning records.
    pub reasoning: BTreeMap<RecordId, Reasoning>,
    /// Outcomes.
    pub outcomes: BTreeMap<RecordId, Outcome>,
    /// What is left of records that are gone, by the id of the record.
    pub tombstones: BTreeMap<RecordId, Tombstone>,
    /// The anchors of each record, each with its own id, in the order of these.
    pub anchors: BTreeMap<RecordId, Vec<(RecordId, Anchor)>>,
    /// What could not be read.
    pub broken: Vec<Broken>,
    /// Every blob, as read.
    blobs: Vec<Blob>,
    /// Where the line of each record and anchor lies: the blob, and the bytes in it.
    lines: BTreeMap<RecordId, (usize, Range<usize>)>,
}

struct Blob {
    place: String,
    text: String,
}

/// Which records count.
pub enum Visible<'a> {
    /// Every one.
    All,
    /// Those with an anchor at one of these commits, or without a commit and not younger than the clock.
    At {
        /// The asked commit and its ancestors.
        ancestors: &'a BTreeSet<CommitId>,
        /// The asked commit's committer date.
        clock: Time,
    },
}

impl Visible<'_> {
    fn shows(&self, anchor: &Anchor) -> bool {
        self.shows_at(anchor.commit, anchor.time)
    }

    fn shows_at(&self, commit: Option<CommitId>, time: Time) -> bool {
        match (self, commit) {
            (Visible::All, _) => true,
            (Visible::At { ancestors, .. }, Some(commit)) => ancestors.contains(&commit),
            (Visible::At { clock, .. }, None) => time <= *clock,
        }
    }

    /// Whether what is left of a record counts, as the record would.
    pub fn shows_stone(&self, stone: &Tombstone) -> bool {
        let mut at = stone.at.iter();
        matches!(self, Visible::All) || at.any(|stood| self.shows_at(stood.commit, stood.time))
    }
}

/// What one blob gave.
pub(super) struct Parsed {
    blob: Blob,
    pub records: Vec<(RecordId, Range<usize>, Record)>,
    pub broken: Vec<Broken>,
}

impl Parsed {
    /// Of a blob whose records are known without its text.
    pub(super) fn known(place: &Place, records: Vec<(RecordId, Record)>) -> Self {
        let blob = Blob {
            place: place.path(),
            text: String::new(),
        };
        let records = records.into_iter();
        Self {
            blob,
            records: records.map(|(id, record)| (id, 0..0, record)).collect(),
            broken: Vec::new(),
        }
    }

    /// The records with their lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = (RecordId, &str, &Record)> {
        let text = &self.blob.text;
        let each = self.records.iter();
        each.map(|(id, range, record)| (*id, &text[range.clone()], record))
    }
}

/// Reads every record.
pub(super) fn read(repo: &Repo, root: TreeId) -> Result<Corpus, RepoError> {
    let places = layout::places(repo, root)?;
    read_places(repo, &places.iter().collect::<Vec<_>>())
}

/// Reads every record of these places.
pub(super) fn read_places(repo: &Repo, places: &[&Place]) -> Result<Corpus, RepoError> {
    let shared = repo.share();
    crate::threads::ready();
    let parsed: Result<Vec<Parsed>, RepoError> = places
        .par_iter()
        .map_init(|| shared.local(), |repo, place| parse(repo, place))
        .collect();
    let parsed = parsed?;
    let mut lines = Vec::new();
    for (at, parsed) in parsed.iter().enumerate() {
        let records = parsed.records.iter();
        lines.extend(records.map(|(id, range, _)| (*id, (at, range.clone()))));
    }
    let mut corpus = Corpus::from_parsed(parsed);
    corpus.lines = lines.into_iter().collect();
    Ok(corpus)
}

/// The text of a blob, or why there is none: it is missing, or damaged.
///
/// # Errors
/// When the machine would not read it: then nothing is known of what it says, and nobody may go on as if it said nothing.
pub(super) fn text_of(repo: &Repo, place: &Place) -> Result<Result<String, Broken>, RepoError> {
    let broken = |reason: String| Broken {
        place: place.path(),
        reason,
    };
    let mut blob = repo.blob(place.blob);
    if matches!(blob, Ok(None)) {
        match journal::mend(repo) {
            Err(error) if error.is_machine() => return Err(error),
            Ok(true) => blob = repo.blob(place.blob),
            Ok(false) | Err(_) => {}
        }
    }
    Ok(match blob {
        Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| broken("it is not UTF-8".into())),
        Ok(None) => Err(broken(format!("blob {} is missing", place.blob))),
        Err(error) if error.is_machine() => return Err(error),
        Err(error) => Err(broken(error.to_string())),
    })
}

/// The records of a blob.
///
/// # Errors
/// When the machine would not read it. What is damaged is named in what it gives.
pub(super) fn parse(repo: &Repo, place: &Place) -> Result<Parsed, RepoError> {
    let (mut records, mut broken) = (Vec::new(), Vec::new());
    let named = text_of(repo, place)?.and_then(|text| match check_name(place, &text) {
        Ok(()) => Ok(text),
        // Every line of a segment has its own id: one that was changed must not take a thousand others with it.
        Err(why) if place.is_segment() => {
            broken.push(why);
            Ok(text)
        }
        Err(why) => Err(why),
    });
    let text = named.unwrap_or_else(|why| {
        broken.push(why);
        String::new()
    });
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        let line = text[range.clone()].as_bytes();
        match Record::decode(line) {
            Ok(record) => records.push((RecordId::of(line), range, record)),
            Err(error) => broken.push(Broken {
                place: format!("{}:{}", place.path(), number + 1),
                reason: error.to_string(),
            }),
        }
    }
    let blob = Blob {
        place: place.path(),
        text,
    };
    Ok(Parsed {
        blob,
        records,
        broken,
    })
}

fn check_name(place: &Place, text: &str) -> Result<(), Broken> {
    let id = place.id_of(text);
    match place.name.split('.').next() == Some(&id.to_string()) {
        true => Ok(()),
        false => Err(Broken {
            place: place.path(),
            reason: format!("its content has the id {id}, not the one in its name"),
        }),
    }
}

impl Store<'_> {
    /// Reads every record of one state of the memory. What cannot be read is named in [`Corpus::broken`] and skipped.
    ///
    /// # Errors
    /// When a tree of it is missing or damaged, or the machine would not read a part of it.
    pub fn corpus(&self, id: TreeId) -> Result<Corpus, StoreError> {
        Ok(read(self.repo, id)?)
    }
}

impl Corpus {
    /// Everything but where the lines lie.
    pub(super) fn from_parsed(parsed: Vec<Parsed>) -> Self {
        let mut corpus = Self::default();
        let (mut reasoning, mut anchors) = (Vec::new(), Vec::new());
        for parsed in parsed {
            corpus.broken.extend(parsed.broken);
            corpus.blobs.push(parsed.blob);
            for (id, _, record) in parsed.records {
                match record {
                    Record::Session(session) => drop(corpus.sessions.insert(id, session)),
                    Record::Task(task) => drop(corpus.tasks.insert(id, task)),
                    Record::Reasoning(said) => reasoning.push((id, said)),
                    Record::Outcome(outcome) => drop(corpus.outcomes.insert(id, outcome)),
                    Record::Tombstone(stone) => match corpus.tombstones.entry(stone.of) {
                        Entry::Vacant(empty) => drop(empty.insert(stone)),
                        Entry::Occupied(mut known) => known.get_mut().join(stone),
                    },
                    Record::Anchor(anchor) => anchors.push((anchor.of, id, anchor)),
                }
            }
        }
        // Sorted first and built at once: by far the most of a large corpus.
        corpus.reasoning = reasoning.into_iter().collect();
        anchors.sort_by_key(|(of, id, _)| (*of, *id));
        anchors.dedup_by_key(|(_, id, _)| *id);
        let mut grouped: Vec<(RecordId, Vec<(RecordId, Anchor)>)> = Vec::new();
        for (of, id, anchor) in anchors {
            match grouped.last_mut() {
                Some((last, group)) if *last == of => group.push((id, anchor)),
                _ => grouped.push((of, vec![(id, anchor)])),
            }
        }
        corpus.anchors = grouped.into_iter().collect();
        corpus
    }

    /// The bytes of a record or an anchor as they were hashed, and the blob that holds them, `2026-11/<digest>.jsonl`.
    pub fn line(&self, id: RecordId) -> Option<(&str, &str)> {
        let (blob, range) = self.lines.get(&id)?;
        let blob = self.blobs.get(*blob)?;
        Some((blob.text.get(range.clone())?, &blob.place))
    }

    /// The blobs that hold any of these lines, each with its place and with what is left of it.
    pub(super) fn without(&self, gone: &BTreeSet<RecordId>) -> Vec<(&str, String)> {
        let gone: BTreeSet<&str> = gone
            .iter()
            .filter_map(|id| self.line(*id))
            .map(|(text, _)| text)
            .collect();
        let holds = |blob: &&Blob| blob.text.lines().any(|line| gone.contains(line));
        let rest = |blob: &Blob| {
            let lines = blob.text.split_inclusive('\n');
            lines
                .filter(|line| !gone.contains(line.trim_end_matches('\n')))
                .collect()
        };
        self.blobs
            .iter()
            .filter(holds)
            .map(|blob| (blob.place.as_str(), rest(blob)))
            .collect()
    }

    /// Where a record was taken from; none of a record that is not there.
    pub fn source(&self, id: RecordId) -> Option<Source> {
        if self.sessions.contains_key(&id) || self.tasks.contains_key(&id) {
            return Some(Source::Session);
        }
        let said = self.reasoning.get(&id).map(|reasoning| reasoning.source);
        said.or_else(|| self.outcomes.get(&id).map(|outcome| outcome.source))
    }

    /// The full id of the record with this id or unique beginning of one.
    ///
    /// # Errors
    /// One sentence, when there is none or there are several.
    pub fn find(&self, id: &str) -> Result<RecordId, String> {
        let mut found = self.ids().filter(|full| full.to_string().starts_with(id));
        match (found.next(), found.count()) {
            (Some(full), 0) if !id.is_empty() => Ok(full),
            (None, _) => Err(format!("no record has the id '{id}'")),
            (Some(_), others) => Err(format!(
                "the id '{id}' is ambiguous: {} records begin with it",
                others + 1
            )),
        }
    }

    /// The ids of every record that is no anchor.
    pub fn ids(&self) -> impl Iterator<Item = RecordId> + '_ {
        let said = self.reasoning.keys().chain(self.outcomes.keys());
        said.chain(self.sessions.keys())
            .chain(self.tasks.keys())
            .copied()
    }

    /// Whether somebody asked that this record be forgotten. What has expired may be said again; this may not.
    pub fn is_forgotten(&self, id: RecordId) -> bool {
        let stone = self.tombstones.get(&id);
        stone.is_some_and(|stone| stone.why == Gone::Forgotten)
    }

    /// The one tombstone of a record whose id begins so.
    pub fn buried(&self, prefix: &str) -> Option<RecordId> {
        let all = self.tombstones.keys();
        let mut found = all.filter(|of| of.to_string().starts_with(prefix));
        let first = found.next().copied();
        first.filter(|_| found.next().is_none())
    }

    /// The records that count, merged with what their visible anchors say.
    pub fn view(&self, visible: &Visible<'_>) -> View {
        let reasoning = self
            .reasoning
            .iter()
            .map(|(id, reasoning)| (*id, reasoning.clone()));
        self.merge(reasoning, visible)
    }

    /// The same, for a corpus of which nothing else is wanted: its texts move and are not copied.
    pub fn into_view(mut self, visible: &Visible<'_>) -> View {
        let reasoning = std::mem::take(&mut self.reasoning);
        self.merge(reasoning.into_iter(), visible)
    }

    fn merge(
        &self,
        reasoning: impl Iterator<Item = (RecordId, Reasoning)>,
        visible: &Visible<'_>,
    ) -> View {
        let mut view = View::default();
        for (id, reasoning) in reasoning {
            if let Some(standing) = self.standing(id, visible) {
                view.priors.push(prior(id, reasoning, &standing));
            }
        }
        for (id, outcome) in &self.outcomes {
            if let Some(standing) = self.standing(*id, visible) {
                view.endings.push(Ending {
                    id: *id,
                    task: outcome.task.clone(),
                    of: outcome.of.clone(),
                    verdict: outcome.verdict,
                    rationale: outcome.rationale.clone(),
                    time: outcome.time.unwrap_or(standing.time),
                });
            }
        }
        let stones = self.tombstones.values();
        let stones: Vec<&Tombstone> = stones.filter(|stone| visible.shows_stone(stone)).collect();
        // Of an outcome that was recorded again the record itself speaks.
        let expired = stones
            .iter()
            .filter(|stone| !self.outcomes.contains_key(&stone.of));
        view.endings
            .extend(expired.filter_map(|stone| ending(stone)));
        view.endings.sort_by_key(|ending| ending.id);
        let replaced = view
            .priors
            .iter()
            .map(|prior| (prior.id, &prior.supersedes))
            .chain(stones.iter().map(|stone| (stone.of, &stone.supersedes)))
            .flat_map(|(by, supersedes)| supersedes.iter().map(move |old| (*old, by)));
        for (old, by) in replaced {
            let smallest = view.replaced_by.entry(old).or_insert(by);
            *smallest = by.min(*smallest);
        }
        view
    }

    /// When and where a record stands, as far as it is visible; none when it is not.
    fn standing(&self, id: RecordId, visible: &Visible<'_>) -> Option<Standing<'_>> {
        if self.is_forgotten(id) {
            return None;
        }
        let Some(anchors) = self.anchors.get(&id) else {
            // Only a damaged store has a record without any anchor. It is not lost as long as everything counts.
            return matches!(visible, Visible::All).then(Standing::default);
        };
        let is_former = |anchor: &Anchor| {
            let mut replaced = anchors.iter().flat_map(|(_, other)| &other.replaces);
            anchor
                .commit
                .is_some_and(|commit| replaced.any(|one| *one == commit))
        };
        let mut seen: Vec<_> = anchors
            .iter()
            .filter(|(_, anchor)| visible.shows(anchor))
            .collect();
        seen.sort_by_key(|(id, anchor)| (anchor.time, *id));
        let seen: Vec<&Anchor> = seen.into_iter().map(|(_, anchor)| anchor).collect();
        let first = *seen.first()?;
        let (former, in_force): (Vec<_>, Vec<_>) =
            seen.iter().copied().partition(|anchor| is_former(anchor));
        Some(Standing {
            time: first.time,
            first_commit: first.commit,
            in_force,
            former,
        })
    }
}

/// What is left of an outcome.
fn ending(stone: &Tombstone) -> Option<Ending> {
    if stone.why == Gone::Forgotten {
        return None;
    }
    let first = stone.at.iter().map(|stood| stood.time).min();
    Some(Ending {
        id: stone.of,
        task: stone.task.clone(),
        of: stone.about.clone(),
        verdict: stone.verdict?,
        rationale: None,
        time: stone.time.or(first)?,
    })
}

/// The visible anchors of one record, oldest first.
struct Standing<'a> {
    time: Time,
    first_commit: Option<CommitId>,
    in_force: Vec<&'a Anchor>,
    former: Vec<&'a Anchor>,
}

impl Default for Standing<'_> {
    fn default() -> Self {
        Self {
            time: Time(0),
            first_commit: None,
            in_force: Vec::new(),
            former: Vec::new(),
        }
    }
}

fn prior(id: RecordId, reasoning: Reasoning, standing: &Standing<'_>) -> Prior {
    let telling = match standing.in_force.is_empty() {
        true => &standing.former,
        false => &standing.in_force,
    };
    let mut nodes = reasoning.nodes;
    let mut objects = BTreeMap::new();
    for anchor in telling {
        nodes.extend(anchor.nodes.iter().cloned());
        // Oldest first, so that the newest anchor that knows an object has the last word.
        objects.extend(
            anchor
                .objects
                .iter()
                .map(|(path, object)| (path.clone(), *object)),
        );
    }
    nodes.sort();
    nodes.dedup();
    let commits = |anchors: &[&Anchor]| anchors.iter().filter_map(|anchor| anchor.commit).collect();
    let said = |get: fn(&Anchor) -> &Option<String>| {
        let all = standing.in_force.iter().chain(&standing.former);
        let distinct: BTreeSet<_> = all.filter_map(|anchor| get(anchor).clone()).collect();
        distinct.into_iter().collect()
    };
    Prior {
        id,
        kind: reasoning.kind,
        source: reasoning.source,
        text: reasoning.text,
        reasons: reasoning.reasons,
        confidence: reasoning.confidence,
        supersedes: reasoning.supersedes,
        session: reasoning.session,
        task: reasoning.task,
        key: reasoning.key,
        nodes,
        objects,
        time: standing.time,
        anchors: commits(&standing.in_force),
        former_anchors: commits(&standing.former),
        first_commit: standing.first_commit,
        branches: said(|anchor| &anchor.branch),
        worktrees: said(|anchor| &anchor.worktree),
    }
}
