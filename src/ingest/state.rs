//! A `state.json`: what an agent wrote down of its tasks, read in the form of `fixtures/state.schema.json` and in the forms that are
//! usual beside it.
//!
//! In: the bytes of a file. Out: what it says, and the name of everything that was not understood. Never fails: of a file that is no
//! JSON nothing is taken. Does no I/O.

use serde_json::{Map, Value};

use super::keys::{
    Role, below, get, kind_of, role, scalar, string, strings, text_of, time, verdict,
};
use super::said::{Draft, Ending, MOST_DRAFTS, Reading};
use crate::record::{Kind, MAX_NODES, Reasoning, Source, Verdict};

/// What is not decided yet is no decision.
const UNDECIDED: [&str; 5] = ["proposed", "pending", "draft", "open", "undecided"];

/// So much of what was chosen is told as the reason against each of the others, in characters.
const LONGEST_CHOICE: usize = 1000;
/// The nodes of all records of a file have at most so many bytes.
const MOST_NODE_BYTES: usize = 8 * 1024 * 1024;

/// Reads one file.
pub(super) fn read(bytes: &[u8]) -> Reading {
    let mut reader = Reader::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => {
            reader.tasks(&value, "", &[]);
            let is_silent = reader.out.drafts.is_empty() && reader.out.endings.is_empty();
            if is_silent && reader.out.unread.is_empty() {
                reader.out.unread.insert("says nothing of decisions".into());
            }
        }
        Err(error) => drop(reader.out.unread.insert(format!("no JSON: {error}"))),
    }
    reader.out
}

#[derive(Default)]
struct Reader {
    out: Reading,
    /// Bytes of the nodes of all drafts so far.
    node_bytes: usize,
}

impl Reader {
    /// A list of tasks, a map of them, or one. Gives the decisions without an outcome of their own.
    fn tasks(&mut self, value: &Value, at: &str, nodes: &[String]) -> Vec<usize> {
        match value {
            Value::Array(values) => {
                let mut open = Vec::new();
                for (n, value) in values.iter().enumerate() {
                    open.extend(self.tasks(value, &format!("{at}[{n}]"), nodes));
                }
                open
            }
            Value::Object(map) => {
                let speaks = |key: &String| {
                    matches!(
                        role(key),
                        Some(Role::Tasks | Role::Items(_) | Role::Outcome | Role::Kind)
                    )
                };
                if at.is_empty() || map.keys().any(speaks) || !map.values().any(Value::is_object) {
                    return self.task(map, at, nodes);
                }
                let mut open = Vec::new();
                for (key, value) in map {
                    open.extend(self.tasks(value, &below(at, key), nodes));
                }
                open
            }
            // The bare name of a task.
            Value::String(_) | Value::Null => Vec::new(),
            Value::Bool(_) | Value::Number(_) => {
                self.unread(at);
                Vec::new()
            }
        }
    }

    fn task(&mut self, map: &Map<String, Value>, at: &str, nodes: &[String]) -> Vec<usize> {
        if let (Some(kind), Some(_)) = (kind_of(map), text_of(map)) {
            return self.items(kind, &Value::Object(map.clone()), at, nodes);
        }
        // The decision of a task that has only one, with everything about it.
        let is_one = get(map, Role::Items(Kind::Decision)).is_some_and(Value::is_string);
        if is_one && get(map, Role::Tasks).is_none() {
            return self.item(Kind::Decision, map, at, nodes);
        }
        let own = strings(get(map, Role::Nodes));
        let nodes = if own.is_empty() { nodes } else { &own };
        let mut open = Vec::new();
        for (key, value) in map {
            let place = below(at, key);
            match role(key) {
                Some(Role::Tasks) => open.extend(self.tasks(value, &place, nodes)),
                Some(Role::Items(kind)) => {
                    let items = self.items(kind, value, &place, nodes);
                    let is_decision =
                        |at: &usize| self.out.drafts[*at].reasoning.kind == Kind::Decision;
                    open.extend(items.into_iter().filter(is_decision));
                }
                Some(_) => {}
                None => self.unread(&place),
            }
        }
        self.outcome(map, at, open)
    }

