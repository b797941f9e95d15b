//! What an expression can be: a bounded evaluation of facts, within a file and across imports.
//!
//! In: the world of a tree. Out: sets of values. A value that is not known is `Unknown` or `Foreign` and never replaced by something that
//! only has the same name. The order of questions is fixed (files by path, sites by position), and so are the answers. Recursion is
//! bounded by `MAX_DEPTH`.

use std::rc::Rc;

use crate::graph::facts::{DefinitionKind, Expression, Language, flag};
use crate::graph::hash::Table;
use crate::graph::world::World;

/// How deep one expression is followed: more than any chain of imports, bases and assignments seen, small enough for the stack.
pub const MAX_DEPTH: u32 = 48;

/// How many values one expression keeps.
const MAX_VALUES: usize = 16;

/// Something an expression can be. Numbers are a file and an index in its facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Val {
    /// A class, function or object.
    Definition(u32, u32),
    /// Something of the type of a class or function (`type[C]`, `typeof f`): what it gives is known, which one it is is not.
    Like(u32, u32),
    /// An instance of a class.
    Instance(u32, u32),
    /// A file as a module.
    Module(u32),
    /// A folder as a Python package.
    Folder(u32),
    /// A list, tuple or dictionary literal: the expression.
    Collection(u32, u32),
    /// A container whose elements have the type of a type expression.
    Elements(u32, u32),
    /// A mapping type: the expression.
    Mapping(u32, u32),
    /// The entries of a mapping type.
    Pairs(u32, u32),
    /// One entry of a mapping type.
    Pair(u32, u32),
    /// The values of a dictionary literal, to be looped over.
    Entries(u32, u32),
    /// What a generator function yields, to be looped over.
    Yields(u32, u32),
    /// The receiver seen from its class's bases.
    Super(u32, u32),
    /// Something from outside the tree.
    Foreign,
    /// Something.
    Unknown,
}

/// The values of an expression: sorted, each once. Empty while it is being worked out.
pub type Set = Rc<[Val]>;

/// An expression that was not asked for yet, in `Values::memo`.
const EMPTY: u32 = 0;

/// An expression that is being worked out.
const BUSY: u32 = 1;

/// The first number of a set.
const DONE: u32 = 2;

/// A value that may still have to be worked out.
#[derive(Clone)]
pub enum Slot {
    /// Being worked out.
    Busy,
    /// Known.
    Done(Set),
}

/// The classes in which an attribute is looked up, and whether some base is not of this tree.
#[derive(Clone, Default)]
pub struct Order {
    /// Classes, the class itself first.
    pub classes: Rc<[(u32, u32)]>,
    /// A base is foreign.
    pub foreign: bool,
    /// A base is unknown.
    pub unknown: bool,
}

/// The evaluation of one world.
pub struct Values<'world, 'tree> {
    /// The facts.
    pub world: &'world World<'tree>,
    /// What each expression can be: `EMPTY`, `BUSY`, or `DONE` and the number of a set. Four bytes, because a tree has millions.
    memo: Vec<Vec<u32>>,
    /// All sets, each once, and their numbers.
    sets: Vec<Set>,
    numbers: Table<Set, u32>,
    /// What an instance of each type expression can be, once known.
    pub types: Table<(u32, u32), Slot>,
    /// What each attribute of each value can be, once known.
    pub members: Table<(Val, u32), Slot>,
    /// What each name of each module can be, once known; empty when the module does not have it.
    pub exports: Table<(u32, u32), Slot>,
    /// The classes that attributes are looked up in, `None` while being worked out.
    pub orders: Table<(u32, u32), Option<Order>>,
    /// How many evaluations are open.
    pub depth: u32,
    /// The set of only `Unknown`.
    pub unknown: Set,
    /// The tree-wide name `__enter__`.
    pub enter_name: Option<u32>,
    /// The tree-wide name `__call__`.
    pub call_name: Option<u32>,
}

