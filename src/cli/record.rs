//! `record`: one record from arguments, or many from JSON lines in one write.

use std::io::{BufRead, Read};
use std::process::ExitCode;

use super::context::Context;
use super::failure::{refused, usage};
use super::hook_run;
use crate::ingest::{Heard, Spoken, Writer};
use crate::query::nodes;
use crate::record::Kind;
use crate::render::visible;
use crate::repo::Repo;
use crate::store::{Receipt, Store};
use anyhow::Context as _;

/// A line of standard input has at most so many bytes: a record with a hundred long reasons.
const MOST_LINE: u64 = 2 << 20;
/// All of it has at most so many: what is written in one write is held in memory several times.
const MOST_INPUT: u64 = 64 << 20;
/// And so many records.
const MOST_RECORDS: u64 = 100_000;

/// Remember a decision, finding, assumption, constraint or rejected option.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What was decided, found or turned down, in words
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    text: Option<String>,
    /// What it is
    #[arg(long, default_value = "decision", conflicts_with = "stdin")]
    kind: KindArg,
    /// A path or path::Symbol that it is about; may be given several times
    #[arg(long = "node", value_name = "NODE", conflicts_with = "stdin")]
    nodes: Vec<String>,
    /// Why; may be given several times
    #[arg(long = "reason", value_name = "R", conflicts_with = "stdin")]
    reasons: Vec<String>,
    /// The session that says it
    #[arg(long, value_name = "ID", conflicts_with = "stdin")]
    session: Option<String>,
    /// The task it belongs to
    #[arg(long, value_name = "ID", conflicts_with = "stdin")]
    task: Option<String>,
    /// A record that it replaces; may be given several times
    #[arg(long, value_name = "ID", conflicts_with = "stdin")]
    supersedes: Vec<String>,
    /// Read JSON lines with the keys text, kind, nodes, reasons, session, task, supersedes, time, anchor, key, confidence
    #[arg(long)]
    stdin: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindArg {
    Decision,
    Finding,
    Assumption,
    Constraint,
    Rejected,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Decision => Kind::Decision,
            KindArg::Finding => Kind::Finding,
            KindArg::Assumption => Kind::Assumption,
            KindArg::Constraint => Kind::Constraint,
            KindArg::Rejected => Kind::Rejected,
        }
    }
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let now = context.now()?;
    let bar = context.bar("code graph");
    let progress = |done, all| bar.set(done, all);
    let mut writer = Writer::new(&repo, now, &progress)?;
    let (mut puts, mut recorded) = (Vec::new(), Vec::new());
    match args.stdin {
        true => from_stdin(|line, said| {
            let (put, heard) = writer
                .prepare(said)
                .map_err(|error| usage(format!("line {line}: {error}; nothing was written")))?;
            puts.push(put);
            recorded.push(heard);
            Ok(())
        })?,
        false => {
            let (put, heard) = writer.prepare(from_args(&repo, args)?).map_err(refused)?;
            puts.push(put);
            recorded.push(heard);
        }
    }
    drop(bar);
    let receipts = Store::new(&repo).put(&puts, now)?;
    let mut noted = Vec::new();
    for ((recorded, receipt), put) in recorded.iter_mut().zip(receipts).zip(&puts) {
        recorded.known = receipt == Receipt::Known;
        if !recorded.known {
            noted.extend(put.noted());
        }
    }
    hook_run::note(context, &repo, &noted);
    let mut text = String::new();
    for recorded in &recorded {
        text.push_str(&match context.json {
            true => serde_json::to_string(recorded).context("no JSON form")?,
            false => human(recorded),
        });
        text.push('\n');
    }
    context.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn human(recorded: &Heard) -> String {
    let mut text = match recorded.known {
        true => format!("{}  already known", recorded.id),
        false => recorded.id.to_string(),
    };
    if !recorded.unresolved.is_empty() {
        let names: Vec<_> = recorded
            .unresolved
            .iter()
            .map(|node| visible(node))
            .collect();
        text.push_str(&format!("  not in the code tree: {}", names.join(", ")));
    }
    if !recorded.masked.is_empty() {
        text.push_str(&format!("  masked: {}", recorded.masked.join(", ")));
    }
    text
}

fn from_args(repo: &Repo, args: Args) -> anyhow::Result<Spoken> {
    Ok(Spoken {
        text: args.text.unwrap_or_default(),
        kind: Kind::from(args.kind).as_str().to_owned(),
        nodes: nodes::normal(repo, &args.nodes)?,
        reasons: args.reasons,
        session: args.session.unwrap_or_default(),
        task: args.task.unwrap_or_default(),
        supersedes: args.supersedes,
        ..Spoken::default()
    })
}

/// Hands over the records of standard input one by one, each with the number of its line: never more of the input is held than a line.
fn from_stdin(mut take: impl FnMut(usize, Spoken) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut input = std::io::stdin().lock().take(MOST_INPUT + 1);
    let mut line = Vec::new();
    let (mut bytes, mut records) = (0, 0);
    for number in 1.. {
        line.clear();
        let read = input
            .by_ref()
            .take(MOST_LINE + 1)
            .read_until(b'\n', &mut line);
        let read = read.context("cannot read standard input")? as u64;
        bytes += read;
        if read == 0 {
            break;
        }
        let too_large = |most: u64, what: &str| {
            usage(format!(
                "line {number}: more than {most} {what}, the most that are taken at once; nothing was written"
            ))
        };
        if bytes > MOST_INPUT {
            return Err(too_large(MOST_INPUT, "bytes of input"));
        }
        if read > MOST_LINE {
            return Err(too_large(MOST_LINE, "bytes in one line"));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        records += 1;
        if records > MOST_RECORDS {
            return Err(too_large(MOST_RECORDS, "records"));
        }
        // An array would be read as the values of the keys, in order.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(usage(format!(
                "line {number}: not a JSON object; nothing was written"
            )));
        }
        let said = serde_json::from_slice(line.trim_ascii_end());
        let said =
            said.map_err(|error| usage(format!("line {number}: {error}; nothing was written")))?;
        take(number, said)?;
    }
    Ok(())
}
