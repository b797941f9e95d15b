//! A commit message, taken apart the way Git does it, and what its trailers say.
//!
//! In: the text of a commit object. Out: subject, body, trailers; from these the reasonings and outcomes that somebody wrote
//! into the message, and what had to be refused. What counts as a trailer is what `git log --format='%(trailers:only,unfold)'`
//! prints under Git's default configuration; `tests/it/trailers.rs` compares the two. Never does I/O, so it knows neither
//! `trailer.*` nor `core.commentChar` of anybody's configuration: the same message gives the same records everywhere.

use crate::record::{Kind, Verdict};

/// Above this line Git looks for a message, below it for nothing (`commit.cleanup`, value `scissors`).
const SCISSORS: &str = "# ------------------------ >8 ------------------------\n";
/// A line that begins so is Git's own work and lets prose stand beside trailers (`git interpret-trailers`, description).
const GENERATED: [&str; 2] = ["Signed-off-by: ", "(cherry picked from commit "];
/// What Git takes for white space: no form feed, nothing beyond ASCII.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// A commit message in its parts, without carriage returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The first paragraph, its lines joined by one space, as `%s` of `git log`.
    pub subject: String,
    /// What follows the subject, without the trailers, `(cherry picked from commit …)` lines and lists of conflicts; other lines
    /// that stand among trailers remain. No line break at either end.
    pub body: String,
    /// In the order of the message.
    pub trailers: Vec<Trailer>,
}

/// One trailer of a commit message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// As written: ASCII letters, digits and `-`, never empty.
    pub key: String,
    /// Unfolded to one line, without white space at either end; may be empty.
    pub value: String,
}

/// What the trailers of one message say to the memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Kind and text, in the order of the message. The text is not empty; its length is for [`crate::record::Record::check`] to judge.
    pub reasonings: Vec<(Kind, String)>,
    /// How the decisions of this commit worked out, and why where that was said.
    pub outcomes: Vec<(Verdict, Option<String>)>,
    /// One sentence per trailer that is meant for the memory and says nothing it could keep.
    pub refused: Vec<String>,
}

/// What one line is to the search for trailers.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    Blank,
    Comment,
    Generated,
    Trailer,
    Folded,
    Prose,
}

impl Line {
    fn of(line: &str) -> Self {
        if line.starts_with('#') {
            Line::Comment
        } else if is_blank(line) {
            Line::Blank
        } else if GENERATED.iter().any(|prefix| line.starts_with(prefix)) {
            Line::Generated
        } else if key_and_value(line).is_some() {
            Line::Trailer
        } else if line.starts_with(SPACE) {
            Line::Folded
        } else {
            Line::Prose
        }
    }
}

/// Takes a message apart. Total: every text has a reading.
///
/// `message` is the text of the commit object after its headers, in UTF-8; it ends at a NUL, as for Git.
pub fn parse(message: &str) -> Message {
    let text = message.split('\0').next().unwrap_or_default();
    let lines: Vec<&str> = text
        .split_inclusive('\n')
        .skip_while(|line| is_blank(line))
        .take_while(|line| *line != SCISSORS)
        .collect();
    let title = lines
        .iter()
        .position(|line| is_blank(line))
        .unwrap_or(lines.len());
    let subject: Vec<&str> = lines[..title]
        .iter()
        .map(|line| line.trim_end_matches(SPACE))
        .collect();
    let end = end_of_message(&lines);
    let start = start_of_trailers(&lines[..end], title).unwrap_or(end);

    let mut body = lines[title..start.max(title)].to_vec();
    let trailers = split_block(&lines[start..end], &mut body);
    body.extend(&lines[end.max(title)..]);
    Message {
        subject: subject.join(" ").replace('\r', " "),
        body: trim_lines(&without_returns(&without_conflicts(&body))).to_owned(),
        trailers,
    }
}

