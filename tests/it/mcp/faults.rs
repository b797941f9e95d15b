//! What nobody should say to a server, and places where it cannot work: each an error that says what is wrong, and the server lives on.

use std::fs;

use serde_json::{Value, json};

use super::{answers, call, called, data, handshaken, messages, meta, said_to, text};
use crate::support::{Sandbox, string};

const PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;

/// The error to one line after the handshake; the server has to answer a ping after it.
#[track_caller]
fn error_to(sandbox: &Sandbox, line: &[u8]) -> Value {
    let input = [
        handshaken(&[]).as_bytes(),
        line,
        b"\n",
        PING.as_bytes(),
        b"\n",
    ]
    .concat();
    let said = said_to(sandbox, "r", &input);
    assert_eq!(said.code, 0, "{}", said.err);
    let mut all = messages(&said);
    assert_eq!(
        all.len(),
        3,
        "{}",
        said.out.chars().take(900).collect::<String>()
    );
    let ping = all
        .iter()
        .position(|one| one["id"] == 99)
        .expect("the ping is answered");
    assert!(all[ping].get("result").is_some());
    all.remove(ping);
    all.retain(|one| one["id"] != 0);
    all.remove(0)
}

#[test]
fn a_line_that_is_no_message_is_answered() {
    let sandbox = Sandbox::new();
    let cases: [(&[u8], i64, &str); 8] = [
        (b"not json", -32700, "no JSON"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, "no JSON"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
            -32700,
            "not UTF-8",
        ),
        (b"7", -32600, "a JSON object"),
        (b"[]", -32600, "a JSON object"),
        (
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            -32600,
            "no message",
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}",
            -32601,
            "no method has the name 'nope'",
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
            -32602,
            "the parameters of 'tools/call'",
        ),
    ];
    for (line, code, words) in cases {
        let answer = error_to(&sandbox, line);
        let shown = String::from_utf8_lossy(line);
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert!(
            string(&answer["error"]["message"]).contains(words),
            "{shown}: {answer}"
        );
        let has_id = shown.contains("\"id\":1") && code != -32700;
        assert_eq!(answer.get("id"), has_id.then_some(&json!(1)), "{shown}");
    }
}

#[test]
fn a_tool_that_is_not_there_and_arguments_that_are_wrong() {
    let sandbox = Sandbox::new();
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "forget", "arguments": {}}});
    let answer = error_to(&sandbox, line.to_string().as_bytes());
    assert_eq!(answer["error"]["code"], -32602);
    assert!(
        string(&answer["error"]["message"])
            .contains("no tool has the name 'forget'; tools are get_prior_context")
    );
    let wrong = [
        ("get_prior_context", json!({}), "missing field `task_text`"),
        (
            "get_prior_context",
            json!({"task_text": " "}),
            "task_text is empty",
        ),
        (
            "get_prior_context",
            json!({"task_text": "a", "current_nodes": "src"}),
            "expected a sequence",
        ),
        (
            "get_prior_context",
            json!({"task_text": "a", "at": "nowhere"}),
            "bad revision 'nowhere'",
        ),
        (
            "record_decision",
            json!({"text": "a", "node": "b"}),
            "unknown field `node`",
        ),
        ("record_decision", json!({"text": ""}), "the text is empty"),
        (
            "record_decision",
            json!({"text": "a", "kind": "idea"}),
            "'idea' is no kind",
        ),
        (
            "record_decision",
            json!({"text": "a", "supersedes": ["abc"]}),
            "no record has the id 'abc'",
        ),
        (
            "record_outcome",
            json!({"task": "t"}),
            "missing field `verdict`",
        ),
        (
            "get_working_memory",
            json!({}),
            "no session has been started yet",
        ),
        (
            "replay_lookup",
            json!({"id": "abc"}),
            "no look-up has the id 'abc'",
        ),
        (
            "explain_lookup",
            json!({"id": ""}),
            "no look-up has the id ''",
        ),
        (
            "query_graph",
            json!({"node": "a", "what": "all"}),
            "unknown variant `all`",
        ),
    ];
    let calls: Vec<_> = wrong
        .iter()
        .map(|(name, arguments, _)| call(name, arguments.clone()))
        .collect();
    for ((name, _, words), result) in wrong.iter().zip(called(&sandbox, &calls)) {
        assert_eq!(result["isError"], true, "{name}");
        assert!(text(&result).contains(words), "{name}: {}", text(&result));
    }
}

