//! History: one commit's facts, the commits not yet seen, the ancestors of one.
//!
//! A walk stops where a shallow clone ends. Order never depends on the order in which objects are stored.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use gix::bstr::ByteSlice;

use super::bounded::TooLarge;
use super::object::{Mode, quoted};
use super::open::{Repo, RepoError, own, theirs};
use crate::id::{CommitId, ObjectId, TreeId};

/// What one commit says and changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name.
    pub id: CommitId,
    /// Its tree.
    pub tree: TreeId,
    /// Its parents; at the border of a shallow clone those are not here.
    pub parents: Vec<CommitId>,
    /// The committer date, in seconds since 1970.
    pub time: i64,
    /// The whole message, converted to UTF-8 where the commit names another encoding we can tell apart; empty where it is larger than
    /// `MOST_MESSAGE`.
    pub message: String,
    /// The size of such a message, in bytes.
    pub too_long: Option<TooLarge>,
}

/// A message with more bytes than this is not taken apart: one of the longest of public histories, a merge that lists what it brings,
/// has a tenth of it.
const MOST_MESSAGE: usize = 1 << 20;

/// One path that differs between a commit and its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whether it is a file, a link or a submodule; never a directory.
    pub mode: Mode,
    /// The object it has now; none when it was removed.
    pub now: Option<ObjectId>,
}

/// More paths than this are not compared: of two trees whose trees hold one another ten times there is no end. Half of the largest
/// tree that is listed.
const MOST_CHANGES: usize = 500_000;
/// Nor paths that have more bytes than this together.
const MOST_CHANGED_BYTES: usize = 64 << 20;
/// How often the clock is looked at: once for so many entries.
const LOOKS: usize = 1024;

fn too_many(tree: TreeId) -> RepoError {
    RepoError::Git {
        doing: format!("comparing tree {tree} with the one before it"),
        cause: format!(
            "more than {MOST_CHANGES} paths differ, or {} MiB of them",
            MOST_CHANGED_BYTES >> 20
        ),
        transient: false,
    }
}

/// A recorder that stops when there is too much, or no more time.
struct Limited<'a> {
    inner: gix::diff::tree::Recorder,
    most: usize,
    bytes: usize,
    is_late: &'a dyn Fn() -> bool,
}

impl gix::diff::tree::Visit for Limited<'_> {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.inner.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &gix::bstr::BStr) {
        self.inner.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &gix::bstr::BStr) {
        self.inner.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.inner.pop_path_component();
    }

    fn visit(&mut self, change: gix::diff::tree::visit::Change) -> gix::diff::tree::visit::Action {
        let done = self.inner.records.len();
        self.bytes += self.inner.path().len();
        let is_over = done >= self.most
            || self.bytes > MOST_CHANGED_BYTES
            || done % LOOKS == LOOKS - 1 && (self.is_late)();
        match is_over {
            true => std::ops::ControlFlow::Break(()),
            false => self.inner.visit(change),
        }
    }
}

/// What was recorded, without directories.
fn by_path(records: Vec<gix::diff::tree::recorder::Change>) -> BTreeMap<String, Change> {
    use gix::diff::tree::recorder::Change as Recorded;
    let mut changes = BTreeMap::new();
    for record in records {
        let (path, mode, now) = match record {
            Recorded::Addition {
                path,
                entry_mode,
                oid,
                ..
            }
            | Recorded::Modification {
                path,
                entry_mode,
                oid,
                ..
            } => (path, entry_mode, Some(own(&oid))),
            Recorded::Deletion {
                path, entry_mode, ..
            } => (path, entry_mode, None),
        };
        if mode.is_tree() {
            continue;
        }
        let mode = match mode.kind() {
            gix::objs::tree::EntryKind::Link => Mode::Symlink,
            gix::objs::tree::EntryKind::Commit => Mode::Submodule,
            _ => Mode::File,
        };
        let path = path
            .split_str("/")
            .map(quoted)
            .collect::<Vec<_>>()
            .join("/");
        let change = Change { mode, now };
        // A directory that became a file is a deletion and an addition of one path: what is there now counts.
        if change.now.is_some() || !changes.contains_key(&path) {
            changes.insert(path, change);
        }
    }
    changes
}

impl Repo {
    /// The header lines of a commit that history is made of.
    pub(super) fn header(&self, id: CommitId) -> Result<Header, RepoError> {
        let doing = || format!("reading commit {id}");
        let find = |git: &gix::Repository| {
            let found = git.try_find_object(theirs(id.0));
            let found = found.map_err(|error| RepoError::read(doing(), &error))?;
            Ok(found.map(|mut object| (object.kind, std::mem::take(&mut object.data))))
        };
        let found = match find(&self.git)? {
            None => self.once_more(&doing, id.0, find)?,
            found => found,
        };
        let (kind, data) = found.ok_or_else(|| self.missing("commit", id.0))?;
        let damaged = |cause: &str| RepoError::Git {
            doing: format!("reading commit {id}"),
            cause: cause.to_owned(),
            transient: false,
        };
        if kind != gix::objs::Kind::Commit {
            return Err(damaged(&format!("it is a {kind}")));
        }
        Header::parse(&data).ok_or_else(|| damaged("it names no tree"))
    }

