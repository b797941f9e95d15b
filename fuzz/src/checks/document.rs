//! The decision documents of one tree, with a zero byte between them.

use git_score_context::ingest::probe::{self, Told};

use super::state::check_told;
use super::support::{check_growth, copies};

/// Every text has a reading; what it gives may be kept, and does not depend on how lines end.
pub fn check(bytes: &[u8]) {
    let told = read(bytes);
    check_told(&told);
    assert_eq!(read(bytes), told, "the same again");
    let unix: Vec<u8> = bytes
        .iter()
        .copied()
        .filter(|byte| *byte != b'\r')
        .collect();
    let windows = String::from_utf8_lossy(&unix).replace('\n', "\r\n");
    let (unix, windows) = (read(&unix), read(windows.as_bytes()));
    assert_eq!(unix.said, windows.said, "line ends say nothing");
}

fn read(bytes: &[u8]) -> Told {
    let texts = bytes.split(|byte| *byte == 0).take(5).zip(1..);
    let files = texts.map(|(text, number)| {
        let path = format!("docs/adr/{number:04}-a.md");
        (path, String::from_utf8_lossy(text).into_owned())
    });
    probe::documents(&files.collect::<Vec<_>>())
}

/// One document of many of these, and many documents.
pub fn slow(bytes: &[u8]) {
    let text: Vec<u8> = bytes
        .iter()
        .map(|byte| if *byte == 0 { b'0' } else { *byte })
        .collect();
    for between in [&b""[..], b"\n", b"\n\n"] {
        check_growth(
            |size| copies(&text, between, size),
            |bytes| drop(read(bytes)),
        );
    }
}
