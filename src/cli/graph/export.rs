//! `graph nodes`, `graph edges` and `graph export`: the whole graph, line by line or for another tool.

use serde_json::json;

use crate::graph::{Edge, EdgeKind, Graph, NodeKind, Resolution};
use crate::render::visible;

pub(super) fn nodes(is_json: bool, graph: &Graph) -> String {
    let mut text = String::new();
    for node in 0..graph.len() as u32 {
        let (name, kind) = (graph.name(node), graph.kind(node));
        if is_json {
            let (first, last) = graph.lines(node);
            let mut line =
                json!({"node": name, "kind": kind.as_str(), "object": graph.object(node)});
            if first > 0 {
                line["lines"] = json!([first, last]);
            }
            text.push_str(&format!("{line}\n"));
        } else {
            text.push_str(&format!("{}\n", visible(name)));
        }
    }
    text
}

/// The edges to be shown: those that only a name speaks for, only when asked.
fn shown(graph: &Graph, guesses: bool) -> impl Iterator<Item = Edge> + '_ {
    let is_shown = move |edge: &Edge| guesses || edge.resolution != Resolution::Guess;
    graph.edges().filter(is_shown)
}

pub(super) fn edges(is_json: bool, graph: &Graph, guesses: bool) -> String {
    let mut text = String::new();
    for edge in shown(graph, guesses) {
        let (kind, resolution) = (edge.kind.as_str(), edge.resolution.as_str());
        let from = match (edge.kind, graph.kind(edge.from)) {
            // A call at a file's top level.
            (EdgeKind::Calls, NodeKind::File) => format!("{}::", graph.name(edge.from)),
            _ => graph.name(edge.from).to_owned(),
        };
        let to = graph.name(edge.to);
        text.push_str(&match is_json {
            true => {
                json!({"kind": kind, "from": from, "to": to, "resolution": resolution}).to_string()
            }
            false => format!(
                "{kind:<9} {} -> {}  ({resolution})",
                visible(&from),
                visible(to)
            ),
        });
        text.push('\n');
    }
    text
}

/// Graphviz: every node by its name; how an edge was found is its tooltip, a guess is dotted.
pub(super) fn dot(graph: &Graph, guesses: bool) -> String {
    let quoted = |name: &str| {
        let name = visible(name).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{name}\"")
    };
    let mut text = String::from("digraph code {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in 0..graph.len() as u32 {
        let shape = match graph.kind(node) {
            NodeKind::Directory => " [shape=folder]",
            NodeKind::Function | NodeKind::Method => " [shape=ellipse]",
            _ => "",
        };
        text.push_str(&format!("  {}{shape};\n", quoted(graph.name(node))));
    }
    for edge in shown(graph, guesses) {
        let style = match edge.resolution {
            Resolution::Guess => ", style=dotted",
            _ => "",
        };
        text.push_str(&format!(
            "  {} -> {} [label={}, tooltip={}{style}];\n",
            quoted(graph.name(edge.from)),
            quoted(graph.name(edge.to)),
            edge.kind.as_str(),
            edge.resolution.as_str(),
        ));
    }
    text.push_str("}\n");
    text
}

/// Mermaid: nodes are numbered, since its ids allow few characters; a guess is dotted.
pub(super) fn mermaid(graph: &Graph, guesses: bool) -> String {
    let mut text = String::from("flowchart LR\n");
    for node in 0..graph.len() as u32 {
        // Mermaid reads `#` and `;` as an entity, and Markdown in a label between backquotes.
        let mut label = String::new();
        for character in visible(graph.name(node)).chars() {
            match character {
                '#' | '"' | ';' | '&' | '<' | '>' | '`' => {
                    label.push_str(&format!("#{};", u32::from(character)));
                }
                character => label.push(character),
            }
        }
        text.push_str(&format!("  n{node}[\"{label}\"]\n"));
    }
    for edge in shown(graph, guesses) {
        let arrow = match edge.resolution {
            Resolution::Guess => "-.->",
            _ => "-->",
        };
        text.push_str(&format!(
            "  n{} {arrow}|{}| n{}\n",
            edge.from,
            edge.kind.as_str(),
            edge.to
        ));
    }
    text
}