    /// The facts of one commit.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn commit(&self, id: CommitId) -> Result<Commit, RepoError> {
        let header = self.header(id)?;
        Ok(Commit {
            id,
            tree: header.tree,
            parents: header.parents,
            time: header.time,
            message: header.message,
            too_long: header.too_long,
        })
    }

    /// The paths in which a commit differs from its parent, or, for a merge, from every parent.
    ///
    /// # Errors
    /// When a tree is missing or damaged, or more than `MOST_CHANGES` paths differ.
    pub fn changes(&self, commit: &Commit) -> Result<BTreeMap<String, Change>, RepoError> {
        let changes = self.changes_within(commit, MOST_CHANGES, &|| false)?;
        changes.ok_or_else(|| too_many(commit.tree))
    }

    /// The same, but none where more than `most` entries of trees differ from one parent, or where `is_late` says that there is no more
    /// time: a commit can change any number of paths in a few bytes.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn changes_within(
        &self,
        commit: &Commit,
        most: usize,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Option<BTreeMap<String, Change>>, RepoError> {
        let mut all: Option<BTreeMap<String, Change>> = None;
        for parent in &commit.parents {
            // At the border of a shallow clone there is nothing to compare with.
            if !self.has(parent.0)? {
                continue;
            }
            let old = Some(self.tree_of(*parent)?);
            let Some(changes) = self.diff_within(old, commit.tree, most, is_late)? else {
                return Ok(None);
            };
            all = Some(match all {
                None => changes,
                Some(mut all) => {
                    all.retain(|path, _| changes.contains_key(path));
                    all
                }
            });
        }
        match all {
            Some(changes) => Ok(Some(changes)),
            None if commit.parents.is_empty() => self.diff_within(None, commit.tree, most, is_late),
            None => Ok(Some(BTreeMap::new())),
        }
    }

    /// The paths in which two trees differ; `old` none: every path of `new`.
    ///
    /// # Errors
    /// When a tree is missing or damaged, or more than `MOST_CHANGES` paths differ.
    pub fn diff(
        &self,
        old: Option<TreeId>,
        new: TreeId,
    ) -> Result<BTreeMap<String, Change>, RepoError> {
        let changes = self.diff_within(old, new, MOST_CHANGES, &|| false)?;
        changes.ok_or_else(|| too_many(new))
    }

    fn diff_within(
        &self,
        old: Option<TreeId>,
        new: TreeId,
        most: usize,
        is_late: &dyn Fn() -> bool,
    ) -> Result<Option<BTreeMap<String, Change>>, RepoError> {
        let read = |id: TreeId| -> Result<Vec<u8>, RepoError> {
            let mut bytes = Vec::new();
            self.raw_tree(id, &mut bytes)?;
            Ok(bytes)
        };
        let old = old.map(read).transpose()?.unwrap_or_default();
        let new = read(new)?;
        let hash = self.raw.object_hash();
        let mut recorder = Limited {
            inner: gix::diff::tree::Recorder::default(),
            most,
            bytes: 0,
            is_late,
        };
        let done = gix::diff::tree(
            gix::objs::TreeRefIter::from_bytes(&old, hash),
            gix::objs::TreeRefIter::from_bytes(&new, hash),
            gix::diff::tree::State::default(),
            &self.raw.objects,
            &mut recorder,
        );
        match done {
            Ok(()) => Ok(Some(by_path(recorder.inner.records))),
            Err(gix::diff::tree::Error::Cancelled) => Ok(None),
            Err(gix::diff::tree::Error::Failure(error)) => {
                let doing = "comparing two trees";
                Err(match RepoError::read(doing, &error) {
                    error if error.is_machine() => error,
                    _ => RepoError::Git {
                        doing: doing.into(),
                        cause: error.to_string(),
                        transient: true,
                    },
                })
            }
        }
    }

    /// The best common ancestor of two commits, as `git merge-base` gives it; none when their histories have nothing in common.
    ///
    /// # Errors
    /// When a commit is missing or damaged.
    pub fn merge_base(&self, one: CommitId, two: CommitId) -> Result<Option<CommitId>, RepoError> {
        let doing = format!("looking for a common ancestor of {one} and {two}");
        let find = |git: &gix::Repository| {
            let found = git.commit_graph_if_enabled().and_then(|cache| {
                let mut graph = git.revision_graph(cache.as_ref());
                git.merge_bases_many_with_graph(theirs(one.0), &[theirs(two.0)], &mut graph)
            });
            let bases = found.map_err(|error| RepoError::read(&*doing, &error))?;
            Ok::<_, RepoError>(bases.first().map(|id| CommitId(own(id))))
        };
        // The library takes a commit that it cannot open as the end of history, so it is asked twice.
        let found = find(&self.git)?;
        match found == find(&self.reopen()?.git)? {
            true => Ok(found),
            false => Err(RepoError::Machine {
                doing,
                cause: "not every commit can be read".into(),
            }),
        }
    }

    /// `tip` and everything it descends from.
    ///
    /// # Errors
    /// When a commit is missing or damaged.
    pub fn ancestors(&self, tip: CommitId) -> Result<BTreeSet<CommitId>, RepoError> {
        if !self.has(tip.0)? {
            return Err(self.missing("commit", tip.0));
        }
        // The library uses a commit-graph file where there is one, but gives up at a commit that it finds malformed.
        if let Some(ancestors) = self.ancestors_by_library(tip) {
            return Ok(ancestors);
        }
        let mut ancestors = BTreeSet::new();
        let mut open = vec![tip];
        while let Some(id) = open.pop() {
            if ancestors.contains(&id) {
                continue;
            }
            if let Some((_, parents)) = self.links(id)? {
                ancestors.insert(id);
                open.extend(parents);
            }
        }
        Ok(ancestors)
    }

    fn ancestors_by_library(&self, tip: CommitId) -> Option<BTreeSet<CommitId>> {
        let walk = self.git.rev_walk([theirs(tip.0)]).all().ok()?;
        walk.map(|info| info.ok().map(|info| CommitId(own(&info.id))))
            .collect()
    }

    /// The commits reachable from `tips` and from none of `seen`, oldest first: parents before children, then by committer
    /// date, then by name. Tips that are no longer here count as not seen.
    ///
    /// # Errors
    /// When a commit is missing or damaged.
    pub fn unseen(
        &self,
        tips: &[CommitId],
        seen: &BTreeSet<CommitId>,
    ) -> Result<Vec<CommitId>, RepoError> {
        let mut walk = Walk::default();
        for tip in tips {
            walk.reach(self, *tip, false)?;
        }
        for tip in seen {
            if self.has(tip.0)? {
                walk.reach(self, *tip, true)?;
            }
        }
        // As `git rev-list tip ^seen`: newest first, painting what is seen, until only painted commits wait.
        while walk.wanted_waiting > 0 {
            let Some((_, std::cmp::Reverse(id))) = walk.waiting.pop() else {
                break;
            };
            let state = walk
                .states
                .get_mut(&id)
                .expect("every waiting commit has a state");
            state.done = true;
            let seen = state.seen;
            if !seen {
                walk.wanted_waiting -= 1;
            }
            let parents = state.parents.clone();
            for parent in parents {
                walk.reach(self, parent, seen)?;
            }
        }
        Ok(walk.oldest_first())
    }
}

