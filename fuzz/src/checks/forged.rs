//! Cache files with digests that fit their content, whatever that is: what damage can never be, but a hostile hand can.
//!
//! The formats as `src/store/index.rs`, `src/graph/cache.rs` and `src/repo/touched.rs` write them. A sound file comes out unchanged, which
//! a test holds, so that this cannot fall behind them unseen.

/// What a cache file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// `index/*.idx`.
    Index,
    /// `graph-*.bin` and `facts-*.bin`.
    Graph,
    /// `touched.bin`.
    Touched,
    /// Anything else, which has no digest.
    Other,
}

/// The sort of a file, by its name.
pub fn sort_of(name: &str) -> Sort {
    match name {
        _ if name.ends_with(".idx") => Sort::Index,
        _ if name.starts_with("graph-") || name.starts_with("facts-") => Sort::Graph,
        "touched.bin" => Sort::Touched,
        _ => Sort::Other,
    }
}

/// Puts digests into a file that fit what it holds, as far as it has that form.
pub fn forge(sort: Sort, bytes: &mut [u8]) {
    let _ = match sort {
        Sort::Index => index(bytes),
        Sort::Graph => graph(bytes),
        Sort::Touched => touched(bytes),
        Sort::Other => None,
    };
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

fn short_number(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

/// A header of 80 bytes with a digest at 16 over what follows it up to the end of the directory, and entries of 162 bytes: a key of 66,
/// then twice a place, a length and a digest.
fn index(bytes: &mut [u8]) -> Option<()> {
    let count = number(bytes, 48)?;
    let end = 80usize.checked_add(count.checked_mul(162)?)?;
    bytes.get(..end)?;
    for entry in (80..end).step_by(162) {
        for at in [entry + 66, entry + 114] {
            let (place, len) = (number(bytes, at)?, number(bytes, at + 8)?);
            if let Some(part) = bytes.get(place..).and_then(|rest| rest.get(..len)) {
                let digest = blake3::hash(part);
                bytes[at + 16..at + 48].copy_from_slice(digest.as_bytes());
            }
        }
    }
    let digest = blake3::hash(&bytes[48..end]);
    bytes[16..48].copy_from_slice(digest.as_bytes());
    Some(())
}

/// A header of 192 bytes with a digest of the rest at 16 and its length at 48.
fn graph(bytes: &mut [u8]) -> Option<()> {
    let (header, payload) = bytes.split_at_mut_checked(192)?;
    header[16..48].copy_from_slice(blake3::hash(payload).as_bytes());
    header[48..56].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    Some(())
}

/// A head of 32 bytes that ends with a check, then names, then where each entry ends, then entries that begin with a check.
fn touched(bytes: &mut [u8]) -> Option<()> {
    let check = |name: &[u8], said: &[u8]| {
        let mut check = [0; 8];
        blake3::Hasher::new()
            .update(name)
            .update(said)
            .finalize_xof()
            .fill(&mut check);
        check
    };
    let head = check(bytes.get(..16)?, bytes.get(16..24)?);
    bytes.get_mut(24..32)?.copy_from_slice(&head);
    let (width, count) = (short_number(bytes, 16)?, short_number(bytes, 20)?);
    let ends = 32usize.checked_add(count.checked_mul(width)?)?;
    let entries = ends.checked_add(count.checked_mul(4)?)?;
    let mut start = 0;
    for at in 0..count {
        let end = short_number(bytes, ends + at * 4)?;
        let name = bytes.get(32 + at * width..)?.get(..width)?.to_vec();
        let entry = bytes.get_mut(entries..)?.get_mut(start..end)?;
        let (own, said) = entry.split_at_mut_checked(8)?;
        own.copy_from_slice(&check(&name, said));
        start = end;
    }
    Some(())
}
