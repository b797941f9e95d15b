//! Whether a call fits a signature.
//!
//! In: the arguments of a call, one or two signatures. Out: nothing, or why it does not fit, in words. Arguments that come out of a list
//! or mapping (`*args`, `...rest`, `**more`) may fill anything. Pure.

use crate::graph::{Arguments, Parameter, Passing, Signature};

/// How many arguments by position reach the parameters behind the receiver; several answers where it cannot be told whether the
/// receiver is one of them.
fn counts(arguments: &Arguments, signature: &Signature, is_bound: Option<bool>) -> Vec<u32> {
    let all = arguments.positional;
    match (&signature.receiver, is_bound) {
        _ if signature.is_class_method => vec![all],
        (None, _) | (_, Some(true)) => vec![all],
        (Some(_), Some(false)) => vec![all.saturating_sub(1)],
        (Some(_), None) => vec![all, all.saturating_sub(1)],
    }
}

/// Why a call does not fit; none when it does, or may.
pub fn misfit(
    arguments: &Arguments,
    signature: &Signature,
    is_bound: Option<bool>,
) -> Option<String> {
    let mut why = None;
    for count in counts(arguments, signature, is_bound) {
        why = Some(misfit_of(arguments, signature, count)?);
    }
    why
}

fn misfit_of(arguments: &Arguments, signature: &Signature, count: u32) -> Option<String> {
    let parameters = &signature.parameters;
    let positional: Vec<&Parameter> = parameters
        .iter()
        .filter(|own| matches!(own.passing, Passing::Plain | Passing::Positional))
        .collect();
    let takes = |passing| parameters.iter().any(|own| own.passing == passing);
    if count as usize > positional.len() && !takes(Passing::Rest) {
        return Some(format!(
            "gives {count} {}, and {} {} taken",
            plural(count as usize, "argument"),
            positional.len(),
            if positional.len() == 1 { "is" } else { "are" }
        ));
    }
    for name in &arguments.named {
        let own = parameters
            .iter()
            .position(|own| own.name == *name)
            .filter(|at| matches!(parameters[*at].passing, Passing::Plain | Passing::Named));
        match own {
            None if !takes(Passing::NamedRest) => {
                return Some(format!("names '{name}', which is no parameter"));
            }
            Some(at) if at < count as usize && parameters[at].passing == Passing::Plain => {
                return Some(format!("gives '{name}' twice"));
            }
            _ => {}
        }
    }
    for (at, own) in parameters.iter().enumerate() {
        let by_position = matches!(own.passing, Passing::Plain | Passing::Positional)
            && (at < count as usize || arguments.is_open);
        let by_name = matches!(own.passing, Passing::Plain | Passing::Named)
            && (arguments.named.contains(&own.name) || arguments.is_open_named);
        if own.is_required() && !by_position && !by_name {
            return Some(format!("does not give '{}'", own.name));
        }
    }
    None
}

/// Why a call that fits both signatures gives an argument by position to another parameter than before; none when it does not.
///
/// A parameter that only has another name is the same parameter.
pub fn shifted(
    arguments: &Arguments,
    old: &Signature,
    new: &Signature,
    is_bound: Option<bool>,
) -> Option<String> {
    let counts = counts(arguments, new, is_bound);
    let count = *counts.first().filter(|_| counts.len() == 1)? as usize;
    let has = |of: &Signature, name: &str| of.parameters.iter().any(|own| own.name == name);
    let pairs = old.parameters.iter().zip(&new.parameters).take(count);
    for (at, (before, after)) in pairs.enumerate() {
        let is_positional =
            |own: &Parameter| matches!(own.passing, Passing::Plain | Passing::Positional);
        if !is_positional(before) || !is_positional(after) {
            return None;
        }
        let is_other =
            before.name != after.name && (has(new, &before.name) || has(old, &after.name));
        if is_other {
            return Some(format!(
                "argument {} went to '{}' and goes to '{}' now",
                at + 1,
                before.name,
                after.name
            ));
        }
    }
    None
}

