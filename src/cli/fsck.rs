//! `fsck`: everything stored is there and right.

use std::process::ExitCode;

use serde_json::json;

use super::context::Context;
use super::failure::NEGATIVE;
use crate::render::visible;
use crate::upkeep::check;

/// Check that everything stored is there and right.
///
/// Every record readable and its id right, every look-up's pins present, and no remote that would take private references along.
/// Damage exits with 1, a warning with 0.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(context: &Context, _: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let bar = context.bar("look-ups");
    let findings = check(&repo, &|done, all| bar.set(done, all))?;
    drop(bar);
    if context.json {
        context.print_json(&json!({
            "records": findings.records,
            "lookups": findings.lookups,
            "damage": findings.damage,
            "warnings": findings.warnings,
        }))?;
    } else {
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
