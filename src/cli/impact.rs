//! `impact`: what a change of signatures breaks.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::context::Context;
use super::failure::NEGATIVE;
use crate::impact::{Changed, Place, Report, impact};
use crate::render::visible;
use crate::repo::Repo;

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
    let report = match args.staged {
        true => {
            let (staged, tree) = repo.staged()?;
            let head = repo.head()?.commit;
            let old = head.map_or_else(|| Ok(repo.empty_tree()), |head| repo.tree_of(head))?;
            impact(&staged, old, tree, args.guesses, &progress)?
        }
        false => {
            let (old, new) = trees(&repo, args.rev.as_deref())?;
            impact(&repo, old, new, args.guesses, &progress)?
        }
    };
    drop(bar);
    for path in &report.missing {
        context.warn(format!(
            "'{}' is not in this clone, and is left out",
            visible(path)
        ));
    }
    let text = match context.json {
        true => to_json(&report).to_string(),
        false => to_text(&report),
    };
    context.print(&text)?;
    Ok(match args.exit_code && report.breaks() > 0 {
        true => ExitCode::from(NEGATIVE),
        false => ExitCode::SUCCESS,
    })
}

/// The tree before and the tree after. A first commit is compared with nothing.
fn trees(repo: &Repo, rev: Option<&str>) -> anyhow::Result<(crate::id::TreeId, crate::id::TreeId)> {
    let of = |rev: &str| -> anyhow::Result<_> {
        let rev = if rev.is_empty() { "HEAD" } else { rev };
        Ok(repo.commit_at(rev)?)
    };
    if let Some((from, to)) = rev.and_then(|rev| rev.split_once("..")) {
        if let Some(to) = to.strip_prefix('.') {
            let (from, to) = (of(from)?, of(to)?);
            let base = repo.merge_base(from, to)?.ok_or_else(|| {
                anyhow::anyhow!(
                    "{from} and {to} have no commit in common; 'A..B' compares them all the same"
                )
            })?;
            return Ok((repo.tree_of(base)?, repo.tree_of(to)?));
        }
        return Ok((repo.tree_of(of(from)?)?, repo.tree_of(of(to)?)?));
    }
    let commit = repo.commit(of(rev.unwrap_or_default())?)?;
    let old = match commit.parents.first() {
        Some(parent) => repo.tree_of(*parent)?,
        None => repo.empty_tree(),
    };
    Ok((old, commit.tree))
}

fn to_json(report: &Report) -> Value {
    let place = |place: &Place| {
        json!({
            "node": place.node, "file": place.file, "line": place.line, "text": place.text,
            "changed": place.is_changed, "guess": place.is_guess, "why": place.why,
        })
    };
    let one = |changed: &Changed| {
        let changes = changed
            .changes
            .iter()
            .map(|change| json!({"kind": change.kind(), "detail": change.detail()}));
        json!({
            "node": changed.node,
            "changes": changes.collect::<Vec<_>>(),
            "before": changed.before,
            "after": changed.after,
            "callers": changed.callers.iter().map(place).collect::<Vec<_>>(),
            "importers": changed.importers.iter().map(place).collect::<Vec<_>>(),
            "overrides": changed.overrides.iter().map(place).collect::<Vec<_>>(),
            "breaks": changed.breaks().map(place).collect::<Vec<_>>(),
            "unresolved": changed.unresolved,
        })
    };
    let all = |changed: &[Changed]| changed.iter().map(one).collect::<Vec<_>>();
    json!({
        "changed": all(&report.changed), "notes": all(&report.notes),
        "breaks": report.breaks(), "missing": report.missing,
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
