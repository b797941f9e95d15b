//! What TypeScript adds to JavaScript: annotations as type expressions, and parameters with types.
//!
//! In: a node being left and the values of its children. Out: the value of the node. Types are read as far as they name something; the
//! rest is a literal. Never resolves anything.

use crate::graph::builder::{Builder, Frame, What};
use crate::graph::facts::{Argument, Expression, NONE, ParameterKind};
use crate::graph::syntax::{Field, Kind};

/// The value of a node that only TypeScript has; `None` for any other node.
pub fn leave(b: &mut Builder<'_>, frame: &Frame) -> Option<What> {
    Some(match frame.kind {
        Kind::RequiredParameter | Kind::OptionalParameter => parameter(b, frame),
        Kind::TypeAnnotation | Kind::ParenthesizedType => {
            let of = b.first_child(frame).map(|value| b.read(value.what));
            What::Expression(of.unwrap_or_else(|| b.expression(Expression::Literal)))
        }
        Kind::PredefinedType => What::Expression(b.expression(Expression::Literal)),
        Kind::UnionType | Kind::IntersectionType => {
            let values: Vec<u32> = b
                .children(frame)
                .iter()
                .map(|child| b.read(child.what))
                .collect();
            b.either(&values).map_or(What::Nothing, What::Expression)
        }
        Kind::ArrayType => {
            let of = b.first_child(frame).map(|value| b.read(value.what))?;
            What::Expression(b.expression(Expression::ContainerOf { of }))
        }
        Kind::GenericType => generic(b, frame),
        Kind::TypeArguments
        | Kind::ExtendsClause
        | Kind::ImplementsClause
        | Kind::ClassHeritage => names(b, frame),
        Kind::NestedType => {
            let module = b.child(frame, Field::ModuleName)?;
            let name = b.child(frame, Field::Name)?;
            let of = b.read(module.what);
            let name = b.name_at(name.bytes);
            What::Expression(b.expression(Expression::Member { of, name }))
        }
        Kind::TypeQuery => {
            let of = b.first_child(frame).map(|value| b.read(value.what))?;
            What::Expression(b.expression(Expression::TypeOf { of }))
        }
        Kind::InterfaceBody if frame.definition != NONE => {
            What::Expression(b.expression(Expression::Definition {
                definition: frame.definition,
            }))
        }
        Kind::As | Kind::Assertion => cast(b, frame),
        Kind::TypeAliasDeclaration => {
            let name = b.child(frame, Field::Name)?;
            let value = b.child(frame, Field::Value)?;
            let value = b.read(value.what);
            let scope = b.scope();
            b.bind_what(scope, name.what, value);
            What::Nothing
        }
        _ => return None,
    })
}

/// `value as T` and `<T>value` are an instance of `T`; `as const` and `as any` say nothing about it.
fn cast(b: &mut Builder<'_>, frame: &Frame) -> What {
    let children = b.children(frame);
    let (value, of) = match (frame.kind, children.as_slice()) {
        (_, [value]) => return value.what,
        (Kind::Assertion, [kind, value]) => match kind.what {
            What::Arguments(first, last) if first < last => {
                let of = b
                    .facts
                    .arguments
                    .get(first as usize)
                    .map(|argument| argument.value);
                (value, of.unwrap_or(NONE))
            }
            _ => return value.what,
        },
        (_, [value, kind]) if kind.kind == Kind::PredefinedType => return value.what,
        (_, [value, kind]) => (value, b.read(kind.what)),
        _ => return What::Nothing,
    };
    let inner = b.read(value.what);
    if matches!(b.expression_at(of), Expression::Literal) {
        return What::Expression(inner);
    }
    What::Expression(b.declared(Some(inner), Some(of)))
}

fn parameter(b: &mut Builder<'_>, frame: &Frame) -> What {
    let Some(mut name) = b
        .child(frame, Field::Pattern)
        .or_else(|| b.child(frame, Field::Name))
    else {
        return What::Nothing;
    };
    let rest = name.kind == Kind::Rest;
    let annotation = b.child(frame, Field::Type);
    let default = b.child(frame, Field::Value);
    // The name's text takes in `private` and the like, which make a parameter a field.
    name.bytes.0 = frame.bytes.0.min(name.bytes.0);
    if let Some(decorator) = b.child_of_kind(frame, Kind::Decorator) {
        name.bytes.0 = decorator.bytes.1.min(name.bytes.1);
    }
    let kind = if rest {
        ParameterKind::Rest
    } else {
        ParameterKind::Positional
    };
    let at = b.parameter(name, kind, annotation, default);
    if frame.kind == Kind::OptionalParameter {
        let empty = b.name("");
        let plain = &mut b.parameters[at as usize].plain;
        if plain.default == NONE {
            plain.default = empty;
        }
    }
    What::Parameter(at)
}

fn generic(b: &mut Builder<'_>, frame: &Frame) -> What {
    let Some(head) = b.child(frame, Field::Name).or_else(|| b.first_child(frame)) else {
        return What::Nothing;
    };
    let (first, last) = match b.child(frame, Field::TypeArguments).map(|value| value.what) {
        Some(What::Arguments(first, last)) => (first, last),
        _ => (0, 0),
    };
    let arguments = b
        .facts
        .arguments
        .get(first as usize..last as usize)
        .unwrap_or_default();
    let (first, second) = (
        arguments.first().map(|a| a.value),
        arguments.get(1).map(|a| a.value),
    );
    let text = b.tail(head.bytes, 100).into_owned();
    What::Expression(match (text.as_str(), first) {
        (
            "Array" | "ReadonlyArray" | "Set" | "ReadonlySet" | "Iterable" | "Iterator"
            | "Generator" | "IterableIterator" | "AsyncIterable" | "AsyncGenerator" | "ArrayLike",
            Some(of),
        ) => b.expression(Expression::ContainerOf { of }),
        (
            "Promise" | "PromiseLike" | "Awaited" | "Readonly" | "Partial" | "Required"
            | "NonNullable" | "Omit" | "Pick",
            Some(of),
        ) => of,
        ("Map" | "ReadonlyMap" | "WeakMap" | "Record", Some(key)) => match second {
            Some(value) => b.expression(Expression::MappingOf { key, value }),
            None => b.expression(Expression::Literal),
        },
        _ => b.read(head.what),
    })
}

fn names(b: &mut Builder<'_>, frame: &Frame) -> What {
    let mut list = Vec::new();
    for child in b.children(frame) {
        match (child.kind, child.what) {
            // The clauses of a class's heritage; type arguments belong to a base and are no base.
            (Kind::ExtendsClause | Kind::ImplementsClause, What::Arguments(first, last)) => {
                list.extend_from_slice(
                    b.facts
                        .arguments
                        .get(first as usize..last as usize)
                        .unwrap_or_default(),
                );
            }
            (Kind::TypeArguments, _) => {}
            (_, what) => {
                let value = b.read(what);
                list.push(Argument { name: NONE, value });
            }
        }
    }
    let (first, last) = b.arguments(&list);
    What::Arguments(first, last)
}
