//! What every tool gets: the repository, the clock, and the code graph that is built while others are answered.
//!
//! In: where the server was started. Out: a handle on the repository as it is now: each call opens it anew, so that a repository that is
//! not there yet, or a broken configuration, is an answer and not the end.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use super::answer::Failure;
use crate::graph::Graph;
use crate::hook::notes;
use crate::id::TreeId;
use crate::ingest::{catch_up_behind, is_behind};
use crate::record::Time;
use crate::repo::Repo;
use crate::store::Store;
use crate::upkeep::daily;

/// So many files are read for a code graph while somebody waits for a look-up: about a third of a second on two cores.
pub const MOST_UNREAD: usize = 500;

/// Where and how the server works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it was started.
    pub directory: PathBuf,
    /// The repository that the environment names, if it does.
    pub git_dir: Option<PathBuf>,
    /// The clock.
    pub clock: fn() -> Result<Time, String>,
}

/// What every tool gets.
pub struct Desk {
    settings: Settings,
    /// The tree whose graph is being built, or was.
    warmed: Mutex<Option<TreeId>>,
}

impl Desk {
    /// A desk of its own.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            warmed: Mutex::new(None),
        }
    }

    /// The repository.
    pub fn repo(&self) -> Result<Repo, Failure> {
        let (directory, git_dir) = (&self.settings.directory, &self.settings.git_dir);
        Repo::open(directory, git_dir.as_deref()).map_err(|error| Failure::of(&error))
    }

    /// The time.
    pub fn now(&self) -> Result<Time, Failure> {
        (self.settings.clock)().map_err(Failure)
    }

    /// The tree of a revision, or of `HEAD`; the empty tree before the first commit.
    pub fn tree(&self, repo: &Repo, at: Option<&str>) -> Result<TreeId, Failure> {
        let commit = match at {
            Some(rev) => Some(repo.commit_at(rev)),
            None => repo.head().map(|head| head.commit).transpose(),
        };
        let tree = match commit.transpose() {
            Ok(Some(commit)) => repo.tree_of(commit),
            Ok(None) => Ok(repo.empty_tree()),
            Err(error) => Err(error),
        };
        tree.map_err(|error| Failure::of(&error))
    }

    /// Builds the code graph of `HEAD` if it is not kept and would keep a look-up waiting; once for each tree. Blocks until it is built.
    /// What goes wrong here goes wrong again where somebody asks.
    pub fn warm(&self) {
        let Ok(repo) = self.repo() else { return };
        let Ok(tree) = self.tree(&repo, None) else {
            return;
        };
        let is_new = self
            .warmed
            .lock()
            .is_ok_and(|mut warmed| warmed.replace(tree) != Some(tree));
        if is_new
            && matches!(
                Graph::within(&repo, tree, MOST_UNREAD, &|_, _| {}),
                Ok(None)
            )
        {
            drop(Graph::at(&repo, tree, &|_, _| {}));
        }
    }

    /// Takes in what a hook had no time for, before the memory is read or written. Where that fails it stays to be done.
    pub fn catch_up(&self) {
        /// So long locks are waited for.
        const PATIENCE: Duration = Duration::from_millis(500);
        if let (Ok(repo), Ok(now)) = (self.repo(), self.now())
            && is_behind(&repo)
            && let Ok(noted) = catch_up_behind(&repo, now, PATIENCE)
            && !noted.is_empty()
            && notes::wanted(&repo)
        {
            drop(notes::add(&Store::new(&repo), &noted, &Default::default()));
        }
    }

    /// What commands do once a day after a write: an agent may be the only one who ever writes here.
    pub fn tidy(&self) {
        if let (Ok(repo), Ok(now)) = (self.repo(), self.now()) {
            // Whatever is told of it is told by the next command that a person runs.
            drop(Store::new(&repo).whole());
            let pruned = daily(&repo, now);
            if pruned.is_some_and(|pruned| pruned.records > 0) {
                drop(notes::tidy(&repo));
            }
        }
    }
}
