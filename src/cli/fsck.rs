//! `fsck`: everything stored is there and right.

use std::process::ExitCode;

use serde_json::json;

use super::context::Context;
use super::failure::NEGATIVE;
use super::hook;
use crate::hook::notes;
use crate::render::visible;
use crate::repo::Repo;
use crate::store::{Depth, Store};
use crate::upkeep::{Findings, check};

/// Check that everything stored is there and right.
///
/// Every record readable and its id right, every look-up's pins present, the notes in step, nothing left of what was forgotten, no remote
/// that would take private references along, and no copy of them under another name. Damage exits with 1, a warning with 0.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Mend what can be mended, drop what cannot, and name it
    #[arg(long)]
    repair: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let repaired = match args.repair {
        true => Store::new(&repo).repair(Depth::Content)?,
        false => Vec::new(),
    };
    // What was written since it was opened is seen.
    let repo = repo.reopen()?;
    let bar = context.bar("look-ups");
    let mut findings = check(&repo, &|done, all| bar.set(done, all))?;
    drop(bar);
    check_notes(&repo, &mut findings);
    findings.warnings.extend(hook::silenced(&repo));
    if context.json {
        context.print_json(&json!({
            "records": findings.records,
            "lookups": findings.lookups,
            "repaired": repaired,
            "damage": findings.damage,
            "warnings": findings.warnings,
        }))?;
    } else {
        for done in &repaired {
            context.print(&format!("repaired: {}", visible(done)))?;
        }
        for damage in &findings.damage {
            context.print(&format!("damage: {}", visible(damage)))?;
        }
        for warning in &findings.warnings {
            context.print(&format!("warning: {}", visible(warning)))?;
        }
        context.say(format!(
            "{} records and {} look-ups checked",
            findings.records, findings.lookups
        ));
    }
    Ok(ExitCode::from(if findings.damage.is_empty() {
        0
    } else {
        NEGATIVE
    }))
}

/// Notes that do not say what the records say are no damage: they can be made anew.
fn check_notes(repo: &Repo, findings: &mut Findings) {
    if !notes::wanted(repo) {
        return;
    }
    let store = Store::new(repo);
    let corpus = store.corpus_id().and_then(|id| store.corpus(id));
    // Records that cannot be read are named already.
    let Ok(corpus) = corpus else { return };
    let remedy = "'git score-context hook notes --rebuild' makes them anew";
    match notes::out_of_step(&store, &corpus) {
        Ok(odd) => {
            if let Some(first) = odd.first() {
                let count = odd.len();
                findings.warnings.push(format!(
                    "the notes of {count} commits do not say what the records say (the first: {first}); {remedy}"
                ));
            }
        }
        Err(error) => findings
            .warnings
            .push(format!("the notes cannot be read: {error}; {remedy}")),
    }
}
