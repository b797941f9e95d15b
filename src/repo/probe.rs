//! The file of what commits touched, by itself, for the fuzz targets and for tests from outside. No part of the interface.
//!
//! In: bytes, or commits with what they touched. Out: the same again, or nothing. Does no I/O.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::touched::{Kept, Known};
use crate::id::CommitId;

/// A commit as the file has it: date, parents, paths.
pub type Commit = (i64, Vec<CommitId>, Vec<String>);

/// The bytes of a file that holds these commits, beside those of an earlier file that is sound.
pub fn touched_with(earlier: &[u8], commits: &BTreeMap<CommitId, Commit>) -> Vec<u8> {
    let known = commits.iter().map(|(id, (time, parents, paths))| {
        let known = Known {
            time: *time,
            parents: parents.clone(),
            paths: Arc::new(paths.clone()),
        };
        (*id, known)
    });
    let kept = Kept::new(earlier.to_vec()).unwrap_or_default();
    kept.with(&known.collect(), &HashSet::new())
}

/// What the bytes of a file say of these commits, in their order; none where they are no such file.
pub fn touched(bytes: &[u8], wanted: &[CommitId]) -> Option<Vec<Option<Commit>>> {
    let kept = Kept::new(bytes.to_vec())?;
    let find = |id: &CommitId| {
        let known = kept.find(*id)?;
        Some((known.time, known.parents, known.paths.to_vec()))
    };
    Some(wanted.iter().map(find).collect())
}
