//! What the agents' own programs have to be told of us, and their settings files with it and without.
//!
//! In: the text of a settings file. Out: the same text with our entries, or without them, everything else as it was, comments and line
//! ends included. The forms follow the documentation that the README names. Does no I/O.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Value, json};

/// The name of our server in every client.
const NAME: &str = "git-score-context";
/// By this a hook is known as ours, whatever version wrote it.
const OURS: &str = "score-context hook prompt";
const BEGIN: &str = "# git score-context: begin";
const END: &str = "# git score-context: end";

/// A program that runs agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// VS Code with Copilot.
    VsCode,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
}

impl Client {
    /// Every client.
    pub const ALL: [Client; 5] = [
        Client::ClaudeCode,
        Client::Codex,
        Client::VsCode,
        Client::Cursor,
        Client::Gemini,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::Codex => "codex",
            Client::VsCode => "vscode",
            Client::Cursor => "cursor",
            Client::Gemini => "gemini",
        }
    }

    /// The client of a name; none where it is unknown.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// The files that it reads, below the top of the work tree, with what is to stand in them.
    pub fn files(self) -> Vec<File> {
        let server = json!({"command": "git", "args": ["score-context", "mcp"]});
        let command = format!("git {OURS} {}", self.name());
        let hook = json!({"type": "command", "command": command, "timeout": 10});
        let group = json!({"hooks": [hook.clone()]});
        let servers = |path| Edit::Entry(path, NAME, server.clone());
        match self {
            Client::ClaudeCode => vec![
                File(".mcp.json", vec![servers(&["mcpServers"])]),
                File(
                    ".claude/settings.local.json",
                    vec![Edit::Element(&["hooks"], "UserPromptSubmit", group)],
                ),
            ],
            Client::Codex => vec![
                File(
                    ".codex/config.toml",
                    vec![Edit::Toml(format!(
                        "[mcp_servers.{NAME}]\ncommand = \"git\"\nargs = [\"score-context\", \"mcp\"]\n"
                    ))],
                ),
                File(
                    ".codex/hooks.json",
                    vec![Edit::Element(&["hooks"], "UserPromptSubmit", group)],
                ),
            ],
            Client::VsCode => {
                let server =
                    json!({"type": "stdio", "command": "git", "args": ["score-context", "mcp"]});
                vec![
                    File(
                        ".vscode/mcp.json",
                        vec![Edit::Entry(&["servers"], NAME, server)],
                    ),
                    File(
                        ".github/hooks/git-score-context.json",
                        vec![
                            Edit::Element(&["hooks"], "UserPromptSubmit", hook.clone()),
                            Edit::Element(&["hooks"], "PostToolUse", hook),
                        ],
                    ),
                ]
            }
            Client::Cursor => {
                let hook = json!({"command": command});
                vec![
                    File(".cursor/mcp.json", vec![servers(&["mcpServers"])]),
                    File(
                        ".cursor/hooks.json",
                        vec![
                            Edit::Default("version", json!(1)),
                            Edit::Element(&["hooks"], "beforeSubmitPrompt", hook.clone()),
                            Edit::Element(&["hooks"], "postToolUse", hook),
                        ],
                    ),
                ]
            }
            Client::Gemini => {
                // Here the time is in milliseconds.
                let hook =
                    json!({"name": NAME, "type": "command", "command": command, "timeout": 10_000});
                let group = json!({"hooks": [hook]});
                vec![File(
                    ".gemini/settings.json",
                    vec![
                        servers(&["mcpServers"]),
                        Edit::Element(&["hooks"], "BeforeAgent", group),
                    ],
                )]
            }
        }
    }
}

