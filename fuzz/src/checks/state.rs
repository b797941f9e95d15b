//! A committed `state.json`.

use git_score_context::ingest::probe::{self, Told};
use git_score_context::record::Record;
use serde_json::Value;

use super::support::{check_growth, check_masked, check_record, copies};

/// Every file has a reading; what it gives may be kept, and does not depend on how the file is laid out.
pub fn check(bytes: &[u8]) {
    let told = probe::state(bytes);
    check_told(&told);
    assert_eq!(probe::state(bytes), told, "the same again");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let pretty = serde_json::to_vec_pretty(&value).expect("a value has a JSON form");
        assert_eq!(probe::state(&pretty), told, "white space says nothing");
    }
}

/// What may be told of any document.
pub fn check_told(told: &Told) {
    for (record, nodes) in &told.said {
        check_record(record);
        match record {
            Record::Reasoning(said) => {
                check_masked(&said.text);
                said.reasons.iter().for_each(|reason| check_masked(reason));
            }
            Record::Outcome(end) => check_masked(end.rationale.as_deref().unwrap_or_default()),
            other => panic!("no document says {other:?}"),
        }
        nodes.iter().for_each(|node| check_masked(node));
    }
}

/// A list of many of these.
pub fn slow(bytes: &[u8]) {
    let list = |size| [b"[", &copies(bytes, b",", size)[..], b"]"].concat();
    check_growth(list, |bytes| drop(probe::state(bytes)));
}
