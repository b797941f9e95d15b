//! Keeping the memory: what goes when its time is over, what goes because somebody asked, and whether everything stored is right.
//!
//! In: a repository and a clock. Out: what was done or found, as plain data. `forget.rs` takes records out for good, `prune.rs` what is
//! over retention, `stray.rs` knows the look-ups of histories that are gone, `sizes.rs` what it all weighs, `locks.rs` what is locked, `check.rs` looks at
//! everything. Never prints.

mod check;
mod forget;
mod locks;
mod prune;
mod sizes;
mod stray;

pub use check::{Findings, check, exposure};
pub use forget::{Forgotten, forget, pinned};
pub use locks::locks;
pub use prune::{Over, Prune, Pruned, daily, over, prune, record_caches};
pub use sizes::{Sizes, Weight, sizes};
pub use stray::stray;
