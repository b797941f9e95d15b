//! The texts of our hooks: writing them, and knowing them again.
//!
//! In: the name of a hook, the path of the binary, the text of the hook that was there before, the text of a file that may be ours.
//! Out: bytes and verdicts. Never touches a file. Every hook is `hooks/frame` with what is its own put in: places to be filled are
//! written `{{SO}}`.

use std::path::Path;

use crate::id::RecordId;

const FRAME: &str = include_str!("../../hooks/frame");
const INGEST: &str = include_str!("../../hooks/ingest");
const INPUT: &str = include_str!("../../hooks/input");
/// Leaves in the middle of a rebase.
const REBASE: &str = include_str!("../../hooks/rebase");
const REWRITE: &str = include_str!("../../hooks/post-rewrite");
/// What stops a push of the private memory: shell, for `$1` and `$input` of a pre-push hook.
const GUARD: &str = include_str!("../../hooks/guard");
/// The same by what is pushed: asks the tool, where it is there.
const OBJECTS: &str = include_str!("../../hooks/objects");
/// A line that begins and ends so is in every hook we write, whatever the version.
const MARK: (&[u8], &[u8]) = (b"# git-score-context ", b" hook");

/// A hook that we install.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    /// After `git commit`, also with `--amend`.
    PostCommit,
    /// After `git merge` and `git pull`, which fire no post-commit hook.
    PostMerge,
    /// After `git commit --amend` and `git rebase`; reads pairs of commits.
    PostRewrite,
    /// After each patch of `git am`.
    PostApplypatch,
    /// Before `git push`; reads what is about to be pushed, and may stop it.
    PrePush,
}

impl Hook {
    /// Every one, in the order in which they are told.
    pub const ALL: [Hook; 5] = [
        Hook::PostCommit,
        Hook::PostMerge,
        Hook::PostRewrite,
        Hook::PostApplypatch,
        Hook::PrePush,
    ];

    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Hook::PostCommit => "post-commit",
            Hook::PostMerge => "post-merge",
            Hook::PostRewrite => "post-rewrite",
            Hook::PostApplypatch => "post-applypatch",
            Hook::PrePush => "pre-push",
        }
    }

    /// What runs before the earlier hook, and what after it.
    fn parts(self) -> (String, &'static str) {
        match self {
            Hook::PostCommit | Hook::PostMerge | Hook::PostApplypatch => (String::new(), INGEST),
            Hook::PostRewrite => (INPUT.to_owned(), REWRITE),
            // First, so that of a push that is stopped nothing else is done either: Git LFS uploads in its pre-push hook.
            Hook::PrePush => (format!("{INPUT}{GUARD}{OBJECTS}"), ""),
        }
    }
}

/// What stands where our hook belongs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// Nothing.
    Absent,
    /// Somebody else's hook.
    Foreign,
    /// Ours, as written by some version; and whether the folder was made for it.
    Ours {
        /// Then it can go with the hook.
        made_folder: bool,
    },
    /// Ours, edited since.
    Changed,
}

/// Whose a hook is. Ours ends in the hash of all that comes before, so that any version knows the files of every other.
pub fn whose(bytes: &[u8]) -> Found {
    let is_mark = |line: &[u8]| line.starts_with(MARK.0) && line.ends_with(MARK.1);
    if !bytes.split(|byte| *byte == b'\n').any(is_mark) {
        return Found::Foreign;
    }
    let (text, digest) = bytes.split_at(bytes.len().saturating_sub(65));
    if digest != format!("{}\n", RecordId::of(text)).as_bytes() {
        return Found::Changed;
    }
    Found::Ours {
        made_folder: text.ends_with(last_line(true).as_bytes()),
    }
}

/// The whole hook: the frame with its parts, then its own digest. `earlier` is the text of the hook that runs too, empty without one.
pub fn text(hook: Hook, binary: &Path, earlier: &[u8], made_folder: bool) -> Vec<u8> {
    let (before, after) = hook.parts();
    let earlier = match before.is_empty() {
        true => call(earlier),
        // Byte for byte what Git gave, also when that was nothing; a hook that does not read it makes no noise.
        false => format!(
            "printf '%s' \"${{input:+$input\n}}\" 2>/dev/null | {}",
            call(earlier)
        ),
    };
    let frame = FRAME
        .replace("{{BEFORE}}", &before)
        .replace("{{AFTER}}", after)
        .replace("{{REBASE}}", REBASE)
        .replace("{{EARLIER}}", &earlier)
        .replace("{{NAME}}", hook.name());
    // Last, and not as text: a path may have any bytes.
    let binary = quoted(binary.as_os_str().as_encoded_bytes());
    let parts: Vec<&[u8]> = frame.split("{{TOOL}}").map(str::as_bytes).collect();
    let mut text = parts.join(&binary[..]);
    text.extend_from_slice(last_line(made_folder).as_bytes());
    let digest = RecordId::of(&text);
    text.extend_from_slice(format!("{digest}\n").as_bytes());
    text
}

