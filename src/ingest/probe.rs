//! The readers of committed files by themselves, for the fuzz targets and for tests from outside. No part of the interface.
//!
//! In: the bytes of one file. Out: what an ingest would keep of it, before any path is looked up. Does no I/O.

use super::said::{Reading, settle};
use super::{adr, state};
use crate::record::{Record, Source};

/// What one file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Each record, with what it is about as written.
    pub said: Vec<(Record, Vec<String>)>,
    /// What was not understood, in order.
    pub unread: Vec<String>,
}

/// Of a state file.
pub fn state(bytes: &[u8]) -> Told {
    told(state::read(bytes), Source::State)
}

/// Of the decision documents of one tree, path and text of each.
pub fn documents(files: &[(String, String)]) -> Told {
    told(adr::read(files, &|| false).unwrap_or_default(), Source::Adr)
}

fn told(reading: Reading, source: Source) -> Told {
    let settled = settle(reading, source);
    let said = settled.said.into_iter();
    Told {
        said: said.map(|said| (said.record, said.nodes)).collect(),
        unread: settled.unread.into_iter().collect(),
    }
}
