//! Decision memory for coding agents, inside Git itself.

pub mod id;
pub mod mask;
pub mod policy;
pub mod token;
