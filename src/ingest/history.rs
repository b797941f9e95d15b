//! One commit's records: what its trailers decide, and what its message tells.

use std::collections::{BTreeMap, BTreeSet};

use super::committed;
use super::places::{Folders, StateFiles};
use super::said::clean;
use super::trailer::{self, Message};
use crate::id::ObjectId;
use crate::record::{Anchor, Kind, Outcome, Reasoning, Record, Source, Time};
use crate::repo::{Change, Commit, Repo, RepoError};
use crate::store::Put;

/// More touched paths than this are told by their directories (`design.md` section 6).
const MOST_PATHS: usize = 100;
/// The names of these have at most so many bytes together: each record of a commit has all of them.
const MOST_PATH_BYTES: usize = 32 * 1024;
/// A commit that changes more than this is about the whole repository: the first of an imported one, or a tree made to have no end.
const MOST_CHANGES: usize = 100_000;
/// So many reasonings of one message are taken; nobody writes a tenth of it.
const MOST_TRAILERS: usize = 500;
/// So many outcomes: each names every decision of its commit.
const MOST_OUTCOMES: usize = 20;
/// So many trailers that cannot be kept are named one by one.
const MOST_TOLD: usize = 100;
/// The clock is looked at once for so many trailers.
const LOOKS: usize = 4;
/// The root of the repository.
const ROOT: &str = ".";
/// A message explains when its body has at least this many words (`cli.md`, ingest).
const EXPLAINING_WORDS: usize = 5;

/// Which commit messages are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degree {
    /// None.
    None,
    /// Those with at least five words of body.
    Explaining,
    /// Every one.
    All,
}

/// What is taken from a commit.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Its trailers.
    pub trailers: bool,
    /// Its state files.
    pub state: Option<StateFiles>,
    /// Its decision documents.
    pub documents: Option<Folders>,
    /// Its message.
    pub messages: Degree,
}

/// What one commit gave.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub puts: Vec<Put>,
    /// What was meant for the memory and could not be kept, each with the commit.
    pub refused: Vec<String>,
    /// What of its documents was not understood, each with the commit.
    pub unread: Vec<String>,
    /// Kinds of credentials that were masked.
    pub masked: Vec<String>,
    /// Whether time was over in the middle of it: then the rest of this is not all.
    pub is_late: bool,
}

/// What a commit changed.
pub(super) enum Changed {
    /// These paths.
    Paths(BTreeMap<String, Change>),
    /// More than are told apart.
    TooMany,
}

