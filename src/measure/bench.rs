//! The records that a labelled question is asked of (`scoring.md`, eval): what was known then, the newest of it.
//!
//! In: a repository, a case. Out: a [`Scene`]. Everything of one history is read once. Never writes but to derived caches.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::words::Words;
use crate::id::{CommitId, TreeId};
use crate::query::QueryError;
use crate::record::{Source, Time};
use crate::repo::{Past, Repo, RepoError, Shared, WINDOW, Window, is_source};
use crate::store::view::View;
use crate::store::{Corpus, Store, Visible};

/// Which records a case is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Of those taken from commits that touch a source file and are no merge the newest so many, and of their nodes the source files.
    Newest(usize),
    /// All that were known at the commit, with all their nodes.
    All,
}

/// One history, read once for all its cases.
pub struct Bench {
    shared: Mutex<Shared>,
    corpus: Corpus,
    past: Mutex<Past>,
    words: Arc<Words>,
}

/// One case with all it is asked of.
#[derive(Clone)]
pub struct Scene {
    /// The commit it is asked at.
    pub commit: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Its committer date.
    pub clock: Time,
    /// What was known.
    pub view: View,
    /// The window that `measured/1` counts in.
    pub window: Window,
    /// The commits of the records, newest first; the whole window when all records count.
    pub newest: Window,
    /// The words of the history's records, as far as they were asked for.
    pub words: Arc<Words>,
}

impl Bench {
    /// Reads the memory of a repository.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(repo: &Repo) -> Result<Self, QueryError> {
        let store = Store::new(repo);
        Ok(Self {
            shared: Mutex::new(repo.share()),
            corpus: store.corpus(store.corpus_id()?)?,
            past: Mutex::new(Past::open(repo)),
            words: Arc::default(),
        })
    }

    /// A handle for the calling thread.
    pub fn repo(&self) -> Repo {
        let shared = self.shared.lock();
        shared
            .expect("no thread stops while it holds the handle")
            .local()
    }

    /// Keeps what was found out about history for the next time.
    pub fn keep(&self, repo: &Repo) {
        let past = self.past.lock();
        past.expect("no thread stops while it walks history")
            .keep(repo);
    }

    /// What a case is asked of, by where it is asked (`Case::at`).
    ///
    /// # Errors
    /// When that names no commit, or history cannot be read.
    pub fn scene(
        &self,
        repo: &Repo,
        at: Option<&str>,
        records: Records,
    ) -> Result<Scene, QueryError> {
        let commit = repo.commit_at(at.unwrap_or("HEAD"))?;
        let read = repo.commit(commit)?;
        let clock = Time(read.time);
        let most = match records {
            Records::Newest(newest) => newest.max(WINDOW),
            Records::All => WINDOW,
        };
        let mut newest = self.walk(repo, commit, most)?;
        let window = Window {
            commits: newest.commits[..WINDOW.min(newest.commits.len())].to_vec(),
            is_cut: newest.is_cut,
        };
        let view = match records {
            Records::Newest(count) => {
                newest.commits.truncate(count);
                let ancestors = newest.commits.iter().map(|commit| commit.id).collect();
                let mut view = self.view(&ancestors, clock);
                view.priors.retain(|prior| prior.source == Source::Commit);
                for prior in &mut view.priors {
                    prior.nodes.retain(|node| is_source(node));
                }
                view
            }
            // As a look-up: without a commit everything counts, whatever branch it came from.
            Records::All if at.is_none() => self.corpus.view(&Visible::All),
            Records::All => self.view(&repo.ancestors(commit)?, clock),
        };
        Ok(Scene {
            commit,
            tree: read.tree,
            clock,
            view,
            window,
            newest,
            words: Arc::clone(&self.words),
        })
    }

    fn walk(&self, repo: &Repo, commit: CommitId, most: usize) -> Result<Window, RepoError> {
        let past = self.past.lock();
        let mut past = past.expect("no thread stops while it walks history");
        past.window(repo, commit, most, &|_, _| {})
    }

    fn view(&self, ancestors: &BTreeSet<CommitId>, clock: Time) -> View {
        self.corpus.view(&Visible::At { ancestors, clock })
    }
}
