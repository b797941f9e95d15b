//! The factors of each candidate and the score they make: the rules of `scoring.md`, in their order of operations.
//!
//! In: the visible records, the question, what became of the candidates' nodes. Out: factors and scores in id order. A score depends
//! on the question and the record alone, but for the verdict and the sessions that share its ground. Never decides what is selected.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::id::RecordId;
use crate::policy::{Policy, Rule};
use crate::record::{Factors, Source, Time, Verdict};
use crate::score::blame::Authorship;
use crate::score::company::corroboration;
use crate::score::ground::Stand;
use crate::score::measured::{self, Asked};
use crate::score::weights::Weights;
use crate::store::view::{Ending, Prior, View};
use crate::token::{Tokens, tokens};

const SECONDS_PER_DAY: i64 = 86_400;

/// What a look-up asks.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The task, masked.
    pub task: &'a str,
    /// The nodes it is about, as asked.
    pub current_nodes: &'a [String],
    /// The session that asks.
    pub session: Option<&'a str>,
    /// The clock.
    pub time: Time,
    /// Every number that can change the answer.
    pub policy: &'a Policy,
    /// How much a term says under `measured/1`: the frozen table, but where a measurement leaves one history out.
    pub weights: &'a Weights,
}

/// What a rule reads of code and history, one entry for each candidate in the order of [`candidates`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Read<'a> {
    /// What became of each one's nodes; a missing entry counts as gone.
    pub grounds: &'a [Vec<Stand>],
    /// For each current node that it touches how often that has changed since; empty under `seed/1`.
    pub touch_counts: &'a [Vec<u64>],
    /// What their commits wrote in the current nodes; of no use under `seed/1`.
    pub authorship: Option<&'a Authorship>,
    /// How many current nodes are there.
    pub current: usize,
}

/// A candidate with what it earned.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// The record.
    pub prior: &'a Prior,
    /// What became of its nodes, in order.
    pub ground: &'a [Stand],
    /// Its latest visible outcome.
    pub verdict: Option<Verdict>,
    /// What makes up the score.
    pub factors: Factors,
    /// What it earned.
    pub score: f64,
    /// Whether the rule lets it answer at all, whatever its score.
    pub may_answer: bool,
}

/// The candidates in id order: every visible record within retention that is not of the asking session.
pub fn candidates<'v>(view: &'v View, question: &Question) -> Vec<&'v Prior> {
    let mut priors = within_retention(view, question);
    priors.retain(|prior| is_candidate(prior, question));
    priors
}

/// Every visible record that has not expired, in id order.
fn within_retention<'v>(view: &'v View, question: &Question) -> Vec<&'v Prior> {
    let longest = i128::from(question.policy.retention_days) * i128::from(SECONDS_PER_DAY);
    let age = |prior: &Prior| i128::from(question.time.0) - i128::from(prior.time.0);
    let kept = |prior: &&Prior| prior.source != Source::Session || age(prior) <= longest;
    let mut priors: Vec<&Prior> = view.priors.iter().filter(kept).collect();
    priors.sort_by_key(|prior| prior.id);
    priors
}

fn is_candidate(prior: &Prior, question: &Question) -> bool {
    prior.session.is_none() || prior.session.as_deref() != question.session
}

/// Scores every candidate, in id order.
pub fn score<'a>(view: &'a View, question: &Question, read: Read<'a>) -> Vec<Scored<'a>> {
    let company = within_retention(view, question);
    let mut shared = Vec::with_capacity(company.len());
    for (prior, sessions) in company.iter().zip(corroboration(&company)) {
        if is_candidate(prior, question) {
            shared.push((*prior, sessions));
        }
    }
    let verdicts = Verdicts::of(&view.endings);
    let nobody = Authorship::default();
    let authorship = read.authorship.unwrap_or(&nobody);
    let policy = question.policy;
    let rule = policy.rule().unwrap_or_default();
    let task = match rule {
        Rule::Seed1 => Task::Seed1(tokens(question.task)),
        Rule::Measured1 => Task::Measured1(Asked::new(question.task, question.weights)),
    };
    crate::threads::ready();
    let each = shared.par_iter().enumerate().with_min_len(64);
    each.map(|(at, (prior, sessions))| {
        let ground = read.grounds.get(at).map_or(&[][..], Vec::as_slice);
        let verdict = verdicts.latest(prior);
        let (semantic, structural, live_ratio, may_answer) = match &task {
            Task::Seed1(task) => (
                task.jaccard(&tokens(&prior.text)),
                structural(ground, policy),
                live_ratio(ground, prior.nodes.len(), policy),
                true,
            ),
            Task::Measured1(asked) => {
                let (words, kept) = authorship.of(at);
                let likeness = asked.likeness(prior, words, &authorship.holders);
                let counts = read.touch_counts.get(at).map_or(&[][..], Vec::as_slice);
                (
                    measured::semantic(likeness),
                    measured::structural(counts, kept, read.current),
                    measured::live_ratio(ground, prior.nodes.len()),
                    measured::may_answer(likeness),
                )
            }
        };
        let factors = Factors {
            semantic,
            structural,
            bonus: bonus(verdict, *sessions, policy),
            recency: recency(question.time, prior.time, policy),
            live_ratio,
            corroboration: *sessions,
        };
        let score = total(&factors, policy);
        Scored {
            prior,
            ground,
            verdict,
            factors,
            score,
            may_answer,
        }
    })
    .collect()
}

