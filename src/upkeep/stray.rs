//! Look-ups of histories that are gone.
//!
//! In: the stored look-ups. Out: those whose code tree belongs to no commit that can be reached. Such a look-up still pins the code, so
//! that a purged secret would live on in it until `prune --gone`. Never changes anything.

use crate::id::RecordId;
use crate::repo::Repo;
use crate::store::{Store, StoreError};

/// The look-ups whose code tree no reachable commit has, in the order of the store, then of those that upkeep has let go and can put back.
/// Those that are damaged are left out.
///
/// # Errors
/// When references, commits or look-ups cannot be read.
pub fn stray(repo: &Repo) -> Result<Vec<RecordId>, StoreError> {
    let store = Store::new(repo);
    let mut asked = Vec::new();
    let waiting = store.waiting()?.into_iter();
    let waiting = waiting.flat_map(|waiting| waiting.lookups);
    for stored in store.lookups()?.into_iter().chain(waiting) {
        match store.lookup(&stored) {
            Ok(lookup) => {
                let inputs = lookup.attention.inputs;
                asked.push((stored.id, inputs.commit, inputs.code_tree));
            }
            Err(error) => drop(error.damage()?),
        }
    }
    // Without a commit there was no code either.
    asked.retain(|(_, commit, _)| commit.is_some());
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let reachable = repo.reachable()?;
    asked.retain(|(_, commit, _)| commit.is_none_or(|commit| !reachable.contains(&commit)));
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    // An amended message makes another commit of the same tree.
    let trees = repo.trees_of(&reachable)?;
    asked.retain(|(.., tree)| *tree != repo.empty_tree() && !trees.contains(tree));
    Ok(asked.into_iter().map(|(id, ..)| id).collect())
}
