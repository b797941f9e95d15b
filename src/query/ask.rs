//! One look-up from question to answer.

use super::evaluate::{Touches, evaluate, view_at, visible_digest};
use super::history::history;
use super::report::block;
use crate::graph::{EXTRACTOR, Graph, GraphError};
use crate::id::{BlobId, CommitId, RecordId, TreeId};
use crate::mask::mask;
use crate::policy::{MOST_BYTES, Policy, PolicyError};
use crate::record::{Attention, Inputs, MAX_NODE, MAX_NODES, Time, Visibility};
use crate::repo::{Mode, Repo, RepoError};
use crate::store::view::View;
use crate::store::{Broken, Lean, Store, StoreError};
use crate::token::UNICODE;

/// Where the policy stands in a code tree.
pub const POLICY_PATH: &str = "score-context/policy.toml";

/// Why a look-up has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The repository could not be read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The memory could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The code graph could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The policy is not one.
    #[error("{place}: {cause}")]
    Policy {
        /// The file, with the commit it stands in.
        place: String,
        /// What is wrong with it; names the key.
        cause: PolicyError,
    },
    /// Something else stands where the policy has to.
    #[error("{0} is a directory or a link; the policy has to be a file")]
    NoFile(&'static str),
    /// What is asked is too large.
    #[error("there are {size} {what}; at most {most} are taken")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        size: usize,
        /// How many are taken.
        most: usize,
    },
    /// A value of the configuration is not one.
    #[error("git config {key} = '{value}': {cause}")]
    Config {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it has to be.
        cause: &'static str,
    },
}

impl QueryError {
    /// What is to be named and passed over.
    ///
    /// # Errors
    /// The error itself, when the machine would not let us read.
    pub fn damage(self) -> Result<Self, RepoError> {
        match self {
            Self::Repo(error) | Self::Graph(GraphError::Repo(error)) => {
                error.damage().map(Self::Repo)
            }
            Self::Store(error) => error.damage().map(Self::Store),
            error => Ok(error),
        }
    }
}

/// A question.
#[derive(Clone, Debug)]
pub struct Query {
    /// What is to be done, in words.
    pub task: String,
    /// What it is about: root-relative paths or `path::Qualified.name`.
    pub nodes: Vec<String>,
    /// The session that asks; its own records are left out.
    pub session: Option<String>,
    /// The commit asked about; none for `HEAD`.
    pub at: Option<CommitId>,
    /// Which records count; by default all, with `at` those anchored there or before.
    pub visibility: Option<Visibility>,
    /// A policy instead of the one in the code tree.
    pub policy: Option<Policy>,
    /// How many records at most, instead of the policy's `top_k`.
    pub top_k: Option<u64>,
    /// Whether the look-up is written to the store.
    pub record: bool,
    /// How many files may be read for a code graph that is not kept. Where it would be more, the look-up knows the paths alone, and
    /// says so in its extractor. None: as many as there are.
    pub most_unread: Option<usize>,
}

