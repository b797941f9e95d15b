//! The handle on one repository: found, checked by the gate, described.
//!
//! Reads configuration and the places of things; objects, references and history are in the files beside this one.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::absent::{Indices, is_there};
use super::gate;
use crate::id::{CommitId, ObjectId, TreeId};

/// Why a repository could not answer. Every one of them ends in exit code 128.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// No repository at the directory or above it.
    #[error("not a git repository (or any of the parent directories): {}", .0.display())]
    NotFound(PathBuf),
    /// A repository that this tool must not write to; the text says why and what helps.
    #[error("{0}")]
    Refused(String),
    /// A revision that names nothing here.
    #[error("bad revision '{rev}': {why}")]
    BadRev {
        /// As it was given.
        rev: String,
        /// What Git's rules make of it.
        why: String,
    },
    /// An object that is not in the object store.
    #[error("{what} {id} is missing in this repository{}", if *.partial { " (a partial clone; nothing is fetched)" } else { "" })]
    Missing {
        /// `commit`, `tree` or `blob`.
        what: &'static str,
        /// Its name.
        id: ObjectId,
        /// Whether the clone is partial, so that this is no damage.
        partial: bool,
    },
    /// Somebody holds the lock of a reference.
    #[error("the lock file {} is held{}; if no other process is at work, remove it", .path.display(), age(.seconds))]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// How old it is, in seconds, where that can be seen.
        seconds: Option<u64>,
    },
    /// The machine would not let us read: no more file handles or memory, a disk that fails, no permission. Nothing is known then of
    /// what was to be read, and whatever hangs on it must not be answered, nor stored.
    #[error("{doing}: {cause}")]
    Machine {
        /// What was being done.
        doing: String,
        /// The causes, outermost first; the system's own words last.
        cause: String,
    },
    /// Anything else that Git's data or the file system brings.
    #[error("{doing}: {cause}")]
    Git {
        /// What was being done.
        doing: String,
        /// The causes, outermost first.
        cause: String,
        /// Whether the same call may succeed a moment later: a lock held, an object just moved by a repack.
        transient: bool,
    },
}

fn age(seconds: &Option<u64>) -> String {
    match seconds {
        Some(seconds) if *seconds >= 120 => format!(", {} minutes old", seconds / 60),
        Some(seconds) => format!(", {seconds} seconds old"),
        None => String::new(),
    }
}

impl RepoError {
    /// The system's answer to writing a file.
    pub(super) fn write(doing: impl Into<String>, error: &std::io::Error) -> Self {
        Self::Git {
            doing: doing.into(),
            cause: error.to_string(),
            transient: error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    pub(super) fn git(doing: impl Into<String>, error: &gix::Error) -> Self {
        let chain: Vec<_> = error.iter_errors().map(ToString::to_string).collect();
        Self::Git {
            doing: doing.into(),
            cause: chain.join(": "),
            transient: error.is_retryable() || error.is_not_found() || is_io_not_found(error),
        }
    }

    /// The same for what was only read: an error of the machine is told from damage.
    pub(super) fn read(doing: impl Into<String>, error: &gix::Error) -> Self {
        let mut all = error.iter_errors();
        let is_machine = all.any(|error| {
            let error = error.downcast_ref::<std::io::Error>();
            error.is_some_and(is_of_machine)
        });
        match Self::git(doing, error) {
            Self::Git { doing, cause, .. } if is_machine => Self::Machine { doing, cause },
            error => error,
        }
    }

    /// The system's answer to reading a file.
    pub(super) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Machine {
            doing: format!("reading {}", path.display()),
            cause: error.to_string(),
        }
    }

    /// Whether the machine is at fault, so that nothing is known of what was to be read. What is damaged or missing is skipped and named;
    /// after this a command ends.
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Machine { .. })
    }

    /// What is to be named and passed over.
    ///
    /// # Errors
    /// The error itself, when the machine is at fault.
    pub fn damage(self) -> Result<Self, Self> {
        if self.is_machine() {
            Err(self)
        } else {
            Ok(self)
        }
    }
}

/// Whether the system itself refused, and not because there is nothing, or something else, in the place.
pub(super) fn is_of_machine(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    let is_about_the_place = matches!(error.kind(), NotFound | NotADirectory | IsADirectory);
    error.raw_os_error().is_some() && !is_about_the_place
}

/// A `gc` removes an empty `objects/xx` between our making it and renaming into it.
fn is_io_not_found(error: &gix::Error) -> bool {
    error
        .downcast_any_ref::<std::io::Error>()
        .is_some_and(|io| io.kind() == std::io::ErrorKind::NotFound)
}