/// The state of one walk over commits.
#[derive(Default)]
struct Walk {
    states: HashMap<CommitId, Walked>,
    waiting: BinaryHeap<(i64, std::cmp::Reverse<CommitId>)>,
    wanted_waiting: usize,
}

struct Walked {
    time: i64,
    parents: Vec<CommitId>,
    seen: bool,
    done: bool,
}

impl Walk {
    /// Meets a commit, from a tip or a child. A commit found to be seen after it was taken as wanted passes that on.
    fn reach(&mut self, repo: &Repo, id: CommitId, seen: bool) -> Result<(), RepoError> {
        let mut open = vec![(id, seen)];
        while let Some((id, seen)) = open.pop() {
            match self.states.get_mut(&id) {
                Some(state) if seen && !state.seen => {
                    state.seen = true;
                    if state.done {
                        open.extend(state.parents.iter().map(|parent| (*parent, true)));
                    } else {
                        self.wanted_waiting -= 1;
                    }
                }
                Some(_) => {}
                None => {
                    let Some((time, parents)) = repo.links(id)? else {
                        continue;
                    };
                    self.waiting.push((time, std::cmp::Reverse(id)));
                    self.wanted_waiting += usize::from(!seen);
                    self.states.insert(
                        id,
                        Walked {
                            time,
                            parents,
                            seen,
                            done: false,
                        },
                    );
                }
            }
        }
        Ok(())
    }

