//! Where the headings of a Markdown text stand.
//!
//! In: any text. Out: its headings as CommonMark sees them, at the top level only, with byte offsets. What stands in a code block, an
//! HTML block or comment, a list or a quotation, or in front matter, is none. Never changes a byte.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// One heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: usize,
    /// What it says, without markup.
    pub text: String,
    /// Its bytes, from the start of its first line; may or may not include the line end.
    pub range: Range<usize>,
}

/// The headings of a text, in order.
pub fn headings(text: &str) -> Vec<Heading> {
    let start = after_front_matter(text);
    let mut found: Vec<Heading> = Vec::new();
    let mut depth = 0_usize;
    let mut open: Option<Heading> = None;
    for (event, range) in Parser::new_ext(&text[start..], Options::empty()).into_offset_iter() {
        let range = range.start + start..range.end + start;
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                open = Some(Heading {
                    level: level as usize,
                    text: String::new(),
                    range: line_start(text, range.start)..range.end,
                });
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => found.extend(open.take()),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => {
                depth = depth.saturating_sub(1);
            }
            Event::Text(said) | Event::Code(said) => {
                if let Some(open) = &mut open {
                    open.text.push_str(&said);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(open) = &mut open {
                    open.text.push(' ');
                }
            }
            _ => {}
        }
    }
    found
}

/// The start of the line that a byte lies in: a heading may be indented by up to three spaces.
fn line_start(text: &str, at: usize) -> usize {
    text[..at]
        .rfind(['\n', '\r'])
        .map_or(0, |line_end| line_end + 1)
}

/// Where the text begins behind a block between `---` lines (YAML) or `+++` lines (TOML) at its very start; 0 without one.
pub fn after_front_matter(text: &str) -> usize {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut lines = text[start..].split_inclusive('\n');
    let mut at = start;
    let mark = match lines.next() {
        Some(line) if matches!(line.trim_end(), "---" | "+++") => {
            at += line.len();
            line.trim_end()
        }
        _ => return start,
    };
    for line in lines {
        at += line.len();
        if line.trim_end() == mark || mark == "---" && line.trim_end() == "..." {
            return at;
        }
    }
    // Not closed: then it is a rule, and the text has begun.
    start
}

/// The text of some Markdown without its markup: one line per paragraph, item or line of code.
pub fn plain(markdown: &str) -> String {
    let mut out = String::new();
    for event in Parser::new_ext(markdown, Options::empty()) {
        match event {
            Event::Text(said) | Event::Code(said) => out.push_str(&said),
            Event::SoftBreak => out.push(' '),
            Event::HardBreak => out.push('\n'),
            Event::Start(Tag::Item | Tag::Paragraph | Tag::CodeBlock(_))
            | Event::End(
                TagEnd::Item | TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::Heading(_),
            ) if !out.ends_with('\n') && !out.is_empty() => out.push('\n'),
            _ => {}
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String, &str)> {
        headings(text)
            .into_iter()
            .map(|heading| {
                let bytes = text[heading.range.clone()].trim_end();
                (heading.level, heading.text, bytes)
            })
            .collect()
    }

    #[test]
    fn only_headings_of_the_top_level_count() {
        let text = "---\ntitle: x\n# no\n---\n# One `two`\n\n```\n# no\n```\n<!--\n# no\n-->\n> # no\n\n- # no\n\nb\n   ## Three ##\nFour\n====\n    # no\n~~~~\n# no\n```\n# no\n";
        let right = [
            (1, "One two".to_owned(), "# One `two`"),
            (2, "Three".to_owned(), "   ## Three ##"),
            (1, "Four".to_owned(), "Four\n===="),
        ];
        assert_eq!(found(text), right);
        let windows = found(&text.replace('\n', "\r\n")).len();
        assert_eq!(windows, 3);
    }

    #[test]
    fn front_matter_ends_where_it_is_closed() {
        for (text, end) in [
            ("---\na: b\n---\nc", 13),
            ("\u{feff}---\r\n---\r\nc", 13),
            ("+++\n---\n+++\n", 12),
            ("---\na\n...\n", 10),
            ("---\nnot closed\n", 0),
            ("\u{feff}x\n", 3),
            ("", 0),
        ] {
            assert_eq!(after_front_matter(text), end, "{text:?}");
        }
    }

    #[test]
    fn markup_goes_and_the_words_stay() {
        assert_eq!(
            plain("Chosen: \"**X**\", because\nit [is](y) `fast`.\n\n* a\n* b\n"),
            "Chosen: \"X\", because it is fast.\na\nb"
        );
    }
}
