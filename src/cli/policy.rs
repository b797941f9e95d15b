//! `policy`: every number that can change a result, with where it comes from.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use comfy_table::{Table, presets};
use serde_json::json;

use super::context::Context;
use super::failure::NEGATIVE;
use crate::policy::{MOST_BYTES, Policy};
use crate::query::{QueryError, policy_of};
use crate::repo::read_within;

/// Show or check the policy in force.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every value of the policy at HEAD, with its default and its source
    Show,
    /// Whether a policy file is one: FILE, or the one committed at HEAD
    Check {
        /// The file
        file: Option<PathBuf>,
    },
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let policy = match &args.action {
        Action::Check { file: Some(file) } => from_file(context, file)?,
        Action::Check { file: None } => at_head(context)?,
        Action::Show => at_head(context)?,
    };
    let Action::Show = args.action else {
        return checked(context, policy.err().map(|error| format!("{error:#}")));
    };
    let policy = policy?;
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["key", "value", "default", "range", "source"]);
    for entry in policy.entries() {
        if context.json {
            context.print_json(&json!({
                "key": entry.key, "value": entry.value, "default": entry.default, "range": entry.range, "source": entry.source,
            }))?;
        }
        table.add_row([
            entry.key.to_owned(),
            entry.value.to_string(),
            entry.default.to_string(),
            entry.range,
            entry.source.to_owned(),
        ]);
    }
    if !context.json {
        context.print(&table.trim_fmt())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The policy of a file, or why it is none. Only a file that cannot be read is no answer at all.
fn from_file(context: &Context, file: &Path) -> anyhow::Result<anyhow::Result<Policy>> {
    let file = context.directory().join(file);
    let text = file_text(&file)?;
    Ok(Policy::parse(&text).with_context(|| file.display().to_string()))
}

/// The text of a policy file. Of one that is too large a byte too much is read, which is enough to turn it down.
pub(super) fn file_text(file: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", file.display());
    let bytes = std::fs::File::open(file).and_then(|open| read_within(open, MOST_BYTES));
    let bytes = bytes.with_context(cannot)?;
    let bytes = bytes.map_err(|too_large| anyhow::anyhow!("{}: {too_large}", file.display()))?;
    String::from_utf8(bytes).with_context(cannot)
}

/// The policy committed at `HEAD`, or why it is none.
fn at_head(context: &Context) -> anyhow::Result<anyhow::Result<Policy>> {
    let repo = context.repo()?;
    let tree = match repo.head()?.commit {
        Some(commit) => repo.tree_of(commit)?,
        None => repo.empty_tree(),
    };
    match policy_of(&repo, tree) {
        Ok(policy) => Ok(Ok(policy)),
        Err(error @ (QueryError::Policy { .. } | QueryError::NoFile(_))) => Ok(Err(error.into())),
        Err(error) => Err(error.into()),
    }
}

fn checked(context: &Context, fault: Option<String>) -> anyhow::Result<ExitCode> {
    match (context.json, &fault) {
        (true, _) => context.print_json(&json!({"sound": fault.is_none(), "fault": fault}))?,
        (false, Some(fault)) => context.print(fault)?,
        (false, None) => context.print("the policy is sound")?,
    }
    Ok(ExitCode::from(if fault.is_some() { NEGATIVE } else { 0 }))
}
