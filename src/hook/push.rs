//! What a push would carry that is private to this machine, told by the objects and not by their names.
//!
//! In: the lines that Git hands to a pre-push hook, the remote's name, whether time is over. Out: the first line that would carry a
//! part of the memory, and which. A copy under another name, a source given as an id, a tag on one of our trees, a commit that holds a
//! record: all of these are the same objects. What is cheap is looked at first, so that time running out leaves out only what nobody
//! makes by mistake. Never asks the remote.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::id::{CommitId, ObjectId, TreeId};
use crate::repo::{Mode, Repo, RepoError};
use crate::store::{ATTENTION, NOTES, RECORDS};

/// More of our own objects than this are not compared: a memory of a hundred thousand records has some ten thousand.
const MOST_OURS: usize = 500_000;
/// More changed paths of one commit than this are not compared.
const MOST_PATHS: usize = 100_000;
/// Where a look-up keeps the code it was asked about: that is the user's own, and is pushed every day.
const CODE: &str = "code";
/// So deep lies that entry: day, two digits, look-up.
const CODE_DEPTH: usize = 3;

/// A line of a push that would carry something private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// What is pushed, as Git names it.
    pub from: String,
    /// Under which name there.
    pub to: String,
    /// The private reference that it is, or whose content it holds.
    pub private: &'static str,
    /// Whether the names alone tell it.
    pub by_name: bool,
}

/// The first of the lines `local-ref local-id remote-ref remote-id` that would carry something private.
pub fn leak(repo: &Repo, remote: &str, lines: &str, is_late: &dyn Fn() -> bool) -> Option<Leak> {
    let lines: Vec<[&str; 4]> = lines.lines().filter_map(words).collect();
    let of = |line: &[&str; 4], private, by_name| Leak {
        from: line[0].to_owned(),
        to: line[2].to_owned(),
        private,
        by_name,
    };
    for line in &lines {
        if let Some(private) = named(line[0]).or_else(|| named(line[2])) {
            return Some(of(line, private, true));
        }
    }
    let mut ours = Ours::tips(repo);
    let mut seen: Vec<CommitId> = repo
        .tips_under(&[&format!("refs/remotes/{remote}/")])
        .unwrap_or_default();
    seen.extend(
        lines
            .iter()
            .filter_map(|line| line[3].parse().ok().map(CommitId)),
    );
    let pushed: Vec<(&[&str; 4], ObjectId)> = lines
        .iter()
        .filter_map(|line| Some((line, line[1].parse().ok()?)))
        .filter_map(|(line, id)| Some((line, repo.peeled(id).ok()?)))
        .collect();
    // First what they are, then what they hold.
    for (line, id) in &pushed {
        if let Some(private) = ours.of(*id) {
            return Some(of(line, private, false));
        }
    }
    if pushed.is_empty() || ours.known.is_empty() {
        return None;
    }
    ours.fill(repo, is_late);
    for (line, id) in &pushed {
        // What cannot be read here cannot be pushed either.
        if let Ok(Some(private)) = within(repo, *id, &seen, &ours, is_late) {
            return Some(of(line, private, false));
        }
    }
    None
}

/// The four words of a line; none of a deletion, which carries nothing, and is how an old leak is mended.
fn words(line: &str) -> Option<[&str; 4]> {
    let words: Vec<&str> = line.split(' ').collect();
    let words: [&str; 4] = words.try_into().ok()?;
    let is_nothing = words[1].bytes().all(|digit| digit == b'0');
    (!is_nothing).then_some(words)
}

/// The private reference that a name means, also with something behind it, as in `refs/notes/score-local^{tree}`.
fn named(name: &str) -> Option<&'static str> {
    if name.starts_with("refs/score-local/attention") {
        return Some(ATTENTION);
    }
    if name.starts_with("refs/score-local/") {
        return Some(RECORDS);
    }
    let rest = name.strip_prefix(NOTES)?;
    (rest.is_empty() || rest.starts_with(['~', '^', ':', '@'])).then_some(NOTES)
}

/// Our own objects, each with the reference that holds it.
struct Ours {
    known: HashMap<ObjectId, &'static str>,
    empty: TreeId,
}

impl Ours {
    /// What the references name themselves.
    fn tips(repo: &Repo) -> Self {
        let mut known = HashMap::new();
        for name in [RECORDS, ATTENTION, NOTES] {
            if let Ok(Some(id)) = repo.reference(name) {
                known.insert(id, name);
            }
        }
        Self {
            known,
            empty: repo.empty_tree(),
        }
    }

