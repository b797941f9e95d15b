//! The files of a hook in its folder: looked at, written, moved.
//!
//! In: paths. Out: what stands there, and the steps that an installation is made of, each of which leaves a hook in its place. Never
//! destroys a file that is not ours.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::script::{self, Found, Hook};

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
    /// The file system refused.
    #[error("cannot {verb} '{path}': {cause}")]
    Io {
        /// What was tried: `read`, `write`, `move` or `remove`.
        verb: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
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
    is_executable(file) && fs::read(file).is_ok_and(|bytes| bytes == text)
}

pub(super) fn write(draft: &Path, text: &[u8]) -> Result<(), HookError> {
    fs::write(draft, text)
        .and_then(|()| make_executable(draft))
        .map_err(cannot("write", draft))
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

pub(super) fn look(file: &Path) -> Result<Found, HookError> {
    if !is_there(file) {
        return Ok(Found::Absent);
    }
    match fs::read(file) {
        Ok(bytes) => Ok(script::whose(&bytes)),
        // A dangling link, or a program that may be run and not be read.
        Err(cause)
            if matches!(
                cause.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(Found::Foreign)
        }
        Err(cause) => Err(cannot("read", file)(cause)),
    }
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
    let read = |file| {
        (
            fs::read_link(file).ok(),
            fs::read(file).ok(),
            is_executable(file),
        )
    };
    read(one) == read(two)
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

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

/// Where files have no such permission, Git asks for none.
#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
