//! `graph show`, `callers`, `importers` and `neighbours`: what the graph says about one node.
//!
//! Beside every count of callers stands how many call sites of that name could not be resolved, so that "no callers" can be told from
//! "none that could be found".

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::cli::context::Context;
use crate::graph::{Edge, EdgeKind, Graph, NodeKind, Resolution};
use crate::render::visible;

/// One edge as seen from the node at its other end.
struct Seen<'graph> {
    /// The node at the far end; `path::` for the top level of a file that calls.
    node: String,
    /// How the edge was found.
    resolution: &'static str,
    /// The node at the near end.
    to: &'graph str,
}

/// The last segment of a node's name, or of its class's for a constructor: what call sites call it by.
fn called_name(name: &str) -> &str {
    let qualified = name
        .rsplit_once("::")
        .map_or("", |(_, qualified)| qualified);
    let mut segments = qualified.rsplit('.');
    match (segments.next().unwrap_or(""), segments.next()) {
        ("__init__" | "__new__" | "constructor", Some(class)) => class,
        (last, _) => last,
    }
}

/// How many call sites without a known target call something by the name of one of the nodes, by name.
fn unresolved(graph: &Graph, nodes: impl Iterator<Item = u32>) -> BTreeMap<String, u32> {
    let stats = graph.stats();
    let names: BTreeSet<&str> = nodes.map(|node| called_name(graph.name(node))).collect();
    let counts = names.into_iter().filter_map(|name| {
        let count = stats.unresolved_names.get(name)?;
        Some((name.to_owned(), *count))
    });
    counts.collect()
}

fn sentence(unresolved: &BTreeMap<String, u32>, names: &str) -> String {
    let sites: u32 = unresolved.values().sum();
    match sites {
        0 => format!("every call site of the name {names} was resolved"),
        1 => format!("1 call site of the name {names} could not be resolved"),
        _ => format!("{sites} call sites of the name {names} could not be resolved"),
    }
}

/// The node, and what belongs to it where callers are asked for.
fn targets(graph: &Graph, node: u32) -> BTreeSet<u32> {
    let mut targets = BTreeSet::from([node]);
    match graph.kind(node) {
        NodeKind::Class => {
            let name = graph.name(node);
            let constructors = ["__init__", "__new__", "constructor"];
            targets.extend(
                constructors
                    .iter()
                    .filter_map(|own| graph.find(&format!("{name}.{own}"))),
            );
        }
        kind if kind.is_path() => targets.extend(graph.beneath(node)),
        _ => {}
    }
    targets
}

fn seen<'graph>(graph: &'graph Graph, edge: &Edge, far: u32, near: u32) -> Seen<'graph> {
    let name = graph.name(far);
    let is_top = edge.kind == EdgeKind::Calls && edge.from == far;
    Seen {
        node: match graph.kind(far) {
            NodeKind::File if is_top => format!("{name}::"),
            _ => name.to_owned(),
        },
        resolution: edge.resolution.as_str(),
        to: graph.name(near),
    }
}

