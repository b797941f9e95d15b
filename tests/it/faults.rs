//! What can go wrong beside and below a write: killed processes, clean-ups at the same time, a full disk, a store that cannot be
//! written, and blobs that nobody of ours has written. What was acknowledged is there, and `git fsck` stays clean.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{RECORDS, Said, Sandbox, TOOL, collect, pluck, string};

#[test]
fn a_dozen_kills_lose_nothing() {
    kills(12);
}

/// The measure of issue 4.
#[test]
#[ignore = "takes minutes in a debug build"]
fn three_hundred_kills_lose_nothing() {
    kills(300);
}

/// Kills everything at work so many times: records, look-ups, commits with their hooks, ingests. Each tells in a file of its own what
/// was acknowledged before the next thing is begun.
fn kills(rounds: usize) {
    const WORK: &str = r#"
        n=0
        while :; do
            n=$((n+1))
            "$0" record "round $1 record $n" --node src/cache.rs >>../records || exit
            "$0" query "round $1 question $n" --json | sed -n 's/.*"attention_id":"\([0-9a-f]*\)".*/\1/p' >>../lookups
            git commit -q --allow-empty -m s -m "Decision: round $1 commit $n"
            "$0" ingest -q && echo "round $1 commit $n" >>../ingested
        done"#;
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    let lines = |name: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(sandbox.top(name)).unwrap_or_default();
        let whole = text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'));
        whole.map(str::to_owned).collect()
    };
    for round in 0..rounds {
        let before = lines("records").len();
        let mut command = sandbox.command("sh", "r");
        command.args(["-c", WORK, TOOL, &round.to_string()]);
        // With a group of its own, so that the killing meets the shell and whatever it runs just then.
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let mut child = command.spawn().expect("it starts");
        // However slow the machine is, each round acknowledges something before it is killed.
        let begun = Instant::now();
        while lines("records").len() == before && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_micros(random() % 400_000));
        let group = format!("-{}", child.id());
        let killed = sandbox
            .command("kill", "r")
            .args(["-KILL", "--", &group])
            .status();
        assert!(killed.expect("kill runs").success());
        child.wait().expect("it ends");
        // What a person does about Git's own locks. Ours are broken by whoever comes next.
        let mut find = sandbox.command("find", "r");
        let git_only = [
            ".git",
            "-name",
            "*.lock",
            "-not",
            "-path",
            "*score-local*",
            "-delete",
        ];
        find.args(git_only);
        assert_eq!(collect(find, None).code, 0);
        if round % 10 == 9 || round + 1 == rounds {
            assert_kept(&sandbox, round, &lines);
        }
    }
    assert!(lines("records").len() >= rounds);
    sandbox.run(&["fsck"]);
    sandbox.record("and it still writes", &[]);
}

fn assert_kept(sandbox: &Sandbox, round: usize, lines: &dyn Fn(&str) -> BTreeSet<String>) {
    let log = sandbox.json_lines(&["log"]);
    let ids: BTreeSet<_> = log.iter().map(|line| string(&line["id"])).collect();
    let texts: BTreeSet<_> = log.iter().map(|line| string(&line["text"])).collect();
    let lookups: BTreeSet<_> = sandbox.replays_in("r").into_keys().collect();
    for (name, there) in [("records", ids), ("ingested", texts), ("lookups", lookups)] {
        let acknowledged = lines(name);
        let lost: Vec<_> = acknowledged.difference(&there).collect();
        assert!(
            lost.is_empty(),
            "lost after round {round}, {name}: {lost:?}"
        );
    }
    sandbox.assert_sound("r");
}

#[test]
fn writers_beside_a_clean_up_lose_nothing() {
    beside_a_clean_up(12);
}

/// The measure of issue 4: 1,600 of 1,600.
#[test]
#[ignore = "takes minutes in a debug build"]
fn eight_writers_of_two_hundred_records_each_beside_a_clean_up_lose_nothing() {
    beside_a_clean_up(200);
}

