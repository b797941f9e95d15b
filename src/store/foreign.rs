//! Entries in our trees that are not ours.
//!
//! In: the references of ours. Out: paths. They are left alone everywhere; only this names them.

use super::base::{ATTENTION, RECORDS, Store, StoreError};
use super::layout::is_day;
use super::lookup::PARTS;
use crate::id::{RecordId, TreeId};
use crate::repo::Mode;

impl Store<'_> {
    /// What stands in the trees of records and look-ups and is neither, each with its reference, sorted.
    ///
    /// # Errors
    /// When a tree is missing or damaged.
    pub fn foreign(&self) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        if let Some(root) = self.tree_behind(RECORDS)? {
            for folder in self.repo.tree(root)? {
                let is_ours = is_day(&folder.path) || is_month(&folder.path);
                if folder.mode != Mode::Directory || !is_ours {
                    found.push(format!("{RECORDS}:{}", folder.path));
                    continue;
                }
                let entries = self.repo.tree(TreeId(folder.id))?.into_iter();
                let odd = entries.filter(|entry| !is_record(&entry.path, entry.mode));
                let path = |name: String| format!("{RECORDS}:{}/{name}", folder.path);
                found.extend(odd.map(|entry| path(entry.path)));
            }
        }
        if let Some(root) = self.tree_behind(ATTENTION)? {
            self.among_lookups(root, "", 0, &mut found)?;
        }
        found.sort();
        Ok(found)
    }

    /// Levels: days, the first two digits, look-ups, their parts.
    fn among_lookups(
        &self,
        tree: TreeId,
        above: &str,
        level: usize,
        found: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        for entry in self.repo.tree(tree)? {
            let name = entry.path.as_str();
            let is_directory = entry.mode == Mode::Directory;
            let is_ours = match level {
                0 => is_directory && is_day(name),
                1 => is_directory && name.len() == 2 && is_hex(name),
                2 => is_directory && name.parse::<RecordId>().is_ok(),
                _ => PARTS.contains(&name),
            };
            let path = format!("{above}{name}");
            if !is_ours {
                found.push(format!("{ATTENTION}:{path}"));
            } else if level < 3 {
                self.among_lookups(TreeId(entry.id), &format!("{path}/"), level + 1, found)?;
            }
        }
        Ok(())
    }
}

fn is_hex(name: &str) -> bool {
    name.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_month(name: &str) -> bool {
    name.len() == 7 && is_day(&format!("{name}-01"))
}

/// Whether an entry of a day or a month is called as ours are.
fn is_record(name: &str, mode: Mode) -> bool {
    let id = name
        .strip_suffix(".json")
        .or_else(|| name.strip_suffix(".jsonl"));
    mode == Mode::File && id.is_some_and(|id| id.parse::<RecordId>().is_ok())
}
