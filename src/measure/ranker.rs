//! One case asked of one rule or baseline: where the right records came, and what would be selected.
//!
//! In: a scene. Out: a [`Seen`]. A rule is asked through the code that answers look-ups.

use std::collections::BTreeMap;

use super::baseline::{bm25, git_log};
use super::bench::Scene;
use super::case::Case;
use super::figures::Seen;
use super::right::Right;
use crate::graph::Graph;
use crate::id::RecordId;
use crate::policy::{Policy, Rule};
use crate::query::{Counted, count};
use crate::record::Selection;
use crate::score::{self, Lines, Question, Read, Scored, Weights, touch};
use crate::store::view::View;

/// Days from which on a reference counts as old (`scoring.md`, eval).
const OLD: i64 = 30 * 86_400;

/// What a case is asked of.
#[derive(Clone, Debug, PartialEq)]
pub enum Ranker {
    /// A rule, with its policy.
    Rule(Box<Policy>),
    /// BM25 over stemmed words; with the words of paths, or without.
    Bm25 {
        /// Whether words of paths count.
        paths: bool,
    },
    /// `git log -- <current nodes>`.
    GitLog,
}

impl Ranker {
    /// Its name in a table.
    pub fn name(&self) -> &str {
        match self {
            Ranker::Rule(policy) => &policy.rule,
            Ranker::Bm25 { paths: false } => "BM25",
            Ranker::Bm25 { paths: true } => "BM25 with path words",
            Ranker::GitLog => "git log -- files",
        }
    }

    /// Whether it reads more of the code than its paths, for this case.
    pub fn needs_symbols(&self, case: &Case) -> bool {
        match self {
            Ranker::Rule(policy) if policy.rule() == Some(Rule::Measured1) => {
                case.nodes.iter().any(|node| node.contains("::"))
            }
            Ranker::Rule(_) => true,
            Ranker::Bm25 { .. } | Ranker::GitLog => false,
        }
    }

    /// Whether it reads who wrote the lines of the current nodes.
    pub fn needs_lines(&self) -> bool {
        matches!(self, Ranker::Rule(policy) if policy.rule() == Some(Rule::Measured1))
    }

    /// Asks.
    pub fn ask(
        &self,
        scene: &Scene,
        graph: &Graph,
        lines: &BTreeMap<String, Lines>,
        case: &Case,
        weights: &Weights,
    ) -> Seen {
        let right = Right::of(&scene.view, case);
        let mut seen = Seen {
            is_control: case.is_control(),
            is_known: !right.ids.is_empty(),
            is_old: right
                .youngest(&scene.view)
                .is_some_and(|time| scene.clock.0 - time >= OLD),
            ..Seen::default()
        };
        match self {
            Ranker::Rule(policy) => {
                let question = Question {
                    task: &case.task,
                    current_nodes: &case.nodes,
                    session: None,
                    time: scene.clock,
                    policy,
                    weights,
                };
                by_rule(&question, scene, graph, lines, &right, &mut seen);
            }
            Ranker::Bm25 { paths } => {
                let ranked = bm25(scene, &case.task, &case.nodes, *paths);
                by_order(&scene.view, &ranked, &right, &mut seen);
            }
            Ranker::GitLog => {
                let ranked = git_log(scene, &case.nodes);
                by_order(&scene.view, &ranked, &right, &mut seen);
            }
        }
        seen
    }
}

fn by_rule(
    question: &Question,
    scene: &Scene,
    graph: &Graph,
    lines: &BTreeMap<String, Lines>,
    right: &Right,
    seen: &mut Seen,
) {
    let policy = question.policy;
    let focus = score::focus(graph, question.current_nodes, policy);
    let candidates = score::candidates(&scene.view, question);
    let grounds = score::grounds(graph, &focus, &candidates);
    let current = touch::live(&focus.facts);
    let counted = match policy.rule() {
        Some(Rule::Measured1) => count(
            graph,
            &scene.window,
            lines,
            question.task,
            &current,
            &candidates,
            &grounds,
        ),
        Some(Rule::Seed1) | None => Counted::default(),
    };
    let read = Read {
        grounds: &grounds,
        touch_counts: &counted.touches,
        authorship: Some(&counted.authorship),
        current: current.len(),
    };
    let scored = score::score(&scene.view, question, read);
    let mut order: Vec<(f64, RecordId)> =
        scored.iter().map(|one| (one.score, one.prior.id)).collect();
    order.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    seen.rank(order.iter().map(|(_, id)| right.has(*id)), right.ids.len());

    let select = |scored: &[Scored], policy: &Policy| -> Selection {
        let facts = focus.facts.clone();
        score::select(scored, &scene.view.replaced_by, policy, facts)
    };
    let without: Vec<Scored> = scored
        .iter()
        .filter(|one| !right.has(one.prior.id))
        .copied()
        .collect();
    let answer = select(&scored, policy);
    seen.selected = answer.items.iter().map(|item| right.has(item.id)).collect();
    seen.is_answered_without = !select(&without, policy).items.is_empty();
    let is_replaced = |id: &RecordId| scene.view.replaced_by.contains_key(id);
    seen.holds_replaced = answer.items.iter().any(|item| is_replaced(&item.id));
    let open = Policy {
        noise_floor: 0.0,
        answer_floor: policy.answer_floor.map(|_| 0.0),
        rank_gap_ratio: 0.0,
        ..policy.clone()
    };
    let top = |scored: &[Scored]| {
        let items = select(scored, &open).items;
        items
            .iter()
            .map(|item| (item.score, right.has(item.id)))
            .collect()
    };
    if policy.rule() == Some(Rule::Measured1) {
        seen.shift = score::floor_shift(candidates.len(), current.len());
    }
    let weakest = |weakest: Option<f64>, one: &Scored| {
        Some(weakest.map_or(one.score, |weakest| weakest.min(one.score)))
    };
    let rights = || scored.iter().filter(|one| right.has(one.prior.id));
    if rights().all(|one| one.may_answer) {
        seen.weakest = rights().fold(None, weakest);
    }
    seen.top = top(&scored);
    seen.top_without = top(&without);
}

fn by_order(view: &View, ranked: &[(usize, f64)], right: &Right, seen: &mut Seen) {
    let is_right = |at: usize| right.has(view.priors[at].id);
    seen.rank(ranked.iter().map(|(at, _)| is_right(*at)), right.ids.len());
    let most = Policy::default().top_k as usize;
    let top = ranked.iter().map(|(at, score)| (*score, is_right(*at)));
    seen.top = top.clone().take(most).collect();
    seen.top_without = top.filter(|(_, is_right)| !is_right).take(most).collect();
    seen.selected = seen.top.iter().map(|(_, is_right)| *is_right).collect();
    seen.is_answered_without = !seen.top_without.is_empty();
    let first = ranked.iter().take(most);
    let is_replaced = |at: usize| view.replaced_by.contains_key(&view.priors[at].id);
    seen.holds_replaced = first.into_iter().any(|(at, _)| is_replaced(*at));
}
