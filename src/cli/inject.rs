//! `inject`: a planner's prompt in, the same prompt with what was decided before out.
//!
//! Never fails: whatever goes wrong, and whatever takes too long, gives a section that says so little as "none recorded yet", and one
//! JSON line on standard error that says why.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::context::Context;
use crate::query::{Query, ask, block, nodes, policy_of};
use crate::record::Attention;
use crate::render::{NONE_YET, inert_json, task_of, with_section};
use crate::store::view::View;

/// A look-up with a scope takes so many times as many records, since those elsewhere go afterwards.
const SCOPED: u64 = 10;

/// Put what was decided before into a planner's prompt.
///
/// A filter: reads a Markdown prompt, prints it with the section "## Relevant past decisions" after "## Retrieved context" and before
/// "## Constraints"; a section that is there is replaced. Never fails: on any trouble the section says "none recorded yet", and standard
/// error has one line of JSON. A prompt of more than 2 MiB comes out as it is.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What is to be done; without it the prompt's text before the first "## "
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// A path or path::Symbol that the task is about; may be given several times
    #[arg(long = "node", value_name = "NODE")]
    nodes: Vec<String>,
    /// Leave out what is only about other parts of the repository than this one
    #[arg(long, value_name = "PATH")]
    scope: Option<String>,
    /// At most so many bytes of decisions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_chars: Option<u64>,
    /// At most so long, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
}

/// A longer prompt is handed on as it is: more than any model takes, and looking for its headings takes time and memory of its own.
const MOST_PROMPT: u64 = 2 << 20;

/// What is asked for a prompt.
pub(super) struct Request {
    pub task: String,
    pub nodes: Vec<String>,
    pub scope: Option<String>,
    pub most: Option<u64>,
    pub session: Option<String>,
    pub limit: Duration,
}

/// What came of it.
pub(super) struct Found {
    /// The untrusted block; empty where nothing fits.
    pub block: String,
    /// What went wrong, if anything did.
    pub trouble: Option<String>,
}

/// `context` may be none: a folder that is not there is no reason to lose a prompt.
pub(super) fn run(context: anyhow::Result<&Context>, args: &Args) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let mut input = io::stdin().lock();
    let mut prompt = Vec::new();
    let read = input
        .by_ref()
        .take(MOST_PROMPT + 1)
        .read_to_end(&mut prompt);
    if prompt.len() as u64 > MOST_PROMPT {
        return handed_on(&prompt, input, begun);
    }
    let found = match (context, read) {
        (Err(error), _) => trouble(format!("{error:#}")),
        (_, Err(error)) => trouble(format!("cannot read the prompt: {error}")),
        (Ok(context), Ok(_)) => {
            let limit = Duration::try_from_secs_f64(args.timeout).unwrap_or_default();
            let request = Request {
                task: args.task.clone().unwrap_or_else(|| task_of(&prompt)),
                nodes: args.nodes.clone(),
                scope: args.scope.clone(),
                most: args.max_chars,
                session: None,
                limit: limit.saturating_sub(begun.elapsed()),
            };
            find(context, request)
        }
    };
    if let Some(trouble) = &found.trouble {
        trace("inject", trouble, begun);
    }
    let body = match found.block.is_empty() {
        true => NONE_YET,
        false => &found.block,
    };
    let mut out = io::stdout().lock();
    let written = out.write_all(&with_section(&prompt, body));
    match written.and_then(|()| out.flush()) {
        // A reader that has seen enough is no trouble.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            trace(
                "inject",
                &format!("cannot print the prompt: {error}"),
                begun,
            );
        }
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A prompt that is too long comes out as it went in, without ever being held whole.
fn handed_on(start: &[u8], mut rest: impl Read, begun: Instant) -> anyhow::Result<ExitCode> {
    let why = format!(
        "the prompt has more than {MOST_PROMPT} bytes, so it was handed on as it is, without a section"
    );
    trace("inject", &why, begun);
    let mut out = io::stdout().lock();
    out.write_all(start)?;
    io::copy(&mut rest, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Asks in a thread of its own, and waits no longer than the limit.
pub(super) fn find(context: &Context, request: Request) -> Found {
    let limit = request.limit;
    let (send, receive) = mpsc::channel();
    let asking = context.clone();
    let started = std::thread::Builder::new().spawn(move || {
        // Nobody may be waiting any more.
        drop(send.send(look_up(&asking, request)));
    });
    if let Err(error) = started {
        return trouble(format!("no thread: {error}"));
    }
    match receive.recv_timeout(limit) {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => trouble(format!("{error:#}")),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            trouble(format!("no answer within {:.1} s", limit.as_secs_f64()))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => trouble("the look-up broke off".to_owned()),
    }
}

fn trouble(why: String) -> Found {
    Found {
        block: String::new(),
        trouble: Some(why),
    }
}

/// One line of JSON on standard error.
pub(super) fn trace(event: &str, trouble: &str, begun: Instant) {
    let line = serde_json::json!({
        "event": event,
        "degraded": trouble,
        "elapsed_ms": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    });
    // Standard error may be closed.
    drop(writeln!(io::stderr(), "{}", inert_json(&line.to_string())));
}

fn look_up(context: &Context, request: Request) -> anyhow::Result<Found> {
    let repo = context.repo()?;
    if request.task.trim().is_empty() {
        anyhow::bail!("the prompt has no text to look up");
    }
    let mut query = Query::new(request.task, nodes::normal(&repo, &request.nodes)?);
    query.session = request.session;
    let scope = match &request.scope {
        Some(path) => nodes::normal(&repo, std::slice::from_ref(path))?.pop(),
        None => None,
    };
    let head = repo.head()?.commit;
    let tree = head.map_or_else(|| Ok(repo.empty_tree()), |commit| repo.tree_of(commit))?;
    let mut policy = policy_of(&repo, tree)?;
    if let Some(most) = request.most {
        policy.max_prior_total_chars = policy.max_prior_total_chars.min(most);
    }
    let top_k = policy.top_k;
    if let Some(scope) = &scope {
        // Both are inputs of the look-up, so it is replayed as it was asked; what lies elsewhere goes only from what is shown.
        if query.nodes.is_empty() {
            query.nodes.push(scope.clone());
        }
        policy.top_k = top_k.saturating_mul(SCOPED);
    }
    query.policy = Some(policy);
    let answer = ask(&repo, &query, context.now()?, &|_, _| {})?;
    let mut attention = answer.attention;
    if let Some(scope) = &scope {
        narrow(&mut attention, &answer.view, scope, top_k);
    }
    Ok(Found {
        block: block(&attention, &answer.view),
        trouble: answer
            .unwritten
            .map(|why| format!("the look-up was not recorded: {why}")),
    })
}

/// Leaves out what is about other parts of the repository alone. What is about no part in particular stays.
fn narrow(attention: &mut Attention, view: &View, scope: &str, top_k: u64) {
    let lies_in = |node: &String| {
        let path = node.split("::").next().unwrap_or(node);
        scope == "."
            || path == scope
            || path
                .strip_prefix(scope)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    let is_kept = |nodes: &[String]| nodes.is_empty() || nodes.iter().any(lies_in);
    attention.result.items.retain(|item| {
        let moved = item.ground.iter().filter_map(|ground| ground.now.clone());
        let moved: Vec<String> = moved.collect();
        let prior = view.prior(item.id);
        prior.is_some_and(|prior| is_kept(&prior.nodes)) || !moved.is_empty() && is_kept(&moved)
    });
    let most = usize::try_from(top_k).unwrap_or(usize::MAX);
    attention.result.items.truncate(most);
}
