//! Several writers, killed writers, and writers that find the door locked: whatever was acknowledged is there.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use git_score_context::id::RecordId;
use git_score_context::record::{Anchor, Kind, Reasoning, Record, Source, Time};
use git_score_context::repo::Repo;
use git_score_context::store::{Put, Receipt, Store};

use crate::support::{ATTENTION, RECORDS, Sandbox, TOOL, collect, id_of, string};

const WRITERS: usize = 8;
/// A write gives up after five seconds (`design.md` section 3); a slow machine may take some more to say so.
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn eight_processes_lose_nothing() {
    processes_lose_nothing(40);
}

/// The whole measure of the first release: 8 processes with 200 calls each. Takes a minute without optimisation.
#[test]
#[ignore = "takes a minute in a debug build"]
fn eight_processes_with_two_hundred_records_each_lose_nothing() {
    processes_lose_nothing(200);
}

fn processes_lose_nothing(each: usize) {
    let sandbox = Sandbox::new();
    let write = |writer: usize| -> Vec<String> {
        let record = |n: usize| {
            string(&sandbox.json(&["record", &format!("writer {writer} number {n}")])["id"])
        };
        (0..each).map(record).collect()
    };
    let ids = in_parallel(write);
    assert_eq!(ids.len(), WRITERS * each);
    assert_eq!(sandbox.log_ids(), ids);
    assert_eq!(
        sandbox.run(&["log", "--count"]).out,
        format!("{}\n", WRITERS * each)
    );
}

#[test]
fn eight_threads_with_two_hundred_records_each_lose_nothing() {
    const EACH: usize = 200;
    let sandbox = Sandbox::new();
    let directory = sandbox.path("");
    let write = |writer: usize| -> Vec<String> {
        let repo = Repo::open(&directory, None).expect("it opens");
        let store = Store::new(&repo);
        let record = |n: usize| {
            let put = put(&format!("thread {writer} number {n}"));
            let receipts = store.put(std::slice::from_ref(&put), Time(0));
            assert_eq!(receipts.expect("written"), [Receipt::Added]);
            put.line.id.to_string()
        };
        (0..EACH).map(record).collect()
    };
    let ids = in_parallel(write);
    assert_eq!(ids.len(), WRITERS * EACH);
    assert_eq!(sandbox.log_ids(), ids);
}

/// Somebody else's writer that knows nothing of our lock: it swaps with plain `git update-ref REF NEW OLD`.
#[test]
fn a_writer_with_plain_git_loses_nothing_and_takes_nothing() {
    const FOREIGN: usize = 12;
    let sandbox = Sandbox::new();
    sandbox.record("the first", &[]);
    let mut ids: BTreeSet<String> = thread::scope(|scope| {
        let ours = scope.spawn(|| -> Vec<String> {
            let record = |n: usize| string(&sandbox.json(&["record", &format!("ours {n}")])["id"]);
            (0..40).map(record).collect()
        });
        let mut ids: BTreeSet<String> = (0..FOREIGN).map(|n| with_plain_git(&sandbox, n)).collect();
        ids.extend(ours.join().expect("no panic"));
        ids
    });
    assert_eq!(ids.len(), FOREIGN + 40);
    ids.insert(id_of(&put("the first").line.text));
    assert_eq!(sandbox.log_ids(), ids);
}

/// Adds a record to the corpus with Git's own commands, as often as it takes.
fn with_plain_git(sandbox: &Sandbox, n: usize) -> String {
    let Put { line, .. } = put(&format!("foreign {n}"));
    let anchor = format!(
        r#"{{"type":"anchor","of":"{}","commit":null,"time":"2026-11-30T12:00:00Z"}}"#,
        line.id
    );
    let blob = sandbox.blob(&format!("{}\n{anchor}\n", line.text));
    let index = sandbox.top(&format!("foreign-{n}"));
    let git = |arguments: &[&str]| {
        let mut command = sandbox.command("git", "r");
        command.args(arguments).env("GIT_INDEX_FILE", &index);
        collect(command, None)
    };
    let path = format!("2026-11-30/{}.json", line.id);
    for _ in 0..100 {
        let old = sandbox.git(&["rev-parse", RECORDS]);
        git(&["read-tree", &old]);
        git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("100644,{blob},{path}"),
        ]);
        let new = git(&["write-tree"]).out;
        if git(&["update-ref", RECORDS, new.trim(), &old]).code == 0 {
            return line.id.to_string();
        }
    }
    panic!("a plain writer must get through as well");
}