/// Eight processes that write, and Git's own clean-ups in a loop beside them.
fn beside_a_clean_up(each: usize) {
    const CLEAN_UPS: [&[&str]; 5] = [
        &["gc", "-q"],
        &["repack", "-adq"],
        &["pack-refs", "--all"],
        &["gc", "-q", "--prune=now"],
        &["maintenance", "run", "--quiet"],
    ];
    let sandbox = Sandbox::new();
    sandbox.record("the first", &[]);
    let is_over = AtomicBool::new(false);
    let ids: BTreeSet<String> = thread::scope(|scope| {
        let clean_up = scope.spawn(|| {
            let mut runs = 0;
            while !is_over.load(Relaxed) {
                // One that meets a lock gives up, as it may.
                let mut command = sandbox.command("git", "r");
                command.args(CLEAN_UPS[runs % CLEAN_UPS.len()]);
                collect(command, None);
                runs += 1;
            }
            runs
        });
        let write = |writer: usize| -> Vec<String> {
            let text = |n: usize| format!("writer {writer} number {n}");
            (0..each).map(|n| sandbox.record(&text(n), &[])).collect()
        };
        let writers: Vec<_> = (0..8)
            .map(|writer| scope.spawn(move || write(writer)))
            .collect();
        let ids = writers
            .into_iter()
            .flat_map(|writer| writer.join().expect("no panic"))
            .collect();
        is_over.store(true, Relaxed);
        let runs = clean_up.join().expect("no panic");
        assert!(runs >= CLEAN_UPS.len(), "only {runs} clean-ups");
        ids
    });
    assert_eq!(ids.len(), 8 * each);
    sandbox.collect_garbage();
    assert!(ids.is_subset(&sandbox.log_ids()));
    assert_eq!(
        sandbox.run(&["log", "--count"]).out,
        format!("{}\n", 8 * each + 1)
    );
}

/// What a disk does that lost its power before the last writes were on it: their files are there, and empty, cut, or gone.
#[test]
fn what_a_loss_of_power_takes_comes_back() {
    let commands = [
        &["log"][..],
        &["record", "after it"],
        &["query", "what is there"],
        &["replay", "--all"],
        &["status"],
        &["fsck", "--repair"],
    ];
    for (n, first) in commands.into_iter().enumerate() {
        let sandbox = Sandbox::new();
        let mut ids = BTreeSet::from([sandbox.record("long before", &["src"])]);
        let before = sandbox.packs();
        for n in 0..3 {
            ids.insert(sandbox.record(&format!("while it was at work {n}"), &["src"]));
            let found = sandbox.json(&["query", &format!("while it was at work {n}")]);
            assert_eq!(pluck(&found["items"], "id").len(), n + 1);
        }
        let lost = sandbox.packs();
        let lost: Vec<_> = lost.difference(&before).collect();
        assert!(lost.len() >= 6);
        for pack in &lost {
            let cut = |ending: &str, len: u64| {
                let file = pack.with_extension(ending);
                let mut permissions = fs::metadata(&file).expect("it is there").permissions();
                std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
                fs::set_permissions(&file, permissions).expect("changed");
                let file = fs::OpenOptions::new()
                    .write(true)
                    .open(&file)
                    .expect("it opens");
                file.set_len(len).expect("cut");
            };
            match n % 3 {
                0 => cut("pack", 0),
                1 => {
                    cut("pack", 40);
                    cut("idx", 0);
                }
                _ => ["idx", "pack"].into_iter().for_each(|ending| {
                    fs::remove_file(pack.with_extension(ending)).expect("removed");
                }),
            }
        }
        sandbox.run(first);
        assert!(ids.is_subset(&sandbox.log_ids()), "{first:?}");
        sandbox.run(&["query", "and the look-ups"]);
        sandbox.run(&["fsck", "--repair"]);
        sandbox.check();
        sandbox.run(&["fsck"]);
        sandbox.collect_garbage();
        // Rubbish in the journal mends nothing and stops nothing.
        fs::write(
            sandbox.path(".git/score-context/journal"),
            [b"t\x14", &[7; 400][..]].concat(),
        )
        .expect("written");
        sandbox.record("and it still writes", &[]);
    }
}

