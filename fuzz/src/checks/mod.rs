//! One file per kind of input: `check` is what holds of any bytes, `slow` that the work grows as the input does.

pub mod cache;
pub mod document;
pub mod forged;
pub mod mask;
pub mod mcp;
pub mod policy;
pub mod prompt;
pub mod record;
pub mod state;
pub mod support;
pub mod trailer;
