//! Any text on its way into the memory.

use git_score_context::mask::mask;

use super::support::{check_growth, copies};

/// Masking a masked text changes nothing, and a text without a credential stays as it is.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let once = mask(&text);
    if once.what.is_empty() {
        assert_eq!(once.text, text, "nothing found, nothing changed");
    }
    let twice = mask(&once.text);
    assert_eq!(
        twice.text, once.text,
        "masked twice is masked once: {text:?}"
    );
    assert!(twice.what.is_empty(), "{:?} in {:?}", twice.what, once.text);
    let marks = once.text.matches("[masked: ").count();
    assert!(
        once.what.len() <= text.len() && (once.what.is_empty() || marks > 0),
        "{once:?}"
    );
}

/// A text of many of these.
pub fn slow(bytes: &[u8]) {
    for between in [&b""[..], b" ", b"\n"] {
        check_growth(
            |size| copies(bytes, between, size),
            |bytes| drop(mask(&String::from_utf8_lossy(bytes))),
        );
    }
}
