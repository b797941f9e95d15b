//! Decision memory for coding agents, inside Git itself.

pub mod graph;
pub mod id;
pub mod mask;
pub mod policy;
pub mod query;
pub mod record;
pub mod render;
pub mod replay;
pub mod repo;
pub mod score;
pub mod store;
pub mod token;
