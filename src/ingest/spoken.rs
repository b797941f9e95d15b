//! One record from what somebody says: a decision, finding, assumption, constraint or rejected option.
//!
//! In: plain values, as a person, a program or an agent gives them, and the clock. Out: the record with its anchor, ready to be put,
//! and what has to be said about it. Masks credentials before anything else sees the text. Never writes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Deserializer, Serialize};

use super::said::MOST_RAW;
use crate::graph::{Graph, GraphError};
use crate::id::{ObjectId, RecordId, TreeId};
use crate::query::{masked, nodes};
use crate::record::{
    Anchor, Kind, MAX_NODES, MAX_REASONS, MAX_TEXT, Reasoning, Record, Source, Time,
};
use crate::repo::{Head, Repo, RepoError};
use crate::store::{Corpus, Put, Store, StoreError};

/// Why something was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum SpeakError {
    /// The repository could not be read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// The memory could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The code graph, which knows whether a symbol is there, could not be built.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A value that was given is not one; the sentence names it.
    #[error("{0}")]
    Wrong(String),
}

/// What is said. Every key but `text` may be missing, null or empty; a key that is not here is a mistake and is named.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spoken {
    /// What was decided, found or turned down, in words.
    pub text: String,
    /// One of [`Kind::ALL`]; a decision unless said.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: String,
    /// What it is about: root-relative paths or `path::Qualified.name`.
    #[serde(default, deserialize_with = "or_default")]
    pub nodes: Vec<String>,
    /// Why.
    #[serde(default, deserialize_with = "or_default")]
    pub reasons: Vec<String>,
    /// The label of the session.
    #[serde(default, deserialize_with = "or_default")]
    pub session: String,
    /// The label of the task.
    #[serde(default, deserialize_with = "or_default")]
    pub task: String,
    /// Ids, or unique beginnings of ids, of what it replaces.
    #[serde(default, deserialize_with = "or_default")]
    pub supersedes: Vec<String>,
    /// When, in RFC 3339; the clock's time unless said.
    #[serde(default, deserialize_with = "or_default")]
    pub time: String,
    /// The commit it is about; `HEAD` unless said.
    #[serde(default, deserialize_with = "or_default")]
    pub anchor: String,
    /// An importer's own id.
    #[serde(default, deserialize_with = "or_default")]
    pub key: String,
    /// Confidence in an assumption: `high`, `medium` or `low`.
    #[serde(default, deserialize_with = "or_default")]
    pub confidence: String,
}

fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// What became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Heard {
    /// The record.
    pub id: RecordId,
    /// Whether it was there already; whoever puts it fills this in.
    pub known: bool,
    /// Nodes that are not in the code tree.
    pub unresolved: Vec<String>,
    /// Kinds of credentials that were masked.
    pub masked: Vec<String>,
}

/// What the records of one write share: where the repository stands, what is known, the clock.
pub struct Writer<'a> {
    repo: &'a Repo,
    store: Store<'a>,
    now: Time,
    head: Head,
    worktree: Option<String>,
    progress: &'a (dyn Fn(usize, usize) + Sync),
    most_unread: Option<usize>,
    /// Read when something is superseded.
    corpus: Option<Corpus>,
    /// Built when a symbol is named; nothing where that would take too long.
    graph: Option<(TreeId, Option<Graph>)>,
    /// What stands where, as far as it was asked: the records of one write are about the same few paths.
    entries: HashMap<(TreeId, String), Option<ObjectId>>,
}

impl<'a> Writer<'a> {
    /// At `HEAD` and this time. `progress` hears of the code graph being built.
    ///
    /// # Errors
    /// When `HEAD` cannot be read.
    pub fn new(
        repo: &'a Repo,
        now: Time,
        progress: &'a (dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, SpeakError> {
        Ok(Self {
            repo,
            store: Store::new(repo),
            now,
            head: repo.head()?,
            worktree: repo.worktree(),
            progress,
            most_unread: None,
            corpus: None,
            graph: None,
            entries: HashMap::new(),
        })
    }

    /// The same, but where more than so many files would have to be read for a code graph that is not kept, a symbol of a file that is
    /// there is taken on trust.
    pub fn with_most_unread(self, most: usize) -> Self {
        Self {
            most_unread: Some(most),
            ..self
        }
    }

