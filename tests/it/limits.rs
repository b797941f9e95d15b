//! Input without measure: every reader has a limit, refuses what is larger with one sentence, and takes little memory and time for it.
//!
//! Each kind runs in a child that may have 1 GiB of address space. A debug build is slow, so sizes are those that tell a bounded reader from
//! one that is not; the long forms are ignored and run with `--ignored`.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{RECORDS, Said, Sandbox, TOOL, collect, json_lines, string};

/// What a hook may take here: half a second on a machine that does nothing else, and a debug build among seven others.
const HOOK: Duration = Duration::from_secs(20);

/// The tool with so many KiB of address space at most.
fn bounded(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command("sh", "r");
    command.args(["-c", "ulimit -v 1048576 && exec \"$@\"", "sh", TOOL]);
    command.args(arguments);
    command
}

/// Runs it, with this many bytes of a pattern behind a beginning on its standard input.
fn flooded(
    sandbox: &Sandbox,
    arguments: &[&str],
    start: &[u8],
    pattern: &[u8],
    most: usize,
) -> Said {
    let mut command = bounded(sandbox, arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let block = pattern.repeat((1 << 16) / pattern.len() + 1);
    let start = start.to_vec();
    let writer = std::thread::spawn(move || {
        let mut written = stdin.write_all(&start).map(|()| start.len());
        while let Ok(so_far) = written
            && so_far < most
        {
            written = stdin.write_all(&block).map(|()| so_far + block.len());
        }
    });
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic");
    let said = Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}

/// A commit whose message is these bytes.
fn commit_message(sandbox: &Sandbox, message: &[u8]) -> String {
    let id = sandbox.git_fed(
        message,
        &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-F", "-"],
    );
    sandbox.git(&["update-ref", "HEAD", &id]);
    id
}

/// A commit that adds one file of these bytes.
fn commit_file(sandbox: &Sandbox, path: &str, content: &[u8]) -> String {
    let blob = sandbox.git_fed(content, &["hash-object", "-w", "--stdin"]);
    sandbox.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},{path}"),
    ]);
    sandbox.git(&["commit", "-q", "-m", "a file"]);
    sandbox.git(&["rev-parse", "HEAD"])
}

/// Ten trees that hold one another ten times, under a name.
fn bomb(sandbox: &Sandbox, leaf: &str, ending: &str) -> String {
    let mut id = sandbox.blob(leaf);
    let mut kind = "100644 blob";
    for _ in 0..10 {
        let lines: String = ('a'..='j')
            .map(|name| format!("{kind} {id}\t{name}{ending}\n"))
            .collect();
        id = sandbox.git_fed(lines.as_bytes(), &["mktree"]);
        kind = "040000 tree";
    }
    id
}

fn commit_tree(sandbox: &Sandbox, entries: &str, message: &str) {
    let tree = sandbox.git_fed(entries.as_bytes(), &["mktree"]);
    let id = sandbox.git(&["commit-tree", &tree, "-p", "HEAD", "-m", message]);
    sandbox.git(&["update-ref", "HEAD", &id]);
}

/// Runs a hook: no word, code 0, in time.
#[track_caller]
fn hook(sandbox: &Sandbox) {
    let begun = Instant::now();
    let said = collect(bounded(sandbox, &["hook", "run", "post-commit"]), None);
    assert_eq!(
        (said.code, said.out.as_str(), said.err.as_str()),
        (0, "", "")
    );
    assert!(begun.elapsed() < HOOK, "{:?}", begun.elapsed());
}

/// A sandbox whose mark stands at its first commit.
fn hooked() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    // The tests call them themselves.
    sandbox.run(&["hook", "uninstall"]);
    sandbox
}

#[track_caller]
fn ingest(sandbox: &Sandbox) -> String {
    let said = collect(bounded(sandbox, &["ingest", "--json"]), None);
    assert_eq!(said.code, 0, "{said:?}");
    said.out
}

fn records(sandbox: &Sandbox) -> usize {
    let said = collect(bounded(sandbox, &["log", "--json"]), None);
    assert_eq!(said.code, 0, "{said:?}");
    json_lines(&said.out).len()
}

#[test]
fn a_trailer_that_no_record_can_hold_is_refused_unread() {
    let sandbox = hooked();
    let heads = "-----BEGIN PRIVATE KEY-----".repeat(15_000);
    commit_message(
        &sandbox,
        format!("s\n\nb\n\nDecision: {heads}\nFinding: a short one\n").as_bytes(),
    );
    hook(&sandbox);
    assert_eq!(records(&sandbox), 1, "the other trailer is kept");
    let told = ingest(&sandbox);
    assert!(
        told.contains("405000 bytes; at most 16384 are kept"),
        "{told}"
    );
}

