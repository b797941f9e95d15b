//! Which file an import means: the paths of one tree, and Python's rules for finding modules. JavaScript's are in `npm.rs`.
//!
//! In: the source files of a tree. Out: a `Place` for each import. An import that finds nothing is foreign: its names never fall back to
//! a namesake. Never reads a blob.

use std::collections::BTreeSet;

use crate::graph::hash::Table;
use crate::graph::standard::is_standard;

/// What an import leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A source file of the tree, by its index.
    File(u32),
    /// A folder that is a Python package without `__init__`, by its index.
    Folder(u32),
    /// Something outside the tree.
    Foreign,
}

/// The source files of a tree by path, and the folders that hold Python.
pub struct Places<'tree> {
    files: Table<&'tree str, u32>,
    folders: Table<&'tree str, u32>,
    folder_names: Vec<&'tree str>,
    /// Python modules and packages by folder and name, with the rank of their sort of file.
    modules: Table<(&'tree str, &'tree str), (u8, u32)>,
    /// Folders that Python may import from whatever file asks, those of projects, by the first name that is found in them.
    by_first: Table<&'tree str, Vec<&'tree str>>,
}

/// The files that declare a Python project in their folder.
const PROJECTS: [&str; 3] = ["pyproject.toml", "setup.py", "setup.cfg"];

/// Folders below a project that hold its packages.
const SOURCE_FOLDERS: [&str; 3] = ["src", "lib", "python"];