/// A settings file: its path below the top of the work tree, and what is to stand in it.
#[derive(Clone, Debug)]
pub struct File(pub &'static str, Vec<Edit>);

/// One thing that is to stand in a file.
#[derive(Clone, Debug)]
enum Edit {
    /// In the object at this path an entry of this name.
    Entry(&'static [&'static str], &'static str, Value),
    /// In the object at this path a list of this name with this element.
    Element(&'static [&'static str], &'static str, Value),
    /// At the top an entry of this name, unless there is one.
    Default(&'static str, Value),
    /// A block of TOML.
    Toml(String),
}

impl File {
    /// The text with our entries; twice is once.
    ///
    /// # Errors
    /// What keeps them out: a text that cannot be read, or something else in their place.
    pub fn with(&self, text: &str) -> Result<String, String> {
        if let [Edit::Toml(block)] = &self.1[..] {
            return toml_with(text, block);
        }
        let root = parse(if text.trim().is_empty() { "{}\n" } else { text })?;
        let top = root.object_value_or_create().ok_or("it holds no object")?;
        for edit in &self.1 {
            match edit {
                Edit::Entry(path, name, value) => entry(&object(&top, path)?, name, value),
                Edit::Default(name, value) if top.get(name).is_none() => {
                    top.append(name, input(value));
                }
                Edit::Element(path, name, value) => {
                    let list = object(&top, path)?.array_value_or_create(name);
                    element(&list.ok_or(format!("'{name}' is no list"))?, value);
                }
                Edit::Default(..) | Edit::Toml(_) => {}
            }
        }
        Ok(root.to_string())
    }

    /// The text without our entries, and without what is empty then.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn without(&self, text: &str) -> Result<String, String> {
        if let [Edit::Toml(_)] = &self.1[..] {
            return Ok(toml_without(text));
        }
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        let root = parse(text)?;
        let Some(top) = root.object_value() else {
            return Ok(text.to_owned());
        };
        for edit in &self.1 {
            match edit {
                Edit::Entry(path, name, _) => take(&top, path, &|object| {
                    if let Some(own) = object.get(name) {
                        own.remove();
                    }
                }),
                Edit::Element(path, name, _) => take(&top, path, &|object| {
                    let Some(list) = object.array_value(name) else {
                        return;
                    };
                    let own = list
                        .elements()
                        .into_iter()
                        .filter(|element| is_ours(element.to_serde_value()));
                    own.for_each(|element| element.remove());
                    if let (true, Some(own)) = (list.elements().is_empty(), object.get(name)) {
                        own.remove();
                    }
                }),
                Edit::Default(..) | Edit::Toml(_) => {}
            }
        }
        for edit in &self.1 {
            if let (Edit::Default(name, _), 1) = (edit, top.properties().len())
                && let Some(own) = top.get(name)
            {
                own.remove();
            }
        }
        Ok(root.to_string())
    }
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())
}

fn object(top: &CstObject, path: &[&str]) -> Result<CstObject, String> {
    let mut at = top.clone();
    for name in path {
        at = at
            .object_value_or_create(name)
            .ok_or(format!("'{name}' is no object"))?;
    }
    Ok(at)
}

fn entry(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        Some(own) if own.value().and_then(|own| own.to_serde_value()).as_ref() == Some(value) => {}
        Some(own) => own.set_value(input(value)),
        None => drop(object.append(name, input(value))),
    }
}

fn element(list: &CstArray, value: &Value) {
    let mut is_there = false;
    for element in list.elements() {
        let found = element.to_serde_value();
        if found.as_ref() == Some(value) && !is_there {
            is_there = true;
        } else if is_ours(found) {
            element.remove();
        }
    }
    if !is_there {
        list.append(input(value));
    }
}

fn is_ours(value: Option<Value>) -> bool {
    value.is_some_and(|value| value.to_string().contains(OURS))
}

