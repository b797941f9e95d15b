//! Two signatures of one definition, compared by kind of change.
//!
//! In: the signature before and after. Out: what a caller can notice of the difference; bodies never count. Pure.

use crate::graph::{Parameter, Passing, Signature};

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A parameter is new.
    Added {
        /// Its name.
        name: String,
        /// Whether every call has to give it.
        is_required: bool,
    },
    /// A parameter is gone.
    ParameterRemoved {
        /// Its name.
        name: String,
    },
    /// A parameter has another name at the same place.
    ParameterRenamed {
        /// Before.
        from: String,
        /// After.
        to: String,
        /// Whether a call can say the name: of a parameter that takes positions only, none can.
        is_said: bool,
    },
    /// Parameters that were and are there by position have another order.
    Reordered {
        /// Their names in the new order.
        order: Vec<String>,
    },
    /// A parameter may now be left out.
    DefaultAdded {
        /// Its name.
        name: String,
    },
    /// A parameter that could be left out has to be given.
    DefaultRemoved {
        /// Its name.
        name: String,
    },
    /// A parameter that is left out has another value.
    DefaultChanged {
        /// Its name.
        name: String,
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// A parameter says that it takes something else.
    Annotation {
        /// Its name.
        name: String,
        /// Before; none without annotation.
        from: Option<String>,
        /// After; none without annotation.
        to: Option<String>,
    },
    /// Arguments reach a parameter in another way.
    Passing {
        /// Its name.
        name: String,
        /// Before.
        from: Passing,
        /// After.
        to: Passing,
    },
    /// It gets its receiver in another way, or has one now, or none any more: a function, a method, a static method.
    Receiver,
    /// It is a class and was a function, or the other way.
    Kind,
    /// It says that it returns something else.
    Returns {
        /// Before; none without annotation.
        from: Option<String>,
        /// After; none without annotation.
        to: Option<String>,
    },
    /// The definition is gone.
    Removed,
    /// The definition stands elsewhere under the same name.
    Moved {
        /// Its node now.
        to: String,
    },
    /// The definition has another name and the same text.
    Renamed {
        /// Its node now.
        to: String,
    },
}

impl Change {
    /// Whether every call that fits before fits after, and gives each argument to the same parameter: then no caller can break by it,
    /// and it is told apart from what raises an alarm. A default's value, an annotation, a name that no call can say.
    pub fn is_note(&self) -> bool {
        matches!(
            self,
            Self::DefaultChanged { .. }
                | Self::Annotation { .. }
                | Self::Returns { .. }
                | Self::ParameterRenamed { is_said: false, .. }
        )
    }

    /// The kind of change, as in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Added {
                is_required: true, ..
            } => "parameter added, required",
            Self::Added { .. } => "parameter added, optional",
            Self::ParameterRemoved { .. } => "parameter removed",
            Self::ParameterRenamed { .. } => "parameter renamed",
            Self::Reordered { .. } => "parameters reordered",
            Self::DefaultAdded { .. } => "default added",
            Self::DefaultRemoved { .. } => "default removed",
            Self::DefaultChanged { .. } => "default changed",
            Self::Annotation { .. } => "annotation changed",
            Self::Passing { .. } => "parameter kind changed",
            Self::Receiver => "receiver changed",
            Self::Kind => "kind changed",
            Self::Returns { .. } => "return annotation changed",
            Self::Removed => "removed",
            Self::Moved { .. } => "moved",
            Self::Renamed { .. } => "renamed",
        }
    }

    /// What of it, in words; may be empty.
    pub fn detail(&self) -> String {
        match self {
            Self::Added { name, .. }
            | Self::ParameterRemoved { name }
            | Self::DefaultAdded { name }
            | Self::DefaultRemoved { name } => name.clone(),
            Self::ParameterRenamed { from, to, .. } => format!("{from} is now {to}"),
            Self::Reordered { order } => order.join(", "),
            Self::DefaultChanged { name, from, to } => format!("{name}: {from} is now {to}"),
            Self::Passing { name, from, to } => {
                format!("{name}: {} is now {}", from.as_str(), to.as_str())
            }
            Self::Annotation { name, from, to } => {
                format!("{name}: {} is now {}", or_nothing(from), or_nothing(to))
            }
            Self::Returns { from, to } => {
                format!("{} is now {}", or_nothing(from), or_nothing(to))
            }
            Self::Moved { to } | Self::Renamed { to } => to.clone(),
            Self::Receiver | Self::Kind | Self::Removed => String::new(),
        }
    }
}

