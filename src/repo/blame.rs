//! Which commit wrote each line of a file, as far as a window of history tells: what `git blame` asks, by the content of lines alone.
//!
//! In: a window, a path, the file as it stands. Out: a [`Blame`]. Versions are compared as sets of lines without the white space around
//! them, so that a line that only moved or was indented keeps its commit, and the answer does not hang on how a diff is made. A file that
//! a commit renamed is followed to its old name. What a merge wrote has no author, and a commit outside the window none either. Never
//! fetches a missing object: what was written before one is unknown.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::object::Mode;
use super::open::{Repo, RepoError};
use super::past::{Touched, Window};
use crate::id::{BlobId, CommitId};

/// Larger files are generated or data.
const MOST_BYTES: usize = 1 << 20;
/// Longer lines are generated or data.
const LONGEST: usize = 600;
/// How many paths of a commit are looked at for the old name of a file.
const MOST_NAMES: usize = 50;

/// Who wrote a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// For each line of the file the place in the window of the commit that wrote it: the newest in which the line stands and before
    /// which it did not. None for an empty line, one of more than 600 bytes, and where the window does not tell.
    pub origins: Vec<Option<usize>>,
    /// What each commit added that was looked at, by its place in the window.
    pub kept: BTreeMap<usize, Kept>,
    /// Whether a version of the file is not here, or damaged, so that what was written before it is unknown.
    pub is_cut: bool,
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
    /// Who wrote the lines of `text`, which stands at `path` at the tip of the window. Of the commits that touch it the newest `most` are
    /// looked at: each costs a version of the file.
    ///
    /// # Errors
    /// When a commit or a tree is missing or damaged, or the machine would not read a version.
    pub fn blame(
        &self,
        window: &Window,
        path: &str,
        text: &[u8],
        most: usize,
    ) -> Result<Blame, RepoError> {
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
        let mut path = path.to_owned();
        let mut looked_at = 0;
        // The version before a commit is nearly always the one after the next commit that touches the file.
        let mut last = None;
        for (place, commit) in window.commits.iter().enumerate() {
            if looked_at == most || !touches(commit, &path) {
                continue;
            }
            looked_at += 1;
            let parent = self.header(commit.id)?.parents.first().copied();
            let new = self.version(Some(commit.id), &path, &mut last)?;
            let old = match (&new, self.version(parent, &path, &mut last)?) {
                (Version::Here(_, new), Version::None) => {
                    let source = self.source(commit, parent, &path, new)?;
                    source.map_or(Version::None, |(name, old)| {
                        path = name;
                        old
                    })
                }
                (_, old) => old,
            };
            let (Some(new), Some(before)) = (new.bytes(), old.bytes()) else {
                blame.is_cut = matches!(new, Version::Unknown) || matches!(old, Version::Unknown);
                break;
            };
            let added = added(before, new);
            let mut standing = 0;
            for at in added.iter().filter_map(|line| distinct.get(line)) {
                standing += 1;
                origins[*at].get_or_insert(place);
            }
            let added = added.len() as u64;
            blame.kept.insert(place, Kept { added, standing });
            last = Some(old);
        }
        let origin = |at: Option<usize>| at.and_then(|at| origins[at]);
        blame.origins = lines.into_iter().map(origin).collect();
        Ok(blame)
    }

    /// The file that a commit renamed to `path`, with its last version: of those that it took away the one with most lines of the new file,
    /// at least half of them (as Git has it). Those of the same file name are asked first, and alone where there are any.
    fn source(
        &self,
        commit: &Touched,
        parent: Option<CommitId>,
        path: &str,
        new: &[u8],
    ) -> Result<Option<(String, Version)>, RepoError> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let others = || commit.paths.iter().filter(|other| *other != path);
        let is_alike = |other: &&String| name(other) == name(path);
        let mut names: Vec<&String> = others().filter(is_alike).take(MOST_NAMES).collect();
        if names.is_empty() {
            names = others().take(MOST_NAMES).collect();
        }
        let lines: HashSet<&[u8]> = all_lines(new).flatten().collect();
        let mut best: Option<(usize, String, Version)> = None;
        for name in names {
            let is_there = self.version(Some(commit.id), name, &mut None)?;
            let old = self.version(parent, name, &mut None)?;
            let (Version::None, Version::Here(_, bytes)) = (is_there, &old) else {
                continue;
            };
            let same = lines.len() - added(bytes, new).len();
            if 2 * same >= lines.len() && best.as_ref().is_none_or(|(most, ..)| *most < same) {
                best = Some((same, name.clone(), old));
            }
        }
        Ok(best.map(|(_, name, old)| (name, old)))
    }

    /// A file as a commit has it.
    fn version(
        &self,
        commit: Option<CommitId>,
        path: &str,
        last: &mut Option<Version>,
    ) -> Result<Version, RepoError> {
        let entry = match commit {
            Some(commit) => self.entry(self.tree_of(commit)?, path)?,
            None => None,
        };
        let Some(entry) = entry.filter(|entry| entry.mode == Mode::File) else {
            return Ok(Version::None);
        };
        let id = BlobId(entry.id);
        let is_it = |kept: &mut Version| matches!(kept, Version::Here(of, _) if *of == id);
        if let Some(kept) = last.take_if(is_it) {
            return Ok(kept);
        }
        // A damaged version is Git's to complain of; a look-up about the file as it stands can do without.
        Ok(match self.blob(id) {
            Ok(Some(bytes)) if bytes.len() > MOST_BYTES => Version::TooLarge,
            Ok(Some(bytes)) => Version::Here(id, bytes),
            Err(error) if error.is_machine() => return Err(error),
            Ok(None) | Err(_) => Version::Unknown,
        })
    }
}

