//! `hook`: our hooks, and what goes with them, put there and taken away.
//!
//! What an installation changes: files in the folder of the hooks, one block of lines in the repository's own configuration
//! (`transfer.hideRefs`, and `score-context.notes` unless notes are not wanted), and the notes. `uninstall` undoes all of it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use serde_json::json;

use super::context::Context;
use super::hook_run;
use super::prompt;
use crate::hook::block::{self, Setting};
use crate::hook::{
    Done, Earlier, Hook, HookError, Place, Report, State, Status, install, notes, place, status,
    uninstall,
};
use crate::ingest::{Mark, set_mark};
use crate::repo::Repo;
use crate::store::{NOTES, Store};

/// Everything that an installation may write into the configuration. The two namespaces are hidden from who fetches or clones from
/// here.
const SETTINGS: [Setting<'static>; 3] = [
    ("transfer", "hideRefs", "refs/score-local"),
    ("transfer", "hideRefs", NOTES),
    ("score-context", "notes", "true"),
];
/// The settings without those for notes.
const HIDING: usize = 2;

/// Install or remove the Git hooks, or rebuild the notes.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Take decisions out of every new commit by itself, follow rewritten ones, keep pushes from carrying the memory
    Install {
        /// Write no notes (see git log --notes=score-local)
        #[arg(long)]
        no_notes: bool,
    },
    /// Remove the hooks, settings and notes, and put back what was there before
    Uninstall,
    /// How the hooks stand
    Status,
    /// What the hooks call
    Run {
        /// The hook that calls
        #[arg(value_name = "NAME")]
        name: String,
        /// What Git hands to the hook
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<String>,
    },
    /// What an agent's own program calls before a prompt: reads its JSON, prints what was decided before
    Prompt {
        /// The program: claude-code, codex, vscode, cursor or gemini
        // Not one argument of its own type: a usage error would keep the prompt from being sent.
        #[arg(
            value_name = "CLIENT",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        client: Vec<String>,
    },
    /// The notes that `git log --notes=score-local` shows
    Notes {
        /// Make them what the records say
        #[arg(long, required = true)]
        rebuild: bool,
    },
}

