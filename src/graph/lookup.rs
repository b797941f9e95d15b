//! Where a name leads: scopes, imports, modules.
//!
//! In: a name and the place where it is used. Out: values. A name that an import binds to something outside the tree is foreign, and never
//! looked for elsewhere.

use crate::graph::facts::Language;
use crate::graph::places::Place;
use crate::graph::standard::is_builtin;
use crate::graph::values::{MAX_DEPTH, Slot, Val, Values};

impl Values<'_, '_> {
    /// A name seen from a scope.
    pub fn name(&mut self, file: u32, scope: u32, name: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        if let Some(found) = unit.binding_scope(scope, name) {
            for binding in unit.bindings(found, name) {
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

    /// A name out of the modules that a file takes everything from. True when that settles it.
    pub fn starred(&mut self, file: u32, name: u32, out: &mut Vec<Val>) -> bool {
        let unit = self.world.unit(file);
        let mut foreign = false;
        for &import in &unit.stars {
            let place = unit
                .places
                .get(import as usize)
                .copied()
                .unwrap_or(Place::Foreign);
            foreign |= place == Place::Foreign;
            let before = out.len();
            if self.of_module(place, name, out) {
                return true;
            }
            out.truncate(before);
        }
        if foreign {
            out.push(Val::Foreign);
        }
        foreign
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
            for binding in bindings {
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
