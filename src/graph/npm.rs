//! Which file a JavaScript or TypeScript import means: relative paths, extensions, index files, packages of the tree, `paths`.
//!
//! In: the source files of a tree and the texts of its `package.json` and `tsconfig.json` files. Out: a `Place` for each specifier. An
//! import that finds nothing is foreign. Never reads a blob.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::graph::places::{Place, Places, join, last, parent};

/// Extensions that a specifier without one may mean, in the order TypeScript tries them.
const EXTENSIONS: [&str; 9] = ["ts", "tsx", "d.ts", "js", "jsx", "mts", "mjs", "cts", "cjs"];

/// What `x.js` may mean, in order.
const SWAPS: [(&str, &[&str]); 4] = [
    ("js", &["ts", "tsx", "d.ts"]),
    ("jsx", &["tsx", "d.ts"]),
    ("mjs", &["mts", "d.mts"]),
    ("cjs", &["cts", "d.cts"]),
];

/// How deep `extends` of a tsconfig is followed.
const MAX_EXTENDS: usize = 8;

/// The packages and path mappings of a tree.
pub struct Npm {
    /// Packages by name.
    packages: BTreeMap<String, Package>,
    /// tsconfig and jsconfig files by path.
    configs: BTreeMap<String, Value>,
    /// The package around each folder that has a `package.json`.
    package_folders: BTreeMap<String, Value>,
}

struct Package {
    folder: String,
    manifest: Value,
}

