//! `replay`: look-ups recomputed, or asked again at another commit.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context as _;
use comfy_table::{Table, presets};
use serde::Serialize;

use super::context::Context;
use super::failure::{NEGATIVE, usage};
use super::query::{because, human, warn};
use crate::id::RecordId;
use crate::query::{Answer, Query, Report, ask, view_at};
use crate::record::{Attention, Factors, Reason};
use crate::render::visible;
use crate::replay::{Replayed, Verdict, replay};
use crate::repo::Repo;
use crate::store::{Store, Stored};

/// Recompute look-ups from what they pinned, and compare every byte.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The look-up's id, or a unique beginning of one
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// Every stored look-up
    #[arg(long, conflicts_with = "at")]
    all: bool,
    /// Ask the same task at this commit, and show what moved
    #[arg(long, value_name = "REV")]
    at: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let store = Store::new(&repo);
    let lookups = match &args.id {
        Some(id) => vec![store.find_lookup(id)?],
        None => store.lookups()?,
    };
    if let Some(rev) = &args.at {
        let stored = lookups
            .first()
            .ok_or_else(|| usage("--at needs a look-up"))?;
        return elsewhere(context, &repo, stored, rev);
    }
    let mut differs = false;
    let bar = context.bar("look-ups");
    for (done, stored) in lookups.iter().enumerate() {
        let replayed = replay(&repo, stored, &|_, _| {})?;
        differs |= replayed.result == Verdict::Differs;
        match context.json {
            true => context.print_json(&replayed)?,
            false => context.print(&format!("{}  {}", replayed.id, replayed.result))?,
        }
        explain(context, &replayed);
        bar.set(done + 1, lookups.len());
    }
    drop(bar);
    if lookups.is_empty() {
        context.say("no look-up has been recorded yet");
    }
    Ok(ExitCode::from(if differs { NEGATIVE } else { 0 }))
}

/// What stands behind a result that is not plainly identical.
fn explain(context: &Context, replayed: &Replayed) {
    let id = replayed.id.short();
    if let Verdict::IdenticalWithGraphOf {
        differs_today: true,
        ..
    } = replayed.result
    {
        context.say(format!(
            "{id}: with today's graph the answer would be another"
        ));
    }
    for why in &replayed.differs {
        context.say(format!("{id}: {}", visible(why)));
    }
}

/// A stored look-up in the form of `query`.
pub(super) fn stored_report(
    context: &Context,
    repo: &Repo,
    stored: &Stored,
) -> anyhow::Result<String> {
    let store = Store::new(repo);
    let lookup = store.lookup(stored)?;
    let corpus = store.lean(lookup.pins.corpus)?;
    let inputs = &lookup.attention.inputs;
    let view = view_at(repo, corpus, inputs.visibility, inputs.commit, inputs.time)?;
    if context.json {
        let report = Report::new(Some(lookup.id), &lookup.attention, &view);
        return serde_json::to_string(&report).context("no JSON form");
    }
    let task = format!("task   {}\n", visible(&inputs.task));
    let nodes: Vec<_> = inputs
        .current_nodes
        .iter()
        .map(|node| visible(node))
        .collect();
    let nodes = format!("nodes  {}\nasked  {}\n\n", nodes.join(", "), inputs.time);
    let answer = Answer {
        id: Some(lookup.id),
        attention: lookup.attention,
        view,
        ground: lookup.ground,
        masked: Vec::new(),
        broken: Vec::new(),
        missing: Vec::new(),
        history_is_cut: false,
        unwritten: None,
    };
    Ok(task + &nodes + &human(context, &answer))
}

