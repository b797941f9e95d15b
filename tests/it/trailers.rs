//! Trailers are what Git says they are: one repository with every message as a commit, one `git log`, and our reading beside it.
//!
//! The messages are the files of `fixtures/trailers/`, and some hundreds put together at random from lines that have misled
//! one parser or another.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use git_score_context::ingest::trailer::{self, Message};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// What `git log` says of one message.
struct Told {
    subject: String,
    trailers: Vec<(String, String)>,
    body: String,
}

fn git(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(home)
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C.UTF-8");
    for leaked in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_COUNT",
        "XDG_CONFIG_HOME",
    ] {
        command.env_remove(leaked);
    }
    command
}

/// Makes one commit per message, byte for byte, and asks for all of them in one go.
fn ask_git(messages: &[String]) -> Vec<Told> {
    let home = tempfile::tempdir().expect("a temporary directory");
    assert!(
        git(home.path(), &["init", "-q", "--bare"])
            .status()
            .expect("git runs")
            .success()
    );
    let mut import = git(home.path(), &["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("git runs");
    let mut stdin = import.stdin.take().expect("stdin is piped");
    for (at, message) in messages.iter().enumerate() {
        write!(stdin, "commit refs/heads/main\ncommitter A <a@example.invalid> {at} +0000\ndata {}\n{message}\n", message.len())
            .expect("git reads");
    }
    drop(stdin);
    assert!(import.wait().expect("git ends").success());

    let format = "--format=%ct%x01%s%x01%(trailers:only,unfold,separator=%x02,key_value_separator=%x03)%x01%b";
    let log = git(home.path(), &["log", "-z", format, "main"])
        .output()
        .expect("git runs");
    assert!(
        log.status.success(),
        "{}",
        String::from_utf8_lossy(&log.stderr)
    );
    let text = String::from_utf8(log.stdout).expect("the messages are UTF-8");
    let mut told: Vec<(usize, Told)> = text.split_terminator('\0').map(read).collect();
    told.sort_by_key(|(at, _)| *at);
    assert!(told.iter().map(|(at, _)| *at).eq(0..messages.len()));
    told.into_iter().map(|(_, told)| told).collect()
}

fn read(entry: &str) -> (usize, Told) {
    let parts: Vec<&str> = entry.split('\u{1}').collect();
    let [at, subject, trailers, body] = parts[..] else {
        panic!("four fields in {entry:?}");
    };
    let pair = |line: &str| {
        let (key, value) = line.split_once('\u{3}').expect("a key and a value");
        (key.to_owned(), value.to_owned())
    };
    let trailers = trailers
        .split('\u{2}')
        .filter(|line| !line.is_empty())
        .map(pair)
        .collect();
    (
        at.parse().expect("a number"),
        Told {
            subject: subject.to_owned(),
            trailers,
            body: body.to_owned(),
        },
    )
}

/// Git keeps a carriage return inside a text, we never do; where it has one, white space may differ by that.
fn same(git: &str, ours: &str) -> bool {
    let words = |text: &str| {
        text.split([' ', '\r'])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    git == ours || git.contains('\r') && !ours.contains('\r') && words(git) == words(ours)
}

fn difference(told: &Told, message: &str) -> Option<String> {
    let Message {
        subject,
        body,
        trailers,
    } = trailer::parse(message);
    let cut = message.contains(" >8 ");
    if !cut && !same(&told.subject, &subject) {
        return Some(format!("subject: git {:?}, here {subject:?}", told.subject));
    }
    let alike = told.trailers.len() == trailers.len()
        && told
            .trailers
            .iter()
            .zip(&trailers)
            .all(|((key, value), ours)| *key == ours.key && same(value, &ours.value));
    if !alike {
        return Some(format!(
            "trailers: git {:?}, here {trailers:?}",
            told.trailers
        ));
    }
    let taken_out = ["onflicts:", "(cherry picked", "\r"]
        .iter()
        .any(|text| message.contains(text));
    if told.trailers.is_empty() && !cut && !taken_out && told.body.trim_end() != body {
        return Some(format!("body: git {:?}, here {body:?}", told.body));
    }
    None
}

fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/trailers");
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            (
                path.display().to_string(),
                fs::read_to_string(&path).expect("UTF-8"),
            )
        })
        .collect();
    files.sort();
    files
}

#[test]
fn tricky_messages_read_as_git_reads_them() {
    let (names, messages): (Vec<_>, Vec<_>) = fixtures().into_iter().unzip();
    assert!(messages.len() >= 40, "{} messages", messages.len());
    let told = ask_git(&messages);
    let with = told.iter().filter(|told| !told.trailers.is_empty()).count();
    assert!(
        with >= 20 && messages.len() - with >= 20,
        "{with} of {} have trailers",
        messages.len()
    );
    let wrong: Vec<String> = std::iter::zip(names, std::iter::zip(&told, &messages))
        .filter_map(|(name, (told, message))| {
            Some(format!("{name}: {}", difference(told, message)?))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A line that means something to a parser of trailers, or nearly does.
fn line() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "",
        "",
        "",
        " ",
        "\t",
        "Decision: x",
        "Rejected : y",
        "Key:",
        "Key: v \t",
        "-: v",
        ": v",
        "Signed-off-by: A <a@b>",
        "Signed-off-by:A",
        "signed-off-by: a",
        "(cherry picked from commit 0123)",
        "(cherry picked",
        "prose",
        "more prose: with colon",
        "  folded",
        "\tfolded: too",
        " ",
        "# comment",
        "#",
        "#: x",
        "---",
        "--- ",
        "Conflicts:",
        "\tpath",
        "# Conflicts:",
        "#\tpath",
        "https://example.invalid",
        "Schlüssel: x",
        "# ------------------------ >8 ------------------------",
        "Key\u{a0}: v",
        "\u{feff}Key: v",
        "\u{c}",
        "a\rb",
        "Key: a\rb",
        "[a: b]",
        "Ke y: v",
    ])
    .prop_map(str::to_owned);
    prop_oneof![6 => known, 1 => "[ -~\t]{0,9}", 1 => "[A-Za-z-]{1,4}[ \t]?: ?[a-z]{0,3}"]
}

#[test]
fn random_messages_read_as_git_reads_them() {
    let ending = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    let body = prop::collection::vec((line(), ending), 0..14);
    let title = prop_oneof![4 => Just("s\n\n"), 1 => Just("")];
    let message = (title, body).prop_map(|(title, lines)| {
        let lines: String = lines
            .into_iter()
            .map(|(line, ending)| line + ending)
            .collect();
        format!("{title}{lines}")
    });
    // The same messages on every run: a red test stays red until somebody mends it.
    let mut runner = TestRunner::deterministic();
    let messages: Vec<String> = (0..3_000)
        .map(|_| {
            message
                .new_tree(&mut runner)
                .expect("nothing is filtered")
                .current()
        })
        .collect();
    let told = ask_git(&messages);
    let with = told.iter().filter(|told| !told.trailers.is_empty()).count();
    assert!(with >= 300, "only {with} have trailers");
    let wrong: Vec<String> = std::iter::zip(&told, &messages)
        .filter_map(|(told, message)| Some(format!("{message:?}: {}", difference(told, message)?)))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
}
