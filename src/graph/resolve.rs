//! All facts of a tree to nodes and edges.
//!
//! In: the entries of a tree and the facts of its source files, in order of paths. Out: the parts of a graph and the counts of call sites.
//! Never reads a blob, and never makes an edge to something that only has the same name, but for edges marked as guesses.

use crate::graph::facts::{
    Call, DefinitionKind, Expression, Facts, ImportForm, Language, NONE, flag,
};
use crate::graph::hash::Table;
use crate::graph::parts::{EdgeKind, Node, NodeKind, Parts, Resolution, Stats};
use crate::graph::places::Place;
use crate::graph::values::{Val, Values};
use crate::graph::world::World;

/// A call of unknown target has a guess only when at most this many definitions have its name: more say nothing.
const MAX_GUESSES: usize = 5;

/// How far a chain `a.b().c()` is followed to its first name, to see whether an import binds that.
const MAX_CHAIN: u32 = 64;

/// Links the source files of a tree. `parts` has a node for every path already.
pub fn link<'tree>(
    sources: &[(&'tree str, Language, &'tree Facts)],
    paths: impl Iterator<Item = &'tree str>,
    parts: &mut Parts,
    stats: &mut Stats,
) {
    let world = World::new(sources, paths);
    let mut linker = Linker::new(&world, parts, stats);
    linker.definitions();
    for file in 0..world.units.len() as u32 {
        linker.imports(file);
        linker.bases(file);
        linker.calls(file);
    }
}

/// A tree while it is linked.
pub struct Linker<'world, 'tree> {
    /// All facts of the tree.
    pub world: &'world World<'tree>,
    /// What expressions can be.
    pub values: Values<'world, 'tree>,
    /// The nodes and edges being written.
    pub parts: &'world mut Parts,
    /// The counts being written.
    pub stats: &'world mut Stats,
    /// The node of each file.
    pub files: Vec<u32>,
    /// The node of each definition of each file, `NONE` without one.
    pub nodes: Vec<Vec<u32>>,
    /// Functions and classes by tree-wide name, whether they are members, and whether they are Python.
    pub named: Table<(u32, bool, bool), Vec<u32>>,
    /// The methods under a key of `named` by the plain name of their class, once asked for.
    classes: Table<(u32, bool, bool), Table<String, Vec<u32>>>,
}

impl<'world, 'tree> Linker<'world, 'tree> {
    /// Nothing linked yet.
    pub fn new(
        world: &'world World<'tree>,
        parts: &'world mut Parts,
        stats: &'world mut Stats,
    ) -> Self {
        Self {
            values: Values::new(world),
            world,
            parts,
            stats,
            nodes: Vec::new(),
            files: Vec::new(),
            named: Table::default(),
            classes: Table::default(),
        }
    }
}

impl Linker<'_, '_> {
    /// Nodes for definitions, and contains edges.
    pub fn definitions(&mut self) {
        for (at, unit) in self.world.units.iter().enumerate() {
            let file = self.parts.node(Node {
                name: unit.path.to_owned(),
                kind: NodeKind::File,
                object: None,
                lines: (0, 0),
            });
            self.files.push(file);
            let used = used_definitions(unit.facts);
            let mut names: Vec<String> = Vec::with_capacity(unit.facts.definitions.len());
            let mut nodes = Vec::with_capacity(unit.facts.definitions.len());
            for (index, definition) in unit.facts.definitions.iter().enumerate() {
                let own = if definition.name == NONE {
                    ""
                } else {
                    unit.spelled(definition.name)
                };
                let qualified = match names.get(definition.parent as usize) {
                    Some(parent) if !parent.is_empty() => format!("{parent}.{own}"),
                    _ => own.to_owned(),
                };
                if own.is_empty() || !used[index] {
                    names.push(qualified);
                    nodes.push(NONE);
                    continue;
                }
                let kind = match definition.kind {
                    DefinitionKind::Class | DefinitionKind::Object => NodeKind::Class,
                    DefinitionKind::Function if definition.owner != NONE => NodeKind::Method,
                    DefinitionKind::Function => NodeKind::Function,
                };
                let name = format!("{}::{qualified}", unit.path);
                let node = self.parts.node(Node {
                    name,
                    kind,
                    object: None,
                    lines: definition.lines,
                });
                let above = nearest(&nodes, unit.facts, definition.parent).unwrap_or(file);
                self.parts
                    .edge(EdgeKind::Contains, above, node, Resolution::Definition);
                if definition.kind != DefinitionKind::Object {
                    let python = unit.language == Language::Python;
                    let key = (
                        unit.global(definition.name),
                        kind == NodeKind::Method,
                        python,
                    );
                    let named = self.named.entry(key).or_default();
                    if named.last() != Some(&node) {
                        named.push(node);
                    }
                }
                names.push(qualified);
                nodes.push(node);
            }
            debug_assert_eq!(self.nodes.len(), at);
            self.nodes.push(nodes);
        }
    }

