//! All facts of a tree, made ready to be looked up: files, their imports' places, and indices by name.
//!
//! In: the facts of every source file. Out: constant-time or logarithmic look-ups. Never evaluates anything.

use std::cell::OnceCell;

use crate::graph::facts::{
    Binding, DefinitionKind, Export, Expression, Facts, ImportForm, Language, Member, NONE,
    ScopeKind,
};
use crate::graph::hash::{Interner, Table};
use crate::graph::npm::{Asked, Npm};
use crate::graph::places::{Place, Places, parent};
use crate::graph::stars::Stars;

/// One source file.
pub struct Unit<'tree> {
    /// Its path.
    pub path: &'tree str,
    /// How it is read.
    pub language: Language,
    /// What it says.
    pub facts: &'tree Facts,
    /// Where each of its imports leads.
    pub places: Vec<Place>,
    /// The tree-wide name of each name of the file.
    global: Vec<u32>,
    /// Tree-wide names with their names in the file, sorted; made when first asked for.
    local: OnceCell<Vec<(u32, u32)>>,
    /// Where the bindings of each scope begin; one more than there are scopes.
    bound: Vec<u32>,
    /// The scope of each definition's body, `NONE` without one.
    pub bodies: Vec<u32>,
    /// Definitions that are members: owner, name, definition; sorted.
    owned: Vec<(u32, u32, u32)>,
    /// Imports at the top level that take every name.
    pub stars: Vec<u32>,
    /// Functions of the file with the calls of the file that name them: function, call; sorted.
    sites: Vec<(u32, u32)>,
}

/// All source files of a tree.
pub struct World<'tree> {
    /// The files in order of their paths.
    pub units: Vec<Unit<'tree>>,
    /// The paths.
    pub places: Places<'tree>,
    /// Where the stars lead.
    pub stars: Stars,
    names: Names<'tree>,
}

/// The names of all files, each once.
#[derive(Default)]
struct Names<'tree> {
    texts: Vec<&'tree str>,
    index: Interner,
}

impl<'tree> Names<'tree> {
    fn add(&mut self, text: &'tree str) -> u32 {
        let texts = &mut self.texts;
        match self.index.index(text, |at| texts[at as usize]) {
            Ok(known) => known,
            Err(new) => {
                texts.push(text);
                new
            }
        }
    }
}

impl<'tree> World<'tree> {
    /// From source files in order of their paths, and all paths of the tree.
    pub fn new(
        sources: &[(&'tree str, Language, &'tree Facts)],
        paths: impl Iterator<Item = &'tree str>,
    ) -> Self {
        let code: Vec<_> = sources
            .iter()
            .filter(|(_, language, _)| *language != Language::Project)
            .collect();
        let indexed: Vec<_> = code
            .iter()
            .enumerate()
            .map(|(at, (path, _, _))| (*path, at as u32))
            .collect();
        let places = Places::new(&indexed, paths);
        let projects = sources
            .iter()
            .filter(|(_, language, _)| *language == Language::Project);
        let npm = Npm::new(projects.map(|(path, _, facts)| (*path, facts.text.as_str())));
        let mut names = Names::default();
        let mut found = Table::default();
        let units: Vec<_> = code
            .iter()
            .map(|(path, language, facts)| {
                // What an import means depends on the folder and the extension, not on the file.
                let folder = parent(path);
                let python = *language == Language::Python;
                let places = facts.imports.iter().map(|import| {
                    let module = facts.names.get(import.module);
                    let is_require = import.form == ImportForm::Require;
                    let asked = Asked {
                        from: path,
                        specifier: module,
                        is_require,
                    };
                    let key = (folder, extension(path), import.level, is_require, module);
                    *found.entry(key).or_insert_with(|| match python {
                        true => places.python(path, import.level, module),
                        false => npm.resolve(&places, asked),
                    })
                });
                let places = places.collect();
                Unit::new(path, *language, facts, places, &mut names)
            })
            .collect();
        Self {
            stars: Stars::new(&units),
            units,
            places,
            names,
        }
    }

