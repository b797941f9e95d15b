//! `record`: one record from arguments, or many from JSON lines in one write.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::process::ExitCode;

use anyhow::Context as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::context::Context;
use super::failure::usage;
use super::hook_run;
use super::nodes;
use crate::graph::Graph;
use crate::id::{ObjectId, RecordId, TreeId};
use crate::query::masked;
use crate::record::{Anchor, Kind, Reasoning, Record, Source, Time};
use crate::render::visible;
use crate::repo::Repo;
use crate::store::{Corpus, Put, Receipt, Store};

/// Remember a decision, finding, assumption, constraint or rejected option.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What was decided, found or turned down, in words
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    text: Option<String>,
    /// What it is
    #[arg(long, default_value = "decision", conflicts_with = "stdin")]
    kind: KindArg,
    /// A path or path::Symbol that it is about; may be given several times
    #[arg(long = "node", value_name = "NODE", conflicts_with = "stdin")]
    nodes: Vec<String>,
    /// Why; may be given several times
    #[arg(long = "reason", value_name = "R", conflicts_with = "stdin")]
    reasons: Vec<String>,
    /// The session that says it
    #[arg(long, value_name = "ID", conflicts_with = "stdin")]
    session: Option<String>,
    /// The task it belongs to
    #[arg(long, value_name = "ID", conflicts_with = "stdin")]
    task: Option<String>,
    /// A record that it replaces; may be given several times
    #[arg(long, value_name = "ID", conflicts_with = "stdin")]
    supersedes: Vec<String>,
    /// Read JSON lines with the keys text, kind, nodes, reasons, session, task, supersedes, time, anchor, key
    #[arg(long)]
    stdin: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindArg {
    Decision,
    Finding,
    Assumption,
    Constraint,
    Rejected,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Decision => Kind::Decision,
            KindArg::Finding => Kind::Finding,
            KindArg::Assumption => Kind::Assumption,
            KindArg::Constraint => Kind::Constraint,
            KindArg::Rejected => Kind::Rejected,
        }
    }
}

/// One line of `--stdin`. Every key but `text` may be missing, null or empty; a key that is not here is a mistake and is named.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    text: String,
    #[serde(default, deserialize_with = "or_default")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    nodes: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    reasons: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    session: String,
    #[serde(default, deserialize_with = "or_default")]
    task: String,
    #[serde(default, deserialize_with = "or_default")]
    supersedes: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    time: String,
    #[serde(default, deserialize_with = "or_default")]
    anchor: String,
    #[serde(default, deserialize_with = "or_default")]
    key: String,
}

fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Serialize)]
struct Recorded {
    id: RecordId,
    known: bool,
    unresolved: Vec<String>,
    masked: Vec<String>,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let inputs = match args.stdin {
        true => from_stdin()?,
        false => vec![from_args(&repo, args)?],
    };
    let mut writer = Writer::new(context, &repo)?;
    let mut prepared = Vec::with_capacity(inputs.len());
    for (line, input) in inputs {
        let one = writer.prepare(input);
        prepared.push(one.map_err(|error| match line {
            Some(line) => usage(format!("line {line}: {error:#}; nothing was written")),
            None => error,
        })?);
    }
    let (puts, mut recorded): (Vec<Put>, Vec<Recorded>) = prepared.into_iter().unzip();
    let receipts = writer.store.put(&puts, writer.now)?;
    let mut noted = Vec::new();
    for ((recorded, receipt), put) in recorded.iter_mut().zip(receipts).zip(&puts) {
        recorded.known = receipt == Receipt::Known;
        if !recorded.known {
            noted.extend(put.noted());
        }
    }
    hook_run::note(context, &repo, &noted);
    let mut text = String::new();
    for recorded in &recorded {
        text.push_str(&match context.json {
            true => serde_json::to_string(recorded).context("no JSON form")?,
            false => human(recorded),
        });
        text.push('\n');
    }
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn human(recorded: &Recorded) -> String {
    let mut text = match recorded.known {
        true => format!("{}  already known", recorded.id),
        false => recorded.id.to_string(),
    };
    if !recorded.unresolved.is_empty() {
        let names: Vec<_> = recorded
            .unresolved
            .iter()
            .map(|node| visible(node))
            .collect();
        text.push_str(&format!("  not in the code tree: {}", names.join(", ")));
    }
    if !recorded.masked.is_empty() {
        text.push_str(&format!("  masked: {}", recorded.masked.join(", ")));
    }
    text
}

type Numbered = (Option<usize>, Input);

fn from_args(repo: &Repo, args: Args) -> anyhow::Result<Numbered> {
    let input = Input {
        text: args.text.unwrap_or_default(),
        kind: Kind::from(args.kind).as_str().to_owned(),
        nodes: nodes::normal(repo, &args.nodes)?,
        reasons: args.reasons,
        session: args.session.unwrap_or_default(),
        task: args.task.unwrap_or_default(),
        supersedes: args.supersedes,
        time: String::new(),
        anchor: String::new(),
        key: String::new(),
    };
    Ok((None, input))
}

fn from_stdin() -> anyhow::Result<Vec<Numbered>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.context("cannot read standard input")?;
    let mut inputs = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        // An array would be read as the values of the keys, in order.
        if line.trim_ascii_start().first() != Some(&b'{') {
            let number = number + 1;
            return Err(usage(format!(
                "line {number}: not a JSON object; nothing was written"
            )));
        }
        let input = serde_json::from_slice(line);
        let input = input
            .map_err(|error| usage(format!("line {}: {error}; nothing was written", number + 1)))?;
        inputs.push((Some(number + 1), input));
    }
    Ok(inputs)
}

