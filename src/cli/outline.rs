//! `outline`: structural context for a prompt.

use std::process::ExitCode;

use super::context::Context;
use crate::outline::{Outline, Part, Request, outline};
use crate::query::nodes;
use crate::render::visible;

/// Show the parts of the code around what a task is about.
///
/// Whole definitions where they fit, else signatures and the lines that hold words of the task; the most relevant first.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What is to be done
    task: String,
    /// A path, or `path::Qualified.name`, that it is about; may be given again
    #[arg(long = "node", value_name = "NODE")]
    nodes: Vec<String>,
    /// The commit, instead of HEAD
    #[arg(long, value_name = "REV")]
    at: Option<String>,
    /// Files at most
    #[arg(long, value_name = "N", default_value_t = 8)]
    max_files: usize,
    /// Lines at most, over all files
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_lines: usize,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let commit = match &args.at {
        Some(rev) => Some(repo.commit_at(rev)?),
        None => repo.head()?.commit,
    };
    let tree = commit.map_or_else(|| Ok(repo.empty_tree()), |commit| repo.tree_of(commit))?;
    let request = Request {
        nodes: nodes::normal(&repo, &args.nodes)?,
        task: args.task,
        max_files: args.max_files,
        max_lines: args.max_lines,
    };
    let bar = context.bar("code graph");
    let outline = outline(&repo, tree, &request, &|done, all| bar.set(done, all))?;
    drop(bar);
    for node in &outline.unresolved {
        context.warn(format!("'{}' is not in the code graph", visible(node)));
    }
    let text = match context.json {
        true => outline.to_json().to_string(),
        false => to_text(&outline),
    };
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_text(outline: &Outline) -> String {
    let mut text = String::new();
    for part in &outline.files {
        text.push_str(&one(part));
        text.push('\n');
    }
    let shown = outline.files.iter().flat_map(|part| &part.shown);
    let cut = shown.filter(|shown| !shown.is_whole).count();
    text.push_str(&match (outline.left_out, cut) {
        (0, 0) => "nothing left out\n".to_owned(),
        (0, cut) => format!("left out: lines of {cut} definitions\n"),
        (left_out, cut) => format!(
            "left out: {left_out} definitions in {} files, and lines of {cut} more\n",
            outline.left_out_files
        ),
    });
    text
}

/// A file with the numbers of its lines; a row of dots stands for lines in between.
fn one(part: &Part) -> String {
    let mut text = format!("{}\n", visible(&part.path));
    let mut next = None;
    for (number, line) in &part.lines {
        if next.is_some_and(|next| next != *number) {
            text.push_str("    …\n");
        }
        let line = visible(&line.replace('\t', "    "));
        text.push_str(&format!("{number:>5}  {line}\n"));
        next = Some(number + 1);
    }
    text
}
