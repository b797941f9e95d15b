//! `outcome`: how a task ended.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::failure::usage;
use super::nodes;
use crate::id::RecordId;
use crate::query::masked;
use crate::record::{Anchor, Outcome, Record, Source, Verdict};
use crate::store::{Put, Receipt, Store};

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

#[derive(Serialize)]
struct Ended {
    id: RecordId,
    known: bool,
    masked: Vec<String>,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let verdict = match args.verdict.as_str() {
        "pass" => Verdict::Pass,
        "fail" => Verdict::Fail,
        other => {
            return Err(usage(format!(
                "the verdict is exactly 'pass' or 'fail', not '{other}'; what there is to say goes into --rationale"
            )));
        }
    };
    let repo = context.repo()?;
    let now = context.now()?;
    let head = repo.head()?;
    let mut found = Vec::new();
    let rationale = args.rationale.map(|text| masked(text.trim(), &mut found));
    let rationale = rationale.filter(|text| !text.is_empty());
    let record = Record::Outcome(Outcome {
        source: Source::Session,
        task: Some(masked(&args.task, &mut found)),
        of: Vec::new(),
        verdict,
        rationale,
        coverage: args.coverage,
        surfaced: without_credentials(nodes::normal(&repo, &args.surfaced)?, &mut found),
        missing: without_credentials(nodes::normal(&repo, &args.missing)?, &mut found),
        time: Some(now),
    });
    record.check().map_err(|error| usage(error.to_string()))?;
    let anchor = Anchor {
        branch: head.branch,
        worktree: repo.worktree(),
        ..Anchor::at(head.commit, now)
    };
    let put = Put::new(&record, Some(anchor), false);
    let receipts = Store::new(&repo).put(std::slice::from_ref(&put), now)?;
    let ended = Ended {
        id: put.line.id,
        known: receipts.first() == Some(&Receipt::Known),
        masked: found,
    };
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

fn without_credentials(names: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    names.iter().map(|name| masked(name, found)).collect()
}