#[test]
fn a_writer_beside_a_bare_prune_loses_nothing() {
    let sandbox = Sandbox::new();
    let mut ids = BTreeSet::from([sandbox.record("the first", &[])]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                let mut command = sandbox.command("git", "r");
                command.args(["prune", "--expire=now"]);
                collect(command, None);
            }
        });
        ids.extend((0..30).map(|n| sandbox.record(&format!("number {n}"), &[])));
        is_over.store(true, Relaxed);
    });
    assert_eq!(sandbox.log_ids(), ids);
    sandbox.git(&["prune", "--expire=now"]);
    assert_eq!(sandbox.log_ids(), ids);
}

/// The tool where no file may become longer than so many blocks of 512 bytes: what a full disk looks like to a program.
fn on_a_full_disk(sandbox: &Sandbox, blocks: u32, arguments: &[&str]) -> Said {
    let mut command = sandbox.command("sh", "r");
    let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.args(["-c", &limited, TOOL]).args(arguments);
    collect(command, None)
}

#[test]
fn a_full_disk_is_said_and_costs_nothing() {
    let sandbox = Sandbox::new();
    let long = "no two words of this text are alike: ".to_owned()
        + &(0..1200u64)
            .map(|n| format!("{} ", n * n * 7919))
            .collect::<String>();
    sandbox.record("before the disk was full", &["src"]);
    sandbox.run(&["query", "before the disk"]);
    let before = sandbox.git(&["for-each-ref"]);
    let mut failures = 0;
    for blocks in 0..6 {
        let said = on_a_full_disk(&sandbox, blocks, &["record", &long]);
        if said.code == 0 {
            break;
        }
        failures += 1;
        assert_eq!(said.code, 128, "{said:?}");
        assert!(
            said.err.starts_with("fatal: ") && said.err.contains("File too large"),
            "{}",
            said.err
        );
        assert_eq!(sandbox.git(&["for-each-ref"]), before);
        // A look-up answers, and says that it was not kept.
        if blocks == 0 {
            let said = on_a_full_disk(
                &sandbox,
                blocks,
                &["query", "before the disk", "--node", "src", "--json"],
            );
            let answer: Value = serde_json::from_str(&said.out).expect("JSON");
            assert_eq!(
                (&answer["attention_id"], &answer["candidates"]),
                (&Value::Null, &json!(1))
            );
            assert!(said.err.contains("warning: "), "{}", said.err);
        }
        sandbox.assert_sound("r");
    }
    assert!(failures >= 2, "the disk was full {failures} times");
    sandbox.record(&long, &[]);
    assert_eq!(sandbox.run(&["log", "--count"]).out, "2\n");
    sandbox.run(&["fsck"]);
}

/// The tool where the repository cannot be written: by its permissions, or for a superuser on a mount that is read-only.
fn read_only(sandbox: &Sandbox, arguments: &[&str]) -> Option<Said> {
    let probe = sandbox.path(".git/probe");
    let mode = |mode: &str| {
        let mut chmod = sandbox.command("chmod", "r");
        chmod.args(["-R", mode, ".git"]);
        assert_eq!(collect(chmod, None).code, 0);
    };
    mode("a-w");
    let said = match fs::write(&probe, "") {
        Err(_) => Some(collect(sandbox.tool(arguments), None)),
        Ok(()) => {
            drop(fs::remove_file(&probe));
            let mount =
                r#"mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$0" "$@""#;
            let mut command = sandbox.command("unshare", "r");
            command
                .args(["-m", "sh", "-c", mount, TOOL])
                .args(arguments);
            let said = collect(command, None);
            // Not everybody who may write everything may also mount.
            (!said.err.contains("unshare:") && !said.err.contains("mount:")).then_some(said)
        }
    };
    mode("u+w");
    said
}

#[test]
fn a_store_that_cannot_be_written_is_read_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.record("before it was read-only", &["src"]);
    let Some(said) = read_only(&sandbox, &["record", "not now"]) else {
        return eprintln!("skipped: nothing can be made read-only here");
    };
    assert_eq!(said.code, 128, "{said:?}");
    assert!(said.err.contains("cannot be written"), "{}", said.err);
    let ask = [
        "query",
        "before it was read-only",
        "--node",
        "src",
        "--json",
    ];
    let said = read_only(&sandbox, &ask).expect("it could before");
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (&answer["attention_id"], &answer["candidates"]),
        (&Value::Null, &json!(1)),
        "{said:?}"
    );
    assert!(
        said.err.contains("warning: ") && said.err.contains("cannot be written"),
        "{}",
        said.err
    );
    for command in [
        &["log"][..],
        &["status"],
        &["fsck"],
        &["hook", "run", "post-commit"],
    ] {
        let said = read_only(&sandbox, command).expect("it could before");
        assert_eq!(said.code, 0, "{command:?}: {said:?}");
    }
    sandbox.record("now", &[]);
}

