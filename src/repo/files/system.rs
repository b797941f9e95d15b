//! The system calls of the gateway, as this system has them.

#[cfg(not(unix))]
pub use super::portable::{Dir, How, dress, facts_of, set_mode, user};
#[cfg(unix)]
pub use super::unix::{Dir, How, dress, facts_of, set_mode, user};
