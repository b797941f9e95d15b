//! The catch-up: commits not yet seen, in order, into the store, and then the mark.

use std::collections::BTreeSet;
use std::time::Duration;

use rayon::prelude::*;
use serde::Serialize;

use super::history::{self, Degree, Sources, Taken};
use super::places::{Folders, StateFiles};
use super::seen::{self, Mark};
use crate::id::CommitId;
use crate::mask::mask;
use crate::record::Time;
use crate::repo::{Repo, RepoError};
use crate::store::{Noted, Receipt, Store, StoreError};

/// So many commits go into one write: few objects, and bounded memory.
const COMMITS_A_WRITE: usize = 10_000;
/// So many commits a hook takes before it returns (`design.md` section 6).
const COMMITS_A_HOOK: usize = 50;
/// More records than this a hook writes only where there is time left: they have to be found among all others and written.
const PUTS_A_HOOK: usize = 200;

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
    catch_up_within(repo, ingest, now, progress, &|| false)
}

/// The same for somebody who cannot wait: once `is_late` says that time is over, what was read until then is written and the rest is
/// left, the commit in the middle of which that was included. The mark moves only past what was written, and [`is_behind`] is true
/// until somebody has caught up.
///
/// # Errors
/// As for [`catch_up`].
pub fn catch_up_within(
    repo: &Repo,
    ingest: &Ingest,
    now: Time,
    progress: &(dyn Fn(usize, usize) + Sync),
    is_late: &(dyn Fn() -> bool + Sync),
) -> Result<Report, IngestError> {
    let mut report = Report::default();
    let marks = marks(ingest);
    let (mut order, mut seens) = pending(repo, ingest, &marks)?;
    let mut store = Store::new(repo);
    let is_hook = matches!(ingest.scope, Scope::Hook { .. });
    if let Scope::Hook { patience, .. } = ingest.scope {
        store = store.with_patience(patience);
        report.left = order.len().saturating_sub(COMMITS_A_HOOK);
        order.truncate(COMMITS_A_HOOK);
    }
    let all = order.len();
    let done = std::sync::atomic::AtomicUsize::new(0);
    for chunk in order.chunks(COMMITS_A_WRITE) {
        let one_done = || {
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress(done, all);
        };
        let taken = match is_hook {
            true => read_until(repo, chunk, &ingest.sources, is_late)?,
            false => read(repo, chunk, &ingest.sources, &one_done)?,
        };
        let left = chunk.len() - taken.len();
        report.left += left;
        report.commits += taken.len();
        if is_hook {
            seen::set_behind(repo, left > 0);
        }
        let mut puts = Vec::new();
        let mut links = Vec::with_capacity(taken.len());
        for (link, taken) in taken {
            links.push(link);
            puts.extend(taken.puts);
            // What is told of a text is no place for what is taken out of it.
            report
                .refused
                .extend(taken.refused.iter().map(|why| told(why)));
            report
                .unread
                .extend(taken.unread.iter().map(|why| told(why)));
            report.masked.extend(taken.masked);
        }
        for (receipt, put) in store.put(&puts, now)?.into_iter().zip(&puts) {
            if is_hook && receipt != Receipt::Known {
                report.noted.extend(put.noted());
            }
            match receipt {
                Receipt::Added => report.added += 1,
                Receipt::Anchored => report.anchored += 1,
                Receipt::Known => report.known += 1,
            }
        }
        // Only after the write: a process killed in between takes these commits again and adds nothing.
        if links.is_empty() {
            continue;
        }
        for (mark, seen) in marks.iter().zip(&mut seens) {
            *seen = seen::advanced(seen, &links);
            seen::move_mark(repo, *mark, seen, &links);
        }
    }
    report.masked.sort();
    report.masked.dedup();
    Ok(report)
}

fn told(why: &str) -> String {
    mask(why).text
}

/// What a hook had no time for, taken in now, all of it. Gives what is new, to be told in the notes.
///
/// # Errors
/// As for [`catch_up`]; then it stays to be done.
pub fn catch_up_behind(
    repo: &Repo,
    now: Time,
    patience: Duration,
) -> Result<Vec<Noted>, IngestError> {
    let mut noted = Vec::new();
    let sources = known_sources(repo)?;
    while let (true, Some(tip)) = (is_behind(repo), repo.head()?.commit) {
        let ingest = Ingest {
            scope: Scope::Hook { tip, patience },
            sources: sources.clone(),
        };
        // Without a limit of time nothing is left but what the number of commits leaves.
        let report = catch_up(repo, &ingest, now, &|_, _| {})?;
        noted.extend(report.noted);
        if report.left == 0 || report.commits == 0 {
            break;
        }
        seen::set_behind(repo, true);
    }
    seen::set_behind(repo, false);
    Ok(noted)
}

/// Whether a hook had no time for a commit that nobody has caught up with since.
pub fn is_behind(repo: &Repo) -> bool {
    seen::is_behind(repo)
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

/// Reads commits one by one, until time is over, or more is found than a hook writes. The first one is begun in any case, and only one
/// that is large can be given up in the middle: a machine that is slow must not keep everything out.
fn read_until(
    repo: &Repo,
    commits: &[CommitId],
    sources: &Sources,
    is_late: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Read>, RepoError> {
    let mut taken: Vec<Read> = Vec::new();
    let mut puts = 0;
    for id in commits {
        if !taken.is_empty() && is_late() {
            break;
        }
        let one = match repo.commit(*id) {
            Ok(commit) => {
                let taken = history::take(repo, &commit, sources, is_late)?;
                ((*id, commit.parents), taken)
            }
            Err(error) => passed_over(*id, error)?,
        };
        puts += one.1.puts.len();
        // Without a limit of time there is none of these either: somebody catches up.
        if one.1.is_late || puts > PUTS_A_HOOK && is_late() {
            break;
        }
        taken.push(one);
    }
    Ok(taken)
}

/// Named and passed over: one malformed commit must not keep out everything after it.
fn passed_over(id: CommitId, error: RepoError) -> Result<Read, RepoError> {
    match error {
        RepoError::Git {
            transient: false, ..
        } => {
            let mut taken = Taken::default();
            taken.refused.push(error.to_string());
            Ok(((id, Vec::new()), taken))
        }
        error => Err(error),
    }
}

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
                    let taken = history::take(repo, &commit, sources, &|| false)?;
                    ((*id, commit.parents), taken)
                }
                Err(error) => passed_over(*id, error)?,
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