/// Lines that no version of ours writes, and whether a later one may have: then they count.
const LINES: [(&str, bool); 9] = [
    (
        r#"{"type":"reasoning","source":"session","text":"twice","text":"said"}"#,
        false,
    ),
    (
        r#"{"type":"outcome","source":"session","task":"t","verdict":"pass","coverage":NaN}"#,
        false,
    ),
    (
        r#"{"type":"outcome","source":"session","task":"t","verdict":"pass","coverage":1e999}"#,
        false,
    ),
    (
        r#"{"type":"reasoning","source":"session","text":"half a character \ud83d"}"#,
        false,
    ),
    (
        r#"{"type":"session","goal":"g","start":"2026-02-30T00:00:00Z","nonce":"00"}"#,
        false,
    ),
    (
        r#"{"type":"session","goal":"g","start":"99999-01-01T00:00:00Z","nonce":"00"}"#,
        false,
    ),
    (
        r#"{"type":"reasoning","source":"session","kind":"hunch","text":"of a later version"}"#,
        false,
    ),
    (r#"{"type":"reasoning","source":"session","text":7}"#, false),
    (
        r#"{"type":"reasoning","source":"trailer","text":"of a later version","schema":9,"mood":{"deep":[1,{}]}}"#,
        true,
    ),
];

#[test]
fn lines_that_nobody_of_ours_writes_are_named_and_skipped() {
    let sandbox = Sandbox::new();
    let sound = sandbox.record("the sound one", &["src"]);
    let before = sandbox.entries(RECORDS);
    let deep = format!(
        r#"{{"type":"reasoning","source":"session","text":{}"#,
        "[".repeat(100_000)
    );
    for (line, counts) in LINES.into_iter().chain([(deep.as_str(), false)]) {
        let shown = line.chars().take(90).collect::<String>();
        let id = blake3_of(line);
        let path = format!("2026-11-30/{id}.json");
        let mut entries = before.clone();
        entries.insert(
            path,
            ("100644".to_owned(), sandbox.blob(&format!("{line}\n"))),
        );
        sandbox.set_entries(RECORDS, &entries);
        // Once parsed, once with what the first time has left behind.
        for _ in 0..2 {
            let said = sandbox.run(&[
                "query",
                "the sound one",
                "--node",
                "src",
                "--json",
                "--no-record",
            ]);
            let answer: Value = serde_json::from_str(&said.out).expect("JSON");
            assert_eq!(answer["items"][0]["id"], json!(sound), "{shown}");
            assert_eq!(
                answer["candidates"],
                json!(1 + usize::from(counts)),
                "{shown}"
            );
            assert_eq!(
                said.err.contains(&id[..12]),
                !counts,
                "{shown}: {}",
                said.err
            );
        }
        let code = i32::from(!counts);
        let said = sandbox.exits(code, &["fsck"]);
        assert_eq!(said.out.contains(&id), !counts, "{shown}: {}", said.out);
        sandbox.record("the memory goes on", &[]);
        // And a fold copies it as it is.
        sandbox.step(86_400);
        sandbox.record("on the next day", &[]);
        let folded = sandbox
            .entries(RECORDS)
            .into_iter()
            .find(|(path, _)| path.ends_with(".jsonl"));
        if counts {
            let (_, (_, blob)) = folded.expect("the day before was folded");
            assert!(
                sandbox.git(&["cat-file", "blob", &blob]).contains(line),
                "{shown}"
            );
        }
        sandbox.step(-86_400);
    }
    sandbox.set_entries(RECORDS, &before);
}

#[test]
fn lines_that_cannot_be_recorded_are_named_by_number() {
    let sandbox = Sandbox::new();
    let bad = [
        r#"{"text":"twice","text":"said"}"#,
        r#"{"text":"half a character \ud83d"}"#,
        r#"{"text":"never","time":"2026-02-30T00:00:00Z"}"#,
        r#"{"text":"late","time":"99999-01-01T00:00:00Z"}"#,
        r#"{"text":NaN}"#,
        "{\"text\":\"\u{0}",
        r#"[[[[[[["#,
    ];
    for line in bad {
        let input = format!("{{\"text\":\"sound\"}}\n{line}\n");
        let said = sandbox.feed(input.as_bytes(), 2, &["record", "--stdin"]);
        assert!(said.err.contains("line 2"), "{line}: {}", said.err);
        assert_eq!(sandbox.run(&["log", "--count"]).out, "0\n", "{line}");
    }
    // Bytes that are no text, and a line of 50 MB.
    let said = sandbox.feed(b"{\"text\":\"\xff\xfe\"}\n", 2, &["record", "--stdin"]);
    assert!(
        said.err.contains("line 1") || said.err.contains("UTF-8"),
        "{}",
        said.err
    );
    let huge = format!("{{\"text\":\"{}\"}}\n", "x".repeat(50 << 20));
    let said = sandbox.feed(huge.as_bytes(), 2, &["record", "--stdin"]);
    assert!(
        said.err.contains("line 1") && said.err.len() < 1000,
        "{}",
        said.err.len()
    );
    assert_eq!(sandbox.run(&["log", "--count"]).out, "0\n");
}

#[test]
fn a_blob_of_fifty_megabytes_is_named_and_skipped() {
    let sandbox = Sandbox::new();
    let sound = sandbox.record("the sound one", &["src"]);
    let mut entries = sandbox.entries(RECORDS);
    let line = format!(
        r#"{{"type":"reasoning","source":"session","text":"{}"}}"#,
        "x".repeat(50 << 20)
    );
    let id = blake3_of(&line);
    entries.insert(
        format!("2026-11-30/{id}.json"),
        ("100644".to_owned(), sandbox.blob(&line)),
    );
    sandbox.set_entries(RECORDS, &entries);
    let said = sandbox.run(&["query", "the sound one", "--node", "src", "--json"]);
    let answer: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (&answer["items"][0]["id"], &answer["candidates"]),
        (&json!(sound), &json!(1))
    );
    assert!(
        said.err.contains(&id[..12]) && said.err.len() < 2000,
        "{} bytes",
        said.err.len()
    );
    sandbox.record("the memory goes on", &[]);
    assert_eq!(sandbox.json_lines(&["log"]).len(), 2);
}

