//! `impact`: what a change of signatures breaks.

use std::process::ExitCode;

use super::context::Context;
use super::failure::NEGATIVE;
use crate::impact::{Changed, Report, What, impact_of};
use crate::render::visible;

/// Show which signatures a change alters, and which callers and importers that breaks.
///
/// Without arguments HEAD is compared with its first parent.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A commit, against its first parent; A..B, two commits; A...B, B against where it left A
    #[arg(value_name = "REV|A..B|A...B")]
    rev: Option<String>,
    /// The index against HEAD: what the next commit would hold
    #[arg(long, conflicts_with = "rev")]
    staged: bool,
    /// Exit with 1 when something breaks
    #[arg(long)]
    exit_code: bool,
    /// Also callers that only a name speaks for
    #[arg(long)]
    guesses: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let bar = context.bar("code graph");
    let progress = |done, all| bar.set(done, all);
    let what = match args.staged {
        true => What::Staged,
        false => What::Rev(args.rev.as_deref()),
    };
    let report = impact_of(&repo, what, args.guesses, &progress)?;
    drop(bar);
    for path in &report.missing {
        context.warn(format!(
            "'{}' is not in this clone, and is left out",
            visible(path)
        ));
    }
    let text = match context.json {
        true => report.to_json().to_string(),
        false => to_text(&report),
    };
    context.print(&text)?;
    Ok(match args.exit_code && report.breaks() > 0 {
        true => ExitCode::from(NEGATIVE),
        false => ExitCode::SUCCESS,
    })
}

fn to_text(report: &Report) -> String {
    let mut text = String::new();
    for changed in &report.notes {
        text.push_str(&format!("note: {}\n", one(changed)));
    }
    for changed in &report.changed {
        text.push_str(&format!("{}\n", one(changed)));
    }
    text.push_str(&match (report.changed.len(), report.breaks()) {
        (0, _) if report.notes.is_empty() => "no signature changes\n".into(),
        (0, _) => "no signature changes that a call can break by\n".into(),
        (changed, 0) => format!(
            "{} changed, nothing found that breaks\n",
            signatures(changed)
        ),
        (changed, 1) => format!("{} changed, 1 place breaks\n", signatures(changed)),
        (changed, breaks) => format!("{} changed, {breaks} places break\n", signatures(changed)),
    });
    text
}

fn signatures(count: usize) -> String {
    match count {
        1 => "1 signature".into(),
        _ => format!("{count} signatures"),
    }
}

fn one(changed: &Changed) -> String {
    let mut text = format!("{}\n", visible(&changed.node));
    for change in &changed.changes {
        let detail = match change.detail() {
            detail if detail.is_empty() => detail,
            detail => format!(": {}", visible(&detail)),
        };
        text.push_str(&format!("  {}{detail}\n", change.kind()));
    }
    let sides = [("was", &changed.before), ("now", &changed.after)];
    for (word, side) in sides {
        for written in side.iter().filter(|written| !written.is_empty()) {
            text.push_str(&format!("  {word} {}\n", visible(written)));
        }
    }
    for place in changed.breaks() {
        text.push_str(&format!(
            "  breaks {}:{} {}  {}{}\n",
            visible(&place.file),
            place.line,
            visible(&place.text),
            visible(place.why.as_deref().unwrap_or_default()),
            if place.is_guess { " (a guess)" } else { "" },
        ));
    }
    let all = changed.callers.len();
    let with = changed
        .callers
        .iter()
        .filter(|place| place.is_changed)
        .count();
    text.push_str(&format!(
        "  {all} call {}, {with} changed with it; {} of that name could not be resolved\n",
        if all == 1 { "site" } else { "sites" },
        changed.unresolved,
    ));
    text
}
