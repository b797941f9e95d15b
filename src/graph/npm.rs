//! Which file a JavaScript or TypeScript import means: relative paths, extensions, index files, packages of the tree, `paths`.
//!
//! In: the source files of a tree and the texts of its project files. Out: a `Place` for each specifier. An import that finds nothing is
//! foreign, and so is one that names a package which no workspace links, though some folder of the tree has its name. Never reads a blob.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::json::Json;
use crate::graph::places::{Place, Places, join, last, parent};
use crate::graph::workspace::{declared, is_member, of_pnpm};

/// Extensions that a specifier without one may mean, in the order TypeScript tries them.
const EXTENSIONS: [&str; 9] = ["ts", "tsx", "d.ts", "js", "jsx", "mts", "mjs", "cts", "cjs"];

/// What `x.js` may mean, in order.
const SWAPS: [(&str, &[&str]); 4] = [
    ("js", &["ts", "tsx", "d.ts"]),
    ("jsx", &["tsx", "d.ts"]),
    ("mjs", &["mts", "d.mts"]),
    ("cjs", &["cts", "d.cts"]),
];

/// How many tsconfig files are looked at for one option.
const MAX_EXTENDS: usize = 32;

/// The lists of a manifest that name what a package uses.
const DEPENDENCIES: [&str; 4] = [
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
];

/// How a manifest names a package that lies in the same tree.
const LINKS: [&str; 4] = ["workspace:", "file:", "link:", "portal:"];

/// An import as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked<'a> {
    /// The importing file.
    pub from: &'a str,
    /// What it names.
    pub specifier: &'a str,
    /// Whether it is `require()`.
    pub is_require: bool,
}

/// The packages and path mappings of a tree.
pub struct Npm {
    /// The folders of packages by name, those nearer to the root first.
    packages: BTreeMap<String, Vec<String>>,
    /// tsconfig and jsconfig files by path.
    configs: BTreeMap<String, Json>,
    /// The `package.json` of each folder that has one.
    manifests: BTreeMap<String, Json>,
    /// The patterns of the members, of each folder that declares a workspace.
    workspaces: BTreeMap<String, Vec<String>>,
}