#[test]
fn a_message_of_megabytes_is_refused_and_the_next_commit_is_taken() {
    let sandbox = hooked();
    let words = "some words ".repeat(1 << 18);
    commit_message(
        &sandbox,
        format!("s\n\nb\n\nDecision: {words}\n").as_bytes(),
    );
    commit_message(&sandbox, b"s\n\nb\n\nDecision: after it\n");
    hook(&sandbox);
    assert_eq!(records(&sandbox), 1);
    let told = ingest(&sandbox);
    assert!(
        told.contains("the message of the commit: it has") && told.contains("at most 1048576"),
        "{told}"
    );
}

#[test]
fn of_thousands_of_trailers_some_are_taken_and_the_rest_is_told_in_one_line() {
    let sandbox = hooked();
    let trailers: String = (0..3000)
        .map(|n| format!("Decision: number {n} of them\n"))
        .collect();
    let outcomes = "Outcome: pass\n".repeat(3000);
    commit_message(
        &sandbox,
        format!("s\n\nb\n\n{trailers}{outcomes}").as_bytes(),
    );
    hook(&sandbox);
    assert_eq!(
        records(&sandbox),
        500,
        "whether the hook or the command took them"
    );
    let told = ingest(&sandbox);
    assert!(
        told.contains("3000 trailers; at most 500") && told.contains("3000 Outcome trailers"),
        "{told}"
    );
    assert!(told.len() < 20_000, "{} bytes", told.len());
}

#[test]
fn documents_of_any_size_and_depth_are_named_and_passed_over() {
    let sandbox = hooked();
    let cases: [(&str, Vec<u8>, &str); 6] = [
        (
            "state.json",
            format!("[{}1]", "1,".repeat(3 << 20)).into_bytes(),
            "at most 1048576 are read",
        ),
        (
            "a/state.json",
            ["[".repeat(200_000), "]".repeat(200_000)]
                .concat()
                .into_bytes(),
            "recursion limit",
        ),
        (
            "docs/adr/1.md",
            "word ".repeat(1 << 20).into_bytes(),
            "at most 262144 are read",
        ),
        (
            "docs/adr/2.md",
            format!("# t\n\n## Decision\n\n{}", "[a](".repeat(60_000)).into_bytes(),
            "",
        ),
        (
            "docs/adr/3.md",
            format!("# t\n\n## Decision\n\n{}x\n", "> ".repeat(120_000)).into_bytes(),
            "",
        ),
        (
            "docs/adr/4.md",
            format!(
                "# t\n\n## Decision\n\nChosen option: x\n\n## Considered Options\n\n{}{}",
                "* an option\n".repeat(9_000),
                "### an option\n".repeat(9_000)
            )
            .into_bytes(),
            "which of the considered options",
        ),
    ];
    for (path, content, why) in cases {
        commit_file(&sandbox, path, &content);
        hook(&sandbox);
        let told = ingest(&sandbox);
        assert!(told.contains(why), "{path}: {told}");
    }
    commit_message(&sandbox, b"s\n\nb\n\nDecision: after all of it\n");
    hook(&sandbox);
    let said = collect(
        bounded(&sandbox, &["log", "--grep", "after all of it"]),
        None,
    );
    assert!(said.out.contains("after all of it"), "{said:?}");
}

#[test]
fn a_state_file_whose_parts_multiply_takes_no_more_than_it_has() {
    let sandbox = hooked();
    // Each decision inherits the nodes of its task, and the name of a place is that of all above it.
    let nodes: Vec<String> = (0..10_000).map(|n| format!("\"src/{n}\"")).collect();
    let decisions: Vec<String> = (0..3_000).map(|n| format!("\"decision {n}\"")).collect();
    let (nodes, decisions) = (nodes.join(","), decisions.join(","));
    let text = format!("{{\"tasks\":[{{\"nodes\":[{nodes}],\"decisions\":[{decisions}]}}]}}");
    commit_file(&sandbox, "state.json", text.as_bytes());
    hook(&sandbox);
    let key = "k".repeat(400_000);
    let text = format!("{{\"tasks\":{{\"{key}\":{{\"decisions\":[{decisions}]}}}}}}");
    commit_file(&sandbox, "b/state.json", text.as_bytes());
    hook(&sandbox);
    let told = ingest(&sandbox);
    assert!(told.contains("too many nodes"), "{told}");
}

