//! What the commands cost, each beside a floor or a peer measured in the same run.
//!
//! `cargo bench` measures on a repository made for the purpose; `SCORE_BENCH_REPO=<clone> cargo bench` on a clone of that one. Every
//! pair is run alternately, so that both meet the same noise, and the median wall time and the ratio are printed. Asserts nothing:
//! machines differ. `cargo bench -- mcp` measures the MCP server alone, also in a repository of 50,000 files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod mcp;

const TOOL: &str = env!("CARGO_BIN_EXE_git-score-context");
const ROUNDS: usize = 15;

fn main() {
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let repo = prepare(place.path());
    if std::env::args().any(|argument| argument == "mcp") {
        mcp::measure(&repo, place.path());
        return;
    }
    heading();

    let rev_parse = || git(&repo, &["rev-parse", "HEAD^{tree}"]);
    beside(
        "start-up (log --count) / git rev-parse",
        || tool(&repo, &["log", "--count"], None),
        rev_parse,
    );

    let cold = || {
        drop(std::fs::remove_dir_all(repo.join(".git/score-context")));
        tool(&repo, &["graph", "stats"], None);
    };
    let every_blob = || {
        let list = output(&repo, &["ls-tree", "-r", "--format=%(objectname)", "HEAD"]);
        feed(
            Command::new("git")
                .args(["cat-file", "--batch"])
                .current_dir(&repo),
            &list,
        );
    };
    beside("cold graph / git cat-file of every blob", cold, every_blob);
    beside(
        "warm graph / git rev-parse",
        || tool(&repo, &["graph", "stats"], None),
        rev_parse,
    );

    let mut number = 0;
    let hash_object = || {
        feed(
            Command::new("git")
                .args(["hash-object", "-w", "--stdin"])
                .current_dir(&repo),
            b"a decision\n",
        );
        git(&repo, &["update-ref", "refs/bench/one", "HEAD"]);
    };
    let mut record = || {
        number += 1;
        tool(
            &repo,
            &[
                "record",
                &format!("decision number {number}"),
                "--node",
                "src",
            ],
            None,
        );
    };
    beside(
        "record, empty store / hash-object + update-ref",
        &mut record,
        hash_object,
    );

    for size in [100, 10_000] {
        fill(&repo, size);
        let query = || {
            tool(
                &repo,
                &["query", "change how the cache is keyed", "--node", "src"],
                None,
            )
        };
        beside(
            &format!("query at {size} records / git rev-parse"),
            query,
            rev_parse,
        );
        beside(
            &format!("query at {size} records / git log --grep"),
            query,
            || {
                git(&repo, &["log", "--oneline", "--grep=cache", "-n", "5"]);
            },
        );
        beside(
            &format!("record at {size} records / git rev-parse"),
            &mut record,
            rev_parse,
        );
    }
}

fn heading() {
    println!(
        "{:<44} {:>10} {:>10} {:>8}",
        "what, and beside what", "median", "beside", "ratio"
    );
}

/// Runs both alternately and prints the medians.
fn beside(what: &str, mut one: impl FnMut(), mut other: impl FnMut()) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ones.push(timed(&mut one));
        others.push(timed(&mut other));
    }
    let (one, other) = (median(ones), median(others));
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    println!(
        "{what:<44} {:>8.1}ms {:>8.1}ms {ratio:>8.1}",
        millis(one),
        millis(other)
    );
}

fn timed(run: &mut impl FnMut()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A clone of the repository that was named, or one of 300 small Python files.
fn prepare(place: &Path) -> PathBuf {
    let repo = place.join("repo");
    if let Some(source) = std::env::var_os("SCORE_BENCH_REPO") {
        let source = PathBuf::from(source);
        let cloned = Command::new("git")
            .args(["clone", "-q"])
            .arg(source)
            .arg(&repo)
            .status();
        assert!(
            cloned.is_ok_and(|status| status.success()),
            "the repository can be cloned"
        );
        return repo;
    }
    std::fs::create_dir_all(repo.join("src")).expect("a directory can be made");
    for file in 0..300 {
        let text: String = (0..30)
            .map(|n| format!("def f{n}(x):\n    return f{}(x) + {file}\n\n", (n + 1) % 30))
            .collect();
        std::fs::write(repo.join(format!("src/m{file}.py")), text).expect("a file can be written");
    }
    git(&repo, &["init", "-q"]);
    git(&repo, &["add", "-A"]);
    let identity = [
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.invalid",
    ];
    git(
        &repo,
        &[&identity[..], &["commit", "-qm", "start"]].concat(),
    );
    repo
}

/// A store with exactly so many records.
fn fill(repo: &Path, size: usize) {
    for name in ["records", "attention"] {
        git(
            repo,
            &["update-ref", "-d", &format!("refs/score-local/{name}")],
        );
    }
    let words = [
        "cache", "index", "key", "tree", "lock", "retry", "token", "graph", "merge", "anchor",
        "parse", "query",
    ];
    let lines: String = (0..size)
        .map(|n| {
            let text: Vec<_> = (0..40)
                .map(|at| words[(n * 7 + at * at + n / 11) % words.len()])
                .collect();
            format!(
                "{{\"text\":\"decision {n} {}\",\"nodes\":[\"src\"],\"session\":\"s{}\"}}\n",
                text.join(" "),
                n % 50
            )
        })
        .collect();
    tool(repo, &["record", "--stdin"], Some(lines.as_bytes()));
}

fn tool(repo: &Path, args: &[&str], input: Option<&[u8]>) {
    feed(
        Command::new(TOOL).arg("-q").args(args).current_dir(repo),
        input.unwrap_or_default(),
    );
}

fn git(repo: &Path, args: &[&str]) {
    feed(Command::new("git").args(args).current_dir(repo), b"");
}

fn output(repo: &Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new("git").args(args).current_dir(repo).output();
    output.expect("git is installed").stdout
}

fn feed(command: &mut Command, input: &[u8]) {
    use std::io::Write;
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.expect("the command can be started");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        let mut sink = std::io::sink();
        let mut stdout = child.stdout.take().expect("standard output is a pipe");
        drop(std::io::copy(&mut stdout, &mut sink));
    });
    let status = child.wait().expect("the command ends");
    assert!(status.success(), "{command:?}: {status}");
}
