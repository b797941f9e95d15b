//! `mcp`: the server for agents, on standard input and output.

use std::process::ExitCode;

use super::context::{Context, clock};
use crate::mcp::{Settings, serve};

/// Serve agents over the Model Context Protocol, on standard input and output.
///
/// An agent's client starts this by itself; it ends with its input. Standard output carries the protocol alone.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(context: &Context, _: &Args) -> anyhow::Result<ExitCode> {
    serve(Settings {
        directory: context.directory().to_owned(),
        git_dir: context.git_dir().map(ToOwned::to_owned),
        clock: || clock().map_err(|error| format!("{error:#}")),
    })?;
    Ok(ExitCode::SUCCESS)
}
