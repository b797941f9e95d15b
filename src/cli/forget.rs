//! `forget`: records removed for good, from everything.
//!
//! In: ids, or a phrase on standard input. Out: what went, or would go, and what still holds it. The phrase is never printed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use super::context::Context;
use super::failure::usage;
use super::forget_said::{Outcome, say};
use super::reunion;
use crate::hook::{Client, notes};
use crate::id::RecordId;
use crate::repo::Repo;
use crate::store::Store;
use crate::upkeep::{
    Forgotten, Hits, Left, Phrase, SHORTEST, Scan, Wish, files_with, forget, forget_in_notes, left,
    odd, pinned, preview, record_caches, remove,
};

/// Most bytes of a phrase: as many as the text of a record may have, escaped.
const LONGEST: u64 = 128 * 1024;

/// Remove records for good, also from stored look-ups.
///
/// The text leaves the records, every look-up and every corpus that a look-up pins, the notes, and the caches; a tombstone without text stays, so
/// that it is not taken in again. A look-up that quotes part of the text is dropped: the whole of it, three words in a row, two of
/// which one is rare, or one that looks like a secret. The id of a look-up drops that look-up. What this version cannot read, damaged
/// or newer, goes by the hash of its line. When this is interrupted, run it again: it finishes.
///
/// --text searches the raw bytes of everything for a phrase, also with other white space and as JSON escapes it, and removes whatever of this
/// tool holds it; case counts. The phrase comes from standard input, so that it stands in no shell history.
///
/// Afterwards everything is searched again, and what still holds the text is named with what helps. The bytes leave the disk at the next
/// `git gc --prune=now`. Copies elsewhere (clones, bundles, backups) are not reached. Exits with 1 when something still holds it that this
/// command cannot remove; of ids the history that a record was taken from does not count.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The id of a record or of a look-up, or a unique beginning of one
    #[arg(required_unless_present = "text", value_name = "ID")]
    ids: Vec<String>,
    /// Remove whatever holds the phrase on standard input
    #[arg(long, conflicts_with = "ids")]
    text: bool,
    /// Only list what would go
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    if !args.dry_run {
        let repo = context.repo()?;
        reunion::repair(context, &repo);
    }
    match args.text {
        true => by_text(context, args),
        false => by_id(context, args),
    }
}

fn by_id(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let wish = named(&repo, &args.ids)?;
    if args.dry_run {
        let done = preview(&repo, &wish)?;
        let outcome = Outcome::dry(done, BTreeMap::new(), 0, BTreeSet::new());
        return say(context, &outcome);
    }
    let done = carry_out(context, &repo, &wish)?;
    let mut outcome = Outcome::done(done, BTreeMap::new());
    outcome.stays = clean(&repo, &[])?;
    let phrases = outcome.done.phrases.clone();
    let mut scan = Scan::default();
    outcome.left = check(context, &repo, &phrases, &mut scan)?;
    say(context, &outcome)
}

fn by_text(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let phrases = [phrase(context)?];
    let repo = context.repo()?;
    let mut scan = Scan::default();
    search(context, &repo, &phrases, &mut scan)?;
    let hits = Hits::among(&repo, &phrases, &scan)?;
    let mut wish = Wish {
        records: hits.records.keys().copied().collect(),
        lookups: hits.lookups.clone(),
    };
    wish.lookups.extend(with_purged_code(&repo, &hits)?);
    let kinds = hits.records.clone();
    if args.dry_run {
        let done = preview(&repo, &wish)?;
        let files = ours_with(&repo, &phrases);
        let outcome = Outcome::dry(done, kinds, hits.notes, files);
        return say(
            context,
            &Outcome {
                is_text: true,
                ..outcome
            },
        );
    }
    let done = carry_out(context, &repo, &wish)?;
    let mut outcome = Outcome {
        is_text: true,
        notes: hits.notes,
        ..Outcome::done(done, kinds)
    };
    outcome.files = ours_with(&repo, &phrases);
    outcome.stays = clean(&repo, &phrases)?;
    outcome.left = check(context, &repo, &phrases, &mut scan)?;
    say(context, &outcome)
}

/// The phrase on standard input, without white space around it.
fn phrase(context: &Context) -> anyhow::Result<Phrase> {
    let input = std::io::stdin();
    if input.is_terminal() {
        context.say("type the phrase, then Ctrl-D on a line of its own");
    }
    let mut bytes = Vec::new();
    input.lock().take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(usage(format!("the phrase has more than {LONGEST} bytes")));
    }
    Phrase::new(&bytes).ok_or_else(|| {
        usage(format!(
            "the phrase on standard input has fewer than {SHORTEST} bytes that are no white space, which stand nearly everywhere"
        ))
    })
}

