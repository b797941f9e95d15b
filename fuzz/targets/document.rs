#![no_main]
//! See `checks/document.rs`.

use git_score_context_fuzz::{checks::document, is_sampled};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    document::check(bytes);
    if is_sampled(bytes) {
        document::slow(bytes);
    }
});
