#![no_main]
//! See `checks/mcp.rs`. The server reads and writes the process's own standard input and output, so these are files here.
//!
//! The first byte says whether the handshake comes first, and whether there is a repository to ask.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use git_score_context::mcp::{Settings, serve};
use git_score_context::record::Time;
use git_score_context_fuzz::checks::mcp::{HANDSHAKE, check, line_of};

/// So many inputs share a repository: each may add to its memory.
const SHARED: usize = 300;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else {
        return;
    };
    let line = line_of(rest);
    let begin = if how & 1 == 0 { HANDSHAKE } else { "" };
    let directory = if how & 2 == 0 {
        PathBuf::from("/nowhere")
    } else {
        repository()
    };
    let said = said_to(&[begin.as_bytes(), &line, b"\n"].concat(), directory);
    let said = match begin {
        "" => &said[..],
        _ => said.split_once('\n').expect("the handshake is answered").1,
    };
    check([&line[..]].into_iter(), said);
});

/// What the server says to an input.
fn said_to(input: &[u8], directory: PathBuf) -> String {
    static FILES: OnceLock<[File; 2]> = OnceLock::new();
    let [given, said] = FILES.get_or_init(|| {
        let files = [0, 1].map(|_| tempfile::tempfile().expect("a temporary file"));
        for (number, file) in (0..).zip(&files) {
            // SAFETY: both are open; nothing else of this process has 0 or 1 for its own.
            assert!(unsafe { libc::dup2(file.as_raw_fd(), number) } >= 0);
        }
        files
    });
    let begin = |mut file: &File| {
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .expect("a file");
    };
    begin(given);
    begin(said);
    let mut given: &File = given;
    given
        .write_all(input)
        .and_then(|()| given.seek(SeekFrom::Start(0)))
        .expect("a file");
    let served = serve(Settings {
        directory,
        git_dir: None,
        clock: || Ok(Time(1_796_040_000)),
    });
    // Who reads may still be at it where the conversation never began.
    drop(std::io::stdin().lock().read_to_end(&mut Vec::new()));
    let mut said: &File = said;
    let mut text = String::new();
    said.seek(SeekFrom::Start(0))
        .and_then(|_| said.read_to_string(&mut text))
        .expect("answers are text");
    assert!(
        served.is_ok() || text.is_empty() || text.contains("error"),
        "{served:?}: {text}"
    );
    text
}

/// A repository with a file and a commit, and a new one every so often.
fn repository() -> PathBuf {
    static PLACE: std::sync::Mutex<Option<(usize, tempfile::TempDir)>> =
        std::sync::Mutex::new(None);
    let mut place = PLACE.lock().expect("no panic");
    if place.as_ref().is_none_or(|(used, _)| *used >= SHARED) {
        let top = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(top.path().join("a.py"), "def a():\n    pass\n").expect("written");
        let who = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.invalid",
            "-c",
            "gc.auto=0",
        ];
        for words in [
            &["init", "-q"][..],
            &["add", "a.py"],
            &["commit", "-q", "-m", "a"],
        ] {
            let mut git = Command::new("git");
            git.current_dir(top.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            let done = git
                .stdin(std::process::Stdio::null())
                .args(who)
                .args(words)
                .status()
                .expect("git is there");
            assert!(done.success());
        }
        *place = Some((0, top));
    }
    let (used, top) = place.as_mut().expect("it was made");
    *used += 1;
    top.path().to_owned()
}
