//! What `forget` says: what went, what still holds the text, and what helps.
//!
//! In: what was done and what was found afterwards. Out: a line for each thing on standard output, talk on standard error, the exit code. Never the
//! text itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::context::Context;
use super::failure::NEGATIVE;
use crate::id::RecordId;
use crate::render::visible;
use crate::upkeep::{Forgotten, Left};

/// What was done, or would be, and what is left.
#[derive(Default)]
pub(super) struct Outcome {
    pub done: Forgotten,
    /// What each record is, where it was found by what it says.
    pub kinds: BTreeMap<RecordId, String>,
    /// Notes that held the phrase.
    pub notes: usize,
    /// Our files that held the phrase.
    pub files: BTreeSet<PathBuf>,
    /// Files that could not be removed.
    pub stays: BTreeSet<PathBuf>,
    pub left: Left,
    pub is_text: bool,
    pub is_dry: bool,
}

impl Outcome {
    pub fn done(done: Forgotten, kinds: BTreeMap<RecordId, String>) -> Self {
        Self {
            done,
            kinds,
            ..Self::default()
        }
    }

    pub fn dry(
        done: Forgotten,
        kinds: BTreeMap<RecordId, String>,
        notes: usize,
        files: BTreeSet<PathBuf>,
    ) -> Self {
        Self {
            notes,
            files,
            is_dry: true,
            ..Self::done(done, kinds)
        }
    }

    /// What still holds the text and could not be removed, a sentence each.
    fn held(&self) -> Vec<String> {
        let left = &self.left;
        let mut held: Vec<String> = Vec::new();
        let ours = &left.ours;
        held.extend(
            ours.others.iter().map(|path| {
                format!("'{path}' holds it; it is not of this tool, and is left alone")
            }),
        );
        let known = ["refs/score-local/records", "refs/score-local/attention"];
        let copies = ours
            .references
            .iter()
            .filter(|name| !known.contains(&name.as_str()));
        held.extend(copies.map(|name| {
            format!("{name} holds it; 'git update-ref -d {name}' removes that reference")
        }));
        if self.is_text {
            held.extend(ours.records.keys().map(|id| again("record", *id)));
            if ours.notes > 0 {
                held.push(format!("{} notes hold it; run this again", ours.notes));
            }
        }
        held.extend(ours.lookups.iter().map(|id| again("look-up", *id)));
        held.extend(left.kept.iter().map(|keep| {
            let (keep, pack) = (keep.display(), keep.with_extension("pack"));
            format!(
                "{} holds it, and Git never rewrites that pack as long as {keep} is there: remove that file, then run 'git gc --prune=now'",
                pack.display()
            )
        }));
        held.extend(left.borrowed.iter().map(|store| {
            format!(
                "{} holds it, the object store of another repository that this one borrows from (objects/info/alternates): clean up there",
                store.display()
            )
        }));
        held.extend(
            self.stays
                .iter()
                .map(|file| format!("{} cannot be removed", file.display())),
        );
        held
    }

    /// What of the user's own holds it. It counts where the phrase was asked for.
    fn history(&self) -> Vec<String> {
        let left = &self.left;
        let mut held: Vec<String> = left
            .history
            .iter()
            .map(|name| format!("{name} leads to it: that is history of your own, which 'git filter-repo' or an amend can purge"))
            .collect();
        held.extend(left.logs.iter().map(|log| {
            format!(
                "the reference log {} leads to it: 'git reflog expire --expire=now --all' empties it",
                log.display()
            )
        }));
        let files = left.files.iter().filter(|file| !self.stays.contains(*file));
        held.extend(files.map(|file| format!("the file {} holds it", file.display())));
        held
    }

