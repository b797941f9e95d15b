//! Modules that hand on everything of other modules (`from m import *`, `export * from`): which names can come that way at all.
//!
//! In: all files of a tree. Out: the files that have a name of their own, and whether a name can be had beyond those. Without it a name
//! that nobody has would be asked of every module behind a barrel, for every file that asks. Never evaluates anything.

use crate::graph::facts::Language;
use crate::graph::hash::Table;
use crate::graph::places::{Place, last};
use crate::graph::world::Unit;

/// What the stars of a tree lead to.
#[derive(Default)]
pub struct Stars {
    /// The files that some star leads to and that have a name of their own, by tree-wide name; sorted.
    offers: Table<u32, Vec<u32>>,
    /// Of each file: whether its stars lead, over any number of files, to something outside the tree.
    foreign: Vec<bool>,
    /// Of each file: whether its stars lead to something whose names are not all listed here.
    open: Vec<bool>,
}

impl Stars {
    /// Of all files, in order.
    pub fn new(units: &[Unit<'_>]) -> Self {
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); units.len()];
        let (mut foreign, mut open) = (vec![false; units.len()], vec![false; units.len()]);
        for (at, unit) in units.iter().enumerate() {
            for place in unit.starred() {
                match place {
                    Place::File(target) => {
                        if let Some(from) = into.get_mut(target as usize) {
                            from.push(at as u32);
                        }
                        open[at] |= units.get(target as usize).is_some_and(is_open);
                    }
                    Place::Folder(_) => open[at] = true,
                    Place::Foreign => foreign[at] = true,
                }
            }
        }
        let mut offers: Table<u32, Vec<u32>> = Table::default();
        for (at, unit) in units
            .iter()
            .enumerate()
            .filter(|(at, _)| !into[*at].is_empty())
        {
            for name in own_names(unit) {
                let files = offers.entry(name).or_default();
                if files.last() != Some(&(at as u32)) {
                    files.push(at as u32);
                }
            }
        }
        for reached in [&mut foreign, &mut open] {
            let mut next: Vec<u32> = (0..units.len() as u32)
                .filter(|at| reached[*at as usize])
                .collect();
            while let Some(at) = next.pop() {
                for &from in &into[at as usize] {
                    if !std::mem::replace(&mut reached[from as usize], true) {
                        next.push(from);
                    }
                }
            }
        }
        Self {
            offers,
            foreign,
            open,
        }
    }

    /// The files that have a name of their own, among those that some star leads to; sorted.
    pub fn offers(&self, name: u32) -> &[u32] {
        self.offers
            .get(&name)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Whether the stars of a file lead to something outside the tree.
    pub fn is_foreign(&self, file: u32) -> bool {
        self.foreign.get(file as usize).copied().unwrap_or(false)
    }

    /// Whether the stars of a file lead to something whose names are not all listed.
    pub fn is_open(&self, file: u32) -> bool {
        self.open.get(file as usize).copied().unwrap_or(false)
    }
}

/// Whether a file has names that it does not list: the modules of a package, the members of what it exports as a whole.
pub fn is_open(unit: &Unit<'_>) -> bool {
    match unit.language {
        Language::Python => matches!(last(unit.path), "__init__.py" | "__init__.pyi"),
        _ => !unit.exports("=").is_empty(),
    }
}

/// The tree-wide names that a file binds at its top level (Python), or exports.
fn own_names<'a>(unit: &'a Unit<'_>) -> Box<dyn Iterator<Item = u32> + 'a> {
    match unit.language {
        Language::Python => {
            let all = unit.facts.bindings.iter();
            let own = all.take_while(|binding| binding.scope == 0);
            Box::new(own.map(|binding| unit.global(binding.name)))
        }
        _ => Box::new(
            unit.facts
                .exports
                .iter()
                .map(|export| unit.global(export.name)),
        ),
    }
}
