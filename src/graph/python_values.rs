//! The values of Python expressions: calls, attributes, lists, choices.
//!
//! In: nodes being left and the values of their children. Out: their own values, and calls in the facts. Never resolves anything.

use crate::graph::builder::{Builder, Frame, What};
use crate::graph::facts::{Argument, Expression, NONE};
use crate::graph::syntax::{Field, Kind};

/// The facts of one blob being written.
pub struct Python<'source> {
    /// The facts.
    pub b: Builder<'source>,
}

impl Python<'_> {
    /// The values of all children.
    pub fn values_of(&mut self, frame: &Frame) -> Vec<u32> {
        let children = self.b.children(frame);
        children
            .iter()
            .map(|child| self.b.read(child.what))
            .collect()
    }

    /// `object.attribute`.
    pub fn attribute(&mut self, frame: &Frame) -> What {
        let (Some(object), Some(attribute)) = (
            self.b.child(frame, Field::Object),
            self.b.child(frame, Field::Attribute),
        ) else {
            return What::Nothing;
        };
        let of = self.b.read(object.what);
        let name = self.b.name_at(attribute.bytes);
        What::Expression(self.b.expression(Expression::Member { of, name }))
    }

    /// A call; `super()` and `cast()` have values of their own.
    pub fn call(&mut self, frame: &Frame) -> What {
        let Some(function) = self.b.child(frame, Field::Function) else {
            return What::Nothing;
        };
        let mut arguments = self
            .b
            .child(frame, Field::Arguments)
            .map_or(What::Nothing, |value| value.what);
        if let What::Expression(value) = arguments {
            // `f(x for x in xs)`: a generator without brackets of its own.
            let (first, last) = self.b.arguments(&[Argument { name: NONE, value }]);
            arguments = What::Arguments(first, last);
        }
        let callee = self.b.read(function.what);
        let result = self.b.call(callee, arguments, frame.line);
        let What::Name(name) = function.what else {
            return What::Expression(result);
        };
        let scope = self.b.scope();
        match self.b.spelled(name) {
            "super" => What::Expression(self.b.expression(Expression::Super { scope })),
            "cast" => match self.argument(arguments, 0) {
                Some(of) => What::Expression(self.b.expression(Expression::Instance { of })),
                None => What::Expression(result),
            },
            _ => What::Expression(self.builtin(name, arguments, result)),
        }
    }

    /// What a call of a name gives when the name means a built-in function that hands on what it is given.
    fn builtin(&mut self, name: u32, arguments: What, call: u32) -> u32 {
        let What::Arguments(first, last) = arguments else {
            return call;
        };
        let all = self.b.facts.arguments.get(first as usize..last as usize);
        let plain = all.into_iter().flatten().filter(|found| found.name == NONE);
        let given: Vec<u32> = plain.map(|found| found.value).collect();
        if given
            .iter()
            .any(|&value| self.b.expression_at(value) == Expression::Spread)
        {
            return call;
        }
        let gives = match (self.b.facts.names.get(name), given.as_slice()) {
            ("list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter", &[of])
            | ("filter", &[_, of]) => {
                let element = self.b.expression(Expression::Each { of });
                self.container(element)
            }
            ("map", &[callee, ..]) => {
                let element = self.b.expression(Expression::Result { callee });
                self.container(element)
            }
            ("enumerate", &[of, ..]) => {
                let number = self.b.expression(Expression::Literal);
                let element = self.b.expression(Expression::Each { of });
                self.rows(&[number, element])
            }
            ("zip", lists) => {
                let mut row = Vec::with_capacity(lists.len());
                for &of in lists {
                    row.push(self.b.expression(Expression::Each { of }));
                }
                self.rows(&row)
            }
            ("next", &[of]) | ("max" | "min", &[of]) => self.b.expression(Expression::Each { of }),
            ("next", &[of, right]) => {
                let left = self.b.expression(Expression::Each { of });
                self.b.expression(Expression::Either { left, right })
            }
            ("max" | "min", &[left, right]) => {
                self.b.expression(Expression::Either { left, right })
            }
            _ => return call,
        };
        self.b.expression(Expression::Builtin { call, gives })
    }

    /// A container whose elements have the value of an expression.
    fn container(&mut self, element: u32) -> u32 {
        let of = self.b.expression(Expression::ValueOf { of: element });
        self.b.expression(Expression::ContainerOf { of })
    }

    /// A container of tuples of these values.
    fn rows(&mut self, row: &[u32]) -> u32 {
        let items: Vec<Argument> = row
            .iter()
            .map(|&value| Argument { name: NONE, value })
            .collect();
        let (first, last) = self.b.arguments(&items);
        let row = self.b.expression(Expression::Collection { first, last });
        self.container(row)
    }

    /// `[value for …]` and its kin; of a dictionary only the values are known.
    pub fn comprehension(&mut self, frame: &Frame) -> What {
        let Some(body) = self.b.first_child(frame) else {
            return What::Nothing;
        };
        let of = self.b.read(body.what);
        What::Expression(if body.kind == Kind::Pair {
            let key = self.b.expression(Expression::Unknown);
            let value = self.b.expression(Expression::ValueOf { of });
            self.b.expression(Expression::MappingOf { key, value })
        } else {
            self.container(of)
        })
    }

    /// An argument of a call by position.
    pub fn argument(&self, arguments: What, index: u32) -> Option<u32> {
        let What::Arguments(first, last) = arguments else {
            return None;
        };
        let at = first + index;
        (at < last)
            .then(|| {
                self.b
                    .facts
                    .arguments
                    .get(at as usize)
                    .map(|argument| argument.value)
            })
            .flatten()
    }

    /// Arguments, and the items of a list, tuple or dictionary.
    pub fn list(&mut self, frame: &Frame) -> What {
        let mut list = Vec::new();
        for child in self.b.children(frame) {
            let name = match child.kind {
                Kind::Argument => {
                    let text = self.b.head(child.bytes, 80);
                    let name = text.split('=').next().unwrap_or_default().trim().to_owned();
                    self.b.name(&name)
                }
                Kind::Pair => {
                    let text = self.b.head(child.bytes, 100);
                    let key = text
                        .split(':')
                        .next()
                        .unwrap_or_default()
                        .trim()
                        .trim_matches(['"', '\''])
                        .to_owned();
                    if key.len() <= 80 {
                        self.b.name(&key)
                    } else {
                        NONE
                    }
                }
                _ => NONE,
            };
            let value = self.b.read(child.what);
            list.push(Argument { name, value });
        }
        let (first, last) = self.b.arguments(&list);
        match frame.kind {
            Kind::Arguments | Kind::TypeParameter => What::Arguments(first, last),
            _ => What::Expression(self.b.expression(Expression::Collection { first, last })),
        }
    }

    /// `@name` is a call of `name`; `@name(…)` was already recorded as one.
    pub fn decorator(&mut self, frame: &Frame) -> What {
        if let Some(child) = self
            .b
            .first_child(frame)
            .filter(|child| child.kind != Kind::Call)
        {
            let callee = self.b.read(child.what);
            self.b.call(callee, What::Nothing, frame.line);
        }
        What::Nothing
    }

    /// A return statement.
    pub fn returned(&mut self, frame: &Frame) -> What {
        if let Some(child) = self.b.first_child(frame) {
            let value = self.b.read(child.what);
            self.b.returned(value);
        }
        What::Nothing
    }

    /// `yield value`, `yield from values`.
    pub fn yields(&mut self, frame: &Frame) -> What {
        if let Some(child) = self.b.first_child(frame) {
            let of = self.b.read(child.what);
            let all = self.b.text((frame.bytes.0, child.bytes.0)).contains("from");
            let value = if all {
                self.b.expression(Expression::Each { of })
            } else {
                of
            };
            self.b.yielded(value);
        }
        What::Expression(self.b.expression(Expression::Unknown))
    }

    /// `a if test else b`, `a or b`, and `A | B` in annotations: either value.
    pub fn choice(&mut self, frame: &Frame) -> What {
        let mut values = self.values_of(frame);
        if frame.kind == Kind::Conditional && values.len() == 3 {
            // `a if test else b`: the test is no value of the whole.
            values.remove(1);
        }
        match self.b.either(&values) {
            Some(value) => What::Expression(value),
            None => What::Nothing,
        }
    }
}
