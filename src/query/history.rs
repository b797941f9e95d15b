//! What `measured/1` reads of Git's history: the window of commits, and who wrote the lines of the current nodes.
//!
//! In: the asked commit, the code graph, the current nodes. Out: a [`History`]. Of other rules' look-ups nothing is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::graph::{Graph, NodeKind};
use crate::id::{BlobId, CommitId};
use crate::policy::Rule;
use crate::repo::{Blame, Past, Repo, RepoError, WINDOW, Window};
use crate::score::Lines;

/// Of the newest commits that touch a file how many are looked at for who wrote its lines; what is older has been written over many times.
const MOST_COMMITS: usize = 100;
/// The same, however many files are asked about.
const LEAST_COMMITS: usize = 10;
/// How many versions of all files together may be read before it is fewer of each.
const VERSIONS: usize = 1000;

/// Git's history, as far as a rule reads it.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The window that touches are counted in; empty under a rule that does not count, and before the first commit.
    pub window: Window,
    /// The lines of the current nodes that are files or symbols.
    pub lines: BTreeMap<String, Lines>,
}

impl History {
    /// Whether it ended before everything was there that the rule counts.
    pub fn is_cut(&self) -> bool {
        self.window.is_cut || self.lines.values().any(|lines| lines.blame.is_cut)
    }
}

/// Reads it for a look-up. What had to be found out about commits is kept for the next one. `progress` hears of commits compared:
/// done, and known to be wanted.
///
/// # Errors
/// When the history of the commit cannot be walked.
pub fn history(
    repo: &Repo,
    graph: &Graph,
    rule: Option<Rule>,
    nodes: &[String],
    commit: Option<CommitId>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<History, RepoError> {
    let (Some(Rule::Measured1), Some(commit)) = (rule, commit) else {
        return Ok(History::default());
    };
    let mut past = Past::open(repo);
    let window = past.window(repo, commit, WINDOW, progress)?;
    past.keep(repo);
    let lines = lines(repo, graph, &window, nodes)?;
    Ok(History { window, lines })
}

/// The lines of those nodes that are files or symbols, with the commits of the window that wrote them. A file whose content is not here
/// (a partial clone) has none.
///
/// # Errors
/// When an object is damaged.
pub fn lines(
    repo: &Repo,
    graph: &Graph,
    window: &Window,
    nodes: &[String],
) -> Result<BTreeMap<String, Lines>, RepoError> {
    let mut files: BTreeMap<u32, Vec<(&String, u32)>> = BTreeMap::new();
    for name in nodes {
        let Some(node) = graph.find(name) else {
            continue;
        };
        let file = graph.place(node);
        if graph.kind(file) == NodeKind::File {
            files.entry(file).or_default().push((name, node));
        }
    }
    // Each file costs a version for each commit looked at: many files share what one may cost ten times.
    let most = (VERSIONS / files.len().max(1)).clamp(LEAST_COMMITS, MOST_COMMITS);
    let shared = repo.share();
    let read =
        |(file, nodes): (u32, Vec<(&String, u32)>)| -> Result<Vec<(String, Lines)>, RepoError> {
            let repo = shared.local();
            let object = graph.object(file).map(|object| repo.blob(BlobId(object)));
            let Some(bytes) = object.transpose()?.flatten() else {
                return Ok(Vec::new());
            };
            let blame: Arc<Blame> = Arc::new(repo.blame(window, graph.name(file), &bytes, most)?);
            let text = Arc::new(String::from_utf8_lossy(&bytes).into_owned());
            let of_node = |(name, node): (&String, u32)| {
                let range = match graph.lines(node) {
                    (0, _) => 0..blame.origins.len(),
                    (first, last) => first as usize - 1..last as usize,
                };
                let lines = Lines {
                    text: Arc::clone(&text),
                    range,
                    blame: Arc::clone(&blame),
                };
                (name.clone(), lines)
            };
            Ok(nodes.into_iter().map(of_node).collect())
        };
    crate::threads::ready();
    let files: Vec<_> = files.into_par_iter().map(read).collect::<Result<_, _>>()?;
    Ok(files.into_iter().flatten().collect())
}
