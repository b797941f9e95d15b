//! `quickstart`: the whole loop once, on the repository it stands in.

use std::process::ExitCode;

use serde_json::json;

use super::context::Context;
use super::hook_run;
use super::ingest;
use super::query::{human, warn};
use crate::graph::Graph;
use crate::id::CommitId;
use crate::ingest::{Degree, Ingest, Scope, Sources, catch_up, known_sources};
use crate::query::{Query, Report, ask};
use crate::render::visible;
use crate::replay::replay;
use crate::repo::Repo;
use crate::store::Store;

/// Do the whole loop once: take in the history, build the code graph, ask one question, and recompute the answer.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to ask; without it the subject of the newest commit, asked as of its parent
    task: Option<String>,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let now = context.now()?;
    let Some(head) = repo.head()?.commit else {
        context.print(match context.json {
            true => "null",
            false => NO_COMMIT,
        })?;
        return Ok(ExitCode::SUCCESS);
    };

    step(
        context,
        1,
        "the history: trailers, state files, decision documents, and messages that explain",
    )?;
    let sources = Sources {
        messages: Degree::Explaining,
        ..known_sources(&repo)?
    };
    let scope = Scope::From(head);
    let bar = context.bar("commits");
    let report = catch_up(&repo, &Ingest { scope, sources }, now, &|done, all| {
        bar.set(done, all)
    })?;
    drop(bar);
    if report.added + report.anchored > 0 {
        hook_run::note_all(context, &repo);
    }
    tell(context, &ingest::human(&report))?;

    step(context, 2, "the code graph of HEAD")?;
    let bar = context.bar("code graph");
    let graph = Graph::at(&repo, repo.tree_of(head)?, &|done, all| bar.set(done, all))?;
    drop(bar);
    let (nodes, edges) = (graph.len(), graph.edges().count());
    graph.check()?;
    tell(context, &format!("{nodes} nodes, {edges} edges"))?;

    let query = match args.task {
        Some(task) => Query::new(task, Vec::new()),
        None => about_newest(&repo, head)?,
    };
    let asked = match query.at {
        Some(commit) => format!(
            ", as of {} (the parent of the commit that did it)",
            &commit.to_string()[..12]
        ),
        None => String::new(),
    };
    step(
        context,
        3,
        &format!("one look-up: \"{}\"{asked}", visible(&query.task)),
    )?;
    let answer = ask(&repo, &query, now, &|_, _| {})?;
    warn(context, &answer);
    tell(context, &human(context, &answer))?;

    step(context, 4, "its replay")?;
    let replayed = match answer.id {
        Some(id) => {
            let stored = Store::new(&repo).find_lookup(&id.to_string())?;
            Some(replay(&repo, &stored, &|_, _| {})?)
        }
        None => None,
    };
    if let Some(replayed) = &replayed {
        tell(context, &format!("{}  {}", replayed.id, replayed.result))?;
    }
    tell(context, &farewell(&repo))?;
    if context.json {
        context.print_json(&json!({
            "ingest": report,
            "graph": {"nodes": nodes, "edges": edges},
            "lookup": Report::new(answer.id, &answer.attention, &answer.view),
            "replay": replayed,
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}

const NO_COMMIT: &str = "This repository has no commit yet, so there is no history to learn from.
Record a first decision: git score-context record \"…\"
";

/// What a person reads; nothing where a program does.
fn tell(context: &Context, text: &str) -> anyhow::Result<()> {
    match context.json {
        true => Ok(()),
        false => context.print(text),
    }
}

fn step(context: &Context, number: usize, what: &str) -> anyhow::Result<()> {
    let heading = context.bold(&format!("{number}. {what}"));
    tell(context, &format!("\n{heading}"))
}

/// The newest commit's own words, about the files it changed, asked where it was not yet done: so that it cannot find itself. Merges
/// only say what others did; the first commit that is none is taken.
fn about_newest(repo: &Repo, head: CommitId) -> anyhow::Result<Query> {
    let mut commit = repo.commit(head)?;
    while let [first, _, ..] = commit.parents[..] {
        if !repo.has(first.0)? {
            break;
        }
        commit = repo.commit(first)?;
    }
    let subject = commit.message.lines().next().unwrap_or_default().trim();
    let task = if subject.is_empty() {
        "the newest change"
    } else {
        subject
    };
    let nodes = repo.changes(&commit)?.into_keys().take(100).collect();
    let mut query = Query::new(task, nodes);
    if let Some(parent) = commit.parents.first()
        && repo.has(parent.0)?
    {
        query.at = Some(*parent);
    }
    Ok(query)
}

fn farewell(repo: &Repo) -> String {
    let cache = repo.cache_dir();
    format!(
        "\nStored: records under refs/score-local/records, look-ups under refs/score-local/attention, a cache in {0}.\nBranches, index and work tree are as they were; nothing of this is pushed by an ordinary push.\n\nNext:\n  git score-context record \"use X, not Y\" --node src --reason \"…\"\n  git score-context query \"what you are about to do\" --node src\n  git score-context hook install\n\nTo remove everything:\n  git score-context hook uninstall\n  git update-ref -d refs/score-local/records\n  git update-ref -d refs/score-local/attention\n  git update-ref -d refs/score-local/undo\n  rm -r '{0}'\n  git gc --prune=now\n",
        cache.display()
    )
}
