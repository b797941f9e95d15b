//! The graph of small trees, from sources written here to edges.

use std::collections::BTreeSet;

use super::*;

/// The edges of files given by path and text, without a repository; neither contains nor guesses.
pub(super) fn edges_of(files: &[(&str, &str)]) -> BTreeSet<String> {
    let graph = graph_of(files);
    graph
        .edges()
        .filter(|edge| edge.resolution != Resolution::Guess && edge.kind != EdgeKind::Contains)
        .map(|edge| {
            format!(
                "{} {} -> {}",
                edge.kind.as_str(),
                graph.name(edge.from),
                graph.name(edge.to)
            )
        })
        .collect()
}

pub(super) fn graph_of(files: &[(&str, &str)]) -> Graph {
    let mut files = files.to_vec();
    files.sort_unstable();
    let mut parsers = Parsers::default();
    let facts: Vec<_> = files
        .iter()
        .filter_map(|(path, text)| {
            let language = Language::of(path)?;
            let facts = extract::facts(&mut parsers, language, text.as_bytes())
                .expect("the source is read");
            Some((*path, language, facts))
        })
        .collect();
    let sources: Vec<_> = facts
        .iter()
        .map(|(path, language, facts)| (*path, *language, facts))
        .collect();
    let mut parts = Parts::default();
    let mut stats = Stats::default();
    resolve::link(
        &sources,
        files.iter().map(|(path, _)| *path),
        &mut parts,
        &mut stats,
    );
    Graph::with_stats(parts.nodes, parts.edges, stats, Vec::new())
}

