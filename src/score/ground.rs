//! What became of a record's nodes (`scoring.md`, Nodes), and the packed form in which a look-up pins it (`design.md` section 4).
//!
//! In: the code graph, the focus, a record. Out: one [`Stand`] for each of its nodes, in order. The packed form holds everything that
//! scoring reads of the graph, so a selection can be recomputed from it alone. Never reads a text.

use rayon::prelude::*;

use crate::graph::Graph;
use crate::id::ObjectId;
use crate::mask::mask;
use crate::record::State;
use crate::score::focus::Focus;
use crate::store::view::Prior;

/// The first byte of the packed form.
const FORMAT: u8 = 1;

/// The names of the blob without content, SHA-1 and SHA-256: so many paths share it that it says nothing about a move.
const EMPTY_BLOBS: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// One node of one candidate, seen from the code tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    /// What became of it.
    pub state: State,
    /// Whether it lies in the focus, at the name it has now.
    pub in_focus: bool,
    /// The name it has now, where it has moved; else none.
    pub now: Option<String>,
}

impl Stand {
    /// Whether the node is still there.
    pub fn is_live(&self) -> bool {
        self.state != State::Gone
    }

    const GONE: Stand = Stand {
        state: State::Gone,
        in_focus: false,
        now: None,
    };
}

/// The ground of every candidate, in their order, computed in parallel.
pub fn grounds(graph: &Graph, focus: &Focus, candidates: &[&Prior]) -> Vec<Vec<Stand>> {
    crate::threads::ready();
    let each = candidates.par_iter().with_min_len(64);
    each.map(|prior| ground(graph, focus, prior)).collect()
}

/// One entry for each of the record's nodes, in order.
pub fn ground(graph: &Graph, focus: &Focus, prior: &Prior) -> Vec<Stand> {
    let stand = |node: &String| stand(graph, focus, prior, node);
    prior.nodes.iter().map(stand).collect()
}

fn stand(graph: &Graph, focus: &Focus, prior: &Prior, name: &str) -> Stand {
    if let Some(node) = graph.find(name) {
        let path = if graph.kind(node).is_path() {
            Some((name, node))
        } else {
            file_of(graph, name)
        };
        let same = path.is_some_and(|(path, node)| {
            let recorded = prior.objects.get(path);
            recorded.is_some() && recorded.copied() == graph.object(node)
        });
        return Stand {
            state: if same { State::Same } else { State::Changed },
            in_focus: focus.contains(node),
            now: None,
        };
    }
    moved_to(graph, prior, name).map_or(Stand::GONE, |node| Stand {
        state: State::Moved,
        in_focus: focus.contains(node),
        // It is stored with the look-up, where nothing else names a path with a credential in it.
        now: Some(mask(graph.name(node)).text),
    })
}

/// Where a name that the graph lacks went to; `None` when it is gone.
fn moved_to(graph: &Graph, prior: &Prior, name: &str) -> Option<u32> {
    if let Some(object) = prior.objects.get(name) {
        return only_path_of(graph, object);
    }
    if file_of(graph, name).is_some() {
        return None;
    }
    let mut splits = splits(name);
    let (object, symbol) =
        splits.find_map(|(path, symbol)| Some((prior.objects.get(path)?, symbol)))?;
    let path = graph.name(only_path_of(graph, object)?);
    graph.find(&format!("{path}::{symbol}"))
}

/// The one path at which a blob stands; `None` for the empty blob, for several paths, and for what is no blob.
fn only_path_of(graph: &Graph, object: &ObjectId) -> Option<u32> {
    if EMPTY_BLOBS.contains(&object.to_string().as_str()) {
        return None;
    }
    match graph.paths_of(object).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The path part of a symbol's name, where the graph has it. A path may itself contain `::`, so every split is tried.
fn file_of<'n>(graph: &Graph, name: &'n str) -> Option<(&'n str, u32)> {
    splits(name).find_map(|(path, _)| {
        let node = graph.find(path)?;
        graph.kind(node).is_path().then_some((path, node))
    })
}

