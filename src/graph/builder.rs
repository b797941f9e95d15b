//! The common half of every language module: open nodes, the values of their children, scopes, and the facts being written.
//!
//! A walk enters and leaves nodes. Each node, when left, replaces the values of its children by one of its own, so that syntax of any
//! depth is read with one flat stack. Never recurses and never looks at another file.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::graph::facts::{
    Argument, Binding, Call, Definition, DefinitionKind, Expression, Facts, Import, ImportForm,
    NONE, Parameter, Scope, ScopeKind, flag,
};
use crate::graph::hash::{Interner, Table};
use crate::graph::syntax::{Field, Kind};

/// The longest text of an annotation or a default that is kept, in bytes.
const MAX_TEXT: usize = 400;

/// How deep definitions with names of their own may be nested: the sum of qualified names grows with the square of it.
const MAX_NESTING: usize = 32;

/// How many values of one name or attribute are kept: what is set more often than that can be anything.
const MAX_VALUES: u32 = 32;

/// What a node that was left stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing that matters.
    Nothing,
    /// A name that is either read or bound; its parent knows.
    Name(u32),
    /// A value.
    Expression(u32),
    /// `targets[first..last]`: names bound by a pattern.
    Targets(u32, u32),
    /// `arguments[first..last]` of the facts.
    Arguments(u32, u32),
    /// One parameter, in `parameters`.
    Parameter(u32),
    /// A whole parameter list, in `parameter_lists`.
    Parameters(u32),
    /// A text without quotes (`names`).
    Text(u32),
}

/// The value of a node that was left.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The node's kind.
    pub kind: Kind,
    /// Its field in the parent.
    pub field: Field,
    /// What it stands for.
    pub what: What,
    /// Its bytes.
    pub bytes: (usize, usize),
}

/// A node that is open.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its kind.
    pub kind: Kind,
    /// Its field in the parent.
    pub field: Field,
    /// Where its children's values begin.
    pub first: usize,
    /// Its bytes.
    pub bytes: (usize, usize),
    /// Its first line, from 1.
    pub line: u32,
    /// The definition it opened, else `NONE`.
    pub definition: u32,
    /// Does it close a scope when left?
    pub scope: bool,
    /// Does it end the text of its definition when left (the definition is a caller)?
    pub caller: bool,
    /// Does it end a region of types?
    pub typed: bool,
}

/// A name, attribute or element that a pattern binds.
#[derive(Clone, Debug)]
pub struct Target {
    /// What is bound.
    pub to: TargetTo,
    /// How it is reached from the value that is taken apart.
    pub path: Vec<Part>,
}

/// What a target binds.
#[derive(Clone, Copy, Debug)]
pub enum TargetTo {
    /// A name in a scope.
    Name(u32),
    /// An attribute or element: the expression that names it.
    Place(u32),
}

/// One step into a value that is taken apart.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The attribute of this name.
    Member(u32),
    /// The element at this place; `NONE`: any.
    Item(u32),
    /// The rest: nothing is known.
    Rest,
}

/// A parameter while its function is open.
#[derive(Clone, Copy, Debug)]
pub struct ParameterFacts {
    /// Its name or pattern.
    pub target: What,
    /// Its default or `NONE`.
    pub default: u32,
    /// What stays of it.
    pub plain: Parameter,
}

/// The facts of one blob being written.
pub struct Builder<'source> {
    /// The blob.
    pub source: &'source [u8],
    /// What is written.
    pub facts: Facts,
    names: Interner,
    /// Open nodes, outermost first.
    pub frames: Vec<Frame>,
    /// Values of nodes that were left and whose parent is open.
    pub values: Vec<Value>,
    /// Open scopes.
    pub scopes: Vec<u32>,
    /// Open definitions that calls are attributed to.
    pub callers: Vec<u32>,
    /// Targets of patterns.
    pub targets: Vec<Target>,
    /// Single parameters.
    pub parameters: Vec<ParameterFacts>,
    /// Parameter lists.
    pub parameter_lists: Vec<Vec<u32>>,
    /// `global` and `nonlocal`: where a name of a scope is really bound.
    pub redirects: BTreeMap<(u32, u32), u32>,
    /// For each bound name of a scope how often it was bound and its last value.
    pub bound: Table<(u32, u32), (u32, u32)>,
    /// Assignments to names declared elsewhere: scope, name, value.
    pub assigned: Vec<(u32, u32, u32)>,
    /// How many regions of types are open.
    pub typed: u32,
}

