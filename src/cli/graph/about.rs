//! `graph show`, `callers`, `importers` and `neighbours`: what the graph says about one node, as JSON and as a person reads it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::cli::context::Context;
use crate::graph::{Graph, Missed, NodeKind, called_name};
use crate::render::visible;

fn sentence(unresolved: &Missed, names: &str) -> String {
    let sites: u32 = unresolved.values().sum();
    match sites {
        0 => format!("every call site of the name {names} was resolved"),
        1 => format!("1 call site of the name {names} could not be resolved"),
        _ => format!("{sites} call sites of the name {names} could not be resolved"),
    }
}

pub(super) fn callers(context: &Context, graph: &Graph, node: u32, guesses: bool) -> String {
    if context.json {
        return graph.callers_json(node, guesses).to_string();
    }
    let (callers, missed) = graph.callers(node, guesses);
    let name = graph.name(node);
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
    let names = match graph.kind(node).is_path() {
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

pub(super) fn importers(context: &Context, graph: &Graph, node: u32) -> String {
    if context.json {
        return graph.importers_json(node).to_string();
    }
    let (place, importers) = graph.importers(node);
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

pub(super) fn show(context: &Context, graph: &Graph, node: u32, guesses: bool) -> String {
    if context.json {
        return graph.node_json(node, guesses).to_string();
    }
    let (name, kind) = (graph.name(node), graph.kind(node));
    let (first, last) = graph.lines(node);
    let relations = graph.relations(node, guesses);
    let mut text = visible(name);
    text.push_str(&format!("  {}", kind.as_str()));
    if first > 0 {
        text.push_str(&format!(", lines {first} to {last}"));
    }
    if let Some(object) = graph.object(node) {
        text.push_str(&format!(", object {object}"));
    }
    text.push('\n');
    for relation in &relations {
        text.push_str(&format!("{} ({})\n", relation.word, relation.seen.len()));
        for seen in &relation.seen {
            text.push_str(&format!(
                "  {}  ({})\n",
                visible(&seen.node),
                seen.resolution
            ));
        }
    }
    if !kind.is_path() {
        if !relations
            .iter()
            .any(|relation| relation.word == "called by")
        {
            text.push_str("called by (0)\n");
        }
        let names = visible(called_name(name));
        let missed = graph.missed(std::iter::once(node));
        text.push_str(&format!("{}\n", sentence(&missed, &names)));
    }
    text
}

pub(super) fn neighbours(context: &Context, graph: &Graph, node: u32, guesses: bool) -> String {
    let mut text = String::new();
    for relation in graph.neighbours(node, guesses) {
        let word = relation.word;
        for seen in relation.seen {
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
