//! What one would use without this tool: a search that counts words (BM25), and `git log -- <files>`.
//!
//! In: the same records and the same question. Out: the records in the order of the baseline, best first, with a score. BM25 weighs words
//! by how many of the records hold them, which no rule here may do.

use std::collections::HashMap;
use std::sync::Arc;

use super::bench::Scene;
use super::words::Words;
use crate::store::view::Prior;
use crate::token::{Terms, terms};

/// The constants that BM25 is usually run with.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The records by BM25 over stemmed words, best first; those that share no word are left out. With `paths`, the words of a record's nodes
/// and of the current nodes count too.
pub fn bm25(scene: &Scene, task: &str, nodes: &[String], paths: bool) -> Vec<(usize, f64)> {
    let asked = match paths {
        true => Terms::of(std::iter::once(task).chain(nodes.iter().map(String::as_str))),
        false => terms(task),
    };
    let priors = scene.view.priors.iter();
    let said: Vec<Vec<Arc<[u32]>>> = priors
        .map(|prior| words_of(prior, paths, &scene.words))
        .collect();
    // Only now has every word of every record its number.
    let words: HashMap<u32, usize> = asked
        .iter()
        .enumerate()
        .filter_map(|(at, term)| Some((scene.words.number(term)?, at)))
        .collect();
    let mut documents = Vec::with_capacity(said.len());
    let mut holders = vec![0usize; asked.iter().count()];
    let mut total = 0usize;
    for said in &said {
        let (length, counts) = count_words(said, holders.len(), &words);
        total += length;
        for (word, _) in &counts {
            holders[*word] += 1;
        }
        documents.push((length, counts));
    }
    let all = documents.len() as f64;
    let mean = total as f64 / all.max(1.0);
    let rarity: Vec<f64> = holders
        .iter()
        .map(|holders| {
            let holders = *holders as f64;
            libm::log(1.0 + (all - holders + 0.5) / (holders + 0.5))
        })
        .collect();
    let mut ranked: Vec<(usize, f64)> = documents
        .iter()
        .enumerate()
        .filter(|(_, (_, counts))| !counts.is_empty())
        .map(|(at, (length, counts))| {
            let norm = K1 * (1.0 - B + B * *length as f64 / mean);
            let part = |(word, count): &(usize, u32)| {
                let count = f64::from(*count);
                rarity[*word] * count * (K1 + 1.0) / (count + norm)
            };
            (at, counts.iter().map(part).sum())
        })
        .collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    ranked
}

/// The words of what a record says and why, with `paths` of its nodes too.
fn words_of(prior: &Prior, paths: bool, words: &Words) -> Vec<Arc<[u32]>> {
    let texts = std::iter::once(&prior.text).chain(&prior.reasons);
    let nodes = prior.nodes.iter().filter(|_| paths);
    texts.chain(nodes).map(|text| words.of(text)).collect()
}

/// How many words a record has, and how often each of `asked` ones, in the order of the asked words.
fn count_words(
    said: &[Arc<[u32]>],
    asked: usize,
    words: &HashMap<u32, usize>,
) -> (usize, Vec<(usize, u32)>) {
    let mut counts = vec![0u32; asked];
    for word in said.iter().flat_map(|text| text.iter()) {
        if let Some(at) = words.get(word) {
            counts[*at] += 1;
        }
    }
    let held = counts
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0);
    (said.iter().map(|text| text.len()).sum(), held.collect())
}

/// The records of the commits that `git log -- <current nodes>` would print, newest first; the score only tells the order.
pub fn git_log(scene: &Scene, nodes: &[String]) -> Vec<(usize, f64)> {
    let mut of_commit: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, prior) in scene.view.priors.iter().enumerate() {
        for commit in prior.anchors.iter().chain(&prior.former_anchors) {
            of_commit.entry(*commit).or_default().push(at);
        }
    }
    let names: Vec<&str> = nodes
        .iter()
        .map(|node| {
            node.split_once("::")
                .map_or(node.as_str(), |(path, _)| path)
        })
        .collect();
    let is_asked = |path: &String| {
        names.iter().any(|name| {
            let rest = path.strip_prefix(name);
            *name == "." || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let mut seen = vec![false; scene.view.priors.len()];
    let mut ranked = Vec::new();
    for commit in &scene.newest.commits {
        if !commit.paths.iter().any(is_asked) {
            continue;
        }
        for at in of_commit.get(&commit.id).into_iter().flatten() {
            if !std::mem::replace(&mut seen[*at], true) {
                ranked.push((*at, 1.0 / (ranked.len() + 1) as f64));
            }
        }
    }
    ranked
}