impl Npm {
    /// From the project files of a tree: path and text. A text that is no JSON object says nothing.
    pub fn new<'a>(projects: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut npm = Self {
            packages: BTreeMap::new(),
            configs: BTreeMap::new(),
            package_folders: BTreeMap::new(),
        };
        for (path, text) in projects {
            let Ok(value @ Value::Object(_)) = serde_json::from_str(&plain_json(text)) else {
                continue;
            };
            if last(path) != "package.json" {
                npm.configs.insert(path.to_owned(), value);
                continue;
            }
            if let Some(name) = value.get("name").and_then(Value::as_str) {
                // Of two packages of one name the one nearer to the root is meant: paths come sorted, so it is not always the first.
                let folder = parent(path).to_owned();
                let deeper = |known: &Package| {
                    known.folder.matches('/').count() <= folder.matches('/').count()
                };
                if !npm.packages.get(name).is_some_and(deeper) {
                    npm.packages.insert(
                        name.to_owned(),
                        Package {
                            folder,
                            manifest: value.clone(),
                        },
                    );
                }
            }
            npm.package_folders.insert(parent(path).to_owned(), value);
        }
        npm
    }

    /// Where a specifier leads from a file.
    pub fn resolve(&self, places: &Places<'_>, from: &str, specifier: &str) -> Place {
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
        self.mapped(places, from, specifier)
            .or_else(|| self.private(places, from, specifier))
            .or_else(|| self.package(places, specifier))
            .map_or(Place::Foreign, Place::File)
    }

    /// The source file that a path without or with extension means, or the index of a folder.
    fn path(&self, places: &Places<'_>, path: &str) -> Option<u32> {
        if !path.is_empty() {
            if let Some(file) = file_at(places, path) {
                return Some(file);
            }
            if let Some(manifest) = self.package_folders.get(path)
                && let Some(file) = self.entry(places, path, manifest, ".")
            {
                return Some(file);
            }
        }
        EXTENSIONS
            .iter()
            .find_map(|extension| places.file(&join(path, &format!("index.{extension}"))))
    }

    /// By `paths` and `baseUrl` of the nearest tsconfig.
    fn mapped(&self, places: &Places<'_>, from: &str, specifier: &str) -> Option<u32> {
        let mut folder = parent(from);
        loop {
            for name in ["tsconfig.json", "jsconfig.json"] {
                let path = join(folder, name);
                if self.configs.contains_key(&path) {
                    return self.by_config(places, &path, specifier);
                }
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }

    fn by_config(&self, places: &Places<'_>, path: &str, specifier: &str) -> Option<u32> {
        let (paths_at, paths) = self.option(path, "paths", MAX_EXTENDS).unzip();
        let base = self
            .option(path, "baseUrl", MAX_EXTENDS)
            .and_then(|(at, value)| normal(parent(&at), value.as_str()?));
        let paths_base = base
            .clone()
            .or_else(|| paths_at.map(|at: String| parent(&at).to_owned()));
        if let (Some(Value::Object(paths)), Some(folder)) = (paths, paths_base) {
            // The pattern with the longest part before its `*` wins; one without `*` wins over all.
            let best = paths
                .iter()
                .filter_map(|(pattern, targets)| {
                    Some((wildcard(pattern, specifier)?, pattern, targets))
                })
                .max_by_key(|(_, pattern, _)| (!pattern.contains('*'), pattern.find('*')));
            if let Some((matched, _, targets)) = best {
                let targets = targets.as_array().map(Vec::as_slice).unwrap_or_default();
                let mut found = targets
                    .iter()
                    .filter_map(Value::as_str)
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

    /// A compiler option of a tsconfig or of one it extends, with the path of the file that sets it.
    fn option(&self, path: &str, name: &str, depth: usize) -> Option<(String, &Value)> {
        let config = self.configs.get(path)?;
        if let Some(value) = config
            .get("compilerOptions")
            .and_then(|options| options.get(name))
        {
            return Some((path.to_owned(), value));
        }
        let depth = depth.checked_sub(1)?;
        let extends = config.get("extends")?;
        let list = extends
            .as_array()
            .map_or(std::slice::from_ref(extends), Vec::as_slice);
        list.iter()
            .rev()
            .filter_map(Value::as_str)
            .find_map(|extended| {
                if !extended.starts_with('.') {
                    return None;
                }
                let path = normal(parent(path), extended)?;
                let path = if self.configs.contains_key(&path) {
                    path
                } else {
                    format!("{path}.json")
                };
                self.option(&path, name, depth)
            })
    }

    /// `#name`: the `imports` of the package around a file.
    fn private(&self, places: &Places<'_>, from: &str, specifier: &str) -> Option<u32> {
        if !specifier.starts_with('#') {
            return None;
        }
        let mut folder = parent(from);
        loop {
            if let Some(manifest) = self.package_folders.get(folder) {
                let imports = manifest.get("imports")?;
                return self
                    .condition_targets(imports, specifier)
                    .iter()
                    .find_map(|target| self.target(places, folder, target));
            }
            if folder.is_empty() {
                return None;
            }
            folder = parent(folder);
        }
    }

    /// A package of this tree, or a file of it.
    fn package(&self, places: &Places<'_>, specifier: &str) -> Option<u32> {
        let parts = if specifier.starts_with('@') { 2 } else { 1 };
        let end = specifier
            .match_indices('/')
            .nth(parts - 1)
            .map_or(specifier.len(), |(at, _)| at);
        let package = self.packages.get(specifier.get(..end)?)?;
        let inner = format!(".{}", specifier.get(end..)?);
        self.entry(places, &package.folder, &package.manifest, &inner)
    }

    /// What a package exports under `.` or `./name`.
    fn entry(
        &self,
        places: &Places<'_>,
        folder: &str,
        manifest: &Value,
        inner: &str,
    ) -> Option<u32> {
        if let Some(exports) = manifest.get("exports") {
            let targets = self.condition_targets(exports, inner);
            if let Some(found) = targets
                .iter()
                .find_map(|target| self.target(places, folder, target))
            {
                return Some(found);
            }
        }
        if inner != "." {
            let path = normal(folder, inner)?;
            return file_at(places, &path).or_else(|| self.index(places, &path));
        }
        let fields = ["source", "types", "typings", "module", "main", "browser"];
        fields
            .iter()
            .filter_map(|field| manifest.get(field).and_then(Value::as_str))
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

    /// All targets of an `exports` or `imports` value under a key, in the order they are written.
    fn condition_targets(&self, exports: &Value, key: &str) -> Vec<String> {
        let mut out = Vec::new();
        let with_keys = exports
            .as_object()
            .is_some_and(|map| map.keys().any(|key| key.starts_with(['.', '#'])));
        if !with_keys {
            if key == "." {
                conditions(exports, "", &mut out);
            }
            return out;
        }
        let Some(map) = exports.as_object() else {
            return out;
        };
        let best = map
            .iter()
            .filter_map(|(pattern, value)| Some((wildcard(pattern, key)?, pattern, value)))
            .max_by_key(|(_, pattern, _)| (!pattern.contains('*'), pattern.find('*')));
        if let Some((matched, _, value)) = best {
            conditions(value, matched, &mut out);
        }
        out
    }
}

/// The strings of nested conditions, with `*` filled in. Nesting is bounded by the JSON reader (128).
fn conditions(value: &Value, matched: &str, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.replace('*', matched)),
        Value::Array(list) => list
            .iter()
            .for_each(|value| conditions(value, matched, out)),
        Value::Object(map) => map
            .values()
            .for_each(|value| conditions(value, matched, out)),
        _ => {}
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

/// JSON without the comments and trailing commas that tsconfig files may have.
fn plain_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(c) = chars.next() {
        if inside {
            out.push(c);
            if c == '\\' {
                out.extend(chars.next());
            }
            inside = c != '"';
            continue;
        }
        match (c, chars.peek()) {
            ('/', Some('/')) => {
                while chars.peek().is_some_and(|&c| c != '\n') {
                    chars.next();
                }
            }
            ('/', Some('*')) => {
                chars.next();
                let mut star = false;
                for c in chars.by_ref() {
                    if star && c == '/' {
                        break;
                    }
                    star = c == '*';
                }
            }
            ('}' | ']', _) => {
                let end = out.trim_end().len();
                if out.get(..end).is_some_and(|out| out.ends_with(',')) {
                    out.truncate(end - 1);
                }
                out.push(c);
            }
            _ => {
                inside = c == '"';
                out.push(c);
            }
        }
    }
    out.trim_start_matches('\u{feff}').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(
        paths: &'static [&'static str],
        projects: &[(&str, &str)],
        from: &str,
        specifier: &str,
    ) -> Option<&'static str> {
        let sources: Vec<_> = paths
            .iter()
            .enumerate()
            .map(|(at, path)| (*path, at as u32))
            .collect();
        let places = Places::new(&sources, paths.iter().copied());
        match Npm::new(projects.iter().copied()).resolve(&places, from, specifier) {
            Place::File(at) => Some(paths[at as usize]),
            _ => None,
        }
    }

    #[test]
    fn relative_specifiers() {
        let paths = &[
            "a/math.ts",
            "a/fmt.mts",
            "a/lib/index.tsx",
            "a/old.js",
            "index.ts",
            "a/old.d.ts",
        ];
        for (specifier, expected) in [
            ("./math", Some("a/math.ts")),
            ("./math.js", Some("a/math.ts")),
            ("./fmt.mjs", Some("a/fmt.mts")),
            ("./lib", Some("a/lib/index.tsx")),
            ("./lib/", Some("a/lib/index.tsx")),
            ("..", Some("index.ts")),
            ("../../x", None),
            ("./gone", None),
            ("math", None),
        ] {
            assert_eq!(
                resolve(paths, &[], "a/main.ts", specifier),
                expected,
                "{specifier}"
            );
        }
    }

    #[test]
    fn packages_and_mappings() {
        let paths = &[
            "packages/a/src/index.ts",
            "packages/a/src/deep/x.ts",
            "packages/b/lib/main.js",
            "app/src/util.ts",
        ];
        let projects = [
            (
                "packages/a/package.json",
                r#"{"name":"@s/a","exports":{".":{"import":"./dist/index.js"},"./*":"./src/deep/*.ts"}}"#,
            ),
            (
                "packages/b/package.json",
                r#"{"name":"b","main":"lib/main.js"}"#,
            ),
            (
                "app/tsconfig.json",
                "{ // a comment\n \"extends\": \"../tsconfig.base.json\", }",
            ),
            (
                "tsconfig.base.json",
                r#"{"compilerOptions":{"paths":{"~/*":["./app/src/*"]}}}"#,
            ),
        ];
        for (specifier, expected) in [
            ("@s/a", Some("packages/a/src/index.ts")),
            ("@s/a/x", Some("packages/a/src/deep/x.ts")),
            ("b", Some("packages/b/lib/main.js")),
            ("~/util", Some("app/src/util.ts")),
            ("react", None),
        ] {
            assert_eq!(
                resolve(paths, &projects, "app/main.ts", specifier),
                expected,
                "{specifier}"
            );
        }
    }
}
