//! What lists, mappings and callbacks hold: elements, and parameters by what a function has to fit.
//!
//! In: a value or a function. Out: values. Only literals, comprehensions and annotated containers have elements; whatever else a program puts into them is
//! not followed.

use crate::graph::facts::{Argument, DefinitionKind, Expression, Language, NONE};
use crate::graph::values::{MAX_DEPTH, Val, Values};

/// A parameter is followed to what is passed for it when its function has at most this many callers in its file.
const MAX_SITES: usize = 4;

impl Values<'_, '_> {
    /// An element of a value at a place, `NONE`: at any.
    pub fn item(&mut self, value: Val, index: u32, out: &mut Vec<Val>) {
        match value {
            Val::Collection(file, expression) => {
                let Some(&Expression::Collection { first, last }) = self
                    .world
                    .unit(file)
                    .facts
                    .expressions
                    .get(expression as usize)
                else {
                    return;
                };
                let all = first..last;
                let picked = if index == NONE {
                    all
                } else {
                    first.saturating_add(index)
                        ..last.min(first.saturating_add(index).saturating_add(1))
                };
                if picked.is_empty() {
                    // Filled later, with something.
                    out.push(Val::Unknown);
                }
                for at in picked {
                    if let Some(argument) = self.world.unit(file).facts.arguments.get(at as usize) {
                        out.extend(self.of(file, argument.value).iter());
                    }
                }
            }
            Val::Elements(file, of) => out.extend(self.typed(file, of).iter()),
            Val::Yields(file, function) => {
                let found = self
                    .world
                    .unit(file)
                    .facts
                    .definitions
                    .get(function as usize);
                for &value in found.into_iter().flat_map(|found| &found.returns) {
                    out.extend(self.of(file, value).iter());
                }
            }
            Val::Mapping(file, of) => self.entry(file, of, false, out),
            Val::Pair(file, of) => match index {
                0 => self.entry(file, of, true, out),
                1 => self.entry(file, of, false, out),
                _ => out.push(Val::Unknown),
            },
            Val::Entries(file, of) => self.item(Val::Collection(file, of), NONE, out),
            // A container from outside holds what was put into it, also from here.
            _ => out.push(Val::Unknown),
        }
    }

    /// The key or the value of a mapping type, or of the entries of a dictionary literal.
    pub fn entry(&mut self, file: u32, mapping: u32, key: bool, out: &mut Vec<Val>) {
        let found = self
            .world
            .unit(file)
            .facts
            .expressions
            .get(mapping as usize);
        match found {
            Some(&Expression::MappingOf {
                key: left,
                value: right,
            }) => out.extend(self.typed(file, if key { left } else { right }).iter()),
            Some(Expression::Collection { .. }) if key => out.push(Val::Foreign),
            Some(Expression::Collection { .. }) => {
                self.item(Val::Collection(file, mapping), NONE, out);
            }
            _ => {}
        }
    }

    /// What a loop over a value takes from it.
    pub fn each(&mut self, value: Val, out: &mut Vec<Val>) {
        match value {
            Val::Mapping(file, of) if self.world.unit(file).language == Language::Python => {
                self.entry(file, of, true, out);
            }
            Val::Mapping(file, of) | Val::Pairs(file, of) => out.push(Val::Pair(file, of)),
            Val::Collection(file, expression) if self.has_keys(file, expression) => {
                out.push(Val::Foreign);
            }
            other => self.item(other, NONE, out),
        }
    }

    /// Is this literal a dictionary with keys?
    pub fn has_keys(&self, file: u32, collection: u32) -> bool {
        let facts = self.world.unit(file).facts;
        match facts.expressions.get(collection as usize) {
            Some(&Expression::Collection { first, last }) => {
                let items = facts.arguments.get(first as usize..last as usize);
                items
                    .unwrap_or_default()
                    .iter()
                    .any(|item| item.name != NONE)
            }
            _ => false,
        }
    }

