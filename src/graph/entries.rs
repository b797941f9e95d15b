//! What the entries of a tree are in its graph: a node for every path, and which files are read.
//!
//! In: the entries of a tree. Out: nodes, edges of directories, source files with their languages. Never reads a blob.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::facts::Language;
use crate::graph::kept::Key;
use crate::graph::parts::{EdgeKind, Node, NodeKind, Parts, Resolution, Stats};
use crate::graph::{extract, places, table};
use crate::id::TreeId;
use crate::repo::{Entry, Mode};

/// One more file without symbols, for this reason.
pub fn count(stats: &mut Stats, reason: &str) {
    *stats.without_symbols.entry(reason.to_owned()).or_insert(0) += 1;
}

/// A node for every path, and the edges of directories.
pub fn paths(tree: TreeId, entries: &[Entry], parts: &mut Parts, stats: &mut Stats) {
    let node = |name: &str, kind, object| Node {
        name: name.to_owned(),
        kind,
        object: Some(object),
        lines: (0, 0),
    };
    let root = parts.node(node(".", NodeKind::Directory, tree.0));
    // Directories first, by the quoted form of their names: a path may have to be quoted though its directory need not be.
    let mut directories = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.mode == Mode::Directory) {
        let at = parts.node(node(&entry.path, NodeKind::Directory, entry.id));
        directories.insert(table::quoted(&entry.path), at);
    }
    for entry in entries {
        let kind = match entry.mode {
            Mode::Directory => NodeKind::Directory,
            Mode::File => NodeKind::File,
            Mode::Symlink => NodeKind::Symlink,
            Mode::Submodule => NodeKind::Submodule,
        };
        if matches!(kind, NodeKind::Symlink | NodeKind::Submodule) {
            count(stats, kind.as_str());
        }
        let at = parts.node(node(&entry.path, kind, entry.id));
        let path = table::quoted(&entry.path);
        let above = directories
            .get(places::parent(&path))
            .copied()
            .unwrap_or(root);
        parts.edge(EdgeKind::Contains, above, at, Resolution::Tree);
    }
}

/// The files that are read, in order of their paths.
pub fn sources<'a>(entries: &'a [Entry], stats: &mut Stats) -> Vec<(&'a Entry, Language)> {
    let mut sources = Vec::new();
    for entry in entries.iter().filter(|entry| entry.mode == Mode::File) {
        let Some(language) = Language::of(&entry.path) else {
            continue;
        };
        match extract::unread(&entry.path) {
            Some(reason) => count(stats, reason),
            None => sources.push((entry, language)),
        }
    }
    sources
}

/// What the facts of a tree are kept under, sorted, each once.
pub fn keys(entries: &[Entry]) -> Vec<Key> {
    let sources = sources(entries, &mut Stats::default());
    let keys = sources
        .iter()
        .map(|(entry, language)| (entry.id, *language));
    let keys: BTreeSet<Key> = keys.collect();
    keys.into_iter().collect()
}
