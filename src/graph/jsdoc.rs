//! Types that plain JavaScript writes in comments: `@param`, `@returns`, `@type`, `@typedef`.
//!
//! In: the text of a comment before a declaration. Out: type expressions for what it declares. A type is read as far as it names
//! something. Only `.js` files are read this way: in TypeScript such comments say nothing. Never makes an import of the file.

use crate::graph::builder::Builder;
use crate::graph::facts::{Expression, ImportForm, NONE};

/// How deep a type in a comment may be nested.
const MAX_NESTING: u32 = 6;

/// The longest text between a comment and what it speaks of: `export default async function `, `module.exports.name = `.
const MAX_GAP: usize = 120;

/// The last comment that was passed, and the comments of functions whose parameters are not read yet.
#[derive(Default)]
pub struct Docs {
    last: Option<(usize, usize)>,
    functions: Vec<(u32, (usize, usize))>,
    /// Open nodes that a comment gives a type, by their first byte.
    typed: Vec<(usize, (usize, usize))>,
}

impl Docs {
    /// A comment was passed.
    pub fn pass(&mut self, b: &mut Builder<'_>, bytes: (usize, usize)) {
        if !b.text(bytes).starts_with("/**") {
            return;
        }
        self.last = Some(bytes);
        for (tag, kind, rest) in tags(&b.text(bytes)) {
            if tag == "typedef" {
                let name = word(&rest);
                let value = type_expression(b, &kind, MAX_NESTING);
                if let (Some(value), false) = (value, name.is_empty()) {
                    let name = b.name(name);
                    b.bind_in(0, name, value);
                }
            }
        }
    }

    /// The comment that speaks of what begins at a byte.
    fn before(&self, b: &Builder<'_>, start: usize) -> Option<(usize, usize)> {
        let last = self
            .last
            .filter(|last| last.1 <= start && start - last.1 <= MAX_GAP)?;
        let between = b.text((last.1, start));
        (!between.contains([';', '{', '}', '(', ')', ','])).then_some(last)
    }

    /// A function begins.
    pub fn open(&mut self, b: &Builder<'_>, start: usize, definition: u32) {
        if let Some(doc) = self.before(b, start) {
            self.functions.push((definition, doc));
            self.last = None;
        }
    }

    /// The parameters of a function are read: give them and the function the types of its comment.
    pub fn annotate(&mut self, b: &mut Builder<'_>, definition: u32, list: &[u32]) {
        let Some(at) = self
            .functions
            .iter()
            .rposition(|found| found.0 == definition)
        else {
            return;
        };
        let (_, doc) = self.functions.swap_remove(at);
        for (tag, kind, rest) in tags(&b.text(doc)) {
            match tag.as_str() {
                "param" | "arg" | "argument" => {
                    let Some(of) = type_expression(b, &kind, MAX_NESTING) else {
                        continue;
                    };
                    let name = b.name(word(rest.trim_start_matches('[')));
                    for &at in list {
                        let plain = &mut b.parameters[at as usize].plain;
                        if plain.name == name && plain.of == NONE {
                            plain.of = of;
                        }
                    }
                }
                "returns" | "return" => {
                    let Some(of) = type_expression(b, &kind, MAX_NESTING) else {
                        continue;
                    };
                    if let Some(found) = b.definition(definition)
                        && found.return_type == NONE
                    {
                        found.return_type = of;
                    }
                }
                _ => {}
            }
        }
    }

    /// A variable, attribute or expression begins.
    pub fn open_typed(&mut self, b: &Builder<'_>, start: usize) {
        if let Some(doc) = self
            .before(b, start)
            .filter(|doc| b.text(*doc).contains("@type "))
        {
            self.typed.push((start, doc));
        }
    }

    /// The type that a comment gives to the variable, attribute or expression that ends and began at a byte.
    pub fn type_of(&mut self, b: &mut Builder<'_>, start: usize) -> Option<u32> {
        let (_, doc) = self.typed.pop_if(|found| found.0 == start)?;
        let text = b.text(doc);
        let (_, kind, _) = tags(&text).into_iter().find(|(tag, _, _)| tag == "type")?;
        type_expression(b, &kind, MAX_NESTING)
    }
}