/// What the trailers say: keys are compared without regard to case, as Git does.
///
/// `Decision`, `Rejected`, `Assumption`, `Finding` and `Constraint` are reasonings; `Outcome` is `pass` or `fail`, exactly, and
/// after a space an optional rationale. Every other key is somebody else's.
pub fn found(message: &Message) -> Found {
    let mut found = Found::default();
    for Trailer { key, value } in &message.trailers {
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(key));
        let is_outcome = key.eq_ignore_ascii_case("outcome");
        if kind.is_none() && !is_outcome {
            continue;
        }
        if value.is_empty() {
            found.refused.push(format!("the trailer '{key}:' is empty"));
        } else if let Some(kind) = kind {
            found.reasonings.push((kind, value.clone()));
        } else if let Some(outcome) = outcome(value) {
            found.outcomes.push(outcome);
        } else {
            let start: String = value.chars().take(60).collect();
            let start = start.escape_debug();
            found.refused.push(format!(
                "the trailer '{key}: {start}' begins with neither 'pass' nor 'fail'"
            ));
        }
    }
    found
}

/// The message as the text of a record: subject, blank line, body, without trailers; none when nothing is left.
pub fn prose(message: &Message) -> Option<String> {
    let text = format!("{}\n\n{}", message.subject, message.body);
    // A byte order mark is an editor's, not the author's.
    let text = text.trim_start_matches('\u{feff}').trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// How many words the body has: runs of anything but white space. A message explains from 5 on (`cli.md`, `ingest --messages`).
pub fn words_of_body(message: &Message) -> usize {
    message.body.split_whitespace().count()
}

fn outcome(value: &str) -> Option<(Verdict, Option<String>)> {
    let (word, rationale) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let verdict = [Verdict::Pass, Verdict::Fail]
        .into_iter()
        .find(|verdict| verdict.as_str() == word)?;
    let rationale = rationale.trim();
    Some((
        verdict,
        (!rationale.is_empty()).then(|| rationale.to_owned()),
    ))
}

/// Where the message ends for the search: what only ignorable lines follow. These are empty lines, comments, and the list of
/// conflicts that Git before 2.3 wrote without a comment sign.
fn end_of_message(lines: &[&str]) -> usize {
    let mut end = 0;
    let mut conflicts = false;
    for (at, line) in lines.iter().enumerate() {
        let heading = *line == "Conflicts:\n";
        if heading || *line == "\n" || line.starts_with('#') || conflicts && line.starts_with('\t')
        {
            conflicts |= heading;
        } else {
            end = at + 1;
            conflicts = false;
        }
    }
    end
}

/// The first line of the trailers, or none. They are the last paragraph, after the `title` lines of the subject, when all its
/// lines are trailers, or when one is Git's own and at least a quarter are trailers; comments do not count.
fn start_of_trailers(lines: &[&str], title: usize) -> Option<usize> {
    let kinds: Vec<Line> = lines.iter().map(|line| Line::of(line)).collect();
    let last = kinds
        .iter()
        .rposition(|kind| !matches!(kind, Line::Blank | Line::Comment))?;
    let blank = kinds[..last]
        .iter()
        .rposition(|kind| *kind == Line::Blank)?;
    if blank < title {
        return None;
    }
    let (mut trailers, mut others, mut generated) = (0usize, 0usize, false);
    let mut in_trailer = false;
    for kind in &kinds[blank + 1..=last] {
        match kind {
            Line::Generated | Line::Trailer => {
                trailers += 1;
                generated |= *kind == Line::Generated;
                in_trailer = true;
            }
            Line::Folded if in_trailer => {}
            Line::Folded | Line::Prose => {
                others += 1;
                in_trailer = false;
            }
            Line::Comment | Line::Blank => in_trailer = false,
        }
    }
    let are_trailers = trailers > 0 && others == 0 || generated && trailers * 3 >= others;
    are_trailers.then_some(blank + 1)
}

/// The trailers of a block of lines; the lines that are none of them go to `rest`.
fn split_block<'a>(block: &[&'a str], rest: &mut Vec<&'a str>) -> Vec<Trailer> {
    let mut trailers: Vec<Trailer> = Vec::new();
    // What a folded line continues: a trailer, a line that is dropped (`false`), or nothing.
    let mut open: Option<bool> = None;
    for line in block {
        // With a carriage return an empty line begins with white space, and is still none that continues another.
        if is_blank(line) {
            rest.push(line);
            open = None;
            continue;
        }
        match (key_and_value(line), open) {
            (_, Some(true)) if line.starts_with(SPACE) => {
                let value = &mut trailers
                    .last_mut()
                    .expect("a trailer is open, so there is one")
                    .value;
                value.push('\n');
                value.push_str(line);
            }
            (_, Some(false)) if line.starts_with(SPACE) => {}
            (Some((key, value)), _) => {
                let (key, value) = (key.to_owned(), value.to_owned());
                trailers.push(Trailer { key, value });
                open = Some(true);
            }
            (None, _) if Line::of(line) == Line::Generated => open = Some(false),
            (None, _) => {
                rest.push(line);
                open = None;
            }
        }
    }
    for trailer in &mut trailers {
        trailer.value = unfold(&trailer.value);
    }
    trailers
}

