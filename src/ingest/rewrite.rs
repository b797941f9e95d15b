//! Rewritten commits: what was said at the old ones stands at the new ones.
//!
//! In: Git's list of old and new names, as a post-rewrite hook reads it. Out: for every record that stands at an old commit one anchor
//! at the new one, all in one write. The old anchors stay, as former ones.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::catch_up::IngestError;
use super::history::ground;
use crate::id::{CommitId, RecordId};
use crate::record::{Anchor, Source, Time};
use crate::repo::{Access, Commit, Folder, Repo, RepoError};
use crate::store::{Corpus, Noted, Store};

/// What a rewrite moved.
#[derive(Clone, Debug, Default)]
pub struct Moved {
    /// Anchors written.
    pub anchors: usize,
    /// Rewritten commits at which something had been said.
    pub old: BTreeSet<CommitId>,
    /// What is now told at the new commits.
    pub noted: Vec<Noted>,
}

/// The commit that each rewritten one became. Lines that name no two commits are left out.
fn rewritten(list: &str) -> BTreeMap<CommitId, CommitId> {
    let pair = |line: &str| {
        let mut words = line.split(' ');
        let (old, new) = (
            words.next()?.parse().ok()?,
            words.next()?.trim_end().parse().ok()?,
        );
        (old != new).then_some((old, new))
    };
    list.lines().filter_map(pair).collect()
}

/// Lets what stands at the old commits stand at the new ones. `now` is the day of writing.
///
/// # Errors
/// When the repository cannot be read or the store cannot be written. Then nothing was written.
pub fn follow(
    store: &Store<'_>,
    repo: &Repo,
    rewritten: &BTreeMap<CommitId, CommitId>,
    now: Time,
) -> Result<Moved, IngestError> {
    let mut moved = Moved::default();
    if rewritten.is_empty() {
        return Ok(moved);
    }
    let corpus = store.corpus_at(&rewritten.keys().copied().collect())?;
    let mut commits: BTreeMap<CommitId, Commit> = BTreeMap::new();
    let mut anchors = Vec::new();
    for (of, stands) in &corpus.anchors {
        let mut by_new: BTreeMap<CommitId, Vec<&Anchor>> = BTreeMap::new();
        for (_, anchor) in stands {
            let Some(old) = anchor.commit else { continue };
            let Some(new) = rewritten.get(&old) else {
                continue;
            };
            if !repo.has(new.0)? {
                continue;
            }
            by_new.entry(*new).or_default().push(anchor);
            moved.old.insert(old);
        }
        for (new, old) in by_new {
            let commit = match commits.entry(new) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(empty) => empty.insert(repo.commit(new)?),
            };
            anchors.extend(at_new(repo, &corpus, *of, commit, &old)?);
            moved.noted.extend(noted(&corpus, *of, new));
        }
    }
    moved.anchors = store.follow(&anchors, now)?;
    Ok(moved)
}

/// The anchor of a record at a new commit, for those it had at the old ones; none for a record that is not there.
fn at_new(
    repo: &Repo,
    corpus: &Corpus,
    of: RecordId,
    commit: &Commit,
    old: &[&Anchor],
) -> Result<Option<Anchor>, RepoError> {
    let Some(source) = corpus.source(of) else {
        return Ok(None);
    };
    let has_nodes = old.iter().any(|anchor| !anchor.nodes.is_empty());
    let (nodes, objects) = match source {
        // What a trailer is about is what its commit touches.
        Source::Trailer if has_nodes => ground(repo, commit)?,
        _ => {
            let nodes: BTreeSet<_> = old
                .iter()
                .flat_map(|anchor| anchor.nodes.iter().cloned())
                .collect();
            let paths: BTreeSet<_> = old
                .iter()
                .flat_map(|anchor| anchor.objects.keys())
                .collect();
            let mut objects = BTreeMap::new();
            for path in paths {
                if let Some(entry) = repo.entry(commit.tree, path)? {
                    objects.insert(path.clone(), entry.id);
                }
            }
            (nodes.into_iter().collect(), objects)
        }
    };
    let mut replaces: Vec<_> = old.iter().filter_map(|anchor| anchor.commit).collect();
    replaces.sort();
    replaces.dedup();
    let anchor = Anchor {
        of,
        commit: Some(commit.id),
        // A session said it when it did; what comes from a commit has the commit's date.
        time: match source {
            Source::Session => old
                .iter()
                .map(|anchor| anchor.time)
                .min()
                .unwrap_or(Time(commit.time)),
            _ => Time(commit.time),
        },
        nodes,
        objects,
        replaces,
        branch: old.iter().find_map(|anchor| anchor.branch.clone()),
        worktree: old.iter().find_map(|anchor| anchor.worktree.clone()),
    };
    // What was put before this was masked may be named as it was.
    Ok(Some(anchor.masked(&mut Vec::new())))
}

fn noted(corpus: &Corpus, of: RecordId, commit: CommitId) -> Option<Noted> {
    let said = corpus
        .reasoning
        .get(&of)
        .filter(|said| said.source != Source::Commit)?;
    (!corpus.is_forgotten(of)).then(|| Noted {
        commit,
        id: of,
        kind: said.kind,
        text: said.text.clone(),
    })
}

/// A list that could not be followed, for the next time: who rewrites a commit does not tell twice.
#[derive(Debug)]
pub struct Kept {
    folder: Folder,
    text: String,
}

impl Kept {
    /// Its name.
    const FILE: &str = "rewritten";
    /// A longer file is none of ours.
    const MOST: u64 = 64 << 20;

    /// What is kept in the common dir, and `list` with it.
    pub fn with(repo: &Repo, list: &str) -> Self {
        let folder = repo.cache().below("seen");
        let kept = folder.read(Self::FILE, Self::MOST).ok().flatten();
        let text = String::from_utf8(kept.unwrap_or_default()).unwrap_or_default() + list;
        Self { folder, text }
    }

    /// The commit that each rewritten one became.
    pub fn rewritten(&self) -> BTreeMap<CommitId, CommitId> {
        rewritten(&self.text)
    }

    /// Keeps what could not be followed, or forgets what was. Where that cannot be written, the next catch-up finds what is new all
    /// the same; only what it stands for is not known then.
    pub fn settle(&self, is_followed: bool) {
        match is_followed {
            true => drop(self.folder.remove(Self::FILE)),
            false if self.text.is_empty() => {}
            false => drop(
                self.folder
                    .replace(Self::FILE, self.text.as_bytes(), Access::Usual),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_two_different_commits_count() {
        let [a, b] = ["0a", "0b"].map(|byte| byte.repeat(20));
        let list = format!("{a} {b}\n\n{b} {b}\n{b}\nx y\n{b} {a} more\r\n");
        let names: Vec<_> = rewritten(&list)
            .iter()
            .map(|(old, new)| format!("{old} {new}"))
            .collect();
        assert_eq!(names, [format!("{a} {b}"), format!("{b} {a}")]);
    }
}
