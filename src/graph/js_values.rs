//! The values of JavaScript expressions: calls, members, objects, choices.
//!
//! In: nodes being left and the values of their children. Out: their own values, and calls and members in the facts. Never resolves
//! anything.

use crate::graph::builder::{Frame, Value, What};
use crate::graph::facts::{Argument, Expression, Member, NONE};
use crate::graph::js_open::{MAX_NAME, Script};
use crate::graph::syntax::{Field, Kind};

/// The longest text literal that is kept, in bytes: module names and keys are shorter.
const MAX_STRING: usize = 300;

impl Script<'_> {
    /// What the first child stands for.
    pub fn first(&self, frame: &Frame) -> What {
        self.b
            .first_child(frame)
            .map_or(What::Nothing, |value| value.what)
    }

    /// `/** @type {T} */ (value)` is an instance of `T`.
    pub fn parenthesized(&mut self, frame: &Frame) -> What {
        let inner = self.first(frame);
        match self.docs.type_of(&mut self.b, frame.bytes.0) {
            None => inner,
            Some(of) => {
                let value = self.b.read(inner);
                What::Expression(self.b.declared(Some(value), Some(of)))
            }
        }
    }

    /// A text literal, without its quotes.
    pub fn string(&mut self, frame: &Frame) -> What {
        if frame.bytes.1 - frame.bytes.0 > MAX_STRING {
            return What::Expression(self.b.expression(Expression::Literal));
        }
        let text = self.b.text(frame.bytes);
        let text = text.trim_matches(|c| matches!(c, '"' | '\''));
        What::Text(self.b.name(text))
    }

    /// `object.property`.
    pub fn member(&mut self, frame: &Frame) -> What {
        let (Some(object), Some(property)) = (
            self.b.child(frame, Field::Object),
            self.b.child(frame, Field::Property),
        ) else {
            return What::Nothing;
        };
        let of = self.b.read(object.what);
        let name = self.b.name_at(property.bytes);
        What::Expression(self.b.expression(Expression::Member { of, name }))
    }

    /// `object[index]`.
    pub fn subscript(&mut self, frame: &Frame) -> What {
        let Some(object) = self.b.child(frame, Field::Object) else {
            return What::Nothing;
        };
        let of = self.b.read(object.what);
        What::Expression(
            match self.b.child(frame, Field::Index).map(|index| index.what) {
                Some(What::Text(name)) => self.b.expression(Expression::Key { of, name }),
                _ => self.b.expression(Expression::Item { of, index: NONE }),
            },
        )
    }

    /// A call or `new`; an import when it is one.
    pub fn call(&mut self, frame: &Frame) -> What {
        let callee = self
            .b
            .child(frame, Field::Function)
            .or_else(|| self.b.child(frame, Field::Constructor));
        let Some(callee) = callee else {
            return What::Nothing;
        };
        let arguments = self
            .b
            .child(frame, Field::Arguments)
            .map_or(What::Nothing, |value| value.what);
        if let Some(module) = self
            .modules
            .imported_by(&mut self.b, callee, arguments, frame.line)
        {
            return What::Expression(module);
        }
        let value = self.b.read(callee.what);
        self.expect(value, arguments);
        What::Expression(self.b.call(value, arguments, frame.line))
    }

    /// Functions and objects among the arguments of a call have to fit what the callee expects there.
    pub fn expect(&mut self, callee: u32, arguments: What) {
        let What::Arguments(first, last) = arguments else {
            return;
        };
        for at in first..last {
            let Some(argument) = self.b.facts.arguments.get(at as usize).copied() else {
                return;
            };
            match self.b.expression_at(argument.value) {
                Expression::Definition { .. } => {
                    let index = at - first;
                    let context = self.b.expression(Expression::Argument { callee, index });
                    self.b.set_context(argument.value, context);
                }
                // After a spread the positions are not known.
                Expression::Spread => return,
                _ => {}
            }
        }
    }

    /// `<Name/>` is a call of `Name`.
    pub fn jsx(&mut self, frame: &Frame) -> What {
        let Some(name) = self.b.child(frame, Field::Name) else {
            return What::Nothing;
        };
        // A lower-case tag is an element of the platform.
        let text = self.b.text(name.bytes);
        if name.kind == Kind::MemberExpression || text.starts_with(|c: char| c.is_uppercase()) {
            let callee = self.b.read(name.what);
            self.b.call(callee, What::Nothing, frame.line);
        }
        What::Nothing
    }

    /// `@name` is a call of `name`; `@name(…)` was already recorded as one.
    pub fn decorator(&mut self, frame: &Frame) -> What {
        if let Some(child) = self
            .b
            .first_child(frame)
            .filter(|child| child.kind != Kind::CallExpression)
        {
            let callee = self.b.read(child.what);
            self.b.call(callee, What::Nothing, frame.line);
        }
        What::Nothing
    }

    /// Arguments, and the items of an array.
    pub fn list(&mut self, frame: &Frame) -> What {
        let list: Vec<_> = self
            .b
            .children(frame)
            .iter()
            .map(|child| match child.kind {
                Kind::Spread => self.b.expression(Expression::Spread),
                _ => self.b.read(child.what),
            })
            .map(|value| Argument { name: NONE, value })
            .collect();
        let (first, last) = self.b.arguments(&list);
        match frame.kind {
            Kind::Arguments => What::Arguments(first, last),
            _ => What::Expression(self.b.expression(Expression::Collection { first, last })),
        }
    }

    /// An object literal: its properties become members, what is spread into it bases.
    pub fn object(&mut self, frame: &Frame) -> What {
        let owner = frame.definition;
        for child in self.b.children(frame) {
            let name = match child.kind {
                Kind::Shorthand => self.b.name_at(child.bytes),
                Kind::Pair => {
                    let text = self.b.head(child.bytes, MAX_NAME + 20);
                    let key = text
                        .split(':')
                        .next()
                        .unwrap_or_default()
                        .trim()
                        .trim_matches(['"', '\''])
                        .to_owned();
                    if key.len() > MAX_NAME || key.starts_with('[') {
                        continue;
                    }
                    self.b.name(&key)
                }
                Kind::Spread => {
                    let value = self.b.read(child.what);
                    if let Some(definition) = self.b.definition(owner) {
                        definition.bases.push(value);
                    }
                    continue;
                }
                _ => continue,
            };
            let value = self.b.read(child.what);
            self.b.facts.members.push(Member {
                owner,
                name,
                value,
                fixed: true,
            });
        }
        What::Expression(
            self.b
                .expression(Expression::Definition { definition: owner }),
        )
    }

    /// `a ? b : c`, `a || b`, `a ?? b`, `a && b`: either value.
    pub fn choice(&mut self, frame: &Frame) -> What {
        let children = self.b.children(frame);
        let values: Vec<u32> = match (frame.kind, children.as_slice()) {
            (Kind::Binary, [left, right]) => {
                let operator = self.b.text((left.bytes.1, right.bytes.0));
                match operator.trim() {
                    "||" | "??" => vec![self.b.read(left.what), self.b.read(right.what)],
                    "&&" => vec![self.b.read(right.what)],
                    _ => vec![self.b.expression(Expression::Literal)],
                }
            }
            _ => {
                let two = [Field::Consequence, Field::Alternative];
                let chosen: Vec<Value> = two
                    .iter()
                    .filter_map(|field| self.b.child(frame, *field))
                    .collect();
                chosen.iter().map(|value| self.b.read(value.what)).collect()
            }
        };
        self.b
            .either(&values)
            .map_or(What::Nothing, What::Expression)
    }

    /// An assignment: an export, an attribute or a new value of a name.
    pub fn assignment(&mut self, frame: &Frame) -> What {
        let (Some(left), Some(right)) = (
            self.b.child(frame, Field::Left),
            self.b.child(frame, Field::Right),
        ) else {
            return What::Nothing;
        };
        let mut value = self.b.read(right.what);
        if let Some(of) = self.docs.type_of(&mut self.b, frame.bytes.0) {
            value = self.b.declared(Some(value), Some(of));
        }
        match left.what {
            What::Name(name) => self.b.reassign(name, value),
            What::Expression(place) if !self.modules.exported_by(&mut self.b, place, value) => {
                let scope = self.b.scope();
                self.b.bind_what(scope, left.what, value);
            }
            _ => {}
        }
        What::Expression(value)
    }

    /// A function or class that is a value ends; the body of an arrow function may be what it returns.
    pub fn end_value(&mut self, frame: &Frame) -> What {
        if frame.kind == Kind::Arrow
            && let Some(body) = self
                .b
                .child(frame, Field::Body)
                .filter(|body| body.kind != Kind::StatementBlock)
        {
            // The scope of the body is closed, but the value was read in it already, unless it is a bare name.
            let value = match body.what {
                What::Name(name) => {
                    let scope = self.body_scope(frame.definition);
                    self.b.expression(Expression::Name { scope, name })
                }
                what => self.b.read(what),
            };
            if let Some(definition) = self.b.definition(frame.definition) {
                definition.returns.push(value);
            }
        }
        What::Expression(self.b.expression(Expression::Definition {
            definition: frame.definition,
        }))
    }

    /// The scope of the body of a definition that was just closed.
    pub fn body_scope(&self, definition: u32) -> u32 {
        let found = self
            .b
            .facts
            .scopes
            .iter()
            .rposition(|scope| scope.definition == definition);
        found.map_or(self.b.scope(), |at| at as u32)
    }

    /// `yield value`, `yield* values`.
    pub fn yields(&mut self, frame: &Frame) -> What {
        if let Some(child) = self.b.first_child(frame) {
            let of = self.b.read(child.what);
            let all = self.b.text((frame.bytes.0, child.bytes.0)).contains('*');
            let value = if all {
                self.b.expression(Expression::Each { of })
            } else {
                of
            };
            self.b.yielded(value);
        }
        What::Expression(self.b.expression(Expression::Unknown))
    }
}
