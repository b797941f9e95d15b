//! `forget`: a record removed for good, from everything.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde_json::json;

use super::context::Context;
use super::failure::usage;
use crate::hook::notes;
use crate::id::RecordId;
use crate::repo::Repo;
use crate::store::{Erasure, Fate, Store};
use crate::upkeep::{Forgotten, forget, pinned};

/// Remove a record for good, also from stored look-ups.
///
/// Its text leaves the records, every look-up and every corpus that a look-up pins, and the notes; a tombstone without text stays, so that
/// it is not taken in again. A look-up whose task itself held the text is dropped. The id of a look-up drops that look-up. When this is
/// interrupted, run it again: it finishes.
///
/// The bytes leave the disk at the next `git gc --prune=now`. Copies elsewhere (mirror clones, bundles, backups) are not reached.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The id of a record or of a look-up, or a unique beginning of one
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let (records, lookups) = named(&repo, &args.ids)?;
    let mut done = Forgotten::default();
    if !records.is_empty() {
        let all = Store::new(&repo).lookups()?.len();
        let bar = context.bar("look-ups");
        done = forget(&repo, &records, context.now()?, &mut |looked| {
            bar.set(looked, all)
        })?;
        drop(bar);
    }
    drop_lookups(&repo, &lookups)?;
    done.dropped.extend(lookups);
    notes::tidy(&repo)?;
    // The index, the journal of the last writes, and what sessions were told.
    for cache in crate::upkeep::record_caches(&repo) {
        repo.remove_own(&cache)?;
    }
    match context.json {
        true => context.print_json(&json!({
            "forgotten": done.ids, "changed": done.changed, "dropped": done.dropped,
            "same_text": done.same_text,
        }))?,
        false => context.print(&human(&done))?,
    }
    if !done.same_text.is_empty() {
        let ids: Vec<_> = done.same_text.iter().map(RecordId::short).collect();
        context.warn(format!(
            "the same text also stands in {}\nhint: 'git score-context forget {}' takes it out there too",
            ids.join(", "),
            ids.join(" ")
        ));
    }
    context.say("the bytes leave the disk at the next 'git gc --prune=now'; clones and backups that were made before keep theirs");
    Ok(ExitCode::SUCCESS)
}

/// The records and the look-ups that are meant, also records of which only a tombstone, or a pin, is left.
fn named(repo: &Repo, ids: &[String]) -> anyhow::Result<(BTreeSet<RecordId>, BTreeSet<RecordId>)> {
    let store = Store::new(repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    let (mut records, mut lookups) = (BTreeSet::new(), BTreeSet::new());
    for id in ids {
        if id.is_empty() {
            return Err(usage("the id is empty"));
        }
        let record = corpus.find(id);
        let record = record.or_else(|no_record| corpus.buried(id).ok_or(no_record));
        match (record, store.find_lookup(id)) {
            (Ok(record), _) => drop(records.insert(record)),
            (Err(_), Ok(stored)) => drop(lookups.insert(stored.id)),
            // What has expired may still stand in what a look-up pins.
            (Err(no_record), Err(no_lookup)) => match pinned(repo, id)? {
                Some(record) => drop(records.insert(record)),
                None => anyhow::bail!("{no_record}, and {no_lookup}"),
            },
        }
    }
    Ok((records, lookups))
}

fn drop_lookups(repo: &Repo, ids: &BTreeSet<RecordId>) -> anyhow::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let nothing = Erasure::default();
    Store::new(repo).sweep(&nothing, &mut |stored, _| {
        Ok(match ids.contains(&stored.id) {
            true => Fate::Drop,
            false => Fate::Keep,
        })
    })?;
    Ok(repo.empty_log(crate::store::ATTENTION)?)
}

fn human(done: &Forgotten) -> String {
    let mut text = String::new();
    for id in &done.ids {
        text.push_str(&format!("{id}  forgotten\n"));
    }
    if !done.changed.is_empty() {
        text.push_str(&format!(
            "{} look-ups hold it no more; their replay says 'removed'\n",
            done.changed.len()
        ));
    }
    for id in &done.dropped {
        text.push_str(&format!("{id}  look-up dropped\n"));
    }
    text
}