/// The same task asked at another commit: what is selected there, and which factor moved each record.
fn elsewhere(
    context: &Context,
    repo: &Repo,
    stored: &Stored,
    rev: &str,
) -> anyhow::Result<ExitCode> {
    let here = Store::new(repo).lookup(stored)?.attention;
    let mut query = Query::new(here.inputs.task.clone(), here.inputs.current_nodes.clone());
    query.session = here.inputs.session.clone();
    query.at = Some(repo.commit_at(rev)?);
    let bar = context.bar("code graph");
    let there = ask(repo, &query, context.now()?, &|done, all| {
        bar.set(done, all)
    })?;
    drop(bar);
    warn(context, &there);
    if context.json {
        context.print_json(&Elsewhere {
            report: Report::new(there.id, &there.attention, &there.view),
            compared_with: stored.id,
            moved: moves(&here, &there.attention),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = human(context, &there);
    text.push_str(&format!(
        "\ncompared with look-up {} at {}:\n",
        stored.id.short(),
        place(&here)
    ));
    text.push_str(&table(&moves(&here, &there.attention)));
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn place(attention: &Attention) -> String {
    match attention.inputs.commit {
        Some(commit) => commit.to_string()[..12].to_owned(),
        None => "the beginning".to_owned(),
    }
}

type Fate = (f64, Factors, Option<Reason>);

/// Every record that either look-up names.
fn fates(attention: &Attention) -> BTreeMap<RecordId, Fate> {
    let items = attention
        .result
        .items
        .iter()
        .map(|item| (item.id, (item.score, item.factors, None)));
    let rejected = attention.result.rejected.iter();
    items
        .chain(rejected.map(|one| (one.id, (one.score, one.factors, Some(one.reason)))))
        .collect()
}

/// The other look-up as `query` shows it, and what moved.
#[derive(Serialize)]
struct Elsewhere<'a> {
    #[serde(flatten)]
    report: Report<'a>,
    compared_with: RecordId,
    moved: Vec<Move>,
}

/// What became of one record in the two look-ups.
#[derive(Serialize)]
struct Move {
    id: RecordId,
    then: String,
    at: String,
    moved: String,
}

fn moves(here: &Attention, there: &Attention) -> Vec<Move> {
    let (here_cut, there_cut) = (here.result.threshold, there.result.threshold);
    let (here, there) = (fates(here), fates(there));
    let ids: std::collections::BTreeSet<_> = here.keys().chain(there.keys()).collect();
    let fate = |fate: Option<&Fate>| match fate {
        None => "not listed".to_owned(),
        Some((score, _, None)) => format!("{score:.3} selected"),
        Some((score, _, Some(reason))) => format!("{score:.3} {}", because(*reason)),
    };
    let each = ids.into_iter().map(|id| {
        let (before, now) = (here.get(id), there.get(id));
        let moved = match (before, now) {
            (Some((_, before, was)), Some((_, now, is))) => match moved(before, now) {
                Some(moved) => moved,
                None if was == is => "nothing".to_owned(),
                None => format!("the cut-off, {here_cut:.3} to {there_cut:.3}, or better ones"),
            },
            (None, _) => "not a listed candidate then".to_owned(),
            (_, None) => "not a listed candidate there".to_owned(),
        };
        Move {
            id: *id,
            then: fate(before),
            at: fate(now),
            moved,
        }
    });
    each.collect()
}

fn table(moves: &[Move]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["record", "then", "at REV", "what moved it"]);
    for one in moves {
        table.add_row([&one.id.short(), &one.then, &one.at, &one.moved]);
    }
    table.trim_fmt() + "\n"
}

/// The factors that differ; none when they are the same.
fn moved(before: &Factors, now: &Factors) -> Option<String> {
    let pairs = [
        ("words", before.semantic, now.semantic),
        ("code", before.structural, now.structural),
        ("outcome", before.bonus, now.bonus),
        ("recency", before.recency, now.recency),
        ("live", before.live_ratio, now.live_ratio),
    ];
    let changed: Vec<_> = pairs
        .into_iter()
        .filter(|(_, before, now)| before != now)
        .map(|(name, before, now)| format!("{name} {before:.2} to {now:.2}"))
        .collect();
    (!changed.is_empty()).then(|| changed.join(", "))
}
