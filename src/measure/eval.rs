//! `eval`: labelled cases of one or several histories, asked of rules and baselines.
//!
//! In: repositories, cases, rankers. Out: what each ranker made of each case. Each history is read once; cases run in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::bench::{Bench, Records, graph};
use super::case::Case;
use super::figures::Seen;
use super::ranker::Ranker;
use crate::query::QueryError;
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
    let mut eval = Eval {
        seen: vec![Vec::new(); options.rankers.len()],
    };
    for history in histories {
        let bench = Bench::open(&history.repo)?;
        let weights = history.weights.as_ref().unwrap_or(Weights::frozen());
        let records = options.newest.map_or(Records::All, Records::Newest);
        let run = |repo: &mut Repo, case: &Case| -> Result<Vec<Seen>, QueryError> {
            let scene = bench.scene(repo, case, records)?;
            let needs_symbols = options
                .rankers
                .iter()
                .any(|ranker| ranker.needs_symbols(case));
            let graph = graph(repo, &scene, needs_symbols)?;
            let ask = |ranker: &Ranker| ranker.ask(&scene, &graph, case, weights);
            let seen = options.rankers.iter().map(ask).collect();
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            Ok(seen)
        };
        let cases = history.cases.par_iter().with_max_len(1);
        let seen: Result<Vec<Vec<Seen>>, QueryError> =
            cases.map_init(|| bench.repo(), run).collect();
        bench.keep(&history.repo);
        let mut of_ranker = vec![Vec::new(); options.rankers.len()];
        for case in seen? {
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
