//! `session start`: a session, its goal and subgoals, its assumptions.

use std::process::ExitCode;

use clap::Subcommand;

use super::context::Context;
use super::failure::refused;
use crate::ingest::{Begin, Begun, begin};

/// Begin a session of work.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Begin a session: print its id, the id of its goal, and one for each subgoal
    Start(Start),
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
    let Action::Start(args) = args.action;
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
    let started = begin(&context.repo()?, context.now()?, said).map_err(refused)?;
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
            crate::render::visible(&task.text)
        ));
    }
    for assumption in &started.assumptions {
        let words = crate::render::visible(&assumption.text);
        text.push_str(&format!("assumption  {}  {words}\n", assumption.id));
    }
    text
}

/// The confidence stands behind the last `=`, and only where it is one of the three words: an assumption may hold an equals sign.
fn split_confidence(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('=') {
        Some((text, word @ ("high" | "medium" | "low"))) => (text, Some(word)),
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
