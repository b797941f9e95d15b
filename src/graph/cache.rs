//! Files in the common directory that spare work: linked graphs, one a tree, and facts of blobs, one a tree.
//!
//! In: a directory, a tree, bytes. Out: the bytes that were kept, mapped into memory, or nothing. A file that is damaged, of another
//! version or of another tree is never believed. A directory that cannot be written is no error: the work is then done each time. Never
//! changes a file in place, so two processes may write at once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::Mmap;

use crate::graph::table::Graph;
use crate::id::TreeId;

/// Bytes before the payload: a multiple of 16, which the alignment of columns needs. Magic 16, digest 32, length 8, then tree and
/// extractor as text, each behind its length, padded with zeros.
pub const HEADER: usize = 192;

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
pub fn graph(dir: &Path, tree: TreeId, extractor: &str) -> Option<Graph> {
    let map = open(
        &path_of(dir, &GRAPHS, &tree.to_string()),
        &GRAPHS,
        extractor,
    )?;
    Graph::from_map(map, HEADER)
}

/// Keep a graph; false when it could not be kept.
pub fn keep_graph(dir: &Path, tree: TreeId, extractor: &str, graph: &Graph) -> bool {
    keep(dir, &GRAPHS, tree, extractor, &[graph.bytes()])
}

/// A sound file of a sort that this extractor made, mapped: the payload begins at `HEADER`.
#[expect(unsafe_code, reason = "a file is mapped; see SAFETY")]
pub fn open(path: &Path, sort: &Sort, extractor: &str) -> Option<Mmap> {
    let name = path.file_stem()?.to_str()?;
    let tree = name.strip_prefix(sort.prefix)?;
    let file = File::open(path).ok()?;
    // SAFETY: files of the cache are written under another name and renamed, and removed, but never written in place; a map of a
    // removed file stays valid.
    let map = unsafe { Mmap::map(&file) }.ok()?;
    let header = map.get(..HEADER)?;
    let payload = map.get(HEADER..)?;
    if header != head(sort, tree, extractor, &[payload])?.as_slice() {
        return None;
    }
    Some(map)
}

/// Keep a payload, given in parts; false when it could not be kept.
pub fn keep(dir: &Path, sort: &Sort, tree: TreeId, extractor: &str, payload: &[&[u8]]) -> bool {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let tree = tree.to_string();
    let Some(header) = head(sort, &tree, extractor, payload) else {
        return false;
    };
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let prefix = sort.prefix;
    let temporary = dir.join(format!(
        "{prefix}{tree}.{}-{number}.tmp",
        std::process::id()
    ));
    let written = fs::create_dir_all(dir).and_then(|()| {
        let mut file = std::io::BufWriter::with_capacity(1 << 16, File::create_new(&temporary)?);
        file.write_all(&header)?;
        for part in payload {
            file.write_all(part)?;
        }
        drop(file.into_inner()?);
        fs::rename(&temporary, path_of(dir, sort, &tree))
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
        return false;
    }
    drop_old(dir, sort);
    true
}

/// The files of a sort, the most recently used first.
pub fn newest(dir: &Path, sort: &Sort) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let fits = name
            .to_str()
            .is_some_and(|name| name.starts_with(sort.prefix) && name.ends_with(".bin"));
        if let Some(age) = entry
            .metadata()
            .ok()
            .and_then(|data| data.modified().ok())
            .filter(|_| fits)
        {
            found.push((age, entry.path()));
        }
    }
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// Makes a file as recently used as another one.
pub fn touch(path: &Path, like: &Path) {
    let age = fs::metadata(like).and_then(|data| data.modified());
    let file = File::options().write(true).open(path);
    if let (Ok(age), Ok(file)) = (age, file) {
        // A file that cannot be touched is dropped the sooner.
        let _ = file.set_modified(age);
    }
}

/// Where the file of a tree lies.
pub fn path_of(dir: &Path, sort: &Sort, tree: &str) -> PathBuf {
    dir.join(format!("{}{tree}.bin", sort.prefix))
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
fn drop_old(dir: &Path, sort: &Sort) {
    for path in newest(dir, sort).into_iter().skip(sort.kept) {
        let _ = fs::remove_file(path);
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let left = name
            .to_str()
            .is_some_and(|name| name.starts_with(sort.prefix) && name.ends_with(".tmp"));
        let age = entry
            .metadata()
            .ok()
            .and_then(|data| data.modified().ok()?.elapsed().ok());
        if left && age.is_some_and(|age| age.as_secs() > 3600) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn kept_and_found() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let dir = dir.path().join("deep/er");
        assert!(graph(&dir, tree(1), "1").is_none());
        assert!(keep_graph(&dir, tree(1), "1", &one("a")));
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
