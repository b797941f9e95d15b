//! The graph of trees in real repositories: the fixture and its digest, the cache, what is missing.

use std::path::Path;
use std::process::Command;

use super::*;

/// A repository of one commit; its tree.
pub(super) fn repository(dir: &Path, files: &[(&str, &[u8])]) -> (Repo, TreeId) {
    git(dir, &["init", "-q"]);
    for (path, bytes) in files {
        write(dir, path, bytes);
    }
    let repo = Repo::open(dir, None).expect("it was just made");
    let tree = commit(dir, &repo);
    (repo, tree)
}

fn git(dir: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@e"];
    let done = Command::new("git")
        .args(settings)
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git runs");
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{error}");
}

fn write(dir: &Path, path: &str, bytes: &[u8]) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("made");
    std::fs::write(path, bytes).expect("written");
}

fn commit(dir: &Path, repo: &Repo) -> TreeId {
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", "case", "--allow-empty"]);
    let commit = repo.commit_at("HEAD").expect("it has a commit");
    repo.tree_of(commit).expect("it has a tree")
}

const FIXTURE: &[(&str, &[u8])] = &[
    ("README.md", b"hello\n"),
    ("src/app/__init__.py", b"from .core import App\n"),
    (
        "src/app/core.py",
        b"class App:\n    def run(self):\n        self.stop()\n    def stop(self): pass\n",
    ),
    (
        "tests/test_app.py",
        b"from app import App\ndef test():\n    App().run()\n",
    ),
    (
        "web/a.ts",
        b"import { b } from './b.js'\nexport class A { m(): void { b() } }\n",
    ),
    (
        "web/b.ts",
        b"export const b = () => 1\nexport interface I { go(): void }\n",
    ),
    (
        "web/v.tsx",
        b"import { A } from './a'\nexport default function V() { new A().m(); return <V/> }\n",
    ),
    (
        "web/old.js",
        b"const x = require('./b')\nmodule.exports = { y() { x.b() } }\n",
    ),
    ("bin.py", b"x\0"),
    ("node_modules/x.js", b"function x() {}\n"),
];

