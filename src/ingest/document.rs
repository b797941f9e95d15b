//! One decision document taken apart: title, status, decision, options.
//!
//! In: a Markdown text in the form of MADR (2 to 4) or of adr-tools. Out: plain data. Every text has a reading; what it leaves open
//! stands in `doubts`.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Parser, Tag};

use crate::render::{after_front_matter, headings, plain};

/// So many options of a document are looked at.
const MOST_OPTIONS: usize = 100;
/// So many documents that the status of one names.
const MOST_NAMES: usize = 50;
/// So many things in a document that may be paths: each is looked for in the tree.
const MOST_MENTIONS: usize = 500;

/// How a decision stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    Rejected,
    /// Superseded or deprecated.
    Over,
    Undecided,
}

/// An option that was turned down, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub text: String,
    pub reasons: Vec<String>,
}

/// What a document says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub number: Option<u64>,
    pub title: String,
    pub fate: Fate,
    /// The words of the status.
    pub status: String,
    /// Empty where there is none.
    pub decision: String,
    pub because: Vec<String>,
    pub turned_down: Vec<Choice>,
    /// File names or numbers.
    pub supersedes: Vec<String>,
    pub superseded_by: Vec<String>,
    /// What may be a path of the repository, relative to its root.
    pub mentions: Vec<String>,
    pub doubts: Vec<String>,
}

/// A part of the text under one heading, up to the next of any level.
struct Section<'t> {
    level: usize,
    title: String,
    body: &'t str,
}

/// Takes a text apart.
pub(super) fn parse(path: &str, text: &str) -> Document {
    let start = after_front_matter(text);
    let front = &text[..start];
    let sections = sections(text);
    let heading = sections.iter().find(|section| section.level == 1);
    let stem = path.rsplit('/').next().unwrap_or(path);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let title = heading
        .map(|section| section.title.clone())
        .or_else(|| field(front, "title"))
        .unwrap_or_else(|| stem.replace(['-', '_'], " "));
    let preamble = heading.map_or("", |section| section.body);
    let status_text = named(&sections, &["status"])
        .map(|section| section.body.to_owned())
        .or_else(|| field(front, "status"))
        .or_else(|| field(preamble, "status"))
        .unwrap_or_default();
    let mut document = Document {
        number: number(stem),
        title: without_number(&title),
        fate: Fate::Accepted,
        status: plain(&status_text),
        decision: String::new(),
        because: Vec::new(),
        turned_down: Vec::new(),
        supersedes: Vec::new(),
        superseded_by: Vec::new(),
        mentions: mentions(path, &text[start..]),
        doubts: Vec::new(),
    };
    status(&status_text, &mut document);
    document.supersedes.truncate(MOST_NAMES);
    document.superseded_by.truncate(MOST_NAMES);
    let outcome = named(
        &sections,
        &["decision outcome", "decision", "outcome", "decisions"],
    );
    if let Some(outcome) = outcome {
        document.decision = plain(outcome.body);
    }
    let chosen = chosen(&document.decision);
    document
        .because
        .extend(chosen.as_ref().and_then(|(_, because)| because.clone()));
    options(&sections, chosen.map(|(name, _)| name), &mut document);
    document
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let headings = headings(text);
    let ends = headings.iter().skip(1).map(|next| next.range.start);
    let ends: Vec<usize> = ends.chain([text.len()]).collect();
    headings
        .iter()
        .zip(ends)
        .map(|(heading, end)| Section {
            level: heading.level,
            title: heading.text.trim().to_owned(),
            body: &text[heading.range.end.min(end)..end],
        })
        .collect()
}

fn named<'s, 't>(sections: &'s [Section<'t>], names: &[&str]) -> Option<&'s Section<'t>> {
    let is = |section: &&Section, name: &str| {
        section.level > 1
            && section
                .title
                .trim_end_matches(':')
                .eq_ignore_ascii_case(name)
    };
    names
        .iter()
        .find_map(|name| sections.iter().find(|section| is(section, name)))
}

