//! `calibrate`: the floor and the gap that labelled pairs of this repository ask for.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::context::Context;
use super::failure::usage;
use crate::measure::{
    Calibration, History, LEAST, Options, Ranker, calibrate, eval, histogram, read_cases,
    with_values,
};
use crate::policy::{Policy, Rule};
use crate::query::{POLICY_PATH, policy_of};
use crate::repo::{Access, Folder, Repo};

/// Columns of the longest bar.
const WIDTH: usize = 30;
/// So few pairs or controls are a hint: a share is then known no better than to one in twenty.
const FEW: usize = 20;
/// A longer file is no policy.
const MOST_POLICY: u64 = 1024 * 1024;
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
        sample: None,
        rankers: vec![Ranker::Rule(Box::new(open))],
    };
    let bar = context.bar("pairs");
    let made = eval(&[history], &options, &|done, all| bar.set(done, all))?;
    drop(bar);
    let made = calibrate(&made.of(0));
    match context.json {
        true => context.print_json(&json!({
            "rule": policy.rule, "relevant": made.relevant, "controls": made.controls, "missed": made.missed,
            "separates": made.separates, "floor": made.floor, "gap": made.gap, "gap_pairs": made.gap_pairs, "trade": made.trade,
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

fn target(repo: &Repo) -> anyhow::Result<Folder> {
    match repo.top() {
        Some(top) => Ok(top),
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
    target: &Folder,
    policy: &Policy,
    made: &Calibration,
) -> anyhow::Result<()> {
    let old = target.read(POLICY_PATH, MOST_POLICY)?.unwrap_or_default();
    let old = String::from_utf8(old).with_context(|| format!("cannot read {POLICY_PATH}"))?;
    let before = match old.is_empty() {
        true => Policy::default(),
        false => Policy::parse(&old).context(POLICY_PATH)?,
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
    if let Some(lack) = made.lack() {
        bail!("{lack}\nhint: {POLICY_PATH} is as it was");
    }
    let (wanted, values) = changed(policy, made, &before);
    if wanted == before && !old.is_empty() {
        context.say(format!("{POLICY_PATH} says so already"));
        return Ok(());
    }
    let new = with_values(&old, &values);
    if Policy::parse(&new).ok().as_ref() != Some(&wanted) {
        let lines = values
            .iter()
            .map(|(key, value)| format!("{key} = {value:?}"));
        bail!(
            "{POLICY_PATH} has its [attention] in a form that is not changed here\nhint: set there by hand: {}",
            lines.collect::<Vec<_>>().join(", ")
        );
    }
    target.replace(POLICY_PATH, new.as_bytes(), Access::Users)?;
    context.say(format!(
        "wrote {POLICY_PATH}; commit it, and the next look-up uses it"
    ));
    Ok(())
}

/// The policy with the values that follow, and these values.
fn changed(
    policy: &Policy,
    made: &Calibration,
    before: &Policy,
) -> (Policy, Vec<(&'static str, f64)>) {
    let mut wanted = before.clone();
    let mut values = Vec::new();
    if let Some(floor) = made.floor {
        values.push((floor_key(policy), floor));
        match policy.rule().unwrap_or_default() {
            Rule::Seed1 => wanted.noise_floor = floor,
            Rule::Measured1 => wanted.answer_floor = Some(floor),
        }
    }
    if let Some(gap) = made.gap_instead_of(before.rank_gap_ratio) {
        values.push(("rank_gap_ratio", gap));
        wanted.rank_gap_ratio = gap;
    }
    (wanted, values)
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
        text.push_str("\nfloor      kept   controls answered\n");
        for (floor, kept, answered) in &made.trade {
            text.push_str(&format!(
                "{floor:<8} {:>4.0} %   {:>4.0} %\n",
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
        let lack = made.lack().unwrap_or_default();
        return format!("{pairs} pairs and {controls} controls: {lack}.");
    };
    let key = floor_key(policy);
    let (kept, answered) = made.at(floor);
    let how = match made.separates {
        true => "every record that should come back scores above every control, so nothing is lost",
        false => "the two overlap, so a floor trades one for the other",
    };
    let mut text = format!(
        "{how}. With {key} = {floor} {kept} of {pairs} pairs are answered with what they should, and {answered} of {controls} controls are answered; \
         {}",
        present(policy, made)
    );
    if made.missed > 0 {
        text.push_str(&format!(
            " {} pairs cannot be answered at any floor: their records are not here, or share no words with the question.",
            made.missed
        ));
    }
    if kept > 0 {
        text.push_str(&gap(policy.rank_gap_ratio, made));
    }
    match made.lack() {
        Some(lack) => text.push_str(&format!(" Not to be written: {lack}.")),
        None if made.controls.len() < FEW || pairs < FEW => {
            text.push_str(" So few lines are a hint and no proof.");
        }
        None => {}
    }
    text
}

/// What the floor in force does to the same lines.
fn present(policy: &Policy, made: &Calibration) -> String {
    let floor = match policy.rule().unwrap_or_default() {
        Rule::Seed1 => policy.noise_floor,
        Rule::Measured1 => policy.answer_floor.unwrap_or_default(),
    };
    let (kept, answered) = made.at(floor);
    format!("at the present {floor} it is {kept} and {answered}.")
}

/// What becomes of the gap ratio.
fn gap(present: f64, made: &Calibration) -> String {
    let Some(gap) = made.gap else {
        return format!(
            " Each of these records comes first, so nothing is said of rank_gap_ratio, which stays {present}."
        );
    };
    let by = made.gap_pairs;
    match made.gap_instead_of(present) {
        None if gap == present => {
            format!(" These records ask for rank_gap_ratio = {present}, as it is.")
        }
        Some(_) if gap < present => format!(
            " rank_gap_ratio has to come down from {present} to {gap}, or a record that should come back is left out."
        ),
        Some(_) => format!(
            " rank_gap_ratio may go up from {present} to {gap} without losing one of these, by {by} pairs whose record does not come first."
        ),
        None => format!(
            " rank_gap_ratio stays {present}: it might be {gap}, but by {by} pairs whose record does not come first, and it takes {LEAST}."
        ),
    }
}
