//! The catch-up: commits not yet seen, in order, into the store, and then the mark.

use std::collections::BTreeSet;
use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;

use super::history::{self, Degree, Sources, Taken};
use super::places::{Folders, StateFiles};
use super::seen::{self, Mark};
use crate::id::CommitId;
use crate::record::Time;
use crate::repo::{Repo, RepoError};
use crate::store::{Noted, Receipt, Store, StoreError};

/// So many commits go into one write: few objects, and bounded memory.
const COMMITS_A_WRITE: usize = 10_000;
/// So many commits a hook takes before it returns (`design.md` section 6).
const COMMITS_A_HOOK: usize = 50;

/// Why an ingest stopped. What was written before stays, and the mark stands before what was not.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The repository could not be read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The memory could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A value of the configuration is not one.
    #[error(
        "git config score-context.ingest: '{0}' is no source; sources are trailers, state, adr, messages, messages=all, messages=none"
    )]
    Source(String),
    /// A pattern of the configuration is none.
    #[error("git config score-context.stateFile: {0}")]
    Pattern(String),
}

/// Which commits are taken.
#[derive(Clone, Debug)]
pub enum Scope {
    /// Those reachable from here and not yet seen.
    From(CommitId),
    /// Those reachable from the second and not from the first, seen or not.
    Range(CommitId, CommitId),
    /// Those of every branch and tag, seen or not.
    History,
    /// What a hook takes: not yet seen by the hooks, the oldest fifty.
    Hook {
        /// Those reachable from here.
        tip: CommitId,
        /// So long locks are waited for.
        patience: Duration,
    },
}

/// An ingest to be done.
#[derive(Clone, Debug)]
pub struct Ingest {
    /// Which commits.
    pub scope: Scope,
    /// What of them.
    pub sources: Sources,
}

/// What an ingest did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Commits looked at.
    pub commits: usize,
    /// Records that are new.
    pub added: usize,
    /// Records that were known and now also stand at another commit.
    pub anchored: usize,
    /// Records that were known.
    pub known: usize,
    /// Commits left for the next catch-up.
    pub left: usize,
    /// What was meant for the memory and could not be kept, with the commit and the reason.
    pub refused: Vec<String>,
    /// What of state files and decision documents was not understood; the rest of them was taken.
    pub unread: Vec<String>,
    /// Kinds of credentials that were masked.
    pub masked: Vec<String>,
    /// For a hook: what is new at its commits, to be told in their notes.
    #[serde(skip)]
    pub noted: Vec<Noted>,
}

/// The sources that git config `score-context.ingest` names; without it trailers, state files and decision documents. Where those lie
/// is in `score-context.stateFile` (patterns) and `score-context.adrDir` (folders), each of which may be set several times.
///
/// # Errors
/// When it names something that is no source, or no pattern.
pub fn known_sources(repo: &Repo) -> Result<Sources, IngestError> {
    let mut sources = Sources {
        trailers: false,
        state: None,
        documents: None,
        messages: Degree::None,
    };
    let set = repo
        .config("score-context.ingest")
        .unwrap_or_else(|| "trailers,state,adr".into());
    for name in set
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        match name {
            "trailers" => sources.trailers = true,
            "messages" | "messages=explaining" => sources.messages = Degree::Explaining,
            "messages=all" => sources.messages = Degree::All,
            "messages=none" => sources.messages = Degree::None,
            "state" => sources.state = Some(state_files(repo)?),
            "adr" => sources.documents = Some(folders(repo)),
            other => return Err(IngestError::Source(other.to_owned())),
        }
    }
    Ok(sources)
}

fn state_files(repo: &Repo) -> Result<StateFiles, IngestError> {
    let set = repo.config_values("score-context.stateFile");
    match set.is_empty() {
        true => StateFiles::usual(),
        false => StateFiles::new(&set),
    }
    .map_err(IngestError::Pattern)
}

fn folders(repo: &Repo) -> Folders {
    let set = repo.config_values("score-context.adrDir");
    match set.is_empty() {
        true => Folders::usual(),
        false => Folders::new(&set),
    }
}

