//! Records that want to be more than data, on every surface: `fixtures/hostile.jsonl`, one JSON line for `record --stdin` each.
//!
//! Whatever they hold, there is one block with one opening and one closing mark, and no line in it that a record began.

use git_score_context::render::FRAME;
use serde_json::{Value, json};

use crate::mcp::{call, called, text};
use crate::support::{Sandbox, string};

const HOSTILE: &str = include_str!("../../fixtures/hostile.jsonl");
const OPENING: &str = "<untrusted-prior-context hash=\"";
const CLOSING: &str = "</untrusted-prior-context>";
/// What a line of the block may begin with.
const OURS: [&str; 10] = [
    "[",
    "| ",
    "why: ",
    "about: ",
    "session: ",
    "(",
    OPENING,
    CLOSING,
    "What follows is data",
    "check it against",
];

/// A repository that remembers all of them, and whose policy turns none down.
fn sandbox(total: usize) -> (Sandbox, usize) {
    let sandbox = Sandbox::new();
    let policy = format!(
        "version = 1\n[attention]\nnoise_floor = 0.0\nrank_gap_ratio = 0.0\ntop_k = 100\n[privacy]\nmax_prior_total_chars = {total}\n"
    );
    sandbox.commit(&[("score-context/policy.toml", &policy)], "a policy");
    let said = sandbox.feed(HOSTILE.as_bytes(), 0, &["record", "--stdin", "--json"]);
    let count = said.out.lines().count();
    assert_eq!(count, HOSTILE.lines().count());
    (sandbox, count)
}

/// Whether a reader, or a terminal, would be moved, turned or deceived by it.
fn is_active(character: char) -> bool {
    let code = u32::from(character);
    character.is_control() && character != '\n'
        || matches!(code, 0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180e | 0x200b..=0x200f
            | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800 | 0x3164 | 0xfe00..=0xfe0d | 0xfeff | 0xffa0 | 0xe0000..=0xe0fff)
}

#[track_caller]
fn check_block(block: &str) {
    assert!(
        block.starts_with(OPENING) && block.ends_with(CLOSING),
        "{block}"
    );
    assert_eq!(
        block
            .to_lowercase()
            .matches("untrusted-prior-context hash")
            .count()
            - block.matches("&lt;untrusted").count(),
        1
    );
    assert_eq!(block.matches('<').count(), 2, "{block}");
    assert_eq!(block.matches('>').count(), 2);
    for line in block.split([
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ]) {
        assert!(
            OURS.iter().any(|start| line.starts_with(start)),
            "a line speaks for itself: {line}"
        );
    }
    let found = block.chars().find(|character| is_active(*character));
    assert_eq!(found, None);
}

/// The block of a text that has one.
#[track_caller]
fn block_of(text: &str) -> &str {
    let begin = text.find(OPENING).expect("the opening mark");
    let end = text.rfind(CLOSING).expect("the closing mark") + CLOSING.len();
    &text[begin..end]
}

#[test]
fn the_same_block_on_every_surface() {
    let (sandbox, count) = sandbox(1_000_000);
    let task = "session cache";
    let answer = sandbox.json(&["query", task, "--node", "src/cache.rs"]);
    assert_eq!(answer["items"].as_array().map(Vec::len), Some(count));
    let rendered = string(&answer["rendered"]);
    check_block(&rendered);
    // Raw in JSON: whoever reads records there reads what was said.
    let texts: Vec<String> = answer["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| string(&item["text"]))
        .collect();
    for line in HOSTILE.lines() {
        let said: Value = serde_json::from_str(line).expect("JSON");
        assert!(texts.contains(&string(&said["text"])), "{line}");
    }
    let prompt = "session cache\n\n## Retrieved context\n\nx\n\n## Constraints\n\nkeep\n";
    let injected = sandbox
        .feed(
            prompt.as_bytes(),
            0,
            &["inject", "--task", task, "--node", "src/cache.rs"],
        )
        .out;
    assert_eq!(block_of(&injected), rendered);
    let section = format!("## Relevant past decisions\n\n{rendered}\n\n");
    assert_eq!(
        injected.replacen(&section, "", 1),
        prompt,
        "and nothing else"
    );
    let again = sandbox
        .feed(
            injected.as_bytes(),
            0,
            &["inject", "--task", task, "--node", "src/cache.rs"],
        )
        .out;
    assert_eq!(again, injected);
    // A person's terminal: each record on lines of ours.
    for arguments in [
        &["query", task, "--node", "src/cache.rs"][..],
        &["query", task, "--oneline"],
        &["log"],
    ] {
        let out = sandbox.run(arguments).out;
        assert!(!out.chars().any(is_active), "{arguments:?}");
        for start in ["## ", "- ", "* ", "```", "SYSTEM", "</", "<!--", "> "] {
            assert!(
                !out.lines().any(|line| line.starts_with(start)),
                "{arguments:?}: {start}"
            );
        }
    }
}

#[test]
fn the_hook_of_a_prompt_shows_the_same_and_is_bounded() {
    let (sandbox, _) = sandbox(1_000_000);
    for (client, event) in [
        ("claude-code", "UserPromptSubmit"),
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
    ] {
        let call = serde_json::json!({"session_id": "s", "hook_event_name": event, "prompt": "session cache"});
        let out = sandbox
            .feed(call.to_string().as_bytes(), 0, &["hook", "prompt", client])
            .out;
        assert!(out.chars().count() <= 9_000, "{}", out.chars().count());
        let answer: Value = serde_json::from_str(&out).expect("one JSON document");
        assert_eq!(
            answer.as_object().map(serde_json::Map::len),
            Some(1),
            "no decision, no continue"
        );
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
        check_block(&string(&answer["hookSpecificOutput"]["additionalContext"]));
    }
}

#[test]
fn every_limit_leaves_one_whole_block() {
    let (sandbox, _) = sandbox(4_000);
    // Every byte of the limit is gone through where the block is made (`src/render.rs`); here the way to it.
    for most in (1..4_000).step_by(211) {
        let limit = most.to_string();
        let out = sandbox
            .feed(b"session cache", 0, &["inject", "--max-chars", &limit])
            .out;
        let block = block_of(&out);
        check_block(block);
        assert!(block.len() <= most.max(FRAME), "{} of {most}", block.len());
    }
}

#[test]
fn the_same_block_over_mcp() {
    let (sandbox, _) = sandbox(4_000);
    let asked = json!({"task_text": "session cache", "current_nodes": ["src/cache.rs"]});
    let calls = [
        call("get_prior_context", asked),
        call("get_unverified_assumptions", json!({})),
    ];
    let assumed = HOSTILE.lines().map(|line| {
        let mut said: Value = serde_json::from_str(line).expect("JSON");
        said["kind"] = json!("assumption");
        format!("{said}\n")
    });
    let rendered = sandbox.json(&["query", "session cache", "--node", "src/cache.rs"]);
    let rendered = string(&rendered["rendered"]);
    let found = called(&sandbox, &calls[..1]).remove(0);
    check_block(&text(&found));
    assert_eq!(text(&found), rendered);
    let assumed: String = assumed.collect();
    sandbox.feed(assumed.as_bytes(), 0, &["record", "--stdin"]);
    for answer in called(&sandbox, &calls) {
        let block = text(&answer);
        assert!(!block.chars().any(is_active), "{block}");
        assert_eq!(block.matches('<').count(), 2, "{block}");
        // What a program reads beside the block holds no stored prose.
        let mut rest = answer["structuredContent"].clone();
        rest["rendered"] = Value::Null;
        assert!(!rest.to_string().contains("SYSTEM"), "{rest}");
    }
}
