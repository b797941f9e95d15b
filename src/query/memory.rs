//! The working memory of a session: what it is for, what it took for granted, found out and decided, and how it ended.
//!
//! In: a corpus, and the label of a session. Out: plain data that is the same on every front end, oldest first. Reads nothing by
//! itself, cuts nothing, and never asks the clock.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::id::RecordId;
use crate::mask::mask;
use crate::record::{Kind, Time, Verdict};
use crate::store::view::{Ending, Prior, View};
use crate::store::{Corpus, Visible};

/// What is remembered of one session. Every list is in order of time, then id.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// The session's label: of one that was started its full id.
    pub session: String,
    /// When it was started; none of a session that is only a label.
    pub start: Option<Time>,
    /// What it is for; none of a session that is only a label.
    pub goal: Option<Goal>,
    /// The parts of the goal.
    pub subgoals: Vec<Goal>,
    /// What it took for granted.
    pub assumptions: Vec<Note>,
    /// What it found out.
    pub findings: Vec<Note>,
    /// What it decided.
    pub decisions: Vec<Note>,
    /// What has to hold.
    pub constraints: Vec<Note>,
    /// What it turned down.
    pub rejected: Vec<Note>,
    /// How its tasks ended, and what was said of its records.
    pub outcomes: Vec<End>,
}

/// A goal or a subgoal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Goal {
    /// The task, whose id is its label.
    pub id: RecordId,
    /// What is to be reached.
    pub text: String,
    /// The latest outcome.
    pub verdict: Option<Verdict>,
}

/// A reasoning record as its session sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Note {
    /// The record.
    pub id: RecordId,
    /// What it says.
    pub text: String,
    /// Why.
    pub reasons: Vec<String>,
    /// Confidence in an assumption: `high`, `medium` or `low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// What it is about.
    pub nodes: Vec<String>,
    /// The label of the session that said it.
    pub session: Option<String>,
    /// The label of the task it belongs to.
    pub task: Option<String>,
    /// When it was said.
    pub time: Time,
    /// The record that replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<RecordId>,
}

/// An outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct End {
    /// The record.
    pub id: RecordId,
    /// The label of the task it speaks of.
    pub task: Option<String>,
    /// How it ended.
    pub verdict: Verdict,
    /// The prose.
    pub rationale: Option<String>,
    /// When.
    pub time: Time,
}

/// The working memory of one session: `session` is its label, or a unique beginning of the id that `session start` gave it; none
/// stands for the session that was started last (of several in one second the one with the largest id).
///
/// # Errors
/// One sentence, when there is no such session, or the beginning fits several.
pub fn memory(corpus: &Corpus, session: Option<&str>) -> Result<Memory, String> {
    let view = corpus.view(&Visible::All);
    let label = match session {
        Some(asked) => label_of(corpus, &view, asked)?,
        None => newest(corpus)?,
    };
    let started = corpus
        .sessions
        .iter()
        .find(|(id, _)| id.to_string() == label);
    let (first, subgoals): (Vec<_>, Vec<_>) = corpus
        .tasks
        .iter()
        .filter(|(_, task)| task.session == label)
        .partition(|(_, task)| task.parent.is_none());
    let goal = |(id, task): &(&RecordId, &crate::record::Task)| Goal {
        id: **id,
        text: task.text.clone(),
        verdict: latest(&view, &id.to_string()),
    };
    let priors: Vec<&Prior> = in_order(
        view.priors
            .iter()
            .filter(|prior| prior.session.as_deref() == Some(label.as_str())),
    );
    let of_kind = |kind: Kind| {
        let of_kind = priors.iter().filter(|prior| prior.kind == kind);
        of_kind.map(|prior| note(&view, prior)).collect()
    };
    let tasks: BTreeSet<String> = first
        .iter()
        .chain(&subgoals)
        .map(|(id, _)| id.to_string())
        .chain(priors.iter().filter_map(|prior| prior.task.clone()))
        .collect();
    let said: BTreeSet<RecordId> = priors.iter().map(|prior| prior.id).collect();
    Ok(Memory {
        start: started.map(|(_, session)| session.start),
        goal: first.first().map(goal),
        subgoals: subgoals.iter().map(goal).collect(),
        assumptions: of_kind(Kind::Assumption),
        findings: of_kind(Kind::Finding),
        decisions: of_kind(Kind::Decision),
        constraints: of_kind(Kind::Constraint),
        rejected: of_kind(Kind::Rejected),
        outcomes: ends(&view, &tasks, &said),
        session: label,
    })
}

