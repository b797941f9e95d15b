//! `completions`: what a shell needs to complete commands and options.

use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use super::context::Context;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(context: &Context, args: &Args, command: Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    // The name under which a shell meets the program; as `git score-context` it is Git's own script that completes.
    let mut command = command.bin_name("git-score-context");
    clap_complete::generate(args.shell, &mut command, "git-score-context", &mut script);
    context.print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
