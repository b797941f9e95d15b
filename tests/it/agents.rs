//! The programs that run agents: the hook they call before a prompt, and their settings files, written, written again, and undone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Said, Sandbox, string};

const CLIENTS: [&str; 5] = ["claude-code", "codex", "vscode", "cursor", "gemini"];

#[track_caller]
fn call(sandbox: &Sandbox, client: &str, call: &Value) -> Said {
    sandbox.feed(call.to_string().as_bytes(), 0, &["hook", "prompt", client])
}

fn prompt(session: &str, event: &str, text: &str) -> Value {
    json!({"session_id": session, "hook_event_name": event, "prompt": text})
}

fn remembering() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.record("the session cache lives on disk", &["src/cache.rs"]);
    sandbox
}

#[test]
fn a_prompt_is_told_what_was_decided_once_a_session() {
    let sandbox = remembering();
    let event = "UserPromptSubmit";
    let first = call(
        &sandbox,
        "claude-code",
        &prompt("s1", event, "change the session cache"),
    );
    let answer: Value = serde_json::from_str(&first.out).expect("JSON");
    let block = string(&answer["hookSpecificOutput"]["additionalContext"]);
    assert!(
        block.contains("| the session cache lives on disk\n"),
        "{block}"
    );
    assert_eq!(first.err, "");
    let again = call(
        &sandbox,
        "claude-code",
        &prompt("s1", event, "change the session cache more"),
    );
    assert_eq!(again.out, "", "the same block within a session");
    let other = call(
        &sandbox,
        "claude-code",
        &prompt("s2", event, "change the session cache"),
    );
    assert_eq!(other.out, first.out, "another session is told");
    sandbox.record("the session cache is 4 MB", &["src/cache.rs"]);
    let changed = call(
        &sandbox,
        "claude-code",
        &prompt("s1", event, "change the session cache"),
    );
    assert!(changed.out.contains("4 MB"), "what changed is told");
    let anonymous = json!({"prompt": "change the session cache"});
    assert_ne!(
        call(&sandbox, "codex", &anonymous).out,
        "",
        "without a session it is told each time"
    );
}

#[test]
fn programs_that_take_nothing_before_the_prompt_are_told_after_the_first_tool() {
    let sandbox = remembering();
    for (client, before, after) in [
        ("vscode", "UserPromptSubmit", "PostToolUse"),
        ("cursor", "beforeSubmitPrompt", "postToolUse"),
    ] {
        assert_eq!(
            call(&sandbox, client, &prompt("s", after, "")).out,
            "",
            "nothing waits yet"
        );
        assert_eq!(
            call(
                &sandbox,
                client,
                &prompt("s", before, "change the session cache")
            )
            .out,
            ""
        );
        let said = call(&sandbox, client, &prompt("s", after, ""));
        let answer: Value = serde_json::from_str(&said.out).expect("JSON");
        let block = match client {
            "cursor" => &answer["additional_context"],
            _ => &answer["hookSpecificOutput"]["additionalContext"],
        };
        assert!(string(block).contains("lives on disk"), "{answer}");
        assert_eq!(
            call(&sandbox, client, &prompt("s", after, "")).out,
            "",
            "once"
        );
        assert_eq!(
            call(
                &sandbox,
                client,
                &prompt("s", before, "change the session cache")
            )
            .out,
            ""
        );
        assert_eq!(
            call(&sandbox, client, &prompt("s", after, "")).out,
            "",
            "unchanged"
        );
    }
}

#[test]
fn a_prompt_is_never_blocked() {
    let sandbox = remembering();
    let silent = |arguments: &[&str], input: &[u8]| {
        let said = sandbox.feed(input, 0, arguments);
        assert_eq!(said.out, "", "{arguments:?}");
        said.err
    };
    for input in [
        &b""[..],
        b"{",
        b"[]",
        b"\xff\xfe",
        b"{\"prompt\": 7}",
        b"{\"prompt\": \"/clear\"}",
    ] {
        silent(&["hook", "prompt", "claude-code"], input);
    }
    let good = br#"{"prompt": "change the session cache"}"#;
    for arguments in [
        &["hook", "prompt", "nobody"][..],
        &["hook", "prompt"],
        &["hook", "prompt", "--odd"],
    ] {
        assert!(silent(arguments, good).contains("no client of this name"));
    }
    let lost = silent(&["hook", "prompt", "codex", "-C", "/nowhere"], good);
    assert!(
        lost.contains("no client") || lost.contains("no such directory"),
        "{lost}"
    );
    let lost = silent(&["-C", "/nowhere", "hook", "prompt", "codex"], good);
    assert!(lost.contains("no such directory"), "{lost}");
    let far = json!({"prompt": "x", "cwd": sandbox.top("home")}).to_string();
    let err = silent(&["hook", "prompt", "claude-code"], far.as_bytes());
    let event: Value = serde_json::from_str(err.trim()).expect("one JSON line");
    assert_eq!(event["event"], "hook prompt");
    sandbox.write(&[("score-context/policy.toml", "version = 'x'\n")]);
    sandbox.commit(&[], "a broken policy");
    assert!(silent(&["hook", "prompt", "gemini"], good).contains("policy"));
}

