//! JavaScript and TypeScript syntax to facts: definitions, scopes, values and calls. Modules are in `esm.rs`, types in `typescript.rs`.
//!
//! In: the bytes and the syntax tree of one blob. Out: `Facts`. A function or object gets the name of what it is the value of (a
//! variable, a class field, a property); other functions are part of the named scope around them. Never resolves anything.

use tree_sitter::{Node, Tree};

use crate::graph::builder::{Builder, What, bytes, line};
use crate::graph::esm::Modules;
use crate::graph::facts::{DefinitionKind, Expression, Facts, Language, flag};
use crate::graph::js_open::Script;
use crate::graph::jsdoc::Docs;
use crate::graph::syntax::{Field, Kind, Step, Walk};
use crate::graph::typescript;

/// The facts of a JavaScript or TypeScript blob.
pub fn extract(tree: &Tree, source: &[u8], language: Language) -> Facts {
    let mut script = Script {
        b: Builder::new(source),
        modules: Modules::default(),
        docs: Docs::default(),
    };
    let Some(walk) = Walk::new(tree, language) else {
        return Facts::default();
    };
    for step in walk {
        match step {
            Step::Enter(kind, field, node) => script.enter(kind, field, node),
            Step::Comment(node) => script.docs.pass(&mut script.b, bytes(node)),
            Step::Leave => script.leave(),
        }
    }
    script.b.finish()
}

impl Script<'_> {
    fn enter(&mut self, kind: Kind, field: Field, node: Node<'_>) {
        let opened = field == Field::Body && self.open_body();
        self.b.enter(kind, field, bytes(node), line(node));
        self.mark(|frame| frame.scope = opened);
        match kind {
            Kind::FunctionDeclaration | Kind::FunctionSignature => self.begin_function(node),
            Kind::FunctionExpression | Kind::Arrow => {
                self.begin_value(node, DefinitionKind::Function)
            }
            Kind::Object => self.begin_value(node, DefinitionKind::Object),
            Kind::MethodDefinition | Kind::MethodSignature | Kind::AbstractMethod => {
                self.begin_method(node)
            }
            Kind::ClassDeclaration
            | Kind::InterfaceDeclaration
            | Kind::EnumDeclaration
            | Kind::InternalModule => {
                self.begin_class(node, kind);
            }
            Kind::ClassExpression => self.begin_value(node, DefinitionKind::Class),
            Kind::InterfaceBody => self.begin_type(node, DefinitionKind::Object, flag::TYPE),
            Kind::FunctionType => {
                let flags = flag::TYPE | flag::SIGNATURE;
                self.begin_type(node, DefinitionKind::Function, flags);
            }
            Kind::ForStatement | Kind::ForInStatement | Kind::Catch | Kind::Switch => {
                self.open_block()
            }
            Kind::StatementBlock if !opened => self.open_block(),
            Kind::ExportStatement => self.modules.open_export(&self.b),
            Kind::VariableDeclarator
            | Kind::AssignmentExpression
            | Kind::Field
            | Kind::Parenthesized => self.docs.open_typed(&self.b, node.start_byte()),
            _ => {}
        }
    }

    fn leave(&mut self) {
        let Some(frame) = self.b.frames.last().copied() else {
            return;
        };
        let what = match frame.kind {
            Kind::Identifier => What::Name(self.b.name_at(frame.bytes)),
            Kind::PropertyName | Kind::Shorthand => What::Name(self.b.name_at(frame.bytes)),
            Kind::String => self.string(&frame),
            Kind::Constant | Kind::Unary => {
                What::Expression(self.b.expression(Expression::Literal))
            }
            Kind::Number => What::Text(self.b.name_at(frame.bytes)),
            Kind::MemberExpression => self.member(&frame),
            Kind::SubscriptExpression => self.subscript(&frame),
            Kind::CallExpression | Kind::New => self.call(&frame),
            Kind::JsxOpening | Kind::JsxSelfClosing => self.jsx(&frame),
            Kind::Decorator => self.decorator(&frame),
            Kind::Arguments | Kind::Array => self.list(&frame),
            Kind::Object => self.object(&frame),
            Kind::Pair => self
                .b
                .child(&frame, Field::Value)
                .map_or(What::Nothing, |value| value.what),
            Kind::Parenthesized => self.parenthesized(&frame),
            Kind::Await | Kind::NonNull | Kind::Satisfies | Kind::Spread => self.first(&frame),
            Kind::Sequence => self
                .b
                .children(&frame)
                .last()
                .map_or(What::Nothing, |value| value.what),
            Kind::Ternary | Kind::Binary => self.choice(&frame),
            Kind::This => {
                let scope = self.b.scope();
                What::Expression(self.b.expression(Expression::This { scope }))
            }
            Kind::Super => {
                let scope = self.b.scope();
                What::Expression(self.b.expression(Expression::Super { scope }))
            }
            Kind::AssignmentExpression => self.assignment(&frame),
            Kind::VariableDeclarator => self.declarator(&frame),
            Kind::ArrayPattern
            | Kind::ObjectPattern
            | Kind::PairPattern
            | Kind::AssignmentPattern
            | Kind::Rest => self.pattern(&frame),
            Kind::FormalParameters => self.parameters(&frame),
            Kind::Arrow | Kind::FunctionExpression | Kind::ClassExpression => {
                self.end_value(&frame)
            }
            Kind::FunctionSignature
            | Kind::MethodSignature
            | Kind::AbstractMethod
            | Kind::FunctionType => self.end_signature(&frame),
            Kind::Field | Kind::PropertySignature => self.field(&frame),
            Kind::Return => {
                if let Some(child) = self.b.first_child(&frame) {
                    let value = self.b.read(child.what);
                    self.b.returned(value);
                }
                What::Nothing
            }
            Kind::YieldExpression => self.yields(&frame),
            Kind::ForInStatement => self.loop_target(&frame),
            Kind::Catch => self.caught(&frame),
            _ => self
                .modules
                .leave(&mut self.b, &frame)
                .or_else(|| typescript::leave(&mut self.b, &frame))
                .unwrap_or(What::Nothing),
        };
        self.b.leave(what);
    }
}
