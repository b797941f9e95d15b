//! The look-ups of `fixtures/scoring.json`, computed by an independent reading of `scoring.md`, and the promises of the rule.
//!
//! Every factor is compared with `==`, recency at 1e-12. Holds tests only.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use crate::graph::{Edge, EdgeKind, Graph, Node, NodeKind, Resolution};
use crate::id::{ObjectId, RecordId};
use crate::policy::Policy;
use crate::record::{Factors, Kind, Reason, Selection, Source, State, Time, Verdict};
use crate::score::factors::{Question, Read, candidates};
use crate::score::focus::{FocusFacts, focus};
use crate::score::ground::{Stand, ground, grounds, pack_ground, unpack_ground};
use crate::score::weights::Weights;
use crate::score::{factors, select};
use crate::store::view::{Ending, Prior, View};

#[derive(Deserialize)]
struct Fixture {
    lookups: Vec<Lookup>,
}

#[derive(Deserialize)]
struct Lookup {
    name: String,
    graph: Parts,
    task: String,
    current_nodes: Vec<String>,
    session: Option<String>,
    now: Time,
    #[serde(default)]
    policy: serde_json::Map<String, serde_json::Value>,
    records: Vec<Stored>,
    #[serde(default)]
    outcomes: Vec<Ended>,
    expect: Expect,
}