/// The value of a line `name: value`, as front matter and the first lines of a document have it, bold or in a list or not.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim_start_matches(['*', '-', '_', ' ', '\t']);
        let (key, value) = line.split_once(':')?;
        let is_named = key
            .trim_end_matches(['*', '_', ' '])
            .eq_ignore_ascii_case(name);
        let value = value
            .trim_start_matches(['*', '_'])
            .trim()
            .trim_matches(['"', '\'']);
        (is_named && !value.is_empty()).then(|| value.trim().to_owned())
    })
}

/// The number a file or a title begins with: `0007-x`, `adr-7`, `ADR 7: x`.
fn number(name: &str) -> Option<u64> {
    let lower = name.to_lowercase();
    let rest = lower.strip_prefix("adr").unwrap_or(&lower);
    let rest = rest.trim_start_matches(['-', '_', ' ', '#']);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A title without `1. `, `ADR-0001: ` and the like.
fn without_number(title: &str) -> String {
    let is_adr = title
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("adr"));
    let rest = if is_adr { &title[3..] } else { title };
    let rest = rest.trim_start_matches(['-', '_', ' ', '#']);
    let bare = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let bare_text = bare.trim_start_matches(['.', ':', ' ', '-', '–', '—', ')']);
    // `3D rendering` begins with a number that is none of the document's.
    let is_number =
        bare.len() < rest.len() && bare_text.len() < bare.len() && !bare_text.is_empty();
    match is_number {
        true => bare_text.to_owned(),
        false => title.trim().to_owned(),
    }
}

/// How it stands, and the documents that the status names.
fn status(text: &str, document: &mut Document) {
    let mut over = false;
    for line in text.lines() {
        let words = plain(line).to_lowercase();
        let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
        if says(&[
            "superseded by",
            "superceded by",
            "replaced by",
            "obsoleted by",
        ]) {
            over = true;
            document.superseded_by.extend(names(line));
        } else if says(&["supersedes", "supercedes", "replaces", "obsoletes"]) {
            document.supersedes.extend(names(line));
        }
    }
    let words = document.status.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
    document.fate = if words.matches('|').count() > 1 {
        // The choices of a template, none of which was made.
        Fate::Undecided
    } else if over
        || says(&[
            "superseded",
            "superceded",
            "deprecated",
            "obsolete",
            "retired",
        ])
    {
        Fate::Over
    } else if says(&["rejected", "declined", "not accepted"]) {
        Fate::Rejected
    } else if says(&[
        "accepted",
        "approved",
        "decided",
        "adopted",
        "implemented",
        "done",
        "final",
    ]) {
        Fate::Accepted
    } else if says(&[
        "proposed",
        "draft",
        "pending",
        "review",
        "wip",
        "in progress",
        "open",
    ]) {
        Fate::Undecided
    } else {
        if !words.is_empty() && document.supersedes.is_empty() {
            let start: String = document.status.chars().take(60).collect();
            document.doubts.push(format!(
                "the status '{start}' is none that is known, taken as accepted"
            ));
        }
        Fate::Accepted
    };
}

/// The documents that a line of a status names: the targets of its links, else its numbers.
fn names(line: &str) -> Vec<String> {
    let links = Parser::new(line).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            let target = dest_url.split('#').next().unwrap_or_default();
            Some(target.to_owned()).filter(|target| !target.is_empty())
        }
        _ => None,
    });
    let links: Vec<String> = links.take(MOST_NAMES).collect();
    if !links.is_empty() {
        return links;
    }
    let numbers = line
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u64>().ok());
    numbers
        .map(|number| number.to_string())
        .take(MOST_NAMES)
        .collect()
}

/// The chosen option of a MADR outcome and its justification.
fn chosen(decision: &str) -> Option<(String, Option<String>)> {
    let start = decision.to_ascii_lowercase().find("chosen option")?;
    let rest = decision.get(start + "chosen option".len()..)?;
    let rest = rest.trim_start_matches(['s', ':', ' ']);
    let (name, rest) = match rest.strip_prefix(['"', '\'', '“']) {
        Some(quoted) => quoted.split_once(['"', '\'', '”'])?,
        None => rest
            .split_once(", because")
            .unwrap_or((rest.lines().next()?, "")),
    };
    let because = rest.trim_start_matches([',', ' ', '.', '\n']);
    let because = because.strip_prefix("because").unwrap_or(because).trim();
    let because = (!because.is_empty()).then(|| because.to_owned());
    (!name.trim().is_empty()).then(|| (name.trim().to_owned(), because))
}

