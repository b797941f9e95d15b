//! What is open while JavaScript or TypeScript is read: definitions and scopes begin here.
//!
//! In: nodes being entered. Out: definitions, their names by where they stand, and the scopes of their bodies, in the facts. Never looks
//! at values: those are in `js_values.rs` and `js_names.rs`.

use tree_sitter::Node;

use crate::graph::builder::{Builder, Frame, What, bytes, last_line, line};
use crate::graph::esm::Modules;
use crate::graph::facts::{
    DefinitionKind, Expression, Member, NONE, ParameterKind, ScopeKind, flag,
};
use crate::graph::jsdoc::Docs;
use crate::graph::syntax::{Field, Kind};

/// The longest property name that makes a node of the graph, in bytes.
pub const MAX_NAME: usize = 100;

/// The facts of one blob being written.
pub struct Script<'source> {
    /// The facts.
    pub b: Builder<'source>,
    /// The import or export statement that is open.
    pub modules: Modules,
    /// Comments with types.
    pub docs: Docs,
}

/// Is this a node that opens a function?
pub fn is_function(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::FunctionDeclaration | Kind::FunctionExpression | Kind::Arrow | Kind::MethodDefinition
    )
}

/// Is this a node that opens a class?
pub fn is_class(kind: Kind) -> bool {
    matches!(kind, Kind::ClassDeclaration | Kind::ClassExpression)
}

