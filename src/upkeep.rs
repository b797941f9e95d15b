//! Whether everything stored is there and right.
//!
//! In: a repository. Out: findings, each one sentence; damage means that something recorded cannot be had any more, a warning that
//! somebody should look. Never repairs and never deletes.

use crate::record::Visibility;
use crate::repo::{Repo, RepoError};
use crate::store::{ATTENTION, RECORDS, Store, StoreError};

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
/// When the repository itself cannot be read.
pub fn check(repo: &Repo, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Findings, RepoError> {
    let mut findings = Findings::default();
    for name in [RECORDS, ATTENTION] {
        match repo.reference(name) {
            // A reference that leads nowhere is named where it is read.
            Ok(_) => {}
            Err(error) => findings.damage.push(error.to_string()),
        }
    }
    check_records(repo, &mut findings);
    check_lookups(repo, &mut findings, progress);
    for (name, spec) in repo.refspecs() {
        if spec.is_mirror() {
            findings.warnings.push(format!(
                "{name} mirrors every reference, also the private ones under refs/score-local ({})",
                spec.text()
            ));
        }
    }
    Ok(findings)
}

fn check_records(repo: &Repo, findings: &mut Findings) {
    let store = Store::new(repo);
    let corpus = store.corpus_id().and_then(|id| store.corpus(id));
    let corpus = match corpus {
        Ok(corpus) => corpus,
        Err(error) => {
            findings
                .damage
                .push(format!("the records cannot be read: {error}"));
            return;
        }
    };
    findings.records = corpus.ids().count();
    for broken in &corpus.broken {
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
}

fn check_lookups(repo: &Repo, findings: &mut Findings, progress: &(dyn Fn(usize, usize) + Sync)) {
    let store = Store::new(repo);
    let lookups = match store.lookups() {
        Ok(lookups) => lookups,
        Err(error) => {
            findings
                .damage
                .push(format!("the look-ups cannot be read: {error}"));
            return;
        }
    };
    let all = lookups.len();
    let mut sound = std::collections::BTreeSet::new();
    for (done, stored) in lookups.iter().enumerate() {
        findings.lookups += 1;
        match store.lookup(stored) {
            Ok(lookup) => {
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
                            Err(error) => findings
                                .damage
                                .push(format!("look-up {}: {what}: {error}", lookup.id)),
                        }
                    }
                }
                let is_gone = inputs.visibility == Visibility::Ancestors
                    && inputs.commit.is_some_and(|commit| !repo.has(commit.0));
                if is_gone {
                    let text = format!(
                        "look-up {}: the commit it was asked about is no longer here",
                        lookup.id
                    );
                    findings.warnings.push(text);
                }
            }
            Err(error @ StoreError::Damaged { .. }) => findings.damage.push(error.to_string()),
            Err(error) => findings
                .damage
                .push(format!("look-up {}: {error}", stored.id)),
        }
        progress(done + 1, all);
    }
}
