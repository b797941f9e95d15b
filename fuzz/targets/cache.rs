#![no_main]
//! See `checks/cache.rs`.

use git_score_context_fuzz::{checks::cache, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cache::check(bytes);
    if is_sampled(bytes) {
        cache::slow(bytes);
    }
});
