//! The command line: one file per command, each an `Args` struct that carries the help text and a `run`.
//!
//! In: arguments, standard input, the environment, the clock. Out: data on standard output, talk on standard error, an exit code.
//! Everything that is known about the memory itself lies in the rooms to the left.

mod ablate;
mod agent;
mod calibrate;
mod completions;
mod context;
mod eval;
mod explain;
mod failure;
mod forget;
mod forget_said;
mod fsck;
mod graph;
mod hook;
mod hook_run;
mod impact;
mod ingest;
mod inject;
mod log;
mod log_lookups;
mod log_others;
mod man;
mod mcp;
mod outcome;
mod outline;
mod policy;
mod prompt;
mod prune;
mod query;
mod quickstart;
mod record;
mod replay;
mod reunion;
mod session;
mod show;
mod status;

use clap::{CommandFactory, Parser, Subcommand};

use context::Context;

pub use failure::{exit_code, guarded};
#[doc(hidden)]
pub use prompt::{probe_answer, probe_call};

/// Decision memory for coding agents, inside Git itself.
///
/// Records of decisions and how they ended are kept in the repository's own object store, under refs/score-local. A look-up reads
/// them together with the code graph of a commit, returns the few that matter for a task, and can be recomputed at any time.
#[derive(Debug, Parser)]
#[command(
    name = "git-score-context",
    bin_name = "git score-context",
    version,
    propagate_version = true
)]
struct Cli {
    #[command(flatten)]
    global: context::Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask what was decided that matters for a task
    Query(query::Args),
    /// Put what was decided before into a planner's prompt
    Inject(inject::Args),
    /// Remember a decision, finding, assumption, constraint or rejected option
    Record(record::Args),
    /// Remember how a task ended
    Outcome(outcome::Args),
    /// Begin a session of work, or show what one has in mind
    Session(session::Args),
    /// Take decisions out of the history of commits
    Ingest(ingest::Args),
    /// List records
    Log(log::Args),
    /// Show one record or look-up
    Show(show::Args),
    /// Remove a record for good, also from stored look-ups
    Forget(forget::Args),
    /// Recompute look-ups from what they pinned, and compare every byte
    Replay(replay::Args),
    /// Show the factors of one look-up
    Explain(explain::Args),
    /// Check that everything stored is there and right
    Fsck(fsck::Args),
    /// Do the whole loop once on this repository
    Quickstart(quickstart::Args),
    /// Show what is stored and what is set up
    Status(status::Args),
    /// Let go what is over its time, and what lies around
    Prune(prune::Args),
    /// Install or remove the Git hooks
    Hook(hook::Args),
    /// Register with the program that runs your agent
    Agent(agent::Args),
    /// Show the code graph of a commit
    Graph(graph::Args),
    /// Show what a change of signatures breaks
    Impact(impact::Args),
    /// Show the parts of the code around what a task is about
    Outline(outline::Args),
    /// Plan tasks twice, with and without what was decided before
    Ablate(ablate::Args),
    /// Find the floor that tells an answer from noise, from labelled pairs
    Calibrate(calibrate::Args),
    /// Measure how well the rules find what they should
    Eval(eval::Args),
    /// Show or check the policy in force
    Policy(policy::Args),
    /// Serve agents over the Model Context Protocol, on standard input and output
    Mcp(mcp::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print or install the man page
    Man(man::Args),
}

/// A call as our hooks make it, `hook run NAME [WORD]...`: a commit waits for it, and need not pay for the description of every command.
fn hook_call(
    mut arguments: impl Iterator<Item = std::ffi::OsString>,
) -> Option<(String, Vec<String>)> {
    let is_hook = arguments.next()? == "hook" && arguments.next()? == "run";
    let words: Option<Vec<String>> = arguments.map(|word| word.into_string().ok()).collect();
    let words = words?;
    let (name, rest) = words.split_first()?;
    // Whatever looks like an option is for the real parser.
    let is_plain = is_hook && !words.iter().any(|word| word.starts_with('-'));
    is_plain.then(|| (name.clone(), rest.to_vec()))
}

/// Parses the arguments and runs the command.
///
/// # Errors
/// Whatever kept the command from its answer; [`exit_code`] turns it into a message and a code.
pub fn run() -> anyhow::Result<std::process::ExitCode> {
    // The process is ours, and so are its signals.
    crate::repo::guard_maps();
    if let Some((name, rest)) = hook_call(std::env::args_os().skip(1)) {
        return match Context::plain() {
            // A commit does not notice; the guard of a push that cannot look lets nothing through.
            Err(_) if name != "pre-push" => Ok(std::process::ExitCode::SUCCESS),
            context => hook_run::run(&context?, &name, &rest),
        };
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version, which are data, or wrong usage.
        Err(told) => {
            if let Err(error) = told.print()
                && !told.use_stderr()
                && error.kind() != std::io::ErrorKind::BrokenPipe
            {
                return Err(anyhow::Error::new(error).context("cannot write to standard output"));
            }
            return Ok(u8::try_from(told.exit_code())
                .unwrap_or(failure::USAGE)
                .into());
        }
    };
    let context = match (Context::new(cli.global), &cli.command) {
        (Ok(context), _) => context,
        // A prompt is never lost or held up, whatever is wrong with where it was asked.
        (Err(error), Command::Inject(args)) => return inject::run(Err(error), args),
        (Err(error), Command::Hook(args)) if args.is_prompt() => {
            return Ok(prompt::give_up(&error));
        }
        (Err(error), _) => return Err(error),
    };
    if cli.command.reads() {
        reunion::automatic(&context);
    }
    if cli.command.reads_all() {
        hook_run::catch_up_quietly(&context);
    }
    if cli.command.writes() {
        hook::remind(&context);
        prune::automatic(&context);
    }
    answer(&context, cli.command)
}

impl Command {
    /// Whether the command shows what the memory holds, so that it has to be whole first.
    fn reads(&self) -> bool {
        !matches!(
            self,
            Command::Hook(_)
                | Command::Agent(_)
                | Command::Graph(_)
                | Command::Impact(_)
                | Command::Outline(_)
                | Command::Inject(_)
                | Command::Policy(_)
                | Command::Eval(_)
                | Command::Mcp(_)
                | Command::Completions(_)
                | Command::Man(_)
        )
    }

