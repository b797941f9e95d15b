//! The tools that write records, and those that read what a session knows of itself.
//!
//! In: checked arguments. Out: ids, and stored texts inside one untrusted block. The data for programs holds no stored prose outside of
//! that block, since many a client hands it to its model.

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure};
use super::desk::{Desk, MOST_UNREAD};
use crate::hook::notes;
use crate::ingest::{Begin, End, Spoken, Writer, begin, end};
use crate::query::memory::{self, Goal, Memory, Note};
use crate::query::{nodes, policy_of};
use crate::render::{untrusted_lines, visible};
use crate::repo::Repo;
use crate::store::{Corpus, Noted, Receipt, Store};

/// Arguments of `initialize_session`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Initialize {
    goal: String,
    #[serde(default)]
    subgoals: Vec<String>,
    #[serde(default)]
    assumptions: Vec<Assumed>,
    agent: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Assumed {
    text: String,
    confidence: Option<Confidence>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Confidence {
    High,
    Medium,
    Low,
}

impl Confidence {
    fn as_str(self) -> &'static str {
        match self {
            Confidence::High => "high",
            Confidence::Medium => "medium",
            Confidence::Low => "low",
        }
    }
}

/// Arguments of `record_outcome`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    task: String,
    verdict: String,
    rationale: Option<String>,
    coverage: Option<f64>,
    #[serde(default)]
    surfaced: Vec<String>,
    #[serde(default)]
    missing: Vec<String>,
}

/// Arguments of the tools that read a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Of {
    session: Option<String>,
}

/// `initialize_session`.
pub fn initialize(desk: &Desk, asked: Initialize) -> Result<Answer, Failure> {
    let confidence = |one: Option<Confidence>| one.map(|one| one.as_str().to_owned());
    let assumptions = asked.assumptions.into_iter();
    let said = Begin {
        goal: asked.goal,
        subgoals: asked.subgoals,
        assumptions: assumptions
            .map(|one| (one.text, confidence(one.confidence)))
            .collect(),
        agent: asked.agent,
    };
    let repo = desk.repo()?;
    let begun = begin(&repo, desk.now()?, said).map_err(|error| Failure::of(&error))?;
    tell(&repo, &begun.noted);
    let ids = |named: &[crate::ingest::Named]| -> Vec<String> {
        named.iter().map(|one| one.id.to_string()).collect()
    };
    // In the order in which they were said: the goal first.
    Answer::of(&json!({
        "session": begun.session, "tasks": ids(&begun.tasks), "assumptions": ids(&begun.assumptions), "masked": begun.masked,
    }))
}

/// `record_decision`.
pub fn decide(desk: &Desk, mut said: Spoken) -> Result<Answer, Failure> {
    let (repo, now) = (desk.repo()?, desk.now()?);
    let store = Store::new(&repo);
    for node in &mut said.nodes {
        *node = nodes::from_agent(&repo, node);
    }
    let failed = |error| Failure::of(&error);
    let writer = Writer::new(&repo, now, &|_, _| {}).map_err(failed)?;
    let prepared = writer.with_most_unread(MOST_UNREAD).prepare(said);
    let (put, mut heard) = prepared.map_err(failed)?;
    let receipts = store
        .put(std::slice::from_ref(&put), now)
        .map_err(|error| Failure::of(&error))?;
    heard.known = receipts.first() == Some(&Receipt::Known);
    if let (false, Some(noted)) = (heard.known, put.noted()) {
        tell(&repo, &[noted]);
    }
    Answer::of(&heard)
}

/// Tells new records in the notes, where notes are wanted. A note is derived and can be written again; a record that is there is no
/// failure for want of one.
fn tell(repo: &Repo, noted: &[Noted]) {
    if !noted.is_empty() && notes::wanted(repo) {
        drop(notes::add(&Store::new(repo), noted, &Default::default()));
    }
}

/// `record_outcome`.
pub fn conclude(desk: &Desk, asked: Outcome) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let names = |names: Vec<String>| -> Vec<String> {
        let mut names: Vec<String> = names
            .iter()
            .map(|name| nodes::from_agent(&repo, name))
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let said = End {
        task: asked.task,
        verdict: asked.verdict,
        rationale: asked.rationale,
        coverage: asked.coverage,
        surfaced: names(asked.surfaced),
        missing: names(asked.missing),
    };
    let ended = end(&repo, desk.now()?, said).map_err(|error| Failure::of(&error))?;
    Answer::of(&ended)
}