impl Changed {
    /// None where time was over.
    fn of(
        repo: &Repo,
        commit: &Commit,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, RepoError> {
        Ok(match repo.changes_within(commit, MOST_CHANGES, is_late)? {
            Some(changes) => Some(Self::Paths(changes)),
            None if is_late() => None,
            None => Some(Self::TooMany),
        })
    }
}

/// Reads one commit. Where `is_late` says that time is over, it is given up in the middle, if it is a large one.
pub(super) fn take(
    repo: &Repo,
    commit: &Commit,
    sources: &Sources,
    is_late: &dyn Fn() -> bool,
) -> Result<Taken, RepoError> {
    match take_whole(repo, commit, sources, is_late) {
        // A clone without trees goes on with what it has.
        Err(RepoError::Missing { partial: true, .. }) => {
            let why = "what it changed is not in this partial clone";
            Ok(Taken {
                refused: vec![format!("{}: {why}", commit.id)],
                ..Taken::default()
            })
        }
        taken => taken,
    }
}

fn take_whole(
    repo: &Repo,
    commit: &Commit,
    sources: &Sources,
    is_late: &dyn Fn() -> bool,
) -> Result<Taken, RepoError> {
    let message = trailer::parse(&commit.message);
    let mut taken = Taken::default();
    let mut is_border = !commit.parents.is_empty();
    for parent in &commit.parents {
        is_border &= !repo.has(parent.0)?;
    }
    if is_border {
        // What it changed is not known; taken now, it would stand beside itself after a deeper fetch.
        let why = "at the border of a shallow clone, so what it changed is not known";
        taken.refused.push(format!("{}: {why}", commit.id));
        return Ok(taken);
    }
    take_documents(repo, commit, sources, &mut taken, is_late)?;
    if taken.is_late {
        return Ok(taken);
    }
    let short = &commit.id.to_string()[..12];
    if let Some(too_long) = commit.too_long {
        let why = format!("{short}: the message of the commit: {too_long}");
        taken.refused.push(why);
        return Ok(taken);
    }
    let text = prose(&message, sources.messages);
    let mut found = match sources.trailers {
        true => trailer::found(&message),
        false => trailer::Found::default(),
    };
    bound(&mut found);
    taken
        .refused
        .extend(found.refused.iter().map(|why| format!("{short}: {why}")));
    if text.is_none() && found.reasonings.is_empty() && found.outcomes.is_empty() {
        return Ok(taken);
    }
    let Some(changed) = Changed::of(repo, commit, is_late)? else {
        taken.is_late = true;
        return Ok(taken);
    };
    let (nodes, objects) = ground_of(repo, commit, changed)?;
    take_trailers(commit, &found, (&nodes, &objects), &mut taken, is_late);
    if let (Some(text), false) = (text, taken.is_late) {
        let text = clean(&text, &mut taken.masked);
        let record = reasoning(Source::Commit, Kind::Finding, text, nodes);
        match record.check() {
            Ok(()) => {
                let anchor = anchor(commit, &[], &objects);
                taken.puts.push(Put::new(&record, Some(anchor), true));
            }
            Err(why) => taken.refused.push(format!("{short}: the message: {why}")),
        }
    }
    Ok(taken)
}

fn anchor(commit: &Commit, nodes: &[String], objects: &BTreeMap<String, ObjectId>) -> Anchor {
    Anchor {
        nodes: nodes.to_vec(),
        objects: objects.clone(),
        ..Anchor::at(Some(commit.id), Time(commit.time))
    }
}

/// No more trailers than one commit is taken to mean, and one line for all the others.
fn bound(found: &mut trailer::Found) {
    let lists = [
        (found.reasonings.len(), MOST_TRAILERS, "trailers"),
        (found.outcomes.len(), MOST_OUTCOMES, "Outcome trailers"),
        (found.refused.len(), MOST_TOLD, "refusals of trailers"),
    ];
    found.reasonings.truncate(MOST_TRAILERS);
    found.outcomes.truncate(MOST_OUTCOMES);
    found.refused.truncate(MOST_TOLD);
    for (count, most, what) in lists.into_iter().filter(|(count, most, _)| count > most) {
        let why = format!(
            "{count} {what}; at most {most} of a commit are taken, the others are left out"
        );
        found.refused.push(why);
    }
}

fn take_trailers(
    commit: &Commit,
    found: &trailer::Found,
    (nodes, objects): (&[String], &BTreeMap<String, ObjectId>),
    taken: &mut Taken,
    is_late: &dyn Fn() -> bool,
) {
    let short = &commit.id.to_string()[..12];
    let mut decisions = Vec::new();
    for (at, (kind, text)) in found.reasonings.iter().enumerate() {
        // A few are no reason to give up.
        if at % LOOKS == LOOKS - 1 && is_late() {
            taken.is_late = true;
            return;
        }
        let text = clean(text, &mut taken.masked);
        let record = reasoning(Source::Trailer, *kind, text, Vec::new());
        if let Err(why) = record.check() {
            taken
                .refused
                .push(format!("{short}: {} trailer: {why}", kind.as_str()));
            continue;
        }
        let put = Put::new(&record, Some(anchor(commit, nodes, objects)), true);
        if *kind == Kind::Decision {
            decisions.push(put.line.id);
        }
        taken.puts.push(put);
    }
    decisions.sort();
    for (verdict, rationale) in &found.outcomes {
        if decisions.is_empty() {
            let why =
                "an Outcome trailer speaks of the decisions of its own commit, and there are none";
            taken.refused.push(format!("{short}: {why}"));
            continue;
        }
        let rationale = rationale
            .as_deref()
            .map(|text| clean(text, &mut taken.masked));
        let record = Record::Outcome(Outcome {
            source: Source::Trailer,
            task: None,
            of: decisions.clone(),
            verdict: *verdict,
            rationale,
            coverage: None,
            surfaced: Vec::new(),
            missing: Vec::new(),
            time: None,
        });
        match record.check() {
            Ok(()) => {
                let anchor = anchor(commit, &[], &BTreeMap::new());
                taken.puts.push(Put::new(&record, Some(anchor), true));
            }
            Err(why) => taken
                .refused
                .push(format!("{short}: Outcome trailer: {why}")),
        }
    }
}

/// What its state files and decision documents say.
fn take_documents(
    repo: &Repo,
    commit: &Commit,
    sources: &Sources,
    taken: &mut Taken,
    is_late: &dyn Fn() -> bool,
) -> Result<(), RepoError> {
    if sources.state.is_none() && sources.documents.is_none() {
        return Ok(());
    }
    let Some(changed) = Changed::of(repo, commit, is_late)? else {
        taken.is_late = true;
        return Ok(());
    };
    if let Some(files) = &sources.state {
        committed::take_state(repo, commit, &changed, files, taken, is_late)?;
    }
    if let Some(folders) = &sources.documents {
        committed::take_documents(repo, commit, &changed, folders, taken, is_late)?;
    }
    Ok(())
}

fn reasoning(source: Source, kind: Kind, text: String, nodes: Vec<String>) -> Record {
    Record::Reasoning(Reasoning {
        text,
        nodes,
        ..Reasoning::new(source, kind)
    })
}

fn prose(message: &Message, degree: Degree) -> Option<String> {
    let wanted = match degree {
        Degree::None => false,
        Degree::Explaining => trailer::words_of_body(message) >= EXPLAINING_WORDS,
        Degree::All => true,
    };
    wanted.then(|| trailer::prose(message)).flatten()
}

/// What a commit is about, with the object that each of it had then (`design.md` section 6, nodes of a commit).
pub(super) fn ground(
    repo: &Repo,
    commit: &Commit,
) -> Result<(Vec<String>, BTreeMap<String, ObjectId>), RepoError> {
    let changed = Changed::of(repo, commit, &|| false)?.unwrap_or(Changed::TooMany);
    ground_of(repo, commit, changed)
}

/// The same of some of its changes. What changes more than is told apart is about all of it.
pub(super) fn ground_of(
    repo: &Repo,
    commit: &Commit,
    changed: Changed,
) -> Result<(Vec<String>, BTreeMap<String, ObjectId>), RepoError> {
    let bytes = |paths: &mut dyn Iterator<Item = &String>| paths.map(String::len).sum::<usize>();
    let nodes = match changed {
        Changed::Paths(changes)
            if changes.len() <= MOST_PATHS && bytes(&mut changes.keys()) <= MOST_PATH_BYTES =>
        {
            let objects = changes
                .iter()
                .filter_map(|(path, change)| Some((path.clone(), change.now?)));
            let objects = objects.collect();
            return Ok((changes.into_keys().collect(), objects));
        }
        Changed::Paths(changes) => deepest_directories(&changes),
        Changed::TooMany => vec![ROOT.to_owned()],
    };
    let nodes = match bytes(&mut nodes.iter()) <= MOST_PATH_BYTES {
        true => nodes,
        false => vec![ROOT.to_owned()],
    };
    let mut objects = BTreeMap::new();
    for node in &nodes {
        if let Some(entry) = repo.entry(commit.tree, node)? {
            objects.insert(node.clone(), entry.id);
        }
    }
    Ok((nodes, objects))
}

fn deepest_directories(changes: &BTreeMap<String, Change>) -> Vec<String> {
    let directories: BTreeSet<&str> = changes
        .keys()
        .map(|path| {
            path.rsplit_once('/')
                .map_or(".", |(directory, _)| directory)
        })
        .collect();
    let depth = |directory: &str| match directory {
        "." => 0,
        directory => directory.split('/').count(),
    };
    let mut directories: Vec<&str> = directories.into_iter().collect();
    directories.sort_by_key(|directory| (std::cmp::Reverse(depth(directory)), *directory));
    directories.truncate(MOST_PATHS);
    directories.sort_unstable();
    directories.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Mode;

    #[test]
    fn many_paths_are_told_by_their_deepest_directories() {
        let path = |n: usize| format!("src/{}d{:03}/file", "deep/".repeat(n % 3), n);
        let change = Change {
            mode: Mode::File,
            now: None,
        };
        let changes: BTreeMap<_, _> = (0..150).map(|n| (path(n), change.clone())).collect();
        let nodes = deepest_directories(&changes);
        assert_eq!(nodes.len(), MOST_PATHS);
        assert!(nodes.iter().all(|node| node.starts_with("src/deep/")));
        assert!(nodes.is_sorted());
    }
}
