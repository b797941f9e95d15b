//! `status`: what is stored, what it weighs, what is set up and who could see it, in one screen.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::context::Context;
use super::hook;
use crate::hook::notes;
use crate::query::{POLICY_PATH, QueryError, policy_of, set_days};
use crate::record::Kind;
use crate::render::visible;
use crate::repo::{Folder, Repo, Sort};
use crate::store::{Corpus, NOTES, Store, Visible, Waiting};
use crate::upkeep::{Over, Sizes, Weight, exposure, locks, over, sizes, stray};

/// Show what is stored, what it weighs, what is set up and who could see it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(context: &Context, _: &Args) -> anyhow::Result<ExitCode> {
    let repo = context.repo()?;
    let seen = Seen::of(context, &repo)?;
    match context.json {
        true => context.print_json(&seen.json())?,
        false => context.print(&seen.human())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything that `status` shows.
struct Seen {
    kinds: Vec<(Kind, usize)>,
    records: usize,
    outcomes: usize,
    sessions: usize,
    tombstones: usize,
    broken: usize,
    lookups: usize,
    stray: usize,
    /// What upkeep has let go and can put back.
    waiting: Vec<Waiting>,
    /// None where the policy or a number of days is none.
    over: Option<Over>,
    sizes: Sizes,
    cache: u64,
    cache_dir: String,
    left_over: usize,
    locks: Vec<String>,
    hook: String,
    notes: bool,
    hidden: bool,
    exposure: Vec<String>,
    rule: String,
    policy: String,
}

impl Seen {
    fn of(context: &Context, repo: &Repo) -> anyhow::Result<Self> {
        let store = Store::new(repo);
        let corpus = store.corpus(store.corpus_id()?)?;
        let view = corpus.view(&Visible::All);
        let count = |kind: Kind| {
            view.priors
                .iter()
                .filter(|prior| prior.kind == kind)
                .count()
        };
        let kinds = Kind::ALL.into_iter().map(|kind| (kind, count(kind)));
        let hidden = repo.config_values("transfer.hideRefs");
        let is_hidden = |name: &str| hidden.iter().any(|value| value == name);
        let (rule, policy) = policy(repo)?;
        Ok(Self {
            kinds: kinds.filter(|(_, count)| *count > 0).collect(),
            records: view.priors.len(),
            outcomes: visible_outcomes(&corpus),
            sessions: corpus.sessions.len(),
            tombstones: corpus.tombstones.len(),
            broken: corpus.broken.len(),
            lookups: store.lookups()?.len(),
            stray: stray(repo)?.len(),
            waiting: store.waiting()?,
            over: match over(repo, context.now()?) {
                Ok(over) => Some(over),
                Err(error) => error.damage().map(|_| None)?,
            },
            sizes: sizes(repo)?,
            cache: size_below(repo, repo.cache())?,
            cache_dir: repo.cache_dir().display().to_string(),
            left_over: repo.left_over()?.len(),
            locks: locks(repo),
            hook: hook::installed(repo),
            notes: notes::wanted(repo),
            hidden: is_hidden("refs/score-local") && is_hidden(NOTES),
            exposure: exposure(repo)?,
            rule,
            policy,
        })
    }

    fn json(&self) -> Value {
        let kinds: Map<String, Value> = self
            .kinds
            .iter()
            .map(|(kind, count)| (kind.as_str().to_owned(), json!(count)))
            .collect();
        let weight = |weight: Weight| json!({"content_bytes": weight.content, "loose_bytes": weight.loose, "loose_files": weight.files});
        json!({
            "records": self.records, "kinds": kinds, "outcomes": self.outcomes,
            "sessions": self.sessions, "tombstones": self.tombstones, "broken": self.broken,
            "lookups": self.lookups, "gone": self.stray,
            "over": self.over.map(|over| json!({
                "retention_days": over.retention_days, "records": over.records,
                "attention_days": over.attention_days, "lookups": over.lookups,
                "doubted": over.is_doubted && over.records + over.lookups > 0,
            })),
            "undo": self.waiting.iter().map(|waiting| json!({
                "day": waiting.day, "records": waiting.records, "lookups": waiting.lookups.len(),
            })).collect::<Vec<_>>(),
            "sizes": {
                "records": weight(self.sizes.records), "lookups": weight(self.sizes.lookups),
                "pinned": weight(self.sizes.pinned), "undo": weight(self.sizes.undo),
            },
            "cache_bytes": self.cache, "left_over": self.left_over, "locks": self.locks, "hook": self.hook,
            "notes": self.notes, "hidden": self.hidden, "exposure": self.exposure,
            "rule": self.rule, "policy": self.policy,
        })
    }

    fn human(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            text.push_str(&format!("{name:<10} {value}\n"));
        };
        let kinds: Vec<_> = self
            .kinds
            .iter()
            .map(|(kind, count)| format!("{count} {}", kind.as_str()))
            .collect();
        let kinds = match kinds.is_empty() {
            true => String::new(),
            false => format!(" ({})", kinds.join(", ")),
        };
        line("records", format!("{}{kinds}", self.records));
        let gone = match self.tombstones {
            0 => String::new(),
            count => format!(", {count} of which only a tombstone is left"),
        };
        line(
            "besides",
            format!(
                "{} outcomes, {} sessions{gone}",
                self.outcomes, self.sessions
            ),
        );
        if self.broken > 0 {
            let hint = "(see 'git score-context fsck')";
            line("broken", format!("{} {hint}", self.broken));
        }
        line(
            "",
            in_words(self.sizes.records, self.records + self.outcomes, "record"),
        );
        line("look-ups", self.lookups.to_string());
        line("", in_words(self.sizes.lookups, self.lookups, "look-up"));
        if self.sizes.pinned != Weight::default() {
            let pinned = in_words(self.sizes.pinned, 0, "");
            line(
                "",
                format!("and former records that only they hold: {pinned}"),
            );
        }
        if self.stray > 0 {
            line(
                "gone",
                format!(
                    "{} look-ups hold code that no commit has any more (see 'git score-context prune --gone')",
                    self.stray
                ),
            );
        }
        line("retention", self.retention());
        for waiting in &self.waiting {
            line(
                "undo",
                format!(
                    "{} records and {} look-ups, let go on {} (see 'git score-context prune --undo')",
                    waiting.records,
                    waiting.lookups.len(),
                    waiting.day
                ),
            );
        }
        if self.sizes.undo != Weight::default() {
            line("", in_words(self.sizes.undo, 0, ""));
        }
        let left = match self.left_over {
            0 => String::new(),
            count => format!(", {count} left-over temporary files (see 'git score-context prune')"),
        };
        line(
            "caches",
            format!("{} in {}{left}", kib(self.cache), self.cache_dir),
        );
        line("hooks", self.hook.clone());
        line("notes", if self.notes { "on" } else { "off" }.to_owned());
        let hidden = match self.hidden {
            true => "hidden from clones and fetches; plain pushes never carry it",
            false => {
                "plain pushes never carry it; a mirror clone from here does ('git score-context hook install' hides it)"
            }
        };
        line("exposure", hidden.to_owned());
        for warning in &self.exposure {
            line("", format!("warning: {}", visible(warning)));
        }
        for lock in &self.locks {
            line("lock", visible(lock));
        }
        line("policy", format!("{}, rule {}", self.policy, self.rule));
        text
    }

    fn retention(&self) -> String {
        let Some(over) = self.over else {
            return "unknown, see policy".to_owned();
        };
        let days = format!(
            "records of sessions {} days, look-ups with all they read {}",
            over.retention_days, over.attention_days
        );
        match over.records + over.lookups {
            0 => days,
            _ => format!(
                "{days}; over it: {} records, {} look-ups (see 'git score-context prune'){}",
                over.records,
                over.lookups,
                match over.is_doubted {
                    true => ", by a clock that no two writes have seen yet: they stay until then",
                    false => "",
                }
            ),
        }
    }
}

