//! Decision documents: Markdown files in the forms of MADR and of adr-tools.
//!
//! In: the texts of all documents of one tree. Out: what they decide, which options they turn down, and which document takes the
//! place of which. Never fails: what is no decision document is named. Does no I/O.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Document, Fate, parse};
use super::said::{Draft, MOST_DRAFTS, Reading};
use crate::record::{Kind, Reasoning, Source};

/// Whether a file of a folder of decisions is one of them: Markdown, and no index or template.
pub(super) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let Some(stem) = name
        .strip_suffix(".md")
        .or_else(|| name.strip_suffix(".markdown"))
    else {
        return false;
    };
    !matches!(
        stem,
        "readme" | "index" | "_index" | "toc" | "summary" | "log"
    ) && !stem.contains("template")
}

/// Reads the documents of one tree, path and text of each; none where time was over.
pub(super) fn read(files: &[(String, String)], is_late: &dyn Fn() -> bool) -> Option<Reading> {
    let mut out = Reading::default();
    let mut documents: Vec<(&str, Document)> = Vec::with_capacity(files.len());
    for (path, text) in files {
        if is_late() {
            return None;
        }
        documents.push((path.as_str(), parse(path, text)));
    }
    let all = All::of(&documents);
    for (path, document) in &documents {
        if out.drafts.len() >= MOST_DRAFTS {
            let why = format!("more than {MOST_DRAFTS} records; the rest is left out");
            out.unread.insert(why);
            break;
        }
        match document.decision.is_empty() && document.fate != Fate::Undecided {
            true => drop(out.unread.insert(format!("{path}: has no decision"))),
            false => draft(path, document, &all, &mut out),
        }
        let doubts = document
            .doubts
            .iter()
            .map(|doubt| format!("{path}: {doubt}"));
        out.unread.extend(doubts);
    }
    Some(out)
}

/// The documents by what others may call them.
struct All<'a> {
    /// By folder and name of the file.
    named: BTreeMap<(&'a str, &'a str), &'a str>,
    /// By folder and number, in the order of the paths.
    numbered: BTreeMap<(&'a str, u64), Vec<&'a str>>,
    /// Those that decide something, and so can take the place of another.
    deciding: BTreeSet<&'a str>,
}

