//! What is promised of any input, as code that panics where a promise is broken.
//!
//! The fuzz targets (`targets/`) call it on what the fuzzer makes up; the ordinary suite (`tests/it/fuzzed.rs`) includes the same files
//! and calls them on made-up inputs and on every input that was kept.

pub mod checks;

/// Whether this is one of the inputs of which a fuzzer also makes a long one: one in 256.
pub fn is_sampled(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.len() <= 1024 && blake3::hash(bytes).as_bytes()[0] == 0
}