/// Takes the commits of a scope. `now` is the day of writing; `progress` hears of commits done and commits in all.
///
/// # Errors
/// When the repository cannot be read or the store cannot be written.
pub fn catch_up(
    repo: &Repo,
    ingest: &Ingest,
    now: Time,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Report, IngestError> {
    let mut report = Report::default();
    let marks = marks(ingest);
    let (mut order, mut seens) = pending(repo, ingest, &marks)?;
    let mut store = Store::new(repo);
    if let Scope::Hook { patience, .. } = ingest.scope {
        store = store.with_patience(patience);
        report.left = order.len().saturating_sub(COMMITS_A_HOOK);
        order.truncate(COMMITS_A_HOOK);
    }
    let all = order.len();
    let done = std::sync::atomic::AtomicUsize::new(0);
    for chunk in order.chunks(COMMITS_A_WRITE) {
        let taken = read(repo, chunk, &ingest.sources, &|| {
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress(done, all);
        })?;
        let mut puts = Vec::new();
        let mut links = Vec::with_capacity(taken.len());
        for (link, taken) in taken {
            links.push(link);
            puts.extend(taken.puts);
            report.refused.extend(taken.refused);
            report.unread.extend(taken.unread);
            report.masked.extend(taken.masked);
        }
        for (receipt, put) in store.put(&puts, now)?.into_iter().zip(&puts) {
            if matches!(ingest.scope, Scope::Hook { .. }) && receipt != Receipt::Known {
                report.noted.extend(put.noted());
            }
            match receipt {
                Receipt::Added => report.added += 1,
                Receipt::Anchored => report.anchored += 1,
                Receipt::Known => report.known += 1,
            }
        }
        report.commits += chunk.len();
        // Only after the write: a process killed in between takes these commits again and adds nothing.
        for (mark, seen) in marks.iter().zip(&mut seens) {
            *seen = seen::advanced(seen, &links);
            seen::move_mark(repo, *mark, seen, &links);
        }
    }
    report.masked.sort();
    report.masked.dedup();
    Ok(report)
}

/// The marks that an ingest moves.
fn marks(ingest: &Ingest) -> Vec<Mark> {
    match ingest.scope {
        Scope::Hook { .. } => return vec![Mark::Hooks],
        // A range says nothing of what lies before it.
        Scope::Range(..) => return Vec::new(),
        Scope::From(_) | Scope::History => {}
    }
    let mut marks = Vec::new();
    if ingest.sources.trailers {
        marks.push(Mark::Trailers);
    }
    if let Some(files) = &ingest.sources.state {
        marks.push(Mark::State(files.digest()));
    }
    if let Some(folders) = &ingest.sources.documents {
        marks.push(Mark::Documents(folders.digest()));
    }
    match ingest.sources.messages {
        Degree::None => {}
        Degree::Explaining => marks.push(Mark::Explaining),
        Degree::All => marks.push(Mark::Messages),
    }
    marks
}

/// The commits to be taken, oldest first, and what each mark has seen.
fn pending(
    repo: &Repo,
    ingest: &Ingest,
    marks: &[Mark],
) -> Result<(Vec<CommitId>, Vec<BTreeSet<CommitId>>), RepoError> {
    let read = |mark: &Mark| Ok(mark.read(repo)?.unwrap_or_default());
    let nothing = BTreeSet::new();
    match ingest.scope {
        Scope::History => Ok((
            repo.unseen(&repo.all_tips()?, &nothing)?,
            vec![nothing; marks.len()],
        )),
        Scope::Range(from, to) => Ok((repo.unseen(&[to], &BTreeSet::from([from]))?, Vec::new())),
        Scope::From(tip) => {
            let seens: Vec<_> = marks.iter().map(read).collect::<Result<_, RepoError>>()?;
            // What any one source has not seen is taken with all of them: what the others know adds nothing.
            let mut order = BTreeSet::new();
            let mut longest = Vec::new();
            for seen in &seens {
                let unseen = repo.unseen(&[tip], seen)?;
                order.extend(unseen.iter().copied());
                if unseen.len() > longest.len() {
                    longest = unseen;
                }
            }
            if order.len() > longest.len() {
                longest = repo.unseen(&[tip], &nothing)?;
                longest.retain(|id| order.contains(id));
            }
            Ok((longest, seens))
        }
        Scope::Hook { tip, .. } => match Mark::Hooks.read(repo)? {
            Some(seen) => Ok((repo.unseen(&[tip], &seen)?, vec![seen])),
            // Without a mark (unborn at the installation, or deleted) a commit must not pay for the whole history.
            None => Ok((vec![tip], vec![nothing])),
        },
    }
}

type Read = ((CommitId, Vec<CommitId>), Taken);

/// Reads commits in parallel; the result keeps their order.
fn read(
    repo: &Repo,
    commits: &[CommitId],
    sources: &Sources,
    one_done: &(dyn Fn() + Sync),
) -> Result<Vec<Read>, RepoError> {
    /// Trees of neighbouring commits share almost everything; this much keeps those of a large repository.
    const OBJECT_CACHE: usize = 32 * 1024 * 1024;
    /// So many commits are read by one thread in a row.
    const NEIGHBOURS: usize = 64;
    let shared = repo.share();
    let local = || {
        let mut repo = shared.local();
        repo.cache_objects(OBJECT_CACHE);
        repo
    };
    let take = |repo: &Repo, commits: &[CommitId]| {
        let mut taken = Vec::with_capacity(commits.len());
        for id in commits {
            taken.push(match repo.commit(*id) {
                Ok(commit) => {
                    let taken = history::take(repo, &commit, sources)?;
                    ((*id, commit.parents), taken)
                }
                // Named and passed over: one malformed commit must not keep out everything after it.
                Err(
                    error @ RepoError::Git {
                        transient: false, ..
                    },
                ) => {
                    let mut taken = Taken::default();
                    taken.refused.push(error.to_string());
                    ((*id, Vec::new()), taken)
                }
                Err(error) => return Err(error),
            });
            one_done();
        }
        Ok(taken)
    };
    // A commit must not pay for threads that have nothing to do.
    if commits.len() <= NEIGHBOURS {
        return take(repo, commits);
    }
    // Neighbours go to one thread, so that its cache serves them.
    crate::threads::ready();
    let taken: Result<Vec<Vec<Read>>, RepoError> = commits
        .par_chunks(NEIGHBOURS)
        .map_init(local, |repo, commits| take(repo, commits))
        .collect();
    Ok(taken?.into_iter().flatten().collect())
}
