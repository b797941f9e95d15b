//! `session start` and `session show`: a session, its goal and subgoals, its assumptions; and everything it has come to since.

use std::process::ExitCode;

use clap::Subcommand;

use super::context::Context;
use super::failure::refused;
use super::hook_run;
use crate::ingest::{Begin, Begun, begin};
use crate::query::memory::{Memory, memory};
use crate::render::visible;
use crate::store::Store;

/// Begin a session of work, or show what one has in mind.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Begin a session: print its id, the id of its goal, and one for each subgoal
    Start(Start),
    /// Show what a session has in mind: goal, subgoals, assumptions, findings, decisions, outcome
    Show {
        /// Its label, or the beginning of its id; without it the session started last
        #[arg(value_name = "ID")]
        session: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
struct Start {
    /// What the session is for
    goal: String,
    /// A part of the goal; may be given several times
    #[arg(long, value_name = "S")]
    subgoal: Vec<String>,
    /// Something taken for granted, `TEXT` or `TEXT=high|medium|low`; may be given several times
    #[arg(long, value_name = "TEXT[=CONFIDENCE]")]
    assume: Vec<String>,
    /// The agent's name; only a hash keyed with this machine's salt is stored
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Start(args) => start(context, args),
        Action::Show { session } => show(context, session.as_deref()),
    }
}

fn show(context: &Context, session: Option<&str>) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let store = Store::new(&repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    let memory = memory(&corpus, session).map_err(anyhow::Error::msg)?;
    match context.json {
        true => context.print_json(&memory)?,
        false => context.print(&shown(context, &memory))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One line each: what it is, its id, what it says.
fn shown(context: &Context, memory: &Memory) -> String {
    let line =
        |word: &str, id: &str, text: &str| format!("{word:<11} {id:<12}  {}\n", visible(text));
    let mut text = line("session", "", &memory.session);
    if let Some(start) = memory.start {
        text.push_str(&line("started", "", &start.to_string()));
    }
    let goals = memory.goal.iter().map(|goal| ("goal", goal));
    for (word, goal) in goals.chain(memory.subgoals.iter().map(|goal| ("subgoal", goal))) {
        let verdict = goal
            .verdict
            .map(|verdict| format!(" ({})", verdict.as_str()));
        let said = format!("{}{}", goal.text, verdict.unwrap_or_default());
        text.push_str(&line(word, &goal.id.short(), &said));
    }
    let lists = [
        ("assumption", &memory.assumptions),
        ("finding", &memory.findings),
        ("decision", &memory.decisions),
        ("constraint", &memory.constraints),
        ("rejected", &memory.rejected),
    ];
    for (word, notes) in lists {
        for note in notes {
            let confidence = note.confidence.as_ref().map(|word| format!(" ({word})"));
            let said = format!("{}{}", note.text, confidence.unwrap_or_default());
            let entry = line(word, &note.id.short(), &said);
            match note.replaced_by {
                Some(by) => {
                    let entry = format!("{} replaced by {}", entry.trim_end(), by.short());
                    text.push_str(&format!("{}\n", context.dim(&entry)));
                }
                None => text.push_str(&entry),
            }
            for reason in &note.reasons {
                text.push_str(&line("", "", &format!("because {reason}")));
            }
        }
    }
    for end in &memory.outcomes {
        let rationale = end.rationale.as_deref().map(|why| format!(": {why}"));
        let said = format!("{}{}", end.verdict.as_str(), rationale.unwrap_or_default());
        text.push_str(&line("outcome", &end.id.short(), &said));
    }
    text
}

fn start(context: &Context, args: Start) -> anyhow::Result<ExitCode> {
    let assumptions = args.assume.iter().map(|text| {
        let (text, confidence) = split_confidence(text);
        (text.to_owned(), confidence.map(str::to_owned))
    });
    let said = Begin {
        goal: args.goal,
        subgoals: args.subgoal,
        assumptions: assumptions.collect(),
        agent: args.agent,
    };
    let repo = context.repo()?;
    let started = begin(&repo, context.now()?, said).map_err(refused)?;
    hook_run::note(context, &repo, &started.noted);
    match context.json {
        true => context.print_json(&started)?,
        false => context.print(&human(&started))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn human(started: &Begun) -> String {
    let mut text = format!("session     {}\n", started.session);
    for (place, task) in started.tasks.iter().enumerate() {
        let word = if place == 0 { "goal" } else { "subgoal" };
        text.push_str(&format!(
            "{word:<11} {}  {}\n",
            task.id,
            visible(&task.text)
        ));
    }
    for assumption in &started.assumptions {
        let words = visible(&assumption.text);
        text.push_str(&format!("assumption  {}  {words}\n", assumption.id));
    }
    text
}

/// The confidence stands behind the last `=`, and only where it is one of the three words: an assumption may hold an equals sign.
fn split_confidence(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('=') {
        Some((text, word)) if matches!(word.trim(), "high" | "medium" | "low") => {
            (text.trim_end(), Some(word.trim()))
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::split_confidence;

    #[test]
    fn confidence_is_one_of_three_words() {
        assert_eq!(
            split_confidence("the cache is warm=high"),
            ("the cache is warm", Some("high"))
        );
        assert_eq!(split_confidence("x=y"), ("x=y", None));
        assert_eq!(split_confidence("x=y=low"), ("x=y", Some("low")));
        assert_eq!(split_confidence("plain"), ("plain", None));
    }
}
