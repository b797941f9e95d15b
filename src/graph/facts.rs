//! What one blob says, as plain data: definitions, bindings, imports, exports, call sites, and the expressions they are made of.
//!
//! In: nothing but what a language module writes. Out: values that serialise, compare and depend on the blob and its language alone, so
//! that they can be kept by blob id. Never holds a path, a syntax tree, or anything about another file.

use rkyv::{Archive, Deserialize, Serialize};

/// "No such index", in every column that may be empty.
pub const NONE: u32 = u32::MAX;

/// The language a path is read as.
#[derive(
    Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
#[repr(u8)]
pub enum Language {
    /// `.py`, `.pyi`.
    Python,
    /// `.js`, `.mjs`, `.cjs`, `.jsx`.
    JavaScript,
    /// `.ts`, `.mts`, `.cts`.
    TypeScript,
    /// `.tsx`.
    Tsx,
    /// A file that says how modules are found: `package.json`, `pnpm-workspace.yaml`, `lerna.json`, `tsconfig*.json`,
    /// `jsconfig*.json`.
    Project,
}

impl Language {
    /// The language of a repository path, by its last name; `None`: a path without symbols.
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if matches!(name, "package.json" | "pnpm-workspace.yaml" | "lerna.json")
            || (name.ends_with(".json")
                && (name.starts_with("tsconfig") || name.starts_with("jsconfig")))
        {
            return Some(Self::Project);
        }
        match name.rsplit_once('.')?.1 {
            "py" | "pyi" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "jsx" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            _ => None,
        }
    }

    /// The language of a number that `as u8` gave.
    pub fn from_number(number: u8) -> Option<Self> {
        let all = [
            Self::Python,
            Self::JavaScript,
            Self::TypeScript,
            Self::Tsx,
            Self::Project,
        ];
        all.into_iter().find(|language| *language as u8 == number)
    }

    /// The name in statistics: `python`, `javascript`, `typescript`, `tsx`, `project`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::Project => "project",
        }
    }
}

/// Texts one after the other: few allocations, whatever their number.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    /// `text[ends[i - 1]..ends[i]]` is text i.
    ends: Vec<u32>,
}

impl Texts {
    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text at an index; empty when there is none.
    pub fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let first = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let last = self.ends.get(index).copied().unwrap_or(0);
        let first = first.copied().unwrap_or(0);
        self.text
            .get(first as usize..last as usize)
            .unwrap_or_default()
    }

    /// Write a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
    }
}

/// Everything one blob says. Indices are into the vectors of the same value; `NONE` where there is nothing.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Every name and text used below, each once, in order of first use.
    pub names: Texts,
    /// Scopes, each after its parent; 0 is the file's top level.
    pub scopes: Vec<Scope>,
    /// Definitions in order of their first byte.
    pub definitions: Vec<Definition>,
    /// Expressions, each after its operands.
    pub expressions: Vec<Expression>,
    /// Argument lists and items of collections, as slices of this column.
    pub arguments: Vec<Argument>,
    /// Names bound in a scope, sorted by scope and name, in source order within one name.
    pub bindings: Vec<Binding>,
    /// Attributes of classes and objects other than methods, sorted by owner and name, in source order within one name.
    pub members: Vec<Member>,
    /// Import statements and calls that import.
    pub imports: Vec<Import>,
    /// What other files can import (JavaScript, TypeScript), sorted by name.
    pub exports: Vec<Export>,
    /// Call sites in source order.
    pub calls: Vec<Call>,
    /// For `Language::Project` the file's text, else empty.
    pub text: String,
    /// Is this JavaScript a module (it has an import or export statement or uses `require`, `module` or `exports`)?
    pub module: bool,
}

impl Facts {
    /// Whether every walk from a scope or a definition to what is around it comes to an end, as it does in facts that were read from a
    /// source. A file with other ones was made by somebody, and would hold up whoever asks.
    pub fn ends_upwards(&self) -> bool {
        let is_before = |(at, parent): (usize, u32)| parent == NONE || (parent as usize) < at;
        let scopes = self.scopes.iter().map(|scope| scope.parent);
        let definitions = self.definitions.iter().map(|found| found.parent);
        scopes.enumerate().all(is_before) && definitions.enumerate().all(is_before)
    }
}

/// A region in which names are bound.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The scope around it, `NONE` for the top level.
    pub parent: u32,
    /// What opens it.
    pub kind: ScopeKind,
    /// The class, function or object whose body it is, else `NONE`.
    pub definition: u32,
}

/// What opens a scope.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ScopeKind {
    /// The top level of a file.
    Module,
    /// A class body. Python: its names are not seen from the functions in it.
    Class,
    /// A function body with a receiver of its own.
    Function,
    /// A function body that keeps the receiver around it: an arrow function, a lambda, a comprehension.
    Arrow,
    /// A block with `let`, `const`, `class` or `function` in it.
    Block,
}

/// Something that can be called, extended or looked into.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its last name, `NONE` for an anonymous object literal or function (then it is no node of the graph).
    pub name: u32,
    /// Class, function or object.
    pub kind: DefinitionKind,
    /// The definition around it by name: the next segment of the qualified name.
    pub parent: u32,
    /// The class or object that it is a member of, else `NONE`.
    pub owner: u32,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Parameters, for a function.
    pub parameters: Vec<Parameter>,
    /// Where the value stands, for a function or object: a type expression that it has to fit, or `Argument`; else `NONE`.
    pub context: u32,
    /// The text of the return annotation (`names`), else `NONE`.
    pub return_text: u32,
    /// The return annotation as a type expression, else `NONE`.
    pub return_type: u32,
    /// Returned expressions.
    pub returns: Vec<u32>,
    /// Base classes and implemented interfaces, in order.
    pub bases: Vec<u32>,
    /// See `flag`.
    pub flags: u32,
}