/// What the resolver knows, in both languages: every way a target is found, and what must find none.
const KINDS: &[(&str, &[u8])] = &[
    (
        "py/base.py",
        b"from dataclasses import dataclass\nclass Base:\n    kind: 'Engine'\n    def run(self):\n        self.step()\n        self.kind.go()\n    def step(self): pass\n    @classmethod\n    def make(cls): return cls()\n    @property\n    def engine(self) -> 'Engine': return Engine()\nclass Engine:\n    def go(self): pass\n    def __enter__(self): return self\n    def __call__(self): return helper()\ndef helper():\n    def inner(): return inner\n    return inner()\n@dataclass\nclass Point:\n    at: Engine\n    def move(self): self.at.go()\n",
    ),
    (
        "py/use.py",
        b"import json, os.path as path\nfrom . import base as b\nfrom .base import Base as Root, helper\nfrom .stars import *\nclass Sub(Root):\n    def __init__(self):\n        super().__init__()\n        self.all: list[b.Engine] = []\n        self.by = {'x': b.Engine()}\n    def step(self):\n        super().step()\n        for e in self.all: e.go()\n        self.by['x'].go()\n        self.engine.go()\ndef typed(x: b.Engine, y: 'Sub | None' = None):\n    x.go(); y.step(); x()\ndef flow(f):\n    return f()\ndef main(z):\n    flow(helper); Sub.make().run(); [helper][0]()\n    with b.Engine() as e: e.go()\n    z.move(); json.dumps(1); path.join('a'); far(); unknown()\n    k = Sub if z else Root\n    k().run()\n",
    ),
    ("py/stars.py", b"from .deep import *\nfrom outside import *\n"),
    ("py/deep.py", b"def far(): pass\nclass Far:\n    def unknown(self): pass\n"),
    ("py/__init__.py", b"from .base import Base\n"),
    (
        "py/held.py",
        b"import outside\nfrom .base import Engine, Base\ndef each(xs):\n    for e in sorted([Engine() for x in xs]): e.go()\n    for i, b in enumerate({x: Base() for x in xs}.values()): b.run()\n    for far in outside.Held(): far.unknown()\n",
    ),
    (
        "app.py",
        b"import py, py.use\nfrom py import Base as B\ndef go(o):\n    py.Base(); py.use.main(1); B.make(); o.move()\n",
    ),
    (
        "js/lib.ts",
        b"export interface Shape { area(): number }\nexport abstract class Base implements Shape { abstract area(): number; run() { this.area(); this.helper() } private helper = () => tools.one() }\nexport class Round extends Base { constructor(private at: Point) { super() } area() { return this.at.x() } static of(): Round { return new Round(new Point()) } }\nexport class Point { x() { return 1 } get next(): Point { return this } }\nexport const tools = { one() { return 1 }, two: () => tools.one() }\nexport default function make(): Round { return Round.of() }\nexport namespace Space { export function inside() {} }\n",
    ),
    ("js/index.ts", b"export * from './lib.js'\nexport { default as create, tools as kit } from './lib'\nexport * from 'elsewhere'\n"),
    (
        "js/use.tsx",
        b"import type { Shape } from '.'\nimport create, { Round as R, kit, Space } from './index'\nimport * as all from './index'\nimport { far } from 'elsewhere'\nconst Panel = (p: { s: Shape }) => <b>{p.s.area()}</b>\nexport function main(q: any, list: R[], by: Map<string, R>) { kit.two(); R.of().run(); all.create().area(); far(); q.next2(); Space.inside()\n  for (const r of list) r.area()\n  list.map(r => r.run()); by.get('x')?.area()\n  const f = kit.one; f(); [kit.two].forEach(g => g())\n  return <Panel s={R.of()} /> }\nclass Only { next2() {} }\n",
    ),
    (
        "js/old.cjs",
        b"const lib = require('./plain'), { one } = require('./plain')\nmodule.exports = class Old extends lib.Thing { go() { super.go(); one(); this.stop() } stop() {} }\nexports.lazy = () => import('./plain').then(m => m.one())\n/** @param {import('./plain').Thing} t */\nfunction typed(t) { t.go() }\nfunction outer() { function inner() {} inner(); typed(new lib.Thing()) }\n",
    ),
    ("js/plain.js", b"class Thing { go() { return this.constructor.name } }\nfunction one() {}\nmodule.exports = { Thing, one }\n"),
    ("ws/package.json", b"{\"workspaces\":[\"p/*\"]}\n"),
    ("ws/p/a/package.json", b"{\"name\":\"@w/a\",\"exports\":{\".\":{\"import\":\"./dist/m.js\"},\"./*\":\"./src/*.ts\"}}\n"),
    ("ws/p/a/src/m.ts", b"export const up = () => 1\n"),
    ("ws/p/b/tsconfig.json", b"{\"compilerOptions\":{\"paths\":{\"~/*\":[\"./*\"]}}}\n"),
    ("ws/p/b/x.ts", b"import { up } from '@w/a'\nimport { up as m } from '@w/a/m'\nimport { y } from '~/y'\nup(); m(); y()\n"),
    ("ws/p/b/y.ts", b"export function y() { }\n"),
];

