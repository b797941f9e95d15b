//! `eval`: labelled cases of one or several histories, asked of rules and baselines.
//!
//! In: repositories, cases, rankers. Out: what each ranker made of each case. Each history is read once; cases run in parallel, those that
//! ask at one commit side by side. Never writes but what `Bench::keep` does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::bench::{Bench, Records};
use super::case::Case;
use super::figures::Seen;
use super::ranker::Ranker;
use super::right::sample;
use crate::graph::Graph;
use crate::id::TreeId;
use crate::query::{QueryError, lines};
use crate::repo::Repo;
use crate::score::Weights;

/// One history with its cases.
pub struct History {
    /// Its name in a table.
    pub name: String,
    /// Its repository, with the records in it.
    pub repo: Repo,
    /// Its cases.
    pub cases: Vec<Case>,
    /// The weights used on it instead of the frozen ones.
    pub weights: Option<Weights>,
}

/// How cases are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which records they are asked of: the newest so many; none for all that were known.
    pub newest: Option<usize>,
    /// How many of these, the right ones and a sample of the others; none for all of them.
    pub sample: Option<usize>,
    /// What is asked.
    pub rankers: Vec<Ranker>,
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Eval {
    /// For each ranker, for each history, for each case.
    pub seen: Vec<Vec<Vec<Seen>>>,
}

impl Eval {
    /// Everything one ranker made of all histories.
    pub fn of(&self, ranker: usize) -> Vec<&Seen> {
        self.seen
            .get(ranker)
            .into_iter()
            .flatten()
            .flatten()
            .collect()
    }
}

/// Runs every case. `progress` hears of cases: done, and in all.
///
/// # Errors
/// When a history cannot be read, or a case names no commit of it.
pub fn eval(
    histories: &[History],
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Eval, QueryError> {
    let all = histories.iter().map(|history| history.cases.len()).sum();
    let done = AtomicUsize::new(0);
    let tell = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
    let mut eval = Eval {
        seen: vec![Vec::new(); options.rankers.len()],
    };
    for history in histories {
        let mut of_ranker = vec![Vec::new(); options.rankers.len()];
        for case in asked(history, options, &tell)? {
            for (at, seen) in case.into_iter().enumerate() {
                of_ranker[at].push(seen);
            }
        }
        for (at, seen) in of_ranker.into_iter().enumerate() {
            eval.seen[at].push(seen);
        }
    }
    Ok(eval)
}

/// What each ranker made of each case of a history, in the order of the cases.
fn asked(
    history: &History,
    options: &Options,
    tell: &(dyn Fn() + Sync),
) -> Result<Vec<Vec<Seen>>, QueryError> {
    let bench = Bench::open(&history.repo)?;
    let weights = history.weights.as_ref().unwrap_or(Weights::frozen());
    let records = options.newest.map_or(Records::All, Records::Newest);
    let needs_symbols = |case: &Case| {
        let mut rankers = options.rankers.iter();
        rankers.any(|ranker| ranker.needs_symbols(case))
    };
    let places = places(history)?;
    let read = places
        .iter()
        .filter(|place| place.cases.iter().any(|(_, case)| needs_symbols(case)));
    let pool = Graph::pool(&history.repo, &read.map(|place| place.tree).collect())?;
    let run = |repo: &mut Repo, place: &Place| -> Result<Vec<(usize, Vec<Seen>)>, QueryError> {
        let scene = bench.scene(repo, place.at, records)?;
        let graph = |is_asked: bool| -> Result<Option<Graph>, QueryError> {
            let is_wanted = |case: &Case| needs_symbols(case) == is_asked;
            Ok(match place.cases.iter().any(|(_, case)| is_wanted(case)) {
                true if is_asked => Some(Graph::of_pool(repo, scene.tree, &pool)?),
                true => Some(Graph::of_paths(repo, scene.tree)?),
                false => None,
            })
        };
        let (symbols, paths) = (graph(true)?, graph(false)?);
        let ask = |(at, case): &(usize, &Case)| -> Result<(usize, Vec<Seen>), QueryError> {
            let mut scene = Cow::Borrowed(&scene);
            if let Some(most) = options.sample {
                sample(&mut scene.to_mut().view, case, most);
            }
            let graph = match needs_symbols(case) {
                true => symbols.as_ref(),
                false => paths.as_ref(),
            };
            let graph = graph.expect("made where a case needs it");
            let lines = match options.rankers.iter().any(Ranker::needs_lines) {
                true => lines(&bench.repo(), graph, &scene.window, &case.nodes)?,
                false => BTreeMap::new(),
            };
            let rankers = options.rankers.iter();
            let seen = rankers.map(|ranker| ranker.ask(&scene, graph, &lines, case, weights));
            let seen = seen.collect();
            tell();
            Ok((*at, seen))
        };
        place.cases.par_iter().map(ask).collect()
    };
    crate::threads::ready();
    let each = places.par_iter().with_max_len(1);
    let seen: Vec<Vec<(usize, Vec<Seen>)>> = each
        .map_init(|| bench.repo(), run)
        .collect::<Result<_, QueryError>>()?;
    bench.keep(&history.repo);
    let mut seen: Vec<(usize, Vec<Seen>)> = seen.into_iter().flatten().collect();
    seen.sort_by_key(|(at, _)| *at);
    Ok(seen.into_iter().map(|(_, seen)| seen).collect())
}

/// Where cases are asked, with their places in the file.
struct Place<'h> {
    at: Option<&'h str>,
    tree: TreeId,
    cases: Vec<(usize, &'h Case)>,
}

/// Where the cases of a history are asked, oldest commit first: what follows one another has most of its code in common.
fn places(history: &History) -> Result<Vec<Place<'_>>, QueryError> {
    let mut groups: BTreeMap<Option<&str>, Vec<(usize, &Case)>> = BTreeMap::new();
    for (number, case) in history.cases.iter().enumerate() {
        let cases = groups.entry(case.at.as_deref()).or_default();
        cases.push((number, case));
    }
    let mut places = Vec::with_capacity(groups.len());
    for (at, cases) in groups {
        let commit = history.repo.commit_at(at.unwrap_or("HEAD"))?;
        let commit = history.repo.commit(commit)?;
        let tree = commit.tree;
        places.push((commit.time, Place { at, tree, cases }));
    }
    places.sort_by_key(|(time, _)| *time);
    Ok(places.into_iter().map(|(_, place)| place).collect())
}