    /// One item, a list of them, or a map of names to items.
    fn items(&mut self, kind: Kind, value: &Value, at: &str, nodes: &[String]) -> Vec<usize> {
        let mut items = Vec::new();
        match value {
            Value::Null => {}
            Value::String(text) => items.extend(self.push(kind, text, at, nodes)),
            Value::Array(values) => {
                for (n, value) in values.iter().enumerate() {
                    items.extend(self.items(kind, value, &format!("{at}[{n}]"), nodes));
                }
            }
            Value::Object(map) if text_of(map).is_some() => {
                items.extend(self.item(kind, map, at, nodes));
            }
            Value::Object(map) => {
                for (key, value) in map {
                    let place = below(at, key);
                    match value {
                        Value::String(text) if role(key).is_none() => {
                            items.extend(self.push(kind, &format!("{key}: {text}"), &place, nodes));
                        }
                        Value::Object(_) | Value::Array(_) => {
                            let from = self.out.drafts.len();
                            items.extend(self.items(kind, value, &place, nodes));
                            if let Some(draft) = self.out.drafts.get_mut(from) {
                                draft.name.get_or_insert_with(|| key.clone());
                            }
                        }
                        _ => self.unread(&place),
                    }
                }
            }
            Value::Bool(_) | Value::Number(_) => self.unread(at),
        }
        items
    }

    fn item(
        &mut self,
        kind: Kind,
        map: &Map<String, Value>,
        at: &str,
        nodes: &[String],
    ) -> Vec<usize> {
        let Some(text) = text_of(map) else {
            return Vec::new();
        };
        let status = string(get(map, Role::Status)).map(|status| status.to_lowercase());
        let mut kind = kind_of(map).unwrap_or(kind);
        match status.as_deref() {
            Some(status) if UNDECIDED.contains(&status) => {
                let why = format!("{at}: it is only '{status}', so not decided");
                self.out.unread.insert(why);
                return Vec::new();
            }
            Some("rejected" | "declined") => kind = Kind::Rejected,
            _ => {}
        }
        let own = strings(get(map, Role::Nodes));
        let nodes = if own.is_empty() { nodes } else { &own };
        let Some(number) = self.push(kind, &text, at, nodes) else {
            return Vec::new();
        };
        let confidence = self.confidence(map, at);
        let draft = &mut self.out.drafts[number];
        draft.reasoning.reasons = strings(get(map, Role::Reasons));
        draft.reasoning.confidence = confidence;
        draft.time = time(get(map, Role::Time));
        draft.name = get(map, Role::Id).and_then(scalar);
        draft.supersedes = strings(get(map, Role::Supersedes));
        draft.superseded_by = strings(get(map, Role::SupersededBy));
        self.turned_down(map, at, nodes, &text);
        for (key, value) in map {
            match role(key) {
                None => self.unread(&below(at, key)),
                Some(Role::Items(kind)) if kind != Kind::Rejected && !value.is_string() => {
                    self.items(kind, value, &below(at, key), nodes);
                }
                Some(_) => {}
            }
        }
        self.outcome(map, at, vec![number])
    }

