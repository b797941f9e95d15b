//! The two marks around what other sessions said.

/// What the opening mark begins with; the payload's hash follows.
pub const OPENING: &str = "<untrusted-prior-context hash=\"";
/// The closing mark.
pub const CLOSING: &str = "</untrusted-prior-context>";
