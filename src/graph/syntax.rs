//! Tree-sitter at arm's length: parse a blob within fixed limits and step through its tree with a cursor.
//!
//! In: bytes and a language. Out: a stream of enter and leave steps over the named nodes, with kinds and fields as small enums. Never
//! recurses (nesting of 200,000 levels is a legal input), never runs a tree-sitter query, and never looks at a clock: the limit on
//! parsing is a count of the parser's progress callbacks, which depends on the input alone.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

use crate::graph::facts::Language;

/// Progress callbacks after which a parse is given up. A callback comes every hundred steps of the parser; the largest ordinary file of
/// 1 MiB (generated tables) was seen to need about 40,000.
const PARSE_STEPS: u32 = 200_000;

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $($text:literal)|+),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $type { Other, $($variant),+ }

        impl $type {
            fn named(text: &str) -> Self {
                match text { $($($text)|+ => Self::$variant,)+ _ => Self::Other }
            }
        }
    };
}

names!(
    /// The kinds of syntax node that a language module treats; every other named node is `Other`.
    Kind {
        // Python
        Argument = "keyword_argument",
        AliasedImport = "aliased_import",
        AsPattern = "as_pattern",
        AsTarget = "as_pattern_target",
        Assignment = "assignment",
        Attribute = "attribute",
        BooleanOperator = "boolean_operator",
        BinaryOperator = "binary_operator",
        Call = "call",
        CasePattern = "case_pattern",
        ClassDefinition = "class_definition",
        Comprehension = "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression",
        Conditional = "conditional_expression",
        Decorated = "decorated_definition",
        DefaultParameter = "default_parameter",
        Dictionary = "dictionary",
        DottedName = "dotted_name",
        ExceptClause = "except_clause",
        ExpressionList = "expression_list",
        ForIn = "for_in_clause",
        FromImport = "import_from_statement",
        FunctionDefinition = "function_definition",
        Future = "future_import_statement",
        Global = "global_statement",
        ImportPrefix = "import_prefix",
        KeywordSeparator = "keyword_separator",
        Lambda = "lambda",
        List = "list" | "set",
        ListPattern = "list_pattern" | "tuple_pattern" | "pattern_list",
        NamedExpression = "named_expression",
        Nonlocal = "nonlocal_statement",
        Parameters = "parameters" | "lambda_parameters",
        PositionalSeparator = "positional_separator",
        RelativeImport = "relative_import",
        Splat = "list_splat_pattern",
        DictSplat = "dictionary_splat_pattern",
        SplatArgument = "list_splat" | "dictionary_splat",
        SplatPattern = "splat_pattern",
        KeywordPattern = "keyword_pattern",
        StringContent = "string_content",
        Subscript = "subscript",
        Tuple = "tuple",
        Type = "type",
        TypeAlias = "type_alias_statement",
        TypeParameter = "type_parameter",
        TypedDefaultParameter = "typed_default_parameter",
        TypedParameter = "typed_parameter",
        Wildcard = "wildcard_import",
        With = "with_item",
        Yield = "yield",
        // JavaScript and TypeScript
        AbstractMethod = "abstract_method_signature",
        ArrayPattern = "array_pattern",
        ArrayType = "array_type",
        Arrow = "arrow_function",
        As = "as_expression",
        Assertion = "type_assertion",
        Satisfies = "satisfies_expression",
        AssignmentExpression = "assignment_expression",
        AssignmentPattern = "assignment_pattern" | "object_assignment_pattern",
        Binary = "binary_expression",
        CallExpression = "call_expression",
        Catch = "catch_clause",
        ClassBody = "class_body",
        ClassDeclaration = "class_declaration" | "abstract_class_declaration",
        ClassExpression = "class",
        ClassHeritage = "class_heritage",
        Computed = "computed_property_name",
        EnumAssignment = "enum_assignment",
        EnumDeclaration = "enum_declaration",
        ExportClause = "export_clause",
        ExportSpecifier = "export_specifier",
        ExportStatement = "export_statement",
        ExtendsClause = "extends_clause" | "extends_type_clause",
        Field = "field_definition" | "public_field_definition",
        ForInStatement = "for_in_statement",
        ForStatement = "for_statement",
        FormalParameters = "formal_parameters",
        FunctionDeclaration = "function_declaration" | "generator_function_declaration",
        FunctionExpression = "function_expression" | "generator_function",
        FunctionSignature = "function_signature",
        FunctionType = "function_type" | "constructor_type",
        GenericType = "generic_type",
        ImplementsClause = "implements_clause",
        ImportAlias = "import_alias",
        ImportClause = "import_clause",
        ImportKeyword = "import",
        ImportRequire = "import_require_clause",
        ImportSpecifier = "import_specifier",
        ImportStatement = "import_statement",
        InterfaceBody = "interface_body" | "object_type",
        InterfaceDeclaration = "interface_declaration",
        InternalModule = "internal_module" | "module",
        IntersectionType = "intersection_type",
        JsxOpening = "jsx_opening_element",
        JsxSelfClosing = "jsx_self_closing_element",
        LexicalDeclaration = "lexical_declaration",
        MemberExpression = "member_expression" | "nested_identifier",
        MethodDefinition = "method_definition",
        MethodSignature = "method_signature",
        NamedImports = "named_imports",
        NamespaceExport = "namespace_export",
        NamespaceImport = "namespace_import",
        NestedType = "nested_type_identifier",
        New = "new_expression",
        NonNull = "non_null_expression",
        Object = "object",
        ObjectPattern = "object_pattern",
        OptionalParameter = "optional_parameter",
        Pair = "pair",
        PairPattern = "pair_pattern",
        ParenthesizedType = "parenthesized_type" | "readonly_type",
        PredefinedType = "predefined_type",
        PropertySignature = "property_signature",
        RequiredParameter = "required_parameter",
        Rest = "rest_pattern" | "rest_type",
        Sequence = "sequence_expression",
        Spread = "spread_element",
        StatementBlock = "statement_block",
        StringFragment = "string_fragment",
        SubscriptExpression = "subscript_expression",
        Super = "super",
        Switch = "switch_statement",
        Template = "template_string",
        TemplateSubstitution = "template_substitution",
        Ternary = "ternary_expression",
        This = "this",
        TypeAliasDeclaration = "type_alias_declaration",
        TypeAnnotation = "type_annotation",
        TypeArguments = "type_arguments",
        TypeParameters = "type_parameters",
        TypeQuery = "type_query",
        Unary = "unary_expression",
        UnionType = "union_type",
        VariableDeclaration = "variable_declaration",
        VariableDeclarator = "variable_declarator",
        YieldExpression = "yield_expression",
        // both
        Arguments = "argument_list" | "arguments",
        Array = "array",
        Constant = "none" | "true" | "false" | "null" | "undefined" | "regex" | "float" | "literal_type",
        Await = "await" | "await_expression",
        Decorator = "decorator",
        Error = "ERROR",
        Identifier = "identifier" | "type_identifier",
        Number = "integer" | "number",
        Parenthesized = "parenthesized_expression",
        PropertyName = "property_identifier" | "private_property_identifier",
        Return = "return_statement",
        Shorthand = "shorthand_property_identifier" | "shorthand_property_identifier_pattern",
        String = "string",
        ConcatenatedString = "concatenated_string",
        Program = "program",
    }
);

