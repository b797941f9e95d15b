//! What several checks need.

use std::time::{Duration, Instant};

use git_score_context::id::RecordId;
use git_score_context::mask::mask;
use git_score_context::record::Record;

/// What a record must be that comes out of any reader: valid, one line, and the same again when it is read back.
pub fn check_record(record: &Record) {
    let valid = record.check();
    assert!(valid.is_ok(), "{valid:?}: {record:?}");
    let line = record.encode();
    assert!(!line.text.contains('\n'), "one line: {}", line.text);
    assert_eq!(line.id, RecordId::of(line.text.as_bytes()));
    let read = Record::decode(line.text.as_bytes()).expect("what was encoded can be decoded");
    assert_eq!(&read, record, "decode(encode(x)) is x");
    assert_eq!(read.encode(), line, "and encodes to the same");
}

/// Nothing that a reader hands to the memory holds a credential any more.
pub fn check_masked(text: &str) {
    let masked = mask(text);
    assert!(
        masked.what.is_empty(),
        "still {:?} in {text:?}",
        masked.what
    );
}

/// A short input and one sixteen times as long.
const SHORT: usize = 4 << 10;
const LONG: usize = 64 << 10;
/// So long a long input takes without further questions, on a slow machine and in a build without optimisation.
const FREE: Duration = Duration::from_millis(300);
/// So many times as long as the short one the long one takes at most: 16 is linear, 256 quadratic.
const MOST: u32 = 72;

/// That the work for many copies of a unit grows as their number does. `make` gives an input of about so many bytes.
pub fn check_growth(make: impl Fn(usize) -> Vec<u8>, run: impl Fn(&[u8])) {
    let (short, long) = (make(SHORT), make(LONG));
    let time = |input: &[u8]| {
        let begun = Instant::now();
        run(input);
        begun.elapsed()
    };
    let mut seen = Vec::new();
    // Another process may have had the processor: only what is slow every time is slow.
    for _ in 0..4 {
        let long = time(&long);
        if long < FREE {
            return;
        }
        let short = time(&short).max(Duration::from_micros(50));
        if long < short * MOST {
            return;
        }
        seen.push((short, long));
    }
    panic!(
        "the work grows faster than the input: {seen:?} for {} and {} bytes",
        short.len(),
        long.len()
    );
}

/// Copies of a unit, with something between them, of about so many bytes.
pub fn copies(unit: &[u8], between: &[u8], bytes: usize) -> Vec<u8> {
    let each = (unit.len() + between.len()).max(1);
    vec![unit; bytes / each + 1].join(between)
}
