//! `prune`: what is over its time goes, and what lies around.
//!
//! In: the days of retention in force, a clock. Out: what went. Ages count from the day of writing, of a segment from the last day of its
//! month. Records that came out of commits never expire. Look-ups that stay keep their pins, and so every text that they read. Nothing goes
//! on one look at a clock (`trust.rs`), and what goes can be put back for some days (`store/undo.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::stray::stray;
use super::trust::{DAY, Doubt, NEAR_DAYS, Trust, doubt, trust};
use crate::id::{CommitId, RecordId, TreeId};
use crate::policy::Policy;
use crate::query::{QueryError, policy_of, set_days};
use crate::record::{Anchor, Source, Time};
use crate::repo::{Repo, RepoError, Sort};
use crate::store::{
    Clock, Corpus, Depth, Erasure, Fate, FirstKept, PRIVATE, Store, StoreError, Undone,
};

/// So many days what was let go can be put back.
pub const UNDO_DAYS: u64 = 7;

/// What is to go.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Days, instead of those in force, for records and for look-ups.
    pub older_than: Option<u64>,
    /// Also look-ups whose code tree no reachable commit has.
    pub gone: bool,
    /// Also caches that are in use.
    pub caches: bool,
    /// The clock is right, whatever was seen before.
    pub force: bool,
    /// Nothing is to be put back, also not what went before.
    pub for_good: bool,
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
    /// Why something else did not go.
    pub doubt: Option<Doubt>,
    /// What was damaged and is mended or gone, a sentence for each.
    pub repaired: Vec<String>,
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
    /// Whether the clock is not believed yet, so that they stay.
    pub is_doubted: bool,
}

/// Lets go what is over its time. `now` is today. Where the clock is not believed and something would go by it, nothing is done at all, and the
/// answer says why.
///
/// # Errors
/// When the repository cannot be read or written, or a number of days is none.
pub fn prune(repo: &Repo, prune: &Prune, now: Time) -> Result<Pruned, QueryError> {
    // Where our folder is a link, or none, there is nothing of ours to let go.
    repo.cache().list().map_err(RepoError::from)?;
    let pass = Pass::new(repo, prune.clone(), now)?;
    let seen = pass.store.clock();
    let clock = seen.clone().looked(now);
    // Where nothing can be written, the pass itself says so.
    pass.store.keep_clock(&clock);
    let trust = pass.trust(&clock);
    let due = pass.due(now)?;
    let is_right = prune.force || trust.is_near;
    if !is_right && due.is_some() {
        return Ok(Pruned {
            doubt: Some(pass.doubt(&seen, &due)),
            ..Pruned::default()
        });
    }
    pass.run(if is_right { Some(now) } else { trust.as_of })
}

/// What is over its time and not gone yet.
///
/// # Errors
/// When the repository cannot be read, or a number of days is none.
pub fn over(repo: &Repo, now: Time) -> Result<Over, QueryError> {
    let pass = Pass::new(repo, Prune::default(), now)?;
    let due = pass.due(now)?;
    let trust = pass.trust(&pass.store.clock().looked(now));
    Ok(Over {
        retention_days: pass.policy.retention_days,
        attention_days: pass.policy.attention_days,
        records: due.records.len(),
        lookups: due.lookups,
        is_doubted: !trust.is_near,
    })
}

/// Puts back what the last pass has let go; none where there is nothing. What would go again at once counts as written today.
///
/// # Errors
/// When the repository cannot be read or written, or a number of days is none.
pub fn undo(repo: &Repo, now: Time) -> Result<Option<Undone>, QueryError> {
    let policy = in_force(repo, None)?;
    let first = FirstKept {
        records: first_kept(policy.retention_days, now),
        lookups: first_kept(policy.attention_days, now),
    };
    Ok(Store::new(repo).undo(&first, now)?)
}

