//! What every command needs: the repository, the clock, the terminal, and the options that hold for all.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::record::Time;
use crate::render::{inert_json, visible};
use crate::repo::Repo;

/// The options that hold for every command.
#[derive(Debug, clap::Args)]
pub(super) struct Global {
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    directory: Option<PathBuf>,
    /// Print JSON: one document, or a line each for a list
    #[arg(long, global = true)]
    json: bool,
    /// When to colour the output
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: clap::ColorChoice,
    /// Say nothing but the answer
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    verbose: bool,
}

/// What every command gets.
#[derive(Clone)]
pub(super) struct Context {
    directory: PathBuf,
    git_dir: Option<PathBuf>,
    /// Whether the answer is JSON.
    pub json: bool,
    /// Whether to say nothing but the answer.
    pub quiet: bool,
    /// Whether to say more.
    pub verbose: bool,
    color: bool,
    /// A repository that was opened and is not needed any more.
    opened: Arc<Mutex<Option<Repo>>>,
}

impl Context {
    /// Without any option.
    pub(super) fn plain() -> anyhow::Result<Self> {
        Self::new(Global {
            directory: None,
            json: false,
            color: clap::ColorChoice::Auto,
            quiet: false,
            verbose: false,
        })
    }

    pub(super) fn new(global: Global) -> anyhow::Result<Self> {
        let current = std::env::current_dir().context("cannot tell the current directory")?;
        let git_dir = std::env::var_os("GIT_DIR").filter(|value| !value.is_empty());
        let git_dir = git_dir.map(|value| current.join(value));
        // As Git: an empty directory is where one stands.
        let named = global
            .directory
            .as_ref()
            .filter(|name| !name.as_os_str().is_empty());
        let directory = named.map_or_else(|| current.clone(), |name| current.join(name));
        if !directory.is_dir() {
            bail!(
                "cannot change to '{}': no such directory",
                directory.display()
            );
        }
        let color = match global.color {
            clap::ColorChoice::Always => true,
            clap::ColorChoice::Never => false,
            clap::ColorChoice::Auto => {
                io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        let context = Self {
            directory,
            git_dir,
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            color,
            opened: Arc::default(),
        };
        if named.is_some() {
            context.check_git_dir()?;
        }
        Ok(context)
    }

    /// `-C` names one repository and `GIT_DIR`, which Git would obey, another: nobody can tell which was meant.
    fn check_git_dir(&self) -> anyhow::Result<()> {
        let Some(git_dir) = &self.git_dir else {
            return Ok(());
        };
        let found = match Repo::open(&self.directory, None) {
            Ok(found) => found,
            Err(error) => return Ok(error.damage().map(drop)?),
        };
        let same = |path: &Path| path.canonicalize().ok();
        if same(found.git_dir()) != same(git_dir) {
            bail!(
                "-C names the repository of '{}', but the environment variable GIT_DIR names '{}'\nhint: unset GIT_DIR, or leave -C out",
                self.directory.display(),
                git_dir.display()
            );
        }
        Ok(())
    }

    /// The repository of the directory, or the one that `GIT_DIR` names.
    pub(super) fn repo(&self) -> anyhow::Result<Repo> {
        let opened = self.opened.lock().ok().and_then(|mut kept| kept.take());
        match opened {
            Some(repo) => Ok(repo),
            None => Ok(Repo::open(&self.directory, self.git_dir.as_deref())?),
        }
    }

    /// Keeps a repository for the next one who asks for it: opening one is a good part of a short command.
    pub(super) fn give_back(&self, repo: Repo) {
        if let Ok(mut kept) = self.opened.lock() {
            *kept = Some(repo);
        }
    }

    /// The same, standing in another directory.
    pub(super) fn in_directory(&self, directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            opened: Arc::default(),
            ..self.clone()
        }
    }

    /// Where the command runs.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The repository that the environment names, if it does.
    pub(super) fn git_dir(&self) -> Option<&Path> {
        self.git_dir.as_deref()
    }

    /// The clock.
    pub(super) fn now(&self) -> anyhow::Result<Time> {
        clock()
    }

    /// Talk: what helps a person and no program reads.
    pub(super) fn say(&self, text: impl AsRef<str>) {
        if !self.quiet {
            // A closed standard error is no reason to stop.
            drop(writeln!(io::stderr(), "{}", told(text.as_ref())));
        }
    }

    /// A warning; also shown when quiet.
    pub(super) fn warn(&self, text: impl AsRef<str>) {
        drop(writeln!(io::stderr(), "warning: {}", told(text.as_ref())));
    }

    /// Prints data. A closed pipe comes back as an error and ends the command without a word.
    ///
    /// The one place through which `--json` goes: whatever a command prints then is JSON, and nothing hidden leaves as it is.
    pub(super) fn print(&self, text: &str) -> anyhow::Result<()> {
        let text = match self.json {
            true => inert_json(text),
            false => Cow::Borrowed(text),
        };
        self.print_as_is(&text)
    }

    /// Prints one line of JSON, whether or not JSON was asked for.
    pub(super) fn print_line_of_json(&self, text: &str) -> anyhow::Result<()> {
        self.print_as_is(&inert_json(text))
    }

    fn print_as_is(&self, text: &str) -> anyhow::Result<()> {
        let print = || {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            if !text.ends_with('\n') && !text.is_empty() {
                out.write_all(b"\n")?;
            }
            out.flush()
        };
        match print() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("cannot write to standard output")
            }
            printed => Ok(printed?),
        }
    }

    /// Prints a value as one line of JSON.
    pub(super) fn print_json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        self.print(&serde_json::to_string(value).context("no JSON form")?)
    }

    /// Whether text that a person reads is to be cut to a line.
    pub(super) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Text to be seen first.
    pub(super) fn bold(&self, text: &str) -> String {
        self.styled(text, "1")
    }

    /// Text to be seen last.
    pub(super) fn dim(&self, text: &str) -> String {
        self.styled(text, "2")
    }

    fn styled(&self, text: &str, code: &str) -> String {
        match self.color {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// A bar on a terminal, nothing elsewhere.
    pub(super) fn bar(&self, what: &'static str) -> Bar {
        let target = match self.quiet {
            true => ProgressDrawTarget::hidden(),
            // Hidden by itself when standard error is no terminal.
            false => ProgressDrawTarget::stderr(),
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
        bar.set_style(style.expect("the template is valid").progress_chars("=> "));
        bar.set_message(what);
        Bar(bar)
    }
}

/// Talk as a terminal may show it: names and texts of others stand in it.
pub(super) fn told(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

/// The clock. `SCORE_CONTEXT_NOW` (RFC 3339) stands in for it, so that a test can say when something happened.
pub(super) fn clock() -> anyhow::Result<Time> {
    let time = match std::env::var("SCORE_CONTEXT_NOW") {
        Ok(text) => text
            .parse()
            .with_context(|| format!("SCORE_CONTEXT_NOW: '{text}'"))?,
        Err(_) => since_1970(SystemTime::now()),
    };
    plausible(time)
}

/// The seconds of a clock, whatever it says: one that leads beyond the end of all numbers says the last one.
fn since_1970(clock: SystemTime) -> Time {
    let seconds = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    Time(match clock.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => seconds(after),
        Err(before) => -seconds(before.duration()).max(1),
    })
}

/// Days are told apart by their names, and no clock that runs shows a time before that of clocks.
fn plausible(time: Time) -> anyhow::Result<Time> {
    let hint = "hint: set the clock of this machine (nothing was written or deleted)";
    if time < Time(0) {
        bail!("the clock is before 1970 ({time})\n{hint}");
    }
    if time > Time::LAST {
        bail!("the clock is beyond the year 9999\n{hint}");
    }
    Ok(time)
}

/// A progress bar that goes away when dropped.
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// So many of so many are done.
    pub(super) fn set(&self, done: usize, all: usize) {
        self.0.set_length(all as u64);
        self.0.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_is_a_panic() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let last = u64::try_from(Time::LAST.0).expect("after 1970");
        for (seconds, is_right) in [
            (0, true),
            (last, true),
            (last + 1, false),
            (253_402_300_800, false),
            (i64::MAX as u64 - 1, false),
        ] {
            let time = at(seconds).map(|clock| plausible(since_1970(clock)));
            assert_eq!(time.is_some_and(|time| time.is_ok()), is_right, "{seconds}");
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(1);
        let error = plausible(since_1970(before)).expect_err("before 1970");
        assert!(error.to_string().contains("before 1970"));
    }
}
