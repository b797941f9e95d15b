//! Coordinated change: which signatures a change alters, and which callers and importers that breaks.
//!
//! In: two trees. Out: a [`Report`]. Only the files that differ are parsed twice; callers come from the code graph of the tree after the
//! change, and of the tree before it where a definition is gone. A site counts as changed with it when its text is not what it was.
//! A signature, for the alarm, is the set of calls that fit it and the parameter that each argument reaches; where only something else
//! differs, that is a note. Never says that something breaks for a changed body. Never reads the work tree.

mod asked;
mod compare;
mod difference;
mod fit;
mod overrides;
mod report;
mod sites;

use std::collections::BTreeSet;

pub use asked::What;
pub use compare::Change;
pub use report::{Changed, ImpactError, Place, Report};

use difference::{Difference, differences};
use overrides::Below;

use crate::graph::{Graph, NodeKind, Passing, Signature};
use crate::id::{BlobId, TreeId};
use crate::repo::{Mode, Repo};

/// What a change breaks. `guesses`: also callers for which only the name speaks.
///
/// # Errors
/// When a revision names nothing, or a tree, or a blob that is there, cannot be read.
pub fn impact_of(
    repo: &Repo,
    what: What<'_>,
    guesses: bool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Report, ImpactError> {
    match what {
        What::Staged => {
            let (staged, tree) = repo.staged()?;
            let head = repo.head()?.commit;
            let old = head.map_or_else(|| Ok(repo.empty_tree()), |head| repo.tree_of(head))?;
            impact(&staged, old, tree, guesses, progress)
        }
        What::Rev(rev) => {
            let (old, new) = asked::trees(repo, rev)?;
            impact(repo, old, new, guesses, progress)
        }
    }
}

/// Compares two trees. `guesses`: also callers for which only the name speaks.
///
/// # Errors
/// When a tree, or a blob that is there, cannot be read.
pub fn impact(
    repo: &Repo,
    old: TreeId,
    new: TreeId,
    guesses: bool,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Report, ImpactError> {
    let mut before = Vec::new();
    let mut after = Vec::new();
    let mut gone_files = BTreeSet::new();
    for (path, change) in repo.diff(Some(old), new)? {
        let was = repo.entry(old, &path)?;
        if let Some(was) = was.filter(|was| was.mode == Mode::File) {
            let signatures = Graph::signatures(repo, &path, BlobId(was.id))?;
            if change.now.is_none() && !signatures.is_empty() {
                gone_files.insert(path.clone());
            }
            before.extend(signatures);
        }
        if let (Some(now), Mode::File) = (change.now, change.mode) {
            after.extend(Graph::signatures(repo, &path, BlobId(now))?);
        }
    }
    let differences = differences(&before, &after);
    if differences.is_empty() && gone_files.is_empty() {
        return Ok(Report::default());
    }
    let (old_graph, new_graph) = (
        Graph::at(repo, old, progress)?,
        Graph::at(repo, new, progress)?,
    );
    let trees = sites::Trees::read(
        repo,
        (old, &old_graph),
        (new, &new_graph),
        &differences,
        &gone_files,
        guesses,
    )?;
    let gone: BTreeSet<&str> = differences
        .iter()
        .filter(|difference| difference.is_gone())
        .map(|difference| difference.node)
        .chain(gone_files.iter().map(String::as_str))
        .collect();
    let mut report = Report::default();
    report.missing.extend_from_slice(new_graph.missing());
    let mut below = Below::new(repo, &new_graph, &differences);
    for difference in &differences {
        let overrides = below.broken(difference)?;
        let changed = changed(difference, &trees, overrides);
        if changed.breaks().next().is_some() || !difference.is_minor(&gone) {
            match changed.is_note() {
                true => report.notes.push(changed),
                false => report.changed.push(changed),
            }
        }
    }
    for file in &gone_files {
        let changes = vec![match moved_to(file, &differences) {
            Some(to) => Change::Moved { to },
            None => Change::Removed,
        }];
        report.changed.push(Changed {
            node: file.clone(),
            importers: trees.importers(file, &changes),
            changes,
            before: Vec::new(),
            after: Vec::new(),
            callers: Vec::new(),
            overrides: Vec::new(),
            unresolved: 0,
        });
    }
    report.changed.sort_by(|a, b| a.node.cmp(&b.node));
    old_graph.check()?;
    new_graph.check()?;
    Ok(report)
}

fn changed(difference: &Difference, trees: &sites::Trees, overrides: Vec<Place>) -> Changed {
    let written = |all: &[&Signature]| all.iter().map(|signature| written(signature)).collect();
    Changed {
        node: difference.node.to_owned(),
        changes: difference.changes.clone(),
        before: written(&difference.old),
        after: written(&difference.new),
        callers: match difference.is_gone() {
            true => trees.callers_of_gone(difference),
            false => trees.callers(difference),
        },
        importers: match difference.is_gone() {
            true => trees.importers(difference.node, &difference.changes),
            false => Vec::new(),
        },
        overrides,
        unresolved: trees.unresolved(difference),
    }
}

/// The file that all definitions of a file have moved to, if that is one.
fn moved_to(file: &str, differences: &[Difference]) -> Option<String> {
    let mut targets = differences
        .iter()
        .filter(|difference| {
            let place = difference.node.rsplit_once("::");
            difference.is_gone() && place.is_some_and(|(place, _)| place == file)
        })
        .map(|difference| match difference.changes.first() {
            Some(Change::Moved { to }) => to.rsplit_once("::").map(|(place, _)| place),
            _ => None,
        });
    let first = targets.next()??;
    targets
        .all(|other| other == Some(first))
        .then(|| first.to_owned())
}

/// A signature as callers see it: `(a, b=1) -> int`, by the language-neutral forms `*rest` and `**named`.
fn written(signature: &Signature) -> String {
    if signature.kind == NodeKind::Class && !signature.is_record {
        return String::new();
    }
    let mut parts = Vec::new();
    let mut is_named = false;
    for own in &signature.parameters {
        if own.passing == Passing::Named && !is_named {
            is_named = true;
            parts.push("*".to_owned());
        }
        is_named |= own.passing == Passing::Rest;
        let stars = match own.passing {
            Passing::Rest => "*",
            Passing::NamedRest => "**",
            _ => "",
        };
        parts.push(match own.default.as_deref() {
            None => format!("{stars}{}", own.name),
            Some("") => format!("{stars}{}?", own.name),
            Some(default) => format!("{stars}{}={default}", own.name),
        });
    }
    let returns = signature.returns.as_ref();
    format!(
        "({}){}",
        parts.join(", "),
        returns.map_or_else(String::new, |returns| format!(" -> {returns}"))
    )
}
