//! What stands behind a reference, read and written with Git's own commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::said::{finish, finish_fed};
use super::{RECORDS, Sandbox};

/// The files of a tree: mode and object by path.
pub type Entries = BTreeMap<String, (String, String)>;

impl Sandbox {
    /// Every file of the tree behind a reference: path, mode and object.
    #[track_caller]
    pub fn entries(&self, reference: &str) -> Entries {
        let listed = self.git(&["ls-tree", "-r", reference]);
        let entry = |line: &str| {
            let (facts, path) = line.split_once('\t').expect("a tab before the path");
            let facts: Vec<&str> = facts.split(' ').collect();
            (path.to_owned(), (facts[0].to_owned(), facts[2].to_owned()))
        };
        listed.lines().map(entry).collect()
    }

    /// Sets a reference to a tree of these files, whatever it was before.
    #[track_caller]
    pub fn set_entries(&self, reference: &str, entries: &Entries) {
        let index = self.top("index");
        let git = |input: &str, arguments: &[&str]| {
            let mut command = self.command("git", "r");
            command.args(arguments).env("GIT_INDEX_FILE", &index);
            finish_fed(command, input.as_bytes(), 0)
                .out
                .trim_end()
                .to_owned()
        };
        let lines: String = entries
            .iter()
            .map(|(path, (mode, object))| format!("{mode} {object}\t{path}\n"))
            .collect();
        git(&lines, &["update-index", "--add", "--index-info"]);
        let tree = git("", &["write-tree"]);
        fs::remove_file(&index).expect("it was written");
        self.git(&["update-ref", reference, &tree]);
        self.forget_last_write();
    }

    /// As if no writer had noted what it left: then no value is one that another program has put there.
    pub fn forget_last_write(&self) {
        drop(fs::remove_file(self.path(".git/score-context/last")));
    }

    /// The packs that writers of ours have left, without the ending.
    pub fn packs(&self) -> BTreeSet<PathBuf> {
        let folder = fs::read_dir(self.path(".git/objects/pack"));
        let entries = folder.into_iter().flatten().flatten();
        let packs = entries.map(|entry| entry.path());
        packs
            .filter(|path| path.extension().is_some_and(|ending| ending == "pack"))
            .map(|path| path.with_extension(""))
            .collect()
    }

    /// Takes an object away wherever it stands, as a disk does that lost it.
    #[track_caller]
    pub fn lose(&self, object: &str) {
        for pack in self.packs() {
            let data = fs::read(pack.with_extension("pack")).expect("it is there");
            for ending in ["idx", "rev", "pack"] {
                drop(fs::remove_file(pack.with_extension(ending)));
            }
            self.git_fed(&data, &["unpack-objects", "-q"]);
        }
        let file = format!(".git/objects/{}/{}", &object[..2], &object[2..]);
        fs::remove_file(self.path(&file)).expect("it was there");
    }

    /// Stores a blob; gives its name.
    #[track_caller]
    pub fn blob(&self, content: &str) -> String {
        self.git_fed(content.as_bytes(), &["hash-object", "-w", "--stdin"])
    }

    /// The content of a blob.
    #[track_caller]
    pub fn content(&self, object: &str) -> String {
        let mut command = self.command("git", "r");
        command.args(["cat-file", "blob", object]);
        finish(command, 0).out
    }

    /// Every line of every blob of records, with the path of the blob.
    #[track_caller]
    pub fn stored_lines(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for (path, (_, object)) in self.entries(RECORDS) {
            let lines = self.content(&object);
            all.extend(lines.lines().map(|line| (path.clone(), line.to_owned())));
        }
        all
    }
}
