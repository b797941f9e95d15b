//! What a committed document says, on its way to the memory: drafts that may name each other become records with their ids.
//!
//! In: drafts and endings as a reader found them. Out: records that may be kept, credentials masked, and a line for each that may
//! not. Does no I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::RecordId;
use crate::mask::mask;
use crate::record::{MAX_TEXT, Outcome, Reasoning, Record, Source, Time, Verdict};

/// More than this of one commit's documents is not taken: a file with that much is no log of decisions.
pub(super) const MOST_DRAFTS: usize = 10_000;

/// A longer text is not masked and so not kept: four times what a record holds.
pub(super) const MOST_RAW: usize = 4 * MAX_TEXT;

/// A reasoning as it stands in a document.
#[derive(Debug)]
pub(super) struct Draft {
    /// What it says; without nodes and without what it replaces.
    pub reasoning: Reasoning,
    /// What it is about, as written.
    pub nodes: Vec<String>,
    /// When it was said, where the document tells.
    pub time: Option<Time>,
    /// What other drafts call it.
    pub name: Option<String>,
    /// The names of those it replaces.
    pub supersedes: Vec<String>,
    /// The names of those that replace it.
    pub superseded_by: Vec<String>,
    /// Where it stands, for whoever has to look it up.
    pub at: String,
}

/// How a task of a document ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub verdict: Verdict,
    pub rationale: Option<String>,
    pub coverage: Option<f64>,
    pub surfaced: Vec<String>,
    pub missing: Vec<String>,
    /// The drafts it speaks of.
    pub of: Vec<usize>,
    pub time: Option<Time>,
    pub at: String,
}

/// What one or more documents say.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub drafts: Vec<Draft>,
    pub endings: Vec<Ending>,
    /// What was not understood.
    pub unread: BTreeSet<String>,
}

/// A record that may be kept.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub record: Record,
    pub id: RecordId,
    pub nodes: Vec<String>,
    pub time: Option<Time>,
    /// Where it stands.
    pub at: String,
}

/// Everything of a reading that may be kept, and what may not.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub said: Vec<Said>,
    pub unread: BTreeSet<String>,
    /// Kinds of credentials that were masked.
    pub masked: Vec<String>,
}

/// Gives every draft its id. A draft that replaces another holds that one's id, so those come first; names that lead round in a
/// circle, or nowhere, are named and left out.
pub(super) fn settle(reading: Reading, source: Source) -> Settled {
    let mut out = Settled {
        unread: reading.unread,
        ..Settled::default()
    };
    let mut drafts = reading.drafts;
    let links = links(&drafts, &mut out.unread);
    for draft in &mut drafts {
        mask_draft(draft, &mut out.masked);
    }
    let mut waiting: Vec<usize> = links.iter().map(BTreeSet::len).collect();
    let mut replacing: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    for (at, replaced) in links.iter().enumerate() {
        for old in replaced {
            replacing[*old].push(at);
        }
    }
    let mut ids: Vec<Option<RecordId>> = vec![None; drafts.len()];
    let mut ready: BTreeSet<usize> = (0..drafts.len()).filter(|at| waiting[*at] == 0).collect();
    let mut left: BTreeSet<usize> = (0..drafts.len()).collect();
    while let Some(at) = ready.pop_first().or_else(|| left.first().copied()) {
        if !left.remove(&at) {
            continue;
        }
        if waiting[at] > 0 {
            let place = &drafts[at].at;
            let why = format!("{place}: what it replaces leads back to itself");
            out.unread.insert(why);
        }
        let replaced = links[at].iter().filter_map(|old| ids[*old]);
        let replaced: BTreeSet<RecordId> = replaced.collect();
        drafts[at].reasoning.supersedes.extend(replaced);
        ids[at] = keep(&drafts[at], &mut out);
        for next in &replacing[at] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.insert(*next);
            }
        }
    }
    for ending in &reading.endings {
        end(ending, &ids, source, &mut out);
    }
    out
}

/// For each draft the drafts it replaces.
fn links(drafts: &[Draft], unread: &mut BTreeSet<String>) -> Vec<BTreeSet<usize>> {
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        if let Some(name) = &draft.name {
            named.entry(name).or_insert(at);
        }
    }
    let mut links = vec![BTreeSet::new(); drafts.len()];
    let mut unknown = |draft: &Draft, name: &str| {
        let start: String = name.chars().take(60).collect();
        unread.insert(format!("{}: nothing here is called '{start}'", draft.at));
    };
    for (at, draft) in drafts.iter().enumerate() {
        for name in &draft.supersedes {
            match named.get(name.as_str()) {
                Some(old) if *old != at => drop(links[at].insert(*old)),
                Some(_) => {}
                None => unknown(draft, name),
            }
        }
        for name in &draft.superseded_by {
            match named.get(name.as_str()) {
                Some(new) if *new != at => drop(links[*new].insert(at)),
                Some(_) => {}
                None => unknown(draft, name),
            }
        }
    }
    links
}

fn mask_draft(draft: &mut Draft, masked: &mut Vec<String>) {
    let said = &mut draft.reasoning;
    said.text = clean(&said.text, masked);
    for text in said.reasons.iter_mut().chain(&mut draft.nodes) {
        *text = clean(text, masked);
    }
}

fn keep(draft: &Draft, out: &mut Settled) -> Option<RecordId> {
    let record = Record::Reasoning(draft.reasoning.clone());
    if let Err(why) = record.check() {
        out.unread.insert(format!("{}: {why}", draft.at));
        return None;
    }
    // As it will be stored: its id is that of the masked record.
    let record = record.masked(&mut out.masked);
    let id = record.encode().id;
    out.said.push(Said {
        record,
        id,
        nodes: draft.nodes.clone(),
        time: draft.time,
        at: draft.at.clone(),
    });
    Some(id)
}

