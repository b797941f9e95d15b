//! What the code says that a record's commit wrote and that still stands (`measured/1`; README, "How a look-up scores").
//!
//! In: the current nodes' lines with the commits that wrote them, the terms of the task, the candidates. Out: an [`Authorship`]. Counts
//! come from Git's history and never from the records; a look-up pins them, and a replay takes them from there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::record::Source;
use crate::repo::{Blame, Kept, Window};
use crate::score::touch::{Touching, newest_place, places};
use crate::score::varint;
use crate::store::view::Prior;
use crate::token::{Terms, terms};

/// The lines of one current node.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The file, as it stands in the code tree.
    pub text: Arc<String>,
    /// Which of its lines are the node's, from 0.
    pub range: Range<usize>,
    /// Who wrote them.
    pub blame: Arc<Blame>,
}

/// What the rule reads of who wrote the current nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorship {
    /// For each term of the task how many commits of the window wrote a line with it that stands in the current nodes.
    pub holders: Vec<u64>,
    /// For each candidate the terms of the task, by place, in such lines of its commit.
    pub words: Vec<Vec<usize>>,
    /// For each current node that a candidate touches how much is left there of what its commit wrote.
    pub kept: Vec<Vec<Kept>>,
}

impl Authorship {
    /// The words and what is kept of one candidate; nothing for one that it does not have.
    pub fn of(&self, candidate: usize) -> (&[usize], &[Kept]) {
        let words = self.words.get(candidate).map_or(&[][..], Vec::as_slice);
        let kept = self.kept.get(candidate).map_or(&[][..], Vec::as_slice);
        (words, kept)
    }
}

/// Of a record without a commit of the window that is known to have written in the node, all counts as kept.
const UNKNOWN: Kept = Kept {
    added: 1,
    standing: 1,
};

/// Reads the lines for all candidates. `lines` holds those of the current nodes that are files or symbols, by their name in `current`.
/// The commit of a record is the newest of its anchors in the window; a record that a session said has none, since its anchor is
/// whatever commit the session stood on.
pub fn authorship(
    task: &Terms,
    window: &Window,
    lines: &BTreeMap<String, Lines>,
    current: &[&str],
    candidates: &[&Prior],
    touching: &Touching,
) -> Authorship {
    let mut by_place: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    for lines in lines.values() {
        for (line, origin) in lines
            .text
            .split('\n')
            .zip(&lines.blame.origins)
            .skip(lines.range.start)
            .take(lines.range.len())
        {
            let Some(origin) = origin else { continue };
            let said = terms(line);
            let shared = said.iter().filter_map(|term| task.place(term));
            by_place.entry(*origin).or_default().extend(shared);
        }
    }
    let mut holders = vec![0; task.len()];
    for term in by_place.values().flatten() {
        holders[*term] += 1;
    }
    let places = places(window);
    let of_commit = |prior: &Prior| match prior.source {
        Source::Session => None,
        _ => newest_place(&places, prior),
    };
    let words = |prior: &&Prior| {
        let said = of_commit(prior).and_then(|place| by_place.get(&place));
        said.into_iter().flatten().copied().collect()
    };
    let kept = |(prior, pairs): (&&Prior, &Vec<usize>)| {
        let place = of_commit(prior);
        let of_pair = |at: &usize| {
            let blame = &lines.get(current[*at])?.blame;
            blame.kept.get(&place?).copied()
        };
        pairs
            .iter()
            .map(|at| of_pair(at).unwrap_or(UNKNOWN))
            .collect()
    };
    Authorship {
        holders,
        words: candidates.iter().map(words).collect(),
        kept: candidates.iter().zip(touching).map(kept).collect(),
    }
}

/// The bytes in which it is pinned: the numbers in the order of the fields, before the words of a candidate how many they are.
pub fn pack(authorship: &Authorship) -> Vec<u8> {
    let mut packed = Vec::new();
    for holders in &authorship.holders {
        varint::write(*holders, &mut packed);
    }
    for words in &authorship.words {
        varint::write(words.len() as u64, &mut packed);
        for word in words {
            varint::write(*word as u64, &mut packed);
        }
    }
    for kept in authorship.kept.iter().flatten() {
        varint::write(kept.added, &mut packed);
        varint::write(kept.standing, &mut packed);
    }
    packed
}

