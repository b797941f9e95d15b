//! What the touch counts of `measured/1` cost: the walk over history, and the derived file that spares it. CPU time, user and system.
//!
//! `SCORE_BENCH_REPO=<clone> cargo bench --bench history` measures on a clone of that repository, with one record. The code graph is
//! always there already, so that a look-up about `.` differs from one under `seed/1` by its touch counts alone, and one about a file also by
//! who wrote its lines, beside `git blame -w` of the same files. Then the file of touches is filled by look-ups all
//! over the history, of all branches, and everything but the first look-up is measured again. Asserts nothing: machines differ. Linux and
//! macOS only (`getrusage`).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TOOL: &str = env!("CARGO_BIN_EXE_git-score-context");
const ROUNDS: usize = 9;
/// Look-ups of which the mean is taken, since one alone is shorter than the ticks in which some systems count.
const EACH: usize = 10;
/// So many commits lie between those asked at to fill the file: fewer than a look-up's window.
const STRIDE: usize = 2000;

fn main() {
    let Some(source) = std::env::var_os("SCORE_BENCH_REPO") else {
        println!("SCORE_BENCH_REPO has to name a repository with a history");
        return;
    };
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let repo = prepare(&source, place.path());
    for rule in ["measured/1", "seed/1"] {
        let policy = format!("version = 1\n[attention]\nrule = \"{rule}\"\n");
        let name = format!("{}.toml", &rule[..rule.len() - 2]);
        std::fs::write(repo.join(name), policy).expect("a file can be written");
    }
    tool(
        &repo,
        &["record", "sessions live in signed cookies", "--node", "."],
    );
    ask(&repo, "measured", &["."]);
    println!(
        "{:<52} {:>10} {:>10} {:>7}",
        "what / beside what", "CPU", "beside", "ratio"
    );
    let (mut cold, mut log) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        drop(std::fs::remove_file(file(&repo)));
        cold.push(child(|| ask(&repo, "measured", &["."])));
        log.push(child(|| git(&repo, &["log", "--name-only", "-2000"])));
    }
    row("first look-up / git log --name-only -2000", cold, log);
    blame(&repo);
    warm(&repo);
    fill(&repo);
    warm(&repo);
}

/// What a look-up costs with the file as it is.
fn warm(repo: &Path) {
    let bytes = std::fs::read(file(repo)).expect("a look-up wrote the file");
    // Behind 16 bytes of magic and the length of an id stands the number of commits.
    let count = u32::from_le_bytes(bytes[20..24].try_into().expect("four bytes"));
    println!("{count} commits kept, {:.1} MB", bytes.len() as f64 / 1e6);
    let (mut same, mut seed, mut rev, mut next) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        same.push(mean(|| ask(repo, "measured", &["."])));
        seed.push(mean(|| ask(repo, "seed", &["."])));
        rev.push(mean(|| git(repo, &["rev-parse", "HEAD"])));
        commit(repo);
        next.push(child(|| ask(repo, "measured", &["."])));
    }
    row("next look-up / git rev-parse", same.clone(), rev.clone());
    row("next look-up / the same under seed/1", same, seed);
    row("look-up after one more commit / git rev-parse", next, rev);
}

/// Look-ups so far apart that together they walk everything.
fn fill(repo: &Path) {
    let all = output(repo, &["rev-list", "--all"]);
    let line = |commit: &str| format!("{{\"task\":\"session\",\"at\":\"{commit}\"}}\n");
    let cases: String = all.lines().step_by(STRIDE).map(line).collect();
    let cases_file = repo.join(".git/cases.jsonl");
    std::fs::write(&cases_file, cases).expect("a file can be written");
    let cases = cases_file.to_string_lossy();
    tool(
        repo,
        &["eval", &cases, "--all-records", "--rule", "measured/1"],
    );
}

fn file(repo: &Path) -> PathBuf {
    repo.join(".git/score-context/touched.bin")
}

/// What it costs to find out who wrote files: the one, and the ten, that most of the newest commits touch.
fn blame(repo: &Path) {
    let log = ["log", "--no-merges", "-2000", "--format=", "--name-only"];
    let touched = output(repo, &[&log[..], &["--", "*.py", "*.js", "*.ts"]].concat());
    let mut counts = BTreeMap::new();
    for path in touched.lines().filter(|path| repo.join(path).is_file()) {
        *counts.entry(path).or_insert(0) += 1;
    }
    let mut busiest: Vec<&str> = counts.keys().copied().collect();
    busiest.sort_by_key(|path| std::cmp::Reverse(counts[path]));
    for most in [1, 10] {
        let files = &busiest[..most.min(busiest.len())];
        let (mut measured, mut seed, mut git_blame) = (vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            measured.push(child(|| ask(repo, "measured", files)));
            seed.push(child(|| ask(repo, "seed", files)));
            git_blame.push(child(|| {
                for file in files {
                    git(repo, &["blame", "-w", file]);
                }
            }));
        }
        let what = format!("look-up about the {most} busiest files");
        row(&format!("{what} / git blame"), measured.clone(), git_blame);
        row(&format!("{what} / under seed/1"), measured, seed);
    }
}

fn ask(repo: &Path, rule: &str, nodes: &[&str]) {
    let policy = format!("{rule}.toml");
    let mut args = vec![
        "query",
        "change how sessions are stored",
        "--policy",
        &policy,
    ];
    for node in nodes {
        args.extend(["--node", node]);
    }
    tool(repo, &args);
}

fn commit(repo: &Path) {
    let identity = [
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.invalid",
    ];
    git(
        repo,
        &[
            &identity[..],
            &["commit", "-q", "--allow-empty", "-m", "one more"],
        ]
        .concat(),
    );
}

fn prepare(source: &OsStr, place: &Path) -> PathBuf {
    let repo = place.join("repo");
    let cloned = Command::new("git")
        .args(["clone", "-q"])
        .arg(source)
        .arg(&repo)
        .status();
    assert!(
        cloned.is_ok_and(|status| status.success()),
        "the repository can be cloned"
    );
    repo
}

fn row(what: &str, one: Vec<f64>, other: Vec<f64>) {
    let (one, other) = (median(one), median(other));
    println!(
        "{what:<52} {one:>8.1}ms {other:>8.1}ms {:>7.1}",
        one / other
    );
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn mean(run: impl Fn()) -> f64 {
    child(|| (0..EACH).for_each(|_| run())) / EACH as f64
}

fn child(run: impl FnOnce()) -> f64 {
    let before = spent();
    run();
    spent() - before
}

/// The CPU time of the children that have ended, in milliseconds.
#[expect(unsafe_code, reason = "the standard library has no getrusage")]
fn spent() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a value of the right type, which zeros are valid for.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let millis = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    millis(usage.ru_utime) + millis(usage.ru_stime)
}

fn tool(repo: &Path, args: &[&str]) {
    run(Command::new(TOOL).arg("-q").args(args).current_dir(repo));
}

fn git(repo: &Path, args: &[&str]) {
    run(Command::new("git").args(args).current_dir(repo));
}

fn output(repo: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(repo).output();
    String::from_utf8_lossy(&output.expect("git is installed").stdout).into_owned()
}

fn run(command: &mut Command) {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    let status = quiet.status().expect("the command can be started");
    assert!(status.success(), "{command:?}: {status}");
}
