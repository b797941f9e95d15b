//! A graph as columns of numbers: one block that is the same for the same nodes and edges, in memory and on disk.
//!
//! In: sorted nodes and edges. Out: columns that serialise, and whether columns that were read fit together. Never reads a file.

use std::ops::Range;

use rkyv::rend::u32_le;
use rkyv::vec::ArchivedVec;
use rkyv::{Archive, Deserialize, Serialize};

use crate::graph::parts::{Edge, Node, NodeKind, Resolution, Stats};

/// Everything a graph holds, in columns. An index that means nothing is `NONE`.
#[derive(Archive, Serialize, Deserialize, Debug, Default)]
pub struct Columns {
    pub names: String,
    /// `names[name_ends[i - 1]..name_ends[i]]` is the name of node i.
    pub name_ends: Vec<u32>,
    pub kinds: Vec<u8>,
    pub first_lines: Vec<u32>,
    pub last_lines: Vec<u32>,
    /// Object ids of nodes, `object_bytes` bytes each; zeros for none.
    pub objects: Vec<u8>,
    pub object_bytes: u8,
    /// File nodes by object id, then name.
    pub by_object: Vec<u32>,
    pub edge_kinds: Vec<u8>,
    pub edge_from: Vec<u32>,
    pub edge_to: Vec<u32>,
    pub edge_resolutions: Vec<u8>,
    /// `hops[hop_ends[i - 1]..hop_ends[i]]` are the neighbours of node i.
    pub hop_ends: Vec<u32>,
    pub hops: Vec<u32>,
    pub stats: Stats,
}

