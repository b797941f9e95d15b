//! What went wrong, in one sentence with its cause and a hint, and the exit code it has.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::ingest::SpeakError;

/// A negative answer: a replay differs, a check found damage.
pub(super) const NEGATIVE: u8 = 1;
/// The command was used wrongly.
const USAGE: u8 = 2;
/// There could be no answer, as Git says it.
const FATAL: u8 = 128;

/// The command was used wrongly; everything else that stops a command means that it could not answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(pub String);

/// A usage error.
pub(super) fn usage(text: impl Into<String>) -> anyhow::Error {
    Usage(text.into()).into()
}

/// What was said could not be recorded: a wrong value is wrong usage, everything else no answer.
pub(super) fn refused(error: SpeakError) -> anyhow::Error {
    match error {
        SpeakError::Wrong(text) => usage(text),
        error => error.into(),
    }
}

/// Prints what stopped a command, unless that was a reader who has seen enough, and gives the exit code.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let is_closed_pipe = error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    if is_closed_pipe {
        return ExitCode::SUCCESS;
    }
    let is_usage = error.downcast_ref::<Usage>().is_some();
    let mut text = Vec::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // A transparent error repeats what it wraps.
        if text.last() != Some(&cause) {
            text.push(cause);
        }
    }
    let word = if is_usage { "error" } else { "fatal" };
    // Standard error may be closed; there is nobody left to tell.
    drop(writeln!(io::stderr(), "{word}: {}", text.join(": ")));
    ExitCode::from(if is_usage { USAGE } else { FATAL })
}