impl<'world, 'tree> Values<'world, 'tree> {
    /// Nothing evaluated yet.
    pub fn new(world: &'world World<'tree>) -> Self {
        let memo = world
            .units
            .iter()
            .map(|unit| vec![EMPTY; unit.facts.expressions.len()])
            .collect();
        let foreign: Set = Rc::from([Val::Foreign]);
        let unknown: Set = Rc::from([Val::Unknown]);
        Self {
            sets: vec![Rc::clone(&foreign), Rc::clone(&unknown)],
            numbers: Table::default(),
            world,
            memo,
            types: Table::default(),
            members: Table::default(),
            exports: Table::default(),
            orders: Table::default(),
            depth: 0,
            unknown,
            enter_name: world.name("__enter__"),
            call_name: world.name("__call__"),
        }
    }

    fn slot(&mut self, file: u32, expression: u32) -> Option<&mut u32> {
        self.memo
            .get_mut(file as usize)?
            .get_mut(expression as usize)
    }

    /// What an expression of a file can be.
    pub fn of(&mut self, file: u32, expression: u32) -> Set {
        match self.slot(file, expression) {
            None => return Rc::clone(&self.unknown),
            Some(slot) if *slot == EMPTY => *slot = BUSY,
            Some(slot) => {
                let number = slot.checked_sub(DONE).map(|number| number as usize);
                let found = number.and_then(|number| self.sets.get(number));
                return found.map_or_else(|| Rc::from([]), Rc::clone);
            }
        }
        if self.depth >= MAX_DEPTH {
            if let Some(slot) = self.slot(file, expression) {
                *slot = EMPTY;
            }
            return Rc::clone(&self.unknown);
        }
        self.depth += 1;
        let mut out = Vec::new();
        self.evaluate(file, expression, &mut out);
        self.depth -= 1;
        let number = self.number(out);
        if let Some(slot) = self.slot(file, expression) {
            *slot = DONE + number;
        }
        Rc::clone(&self.sets[number as usize])
    }

    fn evaluate(&mut self, file: u32, index: u32, out: &mut Vec<Val>) {
        let unit = self.world.unit(file);
        let Some(&expression) = unit.facts.expressions.get(index as usize) else {
            return;
        };
        match expression {
            Expression::Unknown | Expression::Spread | Expression::Argument { .. } => {
                out.push(Val::Unknown);
            }
            Expression::Parameter { definition, index } => {
                self.parameter(file, definition, index, out);
            }
            Expression::MappingOf { .. } => out.push(Val::Mapping(file, index)),
            Expression::Each { of } => {
                for value in self.of(file, of).iter() {
                    self.each(*value, out);
                }
            }
            Expression::Literal | Expression::Text { .. } => out.push(Val::Foreign),
            Expression::Name { scope, name } => self.name(file, scope, name, out),
            Expression::Member { of, name } if self.is_module_exports(file, of, name) => {
                out.push(Val::Module(file));
            }
            Expression::Member { of, name } => {
                let name = unit.global(name);
                for value in self.of(file, of).iter() {
                    self.member(*value, name, out);
                }
            }
            Expression::Result { callee } => {
                let before = out.len();
                self.container_method(file, callee, out);
                if out.len() == before {
                    for value in self.of(file, callee).iter() {
                        self.result(*value, out);
                    }
                }
            }
            Expression::Definition { definition } => out.push(Val::Definition(file, definition)),
            Expression::This { scope } => out.push(self.receiver(file, scope, false)),
            Expression::Super { scope } => out.push(self.receiver(file, scope, true)),
            Expression::Imported { import, name } => self.imported(file, import, name, out),
            Expression::Module { import, whole } => self.module(file, import, whole, out),
            Expression::Instance { of } => out.extend(self.typed(file, of).iter()),
            Expression::Either { left, right } => {
                out.extend(self.of(file, left).iter());
                out.extend(self.of(file, right).iter());
            }
            Expression::Collection { .. } => out.push(Val::Collection(file, index)),
            Expression::Item { of, index } => {
                for value in self.of(file, of).iter() {
                    self.item(*value, index, out);
                }
            }
            Expression::Key { of, name } => {
                let global = unit.global(name);
                let text = unit.spelled(name);
                for value in self.of(file, of).iter() {
                    self.key(*value, global, text, out);
                }
            }
            Expression::TypeOf { of } | Expression::ValueOf { of } => {
                out.extend(self.of(file, of).iter());
            }
            Expression::Builtin { call, gives } => {
                let is_builtin = self.is_builtin_call(file, call);
                out.extend(self.of(file, if is_builtin { gives } else { call }).iter());
            }
            Expression::ContainerOf { of } => out.push(Val::Elements(file, of)),
            Expression::Entered { of } => {
                for value in self.of(file, of).iter() {
                    self.entered(*value, out);
                }
            }
        }
    }

