//! Decision memory for coding agents, inside Git itself.

pub mod graph;
pub mod hook;
pub mod id;
pub mod impact;
pub mod ingest;
pub mod mask;
pub mod outline;
pub mod policy;
pub mod query;
pub mod record;
pub mod render;
pub mod replay;
pub mod repo;
pub mod score;
pub mod store;
pub mod token;
pub mod upkeep;