/// Reads what [`pack`] wrote for a task of so many terms and these pairs; none when it is anything else.
pub fn unpack(mut packed: &[u8], terms: usize, touching: &Touching) -> Option<Authorship> {
    let bytes = &mut packed;
    let holders = (0..terms).map(|_| varint::read(bytes));
    let holders = holders.collect::<Option<Vec<_>>>()?;
    let mut words = Vec::with_capacity(touching.len());
    for _ in touching {
        let count = usize::try_from(varint::read(bytes)?).ok()?;
        let mut of_candidate: Vec<usize> = Vec::new();
        for _ in 0..count.min(terms) {
            let word = usize::try_from(varint::read(bytes)?).ok()?;
            if word >= terms || of_candidate.last().is_some_and(|last| *last >= word) {
                return None;
            }
            of_candidate.push(word);
        }
        if of_candidate.len() != count {
            return None;
        }
        words.push(of_candidate);
    }
    let mut kept = Vec::with_capacity(touching.len());
    for pairs in touching {
        let mut pair = || {
            let (added, standing) = (varint::read(bytes)?, varint::read(bytes)?);
            Some(Kept { added, standing })
        };
        kept.push(pairs.iter().map(|_| pair()).collect::<Option<Vec<_>>>()?);
    }
    bytes.is_empty().then_some(Authorship {
        holders,
        words,
        kept,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::{CommitId, ObjectId};
    use crate::repo::Touched;
    use crate::score::conformance::prior;

    fn commit(byte: u8) -> CommitId {
        CommitId(ObjectId::from_bytes(&[byte; 20]).expect("20 bytes are a name"))
    }

    /// Commits 3, 2 and 1, newest first.
    fn window() -> Window {
        let touched = |byte: u8| Touched {
            id: commit(byte),
            time: i64::from(byte),
            paths: Arc::new(vec!["a.py".to_owned()]),
        };
        Window {
            commits: [3, 2, 1].map(touched).to_vec(),
            is_cut: false,
        }
    }

    /// `a.py`, whose first line is older than the window, and of which only the first three lines are asked about.
    fn lines() -> BTreeMap<String, Lines> {
        let kept = Kept {
            added: 5,
            standing: 2,
        };
        let blame = Blame {
            origins: vec![None, Some(1), Some(0), Some(2)],
            kept: BTreeMap::from([(1, kept)]),
            is_cut: false,
        };
        let lines = Lines {
            text: Arc::new("store\nstore the session\nsession = 1\ncache\n".to_owned()),
            range: 0..3,
            blame: Arc::new(blame),
        };
        BTreeMap::from([("a.py".to_owned(), lines)])
    }

    #[test]
    fn words_by_hand() {
        let task = terms("cache the stored session");
        assert_eq!(
            task.iter().collect::<Vec<_>>(),
            ["cach", "session", "store"]
        );
        let of = |byte: u8| {
            let mut record = prior("a", "text", &["a.py"]);
            record.source = Source::Commit;
            record.anchors = vec![commit(byte)];
            record
        };
        let said = {
            let mut record = of(2);
            record.source = Source::Session;
            record
        };
        let (newest, middle, oldest, outside) = (of(3), of(2), of(1), of(9));
        let candidates = [&newest, &middle, &oldest, &outside, &said];
        let touching = vec![vec![0]; 5];
        let made = authorship(
            &task,
            &window(),
            &lines(),
            &["a.py"],
            &candidates,
            &touching,
        );
        // Nothing of line 4, which is not asked about; nothing of line 1, whose commit is not known.
        assert_eq!(made.holders, [0, 2, 1]);
        let none: Vec<usize> = Vec::new();
        let words = [vec![1], vec![1, 2], none.clone(), none.clone(), none];
        assert_eq!(made.words, words);
        let middle = Kept {
            added: 5,
            standing: 2,
        };
        let kept = [UNKNOWN, middle, UNKNOWN, UNKNOWN, UNKNOWN].map(|kept| vec![kept]);
        assert_eq!(made.kept, kept);
    }

    fn any_authorship() -> impl Strategy<Value = Authorship> {
        let candidate = (
            proptest::collection::btree_set(0..5usize, 0..5),
            proptest::collection::vec(any::<(u64, u64)>(), 0..3),
        );
        let candidates = proptest::collection::vec(candidate, 0..4);
        (any::<[u64; 5]>(), candidates).prop_map(|(holders, candidates)| {
            let kept = |(added, standing)| Kept { added, standing };
            let (words, pairs): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
            Authorship {
                holders: holders.to_vec(),
                words: words
                    .into_iter()
                    .map(|words| words.into_iter().collect())
                    .collect(),
                kept: pairs
                    .into_iter()
                    .map(|pairs: Vec<_>| pairs.into_iter().map(kept).collect())
                    .collect(),
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(authorship in any_authorship()) {
            let touching: Touching = authorship.kept.iter().map(|pairs| (0..pairs.len()).collect()).collect();
            let packed = pack(&authorship);
            let mut longer = packed.clone();
            longer.push(0);
            prop_assert_eq!(unpack(&packed, 5, &touching), Some(authorship));
            prop_assert_eq!(unpack(&longer, 5, &touching), None);
        }

        #[test]
        fn only_one_form_is_read(bytes in any::<Vec<u8>>(), terms in 0..4usize, pairs in 0..3usize) {
            let touching = vec![(0..pairs).collect::<Vec<_>>(), Vec::new()];
            if let Some(authorship) = unpack(&bytes, terms, &touching) {
                prop_assert_eq!(pack(&authorship), bytes);
            }
        }
    }
}
