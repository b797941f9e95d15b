//! The lines that an installation adds to a configuration file, and how they come out again.
//!
//! Bytes in, bytes out. Only what stands below our mark is ever taken away, and nothing that somebody else put there.

const MARK: &str = "# git score-context hook install wrote this; hook uninstall takes it away";
/// The mark where a line break had to be added first.
const JOINED: &str = ", with the line break before it";

/// One line of a configuration file: section, key, value.
pub type Setting<'a> = (&'a str, &'a str, &'a str);

/// The file with these settings at its end. Those of one section stand together.
pub fn with(text: &[u8], settings: &[Setting<'_>]) -> Vec<u8> {
    let mut text = text.to_vec();
    if settings.is_empty() {
        return text;
    }
    let is_joined = text.last().is_some_and(|last| *last != b'\n');
    let (start, rest) = if is_joined { ("\n", JOINED) } else { ("", "") };
    text.extend_from_slice(format!("{start}{MARK}{rest}\n").as_bytes());
    let mut section = "";
    for (of, key, value) in settings {
        if *of != section {
            text.extend_from_slice(format!("[{of}]\n").as_bytes());
            section = of;
        }
        text.extend_from_slice(line(key, value).as_bytes());
    }
    text
}

/// Whether an installation has added its lines to a file.
pub fn is_in(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(MARK.as_bytes()))
}

/// The file without what [`with`] has added of `settings`, whichever of them that was.
pub fn without(text: &[u8], settings: &[Setting<'_>]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let Some(mark) = lines
        .iter()
        .position(|line| line.starts_with(MARK.as_bytes()))
    else {
        return text.to_vec();
    };
    let mut kept: Vec<&[u8]> = lines[..mark].to_vec();
    let mut at = mark + 1;
    // Our sections follow the mark. Git adds later settings of the same section to them.
    while let Some(of) = lines.get(at).and_then(|line| section_of(line, settings)) {
        let end = (at + 1..lines.len())
            .find(|next| is_header(lines[*next]))
            .unwrap_or(lines.len());
        let is_ours = |text: &[u8]| {
            let mut of_section = settings.iter().filter(|(section, ..)| *section == of);
            of_section.any(|(_, key, value)| text == line(key, value).as_bytes())
        };
        let others: Vec<&[u8]> = lines[at + 1..end]
            .iter()
            .copied()
            .filter(|line| !is_ours(line))
            .collect();
        if others.iter().any(|line| is_setting(line)) {
            kept.push(lines[at]);
        }
        kept.extend(others);
        at = end;
    }
    kept.extend(&lines[at..]);
    let is_joined = lines[mark].trim_ascii_end().ends_with(JOINED.as_bytes());
    let mut bytes = kept.concat();
    if is_joined && kept.len() == mark {
        bytes.pop();
    }
    bytes
}

fn line(key: &str, value: &str) -> String {
    format!("\t{key} = {value}\n")
}

fn section_of<'a>(line: &[u8], settings: &[Setting<'a>]) -> Option<&'a str> {
    let of = |section: &str| line == format!("[{section}]\n").as_bytes();
    settings
        .iter()
        .map(|(section, ..)| *section)
        .find(|section| of(section))
}

fn is_header(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"[")
}

fn is_setting(line: &[u8]) -> bool {
    !matches!(line.trim_ascii_start().first(), None | Some(b'#' | b';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: [Setting<'_>; 3] = [
        ("transfer", "hideRefs", "refs/x"),
        ("transfer", "hideRefs", "refs/y"),
        ("tool", "on", "true"),
    ];

    #[test]
    fn what_was_added_comes_out_to_the_byte() {
        let files = [
            "",
            "[core]\n\tbare = false\n",
            "[core]\n\tbare = false",
            "[transfer]\n\thideRefs = refs/x\n[tool]\n",
            "\u{feff}[a]\r\n\tb = c\r\n# end",
        ];
        for file in files {
            for ours in [&OURS[..], &OURS[..2], &OURS[2..], &[]] {
                let with = with(file.as_bytes(), ours);
                assert_eq!(is_in(&with), !ours.is_empty());
                assert_eq!(without(&with, &OURS), file.as_bytes(), "{file:?}");
                assert_eq!(without(file.as_bytes(), &OURS), file.as_bytes());
            }
        }
    }

    #[test]
    fn what_others_added_stays() {
        let with = String::from_utf8(with(b"[core]\n", &OURS)).expect("UTF-8");
        let edits = [
            (with.clone(), "[core]\n"),
            (
                with.replace("= refs/y\n", "= refs/y\n\tfsck = true\n"),
                "[core]\n[transfer]\n\tfsck = true\n",
            ),
            (
                format!("{with}\tmore = 1\n"),
                "[core]\n[tool]\n\tmore = 1\n",
            ),
            (
                format!("{with}\n# mine\n[remote \"o\"]\n\turl = x\n"),
                "[core]\n\n# mine\n[remote \"o\"]\n\turl = x\n",
            ),
            (
                with.replace("= refs/x\n", "= refs/z\n"),
                "[core]\n[transfer]\n\thideRefs = refs/z\n",
            ),
        ];
        for (edited, expected) in edits {
            let bare = without(edited.as_bytes(), &OURS);
            assert_eq!(String::from_utf8_lossy(&bare), expected, "{edited}");
        }
    }
}
