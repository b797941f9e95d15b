//! What a command said, and what is in it.

use std::io::Write;
use std::process::{Command, Stdio};

use git_score_context::id::RecordId;
use serde_json::Value;

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Said {
    /// The exit code; -1 for a signal.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs a command to its end, with nothing or this on its standard input.
#[track_caller]
pub fn collect(mut command: Command, input: Option<&[u8]>) -> Said {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // A command that stops before it has read everything says why by itself.
        drop(stdin.write_all(input));
    }
    let output = child.wait_with_output().expect("the command ends");
    let said = Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(
        !said.err.contains("panicked at") && !said.err.contains("a fault of git score-context"),
        "{command:?}: {}",
        said.err
    );
    said
}

#[track_caller]
pub fn finish(command: Command, code: i32) -> Said {
    let shown = format!("{command:?}");
    let said = collect(command, None);
    assert_eq!(said.code, code, "{shown}\n{}\n{}", said.out, said.err);
    said
}

#[track_caller]
pub fn finish_fed(command: Command, input: &[u8], code: i32) -> Said {
    let shown = format!("{command:?}");
    let said = collect(command, Some(input));
    assert_eq!(said.code, code, "{shown}\n{}\n{}", said.out, said.err);
    said
}

/// Each line as JSON.
#[track_caller]
pub fn json_lines(text: &str) -> Vec<Value> {
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}

/// The text of a JSON string.
#[track_caller]
pub fn string(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("{value} is no string"))
        .to_owned()
}

/// The texts of a JSON array, in order.
#[track_caller]
pub fn strings(value: &Value) -> Vec<String> {
    let values = value
        .as_array()
        .unwrap_or_else(|| panic!("{value} is no array"));
    values.iter().map(string).collect()
}

/// One key of each value of a JSON array, in order.
#[track_caller]
pub fn pluck(values: &Value, key: &str) -> Vec<String> {
    let values = values
        .as_array()
        .unwrap_or_else(|| panic!("{values} is no array"));
    values.iter().map(|value| string(&value[key])).collect()
}

/// The id that these bytes have.
pub fn id_of(line: &str) -> String {
    RecordId::of(line.as_bytes()).to_string()
}