#[test]
fn the_fixture_has_the_digest_of_its_version() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (repo, tree) = repository(dir.path(), &[FIXTURE, KINDS].concat());
    let graph = Graph::build(&repo, tree, &|_, _| {}).expect("it builds");
    let digest = blake3::hash(graph.bytes()).to_hex();
    // A change here that alters any graph raises `EXTRACTOR`.
    assert_eq!((EXTRACTOR, &digest[..16]), ("4", "f8440fd29056929b"));
    // Each way of finding a target has an edge in each language, so that a resolver that finds less is seen.
    let mut ways = BTreeSet::new();
    for edge in graph.edges().filter(|edge| edge.kind == EdgeKind::Calls) {
        ways.insert((graph.name(edge.from).contains(".py"), edge.resolution));
    }
    use Resolution::{Flow, Guess, Import, Receiver, Scope, Type};
    for way in [Scope, Import, Receiver, Type, Flow, Guess] {
        assert!(ways.contains(&(true, way)), "Python: {}", way.as_str());
        assert!(ways.contains(&(false, way)), "JavaScript: {}", way.as_str());
    }
    let stats = graph.stats();
    assert!(stats.calls_external > 0 && stats.calls_unresolved > 0);
}

#[test]
fn the_graph_of_a_commit() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (repo, tree) = repository(dir.path(), FIXTURE);
    let graph = Graph::build(&repo, tree, &|_, _| {}).expect("it builds");
    let node = |name: &str| graph.find(name).expect("the node is there");
    assert_eq!(graph.kind(node(".")), NodeKind::Directory);
    assert_eq!(graph.object(node(".")), Some(tree.0));
    assert_eq!(graph.lines(node("src/app/core.py::App.stop")), (4, 4));
    assert_eq!(
        graph.kind(node("src/app/core.py::App.stop")),
        NodeKind::Method
    );
    assert_eq!(graph.kind(node("README.md")), NodeKind::File);
    let hop: Vec<_> = graph
        .hop(node("src/app/core.py::App.run"))
        .map(|at| graph.name(at))
        .collect();
    assert_eq!(
        hop,
        [
            "src/app/core.py::App",
            "src/app/core.py::App.stop",
            "tests/test_app.py::test"
        ]
    );
    let stats = graph.stats();
    assert_eq!(
        stats.without_symbols,
        BTreeMap::from([("binary".to_owned(), 1), ("vendored".to_owned(), 1)])
    );
    assert!(graph.missing().is_empty());
}

#[test]
fn threads_and_the_cache_change_no_byte() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (repo, tree) = repository(dir.path(), FIXTURE);
    let with = |threads: usize| {
        let shared = repo.share();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads start");
        pool.install(|| {
            Graph::build(&shared.local(), tree, &|_, _| {})
                .expect("it builds")
                .bytes()
                .to_vec()
        })
    };
    let one = with(1);
    assert_eq!(one, with(4));
    let seen = AtomicUsize::new(0);
    let count = |_: usize, _: usize| {
        seen.fetch_add(1, Ordering::Relaxed);
    };
    assert_eq!(
        Graph::at(&repo, tree, &count).expect("it builds").bytes(),
        one
    );
    let built = seen.load(Ordering::Relaxed);
    assert!(built > 0);
    assert_eq!(
        Graph::at(&repo, tree, &count).expect("it is kept").bytes(),
        one
    );
    assert_eq!(
        seen.load(Ordering::Relaxed),
        built,
        "the second time nothing is read"
    );
}

#[test]
fn a_missing_blob_is_named_and_nothing_is_kept() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (repo, tree) = repository(dir.path(), FIXTURE);
    let entries = repo.list(tree).expect("it lists");
    let id = entries
        .iter()
        .find(|entry| entry.path == "web/b.ts")
        .expect("it is there")
        .id
        .to_string();
    std::fs::remove_file(
        dir.path()
            .join(".git/objects")
            .join(&id[..2])
            .join(&id[2..]),
    )
    .expect("it is loose");
    let graph = Graph::at(&repo, tree, &|_, _| {}).expect("it builds");
    assert_eq!(graph.missing(), ["web/b.ts"]);
    assert!(graph.find("web/b.ts").is_some());
    assert!(!repo.cache_dir().exists());
}

