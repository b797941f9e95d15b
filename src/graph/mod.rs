//! The code graph of a tree: every path is a node, and so are the classes, functions and methods of Python, JavaScript and TypeScript.
//!
//! In: a tree of the object store. Out: a `Graph`: contains, imports, calls and inherits, each edge with how it was found. The graph
//! depends on the tree alone: not on the clock, the number of threads, the work tree or what was cached. Blob to facts: `extract.rs` and
//! the language modules; facts to edges: `resolve.rs`. Never follows a name that an import binds to something outside the tree to a
//! namesake inside.

mod about;
mod binding;
mod builder;
mod cache;
mod columns;
mod containers;
mod entries;
mod esm;
mod extract;
mod facts;
mod fields;
mod hash;
mod javascript;
mod js_names;
mod js_open;
mod js_values;
mod jsdoc;
mod json;
mod kept;
mod lookup;
mod members;
mod npm;
mod parts;
mod places;
mod pool;
mod python;
mod python_names;
mod python_types;
mod python_values;
mod reached;
mod resolve;
mod signature;
mod sites;
mod standard;
mod stars;
mod syntax;
mod table;
mod typescript;
mod values;
mod workspace;
mod world;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::graph::entries::{count, keys, sources};
use crate::graph::facts::Language;
use crate::graph::kept::{Kept, Key, Read};
use crate::graph::parts::Parts;
use crate::graph::syntax::Parsers;
use crate::id::{BlobId, TreeId};
use crate::repo::{Entry, Repo, RepoError, Shared};

pub use crate::graph::about::{Missed, Relation, Seen, called_name};
pub use crate::graph::parts::{Edge, EdgeKind, Node, NodeKind, Resolution, Stats};
pub use crate::graph::pool::Pool;
pub use crate::graph::signature::{Parameter, Passing, Signature};
pub use crate::graph::sites::{Arguments, Called, Imported, Site, Sites, Wanted};
pub use crate::graph::table::Graph;

/// The version of everything that decides what a graph holds: grammars, limits, resolution. Raised by every change that alters any graph.
pub const EXTRACTOR: &str = "4";

/// Why there is no graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The tree or one of its blobs could not be read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The file of the graph was cut or written to while it was read; never where this tool is alone at work.
    #[error("the cache of the code graph was changed while it was read; run the command again")]
    Changed,
}

/// So few blobs are parsed sooner than threads are started.
const FEW: usize = 8;

/// What became of one blob: what it says and its encoded form; nothing when it is not in the repository.
type Outcome<'kept> = Option<(Read, Cow<'kept, [u8]>)>;

