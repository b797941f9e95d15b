//! How much the ground has changed since a record: the touch counts of `measured/1` (`scoring.md`, structural).
//!
//! In: candidates with what became of their nodes, the current nodes, a window of history. Out: for each candidate which current nodes it
//! touches, and the count k of each such pair. Counts come from Git's history and never from the records; a look-up pins them, and a
//! replay takes them from there.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::graph::Graph;
use crate::id::CommitId;
use crate::record::State;
use crate::repo::Window;
use crate::score::focus::FocusFacts;
use crate::score::ground::Stand;
use crate::score::varint;
use crate::store::view::Prior;

/// Which current nodes each candidate touches: places in [`live`], ascending.
pub type Touching = Vec<Vec<usize>>;

/// The current nodes that are there, in the order of their names, each once.
pub fn live(facts: &FocusFacts) -> Vec<&str> {
    let names = facts.expansion.keys().map(String::as_str);
    names
        .filter(|name| !facts.unresolved.iter().any(|gone| gone == name))
        .collect()
}

/// Which of the current nodes each candidate touches: of a record's live nodes, at the name each has now, one equals the current node,
/// lies beneath it, or holds it.
pub fn touching(current: &[&str], candidates: &[&Prior], grounds: &[Vec<Stand>]) -> Touching {
    crate::threads::ready();
    let each = candidates.par_iter().zip(grounds).with_min_len(64);
    each.map(|(prior, ground)| {
        let stands = || prior.nodes.iter().zip(ground);
        let touches = |name: &str| {
            stands().any(|(node, stand)| now(node, stand).is_some_and(|now| is_near(now, name)))
        };
        let places = 0..current.len();
        places.filter(|place| touches(current[*place])).collect()
    })
    .collect()
}

/// The name a node has in the code tree; none when it is gone.
fn now<'n>(node: &'n str, stand: &'n Stand) -> Option<&'n str> {
    match stand.state {
        State::Same | State::Changed => Some(node),
        State::Moved => stand.now.as_deref(),
        State::Gone => None,
    }
}

fn is_near(node: &str, other: &str) -> bool {
    node == other || lies_beneath(node, other) || lies_beneath(other, node)
}

/// Whether a node lies beneath another, by their names: below a directory, in a file, in a class.
fn lies_beneath(node: &str, holder: &str) -> bool {
    if holder == "." {
        return node != ".";
    }
    let Some(rest) = node.strip_prefix(holder) else {
        return false;
    };
    match holder.contains("::") {
        true => rest.starts_with('.'),
        false => rest.starts_with('/') || rest.starts_with("::"),
    }
}

/// The counts of one look-up, one for each pair of [`touching`], in its order.
pub fn counts(
    graph: &Graph,
    window: &Window,
    current: &[&str],
    candidates: &[&Prior],
    touching: &Touching,
) -> Vec<Vec<u64>> {
    let places = places(window);
    crate::threads::ready();
    let touched: Vec<Vec<usize>> = current
        .par_iter()
        .map(|name| touched_by(graph, window, name))
        .collect();
    let each = candidates.par_iter().zip(touching).with_min_len(64);
    each.map(|(prior, pairs)| {
        let count = |place: &usize| count(window, &places, &touched[*place], prior);
        pairs.iter().map(count).collect()
    })
    .collect()
}

/// The place of each commit of a window.
pub fn places(window: &Window) -> HashMap<CommitId, usize> {
    let commits = window.commits.iter().enumerate();
    commits.map(|(place, commit)| (commit.id, place)).collect()
}

/// Of a record's anchors in the window the place of the newest; none when it has none there.
pub fn newest_place(places: &HashMap<CommitId, usize>, prior: &Prior) -> Option<usize> {
    let anchors = prior.anchors.iter().chain(&prior.former_anchors);
    anchors
        .filter_map(|commit| places.get(commit))
        .min()
        .copied()
}

/// The places in the window of the commits that touch a node's path, ascending.
fn touched_by(graph: &Graph, window: &Window, name: &str) -> Vec<usize> {
    let is_path = graph
        .find(name)
        .is_some_and(|node| graph.kind(node).is_path());
    let path = match name.split_once("::") {
        Some((file, _)) if !is_path => file,
        _ => name,
    };
    let below = format!("{path}/");
    let touches = |touched: &str| path == "." || touched == path || touched.starts_with(&below);
    let commits = window.commits.iter().enumerate();
    commits
        .filter(|(_, commit)| commit.paths.iter().any(|touched| touches(touched)))
        .map(|(place, _)| place)
        .collect()
}

/// k: how many commits touched the node since the record; of several anchors the smallest count. An anchor outside the window, or
/// without a commit, counts by its time.
fn count(
    window: &Window,
    places: &HashMap<CommitId, usize>,
    touched: &[usize],
    prior: &Prior,
) -> u64 {
    if let Some(newest) = newest_place(places, prior) {
        return touched.partition_point(|place| *place < newest) as u64;
    }
    let is_later = |place: &&usize| window.commits[**place].time > prior.time.0;
    touched.iter().filter(is_later).count() as u64
}

/// The bytes in which the counts are pinned, one number after the other.
pub fn pack(counts: &[Vec<u64>]) -> Vec<u8> {
    let mut packed = Vec::new();
    for count in counts.iter().flatten() {
        varint::write(*count, &mut packed);
    }
    packed
}