impl Npm {
    /// From the project files of a tree: path and text. A text that is no JSON object (YAML, for pnpm) says nothing.
    pub fn new<'a>(projects: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut npm = Self {
            packages: BTreeMap::new(),
            configs: BTreeMap::new(),
            manifests: BTreeMap::new(),
            workspaces: BTreeMap::new(),
        };
        for (path, text) in projects {
            let folder = parent(path).to_owned();
            let mut workspace = |patterns: Vec<String>| {
                let known: &mut Vec<String> = npm.workspaces.entry(folder.clone()).or_default();
                known.extend(patterns);
            };
            if last(path) == "pnpm-workspace.yaml" {
                workspace(of_pnpm(text));
                continue;
            }
            let Some(value) = Json::object(text) else {
                continue;
            };
            match last(path) {
                "package.json" => {
                    if let Some(patterns) = declared(&value, "workspaces") {
                        workspace(patterns);
                    }
                    if let Some(name) = value.get("name").and_then(Json::as_str) {
                        let folders: &mut Vec<String> =
                            npm.packages.entry(name.to_owned()).or_default();
                        folders.push(folder.clone());
                    }
                    npm.manifests.insert(folder, value);
                }
                "lerna.json" => {
                    if let Some(patterns) = declared(&value, "packages") {
                        workspace(patterns);
                    }
                }
                _ => drop(npm.configs.insert(path.to_owned(), value)),
            }
        }
        for folders in npm.packages.values_mut() {
            folders.sort_by_key(|folder| (folder.matches('/').count(), folder.clone()));
        }
        npm
    }

    /// Where a specifier leads from a file.
    pub fn resolve(&self, places: &Places<'_>, asked: Asked<'_>) -> Place {
        let (from, specifier) = (asked.from, asked.specifier);
        let specifier = specifier
            .split(['?', '#'])
            .next()
            .filter(|text| !text.is_empty())
            .unwrap_or(specifier);
        if specifier.starts_with("./")
            || specifier.starts_with("../")
            || matches!(specifier, "." | "..")
        {
            let found = normal(parent(from), specifier).and_then(|path| self.path(places, &path));
            return found.map_or(Place::Foreign, Place::File);
        }
        let asked = Asked { specifier, ..asked };
        self.mapped(places, asked)
            .or_else(|| match specifier.starts_with('#') {
                true => self.private(places, asked),
                false => self.package(places, asked),
            })
            .map_or(Place::Foreign, Place::File)
    }

    /// The source file that a path without or with extension means, or the index of a folder.
    fn path(&self, places: &Places<'_>, path: &str) -> Option<u32> {
        if !path.is_empty() {
            if let Some(file) = file_at(places, path) {
                return Some(file);
            }
            // A folder is no package here: Node looks at `main`, never at `exports`.
            if let Some(manifest) = self.manifests.get(path)
                && let Some(file) = self.main(places, path, manifest)
            {
                return Some(file);
            }
        }
        EXTENSIONS
            .iter()
            .find_map(|extension| places.file(&join(path, &format!("index.{extension}"))))
    }

    /// By `paths` and `baseUrl` of the nearest tsconfig.
    fn mapped(&self, places: &Places<'_>, asked: Asked<'_>) -> Option<u32> {
        let mut folder = parent(asked.from);
        loop {
            for name in ["tsconfig.json", "jsconfig.json"] {
                let path = join(folder, name);
                if self.configs.contains_key(&path) {
                    return self.by_config(places, &path, asked.specifier);
                }
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }

    fn by_config(&self, places: &Places<'_>, path: &str, specifier: &str) -> Option<u32> {
        let (paths_at, paths) = self.option(path, "paths").unzip();
        let base = self
            .option(path, "baseUrl")
            .and_then(|(at, value)| normal(parent(&at), value.as_str()?));
        let paths_base = base
            .clone()
            .or_else(|| paths_at.map(|at: String| parent(&at).to_owned()));
        if let (Some(paths), Some(folder)) = (paths, paths_base) {
            // The pattern with the longest part before its `*` wins; one without `*` wins over all.
            let best = paths
                .pairs()
                .iter()
                .filter_map(|(pattern, targets)| {
                    Some((wildcard(pattern, specifier)?, pattern, targets))
                })
                .max_by_key(|(_, pattern, _)| (!pattern.contains('*'), pattern.find('*')));
            if let Some((matched, _, targets)) = best {
                let mut found =
                    targets
                        .items()
                        .iter()
                        .filter_map(Json::as_str)
                        .filter_map(|target| {
                            let path = normal(&folder, &target.replace('*', matched))?;
                            self.path(places, &path)
                        });
                if let Some(found) = found.next() {
                    return Some(found);
                }
            }
        }
        self.path(places, &normal(&base?, specifier)?)
    }

    /// A compiler option of a tsconfig or of one it extends, with the path of the file that sets it. Of several that it extends the last
    /// one comes first.
    fn option(&self, path: &str, name: &str) -> Option<(String, &Json)> {
        let mut next = vec![path.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(path) = next.pop().filter(|_| seen.len() < MAX_EXTENDS) {
            let Some(config) = self.configs.get(&path).filter(|_| !seen.contains(&path)) else {
                continue;
            };
            let options = config.get("compilerOptions");
            if let Some(value) = options.and_then(|options| options.get(name)) {
                return Some((path, value));
            }
            let one = config.get("extends").map_or(&[][..], std::slice::from_ref);
            let list = config.get("extends").map_or(&[][..], Json::items);
            let extended = one.iter().chain(list).filter_map(Json::as_str);
            let found = extended.filter(|extended| extended.starts_with('.'));
            next.extend(found.filter_map(|extended| {
                let path = normal(parent(&path), extended)?;
                Some(match self.configs.contains_key(&path) {
                    true => path,
                    false => format!("{path}.json"),
                })
            }));
            seen.insert(path);
        }
        None
    }

    /// The nearest folder above a file that has a `package.json`.
    fn own(&self, from: &str) -> Option<(&str, &Json)> {
        above(from).find_map(|folder| {
            let (folder, manifest) = self.manifests.get_key_value(folder)?;
            Some((folder.as_str(), manifest))
        })
    }

    /// `#name`: the `imports` of the package around a file.
    fn private(&self, places: &Places<'_>, asked: Asked<'_>) -> Option<u32> {
        let (folder, manifest) = self.own(asked.from)?;
        let targets = targets(manifest.get("imports")?, asked.specifier, asked)?;
        targets
            .iter()
            .find_map(|target| match target.starts_with("./") {
                true => self.target(places, folder, target),
                false => self.package(
                    places,
                    Asked {
                        specifier: target,
                        ..asked
                    },
                ),
            })
    }

    /// A package of this tree, or a file of it.
    fn package(&self, places: &Places<'_>, asked: Asked<'_>) -> Option<u32> {
        let specifier = asked.specifier;
        let parts = if specifier.starts_with('@') { 2 } else { 1 };
        let end = specifier
            .match_indices('/')
            .nth(parts - 1)
            .map_or(specifier.len(), |(at, _)| at);
        let folder = self.linked(asked.from, specifier.get(..end)?)?;
        let inner = format!(".{}", specifier.get(end..)?);
        self.entry(places, folder, self.manifests.get(folder)?, &inner, asked)
    }

    /// The folder of the package that a name means from a file: the package around it, one that its manifest says where it lies, or a
    /// member of the nearest workspace above it. Where nobody declares a workspace, the one nearest to the root, unless the manifest
    /// says that it comes from a registry.
    fn linked(&self, from: &str, name: &str) -> Option<&str> {
        let folders = self.packages.get(name)?;
        let own = self.own(from);
        if let Some((folder, manifest)) = own
            && manifest.get("name").and_then(Json::as_str) == Some(name)
        {
            return Some(folder);
        }
        let said = own.and_then(|(folder, manifest)| {
            let lists = DEPENDENCIES.iter().filter_map(|list| manifest.get(list));
            let mut said = lists.filter_map(|list| list.get(name).and_then(Json::as_str));
            Some((folder, said.next()?))
        });
        if let Some((folder, said)) = said
            && let Some((_, path)) = said.split_once(':')
            && LINKS.iter().skip(1).any(|link| said.starts_with(link))
            && let Some(path) = normal(folder, path)
            && let Some((folder, _)) = self.manifests.get_key_value(&path)
        {
            return Some(folder);
        }
        let mut workspaces =
            above(from).filter_map(|folder| Some((folder, self.workspaces.get(folder)?)));
        if let Some((root, patterns)) = workspaces.next() {
            let all = std::iter::once((root, patterns)).chain(workspaces);
            for (root, patterns) in all {
                let mut members = folders.iter().filter(|folder| {
                    below(root, folder).is_some_and(|folder| is_member(patterns, folder))
                });
                if let Some(member) = members.next() {
                    return Some(member);
                }
            }
            return None;
        }
        let is_foreign =
            said.is_some_and(|(_, said)| !LINKS.iter().any(|link| said.starts_with(link)));
        folders.first().map(String::as_str).filter(|_| !is_foreign)
    }

    /// What a package exports under `.` or `./name`. Where what it exports is built and not in the tree, the file that lies where the name
    /// says.
    fn entry(
        &self,
        places: &Places<'_>,
        folder: &str,
        manifest: &Json,
        inner: &str,
        asked: Asked<'_>,
    ) -> Option<u32> {
        if let Some(exports) = manifest.get("exports") {
            let targets = targets(exports, inner, asked)?;
            let mut found = targets
                .iter()
                .map(|target| self.target(places, folder, target));
            if let Some(found) = found.find_map(|found| found) {
                return Some(found);
            }
        }
        if inner != "." {
            let path = normal(folder, inner)?;
            return file_at(places, &path).or_else(|| self.index(places, &path));
        }
        self.main(places, folder, manifest)
    }

    /// What a package is without `exports`.
    fn main(&self, places: &Places<'_>, folder: &str, manifest: &Json) -> Option<u32> {
        let fields = ["source", "types", "typings", "module", "main", "browser"];
        fields
            .iter()
            .filter_map(|field| manifest.get(field).and_then(Json::as_str))
            .find_map(|target| self.target(places, folder, target))
            .or_else(|| self.index(places, &join(folder, "src")))
            .or_else(|| self.index(places, folder))
    }

    fn index(&self, places: &Places<'_>, folder: &str) -> Option<u32> {
        EXTENSIONS
            .iter()
            .find_map(|extension| places.file(&join(folder, &format!("index.{extension}"))))
    }

    /// A file that a manifest names. Where it is built and not in the tree, the source it is built from.
    fn target(&self, places: &Places<'_>, folder: &str, target: &str) -> Option<u32> {
        let path = normal(folder, target)?;
        if let Some(file) = file_at(places, &path).or_else(|| self.index(places, &path)) {
            return Some(file);
        }
        let inner = target.trim_start_matches("./");
        let (built, rest) = inner.split_once('/')?;
        if !matches!(built, "dist" | "lib" | "build" | "out" | "esm" | "cjs") {
            return None;
        }
        let rest = rest
            .trim_start_matches("esm/")
            .trim_start_matches("cjs/")
            .trim_start_matches("types/");
        let stem = rest
            .strip_suffix(".d.ts")
            .or_else(|| rest.rsplit_once('.').map(|(stem, _)| stem))
            .unwrap_or(rest);
        file_at(places, &join(&join(folder, "src"), stem))
    }
}

/// A file's folder and all folders above it, the root last.
fn above(from: &str) -> impl Iterator<Item = &str> {
    let first = Some(parent(from));
    std::iter::successors(first, |folder| (!folder.is_empty()).then(|| parent(folder)))
}

/// A folder as seen from one above it; none when that is not above it.
fn below<'a>(root: &str, folder: &'a str) -> Option<&'a str> {
    match folder.strip_prefix(root)? {
        rest if root.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

/// The targets of an `exports` or `imports` value under a key: first those whose conditions hold for the import, as they are written, then
/// the others. None when the package does not have the key, or closes it (`null`).
fn targets(exports: &Json, key: &str, asked: Asked<'_>) -> Option<Vec<String>> {
    let keys = exports.pairs().iter();
    let with_keys = keys.clone().any(|(key, _)| key.starts_with(['.', '#']));
    let (matched, value) = match with_keys {
        true => {
            let fitting =
                keys.filter_map(|(pattern, value)| Some((wildcard(pattern, key)?, pattern, value)));
            let best =
                fitting.max_by_key(|(_, pattern, _)| (!pattern.contains('*'), pattern.find('*')));
            best.map(|(matched, _, value)| (matched, value))?
        }
        false => ("", Some(exports).filter(|_| key == ".")?),
    };
    if *value == Json::Null {
        return None;
    }
    let is_typed = [".ts", ".tsx", ".mts", ".cts"]
        .iter()
        .any(|end| asked.from.ends_with(end));
    let holds = |condition: &str| match condition {
        "node" | "module-sync" | "default" => true,
        "import" => !asked.is_require,
        "require" => asked.is_require,
        // TypeScript asks for declarations first.
        "types" => is_typed,
        _ => false,
    };
    let mut out = Vec::new();
    conditions(value, matched, &holds, &mut out);
    conditions(value, matched, &|_| true, &mut out);
    Some(out)
}

/// The strings under conditions that hold, with `*` filled in. Nesting is bounded by the JSON reader (128).
fn conditions(value: &Json, matched: &str, holds: &dyn Fn(&str) -> bool, out: &mut Vec<String>) {
    match value {
        Json::Text(text) => out.push(text.replace('*', matched)),
        Json::List(list) => list
            .iter()
            .for_each(|value| conditions(value, matched, holds, out)),
        Json::Map(pairs) => pairs
            .iter()
            .filter(|(condition, _)| holds(condition))
            .for_each(|(_, value)| conditions(value, matched, holds, out)),
        Json::Null | Json::Plain => {}
    }
}

/// What `*` stands for when a pattern fits a text; empty for a pattern without one.
fn wildcard<'a>(pattern: &str, text: &'a str) -> Option<&'a str> {
    match pattern.split_once('*') {
        None => (pattern == text).then_some(""),
        Some((before, after)) => {
            let rest = text.strip_prefix(before)?;
            rest.strip_suffix(after)
        }
    }
}

fn file_at(places: &Places<'_>, path: &str) -> Option<u32> {
    if let Some((stem, extension)) = path.rsplit_once('.')
        && let Some((_, swaps)) = SWAPS.iter().find(|(from, _)| *from == extension)
        && let Some(file) = swaps
            .iter()
            .find_map(|to| places.file(&format!("{stem}.{to}")))
    {
        return Some(file);
    }
    places.file(path).or_else(|| {
        EXTENSIONS
            .iter()
            .find_map(|extension| places.file(&format!("{path}.{extension}")))
    })
}

/// A path relative to a folder, without `.` and `..`; `None` when it leaves the tree.
fn normal(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
