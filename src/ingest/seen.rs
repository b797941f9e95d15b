//! What an ingest has seen: a set of tips in the common dir, for the hooks and for each source of `ingest`.
//!
//! Not seen is what is reachable from `HEAD` and from none of the tips, never what is younger than a date. A mark that is lost or
//! unreadable only costs time: everything is taken again, and nothing is added.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::id::{CommitId, RecordId};
use crate::repo::Repo;
use crate::store::RECORDS;

/// Whose mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The hooks'.
    Hooks,
    /// That of `ingest` for trailers.
    Trailers,
    /// That of `ingest` for these state files.
    State(RecordId),
    /// That of `ingest` for decision documents in these folders.
    Documents(RecordId),
    /// That of `ingest` for explaining messages.
    Explaining,
    /// That of `ingest` for all messages.
    Messages,
}

impl Mark {
    fn path(self, repo: &Repo) -> PathBuf {
        let name = match self {
            Mark::Hooks => "hooks".to_owned(),
            Mark::Trailers => "trailers".to_owned(),
            Mark::State(places) => format!("state-{}", places.short()),
            Mark::Documents(places) => format!("adr-{}", places.short()),
            Mark::Explaining => "messages-explaining".to_owned(),
            Mark::Messages => "messages-all".to_owned(),
        };
        repo.cache_dir().join("seen").join(name)
    }

    /// The tips; none when there is no mark.
    pub(super) fn read(self, repo: &Repo) -> Option<BTreeSet<CommitId>> {
        // Whoever has removed the records wants to have them again. The hooks' mark says where they begin, also in an empty memory.
        if self != Mark::Hooks && repo.reference(RECORDS).ok().flatten().is_none() {
            return None;
        }
        let text = fs::read_to_string(self.path(repo)).ok()?;
        let tips = text.strip_prefix(&border(repo))?;
        tips.lines().map(|line| line.parse().ok()).collect()
    }
}

/// Replaces a mark. A mark that cannot be written is no error: the next catch-up only has more to look at.
pub fn set_mark(repo: &Repo, mark: Mark, tips: &BTreeSet<CommitId>) {
    let path = mark.path(repo);
    let tips: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
    let text = border(repo) + &tips;
    let write = || -> std::io::Result<()> {
        let directory = path.parent().expect("a mark lies in a directory");
        fs::create_dir_all(directory)?;
        // Renamed into place, so that a reader sees the old mark or the new one.
        let temporary = path.with_extension(std::process::id().to_string());
        let mut file = fs::File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&temporary, &path)
    };
    drop(write());
}

/// Where history ended when the mark was set: what a deeper fetch brings lies behind the tips and was never seen. Empty where it is
/// whole.
fn border(repo: &Repo) -> String {
    let commits = repo.border();
    let digest = RecordId::of(format!("{commits:?}").as_bytes());
    match commits.is_empty() {
        true => String::new(),
        false => format!("border {digest}\n"),
    }
}

/// The mark after these commits were taken: what was seen and what was taken, without tips that a taken commit descends from.
pub(super) fn advanced(
    seen: &BTreeSet<CommitId>,
    taken: &[(CommitId, Vec<CommitId>)],
) -> BTreeSet<CommitId> {
    let parents: BTreeSet<_> = taken.iter().flat_map(|(_, parents)| parents).collect();
    let all = seen.iter().copied().chain(taken.iter().map(|(id, _)| *id));
    all.filter(|tip| !parents.contains(tip)).collect()
}
