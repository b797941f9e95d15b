//! What values have and give: attributes by the order of bases, and results of calls.
//!
//! In: a value. Out: values. An attribute that no class of the order has is foreign where a base is, else unknown.

use crate::graph::facts::{DefinitionKind, Language, NONE, ScopeKind, flag};
use crate::graph::places::Place;
use crate::graph::values::{MAX_DEPTH, Order, Slot, Val, Values};

/// How many classes an attribute is looked up in. (Every class of a chain of n has up to n.)
const MAX_ORDER: usize = 64;

/// How many definitions of one member are looked at: they are one node.
const MAX_DEFINITIONS: usize = 32;

impl Values<'_, '_> {
    /// The receiver of the function around a scope, or (`base`) the receiver as `super` sees it.
    pub fn receiver(&self, file: u32, mut scope: u32, base: bool) -> Val {
        let unit = self.world.unit(file);
        while let Some(found) = unit.facts.scopes.get(scope as usize) {
            let (owner, fixed) = match found.kind {
                ScopeKind::Class => (found.definition, false),
                ScopeKind::Function => {
                    match unit.facts.definitions.get(found.definition as usize) {
                        // Python: a function inside a method sees the method's receiver under its name, and `super()` too.
                        Some(function)
                            if function.owner == NONE && unit.language == Language::Python =>
                        {
                            scope = found.parent;
                            continue;
                        }
                        Some(function) => (
                            function.owner,
                            function.flags & flag::STATIC != 0 && unit.language != Language::Python,
                        ),
                        None => return Val::Unknown,
                    }
                }
                _ => {
                    scope = found.parent;
                    continue;
                }
            };
            if owner == NONE {
                return Val::Unknown;
            }
            return match unit.kind(owner) {
                DefinitionKind::Class if base => Val::Super(file, owner),
                DefinitionKind::Class if fixed => Val::Definition(file, owner),
                DefinitionKind::Class => Val::Instance(file, owner),
                _ => Val::Definition(file, owner),
            };
        }
        Val::Unknown
    }

    /// An attribute of a value. Each is worked out once: objects spread into objects would else be looked into over and over.
    pub fn member(&mut self, value: Val, name: u32, out: &mut Vec<Val>) {
        match self.members.get(&(value, name)) {
            Some(Slot::Done(found)) => return out.extend(found.iter()),
            Some(_) => return,
            None => {}
        }
        self.members.insert((value, name), Slot::Busy);
        let mut found = Vec::new();
        self.find_member(value, name, &mut found);
        let set = self.set(found);
        out.extend(set.iter());
        self.members.insert((value, name), Slot::Done(set));
    }

    fn find_member(&mut self, value: Val, name: u32, out: &mut Vec<Val>) {
        match value {
            Val::Module(file) => {
                if !self.of_module(Place::File(file), name, out) {
                    out.push(Val::Unknown);
                }
            }
            Val::Folder(at) => {
                if !self.of_module(Place::Folder(at), name, out) {
                    out.push(Val::Unknown);
                }
            }
            Val::Instance(file, class) => self.attribute(file, class, name, false, 0, out),
            Val::Super(file, class) => self.attribute(file, class, name, false, 1, out),
            Val::Definition(file, definition) | Val::Like(file, definition) => {
                match self.world.unit(file).kind(definition) {
                    DefinitionKind::Class => self.attribute(file, definition, name, true, 0, out),
                    DefinitionKind::Object => self.object_member(file, definition, name, out),
                    DefinitionKind::Function => {
                        if !self.own_member(file, definition, name, None, out) {
                            out.push(Val::Foreign);
                        }
                    }
                }
            }
            Val::Collection(..)
            | Val::Elements(..)
            | Val::Mapping(..)
            | Val::Pairs(..)
            | Val::Pair(..)
            | Val::Entries(..)
            | Val::Yields(..)
            | Val::Foreign => out.push(Val::Foreign),
            Val::Unknown => out.push(Val::Unknown),
        }
    }

