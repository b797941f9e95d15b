//! The memory on Git's own object store: records and look-ups under `refs/score-local/`.
//!
//! In: encoded lines and ids. Out: the corpus as plain data, stored look-ups, receipts. Every write is a compare-and-swap with
//! retry (`transaction.rs`) on a tree whose shape `layout.rs` knows; `corpus.rs` reads it, `view.rs` is what a look-up sees of it,
//! `lookup.rs` keeps attention records with their pins, `erase.rs` and `sweep.rs` take records and look-ups out again, `foreign.rs` names what is not
//! ours, `notes.rs` the notes that Git shows, `journal.rs` and `join.rs` bring back what was damaged or replaced by another program. Never asks the clock for anything that is stored.

mod append;
mod base;
mod clock;
mod corpus;
mod erase;
mod find;
mod follow;
mod foreign;
mod identity;
mod index;
mod join;
mod journal;
mod last;
mod layout;
mod lean;
mod line;
mod lookup;
mod notes;
#[doc(hidden)]
pub mod probe;
mod repair;
mod reunion;
mod section;
mod sweep;
mod transaction;
mod undo;
pub mod view;
mod wait;

pub use append::{Put, Receipt};
pub use base::{ATTENTION, RECORDS, Store, StoreError};
pub use clock::Clock;
pub use corpus::{Broken, Corpus, Visible};
pub use erase::{Erasure, OddLine, line_is_of};
pub use last::{Event, Outcome};
pub use lean::Lean;
pub use lookup::{Lookup, Pins, Stored};
pub use notes::{NOTES, Noted};
pub use repair::Depth;
pub use sweep::{Decide, Fate, Swept};
pub use undo::{FirstKept, PRIVATE, UNDO, Undone, Waiting};