#[test]
fn a_line_of_eight_megabytes_is_answered_by_its_id() {
    let sandbox = Sandbox::new();
    let call = |bytes: usize| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_prior_context", "arguments": {"task_text": "x".repeat(bytes)}}})
            .to_string()
    };
    let answer = error_to(&sandbox, call(8 << 20).as_bytes());
    assert_eq!(answer["id"], 1);
    assert!(text(&answer["result"]).contains("task_text has 8388608 bytes; it has at most 16384"));
    let answer = error_to(&sandbox, call(17 << 20).as_bytes());
    assert_eq!(
        (answer.get("id"), &answer["error"]["code"]),
        (None, &json!(-32600))
    );
    assert!(string(&answer["error"]["message"]).contains("a line has at most 16777216 bytes"));
}

#[test]
fn a_request_before_the_handshake_is_told_what_is_missing() {
    let sandbox = Sandbox::new();
    let early = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 50, "method": "tools/list"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 51, "method": "server/discover", "params": {}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 52, "method": "initialize", "params": {}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}).to_string(),
        PING.to_owned(),
    ];
    let input = format!(
        "{}\n{}",
        early.join("\n"),
        handshaken(&[("tools/list", json!({}))])
    );
    let found = answers(&said_to(&sandbox, "r", input.as_bytes()));
    for id in [50, 51] {
        assert!(
            string(&found[&id]["error"]["message"])
                .contains("before the handshake: send 'initialize' first"),
            "{id}"
        );
    }
    assert!(string(&found[&52]["error"]["message"]).contains("the parameters of 'initialize'"));
    assert!(found[&99].get("result").is_some() && found[&1]["result"]["tools"].is_array());
}

#[test]
fn each_request_of_the_new_era_has_to_say_who_asks() {
    let sandbox = Sandbox::new();
    let request = |id: u64, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params}).to_string()
    };
    let mut unknown = meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let lines = [
        request(1, json!({"_meta": unknown})),
        request(2, json!({"_meta": meta()})),
        request(3, json!({})),
        request(4, json!({"_meta": meta()})),
    ];
    let found = answers(&said_to(
        &sandbox,
        "r",
        format!("{}\n", lines.join("\n")).as_bytes(),
    ));
    assert!(
        found[&1].get("error").is_some() && found[&3].get("error").is_some(),
        "{found:?}"
    );
    assert!(found[&2]["result"]["tools"].is_array() && found[&4]["result"]["tools"].is_array());
}

#[test]
fn everything_that_was_read_is_answered_at_the_end_of_input() {
    let sandbox = Sandbox::new();
    let calls: Vec<_> = (0..40)
        .map(|number| {
            call(
                "record_decision",
                json!({"text": format!("decision {number}")}),
            )
        })
        .collect();
    assert_eq!(called(&sandbox, &calls).len(), 40);
    assert_eq!(sandbox.log_ids().len(), 40);

    // In the middle of a line.
    let whole = handshaken(&[call("record_decision", json!({"text": "the last one"}))]);
    let cut = [
        whole.as_bytes(),
        &b"{\"jsonrpc\":\"2.0\",\"id\":9,\"meth"[..],
    ]
    .concat();
    let said = said_to(&sandbox, "r", &cut);
    assert!(answers(&said).contains_key(&1));
    let error = messages(&said)
        .into_iter()
        .find(|one| one.get("error").is_some())
        .expect("an error");
    assert!(string(&error["error"]["message"]).contains("ended in the middle of the line"));
    // A whole request without the line break.
    let said = said_to(
        &sandbox,
        "r",
        handshaken(&[("tools/list", json!({}))])
            .trim_end()
            .as_bytes(),
    );
    assert!(answers(&said)[&1]["result"]["tools"].is_array());
    // Nothing at all, and half a line alone.
    assert_eq!(answers(&said_to(&sandbox, "r", b"")).len(), 0);
    assert_eq!(messages(&said_to(&sandbox, "r", b"{")).len(), 1);
}