    /// The record of what is said, with its anchor.
    ///
    /// # Errors
    /// When a value is not one, or the repository cannot be read.
    pub fn prepare(&mut self, spoken: Spoken) -> Result<(Put, Heard), SpeakError> {
        spoken.check()?;
        let mut found = Vec::new();
        let text = masked(spoken.text.trim(), &mut found);
        let reasons = spoken
            .reasons
            .iter()
            .map(|reason| masked(reason.trim(), &mut found));
        let reasons: Vec<_> = reasons.filter(|reason| !reason.is_empty()).collect();
        if spoken.nodes.iter().any(|node| node.trim().is_empty()) {
            return wrong("a node is empty; the root of the repository is '.'");
        }
        let names = spoken.nodes.iter().map(|node| nodes::from_json(node));
        let nodes: BTreeSet<String> = names.map(|node| masked(&node, &mut found)).collect();
        let mut label = |text: String| (!text.is_empty()).then(|| masked(&text, &mut found));
        let (session, task, key) = (label(spoken.session), label(spoken.task), label(spoken.key));
        let record = Record::Reasoning(Reasoning {
            text,
            reasons,
            confidence: confidence(&spoken.confidence)?,
            supersedes: self.supersedes(&spoken.supersedes)?,
            nodes: nodes.iter().cloned().collect(),
            session,
            task,
            key,
            ..Reasoning::new(Source::Session, kind(&spoken.kind)?)
        });
        record
            .check()
            .map_err(|error| SpeakError::Wrong(error.to_string()))?;
        let commit = match spoken.anchor.as_str() {
            "" => self.head.commit,
            rev => Some(self.repo.commit_at(rev)?),
        };
        let time = self.time(&spoken.time)?;
        let tree = commit.map_or_else(
            || Ok(self.repo.empty_tree()),
            |commit| self.repo.tree_of(commit),
        )?;
        let (objects, unresolved) = self.resolve(tree, &nodes)?;
        let anchor = Anchor {
            objects,
            branch: self.head.branch.clone(),
            worktree: self.worktree.clone(),
            ..Anchor::at(commit, time)
        }
        .masked(&mut found);
        let put = Put::new(&record, Some(anchor), false);
        found.sort();
        found.dedup();
        let heard = Heard {
            id: put.line.id,
            known: false,
            unresolved,
            masked: found,
        };
        Ok((put, heard))
    }

    fn time(&self, text: &str) -> Result<Time, SpeakError> {
        match text {
            "" => Ok(self.now),
            text => text.parse().map_err(|error| {
                SpeakError::Wrong(format!(
                    "'{text}' is not a time such as 2026-11-30T12:00:00Z: {error}"
                ))
            }),
        }
    }

    /// The object of each node's path, and the nodes that are not there.
    fn resolve(
        &mut self,
        tree: TreeId,
        nodes: &BTreeSet<String>,
    ) -> Result<(BTreeMap<String, ObjectId>, Vec<String>), SpeakError> {
        let mut objects = BTreeMap::new();
        let mut unresolved = Vec::new();
        for node in nodes {
            if let Some(object) = self.object(tree, node)? {
                objects.insert(node.clone(), object);
                continue;
            }
            // The file of a symbol: the shortest beginning that is a path, since a path may hold `::` itself.
            let mut file = None;
            for (at, _) in node.match_indices("::") {
                if let Some(object) = self.object(tree, &node[..at])? {
                    file = Some((&node[..at], object));
                    break;
                }
            }
            let Some((path, object)) = file else {
                unresolved.push(node.clone());
                continue;
            };
            objects.insert(path.to_owned(), object);
            let graph = self.graph(tree)?;
            let Some(graph) = graph else { continue };
            let is_unresolved = graph.find(node).is_none();
            graph.check()?;
            if is_unresolved {
                unresolved.push(node.clone());
            }
        }
        Ok((objects, unresolved))
    }

