//! `hook prompt`: what an agent's own program calls before a prompt goes to the model.
//!
//! In: that program's JSON on standard input. Out: what was decided before, in the form it takes, at most 9,000 characters; nothing
//! where there is nothing, or where this session has been told the same already. Exit 0 always: some programs take any other code for
//! a refusal of the prompt.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::context::Context;
use super::inject::{Request, find, trace};
use crate::hook::Client;
use crate::id::RecordId;
use crate::repo::{Access, Folder, read_within};

/// So long a prompt waits.
const LIMIT: Duration = Duration::from_secs(5);
/// More is cut or put into a file by the programs that call.
const MOST_OUTPUT: usize = 9_000;
/// A block of so many bytes stays within that: JSON writes at most two characters for each of ours.
const MOST_BLOCK: u64 = 4_400;
/// More than this is no prompt; what a tool has answered stands in it too.
const MOST_INPUT: u64 = 8 * 1024 * 1024;
/// More than this was never kept of a session.
const MOST_KEPT: u64 = 1024 * 1024;
/// Of a prompt so much is looked up.
const MOST_TASK: usize = 16 * 1024;
/// What was told to a session is forgotten after so long.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Answers one call. A client that is not known, or anything but one word, gets nothing: an option that is not understood may have
/// named another repository.
pub(super) fn run(context: &Context, words: &[String]) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let client = match words {
        [client] => Client::of(client),
        _ => None,
    };
    match client {
        None => trace("hook prompt", "no client of this name is known", begun),
        Some(client) => match answer(context, client, begun) {
            Ok(Some(text)) => {
                // A closed pipe is nothing to be told.
                let is_closed = |error: &anyhow::Error| {
                    let error = error.downcast_ref::<std::io::Error>();
                    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
                };
                if let Err(error) = context.print_line_of_json(&text)
                    && !is_closed(&error)
                {
                    trace("hook prompt", &format!("{error:#}"), begun);
                }
            }
            Ok(None) => {}
            Err(error) => trace("hook prompt", &format!("{error:#}"), begun),
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// The answer where there is not even a place to ask in.
pub(super) fn give_up(error: &anyhow::Error) -> ExitCode {
    trace("hook prompt", &format!("{error:#}"), Instant::now());
    ExitCode::SUCCESS
}

/// What a call says.
struct Call {
    prompt: String,
    session: Option<String>,
    directory: Option<PathBuf>,
    /// Whether a prompt is about to be sent, or a tool has just been used.
    is_prompt: bool,
}

/// What is read of the JSON of any program. Everything else in it is passed over without being kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    prompt: Text,
    session_id: Text,
    #[serde(rename = "sessionId")]
    session_id_too: Text,
    conversation_id: Text,
    cwd: Text,
    workspace_roots: First,
    hook_event_name: Text,
    #[serde(rename = "hookEventName")]
    hook_event_name_too: Text,
}

/// A text, or nothing where something else stands.
#[derive(Default)]
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient).map(Self)
    }
}

/// The first text of a list.
#[derive(Default)]
struct First(Option<String>);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient).map(Self)
    }
}

/// Takes a text, or the first member of a list if that is one, and passes over anything else without keeping it.
struct Lenient;

impl<'de> Visitor<'de> for Lenient {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let first: Option<Text> = list.next_element()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first.and_then(|first| first.0))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

fn read() -> anyhow::Result<Call> {
    let bytes = read_within(std::io::stdin().lock(), MOST_INPUT)?;
    let bytes = bytes.map_err(|too_large| anyhow::anyhow!("the input: {too_large}"))?;
    Ok(parse(&bytes)?)
}

fn parse(text: &[u8]) -> serde_json::Result<Call> {
    let said: Said = serde_json::from_slice(text)?;
    let event = said.hook_event_name.0.or(said.hook_event_name_too.0);
    let session = said.session_id.0.or(said.session_id_too.0);
    Ok(Call {
        prompt: beginning(said.prompt.0.unwrap_or_default()),
        session: session.or(said.conversation_id.0),
        directory: said.cwd.0.or(said.workspace_roots.0).map(PathBuf::from),
        is_prompt: !event
            .unwrap_or_default()
            .eq_ignore_ascii_case("PostToolUse"),
    })
}