#[test]
fn a_batch_is_taken_apart_and_an_id_is_used_once_at_a_time() {
    let sandbox = Sandbox::new();
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
    let input = format!("{}{}\n", handshaken(&[]), json!([ping(1), 5, ping(2)]));
    let said = said_to(&sandbox, "r", input.as_bytes());
    assert_eq!(answers(&said).len(), 3);
    assert_eq!(messages(&said).len(), 4);
}

#[test]
fn outside_of_a_repository_every_tool_says_so() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.top("elsewhere")).expect("a folder");
    let input = handshaken(&[
        ("tools/list", json!({})),
        call("get_prior_context", json!({"task_text": "a"})),
        call("record_decision", json!({"text": "a"})),
        call("impact", json!({})),
        ("resources/read", json!({"uri": "score-context://policy"})),
    ]);
    let found = answers(&said_to(&sandbox, "elsewhere", input.as_bytes()));
    assert!(found[&1]["result"]["tools"].is_array());
    for id in [2, 3, 4] {
        assert!(
            text(&found[&id]["result"]).contains("not a git repository"),
            "{}",
            found[&id]
        );
    }
    assert!(string(&found[&5]["error"]["message"]).contains("not a git repository"));
}

#[test]
fn a_broken_configuration_and_a_broken_policy_are_named() {
    let sandbox = Sandbox::new();
    sandbox.commit(
        &[(
            "score-context/policy.toml",
            "version = 1\n[attention]\ntop_k = 0\n",
        )],
        "a policy",
    );
    let ask = [
        call("get_prior_context", json!({"task_text": "a"})),
        call("query_graph", json!({"node": "src"})),
    ];
    let results = called(&sandbox, &ask);
    assert!(text(&results[0]).contains("top_k"), "{}", text(&results[0]));
    assert_eq!(data(&results[1])["kind"], "directory");
    let config = fs::read_to_string(sandbox.path(".git/config")).expect("a configuration");
    fs::write(sandbox.path(".git/config"), format!("{config}[core\n")).expect("written");
    for result in called(&sandbox, &ask) {
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("config"), "{}", text(&result));
    }
    fs::write(sandbox.path(".git/config"), config).expect("written");
}

#[test]
fn what_stands_at_an_address() {
    let sandbox = Sandbox::new();
    let id = sandbox.record("hidden \u{202e} and <b>", &["src"]);
    let lookup = string(&sandbox.json(&["query", "hidden and", "--node", "src"])["attention_id"]);
    let read = |uri: String| ("resources/read", json!({"uri": uri}));
    let input = handshaken(&[
        read(format!("score-context://record/{}", &id[..12])),
        read(format!("score-context://lookup/{lookup}")),
        read("score-context://policy".into()),
        read("score-context://record/ffff".into()),
        read("file:///etc/passwd".into()),
        ("resources/templates/list", json!({})),
        (
            "prompts/get",
            json!({"name": "prior-context", "arguments": {"task": "hidden and", "nodes": "src"}}),
        ),
        (
            "prompts/get",
            json!({"name": "prior-context", "arguments": {"task": ""}}),
        ),
        ("prompts/get", json!({"name": "other"})),
    ]);
    let found = answers(&said_to(&sandbox, "r", input.as_bytes()));
    let content = |number: u64| string(&found[&number]["result"]["contents"][0]["text"]);
    assert!(!content(1).contains(['<', '\u{202e}']), "{}", content(1));
    let record: Value = serde_json::from_str(&content(1)).expect("JSON");
    assert_eq!(
        (&record["id"], &record["record"]["text"]),
        (&json!(id), &json!("hidden \u{202e} and <b>"))
    );
    let report: Value = serde_json::from_str(&content(2)).expect("JSON");
    assert_eq!(report["attention_id"], json!(lookup));
    assert!(content(3).contains("\"key\":"));
    for (id, words) in [
        (4, "no record has the id 'ffff'"),
        (5, "nothing stands at"),
        (8, "task_text is empty"),
        (9, "no prompt has the name 'other'"),
    ] {
        assert!(
            string(&found[&id]["error"]["message"]).contains(words),
            "{}",
            found[&id]
        );
    }
    assert_eq!(
        found[&6]["result"]["resourceTemplates"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let prompt = string(&found[&7]["result"]["messages"][0]["content"]["text"]);
    assert!(prompt.starts_with("<untrusted-prior-context"), "{prompt}");
}
