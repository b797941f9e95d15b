//! What lists, comprehensions and the built-in functions that hand them on hold, from sources written here to edges.

use super::tests::{edges_of, graph_of};

const MODEL: &str = "class Job:\n    def run(self): pass\ndef make(x): return Job()\n";

/// Does the function with these lines as its body call `Job.run`, and not only by its name?
fn runs(body: &str) -> bool {
    let text = format!(
        "from model import Job, make\ndef f(xs, outside):\n    {}\n",
        body.replace('\n', "\n    ")
    );
    edges_of(&[("model.py", MODEL), ("use.py", &text)])
        .contains("calls use.py::f -> model.py::Job.run")
}

#[test]
fn elements_have_the_type_of_what_is_put_in() {
    for body in [
        "for j in [Job()]: j.run()",
        "for j in (Job(), 1): j.run()",
        "for j in {Job()}: j.run()",
        "for j in [make(x) for x in xs]: j.run()",
        "for j in {make(x) for x in xs if x}: j.run()",
        "for j in (make(x) for x in xs): j.run()",
        "for j in {x: make(x) for x in xs}.values(): j.run()",
        "for k, j in {x: make(x) for x in xs}.items(): j.run()",
        "d = {x: make(x) for x in xs}\nd[1].run()",
        "for j in {'a': Job()}.values(): j.run()",
        "for k, j in {'a': Job()}.items(): j.run()",
        "{'a': Job()}.get(xs).run()",
        "js = [make(x) for x in xs]\njs[3].run()",
        "a, b = [make(x) for x in xs]\nb.run()",
        "js = [Job()]\n[j.run() for j in js]",
        "js = [Job()]\nfor j in [k for k in js if k]: j.run()",
        "for j in tuple(filter(xs, [Job()])): j.run()",
        "for j in sorted(list([Job()]), key=xs): j.run()",
        "for j in reversed(set(frozenset([Job()]))): j.run()",
        "for i, j in enumerate([Job()]): j.run()",
        "for x, j in zip(xs, [Job()]): j.run()",
        "for j in map(make, xs): j.run()",
        "next(make(x) for x in xs).run()",
        "next(iter([Job()]), None).run()",
        "max([Job()], key=xs).run()",
        "max(Job(), xs).run()",
    ] {
        assert!(runs(body), "{body}");
    }
}

#[test]
fn a_name_of_a_builtin_that_is_bound_is_not_the_builtin() {
    for body in [
        "def list(x): return 1\nfor j in list([Job()]): j.run()",
        "from elsewhere import sorted\nfor j in sorted([Job()]): j.run()",
        "for i, j in enumerate([Job()]): i.run()",
        "for k in {'a': Job()}: k.run()",
        "for k in {x: make(x) for x in xs}: k.run()",
        "for j in zip(xs, [Job()]): j.run()",
        "list(*[Job()])[0].run()",
    ] {
        assert!(!runs(body), "{body}");
    }
}

#[test]
fn what_was_put_into_a_container_from_outside_is_not_known_and_not_foreign() {
    for body in [
        "for j in outside.WeakSet(): j.run()",
        "for j in tuple(filter(f, outside.WeakSet())): j.run()",
        "for j in [x for x in outside.WeakSet()]: j.run()",
        "outside.deque().pop().run()",
        "held = []\nfor j in held: j.run()",
        "held = {}\nheld.get(1).run()",
        "held = {}\nfor j in held.values(): j.run()",
    ] {
        let text = format!(
            "import outside\ndef f():\n    {}\n",
            body.replace('\n', "\n    ")
        );
        let graph = graph_of(&[("model.py", MODEL), ("use.py", &text)]);
        let stats = graph.stats();
        let run = stats.unresolved_names.get("run");
        assert_eq!(run, Some(&1), "{body}");
    }
}
