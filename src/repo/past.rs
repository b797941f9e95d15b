//! Which paths each commit touched, kept by commit, and the window of newest commits that touch counts are made from.
//!
//! In: a commit. Out: a [`Window`] of it (`scoring.md`, measured/1, structural). What a commit touched never changes, so it is kept in
//! one derived file of the common dir and only new commits are compared with their parents. A file that is damaged, or of another
//! version, counts as none; deleting it costs one walk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::open::{Repo, RepoError};
use crate::id::CommitId;

/// How many commits the window of `measured/1` holds (`scoring.md`, measured/1).
pub const WINDOW: usize = 2000;

/// Endings of the files that make a commit one of the window (`scoring.md`, measured/1).
const SOURCES: [&str; 9] = [
    ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts",
];

/// The first line of the file, before the digest of the rest; raised with every change of its form.
const MAGIC: &str = "score-touched 1 ";

/// Most commits kept in the file; beyond, only those of the walk at hand are.
const MOST_KEPT: usize = 20_000;

/// How many commits are looked at before their trees are compared, in parallel.
const BATCH: usize = 512;

/// Whether a path ends as a source file does.
pub fn is_source(path: &str) -> bool {
    SOURCES.iter().any(|ending| path.ends_with(ending))
}

/// One commit, as far as touch counts need it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    time: i64,
    parents: Vec<CommitId>,
    /// Every path it touched, sorted; empty for a merge, and where its parents are not here.
    paths: Arc<Vec<String>>,
}

/// One commit of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The commit.
    pub id: CommitId,
    /// Its committer date, in seconds since 1970.
    pub time: i64,
    /// Every path it touched, sorted.
    pub paths: Arc<Vec<String>>,
}

/// The newest commits that are no merge and touch a source file, in the order in which a walk takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Newest first.
    pub commits: Vec<Touched>,
    /// Whether the walk came to the border of a shallow history before the window was full.
    pub is_cut: bool,
}

/// What commits touched, as far as it is known.
pub struct Past {
    known: BTreeMap<CommitId, Known>,
    /// Commits that the file does not have.
    fresh: HashSet<CommitId>,
    /// Whether the file may be read and written: replaced commits have other parents than their names say.
    is_kept: bool,
}

impl Past {
    /// What the file in the common dir knows.
    pub fn open(repo: &Repo) -> Self {
        let is_kept = !has_replacements(repo);
        let read = || parse(&fs::read_to_string(file(repo)).ok()?);
        let known = is_kept.then(read).flatten().unwrap_or_default();
        Self {
            known,
            fresh: HashSet::new(),
            is_kept,
        }
    }

