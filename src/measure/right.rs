//! Which of the records should come back for a case, and a sample of the rest.
//!
//! In: the visible records, a case. Out: a [`Right`]. The same records and case give the same sample.

use std::collections::BTreeSet;

use super::case::Case;
use crate::id::RecordId;
use crate::store::view::{Prior, View};

/// Whether a name is an id, or as much of its beginning as commands print at least.
fn begins(id: &str, name: &str) -> bool {
    name.len() >= 7 && id.starts_with(name)
}

/// The records that should come back, as far as they are among those asked of.
pub struct Right {
    /// Their ids.
    pub ids: Vec<RecordId>,
}

impl Right {
    /// Finds them.
    pub fn of(view: &View, case: &Case) -> Self {
        let is_named = |prior: &&Prior| {
            case.relevant.iter().any(|name| {
                let anchors = || prior.anchors.iter().chain(&prior.former_anchors);
                prior.key.as_deref() == Some(name)
                    || begins(&prior.id.to_string(), name)
                    || anchors().any(|commit| begins(&commit.to_string(), name))
            })
        };
        let ids = match case.is_control() {
            true => Vec::new(),
            false => view
                .priors
                .iter()
                .filter(is_named)
                .map(|prior| prior.id)
                .collect(),
        };
        Self { ids }
    }

    /// Whether a record is one of them.
    pub fn has(&self, id: RecordId) -> bool {
        self.ids.contains(&id)
    }

    /// When the youngest of them was said, in seconds since 1970; none where there is none.
    pub fn youngest(&self, view: &View) -> Option<i64> {
        let priors = self.ids.iter().filter_map(|id| view.prior(*id));
        priors.map(|prior| prior.time.0).max()
    }
}

/// Takes records away until `most` are left, of the right ones none. Which of the others stay depends on the case and their ids alone.
pub fn sample(view: &mut View, case: &Case, most: usize) {
    let right = Right::of(view, case);
    let mut others: Vec<(RecordId, RecordId)> = view
        .priors
        .iter()
        .filter(|prior| !right.has(prior.id))
        .map(|prior| {
            let drawn = [case.task.as_bytes(), prior.id.as_bytes()].concat();
            (RecordId::of(&drawn), prior.id)
        })
        .collect();
    others.sort_unstable();
    others.truncate(most.saturating_sub(right.ids.len()));
    let drawn: BTreeSet<RecordId> = others.into_iter().map(|(_, id)| id).collect();
    view.priors
        .retain(|prior| right.has(prior.id) || drawn.contains(&prior.id));
}