/// The task, as the rule reads it.
enum Task<'w> {
    Seed1(Tokens),
    Measured1(Asked<'w>),
}

/// (w_semantic · semantic + w_structural · structural + bonus) · recency · live_ratio. Adding zero at the end changes no value; it
/// makes a negative zero positive, so that equal scores have equal bytes.
fn total(factors: &Factors, policy: &Policy) -> f64 {
    let likeness = policy.w_semantic * factors.semantic + policy.w_structural * factors.structural;
    (likeness + factors.bonus) * factors.recency * factors.live_ratio + 0.0
}

/// Of the live nodes the share that lies in the focus; 0 with fewer than `min_structural_ground` of them.
fn structural(ground: &[Stand], policy: &Policy) -> f64 {
    let live = ground.iter().filter(|stand| stand.is_live()).count();
    if live == 0 || (live as u64) < policy.min_structural_ground {
        return 0.0;
    }
    let near = ground
        .iter()
        .filter(|stand| stand.is_live() && stand.in_focus)
        .count();
    near as f64 / live as f64
}

/// Live nodes / nodes, at least the floor; 1 for a record without nodes.
fn live_ratio(ground: &[Stand], nodes: usize, policy: &Policy) -> f64 {
    if nodes == 0 {
        return 1.0;
    }
    let live = ground.iter().filter(|stand| stand.is_live()).count();
    (live as f64 / nodes as f64).max(policy.live_ratio_floor)
}

/// 0.5^(age in days / half_life_days) where the policy asks for it, else 1.
fn recency(now: Time, then: Time, policy: &Policy) -> f64 {
    if !policy.recency_decay {
        return 1.0;
    }
    let age = now.0.saturating_sub(then.0).max(0);
    let days = age as f64 / SECONDS_PER_DAY as f64;
    libm::exp2(-(days / policy.half_life_days))
}

/// A failure costs at once; a success counts only in company.
fn bonus(verdict: Option<Verdict>, corroboration: u64, policy: &Policy) -> f64 {
    match verdict {
        Some(Verdict::Fail) => 0.0 - policy.outcome_bonus,
        Some(Verdict::Pass) if corroboration >= policy.min_corroboration => policy.outcome_reward,
        Some(Verdict::Pass) | None => 0.0,
    }
}

/// The latest outcome of each task and of each record that one names.
pub struct Verdicts<'a> {
    of_task: HashMap<&'a str, &'a Ending>,
    of_record: HashMap<RecordId, &'a Ending>,
}

impl<'a> Verdicts<'a> {
    /// From every visible outcome.
    pub fn of(endings: &'a [Ending]) -> Self {
        let (mut of_task, mut of_record) = (HashMap::new(), HashMap::new());
        for ending in endings {
            if let Some(task) = &ending.task {
                keep_later(of_task.entry(task.as_str()).or_insert(ending), ending);
            }
            for record in &ending.of {
                keep_later(of_record.entry(*record).or_insert(ending), ending);
            }
        }
        Self { of_task, of_record }
    }

    /// The verdict on a record: of the latest outcome of its task, or of one that names it.
    pub fn latest(&self, prior: &Prior) -> Option<Verdict> {
        let of_task = prior
            .task
            .as_deref()
            .and_then(|task| self.of_task.get(task));
        let of_record = self.of_record.get(&prior.id);
        let both = of_task.into_iter().chain(of_record);
        both.max_by_key(|ending| (ending.time, ending.id))
            .map(|ending| ending.verdict)
    }
}

fn keep_later<'a>(kept: &mut &'a Ending, other: &'a Ending) {
    if (other.time, other.id) > (kept.time, kept.id) {
        *kept = other;
    }
}