/// Places for the indices of packs in one handle. The library (gix-odb 0.87) panics when it has to use a place again of which the pack is
/// gone (`load_index.rs`, "if the generation changed"), and each write of ours makes a pack that later goes: so many may come and go in
/// the life of a handle.
const SLOTS: gix::odb::store::init::Slots = gix::odb::store::init::Slots::AsNeededByDiskState {
    multiplier: 2.0,
    minimum: 4096,
};

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit; none before the first one.
    pub commit: Option<CommitId>,
    /// The short name of the branch; none when detached.
    pub branch: Option<String>,
}

/// A handle on one repository, for one thread.
pub struct Repo {
    /// For references and commits, as Git shows them: replaced and grafted ones in place of the originals.
    pub(super) git: gix::Repository,
    /// For trees and blobs, as they are named: what is kept by the id of a tree must not change when somebody replaces it.
    pub(super) raw: gix::Repository,
    /// See there.
    pub(super) indices: Indices,
    common_dir: PathBuf,
    prefix: String,
}

/// The same repository, to be handed to other threads.
pub struct Shared {
    git: gix::ThreadSafeRepository,
    common_dir: PathBuf,
    prefix: String,
}

impl Repo {
    /// Finds the repository of `dir` as Git does, or opens `git_dir` where the caller's environment names one, and passes it
    /// through the gate.
    ///
    /// # Errors
    /// When there is none, or the gate refuses it.
    pub fn open(dir: &Path, git_dir: Option<&Path>) -> Result<Self, RepoError> {
        // Git's own variables reach a hook and everything it starts; what they say of index, work tree and object
        // directory is about the command in progress and never about the memory.
        let mut options = gix::open::Options::default();
        let mut permissions = gix::open::Permissions::all();
        permissions.env.objects = gix::sec::Permission::Deny;
        options = options.permissions(permissions).object_store_slots(SLOTS);
        let opened = match git_dir {
            Some(git_dir) => options
                .clone()
                .open_path_as_is(true)
                .open(dir.join(git_dir)),
            None => {
                let mut ceilings = gix::discover::upwards::Options::default().apply_environment();
                // As Git: a ceiling that is no parent of the directory does not matter.
                ceilings.match_ceiling_dir_or_error = false;
                let trusts = gix::sec::trust::Mapping {
                    full: options.clone(),
                    reduced: options,
                };
                gix::ThreadSafeRepository::discover_opts(dir, ceilings, trusts)
            }
        };
        let shared = opened.map_err(|error| open_error(dir, git_dir, &error))?;
        let git = shared.to_thread_local();
        gate::check(&git)?;
        let (git, raw) = both(git);
        let common_dir = git.common_dir();
        let common_dir = common_dir
            .canonicalize()
            .unwrap_or_else(|_| common_dir.to_owned());
        let prefix = prefix(dir, git.workdir(), &common_dir);
        if git_dir.is_none() {
            ensure_nearest(dir, &git)?;
        }
        Self {
            git,
            raw,
            indices: Indices::default(),
            common_dir,
            prefix,
        }
        .with_replacements()
    }

    /// The library passes over replaced objects that it cannot read, as if nobody had replaced them.
    fn with_replacements(self) -> Result<Self, RepoError> {
        let count = |git: &gix::Repository| git.objects.store_ref().replacements().count();
        let known = count(&self.git);
        if self.names("refs/replace/")?.len() == known {
            return Ok(self);
        }
        // Or the configuration says that they do not count.
        let again = self.reopen()?;
        Ok(if count(&again.git) > known {
            again
        } else {
            self
        })
    }

    /// The same repository opened anew: it sees what other processes have written since.
    ///
    /// # Errors
    /// When it cannot be opened any more.
    pub fn reopen(&self) -> Result<Self, RepoError> {
        let git = gix::open_opts(self.git.git_dir(), self.git.open_options().clone())
            .map_err(|error| RepoError::read("opening the repository again", &error))?;
        let (git, raw) = both(git);
        Ok(Self {
            git,
            raw,
            indices: Indices::default(),
            common_dir: self.common_dir.clone(),
            prefix: self.prefix.clone(),
        })
    }

    /// For other threads.
    pub fn share(&self) -> Shared {
        Shared {
            git: self.git.clone().into_sync(),
            common_dir: self.common_dir.clone(),
            prefix: self.prefix.clone(),
        }
    }

    /// Keeps up to `bytes` of decoded objects, for walks that meet the same trees again and again.
    pub fn cache_objects(&mut self, bytes: usize) {
        self.raw.object_cache_size(bytes);
    }

