//! Methods of classes below that stand in for a method whose signature changed, and do not take what it takes any more.
//!
//! In: a difference, the code graph after the change. Out: places with evidence. An override that did not fit before is left alone, and so
//! is one whose own signature changed with it. Python only: in JavaScript a function may always be given more than it takes.

use std::collections::{BTreeMap, BTreeSet};

use super::difference::Difference;
use super::report::{ImpactError, Place};
use super::sites::{CONSTRUCTORS, file_of, last};
use crate::graph::{EdgeKind, Graph, NodeKind, Parameter, Passing, Signature};
use crate::id::BlobId;
use crate::repo::Repo;

/// The tree after the change, as far as classes and their methods go.
pub struct Below<'a> {
    repo: &'a Repo,
    graph: &'a Graph,
    /// What changed itself.
    changed: BTreeSet<&'a str>,
    /// Classes by what they extend.
    extended: BTreeMap<u32, Vec<u32>>,
    /// The signatures of files, once read.
    files: BTreeMap<String, Vec<Signature>>,
}

impl<'a> Below<'a> {
    /// Nothing read yet.
    pub fn new(repo: &'a Repo, graph: &'a Graph, differences: &'a [Difference]) -> Self {
        let mut extended: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for edge in graph.edges().filter(|edge| edge.kind == EdgeKind::Inherits) {
            extended.entry(edge.to).or_default().push(edge.from);
        }
        Self {
            repo,
            graph,
            changed: differences.iter().map(|one| one.node).collect(),
            extended,
            files: BTreeMap::new(),
        }
    }

    /// The overrides of a method that its change breaks.
    pub fn broken(&mut self, difference: &Difference) -> Result<Vec<Place>, ImpactError> {
        let Some((class, own)) = method_of(difference) else {
            return Ok(Vec::new());
        };
        let (Some(old), Some(new)) = (difference.old.last(), difference.new.last()) else {
            return Ok(Vec::new());
        };
        let mut places = Vec::new();
        let mut open: Vec<u32> = self.graph.find(class).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(class) = open.pop() {
            if !seen.insert(class) {
                continue;
            }
            let below = self.extended.get(&class).cloned().unwrap_or_default();
            for class in below {
                open.push(class);
                let node = format!("{}.{own}", self.graph.name(class));
                if let Some(over) = self.signature(&node)?
                    && refuses(old, &over).is_none()
                    && let Some(why) = refuses(new, &over)
                {
                    places.push(Place {
                        file: over
                            .name
                            .rsplit_once("::")
                            .map_or_else(String::new, |(file, _)| file.to_owned()),
                        line: over.lines.0,
                        text: format!("{own} of {}", last(self.graph.name(class))),
                        node,
                        is_changed: false,
                        is_guess: false,
                        why: Some(format!("overrides it, and {why}")),
                    });
                }
            }
        }
        places.sort();
        places.dedup();
        Ok(places)
    }

    /// The signature of a method that did not change with it; none when there is no such method, or more than one.
    fn signature(&mut self, node: &str) -> Result<Option<Signature>, ImpactError> {
        let Some(at) = self
            .graph
            .find(node)
            .filter(|_| !self.changed.contains(node))
        else {
            return Ok(None);
        };
        let file = file_of(self.graph, at);
        if !self.files.contains_key(&file) {
            let blob = self.graph.find(&file).and_then(|at| self.graph.object(at));
            let read = blob.map(|blob| Graph::signatures(self.repo, &file, BlobId(blob)));
            self.files
                .insert(file.clone(), read.transpose()?.unwrap_or_default());
        }
        let all = self.files.get(&file).map(Vec::as_slice).unwrap_or_default();
        let mut found = all.iter().filter(|own| own.name == node);
        let first = found.next().filter(|own| is_method(own)).cloned();
        Ok(first.filter(|_| found.next().is_none()))
    }
}

fn is_method(own: &Signature) -> bool {
    own.kind == NodeKind::Method && !own.is_property
}

/// The class and the name of a Python method that can be overridden and is still there.
fn method_of<'a>(difference: &Difference<'a>) -> Option<(&'a str, &'a str)> {
    let (class, own) = difference.node.rsplit_once('.')?;
    let (file, _) = difference.node.rsplit_once("::")?;
    // A name that begins with two underscores is each class's own.
    let is_private = own.starts_with("__") && !own.ends_with("__");
    let all = difference.old.iter().chain(&difference.new);
    let fits = file.ends_with(".py") && !is_private && !CONSTRUCTORS.contains(&own);
    (fits && all.into_iter().all(|own| is_method(own))).then_some((class, own))
}

/// What a call that fits one signature may give and another does not take, in words; none when it takes all.
fn refuses(base: &Signature, over: &Signature) -> Option<String> {
    let by_position =
        |own: &&Parameter| matches!(own.passing, Passing::Plain | Passing::Positional);
    let has = |passing| over.parameters.iter().any(|own| own.passing == passing);
    let places = over.parameters.iter().filter(by_position).count();
    let is_named = |name: &str| {
        has(Passing::NamedRest)
            || over.parameters.iter().any(|own| {
                own.name == name && matches!(own.passing, Passing::Plain | Passing::Named)
            })
    };
    for (at, own) in base.parameters.iter().enumerate() {
        let takes_place = at < places || has(Passing::Rest);
        let takes = match own.passing {
            Passing::Plain => takes_place && is_named(&own.name),
            Passing::Positional => takes_place,
            Passing::Named => is_named(&own.name),
            rest => has(rest),
        };
        if !takes {
            return Some(format!("does not take '{}'", own.name));
        }
    }
    let given = base.parameters.iter().filter(by_position).count();
    let mut needs = over.parameters.iter().enumerate().filter(|(at, own)| {
        let is_given = (by_position(own) && *at < given)
            || base.parameters.iter().any(|base| base.name == own.name);
        own.is_required() && !is_given
    });
    needs
        .next()
        .map(|(_, own)| format!("still needs '{}'", own.name))
}