fn last_line(made_folder: bool) -> String {
    format!(
        "# folder {}, digest ",
        if made_folder { "made" } else { "found" }
    )
}

/// How the earlier hook is run. A shell script that asks for its own name (Husky's does, to find the user's script) is read by its
/// shell under the name it always had; everything else is executed.
fn call(earlier: &[u8]) -> String {
    let script = String::from_utf8_lossy(earlier);
    let first = script.split('\n').next().unwrap_or_default();
    let shell = first
        .strip_prefix("#!")
        .map(str::trim_start)
        .filter(|shell| is_shell(shell));
    let asks = script.contains("$0") || script.contains("${0");
    match shell {
        // With BASH_SOURCE a script tells being read from being executed.
        Some(shell) if asks && !script.contains("BASH_SOURCE") => {
            format!("{shell} -c '. \"$0.score-context\"' \"$hook\" \"$@\"")
        }
        _ => "\"$hook.score-context\" \"$@\"".to_owned(),
    }
}

/// `/bin/sh`, `/usr/bin/env bash`, `/bin/sh -e`: nothing that would mean something else when written into a script.
fn is_shell(line: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.- ".contains(&byte);
    let mut words = line.split(' ').filter(|word| !word.starts_with('-'));
    let program = words
        .find(|word| !word.ends_with("/env"))
        .and_then(|word| word.rsplit('/').next());
    line.bytes().all(is_plain)
        && matches!(program, Some("sh" | "dash" | "bash"))
        && words.next().is_none()
}

/// One word for a shell, whatever bytes it has.
fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut word = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edit_of_our_file_shows() {
        for hook in Hook::ALL {
            let bytes = text(hook, Path::new("/bin/tool"), b"", false);
            assert_eq!(whose(&bytes), Found::Ours { made_folder: false });
            let made = text(hook, Path::new("/bin/tool"), b"", true);
            assert_eq!(whose(&made), Found::Ours { made_folder: true });
            for at in 0..bytes.len() {
                let mut edited = bytes.clone();
                edited[at] ^= 1;
                let found = whose(&edited);
                assert!(matches!(found, Found::Changed | Found::Foreign), "at {at}");
                let cut = whose(&bytes[..at]);
                assert!(!matches!(cut, Found::Ours { .. }), "cut at {at}");
            }
            let edited = [&bytes[..], b"echo mine\n"].concat();
            assert_eq!(whose(&edited), Found::Changed);
            let edited = [&b"#!/bin/sh\necho mine\n"[..], &bytes].concat();
            assert_eq!(whose(&edited), Found::Changed);
        }
        let by_hand = b"#!/bin/sh\ngit score-context hook run post-commit\n";
        assert_eq!(whose(by_hand), Found::Foreign);
        assert_eq!(whose(b""), Found::Foreign);
    }

    #[test]
    fn every_place_of_a_template_is_filled() {
        for hook in Hook::ALL {
            let bytes = text(hook, Path::new("/bin/tool"), b"", false);
            let text = String::from_utf8(bytes).expect("UTF-8");
            assert!(!text.contains("{{") && !text.contains("}}"), "{text}");
            let marks = text
                .lines()
                .filter(|line| line.starts_with("# git-score-context "));
            let expected = format!("# git-score-context {} hook", hook.name());
            assert_eq!(marks.collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn a_path_is_one_word() {
        let path = Path::new("/it's {{NAME}} $HOME/`x`");
        let bytes = text(Hook::PostCommit, path, b"", false);
        let line = b"\ntool='/it'\\''s {{NAME}} $HOME/`x`'\n";
        assert!(
            bytes.windows(line.len()).any(|window| window == line),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }

    #[test]
    fn only_a_shell_script_that_asks_for_its_name_is_read_by_its_shell() {
        let read = [
            ("#!/bin/sh\n. \"$(dirname \"$0\")/h\"\n", "/bin/sh -c "),
            ("#! /usr/bin/env sh\nn=${0##*/}\n", "/usr/bin/env sh -c "),
            ("#!/bin/bash -e\necho $0\n", "/bin/bash -e -c "),
            (
                "#!/usr/bin/env -S bash -e\necho $0\n",
                "/usr/bin/env -S bash -e -c ",
            ),
        ];
        for (script, start) in read {
            assert!(
                call(script.as_bytes()).starts_with(start),
                "{script}: {}",
                call(script.as_bytes())
            );
        }
        let executed = [
            "",
            "echo $0\n",
            "#!/bin/sh\necho one\n",
            "#!/bin/sh\r\necho $0\r\n",
            "#!/bin/sh; rm -r x\n$0\n",
            "#!/bin/sh x\n$0\n",
            "#!/usr/bin/env python3\nprint('$0')\n",
            "#!/usr/bin/env\n$0\n",
            "#!/bin/bash\n[ \"$0\" = \"${BASH_SOURCE[0]}\" ] && main\n",
        ];
        for script in executed {
            assert_eq!(
                call(script.as_bytes()),
                "\"$hook.score-context\" \"$@\"",
                "{script}"
            );
        }
    }
}
