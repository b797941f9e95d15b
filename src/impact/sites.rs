//! The call sites and imports that a difference concerns, in both trees, and which of them break.
//!
//! In: two trees with their graphs, the differences. Out: places with evidence. Reads the repository once, when made.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::Change;
use super::difference::Difference;
use super::fit::{misfit, shifted};
use super::report::{ImpactError, Place};
use crate::graph::{EdgeKind, Graph, Imported, Resolution, Signature, Site, Sites, Wanted};
use crate::id::TreeId;
use crate::repo::Repo;

/// What both trees say about the sites of interest.
pub struct Trees {
    old: Sites,
    new: Sites,
    /// Calls of the tree before: file, caller, text.
    known: BTreeSet<(String, String, String)>,
    /// Calls that only a name speaks for: caller and target.
    guessed: BTreeSet<(String, String)>,
    /// Unresolved call sites by name, before and after.
    unresolved: [BTreeMap<String, u32>; 2],
}

/// Methods that run when a class is called.
pub const CONSTRUCTORS: [&str; 3] = ["__init__", "__new__", "constructor"];

/// The last segment of a qualified name.
pub fn last(node: &str) -> &str {
    let qualified = node.rsplit_once("::").map_or(node, |(_, name)| name);
    qualified.rsplit('.').next().unwrap_or(qualified)
}

/// The class that a node constructs, when it is a constructor.
fn class_of(node: &str) -> Option<&str> {
    let (class, own) = node.rsplit_once('.')?;
    CONSTRUCTORS.contains(&own).then_some(class)
}

fn key(site: &Site) -> (String, String, String) {
    let called = &site.called;
    let text = match site.text.is_empty() {
        true => called.name.clone(),
        false => site.text.clone(),
    };
    (called.file.clone(), called.caller.clone(), text)
}

/// The files with a call to one of the nodes, or of a class below one that it constructs.
fn calling_files(
    graph: &Graph,
    nodes: &BTreeSet<&str>,
    guesses: bool,
    files: &mut BTreeSet<String>,
) {
    let find = |name: &&str| graph.find(name);
    let mut targets: BTreeSet<u32> = nodes.iter().filter_map(find).collect();
    let classes = nodes.iter().filter_map(|node| class_of(node));
    let mut below: Vec<u32> = classes.filter_map(|class| graph.find(class)).collect();
    let inherits: Vec<(u32, u32)> = graph
        .edges()
        .filter(|edge| edge.kind == EdgeKind::Inherits)
        .map(|edge| (edge.to, edge.from))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(class) = below.pop() {
        if seen.insert(class) {
            below.extend(
                inherits
                    .iter()
                    .filter(|(base, _)| *base == class)
                    .map(|(_, own)| own),
            );
        }
    }
    targets.extend(seen);
    for edge in graph.edges() {
        let is_call = edge.kind == EdgeKind::Calls && targets.contains(&edge.to);
        if is_call && (guesses || edge.resolution != Resolution::Guess) {
            files.insert(file_of(graph, edge.from));
        }
    }
}

/// The file that a node stands in, or is.
pub fn file_of(graph: &Graph, node: u32) -> String {
    let name = graph.name(node);
    match graph.kind(node).is_path() {
        true => name.to_owned(),
        // A path may hold `::` too, so the longest that is one counts.
        false => name
            .rmatch_indices("::")
            .filter_map(|(at, _)| name.get(..at))
            .find(|path| graph.find(path).is_some())
            .unwrap_or(name)
            .to_owned(),
    }
}

impl Trees {
    /// Reads the sites that the differences concern.
    pub fn read(
        repo: &Repo,
        old: (TreeId, &Graph),
        new: (TreeId, &Graph),
        differences: &[Difference],
        gone_files: &BTreeSet<String>,
        guesses: bool,
    ) -> Result<Self, ImpactError> {
        let (gone, kept): (Vec<&Difference>, Vec<&Difference>) = differences
            .iter()
            .partition(|difference| difference.is_gone());
        let nodes = |of: &[&Difference]| of.iter().map(|one| one.node.to_owned()).collect();
        let (gone, kept): (BTreeSet<String>, BTreeSet<String>) = (nodes(&gone), nodes(&kept));
        let gone: BTreeSet<&str> = gone.iter().map(String::as_str).collect();
        let kept: BTreeSet<&str> = kept.iter().map(String::as_str).collect();
        let mut wanted = Wanted::default();
        calling_files(new.1, &kept, guesses, &mut wanted.files);
        calling_files(old.1, &gone, guesses, &mut wanted.files);
        for edge in old.1.edges() {
            if edge.kind == EdgeKind::Imports && gone_files.contains(old.1.name(edge.to)) {
                wanted.files.insert(old.1.name(edge.from).to_owned());
            }
        }
        wanted
            .names
            .extend(gone.iter().map(|node| last(node).to_owned()));
        for file in gone_files {
            let name = file.rsplit('/').next().unwrap_or(file);
            let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
            wanted.names.insert(stem.to_owned());
        }
        let (before, after) = (
            Graph::sites(repo, old.0, &wanted)?,
            Graph::sites(repo, new.0, &wanted)?,
        );
        let mut guessed = BTreeSet::new();
        if guesses {
            for (graph, nodes) in [(old.1, &gone), (new.1, &kept)] {
                for edge in graph
                    .edges()
                    .filter(|edge| edge.resolution == Resolution::Guess)
                {
                    let (from, to) = (graph.name(edge.from), graph.name(edge.to));
                    if nodes.contains(to) {
                        guessed.insert((from.to_owned(), to.to_owned()));
                    }
                }
            }
        }
        Ok(Self {
            known: before.calls.iter().map(key).collect(),
            old: before,
            new: after,
            guessed,
            unresolved: [
                old.1.stats().unresolved_names,
                new.1.stats().unresolved_names,
            ],
        })
    }

