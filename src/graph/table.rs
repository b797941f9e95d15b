//! The graph itself: a table of nodes sorted by name, edges between them, and the questions it answers.
//!
//! In: nodes and edges in any order. Out: one block of columns that is the same for the same nodes and edges, in memory and on disk.
//! Never reads a repository or a file.

use std::ops::Range;

use rkyv::util::AlignedVec;

use crate::graph::columns::{ArchivedColumns, Columns, Places};
use crate::graph::parts::{Edge, EdgeKind, Node, NodeKind, Resolution, Stats};
use crate::id::ObjectId;
use crate::repo::Map;

/// Where the columns lie.
enum Block {
    Memory(AlignedVec),
    Mapped(Map, usize),
}

/// The code graph of one tree.
pub struct Graph {
    block: Block,
    /// Where each column lies in the block: nothing that is read later says where to read.
    places: Places,
    missing: Vec<String>,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Graph of {} nodes and {} edges",
            self.len(),
            self.places.edge_from.len() / 4
        )
    }
}

impl Graph {
    /// A graph of nodes and edges in any order. Nodes of one name become one (the first given), edges of one kind between the same nodes
    /// become one (the surest). An edge that names a node that is not there is dropped.
    pub fn from_parts(nodes: Vec<Node>, edges: Vec<Edge>) -> Self {
        Self::with_stats(nodes, edges, Stats::default(), Vec::new())
    }