impl Script<'_> {
    /// Change the innermost open node.
    pub fn mark(&mut self, set: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.b.frames.last_mut() {
            set(frame);
        }
    }

    /// Open the scope of a block that the innermost node is.
    pub fn open_block(&mut self) {
        self.b.open_scope(ScopeKind::Block, NONE);
        self.mark(|frame| frame.scope = true);
    }

    /// Open the scope of the body of the innermost open function, class or namespace. False when the body opens none.
    pub fn open_body(&mut self) -> bool {
        let Some(parent) = self.b.frames.last().copied() else {
            return false;
        };
        if is_class(parent.kind) {
            self.set_bases(&parent);
            self.b.open_scope(ScopeKind::Class, parent.definition);
            return true;
        }
        match parent.kind {
            Kind::InterfaceDeclaration => self.set_bases(&parent),
            Kind::InternalModule => {
                self.b.open_scope(ScopeKind::Module, parent.definition);
                return true;
            }
            kind if is_function(kind) => {
                let kind = if kind == Kind::Arrow {
                    ScopeKind::Arrow
                } else {
                    ScopeKind::Function
                };
                let scope = self.b.open_scope(kind, parent.definition);
                let list = self.signature(&parent);
                self.b
                    .bind_parameters(scope, parent.definition, &list, None);
                self.parameter_fields(parent.definition, &list);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Set the return annotation of an open function; gives its parameters.
    pub fn signature(&mut self, function: &Frame) -> Vec<u32> {
        if let Some(annotation) = self.b.child(function, Field::ReturnType) {
            let text = self.b.flat_text(annotation.bytes);
            let value = self.b.read(annotation.what);
            if let Some(definition) = self.b.definition(function.definition) {
                (definition.return_text, definition.return_type) = (text, value);
            }
        }
        let single = self.b.child(function, Field::Parameter);
        let list = self.b.child(function, Field::Parameters);
        let list = match (single, list.map(|value| value.what)) {
            (Some(single), _) => {
                let kind = ParameterKind::Positional;
                vec![self.b.parameter(single, kind, None, None)]
            }
            (None, Some(What::Parameters(at))) => {
                let found = self.b.parameter_lists.get(at as usize);
                found.cloned().unwrap_or_default()
            }
            _ => Vec::new(),
        };
        self.docs.annotate(&mut self.b, function.definition, &list);
        list
    }

    /// `constructor(private store: Store)` declares a field.
    pub fn parameter_fields(&mut self, definition: u32, list: &[u32]) {
        let owner = self
            .b
            .definition(definition)
            .map_or(NONE, |found| found.owner);
        for &at in list {
            let Some(found) = self.b.parameters.get(at as usize).copied() else {
                continue;
            };
            let What::Name(name) = found.target else {
                continue;
            };
            let text = self.b.spelled(found.plain.name);
            let first = text.split(' ').next().unwrap_or_default();
            if owner != NONE
                && matches!(first, "private" | "public" | "protected" | "readonly")
                && text != first
            {
                let value = match found.plain.of {
                    NONE => self.b.expression(Expression::Unknown),
                    of => self.b.expression(Expression::Instance { of }),
                };
                self.b.facts.members.push(Member {
                    owner,
                    name,
                    value,
                    fixed: false,
                });
            }
        }
    }

    /// Write the bases of an open class or interface.
    pub fn set_bases(&mut self, class: &Frame) {
        let mut bases = Vec::new();
        for child in self.b.children(class) {
            if let (Kind::ClassHeritage | Kind::ExtendsClause, What::Arguments(first, last)) =
                (child.kind, child.what)
            {
                let list = self
                    .b
                    .facts
                    .arguments
                    .get(first as usize..last as usize)
                    .unwrap_or_default();
                bases.extend(list.iter().map(|argument| argument.value));
            }
        }
        if let Some(definition) = self.b.definition(class.definition) {
            definition.bases = bases;
        }
    }

    /// Begin a definition; with a name it is what calls in it are attributed to.
    pub fn open_definition(
        &mut self,
        node: Node<'_>,
        kind: DefinitionKind,
        name: u32,
        owner: u32,
        flags: u32,
    ) -> u32 {
        let name = if self.b.is_deep() { NONE } else { name };
        let definition = self
            .b
            .define(kind, name, owner, (line(node), last_line(node)), flags);
        if name != NONE {
            self.b.callers.push(definition);
        }
        self.mark(|frame| (frame.definition, frame.caller) = (definition, name != NONE));
        if kind == DefinitionKind::Function {
            self.docs.open(&self.b, node.start_byte(), definition);
        }
        definition
    }

    /// The words before the name of a method or function, as flags.
    pub fn modifiers(&self, node: Node<'_>, end: usize) -> u32 {
        let text = self.b.text((node.start_byte(), end));
        text.split_whitespace().fold(0, |flags, word| {
            flags
                | match word.trim_end_matches('*') {
                    "static" => flag::STATIC,
                    "async" => flag::ASYNC,
                    "get" => flag::PROPERTY,
                    "set" => flag::SETTER,
                    _ => 0,
                }
        })
    }

    /// A function declaration begins: binds its name.
    pub fn begin_function(&mut self, node: Node<'_>) {
        let named = node.child_by_field_name("name");
        let name = match named {
            Some(name) => self.b.name_at(bytes(name)),
            None => self.b.name("default"),
        };
        let mut flags = self.modifiers(
            node,
            named.map_or(node.start_byte(), |name| name.start_byte()),
        );
        if self
            .b
            .frames
            .last()
            .is_some_and(|frame| frame.kind == Kind::FunctionSignature)
        {
            flags |= flag::SIGNATURE;
        }
        let scope = self.b.scope();
        let definition = self.open_definition(node, DefinitionKind::Function, name, NONE, flags);
        let value = self.b.expression(Expression::Definition { definition });
        self.b.bind_in(scope, name, value);
    }

    /// A class, interface, enum or namespace begins: binds its name.
    pub fn begin_class(&mut self, node: Node<'_>, kind: Kind) {
        let (kind, flags) = match kind {
            Kind::InterfaceDeclaration => (DefinitionKind::Class, flag::TYPE),
            Kind::InternalModule => (DefinitionKind::Object, 0),
            _ => (DefinitionKind::Class, 0),
        };
        let name = match node.child_by_field_name("name") {
            // `declare module 'x'` describes another module: its names are not ours.
            Some(name) if name.kind() == "string" => NONE,
            Some(name) => self.b.name_at(bytes(name)),
            None => self.b.name("default"),
        };
        let scope = self.b.scope();
        let definition = self.open_definition(node, kind, name, NONE, flags);
        if name != NONE {
            let value = self.b.expression(Expression::Definition { definition });
            self.b.bind_in(scope, name, value);
        }
    }

    /// A method or its signature begins.
    pub fn begin_method(&mut self, node: Node<'_>) {
        let owner = self.owner();
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let mut flags = self.modifiers(node, name.start_byte());
        if !self
            .b
            .frames
            .last()
            .is_some_and(|frame| frame.kind == Kind::MethodDefinition)
        {
            flags |= flag::SIGNATURE;
        }
        let name = self.property(bytes(name));
        self.open_definition(node, DefinitionKind::Function, name, owner, flags);
    }

    /// The class or object whose body the innermost node stands in.
    pub fn owner(&self) -> u32 {
        (1..4)
            .filter_map(|up| self.b.ancestor(up))
            .find(|frame| frame.definition != NONE || is_function(frame.kind))
            .map_or(NONE, |frame| frame.definition)
    }

    /// The name of a property as written; `NONE` when it can be no part of a node's name.
    pub fn property(&mut self, bytes: (usize, usize)) -> u32 {
        if bytes.1 - bytes.0 > MAX_NAME + 2 {
            return NONE;
        }
        let text = self.b.text(bytes);
        let text = text.trim_matches(|c| matches!(c, '"' | '\''));
        let unfit = |c: char| c.is_whitespace() || c.is_control();
        if text.is_empty() || text.len() > MAX_NAME || text.contains(unfit) || text.contains("::") {
            return NONE;
        }
        self.b.name(text)
    }

    /// A function, class or object that is a value: named by what it is the value of.
    pub fn begin_value(&mut self, node: Node<'_>, kind: DefinitionKind) {
        let (name, owner) = self.named_by(kind);
        let mut flags = 0;
        if kind == DefinitionKind::Function && self.b.head(bytes(node), 6).starts_with("async") {
            flags |= flag::ASYNC;
        }
        let definition = self.open_definition(node, kind, name, owner, flags);
        // `const f = function g() {}`: `g` is seen inside only, which the scope of its body stands for.
        if let (Some(own), true) = (
            node.child_by_field_name("name"),
            kind != DefinitionKind::Object,
        ) {
            let own = self.b.name_at(bytes(own));
            let scope = self.b.open_scope(ScopeKind::Block, NONE);
            let value = self.b.expression(Expression::Definition { definition });
            self.b.bind_in(scope, own, value);
            self.mark(|frame| frame.scope = true);
        }
    }

    /// The name and the owner that the place of the innermost node gives to its value.
    pub fn named_by(&mut self, kind: DefinitionKind) -> (u32, u32) {
        let mut up = 0;
        let wrapper = |kind| {
            matches!(
                kind,
                Kind::Parenthesized | Kind::As | Kind::Satisfies | Kind::NonNull | Kind::Assertion
            )
        };
        while self
            .b
            .ancestor(up + 1)
            .is_some_and(|frame| wrapper(frame.kind))
        {
            up += 1;
        }
        let (Some(value), Some(parent)) = (
            self.b.ancestor(up).copied(),
            self.b.ancestor(up + 1).copied(),
        ) else {
            return (NONE, NONE);
        };
        match parent.kind {
            Kind::VariableDeclarator if value.field == Field::Value => {
                match self.b.child(&parent, Field::Name).map(|name| name.what) {
                    Some(What::Name(name)) => (name, NONE),
                    _ => (NONE, NONE),
                }
            }
            Kind::Pair if value.field == Field::Value && kind != DefinitionKind::Class => {
                let name = self
                    .b
                    .child(&parent, Field::Key)
                    .map_or(NONE, |key| self.property(key.bytes));
                (
                    name,
                    self.b
                        .ancestor(up + 2)
                        .map_or(NONE, |object| object.definition),
                )
            }
            Kind::Field if value.field == Field::Value && kind == DefinitionKind::Function => {
                let key = self
                    .b
                    .child(&parent, Field::Name)
                    .or_else(|| self.b.child(&parent, Field::Property));
                let name = key.map_or(NONE, |key| self.property(key.bytes));
                (
                    name,
                    self.b
                        .ancestor(up + 3)
                        .map_or(NONE, |class| class.definition),
                )
            }
            Kind::ExportStatement
                if value.field == Field::Value && kind == DefinitionKind::Function =>
            {
                (self.b.name("default"), NONE)
            }
            _ => (NONE, NONE),
        }
    }

    /// An object type outside an interface: its properties have types, but it is no node.
    pub fn begin_type(&mut self, node: Node<'_>, kind: DefinitionKind, flags: u32) {
        if kind == DefinitionKind::Object
            && self
                .b
                .ancestor(1)
                .is_some_and(|parent| parent.kind == Kind::InterfaceDeclaration)
        {
            return;
        }
        self.open_definition(node, kind, NONE, NONE, flags);
    }
}
