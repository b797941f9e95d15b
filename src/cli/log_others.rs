//! `log --type`: sessions, tasks and outcomes, newest first.
//!
//! In: a corpus, the filters of `log`. Out: a line for each, with the same keys as a reasoning record and with its own besides.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::failure::usage;
use super::log::{Args, Type, is_at_or_beneath};
use crate::id::{CommitId, RecordId};
use crate::record::{Anchor, Source, Time, Verdict};
use crate::render::visible;
use crate::store::Corpus;

/// One of them; the keys up to `verdict` are those of any line of `log`.
#[derive(Serialize)]
struct Row<'a> {
    id: RecordId,
    r#type: &'static str,
    source: Source,
    session: Option<String>,
    /// Always null: only reasoning has a kind.
    kind: Option<()>,
    text: &'a str,
    reasons: [String; 0],
    nodes: BTreeSet<&'a str>,
    supersedes: [RecordId; 0],
    anchors: Vec<CommitId>,
    former_anchors: Vec<CommitId>,
    time: Option<Time>,
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    of: &'a [RecordId],
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    surfaced: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<RecordId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip)]
    stands: Vec<&'a Anchor>,
}

/// Lists them.
pub(super) fn run(
    context: &Context,
    corpus: &Corpus,
    args: &Args,
    node: Option<&str>,
) -> anyhow::Result<ExitCode> {
    if args.kind.is_some() {
        return Err(usage("--kind is about reasoning records only"));
    }
    let mut rows = match args.record_type {
        Type::Session => sessions(corpus),
        Type::Task => tasks(corpus),
        Type::Outcome => outcomes(corpus),
        // Listed by the files beside this one.
        Type::Reasoning | Type::Attention => Vec::new(),
    };
    rows.retain(|row| !corpus.is_forgotten(row.id));
    rows.retain(|row| {
        args.grep
            .as_ref()
            .is_none_or(|text| row.text.contains(text))
    });
    rows.retain(|row| {
        node.is_none_or(|node| row.nodes.iter().any(|one| is_at_or_beneath(one, node)))
    });
    let said = |row: &Row<'_>, of: fn(&Anchor) -> &Option<String>, wanted: &Option<String>| {
        wanted.is_none() || row.stands.iter().any(|anchor| of(anchor) == wanted)
    };
    rows.retain(|row| said(row, |anchor| &anchor.branch, &args.branch));
    rows.retain(|row| said(row, |anchor| &anchor.worktree, &args.worktree));
    if args.count {
        context.print(&rows.len().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.time), row.id));
    rows.truncate(args.most.unwrap_or(usize::MAX));
    let mut text = String::new();
    for row in &rows {
        text.push_str(&match context.json {
            true => serde_json::to_string(row)?,
            false => human(context, row),
        });
        text.push('\n');
    }
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn row<'a>(corpus: &'a Corpus, id: RecordId, r#type: &'static str, text: &'a str) -> Row<'a> {
    let stands = corpus.anchors.get(&id).into_iter().flatten();
    let mut stands: Vec<&Anchor> = stands.map(|(_, anchor)| anchor).collect();
    stands.sort_by_key(|anchor| (anchor.time, anchor.commit));
    let replaced: BTreeSet<CommitId> = stands
        .iter()
        .flat_map(|anchor| anchor.replaces.iter().copied())
        .collect();
    let commits = stands.iter().filter_map(|anchor| anchor.commit);
    let (former_anchors, anchors) = commits.partition(|commit| replaced.contains(commit));
    Row {
        id,
        r#type,
        source: corpus.source(id).unwrap_or(Source::Session),
        session: None,
        kind: None,
        text,
        reasons: [],
        nodes: BTreeSet::new(),
        supersedes: [],
        anchors,
        former_anchors,
        time: stands.first().map(|anchor| anchor.time),
        verdict: None,
        task: None,
        of: &[],
        coverage: None,
        surfaced: &[],
        missing: &[],
        parent: None,
        agent: None,
        stands,
    }
}

fn sessions(corpus: &Corpus) -> Vec<Row<'_>> {
    let each = corpus.sessions.iter().map(|(id, session)| Row {
        session: Some(id.to_string()),
        time: Some(session.start),
        agent: session.agent.as_deref(),
        ..row(corpus, *id, "session", &session.goal)
    });
    each.collect()
}

fn tasks(corpus: &Corpus) -> Vec<Row<'_>> {
    let each = corpus.tasks.iter().map(|(id, task)| {
        // A task is said with its session.
        let session = task.session.parse().ok();
        let start = session.and_then(|id: RecordId| corpus.sessions.get(&id));
        let start = start.map(|session| session.start);
        let row = row(corpus, *id, "task", &task.text);
        Row {
            session: Some(task.session.clone()),
            time: row.time.or(start),
            parent: task.parent,
            ..row
        }
    });
    each.collect()
}

fn outcomes(corpus: &Corpus) -> Vec<Row<'_>> {
    let each = corpus.outcomes.iter().map(|(id, outcome)| {
        let row = row(
            corpus,
            *id,
            "outcome",
            outcome.rationale.as_deref().unwrap_or_default(),
        );
        let nodes = outcome.surfaced.iter().chain(&outcome.missing);
        Row {
            nodes: nodes.map(String::as_str).collect(),
            time: outcome.time.or(row.time),
            verdict: Some(outcome.verdict),
            task: outcome.task.as_deref(),
            of: &outcome.of,
            coverage: outcome.coverage,
            surfaced: &outcome.surfaced,
            missing: &outcome.missing,
            ..row
        }
    });
    each.collect()
}

fn human(context: &Context, row: &Row<'_>) -> String {
    let day = row.time.map(Time::day).unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    words.extend(row.verdict.map(|verdict| verdict.as_str().to_owned()));
    words.extend(row.task.map(visible));
    let of: Vec<_> = row.of.iter().map(RecordId::short).collect();
    words.extend((!of.is_empty()).then(|| of.join(" ")));
    words.extend((!row.text.is_empty()).then(|| visible(row.text)));
    format!(
        "{}  {day:<10}  {}",
        context.dim(&row.id.short()),
        words.join("  ")
    )
}