    fn of(&self, id: ObjectId) -> Option<&'static str> {
        self.known.get(&id).copied()
    }

    /// Everything below them but code.
    fn fill(&mut self, repo: &Repo, is_late: &dyn Fn() -> bool) {
        let mut roots: Vec<(ObjectId, &'static str)> = Vec::new();
        for (id, name) in &self.known {
            match *name {
                NOTES => roots.extend(repo.tree_of(CommitId(*id)).map(|tree| (tree.0, *name))),
                name => roots.push((*id, name)),
            }
        }
        roots.sort();
        for (root, name) in roots {
            let mut open = vec![(TreeId(root), 0)];
            while let Some((tree, depth)) = open.pop() {
                if self.known.len() > MOST_OURS || is_late() {
                    return;
                }
                self.known.insert(tree.0, name);
                for entry in repo.tree(tree).unwrap_or_default() {
                    let is_code = name == ATTENTION && depth == CODE_DEPTH && entry.path == CODE;
                    if is_code || self.known.contains_key(&entry.id) || entry.id == self.empty.0 {
                        continue;
                    }
                    match entry.mode {
                        Mode::Directory => open.push((TreeId(entry.id), depth + 1)),
                        // Nothing is nobody's.
                        Mode::File if !is_nothing(repo, entry.id) => {
                            self.known.insert(entry.id, name);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn is_nothing(repo: &Repo, id: ObjectId) -> bool {
    matches!(repo.blob_size(crate::id::BlobId(id)), Ok(Some(0)))
}

/// The private reference whose content lies in an object that is pushed.
fn within(
    repo: &Repo,
    id: ObjectId,
    seen: &[CommitId],
    ours: &Ours,
    is_late: &dyn Fn() -> bool,
) -> Result<Option<&'static str>, RepoError> {
    if let Some(private) = ours.of(id) {
        return Ok(Some(private));
    }
    match repo.kind(id)?.as_deref() {
        Some("tree") => below(repo, TreeId(id), ours, is_late),
        Some("commit") => {
            let mut known = BTreeSet::new();
            for commit in seen {
                if repo.has(commit.0)? {
                    known.insert(*commit);
                }
            }
            let new = repo.unseen(&[CommitId(id)], &known)?;
            // The newest first: a copy has just been made.
            for commit in new.into_iter().rev() {
                if is_late() {
                    break;
                }
                let commit = repo.commit(commit)?;
                if let Some(private) = ours.of(commit.id.0).or_else(|| ours.of(commit.tree.0)) {
                    return Ok(Some(private));
                }
                let changes = repo.changes_within(&commit, MOST_PATHS, is_late)?;
                let mut now = changes.iter().flat_map(|all| all.values());
                let private = now.find_map(|change| ours.of(change.now?));
                if private.is_some() {
                    return Ok(private);
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

fn below(
    repo: &Repo,
    root: TreeId,
    ours: &Ours,
    is_late: &dyn Fn() -> bool,
) -> Result<Option<&'static str>, RepoError> {
    let mut met = HashSet::from([root]);
    let mut open = vec![root];
    while let Some(tree) = open.pop() {
        if is_late() || met.len() > MOST_PATHS {
            break;
        }
        for entry in repo.tree(tree)? {
            if let Some(private) = ours.of(entry.id) {
                return Ok(Some(private));
            }
            if entry.mode == Mode::Directory && met.insert(TreeId(entry.id)) {
                open.push(TreeId(entry.id));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_something_behind_them_are_still_names() {
        for (name, private) in [
            ("refs/score-local/records", Some(RECORDS)),
            ("refs/score-local/records^{tree}", Some(RECORDS)),
            ("refs/score-local/attention", Some(ATTENTION)),
            ("refs/notes/score-local", Some(NOTES)),
            ("refs/notes/score-local^{tree}", Some(NOTES)),
            ("refs/notes/score-local-not", None),
            ("refs/heads/score-local/x", None),
            ("refs/score-localx", None),
        ] {
            assert_eq!(named(name), private, "{name}");
        }
        let zero = "0".repeat(40);
        assert_eq!(words(&format!("(delete) {zero} refs/heads/x {zero}")), None);
        assert!(words(&format!("a 1{} b {zero}", &zero[1..])).is_some());
    }
}
