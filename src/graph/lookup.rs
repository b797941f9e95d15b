//! Where a name leads: scopes, imports, modules.
//!
//! In: a name and the place where it is used. Out: values. A name that an import binds to something outside the tree is foreign, and never
//! looked for elsewhere.

use crate::graph::facts::{Expression, Language};
use crate::graph::hash::Table;
use crate::graph::places::Place;
use crate::graph::standard::is_builtin;
use crate::graph::stars;
use crate::graph::values::{MAX_DEPTH, Slot, Val, Values};

/// How many assignments to one name are looked at: what a name can be shows in the first ones, and a file may have 170,000.
const MAX_BINDINGS: usize = 256;

impl Values<'_, '_> {
    /// A name seen from a scope.
    pub fn name(&mut self, file: u32, scope: u32, name: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        if let Some(found) = unit.binding_scope(scope, name) {
            for binding in unit.bindings(found, name).iter().take(MAX_BINDINGS) {
                out.extend(self.of(file, binding.value).iter());
            }
            return;
        }
        if unit.language != Language::Python {
            // A global of the platform, or what CommonJS calls the file itself.
            out.push(match unit.spelled(name) {
                "exports" => Val::Module(file),
                _ => Val::Foreign,
            });
            return;
        }
        let global = unit.global(name);
        if !self.starred(file, global, out) {
            out.push(if is_builtin(unit.spelled(name)) {
                Val::Foreign
            } else {
                Val::Unknown
            });
        }
    }

    /// Does this call of a name call the built-in function of that name?
    pub fn is_builtin_call(&mut self, file: u32, call: u32) -> bool {
        let unit = self.world.unit(file);
        let expressions = &unit.facts.expressions;
        let Some(&Expression::Result { callee }) = expressions.get(call as usize) else {
            return false;
        };
        match expressions.get(callee as usize) {
            Some(&Expression::Name { scope, name }) => {
                unit.binding_scope(scope, name).is_none()
                    && self.of(file, callee).as_ref() == [Val::Foreign]
            }
            _ => false,
        }
    }

    /// A name out of the modules that a file takes everything from, and those that these take from, in the order in which they are written.
    /// True when that settles it.
    pub fn starred(&mut self, file: u32, name: u32, out: &mut Vec<Val>) -> bool {
        let world = self.world;
        let offers = world.stars.offers(name);
        if !offers.is_empty() || world.stars.is_open(file) {
            let mut seen = Table::default();
            seen.insert(file, ());
            let mut next: Vec<Place> = world.unit(file).starred().rev().collect();
            while let Some(place) = next.pop() {
                let before = out.len();
                if self.offered(place, name, offers, out) {
                    return true;
                }
                out.truncate(before);
                if let Place::File(at) = place
                    && seen.insert(at, ()).is_none()
                {
                    let unit = world.unit(at);
                    // What CommonJS exports is the whole of a module.
                    if unit.language == Language::Python || unit.exports("=").is_empty() {
                        next.extend(unit.starred().rev());
                    }
                }
            }
        }
        let is_foreign = world.stars.is_foreign(file);
        if is_foreign {
            out.push(Val::Foreign);
        }
        is_foreign
    }

    /// A name that the module of a star has of its own. `offers`: the files that list it.
    fn offered(&mut self, place: Place, name: u32, offers: &[u32], out: &mut Vec<Val>) -> bool {
        let world = self.world;
        match place {
            Place::Foreign => false,
            Place::Folder(_) => self.submodule(place, "", world.spelled(name), out),
            Place::File(at) if offers.binary_search(&at).is_ok() => {
                self.of_module(place, name, out)
            }
            Place::File(at) if stars::is_open(world.unit(at)) => {
                match world.unit(at).language == Language::Python {
                    true => self.submodule(place, world.unit(at).path, world.spelled(name), out),
                    false => self.of_module(place, name, out),
                }
            }
            Place::File(_) => false,
        }
    }

