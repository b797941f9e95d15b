//! The only Git plumbing: discovery and the gate, objects, references, history.
//!
//! In: paths, revisions, ids. Out: plain owned data; no type of the Git library leaves this room except behind [`Repo`].
//! Reads the index only where it is asked for what is staged. Never writes the index, the work tree, `HEAD` or a branch, and never
//! fetches a missing object.

mod absent;
mod blame;
mod bounded;
mod config;
mod exposure;
mod files;
mod gate;
mod gather;
mod held;
mod history;
mod index;
mod kept;
mod lock;
mod object;
mod open;
mod own;
mod pack;
mod past;
#[doc(hidden)]
pub mod probe;
mod reach;
mod refs;
mod remains;
mod roots;
mod scan;
mod sync;
mod touched;

pub use blame::{Blame, Kept};
pub use bounded::{TooLarge, read_within};
pub use exposure::RefSpec;
pub use files::{Access, Draft, FileError, Folder, Listed, Map, Sort, guard_maps};
pub use held::Take;
pub use history::{Change, Commit};
pub use kept::KeptPack;
pub use object::{Entry, Kind, Mode, Object};
pub use open::{Head, Repo, RepoError, Shared};
pub use past::{Past, Touched, WINDOW, Window, is_source};
pub use refs::Swap;
pub use roots::Root;
pub use scan::{Scanned, Whereabouts};
pub use sync::Durable;