    /// The options beside a decision, each of which says what was chosen in its place.
    fn turned_down(&mut self, map: &Map<String, Value>, at: &str, nodes: &[String], chosen: &str) {
        let from = self.out.drafts.len();
        for (key, value) in map {
            let place = below(at, key);
            match role(key) {
                Some(Role::Items(Kind::Rejected)) if !value.is_boolean() => {
                    self.items(Kind::Rejected, value, &place, nodes);
                }
                Some(Role::Options) => {
                    let (before, endings) = (self.out.drafts.len(), self.out.endings.len());
                    self.items(Kind::Rejected, value, &place, nodes);
                    // An option that was only looked at has not ended, and the numbers of the others change.
                    self.out.endings.truncate(endings);
                    let is_chosen =
                        |text: &str| text == chosen || chosen.ends_with(&format!(": {text}"));
                    let options = self.out.drafts.split_off(before);
                    let others = options
                        .into_iter()
                        .filter(|option| !is_chosen(&option.reasoning.text));
                    self.out.drafts.extend(others);
                }
                _ => {}
            }
        }
        for draft in &mut self.out.drafts[from..] {
            let line = chosen.lines().next().unwrap_or_default();
            let line: String = line.chars().take(LONGEST_CHOICE).collect();
            draft
                .reasoning
                .reasons
                .push(format!("chosen instead: {line}"));
        }
    }

    fn push(&mut self, kind: Kind, text: &str, at: &str, nodes: &[String]) -> Option<usize> {
        if self.out.drafts.len() == MOST_DRAFTS {
            let why = format!("more than {MOST_DRAFTS} records; the rest is left out");
            self.out.unread.insert(why);
            return None;
        }
        if text.trim().is_empty() {
            return None;
        }
        // Every record of a task has its nodes.
        self.node_bytes += nodes.iter().map(|node| node.len() + 24).sum::<usize>();
        let is_much = self.node_bytes > MOST_NODE_BYTES || nodes.len() > MAX_NODES;
        if is_much {
            let why = format!("'{at}': there are too many nodes, so they are left out");
            self.out.unread.insert(why);
        }
        let nodes = if is_much { &[] } else { nodes };
        self.out.drafts.push(Draft {
            reasoning: Reasoning {
                text: text.trim().to_owned(),
                ..Reasoning::new(Source::State, kind)
            },
            nodes: nodes.to_vec(),
            time: None,
            name: None,
            supersedes: Vec::new(),
            superseded_by: Vec::new(),
            at: at.to_owned(),
        });
        Some(self.out.drafts.len() - 1)
    }

    fn confidence(&mut self, map: &Map<String, Value>, at: &str) -> Option<String> {
        let given = get(map, Role::Confidence)?;
        let word = given.as_str().map(str::to_lowercase);
        let known = word.filter(|word| ["high", "medium", "low"].contains(&word.as_str()));
        if known.is_none() && !given.is_null() {
            let why = "a confidence is 'high', 'medium' or 'low'";
            self.out
                .unread
                .insert(format!("{}: {why}", below(at, "confidence")));
        }
        known
    }

    /// Takes the outcome of these decisions; without one they wait for that of the task above.
    fn outcome(&mut self, map: &Map<String, Value>, at: &str, of: Vec<usize>) -> Vec<usize> {
        let Some(value) = get(map, Role::Outcome).filter(|value| !value.is_null()) else {
            // A task that is only said to have failed has failed.
            let status = string(get(map, Role::Status)).and_then(|status| verdict(&status));
            return match status {
                Some((verdict, rationale)) if !of.is_empty() => {
                    self.end(map, verdict, rationale, at, of);
                    Vec::new()
                }
                _ => of,
            };
        };
        let inner = value.as_object();
        let word = match (value, inner) {
            (Value::Bool(is_good), _) => Some(is_good.to_string()),
            (_, Some(inner)) => get(inner, Role::Outcome)
                .or_else(|| get(inner, Role::Status))
                .and_then(scalar),
            _ => string(Some(value)),
        };
        match word.as_deref().and_then(verdict) {
            Some((verdict, rationale)) => {
                self.end(inner.unwrap_or(map), verdict, rationale, at, of);
                Vec::new()
            }
            None => {
                let why = "an outcome is 'pass' or 'fail'";
                self.out
                    .unread
                    .insert(format!("{}: {why}", below(at, "outcome")));
                of
            }
        }
    }

