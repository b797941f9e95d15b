//! Files in the common directory that spare work: linked graphs, one a tree, and facts of blobs, one a tree.
//!
//! In: a directory, a tree, bytes. Out: the bytes that were kept, mapped into memory, or nothing. A file that is damaged, of another
//! version or of another tree is never believed. A directory that cannot be written is no error: the work is then done each time. Never
//! changes a file in place, so two processes may write at once.

use crate::graph::table::Graph;
use crate::id::TreeId;
use crate::repo::{Access, FileError, Folder, Map};

/// Bytes before the payload: a multiple of 16, which the alignment of columns needs. Magic 16, digest 32, length 8, then tree and
/// extractor as text, each behind its length, padded with zeros.
pub const HEADER: usize = 192;

/// What every name ends with.
const ENDING: &str = ".bin";

/// One sort of file.
pub struct Sort {
    /// What its names begin with.
    prefix: &'static str,
    /// What its bytes begin with. The number is raised with every change of the format.
    magic: &'static [u8; 16],
    /// How many files are kept, the most recently used ones.
    pub kept: usize,
}

/// Linked graphs.
pub const GRAPHS: Sort = Sort {
    prefix: "graph-",
    magic: b"score-graph v1\n\0",
    kept: 8,
};

/// Facts of blobs that were read for a tree: of all of its blobs, or of those that no other file had.
pub const FACTS: Sort = Sort {
    prefix: "facts-",
    magic: b"score-facts v1\n\0",
    kept: 8,
};

/// The kept graph of a tree, as this extractor made it.
pub fn graph(dir: &Folder, tree: TreeId, extractor: &str) -> Option<Graph> {
    let tree = tree.to_string();
    let map = dir.map(name_of(&GRAPHS, &tree)).ok()??;
    Graph::from_map(sound(map, &GRAPHS, &tree, extractor)?, HEADER)
}

/// Keep a graph; false when it could not be kept.
pub fn keep_graph(dir: &Folder, tree: TreeId, extractor: &str, graph: &Graph) -> bool {
    keep(dir, &GRAPHS, tree, extractor, &[graph.bytes()])
}

/// A sound file of a sort that this extractor made: the payload begins at `HEADER`.
pub fn open(dir: &Folder, name: &str, sort: &Sort, extractor: &str) -> Option<Map> {
    let tree = name.strip_prefix(sort.prefix)?.strip_suffix(ENDING)?;
    sound(dir.map(name).ok()??, sort, tree, extractor)
}

/// The map itself, if it is what its header says.
fn sound(map: Map, sort: &Sort, tree: &str, extractor: &str) -> Option<Map> {
    let header = map.get(..HEADER)?;
    let payload = map.get(HEADER..)?;
    let is_sound = header == head(sort, tree, extractor, &[payload])?.as_slice();
    (is_sound && map.is_whole()).then_some(map)
}

/// Keep a payload, given in parts; false when it could not be kept.
pub fn keep(dir: &Folder, sort: &Sort, tree: TreeId, extractor: &str, payload: &[&[u8]]) -> bool {
    let tree = tree.to_string();
    let Some(header) = head(sort, &tree, extractor, payload) else {
        return false;
    };
    let write = || -> Result<(), FileError> {
        let mut file = dir.draft(name_of(sort, &tree), Access::Usual)?;
        file.add(&header)?;
        for part in payload {
            file.add(part)?;
        }
        file.keep(false)
    };
    let is_kept = write().is_ok();
    if is_kept {
        drop_old(dir, sort);
    }
    is_kept
}

/// The files of a sort, the most recently used first.
pub fn newest(dir: &Folder, sort: &Sort) -> Vec<String> {
    let mut found = Vec::new();
    for file in dir.list().unwrap_or_default() {
        let name = file.name.to_str().map(str::to_owned);
        let name = name.filter(|name| name.starts_with(sort.prefix) && name.ends_with(ENDING));
        found.extend(file.modified.zip(name));
    }
    found.sort();
    found.into_iter().rev().map(|(_, name)| name).collect()
}

/// Makes a file as recently used as another one.
pub fn touch(dir: &Folder, name: &str, like: &str) {
    let age = dir.look(like).ok().flatten().and_then(|like| like.modified);
    if let Some(age) = age {
        // A file that cannot be touched is dropped the sooner.
        drop(dir.set_modified(name, age));
    }
}

/// The name of the file of a tree.
pub fn name_of(sort: &Sort, tree: &str) -> String {
    format!("{}{tree}{ENDING}", sort.prefix)
}

