//! The bytes of a pack and of its index, version 2 of both (`gitformat-pack(5)`).
//!
//! In: objects, or the entries of packs that were made here. Out: bytes. Whole objects only, no deltas, so that an entry can be copied from
//! one pack into another as it is. Never touches a file.

use gix::odb::pack::data;
use gix::odb::pack::index;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Status};

use super::object::{Kind, Object};
use super::open::theirs;

/// Bytes of a pack before its first entry: the signature, the version, the number of objects.
const HEADER: usize = 12;
/// What an index of version 2 begins with.
const INDEX_SIGNATURE: &[u8; 4] = b"\xfftOc";
/// An offset in an index from which on the entry points into the table of long ones.
const LONG_OFFSET: u64 = 1 << 31;

/// One object as it stands in a pack: its header and its deflated bytes.
pub(super) struct Entry {
    pub id: gix::ObjectId,
    pub bytes: Vec<u8>,
}

/// A pack with its index.
pub(super) struct Encoded {
    pub pack: Vec<u8>,
    pub index: Vec<u8>,
}

/// The entries of these objects, each once.
pub(super) fn entries(objects: &[Object]) -> Vec<Entry> {
    // As loose objects, which these stand in for: they are written while somebody waits, and a later `git gc` compresses them well.
    let mut compress = Compress::new(Compression::BEST_SPEED);
    let mut seen = std::collections::BTreeSet::new();
    let fresh = objects.iter().filter(|object| seen.insert(object.id));
    let entry = |object: &Object| {
        let header = match object.kind {
            Kind::Blob => data::entry::Header::Blob,
            Kind::Tree => data::entry::Header::Tree,
            Kind::Commit => data::entry::Header::Commit,
        };
        let mut bytes = Vec::new();
        header
            .write_to(object.bytes.len() as u64, &mut bytes)
            .expect("memory can always be written");
        deflate(&mut compress, &object.bytes, &mut bytes);
        let id = theirs(object.id);
        Entry { id, bytes }
    };
    fresh.map(entry).collect()
}

/// Appends the zlib stream of `bytes`.
fn deflate(compress: &mut Compress, bytes: &[u8], out: &mut Vec<u8>) {
    compress.reset();
    let begin = out.len();
    // What the fastest level makes at worst of bytes that cannot be compressed, and the frame around it.
    out.resize(begin + bytes.len() + bytes.len() / 8 + 64, 0);
    loop {
        let read = usize::try_from(compress.total_in()).expect("it was read from memory");
        let written = usize::try_from(compress.total_out()).expect("it was written to memory");
        let status = compress.compress(
            &bytes[read..],
            &mut out[begin + written..],
            FlushCompress::Finish,
        );
        match status.expect("a stream that was reset takes any bytes") {
            Status::StreamEnd => break,
            Status::Ok | Status::BufError => out.resize(out.len() + bytes.len() + 64, 0),
        }
    }
    let written = usize::try_from(compress.total_out()).expect("it was written to memory");
    out.truncate(begin + written);
}

/// A pack of these entries, in their order, and its index.
pub(super) fn encode(hash: gix::hash::Kind, entries: &[Entry]) -> Encoded {
    let count =
        u32::try_from(entries.len()).expect("no write has thousands of millions of objects");
    let size = entries.iter().map(|entry| entry.bytes.len()).sum::<usize>();
    let mut pack = Vec::with_capacity(HEADER + size + hash.len_in_bytes());
    pack.extend_from_slice(&data::header::encode(data::Version::V2, count));
    let mut rows = Vec::with_capacity(entries.len());
    for entry in entries {
        rows.push((entry.id, crc32fast::hash(&entry.bytes), pack.len() as u64));
        pack.extend_from_slice(&entry.bytes);
    }
    let digest = digest(hash, &pack);
    pack.extend_from_slice(digest.as_slice());
    rows.sort();
    let index = encode_index(hash, &rows, &digest);
    Encoded { pack, index }
}

