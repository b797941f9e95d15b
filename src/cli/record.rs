//! `record`: one record from arguments, or many from JSON lines in one write.

use std::io::Read;
use std::process::ExitCode;

use super::context::Context;
use super::failure::{refused, usage};
use super::hook_run;
use crate::ingest::{Heard, Spoken, Writer};
use crate::query::nodes;
use crate::record::Kind;
use crate::render::visible;
use crate::repo::Repo;
use crate::store::{Put, Receipt, Store};
use anyhow::Context as _;

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
    let inputs = match args.stdin {
        true => from_stdin()?,
        false => vec![from_args(&repo, args)?],
    };
    let now = context.now()?;
    let bar = context.bar("code graph");
    let progress = |done, all| bar.set(done, all);
    let mut writer = Writer::new(&repo, now, &progress)?;
    let mut prepared = Vec::with_capacity(inputs.len());
    for (line, input) in inputs {
        let one = writer.prepare(input);
        prepared.push(one.map_err(|error| match line {
            Some(line) => usage(format!("line {line}: {error}; nothing was written")),
            None => refused(error),
        })?);
    }
    drop(bar);
    let (puts, mut recorded): (Vec<Put>, Vec<Heard>) = prepared.into_iter().unzip();
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

type Numbered = (Option<usize>, Spoken);

fn from_args(repo: &Repo, args: Args) -> anyhow::Result<Numbered> {
    let input = Spoken {
        text: args.text.unwrap_or_default(),
        kind: Kind::from(args.kind).as_str().to_owned(),
        nodes: nodes::normal(repo, &args.nodes)?,
        reasons: args.reasons,
        session: args.session.unwrap_or_default(),
        task: args.task.unwrap_or_default(),
        supersedes: args.supersedes,
        ..Spoken::default()
    };
    Ok((None, input))
}

fn from_stdin() -> anyhow::Result<Vec<Numbered>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.context("cannot read standard input")?;
    let mut inputs = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        // An array would be read as the values of the keys, in order.
        if line.trim_ascii_start().first() != Some(&b'{') {
            let number = number + 1;
            return Err(usage(format!(
                "line {number}: not a JSON object; nothing was written"
            )));
        }
        let input = serde_json::from_slice(line);
        let input = input
            .map_err(|error| usage(format!("line {}: {error}; nothing was written", number + 1)))?;
        inputs.push((Some(number + 1), input));
    }
    Ok(inputs)
}