/// One line of text: a line break and the white space around it become one space. Git keeps what precedes the break; a carriage
/// return there is not worth that.
fn unfold(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for line in value.split('\n') {
        let line = if text.is_empty() {
            line
        } else {
            line.trim_start_matches(SPACE)
        };
        if !text.is_empty() && !line.is_empty() {
            text.push(' ');
        }
        text.push_str(line.trim_end_matches('\r'));
    }
    text.trim_matches(SPACE).replace('\r', " ")
}

/// The lines joined, without lists of conflicts, which say nothing about the change.
fn without_conflicts(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut lines = lines.iter().peekable();
    let is_path = |line: &&&str| line.starts_with('\t') || line.starts_with("#\t");
    while let Some(line) = lines.next() {
        let heading = matches!(line.trim_end(), "Conflicts:" | "# Conflicts:");
        if heading && lines.peek().is_some_and(is_path) {
            while lines.next_if(is_path).is_some() {}
        } else {
            text.push_str(line);
        }
    }
    text
}

/// The key and the untrimmed value of a line that has the form of a trailer.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (head, value) = line.split_once(':')?;
    let key = head.trim_end_matches([' ', '\t']);
    let is_key = !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_key.then_some((key, value))
}

fn is_blank(line: &str) -> bool {
    line.trim_start_matches(SPACE).is_empty()
}