names!(
    /// The fields of syntax nodes that a language module treats.
    Field {
        Alias = "alias",
        Alternative = "alternative",
        Argument = "argument",
        Arguments = "arguments",
        Attribute = "attribute",
        Body = "body",
        Consequence = "consequence",
        Condition = "condition",
        Constructor = "constructor",
        Declaration = "declaration",
        Decorator = "decorator",
        Definition = "definition",
        Function = "function",
        Index = "index" | "subscript",
        Key = "key",
        Left = "left",
        ModuleName = "module_name" | "module",
        Name = "name",
        Object = "object",
        Operator = "operator",
        Parameter = "parameter",
        Parameters = "parameters",
        Pattern = "pattern",
        Property = "property",
        ReturnType = "return_type",
        Right = "right",
        Source = "source",
        Superclasses = "superclasses",
        Tag = "tag",
        Type = "type",
        TypeArguments = "type_arguments",
        Value = "value",
    }
);

/// A grammar with its kinds and fields looked up once.
struct Grammar {
    language: tree_sitter::Language,
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

impl Grammar {
    fn new(language: tree_sitter::Language) -> Self {
        let kinds = (0..language.node_kind_count() as u16)
            .map(|id| Kind::named(language.node_kind_for_id(id).unwrap_or_default()))
            .collect();
        let fields = (0..=language.field_count() as u16)
            .map(|id| Field::named(language.field_name_for_id(id).unwrap_or_default()))
            .collect();
        Self {
            language,
            kinds,
            fields,
        }
    }
}

fn grammar(language: Language) -> Option<&'static Grammar> {
    static PYTHON: OnceLock<Grammar> = OnceLock::new();
    static JAVASCRIPT: OnceLock<Grammar> = OnceLock::new();
    static TYPESCRIPT: OnceLock<Grammar> = OnceLock::new();
    static TSX: OnceLock<Grammar> = OnceLock::new();
    Some(match language {
        Language::Python => {
            PYTHON.get_or_init(|| Grammar::new(tree_sitter_python::LANGUAGE.into()))
        }
        Language::JavaScript => {
            JAVASCRIPT.get_or_init(|| Grammar::new(tree_sitter_javascript::LANGUAGE.into()))
        }
        Language::TypeScript => TYPESCRIPT
            .get_or_init(|| Grammar::new(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into())),
        Language::Tsx => {
            TSX.get_or_init(|| Grammar::new(tree_sitter_typescript::LANGUAGE_TSX.into()))
        }
        Language::Project => return None,
    })
}

