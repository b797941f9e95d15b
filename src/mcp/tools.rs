//! The tools: their names, what is told of them, and from arguments to an answer.
//!
//! `tools.json` is what clients are told. In: a name and arguments as JSON. Out: an answer or a sentence. Runs where blocking is allowed.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, Failure};
use super::desk::Desk;
use super::{code, recall, remember};

/// What clients are told of the tools.
pub const TOLD: &str = include_str!("tools.json");

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A look-up.
    Prior,
    /// A session begun.
    Initialize,
    /// A record.
    Decide,
    /// An outcome.
    Conclude,
    /// What a session knows of itself.
    WorkingMemory,
    /// Assumptions that nobody has settled.
    Assumptions,
    /// The factors of a look-up.
    Explain,
    /// A look-up recomputed.
    Replay,
    /// The code graph about a node.
    About,
    /// What a change breaks.
    Impact,
    /// The code around a task.
    Around,
}

impl Tool {
    /// Every tool, in the order in which they are told.
    pub const ALL: [(&'static str, Tool); 11] = [
        ("get_prior_context", Tool::Prior),
        ("initialize_session", Tool::Initialize),
        ("record_decision", Tool::Decide),
        ("record_outcome", Tool::Conclude),
        ("get_working_memory", Tool::WorkingMemory),
        ("get_unverified_assumptions", Tool::Assumptions),
        ("explain_lookup", Tool::Explain),
        ("replay_lookup", Tool::Replay),
        ("query_graph", Tool::About),
        ("impact", Tool::Impact),
        ("structural_context", Tool::Around),
    ];

    /// The tool with this name.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(own, _)| *own == name);
        found.map(|(_, tool)| *tool)
    }

    /// Whether it reads or writes the memory. Those are answered in the order in which they were asked: who records and then looks up,
    /// without waiting in between, finds what was recorded.
    pub fn is_of_memory(self) -> bool {
        !matches!(self, Tool::About | Tool::Impact | Tool::Around)
    }

    /// Answers.
    ///
    /// # Errors
    /// A sentence for the model: what is wrong with the arguments, or why there is no answer.
    pub fn run(self, desk: &Desk, arguments: Value) -> Result<Answer, Failure> {
        if self.is_of_memory() {
            desk.catch_up();
        }
        match self {
            Tool::Prior => recall::prior(desk, checked(arguments)?),
            Tool::Initialize => remember::initialize(desk, checked(arguments)?),
            Tool::Decide => remember::decide(desk, checked(arguments)?),
            Tool::Conclude => remember::conclude(desk, checked(arguments)?),
            Tool::WorkingMemory => remember::working_memory(desk, &checked(arguments)?),
            Tool::Assumptions => remember::assumptions(desk, &checked(arguments)?),
            Tool::Explain => recall::explain(desk, &checked(arguments)?),
            Tool::Replay => recall::recompute(desk, &checked(arguments)?),
            Tool::About => code::about(desk, &checked(arguments)?),
            Tool::Impact => code::impact(desk, &checked(arguments)?),
            Tool::Around => code::around(desk, checked(arguments)?),
        }
    }
}

/// Arguments of the right names and types.
fn checked<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    serde_json::from_value(arguments).map_err(|error| Failure(format!("wrong arguments: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_there() {
        let told: Vec<rmcp::model::Tool> = serde_json::from_str(TOLD).expect("tools");
        let names: Vec<&str> = told.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, Tool::ALL.map(|(name, _)| name));
        for tool in told {
            let notes = tool.annotations.expect("annotations");
            let writes = [
                "get_prior_context",
                "initialize_session",
                "record_decision",
                "record_outcome",
            ];
            assert_eq!(
                notes.read_only_hint,
                Some(!writes.contains(&tool.name.as_ref())),
                "{}",
                tool.name
            );
            assert!(
                tool.output_schema.is_some() && tool.description.is_some(),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        let wrong = |arguments: Value| {
            checked::<recall::Prior>(arguments)
                .expect_err("they are wrong")
                .0
        };
        assert_eq!(
            wrong(serde_json::json!({})),
            "wrong arguments: missing field `task_text`"
        );
        assert!(
            wrong(serde_json::json!({"task_text": "a", "nodes": []}))
                .contains("unknown field `nodes`")
        );
        assert!(wrong(serde_json::json!({"task_text": 1})).contains("expected a string"));
    }
}