/// A task is told by its beginning; more would only be cut to words.
fn beginning(mut prompt: String) -> String {
    let mut end = prompt.len().min(MOST_TASK);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    prompt.truncate(end);
    prompt
}

fn answer(context: &Context, client: Client, begun: Instant) -> anyhow::Result<Option<String>> {
    let call = read()?;
    let context = match &call.directory {
        Some(directory) if directory.is_dir() => context.in_directory(directory),
        _ => context.clone(),
    };
    let folder = context.repo()?.cache().below("prompts");
    let place = call.session.as_ref().map(|session| {
        let name = RecordId::of(format!("{}\0{session}", client.name()).as_bytes());
        name.short()
    });
    if !call.is_prompt {
        return Ok(place.and_then(|place| handed_over(client, &folder, &place)));
    }
    // A command of the program itself asks for nothing.
    if call.prompt.trim().is_empty() || call.prompt.trim_start().starts_with('/') {
        return Ok(None);
    }
    let found = find(
        &context,
        Request {
            task: call.prompt,
            nodes: Vec::new(),
            scope: None,
            most: Some(MOST_BLOCK),
            session: None,
            limit: LIMIT.saturating_sub(begun.elapsed()),
        },
    );
    if let Some(trouble) = &found.trouble {
        trace("hook prompt", trouble, begun);
    }
    if found.block.is_empty() {
        return Ok(None);
    }
    let told = RecordId::of(found.block.as_bytes()).to_string();
    if let Some(place) = &place {
        let before = kept(&folder, place).unwrap_or_default();
        if before.lines().next() == Some(&told) {
            return Ok(None);
        }
        let waiting = if waits(client) { &*found.block } else { "" };
        keep(&folder, place, &format!("{told}\n{waiting}"));
    }
    Ok(said(client, &found.block, true))
}

/// Whether the program takes nothing for the model before the prompt, so that it is told after the first use of a tool.
fn waits(client: Client) -> bool {
    matches!(client, Client::VsCode | Client::Cursor)
}

/// What is asked for by a call, before it is asked; none where it is no JSON. For the fuzz targets; no part of the interface.
#[doc(hidden)]
pub fn probe_call(text: &[u8]) -> Option<(String, bool)> {
    let call = parse(text).ok()?;
    Some((call.prompt, call.is_prompt))
}

/// The answer with a block, before a prompt or after a tool. For the fuzz targets; no part of the interface.
#[doc(hidden)]
pub fn probe_answer(client: Client, block: &str, is_prompt: bool) -> Option<String> {
    said(client, block, is_prompt)
}

/// What waits for a session, once.
fn handed_over(client: Client, folder: &Folder, place: &str) -> Option<String> {
    let kept = kept(folder, place)?;
    let (told, block) = kept.split_once('\n')?;
    if block.is_empty() {
        return None;
    }
    keep(folder, place, &format!("{told}\n"));
    said(client, block, false)
}

/// The block in the form that the program takes; none where it takes none now, or where it would be too long.
fn said(client: Client, block: &str, is_prompt: bool) -> Option<String> {
    let event = match (client, is_prompt) {
        (Client::ClaudeCode | Client::Codex, true) => "UserPromptSubmit",
        (Client::Gemini, true) => "BeforeAgent",
        (Client::VsCode, false) => "PostToolUse",
        (Client::Cursor, false) => {
            let text = json!({"additional_context": block}).to_string();
            return Some(text).filter(|text| text.chars().count() < MOST_OUTPUT);
        }
        _ => return None,
    };
    let output = json!({"hookEventName": event, "additionalContext": block});
    let text = json!({"hookSpecificOutput": output}).to_string();
    Some(text).filter(|text| text.chars().count() < MOST_OUTPUT)
}

/// What is kept of a session.
fn kept(folder: &Folder, place: &str) -> Option<String> {
    String::from_utf8(folder.read(place, MOST_KEPT).ok()??).ok()
}

/// Keeps what a session was told, and forgets what is old. Where that cannot be written, a block comes twice.
fn keep(folder: &Folder, place: &str, text: &str) {
    for file in folder.list().unwrap_or_default() {
        if file.age().is_some_and(|age| age > KEPT) {
            drop(folder.remove(&file.name));
        }
    }
    drop(folder.replace(place, text.as_bytes(), Access::Usual));
}
