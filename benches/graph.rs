//! What the code graph costs, against the bars it has to meet: CPU time, user and system, and memory.
//!
//! `SCORE_BENCH_REPO=<clone> cargo bench --bench graph` measures on a clone of that repository, else on one made here. With
//! `SCORE_BENCH_COPIES=1,2,4` it also nests that many copies of the repository's source files into one, each file a blob of its own, and
//! shows how time and memory grow. Asserts nothing: machines differ. Linux and macOS only (`getrusage`).

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TOOL: &str = env!("CARGO_BIN_EXE_git-score-context");
const ROUNDS: usize = 9;
/// The limits of the tool, so that both sides parse the same files.
const MAX_BYTES: usize = 1 << 20;
const MAX_LINE: usize = 20_000;

fn main() {
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let repo = prepare(place.path());
    let sources = sources(&repo);
    let bytes: usize = sources.iter().map(|source| source.text.len()).sum();
    println!(
        "{} source files, {:.1} MB",
        sources.len(),
        bytes as f64 / 1e6
    );
    println!(
        "{:<36} {:>10} {:>10} {:>7} {:>5}",
        "what / beside what", "CPU", "beside", "ratio", "bar"
    );

    let (mut cold, mut parse, mut next, mut warm, mut rev) =
        (vec![], vec![], vec![], vec![], vec![]);
    let mut peak = 0;
    for round in 0..ROUNDS {
        drop(std::fs::remove_dir_all(repo.join(".git/score-context")));
        cold.push(child(|| graph(&repo)));
        if round == 0 {
            peak = usage(libc::RUSAGE_CHILDREN).1;
        }
        parse.push(own(|| bare_parse(&sources)));
        change(&repo, &sources, round);
        next.push(child(|| graph(&repo)));
        warm.push(child(|| (0..10).for_each(|_| graph(&repo))) / 10.0);
        rev.push(child(|| (0..10).for_each(|_| git(&repo, &["rev-parse", "HEAD"], b""))) / 10.0);
    }
    let cold_time = median(&cold);
    row(
        "cold / bare parse of the same files",
        cold_time,
        median(&parse),
        2.0,
    );
    row(
        "next commit (4 files) / cold",
        median(&next),
        cold_time,
        0.1,
    );
    row(
        "same tree / git rev-parse",
        median(&warm),
        median(&rev),
        10.0,
    );
    println!("peak memory, cold: {} MB (bar 200)", peak >> 20);
    if let Ok(copies) = std::env::var("SCORE_BENCH_COPIES") {
        grow(place.path(), &sources, &copies);
    }
}

fn row(what: &str, one: f64, other: f64, bar: f64) {
    println!(
        "{what:<36} {one:>8.1}ms {other:>8.1}ms {:>7.3} {bar:>5}",
        one / other
    );
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The CPU time so far in milliseconds, and the largest resident set in bytes, of this process or of its children that have ended.
#[expect(unsafe_code, reason = "the standard library has no getrusage")]
fn usage(who: libc::c_int) -> (f64, usize) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a value of the right type, which zeros are valid for.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let millis = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    (
        millis(usage.ru_utime) + millis(usage.ru_stime),
        usage.ru_maxrss as usize * unit,
    )
}

fn child(run: impl FnOnce()) -> f64 {
    let before = usage(libc::RUSAGE_CHILDREN).0;
    run();
    usage(libc::RUSAGE_CHILDREN).0 - before
}

fn own(run: impl FnOnce()) -> f64 {
    let before = usage(libc::RUSAGE_SELF).0;
    run();
    usage(libc::RUSAGE_SELF).0 - before
}

/// A file that the tool reads.
struct Source {
    path: String,
    text: Vec<u8>,
}

/// The source files of HEAD, as the tool chooses them.
fn sources(repo: &Path) -> Vec<Source> {
    let listed = output(repo, &["ls-tree", "-r", "-z", "--name-only", "HEAD"], b"");
    let mut sources = Vec::new();
    for path in String::from_utf8_lossy(&listed)
        .split('\0')
        .filter(|path| !path.is_empty())
    {
        let folders = [
            "node_modules",
            "vendor",
            "bower_components",
            "site-packages",
        ];
        if grammar(path).is_none()
            || path.split('/').any(|part| folders.contains(&part))
            || path.contains(".min.")
        {
            continue;
        }
        let text = output(repo, &["cat-file", "blob", &format!("HEAD:{path}")], b"");
        let is_long = text
            .split(|&byte| byte == b'\n')
            .any(|line| line.len() > MAX_LINE);
        if text.len() <= MAX_BYTES && !is_long {
            sources.push(Source {
                path: path.to_owned(),
                text,
            });
        }
    }
    sources
}

fn grammar(path: &str) -> Option<tree_sitter::Language> {
    Some(match path.rsplit_once('.')?.1 {
        "py" | "pyi" => tree_sitter_python::LANGUAGE.into(),
        "js" | "mjs" | "cjs" | "jsx" => tree_sitter_javascript::LANGUAGE.into(),
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        _ => return None,
    })
}

