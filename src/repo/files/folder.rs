//! A folder below a root: its files looked at, read, locked and removed.
//!
//! In: names below the folder. Out: bytes, or the one reason why there are none. Never follows a link below the root, never opens what
//! is no regular file, and believes only files of the user, of the superuser and of the root's owner, whom Git was told to trust.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::error::FileError;
use super::listed::{Facts, Listed, Sort};
use super::system::{self, Dir, How};

/// A folder, and the root above it. Neither has to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
    below: PathBuf,
}

/// An open folder with the name of a file in it.
pub(super) struct Spot {
    pub dir: Dir,
    pub name: OsString,
    pub path: PathBuf,
    /// Who owns the root.
    owner: u32,
}

impl Folder {
    /// The root itself. Whoever names it trusts its path, links and all.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            below: PathBuf::new(),
        }
    }

    /// A folder in this one.
    pub fn below(&self, name: impl AsRef<Path>) -> Self {
        Self {
            root: self.root.clone(),
            below: self.below.join(name),
        }
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        // Joined with nothing, a path gets a separator at its end.
        match self.below.as_os_str().is_empty() {
            true => self.root.clone(),
            false => self.root.join(&self.below),
        }
    }

    /// Makes the folder, and those above it up to the root, where they are not there.
    ///
    /// # Errors
    /// When something else stands in its way, or the file system refuses.
    pub fn make(&self) -> Result<(), FileError> {
        self.open(true).map(drop)
    }

    /// What stands in the folder, in the order of names; nothing where it is not there.
    ///
    /// # Errors
    /// When the folder, or one above it, is a link or none, or it cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, FileError> {
        let dir = match self.open(false) {
            Ok((dir, _)) => dir,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = dir.names().map_err(FileError::io("read", &self.path()))?;
        let mut listed = Vec::with_capacity(names.len());
        for name in names {
            // What has gone meanwhile is not there.
            if let Ok(facts) = dir.look(&name) {
                listed.push(listed_as(name, &facts));
            }
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    /// What a name stands for; none where there is nothing of it.
    ///
    /// # Errors
    /// When a folder above it is a link or none, or the file system refuses.
    pub fn look(&self, name: impl AsRef<Path>) -> Result<Option<Listed>, FileError> {
        let Some(spot) = self.find(name.as_ref())? else {
            return Ok(None);
        };
        Ok(spot.look()?.map(|facts| listed_as(spot.name, &facts)))
    }

    /// The content of a file; none where there is none.
    ///
    /// # Errors
    /// When it is no regular file or somebody else's, is longer than `most` bytes, or cannot be read.
    pub fn read(&self, name: impl AsRef<Path>, most: u64) -> Result<Option<Vec<u8>>, FileError> {
        let Some(spot) = self.find(name.as_ref())? else {
            return Ok(None);
        };
        let Some((file, facts)) = spot.open(How::Read)? else {
            return Ok(None);
        };
        let too_long = || {
            let why = format!("is longer than {most} bytes, and is not read for that");
            FileError::refused(&spot.path, why)
        };
        if facts.len > most {
            return Err(too_long());
        }
        // One more, so that a file that has grown since is seen to have.
        let mut bytes = Vec::with_capacity(usize::try_from(facts.len).unwrap_or(0));
        let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(FileError::io("read", &spot.path))?;
        match bytes.len() as u64 > most {
            true => Err(too_long()),
            false => Ok(Some(bytes)),
        }
    }

    /// A file that is there for its lock alone, made where there is none. Its content is neither read nor written, so anybody may own it.
    ///
    /// # Errors
    /// When something else stands there, or the file system refuses.
    pub fn lock_file(&self, name: impl AsRef<Path>) -> Result<File, FileError> {
        let spot = self.place(name.as_ref())?;
        spot.check(&spot.look()?)?;
        let file = spot.dir.open(&spot.name, How::WriteOrNew(0o666));
        let file = file.map_err(|cause| spot.why("write", cause))?;
        spot.check(&Some(spot.facts_of(&file)?))?;
        Ok(file)
    }

    /// Removes a file, a link or a pipe, and never what a link leads to; false where there was nothing.
    ///
    /// # Errors
    /// When it is a folder, or the file system refuses.
    pub fn remove(&self, name: impl AsRef<Path>) -> Result<bool, FileError> {
        let Some(spot) = self.find(name.as_ref())? else {
            return Ok(false);
        };
        match spot.look()? {
            None => return Ok(false),
            Some(facts) if facts.sort == Sort::Folder => {
                let why = Sort::Folder.trouble().unwrap_or_default();
                return Err(FileError::refused(&spot.path, why));
            }
            Some(_) => {}
        }
        match spot.dir.remove(&spot.name) {
            Ok(()) => Ok(true),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(FileError::io("remove", &spot.path)(cause)),
        }
    }

    /// Removes the folder itself where it is there, empty, and not the root; whether it did.
    pub fn remove_empty(&self) -> bool {
        let above = self.below.parent().map(|above| Self {
            root: self.root.clone(),
            below: above.to_owned(),
        });
        let name = self.below.file_name();
        let (Some(above), Some(name)) = (above, name) else {
            return false;
        };
        let dir = above.open(false).ok();
        dir.is_some_and(|(dir, _)| dir.remove_folder(name).is_ok())
    }

    /// Gives a file another name in the same folder; what had that name is gone then.
    ///
    /// # Errors
    /// When the file system refuses, as it does where there is no such file.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let spot = self.find(from.as_ref())?;
        let path = self.path().join(from);
        let gone = || FileError::io("move", &path)(io::ErrorKind::NotFound.into());
        let spot = spot.ok_or_else(gone)?;
        let renamed = spot.dir.rename(&spot.name, OsStr::new(to));
        renamed.map_err(FileError::io("move", &spot.path))
    }

    /// Says when a file was last written.
    ///
    /// # Errors
    /// When it is no regular file of the user's, or not there, or the file system refuses.
    pub fn set_modified(
        &self,
        name: impl AsRef<Path>,
        since_1970: Duration,
    ) -> Result<(), FileError> {
        let spot = self.place_there(name.as_ref())?;
        let (file, _) = spot.open_there(How::Write)?;
        let set = file.set_modified(UNIX_EPOCH + since_1970);
        set.map_err(FileError::io("write", &spot.path))
    }

    /// Empties a file that is there; nothing happens where there is none.
    ///
    /// # Errors
    /// When it is no regular file of the user's, or the file system refuses.
    pub fn empty(&self, name: impl AsRef<Path>) -> Result<(), FileError> {
        let Some(spot) = self.find(name.as_ref())? else {
            return Ok(());
        };
        match spot.open(How::Write)? {
            Some((file, _)) => file.set_len(0).map_err(FileError::io("write", &spot.path)),
            None => Ok(()),
        }
    }

    /// The folder, open, and the owner of the root.
    fn open(&self, make: bool) -> Result<(Dir, u32), FileError> {
        let is_plain = |component| matches!(component, Component::Normal(_));
        if !self.below.components().all(is_plain) {
            let why = "is not a path below the repository";
            return Err(FileError::refused(&self.path(), why));
        }
        let reading = FileError::io("read", &self.root);
        let mut dir = Dir::root(&self.root).map_err(reading)?;
        let owner = dir.owner().map_err(FileError::io("read", &self.root))?;
        let mut path = self.root.clone();
        for component in self.below.components() {
            let name = component.as_os_str();
            path.push(name);
            dir = match dir.enter(name) {
                Err(cause) if make && cause.kind() == io::ErrorKind::NotFound => {
                    match dir.make(name) {
                        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(FileError::io("make", &path)(cause));
                        }
                        _ => dir
                            .enter(name)
                            .map_err(|cause| step(&dir, name, &path, cause))?,
                    }
                }
                entered => entered.map_err(|cause| step(&dir, name, &path, cause))?,
            };
        }
        Ok((dir, owner))
    }

    /// Where a file is to be; its folder is made.
    pub(super) fn place(&self, name: &Path) -> Result<Spot, FileError> {
        self.spot(name, true)
    }

    /// Where a file is; none where not even its folder is there.
    pub(super) fn find(&self, name: &Path) -> Result<Option<Spot>, FileError> {
        match self.spot(name, false) {
            Ok(spot) => Ok(Some(spot)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn place_there(&self, name: &Path) -> Result<Spot, FileError> {
        self.spot(name, false)
    }

    fn spot(&self, name: &Path, make: bool) -> Result<Spot, FileError> {
        let path = self.path().join(name);
        let folder = match name.parent() {
            Some(above) if !above.as_os_str().is_empty() => &self.below(above),
            _ => self,
        };
        let Some(Component::Normal(name)) = name.components().next_back() else {
            return Err(FileError::refused(&path, "is not the path of a file"));
        };
        let (dir, owner) = folder.open(make)?;
        Ok(Spot {
            dir,
            name: name.to_owned(),
            path,
            owner,
        })
    }
}

impl Spot {
    /// What stands there.
    pub fn look(&self) -> Result<Option<Facts>, FileError> {
        match self.dir.look(&self.name) {
            Ok(facts) => Ok(Some(facts)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(FileError::io("read", &self.path)(cause)),
        }
    }

    /// An error unless a regular file stands there, or nothing.
    pub fn check(&self, facts: &Option<Facts>) -> Result<(), FileError> {
        match facts.as_ref().and_then(|facts| facts.sort.trouble()) {
            Some(why) => Err(FileError::refused(&self.path, why)),
            None => Ok(()),
        }
    }

    /// The same, and an error where somebody else owns it.
    pub fn check_owner(&self, facts: &Option<Facts>) -> Result<(), FileError> {
        self.check(facts)?;
        let Some(Facts { owner, .. }) = *facts else {
            return Ok(());
        };
        if [system::user(), 0, self.owner].contains(&owner) {
            return Ok(());
        }
        let why = format!(
            "belongs to another user (number {owner}), so it is neither read nor written; remove it or take it over, then run again"
        );
        Err(FileError::refused(&self.path, why))
    }

    /// The file, open and looked at; none where there is none.
    pub fn open(&self, how: How) -> Result<Option<(File, Facts)>, FileError> {
        match self.open_there(how) {
            Ok(opened) => Ok(Some(opened)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file, open and looked at.
    pub fn open_there(&self, how: How) -> Result<(File, Facts), FileError> {
        // Before it is opened, since that alone does something to a device; and after, since it may be another one by then.
        self.check_owner(&self.look()?)?;
        let verb = if how == How::Read { "read" } else { "write" };
        let opened = self.dir.open(&self.name, how);
        let file = opened.map_err(|cause| self.why(verb, cause))?;
        let facts = self.facts_of(&file)?;
        self.check_owner(&Some(facts))?;
        Ok((file, facts))
    }

    pub fn facts_of(&self, file: &File) -> Result<Facts, FileError> {
        system::facts_of(file).map_err(FileError::io("read", &self.path))
    }

    /// Why it could not be opened: what stands there now, or what the system says.
    pub fn why(&self, verb: &'static str, cause: io::Error) -> FileError {
        let now = self.dir.look(&self.name).ok();
        match self.check(&now) {
            Err(refused) => refused,
            Ok(()) => FileError::io(verb, &self.path)(cause),
        }
    }
}

fn listed_as(name: OsString, facts: &Facts) -> Listed {
    Listed {
        name,
        sort: facts.sort,
        len: facts.len,
        modified: facts.modified,
    }
}

/// Why a folder could not be entered.
fn step(dir: &Dir, name: &OsStr, path: &Path, cause: io::Error) -> FileError {
    let what = match dir.look(name).map(|facts| facts.sort) {
        Ok(Sort::Link) => "a symbolic link, and nothing is read or written through one",
        Ok(Sort::File | Sort::Other(_)) => "no folder, and one has to be there",
        _ => return FileError::io("read", path)(cause),
    };
    let why = format!("is {what}; remove it or move it away, then run again");
    FileError::refused(path, why)
}
