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
}

/// Reads one commit.
pub(super) fn take(repo: &Repo, commit: &Commit, sources: &Sources) -> Result<Taken, RepoError> {
    match take_whole(repo, commit, sources) {
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

fn take_whole(repo: &Repo, commit: &Commit, sources: &Sources) -> Result<Taken, RepoError> {
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
    take_documents(repo, commit, sources, &mut taken)?;
    let text = prose(&message, sources.messages);
    let found = match sources.trailers {
        true => trailer::found(&message),
        false => trailer::Found::default(),
    };
    let short = &commit.id.to_string()[..12];
    taken
        .refused
        .extend(found.refused.iter().map(|why| format!("{short}: {why}")));
    if text.is_none() && found.reasonings.is_empty() && found.outcomes.is_empty() {
        return Ok(taken);
    }
    let (nodes, objects) = ground(repo, commit)?;
    let anchor = |nodes: &[String], objects: &BTreeMap<String, ObjectId>| Anchor {
        nodes: nodes.to_vec(),
        objects: objects.clone(),
        ..Anchor::at(Some(commit.id), Time(commit.time))
    };
    let mut decisions = Vec::new();
    for (kind, text) in &found.reasonings {
        let text = clean(text, &mut taken.masked);
        let record = reasoning(Source::Trailer, *kind, text, Vec::new());
        if let Err(why) = record.check() {
            taken
                .refused
                .push(format!("{short}: {} trailer: {why}", kind.as_str()));
            continue;
        }
        let put = Put::new(&record, Some(anchor(&nodes, &objects)), true);
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
        taken
            .puts
            .push(Put::new(&record, Some(anchor(&[], &BTreeMap::new())), true));
    }
    if let Some(text) = text {
        let text = clean(&text, &mut taken.masked);
        let record = reasoning(Source::Commit, Kind::Finding, text, nodes);
        taken
            .puts
            .push(Put::new(&record, Some(anchor(&[], &objects)), true));
    }
    Ok(taken)
}

/// What its state files and decision documents say.
fn take_documents(
    repo: &Repo,
    commit: &Commit,
    sources: &Sources,
    taken: &mut Taken,
) -> Result<(), RepoError> {
    if sources.state.is_none() && sources.documents.is_none() {
        return Ok(());
    }
    let changes = repo.changes(commit)?;
    if let Some(files) = &sources.state {
        committed::take_state(repo, commit, &changes, files, taken)?;
    }
    if let Some(folders) = &sources.documents {
        committed::take_documents(repo, commit, &changes, folders, taken)?;
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
    ground_of(repo, commit, repo.changes(commit)?)
}

/// The same of some of its changes.
pub(super) fn ground_of(
    repo: &Repo,
    commit: &Commit,
    changes: BTreeMap<String, Change>,
) -> Result<(Vec<String>, BTreeMap<String, ObjectId>), RepoError> {
    if changes.len() <= MOST_PATHS {
        let objects = changes
            .iter()
            .filter_map(|(path, change)| Some((path.clone(), change.now?)));
        let objects = objects.collect();
        return Ok((changes.into_keys().collect(), objects));
    }
    let nodes = deepest_directories(&changes);
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
