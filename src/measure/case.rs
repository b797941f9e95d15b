//! Labelled questions: one a line, as JSON.
//!
//! In: text. Out: cases, or one sentence that names the line. Never looks anything up.

use serde::Deserialize;

/// One labelled question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Case {
    /// The name of the case.
    #[serde(default)]
    pub id: String,
    /// What sort of case it is: `control…` asks something that has no answer here.
    #[serde(default)]
    pub kind: String,
    /// The commit it is asked at; `HEAD` where it says nothing.
    #[serde(default)]
    pub at: Option<String>,
    /// What is to be done.
    pub task: String,
    /// What it is about.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// What should come back: ids of records, importers' keys, or anchor commits. Empty for a control.
    #[serde(default)]
    pub relevant: Vec<String>,
}

impl Case {
    /// Whether nothing should come back.
    pub fn is_control(&self) -> bool {
        self.relevant.is_empty() || self.kind.starts_with("control")
    }
}

/// Reads lines of cases; empty lines are skipped.
///
/// # Errors
/// One sentence that names the line.
pub fn read_cases(text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let case: Case =
            serde_json::from_str(line).map_err(|why| format!("line {}: {why}", number + 1))?;
        if case.task.trim().is_empty() {
            return Err(format!("line {}: the task is empty", number + 1));
        }
        cases.push(case);
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_answer_is_a_control() {
        let lines = "{\"task\":\"a\"}\n\n{\"task\":\"b\",\"relevant\":[\"x\"]}\n{\"task\":\"c\",\"kind\":\"control-none\",\"relevant\":[]}\n";
        let cases = read_cases(lines).expect("three cases");
        let controls: Vec<_> = cases.iter().map(Case::is_control).collect();
        assert_eq!(controls, [true, false, true]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let refusal = |text| read_cases(text).expect_err(text);
        assert!(refusal("{\"task\":\"a\"}\n{}").starts_with("line 2: missing field `task`"));
        assert_eq!(refusal("{\"task\":\" \"}"), "line 1: the task is empty");
        assert!(refusal("nonsense").starts_with("line 1: "));
    }
}