/// Every file below a folder but Git's own.
fn files(top: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != ".git" {
                open.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(top).expect("below").display().to_string();
                found.insert(name, fs::read(&path).expect("read"));
            }
        }
    }
    found
}

#[test]
fn settings_are_written_once_and_undone_to_the_byte() {
    for client in CLIENTS {
        let sandbox = Sandbox::new();
        let before = files(&sandbox.path(""));
        let shown = sandbox.json(&["agent", "setup", client]);
        assert_eq!(files(&sandbox.path("")), before, "printing writes nothing");
        sandbox.run(&["agent", "setup", client, "--write"]);
        let written = files(&sandbox.path(""));
        for file in shown["files"].as_array().expect("a list") {
            assert_eq!(
                written[&string(&file["file"])],
                string(&file["content"]).into_bytes()
            );
        }
        let all: Vec<u8> = written.values().flatten().copied().collect();
        let all = String::from_utf8_lossy(&all).into_owned();
        assert!(
            all.contains(&format!("git score-context hook prompt {client}")),
            "{client}"
        );
        assert!(
            all.contains("\"score-context\", \"mcp\"") || all.contains("\"mcp\""),
            "{client}"
        );
        sandbox.run(&["agent", "setup", client, "--write"]);
        assert_eq!(files(&sandbox.path("")), written, "twice is once");
        sandbox.run(&["agent", "setup", client, "--undo"]);
        assert_eq!(files(&sandbox.path("")), before, "{client}");
        sandbox.run(&["agent", "setup", client, "--undo"]);
    }
}

#[test]
fn what_else_stands_in_the_files_stays() {
    let json = "{\r\n\t// mine\r\n\t\"mcpServers\": { \"other\": { \"command\": \"x\", }, },\r\n\t\"servers\": {}, /* keep */\r\n\t\"hooks\": { \"Stop\": [] },\r\n}\r\n";
    let toml = "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"";
    for client in CLIENTS {
        let sandbox = Sandbox::new();
        let shown = sandbox.json(&["agent", "setup", client]);
        let names: Vec<String> = shown["files"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|file| string(&file["file"]))
            .collect();
        for name in &names {
            let text = if name.ends_with(".toml") { toml } else { json };
            sandbox.write(&[(name, text)]);
        }
        let before = files(&sandbox.path(""));
        sandbox.run(&["agent", "setup", client, "--write"]);
        for name in &names {
            let now = fs::read_to_string(sandbox.path(name)).expect("read");
            assert!(
                now.contains("score-context") && now.contains("mine"),
                "{now}"
            );
            let backup = format!("{name}.score-context-backup");
            assert_eq!(
                fs::read(sandbox.path(&backup)).expect("a copy"),
                before[name]
            );
        }
        // Changed since: ours goes, the change stays.
        let first = &names[0];
        let now = fs::read_to_string(sandbox.path(first)).expect("read");
        sandbox.write(&[(first, &now.replace("mine", "mine, changed"))]);
        sandbox.run(&["agent", "setup", client, "--undo"]);
        let after = files(&sandbox.path(""));
        assert_eq!(
            after.keys().collect::<Vec<_>>(),
            before.keys().collect::<Vec<_>>()
        );
        let text = String::from_utf8_lossy(&after[first]).into_owned();
        assert!(
            text.contains("mine, changed") && !text.contains("score-context"),
            "{text}"
        );
        for name in &names[1..] {
            assert_eq!(after[name], before[name], "{name} to the byte");
        }
    }
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write(&[(".claude/settings.local.json", "{ not json")]);
    let before = files(&sandbox.path(""));
    let said = sandbox.exits(128, &["agent", "setup", "claude-code", "--write"]);
    assert!(said.err.contains("settings.local.json"), "{}", said.err);
    assert_eq!(
        files(&sandbox.path("")),
        before,
        "not one of the files is written"
    );
    assert!(
        sandbox
            .exits(2, &["agent", "setup", "nobody"])
            .err
            .contains("claude-code, codex")
    );
}
