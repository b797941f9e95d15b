//! `show`: one record or look-up, whole.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::context::Context;
use super::failure::usage;
use super::replay::stored_report;
use crate::id::RecordId;
use crate::record::Gone;
use crate::render::visible;
use crate::store::{Corpus, Store, Visible};

/// Show one record or look-up.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The id, or a unique beginning of one
    id: String,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    if args.id.is_empty() {
        return Err(usage("the id is empty"));
    }
    let repo = context.repo()?;
    let store = Store::new(&repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    let id = match corpus.find(&args.id) {
        // Its line may still be there while it is being forgotten.
        Ok(id) if corpus.is_forgotten(id) => {
            context.print(&tombstone(context, &corpus, &id.to_string())?)?;
            return Ok(ExitCode::SUCCESS);
        }
        Ok(id) => id,
        Err(no_record) => match store.find_lookup(&args.id) {
            Err(_) if corpus.buried(&args.id).is_some() => {
                context.print(&tombstone(context, &corpus, &args.id)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            Ok(stored) => {
                context.print(&stored_report(context, &repo, &stored)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            Err(no_lookup) => bail!("{no_record}, and {no_lookup}"),
        },
    };
    match context.json {
        true => context.print_json(&as_json(&corpus, id)?)?,
        false => context.print(&human(context, &corpus, id)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is left of a record that is gone.
fn tombstone(context: &Context, corpus: &Corpus, id: &str) -> anyhow::Result<String> {
    let stone = corpus.buried(id).and_then(|id| corpus.tombstones.get(&id));
    let stone = stone.context("it was found before")?;
    if context.json {
        let stone = json!({"id": stone.of, "record": null, "tombstone": stone});
        return serde_json::to_string(&stone).context("no JSON form");
    }
    let why = match stone.why {
        Gone::Forgotten => "was forgotten, because somebody asked",
        Gone::Expired => "has expired, and is kept as what it replaced and how it ended",
    };
    let mut text = format!(
        "{}
{why}
",
        context.bold(&stone.of.to_string())
    );
    let ids: Vec<String> = stone.supersedes.iter().map(ToString::to_string).collect();
    if !ids.is_empty() {
        text.push_str(&format!("supersedes   {}\n", ids.join(", ")));
    }
    if let Some(verdict) = stone.verdict {
        let task = visible(stone.task.as_deref().unwrap_or_default());
        text.push_str(&format!("verdict      {} {task}\n", verdict.as_str()));
    }
    Ok(text)
}

/// The record as stored, with its id, its anchors as stored, and the blob it stands in.
fn as_json(corpus: &Corpus, id: RecordId) -> anyhow::Result<serde_json::Value> {
    let (line, place) = corpus.line(id).context("every record has its line")?;
    let anchors: Result<Vec<serde_json::Value>, _> = corpus
        .anchors
        .get(&id)
        .into_iter()
        .flatten()
        .filter_map(|(anchor, _)| corpus.line(*anchor))
        .map(|(line, _)| serde_json::from_str(line))
        .collect();
    Ok(json!({
        "id": id,
        "record": serde_json::from_str::<serde_json::Value>(line)?,
        "anchors": anchors?,
        "place": place,
    }))
}

fn human(context: &Context, corpus: &Corpus, id: RecordId) -> anyhow::Result<String> {
    let mut text = format!("{}\n", context.bold(&id.to_string()));
    let view = corpus.view(&Visible::All);
    let Some(prior) = view.prior(id) else {
        // Sessions, tasks, outcomes: their own form is short and says everything.
        let (line, _) = corpus.line(id).context("every record has its line")?;
        text.push_str(&visible(line));
        text.push('\n');
        return Ok(text);
    };
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            text.push_str(&format!("{name:<13}{value}\n"));
        }
    };
    let list = |values: Vec<String>| values.join(", ");
    field("kind", prior.kind.as_str().to_owned());
    field("source", prior.source.as_str().to_owned());
    field("time", prior.time.to_string());
    field(
        "session",
        visible(prior.session.as_deref().unwrap_or_default()),
    );
    field("task", visible(prior.task.as_deref().unwrap_or_default()));
    field("key", visible(prior.key.as_deref().unwrap_or_default()));
    field(
        "confidence",
        visible(prior.confidence.as_deref().unwrap_or_default()),
    );
    field(
        "nodes",
        list(prior.nodes.iter().map(|node| visible(node)).collect()),
    );
    field(
        "anchors",
        list(prior.anchors.iter().map(ToString::to_string).collect()),
    );
    field(
        "formerly",
        list(
            prior
                .former_anchors
                .iter()
                .map(ToString::to_string)
                .collect(),
        ),
    );
    field(
        "supersedes",
        list(prior.supersedes.iter().map(ToString::to_string).collect()),
    );
    if let Some(by) = view.replaced_by.get(&id) {
        field("replaced by", by.to_string());
    }
    text.push('\n');
    for line in prior.text.lines() {
        text.push_str(&format!("    {}\n", visible(line)));
    }
    for reason in &prior.reasons {
        text.push_str(&format!("    because {}\n", visible(reason)));
    }
    Ok(text)
}
