use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tools::of;
use super::*;
use crate::catalog::Unreachable;
use crate::model::Activity;
use crate::model::AgentRules;
use crate::names::lookup::NameMatch;
use crate::names::{NameForm, gateways};
use crate::present::Intent;
use crate::present::tests::fixture::{recorded_view, server, shaped, snapshot, view};

const SEED: &str = include_str!("../../../../../testdata/seeds/mcp_api_ai_mcp.json");

fn papers() -> Value {
    json!([
        {"name": "search", "description": "Search for documents", "inputSchema": {"type": "object",
            "properties": {"query": {"type": "string", "description": "Search query"},
                "limit": {"type": "integer", "default": 10}}, "required": ["query"]}},
        {"name": "analyze", "description": "Analyze text sentiment", "inputSchema": {"type": "object",
            "properties": {"text": {"type": "string", "description": "Text to analyze"}}, "required": ["text"]}},
    ])
}

fn defined(view: &View, servers: &[&str]) -> Vec<GatewayDefinition> {
    let names: Vec<ServerName> = servers.iter().map(|name| server(name)).collect();
    let stdio = |name| GatewayServer { name, transport: Transport::Stdio, description: None };
    definitions(view, &names.iter().map(stdio).collect::<Vec<_>>())
}

fn api() -> View {
    view([("api-ai-mcp", papers()), ("other", json!([{"name": "hidden"}]))])
}

fn decoded(arguments: &Value) -> Intent {
    decode(&api(), "api-ai-mcp", &arguments.to_string())
}

#[track_caller]
fn malformed(arguments: Value, words: &[&str]) {
    match decoded(&arguments) {
        Intent::Malformed { repair } => words.iter().for_each(|word| {
            assert!(repair.contains(word), "{arguments}: {word:?} is not in {repair:?}");
        }),
        other => panic!("{arguments}: {other:?}"),
    }
}

#[test]
fn s1_1_one_tool_per_server_named_and_described_as_in_the_seed() {
    let definitions = defined(&api(), &["api-ai-mcp"]);
    let text = serde_json::to_string_pretty(&definitions[0].to_value()).unwrap();
    assert_eq!(format!("{text}\n"), SEED);
    let described = |transport, description| {
        let server = server("a b");
        super::describe(&GatewayServer { name: &server, transport, description })
    };
    assert_eq!(
        described(Transport::Auto, None),
        "MCP server 'a b' (http) - provides access to multiple tools"
    );
    assert_eq!(described(Transport::Sse, Some(" Papers ")), "Papers");
}

#[test]
fn s1_2_the_same_inputs_for_every_server() {
    let definitions = defined(&recorded_view(), &["github", "time"]);
    assert_eq!(definitions[0].input, definitions[1].input);
    assert_eq!(definitions[0].input["properties"]["action"]["default"], "list");
    assert!(definitions[0].input.get("required").is_none());
}

#[test]
fn f62_a_model_reads_the_actions_and_the_first_tools() {
    let definition = &defined(&api(), &["api-ai-mcp"])[0];
    let shown = definition.to_model_value();
    assert_eq!(shown["description"], "MCP server 'api-ai-mcp' (stdio): analyze, search");
    assert_eq!(shown["inputSchema"]["properties"]["action"]["enum"], json!(["list", "execute"]));
    let own = GatewayDefinition { description: "Papers.".into(), ..definition.clone() };
    assert_eq!(own.to_model_value()["description"], "Papers. Tools: analyze, search");
    let unknown = GatewayDefinition { tools: String::new(), ..definition.clone() };
    assert_eq!(unknown.to_model_value()["description"], definition.description.as_str());
    // However many there are and however they are called.
    let many: Vec<Value> = (0..500).map(|at| json!({"name": format!("tool_{at}")})).collect();
    let about = defined(&view([("s", many.into())]), &["s"])[0].to_model_value()["description"].clone();
    let about = about.as_str().unwrap();
    assert!(about.len() < 220 && about.ends_with(" more") && about.contains(": tool_0, "), "{about}");
    let long = json!([{"name": "x".repeat(120)}, {"name": "y".repeat(120)}]);
    let about = defined(&view([("s", long)]), &["s"])[0].tools.clone();
    assert!(about.len() < 140 && about.ends_with("x and 1 more"), "{about}");
    // What a view does not have is not named.
    let part = api().only(|shown| shown.tool.name.as_str() == "search");
    assert_eq!(defined(&part, &["api-ai-mcp"])[0].tools, "search");
}