    /// An attribute of a class (`fixed`) or its instances, from the `skip`th class of its order on.
    pub fn attribute(
        &mut self,
        file: u32,
        class: u32,
        name: u32,
        fixed: bool,
        skip: usize,
        out: &mut Vec<Val>,
    ) {
        let order = self.order(file, class);
        for &(at, class) in order.classes.iter().skip(skip) {
            let before = out.len();
            let typed = self.world.unit(at).language != Language::Python;
            if self.own_member(at, class, name, typed.then_some(fixed), out) {
                if !fixed {
                    self.read_properties(before, out);
                }
                return;
            }
        }
        out.push(if order.foreign {
            Val::Foreign
        } else {
            Val::Unknown
        });
    }

    /// Replace properties, from a place of `out` on, by what reading them gives.
    pub fn read_properties(&mut self, from: usize, out: &mut Vec<Val>) {
        let read: Vec<Val> = out.drain(from.min(out.len())..).collect();
        for value in read {
            match value {
                Val::Definition(file, function)
                    if self.world.unit(file).flags(function) & flag::PROPERTY != 0 =>
                {
                    self.result(value, out);
                }
                other => out.push(other),
            }
        }
    }

    /// A member that a class or object has itself. `fixed`: in a language where members of the class and of its instances differ.
    pub fn own_member(
        &mut self,
        file: u32,
        owner: u32,
        name: u32,
        fixed: Option<bool>,
        out: &mut Vec<Val>,
    ) -> bool {
        let unit = self.world.unit(file);
        let Some(name) = unit.local(name) else {
            return false;
        };
        let before = out.len();
        let mut found = false;
        let fits = |is_fixed: bool| fixed.is_none_or(|fixed| fixed == is_fixed);
        for definition in unit.owned(owner, name).take(MAX_DEFINITIONS) {
            let flags = unit.flags(definition);
            if fits(flags & flag::STATIC != 0) && flags & flag::SETTER == 0 {
                out.push(Val::Definition(file, definition));
                found = true;
            }
        }
        let members = unit.members(owner, name);
        for member in members.iter().filter(|member| fits(member.fixed)) {
            found = true;
            out.extend(self.of(file, member.value).iter());
        }
        let body = unit.bodies.get(owner as usize).copied().unwrap_or(NONE);
        if body != NONE && matches!(unit.scope_kind(body), ScopeKind::Class | ScopeKind::Module) {
            for binding in unit.bindings(body, name) {
                found = true;
                out.extend(self.of(file, binding.value).iter());
            }
        }
        if found && out.len() == before {
            // Being worked out: it exists, its value is not known yet.
            out.push(Val::Unknown);
        }
        found
    }

    /// A member of an object literal or namespace, or of what is spread into it.
    pub fn object_member(&mut self, file: u32, object: u32, name: u32, out: &mut Vec<Val>) {
        if self.own_member(file, object, name, None, out) {
            return;
        }
        let Some(definition) = self.world.unit(file).facts.definitions.get(object as usize) else {
            return;
        };
        if self.depth >= MAX_DEPTH {
            return out.push(Val::Unknown);
        }
        self.depth += 1;
        for &base in &definition.bases {
            for value in self
                .of(file, base)
                .iter()
                .filter(|value| **value != Val::Definition(file, object))
            {
                self.member(*value, name, out);
            }
        }
        self.depth -= 1;
        if definition.bases.is_empty() {
            out.push(Val::Unknown);
        }
    }

    /// The classes in which attributes of a class are looked up: depth first, left to right, a class after all that extend it.
    pub fn order(&mut self, file: u32, class: u32) -> Order {
        match self.orders.get(&(file, class)) {
            Some(Some(found)) => return found.clone(),
            // A class that extends itself.
            Some(None) => return Order::default(),
            None => {}
        }
        self.orders.insert((file, class), None);
        let mut order = Order::default();
        let mut classes = vec![(file, class)];
        let bases = self
            .world
            .unit(file)
            .facts
            .definitions
            .get(class as usize)
            .map(|found| &found.bases);
        for &base in bases.into_iter().flatten() {
            for value in self.whole(file, base) {
                match value {
                    Val::Definition(at, base) | Val::Instance(at, base)
                        if self.world.unit(at).kind(base) == DefinitionKind::Class
                            && self.depth < MAX_DEPTH =>
                    {
                        self.depth += 1;
                        let above = self.order(at, base);
                        self.depth -= 1;
                        order.foreign |= above.foreign;
                        order.unknown |= above.unknown;
                        // A class that is reached twice belongs after the last one that extends it.
                        classes.retain(|known| {
                            !above.classes.contains(known) || *known == (file, class)
                        });
                        classes.extend(
                            above
                                .classes
                                .iter()
                                .filter(|known| **known != (file, class)),
                        );
                        // Cut on the way too, else forty bases of sixty classes each are compared with one another.
                        order.unknown |= classes.len() > 2 * MAX_ORDER;
                        classes.truncate(2 * MAX_ORDER);
                    }
                    Val::Foreign => order.foreign = true,
                    _ => order.unknown = true,
                }
            }
        }
        if classes.len() > MAX_ORDER {
            classes.truncate(MAX_ORDER);
            order.unknown = true;
        }
        order.classes = classes.into();
        self.orders.insert((file, class), Some(order.clone()));
        order
    }

