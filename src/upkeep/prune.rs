//! `prune`: what is over its time goes, and what lies around.
//!
//! In: the days of retention in force, a clock. Out: what went. Ages count from the day of writing, of a segment from the last day of its
//! month. Records that came out of commits never expire. Look-ups that stay keep their pins, and so every text that they read.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::stray::stray;
use crate::id::RecordId;
use crate::policy::Policy;
use crate::query::{QueryError, policy_of, set_days};
use crate::record::{Gone, Source, Time};
use crate::repo::{Access, Repo, RepoError, Sort};
use crate::store::{Corpus, Erasure, Fate, Store};

const SECONDS_PER_DAY: i64 = 86_400;

/// What is to go.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Days, instead of those in force, for records and for look-ups.
    pub older_than: Option<u64>,
    /// Also look-ups whose code tree no reachable commit has.
    pub gone: bool,
    /// Also caches that are in use.
    pub caches: bool,
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Records of sessions.
    pub records: usize,
    /// Look-ups.
    pub lookups: usize,
    /// Look-ups of histories that are gone.
    pub gone: Vec<RecordId>,
    /// Left-over files and caches.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// What is over its time and still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Over {
    /// Days after which what a session recorded goes.
    pub retention_days: u64,
    /// Days after which look-ups go.
    pub attention_days: u64,
    /// Records of sessions that are older.
    pub records: usize,
    /// Look-ups that are older.
    pub lookups: usize,
}

/// Lets go what is over its time. `now` is today.
///
/// # Errors
/// When the repository cannot be read or written, or a number of days is none.
pub fn prune(repo: &Repo, prune: &Prune, now: Time) -> Result<Pruned, QueryError> {
    // Where our folder is a link, or none, there is nothing of ours to let go.
    repo.cache().list().map_err(RepoError::from)?;
    let store = Store::new(repo);
    let policy = in_force(repo, prune.older_than)?;
    let mut pruned = Pruned::default();
    let corpus = store.corpus(store.corpus_id()?)?;
    let ids = expired(
        &corpus,
        policy.retention_days,
        now,
        prune.older_than.is_some(),
    );
    pruned.records = ids.len();
    let erasure = Erasure {
        ids,
        why: Gone::Expired,
    };
    // Also where nothing has expired: it folds the days that are over.
    store.erase(&erasure, now)?;
    pruned.lookups = store.drop_lookups_before(&first_kept(policy.attention_days, now))?;
    if prune.gone {
        let stray: BTreeSet<RecordId> = stray(repo)?.into_iter().collect();
        let swept = store.sweep(&Erasure::default(), &mut |stored, _| {
            Ok(match stray.contains(&stored.id) {
                true => Fate::Drop,
                false => Fate::Keep,
            })
        })?;
        pruned.gone = swept.dropped;
    }
    let mut files = repo.left_over()?;
    if prune.caches {
        files.extend(derived(repo));
    } else if pruned.records + pruned.lookups + pruned.gone.len() > 0 {
        // They hold the texts as well.
        files.extend(record_caches(repo));
    }
    for file in files {
        let size = file.symlink_metadata().map_or(0, |meta| meta.len());
        // What cannot be removed is no worse than before.
        if repo.remove_own(&file).is_ok_and(|is_removed| is_removed) {
            pruned.files += 1;
            pruned.bytes += size;
        }
    }
    Ok(pruned)
}

/// What is over its time and not gone yet.
///
/// # Errors
/// When the repository cannot be read, or a number of days is none.
pub fn over(repo: &Repo, corpus: &Corpus, now: Time) -> Result<Over, QueryError> {
    let policy = in_force(repo, None)?;
    let first = first_kept(policy.attention_days, now);
    let lookups = Store::new(repo).lookups()?;
    Ok(Over {
        retention_days: policy.retention_days,
        attention_days: policy.attention_days,
        records: expired(corpus, policy.retention_days, now, false).len(),
        lookups: lookups.iter().filter(|stored| stored.day < first).count(),
    })
}

/// The automatic pass: once a day, and only when something can be due. Costs a file's look on any other call, and the names of a few
/// folders where nothing is due. Says what went; none when it was not its time. A pass that fails says nothing and tries again tomorrow.
pub fn daily(repo: &Repo, now: Time) -> Option<Pruned> {
    const MARK: &str = "seen/pruned";
    let today = now.day();
    let mark = repo.cache().read(MARK, 64).ok().flatten();
    if mark.is_some_and(|day| day.trim_ascii() == today.as_bytes()) {
        return None;
    }
    // Before the pass: two commands at once need not both do it, and one that fails must not slow down every other.
    let kept = repo
        .cache()
        .replace(MARK, format!("{today}\n").as_bytes(), Access::Usual);
    if kept.is_err() {
        return None;
    }
    let policy = in_force(repo, None).ok()?;
    let store = Store::new(repo);
    let records = store.first_day().ok()?;
    let lookups = store.first_lookup_day().ok()?;
    let is_due = |first: Option<String>, days| first.is_some_and(|day| day < first_kept(days, now));
    let is_due = is_due(records, policy.retention_days) || is_due(lookups, policy.attention_days);
    match is_due || !repo.left_over().ok()?.is_empty() {
        true => prune(repo, &Prune::default(), now).ok(),
        false => None,
    }
}

