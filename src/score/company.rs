//! Corroboration: how many sessions stand on the same ground as a record (`scoring.md`, bonus).
//!
//! In: all visible records within retention. Out: for each the number of distinct sessions that name one of its nodes. Nothing but
//! equality of names counts, so the order of the records, and of everything kept here, cannot be seen in the result.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;

use crate::store::view::Prior;

/// A node named by more than one in this many sessions gets a set with one bit for each session.
const DENSE: usize = 32;

/// For each node, and each record, what names it and what it names; all by number.
struct Company {
    sessions: usize,
    /// For each record the numbers of its nodes.
    nodes: Vec<Vec<u32>>,
    /// For each node the numbers of the sessions that name it, ascending, each once.
    named_by: Vec<Vec<u32>>,
    /// For each node named by many the same as a set of bits.
    dense: Vec<Option<Vec<u64>>>,
}

/// What one thread marks sessions in. A session is marked when it holds the number of the record at hand, so nothing is ever cleared.
struct Marks {
    epoch: u32,
    seen: Vec<u32>,
    bits: Vec<u64>,
}

/// For each record the number of distinct sessions that share a node with it, itself counted; 0 for a record without nodes.
pub fn corroboration(priors: &[&Prior]) -> Vec<u64> {
    let company = Company::of(priors);
    let fresh = || Marks {
        epoch: 0,
        seen: vec![0; company.sessions],
        bits: vec![0; company.sessions.div_ceil(64)],
    };
    crate::threads::ready();
    let records = company.nodes.par_iter().with_min_len(256);
    records
        .map_init(fresh, |marks, nodes| company.count(nodes, marks))
        .collect()
}

impl Company {
    fn of(priors: &[&Prior]) -> Self {
        let mut labels = HashMap::new();
        let mut names: HashMap<&str, u32> = HashMap::new();
        let mut members = Vec::with_capacity(priors.len());
        let mut nodes = Vec::with_capacity(priors.len());
        for (at, prior) in priors.iter().enumerate() {
            let next = labels.len() as u32;
            members.push((*labels.entry(session(prior)).or_insert(next), at));
            let number = |name| {
                let next = names.len() as u32;
                *names.entry(name).or_insert(next)
            };
            nodes.push(
                prior
                    .nodes
                    .iter()
                    .map(String::as_str)
                    .map(number)
                    .collect::<Vec<_>>(),
            );
        }
        // Session by session, so that each node's list comes out sorted and a repetition is always the last entry.
        members.sort_unstable();
        let mut named_by: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        for (session, at) in members {
            for node in &nodes[at] {
                let list = &mut named_by[*node as usize];
                if list.last() != Some(&session) {
                    list.push(session);
                }
            }
        }
        let sessions = labels.len();
        let dense = named_by
            .iter()
            .map(|list| bits_of(list, sessions))
            .collect();
        Self {
            sessions,
            nodes,
            named_by,
            dense,
        }
    }

    fn count(&self, nodes: &[u32], marks: &mut Marks) -> u64 {
        let lists = || nodes.iter().map(|node| &self.named_by[*node as usize]);
        let length = lists().map(Vec::len).sum::<usize>();
        match nodes {
            [] => 0,
            [_] => length as u64,
            _ if length < self.sessions / 8 || length < 64 => marks.count_each(lists().flatten()),
            _ => {
                marks.bits.fill(0);
                for node in nodes {
                    marks.take(
                        &self.named_by[*node as usize],
                        self.dense[*node as usize].as_deref(),
                    );
                }
                marks
                    .bits
                    .iter()
                    .map(|word| u64::from(word.count_ones()))
                    .sum()
            }
        }
    }
}

impl Marks {
    fn count_each<'a>(&mut self, sessions: impl Iterator<Item = &'a u32>) -> u64 {
        self.epoch += 1;
        let mut count = 0;
        for session in sessions {
            let seen = &mut self.seen[*session as usize];
            count += u64::from(*seen != self.epoch);
            *seen = self.epoch;
        }
        count
    }

    fn take(&mut self, list: &[u32], dense: Option<&[u64]>) {
        match dense {
            Some(words) => {
                for (own, word) in self.bits.iter_mut().zip(words) {
                    *own |= word;
                }
            }
            None => {
                for session in list {
                    self.bits[*session as usize / 64] |= 1 << (session % 64);
                }
            }
        }
    }
}

fn bits_of(list: &[u32], sessions: usize) -> Option<Vec<u64>> {
    if list.len() * DENSE < sessions || list.len() < 64 {
        return None;
    }
    let mut bits = vec![0; sessions.div_ceil(64)];
    for session in list {
        bits[*session as usize / 64] |= 1 << (session % 64);
    }
    Some(bits)
}

/// The name of the session a record counts for: its own, else the commit of its earliest visible anchor, else its id.
fn session(prior: &Prior) -> Cow<'_, str> {
    match (&prior.session, prior.first_commit) {
        (Some(label), _) => Cow::Borrowed(label),
        (None, Some(commit)) => Cow::Owned(commit.to_string()),
        (None, None) => Cow::Owned(prior.id.to_string()),
    }
}
