//! `status`: what is stored and what is set up, in one screen.

use std::process::ExitCode;

use serde_json::json;

use super::context::Context;
use super::hook;
use crate::query::policy_of;
use crate::record::Kind;
use crate::repo::Repo;
use crate::store::{Store, Visible};

/// Show what is stored and what is set up.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(context: &Context, _: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let store = Store::new(&repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    let view = corpus.view(&Visible::All);
    let kinds: Vec<(Kind, usize)> = Kind::ALL
        .into_iter()
        .map(|kind| {
            (
                kind,
                view.priors
                    .iter()
                    .filter(|prior| prior.kind == kind)
                    .count(),
            )
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    let lookups = store.lookups()?.len();
    let cache = cache_size(&repo);
    let hooks = hook::installed(&repo);
    let tree = match repo.head()?.commit {
        Some(commit) => repo.tree_of(commit)?,
        None => repo.empty_tree(),
    };
    // A policy that is none stops look-ups, and is to be seen here.
    let rule = match policy_of(&repo, tree) {
        Ok(policy) => policy.rule,
        Err(error) => format!("none: {error}"),
    };
    if context.json {
        let kinds: serde_json::Map<_, _> = kinds
            .iter()
            .map(|(kind, count)| (kind.as_str().to_owned(), json!(count)))
            .collect();
        context.print_json(&json!({
            "records": view.priors.len(), "kinds": kinds, "outcomes": view.endings.len(),
            "sessions": corpus.sessions.len(), "broken": corpus.broken.len(), "lookups": lookups,
            "cache_bytes": cache, "hook": hooks, "rule": rule,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(kind, count)| format!("{count} {}", kind.as_str()))
        .collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!(" ({})", kinds.join(", "))
    };
    let mut text = format!("records    {}{kinds}\n", view.priors.len());
    text.push_str(&format!(
        "outcomes   {}\nsessions   {}\n",
        view.endings.len(),
        corpus.sessions.len()
    ));
    if !corpus.broken.is_empty() {
        text.push_str(&format!(
            "broken     {} (see 'git score-context fsck')\n",
            corpus.broken.len()
        ));
    }
    text.push_str(&format!("look-ups   {lookups}\n"));
    text.push_str(&format!(
        "cache      {} KiB in {}\n",
        cache / 1024,
        repo.cache_dir().display()
    ));
    text.push_str(&format!("hook       {hooks}\nrule       {rule}\n"));
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Bytes below the cache directory.
fn cache_size(repo: &Repo) -> u64 {
    let mut open = vec![repo.cache_dir()];
    let mut bytes = 0;
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) => bytes += meta.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
