//! The documents of one commit: its state files and its decision documents, as committed.
//!
//! In: a commit and the paths it changed. Out: what these documents say in its tree and did not say in any parent's, so that a file
//! which grows from commit to commit gives each decision once, at the commit that brought it.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Taken, ground_of};
use super::places::{Folders, StateFiles, clean_path};
use super::said::{Said, Settled, settle};
use super::{adr, state};
use crate::id::{BlobId, ObjectId, TreeId};
use crate::record::{Anchor, MAX_NODE, MAX_NODES, Record, Source, Time};
use crate::repo::{Change, Commit, Entry, Mode, Repo, RepoError};
use crate::store::Put;

/// A state file with more bytes than this is no log of decisions.
const MOST_STATE: u64 = 8 * 1024 * 1024;
/// A document with more bytes than this is none that a person wrote.
const MOST_DOCUMENT: u64 = 1024 * 1024;
/// So many documents of one tree are read.
const MOST_DOCUMENTS: usize = 5_000;

type Changes = BTreeMap<String, Change>;

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
    changes: &Changes,
    files: &StateFiles,
    taken: &mut Taken,
) -> Result<(), RepoError> {
    let paths: Vec<&String> = changes.keys().filter(|path| files.holds(path)).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let read = |tree| read_state(repo, tree, &paths);
    let told = news(repo, commit, &read)?;
    let mut others = changes.clone();
    others.retain(|path, _| !files.holds(path));
    let fallback = ground_of(repo, commit, others)?;
    keep(commit, told, taken, &|path, said| {
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
    changes: &Changes,
    folders: &Folders,
    taken: &mut Taken,
) -> Result<(), RepoError> {
    let is_one = |path: &&String| folders.holds(path) && adr::is_document(path);
    if !changes.keys().any(|path| is_one(&path)) {
        return Ok(());
    }
    let read = |tree| read_documents(repo, tree, folders);
    let told = news(repo, commit, &read)?;
    keep(commit, told, taken, &|_, said| {
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

/// What a commit's tree tells that no parent's does.
fn news(
    repo: &Repo,
    commit: &Commit,
    read: &dyn Fn(TreeId) -> Result<Told, RepoError>,
) -> Result<Told, RepoError> {
    let mut told = read(commit.tree)?;
    for parent in &commit.parents {
        if !repo.has(parent.0)? {
            continue;
        }
        let before = read(repo.tree_of(*parent)?)?;
        let known: BTreeSet<_> = before
            .said
            .iter()
            .map(|(_, said)| (said.id, &said.nodes))
            .collect();
        told.said
            .retain(|(_, said)| !known.contains(&(said.id, &said.nodes)));
        told.unread.retain(|why| !before.unread.contains(why));
    }
    Ok(told)
}

fn read_state(repo: &Repo, tree: TreeId, paths: &[&String]) -> Result<Told, RepoError> {
    let mut told = Told::default();
    for path in paths {
        let Some(entry) = repo.entry(tree, path)? else {
            continue;
        };
        match content(repo, &entry, MOST_STATE)? {
            Ok(bytes) => told.add(path, settle(state::read(&bytes), Source::State), true),
            Err(why) => drop(told.unread.insert(format!("{path}: {why}"))),
        }
    }
    Ok(told)
}

fn read_documents(repo: &Repo, tree: TreeId, folders: &Folders) -> Result<Told, RepoError> {
    let mut told = Told::default();
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for folder in folders.iter() {
        let Some(entry) = repo.entry(tree, folder)? else {
            continue;
        };
        if entry.mode != Mode::Directory {
            continue;
        }
        for mut entry in repo.list(TreeId(entry.id))? {
            if entry.mode == Mode::Directory || !adr::is_document(&entry.path) {
                continue;
            }
            if !folder.is_empty() {
                entry.path = format!("{folder}/{}", entry.path);
            }
            if files.len() == MOST_DOCUMENTS {
                let why =
                    format!("{folder}: more than {MOST_DOCUMENTS} documents; the rest is left out");
                told.unread.insert(why);
                break;
            }
            match content(repo, &entry, MOST_DOCUMENT)? {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    files.insert(entry.path, text);
                }
                Err(why) => drop(told.unread.insert(format!("{}: {why}", entry.path))),
            }
        }
    }
    let files: Vec<_> = files.into_iter().collect();
    told.add("", settle(adr::read(&files), Source::Adr), false);
    Ok(told)
}

/// The bytes of a file, or why they are not to be had.
fn content(repo: &Repo, entry: &Entry, most: u64) -> Result<Result<Vec<u8>, String>, RepoError> {
    if entry.mode != Mode::File {
        return Ok(Err("it is no file".into()));
    }
    match repo.blob_size(BlobId(entry.id))? {
        Some(size) if size > most => {
            return Ok(Err(format!("it has {size} bytes; at most {most} are read")));
        }
        _ => {}
    }
    let bytes = repo.blob(BlobId(entry.id))?;
    Ok(bytes.ok_or_else(|| "its content is not in this partial clone".to_owned()))
}

type Nodes = (Vec<String>, BTreeMap<String, ObjectId>);

/// Puts what is new, each with its nodes in its anchor.
fn keep(
    commit: &Commit,
    told: Told,
    taken: &mut Taken,
    nodes_of: &dyn Fn(&str, &Said) -> Result<Nodes, RepoError>,
) -> Result<(), RepoError> {
    let short = &commit.id.to_string()[..12];
    let unread = told.unread.iter().map(|why| format!("{short}: {why}"));
    taken.unread.extend(unread);
    if !told.said.is_empty() {
        taken.masked.extend(told.masked);
    }
    for (place, said) in &told.said {
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
