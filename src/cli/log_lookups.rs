//! `log --type attention`: look-ups, newest first; and how many hold what `log --grep` did not find elsewhere.
//!
//! In: the store, the filters of `log`. Out: a line for each look-up, with the keys of a reasoning record that it has and its own besides.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::failure::usage;
use super::log::{Args, is_at_or_beneath};
use super::query::cut;
use crate::id::{CommitId, RecordId};
use crate::record::{Inputs, Time};
use crate::render::visible;
use crate::repo::Repo;
use crate::store::Store;

/// One look-up; what it was asked is its text.
#[derive(Serialize)]
struct Row<'a> {
    id: RecordId,
    r#type: &'static str,
    session: Option<&'a str>,
    /// Always null: only reasoning has a kind.
    kind: Option<()>,
    text: &'a str,
    reasons: [String; 0],
    nodes: &'a [String],
    anchors: Vec<CommitId>,
    time: Time,
}

/// Lists them.
pub(super) fn run(
    context: &Context,
    repo: &Repo,
    args: &Args,
    node: Option<&str>,
) -> anyhow::Result<ExitCode> {
    if args.kind.is_some() || args.branch.is_some() || args.worktree.is_some() {
        return Err(usage(
            "--kind, --branch and --worktree are about records; a look-up has none of them",
        ));
    }
    let store = Store::new(repo);
    let mut found: Vec<(RecordId, Inputs)> = Vec::new();
    let mut seen = BTreeSet::new();
    for stored in store.lookups()? {
        match store.lookup(&stored) {
            // A look-up about a commit may stand on several days.
            Ok(lookup) if seen.insert(lookup.id) => {
                found.push((lookup.id, lookup.attention.inputs));
            }
            Ok(_) => {}
            Err(error) => context.warn(format!("skipped {}", visible(&error.to_string()))),
        }
    }
    found.retain(|(_, inputs)| args.grep.as_ref().is_none_or(|text| holds(inputs, text)));
    found.retain(|(_, inputs)| {
        let mut nodes = inputs.current_nodes.iter();
        node.is_none_or(|node| nodes.any(|one| is_at_or_beneath(one, node)))
    });
    if args.count {
        context.print(&found.len().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    found.sort_by_key(|(id, inputs)| (std::cmp::Reverse(inputs.time), *id));
    found.truncate(args.most.unwrap_or(usize::MAX));
    let mut text = String::new();
    for (id, inputs) in &found {
        text.push_str(&match context.json {
            true => serde_json::to_string(&row(*id, inputs))?,
            false => human(context, *id, inputs),
        });
        text.push('\n');
    }
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Says how many look-ups hold what was looked for: a secret that somebody asked with stands in no record.
pub(super) fn hint(context: &Context, repo: &Repo, text: &str) {
    let store = Store::new(repo);
    let lookups = store.lookups().unwrap_or_default().into_iter();
    let ids: BTreeSet<RecordId> = lookups
        .filter(|stored| {
            let lookup = store.lookup(stored);
            lookup.is_ok_and(|lookup| holds(&lookup.attention.inputs, text))
        })
        .map(|stored| stored.id)
        .collect();
    if !ids.is_empty() {
        let count = ids.len();
        context.say(format!(
            "hint: no record holds it, but {count} look-ups were asked with it; 'git score-context log --type attention --grep …' lists them"
        ));
    }
}

/// Whether a look-up was asked with this.
fn holds(inputs: &Inputs, text: &str) -> bool {
    let nodes = inputs.current_nodes.iter();
    let mut asked = nodes.chain([&inputs.task]).chain(&inputs.session);
    asked.any(|asked| asked.contains(text))
}

fn row(id: RecordId, inputs: &Inputs) -> Row<'_> {
    Row {
        id,
        r#type: "attention",
        session: inputs.session.as_deref(),
        kind: None,
        text: &inputs.task,
        reasons: [],
        nodes: &inputs.current_nodes,
        anchors: inputs.commit.into_iter().collect(),
        time: inputs.time,
    }
}

fn human(context: &Context, id: RecordId, inputs: &Inputs) -> String {
    let mut text = visible(&inputs.task);
    if context.is_terminal() {
        text = cut(&text, 90);
    }
    let nodes: Vec<String> = inputs
        .current_nodes
        .iter()
        .map(|node| visible(node))
        .collect();
    let nodes = match nodes.is_empty() {
        true => String::new(),
        false => format!("  ({})", nodes.join(", ")),
    };
    let head = format!("{}  {}  look-up   ", id.short(), inputs.time.day());
    format!("{}  {text}{nodes}", context.dim(&head))
}
