//! What the note of a commit says of the memory: a line for each record, and nothing else that somebody wrote there is touched.
//!
//! Bytes in, bytes out. A line of ours is known by its shape, so that a record that is gone leaves no line, and a note that Git has
//! copied (`notes.rewriteRef`) is not told twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::CommitId;
use crate::record::{Kind, Source};
use crate::render::visible;
use crate::repo::Repo;
use crate::store::{Corpus, NOTES, Noted, Store, StoreError, Visible};

/// Longest text of a line, in characters.
const LONGEST: usize = 200;
/// Most lines of ours in a note, beside the one that says that there are more: an import may name ten thousand records of one commit,
/// and every further one would write all of them again.
const MOST: usize = 100;
/// What stands after the last of so many lines.
const MORE: &[u8] = b"and more: git score-context log";
/// Digits of an id.
const DIGITS: usize = 12;

/// Whether notes are wanted: git config `score-context.notes`, which an installation sets.
pub fn wanted(repo: &Repo) -> bool {
    let value = repo.local_config("score-context.notes");
    value.is_some_and(|value| matches!(value.as_str(), "true" | "yes" | "on" | "1"))
}

/// Takes what is gone out of the notes, and their earlier versions with it. Where notes are off, all of ours: they are left from an
/// installation that is gone.
///
/// # Errors
/// When the memory cannot be read, or the reference not be written.
pub fn tidy(repo: &Repo) -> Result<(), StoreError> {
    if repo.reference(NOTES)?.is_none() {
        return Ok(());
    }
    let store = Store::new(repo);
    match wanted(repo) {
        true => drop(rebuild(&store, &store.corpus(store.corpus_id()?)?)?),
        false => clear(&store)?,
    }
    Ok(repo.empty_log(NOTES)?)
}

/// Adds lines to the notes of commits, and takes all of ours away from those of `emptied`.
///
/// # Errors
/// When the notes cannot be read or written.
pub fn add(
    store: &Store<'_>,
    noted: &[Noted],
    emptied: &BTreeSet<CommitId>,
) -> Result<(), StoreError> {
    let new = by_commit(noted);
    let commits = new.keys().chain(emptied).copied().collect();
    store.edit_notes(&commits, &|commit, old| match new.get(&commit) {
        Some(lines) => with(old, lines, true),
        None => with(old, &BTreeSet::new(), false),
    })
}

/// Makes the notes what the records say, whatever was there.
///
/// # Errors
/// When the notes cannot be read or written.
pub fn rebuild(store: &Store<'_>, corpus: &Corpus) -> Result<usize, StoreError> {
    let new = told(corpus);
    let mut commits = store.noted()?;
    commits.extend(new.keys());
    let nothing = BTreeSet::new();
    store.edit_notes(&commits, &|commit, old| {
        with(old, new.get(&commit).unwrap_or(&nothing), false)
    })?;
    Ok(new.len())
}

/// The commits whose note does not say what the records say. What others wrote there does not count.
///
/// # Errors
/// When the notes cannot be read.
pub fn out_of_step(store: &Store<'_>, corpus: &Corpus) -> Result<BTreeSet<CommitId>, StoreError> {
    let mut told = told(corpus);
    let mut odd = BTreeSet::new();
    for (commit, note) in store.notes()? {
        let lines = note
            .split(|byte| *byte == b'\n')
            .map(|line| line.trim_ascii_end());
        let is_ours = |line: &[u8]| Some((ours(line)?, line.to_vec()));
        let there: BTreeSet<Line> = lines.filter_map(is_ours).collect();
        if there != told.remove(&commit).unwrap_or_default() {
            odd.insert(commit);
        }
    }
    odd.extend(told.into_keys());
    Ok(odd)
}

/// What the notes are to say.
fn told(corpus: &Corpus) -> BTreeMap<CommitId, BTreeSet<Line>> {
    let view = corpus.view(&Visible::All);
    let mut noted = Vec::new();
    for prior in view
        .priors
        .iter()
        .filter(|prior| prior.source != Source::Commit)
    {
        noted.extend(prior.anchors.iter().map(|commit| Noted {
            commit: *commit,
            id: prior.id,
            kind: prior.kind,
            text: prior.text.clone(),
        }));
    }
    by_commit(&noted)
}

/// Takes every line of ours out of the notes; without any other the reference goes.
///
/// # Errors
/// When the notes cannot be read or written.
pub fn clear(store: &Store<'_>) -> Result<(), StoreError> {
    store.edit_notes(&store.noted()?, &|_, old| {
        with(old, &BTreeSet::new(), false)
    })
}

/// A line as it is sorted: by kind, then as written.
type Line = (Kind, Vec<u8>);

fn by_commit(noted: &[Noted]) -> BTreeMap<CommitId, BTreeSet<Line>> {
    let mut lines: BTreeMap<CommitId, BTreeSet<Line>> = BTreeMap::new();
    for noted in noted {
        lines
            .entry(noted.commit)
            .or_default()
            .insert((noted.kind, line(noted)));
    }
    lines
}

/// `decision: use B-tree, not LSM (1a2b3c4d5e6f)`.
fn line(noted: &Noted) -> Vec<u8> {
    let first = noted.text.trim().lines().next().unwrap_or_default();
    let text = visible(first);
    let mut text = text.trim_end().to_owned();
    if text.chars().count() > LONGEST {
        text = text.chars().take(LONGEST - 1).collect();
        text.push('…');
    }
    format!("{}: {text} ({})", noted.kind.as_str(), noted.id.short()).into_bytes()
}