/// The automatic pass: once a day, and only when something can be due. Costs a file's look on any other call, and the names of a few
/// folders where nothing is due. Says what went, and whether the clock is doubted; none when it was not its time. A pass that fails says
/// nothing and tries again tomorrow.
pub fn daily(repo: &Repo, now: Time) -> Option<Pruned> {
    let store = Store::new(repo);
    let seen = store.clock();
    if seen.has_seen(now) {
        return None;
    }
    let clock = seen.clone().looked(now);
    // Before the pass: two commands at once need not both do it, and one that fails must not slow down every other.
    if !store.keep_clock(&clock) {
        return None;
    }
    // Damage would stop the user's own `git gc`. What a repair cannot do today it does tomorrow, and `fsck` names it meanwhile.
    let repaired = store.repair(Depth::Names).unwrap_or_default();
    let pruned = over_today(repo, &store, &seen, &clock, now);
    match repaired.is_empty() {
        true => pruned,
        false => Some(Pruned {
            repaired,
            ..pruned.unwrap_or_default()
        }),
    }
}

/// What is over its time today, if anything can be.
fn over_today(
    repo: &Repo,
    store: &Store<'_>,
    seen: &Clock,
    clock: &Clock,
    now: Time,
) -> Option<Pruned> {
    let policy = in_force(repo, None).ok()?;
    let is_before =
        |first: Option<String>, days| first.is_some_and(|day| day < first_kept(days, now));
    let is_due = is_before(store.first_day().ok()?, policy.retention_days)
        || is_before(store.first_lookup_day().ok()?, policy.attention_days)
        || is_before(store.first_waiting_day().ok()?, UNDO_DAYS)
        || !repo.left_over().ok()?.is_empty();
    if !is_due && !seen.is_behind(now) {
        return None;
    }
    let pass = Pass::new(repo, Prune::default(), now).ok()?;
    let trust = pass.trust(clock);
    let due = pass.due(now).ok()?;
    let mut pruned = pass.run(trust.as_of).ok()?;
    let held = Due {
        lookups: due.lookups - due.lookups.min(pruned.lookups),
        records: due
            .records
            .difference(&pass.goes(trust.as_of))
            .copied()
            .collect(),
    };
    // A day later than it might be is no jump, and nobody has to hear of it.
    let is_jump = held.is_some() && !trust.is_near;
    if is_jump || seen.is_behind(now) {
        pruned.doubt = Some(pass.doubt(seen, &held));
    }
    Some(pruned)
}

/// What is over its time by some clock.
#[derive(Default)]
struct Due {
    records: BTreeSet<RecordId>,
    lookups: usize,
}

impl Due {
    fn is_some(&self) -> bool {
        !self.records.is_empty() || self.lookups > 0
    }
}

/// One pass over what is there.
struct Pass<'a> {
    repo: &'a Repo,
    store: Store<'a>,
    prune: Prune,
    policy: Policy,
    root: TreeId,
    corpus: Corpus,
    now: Time,
}

impl<'a> Pass<'a> {
    fn new(repo: &'a Repo, prune: Prune, now: Time) -> Result<Self, QueryError> {
        let store = Store::new(repo);
        let policy = in_force(repo, prune.older_than)?;
        let root = store.corpus_id()?;
        let corpus = store.corpus(root)?;
        Ok(Self {
            repo,
            store,
            prune,
            policy,
            root,
            corpus,
            now,
        })
    }

    fn trust(&self, clock: &Clock) -> Trust {
        let days = self.policy.retention_days.min(self.policy.attention_days);
        // Who names a number means it. By itself a clock that is off takes at most a tenth of the days.
        let near = match self.prune.older_than {
            Some(_) => NEAR_DAYS,
            None => NEAR_DAYS.min(days / 10).max(1),
        };
        trust(self.repo, &self.corpus, clock, self.now, near)
    }

    fn doubt(&self, seen: &Clock, held: &Due) -> Doubt {
        Doubt {
            records: held.records.len(),
            lookups: held.lookups,
            ..doubt(self.repo, &self.corpus, seen.last(), self.now)
        }
    }

