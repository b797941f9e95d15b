//! The documents of one commit: its state files and its decision documents, as committed.
//!
//! In: a commit and the paths it changed. Out: what these documents say in its tree and did not say in any parent's, so that a file
//! which grows from commit to commit gives each decision once, at the commit that brought it.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Changed, Taken, ground_of};
use super::places::{Folders, StateFiles, clean_path};
use super::said::{Said, Settled, settle};
use super::{adr, state};
use crate::id::{BlobId, ObjectId, TreeId};
use crate::record::{Anchor, MAX_NODE, MAX_NODES, Record, Source, Time};
use crate::repo::{Commit, Entry, Mode, Repo, RepoError};
use crate::store::Put;

/// A state file with more bytes than this is no log of decisions. As a tree of values it takes a hundred times as much memory.
const MOST_STATE: u64 = 1024 * 1024;
/// So many state files of one commit are read.
const MOST_STATES: usize = 16;
/// A document with more bytes than this is none that a person wrote: the longest of public collections has a fifth.
const MOST_DOCUMENT: u64 = 256 * 1024;
/// So many documents of one tree are read.
const MOST_DOCUMENTS: usize = 5_000;
/// They have at most so many bytes together: all of a tree are held at once, since they name each other.
const MOST_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// So many files of a folder of documents are looked at.
const MOST_ENTRIES: usize = 20_000;
/// So deep below it.
const MOST_DEPTH: usize = 16;
/// What a commit says is what none of so many parents said; an octopus has fewer.
const MOST_PARENTS: usize = 16;
/// So many bytes are read without a look at the clock.
const UNHURRIED: usize = 64 * 1024;
/// The clock is looked at once for so many records.
const LOOKS: usize = 64;
/// So many things that were not understood are named one by one.
const MOST_TOLD: usize = 100;

/// What one tree's documents say, and what is to be told of them.
#[derive(Default)]
struct Told {
    /// With the folder or the file that names are relative to.
    said: Vec<(String, Said)>,
    unread: BTreeSet<String>,
    masked: Vec<String>,
}

impl Told {
    fn add(&mut self, place: &str, settled: Settled, name_it: bool) {
        self.masked.extend(settled.masked);
        let lines = settled.unread.into_iter().map(|why| match name_it {
            true => format!("{place}: {why}"),
            false => why,
        });
        self.unread.extend(lines);
        let said = settled.said.into_iter();
        self.said.extend(said.map(|said| (place.to_owned(), said)));
    }
}

