//! Where records come from: what a repository's own history says, and what somebody says in a session.
//!
//! In: tips and marks, or plain values. Out: records with their anchors in the store, and of an ingest one [`Report`]. An ingest is a
//! catch-up: it takes the commits not yet seen, and taking one twice adds nothing. Never touches a reference that is not the memory's own.

mod adr;
mod catch_up;
mod committed;
mod document;
mod history;
mod keys;
mod places;
#[doc(hidden)]
pub mod probe;
mod rewrite;
mod said;
mod seen;
mod session;
mod spoken;
mod state;
pub mod trailer;

pub use catch_up::{
    Ingest, IngestError, Report, Scope, catch_up, catch_up_behind, catch_up_within, is_behind,
    known_sources,
};
pub use history::{Degree, Sources};
pub use places::{Folders, StateFiles};
pub use rewrite::{Kept, Moved, follow};
pub use seen::{Mark, set_mark};
pub use session::{Begin, Begun, End, Ended, Named, begin, end};
pub use spoken::{Heard, SpeakError, Spoken, Writer};
