//! The gate: repositories that the Git library opens silently, but that this tool must not read or write.
//!
//! Each refusal is one sentence with Git's own hint. What passes here is safe to write to.

use gix::bstr::ByteSlice;

use super::open::RepoError;

/// Extensions that change nothing we rely on (`Documentation/technical/repository-version.txt` of Git 2.47).
const KNOWN: [&str; 8] = [
    "noop",
    "noop-v1",
    "preciousobjects",
    "partialclone",
    "worktreeconfig",
    "objectformat",
    "compatobjectformat",
    "relativeworktrees",
];
/// Extensions that Git refuses in a repository of version 0.
const VERSION_1_ONLY: [&str; 4] = [
    "noop-v1",
    "objectformat",
    "compatobjectformat",
    "relativeworktrees",
];

/// Refuses a repository of another owner, of an unknown format version or extension, or with reference storage other than files.
pub(super) fn check(git: &gix::Repository) -> Result<(), RepoError> {
    if git.git_dir_trust() != gix::sec::Trust::Full {
        let path = git.workdir().unwrap_or(git.git_dir());
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        return Err(RepoError::Refused(format!(
            "detected dubious ownership in repository at '{0}'\nhint: To add an exception for this directory, call:\nhint: \tgit config --global --add safe.directory '{0}'",
            path.display()
        )));
    }
    let config = git.config_snapshot();
    let version = match config.try_integer("core.repositoryFormatVersion") {
        Ok(version) => version.unwrap_or(0),
        Err(_) => -1,
    };
    if !(0..=1).contains(&version) {
        return Err(RepoError::Refused(format!(
            "the repository has format version {version}, and this tool knows 0 and 1"
        )));
    }
    let extensions = config
        .plumbing()
        .sections_by_name("extensions")
        .into_iter()
        .flatten()
        .filter(|section| matches!(section.meta().source, gix::config::Source::Local));
    for section in extensions {
        for name in section.value_names() {
            let name = name.to_ascii_lowercase();
            check_extension(&name, version, || {
                section
                    .value(&name)
                    .map(|value| value.to_str_lossy().into_owned())
            })?;
        }
    }
    Ok(())
}

fn check_extension(
    name: &str,
    version: i64,
    value: impl Fn() -> Option<String>,
) -> Result<(), RepoError> {
    if name == "refstorage" {
        let value = value().unwrap_or_default();
        if value != "files" {
            return Err(RepoError::Refused(format!(
                "the repository keeps its references as '{value}', and this tool can only use the 'files' format\nhint: 'git refs migrate --ref-format=files' changes it"
            )));
        }
    } else if version == 1 && !KNOWN.contains(&name) {
        return Err(RepoError::Refused(format!(
            "the repository uses the extension '{name}', which this tool does not know"
        )));
    }
    if version == 0 && VERSION_1_ONLY.contains(&name) {
        return Err(RepoError::Refused(format!(
            "repo version is 0, but v1-only extension found: {name}"
        )));
    }
    Ok(())
}