/// The policy of `HEAD` with the days in force.
fn in_force(repo: &Repo, older_than: Option<u64>) -> Result<Policy, QueryError> {
    let tree = match repo.head()?.commit {
        Some(commit) => repo.tree_of(commit)?,
        None => repo.empty_tree(),
    };
    let mut policy = policy_of(repo, tree)?;
    set_days(repo, &mut policy)?;
    if let Some(days) = older_than {
        policy.retention_days = days;
        policy.attention_days = days;
    }
    Ok(policy)
}

/// The first day that is still kept.
fn first_kept(days: u64, now: Time) -> String {
    let days = i64::try_from(days).unwrap_or(i64::MAX);
    let seconds = days.saturating_mul(SECONDS_PER_DAY);
    Time(now.0.saturating_sub(seconds)).day()
}

/// What sessions recorded and is older than so many days. A month that was folded does not know its days any more and counts as its
/// last one; `by_time`: the time of the record tells, where the month began before.
fn expired(corpus: &Corpus, days: u64, now: Time, by_time: bool) -> BTreeSet<RecordId> {
    let first = first_kept(days, now);
    let is_over = |id: &RecordId, place: &str| {
        let folder = place.split('/').next().unwrap_or_default();
        let is_month = folder.len() == 7;
        last_day(folder).is_some_and(|day| day < first)
            || by_time
                && is_month
                && first.starts_with(folder)
                && time_of(corpus, *id).is_some_and(|time| time.day() < first)
    };
    let of_session = corpus
        .ids()
        .filter(|id| corpus.source(*id) == Some(Source::Session));
    let over = of_session.filter(|id| {
        corpus
            .line(*id)
            .is_some_and(|(_, place)| is_over(id, place))
    });
    over.collect()
}

/// When a record was said; of a task when its session began.
fn time_of(corpus: &Corpus, id: RecordId) -> Option<Time> {
    let session = match corpus.tasks.get(&id) {
        Some(task) => task.session.parse().ok()?,
        None => id,
    };
    let start = corpus.sessions.get(&session).map(|session| session.start);
    let anchors = corpus.anchors.get(&id).into_iter().flatten();
    start.or_else(|| anchors.map(|(_, anchor)| anchor.time).min())
}

/// The last day on which something may have been written to a folder: of a month its last one, which no day name is beyond.
fn last_day(folder: &str) -> Option<String> {
    match folder.len() {
        10 => Some(folder.to_owned()),
        7 => Some(format!("{folder}-31")),
        _ => None,
    }
}

/// Caches that may hold what records say: whatever is derived and not of code.
pub fn record_caches(repo: &Repo) -> Vec<PathBuf> {
    let mut caches = derived(repo);
    // Not a cache, but it holds texts as well.
    let journal = ["journal", "journal.old"].map(|name| repo.cache_dir().join(name));
    caches.extend(journal.into_iter().filter(|path| path.exists()));
    caches.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_none_or(|name| !name.starts_with("graph-") && !name.starts_with("facts-"))
    });
    caches
}

/// Everything in the common dir's `score-context` that is made again when it is missed: not the salt, not the locks, not the marks of
/// what was ingested, which would only cost time, and not the journal of the last writes.
fn derived(repo: &Repo) -> Vec<PathBuf> {
    const KEPT: [&str; 8] = [
        "salt",
        "lock",
        "turnstile",
        "seen",
        "packs",
        "last",
        "journal",
        "journal.old",
    ];
    let mut open = vec![repo.cache()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        // A link is a file to be removed itself, and never a folder to be looked into.
        for entry in folder.list().unwrap_or_default() {
            let is_kept = entry.name.to_str().is_none_or(|name| KEPT.contains(&name));
            match entry.sort {
                _ if is_kept => {}
                Sort::Folder => open.push(folder.below(&entry.name)),
                _ => found.push(folder.path().join(&entry.name)),
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_count_in_whole_days() {
        let now: Time = "2026-11-30T23:59:59Z".parse().expect("a time");
        assert_eq!(first_kept(1, now), "2026-11-29");
        assert_eq!(first_kept(90, now), "2026-09-01");
        assert_eq!(first_kept(u64::MAX, now), "0000-01-01");
        assert!(last_day("2026-08").is_some_and(|day| day < first_kept(90, now)));
        assert!(last_day("2026-09").is_some_and(|day| day >= first_kept(90, now)));
        assert_eq!(last_day("notes"), None);
    }
}