    /// The values of an expression, with `module.exports` in the place of a module that sets it.
    pub fn whole(&mut self, file: u32, expression: u32) -> Vec<Val> {
        let mut out = Vec::new();
        for value in self.of(file, expression).iter() {
            match *value {
                Val::Module(at) => {
                    for export in self.world.unit(at).exports("=") {
                        out.extend(self.of(at, export.value).iter());
                    }
                }
                other => out.push(other),
            }
        }
        out
    }

    /// What calling a value gives.
    pub fn result(&mut self, value: Val, out: &mut Vec<Val>) {
        match value {
            Val::Definition(file, definition) | Val::Like(file, definition) => {
                match self.world.unit(file).kind(definition) {
                    DefinitionKind::Class => out.push(Val::Instance(file, definition)),
                    DefinitionKind::Function => self.returned(file, definition, out),
                    DefinitionKind::Object => out.push(Val::Unknown),
                }
            }
            Val::Instance(file, class) => {
                let mut called = Vec::new();
                if let Some(name) = self.call_name {
                    self.attribute(file, class, name, false, 0, &mut called);
                }
                for value in called {
                    match value {
                        Val::Definition(file, function) => self.returned(file, function, out),
                        _ => out.push(Val::Unknown),
                    }
                }
            }
            Val::Module(file) => {
                for export in self.world.unit(file).exports("=") {
                    for value in self.of(file, export.value).iter() {
                        if *value != Val::Module(file) && matches!(value, Val::Definition(..)) {
                            self.result(*value, out);
                        }
                    }
                }
            }
            Val::Foreign | Val::Elements(..) => out.push(Val::Foreign),
            _ => out.push(Val::Unknown),
        }
    }

    /// What a call of a function gives: by its annotation, else by what it returns.
    pub fn returned(&mut self, file: u32, function: u32, out: &mut Vec<Val>) {
        let Some(definition) = self
            .world
            .unit(file)
            .facts
            .definitions
            .get(function as usize)
        else {
            return;
        };
        if self.depth >= MAX_DEPTH {
            return out.push(Val::Unknown);
        }
        self.depth += 1;
        if definition.return_type != NONE {
            out.extend(self.typed(file, definition.return_type).iter());
        } else if definition.flags & flag::GENERATOR != 0 {
            out.push(Val::Yields(file, function));
        } else if definition.flags & flag::SIGNATURE != 0 {
            out.push(Val::Unknown);
        } else {
            for &value in &definition.returns {
                out.extend(self.of(file, value).iter());
            }
        }
        self.depth -= 1;
    }

    /// What `with` binds to its target.
    pub fn entered(&mut self, value: Val, out: &mut Vec<Val>) {
        let (file, class) = match value {
            Val::Instance(file, class) => (file, class),
            // A generator function with a decorator: `@contextmanager`.
            Val::Yields(..) | Val::Elements(..) => return self.item(value, NONE, out),
            Val::Foreign => return out.push(Val::Foreign),
            _ => return out.push(Val::Unknown),
        };
        let mut found = Vec::new();
        match self.enter_name {
            Some(name) => self.attribute(file, class, name, false, 0, &mut found),
            None => found.push(Val::Unknown),
        }
        for value in found {
            match value {
                Val::Definition(file, function) => self.returned(file, function, out),
                other => out.push(other),
            }
        }
    }
}
