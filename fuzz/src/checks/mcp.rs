//! Lines for the MCP server, and what it said to them. The server itself is run by whoever calls this.

use std::collections::BTreeMap;

use serde_json::Value;

/// Most bytes of one answer: text and data of at most 40,000 each, and room for what JSON adds.
const MOST_ANSWER: usize = 256 << 10;

/// The handshake, whose answer has this id.
pub const HANDSHAKE: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"the handshake\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\
    \"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"fuzz\",\"version\":\"1\"}}}\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// The input as one line.
pub fn line_of(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .map(|byte| if *byte == b'\n' { b' ' } else { *byte })
        .collect()
}

/// Every message has at most one answer, with its id or none; every answer is one bounded line. `said` is all that the server said to
/// these lines, after the answer to the handshake.
pub fn check<'a>(lines: impl Iterator<Item = &'a [u8]>, said: &str) {
    // How many answers each id may have, and how many may have none.
    let (mut of, mut nameless) = (BTreeMap::<String, usize>::new(), 0);
    for line in lines {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let messages = match serde_json::from_slice::<Value>(line) {
            Ok(Value::Array(batch)) if !batch.is_empty() => batch,
            Ok(value) => vec![value],
            Err(_) => vec![Value::Null],
        };
        for message in messages {
            // One that is refused may be answered without its id.
            nameless += 1;
            if let Some(id) = message.get("id") {
                *of.entry(id.to_string()).or_default() += 1;
            }
        }
    }
    let mut answers = 0;
    for answer in said.lines() {
        assert!(
            answer.len() <= MOST_ANSWER,
            "an answer of {} bytes",
            answer.len()
        );
        let answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(
            answer.get("result").is_some() != answer.get("error").is_some(),
            "{answer}"
        );
        answers += 1;
        if let Some(id) = answer.get("id").filter(|id| !id.is_null()) {
            let left = of.get_mut(&id.to_string()).filter(|left| **left > 0);
            *left.unwrap_or_else(|| panic!("nobody asked, or it was answered before: {answer}")) -=
                1;
        }
    }
    assert!(
        answers <= nameless,
        "{answers} answers to {nameless} messages"
    );
}
