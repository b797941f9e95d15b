//! Which two trees a question about a change compares.
//!
//! In: a revision or a range. Out: two trees. Compares nothing.

use super::report::ImpactError;
use crate::id::TreeId;
use crate::repo::Repo;

/// The change that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// The index against `HEAD`: what the next commit would hold.
    Staged,
    /// A commit against its first parent, `A..B`, two commits, or `A...B`, the second and what it has in common with the first; none for `HEAD`. A first commit is compared with nothing.
    Rev(Option<&'a str>),
}

/// The tree before and the tree after.
pub(super) fn trees(repo: &Repo, rev: Option<&str>) -> Result<(TreeId, TreeId), ImpactError> {
    let of = |rev: &str| repo.commit_at(if rev.is_empty() { "HEAD" } else { rev });
    if let Some((from, to)) = rev.and_then(|rev| rev.split_once("..")) {
        if let Some(to) = to.strip_prefix('.') {
            let (from, to) = (of(from)?, of(to)?);
            let base = repo.merge_base(from, to)?;
            let base = base.ok_or(ImpactError::Unrelated(from, to))?;
            return Ok((repo.tree_of(base)?, repo.tree_of(to)?));
        }
        return Ok((repo.tree_of(of(from)?)?, repo.tree_of(of(to)?)?));
    }
    let commit = repo.commit(of(rev.unwrap_or_default())?)?;
    let old = match commit.parents.first() {
        Some(parent) => repo.tree_of(*parent)?,
        None => repo.empty_tree(),
    };
    Ok((old, commit.tree))
}
