//! A whole record without credentials: every text that it holds, whoever put it there.
//!
//! In: a record. Out: the same record, masked, and the kinds of what was taken out. Each kind is taken apart field by field, so that a
//! new field does not compile before somebody has said what becomes of it here.

use std::collections::BTreeMap;

use super::document::{Anchor, Outcome, Reasoning, Record, Session, Task};
use super::tombstone::Tombstone;
use crate::id::ObjectId;
use crate::mask::mask;

impl Record {
    /// The record without credentials, in every text: also in the names of paths, branches and worktrees, in labels, in what an agent calls
    /// itself. Masking a masked record changes nothing. Ids, digests and times are left alone.
    pub fn masked(self, what: &mut Vec<String>) -> Self {
        match self {
            Self::Session(Session {
                goal,
                start,
                nonce,
                agent,
            }) => Self::Session(Session {
                goal: clean(goal, what),
                start,
                nonce: clean(nonce, what),
                agent: agent.map(|agent| clean(agent, what)),
            }),
            Self::Task(Task {
                text,
                session,
                parent,
            }) => Self::Task(Task {
                text: clean(text, what),
                session: clean(session, what),
                parent,
            }),
            Self::Reasoning(said) => Self::Reasoning(said.masked(what)),
            Self::Outcome(outcome) => Self::Outcome(outcome.masked(what)),
            Self::Anchor(anchor) => Self::Anchor(anchor.masked(what)),
            Self::Tombstone(stone) => Self::Tombstone(stone.masked(what)),
        }
    }
}

impl Reasoning {
    fn masked(self, what: &mut Vec<String>) -> Self {
        let Self {
            source,
            kind,
            text,
            reasons,
            confidence,
            supersedes,
            nodes,
            session,
            task,
            key,
        } = self;
        Self {
            source,
            kind,
            text: clean(text, what),
            reasons: reasons.into_iter().map(|one| clean(one, what)).collect(),
            confidence: confidence.map(|word| clean(word, what)),
            supersedes,
            nodes: names(nodes, what),
            session: session.map(|label| clean(label, what)),
            task: task.map(|label| clean(label, what)),
            key: key.map(|label| clean(label, what)),
        }
    }
}

impl Outcome {
    fn masked(self, what: &mut Vec<String>) -> Self {
        let Self {
            source,
            task,
            of,
            verdict,
            rationale,
            coverage,
            surfaced,
            missing,
            time,
        } = self;
        let each = |names: Vec<String>, what: &mut Vec<String>| -> Vec<String> {
            names.into_iter().map(|name| clean(name, what)).collect()
        };
        Self {
            source,
            task: task.map(|label| clean(label, what)),
            of,
            verdict,
            rationale: rationale.map(|text| clean(text, what)),
            coverage,
            surfaced: each(surfaced, what),
            missing: each(missing, what),
            time,
        }
    }
}

impl Anchor {
    /// The anchor without credentials: in the names of paths, of the branch and of the worktree.
    pub fn masked(self, what: &mut Vec<String>) -> Self {
        let Self {
            of,
            commit,
            time,
            nodes,
            objects,
            replaces,
            branch,
            worktree,
        } = self;
        let objects = objects_of(objects, &nodes, what);
        Self {
            of,
            commit,
            time,
            nodes: names(nodes, what),
            objects,
            replaces,
            branch: branch.map(|name| clean(name, what)),
            worktree: worktree.map(|name| clean(name, what)),
        }
    }
}

impl Tombstone {
    fn masked(self, what: &mut Vec<String>) -> Self {
        let Self {
            of,
            why,
            was,
            supersedes,
            verdict,
            task,
            about,
            time,
            at,
        } = self;
        Self {
            of,
            why,
            was,
            supersedes,
            verdict,
            task: task.map(|label| clean(label, what)),
            about,
            time,
            at,
        }
    }
}

fn clean(text: String, what: &mut Vec<String>) -> String {
    let masked = mask(&text);
    what.extend(masked.what);
    masked.text
}

/// Names in order, each once; those that differ only in what was taken out become one.
fn names(all: Vec<String>, what: &mut Vec<String>) -> Vec<String> {
    if !holds_any(all.iter()) {
        return all;
    }
    let mut masked: Vec<String> = all.into_iter().map(|name| clean(name, what)).collect();
    masked.sort();
    masked.dedup();
    masked
}