    /// The node of a value, where it has one.
    pub fn node_of(&self, value: Val) -> Option<u32> {
        match value {
            Val::Definition(file, definition) => {
                let node = self
                    .nodes
                    .get(file as usize)?
                    .get(definition as usize)
                    .copied()?;
                (node != NONE).then_some(node)
            }
            _ => None,
        }
    }

    fn imports(&mut self, file: u32) {
        let unit = self.world.unit(file);
        for (at, import) in unit.facts.imports.iter().enumerate() {
            if import.form == ImportForm::Comment {
                continue;
            }
            let place = unit.places.get(at).copied().unwrap_or(Place::Foreign);
            let mut targets = Vec::new();
            if unit.language == Language::Python && !import.names.is_empty() {
                let path = match place {
                    Place::File(target) => self.world.unit(target).path,
                    _ => "",
                };
                for &name in &import.names {
                    targets.push(
                        self.world
                            .places
                            .submodule(place, path, unit.spelled(name))
                            .unwrap_or(place),
                    );
                }
            } else {
                targets.push(place);
            }
            for target in targets {
                if let Place::File(target) = target
                    && target != file
                {
                    let (from, to) = (self.files[file as usize], self.files[target as usize]);
                    self.parts
                        .edge(EdgeKind::Imports, from, to, Resolution::Import);
                }
            }
        }
    }

    fn bases(&mut self, file: u32) {
        let unit = self.world.unit(file);
        for (at, definition) in unit.facts.definitions.iter().enumerate() {
            let Some(from) = self.node_of(Val::Definition(file, at as u32)) else {
                continue;
            };
            if definition.kind != DefinitionKind::Class {
                continue;
            }
            for &base in &definition.bases {
                let how = self.how(file, base);
                for value in self.values.whole(file, base) {
                    let class = matches!(value, Val::Definition(at, base)
                        if self.world.unit(at).kind(base) == DefinitionKind::Class);
                    if let Some(to) = self.node_of(value).filter(|to| class && *to != from) {
                        self.parts.edge(EdgeKind::Inherits, from, to, how);
                    }
                }
            }
        }
    }

    fn calls(&mut self, file: u32) {
        let unit = self.world.unit(file);
        for call in &unit.facts.calls {
            let from = nearest(&self.nodes[file as usize], unit.facts, call.caller)
                .unwrap_or(self.files[file as usize]);
            let (targets, foreign) = self.targets(file, call.callee);
            if !targets.is_empty() {
                let how = self.how(file, call.callee);
                for to in &targets {
                    let how = self.by_value(how, unit.spelled(call.name), *to);
                    self.parts.edge(EdgeKind::Calls, from, *to, how);
                }
                self.stats.calls_resolved += 1;
            } else if foreign {
                self.stats.calls_external += 1;
            } else {
                self.guess(file, call, from);
                self.stats.calls_unresolved += 1;
                *self
                    .stats
                    .unresolved_names
                    .entry(unit.spelled(call.name).to_owned())
                    .or_insert(0) += 1;
            }
        }
    }

    /// Edges to whatever has the name that a call of unknown target calls, when it is not many: methods for a call on a value, functions
    /// and classes for a bare one. Where the value has the name of a class with such a method (`request.cancel()`), only to that. What an
    /// import binds is not guessed.
    fn guess(&mut self, file: u32, call: &Call, from: u32) {
        let unit = self.world.unit(file);
        let Some(root) = self.root(file, call.callee) else {
            return;
        };
        let method = root != call.callee;
        let python = unit.language == Language::Python;
        let key = (unit.global(call.name), method, python);
        let Some(found) = self.named.get(&key) else {
            return;
        };
        let receiver = match unit.facts.expressions.get(call.callee as usize) {
            Some(&Expression::Member { of, .. }) => unit.facts.expressions.get(of as usize),
            _ => None,
        };
        let like = match receiver {
            Some(&(Expression::Name { name, .. } | Expression::Member { name, .. })) => {
                let (nodes, classes) = (&self.parts.nodes, &mut self.classes);
                let classes = classes.entry(key).or_insert_with(|| by_class(nodes, found));
                classes.get(&plain(unit.spelled(name)))
            }
            _ => None,
        };
        let found = like.unwrap_or(found);
        if found.len() <= MAX_GUESSES {
            for &to in found {
                self.parts
                    .edge(EdgeKind::Calls, from, to, Resolution::Guess);
            }
        }
    }