/// Reads what [`pack`] wrote for these pairs, and what stands behind it; none when it is anything else.
pub fn unpack<'p>(mut packed: &'p [u8], touching: &Touching) -> Option<(Vec<Vec<u64>>, &'p [u8])> {
    let mut counts = Vec::with_capacity(touching.len());
    for pairs in touching {
        let of_candidate = pairs.iter().map(|_| varint::read(&mut packed));
        counts.push(of_candidate.collect::<Option<Vec<_>>>()?);
    }
    Some((counts, packed))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Node, NodeKind};
    use crate::id::ObjectId;
    use crate::record::Time;
    use crate::repo::Touched;
    use crate::score::conformance::prior;

    fn commit(byte: u8) -> CommitId {
        CommitId(ObjectId::from_bytes(&[byte; 20]).expect("20 bytes are a name"))
    }

    /// Four commits, newest first: 4 and 2 touch `src/a.py`, 3 touches `src/b.py`, 1 both.
    fn window() -> Window {
        let touched = |byte: u8, paths: &[&str]| Touched {
            id: commit(byte),
            time: i64::from(byte) * 100,
            paths: Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()),
        };
        Window {
            commits: vec![
                touched(4, &["src/a.py"]),
                touched(3, &["src/b.py"]),
                touched(2, &["src/a.py"]),
                touched(1, &["src/a.py", "src/b.py"]),
            ],
            is_cut: false,
        }
    }

    fn graph() -> Graph {
        let node = |name: &str, kind| Node {
            name: name.into(),
            kind,
            object: None,
            lines: (0, 0),
        };
        let nodes = vec![
            node(".", NodeKind::Directory),
            node("src", NodeKind::Directory),
            node("src/a.py", NodeKind::File),
            node("src/b.py", NodeKind::File),
            node("src/a.py::C", NodeKind::Class),
        ];
        Graph::from_parts(nodes, Vec::new())
    }

    fn counted(anchor: Option<u8>, time: i64, current: &str) -> u64 {
        let mut record = prior("a", "text", &["src"]);
        record.time = Time(time);
        record.anchors = anchor.map(commit).into_iter().collect();
        counts(&graph(), &window(), &[current], &[&record], &vec![vec![0]])[0][0]
    }

    #[test]
    fn counts_by_hand() {
        assert_eq!(counted(Some(4), 0, "src/a.py"), 0);
        assert_eq!(counted(Some(2), 0, "src/a.py"), 1);
        assert_eq!(counted(Some(1), 0, "src/a.py"), 2);
        assert_eq!(counted(Some(1), 0, "src/b.py"), 1);
        // A directory: whatever lies beneath. A symbol: its file.
        assert_eq!(counted(Some(1), 0, "src"), 3);
        assert_eq!(counted(Some(1), 0, "."), 3);
        assert_eq!(counted(Some(1), 0, "src/a.py::C"), 2);
        // Outside the window, or without a commit: by the time.
        assert_eq!(counted(Some(9), 200, "src/a.py"), 1);
        assert_eq!(counted(None, 199, "src/a.py"), 2);
        assert_eq!(counted(None, 1000, "src/a.py"), 0);
    }

    #[test]
    fn of_several_anchors_the_newest_counts() {
        let mut record = prior("a", "text", &["src"]);
        record.anchors = vec![commit(1), commit(4)];
        let made = counts(
            &graph(),
            &window(),
            &["src/a.py"],
            &[&record],
            &vec![vec![0]],
        );
        assert_eq!(made, [[0]]);
    }

    #[test]
    fn touching_is_equal_beneath_or_above() {
        for (node, current, touches) in [
            ("src/a.py", "src/a.py", true),
            ("src/a.py", "src", true),
            ("src", "src/a.py", true),
            ("src/a.py::C.m", "src/a.py::C", true),
            ("src/a.py::C", "src/a.py", true),
            ("src/a.py::Cache", "src/a.py::C", false),
            ("src/a.pyc", "src/a.py", false),
            ("src/a.py", "src/b.py", false),
            (".", "src", true),
        ] {
            assert_eq!(is_near(node, current), touches, "{node} {current}");
            assert_eq!(is_near(current, node), touches, "{current} {node}");
        }
        // What is gone touches nothing; what has moved touches where it is now.
        let record = prior("a", "text", &["gone.py", "old.py"]);
        let stand = |state, now: Option<&str>| Stand {
            state,
            in_focus: false,
            now: now.map(str::to_owned),
        };
        let ground = vec![
            stand(State::Gone, None),
            stand(State::Moved, Some("new.py")),
        ];
        let current = ["gone.py", "new.py", "old.py"];
        assert_eq!(touching(&current, &[&record], &[ground]), [[1]]);
    }

    proptest! {
        #[test]
        fn packed_counts_come_back(counts in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 0..4), 0..5)) {
            let touching: Touching = counts.iter().map(|pairs| (0..pairs.len()).collect()).collect();
            let packed = pack(&counts);
            prop_assert_eq!(unpack(&packed, &touching), Some((counts, &[][..])));
            let mut more = touching.clone();
            more.push(vec![0]);
            prop_assert_eq!(unpack(&packed, &more), None);
        }
    }
}
