//! Which commit wrote each line of a file, as far as a window of history tells: what `git blame` asks, by the content of lines alone.
//!
//! In: a window, a path, the file as it stands. Out: a [`Blame`]. Versions are compared as sets of lines without the white space around
//! them, so that a line that only moved or was indented keeps its commit, and the answer does not hang on how a diff is made. A name
//! is followed, not a rename. Never fetches a missing object: what was written before one is unknown.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::object::Mode;
use super::open::{Repo, RepoError};
use super::past::Window;
use crate::id::{BlobId, CommitId};

/// How many of the newest commits that touch a file are looked at: each costs a version of the file, and what is older has been
/// written over many times.
const MOST_COMMITS: usize = 100;
/// Larger files are generated or data.
const MOST_BYTES: usize = 1 << 20;
/// Longer lines are generated or data.
const LONGEST: usize = 600;

/// Who wrote a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// For each line of the file the place in the window of the commit that wrote it: the newest in which the line stands and before
    /// which it did not. None for an empty line, one of more than 600 bytes, and where the window does not tell.
    pub origins: Vec<Option<usize>>,
    /// What each commit added that was looked at, by its place in the window.
    pub kept: BTreeMap<usize, Kept>,
}

/// How much of what a commit added to a file is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How many different lines it added.
    pub added: u64,
    /// How many of these still stand in the file.
    pub standing: u64,
}

impl Repo {
    /// Who wrote the lines of `text`, which stands at `path` at the tip of the window.
    ///
    /// # Errors
    /// When a commit or a tree is missing or damaged, or a blob damaged.
    pub fn blame(&self, window: &Window, path: &str, text: &[u8]) -> Result<Blame, RepoError> {
        let mut blame = Blame::default();
        if text.len() > MOST_BYTES {
            return Ok(blame);
        }
        let mut distinct = HashMap::new();
        let lines: Vec<Option<usize>> = all_lines(text)
            .map(|line| {
                let next = distinct.len();
                line.map(|line| *distinct.entry(line).or_insert(next))
            })
            .collect();
        let mut origins = vec![None; distinct.len()];
        let commits = window.commits.iter().enumerate();
        let touching = commits.filter(|(_, commit)| {
            let found = commit.paths.binary_search_by(|own| own.as_str().cmp(path));
            found.is_ok()
        });
        // The version before a commit is nearly always the one after the next commit that touches the file.
        let mut last = None;
        for (place, commit) in touching.take(MOST_COMMITS) {
            let header = self.header(commit.id)?;
            let Some(new) = self.version(Some(commit.id), path, &mut last)? else {
                break;
            };
            let Some(old) = self.version(header.parents.first().copied(), path, &mut last)? else {
                break;
            };
            let before: HashSet<&[u8]> = all_lines(&old.bytes).flatten().collect();
            let mut added = HashSet::new();
            let mut standing = 0;
            for line in all_lines(&new.bytes).flatten() {
                if before.contains(line) || !added.insert(line) {
                    continue;
                }
                if let Some(at) = distinct.get(line) {
                    standing += 1;
                    origins[*at].get_or_insert(place);
                }
            }
            let added = added.len() as u64;
            blame.kept.insert(place, Kept { added, standing });
            last = Some(old);
        }
        let origin = |at: Option<usize>| at.and_then(|at| origins[at]);
        blame.origins = lines.into_iter().map(origin).collect();
        Ok(blame)
    }

    /// A file as a commit has it, empty where the commit is none or has no such file; none when its content is not here.
    fn version(
        &self,
        commit: Option<CommitId>,
        path: &str,
        last: &mut Option<Version>,
    ) -> Result<Option<Version>, RepoError> {
        let entry = match commit {
            Some(commit) => self.entry(self.tree_of(commit)?, path)?,
            None => None,
        };
        let Some(entry) = entry.filter(|entry| entry.mode == Mode::File) else {
            return Ok(Some(Version::default()));
        };
        let id = BlobId(entry.id);
        if let Some(kept) = last.take_if(|kept| kept.id == Some(id)) {
            return Ok(Some(kept));
        }
        let bytes = self.blob(id)?;
        Ok(bytes.map(|bytes| Version {
            id: Some(id),
            bytes: if bytes.len() > MOST_BYTES {
                Vec::new()
            } else {
                bytes
            },
        }))
    }
}

/// One version of a file.
#[derive(Default)]
struct Version {
    id: Option<BlobId>,
    bytes: Vec<u8>,
}

/// The lines of a text without the white space around them; none for those that say nothing about who wrote them.
fn all_lines(text: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.map(|line| (1..=LONGEST).contains(&line.len()).then_some(line))
}
