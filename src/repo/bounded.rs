//! Reading no more than is wanted: bytes of a stream, the content of a blob, the size of a tree.
//!
//! In: a source and a limit. Out: what it holds, or how much too much that is, before it takes memory. Every reader of what others
//! wrote goes through here; each names its own limit, with the reason for it.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};

use super::object::Mode;
use super::open::{Repo, RepoError, own, theirs};
use crate::id::{BlobId, ObjectId, TreeId};

/// What is larger than its reader takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Its bytes; none of a stream, whose end nobody waits for.
    pub size: Option<u64>,
    /// So many are read.
    pub most: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size {
            Some(size) => write!(f, "it has {size} bytes; at most {} are read", self.most),
            None => write!(
                f,
                "it has more than {} bytes, the most that are read",
                self.most
            ),
        }
    }
}

/// The whole of a stream, if that is at most `most` bytes. One byte more is read, so that too much is told from just enough.
///
/// # Errors
/// When the stream cannot be read.
pub fn read_within(input: impl Read, most: u64) -> io::Result<Result<Vec<u8>, TooLarge>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    Ok(match bytes.len() as u64 > most {
        true => Err(TooLarge { size: None, most }),
        false => Ok(bytes),
    })
}

impl Repo {
    /// The content of a blob of at most `most` bytes; none when it is not here. Its size is looked at before it is read.
    ///
    /// # Errors
    /// When it is damaged or no blob.
    pub fn blob_within(
        &self,
        id: BlobId,
        most: u64,
    ) -> Result<Result<Option<Vec<u8>>, TooLarge>, RepoError> {
        match self.blob_size(id)? {
            Some(size) if size > most => Ok(Err(TooLarge {
                size: Some(size),
                most,
            })),
            _ => self.blob(id).map(Ok),
        }
    }

    /// The object that a tag leads to, through as many tags as there are; any other object itself.
    ///
    /// # Errors
    /// When it is not here, or damaged.
    pub fn peeled(&self, id: ObjectId) -> Result<ObjectId, RepoError> {
        /// Nobody tags a tag that often.
        const MOST_TAGS: usize = 16;
        let failed = |error: &dyn fmt::Display| RepoError::Git {
            doing: format!("reading {id}"),
            cause: error.to_string(),
            transient: false,
        };
        let mut at = theirs(id);
        for _ in 0..MOST_TAGS {
            let header = self.raw.find_header(at).map_err(|error| failed(&error))?;
            if header.kind() != gix::objs::Kind::Tag {
                return Ok(own(&at));
            }
            let object = self.raw.find_object(at).map_err(|error| failed(&error))?;
            at = gix::objs::TagRefIter::from_bytes(&object.data, self.raw.object_hash())
                .target_id()
                .map_err(|error| failed(&error))?;
        }
        Ok(own(&at))
    }

    /// How many paths lie below a tree, and how many bytes they have together, each tree read once however often it is held: ten trees
    /// that hold one another ten times are told from a large repository before anything is listed.
    ///
    /// # Errors
    /// When a tree is missing or damaged, or they lie deeper than `most_depth`.
    pub(super) fn extent(&self, root: TreeId, most_depth: usize) -> Result<(u64, u64), RepoError> {
        let mut known: HashMap<TreeId, (u64, u64)> = HashMap::new();
        // A tree is looked at twice: to open what lies below it, and to add that up.
        let mut open = vec![(root, 0, false)];
        while let Some((tree, depth, is_below_known)) = open.pop() {
            if known.contains_key(&tree) {
                continue;
            }
            if depth > most_depth {
                return Err(RepoError::Git {
                    doing: format!("listing tree {root}"),
                    cause: format!("it holds trees more than {most_depth} deep"),
                    transient: false,
                });
            }
            let entries = self.tree(tree)?;
            if !is_below_known {
                open.push((tree, depth, true));
                let below = entries.iter().filter(|entry| entry.mode == Mode::Directory);
                open.extend(below.map(|entry| (TreeId(entry.id), depth + 1, false)));
                continue;
            }
            let (mut count, mut bytes) = (0u64, 0u64);
            for entry in &entries {
                let length = entry.path.len() as u64;
                (count, bytes) = (count.saturating_add(1), bytes.saturating_add(length));
                if entry.mode == Mode::Directory {
                    // A tree within itself cannot be; one that is not known yet is being looked at above.
                    let (more, length_of_more) =
                        known.get(&TreeId(entry.id)).copied().unwrap_or_default();
                    count = count.saturating_add(more);
                    bytes = bytes
                        .saturating_add(length_of_more)
                        .saturating_add(more.saturating_mul(length + 1));
                }
            }
            known.insert(tree, (count, bytes));
        }
        Ok(known.get(&root).copied().unwrap_or_default())
    }
}
