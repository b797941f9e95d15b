//! `eval`: how well the rules find what they should, beside what else one could type.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use comfy_table::{CellAlignment, Table, presets};

use super::context::Context;
use super::failure::usage;
use crate::measure::{
    Eval, Figures, History, Options, Ranker, Seen, difference, eval, figures, read_cases,
};
use crate::policy::{Policy, RULES, Rule};
use crate::repo::Repo;
use crate::score::Weights;

/// Measure how well the rules find what they should.
///
/// Each case is asked at its own commit, of the records known then; BM25 and `git log -- files` are asked the same on the same records.
/// Nothing is written but derived caches.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Lines of cases {"id","kind","at","task","nodes","relevant"}; or a directory of such files, one for each history
    cases: PathBuf,
    /// A rule to measure; every known one unless given, may be given several times
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// Ask each case of so many of the newest records
    #[arg(long, value_name = "N", default_value_t = 2000)]
    newest: usize,
    /// Ask each case of so many of those records, the right ones and a sample of the others
    #[arg(long, value_name = "N", conflicts_with = "all_records")]
    sample: Option<usize>,
    /// Ask of all records known at the commit, with all their nodes
    #[arg(long, conflicts_with = "newest")]
    all_records: bool,
    /// Where the histories are, when CASES is a directory: NAME.jsonl is asked of DIR/NAME
    #[arg(long, value_name = "DIR")]
    histories: Option<PathBuf>,
    /// Weights of words instead of the frozen ones: a file, or a directory of NAME.tsv
    #[arg(long, value_name = "PATH")]
    weights: Option<PathBuf>,
    /// A policy instead of the defaults, for its own rule
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let histories = histories(context, args)?;
    let options = Options {
        newest: (!args.all_records).then_some(args.newest),
        sample: args.sample,
        rankers: rankers(context, args)?,
    };
    let bar = context.bar("cases");
    let made = eval(&histories, &options, &|done, all| bar.set(done, all))?;
    drop(bar);
    let rows: Vec<Figures> = (0..options.rankers.len())
        .map(|at| sum_up(&options.rankers[at], &made.of(at)))
        .collect();
    if context.json {
        for row in &rows {
            context.print_json(row)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = table(&rows);
    text.push_str(&differences(&options.rankers, &made));
    if context.verbose && histories.len() > 1 {
        text.push_str(&each(&histories, &options.rankers, &made));
    }
    text.push_str(&caveats(&rows));
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn histories(context: &Context, args: &Args) -> anyhow::Result<Vec<History>> {
    let cases = context.directory().join(&args.cases);
    let weights = args
        .weights
        .as_ref()
        .map(|path| context.directory().join(path));
    if !cases.is_dir() {
        let name = stem(&cases);
        return Ok(vec![history(
            name,
            context.repo()?,
            &cases,
            weights.as_deref(),
        )?]);
    }
    let Some(parent) = &args.histories else {
        return Err(usage(
            "CASES is a directory, so --histories has to say where the histories are",
        ));
    };
    let parent = context.directory().join(parent);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&cases)
        .with_context(|| format!("cannot read {}", cases.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!("{} holds no .jsonl file", cases.display());
    }
    let mut all = Vec::new();
    for file in files {
        let name = stem(&file);
        let repo = Repo::open(&parent.join(&name), None)?;
        all.push(history(name, repo, &file, weights.as_deref())?);
    }
    Ok(all)
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn history(
    name: String,
    repo: Repo,
    cases: &Path,
    weights: Option<&Path>,
) -> anyhow::Result<History> {
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path);
        text.with_context(|| format!("cannot read {}", path.display()))
    };
    let at = |path: &Path, why: String| usage(format!("{}: {why}", path.display()));
    let lines = read_cases(&read(cases)?).map_err(|why| at(cases, why))?;
    let weights = match weights {
        Some(path) => {
            let path = match path.is_dir() {
                true => path.join(format!("{name}.tsv")),
                false => path.to_owned(),
            };
            Some(Weights::parse(&read(&path)?).map_err(|why| at(&path, why))?)
        }
        None => None,
    };
    Ok(History {
        name,
        repo,
        cases: lines,
        weights,
    })
}

/// The rules asked for, then the baselines.
fn rankers(context: &Context, args: &Args) -> anyhow::Result<Vec<Ranker>> {
    let given = match &args.policy {
        Some(file) => {
            let file = context.directory().join(file);
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            Some(Policy::parse(&text).with_context(|| file.display().to_string())?)
        }
        None => None,
    };
    let mut rules: Vec<Rule> = Vec::new();
    for name in &args.rules {
        let known = RULES.map(Rule::as_str).join(", ");
        let rule = Rule::named(name);
        rules.push(rule.ok_or_else(|| usage(format!("no rule '{name}'; known are {known}")))?);
    }
    if rules.is_empty() {
        rules.extend(RULES);
    }
    let policy = |rule: Rule| match &given {
        Some(policy) if policy.rule() == Some(rule) => policy.clone(),
        _ => Policy::of(rule),
    };
    let rules = rules
        .into_iter()
        .map(|rule| Ranker::Rule(Box::new(policy(rule))));
    let baselines = [
        Ranker::Bm25 { paths: false },
        Ranker::Bm25 { paths: true },
        Ranker::GitLog,
    ];
    Ok(rules.chain(baselines).collect())
}

fn sum_up(ranker: &Ranker, seen: &[&Seen]) -> Figures {
    let (gap, has_own_floor) = match ranker {
        Ranker::Rule(policy) => (policy.rank_gap_ratio, true),
        Ranker::Bm25 { .. } | Ranker::GitLog => (Policy::default().rank_gap_ratio, false),
    };
    figures(
        ranker.name(),
        seen,
        gap,
        has_own_floor,
        *ranker == Ranker::GitLog,
    )
}

fn table(rows: &[Figures]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "",
        "MRR",
        "≥ 30 d",
        "first",
        "first 5",
        "nDCG@5",
        "selected",
        "size",
        "precision",
        "empty",
        "controls",
        "removed",
        "replaced",
        "selected at 10 %",
        "floor",
    ]);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    for row in rows {
        table.add_row([
            row.rule.clone(),
            format!("{:.3}", row.mrr),
            format!("{:.3}", row.mrr_30d),
            percent(row.first),
            percent(row.recall5),
            format!("{:.3}", row.ndcg5),
            percent(row.selected),
            format!("{:.1}", row.size),
            percent(row.precision),
            percent(row.empty),
            percent(row.controls),
            percent(row.removed),
            percent(row.replaced),
            row.selected_at_10.map_or_else(|| "–".to_owned(), percent),
            row.floor_at_10
                .map_or_else(|| "–".to_owned(), |floor| format!("{floor:.3}")),
        ]);
    }
    for column in 1..15 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

