//! What the graph says about one node: its edges, its callers, its importers, its neighbours.
//!
//! In: a graph and a node of it. Out: plain data in order of names. Beside every count of callers stands how many call sites of that name
//! could not be resolved, so that "no callers" can be told from "none that could be found".

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::graph::parts::{Edge, EdgeKind, NodeKind, Resolution};
use crate::graph::table::Graph;

/// One edge as seen from the node at its near end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen<'graph> {
    /// The node at the far end; `path::` for the top level of a file that calls.
    pub node: String,
    /// How the edge was found.
    pub resolution: &'static str,
    /// The node at the near end.
    #[serde(skip)]
    pub to: &'graph str,
}

/// The edges of a node that say one thing of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation<'graph> {
    /// What they say: `holds`, `called by`.
    pub word: &'static str,
    /// The nodes at the far ends.
    pub seen: Vec<Seen<'graph>>,
}

/// How many call sites without a known target call something by these names.
pub type Missed = BTreeMap<String, u32>;

/// The last segment of a node's name, or of its class's for a constructor: what call sites call it by.
pub fn called_name(name: &str) -> &str {
    let qualified = name
        .rsplit_once("::")
        .map_or("", |(_, qualified)| qualified);
    let mut segments = qualified.rsplit('.');
    match (segments.next().unwrap_or(""), segments.next()) {
        ("__init__" | "__new__" | "constructor", Some(class)) => class,
        (last, _) => last,
    }
}

impl Graph {
    /// The calls of a node from elsewhere; of a class also those of its constructor, of a path those of everything in it from outside.
    pub fn callers(&self, node: u32, guesses: bool) -> (Vec<Seen<'_>>, Missed) {
        let targets = self.targets(node);
        let is_path = self.kind(node).is_path();
        let mut callers: Vec<Seen> = self
            .edges()
            .filter(|edge| edge.kind == EdgeKind::Calls && targets.contains(&edge.to))
            .filter(|edge| guesses || edge.resolution != Resolution::Guess)
            // What is inside calls itself; asked about a place, that says nothing.
            .filter(|edge| !is_path || !targets.contains(&edge.from))
            .map(|edge| self.seen(&edge, edge.from, edge.to))
            .collect();
        callers.sort_by(|a, b| (&a.node, a.to).cmp(&(&b.node, b.to)));
        (callers, self.missed(targets.iter().copied()))
    }

    /// The file that a node is or stands in (a directory is itself), and for each import of it from elsewhere the file that imports
    /// and the one that is imported.
    pub fn importers(&self, node: u32) -> (u32, Vec<(&str, &str)>) {
        let place = self.place(node);
        let mut targets = BTreeSet::from([place]);
        if self.kind(place) == NodeKind::Directory {
            targets.extend(self.beneath(place));
        }
        let edges = self.edges().filter(|edge| {
            edge.kind == EdgeKind::Imports
                && targets.contains(&edge.to)
                && !targets.contains(&edge.from)
        });
        let mut importers: Vec<(&str, &str)> = edges
            .map(|edge| (self.name(edge.from), self.name(edge.to)))
            .collect();
        importers.sort_unstable();
        (place, importers)
    }

