//! Trees that want to waste time or memory: each kind in a size at which work that grows with the square of it, or faster, would be seen.

use super::tests::{edges_of, graph_of};
use super::tree_tests::repository;
use super::*;

/// The edges of files that are made one by one.
fn edges(files: Vec<(String, String)>) -> std::collections::BTreeSet<String> {
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    edges_of(&files)
}

#[test]
fn barrels_of_many_modules_that_all_ask_the_barrel() {
    let count = 1000;
    for (barrel, line, file) in [
        ("index.js", "export * from './m", "js"),
        ("p/__init__.py", "from .m", "py"),
    ] {
        let python = file == "py";
        let folder = if python { "p/" } else { "" };
        let end = if python { " import *\n" } else { "'\n" };
        let whole: String = (0..count).map(|at| format!("{line}{at}{end}")).collect();
        let mut files = vec![(barrel.to_owned(), whole)];
        for at in 0..count {
            let next = (at + 1) % count;
            let user = format!("f{next}(); gone()\n");
            match python {
                true => {
                    let text = format!("from p import f{next}, gone\n{user}");
                    files.push((format!("u{at}.py"), text));
                    files.push((format!("p/m{at}.py"), format!("def f{at}(): pass\n")));
                }
                false => {
                    let text = format!("import {{ f{next}, gone }} from './index'\n{user}");
                    files.push((format!("u{at}.js"), text));
                    files.push((
                        format!("m{at}.js"),
                        format!("export function f{at}() {{}}\n"),
                    ));
                }
            }
        }
        let found = edges(files);
        let calls = found
            .iter()
            .filter(|edge| edge.starts_with("calls "))
            .count();
        assert_eq!(calls, count, "{barrel}");
        assert!(found.contains(&format!("calls u7.{file} -> {folder}m8.{file}::f8")));
    }
}

#[test]
fn stars_in_rings_and_long_chains() {
    let count = 600;
    let mut files: Vec<(String, String)> = (0..count)
        .map(|at| {
            let stars: String = [1, 7, 13]
                .iter()
                .map(|step| format!("export * from './m{}'\n", (at * step + step) % count))
                .collect();
            let text = format!(
                "{stars}import {{ only, none{at} }} from './m{}'\nonly(); none{at}()\n",
                (at + 9) % count
            );
            (format!("m{at}.js"), text)
        })
        .collect();
    files[0].1.push_str("export function only() {}\n");
    let calls = edges(files)
        .iter()
        .filter(|edge| edge.ends_with(" -> m0.js::only"))
        .count();
    assert_eq!(calls, count);

    let mut chain: Vec<(String, String)> = (0..count)
        .map(|at| {
            (
                format!("m{at}.js"),
                format!("export * from './m{}'\n", at + 1),
            )
        })
        .collect();
    chain.push((format!("m{count}.js"), "export function far() {}\n".into()));
    chain.push((
        "use.js".into(),
        "import { far } from './m0'\nfar()\n".into(),
    ));
    assert!(edges(chain).contains(&format!("calls use.js -> m{count}.js::far")));
}

#[test]
fn one_name_over_and_over() {
    let many = 5_000;
    let assigned = "x = x()\n".repeat(many) + "x.f()\n";
    let imported = "from b import f\n".repeat(many) + "f()\n";
    let found = edges_of(&[
        ("a.py", assigned.as_str()),
        ("a.js", assigned.as_str()),
        ("c.py", imported.as_str()),
        ("b.py", "def f(): pass\n"),
    ]);
    assert!(found.contains("calls c.py -> b.py::f"));
    let defined = graph_of(&[
        ("a.py", "def f(): pass\n".repeat(many).as_str()),
        (
            "b.py",
            (0..many)
                .map(|at| format!("def f{at}(): pass\n"))
                .collect::<String>()
                .as_str(),
        ),
    ]);
    assert_eq!(defined.len(), 2 + 1 + many);
}

#[test]
fn classes_deep_and_wide() {
    let mut deep = String::from("class C0:\n    def own(self): self.gone()\n");
    let mut wide = String::new();
    for at in 1..500 {
        deep.push_str(&format!(
            "class C{at}(C{}):\n    def m(self): self.own(); super().m()\n",
            at - 1
        ));
    }
    for at in 0..200usize {
        let bases: Vec<String> = (at.saturating_sub(40)..at)
            .map(|base| format!("D{base}"))
            .collect();
        wide.push_str(&format!(
            "class D{at}({}):\n    def m(self): self.n()\n",
            bases.join(", ")
        ));
    }
    let found = edges_of(&[("deep.py", &deep), ("wide.py", &wide)]);
    assert!(found.contains("calls deep.py::C9.m -> deep.py::C8.m"));
    assert!(found.contains("inherits wide.py::D199 -> wide.py::D198"));
}

#[test]
fn nesting_of_every_sort() {
    let texts = [
        ("a.py", "(\n".repeat(10_000)),
        ("b.js", "[\n".repeat(10_000)),
        ("c.js", "x".to_owned() + &"\n.b()".repeat(5_000)),
        ("d.js", "function f(){\n".repeat(5_000)),
        ("e.ts", "type A=\n".to_owned() + &"A<\n".repeat(5_000)),
        ("f.js", "a=>\n".repeat(5_000) + "1"),
        ("g.py", "x=(\n".to_owned() + &"a+\n".repeat(10_000) + "1)"),
        (
            "h.js",
            "x=[\n".to_owned() + &"...x,\n".repeat(5_000) + "]\nx[0]()",
        ),
        (
            "i.ts",
            "type A=\n".to_owned() + &"B|\n".repeat(5_000) + "C;let x:A;x.f()",
        ),
        ("j.js", "f();".repeat(1_000_000)),
    ];
    for (path, text) in &texts {
        let language = Language::of(path).expect("it is source");
        if let Ok(facts) = extract::facts(&mut Parsers::default(), language, text.as_bytes()) {
            let (mut parts, mut stats) = (Parts::default(), Stats::default());
            resolve::link(
                &[(*path, language, &facts)],
                std::iter::once(*path),
                &mut parts,
                &mut stats,
            );
            assert!(!parts.nodes.is_empty(), "{path}");
        }
    }
}

#[test]
fn trees_that_hold_one_another_ten_times_are_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (repo, _) = repository(dir.path(), &[("a.py", b"def f(): pass\n")]);
    let git = |input: String| {
        use std::io::Write;
        let mut made = std::process::Command::new("git")
            .arg("mktree")
            .current_dir(dir.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("git runs");
        let mut stdin = made.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("written");
        drop(stdin);
        let output = made.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let blob = repo.list(
        repo.tree_of(repo.commit_at("HEAD").expect("a commit"))
            .expect("a tree"),
    );
    let blob = blob.expect("it lists")[0].id;
    let mut tree = git((0..10)
        .map(|at| format!("100644 blob {blob}\tf{at}.py\n"))
        .collect());
    for _ in 0..9 {
        tree = git((0..10)
            .map(|at| format!("040000 tree {tree}\td{at}\n"))
            .collect());
    }
    let error =
        Graph::at(&repo, tree.parse().expect("a tree id"), &|_, _| {}).expect_err("it is refused");
    assert!(
        error.to_string().contains(" paths, or 256 MiB of them"),
        "{error}"
    );
}
