#![no_main]
//! See `checks/policy.rs`.

use git_score_context_fuzz::{checks::policy, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    policy::check(bytes);
    if is_sampled(bytes) {
        policy::slow(bytes);
    }
});
