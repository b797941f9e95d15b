//! Git's own clean-ups beside writers, locks of writers that were killed, packs of small writes, and a memory that another program
//! replaced: nothing is lost, and whatever is damaged has a way out.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{ATTENTION, RECORDS, Sandbox, TOOL, collect, string};

const NOTES: &str = "refs/notes/score-local";

#[test]
fn five_writers_beside_every_clean_up_lose_nothing() {
    beside(Duration::from_secs(6), 1);
}

/// The bar of the issue.
#[test]
#[ignore = "takes ten minutes"]
fn ten_minutes_of_writers_beside_every_clean_up_lose_nothing() {
    beside(Duration::from_secs(60), 10);
}

/// Writers in loops, each look-up and record noted once it was acknowledged, beside clean-ups in a loop.
fn beside(time: Duration, runs: usize) {
    const WORK: &str = r#"
        n=0
        while [ ! -e ../over ]; do
            n=$((n+1))
            "$0" query "x $1 $n" --json | sed -n 's/.*"attention_id":"\([0-9a-f]*\)".*/\1/p' >>../lookups.$1
            "$0" record "x $1 $n" --json | sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p' >>../records.$1
        done"#;
    const CLEAN_UPS: [&[&str]; 6] = [
        &["repack", "-adq"],
        &["prune", "--expire=now"],
        &["gc", "-q", "--prune=now"],
        &["pack-refs", "--all", "--prune"],
        &["reflog", "expire", "--expire=now", "--all"],
        &["repack", "-Adq"],
    ];
    for run in 0..runs {
        let sandbox = Sandbox::new();
        let writers: Vec<Child> = (0..5)
            .map(|writer| {
                let mut command = sandbox.command("sh", "r");
                command.args(["-c", WORK, TOOL, &writer.to_string()]);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                command.spawn().expect("it starts")
            })
            .collect();
        let begun = Instant::now();
        let mut done = 0;
        while begun.elapsed() < time || done < 2 * CLEAN_UPS.len() {
            let mut command = sandbox.command("git", "r");
            command.args(CLEAN_UPS[done % CLEAN_UPS.len()]);
            collect(command, None);
            // A branch whose commit nothing refers to any more, in the middle of look-ups about it.
            if done % 5 == 4 {
                sandbox.git(&[
                    "commit",
                    "-q",
                    "--amend",
                    "--allow-empty",
                    "-m",
                    &format!("start {done}"),
                ]);
            }
            done += 1;
        }
        fs::write(sandbox.top("over"), "").expect("written");
        for mut writer in writers {
            writer.wait().expect("it ends");
        }
        let noted = |name: &str| -> BTreeSet<String> {
            let each = (0..5).map(|writer| sandbox.top(&format!("{name}.{writer}")));
            let texts = each.map(|file| fs::read_to_string(file).unwrap_or_default());
            texts
                .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
                .collect()
        };
        let (records, lookups) = (noted("records"), noted("lookups"));
        assert!(
            records.len() >= 5 && lookups.len() >= 5,
            "run {run}: too slow"
        );
        sandbox.assert_sound("r");
        sandbox.git(&["gc", "-q"]);
        assert!(
            records.is_subset(&sandbox.log_ids()),
            "run {run}: records are lost"
        );
        let replays = sandbox.replays_in("r");
        let there: BTreeSet<String> = replays.keys().cloned().collect();
        assert!(lookups.is_subset(&there), "run {run}: look-ups are lost");
        sandbox.run(&["fsck"]);
        eprintln!(
            "run {run}: {} records, {} look-ups, {done} clean-ups",
            records.len(),
            lookups.len()
        );
    }
}

