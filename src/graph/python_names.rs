//! The names that Python binds: assignments, parameters, loops, patterns, imports.
//!
//! In: nodes being left and the values of their children. Out: bindings and imports in the facts. Every way of binding a name is written,
//! also where the value is unknown, because a bound name must never be looked up further out. Never resolves anything.

use crate::graph::builder::{Frame, Part, What};
use crate::graph::facts::{Expression, ImportForm, NONE, ParameterKind, ScopeKind};
use crate::graph::python_values::Python;
use crate::graph::syntax::{Field, Kind};

impl Python<'_> {
    /// An assignment, a walrus or a type alias: binds its target.
    pub fn assignment(&mut self, frame: &Frame) -> What {
        let left = self
            .b
            .child(frame, Field::Left)
            .or_else(|| self.b.child(frame, Field::Name));
        let Some(left) = left else {
            return What::Nothing;
        };
        let right = self
            .b
            .child(frame, Field::Right)
            .or_else(|| self.b.child(frame, Field::Value));
        let mut scope = self.b.scope();
        if frame.kind == Kind::NamedExpression {
            // A walrus inside a comprehension binds in the function around it.
            while self.b.scope_kind(scope) == ScopeKind::Arrow {
                scope = self
                    .b
                    .facts
                    .scopes
                    .get(scope as usize)
                    .map_or(0, |scope| scope.parent);
            }
        }
        let annotation = self
            .b
            .child(frame, Field::Type)
            .map(|value| self.b.read(value.what));
        let mut value = right.map(|right| self.b.read(right.what));
        if let Some(of) = annotation {
            value = Some(self.b.expression(Expression::Instance { of }));
        }
        let Some(value) = value else {
            return What::Nothing;
        };
        self.b.bind_what(scope, left.what, value);
        What::Expression(value)
    }

    /// The targets of a pattern.
    pub fn pattern(&mut self, frame: &Frame) -> What {
        if frame.kind != Kind::ListPattern {
            // `*args` and `**kwargs`, as a parameter or a target: a collection of whatever is left.
            let Some(inner) = self.b.first_child(frame) else {
                return What::Nothing;
            };
            if matches!(
                self.b.ancestor(1).map(|parent| parent.kind),
                Some(Kind::Parameters | Kind::TypedParameter)
            ) {
                return inner.what;
            }
            return self.b.pattern(&[(inner, Part::Rest)]);
        }
        let children = self.b.children(frame);
        let starred = children
            .iter()
            .position(|child| child.kind == Kind::Splat)
            .unwrap_or(usize::MAX);
        let parts: Vec<_> = children
            .iter()
            .enumerate()
            .map(|(at, child)| {
                (
                    *child,
                    Part::Item(if at < starred { at as u32 } else { NONE }),
                )
            })
            .collect();
        self.b.pattern(&parts)
    }

    /// A parameter with an annotation or a default.
    pub fn parameter(&mut self, frame: &Frame) -> What {
        let name = self
            .b
            .child(frame, Field::Name)
            .or_else(|| self.b.first_child(frame));
        let Some(name) = name else {
            return What::Nothing;
        };
        let annotation = self.b.child(frame, Field::Type);
        let default = self.b.child(frame, Field::Value);
        let kind = match name.kind {
            Kind::Splat => ParameterKind::Rest,
            Kind::DictSplat => ParameterKind::NamedRest,
            _ => ParameterKind::Plain,
        };
        What::Parameter(self.b.parameter(name, kind, annotation, default))
    }

    /// A parameter list, with what `/` and `*` say of the kinds.
    pub fn parameters(&mut self, frame: &Frame) -> What {
        let mut list: Vec<u32> = Vec::new();
        let mut named = false;
        for child in self.b.children(frame) {
            let at = match child.what {
                What::Parameter(at) => at,
                What::Name(_) => {
                    let kind = match child.kind {
                        Kind::Splat => ParameterKind::Rest,
                        Kind::DictSplat => ParameterKind::NamedRest,
                        _ => ParameterKind::Plain,
                    };
                    self.b.parameter(child, kind, None, None)
                }
                _ if child.kind == Kind::PositionalSeparator => {
                    for &at in &list {
                        self.b.parameters[at as usize].plain.kind = ParameterKind::Positional;
                    }
                    continue;
                }
                _ => {
                    named |= child.kind == Kind::KeywordSeparator;
                    continue;
                }
            };
            let plain = &mut self.b.parameters[at as usize].plain;
            if named && plain.kind == ParameterKind::Plain {
                plain.kind = ParameterKind::Named;
            }
            named |= plain.kind == ParameterKind::Rest;
            list.push(at);
        }
        self.b.parameter_lists.push(list);
        What::Parameters(self.b.parameter_lists.len() as u32 - 1)
    }

    /// The names of a loop or comprehension.
    pub fn loop_target(&mut self, frame: &Frame) -> What {
        let (Some(left), Some(right)) = (
            self.b.child(frame, Field::Left),
            self.b.child(frame, Field::Right),
        ) else {
            return What::Nothing;
        };
        let of = self.b.read(right.what);
        let value = self.b.expression(Expression::Each { of });
        let scope = self.b.scope();
        self.b.bind_what(scope, left.what, value);
        What::Nothing
    }

    /// `value as target`, in `with`, `except` and `case`.
    pub fn as_pattern(&mut self, frame: &Frame) -> What {
        let children = self.b.children(frame);
        let (Some(value), Some(target)) = (children.first(), children.last()) else {
            return What::Nothing;
        };
        let of = self.b.read(value.what);
        let above = self.b.ancestor(1).map(|parent| parent.kind);
        let bound = match above {
            Some(Kind::With) => self.b.expression(Expression::Entered { of }),
            Some(Kind::ExceptClause) => self.b.expression(Expression::Instance { of }),
            _ => self.b.expression(Expression::Unknown),
        };
        let scope = self.b.scope();
        self.b.bind_what(scope, target.what, bound);
        What::Expression(of)
    }

    /// `except E as e` in grammars that give the name a field of its own.
    pub fn except(&mut self, frame: &Frame) -> What {
        if let (Some(value), Some(alias)) = (
            self.b.child(frame, Field::Value),
            self.b.child(frame, Field::Alias),
        ) {
            let of = self.b.read(value.what);
            let bound = self.b.expression(Expression::Instance { of });
            let scope = self.b.scope();
            self.b.bind_what(scope, alias.what, bound);
        }
        What::Nothing
    }

    /// `global` and `nonlocal`: the names are bound elsewhere.
    pub fn redirect(&mut self, frame: &Frame, global: bool) -> What {
        let mut scope = if global { 0 } else { self.b.scope() };
        if !global {
            scope = self
                .b
                .facts
                .scopes
                .get(scope as usize)
                .map_or(0, |found| found.parent);
        }
        for child in self.b.children(frame) {
            let What::Name(name) = child.what else {
                continue;
            };
            let mut found = scope;
            if !global {
                // The nearest function around this one that binds the name.
                let binds = |at: u32| self.b.bound.contains_key(&(at, name));
                let mut at = scope;
                while at != NONE && at != 0 && !binds(at) {
                    at = self
                        .b
                        .facts
                        .scopes
                        .get(at as usize)
                        .map_or(NONE, |found| found.parent);
                }
                if at != NONE && at != 0 {
                    found = at;
                }
            }
            let value = self.b.expression(Expression::Name { scope: found, name });
            let here = self.b.scope();
            self.b.bind_in(here, name, value);
            self.b.redirect(name, found);
        }
        What::Nothing
    }

    /// A name alone in a pattern captures.
    pub fn case(&mut self, frame: &Frame) -> What {
        let scope = self.b.scope();
        for child in self.b.children(frame) {
            if let What::Name(name) = child.what {
                let value = self.b.expression(Expression::Unknown);
                self.b.bind_in(scope, name, value);
            }
        }
        What::Nothing
    }

    /// `import a.b`, `import a.b as c`.
    pub fn import(&mut self, frame: &Frame) -> What {
        let scope = self.b.scope();
        for child in self.b.children(frame) {
            let text = self.b.text(child.bytes).into_owned();
            let (module, alias) = match child.kind {
                Kind::DottedName => (squeeze(&text), None),
                Kind::AliasedImport => match text.split_once(" as ") {
                    Some((module, alias)) => (squeeze(module), Some(squeeze(alias))),
                    None => continue,
                },
                _ => continue,
            };
            let name = self.b.name(&module);
            let import = self
                .b
                .import(name, 0, Vec::new(), false, ImportForm::Static, frame.line);
            let whole = alias.is_some() || !module.contains('.');
            let bound =
                alias.unwrap_or_else(|| module.split('.').next().unwrap_or(&module).to_owned());
            let value = self.b.expression(Expression::Module { import, whole });
            let bound = self.b.name(&bound);
            self.b.bind_in(scope, bound, value);
        }
        What::Nothing
    }

    /// `from a import b as c`, `from . import *`.
    pub fn import_from(&mut self, frame: &Frame) -> What {
        let scope = self.b.scope();
        let children = self.b.children(frame);
        let module = children
            .iter()
            .find(|child| child.field == Field::ModuleName);
        let text = module.map_or_else(
            || "__future__".to_owned(),
            |child| squeeze(&self.b.text(child.bytes)),
        );
        let path = text.trim_start_matches('.');
        let level = (text.len() - path.len()) as u32;
        let mut names = Vec::new();
        let star = children.iter().any(|child| child.kind == Kind::Wildcard);
        for child in children.iter().filter(|child| child.field == Field::Name) {
            let text = self.b.text(child.bytes).into_owned();
            let (name, alias) = match text.split_once(" as ") {
                Some((name, alias)) => (squeeze(name), squeeze(alias)),
                None => (squeeze(&text), squeeze(&text)),
            };
            names.push((self.b.name(&name), self.b.name(&alias)));
        }
        let module = self.b.name(path);
        let taken = names.iter().map(|(name, _)| *name).collect();
        let import = self
            .b
            .import(module, level, taken, star, ImportForm::Static, frame.line);
        for (name, alias) in names {
            let value = self.b.expression(Expression::Imported { import, name });
            self.b.bind_in(scope, alias, value);
        }
        What::Nothing
    }
}

/// A text without white space (a dotted name may be broken over lines).
fn squeeze(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '\\')
        .collect()
}
