//! What is remembered, and what a look-up makes of it: the record kinds and the results, each with its one byte encoding.
//!
//! A record is one line of compact JSON. Its id is the hash of exactly these bytes, and exactly these bytes are stored, so nobody
//! ever encodes a record a second time and fields unknown to this version survive every copy. Never does I/O, never asks the clock.

mod document;
mod masked;
mod result;
mod tombstone;

pub use document::{
    Anchor, Invalid, Kind, Line, MAX_LABEL, MAX_NODE, MAX_NODES, MAX_REASONS, MAX_TEXT, Outcome,
    Reasoning, Record, Session, Source, Task, Time, TimeError, Verdict,
};
pub use result::{
    Attention, AttentionType, Factors, Ground, Inputs, Item, Reason, Rejected, Selection, State,
    Visibility,
};
pub use tombstone::{Gone, Stood, Tombstone, Was};