/// The assumptions, of one session or of all, that nobody has settled: no record replaces them and no outcome names them. The
/// outcome of their task settles nothing: a task may pass although what it took for granted is wrong.
///
/// # Errors
/// As [`memory`], for a session that is named.
pub fn unverified(corpus: &Corpus, session: Option<&str>) -> Result<Vec<Note>, String> {
    let view = corpus.view(&Visible::All);
    let label = session
        .map(|asked| label_of(corpus, &view, asked))
        .transpose()?;
    let judged: BTreeSet<RecordId> = view.endings.iter().flat_map(|end| end.of.clone()).collect();
    let open = view
        .priors
        .iter()
        .filter(|prior| prior.kind == Kind::Assumption)
        .filter(|prior| label.is_none() || prior.session == label)
        .filter(|prior| !view.replaced_by.contains_key(&prior.id) && !judged.contains(&prior.id));
    Ok(in_order(open)
        .into_iter()
        .map(|prior| note(&view, prior))
        .collect())
}

/// The label a session is stored under. A label counts before the beginning of an id does: it was said, the beginning is a guess.
fn label_of(corpus: &Corpus, view: &View, asked: &str) -> Result<String, String> {
    // What was stored is the masked label.
    let label = mask(asked.trim()).text;
    let is_said = |prior: &Prior| prior.session.as_deref() == Some(label.as_str());
    if view.priors.iter().any(is_said) {
        return Ok(label);
    }
    let ids = corpus.sessions.keys().map(ToString::to_string);
    let mut fitting = ids.filter(|id| !label.is_empty() && id.starts_with(&label));
    match (fitting.next(), fitting.count()) {
        (Some(id), 0) => Ok(id),
        (None, _) => Err(format!("no session has the label or the id '{label}'")),
        (Some(_), others) => Err(format!(
            "the id '{label}' is ambiguous: {} sessions begin with it",
            others + 1
        )),
    }
}

fn newest(corpus: &Corpus) -> Result<String, String> {
    let sessions = corpus.sessions.iter();
    let newest = sessions.max_by_key(|(id, session)| (session.start, **id));
    newest
        .map(|(id, _)| id.to_string())
        .ok_or_else(|| "no session has been started yet".to_owned())
}

fn in_order<'a>(priors: impl Iterator<Item = &'a Prior>) -> Vec<&'a Prior> {
    let mut priors: Vec<_> = priors.collect();
    priors.sort_by_key(|prior| (prior.time, prior.id));
    priors
}

fn note(view: &View, prior: &Prior) -> Note {
    Note {
        id: prior.id,
        text: prior.text.clone(),
        reasons: prior.reasons.clone(),
        confidence: prior.confidence.clone(),
        nodes: prior.nodes.clone(),
        session: prior.session.clone(),
        task: prior.task.clone(),
        time: prior.time,
        replaced_by: view.replaced_by.get(&prior.id).copied(),
    }
}

/// The verdict of the latest outcome of a task, by time, then id.
fn latest(view: &View, task: &str) -> Option<Verdict> {
    let of_task = view
        .endings
        .iter()
        .filter(|end| end.task.as_deref() == Some(task));
    of_task
        .max_by_key(|end| (end.time, end.id))
        .map(|end| end.verdict)
}

/// The outcomes that speak of one of these tasks or records.
fn ends(view: &View, tasks: &BTreeSet<String>, said: &BTreeSet<RecordId>) -> Vec<End> {
    let is_about = |end: &&Ending| {
        end.task.as_ref().is_some_and(|task| tasks.contains(task))
            || end.of.iter().any(|id| said.contains(id))
    };
    let mut ends: Vec<&Ending> = view.endings.iter().filter(is_about).collect();
    ends.sort_by_key(|end| (end.time, end.id));
    let owned = ends.into_iter().map(|end| End {
        id: end.id,
        task: end.task.clone(),
        verdict: end.verdict,
        rationale: end.rationale.clone(),
        time: end.time,
    });
    owned.collect()
}
