//! What each call site and each import of a tree reaches, one by one, where the graph only has edges.
//!
//! In: the facts of all source files of a tree, and which sites are asked for. Out: plain data. Never reads a blob.

use crate::graph::facts::{DefinitionKind, Expression, Facts, Language};
use crate::graph::parts::{Parts, Stats};
use crate::graph::places::Place;
use crate::graph::resolve::{Linker, nearest};
use crate::graph::sites::{Called, Imported, Wanted};
use crate::graph::values::Val;
use crate::graph::world::World;

/// The call sites of the files asked for, and what the imports of every file bring as far as it is asked for.
pub fn sites<'tree>(
    sources: &[(&'tree str, Language, &'tree Facts)],
    paths: impl Iterator<Item = &'tree str>,
    wanted: &Wanted,
) -> (Vec<Called>, Vec<Imported>) {
    let world = World::new(sources, paths);
    let (mut parts, mut stats) = (Parts::default(), Stats::default());
    let mut linker = Linker::new(&world, &mut parts, &mut stats);
    linker.definitions();
    let (mut calls, mut imports) = (Vec::new(), Vec::new());
    for file in 0..world.units.len() as u32 {
        linker.imported_in(file, wanted, &mut imports);
        if wanted.files.contains(world.unit(file).path) {
            linker.called_in(file, &mut calls);
        }
    }
    (calls, imports)
}

impl Linker<'_, '_> {
    /// The constructors that calling an expression runs, in order: of a class that has none the inherited one.
    fn constructors(&mut self, file: u32, callee: u32) -> Vec<u32> {
        let mut found = Vec::new();
        for value in self.values.of(file, callee).iter() {
            let class = match *value {
                Val::Definition(at, class)
                    if self.world.unit(at).kind(class) == DefinitionKind::Class =>
                {
                    Val::Instance(at, class)
                }
                Val::Super(..) => *value,
                _ => continue,
            };
            for name in ["__init__", "constructor"] {
                if let Some(name) = self.world.name(name) {
                    self.values.member(class, name, &mut found);
                }
            }
        }
        let mut nodes: Vec<u32> = found
            .into_iter()
            .filter_map(|value| self.node_of(value))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Whether a method that an expression names gets its receiver from the value before the dot; none: that cannot be told.
    fn is_bound(&mut self, file: u32, callee: u32) -> Option<bool> {
        let unit = self.world.unit(file);
        let Some(&Expression::Member { of, .. }) = unit.facts.expressions.get(callee as usize)
        else {
            return None;
        };
        let values = self.values.of(file, of);
        let is_class = |value: &Val| match *value {
            Val::Definition(at, class) => self.world.unit(at).kind(class) == DefinitionKind::Class,
            Val::Module(_) | Val::Folder(_) => true,
            _ => false,
        };
        match values.iter().filter(|value| is_class(value)).count() {
            0 => Some(true),
            count if count == values.len() => Some(false),
            _ => None,
        }
    }

    fn names(&self, nodes: &[u32]) -> Vec<String> {
        let names = nodes
            .iter()
            .filter_map(|node| self.parts.nodes.get(*node as usize));
        names.map(|node| node.name.clone()).collect()
    }

    /// The call sites of a file, in source order.
    fn called_in(&mut self, file: u32, out: &mut Vec<Called>) {
        let unit = self.world.unit(file);
        for call in &unit.facts.calls {
            let from = nearest(&self.nodes[file as usize], unit.facts, call.caller)
                .unwrap_or(self.files[file as usize]);
            let (mut targets, is_foreign) = self.targets(file, call.callee);
            targets.extend(self.constructors(file, call.callee));
            targets.sort_unstable();
            targets.dedup();
            out.push(Called {
                file: unit.path.to_owned(),
                caller: self.names(&[from]).pop().unwrap_or_default(),
                line: call.line,
                name: unit.spelled(call.name).to_owned(),
                targets: self.names(&targets),
                is_foreign,
                is_bound: self.is_bound(file, call.callee),
            });
        }
    }

    /// What the imports of a file bring, of the names asked for; and the modules themselves, for the files asked for.
    fn imported_in(&mut self, file: u32, wanted: &Wanted, out: &mut Vec<Imported>) {
        let unit = self.world.unit(file);
        let bound = unit.facts.bindings.iter().map(|binding| binding.value);
        let exported = unit.facts.exports.iter().map(|export| export.value);
        for value in bound.chain(exported) {
            let Some(&Expression::Imported { import, name }) =
                unit.facts.expressions.get(value as usize)
            else {
                continue;
            };
            let name = unit.spelled(name);
            if !wanted.names.contains(name) {
                continue;
            }
            let values = self.values.of(file, value);
            let mut targets: Vec<String> = values
                .iter()
                .filter_map(|value| match *value {
                    Val::Module(at) => Some(self.world.unit(at).path.to_owned()),
                    value => self.names(&[self.node_of(value)?]).pop(),
                })
                .collect();
            targets.sort_unstable();
            targets.dedup();
            let found = unit.facts.imports.get(import as usize);
            out.push(Imported {
                file: unit.path.to_owned(),
                line: found.map_or(0, |import| import.line),
                name: name.to_owned(),
                // A value that is no definition, a constant say, is something all the same.
                is_found: values.iter().any(|value| !matches!(value, Val::Unknown)),
                targets,
            });
        }
        if !wanted.files.contains(unit.path) {
            return;
        }
        for (at, import) in unit.facts.imports.iter().enumerate() {
            let place = unit.places.get(at).copied().unwrap_or(Place::Foreign);
            let dots = ".".repeat(import.level as usize);
            out.push(Imported {
                file: unit.path.to_owned(),
                line: import.line,
                name: dots + unit.spelled(import.module),
                targets: match place {
                    Place::File(target) => vec![self.world.unit(target).path.to_owned()],
                    _ => Vec::new(),
                },
                is_found: !matches!(place, Place::Foreign),
            });
        }
    }
}