#[derive(Deserialize)]
struct Parts {
    nodes: Vec<String>,
    edges: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Stored {
    id: String,
    text: String,
    nodes: Vec<String>,
    session: Option<String>,
    time: Time,
    task: Option<String>,
    source: Option<Source>,
    #[serde(default)]
    supersedes: Vec<String>,
}

#[derive(Deserialize)]
struct Ended {
    task: String,
    verdict: Verdict,
}

#[derive(Deserialize)]
struct Expect {
    threshold: f64,
    candidates: u64,
    focus_size: u64,
    focus_expansion: BTreeMap<String, u64>,
    focus_hop_skipped: bool,
    unresolved_nodes: Vec<String>,
    items: Vec<Listed>,
    rejected: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
    score: f64,
    verdict: Option<Verdict>,
    factors: Factors,
    reason: Option<Reason>,
    by: Option<String>,
}

/// An id that keeps the order of the short names.
fn id(name: &str) -> RecordId {
    let mut bytes = [0; 32];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    RecordId::from(bytes)
}

fn object(content: u8) -> ObjectId {
    ObjectId::from_bytes(&[content; 20]).expect("20 bytes are a name")
}

/// The name of what holds a node: a directory, a file or a class.
fn holder(name: &str, names: &[String]) -> Option<String> {
    let holder = match name.split_once("::") {
        Some((path, symbol)) => match symbol.rsplit_once('.') {
            Some((class, _)) => format!("{path}::{class}"),
            None => path.to_owned(),
        },
        None => name.rsplit_once('/')?.0.to_owned(),
    };
    names.contains(&holder).then_some(holder)
}

fn graph(
    names: &[String],
    edges: &[(String, String)],
    objects: &BTreeMap<String, ObjectId>,
) -> Graph {
    let at = |name: &String| {
        names
            .iter()
            .position(|known| known == name)
            .expect("a known node") as u32
    };
    let holders: Vec<_> = names.iter().map(|name| holder(name, names)).collect();
    let mut nodes = Vec::new();
    let mut links = Vec::new();
    for (name, upper) in names.iter().zip(&holders) {
        let is_symbol = upper.is_some() && name.contains("::");
        let holds = holders.iter().flatten().any(|holder| holder == name);
        let kind = match (is_symbol, holds) {
            (true, true) => NodeKind::Class,
            (true, false) => NodeKind::Function,
            (false, true) if !name.contains('.') => NodeKind::Directory,
            (false, _) => NodeKind::File,
        };
        let object = objects.get(name).copied();
        nodes.push(Node {
            name: name.clone(),
            kind,
            object,
            lines: (0, 0),
        });
        // The fixture lists what stands below a file among its edges, but not what stands in a directory.
        if let Some(upper) = upper.as_ref().filter(|_| !is_symbol) {
            let (kind, resolution) = (EdgeKind::Contains, Resolution::Tree);
            links.push(Edge {
                kind,
                from: at(upper),
                to: at(name),
                resolution,
            });
        }
    }
    for (from, to) in edges {
        let (kind, resolution) = match holder(to, names).as_ref() == Some(from) {
            true => (EdgeKind::Contains, Resolution::Definition),
            false => (EdgeKind::Imports, Resolution::Import),
        };
        links.push(Edge {
            kind,
            from: at(from),
            to: at(to),
            resolution,
        });
    }
    Graph::from_parts(nodes, links)
}

pub fn prior(name: &str, text: &str, nodes: &[&str]) -> Prior {
    let mut nodes: Vec<_> = nodes.iter().map(|node| (*node).to_owned()).collect();
    nodes.sort();
    Prior {
        id: id(name),
        kind: Kind::Decision,
        source: Source::Session,
        text: text.to_owned(),
        reasons: Vec::new(),
        confidence: None,
        supersedes: Vec::new(),
        session: None,
        task: None,
        key: None,
        nodes,
        objects: BTreeMap::new(),
        time: Time(0),
        anchors: Vec::new(),
        former_anchors: Vec::new(),
        first_commit: None,
        branches: Vec::new(),
        worktrees: Vec::new(),
    }
}

fn view(lookup: &Lookup) -> View {
    let mut view = View::default();
    for stored in &lookup.records {
        let nodes: Vec<_> = stored.nodes.iter().map(String::as_str).collect();
        let supersedes: Vec<_> = stored.supersedes.iter().map(|name| id(name)).collect();
        for replaced in &supersedes {
            view.replaced_by.insert(*replaced, id(&stored.id));
        }
        view.priors.push(Prior {
            source: stored.source.unwrap_or(Source::Session),
            supersedes,
            session: stored.session.clone(),
            task: stored.task.clone(),
            time: stored.time,
            ..prior(&stored.id, &stored.text, &nodes)
        });
    }
    view.priors.sort_by_key(|prior| prior.id);
    for (at, ended) in lookup.outcomes.iter().enumerate() {
        view.endings.push(Ending {
            id: RecordId::from([at as u8; 32]),
            task: Some(ended.task.clone()),
            of: Vec::new(),
            verdict: ended.verdict,
            rationale: None,
            time: lookup.now,
        });
    }
    view
}

fn rank(view: &View, question: &Question, grounds: &[Vec<Stand>], facts: FocusFacts) -> Selection {
    let read = Read {
        grounds,
        ..Read::default()
    };
    let scored = factors::score(view, question, read);
    select::select(&scored, &view.replaced_by, question.policy, facts)
}

fn answer(lookup: &Lookup) -> Selection {
    let mut policy = serde_json::to_value(Policy::default()).expect("a policy has a JSON form");
    for (key, value) in &lookup.policy {
        assert!(policy.get(key).is_some(), "{key}");
        policy[key] = value.clone();
    }
    let policy = serde_json::from_value(policy).expect("the policy of the fixture is valid");
    let view = view(lookup);
    let question = Question {
        task: &lookup.task,
        current_nodes: &lookup.current_nodes,
        session: lookup.session.as_deref(),
        time: lookup.now,
        policy: &policy,
        weights: Weights::frozen(),
    };
    let graph = graph(&lookup.graph.nodes, &lookup.graph.edges, &BTreeMap::new());
    let focus = focus(&graph, question.current_nodes, &policy);
    let grounds = grounds(&graph, &focus, &candidates(&view, &question));
    rank(&view, &question, &grounds, focus.facts)
}

/// Whether what was made is what was expected; recency alone has a tolerance.
fn same_factors(
    name: &str,
    expected: &Listed,
    factors: Factors,
    score: f64,
    verdict: Option<Verdict>,
) {
    let recency = expected.factors.recency;
    assert!(
        (factors.recency - recency).abs() <= 1e-12,
        "{name} {}",
        expected.id
    );
    assert_eq!(
        Factors { recency, ..factors },
        expected.factors,
        "{name} {}",
        expected.id
    );
    if recency == 1.0 {
        assert_eq!(score, expected.score, "{name} {}", expected.id);
    }
    assert!(
        (score - expected.score).abs() <= 1e-12,
        "{name} {}",
        expected.id
    );
    assert_eq!(verdict, expected.verdict, "{name} {}", expected.id);
}

#[test]
fn every_look_up_of_the_fixture() {
    let text = include_str!("../../fixtures/scoring.json");
    let fixture: Fixture = serde_json::from_str(text).expect("the fixture is valid");
    assert_eq!(fixture.lookups.len(), 24);
    for lookup in &fixture.lookups {
        let (name, made, expected) = (&lookup.name, answer(lookup), &lookup.expect);
        assert_eq!(made.threshold, expected.threshold, "{name}");
        assert_eq!(made.candidates, expected.candidates, "{name}");
        assert_eq!(made.focus_size, expected.focus_size, "{name}");
        assert_eq!(made.focus_expansion, expected.focus_expansion, "{name}");
        assert_eq!(made.focus_hop_skipped, expected.focus_hop_skipped, "{name}");
        assert_eq!(made.unresolved_nodes, expected.unresolved_nodes, "{name}");
        let ids: Vec<_> = made.items.iter().map(|item| item.id).collect();
        let wanted: Vec<_> = expected.items.iter().map(|listed| id(&listed.id)).collect();
        assert_eq!(ids, wanted, "{name}");
        for (item, listed) in made.items.iter().zip(&expected.items) {
            same_factors(name, listed, item.factors, item.score, item.verdict);
        }
        let ids: Vec<_> = made.rejected.iter().map(|rejected| rejected.id).collect();
        let wanted: Vec<_> = expected
            .rejected
            .iter()
            .map(|listed| id(&listed.id))
            .collect();
        assert_eq!(ids, wanted, "{name}");
        for (rejected, listed) in made.rejected.iter().zip(&expected.rejected) {
            same_factors(
                name,
                listed,
                rejected.factors,
                rejected.score,
                rejected.verdict,
            );
            assert_eq!(Some(rejected.reason), listed.reason, "{name} {}", listed.id);
            if let Some(by) = &listed.by {
                assert_eq!(rejected.by, Some(id(by)), "{name} {}", listed.id);
            }
        }
    }
}

fn question<'a>(policy: &'a Policy) -> Question<'a> {
    Question {
        task: "alpha beta gamma",
        current_nodes: &[],
        session: Some("me"),
        time: Time(0),
        policy,
        weights: Weights::frozen(),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn what_became_of_each_node() {
    let tree = names(&[
        "d",
        "d/a.py",
        "d/a.py::f",
        "new.py",
        "new.py::g",
        "e.py",
        "e2.py",
        "x::y.py",
    ]);
    let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        .parse()
        .expect("40 digits are a name");
    let objects = BTreeMap::from([
        ("d/a.py".to_owned(), object(1)),
        ("new.py".to_owned(), object(2)),
        ("e.py".to_owned(), object(3)),
        ("e2.py".to_owned(), object(3)),
        ("x::y.py".to_owned(), empty),
    ]);
    let graph = graph(&tree, &[], &objects);
    let focus = focus(&graph, &names(&["new.py"]), &Policy::default());
    let known = |recorded: &[(&str, ObjectId)], node: &str| {
        let objects = recorded
            .iter()
            .map(|(path, object)| ((*path).to_owned(), *object));
        let prior = Prior {
            objects: objects.collect(),
            ..prior("r", "text", &[node])
        };
        let mut stands = ground(&graph, &focus, &prior);
        assert_eq!(stands.len(), 1);
        let stand = stands.remove(0);
        (stand.state, stand.in_focus, stand.now)
    };
    let moved = |in_focus, now: &str| (State::Moved, in_focus, Some(now.to_owned()));
    let gone = (State::Gone, false, None);
    assert_eq!(
        known(&[("d/a.py", object(1))], "d/a.py"),
        (State::Same, false, None)
    );
    assert_eq!(
        known(&[("d/a.py", object(9))], "d/a.py"),
        (State::Changed, false, None)
    );
    assert_eq!(known(&[], "d/a.py"), (State::Changed, false, None));
    assert_eq!(
        known(&[("d/a.py", object(1))], "d/a.py::f"),
        (State::Same, false, None)
    );
    assert_eq!(
        known(&[("d/a.py", object(9))], "d/a.py::f"),
        (State::Changed, false, None)
    );
    assert_eq!(known(&[("d/a.py", object(1))], "d/a.py::absent"), gone);
    assert_eq!(known(&[], "old.py"), gone);
    assert_eq!(known(&[("old.py", object(9))], "old.py"), gone);
    assert_eq!(
        known(&[("old.py", object(2))], "old.py"),
        moved(true, "new.py")
    );
    assert_eq!(
        known(&[("old.py", object(2))], "old.py::g"),
        moved(true, "new.py::g")
    );
    assert_eq!(known(&[("old.py", object(2))], "old.py::absent"), gone);
    assert_eq!(
        known(&[("old.py", object(3))], "old.py"),
        gone,
        "two paths have the blob"
    );
    assert_eq!(
        known(&[("old.py", empty)], "old.py"),
        gone,
        "the empty blob"
    );
    assert_eq!(
        known(&[("x::y.py", empty)], "x::y.py"),
        (State::Same, false, None)
    );
    assert_eq!(
        known(&[("o::d.py", object(2))], "o::d.py::g"),
        moved(true, "new.py::g")
    );
}

#[test]
fn a_chain_of_replacements_is_followed_to_its_end() {
    let chain = [("a", "b"), ("b", "c"), ("x", "y"), ("y", "x")];
    let mut view = View::default();
    for name in ["a", "b", "c", "x", "y"] {
        view.priors.push(prior(name, "alpha beta gamma", &[]));
    }
    view.replaced_by = chain.iter().map(|(old, new)| (id(old), id(new))).collect();
    let policy = Policy::default();
    let made = rank(&view, &question(&policy), &[], FocusFacts::default());
    let by: Vec<_> = made
        .rejected
        .iter()
        .map(|rejected| (rejected.id, rejected.by))
        .collect();
    let end = |name| Some(id(name));
    assert_eq!(by[..2], [(id("a"), end("c")), (id("b"), end("c"))]);
    assert_eq!(by.len(), 4, "a cycle ends somewhere");
    assert_eq!(made.items.len(), 1);
    assert_eq!(made.items[0].id, id("c"));
}

#[test]
fn copies_are_listed_with_the_first() {
    let mut view = View::default();
    for name in ["a", "b", "c"] {
        view.priors.push(prior(name, "alpha beta gamma", &["n"]));
    }
    let policy = Policy::default();
    let made = rank(&view, &question(&policy), &[], FocusFacts::default());
    assert_eq!(made.items.len(), 1);
    assert_eq!(made.items[0].copies, [id("b"), id("c")]);
    assert_eq!(made.candidates, 3);
}

#[test]
fn the_latest_outcome_counts_by_time_then_id() {
    let ending = |name, time, verdict| Ending {
        id: id(name),
        task: None,
        of: vec![id("a")],
        verdict,
        rationale: None,
        time: Time(time),
    };
    let policy = Policy::default();
    let verdict = |endings: Vec<Ending>| {
        let priors = vec![Prior {
            task: Some("t".to_owned()),
            ..prior("a", "alpha beta gamma", &[])
        }];
        let view = View {
            priors,
            endings,
            ..View::default()
        };
        rank(&view, &question(&policy), &[], FocusFacts::default()).items[0].verdict
    };
    let (pass, fail) = (Verdict::Pass, Verdict::Fail);
    assert_eq!(
        verdict(vec![ending("x", 2, pass), ending("y", 1, fail)]),
        Some(pass)
    );
    assert_eq!(
        verdict(vec![ending("x", 1, pass), ending("y", 1, fail)]),
        Some(fail)
    );
    let task = Ending {
        task: Some("t".to_owned()),
        of: Vec::new(),
        ..ending("z", 3, fail)
    };
    assert_eq!(verdict(vec![ending("x", 2, pass), task]), Some(fail));
}

/// A memory of records that share words, nodes and sessions.
fn memories() -> impl Strategy<Value = View> {
    let words = proptest::sample::subsequence(vec!["alpha", "beta", "gamma", "delta"], 0..4);
    let nodes = proptest::sample::subsequence(vec!["a", "b", "c", "d", "e"], 0..5);
    let record = (words, nodes, 0..6usize, -200..1i64, 0..40u8);
    proptest::collection::vec(record, 0..60).prop_map(|records| {
        let mut view = View::default();
        let count = records.len() as u8;
        for (at, (words, nodes, session, day, replaced)) in records.into_iter().enumerate() {
            let own = RecordId::from([at as u8; 32]);
            if replaced < count && usize::from(replaced) > at {
                view.replaced_by.insert(own, RecordId::from([replaced; 32]));
            }
            view.priors.push(Prior {
                id: own,
                session: (session > 0).then(|| format!("s{session}")),
                time: Time(day * 86_400),
                ..prior("", &words.join(" "), &nodes)
            });
        }
        view
    })
}

/// Ground as any look-up could have it, for so many nodes each.
fn some_grounds() -> impl Strategy<Value = Vec<Vec<Stand>>> {
    let stand = (0..4u8, any::<bool>(), "[a\\\\\n/é]{0,6}").prop_map(|(state, in_focus, name)| {
        let state = [State::Same, State::Changed, State::Moved, State::Gone][usize::from(state)];
        let now = (state == State::Moved).then_some(name);
        Stand {
            state,
            in_focus,
            now,
        }
    });
    proptest::collection::vec(proptest::collection::vec(stand, 0..12), 0..12)
}

proptest! {
    #[test]
    fn the_order_of_the_records_is_of_no_account(view in memories(), seed in any::<u64>()) {
        let policy = Policy::default();
        let made = rank(&view, &question(&policy), &[], FocusFacts::default());
        let mut other = view.clone();
        other.priors.sort_by_key(|prior| RecordId::of(&[prior.id.as_bytes()[0], seed as u8]));
        prop_assert_eq!(rank(&other, &question(&policy), &[], FocusFacts::default()), made);
    }

    #[test]
    fn raising_the_floor_never_adds_a_record(view in memories(), low in 0.0..0.7f64, more in 0.0..0.3f64) {
        let ids = |noise_floor| {
            let policy = Policy { noise_floor, ..Policy::default() };
            let made = rank(&view, &question(&policy), &[], FocusFacts::default());
            made.items.into_iter().map(|item| item.id).collect::<Vec<_>>()
        };
        let (few, many) = (ids(low + more), ids(low));
        prop_assert!(few.iter().all(|id| many.contains(id)), "{few:?} {many:?}");
    }

    #[test]
    fn sessions_are_counted_as_by_sets(view in memories()) {
        let priors: Vec<_> = view.priors.iter().collect();
        for (at, made) in crate::score::company::corroboration(&priors).into_iter().enumerate() {
            let shares = |other: &&Prior| other.nodes.iter().any(|node| priors[at].nodes.contains(node));
            let session = |prior: &Prior| prior.session.clone().unwrap_or_else(|| prior.id.to_string());
            let others = view.priors.iter().filter(shares).map(session);
            prop_assert_eq!(made, others.collect::<std::collections::BTreeSet<_>>().len() as u64);
        }
    }

    #[test]
    fn packed_ground_comes_back(grounds in some_grounds()) {
        let counts: Vec<_> = grounds.iter().map(Vec::len).collect();
        let packed = pack_ground(&grounds);
        prop_assert_eq!(unpack_ground(&packed, &counts), Some((grounds, &[][..])));
        let mut more = counts.clone();
        more.push(9);
        prop_assert_eq!(unpack_ground(&packed[..packed.len() - 1], &counts), None);
        let _ = unpack_ground(&packed, &more);
    }

    #[test]
    fn no_bytes_make_unpacking_fail_hard(bytes in any::<Vec<u8>>(), counts in proptest::collection::vec(0..9usize, 0..4)) {
        let mut bytes = bytes;
        bytes.insert(0, 1);
        if let Some((grounds, rest)) = unpack_ground(&bytes, &counts) {
            prop_assert_eq!([&pack_ground(&grounds), rest].concat(), bytes.clone());
        }
        prop_assert_eq!(unpack_ground(&bytes, &[usize::MAX, 2]), None);
        prop_assert_eq!(unpack_ground(&bytes, &[usize::MAX / 4]), None);
    }
}