/// The index of a pack: each object with the checksum of its entry and where that begins, sorted.
fn encode_index(
    hash: gix::hash::Kind,
    rows: &[(gix::ObjectId, u32, u64)],
    pack: &gix::ObjectId,
) -> Vec<u8> {
    let mut bytes = INDEX_SIGNATURE.to_vec();
    bytes.extend_from_slice(&2u32.to_be_bytes());
    for first in 0..=u8::MAX {
        let below = rows.partition_point(|(id, ..)| id.first_byte() <= first);
        bytes.extend_from_slice(&(below as u32).to_be_bytes());
    }
    rows.iter()
        .for_each(|(id, ..)| bytes.extend_from_slice(id.as_slice()));
    rows.iter()
        .for_each(|(_, crc, _)| bytes.extend_from_slice(&crc.to_be_bytes()));
    let mut long = Vec::new();
    for (.., offset) in rows {
        let short = match *offset < LONG_OFFSET {
            true => *offset as u32,
            false => {
                long.push(*offset);
                LONG_OFFSET as u32 | (long.len() - 1) as u32
            }
        };
        bytes.extend_from_slice(&short.to_be_bytes());
    }
    long.iter()
        .for_each(|offset| bytes.extend_from_slice(&offset.to_be_bytes()));
    bytes.extend_from_slice(pack.as_slice());
    let digest = digest(hash, &bytes);
    bytes.extend_from_slice(digest.as_slice());
    bytes
}

/// The entries of a pack that was made here; none where the pack is damaged, or holds a delta and so is not of ours.
pub(super) fn decode(hash: gix::hash::Kind, pack: &[u8], index: Vec<u8>) -> Option<Vec<Entry>> {
    let content = index.len().checked_sub(hash.len_in_bytes())?;
    let (content, trailer) = index.split_at_checked(content)?;
    if digest(hash, content).as_slice() != trailer {
        return None;
    }
    let rows = rows(hash, pack, index)?;
    let whole = |row: Row| row.entry.filter(|_| !row.is_delta);
    rows.into_iter().map(whole).collect()
}

/// What is sound in a damaged pack that was made here. None of a pack with a delta, which is not of ours.
pub(super) fn salvage(hash: gix::hash::Kind, pack: &[u8], index: Vec<u8>) -> Option<Vec<Entry>> {
    let rows = rows(hash, pack, index).unwrap_or_default();
    let is_ours = rows.iter().all(|row| !row.is_delta);
    is_ours.then(|| rows.into_iter().filter_map(|row| row.entry).collect())
}

/// One entry of a pack; none where its checksum is another one.
struct Row {
    entry: Option<Entry>,
    is_delta: bool,
}

fn rows(hash: gix::hash::Kind, pack: &[u8], index: Vec<u8>) -> Option<Vec<Row>> {
    let index = index::File::from_data(index, std::path::PathBuf::new(), hash).ok()?;
    let end = pack.len().saturating_sub(hash.len_in_bytes()) as u64;
    let mut rows: Vec<_> = index.iter().collect();
    rows.sort_by_key(|row| row.pack_offset);
    let ends = rows.iter().skip(1).map(|row| row.pack_offset);
    let ends: Vec<u64> = ends.chain([end]).collect();
    let row = |(row, end): (index::Entry, u64)| {
        let bounds = usize::try_from(row.pack_offset)
            .ok()
            .zip(usize::try_from(end).ok());
        let bytes = bounds.and_then(|(begin, end)| pack.get(begin..end));
        let sound = bytes.filter(|bytes| row.crc32 == Some(crc32fast::hash(bytes)));
        let header =
            sound.and_then(|bytes| data::Entry::from_bytes(bytes, row.pack_offset, hash).ok());
        Row {
            is_delta: header.as_ref().is_some_and(|entry| entry.header.is_delta()),
            entry: header.and(sound).map(|bytes| Entry {
                id: row.oid,
                bytes: bytes.to_vec(),
            }),
        }
    };
    Some(rows.into_iter().zip(ends).map(row).collect())
}

fn digest(hash: gix::hash::Kind, bytes: &[u8]) -> gix::ObjectId {
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(bytes);
    hasher
        .try_finalize()
        .expect("nobody makes a collision out of compressed text of ours")
}
