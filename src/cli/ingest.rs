//! `ingest`: the catch-up with history.

use std::process::ExitCode;

use super::context::Context;
use super::failure::usage;
use super::hook_run;
use crate::ingest::{Degree, Folders, Ingest, Report, Scope, StateFiles, catch_up, known_sources};
use crate::query::nodes;
use crate::render::visible;
use crate::repo::Repo;

/// Take decisions out of the history of commits.
///
/// Reads the trailers Decision, Rejected, Assumption, Finding, Constraint and Outcome of commits not yet seen, their state.json files
/// and decision documents as committed, and with --messages the messages themselves. Taking a commit twice adds nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A revision (HEAD), or a range A..B
    rev: Option<String>,
    /// Also take commit messages: those with a body that explains, or all
    #[arg(long, value_name = "DEGREE", num_args = 0..=1, default_missing_value = "explaining", require_equals = true)]
    messages: Option<Messages>,
    /// A state file, or a pattern of them, in place of state.json in any folder; may be given several times
    #[arg(long, value_name = "FILE")]
    state: Vec<String>,
    /// A folder of decision documents in place of docs/adr, doc/adr and docs/decisions; may be given several times
    #[arg(long, value_name = "DIR")]
    adr: Vec<String>,
    /// From every branch and tag, whether seen or not
    #[arg(long, conflicts_with = "rev")]
    history: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Messages {
    Explaining,
    All,
    None,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let mut sources = known_sources(&repo)?;
    if let Some(messages) = args.messages {
        sources.messages = match messages {
            Messages::Explaining => Degree::Explaining,
            Messages::All => Degree::All,
            Messages::None => Degree::None,
        };
    }
    if !args.state.is_empty() {
        let files = from_root(&repo, &args.state)?;
        sources.state = Some(StateFiles::new(&files).map_err(usage)?);
        warn_of_missing(context, &repo, &files)?;
    }
    if !args.adr.is_empty() {
        let folders = from_root(&repo, &args.adr)?;
        sources.documents = Some(Folders::new(&folders));
    }
    let scope = match (&args.rev, args.history) {
        (_, true) => Scope::History,
        (Some(rev), _) => scope_of(&repo, rev)?,
        (None, _) => match repo.head()?.commit {
            Some(commit) => Scope::From(commit),
            None => {
                context.say("there is no commit yet");
                return print(context, &Report::default());
            }
        },
    };
    hook_run::follow_kept(context, &repo)?;
    let bar = context.bar("commits");
    let report = catch_up(
        &repo,
        &Ingest { scope, sources },
        context.now()?,
        &|done, all| bar.set(done, all),
    )?;
    drop(bar);
    if report.added + report.anchored > 0 {
        hook_run::note_all(context, &repo);
    }
    print(context, &report)
}

/// Names as typed, from the root on: a state file is read where it lies in a commit.
fn from_root(repo: &Repo, names: &[String]) -> anyhow::Result<Vec<String>> {
    let names = nodes::normal(repo, names)?;
    Ok(names.into_iter().map(|name| format!("/{name}")).collect())
}

/// A file that is not in the newest commit was meant otherwise, or was not committed.
fn warn_of_missing(context: &Context, repo: &Repo, files: &[String]) -> anyhow::Result<()> {
    let Some(head) = repo.head()?.commit else {
        return Ok(());
    };
    let tree = repo.tree_of(head)?;
    for file in files {
        let is_pattern = file.contains(['*', '?', '[', '{']);
        if !is_pattern && repo.entry(tree, file)?.is_none() {
            let name = visible(file.trim_start_matches('/'));
            context.warn(format!(
                "'{name}' is not in the newest commit; state files are read as committed"
            ));
        }
    }
    Ok(())
}

fn scope_of(repo: &Repo, rev: &str) -> anyhow::Result<Scope> {
    let Some((from, to)) = rev.split_once("..") else {
        return Ok(Scope::From(repo.commit_at(rev)?));
    };
    if to.starts_with('.') {
        return Err(usage(format!(
            "'{rev}': a symmetric difference is no range to ingest; use A..B"
        )));
    }
    let or_head = |rev: &str| repo.commit_at(if rev.is_empty() { "HEAD" } else { rev });
    Ok(Scope::Range(or_head(from)?, or_head(to)?))
}

pub(super) fn print(context: &Context, report: &Report) -> anyhow::Result<ExitCode> {
    match context.json {
        true => context.print_json(report)?,
        false => context.print(&human(report))?,
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn human(report: &Report) -> String {
    let mut text = format!(
        "{} commits: {} records added, {} known records now also stand at another commit, {} already known\n",
        report.commits, report.added, report.anchored, report.known
    );
    for why in &report.refused {
        text.push_str(&format!("refused {}\n", visible(why)));
    }
    for why in &report.unread {
        text.push_str(&format!("not understood {}\n", visible(why)));
    }
    if !report.masked.is_empty() {
        text.push_str(&format!("masked: {}\n", report.masked.join(", ")));
    }
    if report.left > 0 {
        text.push_str(&format!(
            "{} commits left for the next catch-up\n",
            report.left
        ));
    }
    text
}