fn bare_parse(sources: &[Source]) {
    let mut parser = tree_sitter::Parser::new();
    for source in sources {
        let grammar = grammar(&source.path).expect("it was chosen by its grammar");
        parser
            .set_language(&grammar)
            .expect("the grammar fits the library");
        let tree = parser.parse(&source.text, None);
        std::hint::black_box(tree.map(|tree| tree.root_node().end_byte()));
    }
}

/// A commit that changes four files.
fn change(repo: &Path, sources: &[Source], round: usize) {
    let step = (sources.len() / 4).max(1);
    for source in sources.iter().step_by(step).take(4) {
        let mark = if source.path.ends_with(".py") {
            "#"
        } else {
            "//"
        };
        let mut text = source.text.clone();
        text.extend_from_slice(format!("\n{mark} {round}\n").as_bytes());
        std::fs::write(repo.join(&source.path), text).expect("a file can be written");
    }
    git(
        repo,
        &[&IDENTITY[..], &["commit", "-qam", "next"]].concat(),
        b"",
    );
}

/// Time and memory at several numbers of copies.
fn grow(place: &Path, sources: &[Source], copies: &str) {
    println!(
        "{:>8} {:>10} {:>12} {:>10}",
        "files", "CPU", "a file", "peak"
    );
    for copies in copies
        .split(',')
        .filter_map(|copies| copies.trim().parse::<usize>().ok())
    {
        let repo = place.join(format!("copies{copies}"));
        std::fs::create_dir_all(&repo).expect("a directory can be made");
        git(&repo, &["init", "-q", "-b", "main"], b"");
        git(&repo, &["fast-import", "--quiet"], &nested(sources, copies));
        // Of all children only the largest shows, so the sizes have to rise.
        let time = child(|| graph(&repo));
        let files = sources.len() * copies;
        println!(
            "{files:>8} {time:>8.0}ms {:>10.3}ms {:>7} MB",
            time / files as f64,
            usage(libc::RUSAGE_CHILDREN).1 >> 20
        );
    }
}

/// A history of one commit, as `git fast-import` reads it, in which every copy of a file is another blob.
fn nested(sources: &[Source], copies: usize) -> Vec<u8> {
    let mut stream =
        b"commit refs/heads/main\ncommitter b <b@example.invalid> 0 +0000\ndata 0\n".to_vec();
    for copy in 0..copies {
        for source in sources {
            let mark = if source.path.ends_with(".py") {
                "#"
            } else {
                "//"
            };
            let mut text = source.text.clone();
            text.extend_from_slice(format!("\n{mark} copy {copy}\n").as_bytes());
            let mut head = String::new();
            writeln!(
                head,
                "M 100644 inline \"copy{copy}/{}\"\ndata {}",
                source.path,
                text.len()
            )
            .expect("text takes it");
            stream.extend_from_slice(head.as_bytes());
            stream.extend_from_slice(&text);
            stream.push(b'\n');
        }
    }
    stream
}

const IDENTITY: [&str; 4] = [
    "-c",
    "user.name=bench",
    "-c",
    "user.email=bench@example.invalid",
];

/// A clone of the repository that was named, or one of 300 small Python files.
fn prepare(place: &Path) -> PathBuf {
    let repo = place.join("repo");
    if let Some(source) = std::env::var_os("SCORE_BENCH_REPO") {
        let mut clone = Command::new("git");
        clone.args(["clone", "-q"]).arg(source).arg(&repo);
        assert!(
            clone.status().is_ok_and(|status| status.success()),
            "the repository can be cloned"
        );
        return repo;
    }
    std::fs::create_dir_all(repo.join("src")).expect("a directory can be made");
    for file in 0..300 {
        let text: String = (0..60)
            .map(|n| format!("def f{n}(x):\n    return f{}(x) + {file}\n\n", (n + 1) % 60))
            .collect();
        std::fs::write(repo.join(format!("src/m{file}.py")), text).expect("a file can be written");
    }
    git(&repo, &["init", "-q"], b"");
    git(&repo, &["add", "-A"], b"");
    git(
        &repo,
        &[&IDENTITY[..], &["commit", "-qm", "start"]].concat(),
        b"",
    );
    repo
}

fn graph(repo: &Path) {
    let mut tool = Command::new(TOOL);
    tool.args(["-q", "graph", "stats"])
        .current_dir(repo)
        .stdout(Stdio::null());
    assert!(
        tool.status().is_ok_and(|status| status.success()),
        "the graph is built"
    );
}

fn git(repo: &Path, arguments: &[&str], input: &[u8]) {
    drop(output(repo, arguments, input));
}

fn output(repo: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(repo);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("git is installed");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || drop(stdin.write_all(input)));
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {arguments:?}");
        output.stdout
    })
}
