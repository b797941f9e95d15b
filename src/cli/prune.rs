//! `prune`: what is over its time goes, and what lies around; and back again.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::context::Context;
use super::failure::NEGATIVE;
use super::hook_run;
use super::reunion;
use crate::hook::notes;
use crate::render::visible;
use crate::repo::Repo;
use crate::upkeep::{Doubt, Prune, Pruned, UNDO_DAYS, daily, prune, undo};

/// Let go what is over its time, and what lies around.
///
/// Records of sessions go after git config score-context.retentionDays (else the larger of 90 and the committed policy), look-ups with
/// everything they pin after score-context.attentionDays. What was taken from commits stays. Days that are over are folded, and temporary
/// files of writers that died are removed. The same happens by itself once a day.
///
/// What went is kept for seven more days, so that --undo can put it back. Nothing goes on one look at a clock: two writes at least a day
/// apart must have seen it, or the newest commit and the newest record must be near it.
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
    /// The clock is right, whatever was seen before
    #[arg(long)]
    force: bool,
    /// Keep nothing for --undo, neither what goes now nor what went before
    #[arg(long)]
    no_undo: bool,
    /// Put back what the last pass has let go; again: the one before it
    #[arg(long, conflicts_with_all = ["older_than", "gone", "caches", "force", "no_undo"])]
    undo: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    if args.undo {
        return put_back(context, &repo);
    }
    reunion::repair(context, &repo);
    let what = Prune {
        older_than: args.older_than,
        gone: args.gone,
        caches: args.caches,
        force: args.force,
        for_good: args.no_undo,
    };
    let pruned = prune(&repo, &what, context.now()?)?;
    if let Some(doubt) = &pruned.doubt {
        bail!(
            "{}: nothing was deleted\nhint: 'git score-context prune --force' says that the clock is right; seen again a day later it is believed",
            suspect(doubt)
        );
    }
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
    if !args.no_undo && pruned.records + pruned.lookups > 0 {
        context.say(format!(
            "'git score-context prune --undo' puts them back for {UNDO_DAYS} days; the bytes leave the disk with a 'git gc' after that, or after 'git score-context prune --no-undo'"
        ));
    } else if args.no_undo || !pruned.gone.is_empty() {
        context.say("the bytes leave the disk with 'git gc', at once with 'git gc --prune=now'");
    }
    Ok(ExitCode::SUCCESS)
}

fn put_back(context: &Context, repo: &Repo) -> anyhow::Result<ExitCode> {
    let done = undo(repo, context.now()?)?;
    if done.as_ref().is_some_and(|done| done.records > 0) {
        hook_run::note_all(context, repo);
    }
    if context.json {
        let (records, lookups) = done
            .as_ref()
            .map_or((0, 0), |done| (done.records, done.lookups));
        let day = done.as_ref().map(|done| &done.day);
        context.print_json(&json!({"day": day, "records": records, "lookups": lookups}))?;
    } else if let Some(done) = &done {
        context.print(&format!(
            "{} records of sessions and {} look-ups are back, which were let go on {}\n",
            done.records, done.lookups, done.day
        ))?;
    } else {
        context.say(format!(
            "nothing was let go in the last {UNDO_DAYS} days that could be put back"
        ));
    }
    Ok(ExitCode::from(if done.is_some() { 0 } else { NEGATIVE }))
}

/// What is odd about a clock.
fn suspect(doubt: &Doubt) -> String {
    let mut known = Vec::new();
    if let Some(commit) = doubt.commit {
        known.push(format!("the newest commit is of {}", commit.day()));
    }
    if let Some(record) = doubt.record {
        known.push(format!("the newest record of {}", record.day()));
    }
    if let Some(seen) = doubt.seen {
        known.push(format!("it said {} before", seen.day()));
    }
    let known = match known.is_empty() {
        true => String::new(),
        false => format!(" ({})", known.join(", ")),
    };
    format!("the clock says {}{known}", doubt.now.day())
}

/// What the automatic pass says of a clock, in one line.
fn warning(doubt: &Doubt) -> String {
    let suspect = suspect(doubt);
    if doubt.is_behind() {
        return format!(
            "warning: {suspect}: it went back, so nothing was deleted, and what is written now counts as of the later day"
        );
    }
    format!(
        "warning: {suspect}: {} records and {} look-ups are over their time by it, and nothing of them was deleted; they go when a write sees it again a day later, now with 'git score-context prune --force'",
        doubt.records, doubt.lookups
    )
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
        for done in &pruned.repaired {
            context.warn(format!("the memory was damaged: {}", visible(done)));
        }
        if let Some(doubt) = &pruned.doubt {
            context.say(warning(doubt));
        }
        if pruned.records + pruned.lookups > 0 {
            context.say(format!(
                "{} records of sessions and {} look-ups were over their time and went; 'git score-context prune --undo' puts them back for {UNDO_DAYS} days",
                pruned.records, pruned.lookups
            ));
        } else if context.verbose {
            context.say(human(&pruned, false).trim_end());
        }
    }
    context.give_back(repo);
}