#[test]
fn many_writes_leave_few_packs_and_none_kept() {
    let sandbox = Sandbox::new();
    for n in 0..60 {
        sandbox.record(&format!("number {n}"), &["src"]);
    }
    let packs = sandbox.packs();
    assert!(packs.len() <= 24, "{} packs", packs.len());
    let keeps = packs
        .iter()
        .filter(|pack| pack.with_extension("keep").exists());
    assert_eq!(keeps.count(), 0);
    assert_eq!(sandbox.run(&["log", "--count"]).out, "60\n");
    sandbox.git(&["multi-pack-index", "write"]);
    for n in 60..90 {
        sandbox.record(&format!("number {n}"), &["src"]);
    }
    sandbox.git(&["multi-pack-index", "verify"]);
    sandbox.git(&["repack", "-adq"]);
    assert_eq!(
        sandbox.packs().len(),
        1,
        "Git takes over what was written here"
    );
    sandbox.record("and after it", &[]);
    assert_eq!(sandbox.run(&["log", "--count"]).out, "91\n");
}

/// A writer that was killed with its lock in hand, as it is left: our own name of the file, and Git's.
fn killed_writer(sandbox: &Sandbox, reference: &str) -> std::path::PathBuf {
    let own = sandbox.path(".git/score-context/reference.999999.0");
    fs::write(&own, "").expect("written");
    let lock = sandbox.path(&format!(".git/{reference}.lock"));
    fs::hard_link(&own, &lock).expect("linked");
    lock
}

#[test]
fn the_lock_of_a_killed_writer_is_broken_and_nobody_elses() {
    let sandbox = Sandbox::new();
    sandbox.run(&["hook", "install"]);
    sandbox.record("the first", &["src"]);
    sandbox.run(&["query", "the first"]);
    let write: [(&str, &[&str]); 3] = [
        (RECORDS, &["record", "after the kill"]),
        (ATTENTION, &["query", "after the kill"]),
        (NOTES, &["record", "told in a note", "--node", "src"]),
    ];
    for (reference, command) in write {
        let lock = killed_writer(&sandbox, reference);
        let said = sandbox.run(&["fsck"]);
        assert!(
            said.out.contains("killed") && said.out.contains(".lock"),
            "{}",
            said.out
        );
        assert!(sandbox.run(&["status"]).out.contains(".lock was left"));
        let said = sandbox.run(command);
        assert!(!said.err.contains("warning"), "{}", said.err);
        assert!(!lock.exists(), "{reference}");
    }
    // One that lives, and one that is not ours, are waited for and named.
    let lock = sandbox.path(&format!(".git/{RECORDS}.lock"));
    fs::write(&lock, "").expect("written");
    let said = sandbox.exits(128, &["record", "not now"]);
    assert!(said.err.contains("records.lock"), "{}", said.err);
    assert!(sandbox.run(&["fsck"]).out.contains("records.lock"));
    fs::remove_file(&lock).expect("removed");
    let lock = killed_writer(&sandbox, RECORDS);
    let own = fs::File::open(&lock).expect("it is there");
    own.lock().expect("locked");
    sandbox.exits(128, &["record", "not now"]);
    assert!(lock.exists());
    drop(own);
    sandbox.record("now", &[]);
    let lock = killed_writer(&sandbox, RECORDS);
    let said = sandbox.run(&["fsck", "--repair"]);
    assert!(
        said.out.contains("records.lock") && !lock.exists(),
        "{}",
        said.out
    );
}

#[test]
fn a_pack_that_a_killed_writer_left_kept_is_given_back() {
    let sandbox = Sandbox::new();
    sandbox.record("the first", &[]);
    let pack = sandbox.packs().into_iter().next().expect("there is one");
    let keep = pack.with_extension("keep");
    let says = "git-score-context is writing; 'git score-context fsck --repair' removes this if it was killed\n";
    fs::write(&keep, says).expect("written");
    sandbox.record("the second", &[]);
    assert!(!keep.exists(), "the next writer gives it back");
    // One that a person keeps stays kept.
    fs::write(&keep, "mine\n").expect("written");
    sandbox.record("the third", &[]);
    sandbox.run(&["fsck", "--repair"]);
    assert_eq!(fs::read_to_string(&keep).expect("it is there"), "mine\n");
}

