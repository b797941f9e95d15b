//! Who else could see the private references, or take them away: remotes that mirror, and copies under other names.
//!
//! In: configuration and reference names. Out: findings, as plain data. Never asks a remote.

use gix::bstr::ByteSlice;

use super::open::{Repo, RepoError};
use crate::id::ObjectId;

/// What a remote fetches or pushes of its own accord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefSpec {
    /// Its key, `remote.<name>.push`.
    pub key: String,
    /// As it is configured.
    pub text: String,
    /// Whether it fetches, and so could overwrite what is here, or with `--prune` delete it.
    pub fetches: bool,
}

impl Repo {
    /// Every configured `remote.<name>.push`, `.fetch` and `.mirror` that covers one of the references `private`.
    pub fn mirrors(&self, private: &[&str]) -> Vec<RefSpec> {
        let config = self.git.config_snapshot();
        let remotes = config.plumbing().sections_by_name("remote");
        let mut specs = Vec::new();
        for remote in remotes.into_iter().flatten() {
            let Some(name) = remote.header().subsection_name() else {
                continue;
            };
            let name = name.to_str_lossy().into_owned();
            let texts = |key: &str| -> Vec<String> {
                let values = remote.values(key).into_iter();
                values
                    .map(|value| value.to_str_lossy().into_owned())
                    .collect()
            };
            for (key, fetches) in [("push", false), ("fetch", true)] {
                let all = texts(key);
                let is_kept_out = |name: &str| {
                    let mut negative = all.iter().filter_map(|spec| spec.strip_prefix('^'));
                    negative.any(|spec| covers(spec, name))
                };
                let exposed: Vec<&&str> =
                    private.iter().filter(|name| !is_kept_out(name)).collect();
                for text in all.iter().filter(|spec| !spec.starts_with('^')) {
                    let (source, target) = sides(text);
                    let side = if fetches { target } else { source };
                    if exposed.iter().any(|name| covers(side, name)) {
                        let key = format!("remote.{name}.{key}");
                        specs.push(RefSpec {
                            key,
                            text: text.clone(),
                            fetches,
                        });
                    }
                }
            }
            let mirror = texts("mirror").pop();
            if let Some(text) = mirror.filter(|text| is_on(text)) {
                let key = format!("remote.{name}.mirror");
                specs.push(RefSpec {
                    key,
                    text,
                    fetches: false,
                });
            }
        }
        specs
    }

    /// References that are none of `private` and yet called like them, or lead to the same object: the name of each.
    ///
    /// # Errors
    /// When the references cannot be read.
    pub fn copies_of(&self, private: &[&str]) -> Result<Vec<String>, RepoError> {
        let mut targets: Vec<ObjectId> = Vec::new();
        for name in private {
            targets.extend(self.reference(name)?);
        }
        let endings: Vec<&str> = private
            .iter()
            .filter_map(|name| name.strip_prefix("refs"))
            .collect();
        let mut copies = Vec::new();
        for named in self.names("refs/")? {
            if private.contains(&named.name.as_str()) {
                continue;
            }
            let is_same = named.id.is_some_and(|target| targets.contains(&target));
            if is_same || endings.iter().any(|ending| named.name.ends_with(ending)) {
                copies.push(named.name);
            }
        }
        copies.sort();
        Ok(copies)
    }
}

/// The two sides of a refspec; one that names only one side pushes and fetches under the same name.
fn sides(spec: &str) -> (&str, &str) {
    let spec = spec.trim_start_matches('+');
    spec.split_once(':').unwrap_or((spec, spec))
}

/// Whether a name, or pattern with one star, covers a reference.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
        None => pattern == name,
    }
}

fn is_on(value: &str) -> bool {
    !matches!(
        value.to_ascii_lowercase().as_str(),
        "false" | "no" | "off" | "0"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_git_says_they_do() {
        let records = "refs/score-local/records";
        for (pattern, is_covered) in [
            ("refs/*", true),
            ("refs/score-local/*", true),
            ("refs/sc*", true),
            ("refs/*/records", true),
            (records, true),
            ("refs/heads/*", false),
            ("refs/score-local", false),
            ("HEAD", false),
            ("", false),
        ] {
            assert_eq!(covers(pattern, records), is_covered, "{pattern}");
        }
        assert_eq!(sides("+a:b"), ("a", "b"));
        assert_eq!(sides("a"), ("a", "a"));
        assert!(is_on("") && is_on("true") && !is_on("False"));
    }
}
