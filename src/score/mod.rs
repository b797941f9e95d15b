//! Which records fit a task, by the rule `seed/1` of `scoring.md`: pure, and cannot fail.
//!
//! In: the visible records, the question, the code graph. Out: a [`Selection`]. The graph is read only by [`focus`] and [`ground`], so
//! a replay can hand [`rank`] the ground that a look-up pinned instead. Never does I/O, never asks the clock.

mod company;
mod factors;
mod focus;
mod ground;
mod select;

#[cfg(test)]
mod conformance;

pub use factors::{Question, Verdicts, candidates};
pub use focus::{Focus, FocusFacts, focus};
pub use ground::{Stand, ground, grounds, pack_ground, thin_ground, unpack_ground};

use crate::record::Selection;
use crate::store::view::View;

/// The selection. `grounds` has one entry for each of [`candidates`], in the same order; a missing one counts as gone.
pub fn rank(
    view: &View,
    question: &Question,
    grounds: &[Vec<Stand>],
    focus_facts: FocusFacts,
) -> Selection {
    let scored = factors::score(view, question, grounds);
    select::select(&scored, &view.replaced_by, question.policy, focus_facts)
}