impl Graph {
    /// The graph of a tree, from the cache or built and then kept there. `progress` is told how many of how many blobs are read, from
    /// any thread, in no particular order; not at all when the graph was kept.
    ///
    /// # Errors
    /// When the tree, or a blob that is there, cannot be read. A cache that cannot be read or written is no error.
    pub fn at(
        repo: &Repo,
        tree: TreeId,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, GraphError> {
        let dir = repo.cache();
        if let Some(kept) = cache::graph(&dir, tree, EXTRACTOR) {
            return Ok(kept);
        }
        let entries = repo.list(tree)?;
        let kept = Kept::near(&dir, EXTRACTOR, &keys(&entries));
        let (graph, outcomes) = Self::link(repo, tree, &entries, &kept, progress)?;
        if graph.missing().is_empty() {
            cache::keep_graph(&dir, tree, EXTRACTOR, &graph);
            let facts: Vec<_> = outcomes
                .iter()
                .filter_map(|(key, outcome)| Some((*key, &outcome.as_ref()?.1)))
                .collect();
            kept::keep_new(&dir, tree, EXTRACTOR, &facts, &kept);
        }
        Ok(graph)
    }

    /// The graph of a tree as [`Graph::at`] gives it, but nothing where it is not kept and more than `most` blobs would have to be read
    /// and parsed for it.
    ///
    /// # Errors
    /// As for `at`.
    pub fn within(
        repo: &Repo,
        tree: TreeId,
        most: usize,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Option<Self>, GraphError> {
        let dir = repo.cache();
        if let Some(graph) = cache::graph(&dir, tree, EXTRACTOR) {
            return Ok(Some(graph));
        }
        let entries = repo.list(tree)?;
        let sources = sources(&entries, &mut Stats::default());
        if sources.len() > most {
            let keys = keys(&entries);
            let kept = Kept::near(&dir, EXTRACTOR, &keys);
            let is_new = |key: &&Key| kept.iter().all(|file| file.find(key).is_none());
            let new: BTreeSet<&Key> = keys.iter().filter(is_new).collect();
            if new.len() > most {
                return Ok(None);
            }
        }
        Self::at(repo, tree, progress).map(Some)
    }

    /// To be asked after the last look at a graph that may come from a file.
    ///
    /// # Errors
    /// When somebody has cut the file or written in it meanwhile. Nothing that was made of the graph counts then; asked for once more,
    /// it comes from memory.
    pub fn check(&self) -> Result<(), GraphError> {
        match self.is_whole() {
            true => Ok(()),
            false => Err(GraphError::Changed),
        }
    }

    /// The paths of a tree alone: no symbols, and no edges but those of directories. Reads no blob.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn of_paths(repo: &Repo, tree: TreeId) -> Result<Self, GraphError> {
        let entries = repo.list(tree)?;
        let (mut stats, mut parts) = (Stats::default(), Parts::default());
        entries::paths(tree, &entries, &mut parts, &mut stats);
        Ok(Self::with_stats(
            parts.nodes,
            parts.edges,
            stats,
            Vec::new(),
        ))
    }

    /// The graph of a tree, built from its blobs without looking at the cache.
    ///
    /// # Errors
    /// As for `at`.
    pub fn build(
        repo: &Repo,
        tree: TreeId,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, GraphError> {
        Self::link(repo, tree, &repo.list(tree)?, &[], progress).map(|(graph, _)| graph)
    }

    /// The graph of a tree, and what became of its blobs, parsing only those that are not kept.
    fn link<'kept>(
        repo: &Repo,
        tree: TreeId,
        entries: &[Entry],
        kept: &'kept [Kept],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(Self, BTreeMap<Key, Outcome<'kept>>), GraphError> {
        let outcomes = read(&repo.share(), &keys(entries), kept, progress)?;
        let known = outcomes
            .iter()
            .filter_map(|(key, outcome)| Some((*key, &outcome.as_ref()?.0)));
        let graph = Self::of_facts(tree, entries, &known.collect());
        Ok((graph, outcomes))
    }

    /// The graph of a tree whose blobs are read.
    fn of_facts(tree: TreeId, entries: &[Entry], known: &BTreeMap<Key, &Read>) -> Self {
        let (mut stats, mut parts) = (Stats::default(), Parts::default());
        entries::paths(tree, entries, &mut parts, &mut stats);
        let sources = sources(entries, &mut stats);
        let mut missing = Vec::new();
        let mut linked = Vec::with_capacity(sources.len());
        for (entry, language) in &sources {
            match known.get(&(entry.id, *language)) {
                Some(Ok(facts)) => {
                    let count = stats.languages.entry(language.as_str().to_owned());
                    *count.or_insert(0) += 1;
                    linked.push((entry.path.as_str(), *language, facts.as_ref()));
                }
                Some(Err(reason)) => count(&mut stats, reason),
                None => {
                    count(&mut stats, "missing");
                    missing.push(entry.path.clone());
                }
            }
        }
        let paths = entries.iter().map(|entry| entry.path.as_str());
        resolve::link(&linked, paths, &mut parts, &mut stats);
        Self::with_stats(parts.nodes, parts.edges, stats, missing)
    }
}

/// The graphs of several trees.
impl Graph {
    /// What these trees share, for [`Graph::of_pool`]. Reads no blob.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn pool(repo: &Repo, trees: &BTreeSet<TreeId>) -> Result<Pool, GraphError> {
        let keys = |tree: &TreeId| repo.list(*tree).map(|entries| keys(&entries));
        let of_trees = trees.iter().map(keys).collect::<Result<Vec<_>, _>>()?;
        let all: BTreeSet<Key> = of_trees.iter().flatten().copied().collect();
        let all: Vec<Key> = all.into_iter().collect();
        let kept = Kept::near(&repo.cache(), EXTRACTOR, &all);
        Ok(Pool::new(&of_trees, kept))
    }

    /// The graph of a tree as [`Graph::at`] gives it, but nothing is kept in a file: each blob is parsed once for all the trees of the pool.
    /// Every tree is best asked for once, and those that are alike soon after one another.
    ///
    /// # Errors
    /// As for `at`.
    pub fn of_pool(repo: &Repo, tree: TreeId, pool: &Pool) -> Result<Self, GraphError> {
        if let Some(kept) = cache::graph(&repo.cache(), tree, EXTRACTOR) {
            return Ok(kept);
        }
        let entries = repo.list(tree)?;
        let facts = pool.facts(&repo.share(), &keys(&entries))?;
        let known = facts
            .iter()
            .filter_map(|(key, facts)| Some((*key, facts.get()?.as_ref()?)));
        Ok(Self::of_facts(tree, &entries, &known.collect()))
    }
}