    /// What a chain of members and calls begins with; `None` when an import binds it, when it is itself called and bound to something
    /// unknown, or when it is too far away.
    fn root(&self, file: u32, callee: u32) -> Option<u32> {
        let unit = self.world.unit(file);
        let mut root = callee;
        for _ in 0..MAX_CHAIN {
            match unit.facts.expressions.get(root as usize) {
                Some(
                    &Expression::Member { of, .. }
                    | &Expression::Item { of, .. }
                    | &Expression::Key { of, .. },
                ) => root = of,
                Some(&Expression::Result { callee }) => root = callee,
                Some(&Expression::Name { scope, name }) => {
                    let found = unit.binding_scope(scope, name);
                    let bound = found.map(|found| unit.bindings(found, name));
                    let imported = bound.unwrap_or_default().iter().any(|binding| {
                        let value = unit.facts.expressions.get(binding.value as usize);
                        matches!(
                            value,
                            Some(Expression::Imported { .. } | Expression::Module { .. })
                        )
                    });
                    // A name that is bound here is not a global of its name.
                    let bound_itself = root == callee && found.is_some();
                    return (!imported && !bound_itself).then_some(root);
                }
                Some(Expression::Imported { .. } | Expression::Module { .. }) => return None,
                _ => return Some(root),
            }
        }
        None
    }

    /// The nodes that calling an expression calls, in order, and whether something outside the tree, or without a node, is called.
    pub fn targets(&mut self, file: u32, callee: u32) -> (Vec<u32>, bool) {
        let values = self.values.of(file, callee);
        let mut targets = Vec::new();
        let mut foreign = false;
        for value in values.iter() {
            foreign |= self.called(*value, &mut targets);
        }
        targets.sort_unstable();
        targets.dedup();
        (targets, foreign)
    }

    /// The nodes that calling a value calls. True when something outside the tree, or without a node, is called.
    fn called(&mut self, value: Val, targets: &mut Vec<u32>) -> bool {
        match value {
            Val::Definition(file, definition) => match self.world.unit(file).kind(definition) {
                DefinitionKind::Object => false,
                _ => match self.node_of(value) {
                    Some(node) => {
                        targets.push(node);
                        false
                    }
                    // A function type is some function; an anonymous function is part of what is around it.
                    None => self.world.unit(file).flags(definition) & flag::TYPE == 0,
                },
            },
            Val::Instance(file, class) => {
                let Some(name) = self.world.name("__call__") else {
                    return false;
                };
                let mut called = Vec::new();
                self.values
                    .member(Val::Instance(file, class), name, &mut called);
                targets.extend(called.into_iter().filter_map(|value| self.node_of(value)));
                false
            }
            Val::Super(file, class) => {
                let order = self.values.order(file, class);
                // An interface is no class to construct.
                let base =
                    order.classes.iter().skip(1).find(|(file, class)| {
                        self.world.unit(*file).flags(*class) & flag::TYPE == 0
                    });
                targets.extend(
                    base.and_then(|(file, class)| self.node_of(Val::Definition(*file, *class))),
                );
                base.is_none() && order.foreign
            }
            Val::Module(file) => {
                for export in self.world.unit(file).exports("=") {
                    for value in self.values.of(file, export.value).iter() {
                        targets.extend(self.node_of(*value));
                    }
                }
                false
            }
            Val::Foreign
            | Val::Collection(..)
            | Val::Elements(..)
            | Val::Mapping(..)
            | Val::Pairs(..)
            | Val::Pair(..)
            | Val::Entries(..)
            | Val::Yields(..) => true,
            Val::Like(..) | Val::Folder(_) | Val::Unknown => false,
        }
    }

