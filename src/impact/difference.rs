//! Which definitions differ between two states of some files: other signature, gone, moved, renamed.
//!
//! In: the signatures of the changed files before and after. Out: one entry for each node that callers can notice. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Change, compare};
use crate::graph::Signature;

/// One definition that differs.
#[derive(Clone, Debug)]
pub struct Difference<'a> {
    /// Its node before.
    pub node: &'a str,
    /// Its signatures before; several for overloads.
    pub old: Vec<&'a Signature>,
    /// Its signatures after; empty when no definition of the name is left at its place.
    pub new: Vec<&'a Signature>,
    /// What callers can notice.
    pub changes: Vec<Change>,
}

impl Difference<'_> {
    /// Whether the definition is not where it was.
    pub fn is_gone(&self) -> bool {
        self.new.is_empty()
    }

    /// Whether it is of interest only where something breaks: what stood inside something else that is gone, or inside a function.
    pub fn is_minor(&self, gone: &BTreeSet<&str>) -> bool {
        self.is_gone()
            && (self.old.iter().any(|old| old.is_local)
                || containers(self.node).any(|container| gone.contains(container)))
    }
}

/// What a node stands in: its class or function, what that stands in, and the file.
fn containers(node: &str) -> impl Iterator<Item = &str> {
    let file = node.rsplit_once("::").map_or(node, |(file, _)| file);
    let dots = node.rmatch_indices('.').map(|(at, _)| at);
    dots.filter(move |at| *at > file.len())
        .filter_map(|at| node.get(..at))
        .chain(std::iter::once(file))
}

fn by_name(signatures: &[Signature]) -> BTreeMap<&str, Vec<&Signature>> {
    let mut named: BTreeMap<&str, Vec<&Signature>> = BTreeMap::new();
    for signature in signatures {
        named
            .entry(signature.name.as_str())
            .or_default()
            .push(signature);
    }
    named
}

/// Every definition that differs, in order of names.
pub fn differences<'a>(old: &'a [Signature], new: &'a [Signature]) -> Vec<Difference<'a>> {
    let (olds, news) = (by_name(old), by_name(new));
    let added: Vec<&Signature> = new
        .iter()
        .filter(|signature| !olds.contains_key(signature.name.as_str()))
        .collect();
    let mut found = Vec::new();
    for (node, old) in olds {
        let new = news.get(node).cloned().unwrap_or_default();
        let changes = match new.is_empty() {
            true => vec![whereabouts(node, &old, &added)],
            false => changes(&old, &new),
        };
        if !changes.is_empty() {
            found.push(Difference {
                node,
                old,
                new,
                changes,
            });
        }
    }
    found
}

/// What differs between the signatures of one name. Of overloads those that are on both sides are no difference; of the others the
/// last counts, which is the one with a body.
fn changes(old: &[&Signature], new: &[&Signature]) -> Vec<Change> {
    let mut lost = old
        .iter()
        .filter(|old| !new.iter().any(|new| compare(old, new).is_empty()));
    let mut gained = new
        .iter()
        .filter(|new| !old.iter().any(|old| compare(old, new).is_empty()));
    match (lost.next_back(), gained.next_back()) {
        (Some(old), Some(new)) => compare(old, new),
        // An overload more or less, beside others that stay.
        _ => Vec::new(),
    }
}

/// What became of a definition that is not at its place any more.
fn whereabouts(node: &str, old: &[&Signature], added: &[&Signature]) -> Change {
    let (file, qualified) = node.rsplit_once("::").unwrap_or((node, ""));
    let last = |name: &str| -> String {
        let name = name.rsplit_once("::").map_or(name, |(_, name)| name);
        name.rsplit('.').next().unwrap_or(name).to_owned()
    };
    let own = last(node);
    let only = |is_it: &dyn Fn(&Signature) -> bool| -> Option<String> {
        let mut all = added.iter().filter(|new| is_it(new)).map(|new| &new.name);
        let first = all.next()?;
        all.all(|other| other == first).then(|| first.clone())
    };
    let same_text = |new: &Signature| {
        old.iter()
            .any(|old| old.body == new.body && old.kind == new.kind)
    };
    let has_text = old.iter().any(|old| old.body.lines().count() > 1);
    let same_place = |new: &Signature| {
        let (at, name) = new.name.rsplit_once("::").unwrap_or((&new.name, ""));
        name == qualified && at != file
    };
    let moved = only(&|new| last(&new.name) == own && same_text(new)).or_else(|| only(&same_place));
    if let Some(to) = moved {
        return Change::Moved { to };
    }
    match only(&|new| has_text && same_text(new)) {
        Some(to) => Change::Renamed { to },
        None => Change::Removed,
    }
}
