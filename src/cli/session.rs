//! `session start`: a session, its goal and subgoals, its assumptions.

use std::process::ExitCode;

use clap::Subcommand;
use serde::Serialize;

use super::context::Context;
use super::failure::usage;
use crate::id::RecordId;
use crate::query::masked;
use crate::record::{Anchor, Kind, Reasoning, Record, Session, Source, Task};
use crate::store::{Put, Store};

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

#[derive(Serialize)]
struct Started {
    session: RecordId,
    tasks: Vec<Named>,
    assumptions: Vec<Named>,
    masked: Vec<String>,
}

#[derive(Serialize)]
struct Named {
    id: RecordId,
    text: String,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let Action::Start(args) = args.action;
    let repo = context.repo()?;
    let store = Store::new(&repo);
    let now = context.now()?;
    let head = repo.head()?;
    let anchor = Anchor {
        branch: head.branch,
        worktree: repo.worktree(),
        ..Anchor::at(head.commit, now)
    };
    let mut found = Vec::new();
    let agent = args.agent.map(|name| store.agent_hash(&name)).transpose()?;
    let mut puts: Vec<Put> = Vec::new();
    let mut put = |record: Record, anchor: Option<Anchor>| -> anyhow::Result<RecordId> {
        record.check().map_err(|error| usage(error.to_string()))?;
        let put = Put::new(&record, anchor, false);
        let id = put.line.id;
        puts.push(put);
        Ok(id)
    };
    let goal = masked(args.goal.trim(), &mut found);
    let session = Record::Session(Session {
        goal: goal.clone(),
        start: now,
        nonce: store.nonce()?,
        agent,
    });
    let session = put(session, Some(anchor.clone()))?;
    let mut tasks: Vec<Named> = Vec::new();
    for text in std::iter::once(goal).chain(
        args.subgoal
            .iter()
            .map(|text| masked(text.trim(), &mut found)),
    ) {
        let task = Record::Task(Task {
            text: text.clone(),
            session: session.to_string(),
            parent: tasks.first().map(|goal| goal.id),
        });
        let id = put(task, None)?;
        tasks.push(Named { id, text });
    }
    let mut assumptions = Vec::new();
    for assumption in &args.assume {
        let (text, confidence) = split_confidence(assumption);
        let text = masked(text.trim(), &mut found);
        let record = Record::Reasoning(Reasoning {
            text: text.clone(),
            confidence: confidence.map(str::to_owned),
            session: Some(session.to_string()),
            task: tasks.first().map(|goal| goal.id.to_string()),
            ..Reasoning::new(Source::Session, Kind::Assumption)
        });
        let id = put(record, Some(anchor.clone()))?;
        assumptions.push(Named { id, text });
    }
    store.put(&puts, now)?;
    let started = Started {
        session,
        tasks,
        assumptions,
        masked: found,
    };
    match context.json {
        true => context.print_json(&started)?,
        false => context.print(&human(&started))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn human(started: &Started) -> String {
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
