#![no_main]
//! See `checks/prompt.rs`.

use git_score_context_fuzz::{checks::prompt, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    prompt::check(bytes);
    if is_sampled(bytes) {
        prompt::slow(bytes);
    }
});
