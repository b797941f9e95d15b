//! The files of a hook in its folder: looked at, written, moved.
//!
//! In: paths. Out: what stands there, and the steps that an installation is made of, each of which leaves a hook in its place. Never
//! destroys a file that is not ours.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::script::{self, Found, Hook};
use crate::repo::{Access, FileError, Folder, Sort};

/// A longer hook is not ours, and is kept as it is.
const MOST: u64 = 16 * 1024 * 1024;

/// The files of one hook in one folder.
pub(super) struct Files {
    pub hook: Hook,
    /// Where Git looks.
    pub file: PathBuf,
    /// The hook that was there before, in the same folder: a symbolic link keeps its target, a script its neighbours.
    pub kept: PathBuf,
    /// Only there while ours is being written.
    pub draft: PathBuf,
}

impl Files {
    pub fn of(hook: Hook, dir: &Path) -> Self {
        let name = hook.name();
        Self {
            hook,
            file: dir.join(name),
            kept: dir.join(format!("{name}.score-context")),
            draft: dir.join(format!("{name}.score-context.new")),
        }
    }
}

/// Why a hook was neither installed nor removed. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// Every repository of this user shares one folder of hooks.
    #[error(
        "core.hooksPath is set for every repository ('{0}'), so Git runs no hook of this one; \
         set core.hooksPath in this repository (`git config core.hooksPath \"$(git rev-parse --path-format=absolute --git-common-dir)/hooks\"`), then run again"
    )]
    Shared(PathBuf),
    /// `core.hooksPath` is a way to switch hooks off.
    #[error("'{0}' is no folder, so no hook can run there; see `git config core.hooksPath`")]
    NoFolder(PathBuf),
    /// Somebody edited our file.
    #[error(
        "'{0}' was changed after it was installed; move your lines elsewhere or delete the file, then run again"
    )]
    Changed(PathBuf),
    /// Somebody replaced our file while an earlier hook was kept for later.
    #[error(
        "'{file}' has replaced the hook of git score-context, and '{kept}' is what was there before it; delete one of them, then run again"
    )]
    Replaced {
        /// What stands there now.
        file: PathBuf,
        /// The earlier hook.
        kept: PathBuf,
    },
    /// The file system refuses.
    #[error("cannot {verb} '{path}': {cause}")]
    Io {
        /// What was tried: `read`, `write`, `move` or `remove`.
        verb: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The folder, or one above it in the repository, is a link.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The hook that was there before ours and is kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It runs too.
    Runs,
    /// Its owner took the permission to run from it, so it does not.
    Off,
}

pub(super) fn is_current(file: &Path, text: &[u8]) -> bool {
    is_executable(file) && read(file).is_ok_and(|bytes| bytes.as_deref() == Some(text))
}

/// The folder of a hook. What lies above it is checked in [`check_folder`], before anything is done.
fn place(file: &Path) -> (Folder, &std::ffi::OsStr) {
    let folder = file.parent().unwrap_or(Path::new(""));
    (Folder::at(folder), file.file_name().unwrap_or_default())
}

/// An error where the folder of the hooks lies in the repository and behind a link there: what is written would lie elsewhere.
pub(super) fn check_folder(dir: &Path, roots: &[&Path]) -> Result<(), HookError> {
    let is_plain = |part| matches!(part, Component::Normal(_));
    let root = roots.iter().find_map(|root| {
        let below = dir.strip_prefix(root).ok()?;
        let is_below = below.components().all(is_plain);
        is_below.then(|| Folder::at(*root).below(below))
    });
    if let Some(folder) = root {
        folder.list()?;
    }
    Ok(())
}

/// The bytes of a hook; none where there is none, or where it is nothing that may be read: a link, a pipe, a program without that
/// permission, or somebody else's.
pub(super) fn read(file: &Path) -> Result<Option<Vec<u8>>, HookError> {
    let (folder, name) = place(file);
    let stands = folder.look(name)?;
    if stands.is_some_and(|stands| stands.sort == Sort::Folder) {
        return Err(cannot("read", file)(io::ErrorKind::IsADirectory.into()));
    }
    match folder.read(name, MOST) {
        Ok(bytes) => Ok(bytes),
        Err(FileError::Refused { .. }) => Ok(None),
        Err(FileError::Io { cause, .. }) if cause.kind() == io::ErrorKind::PermissionDenied => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn write(draft: &Path, text: &[u8]) -> Result<(), HookError> {
    let (folder, name) = place(draft);
    Ok(folder.replace(name, text, Access::Program)?)
}

/// Puts the draft in its place, after what stands there was moved to `keep`; undoes that if the second step fails.
pub(super) fn put(draft: &Path, file: &Path, keep: Option<&Path>) -> Result<(), HookError> {
    if let Some(keep) = keep {
        fs::rename(file, keep).map_err(cannot("move", file))?;
    }
    fs::rename(draft, file).map_err(|cause| {
        if let Some(keep) = keep {
            // Nothing better can be done if this fails too: the earlier hook is then still there, under the other name.
            let _ = fs::rename(keep, file);
        }
        cannot("write", file)(cause)
    })
}

/// A link is never ours, wherever it leads; moved, it leads there still.
pub(super) fn look(file: &Path) -> Result<Found, HookError> {
    if !is_there(file) {
        return Ok(Found::Absent);
    }
    let found = read(file)?.map(|bytes| script::whose(&bytes));
    Ok(found.unwrap_or(Found::Foreign))
}

/// Also a link that leads nowhere is there.
pub(super) fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}

pub(super) fn earlier(kept: &Path) -> Option<Earlier> {
    is_there(kept).then(|| {
        if is_executable(kept) {
            Earlier::Runs
        } else {
            Earlier::Off
        }
    })
}

pub(super) fn same(one: &Path, two: &Path) -> bool {
    let seen = |file| {
        (
            fs::read_link(file).ok(),
            read(file).ok().flatten(),
            is_executable(file),
        )
    };
    seen(one) == seen(two)
}

/// The text of a hook, through the link that it may be: it is only asked how it begins. Never waits for a pipe.
pub(super) fn text_of(file: &Path) -> Vec<u8> {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let (folder, name) = place(&real);
    let is_file = folder.look(name).ok().flatten();
    match is_file.is_some_and(|file| file.sort == Sort::File) {
        true => read(&real).ok().flatten().unwrap_or_default(),
        false => Vec::new(),
    }
}

pub(super) fn cannot(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HookError {
    let path = path.to_owned();
    move |cause| HookError::Io { verb, path, cause }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Where files have no such permission, Git asks for none.
#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
