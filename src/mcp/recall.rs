//! The look-up, its factors, its recomputation; and what a client may read by address: a record, a look-up, the policy.
//!
//! In: checked arguments. Out: the untrusted block, ids and numbers. Only a look-up writes: its own attention record.

use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Answer, Failure, to_value};
use super::desk::{Desk, MOST_UNREAD};
use crate::query::{self, PATHS_ONLY, Query, Report, ask, nodes, policy_of, view_at};
use crate::record::MAX_TEXT;
use crate::replay::{every_candidate, replay};
use crate::repo::Repo;
use crate::store::{Corpus, Store};

/// Arguments of `get_prior_context`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    task_text: String,
    #[serde(default)]
    current_nodes: Vec<String>,
    session: Option<String>,
    at: Option<String>,
}

impl Prior {
    /// A question of a task and nodes alone.
    pub fn new(task_text: String, current_nodes: Vec<String>) -> Self {
        Self {
            task_text,
            current_nodes,
            session: None,
            at: None,
        }
    }
}

/// Arguments of `explain_lookup`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    id: String,
    record: Option<String>,
}

/// Arguments of `replay_lookup`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    id: String,
}

/// `get_prior_context`.
pub fn prior(desk: &Desk, asked: Prior) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let answer = look_up(desk, &repo, asked)?;
    let (attention, rendered) = (&answer.attention, answer.block());
    let (inputs, result) = (&attention.inputs, &attention.result);
    let selected = result.items.iter().map(|item| {
        json!({
            "id": item.id, "kind": answer.view.prior(item.id).map(|prior| prior.kind), "verdict": item.verdict, "score": item.score,
            "factors": item.factors,
        })
    });
    let data = json!({
        "attention_id": answer.id,
        "rendered": rendered,
        "selected": selected.collect::<Vec<_>>(),
        "candidates": result.candidates,
        "best": result.best,
        "threshold": result.threshold,
        "focus_size": result.focus_size,
        "unresolved_nodes": result.unresolved_nodes,
        "rule": inputs.rule,
        "commit": inputs.commit,
        "extractor": inputs.extractor,
        "notes": notes(&answer),
    });
    Answer::with_text(&data, rendered)
}

fn look_up(desk: &Desk, repo: &Repo, asked: Prior) -> Result<query::Answer, Failure> {
    let task = asked.task_text.trim();
    if task.is_empty() {
        return Err(Failure("task_text is empty".into()));
    }
    if task.len() > MAX_TEXT {
        return Err(Failure(format!(
            "task_text has {} bytes; it has at most {MAX_TEXT}: say what is to be done in a few sentences",
            task.len()
        )));
    }
    let mut names: Vec<String> = asked
        .current_nodes
        .iter()
        .map(|node| nodes::from_agent(repo, node))
        .collect();
    names.sort();
    names.dedup();
    let mut query = Query::new(task, names);
    query.session = asked.session;
    query.most_unread = Some(MOST_UNREAD);
    let at = asked.at.as_deref().map(|rev| repo.commit_at(rev));
    query.at = at.transpose().map_err(|error| Failure::of(&error))?;
    ask(repo, &query, desk.now()?, &|_, _| {}).map_err(|error| Failure::of(&error))
}

/// What an agent should know that is not part of the selection.
fn notes(answer: &query::Answer) -> Vec<String> {
    let mut notes = Vec::new();
    let (inputs, result) = (&answer.attention.inputs, &answer.attention.result);
    if result.focus_size == 0 {
        notes.push(match inputs.current_nodes.is_empty() {
            true => "no current_nodes were given, so only words counted".to_owned(),
            false => "none of the current_nodes is in the code tree, so only words counted; give paths of modules or directories".to_owned(),
        });
    }
    if inputs.extractor.ends_with(PATHS_ONLY) {
        notes.push("the code graph of this commit is not built yet: paths counted, symbols and their calls did not".to_owned());
    }
    if result.items.is_empty() {
        notes.push(format!(
            "nothing fits; {} records were looked at",
            result.candidates
        ));
    }
    if !answer.masked.is_empty() {
        notes.push(format!("masked in the task: {}", answer.masked.join(", ")));
    }
    if !answer.broken.is_empty() {
        notes.push(format!(
            "{} records could not be read; 'git score-context fsck' names them",
            answer.broken.len()
        ));
    }
    if !answer.missing.is_empty() {
        notes.push(format!(
            "the content of {} files is not in this partial clone, so their symbols are unknown",
            answer.missing.len()
        ));
    }
    if let Some(why) = &answer.unwritten {
        notes.push(format!("the look-up was not recorded: {why}"));
    }
    notes
}

/// What the prompt `prior-context` says: the block, or that there is none.
pub fn prompt(desk: &Desk, asked: Prior) -> Result<String, Failure> {
    let repo = desk.repo()?;
    let block = look_up(desk, &repo, asked)?.block();
    Ok(match block.is_empty() {
        true => "No prior decision that is recorded here fits this task.".to_owned(),
        false => block,
    })
}