impl Graph {
    /// Call sites and imports of a tree, one by one, from the facts that are kept or from its blobs.
    ///
    /// # Errors
    /// As for `at`.
    pub fn sites(repo: &Repo, tree: TreeId, wanted: &Wanted) -> Result<Sites, GraphError> {
        let entries = repo.list(tree)?;
        let kept = Kept::near(&repo.cache(), EXTRACTOR, &keys(&entries));
        let sources = sources(&entries, &mut Stats::default());
        let outcomes = read(&repo.share(), &keys(&entries), &kept, &|_, _| {})?;
        let linked: Vec<_> = sources
            .iter()
            .filter_map(
                |(entry, language)| match outcomes.get(&(entry.id, *language)) {
                    Some(Some((Ok(facts), _))) => {
                        Some((entry.path.as_str(), *language, facts.as_ref()))
                    }
                    _ => None,
                },
            )
            .collect();
        let paths = entries.iter().map(|entry| entry.path.as_str());
        let (called, imports) = reached::sites(&linked, paths, wanted);
        let mut by_file: BTreeMap<String, Vec<Called>> = BTreeMap::new();
        for called in called {
            by_file.entry(called.file.clone()).or_default().push(called);
        }
        let mut parsers = Parsers::default();
        let mut calls = Vec::new();
        for (entry, language) in &sources {
            if let Some(called) = by_file.remove(&entry.path) {
                let source = repo.blob(BlobId(entry.id))?.unwrap_or_default();
                let source = extract::readable(*language, &source);
                calls.extend(sites::with_arguments(
                    &mut parsers,
                    *language,
                    &source,
                    called,
                ));
            }
        }
        Ok(Sites { calls, imports })
    }

    /// The definitions of one file, in source order; none for a file without symbols, or whose blob is not here.
    ///
    /// # Errors
    /// When the blob is damaged.
    pub fn signatures(repo: &Repo, path: &str, blob: BlobId) -> Result<Vec<Signature>, GraphError> {
        let Some(language) = Language::of(path).filter(|_| extract::unread(path).is_none()) else {
            return Ok(Vec::new());
        };
        let is_small = repo
            .blob_size(blob)?
            .is_some_and(|size| size <= extract::MAX_BYTES);
        let Some(source) = is_small.then(|| repo.blob(blob)).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let mut parsers = Parsers::default();
        let facts = extract::facts(&mut parsers, language, &source);
        let source = extract::readable(language, &source);
        Ok(facts.map_or_else(
            |_| Vec::new(),
            |facts| {
                let mut fields = match language {
                    Language::Python => fields::fields(&mut parsers, &source),
                    _ => BTreeMap::new(),
                };
                signature::signatures(path, language, &facts, &source, &mut fields)
            },
        ))
    }
}

/// The outcome of every blob, read and parsed in parallel where it is not kept; a blob that stands at several paths is read once.
fn read<'kept>(
    shared: &Shared,
    keys: &[Key],
    kept: &'kept [Kept],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<BTreeMap<Key, Outcome<'kept>>, RepoError> {
    let done = AtomicUsize::new(0);
    let tell = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, keys.len());
    let mut outcomes = BTreeMap::new();
    let mut missing = Vec::new();
    for &key in keys {
        match known(kept, &key) {
            Some(known) => {
                outcomes.insert(key, Some(known));
                tell();
            }
            None => missing.push(key),
        }
    }
    let read_one = |(repo, parsers): &mut (Repo, Parsers), key: &Key| {
        let read = pool::read(repo, parsers, key)?;
        tell();
        Ok(read.map(|read| {
            let encoded = kept::encode(&read);
            (read, Cow::Owned(encoded))
        }))
    };
    let read: Result<Vec<Outcome>, RepoError> = match missing.len() {
        0..=FEW => {
            let mut own = (shared.local(), Parsers::default());
            missing.iter().map(|key| read_one(&mut own, key)).collect()
        }
        _ => {
            crate::threads::ready();
            let each = missing.par_iter();
            each.map_init(|| (shared.local(), Parsers::default()), read_one)
                .collect()
        }
    };
    outcomes.extend(missing.into_iter().zip(read?));
    Ok(outcomes)
}

fn known<'kept>(kept: &'kept [Kept], key: &Key) -> Option<(Read, Cow<'kept, [u8]>)> {
    kept.iter().find_map(|file| {
        let (read, bytes) = file.read(key)?;
        Some((read, Cow::Borrowed(bytes)))
    })
}

#[cfg(test)]
mod elements_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod npm_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree_tests;