/// A memory of a hundred thousand records: written at once, appended to, asked, replayed, packed.
#[test]
#[ignore = "takes a minute in a debug build"]
fn a_hundred_thousand_records() {
    let sandbox = Sandbox::new();
    let line = |n: usize| {
        format!(
            "{{\"text\":\"decision {n}: {} over {}\",\"nodes\":[\"src/cache.rs\"]}}\n",
            n * 7,
            n * 11
        )
    };
    let lines: String = (0..100_000).map(line).collect();
    let took = |what: &str, command: &mut dyn FnMut()| {
        let begun = Instant::now();
        command();
        eprintln!("{what}: {:?}", begun.elapsed());
    };
    took("written at once", &mut || {
        sandbox.feed(lines.as_bytes(), 0, &["record", "--stdin", "-q"]);
    });
    for round in 0..2 {
        took("appended", &mut || {
            drop(sandbox.record(&format!("one more {round}"), &["src"]))
        });
        took("asked", &mut || {
            drop(sandbox.run(&["query", "decision 77 over 121", "--node", "src"]))
        });
    }
    took("packed", &mut || sandbox.collect_garbage());
    took("asked once packed", &mut || {
        drop(sandbox.run(&["query", "decision 78 over 122"]))
    });
    assert_eq!(sandbox.run(&["log", "--count"]).out, "100002\n");
    sandbox.run(&["fsck"]);
}

fn blake3_of(line: &str) -> String {
    git_score_context::id::RecordId::of(line.as_bytes()).to_string()
}

/// The last bytes of a hash that the system seeds anew each time.
fn random() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}
