//! `hook run`: what our hooks call.
//!
//! Never fails and never says anything, but for the guard of a push: a commit must not notice. What could not be taken now is taken by
//! the next catch-up.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::context::Context;
use crate::hook::{guard, notes};
use crate::ingest::{Ingest, Kept, Scope, catch_up, follow, known_sources};
use crate::repo::Repo;
use crate::store::{Noted, Store};

/// So long a hook waits for locks, over all references (`design.md` section 6).
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs one hook, with what Git has handed to it. An unknown name does nothing: a later version may install more of them.
pub(super) fn run(context: &Context, name: &str, rest: &[String]) -> anyhow::Result<ExitCode> {
    let done = match name {
        "post-commit" | "post-merge" | "post-applypatch" => take(context, ""),
        "post-rewrite" => {
            let mut list = String::new();
            // Of a list that cannot be read nothing is followed.
            drop(std::io::stdin().read_to_string(&mut list));
            take(context, &list)
        }
        "pre-push" => return guarded(rest),
        _ => Ok(()),
    };
    if let (Err(error), true) = (done, context.verbose) {
        context.say(format!("{error:#}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Follows rewritten commits, takes in what is new, and tells both in the notes.
fn take(context: &Context, list: &str) -> anyhow::Result<()> {
    let begun = Instant::now();
    let left = || PATIENCE.saturating_sub(begun.elapsed());
    let repo = context.repo()?;
    let now = context.now()?;
    let store = Store::new(&repo).with_patience(PATIENCE / 2);
    let kept = Kept::with(&repo, list);
    let moved = follow(&store, &repo, &kept.rewritten(), now);
    kept.settle(moved.is_ok());
    let moved = moved?;
    let (mut noted, emptied) = (moved.noted, moved.old);
    if let Some(tip) = repo.head()?.commit {
        let scope = Scope::Hook {
            tip,
            patience: left().min(PATIENCE / 2),
        };
        let sources = known_sources(&repo)?;
        let report = catch_up(&repo, &Ingest { scope, sources }, now, &|_, _| {})?;
        noted.extend(report.noted);
    }
    if notes::wanted(&repo) && !(noted.is_empty() && emptied.is_empty()) {
        notes::add(&Store::new(&repo).with_patience(left()), &noted, &emptied)?;
    }
    Ok(())
}

/// The guard of a push, for who calls it from a hook of theirs; ours holds it itself.
fn guarded(rest: &[String]) -> anyhow::Result<ExitCode> {
    let status = Command::new("sh")
        .arg("-c")
        .arg(guard())
        .arg("pre-push")
        .args(rest)
        .status()
        .context("cannot run sh")?;
    Ok(ExitCode::from(u8::from(!status.success())))
}

/// Follows what a hook could not, before an ingest finds the new commits by itself.
pub(super) fn follow_kept(context: &Context, repo: &Repo) -> anyhow::Result<()> {
    let kept = Kept::with(repo, "");
    let moved = follow(&Store::new(repo), repo, &kept.rewritten(), context.now()?)?;
    kept.settle(true);
    if moved.anchors > 0 {
        note_all(context, repo);
    }
    Ok(())
}

/// Tells new records in the notes, where notes are wanted. A note that cannot be written is told and is no failure.
pub(super) fn note(context: &Context, repo: &Repo, noted: &[Noted]) {
    if noted.is_empty() || !notes::wanted(repo) {
        return;
    }
    let done = notes::add(&Store::new(repo), noted, &BTreeSet::new());
    warn(context, done.map_err(Into::into));
}

/// Makes the notes what the records say, where notes are wanted. A failure is told and is none of the command's.
pub(super) fn note_all(context: &Context, repo: &Repo) {
    if !notes::wanted(repo) {
        return;
    }
    let rebuilt = || -> anyhow::Result<()> {
        let store = Store::new(repo);
        let corpus = store.corpus(store.corpus_id()?)?;
        notes::rebuild(&store, &corpus)?;
        Ok(())
    };
    warn(context, rebuilt());
}

fn warn(context: &Context, done: anyhow::Result<()>) {
    if let Err(error) = done {
        context.warn(format!(
            "the notes could not be written: {error:#}\nhint: 'git score-context hook notes --rebuild' writes them"
        ));
    }
}
