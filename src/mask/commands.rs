//! Passwords on command lines, by the options of the programs that take them.
//!
//! In: a text. Out: where they stand. Options that name what they take (`--password`) are found by their name, not here.

use crate::mask::commands::Form::{Bare, Glued, Login, Pair, Spaced};
use crate::mask::span::{Span, is_blank, is_break, is_quote, run, span};
use crate::mask::value::is_placeholder;

/// How an option takes its password.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `-pSECRET`, and nothing where a blank follows.
    Glued,
    /// `-p SECRET` or `-pSECRET`.
    Spaced,
    /// Such, where `login` stands before it.
    Login,
    /// `-u USER:SECRET`, also with `%` or `,` between.
    Pair,
    /// The word so many places behind this one.
    Bare(usize),
}

/// Programs, the option, and its form. Sorted by the first program.
#[rustfmt::skip]
const OPTIONS: &[(&[&str], &[&str], Form)] = &[
    (&["7z", "7za", "rar", "unrar"], &["-p"], Glued),
    (&["bcp", "sqlcmd", "isql"], &["-P"], Spaced),
    (&["clickhouse-client"], &["--password"], Spaced),
    (&["cqlsh", "cypher-shell", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "arangosh", "influx"], &["-p"], Spaced),
    (&["curl"], &["-u", "--user", "-U", "--proxy-user"], Pair),
    (&["docker", "podman", "helm", "nerdctl", "buildah", "skopeo", "crane", "oc", "az", "cf", "oras", "argocd", "rancher"], &["-p"], Login),
    (&["http", "https", "xh"], &["-a", "--auth"], Pair),
    (&["ipmitool"], &["-P"], Spaced),
    (&["keytool", "jarsigner", "apksigner"], &["-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-destkeypass"], Spaced),
    (&["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"], &["-w"], Spaced),
    (&["lftp"], &["-u"], Pair),
    (&["mosquitto_pub", "mosquitto_sub"], &["-P"], Spaced),
    (&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mariadb", "mariadb-dump", "mycli"], &["-p"], Glued),
    (&["net"], &["/user:", "/u:"], Bare(1)),
    (&["openssl"], &["-k", "-K"], Spaced),
    (&["rabbitmqctl"], &["add_user", "change_password", "authenticate_user"], Bare(2)),
    (&["redis-cli", "redis-benchmark"], &["-a"], Spaced),
    (&["smbclient", "rpcclient", "smbget"], &["-U"], Pair),
    (&["snmpget", "snmpwalk"], &["-A", "-X"], Spaced),
    (&["sshpass"], &["-p"], Spaced),
    (&["vault"], &["login"], Bare(1)),
    (&["xfreerdp", "rdesktop"], &["/p:", "-p"], Spaced),
    (&["zip", "unzip", "zipcloak"], &["-P"], Spaced),
];

/// A word of a command, in bytes.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
}

