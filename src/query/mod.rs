//! A look-up: the inputs fixed, the candidates scored, the answer kept with everything it read.
//!
//! In: a question and a clock. Out: an [`Answer`], written to the store unless asked otherwise. `ask.rs` does it, `evaluate.rs` is the
//! part that a replay repeats, `history.rs` what that reads of Git's history, `report.rs` is the JSON form, `memory.rs` what a session
//! knows of itself, `nodes.rs` the names of nodes. Never prints, never asks the clock.

mod ask;
mod evaluate;
mod history;
pub mod memory;
pub mod nodes;
mod report;

pub use ask::{
    Answer, MOST_TASK, PATHS_ONLY, POLICY_PATH, Query, QueryError, ask, masked, policy_of, set_days,
};
pub use evaluate::{
    Counted, Evaluated, Touches, code_words, count, digest_of, evaluate, evaluate_pinned, facts_of,
    ground_without, view_at, visible_digest,
};
pub use history::{History, history, lines};
pub use report::{Report, block};