/// What stands at each path. Paths that are nodes as well are looked at there.
fn objects_of(
    all: BTreeMap<String, ObjectId>,
    nodes: &[String],
    what: &mut Vec<String>,
) -> BTreeMap<String, ObjectId> {
    let is_held = all.keys().eq(nodes) && !holds_any(nodes.iter());
    if is_held || !holds_any(all.keys()) {
        return all;
    }
    let masked = all.into_iter().map(|(path, id)| (clean(path, what), id));
    masked.collect()
}

/// Whether one of these names holds a credential: all of them in one go, since an anchor has a hundred, and hardly ever one that does.
fn holds_any<'a>(names: impl Iterator<Item = &'a String>) -> bool {
    let mut all = String::new();
    for name in names {
        all.push_str(name);
        // No sign that would join what stands on either side, nor make the next line the value of this one.
        all.push_str("\n.\n");
    }
    !all.is_empty() && !mask(&all).what.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RecordId;
    use crate::record::{Kind, Source, Time, Verdict};

    fn secret(place: &str) -> String {
        format!("ghp_{}", &RecordId::of(place.as_bytes()).to_string()[..36])
    }

    /// One of each kind, every text of it a credential.
    fn full() -> Vec<Record> {
        let s = |place: &str| Some(secret(place));
        let id = RecordId::of(b"a record");
        let path = || format!("docs/adr/{}.md", secret("path"));
        let said = Reasoning {
            text: secret("text"),
            reasons: vec![secret("reason")],
            nodes: vec![path()],
            session: s("session"),
            task: s("task"),
            key: s("key"),
            supersedes: vec![id],
            ..Reasoning::new(Source::Session, Kind::Decision)
        };
        let outcome = Outcome {
            source: Source::Session,
            task: s("task"),
            of: vec![id],
            verdict: Verdict::Pass,
            rationale: s("rationale"),
            coverage: None,
            surfaced: vec![secret("surfaced")],
            missing: vec![secret("missing")],
            time: None,
        };
        let object = ObjectId::from_bytes(&[7; 20]).expect("20 bytes");
        let anchor = Anchor {
            nodes: vec![path()],
            objects: [(path(), object)].into(),
            branch: Some(format!("fix/{}", secret("branch"))),
            worktree: s("worktree"),
            ..Anchor::at(None, Time(0))
        };
        let session = Session {
            goal: secret("goal"),
            start: Time(0),
            nonce: id.to_string(),
            agent: s("agent"),
        };
        let task = Task {
            text: secret("text"),
            session: secret("session"),
            parent: Some(id),
        };
        let mut stone = Tombstone::new(id, crate::record::Gone::Expired);
        stone.task = s("task");
        vec![
            Record::Reasoning(said),
            Record::Outcome(outcome),
            Record::Anchor(anchor),
            Record::Session(session),
            Record::Task(task),
            Record::Tombstone(stone),
        ]
    }

    #[test]
    fn no_text_of_any_kind_keeps_a_credential_and_twice_is_once() {
        for record in full() {
            let before = record.encode().text;
            let mut what = Vec::new();
            let masked = record.masked(&mut what);
            let text = masked.encode().text;
            assert!(before.contains("ghp_") && !text.contains("ghp_"), "{text}");
            assert!(!what.is_empty() && text.contains("[masked: "), "{text}");
            assert_eq!(masked.clone().masked(&mut Vec::new()), masked);
        }
    }

    #[test]
    fn ids_and_plain_names_stay() {
        let id = RecordId::of(b"a session");
        let session = Record::Session(Session {
            goal: "move the session cache".into(),
            start: Time(0),
            nonce: id.to_string()[..32].to_owned(),
            agent: Some(RecordId::of(b"keyed").to_string()),
        });
        let anchor = Record::Anchor(Anchor {
            nodes: vec![".".into(), "src/cache.rs".into()],
            branch: Some("feature/JIRA-1234-signed-cookies".into()),
            worktree: Some("wt-2".into()),
            ..Anchor::at(None, Time(0))
        });
        for record in [session, anchor] {
            assert_eq!(record.clone().masked(&mut Vec::new()), record);
        }
    }
}