/// Takes the kept files of one sort away; none that is not there.
fn without(repo: &Repo, prefix: &str) {
    for file in std::fs::read_dir(repo.cache_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        if file.file_name().to_string_lossy().starts_with(prefix) {
            std::fs::remove_file(file.path()).expect("it is removed");
        }
    }
}

/// The graphs of trees by one pool, made side by side.
fn pooled(repo: &Repo, trees: &[TreeId]) -> Vec<Vec<u8>> {
    let pool = Graph::pool(repo, &trees.iter().copied().collect()).expect("the trees are there");
    let shared = repo.share();
    let made = trees.par_iter().map_init(
        || shared.local(),
        |repo, tree| Graph::of_pool(repo, *tree, &pool).expect("it builds"),
    );
    made.map(|graph| graph.bytes().to_vec()).collect()
}

#[test]
fn a_pool_keeps_no_file_and_names_what_is_missing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (repo, first) = repository(dir.path(), FIXTURE);
    write(dir.path(), "web/c.ts", b"export function c() {}\n");
    let second = commit(dir.path(), &repo);
    let pool = Graph::pool(&repo, &BTreeSet::from([first])).expect("the tree is there");
    for (tree, has_it) in [(first, false), (second, true), (first, false)] {
        // The second tree was not announced, and the first is asked for once more than that.
        let graph = Graph::of_pool(&repo, tree, &pool).expect("it builds");
        assert_eq!(graph.find("web/c.ts::c").is_some(), has_it);
    }
    assert!(!repo.cache_dir().exists());
    let entries = repo.list(second).expect("it lists");
    let lost = entries.iter().find(|entry| entry.path == "web/c.ts");
    let id = lost.expect("it is there").id.to_string();
    let object = dir.path().join(".git/objects").join(&id[..2]);
    std::fs::remove_file(object.join(&id[2..])).expect("it is loose");
    let graph = Graph::of_pool(&repo, second, &pool).expect("it builds");
    assert_eq!(graph.missing(), ["web/c.ts"]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(6))]

    /// Each commit takes the facts of the blobs it shares with others from the cache or from a pool, and must not be told from a cold build.
    #[test]
    fn a_later_commit_is_as_if_built_cold(edits in proptest::collection::vec((0usize..6, 0usize..8, 0usize..4), 1..6)) {
        let texts: [&[u8]; 4] = [
            b"from app.core import App\nclass Sub(App):\n    def stop(self): self.run()\n",
            b"import app\ndef f(): app.App().run()\n",
            b"export * from './b'\nexport const c = () => 2\n",
            b"x = 1 \0",
        ];
        let paths = ["src/app/core.py", "src/app/more.py", "web/a.ts", "web/b.ts", "tests/test_app.py", "web/c.js", "x/y/z.py", "web/d.tsx"];
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (repo, tree) = repository(dir.path(), FIXTURE);
        Graph::at(&repo, tree, &|_, _| {}).expect("it builds");
        let (mut trees, mut alone) = (Vec::new(), Vec::new());
        for (what, path, text) in edits {
            let path = paths[path];
            match what {
                0 => {
                    let _ = std::fs::remove_file(dir.path().join(path));
                }
                1 => {
                    let _ = std::fs::rename(dir.path().join(path), dir.path().join("moved.py"));
                }
                _ => write(dir.path(), path, texts[text]),
            }
            let tree = commit(dir.path(), &repo);
            let cold = Graph::build(&repo, tree, &|_, _| {}).expect("it builds");
            let warm = Graph::at(&repo, tree, &|_, _| {}).expect("it builds");
            proptest::prop_assert_eq!(warm.bytes(), cold.bytes());
            trees.push(tree);
            alone.push(cold.bytes().to_vec());
        }
        // With all kept files, with facts alone, and with none.
        for gone in ["nothing", "graph-", "facts-"] {
            without(&repo, gone);
            proptest::prop_assert_eq!(&pooled(&repo, &trees), &alone);
        }
    }
}
