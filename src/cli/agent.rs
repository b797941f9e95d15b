//! `agent setup`: an agent's own program told of us: the MCP server, and the hook that runs before a prompt.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use serde_json::json;

use super::context::Context;
use crate::hook::{Client, File};
use crate::repo::{Access, FileError, Folder};

/// A longer file is no settings file.
const MOST: u64 = 16 * 1024 * 1024;
/// What is appended to the name of a file for the copy that was made of it.
const BACKUP: &str = "score-context-backup";

/// Register with the program that runs your agent.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print what to put into which settings file of this repository, or put it there
    Setup {
        /// The program: claude-code, codex, vscode, cursor or gemini
        #[arg(value_name = "CLIENT", value_parser = client)]
        client: Client,
        /// Write the files; of a file that is there a copy is kept, and everything else in it stays
        #[arg(long)]
        write: bool,
        /// Take out what --write put there; a file that was not changed since comes back to the byte
        #[arg(long, conflicts_with = "write")]
        undo: bool,
    },
}

fn client(name: &str) -> Result<Client, String> {
    let names = Client::ALL.map(Client::name).join(", ");
    Client::of(name).ok_or(format!("known are {names}"))
}

/// What becomes of one file.
struct Step {
    /// Its path below the top of the work tree.
    path: &'static str,
    /// What it is to hold; none when it is to go.
    text: Option<String>,
    done: &'static str,
    /// What is to be kept beside it.
    backup: Option<Vec<u8>>,
    /// Whether the copy goes.
    drop_backup: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    let Action::Setup {
        client,
        write,
        undo,
    } = &args.action;
    if !write && !undo {
        return show(context, *client);
    }
    let repo = context.repo()?;
    let Some(top) = repo.top() else {
        bail!("a bare repository has no settings files\nhint: run it in a work tree");
    };
    // Everything is worked out before the first file is touched.
    let mut steps = Vec::new();
    for file in client.files() {
        let step = match undo {
            true => undone(&file, &top),
            false => written(&file, &top),
        };
        steps.push(step.with_context(|| shown(&top, file.0))?);
    }
    for step in &steps {
        carry_out(&top, step)?;
    }
    if context.json {
        let files = steps
            .iter()
            .map(|step| json!({"file": shown(&top, step.path), "done": step.done}));
        let files: Vec<_> = files.collect();
        context.print_json(&json!({"client": client.name(), "files": files}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for step in &steps {
        context.print(&format!("{}: {}", step.done, shown(&top, step.path)))?;
    }
    if *write {
        let name = client.name();
        context.say(format!(
            "hint: 'git score-context agent setup {name} --undo' undoes this"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(context: &Context, client: Client) -> anyhow::Result<ExitCode> {
    let mut files = Vec::new();
    for file in client.files() {
        let text = file.with("").map_err(anyhow::Error::msg)?;
        files.push((file.0, text));
    }
    if context.json {
        let files = files
            .iter()
            .map(|(file, text)| json!({"file": file, "content": text}));
        let files: Vec<_> = files.collect();
        context.print_json(&json!({"client": client.name(), "files": files}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (file, text) in &files {
        context.print(&format!("{}\n{}\n", context.bold(file), text.trim_end()))?;
    }
    let name = client.name();
    context.say(format!("hint: 'git score-context agent setup {name} --write' puts this into the files, beside what is there"));
    Ok(ExitCode::SUCCESS)
}

fn shown(top: &Folder, path: &str) -> String {
    top.path().join(path).display().to_string()
}

fn text_of(bytes: &[u8]) -> anyhow::Result<&str> {
    std::str::from_utf8(bytes).context("it is not UTF-8, so it is left alone")
}

fn backup_of(path: &str) -> String {
    format!("{path}.{BACKUP}")
}

fn written(file: &File, top: &Folder) -> anyhow::Result<Step> {
    let path = file.0;
    let old = top.read(path, MOST)?;
    let text = old.as_deref().map(text_of).transpose()?;
    let new = file
        .with(text.unwrap_or_default())
        .map_err(anyhow::Error::msg)?;
    let done = match text {
        Some(text) if text == new => "already there",
        Some(_) => "added to",
        None => "written",
    };
    // What is no file there is told before anything is written.
    let has_backup = top.read(backup_of(path), MOST)?.is_some();
    let is_changed = text.is_some_and(|text| text != new);
    Ok(Step {
        path,
        done,
        text: Some(new),
        backup: old.filter(|_| is_changed && !has_backup),
        drop_backup: false,
    })
}

fn undone(file: &File, top: &Folder) -> anyhow::Result<Step> {
    let path = file.0;
    let step = |text: Option<String>, done| Step {
        path,
        text,
        done,
        backup: None,
        drop_backup: true,
    };
    let Some(now) = top.read(path, MOST)? else {
        return Ok(step(None, "not there"));
    };
    let now = text_of(&now)?;
    if let Some(backup) = top.read(backup_of(path), MOST)? {
        let before = text_of(&backup)?;
        if file.with(before).as_deref() == Ok(now) {
            return Ok(step(Some(before.to_owned()), "put back"));
        }
    } else if file.with("").as_deref() == Ok(now) {
        return Ok(step(None, "removed"));
    }
    let bare = file.without(now).map_err(anyhow::Error::msg)?;
    let done = if bare == now {
        "not there"
    } else {
        "taken out of"
    };
    Ok(step(Some(bare), done))
}

fn carry_out(top: &Folder, step: &Step) -> Result<(), FileError> {
    let backup = backup_of(step.path);
    match &step.text {
        Some(text) => {
            if let Some(old) = &step.backup {
                top.replace_like(&backup, old, step.path)?;
            }
            let now = top.read(step.path, MOST)?;
            if now.as_deref() != Some(text.as_bytes()) {
                top.replace(step.path, text.as_bytes(), Access::Users)?;
            }
        }
        None => drop(top.remove(step.path)?),
    }
    if step.drop_backup {
        top.remove(&backup)?;
        // Only a folder that is empty goes.
        if let Some((folder, _)) = step.path.rsplit_once('/') {
            top.below(folder).remove_empty();
        }
    }
    Ok(())
}
