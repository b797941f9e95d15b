//! Names that Python itself brings.
//!
//! In: a name. Out: whether it is a module of the standard library or known everywhere. The lists are frozen with the extractor's version.

use std::sync::OnceLock;

/// `sys.stdlib_module_names` of CPython 3.11 without the private ones, and modules that left it since: one a line, sorted.
const MODULES: &str = include_str!("python-modules-1.txt");

/// `dir(builtins)` of CPython 3.11, the names that every module has, and those of Python 2: one a line, sorted.
const BUILTINS: &str = include_str!("python-builtins-1.txt");

/// Is this a module of the standard library? A file of the tree that happens to have its name is not what an absolute import means.
pub fn is_standard(module: &str) -> bool {
    static LIST: OnceLock<Vec<&str>> = OnceLock::new();
    let list = LIST.get_or_init(|| MODULES.lines().collect());
    list.binary_search(&module).is_ok()
}

/// Is this a name that Python knows everywhere?
pub fn is_builtin(name: &str) -> bool {
    static LIST: OnceLock<Vec<&str>> = OnceLock::new();
    let list = LIST.get_or_init(|| BUILTINS.lines().collect());
    list.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        for list in [MODULES, BUILTINS] {
            assert!(list.lines().is_sorted());
        }
        assert!(is_standard("json") && is_builtin("print"));
        assert!(!is_standard("flask") && !is_builtin("flask"));
    }
}