fn carry_out(context: &Context, repo: &Repo, wish: &Wish) -> anyhow::Result<Forgotten> {
    let all = Store::new(repo).lookups()?.len();
    let bar = context.bar("look-ups");
    let done = forget(repo, wish, context.now()?, &mut |looked| {
        bar.set(looked, all)
    })?;
    drop(bar);
    Ok(done)
}

/// Clears notes, caches, and our files that hold a phrase; gives the files that cannot be removed.
fn clean(repo: &Repo, phrases: &[Phrase]) -> anyhow::Result<BTreeSet<PathBuf>> {
    if !phrases.is_empty() {
        forget_in_notes(repo, phrases)?;
    }
    notes::tidy(repo)?;
    // The index, the journal of the last writes, and what sessions were told.
    let mut files: BTreeSet<PathBuf> = record_caches(repo).into_iter().collect();
    files.extend(ours_with(repo, phrases));
    Ok(remove(&files))
}

fn search(
    context: &Context,
    repo: &Repo,
    phrases: &[Phrase],
    scan: &mut Scan,
) -> anyhow::Result<()> {
    let bar = context.bar("objects");
    scan.go_on(repo, phrases, &|done, all| bar.set(done, all))?;
    Ok(())
}

/// Looks at everything once more.
fn check(
    context: &Context,
    repo: &Repo,
    phrases: &[Phrase],
    scan: &mut Scan,
) -> anyhow::Result<Left> {
    search(context, repo, phrases, scan)?;
    Ok(left(repo, phrases, scan, &settings(repo))?)
}

/// Look-ups that pin code which holds a phrase and which only look-ups keep: the history was purged of it.
fn with_purged_code(repo: &Repo, hits: &Hits) -> anyhow::Result<BTreeSet<RecordId>> {
    let all: BTreeSet<_> = hits
        .code
        .values()
        .flat_map(|code| code.iter().copied())
        .collect();
    let roots = repo.roots_of(&all)?;
    let is_purged = |code: &BTreeSet<_>| {
        let mut roots = code.iter().map(|id| roots.get(id));
        roots.any(|root| !root.is_some_and(crate::repo::Root::is_theirs))
    };
    let purged = hits.code.iter().filter(|(_, code)| is_purged(code));
    Ok(purged.map(|(id, _)| *id).collect())
}

/// The files of this tool that hold a phrase: in its folder of the common dir, and the copies that `agent setup` keeps of settings.
fn ours_with(repo: &Repo, phrases: &[Phrase]) -> BTreeSet<PathBuf> {
    let folder = repo.cache_dir();
    let mut files = repo.plain_files();
    files.retain(|file| file.starts_with(&folder));
    files.extend(settings(repo).into_iter().map(|file| {
        let mut name = file.into_os_string();
        name.push(".score-context-backup");
        PathBuf::from(name)
    }));
    files_with(files.iter(), phrases)
}

/// The settings of agents' programs that `agent setup` writes to, in every work tree; not what a link leads to.
fn settings(repo: &Repo) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for tree in repo.work_trees() {
        for file in Client::ALL.iter().flat_map(|client| client.files()) {
            let path = tree.join(file.0);
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
            if folder.is_some_and(|folder| path.parent() == Some(folder.as_path())) {
                found.push(path);
            }
        }
    }
    found
}

/// The records and the look-ups that are meant, also records of which only a tombstone, or a pin, is left, and what cannot be read.
fn named(repo: &Repo, ids: &[String]) -> anyhow::Result<Wish> {
    let store = Store::new(repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    let mut wish = Wish::default();
    for id in ids {
        if id.is_empty() {
            return Err(usage("the id is empty"));
        }
        let record = corpus.find(id);
        let record = record.or_else(|no_record| corpus.buried(id).ok_or(no_record));
        match (record, store.find_lookup(id)) {
            (Ok(record), _) => drop(wish.records.insert(record)),
            (Err(_), Ok(stored)) => drop(wish.lookups.insert(stored.id)),
            // What cannot be read may still have to go, and what has expired may still stand in what a look-up pins.
            (Err(no_record), Err(no_lookup)) => match (odd(repo, id)?, pinned(repo, id)?) {
                (Some(record), _) | (None, Some(record)) => drop(wish.records.insert(record)),
                (None, None) => anyhow::bail!("{no_record}, and {no_lookup}"),
            },
        }
    }
    Ok(wish)
}
