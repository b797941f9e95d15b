//! `hook run`: what our hooks call.
//!
//! Never fails and never says anything, but for the guard of a push: a commit must not notice. What could not be taken now is taken by
//! the next catch-up.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::context::Context;
use super::failure::NEGATIVE;
use crate::hook::notes;
use crate::hook::push::leak;
use crate::ingest::{
    Ingest, Kept, Scope, catch_up_behind, catch_up_within, follow, is_behind, known_sources,
};
use crate::render::visible;
use crate::repo::{Repo, read_within};
use crate::store::{NOTES, Noted, Store};

/// So long a hook waits for locks, over all references (`design.md` section 6).
const PATIENCE: Duration = Duration::from_millis(500);

/// So long a hook reads, after which it only writes what it has: the rest of half a second.
const READING: Duration = Duration::from_millis(350);
/// So long the guard looks into what is pushed; Git itself takes longer to pack so much.
const PUSH: Duration = Duration::from_secs(3);
/// Git's list of rewritten commits, or of what is pushed: more than this is a hundred thousand of them.
const MOST_LIST: u64 = 16 << 20;

/// Runs one hook, with what Git has handed to it. An unknown name does nothing: a later version may install more of them.
pub(super) fn run(context: &Context, name: &str, rest: &[String]) -> anyhow::Result<ExitCode> {
    let done = match name {
        "post-commit" | "post-merge" | "post-applypatch" => take(context, ""),
        "post-rewrite" => {
            // Of a list that cannot be read nothing is followed.
            let list = read_within(std::io::stdin().lock(), MOST_LIST);
            let list = list.ok().and_then(Result::ok).unwrap_or_default();
            take(context, &String::from_utf8_lossy(&list))
        }
        "pre-push" => return Ok(guarded(context, rest)),
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
        let ingest = Ingest { scope, sources };
        let is_late = || begun.elapsed() > READING;
        let report = catch_up_within(&repo, &ingest, now, &|_, _| {}, &is_late)?;
        noted.extend(report.noted);
    }
    if notes::wanted(&repo) && !(noted.is_empty() && emptied.is_empty()) {
        notes::add(&Store::new(&repo).with_patience(left()), &noted, &emptied)?;
    }
    Ok(())
}

/// The guard of a push: exit code 1 stops it, and nothing else does. Our hook holds the part about names itself, for when the tool is
/// gone.
fn guarded(context: &Context, rest: &[String]) -> ExitCode {
    let begun = Instant::now();
    let read = read_within(std::io::stdin().lock(), MOST_LIST);
    let (Ok(Ok(lines)), Ok(repo)) = (read, context.repo()) else {
        return ExitCode::SUCCESS;
    };
    let remote = rest.first().map_or("", String::as_str);
    let lines = String::from_utf8_lossy(&lines);
    let is_late = || begun.elapsed() > PUSH;
    let Some(leak) = leak(&repo, remote, &lines, &is_late) else {
        return ExitCode::SUCCESS;
    };
    let (from, private) = (visible(&leak.from), leak.private);
    let told = match leak.by_name {
        true => format!("{from} is private to this machine"),
        false => format!("{from} holds what is private to this machine ({private})"),
    };
    let remote = visible(remote);
    let mut text = format!("git score-context: {told}, so nothing was pushed\n");
    if leak.by_name {
        text.push_str(&format!(
            "hint: to push everything else:\n\
             hint:   git push '{remote}' 'refs/*:refs/*' '^refs/score-local/*' '^{NOTES}'\n\
             hint: a mirror needs --force --prune besides, and a remote without remote.<name>.mirror\n"
        ));
    } else {
        text.push_str("hint: push without it; the records themselves stay where they are\n");
        if from.starts_with("refs/") {
            text.push_str(&format!(
                "hint: 'git update-ref -d {from}' removes that name, if it is only a copy\n"
            ));
        }
    }
    // Standard error may be closed; the code says it all the same.
    drop(std::io::stderr().write_all(text.as_bytes()));
    ExitCode::from(NEGATIVE)
}

/// Takes in what a hook had no time for, before a command that reads or writes the memory. Without a word: where it fails it stays to
/// be done.
pub(super) fn catch_up_quietly(context: &Context) {
    let (Ok(repo), Ok(now)) = (context.repo(), context.now()) else {
        return;
    };
    if is_behind(&repo) {
        match catch_up_behind(&repo, now, PATIENCE) {
            Ok(noted) => note(context, &repo, &noted),
            Err(error) if context.verbose => context.say(format!("{error:#}")),
            Err(_) => {}
        }
    }
    context.give_back(repo);
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