fn splits(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let borders = name.match_indices("::");
    borders.map(|(at, border)| (&name[..at], &name[at + border.len()..]))
}

/// The bytes that a look-up pins: a format byte; 3 bits for each node (2 for the state, 1 for the focus), lowest first; then the new
/// name of each node that has moved, as a line, `\` and line break escaped with `\`. What a rule reads besides is put behind it.
pub fn pack_ground(grounds: &[Vec<Stand>]) -> Vec<u8> {
    let count = grounds.iter().map(Vec::len).sum::<usize>();
    let mut packed = vec![0; 1 + (3 * count).div_ceil(8)];
    packed[0] = FORMAT;
    let mut names = String::new();
    for (at, stand) in grounds.iter().flatten().enumerate() {
        let bits = state_bits(stand.state) | u8::from(stand.in_focus) << 2;
        let (byte, shift) = (1 + 3 * at / 8, 3 * at % 8);
        packed[byte] |= bits << shift;
        if shift > 5 {
            packed[byte + 1] |= bits >> (8 - shift);
        }
        if stand.state == State::Moved {
            let name = stand.now.as_deref().unwrap_or_default();
            names.push_str(&name.replace('\\', "\\\\").replace('\n', "\\n"));
            names.push('\n');
        }
    }
    packed.extend_from_slice(names.as_bytes());
    packed
}

/// Reads what [`pack_ground`] wrote, given how many nodes each candidate has, and what stands behind it; `None` when it is anything else.
pub fn unpack_ground<'p>(
    packed: &'p [u8],
    counts: &[usize],
) -> Option<(Vec<Vec<Stand>>, &'p [u8])> {
    let (format, packed) = packed.split_first()?;
    let mut count = 0usize;
    for nodes in counts {
        count = count.checked_add(*nodes)?;
    }
    let bits = count.checked_mul(3)?;
    if *format != FORMAT || packed.len() < bits.div_ceil(8) {
        return None;
    }
    let (states, names) = packed.split_at(bits.div_ceil(8));
    let padding = states.last().filter(|_| bits % 8 != 0);
    if padding.is_some_and(|last| last >> (bits % 8) != 0) {
        return None;
    }
    let mut rest = names;
    let mut at = 0;
    let mut next = || {
        let (byte, shift) = (at / 8, at % 8);
        let upper = states.get(byte + 1).copied().unwrap_or(0);
        let bits = (u16::from(states[byte]) | u16::from(upper) << 8) >> shift;
        at += 3;
        let state = state_of(bits & 3);
        let now = match state {
            State::Moved => Some(line(&mut rest)?),
            _ => None,
        };
        let in_focus = bits & 4 != 0;
        Some(Stand {
            state,
            in_focus,
            now,
        })
    };
    let mut grounds = Vec::with_capacity(counts.len());
    for nodes in counts {
        grounds.push((0..*nodes).map(|_| next()).collect::<Option<Vec<_>>>()?);
    }
    Some((grounds, rest))
}

/// Takes one escaped line off the front; `None` when it is not ended, not UTF-8, or not escaped as [`pack_ground`] does.
fn line(rest: &mut &[u8]) -> Option<String> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    *rest = &rest[end + 1..];
    let mut name = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        name.push(match character {
            '\\' => match characters.next()? {
                '\\' => '\\',
                'n' => '\n',
                _ => return None,
            },
            plain => plain,
        });
    }
    Some(name)
}

fn state_bits(state: State) -> u8 {
    match state {
        State::Same => 0,
        State::Changed => 1,
        State::Moved => 2,
        State::Gone => 3,
    }
}

fn state_of(bits: u16) -> State {
    match bits {
        0 => State::Same,
        1 => State::Changed,
        2 => State::Moved,
        _ => State::Gone,
    }
}
