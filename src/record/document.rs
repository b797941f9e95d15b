//! The record kinds: what is remembered, its canonical bytes, and what a record may say.
//!
//! Text in, lines out and back. Knows nothing of look-ups.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::tombstone::Tombstone;
use crate::id::{CommitId, ObjectId, RecordId};

/// Longest text of a record, in bytes (`cli.md`, bad input).
pub const MAX_TEXT: usize = 16 * 1024;
/// Most nodes of one record (`cli.md`, bad input).
pub const MAX_NODES: usize = 1_000;
/// Longest name of a node, in bytes: the longest path that an operating system takes.
pub const MAX_NODE: usize = 4096;
/// Most reasons of one record.
pub const MAX_REASONS: usize = 100;
/// Longest label of a session or a task, in bytes (`cli.md`, Remember).
pub const MAX_LABEL: usize = 200;

/// A moment in whole seconds since 1970-01-01 UTC; RFC 3339 in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The first moment that has a name with a year of four digits, 0000-01-01T00:00:00Z.
    pub const FIRST: Self = Self(-62_167_219_200);
    /// The last one, 9999-12-30T22:00:00Z: in every time zone it is still the year 9999.
    pub const LAST: Self = Self(253_402_207_200);

    /// The day in UTC, `2026-11-30`; of a moment without such a name the first or the last day.
    pub fn day(self) -> String {
        self.to_string()[..10].to_owned()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.0) {
            // Only a commit with a senseless date is beyond: Git stores any number.
            _ if *self < Self::FIRST => f.write_str("0000-01-01T00:00:00Z"),
            Ok(time) => write!(f, "{}", time.strftime("%Y-%m-%dT%H:%M:%SZ")),
            Err(_) => f.write_str("9999-12-30T00:00:00Z"),
        }
    }
}

/// Why a text is no time.
#[derive(Debug, thiserror::Error)]
pub enum TimeError {
    /// It is not written as one.
    #[error(transparent)]
    Form(#[from] jiff::Error),
    /// Its year has no name of four digits, and days are told apart by their names.
    #[error("its year is none from 0000 to 9999 (9999-12-30T22:00:00Z is the last moment)")]
    Range,
}

impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let year = text.strip_prefix(['+', '-']).unwrap_or(text);
        let digits = year.bytes().take_while(u8::is_ascii_digit).count();
        match text.parse::<jiff::Timestamp>() {
            Ok(time) if time.as_second() >= Self::FIRST.0 => Ok(Self(time.as_second())),
            Err(error) if digits < 5 && !year.starts_with("9999-12-3") => Err(error.into()),
            Ok(_) | Err(_) => Err(TimeError::Range),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bad = |cause| {
            de::Error::custom(format!(
                "'{text}' is not a time such as 2026-11-30T12:00:00Z: {cause}"
            ))
        };
        text.parse().map_err(bad)
    }
}

/// What a reasoning record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What was decided.
    #[default]
    Decision,
    /// What was found out.
    Finding,
    /// What is taken for granted, unverified.
    Assumption,
    /// What must hold.
    Constraint,
    /// An option that was considered and turned down.
    Rejected,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 5] = [
        Kind::Decision,
        Kind::Finding,
        Kind::Assumption,
        Kind::Constraint,
        Kind::Rejected,
    ];

    /// The word used in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Decision => "decision",
            Kind::Finding => "finding",
            Kind::Assumption => "assumption",
            Kind::Constraint => "constraint",
            Kind::Rejected => "rejected",
        }
    }
}

/// Where a record was taken from. Only what a session said expires; the rest can be derived from history again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// `record`, `outcome`, `session start`, or an agent over MCP.
    Session,
    /// A trailer of a commit message.
    Trailer,
    /// The commit message itself.
    Commit,
    /// A committed `state.json`.
    State,
    /// A decision document.
    Adr,
}

impl Source {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Session => "session",
            Source::Trailer => "trailer",
            Source::Commit => "commit",
            Source::State => "state",
            Source::Adr => "adr",
        }
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It did what it should.
    Pass,
    /// It did not.
    Fail,
}

impl Verdict {
    /// The word used in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
        }
    }
}

