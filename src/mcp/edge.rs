//! Lines in and lines out: one JSON-RPC message a line, on standard input and output.
//!
//! In: bytes of any kind. Out: messages for the protocol library, which knows the rest, and an error answer for each line that is no
//! message. The library's own transport drops such lines without a word, gives up on a notification before the handshake, and waits at
//! most five seconds at the end of input; here every request that was read is answered before the end is told. A batch (2025-03-26) is
//! taken apart, and each of its requests answered on a line of its own.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use crate::render::inert_json;

/// Longest line, in bytes, with which a request can still be answered by its id.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// Lines that are read ahead: with the one being read and the one being taken apart three of the longest are held.
const AHEAD: usize = 1;
/// Most values of a line: as a tree each takes up to six hundred bytes, which a line of sixteen megabytes could have eight million of.
const MOST_VALUES: usize = 100_000;
/// Most messages of a batch.
const MOST_BATCH: usize = 1000;
/// While requests of so many bytes are being answered, no more are read.
const MOST_OPEN: usize = 1024 * 1024;
/// The methods of this server that cannot do without parameters.
const WITH_PARAMETERS: [&str; 4] = ["initialize", "tools/call", "prompts/get", "resources/read"];
/// What a request has to say about itself where there was no handshake.
const NEEDED: [&str; 2] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
];

/// A line as it was read.
enum Line {
    Whole(Vec<u8>),
    TooLong,
    /// The input ended before the line did.
    Broken(Vec<u8>),
}

/// What is written, and what is still to be answered.
struct Shared {
    /// Requests that are being answered, with their methods and their sizes.
    waiting: Mutex<HashMap<RequestId, (String, usize)>>,
    answered: Notify,
    /// Whether the library is past the beginning: before it, a notification would end it.
    has_begun: AtomicBool,
    /// Whether it began with a handshake; else each request says for itself who asks.
    has_handshake: AtomicBool,
    /// Whether nobody listens any more.
    is_closed: AtomicBool,
}

impl Shared {
    /// The bytes of all requests that are being answered.
    fn open_bytes(&self) -> usize {
        lock(&self.waiting).values().map(|(_, size)| size).sum()
    }
}

/// Standard input and output as a transport.
pub struct Edge {
    lines: mpsc::Receiver<Line>,
    /// Each with its share of the bytes of its line.
    messages: VecDeque<(Value, usize)>,
    shared: Arc<Shared>,
}

impl Edge {
    /// Begins to read.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new() -> io::Result<Self> {
        let (sender, lines) = mpsc::channel(AHEAD);
        // A thread of its own: it may be stuck in a read when everything else is over.
        std::thread::Builder::new().spawn(move || read(&mut io::stdin().lock(), &sender))?;
        Ok(Self {
            lines,
            messages: VecDeque::new(),
            shared: Arc::new(Shared {
                waiting: Mutex::default(),
                answered: Notify::new(),
                has_begun: AtomicBool::new(false),
                has_handshake: AtomicBool::new(false),
                is_closed: AtomicBool::new(false),
            }),
        })
    }

    /// The next message for the library, if this value is one; else it is answered here.
    fn admit(&mut self, value: Value, size: usize) -> Option<ClientJsonRpcMessage> {
        let Value::Object(fields) = &value else {
            self.refuse(
                None,
                ErrorData::invalid_request("a message is a JSON object", None),
            );
            return None;
        };
        let id: Option<RequestId> = fields
            .get("id")
            .and_then(|id| serde_json::from_value(id.clone()).ok());
        let method = fields
            .get("method")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let meta = fields.get("params").and_then(|params| params.get("_meta"));
        let is_alone = NEEDED
            .iter()
            .all(|key| meta.is_some_and(|meta| meta.get(key).is_some()));
        let message = match serde_json::from_value::<ClientJsonRpcMessage>(value) {
            Ok(message) => message,
            Err(error) => {
                self.refuse(
                    id,
                    ErrorData::invalid_request(
                        format!("no message of this protocol: {error}"),
                        None,
                    ),
                );
                return None;
            }
        };
        let JsonRpcMessage::Request(request) = &message else {
            return self.shared.has_begun.load(SeqCst).then_some(message);
        };
        let id = request.id.clone();
        let method = method.unwrap_or_default();
        if lock(&self.shared.waiting).contains_key(&id) {
            let text = format!("a request with the id {id} is being answered");
            self.refuse(None, ErrorData::invalid_request(text, None));
            return None;
        }
        if let Some(error) = self.fault(&request.request, &method, is_alone) {
            self.refuse(Some(id), error);
            return None;
        }
        lock(&self.shared.waiting).insert(id, (method, size));
        Some(message)
    }

    /// What is wrong with a request that the library would take for another or turn down without saying what helps.
    fn fault(&self, request: &ClientRequest, method: &str, is_alone: bool) -> Option<ErrorData> {
        // Parameters that do not fit make it a method that the library does not know.
        if matches!(request, ClientRequest::CustomRequest(_)) && WITH_PARAMETERS.contains(&method) {
            let text = format!("the parameters of '{method}' are not those that it takes");
            return Some(ErrorData::invalid_params(text, None));
        }
        let has_handshake = self.shared.has_handshake.load(SeqCst);
        if has_handshake || is_alone || matches!(method, "initialize" | "ping") {
            return None;
        }
        let text = format!(
            "'{method}' before the handshake: send 'initialize' first, or give each request the _meta keys {}",
            NEEDED.join(" and ")
        );
        Some(ErrorData::invalid_request(text, None))
    }

    fn refuse(&self, id: Option<RequestId>, error: ErrorData) {
        write(&self.shared, &JsonRpcMessage::error(error, id));
    }

    /// Takes a line apart, or answers that it is none.
    fn parse(&mut self, line: &Line) {
        let (bytes, is_broken) = match line {
            Line::TooLong => {
                let text = format!("a line has at most {MAX_LINE} bytes; this one was skipped");
                self.refuse(None, ErrorData::invalid_request(text, None));
                return;
            }
            Line::Whole(bytes) => (bytes, false),
            Line::Broken(bytes) => (bytes, true),
        };
        let bytes = bytes
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(bytes)
            .trim_ascii();
        if bytes.is_empty() {
            return;
        }
        let count = values(bytes);
        if count > MOST_VALUES {
            let text = format!(
                "a line has at most {MOST_VALUES} values; this one has {count} and was skipped"
            );
            self.refuse(None, ErrorData::invalid_request(text, None));
            return;
        }
        let parsed = match std::str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(text).map_err(|error| format!("no JSON: {error}")),
            Err(error) => Err(format!("not UTF-8: {error}")),
        };
        match parsed {
            Ok(Value::Array(batch)) if batch.len() > MOST_BATCH => {
                let text = format!(
                    "a batch has at most {MOST_BATCH} messages; this one has {} and was skipped",
                    batch.len()
                );
                self.refuse(None, ErrorData::invalid_request(text, None));
            }
            Ok(Value::Array(batch)) if !batch.is_empty() => {
                let share = bytes.len() / batch.len();
                self.messages
                    .extend(batch.into_iter().map(|message| (message, share)));
            }
            Ok(value) => self.messages.push_back((value, bytes.len())),
            Err(why) => {
                let end = if is_broken {
                    "; the input ended in the middle of the line"
                } else {
                    ""
                };
                self.refuse(None, ErrorData::parse_error(format!("{why}{end}"), None));
            }
        }
    }
}