    /// Values as a set.
    pub fn set(&mut self, values: Vec<Val>) -> Set {
        let number = self.number(values);
        Rc::clone(&self.sets[number as usize])
    }

    /// The number of the set of some values.
    fn number(&mut self, mut values: Vec<Val>) -> u32 {
        match values.as_slice() {
            [Val::Foreign] => return 0,
            [Val::Unknown] => return 1,
            _ => {}
        }
        values.sort_unstable();
        values.dedup();
        values.truncate(MAX_VALUES);
        if let Some(known) = self.numbers.get(values.as_slice()) {
            return *known;
        }
        let set: Set = values.into();
        let number = self.sets.len() as u32;
        self.sets.push(Rc::clone(&set));
        self.numbers.insert(set, number);
        number
    }

    /// Is this `module.exports`, and `module` no variable of the file?
    fn is_module_exports(&self, file: u32, of: u32, name: u32) -> bool {
        let unit = self.world.unit(file);
        match unit.facts.expressions.get(of as usize) {
            Some(&Expression::Name {
                scope,
                name: object,
            }) => {
                unit.spelled(name) == "exports"
                    && unit.spelled(object) == "module"
                    && unit.language != Language::Python
                    && unit.binding_scope(scope, object).is_none()
            }
            _ => false,
        }
    }

    /// What an instance of a type expression can be.
    pub fn typed(&mut self, file: u32, expression: u32) -> Set {
        match self.types.get(&(file, expression)) {
            Some(Slot::Done(found)) => return Rc::clone(found),
            Some(Slot::Busy) => return Rc::from([]),
            _ if self.depth >= MAX_DEPTH => return Rc::clone(&self.unknown),
            _ => {}
        }
        self.types.insert((file, expression), Slot::Busy);
        self.depth += 1;
        let mut out = Vec::new();
        match self
            .world
            .unit(file)
            .facts
            .expressions
            .get(expression as usize)
        {
            Some(&Expression::Either { left, right }) => {
                out.extend(self.typed(file, left).iter());
                out.extend(self.typed(file, right).iter());
            }
            Some(&Expression::TypeOf { of }) => {
                out.extend(self.of(file, of).iter().map(|value| match *value {
                    Val::Definition(at, definition)
                        if self.world.unit(at).kind(definition) != DefinitionKind::Object =>
                    {
                        Val::Like(at, definition)
                    }
                    other => other,
                }));
            }
            Some(&Expression::Instance { of }) => out.extend(self.typed(file, of).iter()),
            Some(&Expression::ValueOf { of }) => out.extend(self.of(file, of).iter()),
            _ => {
                for value in self.whole(file, expression) {
                    out.push(match value {
                        Val::Definition(at, class) => match self.world.unit(at).kind(class) {
                            DefinitionKind::Class => Val::Instance(at, class),
                            DefinitionKind::Object => value,
                            DefinitionKind::Function
                                if self.world.unit(at).flags(class) & flag::TYPE != 0 =>
                            {
                                value
                            }
                            DefinitionKind::Function => Val::Unknown,
                        },
                        Val::Module(_) | Val::Folder(_) => Val::Unknown,
                        other => other,
                    });
                }
            }
        }
        self.depth -= 1;
        let set = self.set(out);
        self.types
            .insert((file, expression), Slot::Done(Rc::clone(&set)));
        set
    }
}
