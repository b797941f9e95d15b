//! Facts of blobs held in memory while the graphs of several trees are made that share most of them.
//!
//! In: what blobs each of the trees has, then the trees one by one, from any thread. Out: facts, each blob parsed once, and held no longer
//! than a tree to come has it. Never writes a file.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::graph::extract;
use crate::graph::kept::{Kept, Key, Read};
use crate::graph::syntax::Parsers;
use crate::id::BlobId;
use crate::repo::{Repo, RepoError, Shared};

/// The facts of one blob once they are read; nothing when it is not in the repository.
pub type Facts = Arc<OnceLock<Option<Read>>>;

/// What several trees share.
pub struct Pool {
    held: Mutex<BTreeMap<Key, Held>>,
    kept: Vec<Kept>,
}

/// A blob that trees to come have.
#[derive(Default)]
struct Held {
    facts: Facts,
    /// How many of them.
    trees: usize,
}

impl Pool {
    /// Nothing read yet. `trees`: what each tree that will be asked for has, each key once; `kept`: facts that are kept in files.
    pub fn new(trees: &[Vec<Key>], kept: Vec<Kept>) -> Self {
        let mut held: BTreeMap<Key, Held> = BTreeMap::new();
        for key in trees.iter().flatten() {
            held.entry(*key).or_default().trees += 1;
        }
        Self {
            held: Mutex::new(held),
            kept,
        }
    }

    /// The facts of the blobs of one tree, in order of their keys. One that another thread is reading is waited for.
    ///
    /// # Errors
    /// When a blob that is there cannot be read.
    pub fn facts(&self, shared: &Shared, keys: &[Key]) -> Result<BTreeMap<Key, Facts>, RepoError> {
        let found = self.take(keys);
        let open = || (shared.local(), Parsers::default());
        crate::threads::ready();
        let unread = found.par_iter().filter(|(_, facts)| facts.get().is_none());
        unread
            .map_init(open, |(repo, parsers), (key, facts)| {
                let mut failed = None;
                // Reading a blob starts no other work, so whoever waits here for another thread waits for nothing but that.
                facts.get_or_init(|| match self.read(repo, parsers, key) {
                    Ok(read) => read,
                    Err(error) => {
                        failed = Some(error);
                        None
                    }
                });
                failed.map_or(Ok(()), Err)
            })
            .collect::<Result<(), RepoError>>()?;
        Ok(found)
    }

    /// The places of the facts of a tree; those that no other tree to come has are given away.
    fn take(&self, keys: &[Key]) -> BTreeMap<Key, Facts> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = BTreeMap::new();
        for key in keys {
            let facts = match held.get_mut(key) {
                Some(more) if more.trees > 1 => {
                    more.trees -= 1;
                    Arc::clone(&more.facts)
                }
                // A tree that was not announced is read all the same.
                _ => held.remove(key).unwrap_or_default().facts,
            };
            found.insert(*key, facts);
        }
        found
    }

    fn read(
        &self,
        repo: &Repo,
        parsers: &mut Parsers,
        key: &Key,
    ) -> Result<Option<Read>, RepoError> {
        let known = self.kept.iter().find_map(|file| file.read(key));
        match known {
            Some((read, _)) => Ok(Some(read)),
            None => read(repo, parsers, key),
        }
    }
}

/// What a blob says, or why it says nothing; `None` when it is not in the repository.
///
/// # Errors
/// When it is there and cannot be read.
pub fn read(repo: &Repo, parsers: &mut Parsers, key: &Key) -> Result<Option<Read>, RepoError> {
    let id = BlobId(key.0);
    let Some(size) = repo.blob_size(id)? else {
        return Ok(None);
    };
    if size > extract::MAX_BYTES {
        return Ok(Some(Err("too large")));
    }
    let bytes = repo.blob(id)?;
    Ok(bytes.map(|bytes| extract::facts(parsers, key.1, &bytes).map(Box::new)))
}
