#![no_main]
//! See `checks/record.rs`.

use git_score_context_fuzz::{checks::record, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    record::check(bytes);
    if is_sampled(bytes) {
        record::slow(bytes);
    }
});
