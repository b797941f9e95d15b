//! Python classes whose fields are the parameters of their constructor: dataclasses and typed named tuples.
//!
//! In: the source of a blob. Out: parameters by the class's last line and name. A class with a constructor of its own, or with bases that
//! may bring fields, is not among them. Never looks at another file, and never recurses.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::graph::facts::Language;
use crate::graph::signature::{Parameter, Passing};
use crate::graph::syntax::{Kind, Parsers, Step, Walk};

/// Bases that bring no fields.
const PLAIN_BASES: [&str; 4] = ["object", "ABC", "Generic", "Protocol"];

/// The constructor's parameters of each class that has its fields as such, by its last line (from 1) and its name.
pub fn fields(parsers: &mut Parsers, source: &[u8]) -> BTreeMap<(u32, String), Vec<Parameter>> {
    let mut found = BTreeMap::new();
    let Some(tree) = parsers.parse(Language::Python, source) else {
        return found;
    };
    let Some(walk) = Walk::new(&tree, Language::Python) else {
        return found;
    };
    let mut open: Vec<Node> = Vec::new();
    for step in walk {
        match step {
            Step::Enter(kind, _, node) => {
                if kind == Kind::ClassDefinition
                    && let Some(name) = node.child_by_field_name("name")
                    && let Some(fields) = of_class(node, open.last().copied(), source)
                {
                    let last = node.end_position().row as u32 + 1;
                    found.insert((last, text(name, source)), fields);
                }
                open.push(node);
            }
            Step::Comment(_) => {}
            Step::Leave => drop(open.pop()),
        }
    }
    found
}

fn text(node: Node, source: &[u8]) -> String {
    let bytes = source.get(node.byte_range()).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn last_of(dotted: &str) -> &str {
    let name = dotted.split(['[', '(']).next().unwrap_or(dotted);
    name.rsplit('.').next().unwrap_or(name).trim()
}

fn children<'tree>(node: Node<'tree>) -> Vec<Node<'tree>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// The value of a keyword argument of a call.
fn keyword(call: Node, name: &str, source: &[u8]) -> Option<String> {
    let list = call.child_by_field_name("arguments")?;
    let argument = children(list).into_iter().find(|argument| {
        let own = argument.child_by_field_name("name");
        argument.kind() == "keyword_argument" && own.is_some_and(|own| text(own, source) == name)
    })?;
    Some(text(argument.child_by_field_name("value")?, source))
}

fn of_class(class: Node, around: Option<Node>, source: &[u8]) -> Option<Vec<Parameter>> {
    let bases: Vec<String> = class
        .child_by_field_name("superclasses")
        .map_or_else(Vec::new, children)
        .into_iter()
        .filter(|base| base.kind() != "keyword_argument" && base.kind() != "comment")
        .map(|base| text(base, source))
        .collect();
    let bases: Vec<&str> = bases.iter().map(|base| last_of(base)).collect();
    if bases == ["NamedTuple"] {
        return listed(class, false, source);
    }
    let decorator = children(around.filter(|around| around.kind() == "decorated_definition")?)
        .into_iter()
        .filter(|child| child.kind() == "decorator")
        .filter_map(|decorator| decorator.named_child(0))
        .find(|named| last_of(&text(*named, source)) == "dataclass")?;
    let says = |name: &str, value: &str| keyword(decorator, name, source).as_deref() == Some(value);
    let is_closed = says("init", "False") || bases.iter().any(|base| !PLAIN_BASES.contains(base));
    (!is_closed)
        .then(|| listed(class, says("kw_only", "True"), source))
        .flatten()
}