    /// The same with the counts and the paths of missing blobs.
    pub fn with_stats(
        nodes: Vec<Node>,
        edges: Vec<Edge>,
        stats: Stats,
        missing: Vec<String>,
    ) -> Self {
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_by(|&a, &b| {
            nodes[a as usize]
                .name
                .cmp(&nodes[b as usize].name)
                .then(a.cmp(&b))
        });
        let mut place = vec![0u32; nodes.len()];
        let mut kept: Vec<&Node> = Vec::with_capacity(nodes.len());
        for &at in &order {
            let node = &nodes[at as usize];
            if kept.last().is_none_or(|last| last.name != node.name) {
                kept.push(node);
            }
            place[at as usize] = kept.len() as u32 - 1;
        }
        let mut edges: Vec<Edge> = edges
            .into_iter()
            .filter_map(|edge| {
                let from = *place.get(edge.from as usize)?;
                let to = *place.get(edge.to as usize)?;
                Some(Edge { from, to, ..edge })
            })
            .collect();
        edges.sort_unstable_by_key(Edge::key);
        edges.dedup_by_key(|edge| (edge.kind, edge.from, edge.to));
        let columns = Columns::new(&kept, &edges, stats);
        let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&columns)
            .expect("columns of plain numbers always serialise");
        let places = Places::of(&bytes).expect("what was serialised just now can be read");
        Self {
            block: Block::Memory(bytes),
            places,
            missing,
        }
    }

    /// A graph over bytes that were written by `bytes`; `None` when they are not sound.
    pub fn from_map(map: Map, start: usize) -> Option<Self> {
        let bytes = map.get(start..)?;
        let places = Places::of(bytes)?;
        places.sound(bytes).then_some(())?;
        Some(Self {
            block: Block::Mapped(map, start),
            places,
            missing: Vec::new(),
        })
    }

    /// Whether the file that the graph lies in, if any, is still what it was when it was opened.
    pub fn is_whole(&self) -> bool {
        match &self.block {
            Block::Memory(_) => true,
            Block::Mapped(map, _) => map.is_whole(),
        }
    }

    /// The columns as bytes: equal for equal graphs.
    pub fn bytes(&self) -> &[u8] {
        match &self.block {
            Block::Memory(bytes) => bytes,
            Block::Mapped(map, start) => map.get(*start..).unwrap_or_default(),
        }
    }

    /// A column of bytes.
    fn column(&self, place: &Range<usize>) -> &[u8] {
        self.bytes().get(place.clone()).unwrap_or_default()
    }

    /// A column of numbers.
    fn numbers(&self, place: &Range<usize>) -> &[[u8; 4]] {
        self.column(place).as_chunks().0
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.places.kinds.len()
    }

    /// Has the graph no node at all? (A graph of a tree has at least the root.)
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        let at = self.lower_bound(name);
        (at < self.len() as u32 && self.name(at) == name).then_some(at)
    }

    fn lower_bound(&self, name: &str) -> u32 {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.name(middle) < name {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// The name of a node; empty for an index out of range.
    pub fn name(&self, node: u32) -> &str {
        let ends = self.numbers(&self.places.name_ends);
        let at = node as usize;
        let first = at.checked_sub(1).map_or(0, |before| number(ends, before));
        let last = number(ends, at);
        let name = self
            .column(&self.places.names)
            .get(first as usize..last as usize);
        // Only a file that was cut meanwhile holds anything else.
        std::str::from_utf8(name.unwrap_or_default()).unwrap_or_default()
    }

    /// The kind of a node; `File` for an index out of range.
    pub fn kind(&self, node: u32) -> NodeKind {
        let kinds = self.column(&self.places.kinds);
        let byte = kinds.get(node as usize).copied().unwrap_or(1);
        NodeKind::ALL
            .get(usize::from(byte))
            .copied()
            .unwrap_or(NodeKind::File)
    }

    /// The Git object of a path node.
    pub fn object(&self, node: u32) -> Option<ObjectId> {
        let width = self.places.object_bytes;
        let first = node as usize * width;
        let objects = self.column(&self.places.objects);
        let bytes = objects.get(first..first + width)?;
        if bytes.iter().all(|&byte| byte == 0) {
            return None;
        }
        ObjectId::from_bytes(bytes).ok()
    }

    /// The first and last line of a symbol, from 1; (0, 0) for a path.
    pub fn lines(&self, node: u32) -> (u32, u32) {
        let line = |place| number(self.numbers(place), node as usize);
        (
            line(&self.places.first_lines),
            line(&self.places.last_lines),
        )
    }

    /// Everything beneath a node, without itself: of a directory all paths and symbols, of a file its symbols, of a class its members
    /// (nested ones too); nothing of other nodes. In order of names.
    pub fn beneath(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let name = self.name(node);
        let kind = self.kind(node);
        let (plain, quoted) = match kind {
            NodeKind::Directory if name == "." => (0..self.len() as u32, 0..0),
            NodeKind::Directory => {
                let (plain, quoted) = directory_prefixes(name);
                (self.prefixed(&plain), self.prefixed(&quoted))
            }
            NodeKind::File => (self.prefixed(&format!("{name}::")), 0..0),
            NodeKind::Class => (self.prefixed(&format!("{name}.")), 0..0),
            _ => (0..0, 0..0),
        };
        // A path may look like a symbol of another path (`a::b`): a file has no paths beneath it.
        let paths = kind == NodeKind::Directory;
        plain
            .chain(quoted)
            .filter(move |&other| other != node && (paths || !self.kind(other).is_path()))
    }

    fn prefixed(&self, prefix: &str) -> Range<u32> {
        if prefix.is_empty() {
            return 0..0;
        }
        let first = self.lower_bound(prefix);
        let mut last = first;
        let mut high = self.len() as u32;
        while last < high {
            let middle = last + (high - last) / 2;
            if self.name(middle).starts_with(prefix) {
                last = middle + 1
            } else {
                high = middle
            }
        }
        first..last
    }

    /// The nodes one undirected step away over imports, calls, inherits, and contains below a file; never over directories or guesses.
    /// In order, each once.
    pub fn hop(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let ends = self.numbers(&self.places.hop_ends);
        let at = node as usize;
        let end = |at: usize| ends.get(at).map(|end| u32::from_le_bytes(*end) as usize);
        let first = at.checked_sub(1).and_then(end).unwrap_or(0);
        let last = end(at).unwrap_or(first);
        self.numbers(&self.places.hops)
            .get(first..last)
            .unwrap_or_default()
            .iter()
            .map(|hop| u32::from_le_bytes(*hop))
    }

    /// The files that hold a blob, in order of names.
    pub fn paths_of(&self, object: &ObjectId) -> Vec<u32> {
        let order = self.numbers(&self.places.by_object);
        let node = |at: &[u8; 4]| u32::from_le_bytes(*at);
        let first = order.partition_point(|at| self.object(node(at)) < Some(*object));
        order
            .get(first..)
            .unwrap_or_default()
            .iter()
            .map(node)
            .take_while(|&at| self.object(at) == Some(*object))
            .collect()
    }

    /// All edges, sorted by kind, from, to, resolution.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let to = self.numbers(&self.places.edge_to);
        let kinds = self.column(&self.places.edge_kinds);
        let resolutions = self.column(&self.places.edge_resolutions);
        self.numbers(&self.places.edge_from)
            .iter()
            .enumerate()
            .filter_map(move |(at, from)| {
                Some(Edge {
                    kind: *EdgeKind::ALL.get(usize::from(*kinds.get(at)?))?,
                    from: u32::from_le_bytes(*from),
                    to: u32::from_le_bytes(*to.get(at)?),
                    resolution: *Resolution::ALL.get(usize::from(*resolutions.get(at)?))?,
                })
            })
    }

    /// What the edges cannot tell: files by language and by reason, call sites by outcome.
    pub fn stats(&self) -> Stats {
        // A copy cannot change between being checked and being read.
        let mut copy = AlignedVec::<16>::new();
        copy.extend_from_slice(self.bytes());
        let columns = rkyv::access::<ArchivedColumns, rkyv::rancor::Error>(&copy);
        let stats = columns
            .and_then(|columns| rkyv::deserialize::<Stats, rkyv::rancor::Error>(&columns.stats));
        stats.unwrap_or_default()
    }

    /// The paths whose blob is not in the repository (a partial clone), sorted. With any the graph is incomplete.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }
}

/// A number of a column; 0 beyond its end.
fn number(column: &[[u8; 4]], at: usize) -> u32 {
    column
        .get(at)
        .map_or(0, |number| u32::from_le_bytes(*number))
}

