//! `ablate`: whether a planner plans better with what was decided before.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use comfy_table::{CellAlignment, Table, presets};

use super::context::Context;
use super::failure::usage;
use crate::measure::{Pair, Said, ablate, read_errands};
use crate::render::visible;

/// Plan each task twice, with and without what was decided before.
///
/// The two prompts differ in the section "Relevant past decisions" and in nothing else. A planner is any command that reads a prompt on
/// standard input and prints {"success": bool, "attempts": number, "cost": number}.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Lines of tasks {"id","task","nodes"}
    tasks: PathBuf,
    /// The planner, run by sh
    #[arg(long, value_name = "CMD")]
    planner: String,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let file = context.directory().join(&args.tasks);
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let errands = read_errands(&text).map_err(|why| usage(format!("{}: {why}", file.display())))?;
    if errands.is_empty() {
        return Err(usage(format!("{} holds no task", file.display())));
    }
    let repo = context.repo()?;
    let bar = context.bar("tasks");
    let pairs = ablate(
        &repo,
        &errands,
        &args.planner,
        context.now()?,
        &|done, all| bar.set(done, all),
    )?;
    drop(bar);
    if context.json {
        for pair in &pairs {
            context.print_json(pair)?;
        }
    } else {
        context.print(&table(&pairs))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(pairs: &[Pair]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "task",
        "records",
        "success without",
        "with",
        "attempts without",
        "with",
        "cost without",
        "with",
    ]);
    let word = |said: &Said| if said.success { "yes" } else { "no" }.to_owned();
    for pair in pairs {
        let (without, with) = (&pair.without, &pair.with);
        table.add_row([
            visible(&pair.id),
            pair.records.to_string(),
            word(without),
            word(with),
            without.attempts.to_string(),
            with.attempts.to_string(),
            without.cost.to_string(),
            with.cost.to_string(),
        ]);
    }
    let sum = |get: fn(&Pair) -> f64| pairs.iter().map(get).sum::<f64>().to_string();
    let count = |get: fn(&Pair) -> bool| pairs.iter().filter(|pair| get(pair)).count();
    let of = |count: usize| format!("{count} of {}", pairs.len());
    table.add_row([
        "in sum".to_owned(),
        pairs
            .iter()
            .map(|pair| pair.records)
            .sum::<usize>()
            .to_string(),
        of(count(|pair| pair.without.success)),
        of(count(|pair| pair.with.success)),
        sum(|pair| pair.without.attempts),
        sum(|pair| pair.with.attempts),
        sum(|pair| pair.without.cost),
        sum(|pair| pair.with.cost),
    ]);
    for column in 1..8 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let caveat = "\n\nThis says what the planner printed and no more. With a stub it tests the harness and measures nothing about models; \
                  with a model, so few tasks, each planned once, are an example and no measurement.\n";
    table.trim_fmt() + caveat
}