    /// The directory that all worktrees share, canonical.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The directory of this worktree's own `HEAD`.
    pub fn git_dir(&self) -> &Path {
        self.git.git_dir()
    }

    /// Derived caches and the writers' lock file: `score-context` in the common dir. May not exist yet.
    pub fn cache_dir(&self) -> PathBuf {
        self.common_dir.join("score-context")
    }

    /// The top of the work tree; none in a bare repository.
    pub fn work_tree(&self) -> Option<&Path> {
        self.git.workdir()
    }

    /// Where the caller stands below the top of the work tree, `src/os/` or empty.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name of the linked worktree; none in the main one.
    pub fn worktree(&self) -> Option<String> {
        let git_dir = self.git.git_dir();
        let parent = git_dir.parent()?;
        (parent.file_name()? == "worktrees")
            .then(|| {
                git_dir
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            })
            .flatten()
    }

    /// The digest that names objects.
    pub(super) fn hash(&self) -> gix::hash::Kind {
        self.git.object_hash()
    }

    /// Whether objects may be missing without damage.
    pub fn is_partial(&self) -> bool {
        let config = self.git.config_snapshot();
        config.string("extensions.partialClone").is_some()
            || config
                .plumbing()
                .sections_by_name("remote")
                .is_some_and(|mut remotes| {
                    remotes.any(|remote| {
                        remote
                            .value("promisor")
                            .is_some_and(|value| value != "false")
                    })
                })
    }

    /// Whether history ends early.
    ///
    /// # Errors
    /// When the file that says it cannot be read.
    pub fn is_shallow(&self) -> Result<bool, RepoError> {
        Ok(!self.border()?.is_empty())
    }

    /// The commits at which a shallow history ends, sorted; none where it is whole.
    ///
    /// # Errors
    /// When the file that says it cannot be read.
    pub fn border(&self) -> Result<Vec<CommitId>, RepoError> {
        let reading = |error: &gix::Error| RepoError::read("reading where history ends", error);
        let commits = self
            .git
            .shallow_commits()
            .map_err(|error| reading(&error))?;
        let Some(commits) = commits else {
            let file = self.git.shallow_file().map_err(|error| reading(&error))?;
            // An empty one says nothing.
            return match is_there(&file)?
                && std::fs::metadata(&file).is_ok_and(|meta| meta.len() > 0)
            {
                true => Err(RepoError::Machine {
                    doing: "reading where history ends".into(),
                    cause: format!("{} cannot be read", file.display()),
                }),
                false => Ok(Vec::new()),
            };
        };
        Ok(commits.iter().map(|id| CommitId(own(id))).collect())
    }

    /// A text from the configuration.
    pub fn config(&self, key: &str) -> Option<String> {
        let value = self.git.config_snapshot().string(key)?;
        Some(value.to_str_lossy().into_owned())
    }

    /// A text from the repository's own configuration file, leaving out what the user or the system says.
    pub fn local_config(&self, key: &str) -> Option<String> {
        let snapshot = self.git.config_snapshot();
        let is_local = |meta: &gix::config::file::Metadata| {
            matches!(
                meta.source,
                gix::config::Source::Local | gix::config::Source::Worktree
            )
        };
        let value = snapshot.plumbing().string_filter(key, is_local)?;
        Some(value.to_str_lossy().into_owned())
    }

    /// A path from the configuration, `~` replaced: the repository's own value, and that of the user or the system.
    pub fn config_path(&self, key: &str) -> (Option<PathBuf>, Option<PathBuf>) {
        let expanded = || match self.git.config_snapshot().trusted_path(key) {
            Ok(path) => path,
            Err(_) => self.config(key).map(PathBuf::from),
        };
        match self.local_config(key) {
            Some(local) if local.starts_with('~') => (expanded(), None),
            Some(local) => (Some(PathBuf::from(local)), None),
            None => (None, expanded()),
        }
    }

    /// What is checked out.
    ///
    /// # Errors
    /// When `HEAD` cannot be read.
    pub fn head(&self) -> Result<Head, RepoError> {
        let head = self
            .git
            .head()
            .map_err(|error| RepoError::read("reading HEAD", &error))?;
        let branch = head
            .referent_name()
            .map(|name| name.shorten().to_str_lossy().into_owned());
        let mut head = head;
        let commit = head
            .try_peel_to_id()
            .map_err(|error| RepoError::read("reading HEAD", &error))?
            .map(|id| CommitId(own(&id)));
        if let (None, Some(name)) = (commit, head.referent_name()) {
            self.ensure_absent(&name.as_bstr().to_str_lossy())?;
        }
        Ok(Head { commit, branch })
    }