fn plural(count: usize, what: &str) -> String {
    match count {
        1 => what.to_owned(),
        _ => format!("{what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::NodeKind;

    fn signature(parameters: &[(&str, Passing, bool)], receiver: bool) -> Signature {
        let parameters = parameters
            .iter()
            .map(|(name, passing, is_required)| Parameter {
                name: (*name).to_owned(),
                passing: *passing,
                annotation: None,
                default: (!is_required).then(String::new),
            });
        Signature {
            name: "a.py::f".into(),
            kind: NodeKind::Function,
            lines: (1, 1),
            parameters: parameters.collect(),
            receiver: receiver.then(|| "self".to_owned()),
            returns: None,
            is_property: false,
            is_record: false,
            is_class_method: false,
            is_local: false,
            body: String::new(),
        }
    }

    fn call(positional: u32, named: &[&str]) -> Arguments {
        Arguments {
            positional,
            named: named.iter().map(|name| (*name).to_owned()).collect(),
            ..Arguments::default()
        }
    }

    #[test]
    fn what_fits_and_what_does_not() {
        use Passing::{Named, NamedRest, Plain, Positional, Rest};
        let f = signature(
            &[
                ("a", Positional, true),
                ("b", Plain, false),
                ("c", Named, true),
            ],
            false,
        );
        let cases = [
            (call(1, &["c"]), None),
            (call(2, &["c"]), None),
            (call(3, &["c"]), Some("gives 3 arguments, and 2 are taken")),
            (call(0, &["c"]), Some("does not give 'a'")),
            (
                call(0, &["a", "c"]),
                Some("names 'a', which is no parameter"),
            ),
            (call(1, &[]), Some("does not give 'c'")),
            (call(2, &["b", "c"]), Some("gives 'b' twice")),
        ];
        for (arguments, right) in cases {
            assert_eq!(
                misfit(&arguments, &f, None).as_deref(),
                right,
                "{arguments:?}"
            );
        }
        let open = Arguments {
            is_open: true,
            is_open_named: true,
            ..Arguments::default()
        };
        assert_eq!(misfit(&open, &f, None), None);
        let any = signature(&[("a", Rest, true), ("b", NamedRest, true)], false);
        assert_eq!(misfit(&call(9, &["x", "y"]), &any, None), None);
    }

    #[test]
    fn a_receiver_is_counted_only_where_it_is_given() {
        let f = signature(&[("a", Passing::Plain, true)], true);
        assert_eq!(misfit(&call(1, &[]), &f, Some(true)), None);
        assert_eq!(misfit(&call(2, &[]), &f, Some(false)), None);
        assert_eq!(misfit(&call(2, &[]), &f, None), None);
        assert!(misfit(&call(2, &[]), &f, Some(true)).is_some());
        assert!(misfit(&call(3, &[]), &f, None).is_some());
    }

    #[test]
    fn an_argument_that_lands_elsewhere() {
        let of = |names: &[&str]| {
            let all: Vec<_> = names
                .iter()
                .map(|name| (*name, Passing::Plain, true))
                .collect();
            signature(&all, false)
        };
        let is_shifted = |count, old: &[&str], new: &[&str]| {
            shifted(&call(count, &[]), &of(old), &of(new), None).is_some()
        };
        assert!(is_shifted(2, &["a", "b"], &["b", "a"]));
        assert!(!is_shifted(0, &["a", "b"], &["b", "a"]));
        assert!(!is_shifted(2, &["a", "b"], &["a", "c"]));
        assert!(is_shifted(2, &["a", "b"], &["b"]));
        assert!(!is_shifted(1, &["a", "b"], &["a", "x", "b"]));
        assert!(is_shifted(2, &["a", "b"], &["a", "x", "b"]));
    }
}
