#![no_main]
//! See `checks/trailer.rs`.

use git_score_context_fuzz::{checks::trailer, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    trailer::check(bytes);
    if is_sampled(bytes) {
        trailer::slow(bytes);
    }
});