    /// The text of a tree-wide name.
    pub fn spelled(&self, name: u32) -> &'tree str {
        self.names
            .texts
            .get(name as usize)
            .copied()
            .unwrap_or_default()
    }

    /// The tree-wide name of a text, `None` when no file has it.
    pub fn name(&self, text: &str) -> Option<u32> {
        self.names
            .index
            .find(text, |at| self.names.texts[at as usize])
    }

    /// A file by index.
    pub fn unit(&self, file: u32) -> &Unit<'tree> {
        &self.units[file as usize]
    }
}

impl<'tree> Unit<'tree> {
    fn new(
        path: &'tree str,
        language: Language,
        facts: &'tree Facts,
        places: Vec<Place>,
        names: &mut Names<'tree>,
    ) -> Self {
        let count = facts.names.len() as u32;
        let global: Vec<u32> = (0..count)
            .map(|at| names.add(facts.names.get(at)))
            .collect();
        let mut bound = Vec::with_capacity(facts.scopes.len() + 1);
        let mut first = 0;
        for scope in 0..=facts.scopes.len() as u32 {
            while facts
                .bindings
                .get(first)
                .is_some_and(|binding| binding.scope < scope)
            {
                first += 1;
            }
            bound.push(first as u32);
        }
        let mut bodies = vec![NONE; facts.definitions.len()];
        for (at, scope) in facts.scopes.iter().enumerate() {
            if let Some(body) = bodies.get_mut(scope.definition as usize) {
                *body = at as u32;
            }
        }
        let definitions = facts.definitions.iter().enumerate();
        let mut owned: Vec<_> = definitions
            .filter(|(_, found)| found.owner != NONE && found.name != NONE)
            .map(|(at, found)| (found.owner, found.name, at as u32))
            .collect();
        owned.sort_unstable();
        let stars = facts
            .imports
            .iter()
            .enumerate()
            .filter(|(_, import)| import.star)
            .map(|(at, _)| at as u32)
            .collect();
        let mut unit = Self {
            path,
            language,
            facts,
            places,
            global,
            local: OnceCell::new(),
            bound,
            bodies,
            owned,
            stars,
            sites: Vec::new(),
        };
        unit.sites = unit.find_sites();
        unit
    }

