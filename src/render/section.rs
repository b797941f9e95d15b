//! A planner's prompt with one section put into it, and nothing else changed.
//!
//! In: the bytes of a Markdown prompt, and the body of the section. Out: the same bytes with the section in its place, once, however
//! often it is done. A prompt need not be UTF-8. Does no I/O.

use std::ops::Range;

use super::headings::{Heading, after_front_matter, headings};
use super::marks::{CLOSING, OPENING};

/// The heading of the section.
pub const SECTION: &str = "Relevant past decisions";
/// What the section says where there is nothing to say.
pub const NONE_YET: &str = "none recorded yet";
/// The section it follows.
const AFTER: &str = "Retrieved context";
/// The section it precedes.
const BEFORE: &str = "Constraints";
/// A task is told by its beginning; more would only be cut to words.
const MOST_TASK: usize = 16 * 1024;

/// The prompt with the section, whose body is lines that end with `\n`; they get the line ends of the prompt.
///
/// A section of that name is replaced, of several the first, and the others go. Without one it comes behind `## Retrieved context`, else
/// before `## Constraints`, else before the first `## `, else at the end; and where the end lies in an open fence or comment, before
/// the first `## ` or at the start.
pub fn with_section(prompt: &[u8], body: &str) -> Vec<u8> {
    let text = text_of(prompt);
    let found = headings(&text);
    let own = own_sections(&text, &found);
    let line_end = line_end(prompt);
    let section = |followed: bool| {
        let mut section = format!("## {SECTION}\n\n{}\n", body.trim_end_matches('\n'));
        if followed {
            section.push('\n');
        }
        section.replace('\n', line_end).into_bytes()
    };
    if let Some(first) = own.first() {
        let mut rest = Vec::new();
        let mut at = first.end;
        for other in &own[1..] {
            rest.extend(&prompt[at..other.start]);
            at = other.end;
        }
        rest.extend(&prompt[at..]);
        let section = section(!rest.is_empty());
        return [&prompt[..first.start], &section, &rest].concat();
    }
    if let Some(at) = place(&found, text.len()) {
        return [&prompt[..at], &section(true), &prompt[at..]].concat();
    }
    let mut out = prompt.to_vec();
    out.extend(gap(&text).replace('\n', line_end).into_bytes());
    out.extend(section(false));
    let whole = text_of(&out);
    if !own_sections(&whole, &headings(&whole)).is_empty() {
        return out;
    }
    // What is open at the end would swallow it.
    let first = found.iter().find(|heading| heading.level == 2);
    let start = first.map_or_else(|| after_front_matter(&text), |heading| heading.range.start);
    [&prompt[..start], &section(true), &prompt[start..]].concat()
}

/// What a prompt asks for: its text before the first `## `, else all of it; without front matter and without our section. At most
/// 16 KiB.
pub fn task_of(prompt: &[u8]) -> String {
    let text = text_of(prompt);
    let found = headings(&text);
    let start = after_front_matter(&text);
    let own = own_sections(&text, &found);
    let is_theirs = |heading: &&Heading| heading.level == 2 && !is(heading, SECTION);
    let first = found.iter().find(is_theirs);
    let before = first.map_or(text.len(), |heading| heading.range.start.max(start));
    let mut task = without(&text, start..before, &own);
    // A title alone asks for nothing.
    let says = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    if !task.lines().any(says) {
        task = without(&text, start..text.len(), &own);
    }
    let mut end = task.len().min(MOST_TASK);
    while !task.is_char_boundary(end) {
        end -= 1;
    }
    task.truncate(end);
    task
}

/// A part of a text without some parts of it, which are in order.
fn without(text: &str, part: Range<usize>, gaps: &[Range<usize>]) -> String {
    let mut out = String::new();
    let mut at = part.start;
    for gap in gaps.iter().filter(|gap| gap.start < part.end) {
        out.push_str(&text[at..gap.start.max(at)]);
        at = gap.end.max(at);
    }
    out.push_str(&text[at.min(part.end)..part.end]);
    out.trim().to_owned()
}

/// The bytes as text of the same length: offsets into one are offsets into the other. What is no UTF-8 is a question mark, and a lone
/// carriage return a line end, which CommonMark says and its parser does not hold everywhere.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    let mut characters = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        let is_alone = character == '\r' && characters.peek() != Some(&'\n');
        out.push(if is_alone { '\n' } else { character });
    }
    out
}

fn is(heading: &Heading, name: &str) -> bool {
    heading.level == 2 && heading.text.trim().eq_ignore_ascii_case(name)
}

/// Where the section under a heading ends: at the next heading that is not below it.
fn end_of(found: &[Heading], at: usize, length: usize) -> usize {
    let next = found[at + 1..].iter().find(|heading| heading.level <= 2);
    next.map_or(length, |heading| heading.range.start)
}