#[test]
fn s1_17_servers_of_one_sanitised_name_stay_apart() {
    let view = view([("a", json!([{"name": "b_c"}]))]);
    let names = |held: &BTreeMap<ServerName, ShownName>, servers: &[&str]| {
        let servers: Vec<ServerName> = servers.iter().map(|name| server(name)).collect();
        let is_a_tool = |name: &ShownName| view.snapshot().names().table(NameForm::Full).pair(name).is_some();
        gateways(held, &servers, is_a_tool)
    };
    let two = names(&BTreeMap::new(), &["x-y", "x_y", "z"]);
    assert_eq!(two, names(&BTreeMap::new(), &["z", "x_y", "x-y"]), "in any order");
    assert_ne!(two["x-y"], two["x_y"]);
    assert!(two["x-y"].as_str().starts_with("mcp_x_y_") && two["x-y"].as_str().len() == 18, "{two:?}");
    assert_eq!(two["z"].as_str(), "mcp_z");
    // A server that came first keeps its name.
    let first = names(&BTreeMap::new(), &["x-y"]);
    let later = names(&first, &["x_y", "x-y"]);
    assert_eq!((later["x-y"].as_str(), later["x_y"] == two["x_y"]), ("mcp_x_y", true));
    // Not the name of a tool, not unreadable, not too long.
    let odd = names(&BTreeMap::new(), &["a_b_c", "文", &"l".repeat(100)]);
    assert!(odd["a_b_c"].as_str().starts_with("mcp_a_b_c_"));
    assert!(odd["文"].as_str().starts_with("mcp_server_"));
    assert_eq!(odd[&server(&"l".repeat(100))].as_str().len(), 64);
}

#[test]
fn s1_3_list_tells_names_inputs_and_the_schema_as_it_is() {
    for arguments in [
        json!({}),
        json!({"action": null}),
        json!({"action": "list", "tool_inputs": {}}),
        json!({"action": " List"}),
    ] {
        let expected = Intent::ListTools { server: "api-ai-mcp".into(), query: None, page: 1 };
        assert_eq!(decoded(&arguments), expected, "{arguments}");
    }
    assert_eq!(decode(&api(), "api-ai-mcp", ""), decoded(&json!({})));
    let listing = list(&api(), "api-ai-mcp", None, 1);
    assert_eq!((listing.total, listing.page, listing.pages, &listing.note), (2, 1, 1, &None));
    assert_eq!(
        listing.tools[1],
        json!({
        "name": "search", "description": "Search for documents",
        "inputs": {"query": {"type": "string", "description": "Search query", "required": true},
            "limit": {"type": "integer", "default": 10, "required": false}},
        "schema": papers()[0]["inputSchema"]})
    );
}