/// The tags of a comment that have a type in braces: tag, type, what follows.
fn tags(text: &str) -> Vec<(String, String, String)> {
    let mut out = Vec::new();
    for part in text.split('@').skip(1) {
        let tag: String = part.chars().take_while(char::is_ascii_alphabetic).collect();
        let rest = part[tag.len()..].trim_start();
        let Some(inner) = rest.strip_prefix('{') else {
            continue;
        };
        let mut depth = 1;
        let end = inner.find(|c| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some(end) = end else { continue };
        let after = inner[end + 1..].trim_start().to_owned();
        out.push((tag, inner[..end].to_owned(), after));
    }
    out
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    &text[..end.unwrap_or(text.len())]
}

/// A type in a comment as a type expression; `None` when it names nothing.
fn type_expression(b: &mut Builder<'_>, text: &str, nesting: u32) -> Option<u32> {
    let nesting = nesting.checked_sub(1)?;
    let text = text
        .trim()
        .trim_start_matches(['?', '!'])
        .trim_end_matches('=')
        .trim();
    let text = match text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    {
        Some(inner) if !inner.contains(['(', ')']) => inner,
        _ => text,
    };
    let parts = split(text, '|');
    if parts.len() > 1 {
        let found: Vec<u32> = parts
            .iter()
            .filter_map(|part| type_expression(b, part, nesting))
            .collect();
        return b.either(&found);
    }
    if let Some(inner) = text.strip_suffix("[]") {
        let of = type_expression(b, inner, nesting)?;
        return Some(b.expression(Expression::ContainerOf { of }));
    }
    if let Some((head, inner)) = text.strip_suffix('>').and_then(|text| text.split_once('<')) {
        return generic(b, head.trim_end_matches('.'), inner, nesting);
    }
    named(b, text)
}

fn generic(b: &mut Builder<'_>, head: &str, inner: &str, nesting: u32) -> Option<u32> {
    let arguments = split(inner, ',');
    match (head, arguments.as_slice()) {
        ("Promise", [of]) => type_expression(b, of, nesting),
        ("Array" | "ReadonlyArray" | "Set" | "Iterable", [of]) => {
            let of = type_expression(b, of, nesting)?;
            Some(b.expression(Expression::ContainerOf { of }))
        }
        ("Map" | "WeakMap" | "Object" | "Record", [key, value]) => {
            let key = type_expression(b, key, nesting);
            let key = key.unwrap_or_else(|| b.expression(Expression::Literal));
            let value = type_expression(b, value, nesting)?;
            Some(b.expression(Expression::MappingOf { key, value }))
        }
        _ => named(b, head),
    }
}

/// `Name`, `a.Name`, `import("./x").Name`, `import("./x")`.
fn named(b: &mut Builder<'_>, text: &str) -> Option<u32> {
    let (mut value, path) = match text.strip_prefix("import(") {
        Some(rest) => {
            let (module, path) = rest.split_once(')')?;
            let module = b.name(module.trim().trim_matches(['"', '\'']));
            let import = b.import(module, 0, Vec::new(), false, ImportForm::Comment, 0);
            (
                Some(b.expression(Expression::Module {
                    import,
                    whole: true,
                })),
                path,
            )
        }
        None => (None, text),
    };
    let path = path.trim_start_matches('.');
    if path.is_empty() {
        return value;
    }
    for part in path.split('.') {
        if part.is_empty() || word(part) != part || part.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let name = b.name(part);
        let scope = b.scope();
        value = Some(match value {
            None => b.expression(Expression::Name { scope, name }),
            Some(of) => b.expression(Expression::Member { of, name }),
        });
    }
    value
}

/// The parts of a text between separators that stand in no brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0i32;
    text.split(|c| {
        depth += match c {
            '<' | '(' | '{' | '[' => 1,
            '>' | ')' | '}' | ']' => -1,
            _ => 0,
        };
        c == separator && depth == 0
    })
    .collect()
}
