//! Whether everything stored is there and right.
//!
//! In: a repository. Out: findings, each one sentence; damage means that something recorded cannot be had any more, a warning that
//! somebody should look. Never repairs and never deletes.

use std::collections::BTreeSet;

use super::locks::locks;
use super::stray::stray;
use crate::id::{RecordId, TreeId};
use crate::record::Visibility;
use crate::repo::{Repo, RepoError};
use crate::store::{ATTENTION, NOTES, PRIVATE, RECORDS, Store, StoreError, UNDO};

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Records read, whether sound or not.
    pub records: usize,
    /// Look-ups read.
    pub lookups: usize,
    /// What is lost or wrong.
    pub damage: Vec<String>,
    /// What may become a trouble.
    pub warnings: Vec<String>,
}

/// Checks every record, every look-up with its pins, and who else could see them.
///
/// # Errors
/// When the repository itself cannot be read, or the machine would not read a part of it: then nothing is said of damage.
pub fn check(repo: &Repo, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Findings, RepoError> {
    let mut findings = Findings::default();
    for name in [RECORDS, ATTENTION, UNDO] {
        match repo.reference(name) {
            // A reference that leads nowhere is named where it is read.
            Ok(_) => {}
            Err(error) => findings.damage.push(error.damage()?.to_string()),
        }
    }
    let foreign = check_foreign(repo, &mut findings)?;
    let forgotten = check_records(repo, &foreign, &mut findings)?;
    let pinned = check_lookups(repo, &mut findings, progress)?;
    check_forgotten(repo, &forgotten, pinned, &mut findings)?;
    check_waiting(repo, &mut findings)?;
    check_stray(repo, &mut findings)?;
    findings.warnings.extend(exposure(repo)?);
    findings.warnings.extend(locks(repo));
    let left = repo.left_over()?;
    if !left.is_empty() {
        let first = left[0].display();
        findings.warnings.push(format!(
            "{} temporary files were left by writers that died ({first}, …); 'git score-context prune' removes them",
            left.len()
        ));
    }
    Ok(findings)
}

/// Who else could see the private references, a sentence for each.
///
/// # Errors
/// When the references cannot be read.
pub fn exposure(repo: &Repo) -> Result<Vec<String>, RepoError> {
    let mut warnings = Vec::new();
    for spec in repo.mirrors(&PRIVATE) {
        let (key, text) = (spec.key, spec.text);
        warnings.push(match spec.fetches {
            false => format!(
                "{key} = {text}: pushes there carry every reference, also the private ones under refs/score-local"
            ),
            true => format!(
                "{key} = {text}: a fetch from there can overwrite the private references under refs/score-local, and with --prune delete them"
            ),
        });
    }
    for name in repo.copies_of(&PRIVATE)? {
        warnings.push(match name.strip_prefix("refs/remotes/") {
            Some(rest) => {
                let remote = rest.split('/').next().unwrap_or_default();
                format!(
                    "{name}: the memory was pushed to {remote}; 'git push {remote} --delete refs/score-local/records refs/score-local/attention {NOTES}' takes it back from there"
                )
            }
            None => format!(
                "{name} is a copy of a private reference, and goes where that name goes; 'git update-ref -d {name}' removes it"
            ),
        });
    }
    Ok(warnings)
}

/// Names what is not ours in our trees.
fn check_foreign(repo: &Repo, findings: &mut Findings) -> Result<Vec<String>, RepoError> {
    let foreign = match Store::new(repo).foreign() {
        Ok(foreign) => foreign,
        // A tree that is damaged is named where the records or look-ups are.
        Err(error) => error.damage().map(|_| Vec::new())?,
    };
    for path in &foreign {
        let text = format!("{path} is not of this tool, and is left alone");
        findings.warnings.push(text);
    }
    Ok(foreign)
}

/// What a forgetting that was interrupted has left, or a look-up that was kept at the same moment.
fn check_forgotten(
    repo: &Repo,
    forgotten: &BTreeSet<RecordId>,
    mut corpora: BTreeSet<TreeId>,
    findings: &mut Findings,
) -> Result<(), RepoError> {
    let store = Store::new(repo);
    match store.corpus_id() {
        Ok(corpus) => drop(corpora.insert(corpus)),
        Err(error) => drop(error.damage()?),
    }
    match store.waiting_corpora() {
        Ok(waiting) => corpora.extend(waiting),
        Err(error) => drop(error.damage()?),
    }
    for id in store.held(&corpora, forgotten)? {
        findings.warnings.push(format!(
            "record {id} was forgotten, and its text is still here; 'git score-context forget {}' finishes that",
            id.short()
        ));
    }
    Ok(())
}

/// What upkeep has let go can be put back.
fn check_waiting(repo: &Repo, findings: &mut Findings) -> Result<(), RepoError> {
    let store = Store::new(repo);
    let check = || -> Result<(), StoreError> {
        let mut sound = BTreeSet::new();
        for waiting in store.waiting()? {
            let pins = waiting.lookups.iter().map(|stored| store.lookup(stored));
            let pins: Result<Vec<_>, _> = pins.collect();
            let pins = pins?
                .into_iter()
                .flat_map(|lookup| [lookup.pins.corpus, lookup.pins.code]);
            for tree in waiting.corpus.into_iter().chain(pins) {
                if sound.insert(tree) {
                    repo.has_tree_complete(tree)?;
                }
            }
        }
        Ok(())
    };
    if let Err(error) = check() {
        let error = error.damage()?;
        findings.damage.push(format!(
            "what upkeep has let go cannot be put back: {error}; 'git score-context prune --no-undo' drops it"
        ));
    }
    Ok(())
}

fn check_stray(repo: &Repo, findings: &mut Findings) -> Result<(), RepoError> {
    match stray(repo) {
        Ok(stray) => findings.warnings.extend(stray.iter().map(|id| {
            format!(
                "look-up {id}: no commit has the code it was asked about any more, and it still holds that code; 'git score-context prune --gone' drops it"
            )
        })),
        Err(error) => {
            let error = error.damage()?;
            findings.damage.push(format!("the history cannot be walked: {error}"));
        }
    }
    Ok(())
}

/// Checks the records; gives the ids of the forgotten ones.
fn check_records(
    repo: &Repo,
    foreign: &[String],
    findings: &mut Findings,
) -> Result<BTreeSet<RecordId>, RepoError> {
    let store = Store::new(repo);
    let corpus = store.corpus_id().and_then(|id| store.corpus(id));
    let corpus = match corpus {
        Ok(corpus) => corpus,
        Err(error) => {
            let error = error.damage()?;
            findings
                .damage
                .push(format!("the records cannot be read: {error}"));
            return Ok(BTreeSet::new());
        }
    };
    findings.records = corpus.ids().count();
    let is_foreign = |place: &str| {
        let path = format!("{RECORDS}:{place}");
        foreign.iter().any(|one| {
            path.strip_prefix(one.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        })
    };
    for broken in corpus
        .broken
        .iter()
        .filter(|broken| !is_foreign(&broken.place))
    {
        findings
            .damage
            .push(format!("{}: {}", broken.place, broken.reason));
    }
    for (of, anchors) in &corpus.anchors {
        let is_known = corpus.line(*of).is_some() || corpus.tombstones.contains_key(of);
        if !is_known && !anchors.is_empty() {
            findings
                .damage
                .push(format!("record {of} has an anchor and is not there itself"));
        }
    }
    let buried = corpus.tombstones.keys().copied();
    Ok(buried.filter(|id| corpus.is_forgotten(*id)).collect())
}

/// Checks the look-ups; gives the corpora that they pin.
fn check_lookups(
    repo: &Repo,
    findings: &mut Findings,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<BTreeSet<TreeId>, RepoError> {
    let mut corpora = BTreeSet::new();
    let store = Store::new(repo);
    let lookups = match store.lookups() {
        Ok(lookups) => lookups,
        Err(error) => {
            let error = error.damage()?;
            findings
                .damage
                .push(format!("the look-ups cannot be read: {error}"));
            return Ok(corpora);
        }
    };
    let all = lookups.len();
    let mut sound = BTreeSet::new();
    for (done, stored) in lookups.iter().enumerate() {
        findings.lookups += 1;
        match store.lookup(stored) {
            Ok(lookup) => {
                corpora.insert(lookup.pins.corpus);
                let inputs = &lookup.attention.inputs;
                if inputs.id() != lookup.id {
                    findings.damage.push(format!(
                        "look-up {}: its inputs have the id {}",
                        lookup.id,
                        inputs.id()
                    ));
                }
                for (what, tree) in [("corpus", lookup.pins.corpus), ("code", lookup.pins.code)] {
                    // Look-ups share most of what they pin.
                    if !sound.contains(&tree) {
                        match repo.has_tree_complete(tree) {
                            Ok(()) => drop(sound.insert(tree)),
                            Err(error) => {
                                let error = error.damage()?;
                                let text = format!("look-up {}: {what}: {error}", lookup.id);
                                findings.damage.push(text);
                            }
                        }
                    }
                }
                let is_gone = match inputs.commit {
                    Some(commit) if inputs.visibility == Visibility::Ancestors => {
                        !repo.has(commit.0)?
                    }
                    _ => false,
                };
                if is_gone {
                    let text = format!(
                        "look-up {}: the commit it was asked about is no longer here",
                        lookup.id
                    );
                    findings.warnings.push(text);
                }
            }
            Err(error @ StoreError::Damaged { .. }) => findings.damage.push(error.to_string()),
            Err(error) => {
                let error = error.damage()?;
                findings
                    .damage
                    .push(format!("look-up {}: {error}", stored.id));
            }
        }
        progress(done + 1, all);
    }
    Ok(corpora)
}
