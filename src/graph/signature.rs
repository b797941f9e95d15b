//! What can be called, and how: the definitions of one file as callers see them.
//!
//! In: the facts and the source of a blob. Out: plain data by qualified name. Never looks at another file.

use std::collections::BTreeMap;

use crate::graph::facts::{
    DefinitionKind, Facts, Language, NONE, Parameter as Fact, ParameterKind, flag,
};
use crate::graph::parts::NodeKind;

/// How arguments reach a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// By position or by name.
    Plain,
    /// By position only.
    Positional,
    /// By name only.
    Named,
    /// All further positions: `*args`, `...rest`.
    Rest,
    /// All further names: `**kwargs`.
    NamedRest,
}

impl Passing {
    /// In words, as in "is now …".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "positional or by name",
            Self::Positional => "positional only",
            Self::Named => "by name only",
            Self::Rest => "all further positions",
            Self::NamedRest => "all further names",
        }
    }
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, or the text of its pattern.
    pub name: String,
    /// How arguments reach it.
    pub passing: Passing,
    /// The text of its annotation.
    pub annotation: Option<String>,
    /// The text of its default; empty where it may be left out without one.
    pub default: Option<String>,
}

impl Parameter {
    /// Whether every call has to give it.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !matches!(self.passing, Passing::Rest | Passing::NamedRest)
    }
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// `path::Qualified.name`; several definitions may have one name (overloads, the halves of an accessor).
    pub name: String,
    /// Class, function or method.
    pub kind: NodeKind,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The parameters that callers fill: without the receiver of a method.
    pub parameters: Vec<Parameter>,
    /// The receiver's name, where a method has one that is written.
    pub receiver: Option<String>,
    /// The text of the return annotation.
    pub returns: Option<String>,
    /// Whether it is a class whose fields are its constructor's parameters: then these are its own.
    pub is_record: bool,
    /// Whether its receiver is the class, also when called on the class.
    pub is_class_method: bool,
    /// Whether it is read like an attribute, and so never called by its name.
    pub is_property: bool,
    /// Whether it stands inside a function, where nothing outside the file can name it.
    pub is_local: bool,
    /// Its text with its own name blanked and without indentation: equal for a definition that was only renamed or moved.
    pub body: String,
}

/// The definitions of a file, in order of their first byte. `fields`: the parameters of classes that have theirs as such, by last line and
/// name; each is taken once.
pub fn signatures(
    path: &str,
    language: Language,
    facts: &Facts,
    source: &[u8],
    fields: &mut BTreeMap<(u32, String), Vec<Parameter>>,
) -> Vec<Signature> {
    let source = String::from_utf8_lossy(source);
    let lines: Vec<&str> = source.lines().collect();
    let spelled = |name: u32| match name {
        NONE => "",
        name => facts.names.get(name),
    };
    let is_python = language == Language::Python;
    let mut names: Vec<String> = Vec::with_capacity(facts.definitions.len());
    let mut locals: Vec<bool> = Vec::with_capacity(facts.definitions.len());
    let mut found = Vec::new();
    for definition in &facts.definitions {
        let own = spelled(definition.name);
        let above = definition.parent as usize;
        let qualified = match names.get(above) {
            Some(parent) if !parent.is_empty() => format!("{parent}.{own}"),
            _ => own.to_owned(),
        };
        let is_local = locals.get(above).copied().unwrap_or(false)
            || facts
                .definitions
                .get(above)
                .is_some_and(|above| above.kind == DefinitionKind::Function);
        names.push(qualified.clone());
        locals.push(is_local);
        if own.is_empty() || definition.kind == DefinitionKind::Object {
            continue;
        }
        let is_function = definition.kind == DefinitionKind::Function;
        let is_member = definition.owner != NONE;
        let text = |name: u32| (name != NONE).then(|| spelled(name).to_owned());
        let all = definition
            .parameters
            .iter()
            .map(|fact| parameter(fact, &text));
        let mut parameters: Vec<Parameter> = all.collect();
        let has_receiver = match is_python {
            true => is_member && definition.flags & flag::STATIC == 0,
            // TypeScript's `this` parameter only gives a type.
            false => parameters.first().is_some_and(|first| first.name == "this"),
        };
        let is_plain =
            |first: &Parameter| matches!(first.passing, Passing::Plain | Passing::Positional);
        let receiver = (is_function && has_receiver && parameters.first().is_some_and(is_plain))
            .then(|| parameters.remove(0).name);
        let (first, last) = definition.lines;
        let record = fields.remove(&(last, own.to_owned()));
        let is_record = !is_function && record.is_some();
        parameters.extend(record.filter(|_| is_record).into_iter().flatten());
        let body = lines.get(first.saturating_sub(1) as usize..last as usize);
        found.push(Signature {
            name: format!("{path}::{qualified}"),
            kind: match (is_function, is_member) {
                (false, _) => NodeKind::Class,
                (true, true) => NodeKind::Method,
                (true, false) => NodeKind::Function,
            },
            lines: definition.lines,
            parameters,
            receiver,
            returns: text(definition.return_text).map(bare),
            is_record,
            is_class_method: definition.flags & flag::CLASS_METHOD != 0,
            is_property: definition.flags & (flag::PROPERTY | flag::SETTER) != 0,
            is_local,
            body: blanked(body.unwrap_or_default(), own),
        });
    }
    found
}

fn parameter(fact: &Fact, text: &impl Fn(u32) -> Option<String>) -> Parameter {
    Parameter {
        name: text(fact.name).unwrap_or_default(),
        passing: match fact.kind {
            ParameterKind::Plain => Passing::Plain,
            ParameterKind::Positional => Passing::Positional,
            ParameterKind::Named => Passing::Named,
            ParameterKind::Rest => Passing::Rest,
            ParameterKind::NamedRest => Passing::NamedRest,
        },
        annotation: text(fact.annotation).map(bare),
        default: text(fact.default),
    }
}

/// An annotation without the colon that TypeScript's grammar counts as part of it.
fn bare(annotation: String) -> String {
    match annotation.strip_prefix(':') {
        Some(rest) => rest.trim_start().to_owned(),
        None => annotation,
    }
}

/// Lines without indentation, every word that is `own` blanked.
fn blanked(lines: &[&str], own: &str) -> String {
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let mut text = String::new();
    for line in lines {
        let mut rest = line.trim();
        while let Some(start) = rest.find(is_word) {
            let (before, word) = rest.split_at(start);
            let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            text.push_str(before);
            text.push_str(if word == own { "\u{1}" } else { word });
            rest = after;
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}
