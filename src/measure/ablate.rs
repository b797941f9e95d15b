//! `ablate`: each task planned twice, with and without what was decided before, everything else equal (`scoring.md`, ablate).
//!
//! In: tasks, a planner (any command that reads a prompt and prints JSON). Out: what it said in both arms. The arms differ in the section
//! and in nothing else. Never judges a plan itself, and never writes a look-up.

use std::io::Write;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::query::{Query, QueryError, ask};
use crate::record::Time;
use crate::repo::Repo;

/// The title of the section that one arm has.
pub const SECTION: &str = "## Relevant past decisions";

/// One task to be planned.
#[derive(Clone, Debug, Deserialize)]
pub struct Errand {
    /// Its name.
    pub id: String,
    /// What is to be done.
    pub task: String,
    /// What it is about.
    #[serde(default)]
    pub nodes: Vec<String>,
}

/// What the planner said of one prompt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Whether the plan was good.
    pub success: bool,
    /// How many attempts it took.
    pub attempts: f64,
    /// What it cost, in whatever the planner counts.
    pub cost: f64,
}

/// One task in both arms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The task.
    pub id: String,
    /// How many records the section held.
    pub records: usize,
    /// Without the section.
    pub without: Said,
    /// With it.
    pub with: Said,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum AblateError {
    /// The look-up has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The planner did not do what it has to.
    #[error("the planner, asked about '{id}': {cause}")]
    Planner {
        /// The task.
        id: String,
        /// What went wrong.
        cause: String,
    },
}

/// Reads lines of tasks; empty lines are skipped.
///
/// # Errors
/// One sentence that names the line.
pub fn read_errands(text: &str) -> Result<Vec<Errand>, String> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|why| format!("line {}: {why}", number + 1))
        })
        .collect()
}

/// Plans each task twice. `progress` hears of tasks: done, and in all.
///
/// # Errors
/// When a look-up has no answer, or the planner cannot be run, fails, or prints anything but one JSON object.
pub fn ablate(
    repo: &Repo,
    errands: &[Errand],
    planner: &str,
    now: Time,
    progress: &dyn Fn(usize, usize),
) -> Result<Vec<Pair>, AblateError> {
    let mut pairs = Vec::new();
    for (done, errand) in errands.iter().enumerate() {
        progress(done, errands.len());
        let query = Query {
            record: false,
            ..Query::new(errand.task.clone(), errand.nodes.clone())
        };
        let answer = ask(repo, &query, now, &|_, _| {})?;
        let [without, with] = prompts(errand, &answer.block());
        pairs.push(Pair {
            id: errand.id.clone(),
            records: answer.attention.result.items.len(),
            without: plan(errand, planner, &without)?,
            with: plan(errand, planner, &with)?,
        });
    }
    Ok(pairs)
}

/// The prompt without and with the section.
fn prompts(errand: &Errand, block: &str) -> [String; 2] {
    let head = format!("{}\n\n", errand.task.trim());
    let tail = "## Constraints\n\nPlan only; answer with one JSON object.\n";
    let block = match block.is_empty() {
        true => "none recorded yet",
        false => block.trim_end(),
    };
    [
        format!("{head}{tail}"),
        format!("{head}{SECTION}\n\n{block}\n\n{tail}"),
    ]
}

fn plan(errand: &Errand, planner: &str, prompt: &str) -> Result<Said, AblateError> {
    let failed = |cause: String| AblateError::Planner {
        id: errand.id.clone(),
        cause,
    };
    let child = Command::new("sh")
        .args(["-c", planner])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| failed(format!("cannot run sh: {error}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A planner that does not read to the end closes the pipe; what it prints still counts.
        drop(stdin.write_all(prompt.as_bytes()));
    }
    let made = child.wait_with_output();
    let made = made.map_err(|error| failed(error.to_string()))?;
    if !made.status.success() {
        return Err(failed(format!("it ended with {}", made.status)));
    }
    serde_json::from_slice(&made.stdout)
        .map_err(|why| failed(format!("no JSON with success, attempts and cost: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arms_differ_in_the_section_alone() {
        let errand = Errand {
            id: "a".into(),
            task: "do it\n".into(),
            nodes: Vec::new(),
        };
        let [without, with] = prompts(&errand, "<block>\n");
        assert!(!without.contains(SECTION));
        assert_eq!(
            with.replace(&format!("{SECTION}\n\n<block>\n\n"), ""),
            without
        );
        assert!(prompts(&errand, "")[1].contains("none recorded yet"));
    }
}
