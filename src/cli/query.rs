//! `query`: the look-up.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::context::Context;
use super::failure::usage;
use super::policy;
use crate::policy::Policy;
use crate::query::{Answer, MOST_TASK, Query, Report, ask, nodes};
use crate::record::{Factors, Kind, Reason, State, Visibility};
use crate::render::visible;
use crate::repo::read_within;

/// Ask what was decided that matters for a task.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What is to be done, in words; `-` reads it from standard input
    task: String,
    /// A path or path::Symbol that the task is about; may be given several times
    #[arg(long = "node", value_name = "NODE")]
    nodes: Vec<String>,
    /// Ask about the code and the knowledge of this commit instead of HEAD
    #[arg(long, value_name = "REV")]
    at: Option<String>,
    /// Which records count: all, or those anchored at the commit or before
    #[arg(long, value_name = "WHICH")]
    corpus: Option<Which>,
    /// The session that asks; what it recorded itself is left out
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Select at most so many records
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    top_k: Option<u64>,
    /// Use this policy instead of the one in the code tree
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Print one line per selected record: score, id, kind, text
    #[arg(long, conflicts_with = "json")]
    oneline: bool,
    /// Do not write the look-up to the store
    #[arg(long)]
    no_record: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Which {
    Ancestors,
    All,
}