    /// The commit that `rev` names, by the rules of `git rev-parse`; a tag is followed.
    ///
    /// # Errors
    /// When it names nothing, too much, or no commit.
    pub fn commit_at(&self, rev: &str) -> Result<CommitId, RepoError> {
        let bad = |why: String| RepoError::BadRev {
            rev: rev.to_owned(),
            why,
        };
        let failed = |why: String, error: &gix::Error| {
            let read = RepoError::read(format!("looking for revision '{rev}'"), error);
            if read.is_machine() { read } else { bad(why) }
        };
        if rev.is_empty() || rev.starts_with('-') {
            return Err(bad("not a revision".into()));
        }
        let id = self
            .git
            .rev_parse_single(rev)
            .map_err(|error| failed(error.probable_cause().to_string(), &error))?;
        let object = id
            .object()
            .and_then(|object| object.peel_to_kind(gix::objs::Kind::Commit))
            .map_err(|error| failed("it does not name a commit".into(), &error))?;
        Ok(CommitId(own(&object.id)))
    }

    /// The tree with nothing in it; what an unborn branch stands on.
    pub fn empty_tree(&self) -> TreeId {
        TreeId(own(&gix::ObjectId::empty_tree(self.git.object_hash())))
    }
}

impl Shared {
    /// A handle for the calling thread.
    pub fn local(&self) -> Repo {
        let (git, raw) = both(self.git.to_thread_local());
        Repo {
            git,
            raw,
            indices: Indices::default(),
            common_dir: self.common_dir.clone(),
            prefix: self.prefix.clone(),
        }
    }
}

/// The two handles of one repository. Our references have full names: a namespace is for those who serve repositories.
fn both(mut git: gix::Repository) -> (gix::Repository, gix::Repository) {
    git.clear_namespace();
    let mut raw = git.clone();
    raw.objects.ignore_replacements = true;
    // What is written is held here until its pack is written, and read from here meanwhile.
    raw.objects.enable_object_memory();
    (git, raw)
}

/// Our own form of the library's id.
pub(super) fn own(id: &gix::oid) -> ObjectId {
    ObjectId::from_bytes(id.as_bytes()).expect("Git names have 20 or 32 bytes")
}

/// The library's form of our id.
pub(super) fn theirs(id: ObjectId) -> gix::ObjectId {
    gix::ObjectId::from_bytes_or_panic(id.as_bytes())
}

/// Makes sure that no repository lies nearer than the one that was found: the library goes on upwards from one that it cannot read.
fn ensure_nearest(dir: &Path, git: &gix::Repository) -> Result<(), RepoError> {
    let canonical = |path: &Path| {
        let found = path.canonicalize();
        found.map_err(|error| RepoError::io(path, &error))
    };
    let top = canonical(git.workdir().unwrap_or(git.git_dir()))?;
    let dir = canonical(dir)?;
    let between = dir.ancestors().take_while(|above| **above != *top);
    for above in between.filter(|above| above.starts_with(&top)) {
        let nearer = above.join(".git");
        if is_there(&nearer)? && gix::discover::is_git(&nearer).is_ok() {
            return Err(RepoError::Machine {
                doing: "looking for the repository".into(),
                cause: format!("{} cannot be read", nearer.display()),
            });
        }
    }
    Ok(())
}

fn open_error(dir: &Path, git_dir: Option<&Path>, error: &gix::Error) -> RepoError {
    let read = RepoError::read("opening the repository", error);
    if read.is_machine() {
        return read;
    }
    if let Some(git_dir) = git_dir {
        return RepoError::Refused(format!(
            "GIT_DIR names '{}', which is not a git repository",
            git_dir.display()
        ));
    }
    if error.is_not_found() {
        return RepoError::NotFound(dir.to_owned());
    }
    read
}

/// `dir` below `top`, with `/` and a trailing one; empty at the top, outside, inside the git directory, and in a bare repository.
fn prefix(dir: &Path, top: Option<&Path>, common_dir: &Path) -> String {
    let below = || {
        let top = top?.canonicalize().ok()?;
        let dir = dir.canonicalize().ok()?;
        if dir.starts_with(common_dir) {
            return None;
        }
        let parts: Vec<_> = dir
            .strip_prefix(top)
            .ok()?
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        (!parts.is_empty()).then(|| parts.join("/") + "/")
    };
    below().unwrap_or_default()
}
