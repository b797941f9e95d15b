//! Node names as a person types them, brought to the root-relative form that is stored.

use std::path::{Component, Path};

use anyhow::bail;

use crate::repo::Repo;

/// Root-relative names, each once, in order.
pub(super) fn normal(repo: &Repo, nodes: &[String]) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::with_capacity(nodes.len());
    for node in nodes {
        names.push(from_argument(repo, node)?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// A path relative to where the caller stands, or absolute inside the work tree; a symbol's file likewise.
fn from_argument(repo: &Repo, node: &str) -> anyhow::Result<String> {
    let (path, symbol) = split(node);
    let path = slashes(path);
    if path.is_empty() {
        bail!("'{node}' names no path");
    }
    let root_relative = if Path::new(&path).is_absolute() {
        match below_work_tree(repo, Path::new(&path)) {
            Some(path) => path,
            None => bail!("'{path}' is outside repository"),
        }
    } else {
        format!("{}{path}", repo.prefix())
    };
    match clean(&root_relative) {
        Some(path) => Ok(format!("{path}{symbol}")),
        None => bail!("'{node}' is outside repository"),
    }
}

/// A name from JSON: relative to the root already, but perhaps with `./`, `\` or a trailing `/`. What leads out of the repository
/// stays as it is and will not resolve.
pub(super) fn from_json(node: &str) -> String {
    let (path, symbol) = split(node);
    match clean(&slashes(path)) {
        Some(path) => format!("{path}{symbol}"),
        None => node.to_owned(),
    }
}

/// With `/` for `\`, as somebody types it who is used to that; but not in a name quoted as Git quotes what is not UTF-8.
fn slashes(path: &str) -> String {
    match path.contains('"') {
        true => path.to_owned(),
        false => path.replace('\\', "/"),
    }
}

/// The path, and `::` with what follows.
fn split(node: &str) -> (&str, &str) {
    match node.find("::") {
        Some(at) => node.split_at(at),
        None => (node, ""),
    }
}

/// Without `.`, `..` and empty parts; the root is `.`. None when it leads out of the repository.
fn clean(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join("/"),
    })
}

/// The part of an absolute path below the work tree. Compared as it is and, for links such as `/tmp` on some systems, resolved.
fn below_work_tree(repo: &Repo, path: &Path) -> Option<String> {
    let top = repo.work_tree()?;
    let resolved = top.canonicalize().ok()?;
    // The file need not exist, so only the part that does is resolved.
    let parent = path.ancestors().find(|part| part.exists())?;
    let rest = path.strip_prefix(parent).ok()?;
    let path_resolved = parent.canonicalize().ok()?.join(rest);
    let below = path
        .strip_prefix(top)
        .or_else(|_| path_resolved.strip_prefix(&resolved))
        .ok()?;
    let parts = below.components().map(|part| match part {
        Component::Normal(name) => name.to_string_lossy().into_owned(),
        other => other.as_os_str().to_string_lossy().into_owned(),
    });
    Some(parts.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        let cases = [
            ("src/a.rs", Some("src/a.rs")),
            ("./src//a.rs/", Some("src/a.rs")),
            ("src/../b", Some("b")),
            ("", Some(".")),
            (".", Some(".")),
            ("a/..", Some(".")),
            ("../a", None),
            ("a/../../b", None),
        ];
        for (path, right) in cases {
            assert_eq!(clean(path).as_deref(), right, "{path}");
        }
    }

    #[test]
    fn a_symbol_keeps_its_name() {
        assert_eq!(from_json("./src\\a.py::A.b/c"), "src/a.py::A.b/c");
        assert_eq!(from_json("../x"), "../x");
    }
}
