//! The nodes a task is about (`scoring.md`, Focus).
//!
//! In: the code graph, the current nodes as asked, the policy. Out: the set of nodes in the focus, and the figures a look-up reports.
//! Never looks at a record.

use std::collections::BTreeMap;

use crate::graph::Graph;
use crate::policy::{Policy, Rule};

/// What a look-up reports about its focus; enough to recompute a selection whose ground is pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FocusFacts {
    /// Nodes in the focus; 0 means that the structural axis is silent.
    pub size: u64,
    /// How many nodes each current node brought, itself counted; 0 for one that is not there.
    pub expansion: BTreeMap<String, u64>,
    /// Whether the hop was left out since the focus was large already.
    pub hop_skipped: bool,
    /// Current nodes that the graph does not have, in the order asked, each once.
    pub unresolved: Vec<String>,
}

/// The nodes a task is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// The figures.
    pub facts: FocusFacts,
    /// One bit for each node of the graph.
    members: Vec<u64>,
}

impl Focus {
    /// Whether a node of the graph lies in the focus.
    pub fn contains(&self, node: u32) -> bool {
        let word = self.members.get(node as usize / 64);
        word.is_some_and(|word| word >> (node % 64) & 1 == 1)
    }

    /// The nodes in the focus, ascending.
    pub fn members(&self) -> impl Iterator<Item = u32> + '_ {
        let last = self.members.len() as u32 * 64;
        (0..last).filter(|node| self.contains(*node))
    }

    /// Takes a node in, once.
    fn add(&mut self, node: u32) {
        let word = node as usize / 64;
        if word >= self.members.len() {
            self.members.resize(word + 1, 0);
        }
        let bit = 1 << (node % 64);
        if self.members[word] & bit == 0 {
            self.members[word] |= bit;
            self.facts.size += 1;
        }
    }
}

/// Expands the current nodes to everything beneath them, then widens by one hop, unless the rule or the policy
/// has no hop or the focus is past its cap.
pub fn focus(graph: &Graph, current_nodes: &[String], policy: &Policy) -> Focus {
    let mut focus = Focus {
        members: vec![0; graph.len().div_ceil(64)],
        ..Focus::default()
    };
    for name in current_nodes {
        if focus.facts.expansion.contains_key(name) {
            continue;
        }
        let mut brought = 0;
        match graph.find(name) {
            Some(node) => {
                for node in std::iter::once(node).chain(graph.beneath(node)) {
                    focus.add(node);
                    brought += 1;
                }
            }
            None => focus.facts.unresolved.push(name.clone()),
        }
        focus.facts.expansion.insert(name.clone(), brought);
    }
    if policy.structural_hops == 0 || policy.rule() == Some(Rule::Measured1) {
        return focus;
    }
    focus.facts.hop_skipped = focus.facts.size > policy.max_focus_nodes;
    if !focus.facts.hop_skipped {
        let inner: Vec<u32> = focus.members().collect();
        for node in inner {
            for near in graph.hop(node) {
                focus.add(near);
            }
        }
    }
    focus
}
