//! Imports and exports of JavaScript and TypeScript: ES modules, CommonJS, `import()`.
//!
//! In: the nodes of a walk. Out: imports, exports and the bindings they make, in the facts. Never looks for the module.

use crate::graph::builder::{Builder, Frame, Value, What};
use crate::graph::facts::{Export, Expression, ImportForm, NONE};
use crate::graph::syntax::{Field, Kind};

/// What is known of the import or export statement that is open.
#[derive(Default)]
pub struct Modules {
    /// Names taken or given: outer name, inner name, and how.
    specifiers: Vec<Specifier>,
    /// How many bindings there were when the open export statement began.
    bindings: usize,
}

struct Specifier {
    /// The name in the other module.
    outer: u32,
    /// The name here (import), or the name it is exported under.
    inner: u32,
    kind: SpecifierKind,
    type_only: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SpecifierKind {
    Named,
    Namespace,
}

impl Modules {
    /// An export statement begins.
    pub fn open_export(&mut self, b: &Builder<'_>) {
        self.bindings = b.facts.bindings.len();
        self.specifiers.clear();
    }

    /// The value of a node of an import or export statement; `None` for any other node.
    pub fn leave(&mut self, b: &mut Builder<'_>, frame: &Frame) -> Option<What> {
        match frame.kind {
            Kind::ImportSpecifier | Kind::ExportSpecifier => self.specifier(b, frame),
            Kind::NamespaceImport | Kind::NamespaceExport => self.namespace(b, frame),
            Kind::ImportClause => self.clause(b, frame),
            Kind::ImportStatement => self.import(b, frame),
            Kind::ExportStatement => self.export(b, frame),
            Kind::ImportRequire => self.import_require(b, frame),
            _ => return None,
        }
        Some(What::Nothing)
    }

    fn specifier(&mut self, b: &mut Builder<'_>, frame: &Frame) {
        let Some(name) = b.child(frame, Field::Name) else {
            return;
        };
        let outer = unquoted(b, name);
        let inner = b
            .child(frame, Field::Alias)
            .map_or(outer, |alias| unquoted(b, alias));
        let type_only = b.text((frame.bytes.0, name.bytes.0)).trim() == "type";
        self.specifiers.push(Specifier {
            outer,
            inner,
            kind: SpecifierKind::Named,
            type_only,
        });
    }

    fn namespace(&mut self, b: &mut Builder<'_>, frame: &Frame) {
        let Some(name) = b.first_child(frame) else {
            return;
        };
        let inner = unquoted(b, name);
        self.specifiers.push(Specifier {
            outer: NONE,
            inner,
            kind: SpecifierKind::Namespace,
            type_only: false,
        });
    }

    fn clause(&mut self, b: &mut Builder<'_>, frame: &Frame) {
        for child in b.children(frame) {
            if let (Kind::Identifier, What::Name(inner)) = (child.kind, child.what) {
                let outer = b.name("default");
                self.specifiers.push(Specifier {
                    outer,
                    inner,
                    kind: SpecifierKind::Named,
                    type_only: false,
                });
            }
        }
    }

    fn import(&mut self, b: &mut Builder<'_>, frame: &Frame) {
        let specifiers = std::mem::take(&mut self.specifiers);
        let Some(What::Text(module)) = b.child(frame, Field::Source).map(|value| value.what) else {
            return;
        };
        b.facts.module = true;
        let typed = second_word(b, frame) == "type"
            || !specifiers.is_empty() && specifiers.iter().all(|specifier| specifier.type_only);
        let form = if typed {
            ImportForm::Type
        } else {
            ImportForm::Static
        };
        let names = specifiers
            .iter()
            .map(|specifier| specifier.outer)
            .filter(|&name| name != NONE)
            .collect();
        let import = b.import(module, 0, names, false, form, frame.line);
        let scope = b.scope();
        for specifier in specifiers {
            let value = value_of(b, import, &specifier);
            b.bind_in(scope, specifier.inner, value);
        }
    }

    /// `import x = require('y')`.
    fn import_require(&mut self, b: &mut Builder<'_>, frame: &Frame) {
        let (Some(What::Text(module)), Some(What::Name(name))) = (
            b.child(frame, Field::Source).map(|value| value.what),
            b.first_child(frame).map(|value| value.what),
        ) else {
            return;
        };
        b.facts.module = true;
        let import = b.import(
            module,
            0,
            Vec::new(),
            false,
            ImportForm::Require,
            frame.line,
        );
        let value = b.expression(Expression::Module {
            import,
            whole: true,
        });
        let scope = b.scope();
        b.bind_in(scope, name, value);
    }

