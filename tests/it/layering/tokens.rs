//! The paths a Rust file names, read from its tokens: in items, in bodies, in arguments of macros, in strings of attributes.
//!
//! In: tokens. Out: every path with its line. Knows nothing of rooms.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A path as written, `use` trees multiplied out, the name of a macro with its `!`.
pub struct Written {
    /// Where, from 1 on.
    pub line: usize,
    /// From left to right.
    pub segments: Vec<String>,
    /// How many modules of the same file it stands in.
    pub depth: usize,
}

/// The paths of one file.
#[derive(Default)]
pub struct Reader {
    /// In the order of the file.
    pub written: Vec<Written>,
    /// Names of `#[cfg(test)] mod name;`, whose files are tests.
    pub test_modules: Vec<String>,
    /// The line of the attribute whose string is being read: such a string has no lines of its own.
    line: Option<usize>,
}

impl Reader {
    /// Adds what `tokens` name, `depth` modules below the file's own.
    pub fn read(&mut self, tokens: TokenStream, depth: usize) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at = match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    self.attribute(&tokens, at, depth)
                }
                TokenTree::Punct(mark) if mark.as_char() == '.' => after_dot(&tokens, at),
                TokenTree::Ident(name) if name == "pub" => after_visibility(&tokens, at),
                TokenTree::Ident(name) if name == "mod" => match tokens.get(at + 2) {
                    Some(TokenTree::Group(body)) => {
                        self.read(body.stream(), depth + 1);
                        at + 3
                    }
                    _ => at + 2,
                },
                TokenTree::Ident(_) => self.path(&tokens, at, &[], depth),
                TokenTree::Group(group) => {
                    self.read(group.stream(), depth);
                    at + 1
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => at + 1,
            };
        }
    }

    /// Reads the path that begins at `at`, whose tree stands under `prefix`; says where it ends.
    fn path(
        &mut self,
        tokens: &[TokenTree],
        mut at: usize,
        prefix: &[String],
        depth: usize,
    ) -> usize {
        let line = self.line.unwrap_or_else(|| tokens[at].span().start().line);
        let mut segments = prefix.to_vec();
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(name)) if name == "self" && !segments.is_empty() => {}
                Some(TokenTree::Ident(name)) => segments.push(name.to_string()),
                Some(TokenTree::Group(tree)) if tree.delimiter() == Delimiter::Brace => {
                    let tree: Vec<TokenTree> = tree.stream().into_iter().collect();
                    for part in tree
                        .split(|token| is_mark(Some(token), ','))
                        .filter(|part| !part.is_empty())
                    {
                        self.path(part, 0, &segments, depth);
                    }
                    return at + 1;
                }
                Some(TokenTree::Punct(mark)) if mark.as_char() == '*' => {
                    segments.push("*".to_owned())
                }
                _ => break,
            }
            at += 1;
            if !is_colons(tokens, at) {
                break;
            }
            at += 2;
        }
        let is_macro =
            is_mark(tokens.get(at), '!') && matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
        if let (true, Some(last)) = (is_macro, segments.last_mut()) {
            last.push('!');
        }
        self.written.push(Written {
            line,
            segments,
            depth,
        });
        at
    }

    /// Reads an attribute; jumps over the item when it is only there for tests.
    fn attribute(&mut self, tokens: &[TokenTree], at: usize, depth: usize) -> usize {
        let inner = is_mark(tokens.get(at + 1), '!');
        let at = at + 1 + usize::from(inner);
        let Some(TokenTree::Group(attribute)) = tokens.get(at) else {
            return at;
        };
        let text = attribute.stream().to_string().replace(' ', "");
        if text == "cfg(test)" || text.starts_with("cfg(all(test,") {
            return if inner {
                tokens.len()
            } else {
                self.test_item(tokens, at + 1)
            };
        }
        if !text.starts_with("doc=") {
            self.read(attribute.stream(), depth);
            self.strings(attribute.stream(), depth);
        }
        at + 1
    }

    /// `#[serde(with = "crate::room")]` is an import in a string.
    fn strings(&mut self, tokens: TokenStream, depth: usize) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.strings(group.stream(), depth),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if let Ok(tokens) = text.trim_matches('"').parse::<TokenStream>() {
                        self.line = Some(literal.span().start().line);
                        self.read(tokens, depth);
                        self.line = None;
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn test_item(&mut self, tokens: &[TokenTree], from: usize) -> usize {
        let is_end = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_mark(Some(token), ';'),
        };
        let end = tokens[from..]
            .iter()
            .position(is_end)
            .map_or(tokens.len(), |end| from + end + 1);
        if let [
            ..,
            TokenTree::Ident(word),
            TokenTree::Ident(name),
            TokenTree::Punct(_),
        ] = &tokens[from..end]
            && word == "mod"
        {
            self.test_modules.push(name.to_string());
        }
        end
    }
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let joint =
        matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.spacing() == Spacing::Joint);
    joint && is_mark(tokens.get(at), ':') && is_mark(tokens.get(at + 1), ':')
}

/// A method or a field is nobody's room; after the second dot of a range a path may begin.
fn after_dot(tokens: &[TokenTree], at: usize) -> usize {
    let range = at > 0 && is_mark(tokens.get(at - 1), '.');
    let name = matches!(tokens.get(at + 1), Some(TokenTree::Ident(_)));
    at + 1 + usize::from(name && !range)
}

/// `pub(in crate::room)` says who may see, not what is imported.
fn after_visibility(tokens: &[TokenTree], at: usize) -> usize {
    let whom = tokens
        .get(at + 1)
        .map(ToString::to_string)
        .unwrap_or_default();
    let whom = whom.trim_start_matches('(').trim_start();
    let is_visibility = ["crate)", "super)", "self)", "in "]
        .iter()
        .any(|start| whom.starts_with(start));
    at + 1 + usize::from(is_visibility)
}
