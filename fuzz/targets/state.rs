#![no_main]
//! See `checks/state.rs`.

use git_score_context_fuzz::{checks::state, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    state::check(bytes);
    if is_sampled(bytes) {
        state::slow(bytes);
    }
});