fn touches(commit: &Touched, path: &str) -> bool {
    let found = commit.paths.binary_search_by(|own| own.as_str().cmp(path));
    found.is_ok()
}

/// One version of a file.
enum Version {
    /// There is no such file.
    None,
    /// Its blob and its content.
    Here(BlobId, Vec<u8>),
    /// Its content is not here, or damaged.
    Unknown,
    /// It is larger than what is looked at.
    TooLarge,
}

impl Version {
    /// Its content, empty where there is no such file; none when it cannot be told.
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Version::None => Some(&[]),
            Version::Here(_, bytes) => Some(bytes),
            Version::Unknown | Version::TooLarge => None,
        }
    }
}

/// The different lines of the new version that stand nowhere in the old one. Only what lies between the common beginning and the common
/// end is taken apart in the new one, since most commits change little of a file.
fn added<'n>(old: &[u8], new: &'n [u8]) -> HashSet<&'n [u8]> {
    let is_border = |text: &[u8], at: usize| at == 0 || text[at - 1] == b'\n';
    let mut start = common(old.chunks(CHUNK).zip(new.chunks(CHUNK)));
    while !is_border(new, start) {
        start -= 1;
    }
    let most = old.len().min(new.len()) - start;
    let mut same = common(old.rchunks(CHUNK).zip(new.rchunks(CHUNK))).min(most);
    // A line of the new version may be the end of a longer one of the old.
    while same > 0 && !(is_border(old, old.len() - same) && is_border(new, new.len() - same)) {
        same -= 1;
    }
    let end = new.len() - same;
    let mut added: HashSet<&[u8]> = all_lines(&new[start..end]).flatten().collect();
    if !added.is_empty() {
        for line in all_lines(old).flatten() {
            added.remove(line);
        }
    }
    added
}

/// Bytes compared at once.
const CHUNK: usize = 64;

/// How many bytes two sequences of chunks have in common, in whole chunks.
fn common<'b>(chunks: impl Iterator<Item = (&'b [u8], &'b [u8])>) -> usize {
    let equal = chunks.take_while(|(old, new)| old == new);
    equal.map(|(_, new)| new.len()).sum()
}

/// The lines of a text without the white space around them; none for those that say nothing about who wrote them.
fn all_lines(text: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.map(|line| (1..=LONGEST).contains(&line.len()).then_some(line))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plainly<'n>(old: &[u8], new: &'n [u8]) -> HashSet<&'n [u8]> {
        let before: HashSet<&[u8]> = all_lines(old).flatten().collect();
        let lines = all_lines(new).flatten();
        lines.filter(|line| !before.contains(line)).collect()
    }

    #[test]
    fn a_line_that_stands_elsewhere_is_not_added() {
        let old = b"first\n  second\nthird\n";
        let new = b"first\nthird\nnew\n\tsecond\nthird\n";
        assert_eq!(added(old, new), HashSet::from([&b"new"[..]]));
        assert_eq!(added(b"", b"a\n\na"), HashSet::from([&b"a"[..]]));
        assert_eq!(added(b"a\nb", b"a"), HashSet::new());
        // Whole chunks at the end are equal, and yet the line is another one.
        let (old, new) = (format!("x{:a<63}\n", ""), format!("\n{:a<63}\n", ""));
        assert_eq!(added(old.as_bytes(), new.as_bytes()).len(), 1);
        assert_eq!(added(new.as_bytes(), old.as_bytes()).len(), 1);
    }

    proptest! {
        /// Few different short lines, so that beginnings and ends are common by chance, and chunks are longer than some texts.
        #[test]
        fn what_is_common_is_left_out(old in "([ab ]{0,3}\n){0,60}[ab]?", new in "([ab ]{0,3}\n){0,60}[ab]?", same in "([abc]{0,3}\n){0,80}") {
            for (old, new) in [(old.clone(), new.clone()), (format!("{same}{old}{same}"), format!("{same}{new}{same}"))] {
                prop_assert_eq!(added(old.as_bytes(), new.as_bytes()), plainly(old.as_bytes(), new.as_bytes()));
            }
        }
    }
}
