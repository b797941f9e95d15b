//! What lies inside the derived files of the store, by itself, for the fuzz targets and for tests from outside. No part of the interface.
//!
//! In: bytes, or lines of records. Out: the same again, or nothing. Does no I/O.

use super::{journal, section};
use crate::id::{CommitId, RecordId};
use crate::record::Record;
use crate::repo::Object;

/// A record and the commit that it is anchored at.
pub type Anchored = (RecordId, Option<CommitId>);

/// What the index keeps of a blob with these records: the bytes of its ids and of its facts.
pub fn section_of(records: &[Record]) -> (Vec<u8>, Vec<u8>) {
    let lines: Vec<_> = records.iter().map(Record::encode).collect();
    let all = lines.iter().zip(records);
    let section = section::encode(all.map(|(line, record)| (line.id, line.text.as_str(), record)));
    (section.ids, section.facts)
}

/// The records that the index reads out of the bytes of facts; none where they are not sound.
pub fn facts(bytes: &[u8]) -> Option<Vec<(RecordId, Record)>> {
    section::decode(bytes)
}

/// The anchors, and the lines of tombstones, that the index reads out of the bytes of ids; none where they are not sound.
pub fn ids(bytes: &[u8]) -> Option<(Vec<Anchored>, String)> {
    let ids = section::Ids::of(bytes)?;
    Some((ids.anchors().collect(), ids.stones.to_owned()))
}

/// The objects that a mend would find in a journal, in the order of their names.
pub fn journal(bytes: &[u8]) -> Vec<Object> {
    let mut kept = journal::Kept::default();
    kept.read(bytes);
    kept.into_objects()
}
