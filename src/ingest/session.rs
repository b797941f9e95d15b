//! A session begun, and a task ended, as somebody says it.
//!
//! In: plain values and the clock. Out: records in the store, and their ids. Masks credentials before anything else sees a text; of an
//! agent's name only a keyed hash is kept.

use serde::Serialize;

use super::spoken::{SpeakError, within};
use crate::id::RecordId;
use crate::query::masked;
use crate::record::{
    Anchor, Kind, MAX_NODES, Outcome, Reasoning, Record, Session, Source, Task, Time, Verdict,
};
use crate::repo::Repo;
use crate::store::{Noted, Put, Receipt, Store};

/// So many subgoals or assumptions a session begins with: a person reads them.
const MOST_PARTS: usize = 1000;

/// A session to be begun.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// What it is for.
    pub goal: String,
    /// The parts of the goal.
    pub subgoals: Vec<String>,
    /// What is taken for granted, each with its confidence: `high`, `medium` or `low`.
    pub assumptions: Vec<(String, Option<String>)>,
    /// The agent's name.
    pub agent: Option<String>,
}

/// A session that was begun.
#[derive(Clone, Debug, Serialize)]
pub struct Begun {
    /// Its id, which is its label.
    pub session: RecordId,
    /// The goal, then the subgoals; their ids are labels of tasks.
    pub tasks: Vec<Named>,
    /// The assumptions.
    pub assumptions: Vec<Named>,
    /// Kinds of credentials that were masked.
    pub masked: Vec<String>,
    /// What the notes are to say of it.
    #[serde(skip)]
    pub noted: Vec<Noted>,
}

/// A record with what it says.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// The record.
    pub id: RecordId,
    /// What it says, masked.
    pub text: String,
}

/// Begins a session: one write.
///
/// # Errors
/// When a text is not one, or the store cannot be written; then nothing was written.
pub fn begin(repo: &Repo, now: Time, begin: Begin) -> Result<Begun, SpeakError> {
    let parts = begin.subgoals.len().max(begin.assumptions.len());
    if parts > MOST_PARTS {
        return Err(SpeakError::Wrong(format!(
            "{parts} subgoals or assumptions; a session begins with at most {MOST_PARTS}"
        )));
    }
    let texts = begin.subgoals.iter().chain(&begin.agent);
    let texts = texts.chain(begin.assumptions.iter().map(|(text, _)| text));
    for text in texts.chain([&begin.goal]) {
        within("text", text)?;
    }
    let store = Store::new(repo);
    let mut found = Vec::new();
    let anchor = here(repo, now)?.masked(&mut found);
    let agent = begin
        .agent
        .map(|name| store.agent_hash(&name))
        .transpose()?;
    let mut puts: Vec<Put> = Vec::new();
    let mut put = |record: Record, anchor: Option<Anchor>| -> Result<RecordId, SpeakError> {
        check(&record)?;
        let put = Put::new(&record, anchor, false);
        let id = put.line.id;
        puts.push(put);
        Ok(id)
    };
    let goal = masked(begin.goal.trim(), &mut found);
    let session = Record::Session(Session {
        goal: goal.clone(),
        start: now,
        nonce: store.nonce()?,
        agent,
    });
    let session = put(session, Some(anchor.clone()))?;
    let mut tasks: Vec<Named> = Vec::new();
    let subgoals = begin.subgoals.iter();
    let subgoals = subgoals.map(|text| masked(text.trim(), &mut found));
    for text in std::iter::once(goal).chain(subgoals) {
        let task = Record::Task(Task {
            text: text.clone(),
            session: session.to_string(),
            parent: tasks.first().map(|goal| goal.id),
        });
        let id = put(task, None)?;
        tasks.push(Named { id, text });
    }
    let mut assumptions = Vec::new();
    for (text, confidence) in begin.assumptions {
        let text = masked(text.trim(), &mut found);
        let record = Record::Reasoning(Reasoning {
            text: text.clone(),
            confidence,
            session: Some(session.to_string()),
            task: tasks.first().map(|goal| goal.id.to_string()),
            ..Reasoning::new(Source::Session, Kind::Assumption)
        });
        let id = put(record, Some(anchor.clone()))?;
        assumptions.push(Named { id, text });
    }
    store.put(&puts, now)?;
    Ok(Begun {
        noted: puts.iter().filter_map(Put::noted).collect(),
        session,
        tasks,
        assumptions,
        masked: found,
    })
}

/// How a task ended, as somebody says it.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// The label of the task.
    pub task: String,
    /// Exactly `pass` or `fail`.
    pub verdict: String,
    /// What there is to say about it.
    pub rationale: Option<String>,
    /// Which share of the task was reached, 0 to 1.
    pub coverage: Option<f64>,
    /// Root-relative nodes that had been surfaced before the work.
    pub surfaced: Vec<String>,
    /// Root-relative nodes that should have been.
    pub missing: Vec<String>,
}

/// An outcome that was written.
#[derive(Clone, Debug, Serialize)]
pub struct Ended {
    /// The record.
    pub id: RecordId,
    /// Whether it was there already.
    pub known: bool,
    /// Kinds of credentials that were masked.
    pub masked: Vec<String>,
}

/// Writes how a task ended.
///
/// # Errors
/// When a value is not one, or the store cannot be written; then nothing was written.
pub fn end(repo: &Repo, now: Time, end: End) -> Result<Ended, SpeakError> {
    for names in [&end.surfaced, &end.missing] {
        if names.len() > MAX_NODES {
            let count = names.len();
            return Err(SpeakError::Wrong(format!(
                "{count} nodes; a record has at most {MAX_NODES}"
            )));
        }
    }
    let names = end.surfaced.iter().chain(&end.missing);
    for text in names.chain(&end.rationale).chain([&end.task, &end.verdict]) {
        within("text", text)?;
    }
    let verdict = match end.verdict.as_str() {
        "pass" => Verdict::Pass,
        "fail" => Verdict::Fail,
        other => {
            return Err(SpeakError::Wrong(format!(
                "the verdict is exactly 'pass' or 'fail', not '{other}'; what there is to say goes into the rationale"
            )));
        }
    };
    let mut found = Vec::new();
    let rationale = end.rationale.map(|text| masked(text.trim(), &mut found));
    let mut without_credentials = |names: &[String]| -> Vec<String> {
        names.iter().map(|name| masked(name, &mut found)).collect()
    };
    let (surfaced, missing) = (
        without_credentials(&end.surfaced),
        without_credentials(&end.missing),
    );
    let record = Record::Outcome(Outcome {
        source: Source::Session,
        task: Some(masked(&end.task, &mut found)),
        of: Vec::new(),
        verdict,
        rationale: rationale.filter(|text| !text.is_empty()),
        coverage: end.coverage,
        surfaced,
        missing,
        time: Some(now),
    });
    check(&record)?;
    let anchor = here(repo, now)?.masked(&mut found);
    let put = Put::new(&record, Some(anchor), false);
    let receipts = Store::new(repo).put(std::slice::from_ref(&put), now)?;
    Ok(Ended {
        id: put.line.id,
        known: receipts.first() == Some(&Receipt::Known),
        masked: found,
    })
}

fn check(record: &Record) -> Result<(), SpeakError> {
    record
        .check()
        .map_err(|error| SpeakError::Wrong(error.to_string()))
}

fn here(repo: &Repo, now: Time) -> Result<Anchor, SpeakError> {
    let head = repo.head()?;
    Ok(Anchor {
        branch: head.branch,
        worktree: repo.worktree(),
        ..Anchor::at(head.commit, now)
    })
}