impl<'source> Builder<'source> {
    /// Empty facts with the top-level scope open.
    pub fn new(source: &'source [u8]) -> Self {
        let mut builder = Self {
            source,
            facts: Facts::default(),
            names: Interner::default(),
            frames: Vec::with_capacity(64),
            values: Vec::with_capacity(256),
            scopes: Vec::new(),
            callers: Vec::new(),
            targets: Vec::new(),
            parameters: Vec::new(),
            parameter_lists: Vec::new(),
            redirects: BTreeMap::new(),
            bound: Table::default(),
            assigned: Vec::new(),
            typed: 0,
        };
        builder.open_scope(ScopeKind::Module, NONE);
        builder
    }

    /// The text of some bytes of the blob, made valid UTF-8.
    pub fn text(&self, bytes: (usize, usize)) -> std::borrow::Cow<'source, str> {
        String::from_utf8_lossy(self.source.get(bytes.0..bytes.1).unwrap_or_default())
    }

    /// The index of a name.
    pub fn name(&mut self, text: &str) -> u32 {
        let names = &self.facts.names;
        match self.names.index(text, |index| names.get(index)) {
            Ok(known) => known,
            Err(new) => {
                self.facts.names.push(text);
                new
            }
        }
    }

    /// The index of the text of some bytes.
    pub fn name_at(&mut self, bytes: (usize, usize)) -> u32 {
        let text = self.text(bytes);
        self.name(&text)
    }

    /// The text of a name.
    pub fn spelled(&self, name: u32) -> &str {
        self.facts.names.get(name)
    }

    /// The first bytes of some bytes: enough to look at how they begin, whatever is nested in them.
    pub fn head(&self, bytes: (usize, usize), len: usize) -> std::borrow::Cow<'source, str> {
        self.text((bytes.0, bytes.1.min(bytes.0 + len)))
    }

    /// The last bytes of some bytes.
    pub fn tail(&self, bytes: (usize, usize), len: usize) -> std::borrow::Cow<'source, str> {
        self.text((bytes.0.max(bytes.1.saturating_sub(len)), bytes.1))
    }

    /// Some bytes as one line with single spaces, cut at `MAX_TEXT`.
    pub fn flat_text(&mut self, bytes: (usize, usize)) -> u32 {
        // Several times the limit, for white space; all of it would take long where defaults are nested in defaults.
        let text = self.head(bytes, 4 * MAX_TEXT);
        let mut flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if flat.len() > MAX_TEXT {
            let cut = (0..=MAX_TEXT)
                .rev()
                .find(|&at| flat.is_char_boundary(at))
                .unwrap_or(0);
            flat.truncate(cut);
        }
        self.name(&flat)
    }

    /// The innermost open scope.
    pub fn scope(&self) -> u32 {
        self.scopes.last().copied().unwrap_or(0)
    }

    /// The innermost open definition, `NONE` at the top level.
    pub fn caller(&self) -> u32 {
        self.callers.last().copied().unwrap_or(NONE)
    }

    /// Are so many named definitions open that one more would get too long a name? It is then part of the innermost one.
    pub fn is_deep(&self) -> bool {
        self.callers.len() >= MAX_NESTING
    }

    /// The kind of a scope.
    pub fn scope_kind(&self, scope: u32) -> ScopeKind {
        self.facts
            .scopes
            .get(scope as usize)
            .map_or(ScopeKind::Module, |scope| scope.kind)
    }

    /// Open a scope inside the innermost one.
    pub fn open_scope(&mut self, kind: ScopeKind, definition: u32) -> u32 {
        let parent = self.scopes.last().copied().unwrap_or(NONE);
        let scope = self.facts.scopes.len() as u32;
        self.facts.scopes.push(Scope {
            parent,
            kind,
            definition,
        });
        self.scopes.push(scope);
        scope
    }

    /// Write an expression.
    pub fn expression(&mut self, expression: Expression) -> u32 {
        self.facts.expressions.push(expression);
        self.facts.expressions.len() as u32 - 1
    }

    /// The expression at an index.
    pub fn expression_at(&self, index: u32) -> Expression {
        self.facts
            .expressions
            .get(index as usize)
            .copied()
            .unwrap_or(Expression::Unknown)
    }

    /// The value of a node as an expression, read in the innermost scope.
    pub fn read(&mut self, what: What) -> u32 {
        match what {
            What::Name(name) => {
                let scope = self.scope();
                self.expression(Expression::Name { scope, name })
            }
            What::Expression(index) => index,
            What::Text(text) => self.expression(Expression::Text { text }),
            _ => self.expression(Expression::Unknown),
        }
    }

    /// One of several values; `None` without any.
    pub fn either(&mut self, values: &[u32]) -> Option<u32> {
        let (&first, rest) = values.split_first()?;
        Some(rest.iter().fold(first, |left, &right| {
            self.expression(Expression::Either { left, right })
        }))
    }

    /// The values of a frame's children.
    pub fn children(&self, frame: &Frame) -> Vec<Value> {
        self.values.get(frame.first..).unwrap_or_default().to_vec()
    }

    /// The first child in a field.
    pub fn child(&self, frame: &Frame, field: Field) -> Option<Value> {
        self.values
            .get(frame.first..)
            .unwrap_or_default()
            .iter()
            .find(|value| value.field == field)
            .copied()
    }

    /// The first child of a kind.
    pub fn child_of_kind(&self, frame: &Frame, kind: Kind) -> Option<Value> {
        self.values
            .get(frame.first..)
            .unwrap_or_default()
            .iter()
            .find(|value| value.kind == kind)
            .copied()
    }

    /// The first child.
    pub fn first_child(&self, frame: &Frame) -> Option<Value> {
        self.values.get(frame.first).copied()
    }

    /// The frame `up` levels above the innermost.
    pub fn ancestor(&self, up: usize) -> Option<&Frame> {
        self.frames
            .len()
            .checked_sub(up + 1)
            .and_then(|at| self.frames.get(at))
    }

    /// Write what an open function returns, by the scope that the statement stands in.
    pub fn returned(&mut self, value: u32) {
        let mut scope = self.scope();
        while let Some(found) = self.facts.scopes.get(scope as usize).copied() {
            if matches!(found.kind, ScopeKind::Function | ScopeKind::Arrow)
                && found.definition != NONE
            {
                let mut expected = NONE;
                if let Some(definition) = self.definition(found.definition) {
                    definition.returns.push(value);
                    expected = definition.return_type;
                }
                if expected != NONE {
                    self.set_context(value, expected);
                }
                return;
            }
            scope = found.parent;
        }
    }

    /// The class or object that the receiver of a scope belongs to, else `NONE`.
    pub fn receiver_of(&self, mut scope: u32) -> u32 {
        while let Some(found) = self.facts.scopes.get(scope as usize) {
            match found.kind {
                ScopeKind::Class => return found.definition,
                ScopeKind::Function => {
                    return self
                        .facts
                        .definitions
                        .get(found.definition as usize)
                        .map_or(NONE, |found| found.owner);
                }
                _ => scope = found.parent,
            }
        }
        NONE
    }

    /// Begin a definition; its parent is the innermost open one.
    pub fn define(
        &mut self,
        kind: DefinitionKind,
        name: u32,
        owner: u32,
        lines: (u32, u32),
        flags: u32,
    ) -> u32 {
        let parent = self.caller();
        self.facts.definitions.push(Definition {
            name,
            kind,
            parent,
            owner,
            lines,
            parameters: Vec::new(),
            context: NONE,
            return_text: NONE,
            return_type: NONE,
            returns: Vec::new(),
            bases: Vec::new(),
            flags,
        });
        self.facts.definitions.len() as u32 - 1
    }

    /// A definition that was begun.
    pub fn definition(&mut self, index: u32) -> Option<&mut Definition> {
        self.facts.definitions.get_mut(index as usize)
    }

    /// Write what an open generator yields, by the scope that the expression stands in.
    pub fn yielded(&mut self, value: u32) {
        let mut scope = self.scope();
        while let Some(found) = self.facts.scopes.get(scope as usize).copied() {
            if found.kind == ScopeKind::Function {
                if let Some(definition) = self.definition(found.definition) {
                    definition.flags |= flag::GENERATOR;
                    definition.returns.push(value);
                }
                return;
            }
            scope = found.parent;
        }
    }

    /// Write an import.
    pub fn import(
        &mut self,
        module: u32,
        level: u32,
        names: Vec<u32>,
        star: bool,
        form: ImportForm,
        line: u32,
    ) -> u32 {
        let scope = self.scope();
        self.facts.imports.push(Import {
            module,
            level,
            names,
            star,
            scope,
            form,
            line,
        });
        self.facts.imports.len() as u32 - 1
    }

    /// Write a call site; gives what the call results in.
    pub fn call(&mut self, callee: u32, arguments: What, line: u32) -> u32 {
        let (first, last) = match arguments {
            What::Arguments(first, last) => (first, last),
            _ => (0, 0),
        };
        let name = match self.expression_at(callee) {
            Expression::Name { name, .. } | Expression::Member { name, .. } => name,
            _ => self.name(""),
        };
        let caller = self.caller();
        self.facts.calls.push(Call {
            callee,
            caller,
            first,
            last,
            line,
            name,
        });
        self.expression(Expression::Result { callee })
    }

    /// Write arguments or items one after the other.
    pub fn arguments(&mut self, list: &[Argument]) -> (u32, u32) {
        let first = self.facts.arguments.len() as u32;
        self.facts.arguments.extend_from_slice(list);
        (first, self.facts.arguments.len() as u32)
    }

    /// Open a node.
    pub fn enter(&mut self, kind: Kind, field: Field, bytes: (usize, usize), line: u32) {
        let first = self.values.len();
        self.frames.push(Frame {
            kind,
            field,
            first,
            bytes,
            line,
            definition: NONE,
            scope: false,
            caller: false,
            typed: false,
        });
    }

    /// Close the innermost node; `what` is what it stands for.
    pub fn leave(&mut self, what: What) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if frame.scope {
            self.scopes.pop();
        }
        if frame.caller {
            self.callers.pop();
        }
        if frame.typed {
            self.typed -= 1;
        }
        self.values.truncate(frame.first);
        self.values.push(Value {
            kind: frame.kind,
            field: frame.field,
            what,
            bytes: frame.bytes,
        });
    }

    /// The facts, with the sorted columns sorted.
    pub fn finish(mut self) -> Facts {
        for (mut scope, name, value) in std::mem::take(&mut self.assigned) {
            while scope != NONE && !self.bound.contains_key(&(scope, name)) {
                scope = self
                    .facts
                    .scopes
                    .get(scope as usize)
                    .map_or(NONE, |found| found.parent);
            }
            if scope != NONE {
                self.facts.bindings.push(Binding { scope, name, value });
            }
        }
        self.facts
            .bindings
            .sort_by_key(|found| (found.scope, found.name));
        keep_first(&mut self.facts.bindings, |found| (found.scope, found.name));
        self.facts
            .members
            .sort_by_key(|found| (found.owner, found.name));
        keep_first(&mut self.facts.members, |found| (found.owner, found.name));
        let names = &self.facts.names;
        self.facts
            .exports
            .sort_by(|a, b| names.get(a.name).cmp(names.get(b.name)));
        self.facts
    }
}

/// Keep the first `MAX_VALUES` of each run of equal keys.
fn keep_first<T>(sorted: &mut Vec<T>, key: impl Fn(&T) -> (u32, u32)) {
    let mut last = None;
    let mut count = 0;
    sorted.retain(|found| {
        count = if last == Some(key(found)) {
            count + 1
        } else {
            1
        };
        last = Some(key(found));
        count <= MAX_VALUES
    });
}

/// The bytes of a node.
pub fn bytes(node: Node<'_>) -> (usize, usize) {
    (node.start_byte(), node.end_byte())
}

/// The first line of a node, from 1.
pub fn line(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// The last line of a node, from 1.
pub fn last_line(node: Node<'_>) -> u32 {
    node.end_position().row as u32 + 1
}
