//! A line of the memory, and a stored look-up.

use git_score_context::id::RecordId;
use git_score_context::record::{Attention, Record, Time};

use super::support::{check_growth, check_record, copies};

/// What can be read has one form, and is the same when that is read.
pub fn check(bytes: &[u8]) {
    if let Ok(record) = Record::decode(bytes) {
        check_record(&record);
    }
    if let Ok(attention) = Attention::decode(bytes) {
        let written = attention.encode();
        let again = Attention::decode(&written).expect("what was encoded can be decoded");
        assert_eq!(again, attention);
        assert_eq!(again.encode(), written);
        assert_eq!(again.inputs.id(), attention.inputs.id());
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(id) = text.parse::<RecordId>() {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    if let Ok(time) = text.parse::<Time>() {
        assert_eq!(time.to_string().parse::<Time>().ok(), Some(time));
        assert_eq!(time.day().len(), 10);
    }
}

/// A field that holds many of these.
pub fn slow(bytes: &[u8]) {
    let line = |size| {
        [
            b"{\"type\":\"reasoning\",\"nodes\":[",
            &copies(bytes, b",", size)[..],
            b"]}",
        ]
        .concat()
    };
    check_growth(line, |line| drop(Record::decode(line)));
    check_growth(
        |size| copies(bytes, b"", size),
        |line| drop(Attention::decode(line)),
    );
}
