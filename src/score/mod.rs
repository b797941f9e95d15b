//! Which records fit a task, by the rules of `scoring.md`: pure, and cannot fail.
//!
//! In: the visible records, the question, the code graph, what Git's history tells. Out: a [`Selection`]. Graph and history are read only
//! by [`focus`], [`ground`], [`touch`] and [`blame`], so a replay can hand [`rank`] the ground that a look-up pinned instead. Never does I/O, never asks the clock.

pub mod blame;
mod company;
mod factors;
mod focus;
mod ground;
mod measured;
mod select;
pub mod touch;
mod varint;
mod weights;

#[cfg(test)]
mod conformance;

pub use blame::{Authorship, Lines};
pub use factors::{Question, Read, Scored, Verdicts, candidates, score};
pub use focus::{Focus, FocusFacts, focus};
pub use ground::{Stand, ground, grounds, pack_ground, unpack_ground};
pub use measured::floor_shift;
pub use select::select;
pub use weights::Weights;

use crate::record::Selection;
use crate::store::view::View;

/// The selection, from what the rule read of code and history.
pub fn rank(view: &View, question: &Question, read: Read, focus_facts: FocusFacts) -> Selection {
    let scored = score(view, question, read);
    select(&scored, &view.replaced_by, question.policy, focus_facts)
}