#[test]
fn s1_3_a_large_server_is_told_page_by_page() {
    let view = recorded_view();
    let first = list(&view, "atlassian", None, 1);
    let mut names: Vec<String> = Vec::new();
    for page in 1..=first.pages {
        let listing = list(&view, "atlassian", None, page);
        let text = listing.tools.to_string();
        assert!(text.len() < 33 << 10, "{}", text.len());
        names.extend(
            listing.tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        assert!(listing.note.unwrap().contains("\"page\": "));
    }
    let own: Vec<String> = of(&view, "atlassian").map(|shown| shown.tool.name.to_string()).collect();
    assert_eq!(names, own);
    assert_eq!(list(&view, "atlassian", None, 99).page, first.pages);
    let asked = decode(&view, "atlassian", r#"{"tool_inputs": {"query": "sprint issues", "page": "2"}}"#);
    assert_eq!(
        asked,
        Intent::ListTools { server: "atlassian".into(), query: Some("sprint issues".into()), page: 2 }
    );
    let narrow = list(&view, "atlassian", Some("Sprint ISSUES"), 1);
    assert!(0 < narrow.total && narrow.total < 10, "{}", narrow.total);
    let none = list(&view, "atlassian", Some("zzz"), 1);
    assert_eq!((none.total, none.tools), (0, json!([])));
    assert!(none.note.unwrap().contains("confluence_search"));
}

#[test]
fn s1_3_the_next_page_is_of_what_was_asked_for() {
    let tool = |at: usize| json!({"name": format!("t{at}"), "description": "even ".repeat(200)});
    let view = view([("big", (0..100).map(tool).collect())]);
    let note = list(&view, "big", Some("even"), 1).note.unwrap();
    assert!(note.contains(r#"tool_inputs={"query": "even", "page": 2};"#), "{note}");
}

#[test]
fn s1_4_inputs_in_the_wrong_place_are_not_dropped_before_the_tools_are_known() {
    let cold = Arc::new(snapshot([]).with_gateways([&server("cold")]).unwrap());
    let view = shaped(&cold, &BTreeMap::new(), &AgentRules::default(), NameForm::Full);
    let asked = decode(&view, "cold", r#"{"action": "execute", "tool_name": "rm", "dry_run": true}"#);
    assert!(matches!(&asked, Intent::Malformed { repair } if repair.contains("dry_run")), "{asked:?}");
}

#[test]
fn s1_4_execute_needs_no_list_before_it() {
    let call =
        |arguments: &str| Intent::Call { tool: "mcp_api_ai_mcp_search".into(), arguments: arguments.into() };
    let execute = |name: &str, inputs: Value| {
        decoded(&json!({"action": "execute", "tool_name": name, "tool_inputs": inputs}))
    };
    assert_eq!(execute("search", json!({"query": "ML"})), call(r#"{"query":"ML"}"#));
    assert_eq!(execute("search", json!("{\"query\": \"ML\"}")), call(r#"{"query": "ML"}"#), "S1.9: as text");
    assert_eq!(execute("search", json!(null)), call("{}"));
    for name in ["Search", " search ", "mcp_api_ai_mcp_search", "MCP-api-ai-mcp-search"] {
        assert_eq!(execute(name, json!({})), call("{}"), "{name:?}");
    }
    // As written, to the digit.
    let raw = r#"{"action":"execute","tool_name":"search","tool_inputs":{"query":"x","n":12345678901234567890123.10}}"#;
    assert_eq!(decode(&api(), "api-ai-mcp", raw), call(r#"{"query":"x","n":12345678901234567890123.10}"#));
}

#[test]
fn s1_8_every_error_says_what_to_do() {
    malformed(json!({"action": "execute"}), &["tool_name", "search", "analyze"]);
    malformed(json!({"action": "execute", "tool_name": " "}), &["tool_name"]);
    malformed(
        json!({"action": "execute", "tool_name": "serch"}),
        &["'serch'", "Did you mean 'search'?", "analyze, search"],
    );
    malformed(json!({"action": "run"}), &["'run'", "'list'", "'execute'"]);
    malformed(json!({"action": 7}), &["action"]);
    malformed(json!([1]), &["JSON object", "action", "tool_name", "tool_inputs"]);
    malformed(
        json!({"action": "execute", "tool_name": "search", "tool_inputs": [1]}),
        &["tool_inputs must be a JSON object", "search takes", "\"query\""],
    );
    malformed(
        json!({"action": "execute", "tool_name": "search", "tool_inputs": "{oops"}),
        &["not valid JSON", "\"query\""],
    );
    malformed(json!({"action": "execute", "tool_name": "search", "query": "x"}), &["query", "tool_inputs"]);
}

#[test]
fn s1_19_what_is_kept_from_a_view_is_neither_listed_nor_run() {
    let all = snapshot([("api-ai-mcp", papers()), ("other", json!([{"name": "hidden"}]))]);
    let all = Arc::new(all.with_gateways([&server("unknown-yet")]).unwrap());
    let agent = AgentRules { allow: vec!["api-ai-mcp/search".into()], ..AgentRules::default() };
    let view = shaped(&all, &BTreeMap::new(), &agent, NameForm::Full);
    let execute = |server: &str, tool: &str| {
        decode(&view, server, &json!({"action": "execute", "tool_name": tool}).to_string())
    };
    for (server, tool) in [
        ("api-ai-mcp", "analyze"),
        ("api-ai-mcp", "mcp_api_ai_mcp_analyze"),
        ("other", "hidden"),
        ("other", "search"),
    ] {
        assert!(matches!(execute(server, tool), Intent::Malformed { .. }), "{server} {tool}");
    }
    assert_eq!(list(&view, "api-ai-mcp", None, 1).total, 1);
    let definitions = defined(&view, &["api-ai-mcp", "other", "unknown-yet"]);
    let servers: Vec<&str> = definitions.iter().map(|definition| definition.server.as_str()).collect();
    assert_eq!(servers, ["api-ai-mcp", "unknown-yet"]);
}

#[test]
fn s1_14_a_server_that_is_away_keeps_its_definition() {
    let all = snapshot([("s", papers())]);
    let of = |snapshot: &Arc<crate::catalog::Snapshot>| {
        shaped(snapshot, &BTreeMap::new(), &AgentRules::default(), NameForm::Full)
    };
    let away =
        Arc::new(all.with_away(&server("s"), Some(Unreachable::because("connection refused"))).unwrap());
    let (before, after) = (&defined(&of(&all), &["s"])[0], &defined(&of(&away), &["s"])[0]);
    assert_eq!(before.to_value(), after.to_value());
    assert_eq!(
        (
            before.unavailable.as_ref().map(|away| away.why.as_str()),
            after.unavailable.as_ref().map(|away| away.why.as_str())
        ),
        (None, Some("connection refused"))
    );
    assert!(list(&of(&away), "s", None, 1).note.unwrap().contains("connection refused"));
}

#[test]
fn s1_7_results_are_typed() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    let check = |blocks: &[Value], structured: Option<Value>, flag: ErrorFlag, expected: GatewayOutcome| {
        assert_eq!(outcome(blocks, structured.as_ref(), flag), expected, "{blocks:?} {structured:?}");
    };
    let result = |objects: &[Value], blocks: &[Value]| GatewayOutcome::Result {
        objects: objects.to_vec(),
        blocks: blocks.to_vec(),
    };
    check(&[text("a"), text("b")], None, ErrorFlag::Fine, GatewayOutcome::Text("a\nb".into()));
    check(&[], None, ErrorFlag::Fine, GatewayOutcome::Text(String::new()));
    check(&[text("{\"a\": 1}")], Some(json!({"a": 1})), ErrorFlag::Fine, result(&[json!({"a": 1})], &[]));
    check(
        &[text("note")],
        Some(json!({"a": 1})),
        ErrorFlag::Fine,
        result(&[json!({"a": 1})], &[text("note")]),
    );
    check(
        &[],
        Some(json!([{"a": 1}, 2, "x"])),
        ErrorFlag::Fine,
        result(&[json!({"a": 1}), json!({"value": 2}), json!({"value": "x"})], &[]),
    );
    check(&[], Some(json!(7)), ErrorFlag::Fine, result(&[json!({"value": 7})], &[]));
    check(&[text("see"), image.clone()], None, ErrorFlag::Fine, result(&[], &[text("see"), image]));
    check(
        &[text("bad path")],
        Some(json!({"a": 1})),
        ErrorFlag::Failed,
        GatewayOutcome::Error("bad path".into()),
    );
    check(&[], Some(json!({"code": 7})), ErrorFlag::Failed, GatewayOutcome::Error("{\"code\":7}".into()));
    check(&[], None, ErrorFlag::Failed, GatewayOutcome::Error("the tool failed and gave no reason".into()));
    assert_eq!(GatewayOutcome::Text("a".into()).to_value(), json!({"type": "text", "text": "a"}));
}

#[test]
fn s1_16_a_word_before_slow_work() {
    let server = || "api-ai-mcp".to_owned();
    assert_eq!(
        Activity::Connecting { server: server() }.to_string(),
        "Connecting to MCP server 'api-ai-mcp'…"
    );
    assert_eq!(
        Activity::Executing { server: server(), tool: "search".into() }.to_string(),
        "Executing 'search' on MCP server 'api-ai-mcp'…"
    );
}

#[test]
fn s2_11_every_name_a_gateway_lists_is_run_and_found() {
    let view = recorded_view();
    let names: Vec<ServerName> = view.snapshot().parts().map(|part| part.server.clone()).collect();
    let mut count = 0;
    for name in &names {
        for (label, shown) in super::tools::named(&view, name.as_str()) {
            let arguments = json!({"action": "execute", "tool_name": label}).to_string();
            let Intent::Call { tool, .. } = decode(&view, name.as_str(), &arguments) else {
                panic!("{label}")
            };
            assert_eq!(tool, shown.name.as_str());
            assert!(matches!(view.find(&tool), NameMatch::One(_)));
            count += 1;
        }
    }
    assert_eq!(count, 305);
    let names: Vec<&str> = names.iter().map(ServerName::as_str).collect();
    let size: usize = defined(&view, &names).iter().map(|one| one.to_value().to_string().len()).sum();
    // 2.1k tokens of o200k; bytes stand in for them here.
    assert!(size <= 9_000, "{size}");
}

proptest! {
    #[test]
    fn any_arguments_are_read(text in "\\PC{0,40}", name in "\\PC{0,12}", action in "(list|execute|\\PC{0,8})") {
        let view = api();
        decode(&view, "api-ai-mcp", &text);
        let arguments = json!({"action": action, "tool_name": name, "tool_inputs": text});
        if let Intent::Malformed { repair } = decode(&view, "api-ai-mcp", &arguments.to_string()) {
            prop_assert!(!repair.is_empty());
        }
        list(&view, "api-ai-mcp", Some(&text), usize::MAX);
    }
}

#[test]
fn s1_3_a_tool_without_end_is_told_in_short() {
    let about = "x".repeat(900_000);
    let tools = json!([{"name": "big", "inputSchema": {"type": "object",
        "properties": {"a": {"type": "string", "description": about}}}}, {"name": "small"}]);
    let view = view([("s", tools)]);
    let first = list(&view, "s", None, 1);
    let text = first.tools.to_string();
    assert!(text.len() < 10_000 && text.contains("too large to be listed"), "{}", text.len());
    assert_eq!((first.total, first.pages), (2, 1));
    assert!(crate::present::markdown::markdown(&view, &Default::default()).len() < 10_000);
}