    fn export(&mut self, b: &mut Builder<'_>, frame: &Frame) {
        let specifiers = std::mem::take(&mut self.specifiers);
        b.facts.module = true;
        // An export inside a namespace belongs to the namespace.
        let scope = b.scope();
        let top = scope == 0;
        if let Some(What::Text(module)) = b.child(frame, Field::Source).map(|value| value.what) {
            let names: Vec<u32> = specifiers
                .iter()
                .map(|specifier| specifier.outer)
                .filter(|&n| n != NONE)
                .collect();
            let star =
                specifiers.is_empty() && b.child_of_kind(frame, Kind::ExportClause).is_none();
            let import = b.import(module, 0, names, star, ImportForm::Reexport, frame.line);
            for specifier in specifiers {
                let value = value_of(b, import, &specifier);
                b.facts.exports.push(Export {
                    name: specifier.inner,
                    value,
                });
            }
            return;
        }
        if !top {
            return;
        }
        for specifier in specifiers {
            let value = b.expression(Expression::Name {
                scope,
                name: specifier.outer,
            });
            b.facts.exports.push(Export {
                name: specifier.inner,
                value,
            });
        }
        let default = second_word(b, frame) == "default";
        if b.child(frame, Field::Declaration).is_some() {
            let from = self.bindings.min(b.facts.bindings.len());
            let mut names: Vec<u32> = b.facts.bindings[from..]
                .iter()
                .filter(|found| found.scope == scope)
                .map(|found| found.name)
                .collect();
            names.dedup();
            for name in names {
                let value = b.expression(Expression::Name { scope, name });
                let name = if default { b.name("default") } else { name };
                b.facts.exports.push(Export { name, value });
            }
        } else if let Some(value) = b.child(frame, Field::Value) {
            let value = b.read(value.what);
            let name = b.name("default");
            b.facts.exports.push(Export { name, value });
        } else if let Some(value) = b
            .first_child(frame)
            .filter(|value| value.kind != Kind::ExportClause)
        {
            // `export = value`.
            let value = b.read(value.what);
            let name = b.name("=");
            b.facts.exports.push(Export { name, value });
        }
    }

    /// The module that a call imports: `import('x')`, `require('x')`.
    pub fn imported_by(
        &self,
        b: &mut Builder<'_>,
        callee: Value,
        arguments: What,
        line: u32,
    ) -> Option<u32> {
        let form = match callee.what {
            _ if callee.kind == Kind::ImportKeyword => ImportForm::Dynamic,
            What::Name(name) if b.spelled(name) == "require" => ImportForm::Require,
            _ => return None,
        };
        let What::Arguments(first, last) = arguments else {
            return None;
        };
        let at = b
            .facts
            .arguments
            .get(first as usize..last as usize)?
            .first()?
            .value;
        let Expression::Text { text } = b.expression_at(at) else {
            return None;
        };
        b.facts.module = true;
        let import = b.import(text, 0, Vec::new(), false, form, line);
        Some(b.expression(Expression::Module {
            import,
            whole: true,
        }))
    }

    /// Is this an assignment to `module.exports` or a property of it? Then the export is written.
    pub fn exported_by(&self, b: &mut Builder<'_>, place: u32, value: u32) -> bool {
        let Expression::Member { of, name } = b.expression_at(place) else {
            return false;
        };
        let whole = |b: &Builder<'_>, at: u32| match b.expression_at(at) {
            Expression::Member { of, name } => {
                b.spelled(name) == "exports"
                    && matches!(b.expression_at(of), Expression::Name { name, .. } if b.spelled(name) == "module")
            }
            _ => false,
        };
        let short = matches!(b.expression_at(of), Expression::Name { name, .. } if b.spelled(name) == "exports");
        let name = if whole(b, place) {
            b.name("=")
        } else if whole(b, of) || short {
            name
        } else {
            return false;
        };
        b.facts.module = true;
        b.facts.exports.push(Export { name, value });
        true
    }
}

fn value_of(b: &mut Builder<'_>, import: u32, specifier: &Specifier) -> u32 {
    match specifier.kind {
        SpecifierKind::Namespace => b.expression(Expression::Module {
            import,
            whole: true,
        }),
        SpecifierKind::Named => b.expression(Expression::Imported {
            import,
            name: specifier.outer,
        }),
    }
}

fn unquoted(b: &mut Builder<'_>, value: Value) -> u32 {
    let text = b.text(value.bytes);
    b.name(text.trim_matches(|c| matches!(c, '"' | '\'')))
}

fn second_word(b: &Builder<'_>, frame: &Frame) -> String {
    let text = b.text((frame.bytes.0, frame.bytes.1.min(frame.bytes.0 + 60)));
    let mut words = text
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        .filter(|word| !word.is_empty());
    words.nth(1).unwrap_or_default().to_owned()
}
