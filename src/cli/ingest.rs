//! `ingest`: the catch-up with history.

use std::process::ExitCode;

use super::context::Context;
use super::failure::usage;
use super::hook_run;
use crate::ingest::{Degree, Ingest, Report, Scope, catch_up, known_sources};
use crate::render::visible;
use crate::repo::Repo;

/// Take decisions out of the history of commits.
///
/// Reads the trailers Decision, Rejected, Assumption, Finding, Constraint and Outcome of commits not yet seen, and with --messages
/// the messages themselves. Taking a commit twice adds nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A revision (HEAD), or a range A..B
    rev: Option<String>,
    /// Also take commit messages: those with a body that explains, or all
    #[arg(long, value_name = "DEGREE", num_args = 0..=1, default_missing_value = "explaining", require_equals = true)]
    messages: Option<Messages>,
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
