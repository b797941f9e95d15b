//! What a commit costs with our hooks, beside the same commit without them.
//!
//! `cargo bench --bench commits` measures on a tiny repository, and with `SCORE_BENCH_REPO=<clone>` on a clone of that one as well.
//! Two equal clones get the same commits in turn, so that both meet the same noise; the medians of wall time are printed:
//! a commit is shorter than the clock ticks that the system counts processor time in. Everything else is as Git sets it: `git commit` also looks whether maintenance is due. Asserts nothing: machines differ.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const TOOL: &str = env!("CARGO_BIN_EXE_git-score-context");
const ROUNDS: usize = 60;

fn main() {
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    println!(
        "{:<44} {:>10} {:>10} {:>8}",
        "a commit, in milliseconds", "with", "without", "ratio"
    );
    let tiny = place.path().join("tiny");
    git(place.path(), &["init", "-q", "tiny"]);
    std::fs::write(tiny.join("file.py"), "def f():\n    return 1\n")
        .expect("a file can be written");
    git(&tiny, &["add", "-A"]);
    git(&tiny, &["commit", "-qm", "start"]);
    measure("one file", &tiny, place.path());
    if let Some(source) = std::env::var_os("SCORE_BENCH_REPO") {
        let source = PathBuf::from(source);
        measure("the clone", &source, place.path());
    }
}

/// Commits in two clones of a repository, one with the hooks and one without.
fn measure(name: &str, source: &Path, place: &Path) {
    let [with, without] = ["with", "without"].map(|kind| {
        let clone = place.join(format!("{name}-{kind}"));
        git(
            place,
            &[
                "clone",
                "-q",
                &source.to_string_lossy(),
                &clone.to_string_lossy(),
            ],
        );
        clone
    });
    run(Command::new(TOOL)
        .args(["-q", "hook", "install"])
        .current_dir(&with));
    for (what, message) in [
        (
            "without a trailer",
            "subject N\n\nA body that explains\nwhat was done.",
        ),
        (
            "with a decision",
            "subject N\n\nDecision: number N is chosen",
        ),
    ] {
        let mut costs = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            for (at, repo) in [&with, &without].into_iter().enumerate() {
                std::fs::write(repo.join("changed.py"), format!("x = {round}  # {what}\n"))
                    .expect("a file can be written");
                git(repo, &["add", "-A"]);
                let message = message.replace('N', &round.to_string());
                let begun = Instant::now();
                git(repo, &["commit", "-q", "-m", &message]);
                costs[at].push(begun.elapsed());
            }
        }
        let [with, without] = costs.map(|mut times| {
            times.sort();
            times[times.len() / 2].as_secs_f64() * 1000.0
        });
        let what = format!("{name}, {what}");
        println!(
            "{what:<44} {with:>8.1}ms {without:>8.1}ms {:>8.2}",
            with / without
        );
    }
}

fn git(dir: &Path, arguments: &[&str]) {
    let identity = [
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.invalid",
    ];
    run(Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(dir));
}

fn run(command: &mut Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
}
