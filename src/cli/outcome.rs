//! `outcome`: how a task ended.

use std::process::ExitCode;

use super::context::Context;
use super::failure::refused;
use crate::ingest::{End, end};
use crate::query::nodes;

/// Remember how a task ended.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The label of the task, as given to `record --task` or printed by `session start`
    task: String,
    /// Exactly `pass` or `fail`; prose goes into --rationale
    #[arg(long, value_name = "VERDICT")]
    verdict: String,
    /// What there is to say about it
    #[arg(long, value_name = "R")]
    rationale: Option<String>,
    /// Which share of the task was reached, 0 to 1
    #[arg(long, value_name = "SHARE")]
    coverage: Option<f64>,
    /// A node that had been surfaced before the work; may be given several times
    #[arg(long, value_name = "NODE")]
    surfaced: Vec<String>,
    /// A node that should have been surfaced; may be given several times
    #[arg(long, value_name = "NODE")]
    missing: Vec<String>,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let said = End {
        task: args.task,
        verdict: args.verdict,
        rationale: args.rationale,
        coverage: args.coverage,
        surfaced: nodes::normal(&repo, &args.surfaced)?,
        missing: nodes::normal(&repo, &args.missing)?,
    };
    let ended = end(&repo, context.now()?, said).map_err(refused)?;
    if context.json {
        context.print_json(&ended)?;
    } else {
        context.print(&ended.id.to_string())?;
        if !ended.masked.is_empty() {
            context.say(format!("masked: {}", ended.masked.join(", ")));
        }
    }
    Ok(ExitCode::SUCCESS)
}
