//! Callers without a runtime, and callers inside of one.

use kitbag::{LocalTool, OpenOptions, ServerName, ServerSpec, Setup};
use kitbag_agent::{Agent, AgentState, BlockingAgent, StartError};
use serde_json::json;

use crate::scene::{Scene, call, quick, server};

fn options() -> OpenOptions {
    let hello = LocalTool::with_schema("hello", "Greets", json!({"type": "object"}), |_, _| async {
        Ok("hello".to_owned())
    });
    OpenOptions { local: vec![hello], limits: Some(quick()), ..OpenOptions::default() }
}

#[test]
fn s4_14_an_agent_starts_without_a_runtime_and_has_its_tools() {
    let server = server();
    let scene = Scene::new(json!([{"calls": [call("echo", json!({"message": "x"}))]}, {"text": ["done"]}]));
    let spec = ServerSpec::url(ServerName::parse("x").unwrap(), server.url());
    let model = scene.model("openai");
    let setup = Setup::from_specs(scene.env(), vec![spec]);
    let mut agent = BlockingAgent::start(setup, options(), |kit| Agent::chat(model, kit)).unwrap();
    assert_eq!(agent.state(), AgentState::WithMcp);
    assert_eq!(agent.send("Echo").unwrap().tools(), ["echo"]);
}

#[tokio::test]
async fn s4_14_an_agent_starts_inside_a_runtime_of_one_thread() {
    let scene = Scene::new(json!([{"calls": [call("hello", json!({}))]}, {"text": ["done"]}]));
    let model = scene.model("openai");
    let start = BlockingAgent::start(Setup::empty(scene.env()), options(), |kit| Agent::chat(model, kit));
    assert_eq!(start.unwrap().send("Hello").unwrap().text, "done");
}

#[test]
fn s4_19_a_required_server_that_is_missing_fails_the_start_of_an_agent() {
    let scene = Scene::new(json!([]));
    let mut spec = ServerSpec::url(ServerName::parse("x").unwrap(), "http://127.0.0.1:9/mcp");
    spec.required = true;
    let model = scene.model("openai");
    let start = BlockingAgent::start(Setup::from_specs(scene.env(), vec![spec]), options(), |kit| {
        Agent::chat(model, kit)
    });
    assert!(matches!(start, Err(StartError::Open(_))), "{start:?}");
}