/// The annotated fields in source order; none when the class has a constructor of its own.
fn listed(class: Node, mut by_name: bool, source: &[u8]) -> Option<Vec<Parameter>> {
    let mut fields = Vec::new();
    for statement in children(class.child_by_field_name("body")?) {
        let definition = match statement.kind() {
            "decorated_definition" => statement.child_by_field_name("definition"),
            _ => Some(statement),
        };
        let name = definition.and_then(|definition| definition.child_by_field_name("name"));
        if name.is_some_and(|name| matches!(text(name, source).as_str(), "__init__" | "__new__")) {
            return None;
        }
        let Some(field) = statement
            .named_child(0)
            .filter(|inner| inner.kind() == "assignment")
        else {
            continue;
        };
        let left = field.child_by_field_name("left");
        let Some(name) = left.filter(|left| left.kind() == "identifier") else {
            continue;
        };
        let Some(annotation) = field.child_by_field_name("type") else {
            continue;
        };
        let annotation = text(annotation, source);
        match last_of(&annotation) {
            "ClassVar" => continue,
            "KW_ONLY" => by_name = true,
            _ => fields.extend(one(field, text(name, source), annotation, by_name, source)),
        }
    }
    Some(fields)
}

/// One field as a parameter; none when the constructor does not take it.
fn one(
    field: Node,
    name: String,
    annotation: String,
    by_name: bool,
    source: &[u8],
) -> Option<Parameter> {
    let right = field.child_by_field_name("right");
    let specifier = right.filter(|right| {
        let callee = right.child_by_field_name("function");
        right.kind() == "call"
            && callee.is_some_and(|callee| last_of(&text(callee, source)) == "field")
    });
    let says = |key: &str| specifier.and_then(|call| keyword(call, key, source));
    if says("init").as_deref() == Some("False") {
        return None;
    }
    let default = match specifier {
        Some(_) => says("default").or_else(|| says("default_factory")),
        None => right.map(|right| text(right, source)),
    };
    let by_name = match says("kw_only") {
        Some(said) => said == "True",
        None => by_name,
    };
    Some(Parameter {
        name,
        passing: if by_name {
            Passing::Named
        } else {
            Passing::Plain
        },
        annotation: Some(annotation),
        default,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> BTreeMap<(u32, String), Vec<Parameter>> {
        fields(&mut Parsers::default(), source.as_bytes())
    }

    fn shown(source: &str) -> Option<String> {
        let found = of(source).into_values().next()?;
        let all = found.iter().map(|own| {
            let passing = if own.passing == Passing::Named {
                "*"
            } else {
                ""
            };
            let default = own.default.as_ref().map(|default| format!("={default}"));
            format!("{passing}{}{}", own.name, default.unwrap_or_default())
        });
        Some(all.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn fields_in_order_with_defaults_and_without_what_is_no_parameter() {
        let body = "\n    a: int\n    b: str = 'x'\n    c: list = field(default_factory=list)\n    d: int = dataclasses.field(init=False)\n    e: ClassVar[int] = 1\n    f = 2\n    _: KW_ONLY\n    g: int\n    h: int = field(kw_only=False)\n    def m(self): pass\n";
        let right = "a, b='x', c=list, *g, h";
        for head in [
            "@dataclass\nclass C:",
            "@dataclasses.dataclass(frozen=True)\nclass C(Generic[T], metaclass=M):",
        ] {
            assert_eq!(
                shown(&format!("{head}{body}")).as_deref(),
                Some(right),
                "{head}"
            );
        }
        let by_name = "@x\n@dataclass(kw_only=True)\nclass C:\n    a: int\n";
        assert_eq!(shown(by_name).as_deref(), Some("*a"));
        assert!(of(by_name).contains_key(&(4, "C".to_owned())));
        let tuple = "class C(typing.NamedTuple):\n    a: int\n    b: int = 1\n";
        assert_eq!(shown(tuple).as_deref(), Some("a, b=1"));
    }

    #[test]
    fn what_is_no_such_class() {
        for source in [
            "class C:\n    a: int\n",
            "@dataclass(init=False)\nclass C:\n    a: int\n",
            "@dataclass\nclass C(Base):\n    a: int\n",
            "@dataclass\nclass C:\n    a: int\n    def __init__(self): pass\n",
            "@other.thing(dataclass)\nclass C:\n    a: int\n",
        ] {
            assert_eq!(shown(source), None, "{source}");
        }
    }
}
