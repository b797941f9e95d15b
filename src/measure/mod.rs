//! How well a rule finds what it should, and how often it answers when it should not: on labelled questions, beside what else one could
//! type.
//!
//! In: lines of labelled questions, a repository with records. Out: figures. `case.rs` reads the lines, `bench.rs` gives each question its
//! records, `ranker.rs` asks a rule or a baseline, `figures.rs` sums up; `calibrate.rs` finds a floor, `ablate.rs` compares two prompts. Never writes a record or a look-up, never prints.

mod ablate;
mod baseline;
mod bench;
mod calibrate;
mod case;
mod eval;
mod figures;
mod ranker;
mod right;
mod words;

pub use ablate::{AblateError, Errand, Pair, SECTION, Said, ablate, read_errands};
pub use calibrate::{Calibration, LEAST, calibrate, histogram, with_values};
pub use case::{Case, read_cases};
pub use eval::{Eval, History, Options, eval};
pub use figures::{Difference, Figures, Seen, difference, figures};
pub use ranker::Ranker;