fn options(sections: &[Section<'_>], chosen: Option<String>, document: &mut Document) {
    let considered = named(
        sections,
        &[
            "considered options",
            "options considered",
            "options",
            "considered alternatives",
        ],
    );
    let alternatives = named(
        sections,
        &[
            "alternatives",
            "alternatives considered",
            "rejected options",
            "rejected alternatives",
        ],
    );
    let all: Vec<String> = considered
        .or(alternatives)
        .map(|section| items(section.body))
        .unwrap_or_default();
    if all.is_empty() {
        return;
    }
    let said = likeness(&chosen.unwrap_or_else(|| document.decision.clone()));
    let is_chosen = |option: &str| {
        let option = likeness(option);
        option == said || said.contains(&option) || option.starts_with(&said)
    };
    let is_only_rejected = considered.is_none();
    if !is_only_rejected && !all.iter().any(|option| is_chosen(option)) {
        let doubt =
            "which of the considered options was chosen is not told, so none is taken as rejected";
        document.doubts.push(doubt.to_owned());
        return;
    }
    let titled = titled(sections);
    for text in all
        .into_iter()
        .filter(|option| is_only_rejected || !is_chosen(option))
    {
        let reasons = against(&titled, &text);
        document.turned_down.push(Choice { text, reasons });
    }
}

/// The items of the first list, each its first line.
fn items(body: &str) -> Vec<String> {
    let lines = body.lines().filter_map(|line| {
        let indent = line.len() - line.trim_start().len();
        let item = line.trim_start();
        let text = match item.strip_prefix(['*', '-', '+']) {
            Some(text) => text,
            None => item
                .trim_start_matches(|character: char| character.is_ascii_digit())
                .strip_prefix('.')?,
        };
        let text = plain(text.strip_prefix(' ')?);
        (indent < 2 && !text.is_empty()).then(|| text.lines().next().unwrap_or_default().to_owned())
    });
    lines.take(MOST_OPTIONS).collect()
}

/// The sections of options, by their titles; of two of one title the first.
fn titled<'s>(sections: &'s [Section<'_>]) -> BTreeMap<String, &'s Section<'s>> {
    let mut titled = BTreeMap::new();
    for section in sections.iter().filter(|section| section.level > 2) {
        titled.entry(likeness(&section.title)).or_insert(section);
    }
    titled
}

/// What the section of an option says against it.
fn against(titled: &BTreeMap<String, &Section<'_>>, option: &str) -> Vec<String> {
    let body = titled
        .get(&likeness(option))
        .map_or("", |section| section.body);
    let is_bad = |item: &String| {
        item.get(..3)
            .is_some_and(|word| word.eq_ignore_ascii_case("bad"))
    };
    items(body).into_iter().filter(is_bad).collect()
}

/// The words alone, in lower case, with a space around each.
fn likeness(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.fold(String::from(" "), |all, word| all + word + " ")
}

/// What may be a path of the repository: code spans and the targets of links, sorted, each once.
fn mentions(path: &str, text: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let found = Parser::new(text).filter_map(|event| match event {
        Event::Code(code) if !code.contains(char::is_whitespace) => Some(code.to_string()),
        Event::Start(Tag::Link { dest_url, .. }) if !dest_url.contains(':') => {
            let target = dest_url.split(['#', '?']).next().unwrap_or_default();
            let is_document = target.ends_with(".md") || target.is_empty();
            (!is_document).then(|| format!("{folder}/{target}"))
        }
        _ => None,
    });
    let mut found: Vec<String> = found.take(MOST_MENTIONS).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADR: &str = "---\nstatus: \"accepted\"\ndate: 2026-01-02\n---\n# Store sessions in cookies\n\n## Context and Problem Statement\n\nWhere? See `src/session.py`, `a b` and [the store](../../src/store.py#L3).\n\n## Considered Options\n\n* Signed cookies\n* [Redis](https://redis.invalid) 7\n* JWT\n  * a detail\n\n## Decision Outcome\n\nChosen option: \"Signed cookies\", because they need\nno service.\n\n### Consequences\n\n* Good, because small\n\n## Pros and Cons of the Options\n\n### Redis 7\n\n* Good, because fast\n* Bad, because one more service\n\n### JWT\n\nnothing\n";

    #[test]
    fn madr() {
        let document = parse("docs/decisions/0007-sessions.md", MADR);
        assert_eq!(document.number, Some(7));
        assert_eq!(document.title, "Store sessions in cookies");
        assert_eq!(document.fate, Fate::Accepted);
        assert_eq!(
            document.decision,
            "Chosen option: \"Signed cookies\", because they need no service."
        );
        assert_eq!(document.because, ["they need no service."]);
        let choice = |text: &str, reasons: &[&str]| Choice {
            text: text.to_owned(),
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        };
        assert_eq!(
            document.turned_down,
            [
                choice("Redis 7", &["Bad, because one more service"]),
                choice("JWT", &[])
            ]
        );
        assert_eq!(
            document.mentions,
            ["docs/decisions/../../src/store.py", "src/session.py"]
        );
        assert_eq!(document.doubts, [""; 0]);
        let windows = parse(
            "docs/decisions/0007-sessions.md",
            &MADR.replace('\n', "\r\n"),
        );
        assert_eq!(windows, document);
    }

    #[test]
    fn the_status_in_every_place_and_form() {
        let cases = [
            ("# A\n\n* Status: proposed\n", Fate::Undecided),
            (
                "# A\n\nStatus: superseded by [ADR-0005](0005-x.md)\n",
                Fate::Over,
            ),
            ("# A\n\n**Status:** Rejected\n", Fate::Rejected),
            ("---\nstatus: deprecated\n---\n# A\n", Fate::Over),
            (
                "# A\n## Status\nproposed | rejected | accepted | deprecated\n",
                Fate::Undecided,
            ),
            ("# A\n## Status\n\n✅ Accepted 2026-01-01\n", Fate::Accepted),
            ("# A\n", Fate::Accepted),
        ];
        for (text, fate) in cases {
            assert_eq!(parse("a/1.md", text).fate, fate, "{text}");
        }
        let over = parse(
            "a/1.md",
            "# A\n## Status\nAccepted\n\nSuperseded by ADR-0012\n",
        );
        assert_eq!(over.superseded_by, ["12"]);
        assert_eq!(parse("a/1.md", "# A\n## Status\nodd\n").doubts.len(), 1);
    }

    #[test]
    fn numbers_of_titles_and_files() {
        for (title, bare) in [
            ("1. Record decisions", "Record decisions"),
            ("ADR-0012: Use X", "Use X"),
            ("ADR 3 – Use X", "Use X"),
            ("3D rendering", "3D rendering"),
            ("Use X", "Use X"),
            ("2026", "2026"),
            ("Adrenaline", "Adrenaline"),
        ] {
            assert_eq!(without_number(title), bare, "{title}");
        }
        assert_eq!(number("0007-x"), Some(7));
        assert_eq!(number("adr-12"), Some(12));
        assert_eq!(number("notes"), None);
    }

    #[test]
    fn options_of_which_none_is_known_to_be_chosen_are_not_called_rejected() {
        let text =
            "# A\n## Considered Options\n* X\n* Y\n## Decision Outcome\nWe go another way.\n";
        let document = parse("a/1.md", text);
        assert_eq!((document.turned_down.len(), document.doubts.len()), (0, 1));
        let text = "# A\n## Alternatives\n1. X\n2. Y\n## Decision\nWe take X.\n";
        assert_eq!(parse("a/1.md", text).turned_down.len(), 2);
    }
}
