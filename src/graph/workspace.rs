//! Which packages of a tree a package manager links into one another: workspaces of npm, yarn, pnpm and lerna.
//!
//! In: the patterns that a project file lists, and folders. Out: whether a folder is a member. Never reads a file.

use crate::graph::json::Json;

/// How many patterns the braces of one pattern give at most.
const MAX_BRACES: usize = 64;

/// The patterns of a `package.json` or `lerna.json`; none when it declares no workspace.
pub fn declared(manifest: &Json, key: &str) -> Option<Vec<String>> {
    let value = manifest.get(key)?;
    // yarn: `"workspaces": { "packages": […] }`.
    let list = value.get("packages").unwrap_or(value).items();
    let patterns = list
        .iter()
        .filter_map(Json::as_str)
        .flat_map(without_braces);
    Some(patterns.collect())
}

/// The patterns under `packages:` of a `pnpm-workspace.yaml`, as a list in either of YAML's forms.
pub fn of_pnpm(text: &str) -> Vec<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("packages:"));
    let Some(first) = lines.next() else {
        return Vec::new();
    };
    let inline = without_comment(first.trim_start_matches("packages:")).trim();
    let mut items: Vec<String> = Vec::new();
    if inline.starts_with('[') {
        let mut whole = inline.to_owned();
        while !whole.contains(']') {
            let Some(line) = lines.next() else { break };
            whole.push_str(without_comment(line).trim());
        }
        let inner = whole.trim_start_matches('[').split(']').next();
        items.extend(inner.unwrap_or_default().split(',').map(str::to_owned));
    } else {
        for line in lines {
            let line = without_comment(line);
            match line.trim().strip_prefix('-') {
                Some(item) => items.push(item.to_owned()),
                None if line.trim().is_empty() => {}
                None => break,
            }
        }
    }
    let bare = |item: String| item.trim().trim_matches(['\'', '"']).to_owned();
    let patterns = items.into_iter().map(bare).filter(|item| !item.is_empty());
    patterns
        .flat_map(|pattern| without_braces(&pattern))
        .collect()
}

/// A YAML line without its comment: `#` at the beginning or after a space.
fn without_comment(line: &str) -> &str {
    let at = line.match_indices('#').map(|(at, _)| at);
    let mut begins = at.filter(|at| {
        line[..*at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
    });
    begins.next().map_or(line, |at| &line[..at])
}

/// `a/{b,c}` as `a/b` and `a/c`.
fn without_braces(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        let parts = pattern.split_once('{').and_then(|(before, rest)| {
            let (inner, after) = rest.split_once('}')?;
            Some((before, inner, after))
        });
        match parts {
            Some((before, inner, after)) if open.len() + done.len() < MAX_BRACES => {
                open.extend(
                    inner
                        .split(',')
                        .rev()
                        .map(|one| format!("{before}{one}{after}")),
                );
            }
            _ => done.push(pattern),
        }
    }
    done
}

/// Whether a folder, as seen from the workspace's root, is a member. The root always is.
pub fn is_member(patterns: &[String], folder: &str) -> bool {
    let fits = |pattern: &str| {
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        let pattern: Vec<&str> = pattern.split('/').collect();
        let folder: Vec<&str> = folder.split('/').collect();
        matches(&pattern, &folder, &|part| *part == "**", &|part, name| {
            let (part, name): (Vec<char>, Vec<char>) =
                (part.chars().collect(), name.chars().collect());
            matches(&part, &name, &|c| *c == '*', &|a, b| a == b || *a == '?')
        })
    };
    let (without, with): (Vec<&String>, Vec<&String>) = patterns
        .iter()
        .partition(|pattern| pattern.starts_with('!'));
    folder.is_empty()
        || (with.iter().any(|pattern| fits(pattern))
            && !without.iter().any(|pattern| fits(&pattern[1..])))
}

/// Whether a pattern, in which some items stand for any number of things, fits. Goes back only to the last of these: never takes longer
/// than the product of both lengths.
fn matches<T>(
    pattern: &[T],
    items: &[T],
    is_any: &dyn Fn(&T) -> bool,
    is_one: &dyn Fn(&T, &T) -> bool,
) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while next < items.len() {
        match pattern.get(at) {
            Some(part) if is_any(part) => {
                again = Some((at, next));
                at += 1;
            }
            Some(part) if is_one(part, &items[next]) => (at, next) = (at + 1, next + 1),
            _ => match again {
                Some((any, from)) => {
                    again = Some((any, from + 1));
                    (at, next) = (any + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_by_pattern() {
        let member = |patterns: &[&str], folder: &str| {
            let patterns: Vec<String> = patterns
                .iter()
                .flat_map(|one| without_braces(one))
                .collect();
            is_member(&patterns, folder)
        };
        for (patterns, folder, right) in [
            (&["packages/*"][..], "packages/a", true),
            (&["packages/*"], "packages/a/b", false),
            (&["packages/**"], "packages/a/b", true),
            (&["./packages/*/"], "packages/a", true),
            (&["**", "!**/test/**"], "a/test/b", false),
            (&["**", "!**/test/**"], "a/b", true),
            (&["{apps,libs}/*"], "libs/x", true),
            (&["{apps,libs}/*"], "docs/x", false),
            (&["a-*-b/?"], "a-x-y-b/c", true),
            (&["a"], "b", false),
            (&[], "", true),
            (&[], "a", false),
        ] {
            assert_eq!(member(patterns, folder), right, "{patterns:?} {folder}");
        }
        let stars = "*a".repeat(30);
        let never = format!("{stars}b");
        assert!(!member(&[&never], &"a".repeat(20_000)));
    }

    #[test]
    fn both_forms_of_a_yaml_list() {
        let block = "# x\ncatalog:\n  a: 1\npackages:\n  # all\n  - 'packages/*' # these\n\n  - \"!**/test/**\"\n  - docs\nother:\n  - no\n";
        assert_eq!(of_pnpm(block), ["packages/*", "!**/test/**", "docs"]);
        assert_eq!(of_pnpm("packages:\n- a#b\n- c\n"), ["a#b", "c"]);
        assert_eq!(of_pnpm("packages: ['a/*',\n \"b\"] # x\n"), ["a/*", "b"]);
        assert_eq!(of_pnpm("other: 1\n"), [""; 0]);
    }
}
