use std::sync::Arc;

use serde_json::{Value, json};

use super::gateway::GatewayServer;
use super::native::Provider;
use super::*;
use crate::catalog::Unreachable;
use crate::model::{AgentRules, Mode, Transport};
use crate::names::lookup::NameMatch;
use crate::names::{NameForm, ServerName};
use crate::shape::View;
use fixture::{recorded_view, server, shaped, snapshot, view};

pub(super) mod fixture;
mod long;

fn files() -> Value {
    json!([
        {"name": "read", "description": "Reads a file", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "string"}}, "required": ["path"]}},
        {"name": "list", "description": "Lists a folder", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}}, "required": ["path"]}},
    ])
}

fn four() -> View {
    view([
        ("docs", files()),
        ("fs", files()),
        ("git", files()),
        ("web", files()),
        ("local", json!([{"name": "note", "description": "Keeps a note"}])),
    ])
}

fn shown(view: &View, audience: &PresentOptions) -> Presentation {
    let names: Vec<ServerName> = view.snapshot().parts().map(|part| part.server.clone()).collect();
    let local = ServerName::local();
    let server = |name| GatewayServer { name, transport: Transport::Stdio, description: None };
    let servers = names.iter().filter(|name| **name != local).map(server).collect();
    Presentation::new(
        view,
        audience,
        &AgentServers { servers, unknown: vec!["gone"], local: Some(&local), reader: Some("reader") },
    )
}

fn mixed() -> PresentOptions {
    let modes = [("fs", Mode::Gateway), ("git", Mode::Markdown), ("web", Mode::Text)];
    let servers = modes.into_iter().map(|(name, mode)| (server(name), mode)).collect();
    PresentOptions { servers, ..PresentOptions::new(Provider::OpenAiChat, Mode::Auto) }
}