#[test]
fn a_left_over_lock_is_named_with_its_age_and_costs_nothing() {
    let sandbox = Sandbox::new();
    let before = sandbox.record("before the lock", &[]);
    let lock = sandbox.path(&format!(".git/{RECORDS}.lock"));
    fs::write(&lock, "").expect("written");
    let ten_minutes_ago = std::time::SystemTime::now() - Duration::from_secs(600);
    let file = fs::File::options()
        .write(true)
        .open(&lock)
        .expect("it is there");
    file.set_modified(ten_minutes_ago).expect("the time is set");

    let begun = Instant::now();
    let said = sandbox.exits(128, &["record", "behind the lock"]);
    let took = begun.elapsed();
    assert!(
        took >= PATIENCE && took < PATIENCE * 3,
        "gave up after {took:?}"
    );
    assert!(
        said.err.contains(
            &lock
                .canonicalize()
                .expect("it is there")
                .display()
                .to_string()
        ),
        "{}",
        said.err
    );
    assert!(said.err.contains("10 minutes"), "{}", said.err);
    assert_eq!(sandbox.log_ids(), BTreeSet::from([before.clone()]));

    fs::remove_file(&lock).expect("removed");
    let after = sandbox.record("behind the lock", &[]);
    assert_eq!(sandbox.log_ids(), BTreeSet::from([before, after]));
}

#[test]
fn a_lock_that_goes_away_in_time_is_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.record("before the lock", &[]);
    let lock = sandbox.path(&format!(".git/{RECORDS}.lock"));
    fs::write(&lock, "").expect("written");
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(700));
            fs::remove_file(&lock).expect("removed");
        });
        sandbox.record("behind the lock", &[]);
    });
    assert_eq!(sandbox.run(&["log", "--count"]).out, "2\n");
}

#[test]
fn a_look_up_behind_a_left_over_lock_still_answers() {
    let sandbox = Sandbox::new();
    sandbox.record("the answer is known", &[]);
    sandbox.run(&["query", "what is the answer"]);
    let lock = sandbox.path(&format!(".git/{ATTENTION}.lock"));
    fs::write(&lock, "").expect("written");
    let said = sandbox.run(&["query", "is the answer known", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (&answer["attention_id"], &answer["candidates"]),
        (&serde_json::Value::Null, &1.into())
    );
    assert!(
        said.err.contains("warning: ") && said.err.contains("attention.lock"),
        "{}",
        said.err
    );
    fs::remove_file(&lock).expect("removed");
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    const ROUNDS: usize = 25;
    let sandbox = Sandbox::new();
    let script = r#"n=0; while :; do n=$((n+1)); "$0" record "round $1 number $n" || exit; done"#;
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        let path = sandbox.top("acknowledged");
        let mut command = sandbox.command("sh", "r");
        command
            .args(["-c", script, TOOL, &round.to_string()])
            .stdout(fs::File::create(&path).expect("made"))
            .stderr(Stdio::null())
            // With a group of its own, so that the killing meets the shell and whatever it runs just then.
            .process_group(0);
        let mut child = command.spawn().expect("it starts");
        // However slow the machine is, each round acknowledges something before it is killed.
        let begun = Instant::now();
        let has_written = || fs::metadata(&path).is_ok_and(|meta| meta.len() > 0);
        while !has_written() && begun.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_micros(random() % 100_000));
        let group = format!("-{}", child.id());
        let killed = sandbox
            .command("kill", "r")
            .args(["-KILL", "--", &group])
            .status();
        assert!(killed.expect("kill runs").success());
        child.wait().expect("it ends");

        let text = fs::read_to_string(&path).expect("it is there");
        let whole_lines = text
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'));
        acknowledged.extend(whole_lines.map(str::to_owned));
        // What a person does who is told about the lock; the one before shows that it is told.
        drop(fs::remove_file(
            sandbox.path(&format!(".git/{RECORDS}.lock")),
        ));
        let there = sandbox.log_ids();
        assert!(
            acknowledged.is_subset(&there),
            "lost in round {round}: {:?}",
            acknowledged.difference(&there)
        );
    }
    assert!(
        acknowledged.len() >= ROUNDS,
        "only {} were acknowledged",
        acknowledged.len()
    );
    sandbox.assert_sound("r");
    sandbox.run(&["fsck"]);
    sandbox.record("and it still writes", &[]);
}

/// The last bytes of a hash that the system seeds anew each time.
fn random() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}

/// What `record TEXT` makes of a text without anything else, as a library caller writes it.
fn put(text: &str) -> Put {
    let record = Record::Reasoning(Reasoning {
        source: Source::Session,
        kind: Kind::Decision,
        text: text.to_owned(),
        reasons: Vec::new(),
        confidence: None,
        supersedes: Vec::new(),
        nodes: Vec::new(),
        session: None,
        task: None,
        key: None,
    });
    let anchor = Anchor {
        of: RecordId::of(b""),
        commit: None,
        time: Time(0),
        nodes: Vec::new(),
        objects: Default::default(),
        replaces: Vec::new(),
        branch: None,
        worktree: None,
    };
    Put::new(&record, Some(anchor), false)
}

/// What all writers of a test have acknowledged.
fn in_parallel(write: impl Fn(usize) -> Vec<String> + Sync) -> BTreeSet<String> {
    thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(writer)))
            .collect();
        writers
            .into_iter()
            .flat_map(|writer| writer.join().expect("no panic"))
            .collect()
    })
}
