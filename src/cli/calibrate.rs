//! `calibrate`: the floor and the gap that labelled pairs of this repository ask for.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::context::Context;
use super::failure::usage;
use crate::measure::{
    Calibration, History, Options, Ranker, calibrate, eval, histogram, read_cases, with_values,
};
use crate::policy::{Policy, Rule};
use crate::query::{POLICY_PATH, policy_of};
use crate::repo::Repo;

/// Columns of the longest bar.
const WIDTH: usize = 30;
/// Parts that scores are sorted into.
const PARTS: usize = 16;

/// Find the floor that tells an answer from noise, from labelled pairs.
///
/// A pair is a line {"task","nodes","at","relevant"}, written by hand from what this repository asked and how it ended; `relevant` names
/// the records that should have come back. A line with an empty `relevant` is a control: nothing should.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file of pairs
    pairs: PathBuf,
    /// Write the values into score-context/policy.toml of the work tree, the old ones kept in a comment
    #[arg(long)]
    write: bool,
    /// The rule to calibrate, instead of the one in force
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let file = context.directory().join(&args.pairs);
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let cases = read_cases(&text).map_err(|why| usage(format!("{}: {why}", file.display())))?;
    if cases.is_empty() {
        return Err(usage(format!("{} holds no pair", file.display())));
    }
    let policy = policy(&repo, args)?;
    let target = args.write.then(|| target(&repo)).transpose()?;
    let open = Policy {
        top_k: u64::MAX,
        ..policy.clone()
    };
    let history = History {
        name: String::new(),
        repo,
        cases,
        weights: None,
    };
    let options = Options {
        newest: None,
        rankers: vec![Ranker::Rule(Box::new(open))],
    };
    let bar = context.bar("pairs");
    let made = eval(&[history], &options, &|done, all| bar.set(done, all))?;
    drop(bar);
    let made = calibrate(&made.of(0));
    match context.json {
        true => context.print_json(&json!({
            "rule": policy.rule, "relevant": made.relevant, "controls": made.controls, "missed": made.missed,
            "separates": made.separates, "floor": made.floor, "gap": made.gap,
        }))?,
        false => context.print(&human(&policy, &made))?,
    }
    if let Some(target) = target {
        write(context, &target, &policy, &made)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The policy in force, or the defaults of the rule that was asked for.
fn policy(repo: &Repo, args: &Args) -> anyhow::Result<Policy> {
    let tree = match repo.head()?.commit {
        Some(commit) => repo.tree_of(commit)?,
        None => bail!("there is no commit yet, so there is nothing to ask about"),
    };
    let in_force = policy_of(repo, tree)?;
    let Some(name) = &args.rule else {
        return Ok(in_force);
    };
    let rule = Rule::named(name).ok_or_else(|| usage(format!("no rule '{name}'")))?;
    Ok(match in_force.rule() == Some(rule) {
        true => in_force,
        false => Policy::of(rule),
    })
}

fn target(repo: &Repo) -> anyhow::Result<PathBuf> {
    match repo.work_tree() {
        Some(top) => Ok(top.join(POLICY_PATH)),
        None => bail!("a bare repository has no work tree to write {POLICY_PATH} into"),
    }
}

/// The key of the floor under a rule.
fn floor_key(policy: &Policy) -> &'static str {
    match policy.rule().unwrap_or_default() {
        Rule::Seed1 => "noise_floor",
        Rule::Measured1 => "answer_floor",
    }
}

fn write(
    context: &Context,
    target: &PathBuf,
    policy: &Policy,
    made: &Calibration,
) -> anyhow::Result<()> {
    let Some(floor) = made.floor else {
        bail!("without both a pair and a control there is no floor to write");
    };
    let old = match std::fs::read_to_string(target) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", target.display()));
        }
    };
    let before = match old.is_empty() {
        true => Policy::default(),
        false => Policy::parse(&old).with_context(|| target.display().to_string())?,
    };
    if before.rule != policy.rule {
        bail!(
            "{} names the rule {}, and the values are those of {}\nhint: set rule = \"{}\" there first",
            POLICY_PATH,
            before.rule,
            policy.rule,
            policy.rule
        );
    }
    let mut values = vec![(floor_key(policy), rounded(floor))];
    values.extend(made.gap.map(|gap| ("rank_gap_ratio", rounded(gap))));
    let new = with_values(&old, &values);
    Policy::parse(&new)
        .with_context(|| format!("{} would not be a policy any more", target.display()))?;
    if let Some(folder) = target.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(target, new).with_context(|| format!("cannot write {}", target.display()))?;
    context.say(format!(
        "wrote {POLICY_PATH}; commit it, and the next look-up uses it"
    ));
    Ok(())
}

/// Four digits, downward, so that what was kept stays kept.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).floor() / 10_000.0
}

fn human(policy: &Policy, made: &Calibration) -> String {
    let mut text = format!(
        "rule {}\n\n   up to  should come back{:16}controls (best score)\n",
        policy.rule, ""
    );
    let parts = histogram(made, PARTS);
    let most = parts
        .iter()
        .map(|(_, one, other)| *one.max(other))
        .max()
        .unwrap_or(1)
        .max(1);
    for (border, relevant, controls) in parts {
        let bar = |count: usize| "█".repeat((count * WIDTH).div_ceil(most));
        let line = format!(
            "  {border:>6.3}  {:<WIDTH$}  {relevant:>3}  {}",
            bar(relevant),
            bar(controls)
        );
        text.push_str(&format!("{line} {controls}\n"));
    }
    text.push_str(&format!("\n{}\n", consequence(policy, made)));
    if !made.separates && made.floor.is_some() {
        text.push_str("\nfloor    kept   controls answered\n");
        for (floor, kept, answered) in &made.trade {
            text.push_str(&format!(
                "{floor:.4}  {:>4.0} %   {:>4.0} %\n",
                kept * 100.0,
                answered * 100.0
            ));
        }
    }
    text
}

/// What the figures mean, in words.
fn consequence(policy: &Policy, made: &Calibration) -> String {
    let (pairs, controls) = (made.relevant.len() + made.missed, made.controls.len());
    let Some(floor) = made.floor else {
        return format!(
            "{pairs} pairs and {controls} controls: a floor needs at least one of each that can be scored."
        );
    };
    let key = floor_key(policy);
    let kept = made
        .relevant
        .iter()
        .filter(|score| **score >= floor)
        .count();
    let answered = made
        .controls
        .iter()
        .filter(|score| **score >= floor)
        .count();
    let how = match made.separates {
        true => "every record that should come back scores above every control, so nothing is lost",
        false => "the two overlap, so a floor trades one for the other",
    };
    let mut text = format!(
        "{how}. With {key} = {:.4} {kept} of {pairs} pairs are answered with what they should, and {answered} of {controls} controls are answered.",
        rounded(floor)
    );
    if made.missed > 0 {
        text.push_str(&format!(
            " {} pairs cannot be answered at any floor: their records are not here, or share no words with the question.",
            made.missed
        ));
    }
    if let Some(gap) = made.gap {
        text.push_str(&format!(
            " rank_gap_ratio may be up to {:.4} without losing one of these.",
            rounded(gap)
        ));
    }
    if controls < 20 || pairs < 20 {
        text.push_str(" So few lines are a hint and no proof.");
    }
    text
}
