//! `agent setup`: an agent's own program told of us: the MCP server, and the hook that runs before a prompt.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use serde_json::json;

use super::context::Context;
use crate::hook::{Client, File};

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
    path: PathBuf,
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
    let Some(top) = repo.work_tree() else {
        bail!("a bare repository has no settings files\nhint: run it in a work tree");
    };
    // Everything is worked out before the first file is touched.
    let mut steps = Vec::new();
    for file in client.files() {
        let path = top.join(file.0);
        let step = match undo {
            true => undone(&file, &path),
            false => written(&file, &path),
        };
        steps.push(step.with_context(|| path.display().to_string())?);
    }
    for step in &steps {
        carry_out(step).with_context(|| step.path.display().to_string())?;
    }
    if context.json {
        let files = steps
            .iter()
            .map(|step| json!({"file": step.path, "done": step.done}));
        let files: Vec<_> = files.collect();
        context.print_json(&json!({"client": client.name(), "files": files}))?;
        return Ok(ExitCode::SUCCESS);
    }
    for step in &steps {
        context.print(&format!("{}: {}", step.done, step.path.display()))?;
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

fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn text_of(bytes: &[u8]) -> anyhow::Result<&str> {
    std::str::from_utf8(bytes).context("it is not UTF-8, so it is left alone")
}

fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{BACKUP}"));
    PathBuf::from(name)
}

fn written(file: &File, path: &Path) -> anyhow::Result<Step> {
    let old = read(path)?;
    let text = old.as_deref().map(text_of).transpose()?;
    let new = file
        .with(text.unwrap_or_default())
        .map_err(anyhow::Error::msg)?;
    let done = match text {
        Some(text) if text == new => "already there",
        Some(_) => "added to",
        None => "written",
    };
    let has_backup = backup_of(path).exists();
    let is_changed = text.is_some_and(|text| text != new);
    Ok(Step {
        path: path.to_owned(),
        done,
        text: Some(new),
        backup: old.filter(|_| is_changed && !has_backup),
        drop_backup: false,
    })
}

fn undone(file: &File, path: &Path) -> anyhow::Result<Step> {
    let step = |text: Option<String>, done| Step {
        path: path.to_owned(),
        text,
        done,
        backup: None,
        drop_backup: true,
    };
    let Some(now) = read(path)? else {
        return Ok(step(None, "not there"));
    };
    let now = text_of(&now)?;
    if let Some(backup) = read(&backup_of(path))? {
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

fn carry_out(step: &Step) -> io::Result<()> {
    let backup = backup_of(&step.path);
    let folder = step.path.parent().unwrap_or(&step.path);
    match &step.text {
        Some(text) => {
            fs::create_dir_all(folder)?;
            if let Some(old) = &step.backup {
                fs::write(&backup, old)?;
            }
            if read(&step.path).ok().flatten().as_deref() != Some(text.as_bytes()) {
                fs::write(&step.path, text)?;
            }
        }
        None if step.path.exists() => fs::remove_file(&step.path)?,
        None => {}
    }
    if step.drop_backup {
        if backup.exists() {
            fs::remove_file(&backup)?;
        }
        // Only a folder that is empty goes.
        drop(fs::remove_dir(folder));
    }
    Ok(())
}