fn end(ending: &Ending, ids: &[Option<RecordId>], source: Source, out: &mut Settled) {
    let of: BTreeSet<RecordId> = ending.of.iter().filter_map(|at| *ids.get(*at)?).collect();
    if of.is_empty() {
        let why = "an outcome speaks of the decisions of its task, and there are none";
        out.unread.insert(format!("{}: {why}", ending.at));
        return;
    }
    let mut clean_all = |texts: &[String]| -> Vec<String> {
        texts
            .iter()
            .map(|text| clean(text, &mut out.masked))
            .collect()
    };
    let (surfaced, missing) = (clean_all(&ending.surfaced), clean_all(&ending.missing));
    let rationale = ending
        .rationale
        .as_deref()
        .map(|text| clean(text, &mut out.masked));
    let record = Record::Outcome(Outcome {
        source,
        task: None,
        of: of.into_iter().collect(),
        verdict: ending.verdict,
        rationale,
        coverage: ending.coverage,
        surfaced,
        missing,
        time: ending.time,
    });
    match record.check() {
        Ok(()) => {
            let record = record.masked(&mut out.masked);
            out.said.push(Said {
                id: record.encode().id,
                record,
                nodes: Vec::new(),
                time: ending.time,
                at: ending.at.clone(),
            });
        }
        Err(why) => drop(out.unread.insert(format!("{}: {why}", ending.at))),
    }
}

/// Masked, and cut where no record can hold it; the mark at the end says so. A text that has several times what a record holds comes
/// back as it is: no record can be made of it, and to cut it before it is masked could cut a credential in two.
pub(super) fn clean(text: &str, masked: &mut Vec<String>) -> String {
    const CUT: &str = " […]";
    if text.len() > MOST_RAW {
        return text.to_owned();
    }
    let done = mask(text);
    masked.extend(done.what);
    if done.text.len() <= MAX_TEXT {
        return done.text;
    }
    let mut end = MAX_TEXT - CUT.len();
    while !done.text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &done.text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Kind;

    fn draft(text: &str, name: &str, supersedes: &[&str]) -> Draft {
        Draft {
            reasoning: Reasoning {
                text: text.to_owned(),
                ..Reasoning::new(Source::State, Kind::Decision)
            },
            nodes: Vec::new(),
            time: None,
            name: Some(name.to_owned()),
            supersedes: supersedes.iter().map(|name| (*name).to_owned()).collect(),
            superseded_by: Vec::new(),
            at: name.to_owned(),
        }
    }

    fn settled(drafts: Vec<Draft>) -> Settled {
        let reading = Reading {
            drafts,
            ..Reading::default()
        };
        settle(reading, Source::State)
    }

    fn replaced(settled: &Settled, text: &str) -> Vec<RecordId> {
        let said = settled.said.iter().find_map(|said| match &said.record {
            Record::Reasoning(reasoning) if reasoning.text == text => Some(reasoning),
            _ => None,
        });
        said.map(|said| said.supersedes.clone()).unwrap_or_default()
    }

    fn id(settled: &Settled, text: &str) -> Option<RecordId> {
        let is = |said: &&Said| matches!(&said.record, Record::Reasoning(r) if r.text == text);
        settled.said.iter().find(is).map(|said| said.id)
    }

    #[test]
    fn a_chain_has_the_ids_of_what_it_replaces_whatever_the_order() {
        let make = || {
            vec![
                draft("c", "3", &["2"]),
                draft("a", "1", &[]),
                draft("b", "2", &["1"]),
            ]
        };
        let one = settled(make());
        assert_eq!(replaced(&one, "c"), Vec::from_iter(id(&one, "b")));
        assert_eq!(replaced(&one, "b"), Vec::from_iter(id(&one, "a")));
        let mut turned = make();
        turned.reverse();
        let other = settled(turned);
        for text in ["a", "b", "c"] {
            assert!(id(&one, text).is_some() && id(&one, text) == id(&other, text));
        }
    }

    #[test]
    fn a_circle_and_an_unknown_name_are_named_and_the_rest_is_kept() {
        let one = settled(vec![
            draft("a", "1", &["2"]),
            draft("b", "2", &["1"]),
            draft("c", "3", &["9"]),
            draft("d", "4", &["4"]),
            draft("  ", "5", &[]),
        ]);
        assert_eq!(one.said.len(), 4);
        let unread: Vec<_> = one.unread.iter().map(String::as_str).collect();
        assert_eq!(
            unread,
            [
                "1: what it replaces leads back to itself",
                "3: nothing here is called '9'",
                "5: the text is empty"
            ]
        );
    }

    #[test]
    fn a_very_long_chain_needs_no_stack() {
        let name = |n: usize| n.to_string();
        let drafts = (0..MOST_DRAFTS).map(|n| draft(&name(n), &name(n), &[&name(n + 1)]));
        let one = settled(drafts.collect());
        assert_eq!(one.said.len(), MOST_DRAFTS);
        assert_eq!(one.unread.len(), 1);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for shift in 0..4 {
            let text = format!("{}{}", "a".repeat(shift), "é".repeat(MAX_TEXT));
            let cut = clean(&text, &mut Vec::new());
            assert!(
                cut.len() <= MAX_TEXT && cut.ends_with("[…]"),
                "{}",
                cut.len()
            );
        }
    }
}
