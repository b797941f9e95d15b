//! The tools about the code alone: the graph, what a change breaks, the parts around a task.
//!
//! In: checked arguments. Out: plain data of the tree asked about. These wait for the whole code graph, and keep nobody else waiting.

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure};
use super::desk::Desk;
use crate::graph::Graph;
use crate::impact::{What, impact_of};
use crate::outline::{Outline, Request, outline};
use crate::query::nodes;
use crate::render::visible;

/// Arguments of `query_graph`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    node: String,
    #[serde(default)]
    what: Aspect,
    #[serde(default)]
    guesses: bool,
    at: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Aspect {
    #[default]
    Show,
    Callers,
    Importers,
    Neighbours,
}

/// Arguments of `impact`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    rev: Option<String>,
    #[serde(default)]
    staged: bool,
    #[serde(default)]
    guesses: bool,
}

/// Arguments of `structural_context`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Around {
    task_text: String,
    #[serde(default)]
    current_nodes: Vec<String>,
    max_files: Option<usize>,
    max_lines: Option<usize>,
    at: Option<String>,
}

/// `query_graph`.
pub fn about(desk: &Desk, asked: &About) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let tree = desk.tree(&repo, asked.at.as_deref())?;
    let graph = Graph::at(&repo, tree, &|_, _| {}).map_err(|error| Failure::of(&error))?;
    let name = nodes::from_agent(&repo, &asked.node);
    let Some(node) = graph.find(&name) else {
        return Err(Failure(format!(
            "'{name}' is no node of the code graph of {}",
            asked.at.as_deref().unwrap_or("HEAD")
        )));
    };
    let data = match asked.what {
        Aspect::Show => graph.node_json(node, asked.guesses),
        Aspect::Callers => graph.callers_json(node, asked.guesses),
        Aspect::Importers => graph.importers_json(node),
        Aspect::Neighbours => {
            let mut data = json!({"node": graph.name(node)});
            for relation in graph.neighbours(node, asked.guesses) {
                data[relation.word.replace(' ', "_")] = json!(relation.seen);
            }
            data
        }
    };
    graph.check().map_err(|error| Failure::of(&error))?;
    Answer::of(&data)
}

/// `impact`.
pub fn impact(desk: &Desk, asked: &Change) -> Result<Answer, Failure> {
    let what = match (asked.staged, asked.rev.as_deref()) {
        (true, Some(_)) => return Err(Failure("rev and staged exclude each other".into())),
        (true, None) => What::Staged,
        (false, rev) => What::Rev(rev),
    };
    let report = impact_of(&desk.repo()?, what, asked.guesses, &|_, _| {});
    Answer::of(&report.map_err(|error| Failure::of(&error))?.to_json())
}

/// `structural_context`.
pub fn around(desk: &Desk, asked: Around) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let tree = desk.tree(&repo, asked.at.as_deref())?;
    let names = asked.current_nodes.iter();
    let request = Request {
        nodes: names.map(|node| nodes::from_agent(&repo, node)).collect(),
        task: asked.task_text,
        max_files: asked.max_files.unwrap_or(8).clamp(1, 50),
        max_lines: asked.max_lines.unwrap_or(200).clamp(1, 1000),
    };
    let outline =
        outline(&repo, tree, &request, &|_, _| {}).map_err(|error| Failure::of(&error))?;
    let mut data = outline.to_json();
    // The lines are in the text; twice would be twice as long.
    for file in data["files"].as_array_mut().into_iter().flatten() {
        if let Value::Object(file) = file {
            file.remove("lines");
        }
    }
    Answer::with_text(&data, text(&outline))
}

/// Longest text of source, in bytes.
const MOST_TEXT: usize = 30_000;

/// Files with the numbers of their lines, as many whole lines as fit.
fn text(outline: &Outline) -> String {
    let mut text = String::new();
    for part in &outline.files {
        let mut next = None;
        let mut lines = vec![visible(&part.path)];
        for (number, line) in &part.lines {
            if next.is_some_and(|next| next != *number) {
                lines.push("    …".to_owned());
            }
            let line = visible(&line.replace('\t', "    "));
            lines.push(format!("{number:>5}  {line}"));
            next = Some(number + 1);
        }
        for line in lines {
            if text.len() + line.len() > MOST_TEXT {
                return text + "(more left out)\n";
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