impl Transport<RoleServer> for Edge {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let shared = self.shared.clone();
        async move {
            write(&shared, &message);
            let (id, is_result) = match &message {
                JsonRpcMessage::Response(response) => (Some(&response.id), true),
                JsonRpcMessage::Error(error) => (error.id.as_ref(), false),
                _ => (None, false),
            };
            if let Some((method, _)) = id.and_then(|id| lock(&shared.waiting).remove(id)) {
                let begins = is_result && !matches!(method.as_str(), "ping" | "server/discover");
                shared.has_begun.fetch_or(begins, SeqCst);
                let is_handshake = begins && method == "initialize";
                shared.has_handshake.fetch_or(is_handshake, SeqCst);
                shared.answered.notify_one();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.shared.is_closed.load(SeqCst) {
                return None;
            }
            // Else whoever asks faster than is answered would have everything kept here.
            if self.shared.open_bytes() > MOST_OPEN {
                self.shared.answered.notified().await;
                continue;
            }
            if let Some((value, size)) = self.messages.pop_front() {
                let Some(message) = self.admit(value, size) else {
                    continue;
                };
                if let Some(id) = cancelled(&message) {
                    // The library answers it no more.
                    lock(&self.shared.waiting).remove(&id);
                }
                return Some(message);
            }
            match self.lines.recv().await {
                Some(line) => self.parse(&line),
                None => break,
            }
        }
        while !lock(&self.shared.waiting).is_empty() && !self.shared.is_closed.load(SeqCst) {
            self.shared.answered.notified().await;
        }
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

/// The request that a message cancels.
fn cancelled(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    let JsonRpcMessage::Notification(notification) = message else {
        return None;
    };
    match &notification.notification {
        ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.clone(),
        _ => None,
    }
}

/// Reads lines until the input or the receiver ends.
fn read(input: &mut impl BufRead, sender: &mpsc::Sender<Line>) {
    loop {
        let mut bytes = Vec::new();
        let most = MAX_LINE as u64 + 1;
        let read = input.by_ref().take(most).read_until(b'\n', &mut bytes);
        // Input that cannot be read is at its end.
        let Ok(1..) = read else { return };
        let line = match bytes.last() {
            Some(b'\n') => Line::Whole(bytes),
            _ if bytes.len() > MAX_LINE => {
                drop(bytes);
                if !skip_line(input) {
                    drop(sender.blocking_send(Line::TooLong));
                    return;
                }
                Line::TooLong
            }
            _ => Line::Broken(bytes),
        };
        if sender.blocking_send(line).is_err() {
            return;
        }
    }
}

/// How many values a line of JSON has at most, told by the signs that stand before one, outside of strings.
fn values(line: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (1, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Skips to the next line; false at the end of input.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let Ok(buffer) = input.fill_buf() else {
            return false;
        };
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = buffer.len();
        input.consume(end.map_or(length, |end| end + 1));
        match (end, length) {
            (Some(_), _) => return true,
            (None, 0) => return false,
            (None, _) => {}
        }
    }
}

/// Writes a message as one line. Where nobody listens any more, there is nothing left to answer.
fn write(shared: &Shared, message: &ServerJsonRpcMessage) {
    let Ok(line) = serde_json::to_string(message) else {
        return;
    };
    let mut line = inert_json(&line).into_owned().into_bytes();
    line.push(b'\n');
    let mut out = io::stdout().lock();
    if out.write_all(&line).and_then(|()| out.flush()).is_err() {
        shared.is_closed.store(true, SeqCst);
        shared.answered.notify_one();
    }
}

/// What is held only for a moment, by code that does not panic.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
