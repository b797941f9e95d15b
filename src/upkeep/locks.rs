//! Locks of our references that somebody holds, or has left.
//!
//! In: a repository. Out: a sentence for each. Never removes one; the next writer does, of a writer of ours that is dead.

use crate::repo::Repo;
use crate::store::PRIVATE;

/// Git's table of references: while it is locked, none can be deleted and none packed.
const PACKED: &str = "packed-refs";

/// What is locked, and what to do about it.
pub fn locks(repo: &Repo) -> Vec<String> {
    let all = PRIVATE.into_iter().chain([PACKED]);
    let held = repo.held_locks(&all.collect::<Vec<_>>());
    let sentence = |(lock, is_dead): (std::path::PathBuf, bool)| {
        let lock = lock.display();
        match is_dead {
            true => {
                format!("{lock} was left by a writer that was killed; the next write removes it")
            }
            false => format!("{lock} is there: if no Git process is at work, remove it"),
        }
    };
    held.into_iter().map(sentence).collect()
}
