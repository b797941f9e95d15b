//! Waiting for other writers: the only place that sleeps.

use std::thread;
use std::time::{Duration, Instant};

/// Jittered, growing pauses up to a deadline.
pub(super) struct Wait {
    deadline: Instant,
    next: Duration,
}

impl Wait {
    pub(super) fn new(begun: Instant, patience: Duration) -> Self {
        Self {
            deadline: begun + patience,
            next: Duration::from_millis(2),
        }
    }

    /// Sleeps; false when patience has run out.
    pub(super) fn once_more(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        // Processes that lost the same race must not wake together. The address space and the moment differ between them.
        let seed = format!("{:?}{}", now, std::process::id());
        let jitter = u32::from(blake3::hash(seed.as_bytes()).as_bytes()[0]);
        let pause = self.next / 2 + self.next * jitter / 256;
        thread::sleep(pause.min(self.deadline - now));
        self.next = (self.next * 2).min(Duration::from_millis(100));
        true
    }
}
