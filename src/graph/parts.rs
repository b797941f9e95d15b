//! What a graph is made of: nodes, edges, counts, and how each is named.
//!
//! In: nothing. Out: plain values. Never reads anything.

use std::collections::BTreeMap;

use rkyv::{Archive, Deserialize, Serialize};

use crate::graph::hash::Table;
use crate::id::ObjectId;

/// What a node is.
///
/// A TypeScript interface or enum is a `Class`, and so is a namespace or an object literal with named functions in it: they have
/// members. A getter or setter is a `Method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NodeKind {
    /// A directory; the root is named `.`.
    Directory,
    /// A file.
    File,
    /// A symbolic link; never followed.
    Symlink,
    /// A commit of another repository.
    Submodule,
    /// Something with members.
    Class,
    /// A function that is no member.
    Function,
    /// A function that is a member of a class or object.
    Method,
}

impl NodeKind {
    /// All of them, by number.
    pub const ALL: [Self; 7] = [
        Self::Directory,
        Self::File,
        Self::Symlink,
        Self::Submodule,
        Self::Class,
        Self::Function,
        Self::Method,
    ];

    /// The kind in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Symlink => "symlink",
            Self::Submodule => "submodule",
            Self::Class => "class",
            Self::Function => "function",
            Self::Method => "method",
        }
    }

    /// Is the node a path of the tree (else it is a symbol)?
    pub fn is_path(self) -> bool {
        matches!(
            self,
            Self::Directory | Self::File | Self::Symlink | Self::Submodule
        )
    }
}

/// What an edge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EdgeKind {
    /// A directory holds an entry, a file a definition, a class a member, a function a nested definition.
    Contains,
    /// A file imports a file.
    Imports,
    /// A function, class body or file calls a function or makes an instance of a class.
    Calls,
    /// A class extends or implements a class.
    Inherits,
}

impl EdgeKind {
    /// All of them, by number.
    pub const ALL: [Self; 4] = [Self::Contains, Self::Imports, Self::Calls, Self::Inherits];

    /// The kind in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::Imports => "imports",
            Self::Calls => "calls",
            Self::Inherits => "inherits",
        }
    }
}

/// How an edge was found, surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Resolution {
    /// An entry of a tree object.
    Tree,
    /// Syntax: the definition stands in the file, class or function.
    Definition,
    /// The name is defined in the same file, in a scope around the place where it is used.
    Scope,
    /// An import, followed to the file that defines the name.
    Import,
    /// The receiver of a method: `self`, `cls`, `this`, `super`; looked up in the class and its bases.
    Receiver,
    /// The class of the value before the dot is known, from its construction or an annotation.
    Type,
    /// The value came through a variable, a return or a container.
    Flow,
    /// Only the name fits. Never used for anything unless asked for.
    Guess,
}

impl Resolution {
    /// All of them, by number.
    pub const ALL: [Self; 8] = [
        Self::Tree,
        Self::Definition,
        Self::Scope,
        Self::Import,
        Self::Receiver,
        Self::Type,
        Self::Flow,
        Self::Guess,
    ];

    /// The resolution in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Definition => "definition",
            Self::Scope => "scope",
            Self::Import => "import",
            Self::Receiver => "receiver",
            Self::Type => "type",
            Self::Flow => "flow",
            Self::Guess => "guess",
        }
    }
}

/// A node as it is given to `Graph::from_parts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The root-relative path, `.` for the root, or `path::Qualified.name`.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// The Git object of a path; `None` for symbols and for the root where it is not known.
    pub object: Option<ObjectId>,
    /// First and last line of a symbol, from 1; (0, 0) for paths.
    pub lines: (u32, u32),
}

/// An edge; `from` and `to` are indices of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// What it says.
    pub kind: EdgeKind,
    /// Where it starts.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
    /// How it was found.
    pub resolution: Resolution,
}

impl Edge {
    /// The edge as one number that orders as its fields do.
    pub fn key(&self) -> u128 {
        let high = u128::from(self.kind as u8) << 72;
        let low = u128::from(self.to) << 8 | u128::from(self.resolution as u8);
        high | u128::from(self.from) << 40 | low
    }
}

/// Counts that the edges cannot tell.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Files read as source, by language.
    pub languages: BTreeMap<String, u32>,
    /// Files of a known language that have no symbols, by reason: `too large`, `long lines`, `binary`, `vendored`, `generated`,
    /// `parse given up`, `missing`; and `symlink`, `submodule` for paths that are no files.
    pub without_symbols: BTreeMap<String, u32>,
    /// Call sites with at least one target in this tree.
    pub calls_resolved: u32,
    /// Call sites whose target lies outside this tree.
    pub calls_external: u32,
    /// Call sites whose target is not known.
    pub calls_unresolved: u32,
    /// Call sites whose target is not known, by the last name they call.
    pub unresolved_names: BTreeMap<String, u32>,
}

/// Nodes and edges being collected: definitions of one qualified name are one node.
#[derive(Default)]
pub struct Parts {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges, by index of `nodes`.
    pub edges: Vec<Edge>,
    known: Table<String, u32>,
}

impl Parts {
    /// The index of a node; the first given of one name stays.
    pub fn node(&mut self, node: Node) -> u32 {
        if let Some(&known) = self.known.get(&node.name) {
            return known;
        }
        let index = self.nodes.len() as u32;
        self.known.insert(node.name.clone(), index);
        self.nodes.push(node);
        index
    }

    /// Write an edge.
    pub fn edge(&mut self, kind: EdgeKind, from: u32, to: u32, resolution: Resolution) {
        self.edges.push(Edge {
            kind,
            from,
            to,
            resolution,
        });
    }
}
