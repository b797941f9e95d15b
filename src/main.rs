//! Parse, run, exit code.

use std::process::ExitCode;

/// What Git hands down to a hook and everything it starts: about the command in progress, never about the memory.
const NOT_OURS: [&str; 5] = [
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
];

fn main() -> ExitCode {
    drop_foreign_variables();
    match git_score_context::cli::run() {
        Ok(code) => code,
        Err(error) => git_score_context::cli::exit_code(&error),
    }
}

#[expect(
    unsafe_code,
    reason = "the environment may only be changed while there is one thread"
)]
fn drop_foreign_variables() {
    for name in NOT_OURS {
        // SAFETY: nothing has been started yet, so no other thread reads the environment.
        unsafe { std::env::remove_var(name) };
    }
}