    /// The key and value types of a mapping type.
    pub fn mapping(&self, file: u32, at: u32) -> (u32, u32) {
        match self.world.unit(file).facts.expressions.get(at as usize) {
            Some(&Expression::MappingOf { key, value }) => (key, value),
            _ => (NONE, NONE),
        }
    }

    /// The result of a method of a list or mapping whose elements have a known type.
    pub fn container_method(&mut self, file: u32, callee: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        let Some(&Expression::Member { of, name }) = unit.facts.expressions.get(callee as usize)
        else {
            return;
        };
        let name = unit.spelled(name);
        for value in self.of(file, of).iter() {
            match (*value, name) {
                (
                    Val::Elements(..) | Val::Collection(..),
                    "slice" | "filter" | "concat" | "reverse" | "sort" | "copy" | "toReversed"
                    | "toSorted" | "splice",
                ) => out.push(*value),
                (Val::Elements(..) | Val::Pairs(..), "values") => out.push(*value),
                (Val::Collection(at, of), "values") => out.push(Val::Entries(at, of)),
                (Val::Collection(at, of), "items") => out.push(Val::Pairs(at, of)),
                (Val::Collection(..), "get" | "setdefault") => self.item(*value, NONE, out),
                (Val::Foreign, "pop" | "popleft" | "popitem" | "shift" | "get_nowait") => {
                    out.push(Val::Unknown);
                }
                (
                    Val::Elements(..) | Val::Collection(..),
                    "pop" | "shift" | "at" | "find" | "findLast" | "popleft",
                ) => self.item(*value, NONE, out),
                (Val::Mapping(..), "get" | "pop" | "setdefault") => self.item(*value, NONE, out),
                (Val::Mapping(..), "copy") => out.push(*value),
                (Val::Mapping(at, of), "items" | "entries") => out.push(Val::Pairs(at, of)),
                (Val::Mapping(at, of), "values") => {
                    out.push(Val::Elements(at, self.mapping(at, of).1));
                }
                (Val::Mapping(at, of), "keys") => {
                    out.push(Val::Elements(at, self.mapping(at, of).0));
                }
                _ => {}
            }
        }
    }

    /// What a parameter can be, by what its function has to fit.
    pub fn parameter(&mut self, file: u32, function: u32, index: u32, out: &mut Vec<Val>) {
        let before = out.len();
        let unit = self.world.unit(file);
        let context = unit
            .facts
            .definitions
            .get(function as usize)
            .map_or(NONE, |f| f.context);
        if let Some(&Expression::Argument { callee, index: 0 }) =
            unit.facts.expressions.get(context as usize)
        {
            self.callback_parameter(file, callee, index, out);
        }
        for value in self.expected(file, function) {
            let Val::Definition(at, other) = value else {
                continue;
            };
            let of = self.world.unit(at).parameter_type(other, index);
            if of != NONE {
                out.extend(self.typed(at, of).iter());
            }
        }
        if out.len() == before {
            self.passed(file, function, index, out);
            out.push(Val::Unknown);
        }
    }

    /// What the calls of a function in its own file pass for a parameter. Only what is called or looked into matters, so anything that is
    /// not of this tree is left out, and a function with many callers is anyone's.
    fn passed(&mut self, file: u32, function: u32, index: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        let sites = unit.sites(function);
        let Some(found) = unit.facts.definitions.get(function as usize) else {
            return;
        };
        if sites.len() > MAX_SITES || self.depth >= MAX_DEPTH {
            return;
        }
        let name = found
            .parameters
            .get(index as usize)
            .map_or(NONE, |parameter| parameter.name);
        self.depth += 1;
        for (_, call) in sites {
            let Some(call) = unit.facts.calls.get(*call as usize) else {
                continue;
            };
            let list = unit
                .facts
                .arguments
                .get(call.first as usize..call.last as usize);
            let list = list.unwrap_or_default();
            let by_place = list.get(index as usize).filter(|argument| {
                let before = list.get(..=index as usize).unwrap_or_default();
                let spread = |argument: &Argument| {
                    let value = unit.facts.expressions.get(argument.value as usize);
                    argument.name != NONE || matches!(value, Some(Expression::Spread))
                };
                argument.name == NONE && !before.iter().any(spread)
            });
            let by_name = list
                .iter()
                .find(|argument| argument.name == name && name != NONE);
            if let Some(argument) = by_place.or(by_name) {
                let values = self.of(file, argument.value);
                out.extend(
                    values
                        .iter()
                        .filter(|value| !matches!(value, Val::Foreign | Val::Unknown)),
                );
            }
        }
        self.depth -= 1;
    }