/// One immutable document of the memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Record {
    /// A session of work.
    Session(Session),
    /// A goal or a subgoal of a session.
    Task(Task),
    /// What retrieval returns.
    Reasoning(Reasoning),
    /// How a task ended.
    Outcome(Outcome),
    /// When and where another record stands.
    Anchor(Anchor),
    /// What is left of a record that was forgotten or has expired.
    Tombstone(Tombstone),
}

/// A session: its goal, when it began, and a nonce that tells two equal ones apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// What the session is for.
    pub goal: String,
    /// When it began.
    pub start: Time,
    /// Random hexadecimal digits.
    pub nonce: String,
    /// The agent's name, as a hash keyed with this machine's salt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A goal (no parent) or a subgoal of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What is to be reached.
    pub text: String,
    /// The label of the session.
    pub session: String,
    /// The task this one is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RecordId>,
}

/// A decision, finding, assumption, constraint or rejected option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// Where it was taken from.
    pub source: Source,
    /// What it is.
    #[serde(default)]
    pub kind: Kind,
    /// What it says; at most [`MAX_TEXT`] bytes.
    pub text: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Confidence in an assumption: `high`, `medium` or `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// The records it replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<RecordId>,
    /// What it is about: repository paths or `path::Qualified.name`; sorted, at most [`MAX_NODES`]. Records of
    /// trailers, state files and decision documents keep them in their anchors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// The label of the session that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The label of the task it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// An importer's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Reasoning {
    /// A record without a text or anything else yet.
    pub fn new(source: Source, kind: Kind) -> Self {
        Self {
            source,
            kind,
            text: String::new(),
            reasons: Vec::new(),
            confidence: None,
            supersedes: Vec::new(),
            nodes: Vec::new(),
            session: None,
            task: None,
            key: None,
        }
    }
}

/// How a task ended, or how the decisions of one commit worked out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Where it was taken from.
    pub source: Source,
    /// The label of the task, unless `of` names records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The records an `Outcome:` trailer speaks of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<RecordId>,
    /// Exactly pass or fail.
    pub verdict: Verdict,
    /// The prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Which share of the task was reached, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// Nodes that had been surfaced before the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaced: Vec<String>,
    /// Nodes that should have been.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// When; none where it comes from a trailer, so that a cherry-pick adds an anchor and no second outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

/// When and where a record stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// The record.
    pub of: RecordId,
    /// The commit at which it was said; none before the first commit.
    pub commit: Option<CommitId>,
    /// When it was said.
    pub time: Time,
    /// What it is about, where that is not part of what it says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// The object each path had then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub objects: BTreeMap<String, ObjectId>,
    /// Commits whose anchors this one stands for, since they were rewritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<CommitId>,
    /// The branch that was checked out, where a session said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The name of the linked worktree in which it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

impl Anchor {
    /// At a commit and a time. Whoever puts it beside a record fills in `of`.
    pub fn at(commit: Option<CommitId>, time: Time) -> Self {
        Self {
            of: RecordId::from([0; 32]),
            commit,
            time,
            nodes: Vec::new(),
            objects: BTreeMap::new(),
            replaces: Vec::new(),
            branch: None,
            worktree: None,
        }
    }
}

/// The one field that every record has.
#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

/// Why bytes are not a record.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// Not the JSON of any record kind.
    #[error("not a record: {0}")]
    Json(#[from] serde_json::Error),
    /// A value that no record may have.
    #[error("{0}")]
    Value(String),
}

/// The canonical bytes of one record, with the id they have. The only way to write a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The hash of `text`.
    pub id: RecordId,
    /// Compact JSON without a line break.
    pub text: String,
}

impl Record {
    /// The canonical bytes: compact JSON, fields in the order declared here, empty ones left out.
    pub fn encode(&self) -> Line {
        let text = serde_json::to_string(self)
            .expect("strings, numbers and lists always have a JSON form");
        let id = RecordId::of(text.as_bytes());
        Line { id, text }
    }

    /// Reads what [`Record::encode`] wrote, also by a version with more fields.
    ///
    /// # Errors
    /// When it is no JSON, of no known type, lacks a field, has one twice, or breaks a limit.
    pub fn decode(line: &[u8]) -> Result<Self, Invalid> {
        // The type first and then the one shape it names: serde's own way with a tag keeps every value twice on the way, which is
        // most of the time that reading 100,000 records takes.
        if line.first() != Some(&b'{') {
            return Err(Invalid::Value("not a JSON object".into()));
        }
        let Tag { r#type } = serde_json::from_slice(line)?;
        let record = match r#type.as_ref() {
            "session" => Self::Session(serde_json::from_slice(line)?),
            "task" => Self::Task(serde_json::from_slice(line)?),
            "reasoning" => Self::Reasoning(serde_json::from_slice(line)?),
            "outcome" => Self::Outcome(serde_json::from_slice(line)?),
            "anchor" => Self::Anchor(serde_json::from_slice(line)?),
            "tombstone" => Self::Tombstone(serde_json::from_slice(line)?),
            other => {
                return Err(Invalid::Value(format!(
                    "'{other}' is no type of record that this version knows"
                )));
            }
        };
        record.check()?;
        Ok(record)
    }

    /// Whether every value is one that a record may have.
    ///
    /// # Errors
    /// One sentence that names the value.
    pub fn check(&self) -> Result<(), Invalid> {
        match self {
            Record::Session(session) => check_text("goal", &session.goal),
            Record::Task(task) => {
                check_text("text", &task.text)?;
                check_label("session", Some(&task.session))
            }
            Record::Reasoning(reasoning) => {
                check_text("text", &reasoning.text)?;
                if reasoning.reasons.len() > MAX_REASONS {
                    let count = reasoning.reasons.len();
                    return Err(Invalid::Value(format!(
                        "{count} reasons; a record has at most {MAX_REASONS}"
                    )));
                }
                for reason in &reasoning.reasons {
                    check_text("reason", reason)?;
                }
                check_nodes(&reasoning.nodes)?;
                check_label("session", reasoning.session.as_deref())?;
                check_label("task", reasoning.task.as_deref())?;
                check_label("key", reasoning.key.as_deref())
            }
            Record::Outcome(outcome) => {
                check_label("task", outcome.task.as_deref())?;
                check_nodes(&outcome.surfaced)?;
                check_nodes(&outcome.missing)?;
                if let Some(rationale) = &outcome.rationale {
                    check_text("rationale", rationale)?;
                }
                if outcome.task.is_none() && outcome.of.is_empty() {
                    return Err(Invalid::Value(
                        "an outcome names neither a task nor a record".into(),
                    ));
                }
                match outcome.coverage {
                    Some(share) if !(0.0..=1.0).contains(&share) => Err(Invalid::Value(format!(
                        "coverage {share} does not lie between 0 and 1"
                    ))),
                    _ => Ok(()),
                }
            }
            Record::Anchor(anchor) => check_nodes(&anchor.nodes),
            Record::Tombstone(_) => Ok(()),
        }
    }
}

fn check_text(name: &str, text: &str) -> Result<(), Invalid> {
    if text.trim().is_empty() {
        return Err(Invalid::Value(format!("the {name} is empty")));
    }
    if text.len() > MAX_TEXT {
        return Err(Invalid::Value(format!(
            "the {name} has {} bytes; at most {MAX_TEXT} are kept",
            text.len()
        )));
    }
    Ok(())
}

fn check_nodes(nodes: &[String]) -> Result<(), Invalid> {
    if nodes.len() > MAX_NODES {
        return Err(Invalid::Value(format!(
            "{} nodes; a record has at most {MAX_NODES}",
            nodes.len()
        )));
    }
    if let Some(node) = nodes.iter().find(|node| node.len() > MAX_NODE) {
        return Err(Invalid::Value(format!(
            "a node has {} bytes; at most {MAX_NODE} are kept",
            node.len()
        )));
    }
    Ok(())
}

fn check_label(name: &str, label: Option<&str>) -> Result<(), Invalid> {
    match label {
        Some("") => Err(Invalid::Value(format!("the {name} is empty"))),
        Some(label) if label.len() > MAX_LABEL => Err(Invalid::Value(format!(
            "the {name} has {} bytes; a label has at most {MAX_LABEL}",
            label.len()
        ))),
        _ => Ok(()),
    }
}
