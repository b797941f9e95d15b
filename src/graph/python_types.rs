//! Python annotations as type expressions, and the subscripts and strings they are made of.
//!
//! In: nodes being left and the values of their children. Out: their own values. A type is read as far as it names something; the rest is
//! a literal. Never resolves anything.

use crate::graph::builder::{Frame, Value, What};
use crate::graph::facts::{Argument, Expression, NONE};
use crate::graph::python_values::Python;
use crate::graph::syntax::Kind;

impl Python<'_> {
    /// A text literal; in an annotation the type that it spells.
    pub fn string(&mut self, frame: &Frame) -> What {
        if self.b.typed > 0 && frame.kind == Kind::String {
            let text = self.b.text(frame.bytes);
            let text = text.trim_matches(|c| matches!(c, '"' | '\''));
            return What::Expression(self.written_type(text));
        }
        let text = match (frame.kind, self.b.children(frame).as_slice()) {
            (Kind::String, children) => children
                .iter()
                .find(|child| child.kind == Kind::StringContent)
                .map(|c| c.bytes),
            (Kind::Number, _) => Some(frame.bytes),
            _ => None,
        };
        match text {
            Some(bytes) if bytes.1 - bytes.0 <= 80 => What::Text(self.b.name_at(bytes)),
            _ => What::Expression(self.b.expression(Expression::Literal)),
        }
    }

    /// A type written as text: dotted names joined by `|`, in brackets of `Optional` or not.
    pub fn written_type(&mut self, text: &str) -> u32 {
        let text = text.trim();
        let text = text
            .strip_suffix(']')
            .and_then(|text| text.split_once("Optional["))
            .map_or(text, |(_, text)| text);
        let scope = self.b.scope();
        let mut values = Vec::new();
        for part in text.split('|') {
            let part = part.split('[').next().unwrap_or(part).trim();
            if part.is_empty() || !part.split('.').all(is_word) {
                continue;
            }
            let mut words = part.split('.');
            let name = self.b.name(words.next().unwrap_or(part));
            let first = self.b.expression(Expression::Name { scope, name });
            values.push(words.fold(first, |of, word| {
                let name = self.b.name(word);
                self.b.expression(Expression::Member { of, name })
            }));
        }
        self.b
            .either(&values)
            .unwrap_or_else(|| self.b.expression(Expression::Literal))
    }

    /// An annotation as a type expression.
    pub fn annotation(&mut self, frame: &Frame) -> What {
        match self.b.first_child(frame) {
            Some(child) if matches!(child.what, What::Name(name) if self.b.spelled(name) == "Self") =>
            {
                let scope = self.b.scope();
                What::Expression(self.b.expression(Expression::This { scope }))
            }
            Some(child) => What::Expression(self.b.read(child.what)),
            None => What::Nothing,
        }
    }

    /// `value[index]`; in an annotation a generic type.
    pub fn subscript(&mut self, frame: &Frame) -> What {
        let children = self.b.children(frame);
        let Some((head, rest)) = children.split_first() else {
            return What::Nothing;
        };
        if self.b.typed > 0 {
            return What::Expression(self.generic(*head, rest));
        }
        let of = self.b.read(head.what);
        let index = match rest {
            [
                Value {
                    what: What::Text(text),
                    ..
                },
            ] => *text,
            _ => NONE,
        };
        What::Expression(match index {
            NONE => self.b.expression(Expression::Item { of, index: NONE }),
            name => self.b.expression(Expression::Key { of, name }),
        })
    }

    /// `Head[…]` in an annotation.
    pub fn generic(&mut self, head: Value, rest: &[Value]) -> u32 {
        let mut inner: Vec<u32> = Vec::new();
        for value in rest {
            match value.what {
                What::Arguments(first, last) => {
                    inner.extend(
                        (first..last)
                            .filter_map(|at| self.b.facts.arguments.get(at as usize))
                            .map(|a| a.value),
                    );
                }
                what => inner.push(self.b.read(what)),
            }
        }
        let text = self.b.tail(head.bytes, 100).into_owned();
        let inner_text = rest.last().map_or_else(String::new, |value| {
            self.b.tail(value.bytes, 10).into_owned()
        });
        let first = inner.first().copied();
        match (text.rsplit('.').next().unwrap_or(&text), first) {
            (
                "Optional" | "Union" | "Final" | "ClassVar" | "Required" | "NotRequired",
                Some(first),
            ) => self.b.either(&inner).unwrap_or(first),
            ("Annotated" | "Awaitable", Some(first)) => first,
            ("Coroutine", Some(first)) => inner.last().copied().unwrap_or(first),
            ("type" | "Type", Some(of)) => self.b.expression(Expression::TypeOf { of }),
            (
                "list" | "List" | "set" | "Set" | "frozenset" | "FrozenSet" | "Sequence"
                | "Iterable" | "Iterator" | "Collection" | "deque" | "Deque" | "AsyncIterator"
                | "AsyncIterable" | "Generator" | "MutableSequence" | "AbstractSet",
                Some(of),
            ) => self.b.expression(Expression::ContainerOf { of }),
            ("tuple" | "Tuple", Some(of)) => {
                if inner_text.trim_end_matches(']').trim_end().ends_with("...") {
                    return self.b.expression(Expression::ContainerOf { of });
                }
                let mut list = Vec::new();
                for of in inner {
                    let value = self.b.expression(Expression::Instance { of });
                    list.push(Argument { name: NONE, value });
                }
                let (first, last) = self.b.arguments(&list);
                self.b.expression(Expression::Collection { first, last })
            }
            (
                "dict"
                | "Dict"
                | "Mapping"
                | "MutableMapping"
                | "defaultdict"
                | "DefaultDict"
                | "OrderedDict"
                | "WeakKeyDictionary"
                | "WeakValueDictionary",
                Some(key),
            ) if inner.len() == 2 => {
                let value = inner.last().copied().unwrap_or(key);
                self.b.expression(Expression::MappingOf { key, value })
            }
            _ => self.b.read(head.what),
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