/// `None` when tree and extractor do not fit, which no id and no version does.
fn head(sort: &Sort, tree: &str, extractor: &str, payload: &[&[u8]]) -> Option<Vec<u8>> {
    let mut digest = blake3::Hasher::new();
    let mut len = 0u64;
    for part in payload {
        digest.update(part);
        len += part.len() as u64;
    }
    let mut head = Vec::with_capacity(HEADER);
    head.extend_from_slice(sort.magic);
    head.extend_from_slice(digest.finalize().as_bytes());
    head.extend_from_slice(&len.to_le_bytes());
    for text in [tree, extractor] {
        head.push(u8::try_from(text.len()).ok()?);
        head.extend_from_slice(text.as_bytes());
    }
    if head.len() > HEADER {
        return None;
    }
    head.resize(HEADER, 0);
    Some(head)
}

/// Remove all but the most recently used files of a sort, and what writers that died have left.
fn drop_old(dir: &Folder, sort: &Sort) {
    for name in newest(dir, sort).into_iter().skip(sort.kept) {
        drop(dir.remove(name));
    }
    for file in dir.list().unwrap_or_default() {
        let name = file.name.to_str();
        let is_left =
            name.is_some_and(|name| name.starts_with(sort.prefix) && name.ends_with(".tmp"));
        if is_left && file.age().is_some_and(|age| age.as_secs() > 3600) {
            drop(dir.remove(&file.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::graph::parts::{Node, NodeKind};

    fn one(name: &str) -> Graph {
        let node = Node {
            name: name.to_owned(),
            kind: NodeKind::File,
            object: None,
            lines: (0, 0),
        };
        Graph::from_parts(vec![node], Vec::new())
    }

    fn tree(byte: u8) -> TreeId {
        TreeId(crate::id::ObjectId::from_bytes(&[byte; 20]).expect("20 bytes"))
    }

    fn path_of(dir: &Path, sort: &Sort, tree: &str) -> PathBuf {
        dir.join(name_of(sort, tree))
    }

    fn keep_graph(dir: &Path, tree: TreeId, extractor: &str, graph: &Graph) -> bool {
        super::keep_graph(&Folder::at(dir), tree, extractor, graph)
    }

    fn graph(dir: &Path, tree: TreeId, extractor: &str) -> Option<Graph> {
        super::graph(&Folder::at(dir), tree, extractor)
    }

    #[test]
    fn kept_and_found() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let deep = Folder::at(dir.path()).below("deep/er");
        assert!(super::graph(&deep, tree(1), "1").is_none());
        assert!(super::keep_graph(&deep, tree(1), "1", &one("a")));
        let dir = dir.path().join("deep/er");
        let found = graph(&dir, tree(1), "1").expect("it was kept");
        assert_eq!((found.len(), found.name(0)), (1, "a"));
        assert!(graph(&dir, tree(2), "1").is_none());
        assert!(graph(&dir, tree(1), "2").is_none());
        // The file of one tree under the name of another.
        fs::copy(
            path_of(&dir, &GRAPHS, &tree(1).to_string()),
            path_of(&dir, &GRAPHS, &tree(2).to_string()),
        )
        .expect("copied");
        assert!(graph(&dir, tree(2), "1").is_none());
    }

    #[test]
    fn a_damaged_file_is_not_believed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        assert!(keep_graph(dir.path(), tree(1), "1", &one("a")));
        let path = path_of(dir.path(), &GRAPHS, &tree(1).to_string());
        let sound = fs::read(&path).expect("it is there");
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).expect("written");
            assert!(graph(dir.path(), tree(1), "1").is_none(), "byte {at}");
            fs::write(&path, &sound[..at]).expect("written");
            assert!(graph(dir.path(), tree(1), "1").is_none(), "cut at {at}");
        }
    }

    #[test]
    fn old_graphs_are_dropped() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for byte in 1..=12 {
            assert!(keep_graph(dir.path(), tree(byte), "1", &one("a")));
            let file = File::open(path_of(dir.path(), &GRAPHS, &tree(byte).to_string()))
                .expect("it is there");
            let age =
                std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(byte));
            file.set_modified(age).expect("the age can be set");
        }
        let left = fs::read_dir(dir.path()).expect("it is there").count();
        assert_eq!(left, GRAPHS.kept);
        assert!(graph(dir.path(), tree(1), "1").is_none());
        assert!(graph(dir.path(), tree(12), "1").is_some());
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_no_error() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("file");
        fs::write(&file, b"").expect("written");
        assert!(!keep_graph(&file, tree(1), "1", &one("a")));
        assert!(graph(&file, tree(1), "1").is_none());
    }
}