/// What a definition is.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DefinitionKind {
    /// A class, interface or enum, or a type alias with members.
    Class,
    /// A function, method or accessor.
    Function,
    /// An object literal: a namespace of its members, never called.
    Object,
}

/// Bits of `Definition::flags`.
pub mod flag {
    /// `@staticmethod`, `static`: no receiver.
    pub const STATIC: u32 = 1;
    /// `@classmethod`: the receiver is the class.
    pub const CLASS_METHOD: u32 = 2;
    /// Read like an attribute: `@property`, `get`.
    pub const PROPERTY: u32 = 4;
    /// Yields; the value of a call is an iterator.
    pub const GENERATOR: u32 = 8;
    /// `async`.
    pub const ASYNC: u32 = 16;
    /// Stands in a signature only: interface members, overloads, abstract methods.
    pub const SIGNATURE: u32 = 32;
    /// Carries a decorator.
    pub const DECORATED: u32 = 64;
    /// An interface or a type: exists for types only.
    pub const TYPE: u32 = 128;
    /// The set half of an accessor.
    pub const SETTER: u32 = 256;
}

/// One parameter of a function.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, or the text of its pattern.
    pub name: u32,
    /// How arguments reach it.
    pub kind: ParameterKind,
    /// The text of its annotation, else `NONE`.
    pub annotation: u32,
    /// Its annotation as a type expression, else `NONE`.
    pub of: u32,
    /// The text of its default, else `NONE`. A parameter that may be left out without one has the empty text.
    pub default: u32,
}

/// How arguments reach a parameter.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ParameterKind {
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

/// A value, as far as syntax tells. Never evaluated here.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression {
    /// Some value.
    Unknown,
    /// A value that is no definition of a repository: a literal, a number, the result of an operator.
    Literal,
    /// Several values in one place of a list: `...x`.
    Spread,
    /// A literal text or number (`names`).
    Text { text: u32 },
    /// A name looked up from a scope.
    Name { scope: u32, name: u32 },
    /// `of.name`.
    Member { of: u32, name: u32 },
    /// What calling `callee` gives; `new C()` too.
    Result { callee: u32 },
    /// A class, function or object defined here.
    Definition { definition: u32 },
    /// The receiver of the function around a scope.
    This { scope: u32 },
    /// The receiver seen as its base class.
    Super { scope: u32 },
    /// A name out of an imported module.
    Imported { import: u32, name: u32 },
    /// An imported module. `whole`: all of a dotted name, else (Python `import a.b`) its first part.
    Module { import: u32, whole: bool },
    /// An instance of the class that a type expression names.
    Instance { of: u32 },
    /// One of two.
    Either { left: u32, right: u32 },
    /// The elements `arguments[first..last]` of a list, tuple or dictionary.
    Collection { first: u32, last: u32 },
    /// An element of an iteration.
    Each { of: u32 },
    /// In a type expression: a mapping.
    MappingOf { key: u32, value: u32 },
    /// What a call expects at a position; only ever the context of a definition.
    Argument { callee: u32, index: u32 },
    /// An element: by `index` where it is a known position, else any.
    Item { of: u32, index: u32 },
    /// The element under a literal key or position.
    Key { of: u32, name: u32 },
    /// In a type expression: not an instance but the named thing itself (`type[C]`, `typeof c`).
    TypeOf { of: u32 },
    /// What a container type holds: the elements of a value of this type are instances of `of`.
    ContainerOf { of: u32 },
    /// In a type expression: the type of a value.
    ValueOf { of: u32 },
    /// What `call` gives, a call of a name: `gives` where the name means the built-in function.
    Builtin { call: u32, gives: u32 },
    /// What `with` binds: the result of `__enter__`.
    Entered { of: u32 },
    /// A parameter of a definition, by position.
    Parameter { definition: u32, index: u32 },
}

/// One argument or item.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its keyword or key, else `NONE`.
    pub name: u32,
    /// Its value.
    pub value: u32,
}

/// A name bound to a value.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Where.
    pub scope: u32,
    /// The name.
    pub name: u32,
    /// The value.
    pub value: u32,
}

/// An attribute of a class or object.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The class or object.
    pub owner: u32,
    /// The attribute.
    pub name: u32,
    /// Its value.
    pub value: u32,
    /// Of the class itself, not of its instances.
    pub fixed: bool,
}

/// One import.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module as written: `a.b`, `./x`. Python: without the dots of a relative import.
    pub module: u32,
    /// Python: the number of leading dots, 0 for an absolute import.
    pub level: u32,
    /// Names taken out of it.
    pub names: Vec<u32>,
    /// Takes every name (`from m import *`, `export *`).
    pub star: bool,
    /// The scope it stands in.
    pub scope: u32,
    /// How it is written.
    pub form: ImportForm,
    /// Line, from 1.
    pub line: u32,
}

/// How an import is written.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ImportForm {
    /// `import`, `from … import`.
    Static,
    /// `import type`.
    Type,
    /// `export … from`.
    Reexport,
    /// `import()`.
    Dynamic,
    /// `require()`.
    Require,
    /// A type in a comment: gives types, but the file does not import anything by it.
    Comment,
}

/// A name that other files can import.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    /// The exported name; `default`, or `=` for the whole of `module.exports`.
    pub name: u32,
    /// Its value.
    pub value: u32,
}

/// A call site.
#[derive(Archive, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub callee: u32,
    /// The definition it stands in, `NONE` at the top level.
    pub caller: u32,
    /// `arguments[first..last]`.
    pub first: u32,
    /// See `first`.
    pub last: u32,
    /// Line, from 1.
    pub line: u32,
    /// The callee's last name, as written.
    pub name: u32,
}
