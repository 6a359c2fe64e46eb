//! What each program writes, as it was recorded, is read as the same report.

use serde_json::Value;

use super::ProgramKind;
use super::dialect::Output;
use super::telling::Telling;
use crate::AgentEvent;

/// What is read of these lines.
fn told(word: &str, lines: &[&str]) -> Telling {
    let mut told = Telling::default();
    let Output::Events(read) = ProgramKind::by_word(word).unwrap().0.output else { panic!("{word}") };
    for line in lines {
        read(&serde_json::from_str::<Value>(line).unwrap(), &mut told);
    }
    told.end();
    told
}

const CLAUDE: &[&str] = &[
    r#"{"type":"system","subtype":"init","tools":["Bash"],"permissionMode":"default"}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Looking."}]},"parent_tool_use_id":null}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"good","input":{"a":1}}]},"parent_tool_use_id":null}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"2","name":"bad","input":{}}]},"parent_tool_use_id":null}"#,
    r#"{"type":"user","message":{"content":[{"tool_use_id":"1","type":"tool_result","content":[{"type":"text","text":"fine"}]}]},"parent_tool_use_id":null}"#,
    r#"{"type":"system","subtype":"permission_denied","tool_name":"bad","tool_use_id":"2","message":"needs approval"}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"needs approval","is_error":true,"tool_use_id":"2"}]},"parent_tool_use_id":null}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"of an inner agent"}]},"parent_tool_use_id":"7"}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null}"#,
    r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","usage":{"input_tokens":5,"output_tokens":2,"cache_read_input_tokens":1},"permission_denials":[{"tool_name":"bad","tool_use_id":"2"}]}"#,
];

const CODEX: &[&str] = &[
    r#"{"type":"thread.started","thread_id":"t"}"#,
    r#"{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"Looking."}}"#,
    r#"{"type":"item.started","item":{"id":"1","type":"mcp_tool_call","server":"kitbag-run","tool":"good","arguments":{"a":1},"result":null,"error":null,"status":"in_progress"}}"#,
    r#"{"type":"item.started","item":{"id":"2","type":"mcp_tool_call","server":"kitbag-run","tool":"bad","arguments":{},"result":null,"error":null,"status":"in_progress"}}"#,
    r#"{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"kitbag-run","tool":"good","arguments":{"a":1},"result":{"content":[{"type":"text","text":"fine"}]},"error":null,"status":"completed"}}"#,
    r#"{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"kitbag-run","tool":"bad","arguments":{},"result":null,"error":{"message":"MCP tool call requires approval, but approval policy is never"},"status":"failed"}}"#,
    r#"{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"Done."}}"#,
    r#"{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":1,"output_tokens":2}}"#,
];

const GEMINI: &[&str] = &[
    r#"{"type":"init","session_id":"s","model":"m"}"#,
    r#"{"type":"message","role":"user","content":"What?\n"}"#,
    r#"{"type":"message","role":"assistant","content":"Looking.","delta":true}"#,
    r#"{"type":"tool_use","tool_name":"good","tool_id":"1","parameters":{"a":1}}"#,
    r#"{"type":"tool_use","tool_name":"bad","tool_id":"2","parameters":{}}"#,
    r#"{"type":"tool_result","tool_id":"1","status":"success","output":"fine"}"#,
    r#"{"type":"tool_result","tool_id":"2","status":"error","output":"Tool execution denied by policy.","error":{"type":"policy_violation","message":"Tool execution denied by policy."}}"#,
    r#"{"type":"message","role":"assistant","content":"Do","delta":true}"#,
    r#"{"type":"message","role":"assistant","content":"ne.","delta":true}"#,
    r#"{"type":"result","status":"success","stats":{"input_tokens":5,"output_tokens":2,"cached":1}}"#,
];

#[test]
fn s2_20_denials_are_read_from_the_events_of_every_program() {
    for (word, lines) in [("claude", CLAUDE), ("qwen", CLAUDE), ("codex", CODEX), ("gemini", GEMINI)] {
        let told = told(word, lines);
        let denied: Vec<&str> = told.denied.iter().map(|denied| denied.tool.as_str()).collect();
        assert_eq!(denied, ["bad"], "{word}");
        let report = &told.report;
        assert_eq!((report.text.as_str(), report.steps, told.has_answered), ("Done.", 2, true), "{word}");
        assert_eq!((report.tools(), report.errors().count()), (vec!["good", "bad"], 1), "{word}");
        assert_eq!((report.usage.input, report.usage.output), (5, 2), "{word}");
        assert_eq!(told.failure, None, "{word}");
        let place = |wanted: fn(&AgentEvent) -> bool| told.events.iter().position(wanted).unwrap();
        let step = place(|event| matches!(event, AgentEvent::Step { calls: 2, .. }));
        let result = place(|event| matches!(event, AgentEvent::Result(outcome) if outcome.text == "fine"));
        assert!(step < result, "{word}: a reply is over before its results are told");
    }
}

#[test]
fn what_went_wrong_altogether_is_read() {
    for (word, line, why) in [
        (
            "claude",
            r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 401"}"#,
            "API Error: 401",
        ),
        ("claude", r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#, "error_max_turns"),
        (
            "qwen",
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"no key"}}"#,
            "no key",
        ),
        ("codex", r#"{"type":"turn.failed","error":{"message":"stream error"}}"#, "stream error"),
        ("gemini", r#"{"type":"result","status":"error","error":{"type":"x","message":"quota"}}"#, "quota"),
    ] {
        assert_eq!(told(word, &[line]).failure.as_deref(), Some(why), "{word}");
    }
}

#[test]
fn a_call_without_a_result_ended_with_its_program() {
    let told = told("codex", &CODEX[..3]);
    assert_eq!(told.report.errors().collect::<Vec<_>>(), ["the program ended first"]);
}

#[test]
fn an_agent_is_known_by_its_name_and_then_by_its_command() {
    let of = |name: &str, command: &str| format!("{:?}", ProgramKind::of(name, &[command.to_owned()]));
    assert_eq!(of("claude", "node"), "claude");
    assert_eq!(of("coder", "/opt/qwen"), "qwen");
    assert_eq!(of("coder", "my-agent"), "command");
}