fn visible_outcomes(corpus: &Corpus) -> usize {
    let ids = corpus.outcomes.keys();
    ids.filter(|id| !corpus.is_forgotten(**id)).count()
}

/// The rule, and where the policy comes from. A policy that is none stops look-ups, and is to be seen here.
fn policy(repo: &Repo) -> Result<(String, String), QueryError> {
    let tree = match repo.head()?.commit {
        Some(commit) => repo.tree_of(commit)?,
        None => repo.empty_tree(),
    };
    let found = policy_of(repo, tree).and_then(|mut policy| {
        set_days(repo, &mut policy)?;
        Ok(policy)
    });
    let place = match repo.entry(tree, POLICY_PATH)? {
        Some(_) => format!("{POLICY_PATH} of HEAD"),
        None => "default".to_owned(),
    };
    Ok(match found {
        Ok(policy) => (policy.rule, place),
        Err(error) => (format!("none: {}", error.damage()?), place),
    })
}

fn in_words(weight: Weight, count: usize, of: &str) -> String {
    let mut text = kib(weight.content);
    if count > 0 && weight.content > 0 {
        text.push_str(&format!(", {} bytes a {of}", weight.content / count as u64));
    }
    if weight.files > 0 {
        text.push_str(&format!(
            "; {} objects not packed yet take {} on disk",
            weight.files,
            kib(weight.loose)
        ));
        if count > 0 {
            text.push_str(&format!(", {} a {of}", kib(weight.loose / count as u64)));
        }
    }
    text
}

fn kib(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024),
        _ => format!(
            "{}.{} MiB",
            bytes / 1_048_576,
            bytes % 1_048_576 * 10 / 1_048_576
        ),
    }
}

/// Bytes of all files below a folder; what lies behind a link is elsewhere.
fn size_below(repo: &Repo, folder: Folder) -> anyhow::Result<u64> {
    let mut open = vec![folder];
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        for entry in repo.listed(&folder)? {
            match entry.sort {
                Sort::Folder => open.push(folder.below(&entry.name)),
                _ => bytes += entry.len,
            }
        }
    }
    Ok(bytes)
}
