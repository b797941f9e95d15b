//! `graph`: the code graph of a commit.

mod about;
mod export;
mod stats;

use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};

use super::context::Context;
use crate::graph::Graph;
use crate::query::nodes;
use crate::repo::Repo;

/// Show the code graph of a commit.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
    /// The commit, instead of HEAD
    #[arg(long, value_name = "REV", global = true)]
    at: Option<String>,
    /// Also show edges that only a name speaks for
    #[arg(long, global = true)]
    guesses: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// How many nodes and edges of each kind there are, and what was left out
    Stats,
    /// Every node, one a line
    Nodes,
    /// Every edge, one a line
    Edges,
    /// One node: where it stands, what it holds, and every edge to and from it
    Show {
        /// A path, or `path::Qualified.name`
        node: String,
    },
    /// What calls a node; of a class also its constructor, of a file or directory everything in it
    Callers {
        /// A path, or `path::Qualified.name`
        node: String,
    },
    /// Which files import a node's file
    Importers {
        /// A path, or `path::Qualified.name`
        node: String,
    },
    /// The nodes one step away over calls, imports, bases and definitions
    Neighbours {
        /// A path, or `path::Qualified.name`
        node: String,
    },
    /// The whole graph in a form for other tools
    Export {
        /// The form
        #[arg(long, value_enum, default_value_t = Format::Jsonl)]
        format: Format,
    },
}

/// The forms of `graph export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A JSON object a line: the nodes, then the edges
    Jsonl,
    /// A digraph for Graphviz
    Dot,
    /// A flowchart for Mermaid
    Mermaid,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let commit = match &args.at {
        Some(rev) => Some(repo.commit_at(rev)?),
        None => repo.head()?.commit,
    };
    let tree = commit.map_or_else(|| Ok(repo.empty_tree()), |commit| repo.tree_of(commit))?;
    let bar = context.bar("code graph");
    let graph = Graph::at(&repo, tree, &|done, all| bar.set(done, all))?;
    drop(bar);
    let find = |node: &str| find(&repo, &graph, node, args.at.as_deref());
    let guesses = args.guesses;
    let text = match &args.what {
        What::Stats => stats::stats(context, &graph)?,
        What::Nodes => export::nodes(context.json, &graph),
        What::Edges => export::edges(context.json, &graph, guesses),
        What::Show { node } => about::show(context, &graph, find(node)?, guesses),
        What::Callers { node } => about::callers(context, &graph, find(node)?, guesses),
        What::Importers { node } => about::importers(context, &graph, find(node)?),
        What::Neighbours { node } => about::neighbours(context, &graph, find(node)?, guesses),
        What::Export { format } => match format {
            Format::Jsonl => export::nodes(true, &graph) + &export::edges(true, &graph, guesses),
            Format::Dot => export::dot(&graph, guesses),
            Format::Mermaid => export::mermaid(&graph, guesses),
        },
    };
    graph.check()?;
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The node that a person names.
fn find(repo: &Repo, graph: &Graph, node: &str, at: Option<&str>) -> anyhow::Result<u32> {
    let names = nodes::normal(repo, &[node.to_owned()])?;
    let name = names.first().map_or("", String::as_str);
    graph.find(name).ok_or_else(|| {
        anyhow::anyhow!(
            "'{name}' is no node of the code graph of {}",
            at.unwrap_or("HEAD")
        )
    })
}