    /// How many call sites of a definition's name have no known target.
    pub fn unresolved(&self, difference: &Difference) -> u32 {
        let [old, new] = &self.unresolved;
        let name = last(class_of(difference.node).unwrap_or(difference.node));
        let counts = if difference.is_gone() { old } else { new };
        counts.get(name).copied().unwrap_or(0)
    }

    /// Whether a site reaches a node, and whether that is a guess.
    fn reaches(&self, site: &Site, node: &str) -> Option<bool> {
        let called = &site.called;
        if called.targets.iter().any(|target| target == node) {
            return Some(false);
        }
        let is_guess = called.targets.is_empty()
            && !called.is_foreign
            && called.name == last(node)
            && self
                .guessed
                .contains(&(called.caller.clone(), node.to_owned()));
        is_guess.then_some(true)
    }

    /// The call sites of a definition that is still there.
    pub fn callers(&self, difference: &Difference) -> Vec<Place> {
        let sites = self.new.calls.iter().filter_map(|site| {
            let is_guess = self.reaches(site, difference.node)?;
            let is_changed = !self.known.contains(&key(site));
            let why = match is_changed {
                true => None,
                false => why_broken(site, difference),
            };
            Some(place(site, is_changed, is_guess, why))
        });
        sorted(sites.collect())
    }

    /// The call sites, before the change, of a definition that is gone.
    pub fn callers_of_gone(&self, difference: &Difference) -> Vec<Place> {
        let after: BTreeMap<_, _> = self
            .new
            .calls
            .iter()
            .map(|site| (key(site), site))
            .collect();
        let fate = fate(&difference.changes);
        let sites = self.old.calls.iter().filter_map(|site| {
            let is_guess = self.reaches(site, difference.node)?;
            // A constructor that is gone leaves the class, which can still be called.
            if class_of(difference.node).is_some() && site.called.name != last(difference.node) {
                return None;
            }
            Some(match after.get(&key(site)) {
                None => place(site, true, is_guess, None),
                Some(now) => {
                    let is_lost = now.called.targets.is_empty() && !now.called.is_foreign;
                    let why = is_lost.then(|| format!("calls what {fate}"));
                    place(now, false, is_guess, why)
                }
            })
        });
        sorted(sites.collect())
    }

    /// The imports, before the change, of a definition or file that is gone.
    pub fn importers(&self, node: &str, changes: &[Change]) -> Vec<Place> {
        let fate = fate(changes);
        let imports = self.old.imports.iter().filter(|import| {
            import.file != node && import.targets.iter().any(|target| target == node)
        });
        let places = imports.map(|import| {
            let same = |now: &&Imported| now.file == import.file && now.name == import.name;
            let now = self.new.imports.iter().find(same);
            Place {
                file: import.file.clone(),
                line: now.unwrap_or(import).line,
                node: import.file.clone(),
                text: format!("import of {}", import.name),
                is_changed: now.is_none(),
                is_guess: false,
                why: now
                    .filter(|now| !now.is_found && now.targets.is_empty())
                    .map(|_| format!("imports what {fate}")),
            }
        });
        sorted(places.collect())
    }
}

fn sorted(mut places: Vec<Place>) -> Vec<Place> {
    places.sort();
    places.dedup();
    places
}

fn place(site: &Site, is_changed: bool, is_guess: bool, why: Option<String>) -> Place {
    let called = &site.called;
    Place {
        file: called.file.clone(),
        line: called.line,
        node: called.caller.clone(),
        text: key(site).2,
        is_changed,
        is_guess,
        why,
    }
}

/// What became of something that is gone, to follow "what".
fn fate(changes: &[Change]) -> String {
    match changes.first() {
        Some(Change::Moved { to }) => format!("has moved to {to}"),
        Some(Change::Renamed { to }) => format!("is {to} now"),
        _ => "is gone".to_owned(),
    }
}

/// Why a call that is as it was does not fit any more.
fn why_broken(site: &Site, difference: &Difference) -> Option<String> {
    let arguments = site.arguments.as_ref()?;
    let is_construction =
        class_of(difference.node).is_some() && !CONSTRUCTORS.contains(&site.called.name.as_str());
    let is_bound = match is_construction {
        true => Some(true),
        false => site.called.is_bound,
    };
    let callable = |of: &[&'_ Signature]| -> bool {
        of.iter().all(|signature| {
            let is_class = signature.kind == crate::graph::NodeKind::Class;
            (!is_class || signature.is_record) && !signature.is_property
        })
    };
    if !callable(&difference.old) || !callable(&difference.new) {
        return None;
    }
    let fits = |signature: &&Signature| misfit(arguments, signature, is_bound).is_none();
    // What did not fit before either is called through something that is not seen here, a decorator say.
    let old = difference.old.iter().find(|old| fits(old))?;
    match difference.new.iter().find(|new| fits(new)) {
        Some(new) => shifted(arguments, old, new, is_bound),
        None => misfit(arguments, difference.new.last()?, is_bound),
    }
}