/// What is known of the command that is being read.
#[derive(Default)]
struct Command {
    program: Option<&'static (&'static [&'static str], &'static [&'static str], Form)>,
    login: bool,
    /// The next words until the password.
    wait: Option<usize>,
}

/// Finds every password that a command is given.
pub fn find_in_commands(text: &str, lower: &str, found: &mut Vec<Span>) {
    machine(text, lower, found);
    let bytes = text.as_bytes();
    let mut command = Command::default();
    let mut at = 0;
    while at < bytes.len() {
        let gap = run(bytes, at, usize::MAX, |byte| {
            is_blank(byte) || is_break(byte)
        });
        let ends = bytes[at..gap].iter().any(|byte| is_break(*byte))
            && !(at > 0 && bytes[at - 1] == b'\\');
        if ends {
            command = Command::default();
        }
        let word = word(bytes, gap);
        at = word.end.max(gap + 1);
        if word.end > word.start {
            step(text, word, &mut command, found);
        }
    }
}

/// A word that starts here: blanks in quotes belong to it where the quotes are closed soon.
fn word(bytes: &[u8], start: usize) -> Word {
    let mut end = run(bytes, start, usize::MAX, |byte| {
        !is_blank(byte) && !is_break(byte) && !is_quote(byte)
    });
    while bytes.get(end).is_some_and(|byte| is_quote(*byte)) {
        let quote = bytes[end];
        let close = run(bytes, end + 1, 120, |byte| byte != quote && !is_break(byte));
        let closed = bytes.get(close) == Some(&quote);
        end = if closed && close > end + 1 {
            close + 1
        } else {
            end + 1
        };
        end = run(bytes, end, usize::MAX, |byte| {
            !is_blank(byte) && !is_break(byte) && !is_quote(byte)
        });
    }
    Word { start, end }
}

/// Reads the next word of a command.
fn step(text: &str, word: Word, command: &mut Command, found: &mut Vec<Span>) {
    let content = &text[word.start..word.end];
    if let Some(wait) = command.wait.take() {
        match wait {
            1 => give(
                text,
                word,
                command.program.is_some_and(|(.., form)| *form == Pair),
                found,
            ),
            more => command.wait = Some(more - 1),
        }
        return;
    }
    if matches!(content, "|" | "||" | "&&" | ";" | "#") {
        *command = Command::default();
        return;
    }
    let bare = content.trim_start_matches(['`', '"', '\'', '$', '(', '#', '+', '>']);
    let base = bare.rsplit('/').next().unwrap_or(bare);
    if let Some(option) = OPTIONS
        .iter()
        .find(|(programs, ..)| programs.contains(&base))
    {
        *command = Command {
            program: Some(option),
            login: false,
            wait: None,
        };
        return;
    }
    command.login |= content == "login";
    pass(text, word, found);
    let Some((_, options, form)) = command.program else {
        return;
    };
    let Some(option) = options.iter().find(|option| content.starts_with(**option)) else {
        return;
    };
    let rest = &content[option.len()..];
    let behind = Word {
        start: word.start + option.len() + usize::from(rest.starts_with('=')),
        end: word.end,
    };
    match form {
        Bare(places) if rest.is_empty() || option.ends_with(':') => command.wait = Some(*places),
        Bare(_) => {}
        Login if !command.login => {}
        Glued | Spaced | Login | Pair if !rest.is_empty() => {
            let is_other = rest.starts_with(|first: char| first.is_ascii_alphabetic())
                && option.len() > 2
                && !option.ends_with(':');
            if !is_other && !rest.starts_with("ort") && !rest.starts_with("roto") {
                give(text, behind, *form == Pair, found);
            }
        }
        Glued => {}
        Spaced | Login | Pair => command.wait = Some(1),
    }
}

/// `pass:SECRET` of openssl, and the pair that is sent to `chpasswd`.
fn pass(text: &str, word: Word, found: &mut Vec<Span>) {
    let content = &text[word.start..word.end];
    if let Some(rest) = content.strip_prefix("pass:").filter(|rest| rest.len() >= 4) {
        give(
            text,
            Word {
                start: word.end - rest.len(),
                end: word.end,
            },
            false,
            found,
        );
    }
    let bytes = text.as_bytes();
    let near = &bytes[word.end..bytes.len().min(word.end + 24)];
    let piped = near.windows(8).any(|window| window == b"chpasswd")
        && near.iter().take(3).any(|byte| *byte == b'|');
    let stdin = bytes[word.end..bytes.len().min(word.end + 90)]
        .split(|byte| is_break(*byte))
        .next()
        .unwrap_or_default();
    let reads = stdin
        .windows(16)
        .any(|window| window == b"--password-stdin")
        || stdin.windows(7).any(|window| window == b"sudo -S")
        || stdin.windows(12).any(|window| window == b"passwd --std");
    if piped && content.contains(':') {
        give(text, word, true, found);
    } else if reads
        && near.iter().take(2).any(|byte| *byte == b'|')
        && !content.starts_with("--")
        && !matches!(content, "cat" | "echo")
    {
        give(text, word, false, found);
    }
}

/// Masks a word, or the part of it behind the user.
fn give(text: &str, word: Word, pair: bool, found: &mut Vec<Span>) {
    let quotes = ['"', '\'', '`', '\\'];
    let content = &text[word.start..word.end];
    let content = content.trim_end_matches(|last| quotes.contains(&last) || ";),.".contains(last));
    let opened = content.trim_start_matches(quotes);
    let mut start = word.start + content.len() - opened.len();
    let mut secret = opened;
    if pair {
        let Some(colon) = secret.find([':', '%', ',']) else {
            return;
        };
        let user = &secret[..colon];
        if user.starts_with(['$', '<', '{', '/', '-'])
            && user.len() > 1
            && !user.ends_with('"')
            && !user.starts_with("{")
        {
            return;
        }
        let rest = secret[colon + 1..].trim_start_matches(quotes);
        start += secret.len() - rest.len();
        if rest.is_empty()
            && user.len() >= 8
            && !is_placeholder(user)
            && user.bytes().any(|byte| byte.is_ascii_digit())
        {
            found.push(span(start - 1 - user.len()..start - 1, "password"));
        }
        if rest == user || matches!(rest, "test" | "user") {
            return;
        }
        secret = rest;
    }
    let generated = secret.len() >= 8
        && secret.starts_with('{')
        && !secret[1..].contains('{')
        && secret.bytes().any(|byte| byte.is_ascii_digit());
    let fits = secret.len() >= 4
        && (generated || !is_placeholder(secret))
        && !secret.starts_with('-')
        && !secret.contains("$(")
        && !secret.starts_with("//");
    if fits {
        found.push(span(start..start + secret.len(), "password"));
    }
}

/// The password of a `.netrc`.
fn machine(text: &str, lower: &str, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let space = |byte: u8| is_blank(byte) || is_break(byte);
    for (at, machine) in lower.match_indices("machine") {
        let mut word = Word {
            start: at,
            end: at + machine.len(),
        };
        let mut words = Vec::new();
        for _ in 0..5 {
            let start = run(bytes, word.end, 16, space);
            word = Word {
                start,
                end: run(bytes, start, 200, |byte| !space(byte)),
            };
            words.push(
                &lower[crate::mask::span::floor(lower, word.start)
                    ..crate::mask::span::floor(lower, word.end)],
            );
        }
        if words.get(1) == Some(&"login")
            && words.get(3) == Some(&"password")
            && word.end > word.start
        {
            found.push(span(
                word.start..crate::mask::span::floor(text, word.end),
                "password",
            ));
        }
    }
}
