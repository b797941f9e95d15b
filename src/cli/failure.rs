//! What went wrong, in one sentence with its cause and a hint, and the exit code it has.

use std::io::{self, Write};
use std::process::ExitCode;

use super::context::told;
use crate::ingest::SpeakError;

/// A negative answer: a replay differs, a check found damage.
pub(super) const NEGATIVE: u8 = 1;
/// The command was used wrongly.
pub(super) const USAGE: u8 = 2;
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

/// Runs a command. A fault of this program is told in one sentence and not in the words of the language; a hook, and a prompt that is
/// handed on, end well all the same.
pub fn guarded(run: impl FnOnce() -> ExitCode + std::panic::UnwindSafe) -> ExitCode {
    let plain = std::panic::take_hook();
    // Also of other threads, which end without anybody asking why.
    std::panic::set_hook(Box::new(move |fault| {
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            return plain(fault);
        }
        let told = fault.payload();
        let told = match (told.downcast_ref::<&str>(), told.downcast_ref::<String>()) {
            (Some(told), _) => told,
            (None, Some(told)) => told.as_str(),
            (None, None) => "no reason given",
        };
        let place = fault.location().map(ToString::to_string);
        let place = place.unwrap_or_else(|| "an unknown place".into());
        let text = format!(
            "fatal: a fault of git score-context itself at {place}: {told}\nhint: please report it; RUST_BACKTRACE=1 tells more"
        );
        if !is_silent() {
            drop(writeln!(io::stderr(), "{text}"));
        }
    }));
    std::panic::catch_unwind(run).unwrap_or_else(|_| match is_silent() || never_fails() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(FATAL),
    })
}

/// The first two words of the command line.
fn words() -> [String; 2] {
    let mut words = std::env::args_os().skip(1);
    let mut next = || {
        words
            .next()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    [next(), next()]
}

/// Whether a commit waits for this call.
fn is_silent() -> bool {
    words() == ["hook", "run"]
}

fn never_fails() -> bool {
    let [first, second] = words();
    first == "inject" || first == "hook" && second == "prompt"
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
    drop(writeln!(io::stderr(), "{word}: {}", told(&text.join(": "))));
    ExitCode::from(if is_usage { USAGE } else { FATAL })
}