    fn end(
        &mut self,
        map: &Map<String, Value>,
        verdict: Verdict,
        said: Option<String>,
        at: &str,
        of: Vec<usize>,
    ) {
        let mut reasons: Vec<String> = said.into_iter().collect();
        reasons.extend(strings(get(map, Role::Reasons)));
        reasons.extend(
            string(get(map, Role::Detail))
                .filter(|_| get(map, Role::Tasks).is_none() && get(map, Role::Title).is_none()),
        );
        self.out.endings.push(Ending {
            verdict,
            rationale: (!reasons.is_empty()).then(|| reasons.join("; ")),
            coverage: get(map, Role::Coverage).and_then(Value::as_f64),
            surfaced: strings(get(map, Role::Surfaced)),
            missing: strings(get(map, Role::Missing)),
            of,
            time: time(get(map, Role::Time)),
            at: below(at, "outcome"),
        });
    }

    /// Names a place that was not understood, the same one of all members of a list once.
    fn unread(&mut self, at: &str) {
        let mut place = String::new();
        let mut in_brackets = false;
        for character in at.chars().take(200) {
            in_brackets = character == '[' || in_brackets && character.is_ascii_digit();
            if !(in_brackets && character.is_ascii_digit()) {
                place.push(character);
            }
        }
        self.out
            .unread
            .insert(format!("'{place}' is not understood"));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::said::{Settled, settle};
    use super::*;
    use crate::record::{Outcome, Record};

    fn settled(text: &str) -> Settled {
        settle(read(text.as_bytes()), Source::State)
    }

    /// What was said, one line each: kind, text, reasons, nodes.
    fn lines(settled: &Settled) -> Vec<String> {
        let line = |said: &super::super::said::Said| match &said.record {
            Record::Reasoning(it) => format!(
                "{}: {} [{}] {}",
                it.kind.as_str(),
                it.text,
                it.reasons.join("; "),
                said.nodes.join(" ")
            ),
            Record::Outcome(it) => format!(
                "{} of {}: {}",
                it.verdict.as_str(),
                it.of.len(),
                it.rationale.as_deref().unwrap_or_default()
            ),
            other => format!("{other:?}"),
        };
        settled.said.iter().map(line).collect()
    }

    fn schema() -> Value {
        serde_json::from_str(include_str!("../../fixtures/state.schema.json")).expect("JSON")
    }

    #[test]
    fn the_examples_of_the_schema_are_understood_whole() {
        let schema = schema();
        let examples = schema["examples"].as_array().expect("a list");
        let first = settled(&examples[0].to_string());
        assert_eq!(
            lines(&first),
            ["decision: sessions live in signed cookies [] src/session.py"]
        );
        let second = settled(&examples[1].to_string());
        assert_eq!(
            second.unread.len() + first.unread.len(),
            0,
            "{:?}",
            second.unread
        );
        insta::assert_snapshot!(lines(&second).join("\n"), @r#"
assumption: cookies stay under 4 KB [] src/session.py
constraint: no new service [] src/session.py
decision: keep sessions in redis [it is there already] src/session.py
decision: Session store: signed cookies [redis was the only stateful part] src/session.py::Session.load src/cookies
rejected: JWT [revocation needs a store again; chosen instead: Session store: signed cookies] src/session.py::Session.load src/cookies
finding: the load test runs 2,000 requests a second [] src/session.py
rejected: sqlite on the web host [] src/session.py
decision: rotate the key daily [] src/session.py
pass of 1: 
fail of 2: cookies grew over 4 KB
"#);
        let outcome = second.said.iter().find_map(|said| match &said.record {
            Record::Outcome(outcome) if outcome.verdict == Verdict::Fail => Some(outcome),
            _ => None,
        });
        let Some(Outcome {
            coverage,
            surfaced,
            missing,
            ..
        }) = outcome
        else {
            panic!("an outcome");
        };
        assert_eq!(
            (coverage, surfaced.len(), missing.len()),
            (&Some(0.5), 1, 1)
        );
    }

    #[test]
    fn every_key_of_the_schema_has_a_role() {
        fn keys(value: &Value, found: &mut Vec<String>) {
            let Some(map) = value.as_object() else {
                return;
            };
            if let Some(properties) = map.get("properties").and_then(Value::as_object) {
                found.extend(properties.keys().cloned());
            }
            for (_, value) in map.iter().filter(|(key, _)| *key != "examples") {
                keys(value, found);
                value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|value| keys(value, found));
            }
        }
        let mut found = Vec::new();
        keys(&schema(), &mut found);
        assert!(found.len() > 25, "{found:?}");
        for key in found {
            assert!(role(&key).is_some(), "{key}");
        }
    }

    #[test]
    fn usual_names_are_read_and_the_rest_is_named() {
        let read = settled(include_str!("../../fixtures/state/usual.json"));
        insta::assert_snapshot!(lines(&read).join("\n"), @r#"
decision: rotate daily [old ones expire] ./src/session.py src\store.py
rejected: rotate weekly [chosen instead: rotate daily] ./src/session.py src\store.py
decision: store: signed cookies [] ./src/session.py src\store.py
decision: sign with blake3 [this is the reason of the task] 
rejected: hmac-sha256 [chosen instead: sign with blake3] 
assumption: clients keep 50 cookies [] 
finding: cookies grow [a test] 
pass of 2: the load test passed
fail of 1: this is the reason of the task
"#);
        insta::assert_snapshot!(Vec::from_iter(read.unread).join("\n"), @r#"
'completedTasks' is not understood
'tasks.T3.learnings[]' is not understood
tasks.T1.keyDecisions.later: it is only 'proposed', so not decided
tasks.T3.assumptions[0].confidence: a confidence is 'high', 'medium' or 'low'
tasks.T3.outcome: an outcome is 'pass' or 'fail'
"#);
    }

    #[test]
    fn what_is_no_state_file_gives_nothing_and_a_name() {
        for (text, why) in [
            ("{ broken", "no JSON: "),
            ("", "no JSON: "),
            ("[]", "says nothing of decisions"),
            ("{\"decisions\": []}", "says nothing of decisions"),
            ("{\"todos\": 3}", "'todos' is not understood"),
            ("7", "'' is not understood"),
        ] {
            let read = settled(text);
            assert_eq!(read.said.len(), 0, "{text}");
            let unread = Vec::from_iter(read.unread);
            assert!(
                unread.len() == 1 && unread[0].starts_with(why),
                "{unread:?}"
            );
        }
        let mark = settled("\u{feff}{\"decisions\": \"x\"}");
        assert_eq!(lines(&mark), ["decision: x [] "]);
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(settled(&deep).said.len(), 0);
    }

    #[test]
    fn credentials_are_masked_before_the_id_is_made() {
        let secret = format!(
            "ghp_{}",
            "a1B2c3D4e5F6g7H8i9J0"
                .repeat(2)
                .get(..36)
                .unwrap_or_default()
        );
        let read = settled(&format!("{{\"decisions\": \"use {secret} here\"}}"));
        assert!(!lines(&read)[0].contains(&secret), "{:?}", lines(&read));
        assert_eq!(read.masked.len(), 1);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "pass|fail: x|D1|rejected|[a-zé ]{0,6}".prop_map(Value::from),
        ];
        let key =
            "decisions|outcome|tasks|text|options|id|supersedes|status|nodes|title|kind|[a-z]{1,4}";
        leaf.prop_recursive(5, 60, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_document_has_a_reading(value in json()) {
            let read = settled(&value.to_string());
            for said in &read.said {
                prop_assert!(said.record.check().is_ok());
            }
            prop_assert!(!read.said.is_empty() || !read.unread.is_empty());
        }
    }
}
