//! Writing the repository's own configuration file, under Git's own lock.
//!
//! The caller edits bytes, so that what it adds can later be taken out to the byte, which `git config` does not promise; before
//! anything is written both versions are read as Git reads them, and a value that is not the caller's must be in both.

use std::time::Duration;

use gix::bstr::ByteSlice;
use gix::lock::acquire::Fail;

use super::open::{Repo, RepoError};

/// `transfer.hiderefs`, then its value.
type Setting = (String, Option<Vec<u8>>);

impl Repo {
    /// Every value of a key in force, those of the user and the system first.
    pub fn config_values(&self, key: &str) -> Vec<String> {
        let values = self.git.config_snapshot().plumbing().strings(key);
        let text = |value: gix::bstr::BString| value.to_str_lossy().into_owned();
        values.into_iter().flatten().map(text).collect()
    }

    /// Replaces the repository's own configuration file by the last of the versions that `edit` makes of it. Each version may only
    /// add settings to the one before it, or only take some away. Nothing is written when the last one is what is there.
    ///
    /// # Errors
    /// When the file is locked, cannot be read or written, or a version would change a setting.
    pub fn edit_config(&self, edit: impl FnOnce(&[u8]) -> Vec<Vec<u8>>) -> Result<(), RepoError> {
        /// Git itself does not wait at all; two installations at once may.
        const WAIT: Duration = Duration::from_millis(500);
        let path = gix::lock::acquire::resolve_symlink(&self.common_dir().join("config"));
        let failed = |cause: String| RepoError::Git {
            doing: format!("writing {}", path.display()),
            cause,
            transient: false,
        };
        let mut lock = gix::lock::File::acquire_to_update_resource(
            &path,
            Fail::AfterDurationWithBackoff(WAIT),
            None,
            0,
        )
        .map_err(|error| failed(error.to_string()))?;
        let old = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| failed(error.to_string()))?,
        };
        let versions = edit(&old);
        let mut before = settings(&old).map_err(&failed)?;
        for version in &versions {
            let after = settings(version).map_err(&failed)?;
            if !is_part(&before, &after) && !is_part(&after, &before) {
                return Err(failed(
                    "its settings cannot be told apart from ours; nothing was changed".into(),
                ));
            }
            before = after;
        }
        let Some(new) = versions.last().filter(|new| **new != old) else {
            return Ok(());
        };
        // The lock becomes the file, so it has to look like it.
        if let Ok(meta) = std::fs::metadata(&path) {
            let same = std::fs::set_permissions(lock.lock_path(), meta.permissions());
            same.map_err(|error| failed(error.to_string()))?;
        }
        lock.with_mut(|file| std::io::Write::write_all(file, new))
            .map_err(|error| failed(error.to_string()))?;
        lock.commit().map_err(|error| failed(error.to_string()))?;
        Ok(())
    }
}

/// Every setting of a configuration file, in its order.
fn settings(text: &[u8]) -> Result<Vec<Setting>, String> {
    let options = gix::config::file::init::Options::default();
    let local = gix::config::file::Metadata::from(gix::config::Source::Local);
    let file = gix::config::File::from_bytes_no_includes(text, local, options);
    let file = file.map_err(|error| error.to_string())?;
    let mut settings = Vec::new();
    for section in file.sections() {
        let header = section.header();
        let mut seen = std::collections::BTreeMap::<String, usize>::new();
        for name in section.value_names() {
            let name = name.to_ascii_lowercase();
            let at = seen.entry(name.clone()).or_default();
            let value = section.values(&name).into_iter().nth(*at);
            *at += 1;
            let section = header.name().to_str_lossy().to_ascii_lowercase();
            let below = header
                .subsection_name()
                .map(|name| name.to_str_lossy().into_owned());
            let key = format!("{section}.{}.{name}", below.unwrap_or_default());
            settings.push((key, value.map(Into::into)));
        }
    }
    Ok(settings)
}

/// Whether `all` is `some` with more in between.
fn is_part(some: &[Setting], all: &[Setting]) -> bool {
    let mut all = all.iter();
    some.iter().all(|setting| all.any(|other| other == setting))
}