    /// The newest `most` commits among `tip` and its ancestors that are no merge and touch a source file: of the commits reached the
    /// one with the newest committer date comes first, then the smallest id. `progress` hears of commits compared with their parents:
    /// done, and known to be wanted.
    ///
    /// # Errors
    /// When a commit or a tree is missing or damaged.
    pub fn window(
        &mut self,
        repo: &Repo,
        tip: CommitId,
        most: usize,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Window, RepoError> {
        let border: HashSet<CommitId> = repo.border().into_iter().collect();
        let mut window = Window::default();
        let mut seen = HashSet::from([tip]);
        let mut waiting = BinaryHeap::new();
        let first = self.links(repo, tip)?;
        waiting.push((first.0, Reverse(tip), first.1));
        while window.commits.len() < most && !waiting.is_empty() {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH {
                let Some((time, Reverse(id), parents)) = waiting.pop() else {
                    break;
                };
                window.is_cut |= border.contains(&id);
                for parent in &parents {
                    if !border.contains(&id) && seen.insert(*parent) {
                        let (time, parents) = self.links(repo, *parent)?;
                        waiting.push((time, Reverse(*parent), parents));
                    }
                }
                batch.push((id, time, parents));
            }
            self.compare(repo, &batch, &border, progress)?;
            for (id, ..) in &batch {
                let known = self.known.get(id).filter(|_| window.commits.len() < most);
                if let Some(known) = known.filter(|known| known.touches_source()) {
                    window.commits.push(Touched {
                        id: *id,
                        time: known.time,
                        paths: Arc::clone(&known.paths),
                    });
                }
            }
        }
        window.is_cut &= window.commits.len() < most;
        // Unlike any other commit, one at the border touches something else once more history is here.
        self.known.retain(|id, _| !border.contains(id));
        Ok(window)
    }

    /// Committer date and parents.
    fn links(&self, repo: &Repo, id: CommitId) -> Result<(i64, Vec<CommitId>), RepoError> {
        if let Some(known) = self.known.get(&id) {
            return Ok((known.time, known.parents.clone()));
        }
        let header = repo.header(id)?;
        Ok((header.time, header.parents))
    }

    /// Finds out what the commits of a batch touched, where that is not known.
    fn compare(
        &mut self,
        repo: &Repo,
        batch: &[(CommitId, i64, Vec<CommitId>)],
        border: &HashSet<CommitId>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), RepoError> {
        let unknown = |(id, ..): &&(CommitId, i64, Vec<CommitId>)| !self.known.contains_key(id);
        let wanted: Vec<_> = batch.iter().filter(unknown).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let shared = repo.share();
        let (done, before) = (AtomicUsize::new(0), self.fresh.len());
        let local = || {
            let mut repo = shared.local();
            repo.cache_objects(16 << 20);
            repo
        };
        let compared: Result<Vec<_>, RepoError> = wanted
            .par_iter()
            .with_min_len(16)
            .map_init(local, |repo, (id, time, parents)| {
                let is_told = parents.len() < 2 && !border.contains(id);
                let paths = match is_told {
                    true => repo.changes(&repo.commit(*id)?)?.into_keys().collect(),
                    false => Vec::new(),
                };
                progress(
                    before + done.fetch_add(1, Ordering::Relaxed) + 1,
                    before + wanted.len(),
                );
                let known = Known {
                    time: *time,
                    parents: parents.clone(),
                    paths: Arc::new(paths),
                };
                Ok((*id, known))
            })
            .collect();
        for (id, known) in compared? {
            self.fresh.insert(id);
            self.known.insert(id, known);
        }
        Ok(())
    }

    /// Writes what is new into the file; false when it could not be written, which only costs time.
    pub fn keep(&mut self, repo: &Repo) -> bool {
        if self.fresh.is_empty() || !self.is_kept {
            return true;
        }
        if self.known.len() > MOST_KEPT {
            self.known.retain(|id, _| self.fresh.contains(id));
        }
        while self.known.len() > MOST_KEPT {
            self.known.pop_first();
        }
        self.fresh.clear();
        let body = text(&self.known);
        let head = format!("{MAGIC}{}\n", blake3::hash(body.as_bytes()));
        let file = file(repo);
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let written = fs::create_dir_all(repo.cache_dir())
            .and_then(|()| fs::write(&temporary, head + &body))
            .and_then(|()| fs::rename(&temporary, &file));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written.is_ok()
    }
}

/// Whether somebody replaced an object: then a commit may have other parents than it names.
fn has_replacements(repo: &Repo) -> bool {
    let Ok(references) = repo.git.references() else {
        return true;
    };
    let replacing = references.prefixed("refs/replace/");
    replacing.is_ok_and(|mut found| found.next().is_some())
}

impl Known {
    fn touches_source(&self) -> bool {
        self.paths.iter().any(|path| is_source(path))
    }
}

fn file(repo: &Repo) -> std::path::PathBuf {
    repo.cache_dir().join("touched.txt")
}

/// A line for each commit: id, date, parents; then a line for each path, after a tab, `\` and line break escaped with `\`.
fn text(known: &BTreeMap<CommitId, Known>) -> String {
    let mut text = String::new();
    for (id, commit) in known {
        text.push_str(&format!("{id} {}", commit.time));
        for parent in &commit.parents {
            text.push_str(&format!(" {parent}"));
        }
        text.push('\n');
        for path in commit.paths.iter() {
            text.push('\t');
            match path.contains(['\\', '\n']) {
                true => text.push_str(&path.replace('\\', "\\\\").replace('\n', "\\n")),
                false => text.push_str(path),
            }
            text.push('\n');
        }
    }
    text
}

/// Reads what [`text`] wrote, behind its head; none when it is anything else.
fn parse(text: &str) -> Option<BTreeMap<CommitId, Known>> {
    let (head, body) = text.split_once('\n')?;
    if head.strip_prefix(MAGIC)? != blake3::hash(body.as_bytes()).to_string() {
        return None;
    }
    let mut all = Vec::new();
    let mut paths = Vec::new();
    for line in body.split_terminator('\n') {
        if let Some(path) = line.strip_prefix('\t') {
            paths.push(match path.contains('\\') {
                true => unescaped(path),
                false => path.to_owned(),
            });
            continue;
        }
        close(&mut all, &mut paths);
        let mut words = line.split(' ');
        let id: CommitId = CommitId(words.next()?.parse().ok()?);
        let time = words.next()?.parse().ok()?;
        let parents = words.map(|word| Some(CommitId(word.parse().ok()?)));
        let known = Known {
            time,
            parents: parents.collect::<Option<_>>()?,
            paths: Arc::default(),
        };
        all.push((id, known));
    }
    close(&mut all, &mut paths);
    Some(all.into_iter().collect())
}

/// Gives the paths collected so far to the last commit.
fn close(all: &mut [(CommitId, Known)], paths: &mut Vec<String>) {
    if let Some((_, last)) = all.last_mut() {
        last.paths = Arc::new(std::mem::take(paths));
    }
}

fn unescaped(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> CommitId {
        let name = crate::id::ObjectId::from_bytes(&[byte; 20]);
        CommitId(name.expect("20 bytes are a name"))
    }

    #[test]
    fn what_is_kept_comes_back() {
        let known = |time, parents: &[u8], paths: &[&str]| Known {
            time,
            parents: parents.iter().map(|byte| id(*byte)).collect(),
            paths: Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()),
        };
        let all = BTreeMap::from([
            (id(1), known(-5, &[], &["a b.py", "d/ä\\n\nc.js"])),
            (id(2), known(7, &[1], &[])),
            (id(3), known(i64::MAX, &[1, 2], &[])),
        ]);
        let body = text(&all);
        let head = format!("{MAGIC}{}\n", blake3::hash(body.as_bytes()));
        assert_eq!(parse(&(head.clone() + &body)), Some(all));
        assert_eq!(parse(&(head + &body[1..])), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn source_files_are_told_by_their_ending() {
        assert!(is_source("a/b.tsx") && is_source(".py") && is_source("x.d.ts"));
        assert!(!is_source("a/b.rs") && !is_source("py") && !is_source("a.PY"));
    }
}