    fn object(&mut self, tree: TreeId, path: &str) -> Result<Option<ObjectId>, SpeakError> {
        let key = (tree, path.to_owned());
        if let Some(known) = self.entries.get(&key) {
            return Ok(*known);
        }
        let object = self.repo.entry(tree, path)?.map(|entry| entry.id);
        self.entries.insert(key, object);
        Ok(object)
    }

    fn graph(&mut self, tree: TreeId) -> Result<Option<&Graph>, SpeakError> {
        if self.graph.as_ref().is_none_or(|(of, _)| *of != tree) {
            let graph = match self.most_unread {
                None => Some(Graph::at(self.repo, tree, self.progress)?),
                Some(most) => Graph::within(self.repo, tree, most, self.progress)?,
            };
            self.graph = Some((tree, graph));
        }
        Ok(self.graph.as_ref().and_then(|(_, graph)| graph.as_ref()))
    }

    /// Full ids of what is replaced. A cycle cannot come about: an id is a hash over the ids it replaces.
    fn supersedes(&mut self, ids: &[String]) -> Result<Vec<RecordId>, SpeakError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        if self.corpus.is_none() {
            self.corpus = Some(self.store.corpus(self.store.corpus_id()?)?);
        }
        let corpus = self.corpus.as_ref().expect("it was set above");
        let mut full = BTreeSet::new();
        for id in ids {
            let id = corpus
                .find(id)
                .map_err(|no_record| match corpus.buried(id) {
                    Some(gone) if corpus.is_forgotten(gone) => {
                        SpeakError::Wrong(format!("{gone} cannot be superseded: it was forgotten"))
                    }
                    Some(gone) => {
                        SpeakError::Wrong(format!("{gone} cannot be superseded: it has expired"))
                    }
                    None => SpeakError::Wrong(no_record),
                })?;
            if !corpus.reasoning.contains_key(&id) {
                return wrong(format!(
                    "{id} cannot be superseded: it is no reasoning record, or has expired"
                ));
            }
            full.insert(id);
        }
        Ok(full.into_iter().collect())
    }
}

impl Spoken {
    /// Whether it is small enough to be looked at: what no record can hold is not masked first.
    fn check(&self) -> Result<(), SpeakError> {
        within("text", &self.text)?;
        let lists = [
            ("nodes", self.nodes.len(), MAX_NODES),
            ("reasons", self.reasons.len(), MAX_REASONS),
            (
                "records that are replaced",
                self.supersedes.len(),
                MAX_NODES,
            ),
        ];
        for (what, count, most) in lists {
            if count > most {
                return wrong(format!("{count} {what}; a record has at most {most}"));
            }
        }
        for reason in &self.reasons {
            within("reason", reason)?;
        }
        for node in self.nodes.iter().chain(&self.supersedes) {
            within("node", node)?;
        }
        for (what, label) in [
            ("session", &self.session),
            ("task", &self.task),
            ("key", &self.key),
            ("kind", &self.kind),
            ("time", &self.time),
            ("anchor", &self.anchor),
            ("confidence", &self.confidence),
        ] {
            within(what, label)?;
        }
        Ok(())
    }
}

/// Whether a text is small enough to be masked. Masking can make it shorter, so it may be longer than what is kept.
pub(super) fn within(what: &str, text: &str) -> Result<(), SpeakError> {
    match text.len() > MOST_RAW {
        true => wrong(format!(
            "the {what} has {} bytes; at most {MAX_TEXT} are kept",
            text.len()
        )),
        false => Ok(()),
    }
}

fn wrong<T>(text: impl Into<String>) -> Result<T, SpeakError> {
    Err(SpeakError::Wrong(text.into()))
}

fn kind(text: &str) -> Result<Kind, SpeakError> {
    if text.is_empty() {
        return Ok(Kind::default());
    }
    let found = Kind::ALL.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| {
        let all = Kind::ALL.map(Kind::as_str).join(", ");
        SpeakError::Wrong(format!("'{text}' is no kind; kinds are {all}"))
    })
}

fn confidence(text: &str) -> Result<Option<String>, SpeakError> {
    match text {
        "" => Ok(None),
        "high" | "medium" | "low" => Ok(Some(text.to_owned())),
        other => wrong(format!(
            "'{other}' is no confidence; it is high, medium or low"
        )),
    }
}