fn without_returns(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Without blank lines at the start, whose indentation stays, and without any white space at the end.
fn trim_lines(text: &str) -> &str {
    let text = text.trim_end();
    let blank: usize = text
        .split_inclusive('\n')
        .take_while(|line| is_blank(line))
        .map(str::len)
        .sum();
    &text[blank..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(message: &Message) -> Vec<(&str, &str)> {
        message
            .trailers
            .iter()
            .map(|trailer| (trailer.key.as_str(), trailer.value.as_str()))
            .collect()
    }

    #[test]
    fn a_message_comes_apart() {
        let message = parse(
            "Add a\nparser \n\n\n  indented\nbody\n\nDecision: by\n  hand \nrejected :a library\n",
        );
        assert_eq!(message.subject, "Add a parser");
        assert_eq!(message.body, "  indented\nbody");
        assert_eq!(
            pairs(&message),
            [("Decision", "by hand"), ("rejected", "a library")]
        );
        assert_eq!(
            prose(&message).as_deref(),
            Some("Add a parser\n\n  indented\nbody")
        );
        assert_eq!(words_of_body(&message), 2);
    }

    #[test]
    fn what_is_no_trailer_stays_prose() {
        for body in [
            "Decision: x\nprose",
            "https: //x\nprose",
            "(see)\nDecision: x",
            "Décision: x",
            "  Decision: x",
        ] {
            let message = parse(&format!("s\n\n{body}\n"));
            assert_eq!((message.body.as_str(), message.trailers.len()), (body, 0));
        }
        assert_eq!(
            parse("Decision: x\nRejected: y\n").subject,
            "Decision: x Rejected: y"
        );
    }

    #[test]
    fn prose_among_trailers_is_kept_and_machine_lines_are_not() {
        let message = parse(
            "s\n\nwhy it is so\n(cherry picked from commit 01\n  23)\nSigned-off-by: A\n# note\nDecision: x\n",
        );
        assert_eq!(pairs(&message), [("Signed-off-by", "A"), ("Decision", "x")]);
        assert_eq!(message.body, "why it is so\n# note");
        assert_eq!(parse("s\n\nbody\n\nConflicts:\n\ta\n\tb\n").body, "body");
        assert_eq!(
            parse("s\n\nbody\n\n# Conflicts:\n#\ta\n\n# end\n").body,
            "body\n\n\n# end"
        );
        assert_eq!(
            parse("s\n\nConflicts:\nare bad\n").body,
            "Conflicts:\nare bad"
        );
    }

    #[test]
    fn keys_are_read_in_any_case_and_others_left_alone() {
        let found = found(&parse(
            "s\n\nDECISION: a\nRejected: b\nassumption: c\nFinding: d\nConstraint: e\nCc: f\n",
        ));
        let kinds = [
            Kind::Decision,
            Kind::Rejected,
            Kind::Assumption,
            Kind::Finding,
            Kind::Constraint,
        ];
        let texts = ["a", "b", "c", "d", "e"].map(str::to_owned);
        assert_eq!(
            found.reasonings,
            kinds.into_iter().zip(texts).collect::<Vec<_>>()
        );
        assert_eq!((found.outcomes.len(), found.refused.len()), (0, 0));
    }

    #[test]
    fn an_outcome_is_exactly_pass_or_fail() {
        let found = found(&parse(
            "s\n\nOutcome: pass\noutcome: fail  too\n slow\nOutcome: Pass\nOutcome: fail: x\nOutcome:\nFinding: \n",
        ));
        assert_eq!(
            found.outcomes,
            [
                (Verdict::Pass, None),
                (Verdict::Fail, Some("too slow".to_owned()))
            ]
        );
        assert_eq!(
            found.refused,
            [
                "the trailer 'Outcome: Pass' begins with neither 'pass' nor 'fail'",
                "the trailer 'Outcome: fail: x' begins with neither 'pass' nor 'fail'",
                "the trailer 'Outcome:' is empty",
                "the trailer 'Finding:' is empty",
            ]
        );
    }

    #[test]
    fn a_refusal_carries_no_control_character() {
        let found = found(&parse(&format!(
            "s\n\nOutcome: \u{1b}[31m{}\n",
            "x".repeat(5000)
        )));
        assert!(
            found.refused[0].len() < 200 && !found.refused[0].contains('\u{1b}'),
            "{:?}",
            found.refused
        );
    }

    #[test]
    fn nothing_said_is_no_text() {
        for text in ["", "\n\n", " \r\n", "\0hidden", SCISSORS, "\u{feff}"] {
            assert_eq!(prose(&parse(text)), None, "{text:?}");
        }
        assert_eq!(prose(&parse("\u{feff}s\0 hidden")).as_deref(), Some("s"));
    }

    proptest! {
        #[test]
        fn every_text_has_a_reading(text in any::<String>(), lines in prop::collection::vec("\\PC{0,9}|[ \t\r#:]{0,3}|Conflicts:|Key: v", 0..12)) {
            for message in [parse(&text), parse(&lines.join("\n")), parse(&lines.join("\r\n"))] {
                let parts = format!("{}{}{:?}", message.subject, message.body, pairs(&message));
                prop_assert!(!parts.contains('\r'));
                prop_assert!(message.trailers.iter().all(|trailer| !trailer.value.contains('\n')));
                found(&message);
                prose(&message);
            }
        }

        #[test]
        fn line_ends_make_no_difference(lines in prop::collection::vec("[a-z]{1,3}|Key: v|  more|# c|", 0..12)) {
            prop_assert_eq!(parse(&lines.join("\n")), parse(&lines.join("\r\n")));
        }
    }
}