/// Does something in the object at a path, and takes away what is empty then.
fn take(top: &CstObject, path: &[&str], edit: &dyn Fn(&CstObject)) {
    let mut objects = vec![top.clone()];
    for name in path {
        match objects.last().and_then(|object| object.object_value(name)) {
            Some(object) => objects.push(object),
            None => return,
        }
    }
    if let Some(object) = objects.last() {
        edit(object);
    }
    for (at, name) in path.iter().enumerate().rev() {
        let is_empty = objects[at + 1].properties().is_empty();
        if let (true, Some(own)) = (is_empty, objects[at].get(name)) {
            own.remove();
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(map) => {
            let entries = map.iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(entries.collect())
        }
    }
}

fn toml_with(text: &str, block: &str) -> Result<String, String> {
    let bare = toml_without(text);
    let table: toml::Table = bare
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let servers = table.get("mcp_servers").and_then(toml::Value::as_table);
    if servers.is_some_and(|servers| servers.contains_key(NAME)) {
        // Somebody has put it there by hand, and knows why.
        return Ok(text.to_owned());
    }
    let end = if bare.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = match bare.is_empty() || bare.ends_with('\n') {
        true => "",
        false => "\n",
    };
    let own = format!("{gap}{BEGIN}\n{block}{END}\n").replace('\n', end);
    let whole = format!("{bare}{own}");
    match whole.parse::<toml::Table>() {
        Ok(_) => Ok(whole),
        Err(error) => Err(error.message().to_owned()),
    }
}

fn toml_without(text: &str) -> String {
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        return text.to_owned();
    };
    let rest = text.get(end + END.len()..).unwrap_or_default();
    let rest = rest
        .strip_prefix("\r\n")
        .or_else(|| rest.strip_prefix('\n'))
        .unwrap_or(rest);
    match begin < end {
        true => format!("{}{rest}", &text[..begin]),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_takes_ours_once_and_gives_it_back() {
        for client in Client::ALL {
            assert_eq!(Client::of(client.name()), Some(client));
            for file in client.files() {
                let one = file.with("").expect("an empty file takes all");
                assert_eq!(file.with(&one), Ok(one.clone()), "{}", file.0);
                let bare = file.without(&one).expect("what we wrote can be read");
                assert!(
                    bare.trim().is_empty() || bare.trim() == "{}",
                    "{}: {bare}",
                    file.0
                );
            }
        }
    }

    #[test]
    fn comments_and_other_entries_stay() {
        let text = "{\r\n  // mine\r\n  \"mcpServers\": {\r\n    \"other\": { \"command\": \"x\" }, // keep\r\n  },\r\n  \"hooks\": { \"BeforeAgent\": [ { \"hooks\": [] } ] },\r\n}\r\n";
        let file = &Client::Gemini.files()[0];
        let one = file.with(text).expect("it is JSON with comments");
        assert!(
            one.contains("// mine\r\n") && one.contains("// keep") && one.contains("\"other\""),
            "{one}"
        );
        assert!(
            one.contains(OURS) && one.contains("\"score-context\""),
            "{one}"
        );
        assert_eq!(file.with(&one).as_deref(), Ok(&*one));
        let bare = file.without(&one).expect("read");
        assert!(
            !bare.contains("score-context")
                && bare.contains("// keep")
                && bare.contains("\"BeforeAgent\""),
            "{bare}"
        );
    }

    #[test]
    fn what_stands_in_the_way_is_named_and_nothing_is_written() {
        let file = &Client::Gemini.files()[0];
        for text in [
            "{",
            "[]",
            "{\"mcpServers\": 1}",
            "{\"hooks\": {\"BeforeAgent\": {}}}",
        ] {
            assert!(file.with(text).is_err(), "{text}");
        }
        assert!(Client::Codex.files()[0].with("a = ").is_err());
    }

    #[test]
    fn an_older_hook_of_ours_is_replaced() {
        let old = "{\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/opt/git-score-context hook prompt x\"}]},{\"hooks\":[{\"type\":\"command\",\"command\":\"git score-context hook prompt codex\"}]}]}}";
        let one = Client::Codex.files()[1].with(old).expect("JSON");
        assert_eq!(one.matches(OURS).count(), 1, "{one}");
    }

    #[test]
    fn toml_keeps_every_byte_of_the_rest() {
        let file = &Client::Codex.files()[0];
        for text in [
            "",
            "model = \"x\" # mine\n",
            "model = 'x'",
            "[mcp_servers.other]\r\ncommand = 'y'\r\n",
        ] {
            let one = file.with(text).expect("TOML");
            assert!(one.starts_with(text), "{one}");
            assert_eq!(file.with(&one).as_deref(), Ok(&*one));
            assert_eq!(
                file.without(&one)
                    .map(|bare| bare.trim_end().to_owned())
                    .as_deref(),
                Ok(text.trim_end())
            );
        }
        let own = "[mcp_servers.git-score-context]\ncommand = 'mine'\n";
        assert_eq!(file.with(own).as_deref(), Ok(own));
    }
}