#[test]
fn a_policy_of_megabytes_is_refused_by_its_size() {
    let sandbox = Sandbox::new();
    let text = format!("version = 1\nx = [{}]\n", "1,".repeat(1 << 20));
    commit_file(&sandbox, "score-context/policy.toml", text.as_bytes());
    let size = text.len().to_string();
    for arguments in [&["query", "x"][..], &["policy", "show"], &["outline", "x"]] {
        let said = collect(bounded(&sandbox, arguments), None);
        assert_eq!(said.code, 128, "{arguments:?}: {said:?}");
        assert!(
            said.err.contains(&size) && said.err.contains("at most 65536"),
            "{}",
            said.err
        );
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    let said = collect(bounded(&sandbox, &["policy", "check"]), None);
    assert!(
        said.code == 1 && said.out.contains("at most 65536"),
        "{said:?}"
    );
    sandbox.write(&[("big.toml", &text)]);
    let said = collect(
        bounded(&sandbox, &["query", "x", "--policy", "big.toml"]),
        None,
    );
    assert!(said.code == 128 && said.err.contains("65536"), "{said:?}");
    // Nothing is lost for a commit by it, and a record can still be made.
    let said = collect(bounded(&sandbox, &["record", "a decision"]), None);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_tree_without_end_is_refused_before_it_is_listed() {
    let sandbox = hooked();
    let tree = bomb(&sandbox, "x\n", "");
    commit_tree(
        &sandbox,
        &format!("040000 tree {tree}\tbomb\n"),
        "bomb\n\nDecision: keep it",
    );
    hook(&sandbox);
    let begun = Instant::now();
    for arguments in [
        &["query", "x"][..],
        &["outline", "x"],
        &["graph", "stats"],
        &["impact", "HEAD~1..HEAD"],
    ] {
        let said = collect(bounded(&sandbox, arguments), None);
        assert_eq!(said.code, 128, "{arguments:?}: {said:?}");
        assert_eq!(said.err.lines().count(), 1, "{arguments:?}: {}", said.err);
        assert!(said.err.contains("paths"), "{}", said.err);
    }
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    let logged = collect(bounded(&sandbox, &["log", "--json"]), None);
    let lines = json_lines(&logged.out);
    assert_eq!(lines.len(), 1, "{logged:?}");
    assert_eq!(lines[0]["nodes"], serde_json::json!(["."]));
    let said = collect(
        bounded(&sandbox, &["record", "x", "--node", "bomb/a/b"]),
        None,
    );
    assert_eq!(said.code, 0, "{said:?}");
    sandbox.leave_unchecked();
}

#[test]
fn a_tree_without_end_among_the_decision_documents_is_cut() {
    let sandbox = hooked();
    let tree = bomb(&sandbox, "# t\n\n## Decision\n\nWe do.\n", ".md");
    let adr = sandbox.git_fed(format!("040000 tree {tree}\tadr\n").as_bytes(), &["mktree"]);
    commit_tree(&sandbox, &format!("040000 tree {adr}\tdocs\n"), "bomb");
    hook(&sandbox);
    let told = ingest(&sandbox);
    assert!(
        told.contains("more than 5") || told.contains("left out"),
        "{told}"
    );
    sandbox.leave_unchecked();
}

#[test]
fn a_commit_of_very_many_paths_is_about_the_root() {
    let sandbox = hooked();
    let blob = sandbox.blob("x");
    let files: String = (0..400)
        .map(|n| format!("100644 blob {blob}\tf{n:04}\n"))
        .collect();
    let folder = sandbox.git_fed(files.as_bytes(), &["mktree"]);
    let folders: String = (0..300)
        .map(|n| format!("040000 tree {folder}\td{n:04}\n"))
        .collect();
    commit_tree(&sandbox, &folders, "many\n\nDecision: a great many files");
    hook(&sandbox);
    let logged = collect(bounded(&sandbox, &["log", "--json"]), None);
    let lines = json_lines(&logged.out);
    assert_eq!(lines.len(), 1, "{logged:?}");
    assert_eq!(lines[0]["nodes"], serde_json::json!(["."]));
    sandbox.leave_unchecked();
}

#[test]
fn standard_input_without_end_is_refused_by_everything_that_reads_it() {
    const MUCH: usize = 1 << 30;
    let sandbox = Sandbox::new();
    let said = flooded(
        &sandbox,
        &["query", "-"],
        b"",
        b"some words of a task ",
        MUCH,
    );
    assert!(
        said.code == 2 && said.err.contains("more than 65536 bytes"),
        "{said:?}"
    );
    let said = flooded(
        &sandbox,
        &["record", "--stdin"],
        b"{\"text\":\"",
        b"words ",
        MUCH,
    );
    assert!(
        said.code == 2 && said.err.contains("2097152") && said.err.contains("line 1"),
        "{said:?}"
    );
    let said = flooded(&sandbox, &["record", "--stdin"], b"", b"\n", MUCH);
    assert!(said.code == 2 && said.err.contains("67108864"), "{said:?}");
    for arguments in [
        &["hook", "prompt", "claude-code"][..],
        &["hook", "prompt", "cursor"],
    ] {
        let said = flooded(&sandbox, arguments, b"{\"prompt\":\"", b"words ", 20 << 20);
        assert!(said.code == 0 && said.out.is_empty(), "{said:?}");
        assert!(said.err.contains("more than 8388608 bytes"), "{}", said.err);
    }
    let said = flooded(
        &sandbox,
        &["hook", "run", "post-rewrite", "rebase"],
        b"",
        b"x y\n",
        40 << 20,
    );
    assert_eq!(
        (said.code, said.out.as_str(), said.err.as_str()),
        (0, "", "")
    );
    assert_eq!(
        sandbox.git(&["for-each-ref", RECORDS]),
        "",
        "nothing was written"
    );
}

#[test]
fn a_long_task_is_refused_however_it_is_given() {
    let sandbox = Sandbox::new();
    let task = "words ".repeat(12_000);
    let said = collect(bounded(&sandbox, &["query", &task]), None);
    assert!(
        said.code != 0 && said.err.contains("at most 65536"),
        "{said:?}"
    );
    let said = collect(bounded(&sandbox, &["record", &task]), None);
    assert!(
        said.code == 2 && said.err.contains("at most 16384 are kept"),
        "{said:?}"
    );
    let said = collect(bounded(&sandbox, &["session", "start", &task]), None);
    assert!(
        said.code != 0 && said.err.contains("at most 16384 are kept"),
        "{said:?}"
    );
}

#[test]
fn a_prompt_of_any_size_comes_out_whole() {
    let sandbox = Sandbox::new();
    let said = flooded(&sandbox, &["inject"], b"# a title\n", b"<", 5 << 20);
    assert_eq!(said.code, 0);
    assert!(
        said.out.len() > 5 << 20 && said.out.starts_with("# a title\n<"),
        "{}",
        said.out.len()
    );
    assert!(!said.out.contains("Relevant past decisions"));
    assert!(
        said.err.contains("more than 2097152 bytes") && said.err.lines().count() == 1,
        "{}",
        said.err
    );
    let said = flooded(&sandbox, &["inject"], b"do this\n", b"<", 100_000);
    assert!(said.out.contains("Relevant past decisions"), "{}", said.err);
}

#[test]
fn long_lines_of_a_client_are_answered_and_not_kept() {
    let sandbox = Sandbox::new();
    let long = format!("{{\"id\":1,\"x\":\"{}\"}}\n", "a".repeat(17 << 20)).repeat(3);
    let many = format!("[{}1]\n", "1,".repeat(400_000)).repeat(5);
    let batch = format!("[{}1]\n", "1,".repeat(2_000));
    let said = collect(
        bounded(&sandbox, &["mcp"]),
        Some((long + &many + &batch).as_bytes()),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let lines = json_lines(&said.out);
    assert_eq!(lines.len(), 9);
    let told = |at: usize| string(&lines[at]["error"]["message"]);
    assert!(told(0).contains("at most 16777216 bytes"), "{}", lines[0]);
    assert!(told(7).contains("at most 100000 values"), "{}", lines[7]);
    assert!(told(8).contains("at most 1000 messages"), "{}", lines[8]);
}

#[test]
fn what_a_hook_had_no_time_for_is_taken_by_the_next_command() {
    let sandbox = hooked();
    // As a hook leaves it: the mark stands before the commit, and something was left.
    commit_message(&sandbox, b"s\n\nb\n\nDecision: left behind\n");
    let seen = sandbox.path(".git/score-context/seen");
    std::fs::create_dir_all(&seen).expect("a folder");
    std::fs::write(seen.join("behind"), "").expect("written");
    let said = sandbox.run(&["log"]);
    assert!(said.out.contains("left behind"), "{said:?}");
    assert!(!seen.join("behind").exists());
    // Nothing twice, and the next hook goes on from there.
    commit_message(&sandbox, b"s\n\nb\n\nDecision: and the next\n");
    hook(&sandbox);
    assert_eq!(sandbox.log_ids().len(), 2);
}

#[test]
#[ignore = "writes 60 MB objects: half a minute in a debug build"]
fn sixty_megabytes_of_anything() {
    let sandbox = hooked();
    let words = "word ".repeat(12 << 20);
    commit_message(
        &sandbox,
        format!("s\n\nb\n\nDecision: {words}\n").as_bytes(),
    );
    hook(&sandbox);
    for path in ["state.json", "docs/adr/1.md", "score-context/policy.toml"] {
        commit_file(&sandbox, path, words.as_bytes());
        hook(&sandbox);
    }
    let said = collect(bounded(&sandbox, &["query", "x"]), None);
    assert!(
        said.code == 128 && said.err.contains("62914560 bytes"),
        "{said:?}"
    );
    let told = ingest(&sandbox);
    assert!(told.contains("62914560 bytes; at most 1048576"), "{told}");
    assert!(told.contains("62914560 bytes; at most 262144"), "{told}");
    sandbox.leave_unchecked();
}
