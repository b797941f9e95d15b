#![no_main]
//! See `checks/mask.rs`.

use git_score_context_fuzz::{checks::mask, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    mask::check(bytes);
    if is_sampled(bytes) {
        mask::slow(bytes);
    }
});
