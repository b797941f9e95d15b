//! The threads that work is shared among, where the machine grants any.
//!
//! Out: a pool for `rayon`, which otherwise panics at its first use where a thread cannot be started (`ulimit -u`, a full cgroup). Whoever
//! shares work out calls [`ready`] before. Fewer threads than wanted work as many as there are; without any the caller does all of the
//! work itself, which is slower and the same answer. Holds no state but the pool.

use std::sync::OnceLock;
use std::sync::mpsc;
use std::thread;

/// Makes sure that work can be shared out from the calling thread, if only with itself.
pub fn ready() {
    static HAS_POOL: OnceLock<bool> = OnceLock::new();
    if rayon::current_thread_index().is_some() || *HAS_POOL.get_or_init(pool) {
        return;
    }
    // A pool of which the caller is the one thread: it lasts as long as the thread does.
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build();
    std::mem::forget(alone);
}

/// Starts the threads first and makes the pool of those that did start: a pool of which one thread could not start cannot be made, and
/// neither can any after it. False where there is no thread.
fn pool() -> bool {
    let wanted = thread::available_parallelism().map_or(1, usize::from);
    let mut waiting = Vec::new();
    for _ in 0..wanted {
        let (give, take) = mpsc::channel::<rayon::ThreadBuilder>();
        let started = thread::Builder::new().spawn(move || {
            if let Ok(worker) = take.recv() {
                worker.run();
            }
        });
        match started {
            Ok(_) => waiting.push(give),
            Err(_) => break,
        }
    }
    if waiting.is_empty() {
        return false;
    }
    let made = rayon::ThreadPoolBuilder::new()
        .num_threads(waiting.len())
        .spawn_handler(move |worker| {
            let gone = || std::io::Error::other("a thread that had started is gone");
            let give = waiting.pop().ok_or_else(gone)?;
            give.send(worker).map_err(|_| gone())
        })
        .build_global();
    // Whoever uses this library may have made the pool already; then that one serves.
    drop(made);
    true
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn work_is_shared_and_can_be_shared_again_from_inside() {
        ready();
        ready();
        let sums: Vec<u32> = (0..100u32)
            .into_par_iter()
            .map(|top| {
                ready();
                (0..top).into_par_iter().sum()
            })
            .collect();
        assert_eq!(sums[99], 4851);
    }
}