impl<'tree> Places<'tree> {
    /// From source files (path and index) and all paths of the tree.
    pub fn new(sources: &[(&'tree str, u32)], paths: impl Iterator<Item = &'tree str>) -> Self {
        let files: Table<_, _> = sources.iter().copied().collect();
        let mut folder_set = BTreeSet::new();
        for (path, _) in sources
            .iter()
            .filter(|(path, _)| path.ends_with(".py") || path.ends_with(".pyi"))
        {
            let mut folder = parent(path);
            while folder_set.insert(folder) && !folder.is_empty() {
                folder = parent(folder);
            }
        }
        let mut modules: Table<(&str, &str), (u8, u32)> = Table::default();
        for (path, file) in sources {
            let folder = parent(path);
            let (key, rank) = match last(path).rsplit_once('.') {
                Some(("__init__", "py")) => ((parent(folder), last(folder)), 0),
                Some((stem, "py")) => ((folder, stem), 1),
                Some(("__init__", "pyi")) => ((parent(folder), last(folder)), 2),
                Some((stem, "pyi")) => ((folder, stem), 3),
                _ => continue,
            };
            let best = modules.entry(key).or_insert((rank, *file));
            *best = (*best).min((rank, *file));
        }
        let folder_names: Vec<&str> = folder_set.into_iter().collect();
        let folders = folder_names
            .iter()
            .enumerate()
            .map(|(at, name)| (*name, at as u32))
            .collect();
        let mut bases: BTreeSet<&str> = BTreeSet::from([""]);
        bases.extend(
            paths
                .filter(|path| PROJECTS.contains(&last(path)))
                .map(parent),
        );
        let is_root = |folder: &str| {
            let source = SOURCE_FOLDERS.contains(&last(folder)) && bases.contains(parent(folder));
            bases.contains(folder) || source && !folder.is_empty()
        };
        let names = modules.keys().copied();
        let names = names.chain(
            folder_names
                .iter()
                .map(|folder| (parent(folder), last(folder))),
        );
        let roots: BTreeSet<_> = names.filter(|(folder, _)| is_root(folder)).collect();
        let mut by_first: Table<&str, Vec<&str>> = Table::default();
        for (root, name) in roots {
            by_first.entry(name).or_default().push(root);
        }
        Self {
            files,
            folders,
            folder_names,
            modules,
            by_first,
        }
    }

    /// The source file at a path.
    pub fn file(&self, path: &str) -> Option<u32> {
        self.files.get(path).copied()
    }

    /// Where a Python import leads from a file. `level`: the number of leading dots.
    pub fn python(&self, from: &str, level: u32, module: &str) -> Place {
        let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
        if level > 0 {
            let mut folder = parent(from);
            for _ in 1..level {
                if folder.is_empty() {
                    return Place::Foreign;
                }
                folder = parent(folder);
            }
            return self.within(folder, &parts).unwrap_or(Place::Foreign);
        }
        let Some(first) = parts.first() else {
            return Place::Foreign;
        };
        if is_standard(first) {
            return Place::Foreign;
        }
        let near = self.roots_above(from);
        let far = self
            .by_first
            .get(first)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let roots = || near.iter().map(String::as_str).chain(far.iter().copied());
        // A package with `__init__` anywhere on the path comes before a folder without.
        let package = |root: &&str| matches!(self.within(root, &parts[..1]), Some(Place::File(_)));
        let found = roots().find(package);
        let found = found.or_else(|| roots().find(|root| self.within(root, &parts).is_some()));
        found
            .and_then(|root| self.within(root, &parts))
            .unwrap_or(Place::Foreign)
    }

    /// The module `name` below a place.
    pub fn submodule(&self, place: Place, path: &str, name: &str) -> Option<Place> {
        match place {
            Place::File(_) if matches!(last(path), "__init__.py" | "__init__.pyi") => {
                self.within(parent(path), &[name])
            }
            Place::Folder(at) => self.within(self.folder_names.get(at as usize)?, &[name]),
            _ => None,
        }
    }

    /// The folders above a file that its absolute imports are looked up in, nearest first.
    fn roots_above(&self, from: &str) -> Vec<String> {
        let mut roots = Vec::new();
        let mut folder = parent(from);
        loop {
            // Inside a package the package's own folder is not on the path.
            if self.file(&join(folder, "__init__.py")).is_none() {
                roots.push(folder.to_owned());
                roots.extend(SOURCE_FOLDERS.iter().map(|source| join(folder, source)));
            }
            if folder.is_empty() {
                return roots;
            }
            folder = parent(folder);
        }
    }

    /// A dotted name below a folder.
    fn within(&self, folder: &str, parts: &[&str]) -> Option<Place> {
        let mut folder = folder.to_owned();
        for (at, part) in parts.iter().enumerate() {
            if at + 1 == parts.len()
                && let Some(&(_, file)) = self.modules.get(&(folder.as_str(), *part))
            {
                return Some(Place::File(file));
            }
            folder = join(&folder, part);
            if !self.folders.contains_key(folder.as_str()) {
                return None;
            }
        }
        if parts.is_empty()
            && let Some(file) = self.file(&join(&folder, "__init__.py"))
        {
            return Some(Place::File(file));
        }
        self.folders
            .get(folder.as_str())
            .map(|at| Place::Folder(*at))
    }
}

/// The folder of a path, empty for the root.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last name of a path.
pub fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A path below a folder.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(paths: &'static [&'static str]) -> Places<'static> {
        let sources: Vec<_> = paths
            .iter()
            .enumerate()
            .map(|(at, path)| (*path, at as u32))
            .collect();
        Places::new(&sources, paths.iter().copied())
    }

    #[test]
    fn python_modules() {
        let places = places(&[
            "src/app/__init__.py",
            "src/app/json.py",
            "src/app/sub/x.py",
            "tests/helper.py",
            "tests/test_a.py",
            "setup.py",
        ]);
        assert_eq!(places.python("src/app/json.py", 0, "json"), Place::Foreign);
        assert_eq!(
            places.python("src/app/__init__.py", 1, "json"),
            Place::File(1)
        );
        assert_eq!(places.python("src/app/json.py", 1, ""), Place::File(0));
        assert_eq!(
            places.python("tests/test_a.py", 0, "app.json"),
            Place::File(1)
        );
        assert_eq!(
            places.python("tests/test_a.py", 0, "app.sub.x"),
            Place::File(2)
        );
        assert_eq!(
            places.python("tests/test_a.py", 0, "helper"),
            Place::File(3)
        );
        assert_eq!(
            places.python("src/app/json.py", 0, "helper"),
            Place::Foreign
        );
        assert_eq!(places.python("src/app/json.py", 9, "x"), Place::Foreign);
    }
}
