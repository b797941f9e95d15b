//! `prune`: what is over its time goes, and what lies around.

use std::process::ExitCode;

use serde_json::json;

use super::context::Context;
use crate::hook::notes;
use crate::upkeep::{Prune, Pruned, daily, prune};

/// Let go what is over its time, and what lies around.
///
/// Records of sessions go after git config score-context.retentionDays (else the larger of 90 and the committed policy), look-ups with
/// everything they pin after score-context.attentionDays. What was taken from commits stays. Days that are over are folded, and temporary
/// files of writers that died are removed. The same happens by itself once a day.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Let go what is older than this, records of sessions and look-ups alike; the time of a record tells where its day of writing is
    /// not known any more
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u64>,
    /// Also drop look-ups whose code no reachable commit has: after a purge of history they still hold it
    #[arg(long)]
    gone: bool,
    /// Also remove the caches, which are made again when they are missed
    #[arg(long)]
    caches: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let what = Prune {
        older_than: args.older_than,
        gone: args.gone,
        caches: args.caches,
    };
    let pruned = prune(&repo, &what, context.now()?)?;
    if pruned.records > 0 {
        notes::tidy(&repo)?;
    }
    if context.json {
        context.print_json(&json!({
            "records": pruned.records, "lookups": pruned.lookups, "gone": pruned.gone,
            "files": pruned.files, "bytes": pruned.bytes,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.print(&human(&pruned, args.gone))?;
    if pruned.records + pruned.lookups + pruned.gone.len() > 0 {
        context.say("the bytes leave the disk with 'git gc', at once with 'git gc --prune=now'");
    }
    Ok(ExitCode::SUCCESS)
}

fn human(pruned: &Pruned, with_gone: bool) -> String {
    let mut text = format!(
        "{} records of sessions and {} look-ups were over their time\n",
        pruned.records, pruned.lookups
    );
    if with_gone {
        text.push_str(&format!(
            "{} look-ups were about code that no commit has any more\n",
            pruned.gone.len()
        ));
    }
    text.push_str(&format!(
        "{} left-over files and caches, {} KiB\n",
        pruned.files,
        pruned.bytes / 1024
    ));
    text
}

/// The automatic pass, before a command does what it was asked for: a look-up would pin what is over its time for as long again.
pub(super) fn automatic(context: &Context) {
    let (Ok(repo), Ok(now)) = (context.repo(), context.now()) else {
        return;
    };
    if let Some(pruned) = daily(&repo, now) {
        if pruned.records > 0 {
            // Tomorrow's pass finds nothing to say of a failure here; `fsck` does.
            drop(notes::tidy(&repo));
        }
        if context.verbose {
            context.say(human(&pruned, false).trim_end());
        }
    }
    context.give_back(repo);
}
