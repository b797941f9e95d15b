//! What another program did to our references, told once.
//!
//! `git fetch` or `git update-ref` can put another memory in the place of this one. The next write makes both one (`transaction.rs`), and a
//! command that only reads does so here, before it reads. In: the references. Out: what happened.

use super::base::{ATTENTION, RECORDS, Store, StoreError};
use super::last::{Event, Last};
use super::transaction::{self, New};

impl Store<'_> {
    /// Makes one memory of two where another program replaced a reference of ours, and says what has happened since this was last asked.
    /// Costs the reading of one small file where nothing has.
    ///
    /// # Errors
    /// When the store cannot be read or written. Then nothing was told.
    pub fn reunite(&self) -> Result<Vec<Event>, StoreError> {
        match self.whole()? {
            true => transaction::take_events(self.repo, self.patience),
            false => Ok(Vec::new()),
        }
    }

    /// The same, and tells nobody; whether there is something to tell.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn whole(&self) -> Result<bool, StoreError> {
        let last = Last::read(self.repo);
        let mut is_replaced = false;
        for reference in [RECORDS, ATTENTION] {
            let Ok(value) = self.repo.reference(reference) else {
                is_replaced |= transaction::restore(self.repo, reference, self.patience)?;
                continue;
            };
            if last.replaced(reference, value).is_some() {
                // Looked at again under the lock: a writer may have been faster than this reader.
                transaction::change(self.repo, reference, self.patience, |_, _| {
                    Ok((New::Same, ()))
                })?;
                is_replaced = true;
            }
        }
        Ok(is_replaced || last.has_events())
    }
}