fn or_nothing(side: &Option<String>) -> &str {
    side.as_deref().unwrap_or("nothing")
}

/// What callers can notice of the difference between two signatures; empty when that is nothing.
pub fn compare(old: &Signature, new: &Signature) -> Vec<Change> {
    let mut changes = Vec::new();
    let is_class = |signature: &Signature| signature.kind == crate::graph::NodeKind::Class;
    if is_class(old) != is_class(new) || old.is_property != new.is_property {
        changes.push(Change::Kind);
    }
    if old.receiver.is_some() != new.receiver.is_some()
        || old.is_class_method != new.is_class_method
    {
        changes.push(Change::Receiver);
    }
    if is_class(old) && is_class(new) && !(old.is_record && new.is_record) {
        // What such a class takes stands in its constructor, or is not known.
        return changes;
    }
    let find = |of: &Signature, name: &str| of.parameters.iter().position(|own| own.name == name);
    let mut renamed = Vec::new();
    for (at, (before, after)) in old.parameters.iter().zip(&new.parameters).enumerate() {
        let is_free = find(new, &before.name).is_none() && find(old, &after.name).is_none();
        if is_free && before.passing == after.passing {
            renamed.push(at);
            changes.push(Change::ParameterRenamed {
                from: before.name.clone(),
                to: after.name.clone(),
                is_said: can_be_said(before) || can_be_said(after),
            });
            both(before, after, &mut changes);
        }
    }
    for (at, before) in old.parameters.iter().enumerate() {
        match find(new, &before.name) {
            Some(place) => both(before, &new.parameters[place], &mut changes),
            None if renamed.contains(&at) => {}
            None => changes.push(Change::ParameterRemoved {
                name: before.name.clone(),
            }),
        }
    }
    for (at, after) in new.parameters.iter().enumerate() {
        if find(old, &after.name).is_none() && !renamed.contains(&at) {
            changes.push(Change::Added {
                name: after.name.clone(),
                is_required: after.is_required(),
            });
        }
    }
    let common = |of: &Signature, other: &Signature| -> Vec<String> {
        let positional = of.parameters.iter().filter(|own| {
            matches!(own.passing, Passing::Plain | Passing::Positional)
                && find(other, &own.name).is_some_and(|at| {
                    matches!(
                        other.parameters[at].passing,
                        Passing::Plain | Passing::Positional
                    )
                })
        });
        positional.map(|own| own.name.clone()).collect()
    };
    let order = common(new, old);
    if order != common(old, new) {
        changes.push(Change::Reordered { order });
    }
    if old.returns != new.returns {
        changes.push(Change::Returns {
            from: old.returns.clone(),
            to: new.returns.clone(),
        });
    }
    changes
}

/// Whether a call can notice a parameter's name: by saying it, or, of a pattern that takes a value apart, by what it gives.
fn can_be_said(own: &Parameter) -> bool {
    matches!(own.passing, Passing::Plain | Passing::Named) || own.name.starts_with(['{', '['])
}

/// The differences of one parameter that is there before and after.
fn both(before: &Parameter, after: &Parameter, changes: &mut Vec<Change>) {
    let name = after.name.clone();
    if before.passing != after.passing {
        changes.push(Change::Passing {
            name: name.clone(),
            from: before.passing,
            to: after.passing,
        });
    }
    if before.annotation != after.annotation {
        changes.push(Change::Annotation {
            name: name.clone(),
            from: before.annotation.clone(),
            to: after.annotation.clone(),
        });
    }
    match (&before.default, &after.default) {
        (None, Some(_)) => changes.push(Change::DefaultAdded { name }),
        (Some(_), None) if after.is_required() => changes.push(Change::DefaultRemoved { name }),
        (Some(from), Some(to)) if from != to => changes.push(Change::DefaultChanged {
            name,
            from: from.clone(),
            to: to.clone(),
        }),
        _ => {}
    }
}
