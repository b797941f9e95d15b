//! Our hooks: where they belong, putting them there, taking them away, saying how they stand.
//!
//! In: the folder of the hooks and the path of our binary. Out: a file there for each [`Hook`], from the templates in `hooks/`, and
//! beside it, as `<name>.score-context`, the hook that was there before. What goes with
//! them lies beside: the lines in the configuration (`block.rs`), the texts of the notes (`notes.rs`). Knows nothing of Git's configuration
//! beyond the plain values it is given, never runs anything, and never destroys a file it did not write.

use std::fs;
use std::path::{Path, PathBuf};

pub use client::{Client, File};
pub use files::{Earlier, HookError};
use files::{
    Files, cannot, check_folder, earlier, is_current, is_there, look, put, same, text_of, write,
};
use script::Found;
pub use script::Hook;

pub mod block;
mod client;
mod files;
pub mod notes;
pub mod push;
mod script;

/// Where the hooks of a repository are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder; it need not exist.
    pub dir: PathBuf,
}

/// How a hook stands in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No such hook.
    Absent,
    /// A hook that is not ours.
    Foreign,
    /// Ours, and it calls the binary that was asked about.
    Current,
    /// Ours, written by another version or for another binary, or without permission to run.
    Outdated,
    /// Ours, edited by somebody.
    Changed,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Our hook is there now.
    Installed,
    /// It was there, and is now that of this version and binary.
    Updated,
    /// It was there already, nothing changed.
    Already,
    /// It is gone.
    Removed,
    /// It was not there, nothing changed.
    NotThere,
}

/// What became of one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which.
    pub hook: Hook,
    /// The file.
    pub file: PathBuf,
    /// What was done.
    pub done: Done,
    /// The earlier hook: kept by `install`, put back by `uninstall`.
    pub earlier: Option<Earlier>,
}

/// How one hook stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Which.
    pub hook: Hook,
    /// The file.
    pub file: PathBuf,
    /// What it is.
    pub state: State,
    /// The earlier hook.
    pub earlier: Option<Earlier>,
}

/// Where Git looks for the hooks of a repository.
///
/// `local` and `global` are the values of `core.hooksPath` in the repository's own configuration and anywhere else, with `~`
/// already replaced; `common_dir` is absolute and shared by all worktrees; `work_tree` is none in a bare repository.
///
/// # Errors
/// [`HookError::Shared`] when only a configuration outside the repository has `core.hooksPath`, and [`HookError::NoFolder`] when
/// it names what is no folder.
pub fn place(
    local: Option<&Path>,
    global: Option<&Path>,
    common_dir: &Path,
    work_tree: Option<&Path>,
) -> Result<Place, HookError> {
    let dir = match (local, global) {
        (Some(path), _) if path.as_os_str().is_empty() => {
            return Err(HookError::NoFolder(path.to_owned()));
        }
        // Git runs a hook at the top of the work tree, or in the repository when it is bare; `join` leaves an absolute path alone.
        (Some(path), _) => work_tree.unwrap_or(common_dir).join(path),
        (None, Some(path)) => return Err(HookError::Shared(path.to_owned())),
        (None, None) => common_dir.join("hooks"),
    };
    if dir.exists() && !dir.is_dir() {
        return Err(HookError::NoFolder(dir));
    }
    let roots: Vec<&Path> = work_tree.into_iter().chain([common_dir]).collect();
    check_folder(&dir, &roots)?;
    Ok(Place { dir })
}

/// Puts the hooks into `dir`, to call `binary`, an absolute path. A hook that is there is kept beside and goes on running, unless it
/// may not run now. Once more changes nothing, or brings the files up to this version and binary.
///
/// # Errors
/// When a file was edited or replaced since, or the file system refuses; then the hooks are as they were.
pub fn install(dir: &Path, binary: &Path) -> Result<Vec<Report>, HookError> {
    let mut plan = Vec::new();
    let mut made_folder = !dir.exists();
    for hook in Hook::ALL {
        let files = Files::of(hook, dir);
        let found = look(&files.file)?;
        match found {
            Found::Changed => return Err(HookError::Changed(files.file)),
            Found::Foreign => check_replaced(&files)?,
            Found::Ours { made_folder: made } => made_folder |= made,
            Found::Absent => {}
        }
        plan.push((files, found));
    }
    let mut reports: Vec<Report> = Vec::new();
    for (files, found) in &plan {
        match install_one(dir, files, *found, binary, made_folder) {
            Ok(report) => reports.push(report),
            Err(error) => {
                let fresh = reports
                    .iter()
                    .filter(|report| report.done == Done::Installed);
                for report in fresh {
                    // The error that is reported says more than one about the way back would.
                    let _ = uninstall_one(&Files::of(report.hook, dir));
                }
                return Err(error);
            }
        }
    }
    Ok(reports)
}