fn names(presentation: &Presentation) -> Vec<&str> {
    let tools = presentation.tools.as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

#[test]
fn each_server_is_shown_in_its_own_way() {
    let view = four();
    let presentation = shown(&view, &mixed());
    assert_eq!(names(&presentation), ["mcp_docs_list", "mcp_docs_read", "note", "mcp_fs"]);
    let prompt = &presentation.prompt;
    assert!(prompt.starts_with("# Available MCP Tools") && prompt.contains("mcp_git_read"), "{prompt}");
    assert!(prompt.contains("TOOL:") && prompt.contains("mcp_web_read: Reads a file"), "{prompt}");
    assert!(prompt.contains("(no server is configured under the name gone)"), "{prompt}");
    assert!(
        !prompt.contains("mcp_fs") && !prompt.contains("mcp_docs") && !prompt.contains("note:"),
        "{prompt}"
    );
}

#[test]
fn local_tools_are_shown_as_all_are() {
    let own = json!([{"name": "note", "description": "Keeps a note"}, {"name": "reader"}]);
    let view = view([("fs", files()), ("local", own)]);
    let local = ServerName::local();
    let told = |audience: &PresentOptions| {
        let presentation = shown(&view, audience);
        let by_line = |name: &str| {
            let decoded =
                presentation.decode_text(&view, &format!("TOOL: {name}"), text::CallsPerReply::First);
            matches!(&decoded.intents[0], Intent::Call { tool, .. } if tool == name)
        };
        let names: Vec<String> = names(&presentation).into_iter().map(str::to_owned).collect();
        (names, presentation.prompt.matches("note").count(), by_line("note"))
    };
    let of = |mode: Mode| told(&PresentOptions::new(Provider::OpenAiChat, mode));
    let all = ["mcp_fs_list", "mcp_fs_read", "note", "reader"];
    assert_eq!(of(Mode::Native), (all.map(str::to_owned).to_vec(), 0, false));
    // No server stands behind them, so there is no gateway to them.
    let beside = ["note", "reader", "mcp_fs"].map(str::to_owned).to_vec();
    assert_eq!(of(Mode::Gateway), (beside, 0, false));
    // What reads on in results stays where it can be called, and out of the text.
    let reader = vec!["reader".to_owned()];
    let (names, count, is_called) = of(Mode::Markdown);
    assert_eq!((names, is_called), (reader.clone(), true));
    assert!(0 < count);
    assert_eq!(of(Mode::Signatures), (reader.clone(), 2, true), "its name, and what it does");
    assert_eq!(of(Mode::Text), (Vec::new(), 2, true));
    // What is said about them beats what is said for all, as with a server.
    let mut audience = PresentOptions::new(Provider::OpenAiChat, Mode::Native);
    audience.servers.insert(local, Mode::Signatures);
    let (names, count, _) = told(&audience);
    assert_eq!((names.len(), count), (3, 2), "{names:?}");
}

#[test]
fn a_tool_is_told_of_once() {
    let presentation = shown(&four(), &mixed());
    assert_eq!(presentation.prompt.matches("### mcp_git_read").count(), 1);
    assert!(!presentation.prompt.contains("mcp_git_read: "), "{}", presentation.prompt);
}

#[test]
fn s2_11_one_way_back_from_every_way_to_show() {
    let view = four();
    let mut audience = mixed();
    audience.native.strict = native::Strict::WithinBudget;
    let presentation = shown(&view, &audience);
    let call = |name: &str, arguments: Value| {
        let call = json!({"id": "c1", "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}});
        let reply = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let mut asked = presentation.decode(&view, &reply);
        assert_eq!(asked.len(), 1, "{asked:?}");
        let asked = asked.remove(0);
        assert_eq!((asked.id.as_deref(), asked.tool.as_str()), (Some("c1"), name));
        asked.intent
    };
    let meant = |tool: &str, arguments: Value| (tool.to_owned(), arguments);
    let read = |intent: Intent| match intent {
        Intent::Call { tool, arguments, .. } => (tool, serde_json::from_str::<Value>(&arguments).unwrap()),
        other => panic!("{other:?}"),
    };
    // Held to its schema, a model must say something for every argument; the server never hears of it.
    let definition = &presentation.tools[0]["function"]["parameters"];
    assert_eq!(definition["required"], json!(["path", "depth"]));
    let native = read(call("mcp_docs_list", json!({"path": "x", "depth": null})));
    assert_eq!(native, meant("mcp_docs_list", json!({"path": "x"})));
    let gateway = json!({"action": "execute", "tool_name": "read", "tool_inputs": {"path": "x"}});
    assert_eq!(read(call("mcp_fs", gateway)), meant("mcp_fs_read", json!({"path": "x"})));
    let listed = Intent::ListTools { server: "fs".into(), query: None, page: 1 };
    assert_eq!(call("mcp_fs", json!({})), listed);
    assert_eq!(call("MCP-fs", json!({})), listed, "as names of tools are meant");
    let malformed = call("mcp_fs", json!({"action": "execute", "tool_name": "rea"}));
    assert!(matches!(malformed, Intent::Malformed { repair } if repair.contains("read")));
    let text =
        presentation.decode_text(&view, "TOOL: mcp_web_read {\"path\": \"x\"}", text::CallsPerReply::First);
    assert_eq!(read(text.intents[0].clone()), meant("mcp_web_read", json!({"path": "x"})));
    let said = presentation.decode(&view, &json!({"role": "assistant", "content": "done"}));
    assert_eq!(said[0].intent, Intent::Say("done".into()));
}

#[test]
fn s1_15_in_agent_mode_a_server_is_one_tool_that_takes_a_query() {
    let view = four();
    let mut audience = mixed();
    audience.servers.insert(server("fs"), Mode::Agent);
    let presentation = shown(&view, &audience);
    let all = names(&presentation);
    assert!(all.contains(&"mcp_fs") && !all.iter().any(|name| name.starts_with("mcp_fs_")), "{all:?}");
    assert!(presentation.gateways.is_empty() && presentation.delegates.len() == 1);
    let tools = presentation.tools.as_array().unwrap();
    let tool = &tools.iter().find(|tool| tool["function"]["name"] == "mcp_fs").unwrap()["function"];
    let said = tool["description"].as_str().unwrap();
    assert!(said.contains("list, read") && said.contains("tells which calls it made"), "{said}");
    assert_eq!(tool["parameters"]["required"], json!(["query"]));
    let call = |name: &str, arguments: &str| {
        let call =
            json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
        let reply = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        presentation.decode(&view, &reply).remove(0).intent
    };
    let meant = Intent::Delegate { server: "fs".into(), query: "what is in x?".into() };
    assert_eq!(call("mcp_fs", r#"{"query": "what is in x?"}"#), meant);
    assert_eq!(call("MCP-fs", r#"{"query": "what is in x?"}"#), meant, "as names of tools are meant");
    assert_eq!(call("mcp_fs", r#""what is in x?""#), meant, "a text alone");
    for bad in ["{}", r#"{"query": " "}"#, r#"{"query": 7}"#, "{", ""] {
        let Intent::Malformed { repair } = call("mcp_fs", bad) else { panic!("{bad}") };
        assert!(repair.contains(r#"{"query": "…"}"#) && repair.contains("fs"), "{repair}");
    }
}

#[test]
fn s2_11_whatever_is_shown_is_found() {
    let view = recorded_view();
    for mode in Mode::ALL {
        let presentation = shown(&view, &PresentOptions::new(Provider::OpenAiChat, mode));
        let one_tool = presentation.gateways.iter().chain(&presentation.delegates);
        let gateways: Vec<&str> = one_tool.map(|one| one.name.as_str()).collect();
        for name in names(&presentation) {
            let is_found = matches!(view.find(name), NameMatch::One(_));
            assert!(is_found || gateways.contains(&name), "{mode:?}: {name}");
        }
        let is_told = |shown: &&Arc<crate::shape::ViewTool>| {
            names(&presentation).contains(&shown.name.as_str())
                || presentation.prompt.contains(shown.name.as_str())
        };
        let told = view.tools().iter().filter(is_told).count();
        let expected = if matches!(mode, Mode::Gateway | Mode::Agent) { 0 } else { view.tools().len() };
        assert_eq!(told, expected, "{mode:?}");
    }
}

#[test]
fn a_server_nobody_has_listed_yet_is_called_by_its_own_words() {
    let empty = snapshot([]);
    let known = Arc::new(empty.with_gateways([&server("cold")]).unwrap());
    let view = shaped(&known, &std::collections::BTreeMap::new(), &AgentRules::default(), NameForm::Full);
    let cold = server("cold");
    let servers = vec![GatewayServer { name: &cold, transport: Transport::Stdio, description: None }];
    let scene = AgentServers { servers, ..AgentServers::default() };
    let presentation =
        Presentation::new(&view, &PresentOptions::new(Provider::Generic, Mode::Gateway), &scene);
    assert_eq!(presentation.gateways[0].name.as_str(), "mcp_cold");
    let intent =
        gateway::decode(&view, "cold", r#"{"action":"execute","tool_name":"go","tool_inputs":{"a":1}}"#);
    let expected = Intent::Call { tool: "cold/go".into(), arguments: r#"{"a":1}"#.into() };
    assert_eq!(intent, expected);
}

#[test]
fn s2_8_a_server_that_comes_and_goes_changes_no_definition() {
    let all = snapshot([("fs", files()), ("git", files())]);
    let away = all.with_away(&server("fs"), Some(Unreachable::because("connection refused"))).unwrap();
    let of = |snapshot: &Arc<crate::catalog::Snapshot>| {
        shaped(snapshot, &std::collections::BTreeMap::new(), &AgentRules::default(), NameForm::Full)
    };
    for mode in [Mode::Native, Mode::Gateway, Mode::Markdown, Mode::Signatures] {
        let audience = PresentOptions::new(Provider::Anthropic, mode);
        let (before, after) = (shown(&of(&all), &audience), shown(&of(&Arc::new(away.clone())), &audience));
        assert_eq!(before.tools.to_string(), after.tools.to_string(), "{mode:?}");
        assert_eq!(before.prompt, after.prompt, "{mode:?}");
    }
}

/// Numbers beyond 64 bits, in whichever place a provider's reply has arguments.
#[test]
fn f95_a_reply_read_as_text_keeps_its_digits() {
    let arguments =
        r#"{"sum":123456789012345678901,"far":1e400,"part":[0.10000000000000000000001],"input":{"n":1.50}}"#;
    let quoted = Value::from(arguments).to_string();
    let by_hand = Value::from(format!(r#"{{"tool":"files_read","arguments":{arguments}}}"#)).to_string();
    let view = four();
    for (provider, reply) in [
        (
            Provider::OpenAiChat,
            format!(r#"{{"tool_calls":[{{"function":{{"name":"files_read","arguments":{quoted}}}}}]}}"#),
        ),
        (
            Provider::OpenAiChat,
            format!(r#"{{"tool_calls":[{{"function":{{"name":"files_read","arguments":{arguments}}}}}]}}"#),
        ),
        (
            Provider::OpenAiResponses,
            format!(r#"[{{"type":"function_call","name":"files_read","arguments":{quoted}}}]"#),
        ),
        (
            Provider::Anthropic,
            format!(r#"{{"content":[{{"type":"tool_use","name":"files_read","input":{arguments}}}]}}"#),
        ),
        (
            Provider::Gemini,
            format!(r#"{{"parts":[{{"functionCall":{{"name":"files_read","args":{arguments}}}}}]}}"#),
        ),
        (
            Provider::GeminiOpenApi,
            format!(r#"{{"parts":[{{"functionCall":{{"name":"files_read","args":{arguments}}}}}]}}"#),
        ),
        (Provider::Generic, format!(r#"{{"tool":"files_read","arguments": {arguments} }}"#)),
        (Provider::Generic, by_hand),
    ] {
        let presentation = shown(&view, &PresentOptions::native(provider));
        let asked = presentation.decode_str(&view, &reply).unwrap();
        let [ModelRequest { intent: Intent::Call { arguments: kept, .. }, .. }] = asked.as_slice() else {
            panic!("{provider}: {asked:?}")
        };
        assert_eq!(kept, arguments, "{provider}: {reply}");
        assert!(presentation.decode_str(&view, &reply[1..]).is_err(), "{provider}");
        assert!(presentation.decode_str(&view, &"[".repeat(100_000)).is_err(), "{provider}");
    }
}
