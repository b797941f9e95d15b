//! `graph stats`: counts.

use std::collections::BTreeMap;

use serde_json::json;

use crate::cli::context::Context;
use crate::graph::Graph;

/// Counts, with what was left out and why, so that a missing edge can be told from one that was never looked for.
pub(super) fn stats(context: &Context, graph: &Graph) -> anyhow::Result<String> {
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    for node in 0..graph.len() as u32 {
        *nodes.entry(graph.kind(node).as_str()).or_default() += 1;
    }
    let mut edges: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for edge in graph.edges() {
        let of_kind = edges.entry(edge.kind.as_str()).or_default();
        *of_kind.entry(edge.resolution.as_str()).or_default() += 1;
    }
    let stats = graph.stats();
    if context.json {
        let value = json!({
            "nodes": nodes, "edges": edges, "languages": stats.languages, "without_symbols": stats.without_symbols,
            "calls": {"resolved": stats.calls_resolved, "external": stats.calls_external, "unresolved": stats.calls_unresolved},
            "missing": graph.missing(),
        });
        return Ok(value.to_string());
    }
    let counts = |counts: &mut dyn Iterator<Item = (String, usize)>| {
        counts
            .map(|(what, count)| format!("{count} {what}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let of = |table: &BTreeMap<String, u32>| {
        counts(
            &mut table
                .iter()
                .map(|(what, count)| (what.clone(), *count as usize)),
        )
    };
    let kinds = counts(
        &mut nodes
            .iter()
            .map(|(kind, count)| ((*kind).to_owned(), *count)),
    );
    let mut text = format!("nodes       {} ({kinds})\n", graph.len());
    for (kind, how) in &edges {
        let all: usize = how.values().sum();
        let how = counts(&mut how.iter().map(|(how, count)| ((*how).to_owned(), *count)));
        text.push_str(&format!("{kind:<11} {all} ({how})\n"));
    }
    text.push_str(&format!("languages   {}\n", of(&stats.languages)));
    text.push_str(&format!("left out    {}\n", of(&stats.without_symbols)));
    text.push_str(&format!(
        "call sites  {} resolved, {} to outside the repository, {} not resolved\n",
        stats.calls_resolved, stats.calls_external, stats.calls_unresolved
    ));
    Ok(text)
}