    /// A name out of an imported module.
    pub fn imported(&mut self, file: u32, import: u32, name: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        let place = unit
            .places
            .get(import as usize)
            .copied()
            .unwrap_or(Place::Foreign);
        if !self.of_module(place, unit.global(name), out) {
            out.push(if place == Place::Foreign {
                Val::Foreign
            } else {
                Val::Unknown
            });
        }
    }

    /// An imported module, or (Python `import a.b`) its first part.
    pub fn module(&mut self, file: u32, import: u32, whole: bool, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        let mut place = unit
            .places
            .get(import as usize)
            .copied()
            .unwrap_or(Place::Foreign);
        if !whole && place != Place::Foreign {
            let module = unit
                .facts
                .imports
                .get(import as usize)
                .map_or("", |import| unit.spelled(import.module));
            place =
                self.world
                    .places
                    .python(unit.path, 0, module.split('.').next().unwrap_or(module));
        }
        out.push(match place {
            Place::File(at) => Val::Module(at),
            Place::Folder(at) => Val::Folder(at),
            Place::Foreign => Val::Foreign,
        });
    }

    /// A name of a module; false when the module does not have it.
    pub fn of_module(&mut self, place: Place, name: u32, out: &mut Vec<Val>) -> bool {
        let text = self.world.spelled(name);
        let file = match place {
            Place::Foreign => return false,
            Place::Folder(_) => return self.submodule(place, "", text, out),
            Place::File(file) => file,
        };
        match self.exports.get(&(file, name)) {
            Some(Slot::Done(found)) => {
                out.extend(found.iter());
                return !found.is_empty();
            }
            Some(_) => return false,
            None if self.depth >= MAX_DEPTH => return false,
            None => {}
        }
        self.exports.insert((file, name), Slot::Busy);
        self.depth += 1;
        let mut values = Vec::new();
        let found = if self.world.unit(file).language == Language::Python {
            let path = self.world.unit(file).path;
            self.python_attribute(file, name, &mut values)
                || self.submodule(place, path, text, &mut values)
        } else {
            self.exported(file, name, text, &mut values)
        };
        self.depth -= 1;
        if found && values.is_empty() {
            // Being worked out: it exists, its value is not known yet.
            values.push(Val::Unknown);
        }
        let set = if found {
            self.set(values)
        } else {
            self.set(Vec::new())
        };
        out.extend(set.iter());
        self.exports.insert((file, name), Slot::Done(set));
        found
    }

    /// A module inside a package; false when there is none of this name.
    pub fn submodule(&mut self, place: Place, path: &str, name: &str, out: &mut Vec<Val>) -> bool {
        let found = self.world.places.submodule(place, path, name);
        out.extend(found.map(|place| match place {
            Place::File(at) => Val::Module(at),
            Place::Folder(at) => Val::Folder(at),
            Place::Foreign => Val::Foreign,
        }));
        found.is_some()
    }

    /// A name that a Python module binds or takes from others.
    pub fn python_attribute(&mut self, file: u32, name: u32, out: &mut Vec<Val>) -> bool {
        let unit = self.world.unit(file);
        if let Some(local) = unit.local(name) {
            let bindings = unit.bindings(0, local);
            for binding in bindings.iter().take(MAX_BINDINGS) {
                out.extend(self.of(file, binding.value).iter());
            }
            if !bindings.is_empty() {
                return true;
            }
        }
        !unit.stars.is_empty() && self.starred(file, name, out)
    }

    /// A name that a JavaScript module exports, itself or from others.
    pub fn exported(&mut self, file: u32, name: u32, text: &str, out: &mut Vec<Val>) -> bool {
        let unit = self.world.unit(file);
        let exports = unit.exports(text);
        for export in exports {
            out.extend(self.of(file, export.value).iter());
        }
        if !exports.is_empty() {
            return true;
        }
        let whole = unit.exports("=");
        if !whole.is_empty() {
            for export in whole {
                for value in self.of(file, export.value).iter() {
                    if text == "default" {
                        out.push(*value)
                    } else {
                        self.member(*value, name, out)
                    }
                }
            }
            return true;
        }
        text != "default" && self.starred(file, name, out)
    }
}