/// What the names of paths below a directory begin with: as they are, and as Git quotes them when they are not UTF-8.
fn directory_prefixes(name: &str) -> (String, String) {
    let plain = if name.starts_with('"') {
        String::new()
    } else {
        format!("{name}/")
    };
    (plain, format!("\"{}/", quoted(name)))
}

/// A path as Git quotes it, without the quotes around it; a path that is quoted already loses them.
pub fn quoted(name: &str) -> String {
    if let Some(inner) = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    {
        return inner.to_owned();
    }
    let mut quoted = String::new();
    for &byte in name.as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(names: &[(&str, NodeKind)], edges: &[(EdgeKind, &str, &str, Resolution)]) -> Graph {
        let object = |byte: u8| ObjectId::from_bytes(&[byte; 20]).ok();
        let nodes: Vec<Node> = names
            .iter()
            .map(|(name, kind)| Node {
                name: (*name).to_owned(),
                kind: *kind,
                object: if *kind == NodeKind::File {
                    object(7)
                } else {
                    None
                },
                lines: (0, 0),
            })
            .collect();
        let at = |name: &str| {
            names
                .iter()
                .position(|(other, _)| *other == name)
                .expect("the node is given") as u32
        };
        let edges = edges
            .iter()
            .map(|(kind, from, to, resolution)| Edge {
                kind: *kind,
                from: at(from),
                to: at(to),
                resolution: *resolution,
            })
            .collect();
        Graph::from_parts(nodes, edges)
    }

    use EdgeKind::{Calls, Contains};
    use NodeKind::{Class, Directory, File, Function, Method};

    fn names(graph: &Graph, nodes: impl Iterator<Item = u32>) -> Vec<&str> {
        nodes.map(|node| graph.name(node)).collect()
    }

    #[test]
    fn beneath_is_what_stands_below() {
        let graph = graph(
            &[
                (".", Directory),
                ("!x", File),
                ("a", Directory),
                ("a/b.py", File),
                ("a/b.py::C", Class),
                ("a/b.py::C.m", Method),
                ("a/b.py::Cx", Class),
                ("a.py", File),
                ("a.py::f", Function),
                ("\"a/\\303\"", File),
            ],
            &[],
        );
        let beneath = |name: &str| {
            names(
                &graph,
                graph.beneath(graph.find(name).expect("the node is there")),
            )
        };
        assert_eq!(
            beneath("a"),
            [
                "a/b.py",
                "a/b.py::C",
                "a/b.py::C.m",
                "a/b.py::Cx",
                "\"a/\\303\""
            ]
        );
        assert_eq!(beneath("a/b.py::C"), ["a/b.py::C.m"]);
        assert_eq!(beneath("a.py"), ["a.py::f"]);
        assert!(beneath("a.py::f").is_empty());
        assert_eq!(beneath(".").len(), graph.len() - 1);
    }

    #[test]
    fn a_hop_goes_both_ways_but_not_over_directories_or_guesses() {
        let graph = graph(
            &[
                (".", Directory),
                ("a", File),
                ("a::f", Function),
                ("b", File),
                ("b::g", Function),
                ("b::h", Function),
            ],
            &[
                (Contains, ".", "a", Resolution::Tree),
                (Contains, "a", "a::f", Resolution::Definition),
                (Calls, "a::f", "b::g", Resolution::Import),
                (Calls, "a::f", "b::g", Resolution::Guess),
                (Calls, "a::f", "b::h", Resolution::Guess),
            ],
        );
        let hop = |name: &str| {
            names(
                &graph,
                graph.hop(graph.find(name).expect("the node is there")),
            )
        };
        assert_eq!(hop("a::f"), ["a", "b::g"]);
        assert_eq!(hop("b::g"), ["a::f"]);
        assert!(hop("b::h").is_empty());
        assert!(hop(".").is_empty());
        let resolutions: Vec<_> = graph.edges().map(|edge| edge.resolution).collect();
        assert_eq!(
            resolutions,
            [
                Resolution::Tree,
                Resolution::Definition,
                Resolution::Import,
                Resolution::Guess
            ]
        );
    }

    #[test]
    fn paths_of_a_blob() {
        let graph = graph(
            &[
                (".", Directory),
                ("b", File),
                ("a", File),
                ("a::f", Function),
            ],
            &[],
        );
        let found = graph.paths_of(&ObjectId::from_bytes(&[7; 20]).expect("20 bytes"));
        assert_eq!(names(&graph, found.into_iter()), ["a", "b"]);
        assert!(
            graph
                .paths_of(&ObjectId::from_bytes(&[8; 20]).expect("20 bytes"))
                .is_empty()
        );
    }

    #[test]
    fn order_of_the_parts_does_not_matter() {
        let forth = graph(
            &[("a", File), ("b", File)],
            &[(Calls, "a", "b", Resolution::Scope)],
        );
        let back = graph(
            &[("b", File), ("a", File)],
            &[(Calls, "a", "b", Resolution::Scope)],
        );
        assert_eq!(forth.bytes(), back.bytes());
    }
}
