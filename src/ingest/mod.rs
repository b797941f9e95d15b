//! Sources of records other than a session: what a repository's own history says.
//!
//! In: tips and marks. Out: records with their anchors in the store, and one [`Report`]. An ingest is a catch-up: it takes the
//! commits not yet seen, and taking one twice adds nothing. Never touches a reference that is not the memory's own.

mod catch_up;
mod history;
mod rewrite;
mod seen;
pub mod trailer;

pub use catch_up::{Ingest, IngestError, Report, Scope, catch_up, known_sources};
pub use history::{Degree, Sources};
pub use rewrite::{Kept, Moved, follow};
pub use seen::{Mark, set_mark};