#[test]
fn a_memory_that_git_fetch_replaced_is_joined() {
    let sandbox = Sandbox::new();
    let mine = sandbox.record("decided here", &["src"]);
    let secret = sandbox.record("to be forgotten here", &[]);
    let asked = string(&sandbox.json(&["query", "decided here"])["attention_id"]);
    let other = "other";
    sandbox.git_in(".", &["clone", "-q", "r", other]);
    let mut there = sandbox.command(TOOL, other);
    there.args(["record", "decided elsewhere", "--json"]);
    let said = collect(there, None);
    let theirs = string(&serde_json::from_str::<serde_json::Value>(&said.out).expect("JSON")["id"]);
    let mut there = sandbox.command(TOOL, other);
    there.args(["record", "to be forgotten here"]);
    assert_eq!(collect(there, None).code, 0);
    let mut there = sandbox.command(TOOL, other);
    there.args(["query", "asked elsewhere"]);
    assert_eq!(collect(there, None).code, 0);
    sandbox.run(&["forget", &secret]);
    sandbox.expect_replay(&asked, "removed");
    let fetch = |reference: &str| {
        let spec = format!("+{reference}:{reference}");
        sandbox.git(&["fetch", "-q", "../other", &spec]);
    };
    fetch(RECORDS);
    fetch(ATTENTION);
    let said = sandbox.run(&["log"]);
    assert!(
        said.err.contains("another program replaced"),
        "{}",
        said.err
    );
    assert_eq!(
        sandbox.log_ids(),
        BTreeSet::from([mine.clone(), theirs.clone()])
    );
    assert!(
        !sandbox.run(&["log"]).err.contains("replaced"),
        "it is told once"
    );
    let replays = sandbox.replays_in("r");
    assert_eq!(replays.len(), 2, "{replays:?}");
    assert!(replays.contains_key(&asked));
    sandbox.run(&["fsck"]);
    // A hook, or any writer, finds it as well; what happened is told by the next command that a person runs.
    sandbox.run(&["hook", "install"]);
    fetch(RECORDS);
    sandbox.commit(
        &[("src/cache.rs", "fn c() {}\n")],
        "cache\n\nDecision: decided in a commit",
    );
    let said = sandbox.run(&["log"]);
    assert!(
        said.err.contains("another program replaced"),
        "{}",
        said.err
    );
    let ids = sandbox.log_ids();
    assert_eq!(ids.len(), 3);
    assert!(ids.contains(&mine) && ids.contains(&theirs));
    // To delete it is how one begins anew.
    sandbox.git(&["update-ref", "-d", RECORDS]);
    let said = sandbox.run(&["log"]);
    assert!(
        said.err.contains("deleted") && said.out.is_empty(),
        "{said:?}"
    );
    sandbox.record("anew", &[]);
    assert_eq!(sandbox.log_ids().len(), 1);
}

#[test]
fn the_records_after_many_writers_are_not_taken_for_another_programs() {
    let sandbox = Sandbox::new();
    sandbox.record("the first", &[]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for writer in 0..3 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                (0..8).for_each(|n| drop(sandbox.record(&format!("{writer} {n}"), &[])))
            });
        }
        let (sandbox, is_over) = (&sandbox, &is_over);
        scope.spawn(move || {
            while !is_over.load(Relaxed) {
                let said = sandbox.run(&["log", "--count"]);
                assert!(said.err.is_empty(), "{}", said.err);
                if said.out == "25\n" {
                    return;
                }
            }
        });
    });
    assert_eq!(sandbox.run(&["log", "--count"]).out, "25\n");
}

