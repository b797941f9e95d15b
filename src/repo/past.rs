//! Which paths each commit touched, kept by commit, and the window of newest commits that touch counts are made from.
//!
//! In: a commit. Out: a [`Window`] of it (`scoring.md`, measured/1, structural). What a commit touched never changes, so it is kept in
//! one derived file of the common dir and only new commits are compared with their parents. What is damaged in the file, or of another
//! version, counts as not there; deleting it costs one walk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::files::Access;
use super::open::{Repo, RepoError};
use super::touched::{Kept, Known};
use crate::id::CommitId;

/// How many commits the window of `measured/1` holds (`scoring.md`, measured/1).
pub const WINDOW: usize = 2000;

/// Endings of the files that make a commit one of the window (`scoring.md`, measured/1).
const SOURCES: [&str; 9] = [
    ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts",
];

/// Of a commit that changes more paths than this nothing is told.
const MOST_PATHS: usize = 500_000;

/// How many commits are looked at before their trees are compared, in parallel.
const BATCH: usize = 512;
/// The file in our folder of the common dir.
const FILE: &str = "touched.bin";
/// A longer one is not ours: twice what is written at most.
const MOST_KEPT: u64 = 128 << 20;

/// Whether a path ends as a source file does.
pub fn is_source(path: &str) -> bool {
    SOURCES.iter().any(|ending| path.ends_with(ending))
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
    /// What the file holds; read commit by commit, as they are asked for.
    kept: Kept,
    /// What was asked for so far.
    known: BTreeMap<CommitId, Known>,
    /// Where a shallow history ends: unlike any other commit, one of these touches something else once more history is here.
    border: HashSet<CommitId>,
    /// How many commits were found out that the file does not have.
    fresh: usize,
    /// Whether the file may be read and written: replaced commits have other parents than their names say.
    is_kept: bool,
}

impl Past {
    /// What the file in the common dir knows.
    pub fn open(repo: &Repo) -> Self {
        let is_kept = !has_replacements(repo);
        let read = || Kept::new(repo.cache().read(FILE, MOST_KEPT).ok()??);
        Self {
            kept: is_kept.then(read).flatten().unwrap_or_default(),
            known: BTreeMap::new(),
            border: HashSet::new(),
            fresh: 0,
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
        self.border = repo.border()?.into_iter().collect();
        self.known.retain(|id, _| !self.border.contains(id));
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
                let is_border = self.border.contains(&id);
                window.is_cut |= is_border;
                for parent in &parents {
                    if !is_border && seen.insert(*parent) {
                        let (time, parents) = self.links(repo, *parent)?;
                        waiting.push((time, Reverse(*parent), parents));
                    }
                }
                batch.push((id, time, parents));
            }
            self.compare(repo, &batch, progress)?;
            for (id, ..) in &batch {
                let known = self.known.get(id).filter(|_| window.commits.len() < most);
                if let Some(known) =
                    known.filter(|known| known.paths.iter().any(|path| is_source(path)))
                {
                    window.commits.push(Touched {
                        id: *id,
                        time: known.time,
                        paths: Arc::clone(&known.paths),
                    });
                }
            }
        }
        window.is_cut &= window.commits.len() < most;
        Ok(window)
    }

    /// Committer date and parents.
    fn links(&mut self, repo: &Repo, id: CommitId) -> Result<(i64, Vec<CommitId>), RepoError> {
        if let Some(known) = self.find(id) {
            return Ok((known.time, known.parents.clone()));
        }
        let header = repo.header(id)?;
        Ok((header.time, header.parents))
    }

    fn find(&mut self, id: CommitId) -> Option<&Known> {
        if !self.known.contains_key(&id) && !self.border.contains(&id) {
            self.known.insert(id, self.kept.find(id)?);
        }
        self.known.get(&id)
    }

    /// Finds out what the commits of a batch touched, where that is not known.
    fn compare(
        &mut self,
        repo: &Repo,
        batch: &[(CommitId, i64, Vec<CommitId>)],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), RepoError> {
        let unknown = |(id, ..): &&(CommitId, i64, Vec<CommitId>)| !self.known.contains_key(id);
        let wanted: Vec<_> = batch.iter().filter(unknown).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let shared = repo.share();
        let (done, before, border) = (AtomicUsize::new(0), self.fresh, &self.border);
        let local = || {
            let mut repo = shared.local();
            repo.cache_objects(16 << 20);
            repo
        };
        crate::threads::ready();
        let compared: Result<Vec<_>, RepoError> = wanted
            .par_iter()
            .with_min_len(16)
            .map_init(local, |repo, (id, time, parents)| {
                let is_told = parents.len() < 2 && !border.contains(id);
                let paths = match is_told {
                    // Of a commit that changes more than can be compared nothing is told, as of a merge.
                    true => match repo.changes_within(&repo.commit(*id)?, MOST_PATHS, &|| false)? {
                        Some(changes) => changes.into_keys().collect(),
                        None => Vec::new(),
                    },
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
        let compared = compared?;
        let fresh = compared.iter().filter(|(id, _)| !self.border.contains(id));
        self.fresh += fresh.count();
        self.known.extend(compared);
        Ok(())
    }

    /// Writes what is new into the file; false when it could not be written, which only costs time.
    pub fn keep(&mut self, repo: &Repo) -> bool {
        if self.fresh == 0 || !self.is_kept {
            return true;
        }
        self.fresh = 0;
        let bytes = self.kept.with(&self.known, &self.border);
        let written = repo.cache().replace(FILE, &bytes, Access::Usual);
        written.is_ok()
    }
}

/// Whether somebody replaced an object: then a commit may have other parents than it names.
fn has_replacements(repo: &Repo) -> bool {
    let mut replaced = repo.git.objects.store_ref().replacements();
    replaced.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_files_are_told_by_their_ending() {
        assert!(is_source("a/b.tsx") && is_source(".py") && is_source("x.d.ts"));
        assert!(!is_source("a/b.rs") && !is_source("py") && !is_source("a.PY"));
    }
}
