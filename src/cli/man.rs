//! `man`: the man page, which Git opens for `git score-context --help`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Command;

use super::context::Context;
use crate::repo::{Access, Folder};

/// The name of the page.
const NAME: &str = "git-score-context.1";

/// Print the man page, or install it where `git score-context --help` finds it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Write it to the man pages of this user, or below DIR
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    install: Option<Option<PathBuf>>,
}

pub(super) fn run(context: &Context, args: &Args, command: Command) -> anyhow::Result<ExitCode> {
    let command = command.name("git-score-context");
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .context("the man page cannot be made")?;
    let Some(place) = &args.install else {
        context.print(&String::from_utf8_lossy(&page))?;
        return Ok(ExitCode::SUCCESS);
    };
    let directory = match place {
        Some(directory) => context.directory().join(directory),
        // Where `man` looks without being told, for a user whose programs lie in ~/.local/bin.
        None => data_home()?.join("man"),
    };
    let directory = directory.join("man1");
    let file = directory.join(NAME);
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("cannot write {}", file.display()))?;
    Folder::at(&directory).replace(NAME, &page, Access::Users)?;
    context.print(&file.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn data_home() -> anyhow::Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match (set("XDG_DATA_HOME"), set("HOME")) {
        (Some(data), _) => Ok(data.into()),
        (None, Some(home)) => Ok(PathBuf::from(home).join(".local/share")),
        (None, None) => anyhow::bail!(
            "HOME is not set, so there is no place for man pages; name one with --install DIR"
        ),
    }
}