    /// Where the imports lead that take every name, in source order.
    pub fn starred(&self) -> impl DoubleEndedIterator<Item = Place> + '_ {
        let place = |import: &u32| self.places.get(*import as usize).copied();
        self.stars
            .iter()
            .map(move |import| place(import).unwrap_or(Place::Foreign))
    }

    /// Functions with the calls in the same file that call them by their name, or by `self`, as far as scopes alone tell.
    fn find_sites(&self) -> Vec<(u32, u32)> {
        let mut sites = Vec::new();
        for (at, call) in self
            .facts
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.first < call.last)
        {
            let function = match self.facts.expressions.get(call.callee as usize) {
                Some(&Expression::Name { scope, name }) => self.sole_value(scope, name),
                Some(&Expression::Definition { definition }) => Some(definition),
                _ => None,
            };
            sites.extend(function.map(|function| (function, at as u32)));
        }
        sites.sort_unstable();
        sites
    }

    /// The definition that a name seen from a scope is bound to, when it is bound once and to a definition.
    fn sole_value(&self, scope: u32, name: u32) -> Option<u32> {
        let bound = self.bindings(self.binding_scope(scope, name)?, name);
        let [only] = bound else { return None };
        match self.facts.expressions.get(only.value as usize) {
            Some(&Expression::Definition { definition }) => Some(definition),
            _ => None,
        }
    }

    /// The calls of the file that call a function by its name.
    pub fn sites(&self, function: u32) -> &[(u32, u32)] {
        equal_range(&self.sites, function, |found| found.0)
    }

    /// The scope that binds a name as seen from a scope, by the language's rules; `None` when no scope of the file does.
    pub fn binding_scope(&self, scope: u32, name: u32) -> Option<u32> {
        let mut at = scope;
        while let Some(found) = self.facts.scopes.get(at as usize) {
            // Python: functions do not see the names of the class around them.
            let hidden =
                found.kind == ScopeKind::Class && self.language == Language::Python && at != scope;
            if !hidden && !self.bindings(at, name).is_empty() {
                return Some(at);
            }
            at = found.parent;
        }
        None
    }

    /// The text of a name of this file.
    pub fn spelled(&self, name: u32) -> &'tree str {
        self.facts.names.get(name)
    }

    /// The tree-wide name of a name of this file.
    pub fn global(&self, name: u32) -> u32 {
        self.global.get(name as usize).copied().unwrap_or(NONE)
    }

    /// The name of this file for a tree-wide name.
    pub fn local(&self, name: u32) -> Option<u32> {
        let local = self.local.get_or_init(|| {
            let mut local: Vec<(u32, u32)> = self.global.iter().copied().zip(0..).collect();
            local.sort_unstable();
            local
        });
        let at = local.binary_search_by_key(&name, |found| found.0).ok()?;
        Some(local[at].1)
    }

    /// What a name is bound to in a scope.
    pub fn bindings(&self, scope: u32, name: u32) -> &'tree [Binding] {
        let at = scope as usize;
        let (first, last) = match (self.bound.get(at), self.bound.get(at + 1)) {
            (Some(&first), Some(&last)) => (first as usize, last as usize),
            _ => return &[],
        };
        let own = self.facts.bindings.get(first..last).unwrap_or_default();
        equal_range(own, name, |found| found.name)
    }

    /// What an attribute of a class or object is set to.
    pub fn members(&self, owner: u32, name: u32) -> &'tree [Member] {
        equal_range(&self.facts.members, (owner, name), |found| {
            (found.owner, found.name)
        })
    }

    /// The functions and objects that are members of a class or object under a name.
    pub fn owned(&self, owner: u32, name: u32) -> impl Iterator<Item = u32> + '_ {
        let range = equal_range(&self.owned, (owner, name), |found| (found.0, found.1));
        range.iter().map(|found| found.2)
    }

    /// What is exported under a name, by text.
    pub fn exports(&self, name: &str) -> &'tree [Export] {
        equal_range(&self.facts.exports, name, |found| self.spelled(found.name))
    }

    /// The annotation of a parameter of a definition as a type expression, else `NONE`.
    pub fn parameter_type(&self, definition: u32, index: u32) -> u32 {
        let found = self.facts.definitions.get(definition as usize);
        found
            .and_then(|found| found.parameters.get(index as usize))
            .map_or(NONE, |found| found.of)
    }

    /// The kind of a definition.
    pub fn kind(&self, definition: u32) -> DefinitionKind {
        self.facts
            .definitions
            .get(definition as usize)
            .map_or(DefinitionKind::Object, |found| found.kind)
    }

    /// The flags of a definition.
    pub fn flags(&self, definition: u32) -> u32 {
        self.facts
            .definitions
            .get(definition as usize)
            .map_or(0, |found| found.flags)
    }

    /// The kind of a scope.
    pub fn scope_kind(&self, scope: u32) -> ScopeKind {
        self.facts
            .scopes
            .get(scope as usize)
            .map_or(ScopeKind::Module, |found| found.kind)
    }
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn equal_range<T, K: Ord + Copy>(sorted: &[T], key: K, of: impl Fn(&T) -> K) -> &[T] {
    let first = sorted.partition_point(|found| of(found) < key);
    let rest = sorted.get(first..).unwrap_or_default();
    match rest {
        [] => return rest,
        [one, ..] if of(one) != key => return &[],
        _ => {}
    }
    let len = rest.partition_point(|found| of(found) == key);
    rest.get(..len).unwrap_or_default()
}
