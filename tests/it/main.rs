//! Tests against the outside: the real `git`, real repositories in temporary directories, and the source tree itself.

mod cases;
mod catch_up;
mod choice;
mod errors;
mod fold;
mod graph;
mod hook;
mod hooks_push;
mod hooks_rewrite;
mod impact;
mod impact_more;
mod ingest;
mod inputs;
mod layering;
mod notes;
mod outline;
mod properties;
mod query;
mod real;
mod replay;
mod store;
mod support;
mod surroundings;
mod trailers;
mod usage;
mod writers;