/// The kind of a line of ours; none of any other line.
fn ours(line: &[u8]) -> Option<Kind> {
    let of = |kind: &Kind| {
        line.strip_prefix(kind.as_str().as_bytes())
            .is_some_and(|rest| rest.starts_with(b": "))
    };
    let kind = Kind::ALL.into_iter().find(of)?;
    let end = &line[line.len().checked_sub(DIGITS + 3)?..];
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_id =
        end.starts_with(b" (") && end.ends_with(b")") && end[2..DIGITS + 2].iter().all(is_digit);
    is_id.then_some(kind)
}

/// A note with these lines before what others wrote; `keep`: also with the lines of ours that it has.
fn with(old: &[u8], new: &BTreeSet<Line>, keep: bool) -> Vec<u8> {
    let mut all = new.clone();
    let mut others: Vec<&[u8]> = Vec::new();
    let mut has_more = false;
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii_end() == MORE {
            has_more |= keep;
            continue;
        }
        match ours(line.trim_ascii_end()) {
            Some(kind) if keep => drop(all.insert((kind, line.trim_ascii_end().to_vec()))),
            Some(_) => {}
            None => others.push(line),
        }
    }
    if all.is_empty() && others.len() == old.split_inclusive(|byte| *byte == b'\n').count() {
        return old.to_vec();
    }
    // What is left around our lines are blank ones that Git or we put between.
    let others = others.concat();
    let others = others.trim_ascii();
    let mut note: Vec<u8> = Vec::new();
    has_more |= all.len() > MOST;
    let lines = all.iter().take(MOST).map(|(_, line)| line.as_slice());
    for line in lines.chain(has_more.then_some(MORE)) {
        note.extend_from_slice(line);
        note.push(b'\n');
    }
    if !others.is_empty() {
        if !note.is_empty() {
            note.push(b'\n');
        }
        note.extend_from_slice(others);
        note.push(b'\n');
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RecordId;

    fn noted(kind: Kind, text: &str) -> Noted {
        Noted {
            commit: "0a".repeat(20).parse().expect("an id"),
            id: RecordId::of(text.as_bytes()),
            kind,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_line_is_one_line_and_known_again() {
        let long = "é".repeat(1000);
        for text in [
            "use B-tree",
            " a\u{202e}b\tc \r\nsecond\n",
            &long,
            "x (0123456789ab)",
            "\n\n",
        ] {
            for kind in Kind::ALL {
                let line = line(&noted(kind, text));
                assert_eq!(ours(&line), Some(kind), "{text:?}");
                let line = String::from_utf8(line).expect("UTF-8");
                assert!(
                    line.chars().count() <= LONGEST + 30
                        && !line.contains(['\n', '\r', '\t', '\u{202e}'])
                );
            }
        }
        for other in [
            "",
            "decision: by hand",
            "decision: (0123456789a)",
            "my (0123456789ab)",
            "(0123456789ab)",
        ] {
            assert_eq!(ours(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_note_stays_short() {
        let line = |n: usize| {
            (
                Kind::Finding,
                line(&noted(Kind::Finding, &format!("{n:05}"))),
            )
        };
        let many: BTreeSet<_> = (0..10_000).map(line).collect();
        let note = with(b"mine\n", &many, true);
        let text = String::from_utf8(note.clone()).expect("UTF-8");
        assert_eq!(text.lines().count(), MOST + 3, "{text}");
        assert!(
            text.ends_with("\nand more: git score-context log\n\nmine\n"),
            "{text}"
        );
        assert_eq!(with(&note, &many, true), note);
        // One more, which comes after all that is told.
        assert_eq!(with(&note, &[line(20_000)].into(), true), note);
        assert_eq!(with(&note, &BTreeSet::new(), false), b"mine\n");
    }

    #[test]
    fn what_others_wrote_stays_and_ours_is_told_once() {
        let one: BTreeSet<_> = [(Kind::Decision, line(&noted(Kind::Decision, "one")))].into();
        let two: BTreeSet<_> = [(Kind::Rejected, line(&noted(Kind::Rejected, "two")))].into();
        let ours = with(b"", &one, true);
        assert_eq!(with(&ours, &one, true), ours);
        assert_eq!(with(&[&ours[..], b"\n", &ours].concat(), &one, true), ours);
        assert_eq!(with(&ours, &BTreeSet::new(), false), b"");
        let both = with(&ours, &two, true);
        assert_eq!(both.iter().filter(|byte| **byte == b'\n').count(), 2);
        assert_eq!(with(&both, &one, false), ours);

        let mixed = [&ours[..], b"\nmine\n\n  and more\n"].concat();
        assert_eq!(
            with(&mixed, &BTreeSet::new(), false),
            b"mine\n\n  and more\n"
        );
        assert_eq!(with(&mixed, &one, false), mixed);
        assert_eq!(with(b"\xffmine", &BTreeSet::new(), false), b"\xffmine");
        assert_eq!(
            with(b"\xffmine", &one, true),
            [&ours[..], b"\n\xffmine\n"].concat()
        );
    }
}