    /// The edges of a node by what they say of it, in the order of the kinds.
    pub fn relations(&self, node: u32, guesses: bool) -> Vec<Relation<'_>> {
        let mut found: BTreeMap<(EdgeKind, bool), Vec<Seen>> = BTreeMap::new();
        for edge in self.edges() {
            if edge.resolution == Resolution::Guess && !guesses {
                continue;
            }
            if edge.from == node {
                let far = self.seen(&edge, edge.to, node);
                found.entry((edge.kind, false)).or_default().push(far);
            }
            if edge.to == node {
                let far = self.seen(&edge, edge.from, node);
                found.entry((edge.kind, true)).or_default().push(far);
            }
        }
        let named = found.into_iter().map(|((kind, is_end), seen)| {
            let (start, end) = words(kind);
            Relation {
                word: if is_end { end } else { start },
                seen,
            }
        });
        named.collect()
    }

    /// The same without the edges of directories: everything is one step from everything over them.
    pub fn neighbours(&self, node: u32, guesses: bool) -> Vec<Relation<'_>> {
        let mut relations = self.relations(node, guesses);
        for relation in &mut relations {
            relation.seen.retain(|seen| {
                let far = self.find(&seen.node);
                let is_directory = far.is_some_and(|far| self.kind(far) == NodeKind::Directory);
                seen.resolution != Resolution::Tree.as_str() || !is_directory
            });
        }
        relations
    }

    /// `graph callers --json`.
    pub fn callers_json(&self, node: u32, guesses: bool) -> Value {
        let (callers, missed) = self.callers(node, guesses);
        let lines = callers.iter().map(|caller| {
            json!({"node": caller.node, "calls": caller.to, "resolution": caller.resolution})
        });
        json!({"node": self.name(node), "callers": lines.collect::<Vec<_>>(), "unresolved": missed})
    }

    /// `graph importers --json`.
    pub fn importers_json(&self, node: u32) -> Value {
        let (place, importers) = self.importers(node);
        let lines = importers
            .iter()
            .map(|(from, to)| json!({"node": from, "imports": to}));
        json!({
            "node": self.name(node), "file": self.name(place), "importers": lines.collect::<Vec<_>>(),
        })
    }

    /// `graph show --json`.
    pub fn node_json(&self, node: u32, guesses: bool) -> Value {
        let (kind, (first, last)) = (self.kind(node), self.lines(node));
        let mut value = json!({
            "node": self.name(node), "kind": kind.as_str(), "object": self.object(node),
        });
        if first > 0 {
            value["lines"] = json!([first, last]);
        }
        for relation in self.relations(node, guesses) {
            value[relation.word.replace(' ', "_")] = json!(relation.seen);
        }
        if !kind.is_path() {
            value["unresolved"] = json!(self.missed(std::iter::once(node)));
        }
        value
    }

    /// How many call sites without a known target call something by the name of one of the nodes, by name.
    pub fn missed(&self, nodes: impl Iterator<Item = u32>) -> Missed {
        let stats = self.stats();
        let names: BTreeSet<&str> = nodes.map(|node| called_name(self.name(node))).collect();
        let counts = names.into_iter().filter_map(|name| {
            let count = stats.unresolved_names.get(name)?;
            Some((name.to_owned(), *count))
        });
        counts.collect()
    }

    /// The node, and what belongs to it where callers are asked for.
    fn targets(&self, node: u32) -> BTreeSet<u32> {
        let mut targets = BTreeSet::from([node]);
        match self.kind(node) {
            NodeKind::Class => {
                let name = self.name(node);
                let constructors = ["__init__", "__new__", "constructor"];
                targets.extend(
                    constructors
                        .iter()
                        .filter_map(|own| self.find(&format!("{name}.{own}"))),
                );
            }
            kind if kind.is_path() => targets.extend(self.beneath(node)),
            _ => {}
        }
        targets
    }

    /// The file that a node is or stands in; a directory is itself.
    pub fn place(&self, node: u32) -> u32 {
        if self.kind(node).is_path() {
            return node;
        }
        let name = self.name(node);
        let mut ends = name.match_indices("::");
        // A path may hold `::` itself.
        let file = ends.find_map(|(at, _)| {
            self.find(name.get(..at)?)
                .filter(|file| self.kind(*file).is_path())
        });
        file.unwrap_or(node)
    }

    fn seen(&self, edge: &Edge, far: u32, near: u32) -> Seen<'_> {
        let name = self.name(far);
        let is_top = edge.kind == EdgeKind::Calls && edge.from == far;
        Seen {
            node: match self.kind(far) {
                NodeKind::File if is_top => format!("{name}::"),
                _ => name.to_owned(),
            },
            resolution: edge.resolution.as_str(),
            to: self.name(near),
        }
    }
}

/// What an edge says of the node at its start, and of the node at its end.
fn words(kind: EdgeKind) -> (&'static str, &'static str) {
    match kind {
        EdgeKind::Contains => ("holds", "held by"),
        EdgeKind::Imports => ("imports", "imported by"),
        EdgeKind::Calls => ("calls", "called by"),
        EdgeKind::Inherits => ("inherits from", "inherited by"),
    }
}