fn own_sections(text: &str, found: &[Heading]) -> Vec<Range<usize>> {
    let own = found
        .iter()
        .enumerate()
        .filter(|(_, heading)| is(heading, SECTION));
    own.map(|(at, heading)| {
        let end = end_of(found, at, text.len());
        let body = &text[heading.range.end.min(end)..end];
        heading.range.start..end - body.len() + ours(body).unwrap_or(body.len())
    })
    .collect()
}

/// How much of the text under our heading is what we put there; none when that is something else, all of which goes then. What a
/// person added behind it stays.
fn ours(body: &str) -> Option<usize> {
    let start = body.len() - body.trim_start().len();
    let said = &body[start..];
    let length = match said.starts_with(OPENING) {
        true => said.find(CLOSING)? + CLOSING.len(),
        false => said.strip_prefix(NONE_YET).map(|_| NONE_YET.len())?,
    };
    let mut end = start + length;
    // Its own line end, and the blank line that sets it off.
    for _ in 0..2 {
        let rest = &body[end..];
        end += match rest.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [] => 0,
            _ => break,
        };
    }
    Some(end)
}

/// The start of the heading before which a new section belongs; none for the end.
fn place(found: &[Heading], length: usize) -> Option<usize> {
    let after = found.iter().rposition(|heading| is(heading, AFTER));
    let end = match after {
        Some(after) => end_of(found, after, length),
        None => found
            .iter()
            .find(|heading| is(heading, BEFORE))
            .or_else(|| found.iter().find(|heading| heading.level == 2))
            .map_or(length, |heading| heading.range.start),
    };
    (end < length).then_some(end)
}

/// The line end of the prompt: that of its first line.
fn line_end(prompt: &[u8]) -> &'static str {
    let first = prompt.iter().position(|byte| b"\r\n".contains(byte));
    match first.map_or(&[][..], |at| &prompt[at..]) {
        [b'\r', b'\n', ..] => "\r\n",
        [b'\r', ..] => "\r",
        _ => "\n",
    }
}