impl<'a> All<'a> {
    fn of(documents: &[(&'a str, Document)]) -> Self {
        let mut all = Self {
            named: BTreeMap::new(),
            numbered: BTreeMap::new(),
            deciding: BTreeSet::new(),
        };
        for (path, document) in documents {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            all.named.insert((folder, name), path);
            if let Some(number) = document.number {
                all.numbered.entry((folder, number)).or_default().push(path);
            }
            if document.fate != Fate::Undecided && !document.decision.is_empty() {
                all.deciding.insert(path);
            }
        }
        all
    }

    /// The document that a name in another one means: a file's name, or a number.
    fn find(&self, wanted: &str, from: &str) -> Option<&'a str> {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let base = wanted.rsplit('/').next().unwrap_or(wanted);
        let named = self.named.get(&(folder, base)).copied();
        let number = base.parse().ok();
        let numbered = number.and_then(|number| self.numbered.get(&(folder, number)));
        let mut found: Vec<&str> = numbered.cloned().unwrap_or_default();
        found.extend(named);
        // The first of both in the order of the paths.
        found.into_iter().filter(|path| *path != from).min()
    }
}

fn draft(path: &str, document: &Document, all: &All<'_>, out: &mut Reading) {
    let (kind, in_force) = match document.fate {
        // What is only proposed is no decision yet; the commit that accepts it will bring it.
        Fate::Undecided => return,
        Fate::Accepted => (Kind::Decision, true),
        Fate::Rejected => (Kind::Rejected, true),
        Fate::Over => (Kind::Decision, false),
    };
    let nodes: Vec<String> = document.mentions.clone();
    let reasoning = |kind, text: String, reasons: Vec<String>| Draft {
        reasoning: Reasoning {
            text,
            reasons,
            ..Reasoning::new(Source::Adr, kind)
        },
        nodes: nodes.clone(),
        time: None,
        name: None,
        supersedes: Vec::new(),
        superseded_by: Vec::new(),
        at: path.to_owned(),
    };
    let text = format!("{}\n\n{}", document.title, document.decision);
    let mut decision = reasoning(kind, text, document.because.clone());
    decision.name = Some(path.to_owned());
    let find = |wanted: &String| all.find(wanted, path).map(str::to_owned);
    decision.supersedes = document.supersedes.iter().filter_map(find).collect();
    let successors: Vec<String> = document.superseded_by.iter().filter_map(find).collect();
    // Only what is decided can take the place of something.
    let takes_over = |path: &String| all.deciding.contains(path.as_str());
    decision.superseded_by = successors.into_iter().filter(takes_over).collect();
    let has_successor = !decision.superseded_by.is_empty();
    out.drafts.push(decision);
    for option in &document.turned_down {
        let text = format!("{}, not chosen for: {}", option.text, document.title);
        out.drafts
            .push(reasoning(Kind::Rejected, text, option.reasons.clone()));
    }
    if !in_force && !has_successor {
        let text = format!("No longer in force: {}", document.title);
        let mut end = reasoning(Kind::Decision, text, vec![document.status.clone()]);
        end.reasoning.reasons.retain(|reason| !reason.is_empty());
        end.supersedes.push(path.to_owned());
        out.drafts.push(end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::said::{Said, settle};
    use super::*;
    use crate::record::Record;

    fn said(files: &[(&str, &str)]) -> (Vec<Said>, Vec<String>) {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        let settled = settle(read(&files, &|| false).expect("in time"), Source::Adr);
        (settled.said, settled.unread.into_iter().collect())
    }

    fn reasonings(said: &[Said]) -> Vec<&Reasoning> {
        let reasoning = |said| match said {
            &Said {
                record: Record::Reasoning(ref reasoning),
                ..
            } => Some(reasoning),
            _ => None,
        };
        said.iter().filter_map(reasoning).collect()
    }

    const FIRST: &str = "# 1. Keep sessions in redis\n\nDate: 2026-01-02\n\n## Status\n\nAccepted\n\n## Context\n\nWe need `src/session.py`.\n\n## Decision\n\nWe will keep sessions in *redis*.\n\n## Consequences\n\nOne more service.\n";
    const SECOND: &str = "# 2. Sign cookies\n\n## Status\n\nAccepted\n\nSupercedes [1. Keep sessions in redis](0001-redis.md)\n\n## Decision\n\nSessions move to signed cookies.\n";

    #[test]
    fn a_document_that_takes_the_place_of_another_says_so_from_either_side() {
        let superseded = FIRST.replace(
            "Accepted",
            "Superseded by [2. Sign cookies](0002-cookies.md)",
        );
        let one_sided = SECOND.replace("Supercedes [1. Keep sessions in redis](0001-redis.md)", "");
        for (first, second) in [
            (FIRST, SECOND),
            (&superseded, SECOND),
            (&superseded, &one_sided),
        ] {
            let (said, unread) = said(&[
                ("doc/adr/0001-redis.md", first),
                ("doc/adr/0002-cookies.md", second),
            ]);
            assert_eq!(unread, [""; 0]);
            let all = reasonings(&said);
            assert_eq!(all.len(), 2);
            let old = said.iter().find(|said| said.nodes == ["src/session.py"]);
            let new = all
                .iter()
                .find(|said| said.text.starts_with("Sign cookies\n\n"));
            assert_eq!(
                new.map(|new| new.supersedes.clone()),
                old.map(|old| vec![old.id]),
                "the first keeps its id whatever its status says"
            );
        }
        // The last form names no successor that is there: a record of its own says that it is over.
        let (said, _) = said(&[("doc/adr/0001-redis.md", &superseded)]);
        let all = reasonings(&said);
        assert_eq!(all.len(), 2);
        assert_eq!(all[1].text, "No longer in force: Keep sessions in redis");
        assert_eq!(all[1].supersedes, [said[0].id]);
    }

    #[test]
    fn a_proposal_is_no_decision_and_a_rejected_one_is_a_rejected_option() {
        let proposed = FIRST.replace("Accepted", "Proposed");
        assert_eq!(said(&[("docs/adr/1.md", &proposed)]).0.len(), 0);
        let rejected = FIRST.replace("Accepted", "Rejected");
        let (said, _) = said(&[("docs/adr/1.md", &rejected)]);
        let kinds: Vec<_> = reasonings(&said).iter().map(|said| said.kind).collect();
        assert_eq!(kinds, [Kind::Rejected]);
    }

    #[test]
    fn what_is_no_document_is_named() {
        let (said, unread) = said(&[("docs/adr/notes.md", "just prose\n")]);
        assert_eq!(
            (said.len(), unread),
            (0, vec!["docs/adr/notes.md: has no decision".to_owned()])
        );
        for path in [
            "docs/adr/README.md",
            "a/adr-template.md",
            "a/x.txt",
            "a/index.markdown",
        ] {
            assert!(!is_document(path), "{path}");
        }
        assert!(is_document("docs/adr/0001-x.markdown"));
    }
}