fn set(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[track_caller]
fn exactly(files: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(edges_of(files), set(expected));
}

#[test]
fn alias_and_namespace_imports() {
    exactly(
        &[
            (
                "lib/net.ts",
                "export function load(u: string) { return u }\nexport function save(u: string) { return u }\nexport default function ping() { return load('x') }\n",
            ),
            (
                "app/a.ts",
                "import * as net from '../lib/net'\nimport { save as store } from '../lib/net'\nimport knock from '../lib/net'\nexport const one = () => net.load('1')\nexport function two() { return store('2') }\nexport function three() { return knock() }\n",
            ),
        ],
        &[
            "imports app/a.ts -> lib/net.ts",
            "calls app/a.ts::one -> lib/net.ts::load",
            "calls app/a.ts::two -> lib/net.ts::save",
            "calls app/a.ts::three -> lib/net.ts::ping",
            "calls lib/net.ts::ping -> lib/net.ts::load",
        ],
    );
}

#[test]
fn barrels_are_followed_and_namesakes_are_not() {
    exactly(
        &[
            (
                "core/impl.ts",
                "export function run() { return 1 }\nexport function stop() { return 0 }\n",
            ),
            ("core/index.ts", "export * from './impl'\n"),
            ("index.ts", "export { run as start, stop } from './core'\n"),
            (
                "use.ts",
                "import { start, stop } from './index'\nexport function go() { start(); stop() }\n",
            ),
            ("decoy.ts", "export function start() { return 'other' }\n"),
        ],
        &[
            "calls use.ts::go -> core/impl.ts::run",
            "calls use.ts::go -> core/impl.ts::stop",
            "imports use.ts -> index.ts",
            "imports index.ts -> core/index.ts",
            "imports core/index.ts -> core/impl.ts",
        ],
    );
}

#[test]
fn names_from_outside_never_bind_to_a_namesake() {
    exactly(
        &[
            (
                "a.test.ts",
                "import { take } from 'rxjs'\ndescribe('x', () => { take(3); [1].map(String) })\n",
            ),
            (
                "svc.ts",
                "export class Svc { take(n: number) { return n }  describe() { return '' }  map() { return 1 } }\n",
            ),
            (
                "job.py",
                "import json\nfrom accel import Trainer\ndef work(t: Trainer):\n    json.dumps({})\n    t.step()\n",
            ),
            (
                "own.py",
                "def dumps(x): return x\nclass Sched:\n    def step(self): pass\n",
            ),
        ],
        &[],
    );
}

#[test]
fn python_packages() {
    exactly(
        &[
            (
                "pkg/__init__.py",
                "from .core import make as build\nfrom . import util\n",
            ),
            ("pkg/core.py", "def make(): return 1\n"),
            (
                "pkg/util.py",
                "from .core import make\ndef helper(): return make()\n",
            ),
            (
                "app.py",
                "from pkg import build, util\nimport pkg.util as pu\ndef main():\n    build(); util.helper(); pu.helper()\n",
            ),
        ],
        &[
            "calls app.py::main -> pkg/core.py::make",
            "calls app.py::main -> pkg/util.py::helper",
            "calls pkg/util.py::helper -> pkg/core.py::make",
            "imports app.py -> pkg/__init__.py",
            "imports app.py -> pkg/util.py",
            "imports pkg/__init__.py -> pkg/core.py",
            "imports pkg/__init__.py -> pkg/util.py",
            "imports pkg/util.py -> pkg/core.py",
        ],
    );
}

#[test]
fn a_js_specifier_means_the_ts_file() {
    exactly(
        &[
            (
                "src/math.ts",
                "export const add = (a: number, b: number) => a + b\n",
            ),
            (
                "src/fmt.mts",
                "export function fmt(n: number) { return String(n) }\n",
            ),
            (
                "src/main.ts",
                "import { add } from './math.js'\nimport { fmt } from './fmt.mjs'\nexport async function main() { return fmt(add(1, 2)) }\n",
            ),
        ],
        &[
            "imports src/main.ts -> src/math.ts",
            "imports src/main.ts -> src/fmt.mts",
            "calls src/main.ts::main -> src/math.ts::add",
            "calls src/main.ts::main -> src/fmt.mts::fmt",
        ],
    );
}

#[test]
fn type_only_and_dynamic_imports() {
    exactly(
        &[
            (
                "types.ts",
                "export interface T { n: number }\nexport function mk(): T { return { n: 1 } }\n",
            ),
            (
                "lazy.ts",
                "import type { T } from './types'\nexport function show(t: T) { return t.n }\n",
            ),
            (
                "main.ts",
                "export async function main() { const m = await import('./lazy'); const { mk } = await import('./types'); return m.show(mk()) }\n",
            ),
        ],
        &[
            "imports lazy.ts -> types.ts",
            "imports main.ts -> lazy.ts",
            "imports main.ts -> types.ts",
            "calls main.ts::main -> lazy.ts::show",
            "calls main.ts::main -> types.ts::mk",
        ],
    );
}

#[test]
fn receivers_and_bases_in_python() {
    exactly(
        &[
            (
                "a.py",
                "class Base:\n    def run(self):\n        self.step()\n    def step(self): pass\n    @classmethod\n    def make(cls):\n        return cls()\n    @staticmethod\n    def util(): pass\n",
            ),
            (
                "b.py",
                "from a import Base\nclass Sub(Base):\n    def step(self):\n        super().step()\n        self.run()\n        def inner():\n            self.util()\n        inner()\ndef main():\n    Sub.make().step()\n    Base.util()\n",
            ),
        ],
        &[
            "imports b.py -> a.py",
            "inherits b.py::Sub -> a.py::Base",
            "calls a.py::Base.run -> a.py::Base.step",
            "calls a.py::Base.make -> a.py::Base",
            "calls b.py::Sub.step -> a.py::Base.step",
            "calls b.py::Sub.step -> a.py::Base.run",
            "calls b.py::Sub.step.inner -> a.py::Base.util",
            "calls b.py::Sub.step -> b.py::Sub.step.inner",
            "calls b.py::main -> a.py::Base.make",
            "calls b.py::main -> a.py::Base.step",
            "calls b.py::main -> a.py::Base.util",
        ],
    );
}

#[test]
fn receivers_and_bases_in_typescript() {
    exactly(
        &[
            (
                "a.ts",
                "export class Base { run() { this.step() }  step() {}  static make() { return new this() } }\n",
            ),
            (
                "b.tsx",
                "import { Base } from './a'\nclass Sub extends Base { constructor() { super(); [1].forEach(() => this.run()) }  step() { super.step() } }\nexport const View = () => <Panel n={new Sub().step()} />\nfunction Panel() { return <div/> }\n",
            ),
        ],
        &[
            "imports b.tsx -> a.ts",
            "inherits b.tsx::Sub -> a.ts::Base",
            "calls a.ts::Base.run -> a.ts::Base.step",
            "calls a.ts::Base.make -> a.ts::Base",
            "calls b.tsx::Sub.constructor -> a.ts::Base",
            "calls b.tsx::Sub.constructor -> a.ts::Base.run",
            "calls b.tsx::Sub.step -> a.ts::Base.step",
            "calls b.tsx::View -> b.tsx::Panel",
            "calls b.tsx::View -> b.tsx::Sub",
            "calls b.tsx::View -> b.tsx::Sub.step",
        ],
    );
}

#[test]
fn a_local_name_hides_what_is_further_out() {
    exactly(
        &[
            (
                "a.py",
                "def f(): pass\ndef g(f):\n    f()\ndef h():\n    for f in []: f()\ndef i():\n    f = input()\n    f()\n",
            ),
            (
                "b.js",
                "function f() {}\nfunction g(f) { f() }\nfunction h() { { let f = x(); f() } }\nfunction i({ f }) { f() }\ntry {} catch (f) { f() }\n",
            ),
        ],
        &[],
    );
}

#[test]
fn commonjs() {
    exactly(
        &[
            (
                "a.js",
                "function one() {}\nmodule.exports = { one, two: function () { one() } }\n",
            ),
            ("b.js", "exports.three = three\nfunction three() {}\n"),
            (
                "c.js",
                "const a = require('./a')\nconst { three } = require('./b')\nfunction main() { a.one(); a.two(); three(); a.gone() }\n",
            ),
        ],
        &[
            "imports c.js -> a.js",
            "imports c.js -> b.js",
            "calls a.js::two -> a.js::one",
            "calls c.js::main -> a.js::one",
            "calls c.js::main -> a.js::two",
            "calls c.js::main -> b.js::three",
        ],
    );
}

#[test]
fn types_of_attributes_parameters_and_results_in_python() {
    exactly(
        &[
            (
                "m.py",
                "class Engine:\n    def go(self): pass\n    def __enter__(self): return self\n    def __exit__(self, *a): pass\n",
            ),
            (
                "car.py",
                "from __future__ import annotations\nimport typing as t\nfrom m import Engine\nclass Car:\n    spare: Engine | None = None\n    def __init__(self):\n        self.engine = Engine()\n        self.all: list[Engine] = []\n        self.by: dict[str, Engine] = {}\n        self.pair: tuple[int, Engine] = (1, Engine())\n    @property\n    def main(self) -> Engine: return self.engine\n    def a(self): self.engine.go()\n    def b(self): self.spare.go()\n    def c(self):\n        for e in self.all: e.go()\n    def d(self):\n        for k, e in self.by.items(): e.go()\n    def e(self): self.by['x'].go()\n    def f(self): self.pair[1].go()\n    def g(self): self.main.go()\n    def none(self): self.pair[0].go()\ndef h(x: t.Optional[Engine]): x.go()\ndef i(x: 'Engine'): x.go()\ndef j():\n    with Engine() as x: x.go()\ndef k(): return Car()\ndef l(): k().engine.go()\ndef n(kind: type[Engine]): kind().go()\n",
            ),
        ],
        &[
            "imports car.py -> m.py",
            "calls car.py::Car.__init__ -> m.py::Engine",
            "calls car.py::Car.a -> m.py::Engine.go",
            "calls car.py::Car.b -> m.py::Engine.go",
            "calls car.py::Car.c -> m.py::Engine.go",
            "calls car.py::Car.d -> m.py::Engine.go",
            "calls car.py::Car.e -> m.py::Engine.go",
            "calls car.py::Car.f -> m.py::Engine.go",
            "calls car.py::Car.g -> m.py::Engine.go",
            "calls car.py::h -> m.py::Engine.go",
            "calls car.py::i -> m.py::Engine.go",
            "calls car.py::j -> m.py::Engine",
            "calls car.py::j -> m.py::Engine.go",
            "calls car.py::k -> car.py::Car",
            "calls car.py::l -> car.py::k",
            "calls car.py::l -> m.py::Engine.go",
            "calls car.py::n -> m.py::Engine.go",
        ],
    );
}

#[test]
fn functions_that_are_passed_returned_or_kept() {
    exactly(
        &[(
            "a.py",
            "def f(): pass\ndef g(): pass\ndef run(what): what()\ndef pick(): return g\ndef many():\n    yield f\nTABLE = {'f': f}\nLIST = [g]\ndef main():\n    run(f)\n    pick()()\n    TABLE['f']()\n    LIST[0]()\n    h = f\n    h()\ndef loop():\n    for x in many(): x()\ndef stored():\n    d = {}\n    d['k'] = g\n    d['k']()\n",
        )],
        &[
            "calls a.py::run -> a.py::f",
            "calls a.py::main -> a.py::run",
            "calls a.py::main -> a.py::pick",
            "calls a.py::main -> a.py::f",
            "calls a.py::main -> a.py::g",
            "calls a.py::loop -> a.py::many",
            "calls a.py::loop -> a.py::f",
            "calls a.py::stored -> a.py::g",
        ],
    );
}

#[test]
fn types_of_members_parameters_and_callbacks_in_typescript() {
    exactly(
        &[
            (
                "m.ts",
                "export class Engine { go() {} }\nexport type Hook = (e: Engine) => void\nexport interface Box { engine: Engine; all: Engine[]; open(): Engine }\n",
            ),
            (
                "use.ts",
                "import { Engine, Hook, Box } from './m'\nclass Car { private all: Engine[] = []; constructor(private engine: Engine) {}  a() { this.engine.go() }  b() { this.all.forEach(e => e.go()) }  c() { for (const e of this.all) e.go() } }\nexport const hook: Hook = e => { e.go() }\nexport function take(h: Hook) {}\nexport function pass() { take(e => e.go()) }\nexport function box({ engine }: Box) { engine.go() }\nexport function open(b: Box) { b.open().go() }\nexport function map(m: Map<string, Engine>) { m.get('x')!.go() }\nexport const cast = (x: unknown) => (x as Engine).go()\nexport const like = (f: typeof open) => f(null!)\n",
            ),
        ],
        &[
            "imports use.ts -> m.ts",
            "calls use.ts::Car.a -> m.ts::Engine.go",
            "calls use.ts::Car.b -> m.ts::Engine.go",
            "calls use.ts::Car.c -> m.ts::Engine.go",
            "calls use.ts::hook -> m.ts::Engine.go",
            "calls use.ts::pass -> use.ts::take",
            "calls use.ts::pass -> m.ts::Engine.go",
            "calls use.ts::box -> m.ts::Engine.go",
            "calls use.ts::open -> m.ts::Box.open",
            "calls use.ts::open -> m.ts::Engine.go",
            "calls use.ts::map -> m.ts::Engine.go",
            "calls use.ts::cast -> m.ts::Engine.go",
        ],
    );
}

#[test]
fn types_in_comments_of_javascript() {
    exactly(
        &[
            (
                "m.js",
                "class Engine { go() {} }\nmodule.exports = Engine\n",
            ),
            (
                "a.js",
                "const Engine = require('./m')\n/**\n * @param {Engine} e the engine\n * @param {Engine[]} [all=[]]\n * @returns {Promise<Engine>}\n */\nasync function f(e, all) { e.go(); all.map(x => x.go()) }\nasync function g() { (await f()).go() }\n/** @type {import('./m')} */\nconst h = global.h\nfunction i() { h.go() }\nclass Sub extends Engine { go() { super.go() } }\n",
            ),
            (
                "b.ts",
                "/** @param {Engine} e */\nfunction no(e) { e.go() }\n",
            ),
        ],
        &[
            "imports a.js -> m.js",
            "inherits a.js::Sub -> m.js::Engine",
            "calls a.js::f -> m.js::Engine.go",
            "calls a.js::g -> a.js::f",
            "calls a.js::g -> m.js::Engine.go",
            "calls a.js::i -> m.js::Engine.go",
            "calls a.js::Sub.go -> m.js::Engine.go",
        ],
    );
}

#[test]
fn guesses_are_marked_and_never_made_for_what_is_imported() {
    let graph = graph_of(&[
        (
            "a.py",
            "class C:\n    def step(self): pass\ndef take(): pass\n",
        ),
        (
            "b.py",
            "from elsewhere import take, make\nfrom a import gone\ndef f(x):\n    x.step()\n    take()\n    make().step()\n    gone()\n    gone.step()\ndef g(take): take()\n",
        ),
    ]);
    let guesses: Vec<_> = graph
        .edges()
        .filter(|edge| edge.resolution == Resolution::Guess)
        .map(|edge| {
            (
                graph.name(edge.from).to_owned(),
                graph.name(edge.to).to_owned(),
            )
        })
        .collect();
    assert_eq!(guesses, [("b.py::f".to_owned(), "a.py::C.step".to_owned())]);
    let stats = graph.stats();
    assert_eq!(
        (
            stats.calls_resolved,
            stats.calls_external,
            stats.calls_unresolved
        ),
        (0, 3, 4)
    );
    assert_eq!(stats.unresolved_names.get("step"), Some(&2));
}

#[test]
fn a_value_named_for_a_class_is_guessed_to_be_one() {
    let mut files: Vec<(String, String)> = (0..8)
        .map(|at| {
            (
                format!("o{at}.py"),
                format!("class Other{at}:\n    def cancel(self): pass\n"),
            )
        })
        .collect();
    files.push((
        "r.py".into(),
        "class HTTPRequest:\n    def cancel(self): pass\n".into(),
    ));
    files.push((
        "u.py".into(),
        "def f(all, other):\n    for http_request in all: http_request.cancel()\n    other.cancel()\nclass C:\n    def m(self, x): x.http_request.cancel()\n".into(),
    ));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let graph = graph_of(&files);
    let guesses: Vec<String> = graph
        .edges()
        .filter(|edge| edge.resolution == Resolution::Guess)
        .map(|edge| format!("{} -> {}", graph.name(edge.from), graph.name(edge.to)))
        .collect();
    assert_eq!(
        guesses,
        [
            "u.py::C.m -> r.py::HTTPRequest.cancel",
            "u.py::f -> r.py::HTTPRequest.cancel"
        ]
    );
}

#[test]
fn diamonds_and_rings_of_bases() {
    exactly(
        &[(
            "a.py",
            "class A:\n    def m(self): pass\nclass B(A): pass\nclass C(A):\n    def m(self): pass\nclass D(B, C):\n    def n(self): self.m()\nclass E(F):\n    def n(self): self.m()\nclass F(E): pass\n",
        )],
        &[
            "inherits a.py::B -> a.py::A",
            "inherits a.py::C -> a.py::A",
            "inherits a.py::D -> a.py::B",
            "inherits a.py::D -> a.py::C",
            "inherits a.py::E -> a.py::F",
            "inherits a.py::F -> a.py::E",
            "calls a.py::D.n -> a.py::C.m",
        ],
    );
}

#[test]
fn imports_that_go_round_in_a_ring_end() {
    exactly(
        &[
            ("a/__init__.py", "from .b import *\nfrom .b import x\n"),
            (
                "a/b.py",
                "from . import *\nfrom a import x, y\ndef f(): x(); y()\n",
            ),
            (
                "c.ts",
                "export * from './d'\nimport { q } from './d'\nq()\n",
            ),
            ("d.ts", "export * from './c'\n"),
        ],
        &[
            "imports a/__init__.py -> a/b.py",
            "imports a/b.py -> a/__init__.py",
            "imports c.ts -> d.ts",
            "imports d.ts -> c.ts",
        ],
    );
}
