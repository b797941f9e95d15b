//! The binding half of a builder: names, targets of patterns, parameters, attributes.
//!
//! In: what nodes stand for. Out: bindings, members and parameters in the facts. Never looks at syntax.

use crate::graph::builder::{Builder, ParameterFacts, Part, Target, TargetTo, Value, What};
use crate::graph::facts::{
    Argument, Binding, DefinitionKind, Expression, Member, NONE, Parameter, ParameterKind,
};

impl Builder<'_> {
    /// Declare that a name of the innermost scope is bound in another one.
    pub fn redirect(&mut self, name: u32, scope: u32) {
        self.redirects.insert((self.scope(), name), scope);
    }

    /// Bind a name in a scope.
    pub fn bind_in(&mut self, scope: u32, name: u32, value: u32) {
        let scope = self.redirects.get(&(scope, name)).copied().unwrap_or(scope);
        self.facts.bindings.push(Binding { scope, name, value });
        let bound = self.bound.entry((scope, name)).or_insert((0, value));
        *bound = (bound.0 + 1, value);
    }

    /// Bind what a node stands for to a value, in a scope.
    pub fn bind_what(&mut self, scope: u32, what: What, value: u32) {
        match what {
            What::Name(name) => self.bind_in(scope, name, value),
            What::Expression(place) => self.assign(place, value),
            What::Targets(first, last) => {
                for at in first..last {
                    let Some(target) = self.targets.get(at as usize).cloned() else {
                        continue;
                    };
                    let part = target
                        .path
                        .iter()
                        .fold(value, |of, part| self.part_of(of, *part));
                    match target.to {
                        TargetTo::Name(name) => self.bind_in(scope, name, part),
                        TargetTo::Place(place) => self.assign(place, part),
                    }
                }
            }
            _ => {}
        }
    }

    /// The targets of a pattern, from those of its parts.
    pub fn pattern(&mut self, parts: &[(Value, Part)]) -> What {
        let first = self.targets.len() as u32;
        for (value, part) in parts {
            match value.what {
                What::Name(name) => self.targets.push(Target {
                    to: TargetTo::Name(name),
                    path: vec![*part],
                }),
                What::Expression(place) => self.targets.push(Target {
                    to: TargetTo::Place(place),
                    path: vec![*part],
                }),
                What::Targets(from, to) => {
                    for at in from..to {
                        let Some(mut target) = self.targets.get(at as usize).cloned() else {
                            continue;
                        };
                        target.path.insert(0, *part);
                        self.targets.push(target);
                    }
                }
                _ => {}
            }
        }
        What::Targets(first, self.targets.len() as u32)
    }

    /// Write one parameter from the values of its parts.
    pub fn parameter(
        &mut self,
        name: Value,
        kind: ParameterKind,
        annotation: Option<Value>,
        default: Option<Value>,
    ) -> u32 {
        let plain = Parameter {
            name: self.flat_text(name.bytes),
            kind,
            annotation: annotation.map_or(NONE, |value| self.flat_text(value.bytes)),
            of: annotation.map_or(NONE, |value| self.read(value.what)),
            default: default.map_or(NONE, |value| self.flat_text(value.bytes)),
        };
        let default = default.map_or(NONE, |value| self.read(value.what));
        self.parameters.push(ParameterFacts {
            target: name.what,
            default,
            plain,
        });
        self.parameters.len() as u32 - 1
    }

    /// An assignment to a name that is declared in this scope or one around it, maybe further down.
    pub fn reassign(&mut self, name: u32, value: u32) {
        self.assigned.push((self.scope(), name, value));
    }

    /// One step into a value that is taken apart, as an expression.
    pub fn part_of(&mut self, of: u32, part: Part) -> u32 {
        match part {
            Part::Member(name) => self.expression(Expression::Member { of, name }),
            Part::Item(index) => self.expression(Expression::Item { of, index }),
            Part::Rest => self.expression(Expression::Unknown),
        }
    }

    /// An assignment to `receiver.name`: an attribute of the class around it.
    pub fn assign(&mut self, place: u32, value: u32) {
        let (of, name) = match self.expression_at(place) {
            Expression::Member { of, name } => (of, name),
            Expression::Key { of, name } => {
                self.store(of, name, value);
                (of, name)
            }
            Expression::Item { of, .. } => return self.store(of, NONE, value),
            _ => return,
        };
        let (owner, fixed) = match self.expression_at(of) {
            Expression::This { scope } => (self.receiver_of(scope), false),
            Expression::Name { scope, name } => match self.sole_binding(scope, name) {
                Some(Expression::This { scope }) => (self.receiver_of(scope), false),
                Some(Expression::Definition { definition }) => (definition, true),
                _ => (NONE, false),
            },
            _ => (NONE, false),
        };
        if owner != NONE {
            self.facts.members.push(Member {
                owner,
                name,
                value,
                fixed,
            });
        }
    }

    /// An assignment to an element of a list or dictionary in a variable: the variable may also be one with that element.
    fn store(&mut self, of: u32, name: u32, value: u32) {
        let Expression::Name {
            scope,
            name: variable,
        } = self.expression_at(of)
        else {
            return;
        };
        if matches!(
            self.sole_binding(scope, variable),
            Some(Expression::Collection { .. })
        ) {
            let (first, last) = self.arguments(&[Argument { name, value }]);
            let stored = self.expression(Expression::Collection { first, last });
            self.reassign(variable, stored);
        }
    }

    /// What a name is bound to, seen from a scope, when it was bound exactly once so far.
    pub fn sole_binding(&self, mut scope: u32, name: u32) -> Option<Expression> {
        while scope != NONE {
            if let Some(&(count, value)) = self.bound.get(&(scope, name)) {
                return (count == 1).then(|| self.expression_at(value));
            }
            scope = self
                .facts
                .scopes
                .get(scope as usize)
                .map_or(NONE, |scope| scope.parent);
        }
        None
    }

    /// The value of something declared with or without a value and an annotation.
    pub fn declared(&mut self, value: Option<u32>, annotation: Option<u32>) -> u32 {
        let (Some(value), Some(of)) = (value, annotation) else {
            return match (value, annotation) {
                (Some(value), _) => value,
                (None, Some(of)) => self.expression(Expression::Instance { of }),
                (None, None) => self.expression(Expression::Literal),
            };
        };
        self.set_context(value, of);
        let Expression::Definition { definition } = self.expression_at(value) else {
            return self.expression(Expression::Instance { of });
        };
        match self.definition(definition).map(|found| found.kind) {
            // An object is also what its type says: calls may mean either's members.
            Some(DefinitionKind::Object) => {
                let left = self.expression(Expression::Instance { of });
                self.expression(Expression::Either { left, right: value })
            }
            _ => value,
        }
    }

    /// Write the parameters of a function.
    pub fn set_parameters(&mut self, definition: u32, list: &[u32]) {
        let found = list
            .iter()
            .filter_map(|&at| self.parameters.get(at as usize));
        let plain = found.map(|found| found.plain).collect();
        if let Some(definition) = self.definition(definition) {
            definition.parameters = plain;
        }
    }

    /// Say what a value has to fit, when it is a function or object written right here.
    pub fn set_context(&mut self, value: u32, context: u32) {
        if let Expression::Definition { definition } = self.expression_at(value)
            && let Some(definition) = self.definition(definition)
            && definition.context == NONE
            && definition.kind != DefinitionKind::Class
        {
            definition.context = context;
        }
    }

    /// Write the parameters of a function and bind their names in its body's scope. `receiver`: the value of the first one, for a method
    /// that names its receiver.
    pub fn bind_parameters(
        &mut self,
        scope: u32,
        definition: u32,
        list: &[u32],
        receiver: Option<u32>,
    ) {
        self.set_parameters(definition, list);
        for (index, &at) in list.iter().enumerate() {
            let Some(found) = self.parameters.get(at as usize).copied() else {
                continue;
            };
            let value = if index == 0 && receiver.is_some() {
                receiver
            } else if matches!(
                found.plain.kind,
                ParameterKind::Rest | ParameterKind::NamedRest
            ) {
                Some(self.expression(Expression::Unknown))
            } else if found.plain.of != NONE {
                Some(self.expression(Expression::Instance { of: found.plain.of }))
            } else {
                None
            };
            let value = value.unwrap_or_else(|| {
                self.expression(Expression::Parameter {
                    definition,
                    index: index as u32,
                })
            });
            self.bind_what(scope, found.target, value);
            if found.default != NONE && matches!(found.target, What::Name(_)) {
                self.bind_what(scope, found.target, found.default);
            }
        }
    }
}
