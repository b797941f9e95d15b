//! What a commit costs with our hooks, beside the same commit without them.
//!
//! `cargo bench --bench commits` measures on a tiny repository, and with `SCORE_BENCH_REPO=<clone>` on a clone of that one as well.
//! Two equal clones get the same commits in turn, so that both meet the same noise; the medians of wall time and of processor time
//! are printed. Everything else is as Git sets it: `git commit` also looks whether maintenance is due. Asserts nothing: machines differ.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    measure("tiny", &tiny, place.path());
    if let Some(source) = std::env::var_os("SCORE_BENCH_REPO") {
        let source = PathBuf::from(source);
        let name = source
            .components()
            .rev()
            .nth(1)
            .map(|part| part.as_os_str().to_string_lossy());
        measure(&name.unwrap_or("clone".into()), &source, place.path());
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
                let (message, begun, spent) = (
                    message.replace('N', &round.to_string()),
                    Instant::now(),
                    processor(),
                );
                git(repo, &["commit", "-q", "-m", &message]);
                costs[at].push((begun.elapsed(), processor() - spent));
            }
        }
        for (unit, of) in [("wall", 0), ("processor", 1)] {
            let [with, without] = [&costs[0], &costs[1]].map(|costs| {
                let pick = |cost: &(Duration, Duration)| if of == 0 { cost.0 } else { cost.1 };
                let mut times: Vec<_> = costs.iter().map(pick).collect();
                times.sort();
                times[times.len() / 2].as_secs_f64() * 1000.0
            });
            let what = format!("{name}, {what}, {unit}");
            println!(
                "{what:<44} {with:>8.1}ms {without:>8.1}ms {:>8.2}",
                with / without
            );
        }
    }
}

/// The processor time of every child that has ended, as the system tells it.
fn processor() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let field = |at: usize| -> u64 {
        let field = after_name.split_whitespace().nth(at);
        field.and_then(|field| field.parse().ok()).unwrap_or(0)
    };
    // The 16th and 17th field of proc(5), in hundredths of a second; the name before is the second.
    Duration::from_millis(10 * (field(13) + field(14)))
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
