//! One call: how it is written, cancelled, followed, and what comes back.

use std::sync::Arc;

use kitbag::connect::ClientInfo;
use kitbag::connect::RawRequest;
use kitbag::{
    CallOptions, ErrorKind, OpenOptions, PresentOptions, Progress, ProtocolVersion, Provider, ToolCall,
};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServiceExt as _, schemars, tool, tool_router};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::server::{answer, name, open, says_hi, server, text, until_heard};

#[derive(Clone)]
struct Adder;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[tool_router(server_handler)]
impl Adder {
    #[tool(description = "Adds two numbers")]
    fn add(&self, Parameters(Sum { a, b }): Parameters<Sum>) -> String {
        (a + b).to_string()
    }
}

#[tokio::test]
async fn f35_an_rmcp_server_in_this_process_is_called() {
    let adder = kitbag::in_process(name("adder"), |io| async move {
        if let Ok(running) = Adder.serve(io).await {
            let _ = running.waiting().await;
        }
    });
    let kit = open(vec![adder], OpenOptions::default()).await;
    let result = kit.call("mcp_adder_add", r#"{"a": 2, "b": 40}"#).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("42"));
    assert_eq!(result.info.transport.map(|transport| transport.as_str()), Some("in_process"));
    kit.close().await;
}

#[tokio::test]
async fn f35_servers_are_told_who_calls_and_which_revision_to_speak() {
    let (spec, heard) = server("x", says_hi);
    let client = ClientInfo { name: "my-agent".to_owned(), version: "9.9".to_owned() };
    let protocol = Some(ProtocolVersion::V2025_06_18);
    let kit =
        open(vec![spec], OpenOptions { client: Some(client), protocol, ..OpenOptions::default() }).await;
    let opening = until_heard(&heard, "initialize").await;
    assert_eq!(opening["params"]["clientInfo"], json!({"name": "my-agent", "version": "9.9"}));
    assert_eq!(opening["params"]["protocolVersion"], "2025-06-18");
    assert!(!heard.lock().unwrap().iter().any(|message| message["method"] == "server/discover"));
    kit.close().await;
}

#[tokio::test]
async fn f35_a_request_of_any_method_goes_through_the_link() {
    let say =
        |message: &Value| vec![answer(message, json!({"resources": [], "n": 12345678901234567890_u64}))];
    let (spec, heard) = server("x", say);
    let kit = open(vec![spec], OpenOptions::default()).await;
    let params = to_raw_value(&json!({"cursor": "c", "_meta": {"mine": 1}})).unwrap();
    let reply = kit.request(&name("x"), RawRequest::new("resources/list", &params)).await.unwrap();
    assert_eq!(reply.result.get(), r#"{"resources":[],"n":12345678901234567890}"#);
    let request = until_heard(&heard, "resources/list").await;
    assert_eq!((&request["params"]["cursor"], &request["params"]["_meta"]["mine"]), (&json!("c"), &json!(1)));
    let list = to_raw_value(&json!([1])).unwrap();
    let error = kit.request(&name("x"), RawRequest::new("x/y", &list)).await.unwrap_err();
    assert_eq!((error.kind, error.tool.as_str()), (ErrorKind::InvalidArguments, "x/y"));
    kit.close().await;
}

#[tokio::test]
async fn f34_a_result_has_its_servers_meta() {
    let say = |message: &Value| {
        let mut result = text("hi");
        result["_meta"] = json!({"trace": "t-1"});
        vec![answer(message, result)]
    };
    let (spec, _) = server("x", say);
    let kit = open(vec![spec], OpenOptions::default()).await;
    let result = kit.call("x/echo", "{}").await.unwrap();
    assert_eq!(result.meta, Some(Map::from_iter([("trace".to_owned(), json!("t-1"))])));
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!((&json["content"][0]["text"], &json["info"]["server"]), (&json!("hi"), &json!("x")));
    kit.close().await;
}

#[tokio::test]
async fn f35_progress_is_typed() {
    let say = |message: &Value| {
        let token = &message["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": 1, "total": 2, "message": "half"});
        let half = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        vec![half, answer(message, text("done"))]
    };
    let (spec, _) = server("x", say);
    let kit = open(vec![spec], OpenOptions::default()).await;
    let (sender, mut notifications) = tokio::sync::mpsc::channel(8);
    let options = CallOptions { notifications: Some(sender), ..CallOptions::default() };
    kit.call_tool(&kit.own_view(), ToolCall::new("x/echo", "{}").with(options)).await.unwrap();
    let progress = notifications.recv().await.unwrap().progress();
    let half = Progress { progress: 1.0, total: Some(2.0), message: Some("half".to_owned()) };
    assert_eq!(progress, Some(half));
    kit.close().await;
}

#[tokio::test]
async fn f34_a_token_cancels_a_call_at_its_server_too() {
    let (spec, heard) = server("x", |_| Vec::new());
    let kit = open(vec![spec], OpenOptions::default()).await;
    let cancel = CancellationToken::new();
    let options = CallOptions { cancel: Some(cancel.clone()), ..CallOptions::default() };
    let view = kit.own_view();
    let call = kit.call_tool(&view, ToolCall::new("x/echo", "{}").with(options));
    let (done, ()) = tokio::join!(call, async {
        until_heard(&heard, "tools/call").await;
        cancel.cancel();
    });
    assert_eq!(done.unwrap_err().kind, ErrorKind::Cancelled);
    let call = until_heard(&heard, "tools/call").await;
    let cancelled = until_heard(&heard, "notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], call["id"]);
    assert_eq!(kit.recent_calls().last().unwrap().kind, Some(ErrorKind::Cancelled));
    kit.close().await;
}

#[tokio::test]
async fn f34_run_all_answers_a_models_reply() {
    let say = |message: &Value| vec![answer(message, text(&message["params"]["arguments"]["n"].to_string()))];
    let (spec, _) = server("x", say);
    let kit = open(vec![spec], OpenOptions::default()).await;
    let view = kit.own_view();
    let shown = kit.present(&view, &PresentOptions::native(Provider::OpenAiChat));
    let call = |id: &str, n: u32| {
        let arguments = json!({"n": n}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "mcp_x_echo", "arguments": arguments}})
    };
    let reply = json!({"role": "assistant", "content": null, "tool_calls": [call("a", 1), call("b", 2)]});
    let answers = kit.run_all(&view, &shown, &reply, &CallOptions::default()).await;
    let told: Vec<_> = answers.iter().map(|answer| (&answer["tool_call_id"], &answer["content"])).collect();
    assert_eq!(told, [(&json!("a"), &json!("1")), (&json!("b"), &json!("2"))]);
    let said = json!({"role": "assistant", "content": "It is 3."});
    assert!(kit.run_all(&view, &shown, &said, &CallOptions::default()).await.is_empty());
    kit.close().await;
}

#[tokio::test]
async fn f34_a_rule_for_some_tools_leaves_others_alone() {
    use kitbag::Shaper;
    use kitbag::rules::Describe;
    use kitbag::rules::Only;
    let (one, _) = server("one", says_hi);
    let (two, _) = server("two", says_hi);
    let rules = Shaper::default().with(Only::new("o*", "echo", Describe("Changed".to_owned())).unwrap());
    let kit = open(vec![one, two], OpenOptions { rules: Arc::new(rules), ..OpenOptions::default() }).await;
    let view = kit.own_view();
    let told: Vec<_> = view
        .tools()
        .iter()
        .filter(|shown| shown.tool.name.as_str() == "echo")
        .map(|shown| (shown.tool.server.as_str(), shown.tool.description.as_str()))
        .collect();
    assert_eq!(told, [("one", "Changed"), ("two", "")]);
    kit.close().await;
}