impl Args {
    /// Whether a prompt waits for the answer.
    pub(super) fn is_prompt(&self) -> bool {
        matches!(self.action, Action::Prompt { .. })
    }
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<ExitCode> {
    match &args.action {
        Action::Install { no_notes } => put_there(context, !no_notes)?,
        Action::Uninstall => take_away(context)?,
        Action::Status => tell(context)?,
        Action::Run { name, rest } => return hook_run::run(context, name, rest),
        Action::Prompt { client } => {
            return prompt::run(context, client);
        }
        Action::Notes { .. } => {
            let repo = context.repo()?;
            if !notes::wanted(&repo) {
                bail!("notes are off\nhint: 'git score-context hook install' turns them on");
            }
            let commits = rebuild(&repo)?;
            match context.json {
                true => context.print_json(&json!({"commits": commits}))?,
                false => context.print(&format!("{commits} commits have a note"))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn put_there(context: &Context, with_notes: bool) -> anyhow::Result<()> {
    let repo = context.repo()?;
    let (dir, binary) = (place_of(&repo)?.dir, binary()?);
    // The configuration first: it can be put back to the byte when the hooks cannot be installed.
    let had_notes = notes::wanted(&repo);
    let mut before = Vec::new();
    let settings = match with_notes {
        true => &SETTINGS[..],
        false => &SETTINGS[..HIDING],
    };
    repo.edit_config(|old| {
        before = old.to_vec();
        let bare = block::without(old, &SETTINGS);
        let new = block::with(&bare, settings);
        vec![bare, new]
    })?;
    let reports = match install(&dir, &binary) {
        Ok(reports) => reports,
        Err(error) => {
            let bare = |now: &[u8]| block::without(now, &SETTINGS);
            repo.edit_config(|now| vec![bare(now), before.clone()])?;
            return Err(error.into());
        }
    };
    // What lies before is the business of `ingest`; a commit pays for itself only.
    let is_new = |hook| {
        reports
            .iter()
            .any(|report| report.hook == hook && report.done == Done::Installed)
    };
    if let (true, Some(head)) = (is_new(Hook::PostCommit), repo.head()?.commit) {
        set_mark(&repo, Mark::Hooks, &[head].into());
    }
    let noted = match (with_notes, had_notes) {
        (true, _) => rebuild(&repo).map(drop),
        (false, true) => notes::clear(&Store::new(&repo)).map_err(Into::into),
        (false, false) => Ok(()),
    };
    if let Err(error) = noted {
        context.warn(format!("the notes could not be written: {error:#}"));
    }
    let config = repo.common_dir().join("config");
    if context.json {
        let hooks: Vec<_> = reports.iter().map(as_json).collect();
        return context.print_json(&json!({"hooks": hooks, "config": config, "notes": with_notes}));
    }
    let mut text = human(&reports);
    text.push_str(&format!(
        "set in {}, at its end, below a comment that names this tool:\n",
        config.display()
    ));
    for (section, key, value) in settings {
        let why = match *key {
            "hideRefs" => "who clones or fetches from here does not see it",
            _ => "notes are kept",
        };
        text.push_str(&format!("  {section}.{key} = {value}    ({why})\n"));
    }
    if with_notes {
        text.push_str(&format!(
            "notes: {NOTES}, shown by 'git log --notes=score-local', and by 'git log --all' as one commit\n"
        ));
    }
    text.push_str(
        "undo all of this, to the byte: git score-context hook uninstall\n\
         without the tool: delete the files above, rename each *.score-context beside them back, delete the lines from the configuration\n",
    );
    context.print(&text)?;
    context.say("hint: 'git score-context ingest' takes in what was committed before");
    Ok(())
}

fn take_away(context: &Context) -> anyhow::Result<()> {
    let repo = context.repo()?;
    let usual = repo.common_dir().join("hooks");
    let reports = match place_of(&repo) {
        Ok(place) => {
            let mut reports = uninstall(&place.dir)?;
            // Where they were before core.hooksPath was set.
            if place.dir != usual {
                reports.extend(left_behind(&usual)?);
            }
            reports
        }
        // What Git does not run can be taken away all the same.
        Err(HookError::Shared(_)) if !left_behind_in(&usual)?.is_empty() => left_behind(&usual)?,
        Err(error) => return Err(error.into()),
    };
    let mut had_settings = false;
    repo.edit_config(|old| {
        let bare = block::without(old, &SETTINGS);
        had_settings = bare != old;
        vec![bare]
    })?;
    if had_settings && let Err(error) = notes::clear(&Store::new(&repo)) {
        context.warn(format!("the notes are still there: {error}"));
    }
    let config = repo.common_dir().join("config");
    if context.json {
        let hooks: Vec<_> = reports.iter().map(as_json).collect();
        return context
            .print_json(&json!({"hooks": hooks, "config": config, "settings": had_settings}));
    }
    let mut text = human(&reports);
    if had_settings {
        text.push_str(&format!(
            "the settings are taken out of {}\n",
            config.display()
        ));
    }
    context.print(&text)?;
    context.say("hint: records and look-ups stay; the README says how to remove those too");
    Ok(())
}

/// Takes away the hooks of ours in a folder that is not the one in force.
fn left_behind(dir: &Path) -> Result<Vec<Report>, HookError> {
    match left_behind_in(dir)?.is_empty() {
        true => Ok(Vec::new()),
        false => uninstall(dir),
    }
}

fn left_behind_in(dir: &Path) -> Result<Vec<Status>, HookError> {
    let mut all = status(dir, Path::new(""))?;
    all.retain(|status| !matches!(status.state, State::Absent | State::Foreign));
    Ok(all)
}

fn tell(context: &Context) -> anyhow::Result<()> {
    let repo = context.repo()?;
    let hidden = repo.config_values("transfer.hideRefs");
    let is_hidden = SETTINGS[..HIDING]
        .iter()
        .all(|(.., name)| hidden.iter().any(|value| value == name));
    let notes = notes::wanted(&repo);
    let all = status(&place_of(&repo)?.dir, &binary()?)?;
    if context.json {
        let hooks: serde_json::Map<_, _> = all
            .iter()
            .map(|status| (status.hook.name().to_owned(), json!(in_words(status))))
            .collect();
        return context.print_json(&json!({
            "hook": installed(&repo), "hooks": hooks, "hidden": is_hidden, "notes": notes,
        }));
    }
    let mut text = String::new();
    for status in &all {
        let earlier = match status.earlier {
            Some(Earlier::Runs) => "; the hook that was there before runs too",
            Some(Earlier::Off) => "; the hook that was there before stays switched off",
            None => "",
        };
        text.push_str(&format!(
            "{:14}  {}{earlier}\n",
            status.hook.name(),
            in_words(status)
        ));
    }
    let yes =
        |is: bool, what: &str, how: &str| format!("{what:14}  {}\n", if is { "yes" } else { how });
    text.push_str(&yes(
        is_hidden,
        "hidden",
        "no: who clones from here over a transport with --mirror gets the memory",
    ));
    text.push_str(&yes(notes, "notes", "no"));
    context.print(&text)
}

fn rebuild(repo: &Repo) -> anyhow::Result<usize> {
    let store = Store::new(repo);
    let corpus = store.corpus(store.corpus_id()?)?;
    Ok(notes::rebuild(&store, &corpus)?)
}

fn in_words(status: &Status) -> &'static str {
    match status.state {
        State::Absent => "not installed",
        State::Foreign => "not installed (another hook is there)",
        State::Current => "installed",
        State::Outdated => {
            "installed for another version; run 'git score-context hook install' again"
        }
        State::Changed => "installed, and changed by somebody since",
    }
}

/// How the hooks stand, in a few words.
pub(super) fn installed(repo: &Repo) -> String {
    let found = || -> anyhow::Result<String> {
        if let Some(silenced) = silenced(repo) {
            return Ok(silenced);
        }
        let all = status(&place_of(repo)?.dir, &binary()?)?;
        let is_absent = |status: &&Status| matches!(status.state, State::Absent | State::Foreign);
        let absent: Vec<_> = all
            .iter()
            .filter(is_absent)
            .map(|status| status.hook.name())
            .collect();
        let odd = all
            .iter()
            .find(|status| matches!(status.state, State::Changed | State::Outdated));
        Ok(match odd {
            _ if absent.len() == all.len() => "not installed".to_owned(),
            Some(odd) => format!("{}: {}", odd.hook.name(), in_words(odd)),
            None if absent.is_empty() => "installed".to_owned(),
            None => format!(
                "installed, but not {}; run 'git score-context hook install' again",
                absent.join(", ")
            ),
        })
    };
    found().unwrap_or_else(|error| error.to_string())
}

/// What is to be said of hooks that were installed and that Git does not run any more: a `core.hooksPath` that was set later leads
/// elsewhere, and with it goes the guard of pushes. None where they run, and where they were never installed.
pub(super) fn silenced(repo: &Repo) -> Option<String> {
    let config = std::fs::read(repo.common_dir().join("config")).ok()?;
    if !block::is_in(&config) {
        return None;
    }
    let lost = "no commit is taken in, and no push of the memory is stopped";
    let dir = match place_of(repo) {
        Ok(place) => place.dir,
        Err(error) => {
            return Some(format!("the hooks do not run ({lost}): {error}"));
        }
    };
    let all = status(&dir, &binary().ok()?).ok()?;
    let is_gone = |status: &&Status| matches!(status.state, State::Absent | State::Foreign);
    let gone: Vec<_> = all
        .iter()
        .filter(is_gone)
        .map(|status| status.hook.name())
        .collect();
    let (local, _) = repo.config_path("core.hooksPath");
    let dir = dir.display();
    match (gone.is_empty(), local) {
        (true, _) => None,
        (false, Some(_)) => Some(format!(
            "core.hooksPath leads to '{dir}', where our hooks are not ({}), so {lost}; 'git score-context hook install' puts them there",
            gone.join(", ")
        )),
        (false, None) => Some(format!(
            "hooks of ours are gone from '{dir}' ({}); 'git score-context hook install' puts them there",
            gone.join(", ")
        )),
    }
}

/// Says once a day, before a command that writes, that the hooks do not run any more.
pub(super) fn remind(context: &Context) {
    let (Ok(repo), Ok(now)) = (context.repo(), context.now()) else {
        return;
    };
    if let Some(silenced) = silenced(&repo) {
        let mark = repo.cache_dir().join("seen").join("silenced");
        let today = now.day();
        if std::fs::read_to_string(&mark).is_ok_and(|day| day.trim() == today) {
            return;
        }
        // Where the day cannot be kept it is said each time: better than never.
        drop(mark.parent().map(std::fs::create_dir_all));
        drop(std::fs::write(&mark, format!("{today}\n")));
        context.warn(silenced);
    }
    context.give_back(repo);
}

fn place_of(repo: &Repo) -> Result<Place, HookError> {
    let (local, global) = repo.config_path("core.hooksPath");
    place(
        local.as_deref(),
        global.as_deref(),
        repo.common_dir(),
        repo.work_tree(),
    )
}

fn binary() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

fn in_a_word(done: Done) -> &'static str {
    match done {
        Done::Installed => "installed",
        Done::Updated => "updated",
        Done::Already => "already installed",
        Done::Removed => "removed",
        Done::NotThere => "not installed",
    }
}

fn as_json(report: &Report) -> serde_json::Value {
    json!({"file": report.file, "done": in_a_word(report.done), "does": does(report.hook)})
}

/// What a hook does, for who has never heard of it.
fn does(hook: Hook) -> &'static str {
    match hook {
        Hook::PostCommit => "takes in what a new commit decides",
        Hook::PostMerge => "the same after a merge or a pull",
        Hook::PostRewrite => "lets records follow an amend or a rebase",
        Hook::PostApplypatch => "the same after 'git am'",
        Hook::PrePush => "stops a push that would carry the memory",
    }
}

fn human(reports: &[Report]) -> String {
    let line = |report: &Report| {
        let is_removal = matches!(report.done, Done::Removed | Done::NotThere);
        let kept = || format!("{}.score-context", report.file.display());
        let earlier = match (report.earlier, is_removal) {
            (None, _) => String::new(),
            (Some(_), true) => "; the earlier hook is back in its place".to_owned(),
            (Some(Earlier::Runs), false) => {
                format!(
                    "; the hook that was there before runs too, kept as {}",
                    kept()
                )
            }
            (Some(Earlier::Off), false) => {
                format!(
                    "; the hook that was there before stays switched off, kept as {}",
                    kept()
                )
            }
        };
        let does = match is_removal {
            true => String::new(),
            false => format!("    ({})", does(report.hook)),
        };
        format!(
            "{}: {}{does}{earlier}\n",
            in_a_word(report.done),
            report.file.display()
        )
    };
    reports.iter().map(line).collect()
}