/// What has to stand between the end of a text and a heading: a blank line.
fn gap(text: &str) -> &'static str {
    let rest = text.trim_end_matches([' ', '\t']);
    let ends = rest
        .strip_suffix('\n')
        .map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    let ends = ends.or_else(|| rest.strip_suffix('\r'));
    match ends {
        _ if text.trim_matches(['\u{feff}', '\n', '\r']).is_empty() => "",
        None => "\n\n",
        // A last line of blanks is a blank line once it has its end.
        Some(_) if rest.len() < text.len() => "\n",
        Some(before) if before.trim_end_matches([' ', '\t']).ends_with(['\n', '\r']) => "",
        Some(_) => "\n",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Prompts as planners have them, each with a way of going wrong.
    const PROMPTS: [&str; 24] = [
        "Fix the login.\n\n## Retrieved context\n\n- src/a.py\n\n## Constraints\n\n- no new service\n",
        "Fix the login.\n## Retrieved context\nfiles\n### Detail\nmore\n## Constraints\nnone",
        "# Task\n\nDo it.\n\n## Constraints\n\nx\n",
        "# Task\n\nDo it.\n\n## Output\n\nJSON\n",
        "Just prose, no heading at all",
        "Just prose, one line\n",
        "",
        "\n\n",
        "Do.\n\n```md\n## Retrieved context\n## Constraints\n## Relevant past decisions\n```\n\n## Constraints\n\nx\n",
        "Do.\n\n~~~~\n## Constraints\n~~~\n## Relevant past decisions\n~~~~\n\nend\n",
        "Do.\n\n```\nnever closed\n## Constraints\n",
        "Do.\n\n<!--\n## Constraints\n## Relevant past decisions\n-->\n\n## Constraints\nx\n",
        "Do.\n\n<!-- never closed\n## Constraints\n",
        "Do.\n\nRetrieved context\n-----------------\n\nx\n\nConstraints\n-----------\n\ny\n",
        "---\ntitle: x\n## Constraints\n---\n\nDo.\n\n## Constraints\ny\n",
        "1. one\n   - two\n\n     ## Constraints\n   - three\n2. four\n\n> ## Retrieved context\n> quoted\n",
        "Do.\n\n## Relevant past decisions\n\nold\n\n### more old\n\nold\n\n## Constraints\n\nx\n",
        "Do.\n\n## relevant past decisions ##\nold\n# Next\n\n## Relevant past decisions\n\nolder",
        "Do.\n\n## Constraints\n\nx\n\n## Retrieved context\n\nlast, and <div>\nopen",
        "   ## Retrieved context\n\n\tcode\n\n   ## Constraints   \n\nx  \n",
        "\u{feff}---\na: b\n---\n\nDo it, naïve 缓存.\n\n## Retrieved context \u{1f600}\n\n## Constraints\n",
        "\n\n ",
        "Do.\n \t",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n* * *\n\nDo.\n\n<details>\n\n## Constraints\n\n</details>\n",
    ];
    const BODY: &str = "<untrusted-prior-context hash=\"0\">\n[1] decision\n| ```\n| text\n</untrusted-prior-context>\n";

    /// The prompt without what was put in, and the section as it stands.
    fn apart(prompt: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
        let text = text_of(prompt);
        let own = own_sections(&text, &headings(&text));
        let (mut rest, mut at) = (Vec::new(), 0);
        for own in &own {
            rest.extend(&prompt[at..own.start]);
            at = own.end;
        }
        rest.extend(&prompt[at..]);
        (
            rest,
            own.into_iter().map(|own| prompt[own].to_vec()).collect(),
        )
    }

    fn check(prompt: &[u8]) {
        let once = with_section(prompt, BODY);
        let shown = String::from_utf8_lossy(&once).into_owned();
        let (rest, sections) = apart(&once);
        assert_eq!(sections.len(), 1, "one section: {shown:?}");
        let plain = String::from_utf8_lossy(&sections[0])
            .replace("\r\n", "\n")
            .replace('\r', "\n");
        assert_eq!(
            plain.trim_end(),
            format!("## {SECTION}\n\n{}", BODY.trim_end())
        );
        let (before, _) = apart(prompt);
        let added = rest.strip_prefix(&before[..]).map(|added| added.to_vec());
        let is_line_ends = |added: &Vec<u8>| added.iter().all(|byte| b"\r\n".contains(byte));
        assert!(
            rest == before || added.as_ref().is_some_and(is_line_ends),
            "the rest is unchanged, but for line ends before a section at the end: {shown:?}"
        );
        assert_eq!(with_section(&once, BODY), once, "twice is once: {shown:?}");
        let other = with_section(&once, NONE_YET);
        assert_eq!(
            apart(&other).0,
            rest,
            "another body changes the section alone"
        );
        assert_eq!(with_section(&other, BODY), once);
        assert_eq!(
            task_of(&once),
            task_of(prompt),
            "the task is the same: {shown:?}"
        );
    }

    #[test]
    fn real_looking_prompts_with_every_line_end() {
        for prompt in PROMPTS {
            for end in ["\n", "\r\n", "\r"] {
                let text = prompt.replace('\n', end);
                check(text.as_bytes());
                check(text.trim_end().as_bytes());
                let mut broken = text.into_bytes();
                broken.splice(0..0, [0xff, 0xc3, b' ']);
                broken.extend([b' ', 0xe2, 0x82]);
                check(&broken);
            }
        }
    }

    #[test]
    fn it_stands_between_context_and_constraints() {
        let placed = |prompt: &str| {
            let out = with_section(prompt.as_bytes(), "none recorded yet\n");
            let out = String::from_utf8_lossy(&out).into_owned();
            let at = |name: &str| out.find(name);
            (at("## Retrieved"), at("## Relevant"), at("## Constraints"))
        };
        for prompt in &PROMPTS[..2] {
            let (after, own, before) = placed(prompt);
            assert!(after < own && own < before, "{prompt:?}");
        }
        let (_, own, before) = placed(PROMPTS[2]);
        assert!(own < before);
        insta::assert_snapshot!(
            String::from_utf8_lossy(&with_section(PROMPTS[1].as_bytes(), "none recorded yet\n")),
            @r"
        Fix the login.
        ## Retrieved context
        files
        ### Detail
        more
        ## Relevant past decisions

        none recorded yet

        ## Constraints
        none
        "
        );
    }

    #[test]
    fn the_task_is_what_stands_before_the_first_section() {
        assert_eq!(task_of(PROMPTS[0].as_bytes()), "Fix the login.");
        assert_eq!(task_of(PROMPTS[2].as_bytes()), "# Task\n\nDo it.");
        assert_eq!(
            task_of(b"---\na: b\n---\n## Task\n\nDo it.\n"),
            "## Task\n\nDo it."
        );
        assert!(task_of("é".repeat(20_000).as_bytes()).len() <= MOST_TASK);
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-z *`<>#-]{0,12}",
            1 => Just("## Retrieved context".to_owned()),
            1 => Just("## Constraints".to_owned()),
            1 => Just("## Relevant past decisions".to_owned()),
            1 => "(```|~~~|<!--|-->|---|===|<div>|</div>|- |> |    |\t|\\[a\\]: b|<pre>|</pre>|<\\?|<!X)",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn any_prompt(lines in prop::collection::vec(line(), 0..14), end in "\n|\r\n|\r", tail in any::<bool>()) {
            let mut text = lines.join(&end);
            if tail {
                text.push_str(&end);
            }
            check(text.as_bytes());
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            check(&bytes);
        }
    }
}
