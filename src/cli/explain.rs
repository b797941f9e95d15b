//! `explain`: the factors of one look-up as a table.

use std::collections::BTreeMap;
use std::process::ExitCode;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;

use super::context::Context;
use super::failure::usage;
use super::query::{because, cut};
use crate::id::RecordId;
use crate::query::{code_words, facts_of};
use crate::record::{Attention, Factors};
use crate::render::visible;
use crate::replay::every_candidate;
use crate::store::Store;
use crate::store::view::View;

/// Show the factors of one look-up.
///
/// score = (w_semantic · semantic + w_structural · structural + bonus) · recency · live_ratio
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The look-up's id, or a unique beginning of one
    id: String,
    /// Only this record, also one that was not listed; an id or a unique beginning of one
    record: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let store = Store::new(&repo);
    let lookup = store.lookup(&store.find_lookup(&args.id)?)?;
    let bar = context.bar("code graph");
    let (view, mut attention) = every_candidate(&repo, &lookup, &|done, all| bar.set(done, all))?;
    drop(bar);
    let is_stored = !lookup.attention.removed.is_empty() && args.record.is_none();
    if is_stored && !context.verbose {
        // What is recomputed without a forgotten record may come to another selection than was made with it.
        attention = lookup.attention.clone();
    }
    for id in &lookup.attention.removed {
        context.say(format!("record {} was forgotten since", id.short()));
    }
    let facts = facts_of(&lookup.attention.result);
    let code = code_words(&view, &lookup.attention.inputs, &lookup.ground, &facts);
    let mut rows = rows(&attention, &code);
    if let Some(record) = &args.record {
        rows.retain(|row| row.id.to_string().starts_with(record));
        if rows.is_empty() {
            return Err(usage(format!(
                "no candidate of this look-up has the id '{record}'"
            )));
        }
    } else if !context.verbose {
        let listed = lookup.attention.result.items.len() + lookup.attention.result.rejected.len();
        rows.truncate(listed);
    }
    match context.json {
        true => {
            for row in &rows {
                context.print_json(&json!({
                    "id": row.id, "score": row.score, "factors": row.factors, "fate": row.fate,
                    "code": row.code,
                }))?;
            }
        }
        false => context.print(&human(
            context,
            &attention,
            &view,
            &rows,
            args.record.is_none(),
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Row {
    id: RecordId,
    score: f64,
    factors: Factors,
    fate: String,
    /// The words of the task in the code that its commit wrote.
    code: Vec<String>,
}

fn rows(attention: &Attention, code: &BTreeMap<RecordId, Vec<String>>) -> Vec<Row> {
    let code = |id: &RecordId| code.get(id).cloned().unwrap_or_default();
    let items = attention.result.items.iter().map(|item| Row {
        id: item.id,
        score: item.score,
        factors: item.factors,
        fate: "selected".to_owned(),
        code: code(&item.id),
    });
    let rejected = attention.result.rejected.iter().map(|one| Row {
        id: one.id,
        score: one.score,
        factors: one.factors,
        fate: match one.by {
            Some(by) => format!("{} by {}", because(one.reason), by.short()),
            None => because(one.reason).to_owned(),
        },
        code: code(&one.id),
    });
    items.chain(rejected).collect()
}

fn human(
    context: &Context,
    attention: &Attention,
    view: &View,
    rows: &[Row],
    is_whole: bool,
) -> String {
    let (inputs, result) = (&attention.inputs, &attention.result);
    let policy = &inputs.policy;
    let mut text = format!(
        "task    {}\nrule    {}   score = ({} · semantic + {} · structural + bonus) · recency · live\ncut-off {:.4} of {} candidates\n\n",
        visible(&inputs.task),
        inputs.rule,
        policy.w_semantic,
        policy.w_structural,
        result.threshold,
        result.candidates
    );
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "record",
        "score",
        "semantic",
        "structural",
        "bonus",
        "recency",
        "live",
        "sessions",
        "fate",
        "text",
    ]);
    for row in rows {
        let factors = &row.factors;
        let mut words = view
            .prior(row.id)
            .map(|prior| cut(&visible(&prior.text), 50))
            .unwrap_or_default();
        if !row.code.is_empty() {
            words.push_str(&format!(" (its code: {})", visible(&row.code.join(", "))));
        }
        table.add_row([
            row.id.short(),
            format!("{:.4}", row.score),
            format!("{:.4}", factors.semantic),
            format!("{:.4}", factors.structural),
            format!("{:.2}", factors.bonus),
            format!("{:.2}", factors.recency),
            format!("{:.2}", factors.live_ratio),
            factors.corroboration.to_string(),
            row.fate.clone(),
            words,
        ]);
    }
    for column in 1..8 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text.push_str(&table.trim_fmt());
    let hidden = result.candidates as usize - rows.len().min(result.candidates as usize);
    if hidden > 0 && is_whole {
        text.push_str(&context.dim(&format!("\n{hidden} more candidates; -v shows all")));
    }
    text + "\n"
}