/// Takes what a commit's state files say.
pub(super) fn take_state(
    repo: &Repo,
    commit: &Commit,
    changed: &Changed,
    files: &StateFiles,
    taken: &mut Taken,
    is_late: &dyn Fn() -> bool,
) -> Result<(), RepoError> {
    let Changed::Paths(changes) = changed else {
        let short = &commit.id.to_string()[..12];
        let why = "it changes too many paths to look for state files among them";
        taken.unread.push(format!("{short}: {why}"));
        return Ok(());
    };
    let mut paths: Vec<&String> = changes.keys().filter(|path| files.holds(path)).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let all = paths.len();
    paths.truncate(MOST_STATES);
    let read = |tree| read_state(repo, tree, &paths, is_late);
    let Some(mut told) = news(repo, commit, &read)? else {
        taken.is_late = true;
        return Ok(());
    };
    if all > MOST_STATES {
        let why = format!("{all} state files; at most {MOST_STATES} of a commit are read");
        told.unread.insert(why);
    }
    let mut others = changes.clone();
    others.retain(|path, _| !files.holds(path));
    let fallback = ground_of(repo, commit, Changed::Paths(others))?;
    keep(commit, told, taken, is_late, &|path, said| {
        if said.nodes.is_empty() && matches!(said.record, Record::Reasoning(_)) {
            return Ok(fallback.clone());
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut nodes = BTreeMap::new();
        for node in &said.nodes {
            let (node, found) = resolve(repo, commit.tree, folder, node)?;
            nodes.insert(node, found);
        }
        Ok(split(nodes))
    })
}

/// Takes what a commit's decision documents say.
pub(super) fn take_documents(
    repo: &Repo,
    commit: &Commit,
    changed: &Changed,
    folders: &Folders,
    taken: &mut Taken,
    is_late: &dyn Fn() -> bool,
) -> Result<(), RepoError> {
    let is_one = |path: &&String| folders.holds(path) && adr::is_document(path);
    if let Changed::Paths(changes) = changed
        && !changes.keys().any(|path| is_one(&path))
    {
        return Ok(());
    }
    let read = |tree| read_documents(repo, tree, folders, is_late);
    let Some(told) = news(repo, commit, &read)? else {
        taken.is_late = true;
        return Ok(());
    };
    keep(commit, told, taken, is_late, &|_, said| {
        let mut nodes = BTreeMap::new();
        for mention in &said.nodes {
            let (node, found) = resolve(repo, commit.tree, "", mention)?;
            // Much in a text looks like a path. What is not there is none.
            if found.is_some() {
                nodes.insert(node, found);
            }
        }
        if nodes.is_empty() {
            let entry = repo.entry(commit.tree, &said.at)?;
            nodes.insert(said.at.clone(), entry);
        }
        Ok(split(nodes))
    })
}

/// What a commit's tree tells that no parent's does; none where time was over.
fn news(
    repo: &Repo,
    commit: &Commit,
    read: &dyn Fn(TreeId) -> Result<Option<Told>, RepoError>,
) -> Result<Option<Told>, RepoError> {
    let Some(mut told) = read(commit.tree)? else {
        return Ok(None);
    };
    for parent in commit.parents.iter().take(MOST_PARENTS) {
        if !repo.has(parent.0)? {
            continue;
        }
        let Some(before) = read(repo.tree_of(*parent)?)? else {
            return Ok(None);
        };
        let known: BTreeSet<_> = before
            .said
            .iter()
            .map(|(_, said)| (said.id, &said.nodes))
            .collect();
        told.said
            .retain(|(_, said)| !known.contains(&(said.id, &said.nodes)));
        told.unread.retain(|why| !before.unread.contains(why));
    }
    Ok(Some(told))
}

fn read_state(
    repo: &Repo,
    tree: TreeId,
    paths: &[&String],
    is_late: &dyn Fn() -> bool,
) -> Result<Option<Told>, RepoError> {
    let mut told = Told::default();
    let mut bytes_read = 0;
    for path in paths {
        if bytes_read > UNHURRIED && is_late() {
            return Ok(None);
        }
        let Some(entry) = repo.entry(tree, path)? else {
            continue;
        };
        match content(repo, &entry, MOST_STATE)? {
            Ok(bytes) => {
                bytes_read += bytes.len();
                if bytes.len() > UNHURRIED && is_late() {
                    return Ok(None);
                }
                told.add(path, settle(state::read(&bytes), Source::State), true);
            }
            Err(why) => drop(told.unread.insert(format!("{path}: {why}"))),
        }
    }
    Ok(Some(told))
}

fn read_documents(
    repo: &Repo,
    tree: TreeId,
    folders: &Folders,
    is_late: &dyn Fn() -> bool,
) -> Result<Option<Told>, RepoError> {
    let mut told = Told::default();
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut bytes_read = 0;
    for folder in folders.iter() {
        let Some(entry) = repo.entry(tree, folder)? else {
            continue;
        };
        if entry.mode != Mode::Directory {
            continue;
        }
        for entry in documents_below(repo, TreeId(entry.id), folder, &mut told.unread)? {
            if bytes_read > UNHURRIED && is_late() {
                return Ok(None);
            }
            let is_full = files.len() == MOST_DOCUMENTS || bytes_read > MOST_DOCUMENT_BYTES;
            if is_full {
                let why = format!(
                    "{folder}: more than {MOST_DOCUMENTS} documents, or {} MiB of them; the rest is left out",
                    MOST_DOCUMENT_BYTES >> 20
                );
                told.unread.insert(why);
                break;
            }
            match content(repo, &entry, MOST_DOCUMENT)? {
                Ok(bytes) => {
                    bytes_read += bytes.len();
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    files.insert(entry.path, text);
                }
                Err(why) => drop(told.unread.insert(format!("{}: {why}", entry.path))),
            }
        }
    }
    let files: Vec<_> = files.into_iter().collect();
    let is_long = bytes_read > UNHURRIED;
    let Some(reading) = adr::read(&files, &|| is_long && is_late()) else {
        return Ok(None);
    };
    told.add("", settle(reading, Source::Adr), false);
    Ok(Some(told))
}

/// The decision documents below a folder, by path. No more is looked at than a folder of documents has: trees that hold one another can
/// have any number of paths.
fn documents_below(
    repo: &Repo,
    root: TreeId,
    folder: &str,
    unread: &mut BTreeSet<String>,
) -> Result<Vec<Entry>, RepoError> {
    let mut found = Vec::new();
    let mut open = vec![(root, folder.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((tree, prefix, depth)) = open.pop() {
        for mut entry in repo.tree(tree)? {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                let why = format!("{folder}: more than {MOST_ENTRIES} files; the rest is left out");
                unread.insert(why);
                open.clear();
                break;
            }
            if !prefix.is_empty() {
                entry.path = format!("{prefix}/{}", entry.path);
            }
            match entry.mode {
                Mode::Directory if depth < MOST_DEPTH => {
                    open.push((TreeId(entry.id), entry.path, depth + 1));
                }
                Mode::Directory => {
                    let why = format!("{folder}: folders more than {MOST_DEPTH} deep are left out");
                    unread.insert(why);
                }
                _ if adr::is_document(&entry.path) => found.push(entry),
                _ => {}
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The bytes of a file, or why they are not to be had.
fn content(repo: &Repo, entry: &Entry, most: u64) -> Result<Result<Vec<u8>, String>, RepoError> {
    if entry.mode != Mode::File {
        return Ok(Err("it is no file".into()));
    }
    let bytes = repo.blob_within(BlobId(entry.id), most)?;
    Ok(match bytes {
        Err(too_large) => Err(too_large.to_string()),
        Ok(None) => Err("its content is not in this partial clone".to_owned()),
        Ok(Some(bytes)) => Ok(bytes),
    })
}

type Nodes = (Vec<String>, BTreeMap<String, ObjectId>);

/// Puts what is new, each with its nodes in its anchor.
fn keep(
    commit: &Commit,
    told: Told,
    taken: &mut Taken,
    is_late: &dyn Fn() -> bool,
    nodes_of: &dyn Fn(&str, &Said) -> Result<Nodes, RepoError>,
) -> Result<(), RepoError> {
    let short = &commit.id.to_string()[..12];
    let unread = told.unread.iter().map(|why| format!("{short}: {why}"));
    taken.unread.extend(unread.take(MOST_TOLD));
    if let more @ 1.. = told.unread.len().saturating_sub(MOST_TOLD) {
        taken.unread.push(format!("{short}: and {more} more"));
    }
    if !told.said.is_empty() {
        taken.masked.extend(told.masked);
    }
    for (at, (place, said)) in told.said.iter().enumerate() {
        if at % LOOKS == LOOKS - 1 && is_late() {
            taken.is_late = true;
            return Ok(());
        }
        let (mut nodes, mut objects) = nodes_of(place, said)?;
        let all = nodes.len();
        nodes.retain(|node| node.len() <= MAX_NODE);
        nodes.truncate(MAX_NODES);
        if nodes.len() < all {
            let left = all - nodes.len();
            let why = format!("{short}: {}: {left} nodes are left out", said.at);
            taken.unread.push(why);
        }
        objects.retain(|path, _| path.len() <= MAX_NODE);
        let anchor = Anchor {
            nodes,
            objects,
            ..Anchor::at(Some(commit.id), said.time.unwrap_or(Time(commit.time)))
        };
        taken.puts.push(Put::new(&said.record, Some(anchor), true));
    }
    Ok(())
}

fn split(nodes: BTreeMap<String, Option<Entry>>) -> Nodes {
    let objects = nodes.iter().filter_map(|(node, entry)| {
        let path = node.split("::").next().unwrap_or(node);
        Some((path.to_owned(), entry.as_ref()?.id))
    });
    let objects = objects.collect();
    (nodes.into_keys().collect(), objects)
}

/// A node as written, root-relative, and what stands there: by the root, else by the folder of the document, else, of an absolute
/// path, by the longest end of it that is there. What is nowhere stays as it is.
fn resolve(
    repo: &Repo,
    tree: TreeId,
    folder: &str,
    node: &str,
) -> Result<(String, Option<Entry>), RepoError> {
    /// An absolute path with more parts than this is looked for no further.
    const MOST_PARTS: usize = 32;
    let (path, symbol) = match node.find("::") {
        Some(at) => node.split_at(at),
        None => (node, ""),
    };
    let path = path.replace('\\', "/");
    let mut candidates = vec![clean_path(&path), clean_path(&format!("{folder}/{path}"))];
    if path.starts_with('/') || path.get(1..3) == Some(":/") {
        let ends = path.match_indices('/').take(MOST_PARTS);
        candidates.extend(ends.map(|(at, _)| clean_path(&path[at..])));
    }
    for candidate in candidates.iter().flatten() {
        if let Some(entry) = repo.entry(tree, candidate)? {
            return Ok((format!("{candidate}{symbol}"), Some(entry)));
        }
    }
    let is_root = path.trim_matches('/') == ".";
    match candidates.swap_remove(0) {
        Some(path) => Ok((format!("{path}{symbol}"), None)),
        None if is_root => Ok((".".to_owned(), repo.entry(tree, ".")?)),
        None => Ok((node.to_owned(), None)),
    }
}