    /// Kahn's order over the commits that are wanted.
    fn oldest_first(self) -> Vec<CommitId> {
        let wanted: BTreeMap<CommitId, &Walked> = self
            .states
            .iter()
            .filter(|(_, state)| !state.seen)
            .map(|(id, state)| (*id, state))
            .collect();
        let mut children: BTreeMap<CommitId, Vec<CommitId>> = BTreeMap::new();
        let mut blocked: BTreeMap<CommitId, usize> = BTreeMap::new();
        let mut ready = BTreeSet::new();
        for (id, state) in &wanted {
            let parents: BTreeSet<_> = state
                .parents
                .iter()
                .filter(|parent| wanted.contains_key(parent))
                .collect();
            for parent in &parents {
                children.entry(**parent).or_default().push(*id);
            }
            if parents.is_empty() {
                ready.insert((state.time, *id));
            }
            blocked.insert(*id, parents.len());
        }
        let mut order = Vec::with_capacity(wanted.len());
        while let Some((_, id)) = ready.pop_first() {
            order.push(id);
            for child in children.get(&id).into_iter().flatten() {
                let left = blocked
                    .get_mut(child)
                    .expect("every wanted commit is counted");
                *left -= 1;
                if *left == 0 {
                    ready.insert((wanted[child].time, *child));
                }
            }
        }
        order
    }
}

impl Repo {
    /// Committer date and parents; none beyond the border of a shallow clone.
    fn links(&self, id: CommitId) -> Result<Option<(i64, Vec<CommitId>)>, RepoError> {
        match self.header(id) {
            Err(RepoError::Missing { .. }) if self.is_shallow()? => Ok(None),
            header => header.map(|header| Some((header.time, header.parents))),
        }
    }

    /// Every commit a branch, a remote branch or a tag points at, sorted.
    ///
    /// # Errors
    /// When the references cannot be read.
    pub fn all_tips(&self) -> Result<Vec<CommitId>, RepoError> {
        self.tips_under(&["refs/heads/", "refs/remotes/", "refs/tags/"])
    }

    /// Every commit that a reference under one of these prefixes points at, sorted.
    ///
    /// # Errors
    /// When the references cannot be read.
    pub fn tips_under(&self, prefixes: &[&str]) -> Result<Vec<CommitId>, RepoError> {
        let mut tips = BTreeSet::new();
        for prefix in prefixes {
            for named in self.names(prefix)? {
                tips.extend(self.tip(&named)?);
            }
        }
        Ok(tips.into_iter().collect())
    }
}

/// What a commit object says, read as tolerantly as Git does: histories hold commits with senseless names, dates and zones.
pub(super) struct Header {
    pub tree: TreeId,
    pub parents: Vec<CommitId>,
    /// 0 where the committer line has no number in its place.
    pub time: i64,
    pub message: String,
    pub too_long: Option<TooLarge>,
}

impl Header {
    /// `None` when the first line names no tree.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (header, message) = bytes.split_once_str("\n\n").unwrap_or((bytes, b""));
        let mut lines = header.split(|byte| *byte == b'\n');
        let id = |name: &[u8]| name.to_str().ok()?.parse().ok();
        let tree = id(lines.next()?.strip_prefix(b"tree ")?)?;
        let mut read = Self {
            tree: TreeId(tree),
            parents: Vec::new(),
            time: 0,
            message: String::new(),
            too_long: (message.len() > MOST_MESSAGE).then_some(TooLarge {
                size: Some(message.len() as u64),
                most: MOST_MESSAGE as u64,
            }),
        };
        let mut encoding: &[u8] = b"";
        for line in lines {
            if let Some(parent) = line.strip_prefix(b"parent ") {
                read.parents.extend(id(parent).map(CommitId));
            } else if let Some(committer) = line.strip_prefix(b"committer ") {
                // As Git: what stands behind the last `>` is the date.
                let date = committer
                    .rsplit(|byte| *byte == b'>')
                    .next()
                    .unwrap_or_default();
                let number = date.trim_ascii().split(|byte| *byte == b' ').next();
                read.time = number
                    .and_then(|number| number.to_str().ok()?.parse().ok())
                    .unwrap_or(0);
            } else if let Some(name) = line.strip_prefix(b"encoding ") {
                encoding = name;
            }
        }
        if read.too_long.is_none() {
            read.message = utf8(message, encoding);
        }
        Some(read)
    }
}

/// The message as UTF-8. Latin-1 is decoded where the commit names it; of any other encoding the bytes that are not UTF-8
/// are replaced, as Git does when it cannot convert.
fn utf8(message: &[u8], encoding: &[u8]) -> String {
    let is_latin1 = {
        let name = encoding.to_str_lossy().to_ascii_lowercase();
        matches!(
            name.as_str(),
            "iso-8859-1" | "iso8859-1" | "latin1" | "latin-1"
        )
    };
    if is_latin1 && message.to_str().is_err() {
        return message.iter().map(|byte| char::from(*byte)).collect();
    }
    message.to_str_lossy().into_owned()
}