    /// The records that go as of a time.
    fn goes(&self, as_of: Option<Time>) -> BTreeSet<RecordId> {
        let days = self.policy.retention_days;
        let by_time = self.prune.older_than.is_some();
        let goes = as_of.map(|as_of| expired(self.repo, &self.corpus, days, as_of, by_time));
        goes.unwrap_or_default()
    }

    fn due(&self, as_of: Time) -> Result<Due, StoreError> {
        let first = first_kept(self.policy.attention_days, as_of);
        let lookups = self.store.lookups()?;
        Ok(Due {
            records: self.goes(Some(as_of)),
            lookups: lookups.iter().filter(|stored| stored.day < first).count(),
        })
    }

    /// Lets go what is over its time as of some time, and what lies around.
    fn run(&self, as_of: Option<Time>) -> Result<Pruned, QueryError> {
        let mut pruned = Pruned::default();
        let keep = (!self.prune.for_good).then_some(self.now);
        if let Some(as_of) = as_of {
            let ids = self.goes(Some(as_of));
            pruned.records = ids.len();
            // Also where nothing has expired: it folds the days that are over.
            self.store.expire(ids, self.root, as_of, keep)?;
            let first = first_kept(self.policy.attention_days, as_of);
            pruned.lookups = self.store.drop_lookups_before(&first, keep)?;
            if !self.prune.for_good {
                let first = first_kept(UNDO_DAYS, as_of);
                self.store.drop_waiting_before(&first)?;
            }
        }
        if self.prune.for_good {
            self.store.drop_waiting()?;
        }
        if self.prune.gone {
            let stray: BTreeSet<RecordId> = stray(self.repo)?.into_iter().collect();
            let swept = self.store.sweep(&Erasure::default(), &mut |stored, _| {
                Ok(match stray.contains(&stored.id) {
                    true => Fate::Drop,
                    false => Fate::Keep,
                })
            })?;
            pruned.gone = swept.dropped;
        }
        self.remove_files(&mut pruned)?;
        Ok(pruned)
    }

    fn remove_files(&self, pruned: &mut Pruned) -> Result<(), RepoError> {
        let mut files = self.repo.left_over()?;
        files.extend(self.repo.break_locks(&PRIVATE));
        if self.prune.caches {
            files.extend(derived(self.repo));
        } else if pruned.records + pruned.lookups + pruned.gone.len() > 0 {
            // They hold the texts as well.
            files.extend(record_caches(self.repo));
        }
        for file in files {
            let size = file.symlink_metadata().map_or(0, |meta| meta.len());
            // What cannot be removed is no worse than before.
            if self
                .repo
                .remove_own(&file)
                .is_ok_and(|is_removed| is_removed)
            {
                pruned.files += 1;
                pruned.bytes += size;
            }
        }
        Ok(())
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
    let seconds = days.saturating_mul(DAY);
    Time(now.0.saturating_sub(seconds)).day()
}

/// What sessions recorded and is older than so many days. A month that was folded does not know its days any more and counts as its
/// last one; `by_time`: the time of the record tells, where the month began before.
///
/// A record cannot be older than the commit it was first anchored at: where its day says so, the clock was behind.
fn expired(
    repo: &Repo,
    corpus: &Corpus,
    days: u64,
    now: Time,
    by_time: bool,
) -> BTreeSet<RecordId> {
    let first = first_kept(days, now);
    let mut made: BTreeMap<CommitId, bool> = BTreeMap::new();
    let mut is_younger = |id: &RecordId| {
        let anchors = corpus.anchors.get(id).into_iter().flatten();
        let earliest = anchors
            .map(|(_, anchor)| anchor)
            .min_by_key(|anchor| anchor.time);
        let Some(Anchor {
            commit: Some(commit),
            ..
        }) = earliest
        else {
            return false;
        };
        *made.entry(*commit).or_insert_with(|| {
            let time = repo.commit(*commit).map(|commit| Time(commit.time));
            // One of the future says nothing.
            time.is_ok_and(|time| time <= now && time.day() >= first)
        })
    };
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
    over.filter(|id| !is_younger(id)).collect()
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