/// `get_working_memory`.
pub fn working_memory(desk: &Desk, asked: &Of) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let memory = memory::memory(&corpus(&repo)?, asked.session.as_deref()).map_err(Failure)?;
    let rendered = block(desk, &repo, &lines(&memory))?;
    let goal = |goal: &Goal| json!({"id": goal.id, "verdict": goal.verdict});
    let notes = |notes: &[Note]| -> Vec<Value> { notes.iter().map(note).collect() };
    let outcomes = memory.outcomes.iter();
    let outcomes = outcomes.map(|end| json!({"id": end.id, "verdict": end.verdict}));
    let data = json!({
        "session": visible(&memory.session),
        "start": memory.start,
        "goal": memory.goal.as_ref().map(goal),
        "subgoals": memory.subgoals.iter().map(goal).collect::<Vec<_>>(),
        "assumptions": notes(&memory.assumptions),
        "findings": notes(&memory.findings),
        "decisions": notes(&memory.decisions),
        "constraints": notes(&memory.constraints),
        "rejected": notes(&memory.rejected),
        "outcomes": outcomes.collect::<Vec<_>>(),
        "rendered": rendered,
    });
    Answer::with_text(&data, rendered)
}

/// `get_unverified_assumptions`.
pub fn assumptions(desk: &Desk, asked: &Of) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let open = memory::unverified(&corpus(&repo)?, asked.session.as_deref()).map_err(Failure)?;
    let lines: Vec<_> = open.iter().map(|one| line("assumption", one)).collect();
    let rendered = block(desk, &repo, &lines)?;
    let data = json!({
        "assumptions": open.iter().map(note).collect::<Vec<_>>(), "rendered": rendered,
    });
    Answer::with_text(&data, rendered)
}

fn corpus(repo: &Repo) -> Result<Corpus, Failure> {
    let store = Store::new(repo);
    let read = store.corpus_id().and_then(|id| store.corpus(id));
    read.map_err(|error| Failure::of(&error))
}

fn block(desk: &Desk, repo: &Repo, lines: &[(String, &str)]) -> Result<String, Failure> {
    let tree = desk.tree(repo, None)?;
    let policy = policy_of(repo, tree).map_err(|error| Failure::of(&error))?;
    Ok(untrusted_lines(lines, &policy))
}

fn note(note: &Note) -> Value {
    json!({"id": note.id, "confidence": note.confidence.as_deref().map(visible), "replaced_by": note.replaced_by})
}

/// Words of ours, and what was stored.
fn line<'a>(word: &str, note: &'a Note) -> (String, &'a str) {
    let mut words = format!("{word} {}", note.id.short());
    if let Some(confidence @ ("high" | "medium" | "low")) = note.confidence.as_deref() {
        words.push_str(&format!(", confidence {confidence}"));
    }
    if let Some(by) = note.replaced_by {
        words.push_str(&format!(", replaced by {}", by.short()));
    }
    (words, &note.text)
}

fn lines(memory: &Memory) -> Vec<(String, &str)> {
    let goals = memory.goal.iter().map(|goal| ("goal", goal));
    let goals = goals.chain(memory.subgoals.iter().map(|goal| ("subgoal", goal)));
    let mut lines: Vec<(String, &str)> = goals
        .map(|(word, goal)| {
            let verdict = goal
                .verdict
                .map(|verdict| format!(", outcome {}", verdict.as_str()));
            let words = format!("{word} {}{}", goal.id.short(), verdict.unwrap_or_default());
            (words, goal.text.as_str())
        })
        .collect();
    let kinds = [
        ("assumption", &memory.assumptions),
        ("finding", &memory.findings),
        ("decision", &memory.decisions),
        ("constraint", &memory.constraints),
        ("rejected", &memory.rejected),
    ];
    for (word, notes) in kinds {
        lines.extend(notes.iter().map(|note| line(word, note)));
    }
    lines.extend(memory.outcomes.iter().map(|end| {
        let words = format!("outcome {} {}", end.id.short(), end.verdict.as_str());
        (words, end.rationale.as_deref().unwrap_or_default())
    }));
    lines
}