    /// What a method of a list or mapping gives to the function that it calls for each element.
    pub fn callback_parameter(&mut self, file: u32, callee: u32, index: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        let Some(&Expression::Member { of, name }) = unit.facts.expressions.get(callee as usize)
        else {
            return;
        };
        let each = matches!(
            unit.spelled(name),
            "forEach"
                | "map"
                | "filter"
                | "find"
                | "findIndex"
                | "findLast"
                | "some"
                | "every"
                | "flatMap"
        );
        for value in self.of(file, of).iter().filter(|_| each) {
            match (*value, index) {
                (Val::Elements(..) | Val::Collection(..), 0) => self.item(*value, NONE, out),
                (Val::Mapping(at, of), 0 | 1) => self.entry(at, of, index == 1, out),
                _ => {}
            }
        }
    }

    /// What a function or object has to fit where it stands: the values of its type.
    pub fn expected(&mut self, file: u32, definition: u32) -> Vec<Val> {
        let unit = self.world.unit(file);
        let Some(found) = unit.facts.definitions.get(definition as usize) else {
            return Vec::new();
        };
        if self.depth >= MAX_DEPTH {
            return Vec::new();
        }
        self.depth += 1;
        let mut out = Vec::new();
        match unit.facts.expressions.get(found.context as usize) {
            Some(&Expression::Argument { callee, index }) => {
                for value in self.of(file, callee).iter() {
                    let Val::Definition(at, function) = *value else {
                        continue;
                    };
                    let of = self.world.unit(at).parameter_type(function, index);
                    if of != NONE {
                        out.extend(self.typed(at, of).iter());
                    }
                }
            }
            Some(_) => out.extend(self.typed(file, found.context).iter()),
            None if found.owner != NONE && unit.kind(found.owner) == DefinitionKind::Object => {
                // A member of an object has to fit the member of the object's type.
                let name = unit.global(found.name);
                for value in self.expected(file, found.owner) {
                    self.member(value, name, &mut out);
                }
            }
            None => {}
        }
        self.depth -= 1;
        out
    }

    /// The element of a value under a literal key.
    pub fn key(&mut self, value: Val, name: u32, text: &str, out: &mut Vec<Val>) {
        match value {
            Val::Definition(file, object)
                if self.world.unit(file).kind(object) == DefinitionKind::Object =>
            {
                self.object_member(file, object, name, out);
            }
            Val::Collection(file, expression) => {
                if let Ok(index) = text.parse::<u32>() {
                    return self.item(value, index, out);
                }
                let unit = self.world.unit(file);
                let Some(&Expression::Collection { first, last }) =
                    unit.facts.expressions.get(expression as usize)
                else {
                    return;
                };
                let mut found = false;
                for at in first..last {
                    let Some(argument) = unit.facts.arguments.get(at as usize) else {
                        continue;
                    };
                    if argument.name != NONE && unit.global(argument.name) == name {
                        out.extend(self.of(file, argument.value).iter());
                        found = true;
                    }
                }
                if !found {
                    out.push(Val::Unknown);
                }
            }
            other => self.item(other, NONE, out),
        }
    }
}
