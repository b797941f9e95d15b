//! What the keys and the values of a `state.json` mean, whoever wrote it.
//!
//! In: objects and values. Out: roles, texts, verdicts. `fixtures/state.schema.json` tells the first key of each role to people.

use serde_json::{Map, Value};

use crate::record::{Kind, Time, Verdict};

/// What a key of an object means. Keys are compared in lower case, without `_`, `-` and spaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Tasks,
    Items(Kind),
    Options,
    Outcome,
    Text,
    Title,
    Detail,
    Reasons,
    Nodes,
    Confidence,
    Time,
    Id,
    Supersedes,
    SupersededBy,
    Kind,
    Status,
    Coverage,
    Surfaced,
    Missing,
    /// What says nothing to the memory.
    Quiet,
}

/// The keys of each role, the first of each row being the one of the schema; of several in one object the first here counts.
const KEYS: [(Role, &[&str]); 24] = [
    (
        Role::Tasks,
        &[
            "tasks", "subtasks", "subgoals", "goals", "steps", "phases", "sessions",
        ],
    ),
    (
        Role::Items(Kind::Decision),
        &[
            "decisions",
            "decision",
            "keydecisions",
            "decisionsmade",
            "decisionlog",
            "choices",
        ],
    ),
    (
        Role::Items(Kind::Rejected),
        &[
            "rejected",
            "rejectedoptions",
            "rejectedalternatives",
            "alternatives",
            "alternativesconsidered",
            "alternativesrejected",
            "discarded",
        ],
    ),
    (
        Role::Items(Kind::Assumption),
        &["assumptions", "assumption"],
    ),
    (
        Role::Items(Kind::Finding),
        &[
            "findings",
            "finding",
            "discoveries",
            "learnings",
            "lessons",
            "lessonslearned",
        ],
    ),
    (
        Role::Items(Kind::Constraint),
        &["constraints", "constraint"],
    ),
    (
        Role::Options,
        &["options", "optionsconsidered", "consideredoptions"],
    ),
    (
        Role::Outcome,
        &["outcome", "verdict", "result", "success", "passed"],
    ),
    (
        Role::Text,
        &[
            "text",
            "option",
            "alternative",
            "chosen",
            "choice",
            "selected",
            "summary",
            "statement",
            "what",
            "content",
        ],
    ),
    (
        Role::Title,
        &[
            "title", "topic", "question", "problem", "name", "task", "goal",
        ],
    ),
    (Role::Detail, &["description", "detail", "details"]),
    (
        Role::Reasons,
        &[
            "reasons",
            "reason",
            "rationale",
            "why",
            "because",
            "justification",
            "evidence",
            "whyrejected",
        ],
    ),
    (
        Role::Nodes,
        &[
            "nodes",
            "groundednodes",
            "currentnodes",
            "node",
            "files",
            "file",
            "paths",
            "path",
            "modules",
            "affectedfiles",
        ],
    ),
    (Role::Confidence, &["confidence"]),
    (
        Role::Time,
        &[
            "time",
            "timestamp",
            "date",
            "createdat",
            "decidedat",
            "completedat",
        ],
    ),
    (Role::Id, &["id", "key", "taskid", "decisionid"]),
    (Role::Supersedes, &["supersedes", "replaces"]),
    (Role::SupersededBy, &["supersededby", "replacedby"]),
    (Role::Kind, &["kind", "type"]),
    (Role::Status, &["status", "state"]),
    (Role::Coverage, &["coverage"]),
    (Role::Surfaced, &["surfaced", "surfacednodes"]),
    (Role::Missing, &["missing", "missingnodes"]),
    (
        Role::Quiet,
        &[
            "$schema",
            "version",
            "schemaversion",
            "session",
            "sessionid",
            "agent",
            "model",
            "priority",
            "parent",
            "parentid",
            "updatedat",
            "startedat",
            "start",
            "end",
            "notes",
            "project",
            "branch",
            "commit",
        ],
    ),
];

