//! What holds for any record and any bytes.

use git_score_context::id::{CommitId, ObjectId, RecordId};
use git_score_context::ingest::trailer;
use git_score_context::policy::Policy;
use git_score_context::record::{
    Anchor, Attention, Gone, Kind, Outcome, Reasoning, Record, Session, Source, Task, Time,
    Tombstone, Verdict,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

/// Text as people and their machines write it, and everything else that a string can hold.
fn text() -> impl Strategy<Value = String> {
    let any = prop_oneof![
        "[a-zA-Z0-9 .,:/-]{1,60}",
        "\\PC{1,40}",
        vec(any::<char>(), 1..20).prop_map(String::from_iter)
    ];
    any.prop_filter("a text is not empty", |text: &String| {
        !text.trim().is_empty()
    })
}

fn label() -> impl Strategy<Value = String> {
    "\\PC{1,30}"
}

fn record_id() -> impl Strategy<Value = RecordId> {
    any::<[u8; 32]>().prop_map(RecordId::from)
}

fn object_id() -> impl Strategy<Value = ObjectId> {
    let bytes = prop_oneof![vec(any::<u8>(), 20), vec(any::<u8>(), 32)];
    bytes.prop_map(|bytes| ObjectId::from_bytes(&bytes).expect("20 or 32 bytes"))
}

/// Any second of the years 0 to 9999, the range of RFC 3339.
fn time() -> impl Strategy<Value = Time> {
    (-62_167_219_200..=253_402_207_200i64).prop_map(Time)
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

fn source() -> impl Strategy<Value = Source> {
    let all = [
        Source::Session,
        Source::Trailer,
        Source::Commit,
        Source::State,
        Source::Adr,
    ];
    prop::sample::select(all.to_vec())
}

fn reasoning() -> impl Strategy<Value = Record> {
    let said = (
        source(),
        kind(),
        text(),
        vec(text(), 0..3),
        option::of("high|medium|low"),
    );
    let about = (vec(record_id(), 0..3), vec(text(), 0..4));
    let labels = (
        option::of(label()),
        option::of(label()),
        option::of(label()),
    );
    (said, about, labels).prop_map(|(said, (supersedes, nodes), (session, task, key))| {
        let (source, kind, text, reasons, confidence) = said;
        Record::Reasoning(Reasoning {
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
        })
    })
}

fn outcome() -> impl Strategy<Value = Record> {
    let verdict = prop::bool::ANY.prop_map(|pass| if pass { Verdict::Pass } else { Verdict::Fail });
    let about = (option::of(label()), vec(record_id(), 1..3));
    let told = (
        option::of(text()),
        option::of(0.0..=1.0),
        option::of(time()),
    );
    let nodes = (vec(text(), 0..3), vec(text(), 0..3));
    (source(), about, verdict, told, nodes).prop_map(
        |(source, (task, of), verdict, told, (surfaced, missing))| {
            let (rationale, coverage, time) = told;
            Record::Outcome(Outcome {
                source,
                task,
                of,
                verdict,
                rationale,
                coverage,
                surfaced,
                missing,
                time,
            })
        },
    )
}

fn anchor() -> impl Strategy<Value = Record> {
    let place = (
        record_id(),
        option::of(object_id().prop_map(CommitId)),
        time(),
    );
    let ground = (vec(text(), 0..4), btree_map(text(), object_id(), 0..4));
    let more = (
        vec(object_id().prop_map(CommitId), 0..2),
        option::of(label()),
        option::of(label()),
    );
    (place, ground, more).prop_map(
        |((of, commit, time), (nodes, objects), (replaces, branch, worktree))| {
            Record::Anchor(Anchor {
                of,
                commit,
                time,
                nodes,
                objects,
                replaces,
                branch,
                worktree,
            })
        },
    )
}

fn session() -> impl Strategy<Value = Record> {
    (text(), time(), "[0-9a-f]{32}", option::of("[0-9a-f]{16}")).prop_map(
        |(goal, start, nonce, agent)| {
            Record::Session(Session {
                goal,
                start,
                nonce,
                agent,
            })
        },
    )
}

fn task() -> impl Strategy<Value = Record> {
    let parts = (text(), label(), option::of(record_id()));
    parts.prop_map(|(text, session, parent)| {
        Record::Task(Task {
            text,
            session,
            parent,
        })
    })
}

fn tombstone() -> impl Strategy<Value = Record> {
    let why = prop::bool::ANY.prop_map(|asked| {
        if asked {
            Gone::Forgotten
        } else {
            Gone::Expired
        }
    });
    // What a tombstone says is what it took from the record and from its anchors.
    let of = prop_oneof![reasoning(), outcome(), session(), task()];
    let parts = (record_id(), why, of, vec(anchor(), 0..3));
    parts.prop_map(|(of, why, record, anchors)| {
        let mut stone = Tombstone::new(of, why);
        stone.take(&record);
        for anchor in anchors {
            stone.take(&anchor);
        }
        Record::Tombstone(stone)
    })
}

/// Any record.
pub fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        reasoning(),
        outcome(),
        anchor(),
        session(),
        task(),
        tombstone()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_encoded_is_decoded(record in record()) {
        let line = record.encode();
        prop_assert_eq!(line.id, RecordId::of(line.text.as_bytes()));
        prop_assert!(!line.text.contains('\n'), "one line");
        let decoded = Record::decode(line.text.as_bytes()).expect("it was encoded");
        prop_assert_eq!(&decoded, &record);
        prop_assert_eq!(decoded.encode(), line);
    }

    #[test]
    fn a_field_that_nobody_knows_is_no_obstacle(record in record(), key in "[A-Z]{1,8}", value in text()) {
        let line = record.encode().text;
        let field = serde_json::json!({ key: value }).to_string();
        let more = format!("{},{}", &line[..line.len() - 1], &field[1..]);
        prop_assert_eq!(Record::decode(more.as_bytes()).expect("still a record"), record);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..400)) {
        drop(Record::decode(&bytes));
        drop(Attention::decode(&bytes));
        let text = String::from_utf8_lossy(&bytes);
        drop(Policy::parse(&text));
        drop(trailer::found(&trailer::parse(&text)));
        drop(text.parse::<RecordId>());
        drop(text.parse::<Time>());
    }

    /// Bytes that are almost a record come much further than any.
    #[test]
    fn damaged_records_are_read_without_a_panic(record in record(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = record.encode().text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if cut {
            bytes.truncate(at);
        }
        // What can be read has a form that can be read again.
        if let Ok(read) = Record::decode(&bytes) {
            let again = read.encode();
            prop_assert_eq!(Record::decode(again.text.as_bytes()).expect("it was encoded"), read);
        }
    }

    #[test]
    fn any_message_gives_trailers_of_one_line(message in "(\\PC|\n|[A-Z][a-z]{1,6}: ){0,60}") {
        let found = trailer::found(&trailer::parse(&message));
        for (_, text) in found.reasonings {
            prop_assert!(!text.is_empty() && !text.contains('\n'));
        }
    }
}