/// What the records of one command share: where the repository stands, what is known, the clock.
struct Writer<'a> {
    context: &'a Context,
    repo: &'a Repo,
    store: Store<'a>,
    now: Time,
    head: crate::repo::Head,
    worktree: Option<String>,
    /// Read when something is superseded.
    corpus: Option<Corpus>,
    /// Built when a symbol is named.
    graph: Option<(TreeId, Graph)>,
    /// What stands where, as far as it was asked: the records of one command are about the same few paths.
    entries: HashMap<(TreeId, String), Option<ObjectId>>,
}

impl<'a> Writer<'a> {
    fn new(context: &'a Context, repo: &'a Repo) -> anyhow::Result<Self> {
        Ok(Self {
            context,
            repo,
            store: Store::new(repo),
            now: context.now()?,
            head: repo.head()?,
            worktree: repo.worktree(),
            corpus: None,
            graph: None,
            entries: HashMap::new(),
        })
    }

    fn prepare(&mut self, input: Input) -> anyhow::Result<(Put, Recorded)> {
        let mut found = Vec::new();
        let text = masked(input.text.trim(), &mut found);
        let reasons = input
            .reasons
            .iter()
            .map(|reason| masked(reason.trim(), &mut found));
        let reasons: Vec<_> = reasons.filter(|reason| !reason.is_empty()).collect();
        if input.nodes.iter().any(|node| node.trim().is_empty()) {
            return Err(usage("a node is empty; the root of the repository is '.'"));
        }
        let names = input.nodes.iter().map(|node| nodes::from_json(node));
        let nodes: BTreeSet<String> = names.map(|node| masked(&node, &mut found)).collect();
        let mut label = |text: String| (!text.is_empty()).then(|| masked(&text, &mut found));
        let (session, task, key) = (label(input.session), label(input.task), label(input.key));
        let record = Record::Reasoning(Reasoning {
            text,
            reasons,
            supersedes: self.supersedes(&input.supersedes)?,
            nodes: nodes.iter().cloned().collect(),
            session,
            task,
            key,
            ..Reasoning::new(Source::Session, kind(&input.kind)?)
        });
        record.check().map_err(|error| usage(error.to_string()))?;
        let commit = match input.anchor.as_str() {
            "" => self.head.commit,
            rev => Some(self.repo.commit_at(rev)?),
        };
        let time = match input.time.as_str() {
            "" => self.now,
            text => text.parse().map_err(|error| {
                usage(format!(
                    "'{text}' is not a time such as 2026-11-30T12:00:00Z: {error}"
                ))
            })?,
        };
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
        };
        let put = Put::new(&record, Some(anchor), false);
        found.sort();
        found.dedup();
        let recorded = Recorded {
            id: put.line.id,
            known: false,
            unresolved,
            masked: found,
        };
        Ok((put, recorded))
    }

    /// The object of each node's path, and the nodes that are not there.
    fn resolve(
        &mut self,
        tree: TreeId,
        nodes: &BTreeSet<String>,
    ) -> anyhow::Result<(BTreeMap<String, ObjectId>, Vec<String>)> {
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
            if self.graph(tree)?.find(node).is_none() {
                unresolved.push(node.clone());
            }
        }
        Ok((objects, unresolved))
    }

    fn object(&mut self, tree: TreeId, path: &str) -> anyhow::Result<Option<ObjectId>> {
        let key = (tree, path.to_owned());
        if let Some(known) = self.entries.get(&key) {
            return Ok(*known);
        }
        let object = self.repo.entry(tree, path)?.map(|entry| entry.id);
        self.entries.insert(key, object);
        Ok(object)
    }

    fn graph(&mut self, tree: TreeId) -> anyhow::Result<&Graph> {
        if self.graph.as_ref().is_none_or(|(of, _)| *of != tree) {
            let bar = self.context.bar("code graph");
            let graph = Graph::at(self.repo, tree, &|done, all| bar.set(done, all))?;
            self.graph = Some((tree, graph));
        }
        Ok(&self.graph.as_ref().expect("it was set above").1)
    }

    /// Full ids of what is replaced. A cycle cannot come about: an id is a hash over the ids it replaces.
    fn supersedes(&mut self, ids: &[String]) -> anyhow::Result<Vec<RecordId>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        if self.corpus.is_none() {
            self.corpus = Some(self.store.corpus(self.store.corpus_id()?)?);
        }
        let corpus = self.corpus.as_ref().expect("it was set above");
        let mut full = BTreeSet::new();
        for id in ids {
            let id = corpus.find(id).map_err(usage)?;
            if !corpus.reasoning.contains_key(&id) {
                return Err(usage(format!(
                    "{id} cannot be superseded: it is no reasoning record"
                )));
            }
            full.insert(id);
        }
        Ok(full.into_iter().collect())
    }
}

fn kind(text: &str) -> anyhow::Result<Kind> {
    if text.is_empty() {
        return Ok(Kind::default());
    }
    let found = Kind::ALL.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| {
        let all = Kind::ALL.map(Kind::as_str).join(", ");
        usage(format!("'{text}' is no kind; kinds are {all}"))
    })
}