impl Columns {
    /// The columns of nodes sorted by name and edges sorted by `Edge::key`.
    pub fn new(nodes: &[&Node], edges: &[Edge], stats: Stats) -> Self {
        let mut columns = Self {
            stats,
            ..Self::default()
        };
        let width = nodes
            .iter()
            .filter_map(|node| node.object)
            .map(|id| id.as_bytes().len())
            .max()
            .unwrap_or(0);
        columns.object_bytes = width as u8;
        for node in nodes {
            columns.names.push_str(&node.name);
            columns.name_ends.push(columns.names.len() as u32);
            columns.kinds.push(node.kind as u8);
            columns.first_lines.push(node.lines.0);
            columns.last_lines.push(node.lines.1);
            let mut bytes = vec![0; width];
            if let Some(object) = node
                .object
                .filter(|object| object.as_bytes().len() == width)
            {
                bytes.copy_from_slice(object.as_bytes());
            }
            columns.objects.extend_from_slice(&bytes);
        }
        let files = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.kind == NodeKind::File && node.object.is_some());
        columns.by_object = files.map(|(at, _)| at as u32).collect();
        columns
            .by_object
            .sort_by_key(|&at| (nodes[at as usize].object, at));
        for edge in edges {
            columns.edge_kinds.push(edge.kind as u8);
            columns.edge_from.push(edge.from);
            columns.edge_to.push(edge.to);
            columns.edge_resolutions.push(edge.resolution as u8);
        }
        columns.set_hops(nodes, edges);
        columns
    }

    fn set_hops(&mut self, nodes: &[&Node], edges: &[Edge]) {
        let hops = |edge: &&Edge| {
            let from = nodes.get(edge.from as usize);
            let directory = from.is_none_or(|node| node.kind == NodeKind::Directory);
            edge.resolution != Resolution::Guess && !directory && edge.from != edge.to
        };
        // Counted first, so that each node's neighbours can be put in their place at once.
        let mut next = vec![0usize; nodes.len() + 1];
        for edge in edges.iter().filter(hops) {
            next[edge.from as usize + 1] += 1;
            next[edge.to as usize + 1] += 1;
        }
        for at in 1..next.len() {
            next[at] += next[at - 1];
        }
        let first = next.clone();
        let mut all = vec![0u32; first.last().copied().unwrap_or(0)];
        for edge in edges.iter().filter(hops) {
            for (from, to) in [(edge.from, edge.to), (edge.to, edge.from)] {
                all[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        for ends in first.windows(2) {
            let own = &mut all[ends[0]..ends[1]];
            own.sort_unstable();
            let before = self.hops.len();
            for &to in own.iter() {
                if self.hops.len() == before || self.hops.last() != Some(&to) {
                    self.hops.push(to);
                }
            }
            self.hop_ends.push(self.hops.len() as u32);
        }
    }
}

/// Where the columns lie in their block, in bytes.
#[derive(Debug)]
pub struct Places {
    pub names: Range<usize>,
    pub name_ends: Range<usize>,
    pub kinds: Range<usize>,
    pub first_lines: Range<usize>,
    pub last_lines: Range<usize>,
    pub objects: Range<usize>,
    pub object_bytes: usize,
    pub by_object: Range<usize>,
    pub edge_kinds: Range<usize>,
    pub edge_from: Range<usize>,
    pub edge_to: Range<usize>,
    pub edge_resolutions: Range<usize>,
    pub hop_ends: Range<usize>,
    pub hops: Range<usize>,
}

impl Places {
    /// The places in a block that `rkyv` has written; none where it is not one.
    pub fn of(block: &[u8]) -> Option<Self> {
        let columns = rkyv::access::<ArchivedColumns, rkyv::rancor::Error>(block).ok()?;
        let place = |first: *const u8, len: usize| {
            let first = (first as usize).wrapping_sub(block.as_ptr() as usize);
            match len {
                0 => 0..0,
                _ => first..first.saturating_add(len),
            }
        };
        let bytes = |column: &ArchivedVec<u8>| place(column.as_ptr(), column.len());
        let numbers =
            |column: &ArchivedVec<u32_le>| place(column.as_ptr().cast(), column.len() * 4);
        Some(Self {
            names: place(columns.names.as_ptr(), columns.names.len()),
            name_ends: numbers(&columns.name_ends),
            kinds: bytes(&columns.kinds),
            first_lines: numbers(&columns.first_lines),
            last_lines: numbers(&columns.last_lines),
            objects: bytes(&columns.objects),
            object_bytes: usize::from(columns.object_bytes),
            by_object: numbers(&columns.by_object),
            edge_kinds: bytes(&columns.edge_kinds),
            edge_from: numbers(&columns.edge_from),
            edge_to: numbers(&columns.edge_to),
            edge_resolutions: bytes(&columns.edge_resolutions),
            hop_ends: numbers(&columns.hop_ends),
            hops: numbers(&columns.hops),
        })
    }

    /// Do all columns of the block fit together, and does every index lie inside?
    pub fn sound(&self, block: &[u8]) -> bool {
        let numbers = |place: &Range<usize>| {
            let bytes = block.get(place.clone()).unwrap_or_default();
            let chunks = bytes.as_chunks::<4>().0.iter();
            chunks.map(|number| u32::from_le_bytes(*number) as usize)
        };
        let nodes = self.kinds.len();
        let inside = |place, end: usize| numbers(place).all(|at| at < end);
        let rising = |place, end: usize| {
            numbers(place).is_sorted() && numbers(place).next_back().unwrap_or(0) == end
        };
        let edges = self.edge_from.len() / 4;
        let count = |place: &Range<usize>| place.len() / 4;
        count(&self.name_ends) == nodes
            && count(&self.first_lines) == nodes
            && count(&self.last_lines) == nodes
            && count(&self.hop_ends) == nodes
            && self.objects.len() == nodes * self.object_bytes
            && [
                count(&self.edge_to),
                self.edge_kinds.len(),
                self.edge_resolutions.len(),
            ] == [edges; 3]
            && rising(&self.name_ends, self.names.len())
            && rising(&self.hop_ends, count(&self.hops))
            && inside(&self.hops, nodes)
            && inside(&self.by_object, nodes)
            && inside(&self.edge_from, nodes)
            && inside(&self.edge_to, nodes)
    }
}