    /// Whether the command adds to the memory, so that it does the day's upkeep first. Hooks and prompts never do: they
    /// pay for their own only.
    fn writes(&self) -> bool {
        match self {
            Command::Query(args) => args.is_recorded(),
            Command::Record(_) | Command::Outcome(_) | Command::Session(_) | Command::Ingest(_) => {
                true
            }
            _ => false,
        }
    }
}

impl Command {
    /// Whether the command shows or adds to the memory, so that it first takes in what a hook had no time for. Prompts do not wait for
    /// that.
    fn reads_all(&self) -> bool {
        matches!(
            self,
            Command::Query(_)
                | Command::Record(_)
                | Command::Outcome(_)
                | Command::Session(_)
                | Command::Ingest(_)
                | Command::Log(_)
                | Command::Show(_)
                | Command::Status(_)
        )
    }
}

fn answer(context: &Context, command: Command) -> anyhow::Result<std::process::ExitCode> {
    match command {
        Command::Query(args) => query::run(context, args),
        Command::Inject(args) => inject::run(Ok(context), &args),
        Command::Record(args) => record::run(context, args),
        Command::Outcome(args) => outcome::run(context, args),
        Command::Session(args) => session::run(context, args),
        Command::Ingest(args) => ingest::run(context, args),
        Command::Log(args) => log::run(context, args),
        Command::Show(args) => show::run(context, &args),
        Command::Forget(args) => forget::run(context, &args),
        Command::Replay(args) => replay::run(context, &args),
        Command::Explain(args) => explain::run(context, &args),
        Command::Fsck(args) => fsck::run(context, &args),
        Command::Ablate(args) => ablate::run(context, &args),
        Command::Calibrate(args) => calibrate::run(context, &args),
        Command::Eval(args) => eval::run(context, &args),
        Command::Quickstart(args) => quickstart::run(context, args),
        Command::Status(args) => status::run(context, &args),
        Command::Prune(args) => prune::run(context, &args),
        Command::Hook(args) => hook::run(context, &args),
        Command::Agent(args) => agent::run(context, &args),
        Command::Graph(args) => graph::run(context, &args),
        Command::Impact(args) => impact::run(context, &args),
        Command::Outline(args) => outline::run(context, args),
        Command::Policy(args) => policy::run(context, &args),
        Command::Mcp(args) => mcp::run(context, &args),
        Command::Completions(args) => completions::run(context, &args, Cli::command()),
        Command::Man(args) => man::run(context, &args, Cli::command()),
    }
}