fn install_one(
    dir: &Path,
    files: &Files,
    found: Found,
    binary: &Path,
    made_folder: bool,
) -> Result<Report, HookError> {
    let from = match found {
        Found::Foreign => &files.file,
        _ => &files.kept,
    };
    let text = text(files.hook, binary, from, made_folder);
    let report = Report {
        hook: files.hook,
        file: files.file.clone(),
        earlier: earlier(from),
        done: match found {
            Found::Ours { .. } if is_current(&files.file, &text) => Done::Already,
            Found::Ours { .. } => Done::Updated,
            _ => Done::Installed,
        },
    };
    if report.done != Done::Already {
        fs::create_dir_all(dir).map_err(cannot("write", dir))?;
        let written = write(&files.draft, &text).and_then(|()| {
            let keep = (found == Found::Foreign).then_some(&files.kept);
            put(&files.draft, &files.file, keep.map(PathBuf::as_path))
        });
        if written.is_err() {
            // The error that is reported says more than one about the draft would.
            let _ = fs::remove_file(&files.draft);
        }
        written?;
    }
    Ok(report)
}

/// Takes the hooks out of `dir` and puts the earlier ones back: the same bytes, mode, or link. Of ours nothing stays.
///
/// # Errors
/// When a file was edited or replaced since, and then nothing was done; or the file system refuses.
pub fn uninstall(dir: &Path) -> Result<Vec<Report>, HookError> {
    let mut made_folder = false;
    for hook in Hook::ALL {
        let files = Files::of(hook, dir);
        match look(&files.file)? {
            Found::Changed => return Err(HookError::Changed(files.file)),
            Found::Foreign => check_replaced(&files)?,
            Found::Ours { made_folder: made } => made_folder |= made,
            Found::Absent => {}
        }
    }
    let files = Hook::ALL.map(|hook| Files::of(hook, dir));
    let reports: Result<Vec<_>, _> = files.iter().map(uninstall_one).collect();
    if made_folder {
        // Somebody else's hooks may have come into it; then it stays.
        let _ = fs::remove_dir(dir);
    }
    reports
}

fn uninstall_one(files: &Files) -> Result<Report, HookError> {
    let earlier = earlier(&files.kept);
    let found = look(&files.file)?;
    let is_ours = matches!(found, Found::Ours { .. });
    let done = match (is_ours, earlier) {
        (false, None) => Done::NotThere,
        // Also where ours has been deleted, or replaced by the very hook that was there before.
        (_, Some(_)) => {
            fs::rename(&files.kept, &files.file).map_err(cannot("move", &files.kept))?;
            Done::Removed
        }
        (true, None) => {
            fs::remove_file(&files.file).map_err(cannot("remove", &files.file))?;
            Done::Removed
        }
    };
    Ok(Report {
        hook: files.hook,
        file: files.file.clone(),
        done,
        earlier,
    })
}

/// A foreign hook must not stand where ours stood while another one waits to come back, unless they are the same.
fn check_replaced(files: &Files) -> Result<(), HookError> {
    if is_there(&files.kept) && !same(&files.file, &files.kept) {
        return Err(HookError::Replaced {
            file: files.file.clone(),
            kept: files.kept.clone(),
        });
    }
    Ok(())
}

/// How the hooks in `dir` stand, compared with those that [`install`] would write for `binary`.
///
/// # Errors
/// When a file cannot be read.
pub fn status(dir: &Path, binary: &Path) -> Result<Vec<Status>, HookError> {
    let of = |hook| -> Result<Status, HookError> {
        let files = Files::of(hook, dir);
        let state = match look(&files.file)? {
            Found::Absent => State::Absent,
            Found::Foreign => State::Foreign,
            Found::Changed => State::Changed,
            Found::Ours { made_folder } => {
                let text = text(hook, binary, &files.kept, made_folder);
                match is_current(&files.file, &text) {
                    true => State::Current,
                    false => State::Outdated,
                }
            }
        };
        Ok(Status {
            hook,
            earlier: earlier(&files.kept),
            file: files.file,
            state,
        })
    };
    Hook::ALL.into_iter().map(of).collect()
}

/// The hook of this version for this binary, with the earlier one at `from`.
fn text(hook: Hook, binary: &Path, from: &Path, made_folder: bool) -> Vec<u8> {
    // A program that may be run and not be read is no shell script.
    script::text(hook, binary, &text_of(from), made_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_where_git_looks() {
        let common = Path::new("/nowhere/r/.git");
        let top = Some(Path::new("/nowhere/wt"));
        let place = |local: Option<&str>, global: Option<&str>, top| {
            place(local.map(Path::new), global.map(Path::new), common, top)
        };
        let dir = |dir: &str| Place {
            dir: PathBuf::from(dir),
        };
        for (local, global, top, expected) in [
            (None, None, top, "/nowhere/r/.git/hooks"),
            (None, None, None, "/nowhere/r/.git/hooks"),
            (Some(".husky/_"), None, top, "/nowhere/wt/.husky/_"),
            (
                Some(".husky/_"),
                Some("/nowhere/global"),
                top,
                "/nowhere/wt/.husky/_",
            ),
            (Some("mine"), None, None, "/nowhere/r/.git/mine"),
            (Some("/nowhere/mine"), None, top, "/nowhere/mine"),
        ] {
            assert_eq!(place(local, global, top).expect("a folder"), dir(expected));
        }
        let sentence = place(None, Some("/nowhere/global"), top)
            .expect_err("shared")
            .to_string();
        assert!(
            sentence.contains("core.hooksPath") && sentence.contains("'/nowhere/global'"),
            "{sentence}"
        );
        for no_folder in ["", "/dev/null"] {
            let sentence = place(Some(no_folder), None, top)
                .expect_err("no folder")
                .to_string();
            assert!(sentence.contains("core.hooksPath"), "{sentence}");
        }
    }
}
