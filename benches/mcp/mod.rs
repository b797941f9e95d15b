//! What the MCP server costs: starting, the first answer, the first look-up without a cache, and each further call.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use super::{TOOL, beside, fill, git, heading, median, millis};

/// Files of the large repository.
const MANY: usize = 50_000;
/// Calls of one server whose median is taken.
const CALLS: usize = 50;

/// A server, and what is said to it.
struct Talk {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: usize,
}

impl Talk {
    /// Started and past the handshake.
    fn begin(repo: &Path) -> Self {
        let mut child = Command::new(TOOL)
            .arg("mcp")
            .current_dir(repo)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("standard input is a pipe");
        let output = child.stdout.take().expect("standard output is a pipe");
        let mut talk = Self {
            child,
            input,
            output: BufReader::new(output),
            number: 0,
        };
        talk.ask(
            "initialize",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#,
        );
        talk
    }

    /// Says a request and waits for its answer.
    fn ask(&mut self, method: &str, params: &str) -> String {
        self.number += 1;
        let id = self.number;
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        writeln!(self.input, "{line}").expect("the server listens");
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .expect("the server answers");
        assert!(answer.contains(r#""result""#), "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &str) -> String {
        let answer = self.ask(
            "tools/call",
            &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#),
        );
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        answer
    }

    fn end(self) {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        assert!(child.wait().expect("the server ends").success());
    }
}

const ASKED: &str = r#"{"task_text":"change how the cache is keyed","current_nodes":["src"]}"#;

/// Measures, and prints a line for each.
pub fn measure(repo: &Path, place: &Path) {
    heading();
    let rev_parse = |repo: &Path| git(repo, &["rev-parse", "HEAD^{tree}"]);
    fill(repo, 100);
    beside(
        "mcp: start, handshake, end / git rev-parse",
        || Talk::begin(repo).end(),
        || rev_parse(repo),
    );
    let listed = || {
        let mut talk = Talk::begin(repo);
        talk.ask("tools/list", "{}");
        talk.end();
    };
    beside("mcp: the same and tools/list", listed, || rev_parse(repo));
    calls(repo, "100 records");
    fill(repo, 10_000);
    calls(repo, "10,000 records");

    let large = many(place);
    fill(&large, 100);
    let cold = || {
        drop(std::fs::remove_dir_all(large.join(".git/score-context")));
        let mut talk = Talk::begin(&large);
        let answer = talk.call("get_prior_context", ASKED);
        assert!(
            answer.contains("paths only"),
            "a graph of 50,000 files was waited for"
        );
        talk.end();
    };
    beside("mcp: first look-up, 50,000 files, cold", cold, || {
        rev_parse(&large);
    });
    git(&large, &["status", "--short"]);
    super::tool(&large, &["graph", "stats"], None);
    let warm = || {
        let mut talk = Talk::begin(&large);
        talk.call("get_prior_context", ASKED);
        talk.end();
    };
    beside("mcp: first look-up, 50,000 files, warm", warm, || {
        rev_parse(&large);
    });
}

/// The median of many calls of one server.
fn calls(repo: &Path, what: &str) {
    let mut talk = Talk::begin(repo);
    talk.call("get_prior_context", ASKED);
    let mut number = 0;
    let mut run = |tool: &str, arguments: &mut dyn FnMut() -> String| {
        let times = (0..CALLS).map(|_| {
            let arguments = arguments();
            let begun = Instant::now();
            talk.call(tool, &arguments);
            begun.elapsed()
        });
        let name = format!("mcp: {tool}, {what}");
        println!("{name:<44} {:>8.1}ms", millis(median(times.collect())));
    };
    run("get_prior_context", &mut || ASKED.to_owned());
    run("record_decision", &mut || {
        number += 1;
        format!(r#"{{"text":"decision number {number}","nodes":["src"]}}"#)
    });
    run("get_working_memory", &mut || {
        r#"{"session":"s1"}"#.to_owned()
    });
    run("query_graph", &mut || r#"{"node":"src"}"#.to_owned());
    talk.end();
}

/// A repository of many small Python files.
fn many(place: &Path) -> std::path::PathBuf {
    let repo = place.join("many");
    for folder in 0..MANY / 100 {
        let folder = repo.join(format!("src/p{folder}"));
        std::fs::create_dir_all(&folder).expect("a directory can be made");
        for file in 0..100 {
            let name = format!("{}/m{file}", folder.display());
            let text = format!(
                "class C{file}:\n    def run(self, x):\n        return '{name}'\n\n\ndef f(x):\n    return C{file}().run(x)\n"
            );
            std::fs::write(folder.join(format!("m{file}.py")), text)
                .expect("a file can be written");
        }
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
