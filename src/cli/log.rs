//! `log`: the records, newest first.

use std::process::ExitCode;

use serde::Serialize;

use super::context::Context;
use super::failure::usage;
use super::query::cut;
use super::{log_lookups, log_others};
use crate::id::{CommitId, RecordId};
use crate::query::nodes;
use crate::record::{Kind, Source, Time, Verdict};
use crate::render::visible;
use crate::score::Verdicts;
use crate::store::view::{Prior, View};
use crate::store::{Store, Visible};

/// List records, newest first.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this kind
    #[arg(long, value_name = "K")]
    pub(super) kind: Option<String>,
    /// What to list: reasoning, session, task, outcome or attention (look-ups)
    #[arg(long = "type", value_name = "T", default_value = "reasoning")]
    pub(super) record_type: Type,
    /// Only records whose text or reasons hold this; of look-ups those asked with it
    #[arg(long, value_name = "TEXT")]
    pub(super) grep: Option<String>,
    /// Only records about this node, or something beneath it
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// Only what a session said on this branch
    #[arg(long, value_name = "B")]
    pub(super) branch: Option<String>,
    /// Only what a session said in this linked worktree
    #[arg(long, value_name = "W")]
    pub(super) worktree: Option<String>,
    /// Print only how many there are
    #[arg(long)]
    pub(super) count: bool,
    /// List at most so many
    #[arg(short = 'n', value_name = "N")]
    pub(super) most: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Type {
    Reasoning,
    Session,
    Task,
    Outcome,
    Attention,
}

#[derive(Serialize)]
struct Row<'a> {
    id: RecordId,
    r#type: &'static str,
    source: Source,
    session: Option<&'a str>,
    kind: Kind,
    text: &'a str,
    reasons: &'a [String],
    nodes: &'a [String],
    supersedes: &'a [RecordId],
    anchors: &'a [CommitId],
    former_anchors: &'a [CommitId],
    time: Time,
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<RecordId>,
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let kind = args.kind.as_deref().map(kind_of).transpose()?;
    let node = args
        .node
        .as_ref()
        .map(|node| nodes::normal(&repo, std::slice::from_ref(node)))
        .transpose()?;
    let node = node.as_ref().and_then(|nodes| nodes.first());
    if args.record_type == Type::Attention {
        return log_lookups::run(context, &repo, &args, node.map(String::as_str));
    }
    let store = Store::new(&repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    for broken in &corpus.broken {
        context.warn(format!("skipped {broken}"));
    }
    if args.record_type != Type::Reasoning {
        return log_others::run(context, &corpus, &args, node.map(String::as_str));
    }
    let view = corpus.view(&Visible::All);
    let mut priors = chosen(&view, &args, kind, node.map(String::as_str));
    if let (true, Some(text)) = (priors.is_empty(), &args.grep) {
        log_lookups::hint(context, &repo, text);
    }
    if args.count {
        context.print(&priors.len().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    priors.sort_by_key(|prior| (std::cmp::Reverse(prior.time), prior.id));
    priors.truncate(args.most.unwrap_or(usize::MAX));
    let verdicts = Verdicts::of(&view.endings);
    let mut text = String::new();
    for prior in priors {
        let line = match context.json {
            true => serde_json::to_string(&row(&view, &verdicts, prior))?,
            false => human(context, &view, prior),
        };
        text.push_str(&line);
        text.push('\n');
    }
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The records that pass every filter.
fn chosen<'v>(
    view: &'v View,
    args: &Args,
    kind: Option<Kind>,
    node: Option<&str>,
) -> Vec<&'v Prior> {
    view.priors
        .iter()
        .filter(|prior| kind.is_none_or(|kind| prior.kind == kind))
        .filter(|prior| args.grep.as_ref().is_none_or(|text| holds(prior, text)))
        .filter(|prior| {
            node.is_none_or(|node| prior.nodes.iter().any(|one| is_at_or_beneath(one, node)))
        })
        .filter(|prior| {
            args.branch
                .as_ref()
                .is_none_or(|branch| prior.branches.contains(branch))
        })
        .filter(|prior| {
            args.worktree
                .as_ref()
                .is_none_or(|name| prior.worktrees.contains(name))
        })
        .collect()
}

fn kind_of(text: &str) -> anyhow::Result<Kind> {
    let found = Kind::ALL.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| {
        usage(format!(
            "'{text}' is no kind; kinds are {}",
            Kind::ALL.map(Kind::as_str).join(", ")
        ))
    })
}

fn holds(prior: &Prior, text: &str) -> bool {
    prior.text.contains(text) || prior.reasons.iter().any(|reason| reason.contains(text))
}

pub(super) fn is_at_or_beneath(node: &str, above: &str) -> bool {
    let rest = match above {
        "." => return true,
        above => node.strip_prefix(above),
    };
    rest.is_some_and(|rest| {
        rest.is_empty()
            || rest.starts_with('/')
            || rest.starts_with("::")
            || rest.starts_with('.') && above.contains("::")
    })
}

fn row<'a>(view: &View, verdicts: &Verdicts<'_>, prior: &'a Prior) -> Row<'a> {
    Row {
        id: prior.id,
        r#type: "reasoning",
        source: prior.source,
        session: prior.session.as_deref(),
        kind: prior.kind,
        text: &prior.text,
        reasons: &prior.reasons,
        nodes: &prior.nodes,
        supersedes: &prior.supersedes,
        anchors: &prior.anchors,
        former_anchors: &prior.former_anchors,
        time: prior.time,
        verdict: verdicts.latest(prior),
        task: prior.task.as_deref(),
        key: prior.key.as_deref(),
        replaced_by: view.replaced_by.get(&prior.id).copied(),
    }
}

fn human(context: &Context, view: &View, prior: &Prior) -> String {
    let mut text = visible(&prior.text);
    if context.is_terminal() {
        text = cut(&text, 90);
    }
    let replaced = match view.replaced_by.get(&prior.id) {
        Some(by) => format!("  (superseded by {})", by.short()),
        None => String::new(),
    };
    let head = format!(
        "{}  {}  {:<10}",
        prior.id.short(),
        prior.time.day(),
        prior.kind.as_str()
    );
    format!("{}  {text}{replaced}", context.dim(&head))
}

#[cfg(test)]
mod tests {
    use super::is_at_or_beneath;

    #[test]
    fn beneath_is_a_matter_of_whole_names() {
        assert!(is_at_or_beneath("src/a.py", "src"));
        assert!(is_at_or_beneath("src/a.py::A.m", "src/a.py"));
        assert!(is_at_or_beneath("src/a.py::A.m", "src/a.py::A"));
        assert!(is_at_or_beneath("x", "."));
        assert!(!is_at_or_beneath("src2/a.py", "src"));
        assert!(!is_at_or_beneath("src/a.pyc", "src/a.py"));
        assert!(!is_at_or_beneath("src/a.py::AB", "src/a.py::A"));
    }
}