/// Parsers of one thread, made when first needed and used again for the next file.
#[derive(Default)]
pub struct Parsers {
    parsers: [Option<Parser>; 4],
}

impl Parsers {
    /// The syntax tree of a blob; `None` when the parser gave up within `PARSE_STEPS`, or the language has no grammar.
    pub fn parse(&mut self, language: Language, source: &[u8]) -> Option<Tree> {
        let grammar = grammar(language)?;
        let slot = self.parsers.get_mut(language as usize)?;
        let parser = slot.get_or_insert_with(Parser::new);
        parser.set_language(&grammar.language).ok()?;
        let mut steps = 0u32;
        let mut count = |_: &tree_sitter::ParseState| {
            steps += 1;
            if steps > PARSE_STEPS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut count);
        let mut read = |at: usize, _| source.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            // Without it the next parse would go on with this one.
            parser.reset();
        }
        tree
    }
}

/// One step of a walk.
pub enum Step<'tree> {
    /// A named node begins.
    Enter(Kind, Field, Node<'tree>),
    /// A comment, where the language's comments can hold types.
    Comment(Node<'tree>),
    /// The node that began last and has not ended, ends.
    Leave,
}

/// The named nodes of a tree in source order, each entered and left.
pub struct Walk<'tree> {
    cursor: TreeCursor<'tree>,
    grammar: &'static Grammar,
    /// Whether each open node, unnamed ones included, was reported.
    open: Vec<bool>,
    state: State,
    python: bool,
    comments: bool,
}

enum State {
    Visit,
    Advance,
    Done,
}

impl<'tree> Walk<'tree> {
    /// A walk over the whole tree; `None` for a language without a grammar.
    pub fn new(tree: &'tree Tree, language: Language) -> Option<Self> {
        let grammar = grammar(language)?;
        Some(Self {
            cursor: tree.walk(),
            grammar,
            open: Vec::with_capacity(64),
            state: State::Visit,
            python: language == Language::Python,
            comments: language == Language::JavaScript,
        })
    }
}

impl Walk<'_> {
    /// Kinds whose inside says nothing.
    fn closed(&self, kind: Kind) -> bool {
        match kind {
            Kind::String => !self.python,
            Kind::Constant | Kind::Number | Kind::TypeParameters => true,
            _ => false,
        }
    }
}

impl<'tree> Iterator for Walk<'tree> {
    type Item = Step<'tree>;

    fn next(&mut self) -> Option<Step<'tree>> {
        loop {
            match self.state {
                State::Done => return None,
                State::Visit => {
                    let node = self.cursor.node();
                    let named = node.is_named() && !node.is_extra() || node.is_error();
                    let field = self.cursor.field_id().map_or(Field::Other, |id| {
                        self.grammar
                            .fields
                            .get(usize::from(id.get()))
                            .copied()
                            .unwrap_or(Field::Other)
                    });
                    self.open.push(named);
                    if !named {
                        if self.comments && node.is_extra() && node.is_named() {
                            self.state = State::Advance;
                            return Some(Step::Comment(node));
                        }
                        // Unnamed nodes have no named children.
                        self.state = State::Advance;
                        continue;
                    }
                    // The kind of an ERROR node (65535) lies outside the table.
                    let kind = self.grammar.kinds.get(usize::from(node.kind_id()));
                    let kind = match kind {
                        _ if node.is_error() => Kind::Error,
                        kind => kind.copied().unwrap_or(Kind::Other),
                    };
                    if self.closed(kind) || !self.cursor.goto_first_child() {
                        self.state = State::Advance;
                    }
                    return Some(Step::Enter(kind, field, node));
                }
                State::Advance => {
                    let reported = self.open.pop().unwrap_or(false);
                    self.state = if self.open.is_empty() {
                        State::Done
                    } else if self.cursor.goto_next_sibling() {
                        State::Visit
                    } else if self.cursor.goto_parent() {
                        State::Advance
                    } else {
                        State::Done
                    };
                    if reported {
                        return Some(Step::Leave);
                    }
                }
            }
        }
    }
}
