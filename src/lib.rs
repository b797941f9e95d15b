//! Decision memory for coding agents, inside Git itself.
//!
//! Records of decisions and how they ended are JSON blobs in a repository's own object store; a code graph of a commit is read from
//! the same store; a look-up scores every record against a task by a fixed formula and returns the few that fit, with the factors of
//! those that did not. What it read is pinned, so that it can be recomputed bit for bit at any later time.
//!
//! The command line is one front end of this library. A planner in Rust asks in its own process:
//!
//! ```
//! use git_score_context::record::{Anchor, Kind, Reasoning, Record, Source, Time};
//! use git_score_context::{Put, Query, Repo, Store, ask, replay};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # std::process::Command::new("git").arg("init").arg("-q").arg(place.path()).status()?;
//! # let dir = place.path();
//! let repo = Repo::open(dir, None)?;
//! let now: Time = "2026-11-30T12:00:00Z".parse()?;
//!
//! // A decision, said before the first commit.
//! let decision = Record::Reasoning(Reasoning {
//!     text: "the session cache moves to signed cookies".into(),
//!     ..Reasoning::new(Source::Session, Kind::Decision)
//! });
//! let store = Store::new(&repo);
//! store.put(&[Put::new(&decision, Some(Anchor::at(None, now)), false)], now)?;
//!
//! // What a planner asks before it plans. `block` is what it puts into its prompt.
//! let query = Query::new("change how the session cache is stored", vec!["src".into()]);
//! let answer = ask(&repo, &query, now, &|_, _| {})?;
//! assert_eq!(answer.attention.result.items.len(), 1);
//! assert!(answer.block().contains("signed cookies"));
//!
//! // Any later day: the same bytes, from what the look-up pinned.
//! let id = answer.id.ok_or("the store can be written")?;
//! let stored = store.find_lookup(&id.to_string())?;
//! let replayed = replay::replay(&repo, &stored, &|_, _| {})?;
//! assert_eq!(replayed.result.to_string(), "identical");
//! # Ok(())
//! # }
//! ```
//!
//! # The rooms
//!
//! Each imports only from those before it, and `tests/it/layering.rs` fails on any other import.
//!
//! | room | holds |
//! |---|---|
//! | [`id`] | names of records, commits, trees and blobs |
//! | [`token`] | text to tokens, by a frozen rule |
//! | [`mask`] | credentials out of any text before it is stored |
//! | [`policy`] | every number that can change a result |
//! | [`threads`] | threads to share work among, where the machine grants any |
//! | [`record`] | the record kinds and the results, and their one byte encoding |
//! | [`repo`] | the only Git plumbing |
//! | [`store`] | records and look-ups on `refs/score-local/*` |
//! | [`graph`] | the code graph of a tree |
//! | [`score`] | which records fit a task: pure, cannot fail |
//! | [`render`] | stored text made safe for a prompt and for a terminal |
//! | [`mod@query`] | a look-up |
//! | [`mod@replay`] | its recomputation |
//! | [`ingest`] | records out of a repository's history |
//! | [`mod@impact`] | which callers and importers a change of signatures breaks |
//! | [`mod@outline`] | the parts of the code around a task, for a prompt |
//! | [`measure`] | how well a rule finds what it should, on labelled questions |
//! | [`hook`] | the Git hook that feeds the memory |
//! | [`upkeep`] | what goes: forgotten, expired, left over; whether everything stored is right |
//! | [`mcp`] | the memory as tools for agents |
//! | [`cli`] | one file per command |

pub mod cli;
pub mod graph;
pub mod hook;
pub mod id;
pub mod impact;
pub mod ingest;
pub mod mask;
pub mod mcp;
pub mod measure;
pub mod outline;
pub mod policy;
pub mod query;
pub mod record;
pub mod render;
pub mod replay;
pub mod repo;
pub mod score;
pub mod store;
pub mod threads;
pub mod token;
pub mod upkeep;

pub use query::{Answer, Query, Report, ask};
pub use repo::Repo;
pub use store::{Put, Store};