const PASS: [&str; 7] = [
    "pass",
    "passed",
    "success",
    "succeeded",
    "successful",
    "true",
    "ok",
];
const FAIL: [&str; 5] = ["fail", "failed", "failure", "unsuccessful", "false"];
/// What a key means; none where that is not known.
pub(super) fn role(key: &str) -> Option<Role> {
    let plain = plain(key);
    let is = |(_, keys): &&(Role, &[&str])| keys.contains(&plain.as_str());
    KEYS.iter().find(is).map(|(role, _)| *role)
}

/// A key as the table has it.
fn plain(key: &str) -> String {
    let kept = key
        .chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '));
    kept.flat_map(char::to_lowercase).collect()
}

/// The value of a role; of several keys the one that stands first in the table and says something.
pub(super) fn get(map: &Map<String, Value>, role: Role) -> Option<&Value> {
    let (_, keys) = KEYS.iter().find(|(of, _)| *of == role)?;
    let named: Vec<(String, &Value)> = map.iter().map(|(key, value)| (plain(key), value)).collect();
    keys.iter().find_map(|key| {
        let found = named
            .iter()
            .find(|(name, value)| name == key && !value.is_null());
        found.map(|(_, value)| *value)
    })
}

/// What an item says: its title and its text, or the title and what describes it.
pub(super) fn text_of(map: &Map<String, Value>) -> Option<String> {
    let own = [
        get(map, Role::Text),
        get(map, Role::Items(Kind::Decision)),
        get(map, Role::Items(Kind::Rejected)),
        get(map, Role::Items(Kind::Assumption)),
        get(map, Role::Items(Kind::Finding)),
        get(map, Role::Items(Kind::Constraint)),
    ];
    let text = own.into_iter().find_map(string);
    let title = string(get(map, Role::Title));
    let detail = string(get(map, Role::Detail));
    match (title, text, detail) {
        (Some(title), Some(text), _) if title != text => Some(format!("{title}: {text}")),
        (_, Some(text), Some(detail)) if detail != text => Some(format!("{text}\n\n{detail}")),
        (_, Some(text), _) => Some(text),
        (Some(title), None, Some(detail)) if detail != title => {
            Some(format!("{title}\n\n{detail}"))
        }
        (title, None, detail) => title.or(detail),
    }
}

/// The kind that an item names.
pub(super) fn kind_of(map: &Map<String, Value>) -> Option<Kind> {
    let word = string(get(map, Role::Kind))?.to_lowercase();
    Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
}

/// A verdict and what follows it.
pub(super) fn verdict(text: &str) -> Option<(Verdict, Option<String>)> {
    let end = text
        .find(|character: char| !character.is_alphanumeric())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let word = word.to_lowercase();
    let verdict = match word.as_str() {
        word if PASS.contains(&word) => Verdict::Pass,
        word if FAIL.contains(&word) => Verdict::Fail,
        _ => return None,
    };
    let rest = rest
        .trim_start_matches([' ', ':', ',', ';', '.', '-', '–', '—'])
        .trim();
    Some((verdict, (!rest.is_empty()).then(|| rest.to_owned())))
}

/// The name of a place in a document. A long one is not made longer: every record below has it.
pub(super) fn below(at: &str, key: &str) -> String {
    const LONGEST: usize = 300;
    if at.len() + key.len() > LONGEST {
        let start = key.chars().take(60);
        let all: String = at
            .chars()
            .take(LONGEST - 60)
            .chain(['.'])
            .chain(start)
            .collect();
        return all;
    }
    match at.is_empty() {
        true => key.to_owned(),
        false => format!("{at}.{key}"),
    }
}

/// A text that says something.
pub(super) fn string(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A text, a number or a truth value, as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        value => string(Some(value)),
    }
}

/// One text or a list of texts; of an object the text it stands for.
pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(values)) => {
            let all = values.iter().flat_map(|value| strings(Some(value)));
            all.collect()
        }
        Some(Value::Object(map)) => {
            let named = string(get(map, Role::Nodes)).or_else(|| text_of(map));
            named.into_iter().collect()
        }
        Some(value) => scalar(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A time in RFC 3339.
pub(super) fn time(value: Option<&Value>) -> Option<Time> {
    string(value)?.parse().ok()
}
