//! Whether a clock may let anything go.
//!
//! In: what the clock has shown to writers, the newest commit, the newest record. Out: the time as of which upkeep may act, and what to say
//! where that is not now. A clock is believed when two looks at least a day apart saw it, or when a commit and a record that are at least a
//! day older are near it: those of the same day were made under the same clock, and say nothing of it. Never deletes.

use crate::record::{Source, Time};
use crate::repo::Repo;
use crate::store::{Clock, Corpus};

/// A day, in seconds.
pub(super) const DAY: i64 = 86_400;
/// A clock this far beyond what is known is no jump: a week away from the work, holidays aside.
pub(super) const NEAR_DAYS: u64 = 7;
/// So many commits are looked at for one that is older than today's.
const MOST_COMMITS: usize = 256;

/// A clock that was not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What it says.
    pub now: Time,
    /// What it said before.
    pub seen: Option<Time>,
    /// When the newest commit of `HEAD` was made.
    pub commit: Option<Time>,
    /// When the newest record was written.
    pub record: Option<Time>,
    /// Records that are over their time by this clock, and were kept.
    pub records: usize,
    /// Look-ups that are, and were kept.
    pub lookups: usize,
}

impl Doubt {
    /// Whether the clock went back.
    pub fn is_behind(&self) -> bool {
        self.seen.is_some_and(|seen| seen > self.now)
    }
}

/// How far a clock is believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    /// The latest time as of which something may go by itself.
    pub as_of: Option<Time>,
    /// Whether now is near enough to that for somebody who asks.
    pub is_near: bool,
}

/// How far it is believed. `clock` has seen `now`; `near`: so many days are no jump.
pub(super) fn trust(repo: &Repo, corpus: &Corpus, clock: &Clock, now: Time, near: u64) -> Trust {
    let near = i64::try_from(near).unwrap_or(i64::MAX / DAY) * DAY;
    // Both kinds of witness are at least a day old.
    let is_near = |time: Time| time <= now && now.0.saturating_sub(time.0) <= near + DAY;
    let vouched = clock.vouched().filter(|vouched| *vouched <= now);
    let witness = || {
        let day_ago = Time(now.0.saturating_sub(DAY));
        let record = record_times(corpus).filter(|time| *time <= day_ago).max();
        record.is_some_and(is_near) && commit_until(repo, day_ago).is_some_and(is_near)
    };
    match vouched {
        _ if witness() => Trust {
            as_of: Some(now),
            is_near: true,
        },
        vouched => Trust {
            as_of: vouched,
            is_near: vouched.is_some_and(is_near),
        },
    }
}

/// What is to be said of a clock that is not believed.
pub(super) fn doubt(repo: &Repo, corpus: &Corpus, seen: Option<Time>, now: Time) -> Doubt {
    let head = repo.head().ok().and_then(|head| head.commit);
    let commit = head.and_then(|commit| repo.commit(commit).ok());
    Doubt {
        now,
        seen,
        commit: commit.map(|commit| Time(commit.time)),
        record: record_times(corpus).max(),
        records: 0,
        lookups: 0,
    }
}

/// When sessions recorded something: what comes from commits has the dates of those.
fn record_times(corpus: &Corpus) -> impl Iterator<Item = Time> + '_ {
    let anchors = corpus.anchors.iter();
    let of_session = anchors.filter(|(of, _)| corpus.source(**of) == Some(Source::Session));
    of_session.flat_map(|(_, anchors)| anchors.iter().map(|(_, anchor)| anchor.time))
}

/// When the newest commit of `HEAD` that is not younger was made, along first parents.
fn commit_until(repo: &Repo, until: Time) -> Option<Time> {
    let mut next = repo.head().ok()?.commit;
    for _ in 0..MOST_COMMITS {
        let commit = repo.commit(next?).ok()?;
        if commit.time <= until.0 {
            return Some(Time(commit.time));
        }
        next = commit.parents.first().copied();
    }
    None
}
