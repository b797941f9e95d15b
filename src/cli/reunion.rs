//! Before a command uses the memory: whether another program replaced it, told once, and whether what it names is there.

use super::context::Context;
use crate::render::visible;
use crate::repo::Repo;
use crate::store::{Depth, Event, Outcome, Store};

/// Makes one memory of two where another program replaced it, and says so. A store that cannot be written is read as it is.
pub(super) fn automatic(context: &Context) {
    let Ok(repo) = context.repo() else { return };
    let events = Store::new(&repo).reunite().unwrap_or_default();
    for event in &events {
        context.warn(sentence(event));
    }
    context.give_back(repo);
}

/// Mends or drops what is missing, and says so: whoever takes things out has to walk all of it. What fails here fails there, and is told.
pub(super) fn repair(context: &Context, repo: &Repo) {
    for done in Store::new(repo).repair(Depth::Names).unwrap_or_default() {
        context.warn(format!("the memory was damaged: {}", visible(&done)));
    }
}

fn sentence(event: &Event) -> String {
    let Event {
        reference, before, ..
    } = event;
    match event.outcome {
        Outcome::Joined => format!(
            "another program replaced {reference} (was {before}); what was there before and what is there now were joined, nothing is lost"
        ),
        Outcome::Restored => {
            format!("{reference} led nowhere; it is at {before} again, what was last written here")
        }
        Outcome::Lost => format!(
            "another program replaced {reference}, and what was there before ({before}) cannot be read any more"
        ),
        Outcome::Deleted => format!(
            "another program deleted {reference}\nhint: 'git update-ref {reference} {before}' brings it back, as long as Git has not cleaned up"
        ),
    }
}
