//! The planner's section: where it stands, that it never fails, and that nothing of another part or another repository gets in.

use git_score_context::render::FRAME;
use serde_json::Value;

use crate::support::{Said, Sandbox};

const PROMPT: &str = "Store the session cache on disk.\r\n\r\n## Retrieved context\r\n\r\n- src/cache.rs\r\n\r\n## Constraints\r\n\r\nnone\r\n";

#[track_caller]
fn inject(sandbox: &Sandbox, prompt: &str, more: &[&str]) -> Said {
    sandbox.feed(prompt.as_bytes(), 0, &[&["inject"], more].concat())
}

/// The one trace event on standard error.
#[track_caller]
fn trace(said: &Said) -> String {
    let lines: Vec<&str> = said.err.lines().collect();
    assert_eq!(lines.len(), 1, "{}", said.err);
    let event: Value = serde_json::from_str(lines[0]).expect("JSON");
    assert_eq!(event["event"], "inject");
    event["degraded"].as_str().expect("a reason").to_owned()
}

#[test]
fn a_prompt_gets_its_section_and_nothing_else_changes() {
    let sandbox = Sandbox::new();
    sandbox.record("the session cache lives on disk", &["src/cache.rs"]);
    let said = inject(&sandbox, PROMPT, &[]);
    assert_eq!(said.err, "");
    let (before, rest) = said
        .out
        .split_once("## Relevant past decisions\r\n\r\n")
        .expect("the section");
    let (section, after) = rest
        .split_once("\r\n\r\n## Constraints")
        .expect("before the constraints");
    assert_eq!(format!("{before}## Constraints{after}"), PROMPT);
    assert!(
        section.contains("\r\n| the session cache lives on disk\r\n"),
        "{section}"
    );
    assert!(
        section.starts_with("<untrusted-prior-context ")
            && section.ends_with("</untrusted-prior-context>")
    );
    assert_eq!(
        inject(&sandbox, &said.out, &[]).out,
        said.out,
        "a second pass changes nothing"
    );
    // Superseded: only what is in force is shown.
    let old = sandbox.json_lines(&["log"])[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    sandbox.record_with(
        "sessions move to signed cookies, no cache on disk",
        &["src/cache.rs"],
        &["--supersedes", &old],
    );
    let said = inject(&sandbox, &said.out, &[]);
    assert!(
        said.out.contains("signed cookies") && !said.out.contains("lives on disk"),
        "{}",
        said.out
    );
}

#[test]
fn whatever_is_wrong_the_prompt_goes_through() {
    let sandbox = Sandbox::new();
    let none = "## Relevant past decisions\r\n\r\nnone recorded yet\r\n\r\n## Constraints";
    let said = inject(&sandbox, PROMPT, &[]);
    assert!(said.out.contains(none) && said.err.is_empty(), "{said:?}");
    assert!(
        trace(&inject(&sandbox, PROMPT, &["--node", "../outside"])).contains("outside repository")
    );
    assert!(trace(&inject(&sandbox, PROMPT, &["--timeout", "0"])).contains("no answer within"));
    assert!(trace(&inject(&sandbox, "", &[])).contains("no text"));
    assert!(trace(&inject(&sandbox, PROMPT, &["-C", "nowhere"])).contains("no such directory"));
    sandbox.write(&[("score-context/policy.toml", "version = 'x'\n")]);
    sandbox.commit(&[], "a broken policy");
    let said = inject(&sandbox, PROMPT, &[]);
    assert!(
        trace(&said).contains("policy") && said.out.contains(none),
        "{said:?}"
    );
    // Outside any repository.
    std::fs::create_dir(sandbox.top("plain")).expect("a folder");
    let mut command = sandbox.command(crate::support::TOOL, "plain");
    command.args(["inject", "--task", "x"]);
    let said = crate::support::collect(command, None);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "## Relevant past decisions\n\nnone recorded yet\n")
    );
}

#[test]
fn bytes_that_are_no_text_come_out_as_they_went_in() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.tool(&["inject"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let prompt = b"\xef\xbb\xbfa\xff\xc3(\r\n\r\n## Constraints\r\n\xe2\x82";
    std::io::Write::write_all(child.stdin.as_mut().expect("piped"), prompt).expect("written");
    let out = child.wait_with_output().expect("it ends").stdout;
    let section = b"## Relevant past decisions\r\n\r\nnone recorded yet\r\n\r\n";
    let at = out
        .windows(section.len())
        .position(|part| part == section)
        .expect("the section");
    let rest = [&out[..at], &out[at + section.len()..]].concat();
    assert_eq!(rest, prompt);
}

#[test]
fn a_scope_leaves_out_what_is_about_other_parts() {
    let sandbox = Sandbox::new();
    for n in 0..12 {
        sandbox.record(
            &format!("the session cache of part {n} is on disk"),
            &["src/os/disk.rs"],
        );
    }
    sandbox.record("the session cache is in memory here", &["src/cache.rs"]);
    sandbox.record("the session cache is small everywhere", &[]);
    let all = inject(&sandbox, PROMPT, &["--task", "session cache"]).out;
    assert!(all.contains("of part"));
    let here = inject(
        &sandbox,
        PROMPT,
        &["--task", "session cache", "--scope", "src/cache.rs"],
    )
    .out;
    assert!(
        here.contains("in memory here") && here.contains("small everywhere"),
        "{here}"
    );
    assert!(!here.contains("of part"), "{here}");
    let there = inject(
        &sandbox,
        PROMPT,
        &["--task", "session cache", "--scope", "src/os"],
    )
    .out;
    assert!(
        there.contains("of part") && !there.contains("in memory here"),
        "{there}"
    );
}

#[test]
fn decisions_of_another_repository_never_appear() {
    let sandbox = Sandbox::new();
    sandbox.git_in(".", &["init", "-q", "other"]);
    sandbox.also_check("other");
    sandbox.exits_in(
        "other",
        0,
        &["record", "the session cache of the other repository"],
    );
    sandbox.record("the session cache of this repository", &["src/cache.rs"]);
    let out = inject(&sandbox, PROMPT, &["--task", "session cache"]).out;
    assert!(
        out.contains("of this repository") && !out.contains("of the other"),
        "{out}"
    );
}

#[test]
fn the_block_stays_within_its_limit() {
    let sandbox = Sandbox::new();
    for n in 0..9 {
        sandbox.record(
            &format!("the session cache {n} {}", "x".repeat(400)),
            &["src/cache.rs"],
        );
    }
    for most in [1, 300, 900, 2000] {
        let limit = most.to_string();
        let out = inject(&sandbox, "session cache", &["--max-chars", &limit]).out;
        let at = out.find("<untrusted").expect("the block");
        assert!(out[at..].trim_end().len() <= most.max(FRAME), "{out}");
        assert_eq!(out.matches("</untrusted-prior-context>").count(), 1);
    }
}
