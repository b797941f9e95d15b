//! Python syntax to facts.
//!
//! In: the bytes and the syntax tree of one blob. Out: `Facts`. Every way of binding a name is recorded, also where the value is
//! unknown, because a bound name must never be looked up further out. Never resolves anything.

use tree_sitter::{Node, Tree};

use crate::graph::builder::{Builder, Frame, What, bytes, last_line, line};
use crate::graph::facts::{DefinitionKind, Expression, Facts, Language, NONE, ScopeKind, flag};
use crate::graph::python_values::Python;
use crate::graph::syntax::{Field, Kind, Step, Walk};

/// The facts of a Python blob.
pub fn extract(tree: &Tree, source: &[u8]) -> Facts {
    let mut python = Python {
        b: Builder::new(source),
    };
    let Some(walk) = Walk::new(tree, Language::Python) else {
        return Facts::default();
    };
    for step in walk {
        match step {
            Step::Enter(kind, field, node) => python.enter(kind, field, node),
            Step::Comment(_) => {}
            Step::Leave => python.leave(),
        }
    }
    python.b.facts.module = true;
    python.b.finish()
}

impl Python<'_> {
    fn enter(&mut self, kind: Kind, field: Field, node: Node<'_>) {
        if field == Field::Body {
            self.open_body(kind, field, node);
        } else {
            self.b.enter(kind, field, bytes(node), line(node));
        }
        match kind {
            Kind::FunctionDefinition => self.begin(node, DefinitionKind::Function),
            Kind::ClassDefinition => self.begin(node, DefinitionKind::Class),
            Kind::Comprehension => {
                self.b.open_scope(ScopeKind::Arrow, NONE);
                self.mark(|frame| frame.scope = true);
            }
            Kind::Type => {
                self.b.typed += 1;
                self.mark(|frame| frame.typed = true);
            }
            _ => {}
        }
    }

    fn mark(&mut self, set: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.b.frames.last_mut() {
            set(frame);
        }
    }

    /// Open the scope of a body before the node that is the body.
    fn open_body(&mut self, kind: Kind, field: Field, node: Node<'_>) {
        let parent = self.b.frames.last().copied();
        let Some(parent) = parent.filter(|parent| {
            matches!(
                parent.kind,
                Kind::FunctionDefinition | Kind::ClassDefinition | Kind::Lambda
            )
        }) else {
            return self.b.enter(kind, field, bytes(node), line(node));
        };
        let list = match self
            .b
            .child(&parent, Field::Parameters)
            .map(|value| value.what)
        {
            Some(What::Parameters(at)) => self
                .b
                .parameter_lists
                .get(at as usize)
                .cloned()
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        if let Some(annotation) = self.b.child(&parent, Field::ReturnType) {
            let text = self.b.flat_text(annotation.bytes);
            let value = self.b.read(annotation.what);
            if let Some(definition) = self.b.definition(parent.definition) {
                (definition.return_text, definition.return_type) = (text, value);
            }
        }
        if parent.kind == Kind::ClassDefinition {
            self.begin_bases(&parent);
            self.b.open_scope(ScopeKind::Class, parent.definition);
        } else {
            let kind = if parent.kind == Kind::Lambda {
                ScopeKind::Arrow
            } else {
                ScopeKind::Function
            };
            let scope = self.b.open_scope(kind, parent.definition);
            let receiver = self.receiver(&parent, scope);
            self.b
                .bind_parameters(scope, parent.definition, &list, receiver);
        }
        self.b.enter(kind, field, bytes(node), line(node));
        self.mark(|frame| frame.scope = true);
    }

    /// What the first parameter of a method is.
    fn receiver(&mut self, function: &Frame, scope: u32) -> Option<u32> {
        let (owner, flags) = self
            .b
            .definition(function.definition)
            .map(|found| (found.owner, found.flags))?;
        if owner == NONE || flags & flag::STATIC != 0 {
            return None;
        }
        Some(if flags & flag::CLASS_METHOD != 0 {
            self.b
                .expression(Expression::Definition { definition: owner })
        } else {
            self.b.expression(Expression::This { scope })
        })
    }

    fn begin_bases(&mut self, class: &Frame) {
        let Some(What::Arguments(first, last)) = self
            .b
            .child(class, Field::Superclasses)
            .map(|value| value.what)
        else {
            return;
        };
        let bases: Vec<u32> = (first..last)
            .filter_map(|at| self.b.facts.arguments.get(at as usize))
            .filter(|argument| argument.name == NONE)
            .map(|argument| match self.b.expression_at(argument.value) {
                // `Base[T]`: the base without its type arguments.
                Expression::Item { of, .. } | Expression::Key { of, .. } => of,
                _ => argument.value,
            })
            .collect();
        if let Some(definition) = self.b.definition(class.definition) {
            definition.bases = bases;
        }
    }

    fn begin(&mut self, node: Node<'_>, kind: DefinitionKind) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let name = self.b.name_at(bytes(name));
        let scope = self.b.scope();
        let owner = match self.b.facts.scopes.get(scope as usize) {
            Some(found) if found.kind == ScopeKind::Class => found.definition,
            _ => NONE,
        };
        let mut flags = self.decorators();
        let text = self.b.head(bytes(node), 6);
        if kind == DefinitionKind::Function && text.starts_with("async") {
            flags |= flag::ASYNC;
        }
        if owner != NONE
            && matches!(
                self.b.spelled(name),
                "__new__" | "__init_subclass__" | "__class_getitem__"
            )
        {
            flags |= flag::CLASS_METHOD;
        }
        let lines = (line(node), last_line(node));
        let deep = self.b.is_deep();
        let own = if deep { NONE } else { name };
        let definition = self.b.define(kind, own, owner, lines, flags);
        let value = self.b.expression(Expression::Definition { definition });
        self.b.bind_in(scope, name, value);
        if !deep {
            self.b.callers.push(definition);
        }
        self.mark(|frame| (frame.definition, frame.caller) = (definition, !deep));
    }

    fn decorators(&self) -> u32 {
        let Some(parent) = self
            .b
            .ancestor(1)
            .filter(|parent| parent.kind == Kind::Decorated)
        else {
            return 0;
        };
        let mut flags = 0;
        for value in self
            .b
            .children(parent)
            .iter()
            .filter(|value| value.kind == Kind::Decorator)
        {
            let text = self.b.head(value.bytes, 80);
            let text = text.trim_start_matches('@').trim();
            flags |= flag::DECORATED;
            flags |= match text.rsplit('.').next().unwrap_or(text) {
                "staticmethod" => flag::STATIC,
                "classmethod" => flag::CLASS_METHOD,
                "setter" | "deleter" => flag::SETTER,
                "overload" => flag::SIGNATURE,
                name if name.ends_with("property") => flag::PROPERTY,
                _ => 0,
            };
        }
        flags
    }

    fn leave(&mut self) {
        let Some(frame) = self.b.frames.last().copied() else {
            return;
        };
        let what = match frame.kind {
            Kind::Identifier => What::Name(self.b.name_at(frame.bytes)),
            Kind::FromImport | Kind::Future => self.import_from(&frame),
            Kind::String | Kind::ConcatenatedString | Kind::Number => self.string(&frame),
            Kind::Attribute => self.attribute(&frame),
            Kind::Call => self.call(&frame),
            Kind::Arguments
            | Kind::List
            | Kind::Tuple
            | Kind::ExpressionList
            | Kind::Dictionary => self.list(&frame),
            Kind::Pair | Kind::Argument => self
                .b
                .child(&frame, Field::Value)
                .map_or(What::Nothing, |v| v.what),
            Kind::Assignment | Kind::NamedExpression | Kind::TypeAlias => self.assignment(&frame),
            Kind::ListPattern | Kind::Splat | Kind::DictSplat => self.pattern(&frame),
            Kind::DefaultParameter | Kind::TypedParameter | Kind::TypedDefaultParameter => {
                self.parameter(&frame)
            }
            Kind::Parameters => self.parameters(&frame),
            Kind::Decorator => self.decorator(&frame),
            Kind::Return => self.returned(&frame),
            Kind::Yield => self.yields(&frame),
            Kind::Conditional | Kind::BooleanOperator => self.choice(&frame),
            Kind::UnionType => self.choice(&frame),
            Kind::BinaryOperator if self.b.typed > 0 => self.choice(&frame),
            Kind::BinaryOperator | Kind::Constant => {
                What::Expression(self.b.expression(Expression::Literal))
            }
            Kind::Parenthesized | Kind::Await | Kind::AsTarget => self
                .b
                .first_child(&frame)
                .map_or(What::Nothing, |value| value.what),
            Kind::Type => self.annotation(&frame),
            Kind::Subscript | Kind::GenericType => self.subscript(&frame),
            Kind::Comprehension => self.comprehension(&frame),
            Kind::Lambda => What::Expression(self.b.expression(Expression::Literal)),
            _ => self.statement(&frame),
        };
        self.b.leave(what);
    }

    fn statement(&mut self, frame: &Frame) -> What {
        match frame.kind {
            Kind::ImportStatement => self.import(frame),
            Kind::ForStatement | Kind::ForIn => self.loop_target(frame),
            Kind::AsPattern => self.as_pattern(frame),
            Kind::Global => self.redirect(frame, true),
            Kind::Nonlocal => self.redirect(frame, false),
            Kind::CasePattern | Kind::SplatPattern | Kind::KeywordPattern => self.case(frame),
            Kind::ExceptClause => self.except(frame),
            Kind::SplatArgument => What::Expression(self.b.expression(Expression::Spread)),
            Kind::With => self
                .b
                .first_child(frame)
                .map_or(What::Nothing, |value| value.what),
            Kind::TypeParameter => self.list(frame),
            Kind::DottedName if frame.field == Field::Other => {
                match self.b.children(frame).as_slice() {
                    [only] => only.what,
                    _ => What::Nothing,
                }
            }
            _ => What::Nothing,
        }
    }
}