/// Every way in which a part can be lost, with the reference that it is of and what is left of 4 records and 2 look-ups.
#[test]
fn whatever_is_lost_has_a_way_out() {
    let parts: [(&str, &str); 7] = [
        (RECORDS, ""),
        (RECORDS, "2026-11-30"),
        (ATTENTION, ""),
        (ATTENTION, "2026-11-30"),
        (ATTENTION, "LOOKUP"),
        (ATTENTION, "LOOKUP/attention.json"),
        (ATTENTION, "LOOKUP/corpus"),
    ];
    for (reference, part) in parts {
        let sandbox = Sandbox::new();
        sandbox.leave_unchecked();
        for n in 0..3 {
            sandbox.record(&format!("number {n}"), &["src"]);
        }
        let first = string(&sandbox.json(&["query", "number"])["attention_id"]);
        sandbox.record("number 3", &["src"]);
        sandbox.run(&["query", "number, asked again"]);
        let path = format!("2026-11-30/{}/{first}", &first[..2]);
        let part = part.replace("LOOKUP", &path);
        let object = sandbox.git(&["rev-parse", &format!("{reference}:{part}")]);
        sandbox.lose(&object);
        drop(fs::remove_dir_all(sandbox.path(".git/score-context")));
        let mut gc = sandbox.command("git", "r");
        gc.args(["gc", "-q"]);
        assert_ne!(collect(gc, None).code, 0, "{reference}:{part} is needed");
        let said = collect(sandbox.tool(&["fsck", "--repair"]), None);
        assert!(
            said.code == 0 && said.out.contains("repaired: "),
            "{reference}:{part}: {said:?}"
        );
        sandbox.git(&["gc", "-q", "--prune=now"]);
        sandbox.assert_sound("r");
        sandbox.run(&["fsck"]);
        let id = sandbox.record("and it still writes", &[]);
        sandbox.run(&["query", "and it answers"]);
        sandbox.run(&["forget", &id]);
        let left = sandbox.log_ids().len();
        assert!(
            left >= if reference == RECORDS { 3 } else { 4 },
            "{reference}:{part}: {left}"
        );
    }
}

#[test]
fn the_journal_outlives_a_pruning_of_the_caches() {
    let sandbox = Sandbox::new();
    sandbox.record("kept twice", &[]);
    let journal = sandbox.path(".git/score-context/journal");
    assert!(journal.exists());
    sandbox.run(&["prune", "--caches"]);
    assert!(journal.exists());
}

/// What a person who never runs `fsck` meets: the day's first writer mends or drops what is damaged, and says so.
#[test]
fn the_days_first_writer_repairs_what_is_damaged() {
    let sandbox = Sandbox::new();
    sandbox.leave_unchecked();
    sandbox.record("number 1", &["src"]);
    let first = string(&sandbox.json(&["query", "number"])["attention_id"]);
    sandbox.record("number 2", &["src"]);
    let path = format!("2026-11-30/{}/{first}/corpus", &first[..2]);
    let object = sandbox.git(&["rev-parse", &format!("{ATTENTION}:{path}")]);
    sandbox.lose(&object);
    drop(fs::remove_dir_all(sandbox.path(".git/score-context")));
    sandbox.step(86_400);
    let said = sandbox.run(&["record", "on the next day"]);
    assert!(
        said.err.contains("damaged") && said.err.contains(&first),
        "{}",
        said.err
    );
    sandbox.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(sandbox.log_ids().len(), 3);
}

/// A person who has no idea of `fsck` and wants a text to be gone.
#[test]
fn forget_and_prune_work_on_a_damaged_memory() {
    for part in ["", "/attention.json"] {
        for command in ["forget", "prune"] {
            let sandbox = Sandbox::new();
            sandbox.leave_unchecked();
            let id = sandbox.record("number 1", &["src"]);
            let first = string(&sandbox.json(&["query", "number"])["attention_id"]);
            let path = format!("2026-11-30/{}/{first}{part}", &first[..2]);
            let object = sandbox.git(&["rev-parse", &format!("{ATTENTION}:{path}")]);
            sandbox.lose(&object);
            drop(fs::remove_dir_all(sandbox.path(".git/score-context")));
            let arguments: &[&str] = if command == "forget" {
                &["forget", &id]
            } else {
                &["prune"]
            };
            let said = sandbox.run(arguments);
            assert!(said.err.contains(&first), "{command} {part}: {}", said.err);
            sandbox.git(&["gc", "-q", "--prune=now"]);
            sandbox.run(&["fsck"]);
        }
    }
}