pub(super) fn callers(context: &Context, graph: &Graph, node: u32, guesses: bool) -> String {
    let targets = targets(graph, node);
    let is_path = graph.kind(node).is_path();
    let mut callers: Vec<Seen> = graph
        .edges()
        .filter(|edge| edge.kind == EdgeKind::Calls && targets.contains(&edge.to))
        .filter(|edge| guesses || edge.resolution != Resolution::Guess)
        // What is inside calls itself; asked about a place, that says nothing.
        .filter(|edge| !is_path || !targets.contains(&edge.from))
        .map(|edge| seen(graph, &edge, edge.from, edge.to))
        .collect();
    callers.sort_by(|a, b| (&a.node, a.to).cmp(&(&b.node, b.to)));
    let missed = unresolved(graph, targets.iter().copied());
    let name = graph.name(node);
    if context.json {
        let lines = callers.iter().map(|caller| {
            json!({"node": caller.node, "calls": caller.to, "resolution": caller.resolution})
        });
        return json!({
            "node": name, "callers": lines.collect::<Vec<Value>>(), "unresolved": missed,
        })
        .to_string();
    }
    let mut text = String::new();
    for caller in &callers {
        let to = match caller.to == name {
            true => String::new(),
            false => format!(" -> {}", visible(caller.to)),
        };
        text.push_str(&format!(
            "{}{to}  ({})\n",
            visible(&caller.node),
            caller.resolution
        ));
    }
    let names = match is_path {
        true => "of a definition in it".to_owned(),
        false => visible(called_name(name)),
    };
    let nodes: BTreeSet<&str> = callers.iter().map(|caller| caller.node.as_str()).collect();
    text.push_str(&format!(
        "{}; {}\n",
        counted(nodes.len(), "caller"),
        sentence(&missed, &names)
    ));
    text
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The file that a node is or stands in; a directory is itself.
fn place(graph: &Graph, node: u32) -> u32 {
    match graph.kind(node).is_path() {
        true => node,
        false => {
            let name = graph.name(node);
            let mut ends = name.match_indices("::");
            // A path may hold `::` itself.
            ends.find_map(|(at, _)| {
                graph
                    .find(name.get(..at)?)
                    .filter(|file| graph.kind(*file).is_path())
            })
            .unwrap_or(node)
        }
    }
}

pub(super) fn importers(context: &Context, graph: &Graph, node: u32) -> String {
    let place = place(graph, node);
    let mut targets = BTreeSet::from([place]);
    if graph.kind(place) == NodeKind::Directory {
        targets.extend(graph.beneath(place));
    }
    let edges = graph.edges().filter(|edge| {
        edge.kind == EdgeKind::Imports
            && targets.contains(&edge.to)
            && !targets.contains(&edge.from)
    });
    let mut importers: Vec<(&str, &str)> = edges
        .map(|edge| (graph.name(edge.from), graph.name(edge.to)))
        .collect();
    importers.sort_unstable();
    if context.json {
        let lines = importers
            .iter()
            .map(|(from, to)| json!({"node": from, "imports": to}));
        return json!({
            "node": graph.name(node), "file": graph.name(place), "importers": lines.collect::<Vec<Value>>(),
        })
        .to_string();
    }
    let mut text = String::new();
    for (from, to) in &importers {
        text.push_str(&match graph.kind(place) {
            NodeKind::Directory => format!("{} -> {}\n", visible(from), visible(to)),
            _ => format!("{}\n", visible(from)),
        });
    }
    let files: BTreeSet<&str> = importers.iter().map(|(from, _)| *from).collect();
    text.push_str(&format!(
        "{} of {}\n",
        counted(files.len(), "importer"),
        visible(graph.name(place))
    ));
    text
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

/// The edges of a node by what they say of it, in the order of the kinds.
fn relations(graph: &Graph, node: u32, guesses: bool) -> Vec<(&'static str, Vec<Seen<'_>>)> {
    let mut found: BTreeMap<(EdgeKind, bool), Vec<Seen>> = BTreeMap::new();
    for edge in graph.edges() {
        if edge.resolution == Resolution::Guess && !guesses {
            continue;
        }
        if edge.from == node {
            let far = seen(graph, &edge, edge.to, node);
            found.entry((edge.kind, false)).or_default().push(far);
        }
        if edge.to == node {
            let far = seen(graph, &edge, edge.from, node);
            found.entry((edge.kind, true)).or_default().push(far);
        }
    }
    let named = found.into_iter().map(|((kind, is_end), seen)| {
        let (start, end) = words(kind);
        (if is_end { end } else { start }, seen)
    });
    named.collect()
}

pub(super) fn show(context: &Context, graph: &Graph, node: u32, guesses: bool) -> String {
    let (name, kind) = (graph.name(node), graph.kind(node));
    let (first, last) = graph.lines(node);
    let relations = relations(graph, node, guesses);
    let missed = unresolved(graph, std::iter::once(node));
    if context.json {
        let mut value = json!({"node": name, "kind": kind.as_str(), "object": graph.object(node)});
        if first > 0 {
            value["lines"] = json!([first, last]);
        }
        for (word, seen) in &relations {
            let list = seen
                .iter()
                .map(|seen| json!({"node": seen.node, "resolution": seen.resolution}));
            value[word.replace(' ', "_")] = list.collect();
        }
        if !kind.is_path() {
            value["unresolved"] = json!(missed);
        }
        return value.to_string();
    }
    let mut text = visible(name);
    text.push_str(&format!("  {}", kind.as_str()));
    if first > 0 {
        text.push_str(&format!(", lines {first} to {last}"));
    }
    if let Some(object) = graph.object(node) {
        text.push_str(&format!(", object {object}"));
    }
    text.push('\n');
    for (word, seen) in &relations {
        text.push_str(&format!("{word} ({})\n", seen.len()));
        for seen in seen {
            text.push_str(&format!(
                "  {}  ({})\n",
                visible(&seen.node),
                seen.resolution
            ));
        }
    }
    if !kind.is_path() {
        if !relations.iter().any(|(word, _)| *word == "called by") {
            text.push_str("called by (0)\n");
        }
        let names = visible(called_name(name));
        text.push_str(&format!("{}\n", sentence(&missed, &names)));
    }
    text
}

pub(super) fn neighbours(context: &Context, graph: &Graph, node: u32, guesses: bool) -> String {
    let mut text = String::new();
    for (word, seen) in relations(graph, node, guesses) {
        for seen in seen {
            // Directories are no neighbours: everything is one step from everything over them.
            let is_directory = graph
                .find(&seen.node)
                .is_some_and(|far| graph.kind(far) == NodeKind::Directory);
            if seen.resolution == Resolution::Tree.as_str() && is_directory {
                continue;
            }
            text.push_str(&match context.json {
                true => json!({"node": seen.node, "relation": word.replace(' ', "_"), "resolution": seen.resolution})
                    .to_string(),
                false => format!("{word:<13} {}  ({})", visible(&seen.node), seen.resolution),
            });
            text.push('\n');
        }
    }
    text
}
