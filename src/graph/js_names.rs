//! The names that JavaScript binds: declarations, patterns, parameters, fields.
//!
//! In: nodes being left and the values of their children. Out: bindings and members in the facts. Every name that a pattern binds is
//! written, also where its value is unknown. Never resolves anything.

use crate::graph::builder::{Frame, Part, Value, What};
use crate::graph::facts::{Expression, Member, NONE, ParameterKind, ScopeKind};
use crate::graph::js_open::Script;
use crate::graph::syntax::{Field, Kind};

impl Script<'_> {
    /// The type that an annotation or a comment gives to what a node declares.
    fn annotation(&mut self, frame: &Frame) -> Option<u32> {
        let comment = self.docs.type_of(&mut self.b, frame.bytes.0);
        let annotation = self.b.child(frame, Field::Type);
        annotation.map(|value| self.b.read(value.what)).or(comment)
    }

    /// A variable: binds its name or pattern.
    pub fn declarator(&mut self, frame: &Frame) -> What {
        let Some(name) = self.b.child(frame, Field::Name) else {
            return What::Nothing;
        };
        let mut scope = self.b.scope();
        if self
            .b
            .ancestor(1)
            .is_some_and(|parent| parent.kind == Kind::VariableDeclaration)
        {
            // `var` belongs to the function.
            while self.b.scope_kind(scope) == ScopeKind::Block {
                scope = self
                    .b
                    .facts
                    .scopes
                    .get(scope as usize)
                    .map_or(0, |scope| scope.parent);
            }
        }
        let annotation = self.annotation(frame);
        let value = self
            .b
            .child(frame, Field::Value)
            .map(|value| self.b.read(value.what));
        let value = self.b.declared(value, annotation);
        self.b.bind_what(scope, name.what, value);
        What::Nothing
    }

    /// A pattern of an array, a property, a default or a rest: its targets.
    pub fn pattern(&mut self, frame: &Frame) -> What {
        let children = self.b.children(frame);
        let mut parts: Vec<(Value, Part)> = Vec::new();
        match frame.kind {
            Kind::AssignmentPattern => {
                // A default: `{a = 1}`, `[a = 1]`, `(a = 1)`. What is bound stands first.
                return children
                    .first()
                    .map_or(What::Nothing, |left| match left.kind {
                        Kind::Shorthand => self.shorthand(*left),
                        _ => left.what,
                    });
            }
            Kind::PairPattern => {
                let (Some(key), Some(value)) = (
                    self.b.child(frame, Field::Key),
                    self.b.child(frame, Field::Value),
                ) else {
                    return What::Nothing;
                };
                let part = match self.property(key.bytes) {
                    NONE => Part::Rest,
                    name => Part::Member(name),
                };
                parts.push((value, part));
            }
            Kind::Rest => {
                if let Some(&inner) = children.first() {
                    parts.push((inner, Part::Rest));
                }
            }
            Kind::ArrayPattern => {
                for (at, child) in children.iter().enumerate() {
                    let part = if child.kind == Kind::Rest {
                        Part::Rest
                    } else {
                        Part::Item(at as u32)
                    };
                    parts.push((*child, part));
                }
            }
            _ => return self.object_pattern(&children),
        }
        self.b.pattern(&parts)
    }

    /// The targets of an object pattern, from those of its properties.
    pub fn object_pattern(&mut self, children: &[Value]) -> What {
        let first = self.b.targets.len() as u32;
        for child in children {
            match (child.kind, child.what) {
                (Kind::Shorthand, _) => {
                    self.shorthand(*child);
                }
                // Already a path from the object.
                (_, What::Targets(from, to)) => {
                    for at in from..to {
                        if let Some(target) = self.b.targets.get(at as usize).cloned() {
                            self.b.targets.push(target);
                        }
                    }
                }
                _ => {}
            }
        }
        What::Targets(first, self.b.targets.len() as u32)
    }

    /// `{name}` in a pattern: the property of that name.
    pub fn shorthand(&mut self, value: Value) -> What {
        let name = self.b.name_at(value.bytes);
        self.b.pattern(&[(
            Value {
                what: What::Name(name),
                ..value
            },
            Part::Member(name),
        )])
    }

    /// A parameter list, in TypeScript of parameters, in JavaScript of patterns.
    pub fn parameters(&mut self, frame: &Frame) -> What {
        let mut list = Vec::new();
        for child in self.b.children(frame) {
            let at = match child.what {
                What::Parameter(at) => at,
                _ if child.kind == Kind::Decorator => continue,
                what => {
                    let kind = if child.kind == Kind::Rest {
                        ParameterKind::Rest
                    } else {
                        ParameterKind::Positional
                    };
                    // JavaScript has no node for a parameter: a default makes it an assignment pattern.
                    let default = (child.kind == Kind::AssignmentPattern).then(|| {
                        let text = self.b.head(child.bytes, 200).into_owned();
                        let cut = text.find('=').unwrap_or(text.len());
                        (child.bytes.0 + cut + 1, child.bytes.1, cut)
                    });
                    let mut name = Value { what, ..child };
                    if let Some((_, _, cut)) = default {
                        name.bytes.1 = (name.bytes.0 + cut).max(name.bytes.0);
                    }
                    let at = self.b.parameter(name, kind, None, None);
                    if let Some((from, to, _)) = default {
                        let text = self.b.flat_text((from.min(to), to));
                        self.b.parameters[at as usize].plain.default = text;
                    }
                    at
                }
            };
            list.push(at);
        }
        self.b.parameter_lists.push(list);
        What::Parameters(self.b.parameter_lists.len() as u32 - 1)
    }

    /// A function without a body ends: its parameters; a function type is a value.
    pub fn end_signature(&mut self, frame: &Frame) -> What {
        let list = self.signature(frame);
        self.b.set_parameters(frame.definition, &list);
        if frame.kind == Kind::FunctionType {
            let definition = frame.definition;
            return What::Expression(self.b.expression(Expression::Definition { definition }));
        }
        What::Nothing
    }

    /// A class field or a property of a type: a member with its value or type.
    pub fn field(&mut self, frame: &Frame) -> What {
        let key = self
            .b
            .child(frame, Field::Name)
            .or_else(|| self.b.child(frame, Field::Property));
        let Some(key) = key else { return What::Nothing };
        let name = self.property(key.bytes);
        let owner = self.owner();
        if name == NONE || owner == NONE {
            return What::Nothing;
        }
        let fixed = self
            .b
            .text((frame.bytes.0, key.bytes.0))
            .split_whitespace()
            .any(|word| word == "static");
        let annotation = self.annotation(frame);
        let value = self
            .b
            .child(frame, Field::Value)
            .map(|value| self.b.read(value.what));
        let value = self.b.declared(value, annotation);
        self.b.facts.members.push(Member {
            owner,
            name,
            value,
            fixed,
        });
        What::Nothing
    }

    /// The names of `for … of` and `for … in`.
    pub fn loop_target(&mut self, frame: &Frame) -> What {
        let (Some(left), Some(right)) = (
            self.b.child(frame, Field::Left),
            self.b.child(frame, Field::Right),
        ) else {
            return What::Nothing;
        };
        let of = self.b.read(right.what);
        let between = self.b.text((left.bytes.1, right.bytes.0));
        let value = match between.trim() {
            "of" => self.b.expression(Expression::Each { of }),
            _ => self.b.expression(Expression::Literal),
        };
        let scope = self.b.scope();
        self.b.bind_what(scope, left.what, value);
        What::Nothing
    }

    /// The name of a `catch` is bound when its block has been read; names are looked up later, so the order does not matter.
    pub fn caught(&mut self, frame: &Frame) -> What {
        if let Some(parameter) = self.b.child(frame, Field::Parameter) {
            let value = self.b.expression(Expression::Unknown);
            let scope = self.b.scope();
            self.b.bind_what(scope, parameter.what, value);
        }
        What::Nothing
    }
}