    fn json(&self, held: &[String], history: &[String]) -> Value {
        let done = &self.done;
        let mut value = json!({
            "forgotten": done.ids, "changed": done.changed, "dropped": done.dropped,
            "same_text": done.same_text, "rare_word": done.rare_word,
            "held": held, "history": history, "waiting": self.left.waiting,
        });
        if self.is_dry {
            value["dry_run"] = true.into();
        }
        if self.is_text {
            let names = self
                .kinds
                .iter()
                .map(|(id, kind)| (id.to_string(), json!(kind)));
            value["kinds"] = Value::Object(names.collect());
            value["notes"] = self.notes.into();
            let files: Vec<_> = self
                .files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            value["files"] = json!(files);
        }
        value
    }

    fn human(&self) -> String {
        let mut text = String::new();
        for id in &self.done.ids {
            let kind = self
                .kinds
                .get(id)
                .map(|kind| format!("{kind} "))
                .unwrap_or_default();
            let word = if self.is_dry {
                "would be forgotten"
            } else {
                "forgotten"
            };
            text.push_str(&format!("{id}  {kind}{word}\n"));
        }
        let changed = self.done.changed.len();
        match (changed, self.is_dry) {
            (0, _) => {}
            (_, false) => text.push_str(&format!(
                "{changed} look-ups hold it no more; their replay says 'removed'\n"
            )),
            (_, true) => text.push_str(&format!("{changed} look-ups would stay without it\n")),
        }
        let word = if self.is_dry {
            "would be dropped"
        } else {
            "dropped"
        };
        for id in &self.done.dropped {
            text.push_str(&format!("{id}  look-up {word}\n"));
        }
        let word = if self.is_dry { "would go" } else { "gone" };
        if self.notes > 0 {
            text.push_str(&format!(
                "{} notes: the lines that hold it {word}\n",
                self.notes
            ));
        }
        for file in &self.files {
            text.push_str(&format!(
                "{}  {word}\n",
                visible(&file.display().to_string())
            ));
        }
        text
    }
}

fn again(what: &str, id: RecordId) -> String {
    format!(
        "{what} {id} still holds it; 'git score-context forget {}' removes it",
        id.short()
    )
}

/// Says it; gives the exit code.
pub(super) fn say(context: &Context, outcome: &Outcome) -> anyhow::Result<ExitCode> {
    let (held, history) = (outcome.held(), outcome.history());
    match context.json {
        true => context.print_json(&outcome.json(&held, &history))?,
        false => context.print(&outcome.human())?,
    }
    hints(context, &outcome.done);
    if outcome.is_dry {
        context.say("nothing was changed");
        return Ok(ExitCode::SUCCESS);
    }
    let done = &outcome.done;
    let is_nothing = done.ids.is_empty() && done.dropped.is_empty() && outcome.notes == 0;
    if outcome.is_text && is_nothing && outcome.files.is_empty() {
        context.say("nothing of this tool holds the phrase");
    }
    if outcome.left.unread > 0 {
        context.warn(format!(
            "{} objects could not be read, and nobody can say what is in them; 'git fsck' names them",
            outcome.left.unread
        ));
    }
    for sentence in &held {
        context.warn(visible(sentence));
    }
    for sentence in &history {
        match outcome.is_text {
            true => context.warn(visible(sentence)),
            false => context.say(format!("note: {}", visible(sentence))),
        }
    }
    context.say("the bytes leave the disk at the next 'git gc --prune=now'; clones and backups that were made before keep theirs");
    let is_held = !held.is_empty() || outcome.is_text && !history.is_empty();
    Ok(ExitCode::from(if is_held { NEGATIVE } else { 0 }))
}

/// What else may be meant.
fn hints(context: &Context, done: &Forgotten) {
    if !done.same_text.is_empty() {
        let ids: Vec<_> = done.same_text.iter().map(RecordId::short).collect();
        context.warn(format!(
            "the same text also stands in {}\nhint: 'git score-context forget {}' takes it out there too",
            ids.join(", "),
            ids.join(" ")
        ));
    }
    if !done.rare_word.is_empty() {
        let ids: Vec<_> = done.rare_word.iter().map(RecordId::short).collect();
        context.say(format!(
            "hint: {} look-ups hold a rare word of it, one word alone: {}; 'git score-context forget' with their ids drops them",
            ids.len(),
            ids.join(" ")
        ));
    }
}
