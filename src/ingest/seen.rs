//! What an ingest has seen: a set of tips in the common dir, for the hooks and for each source of `ingest`.
//!
//! Not seen is what is reachable from `HEAD` and from none of the tips, never what is younger than a date. A mark that is lost or
//! unreadable only costs time: everything is taken again, and nothing is added.
//!
//! A line is a commit that was seen, then its parents, which are tips no longer. So a commit that a hook takes is one line at the end,
//! which costs a tenth of a file that is renamed into place.

use std::collections::BTreeSet;

use crate::id::{CommitId, RecordId};
use crate::repo::{Access, FileError, Repo, RepoError};
use crate::store::RECORDS;

/// What the first line of a mark in a shallow history begins with.
const BORDER: &str = "border ";
/// A longer file is no mark.
const MOST_BYTES: u64 = 64 << 20;

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
    /// The name of its file in our folder of the common dir.
    fn file(self) -> String {
        let name = match self {
            Mark::Hooks => "hooks".to_owned(),
            Mark::Trailers => "trailers".to_owned(),
            Mark::State(places) => format!("state-{}", places.short()),
            Mark::Documents(places) => format!("adr-{}", places.short()),
            Mark::Explaining => "messages-explaining".to_owned(),
            Mark::Messages => "messages-all".to_owned(),
        };
        format!("seen/{name}")
    }

    /// The tips; none when there is no mark.
    ///
    /// # Errors
    /// When the machine would not read it: without its mark a hook would pass over commits for good.
    pub(super) fn read(self, repo: &Repo) -> Result<Option<BTreeSet<CommitId>>, RepoError> {
        // Whoever has removed the records wants to have them again. The hooks' mark says where they begin, also in an empty memory.
        if self != Mark::Hooks && repo.reference(RECORDS)?.is_none() {
            return Ok(None);
        }
        let Some(bytes) = repo.state(&self.file(), MOST_BYTES)? else {
            return Ok(None);
        };
        let border = border(repo)?;
        let text = String::from_utf8(bytes).ok();
        let tips = text.as_ref().and_then(|text| text.strip_prefix(&border));
        Ok(tips.and_then(folded))
    }
}

/// Where a hook that had no time says so.
const BEHIND: &str = "seen/behind";

/// Whether a hook has left a commit for want of time.
pub(super) fn is_behind(repo: &Repo) -> bool {
    matches!(repo.cache().look(BEHIND), Ok(Some(_)))
}

/// Says that a hook has left a commit, or that nothing is left. Where that cannot be written, the next hook takes it.
pub(super) fn set_behind(repo: &Repo, is: bool) {
    match (is, is_behind(repo)) {
        (true, false) => drop(repo.cache().replace(BEHIND, b"", Access::Usual)),
        (false, true) => drop(repo.cache().remove(BEHIND)),
        _ => {}
    }
}

/// Replaces a mark. A mark that cannot be written is no error: the next catch-up only has more to look at.
pub fn set_mark(repo: &Repo, mark: Mark, tips: &BTreeSet<CommitId>) {
    let tips: String = tips.iter().map(|tip| format!("{tip}\n")).collect();
    let Ok(border) = border(repo) else { return };
    let text = border + &tips;
    drop(
        repo.cache()
            .replace(mark.file(), text.as_bytes(), Access::Usual),
    );
}

/// The tips that the lines of a mark come to. A line that a dying process has left unfinished is passed over: its commit is taken once
/// more. None of a text that is no mark at all, or the mark of a history that ended elsewhere.
fn folded(text: &str) -> Option<BTreeSet<CommitId>> {
    let mut tips = BTreeSet::new();
    let mut is_mark = text.is_empty();
    if text.starts_with(BORDER) {
        return None;
    }
    for line in text.lines() {
        let ids: Result<Vec<CommitId>, _> = line.split(' ').map(str::parse).collect();
        let Ok(ids) = ids else { continue };
        is_mark = true;
        tips.extend(ids.first());
        for parent in ids.iter().skip(1) {
            tips.remove(parent);
        }
    }
    is_mark.then_some(tips)
}

/// Moves a mark past these commits, each with its parents, to `seen`, what it comes to: by a few lines at its end where that can be.
pub(super) fn move_mark(
    repo: &Repo,
    mark: Mark,
    seen: &BTreeSet<CommitId>,
    taken: &[(CommitId, Vec<CommitId>)],
) {
    /// A longer file is written anew, in its shortest form.
    const LONGEST: u64 = 4096;
    let append = || -> Result<bool, FileError> {
        let len = repo.cache().look(mark.file())?.map(|file| file.len);
        let is_long = len.is_none_or(|len| len > LONGEST);
        if taken.len() > 8 || is_long || !matches!(mark.read(repo), Ok(Some(_))) {
            return Ok(false);
        }
        let mut lines = String::new();
        for (id, parents) in taken {
            let all: Vec<String> = std::iter::once(id)
                .chain(parents)
                .map(ToString::to_string)
                .collect();
            lines += &(all.join(" ") + "\n");
        }
        repo.cache().append(mark.file(), lines.as_bytes(), None)?;
        Ok(true)
    };
    if !append().unwrap_or(false) {
        set_mark(repo, mark, seen);
    }
}

/// Where history ended when the mark was set: what a deeper fetch brings lies behind the tips and was never seen. Empty where it is
/// whole.
fn border(repo: &Repo) -> Result<String, RepoError> {
    let commits = repo.border()?;
    let digest = RecordId::of(format!("{commits:?}").as_bytes());
    Ok(match commits.is_empty() {
        true => String::new(),
        false => format!("{BORDER}{digest}\n"),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_at_the_end_come_to_the_same_tips() {
        let id =
            |byte: u8| -> CommitId { format!("{byte:02x}").repeat(20).parse().expect("an id") };
        let (a, b, c, d) = (id(1), id(2), id(3), id(4));
        let tips = |text: &str| folded(text);
        let whole = format!("{a}\n{b} {a}\n{c} {b}\n");
        assert_eq!(tips(&whole), Some([c].into()));
        assert_eq!(tips(&format!("{a}\n{b}\n{d} {a} {b}\n")), Some([d].into()));
        assert_eq!(tips(&format!("{a}\n{b}\n")), Some([a, b].into()));
        assert_eq!(tips(""), Some(BTreeSet::new()));
        // Cut anywhere after its first line it is still a mark, and never one that has seen too much.
        for at in format!("{a}\n").len()..whole.len() {
            let cut = tips(&whole[..at]).expect("a mark");
            assert!(cut.iter().all(|tip| [a, b, c].contains(tip)), "cut at {at}");
        }
        assert_eq!(tips("nothing of ours\n"), None);
        assert_eq!(tips(&format!("{BORDER}x\n{a}\n")), None);
        let torn = format!("{a}\n{}{c} {b}\n", &b.to_string()[..9]);
        assert_eq!(tips(&torn), Some([a].into()));
    }
}