/// The newest rule against everything else.
fn differences(rankers: &[Ranker], made: &Eval) -> String {
    let is_rule = |ranker: &Ranker| matches!(ranker, Ranker::Rule(_));
    let Some(newest) = rankers.iter().rposition(is_rule) else {
        return String::new();
    };
    let mut text = format!(
        "\n{} against, MRR with 95 % intervals:\n",
        rankers[newest].name()
    );
    for (at, other) in rankers.iter().enumerate().filter(|(at, _)| *at != newest) {
        let whole = difference(&made.of(newest), &made.of(at), false);
        let old = difference(&made.of(newest), &made.of(at), true);
        text.push_str(&format!(
            "  {:<22} {:+.3} [{:+.3}, {:+.3}]   ≥ 30 days {:+.3} [{:+.3}, {:+.3}]\n",
            other.name(),
            whole.mrr,
            whole.interval.0,
            whole.interval.1,
            old.mrr,
            old.interval.0,
            old.interval.1
        ));
    }
    text
}

/// Each history by itself.
fn each(histories: &[History], rankers: &[Ranker], made: &Eval) -> String {
    let mut text = String::new();
    for (at, history) in histories.iter().enumerate() {
        let rows: Vec<Figures> = rankers
            .iter()
            .enumerate()
            .map(|(ranker, asked)| {
                let seen: Vec<&Seen> = made.seen[ranker][at].iter().collect();
                sum_up(asked, &seen)
            })
            .collect();
        text.push_str(&format!("\n{}\n{}", history.name, table(&rows)));
    }
    text
}

fn caveats(rows: &[Figures]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let unknown = match first.unknown {
        0 => String::new(),
        count => format!(
            " {count} more have their answer outside the records and count only under removed."
        ),
    };
    format!(
        "\n{} cases with an answer.{unknown} Authors cite what they remember, mostly recent and in the same files; an unlabelled record may be just as \
         relevant, so precision is a lower bound. The floors of BM25 are chosen on these very controls, which favours it; git log is never silent.\n",
        first.cases
    )
}