    /// An attribute that holds something of another name was set to it: the value came through a variable.
    fn by_value(&self, how: Resolution, called: &str, target: u32) -> Resolution {
        let named = self
            .parts
            .nodes
            .get(target as usize)
            .is_some_and(|node| node.name.rsplit(['.', ':']).next() == Some(called));
        match how {
            Resolution::Receiver | Resolution::Type
                if !named && called != "super" && !called.is_empty() =>
            {
                Resolution::Flow
            }
            other => other,
        }
    }

    /// How the value of an expression was found.
    fn how(&mut self, file: u32, expression: u32) -> Resolution {
        let unit = self.world.unit(file);
        match unit.facts.expressions.get(expression as usize) {
            Some(&Expression::Name { scope, name }) => {
                let Some(found) = unit.binding_scope(scope, name) else {
                    return Resolution::Import;
                };
                let first = unit
                    .bindings(found, name)
                    .first()
                    .map(|binding| binding.value);
                match first.and_then(|value| unit.facts.expressions.get(value as usize)) {
                    Some(Expression::Imported { .. } | Expression::Module { .. }) => {
                        Resolution::Import
                    }
                    Some(Expression::Definition { .. }) => Resolution::Scope,
                    _ => Resolution::Flow,
                }
            }
            Some(&Expression::Member { of, .. }) => self.how_member(file, of),
            Some(Expression::Super { .. } | Expression::This { .. }) => Resolution::Receiver,
            Some(Expression::Definition { .. }) => Resolution::Scope,
            Some(Expression::Imported { .. } | Expression::Module { .. }) => Resolution::Import,
            _ => Resolution::Flow,
        }
    }

    fn how_member(&mut self, file: u32, of: u32) -> Resolution {
        let unit = self.world.unit(file);
        let object = match unit.facts.expressions.get(of as usize) {
            Some(&Expression::Name { scope, name }) => {
                let found = unit.binding_scope(scope, name);
                let first = found.and_then(|found| unit.bindings(found, name).first());
                first.and_then(|binding| unit.facts.expressions.get(binding.value as usize))
            }
            other => other,
        };
        if matches!(
            object,
            Some(Expression::This { .. } | Expression::Super { .. })
        ) {
            return Resolution::Receiver;
        }
        let values = self.values.of(file, of);
        if values
            .iter()
            .any(|value| matches!(value, Val::Module(_) | Val::Folder(_)))
        {
            return Resolution::Import;
        }
        if values
            .iter()
            .any(|value| matches!(value, Val::Instance(..)))
        {
            Resolution::Type
        } else {
            self.how(file, of)
        }
    }
}

/// A name as it is compared between values and classes: `http_request` and `HTTPRequest` are one.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// Methods by the plain name of their class.
fn by_class(nodes: &[Node], methods: &[u32]) -> Table<String, Vec<u32>> {
    let mut classes: Table<String, Vec<u32>> = Table::default();
    for &method in methods {
        let name = nodes
            .get(method as usize)
            .map_or("", |node| node.name.as_str());
        let qualified = name.rsplit_once("::").map_or("", |(_, name)| name);
        if let Some(class) = qualified.rsplit('.').nth(1) {
            classes.entry(plain(class)).or_default().push(method);
        }
    }
    classes
}

/// The node of a definition or of the nearest one around it.
pub fn nearest(nodes: &[u32], facts: &Facts, mut definition: u32) -> Option<u32> {
    while let Some(found) = facts.definitions.get(definition as usize) {
        match nodes.get(definition as usize) {
            Some(&node) if node != NONE => return Some(node),
            _ => definition = found.parent,
        }
    }
    None
}

/// Which definitions are nodes: all classes and functions, but objects only with a function or a call in them.
fn used_definitions(facts: &Facts) -> Vec<bool> {
    let mut used: Vec<bool> = facts
        .definitions
        .iter()
        .map(|found| found.kind != DefinitionKind::Object && found.name != NONE)
        .collect();
    for call in &facts.calls {
        if let Some(used) = used.get_mut(call.caller as usize) {
            *used = true;
        }
    }
    // Parents come before their children.
    for at in (0..used.len()).rev() {
        let parent = facts.definitions[at].parent as usize;
        if used[at] && parent < at {
            used[parent] = true;
        }
    }
    for (used, definition) in used.iter_mut().zip(&facts.definitions) {
        *used &= definition.name != NONE;
    }
    used
}