/// `explain_lookup`.
pub fn explain(desk: &Desk, asked: &Explain) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let store = Store::new(&repo);
    let lookup = store
        .find_lookup(&asked.id)
        .and_then(|stored| store.lookup(&stored));
    let lookup = lookup.map_err(|error| Failure::of(&error))?;
    let every = every_candidate(&repo, &lookup, &|_, _| {});
    let (_, attention) = every.map_err(|error| Failure::of(&error))?;
    let (inputs, result) = (&attention.inputs, &attention.result);
    let items = result.items.iter().map(|item| {
        json!({"id": item.id, "score": item.score, "factors": item.factors, "fate": "selected"})
    });
    let rejected = result.rejected.iter().map(|one| {
        json!({"id": one.id, "score": one.score, "factors": one.factors, "fate": one.reason, "by": one.by})
    });
    let mut candidates: Vec<Value> = items.chain(rejected).collect();
    if let Some(wanted) = &asked.record {
        let is_wanted = |one: &Value| one["id"].as_str().is_some_and(|id| id.starts_with(wanted));
        candidates.retain(is_wanted);
        if candidates.is_empty() {
            return Err(Failure(format!(
                "no candidate of this look-up has the id '{wanted}'"
            )));
        }
    }
    Answer::of(&json!({
        "id": lookup.id,
        "rule": inputs.rule,
        "formula": "score = (w_semantic * semantic + w_structural * structural + bonus) * recency * live_ratio",
        "w_semantic": inputs.policy.w_semantic,
        "w_structural": inputs.policy.w_structural,
        "threshold": result.threshold,
        "candidates": candidates,
    }))
}

/// `replay_lookup`.
pub fn recompute(desk: &Desk, asked: &Replay) -> Result<Answer, Failure> {
    let repo = desk.repo()?;
    let stored = Store::new(&repo).find_lookup(&asked.id);
    let stored = stored.map_err(|error| Failure::of(&error))?;
    let replayed = replay(&repo, &stored, &|_, _| {}).map_err(|error| Failure::of(&error))?;
    Answer::of(&replayed)
}

/// The address of the policy.
pub const POLICY: &str = "score-context://policy";
/// Where records are, before their ids.
pub const RECORD: &str = "score-context://record/";
/// Where look-ups are.
pub const LOOKUP: &str = "score-context://lookup/";

/// What stands at an address; none where nothing can.
pub fn read(desk: &Desk, uri: &str) -> Result<Option<Value>, Failure> {
    let repo = desk.repo()?;
    if uri == POLICY {
        return policy(desk, &repo).map(Some);
    }
    let store = Store::new(&repo);
    if let Some(id) = uri.strip_prefix(RECORD) {
        let corpus = store.corpus_id().and_then(|id| store.corpus(id));
        let corpus = corpus.map_err(|error| Failure::of(&error))?;
        return record(&corpus, id).map(Some);
    }
    let Some(id) = uri.strip_prefix(LOOKUP) else {
        return Ok(None);
    };
    let failed = |error| Failure::of(&error);
    let stored = store.find_lookup(id).map_err(failed)?;
    let lookup = store.lookup(&stored).map_err(failed)?;
    let inputs = &lookup.attention.inputs;
    let corpus = store.lean(lookup.pins.corpus).map_err(failed)?;
    let view = view_at(&repo, corpus, inputs.visibility, inputs.commit, inputs.time)
        .map_err(|error| Failure::of(&error))?;
    to_value(&Report::new(Some(lookup.id), &lookup.attention, &view)).map(Some)
}

/// The record as stored, with its anchors.
fn record(corpus: &Corpus, id: &str) -> Result<Value, Failure> {
    let id = corpus.find(id).map_err(Failure)?;
    let parsed =
        |line: &str| serde_json::from_str::<Value>(line).map_err(|error| Failure::of(&error));
    let (line, _) = corpus
        .line(id)
        .ok_or_else(|| Failure(format!("record {id} has no line")))?;
    let anchors = corpus.anchors.get(&id).into_iter().flatten();
    let anchors: Result<Vec<Value>, Failure> = anchors
        .filter_map(|(anchor, _)| corpus.line(*anchor))
        .map(|(line, _)| parsed(line))
        .collect();
    Ok(json!({"id": id, "record": parsed(line)?, "anchors": anchors?}))
}

fn policy(desk: &Desk, repo: &Repo) -> Result<Value, Failure> {
    let tree = desk.tree(repo, None)?;
    let policy = policy_of(repo, tree).map_err(|error| Failure::of(&error))?;
    let entries = policy.entries().into_iter().map(|entry| {
        json!({
            "key": entry.key, "value": entry.value, "default": entry.default, "range": entry.range, "source": entry.source,
        })
    });
    Ok(json!({"policy": entries.collect::<Vec<_>>()}))
}