impl Args {
    /// Whether the look-up is written to the store.
    pub(super) fn is_recorded(&self) -> bool {
        !self.no_record
    }
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let task = match args.task.as_str() {
        "-" => {
            let read = read_within(std::io::stdin().lock(), MOST_TASK as u64);
            let read = read.context("cannot read the task from standard input")?;
            let bytes = read.map_err(|too_large| usage(format!("the task: {too_large}")))?;
            let text = String::from_utf8(bytes).context("the task is not UTF-8")?;
            text.trim().to_owned()
        }
        task => task.to_owned(),
    };
    if task.trim().is_empty() {
        return Err(usage("the task is empty"));
    }
    let mut query = Query::new(task, nodes::normal(&repo, &args.nodes)?);
    query.at = args.at.map(|rev| repo.commit_at(&rev)).transpose()?;
    query.session = args.session;
    query.top_k = args.top_k;
    query.record = !args.no_record;
    query.visibility = args.corpus.map(|which| match which {
        Which::Ancestors => Visibility::Ancestors,
        Which::All => Visibility::All,
    });
    if let Some(file) = args.policy {
        let file = context.directory().join(file);
        let text = policy::file_text(&file)?;
        query.policy = Some(Policy::parse(&text).with_context(|| file.display().to_string())?);
    }
    let bar = context.bar("code and history");
    let answer = ask(&repo, &query, context.now()?, &|done, all| {
        bar.set(done, all)
    })?;
    drop(bar);
    warn(context, &answer);
    if context.json {
        context.print_json(&Report::new(answer.id, &answer.attention, &answer.view))?;
    } else if args.oneline {
        context.print(&oneline(context, &answer))?;
    } else {
        context.print(&human(context, &answer))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a person should know that is not part of the answer.
pub(super) fn warn(context: &Context, answer: &Answer) {
    for broken in &answer.broken {
        context.warn(format!("skipped {broken}"));
    }
    if !answer.masked.is_empty() {
        context.warn(format!("masked in the task: {}", answer.masked.join(", ")));
    }
    if let Some(first) = answer.missing.first() {
        let count = answer.missing.len();
        context.warn(format!(
            "the content of {count} files is not in this partial clone, so their symbols are unknown (the first: {})",
            visible(first)
        ));
    }
    if answer.history_is_cut {
        context.warn("not all of history is here (a shallow or partial clone): what was changed before does not count");
    }
    if let Some(why) = &answer.unwritten {
        context.warn(format!("the look-up was not recorded: {why}"));
    }
    let commits = context
        .verbose
        .then_some(answer.attention.inputs.commit)
        .flatten();
    if let Some(commit) = commits {
        context.say(format!("asked about commit {commit}"));
    }
}

fn oneline(context: &Context, answer: &Answer) -> String {
    let mut text = String::new();
    for item in &answer.attention.result.items {
        let Some(prior) = answer.view.prior(item.id) else {
            continue;
        };
        let mut words = visible(&prior.text);
        if context.is_terminal() {
            words = cut(&words, 100);
        }
        text.push_str(&format!(
            "{:.4}  {}  {}  {words}\n",
            item.score,
            item.id.short(),
            prior.kind.as_str()
        ));
    }
    text
}

/// At most `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The answer as a person reads it: what was selected and why, what was turned down and by what, the look-up's id.
pub(super) fn human(context: &Context, answer: &Answer) -> String {
    let result = &answer.attention.result;
    let mut text = String::new();
    for (place, item) in result.items.iter().enumerate() {
        let Some(prior) = answer.view.prior(item.id) else {
            continue;
        };
        let head = format!(
            "{}. {}  {}",
            place + 1,
            prior.kind.as_str(),
            visible(&prior.text)
        );
        text.push_str(&format!("{}\n", context.bold(&head)));
        let because = match prior.kind {
            Kind::Rejected => "tried and rejected, because",
            _ => "because",
        };
        for reason in &prior.reasons {
            text.push_str(&format!("   {because} {}\n", visible(reason)));
        }
        let verdict = item
            .verdict
            .map(|verdict| format!("  outcome {}", verdict.as_str()));
        let day = prior.time.day();
        text.push_str(&format!(
            "   {}  {day}{}  score {:.3} ({})\n",
            item.id.short(),
            verdict.unwrap_or_default(),
            item.score,
            factors(&item.factors)
        ));
        let states: Vec<_> = item
            .ground
            .iter()
            .take(6)
            .map(|ground| ground_text(&ground.node, ground.state))
            .collect();
        if !states.is_empty() {
            let more = item.ground.len().saturating_sub(6);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            text.push_str(&format!("   {}{more}\n", context.dim(&states.join(", "))));
        }
    }
    if result.items.is_empty() {
        text.push_str(&nothing(answer));
    }
    if !result.rejected.is_empty() {
        text.push_str("\nturned down:\n");
        for rejected in result
            .rejected
            .iter()
            .take(if context.verbose { usize::MAX } else { 5 })
        {
            let Some(prior) = answer.view.prior(rejected.id) else {
                continue;
            };
            let by = rejected
                .by
                .map(|by| format!(" by {}", by.short()))
                .unwrap_or_default();
            text.push_str(&format!(
                "   {}  {:.3} ({})  {}{by}: {}\n",
                rejected.id.short(),
                rejected.score,
                factors(&rejected.factors),
                because(rejected.reason),
                context.dim(&cut(&visible(&prior.text), 60)),
            ));
        }
    }
    text.push_str(&format!("\n{}", searched(answer)));
    match answer.id {
        Some(id) => text.push_str(&format!("look-up {id}\n")),
        None => text.push_str("the look-up was not recorded\n"),
    }
    text
}

fn nothing(answer: &Answer) -> String {
    let result = &answer.attention.result;
    if crate::token::terms(&answer.attention.inputs.task).is_empty() {
        return format!(
            "nothing fits: the task has no word that could be compared with {} records\n",
            result.candidates
        );
    }
    let best = match result.best {
        Some(best) => format!(
            "the best scored {best:.4}, below the cut-off of {:.4}",
            result.threshold
        ),
        None => "none was left to score".to_owned(),
    };
    format!(
        "nothing fits: {} records were looked at; {best}\n",
        result.candidates
    )
}

/// One line on what was searched, so that silence can be told from not looking.
fn searched(answer: &Answer) -> String {
    let result = &answer.attention.result;
    let mut text = format!(
        "{} candidates, cut-off {:.4}",
        result.candidates, result.threshold
    );
    match result.focus_size {
        0 => text.push_str("; no node in focus, so only words counted"),
        size => text.push_str(&format!("; {size} nodes in focus")),
    }
    if result.focus_hop_skipped {
        text.push_str(" (too many to widen by a hop)");
    }
    if !result.unresolved_nodes.is_empty() {
        let names: Vec<_> = result
            .unresolved_nodes
            .iter()
            .map(|node| visible(node))
            .collect();
        text.push_str(&format!("; not in the code tree: {}", names.join(", ")));
    }
    text + "\n"
}

/// The factors of a score in a few words.
pub(super) fn factors(factors: &Factors) -> String {
    let mut text = format!(
        "words {:.2}, code {:.2}",
        factors.semantic, factors.structural
    );
    if factors.bonus != 0.0 {
        text.push_str(&format!(", outcome {:+.2}", factors.bonus));
    }
    if factors.recency != 1.0 {
        text.push_str(&format!(", recency {:.2}", factors.recency));
    }
    if factors.live_ratio != 1.0 {
        text.push_str(&format!(", live {:.2}", factors.live_ratio));
    }
    text
}

pub(super) fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::BelowFloor => "below the floor",
        Reason::OutsideGap => "too far behind the best",
        Reason::BeyondTopK => "others are better",
        Reason::Superseded => "superseded",
        Reason::Copy => "said already",
    }
}

fn ground_text(node: &str, state: State) -> String {
    let state = match state {
        State::Same => "",
        State::Changed => " (changed)",
        State::Moved => " (moved)",
        State::Gone => " (gone)",
    };
    format!("{}{state}", visible(node))
}
