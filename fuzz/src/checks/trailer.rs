//! A commit message.

use git_score_context::ingest::trailer::{Message, found, parse, prose, words_of_body};

use super::support::{check_growth, copies};

/// Every message has a reading: no carriage return, trailers of one line, the same trailers however lines end, and the same again when
/// they are written as trailers.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let message = parse(&text);
    check_parts(&message);
    // Git knows its scissors and its lists of conflicts only by a bare line feed.
    let unix = text.replace('\r', "");
    if !unix.contains(" >8 ---") && !unix.contains("Conflicts:") {
        let (unix, windows) = (parse(&unix), parse(&unix.replace('\n', "\r\n")));
        assert_eq!(unix, windows, "line ends say nothing");
        assert_eq!(found(&unix), found(&windows));
    }
    if !message.subject.is_empty() && !message.trailers.is_empty() {
        let lines = message
            .trailers
            .iter()
            .map(|trailer| format!("{}: {}\n", trailer.key, trailer.value));
        let written = format!("{}\n\n{}", message.subject, lines.collect::<String>());
        assert_eq!(parse(&written).trailers, message.trailers, "{written:?}");
    }
}

fn check_parts(message: &Message) {
    let is_whole = |text: &str| !text.contains(['\r', '\0']);
    assert!(
        is_whole(&message.subject) && !message.subject.contains('\n'),
        "{message:?}"
    );
    assert!(is_whole(&message.body), "{message:?}");
    for trailer in &message.trailers {
        assert!(
            !trailer.key.is_empty() && is_whole(&trailer.value),
            "{trailer:?}"
        );
        assert!(!trailer.value.contains('\n'), "{trailer:?}");
    }
    let found = found(message);
    for (_, text) in &found.reasonings {
        assert!(!text.is_empty() && is_whole(text), "{text:?}");
    }
    for (_, why) in &found.outcomes {
        assert!(why.as_ref().is_none_or(|why| !why.is_empty()), "{why:?}");
    }
    for sentence in &found.refused {
        assert!(!sentence.contains(char::is_control), "{sentence:?}");
    }
    assert!(
        found.reasonings.len() + found.outcomes.len() + found.refused.len()
            <= message.trailers.len()
    );
    assert!(prose(message).is_none_or(|prose| !prose.trim().is_empty()));
    assert!(words_of_body(message) <= message.body.len());
}

/// A message of many of these, and one with a trailer of many.
pub fn slow(bytes: &[u8]) {
    let read = |bytes: &[u8]| {
        let message = parse(&String::from_utf8_lossy(bytes));
        found(&message);
        prose(&message);
    };
    for between in [&b""[..], b"\n", b"\n ", b"\nKey: "] {
        check_growth(
            |size| [b"subject\n\nKey: ", &copies(bytes, between, size)[..]].concat(),
            read,
        );
    }
}