impl Query {
    /// A question about `HEAD`, recorded, with the policy of the code tree.
    pub fn new(task: impl Into<String>, nodes: Vec<String>) -> Self {
        Self {
            task: task.into(),
            nodes,
            session: None,
            at: None,
            visibility: None,
            policy: None,
            top_k: None,
            record: true,
            most_unread: None,
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The stored look-up; none when it was not written.
    pub id: Option<RecordId>,
    /// What was asked and what was found.
    pub attention: Attention,
    /// Everything that was visible: texts and nodes of what was found.
    pub view: View,
    /// What scoring read of the code.
    pub ground: Vec<u8>,
    /// Kinds of credentials that were masked in the task.
    pub masked: Vec<String>,
    /// Records that could not be read and did not take part.
    pub broken: Vec<Broken>,
    /// Paths whose content is not in this (partial) clone, so that the graph lacks their symbols.
    pub missing: Vec<String>,
    /// Whether history is shallow or partial and ended before everything was there that the rule counts.
    pub history_is_cut: bool,
    /// Why the look-up was not written, though it should have been.
    pub unwritten: Option<String>,
}

impl Answer {
    /// What was selected, inside one untrusted block, ready for a prompt; empty when that is nothing.
    pub fn block(&self) -> String {
        block(&self.attention, &self.view)
    }
}

/// Answers a question. `now` is the clock of a look-up without `at`, and the day of writing; `progress` hears of the graph being
/// built and of history being read: files or commits done, files or commits in all.
///
/// # Errors
/// When repository, memory, graph or policy cannot be read. A store that cannot be written is no error: see [`Answer::unwritten`].
pub fn ask(
    repo: &Repo,
    query: &Query,
    now: Time,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Answer, QueryError> {
    /// Each time a writer replaced the records and a clean-up took the old ones while they were read. Twice is bad luck.
    const MOST_OUTRUN: usize = 4;
    check(query)?;
    for _ in 0..MOST_OUTRUN {
        match ask_once(repo, query, now, progress) {
            Err(QueryError::Store(StoreError::Outrun)) => {}
            answered => return answered,
        }
    }
    let unrecorded = Query {
        record: false,
        ..query.clone()
    };
    let mut answer = ask_once(repo, &unrecorded, now, progress)?;
    answer.unwritten = query.record.then(|| StoreError::Outrun.to_string());
    Ok(answer)
}

fn ask_once(
    repo: &Repo,
    query: &Query,
    now: Time,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Answer, QueryError> {
    let commit = match query.at {
        Some(commit) => Some(commit),
        None => repo.head()?.commit,
    };
    let code_tree = commit.map_or_else(|| Ok(repo.empty_tree()), |commit| repo.tree_of(commit))?;
    let time = match query.at {
        Some(commit) => Time(repo.commit(commit)?.time),
        None => now,
    };
    let mut policy = match &query.policy {
        Some(policy) => policy.clone(),
        None => policy_of(repo, code_tree)?,
    };
    set_days(repo, &mut policy)?;
    policy.top_k = query.top_k.unwrap_or(policy.top_k);

    let store = Store::new(repo);
    let corpus_id = store.corpus_id()?;
    let (corpus, broken) = read_corpus(&store, corpus_id)?;
    let visibility = query.visibility.unwrap_or(match query.at {
        Some(_) => Visibility::Ancestors,
        None => Visibility::All,
    });
    let view = view_at(repo, corpus, visibility, commit, time)?;
    let (mut graph, extractor) = graph_of(repo, code_tree, query.most_unread, progress)?;
    let mut what = Vec::new();
    let task = masked(&query.task, &mut what);
    let current_nodes = query
        .nodes
        .iter()
        .map(|node| masked(node, &mut what))
        .collect();
    let session = query.session.as_ref().map(|label| masked(label, &mut what));
    let inputs = Inputs {
        commit,
        code_tree,
        corpus: corpus_id,
        visibility,
        visible: visible_digest(&view),
        rule: policy.rule.clone(),
        extractor,
        unicode: UNICODE.to_owned(),
        policy,
        task,
        current_nodes,
        session,
        time,
    };
    let score = |graph: &Graph| {
        let (rule, nodes) = (inputs.policy.rule(), &inputs.current_nodes);
        let history = history(repo, graph, rule, nodes, commit, progress)?;
        let evaluated = evaluate(&view, graph, &inputs, Touches::Counted(&history));
        Ok::<_, QueryError>((history, evaluated))
    };
    let (mut history, mut evaluated) = score(&graph)?;
    if graph.check().is_err() {
        // Somebody has cut the file under it. The same graph, of the same version, now comes from memory.
        graph = Graph::at(repo, code_tree, progress)?;
        (history, evaluated) = score(&graph)?;
        graph.check()?;
    }
    let mut answer = Answer {
        id: None,
        attention: Attention {
            r#type: Default::default(),
            inputs,
            result: evaluated.result,
            removed: Vec::new(),
        },
        view,
        ground: evaluated.ground,
        masked: what,
        broken,
        missing: graph.missing().to_vec(),
        history_is_cut: history.is_cut(),
        unwritten: None,
    };
    if query.record {
        match store.put_lookup(&answer.attention, &answer.ground, now) {
            Ok(id) => answer.id = Some(id),
            Err(error @ StoreError::Outrun) => return Err(error.into()),
            Err(error) => answer.unwritten = Some(error.to_string()),
        }
    }
    Ok(answer)
}

/// The records, and what could not be read of them. What is missing of records that were replaced meanwhile is no damage.
fn read_corpus(store: &Store<'_>, id: TreeId) -> Result<(Lean, Vec<Broken>), StoreError> {
    let has_moved = || store.corpus_id().is_ok_and(|now| now != id);
    match store.lean(id) {
        Ok(corpus) if !corpus.broken.is_empty() && has_moved() => Err(StoreError::Outrun),
        Ok(mut corpus) => {
            let broken = std::mem::take(&mut corpus.broken);
            Ok((corpus, broken))
        }
        Err(StoreError::Repo(RepoError::Missing { .. })) if has_moved() => Err(StoreError::Outrun),
        Err(error) => Err(error),
    }
}

/// What stands in place of a code graph that would have kept the caller waiting.
pub const PATHS_ONLY: &str = "paths only";

/// The graph, and its version. One that lacks symbols, of files that are not in this (partial) clone or of all since there was no time to
/// read them, is another graph than the same version makes once they are read: its look-ups are replayed from the pinned ground.
fn graph_of(
    repo: &Repo,
    tree: TreeId,
    most_unread: Option<usize>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(Graph, String), QueryError> {
    let graph = match most_unread {
        None => Some(Graph::at(repo, tree, progress)?),
        Some(most) => Graph::within(repo, tree, most, progress)?,
    };
    Ok(match graph {
        None => (
            Graph::of_paths(repo, tree)?,
            format!("{EXTRACTOR}, {PATHS_ONLY}"),
        ),
        Some(graph) if graph.missing().is_empty() => (graph, EXTRACTOR.to_owned()),
        Some(graph) => (graph, format!("{EXTRACTOR}, incomplete")),
    })
}

/// The policy that a code tree holds, or the default.
///
/// # Errors
/// When there is one that is none; the text names the key.
pub fn policy_of(repo: &Repo, code_tree: TreeId) -> Result<Policy, QueryError> {
    let Some(entry) = repo.entry(code_tree, POLICY_PATH)? else {
        return Ok(Policy::default());
    };
    if entry.mode != Mode::File {
        return Err(QueryError::NoFile(POLICY_PATH));
    }
    let wrong = |cause| QueryError::Policy {
        place: POLICY_PATH.to_owned(),
        cause,
    };
    let bytes = repo
        .blob_within(BlobId(entry.id), MOST_BYTES)?
        .map_err(|too_large| wrong(PolicyError::Size(too_large.size.unwrap_or(MOST_BYTES + 1))))?
        .ok_or_else(|| repo.missing_blob(entry.id))?;
    Policy::parse(&String::from_utf8_lossy(&bytes)).map_err(wrong)
}

/// A task is a few sentences: a longer one than this is not masked, not compared and not stored.
pub const MOST_TASK: usize = 64 * 1024;

/// Whether what is asked is small enough to be looked at.
fn check(query: &Query) -> Result<(), QueryError> {
    let too_large = |what: &'static str, size: usize, most: usize| {
        Err(QueryError::TooLarge { what, size, most })
    };
    let longest = query.nodes.iter().map(String::len).max().unwrap_or(0);
    let label = query.session.as_ref().map_or(0, String::len);
    if query.task.len() > MOST_TASK {
        too_large("bytes of the task", query.task.len(), MOST_TASK)
    } else if query.nodes.len() > MAX_NODES {
        too_large("nodes", query.nodes.len(), MAX_NODES)
    } else if longest > MAX_NODE {
        too_large("bytes of a node", longest, MAX_NODE)
    } else if label > MAX_NODE {
        too_large("bytes of the session", label, MAX_NODE)
    } else {
        Ok(())
    }
}

/// Puts the days of retention that are in force into a policy, for records and for look-ups.
///
/// # Errors
/// When Git's configuration has a value that is no number of days.
pub fn set_days(repo: &Repo, policy: &mut Policy) -> Result<(), QueryError> {
    let default = Policy::default();
    policy.retention_days = retention(
        repo,
        "score-context.retentionDays",
        default.retention_days,
        policy.retention_days,
    )?;
    policy.attention_days = retention(
        repo,
        "score-context.attentionDays",
        default.attention_days,
        policy.attention_days,
    )?;
    Ok(())
}

/// Days of retention: what the user set in Git's configuration, else the larger of the default and the policy's value, so that a
/// committed file can never make somebody's memory shorter (`design.md` section 3).
fn retention(repo: &Repo, key: &'static str, default: u64, policy: u64) -> Result<u64, QueryError> {
    let Some(value) = repo.config(key) else {
        return Ok(policy.max(default));
    };
    match value.parse() {
        Ok(days) if days >= 1 => Ok(days),
        _ => Err(QueryError::Config {
            key,
            value,
            cause: "it has to be a number of days, at least 1",
        }),
    }
}

/// A text without credentials, and the kinds of what was taken out.
pub fn masked(text: &str, what: &mut Vec<String>) -> String {
    let masked = mask(text);
    what.extend(masked.what);
    masked.text
}
