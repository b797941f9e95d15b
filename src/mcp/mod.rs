//! The memory as tools for agents: a server of the Model Context Protocol on standard input and output.
//!
//! In: JSON-RPC messages, one a line, of the versions from 2024-11-05 to 2025-11-25, which begin with `initialize`, and of 2026-07-28,
//! where each request says for itself who asks. Out: answers, one a line, and nothing else. `edge.rs` reads and writes, `server.rs` is what the
//! protocol library asks, `tools.rs` the tools, which `remember.rs`, `recall.rs` and `code.rs` answer from the rooms to the left;
//! `desk.rs` is what each of them gets, `answer.rs` what each of them gives.

mod answer;
mod code;
mod desk;
mod edge;
mod recall;
mod remember;
mod server;
mod tools;

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

pub use desk::Settings;

use desk::Desk;
use edge::Edge;
use server::Server;

/// Why the server could not work at all. What goes wrong with a message or a tool is an answer.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is no runtime.
    #[error("cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// The conversation could not begin.
    #[error(transparent)]
    Begin(#[from] Box<ServerInitializeError>),
    /// The task that answers has come to a bad end.
    #[error("the server has stopped: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// Serves until the input ends; every request that was read is answered before that.
///
/// # Errors
/// When no conversation can be had at all.
pub fn serve(settings: Settings) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let desk = Arc::new(Desk::new(settings));
    let served = runtime.block_on(async {
        let edge = Edge::new()?;
        let running = match Server::new(desk.clone()).serve(edge).await {
            Ok(running) => running,
            // The input ended before anything began.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Begin(Box::new(error))),
        };
        // Beside the answers, so that the first look-up need not wait for the code graph, and none for the day's upkeep.
        // Where no thread can be started, that is waited for.
        let beside = std::thread::Builder::new().spawn(move || {
            desk.tidy();
            desk.warm();
        });
        drop(beside);
        running.waiting().await?;
        Ok(())
    });
    // A graph that is still being built keeps nobody from leaving.
    runtime.shutdown_background();
    served
}
