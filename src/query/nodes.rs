//! Node names as people, programs and agents write them, brought to the root-relative form that is stored.
//!
//! In: a name. Out: the name from the root of the repository, which need not be there. Reads no tree.

use std::path::{Component, Path};

use crate::repo::Repo;

/// A name that cannot be brought to a path of the repository.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadNode(String);

/// Root-relative names, each once, in order, of names relative to where the caller stands.
///
/// # Errors
/// When a name is empty or leads out of the repository.
pub fn normal(repo: &Repo, nodes: &[String]) -> Result<Vec<String>, BadNode> {
    let mut names = Vec::with_capacity(nodes.len());
    for node in nodes {
        names.push(from_argument(repo, node)?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// A path relative to where the caller stands, or absolute inside the work tree; a symbol's file likewise.
fn from_argument(repo: &Repo, node: &str) -> Result<String, BadNode> {
    let (path, symbol) = split(node);
    let path = slashes(path);
    if path.is_empty() {
        return Err(BadNode(format!("'{node}' names no path")));
    }
    let root_relative = if Path::new(&path).is_absolute() {
        match below_work_tree(repo, Path::new(&path)) {
            Some(path) => path,
            None => return Err(BadNode(format!("'{path}' is outside repository"))),
        }
    } else {
        format!("{}{path}", repo.prefix())
    };
    match clean(&root_relative) {
        Some(path) => Ok(format!("{path}{symbol}")),
        None => Err(BadNode(format!("'{node}' is outside repository"))),
    }
}

/// A name from an agent: from the root, or absolute, as a client's editor gives it. What leads out of the repository stays as it is
/// and will not resolve.
pub fn from_agent(repo: &Repo, node: &str) -> String {
    let (path, symbol) = split(node);
    let path = slashes(path);
    let below = Some(Path::new(&path))
        .filter(|path| path.is_absolute())
        .and_then(|path| below_work_tree(repo, path));
    match below.as_deref().and_then(clean) {
        Some(path) => format!("{path}{symbol}"),
        None => from_json(node),
    }
}

/// A name from JSON: relative to the root already, but perhaps with `./`, `\` or a trailing `/`. What leads out of the repository
/// stays as it is and will not resolve.
pub fn from_json(node: &str) -> String {
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
