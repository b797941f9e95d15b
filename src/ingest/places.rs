//! Where the documents lie that an ingest reads: the patterns of state files, the folders of decision documents.
//!
//! In: what the configuration or the command line names. Out: whether a path is one of them, and a digest, so that each set of places
//! has a mark of its own.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::id::RecordId;

/// Where decision documents usually lie.
const FOLDERS: [&str; 3] = ["docs/adr", "doc/adr", "docs/decisions"];
/// What a state file is usually called, in whatever folder.
const STATE_FILE: &str = "state.json";

/// The state files: patterns over root-relative paths.
#[derive(Clone, Debug)]
pub struct StateFiles {
    patterns: Vec<String>,
    set: GlobSet,
}

impl StateFiles {
    /// From patterns with `*`, `?`, `[…]`, `{a,b}`; `**` stands for any folders. One without a `/` means a name in any folder.
    ///
    /// # Errors
    /// The pattern that is none, and why.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        let mut kept: Vec<String> = Vec::new();
        for pattern in patterns {
            let pattern = pattern.trim().trim_start_matches("./");
            let whole = match (pattern.contains('/'), pattern.strip_prefix('/')) {
                (_, Some(rooted)) => rooted.to_owned(),
                (true, None) => pattern.to_owned(),
                (false, None) => format!("**/{pattern}"),
            };
            let glob = GlobBuilder::new(&whole)
                .literal_separator(true)
                .build()
                .map_err(|error| format!("'{pattern}' is no pattern: {}", error.kind()))?;
            set.add(glob);
            kept.push(whole);
        }
        kept.sort();
        kept.dedup();
        Ok(Self {
            patterns: kept,
            set: set.build().map_err(|error| error.to_string())?,
        })
    }

    /// `state.json` in any folder.
    ///
    /// # Errors
    /// None that can happen.
    pub fn usual() -> Result<Self, String> {
        Self::new(&[STATE_FILE.to_owned()])
    }

    /// Whether a path is one of them.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.set.is_match(path)
    }

    pub(super) fn digest(&self) -> RecordId {
        RecordId::of(self.patterns.join("\n").as_bytes())
    }
}

/// The folders of decision documents, root-relative.
#[derive(Clone, Debug)]
pub struct Folders(Vec<String>);

impl Folders {
    /// From names of folders; `.` is the root.
    pub fn new(folders: &[String]) -> Self {
        let plain = |folder: &String| {
            let folder = folder.trim().trim_start_matches("./").trim_matches('/');
            let is_root = folder.is_empty() || folder == ".";
            if is_root {
                String::new()
            } else {
                folder.to_owned()
            }
        };
        let mut folders: Vec<String> = folders.iter().map(plain).collect();
        folders.sort();
        folders.dedup();
        Self(folders)
    }

    /// `docs/adr`, `doc/adr`, `docs/decisions`.
    pub fn usual() -> Self {
        Self::new(&FOLDERS.map(str::to_owned))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a path lies in one of them.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.iter().any(|folder| {
            folder.is_empty()
                || path
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/'))
        })
    }

    pub(super) fn digest(&self) -> RecordId {
        RecordId::of(self.0.join("\n").as_bytes())
    }
}

/// A path without `.`, `..` and empty parts; none when it leads out of the repository or names nothing.
pub(super) fn clean_path(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files_wherever_they_lie() {
        let held = |patterns: &[&str], path: &str| {
            let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
            StateFiles::new(&patterns).is_ok_and(|files| files.holds(path))
        };
        for path in [
            "state.json",
            "a/state.json",
            "a/b/state.json",
            ".agent/state.json",
        ] {
            assert!(held(&["state.json"], path), "{path}");
            assert_eq!(held(&["/state.json"], path), path == "state.json");
        }
        assert!(!held(&["state.json"], "a/mystate.json"));
        assert!(held(&["plans/*/state*.json"], "plans/x/state-1.json"));
        assert!(!held(&["plans/*/state*.json"], "plans/x/y/state-1.json"));
        assert!(held(&["plans/**/s.json", "t"], "plans/x/y/s.json"));
        assert!(StateFiles::new(&["a[".to_owned()]).is_err());
    }

    #[test]
    fn folders_hold_what_lies_below() {
        let folders = Folders::new(&["./doc/adr/".to_owned()]);
        assert!(folders.holds("doc/adr/1.md") && folders.holds("doc/adr/x/1.md"));
        assert!(!folders.holds("doc/adrs/1.md") && !folders.holds("doc/adr"));
        assert!(Folders::new(&[".".to_owned()]).holds("1.md"));
    }
}
