//! Keeping the memory: what goes when its time is over, what goes because somebody asked, and whether everything stored is right.
//!
//! In: a repository and a clock. Out: what was done or found, as plain data. `forget.rs` takes records out for good, with `said.rs`, `quote.rs`
//! and `sweeper.rs` for the look-ups that quote them; `phrase.rs` and `search.rs` find a phrase in raw bytes, `left.rs` says what still holds it;
//! `prune.rs` what is over retention, `trust.rs` says whether a clock may let anything go, `stray.rs` knows the look-ups of histories that are
//! gone, `sizes.rs` what it all weighs, `locks.rs` what is locked, `check.rs` looks at
//! everything. Never prints.

mod check;
mod forget;
mod left;
mod locks;
mod phrase;
mod prune;
mod quote;
mod said;
mod search;
mod sizes;
mod stray;
mod sweeper;
mod trust;

pub use check::{Findings, check, exposure};
pub use forget::{Forgotten, Wish, forget, forget_in_notes, odd, pinned, preview, remove};
pub use left::{Left, files_with, left};
pub use locks::locks;
pub use phrase::{Phrase, SHORTEST};
pub use prune::{Over, Prune, Pruned, UNDO_DAYS, daily, over, prune, record_caches, undo};
pub use search::{Hits, Scan};
pub use sizes::{Sizes, Weight, sizes};
pub use stray::stray;
pub use trust::Doubt;
