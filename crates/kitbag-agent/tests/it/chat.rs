//! A conversation over every wire format: the model calls tools of a real server, and reads their results.

use kitbag::{Kitbag, LocalTool, OpenOptions, Setup};
use kitbag_agent::{Agent, AgentEvent, AgentState, ConnectionState};
use serde_json::json;

use crate::scene::{Scene, VENDORS, ask, call, events, server, spec};

#[tokio::test]
async fn a_model_uses_tools_over_every_wire_format() {
    let server = server();
    for vendor in VENDORS {
        let scene = Scene::new(json!([
            {"reasoning": ["I must ", "add."], "text": ["Let me ", "see."], "usage": [10, 5], "calls": [
                call("add", json!({"a": 2, "b": 40})),
                call("echo", json!({"message": "hel\"lo ü"})),
            ]},
            {"text": ["The sum ", "is 42."], "usage": [20, 7]},
        ]));
        let kit = scene.kit(Vec::new(), &[("calc", server.url())]).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        assert_eq!((agent.state(), agent.connection()), (AgentState::WithMcp, ConnectionState::Connected));
        let (events, error) = events(&mut agent, "What is 2 + 40?").await;
        assert!(error.is_none(), "{vendor}: {error:?}");
        let Some(AgentEvent::Done(report)) = events.last() else { panic!("{vendor}: {events:?}") };
        assert_eq!((report.text.as_str(), report.steps), ("The sum is 42.", 2), "{vendor}");
        assert_eq!(report.tools(), ["add", "echo"], "{vendor}");
        assert_eq!(report.errors().count(), 0, "{vendor}: {report:?}");
        assert_eq!((report.usage.input, report.usage.output), (30, 12), "{vendor}");
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "Let me see.The sum is 42.", "{vendor}");
        let reasoning = events.iter().filter(|event| matches!(event, AgentEvent::Reasoning(_))).count();
        assert_eq!(reasoning, 2, "{vendor}: {events:?}");
        // What the second request carries: each result once, in order, behind the reply it belongs to.
        let bodies = scene.model.bodies();
        assert_eq!(bodies.len(), 2, "{vendor}");
        let sent = bodies[1].to_string();
        let (sum, echo) = (sent.find("42").unwrap(), sent.rfind("hel").unwrap());
        assert!(sum < echo, "{vendor}: {sent}");
        assert_eq!(bodies[0]["tools"], bodies[1]["tools"], "{vendor}: equal definitions");
        // Signed reasoning goes back to whom it came from.
        let signed = match vendor {
            "openai-responses" => Some("sealed-0"),
            "anthropic" => Some("signed-0"),
            "gemini" => Some("c2lnbmVk0000"),
            _ => None,
        };
        assert!(signed.is_none_or(|signed| sent.contains(signed)), "{vendor}: {sent}");
        kit.close().await;
    }
}

#[tokio::test]
async fn s4_11_the_system_prompt_speaks_of_tools_only_if_there_are_some() {
    let scene = Scene::new(json!([{"text": ["Hi."]}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    assert_eq!((agent.state(), agent.connection()), (AgentState::NoMcp, ConnectionState::NotConfigured));
    assert_eq!(ask(&mut agent, "Hello").await.text, "Hi.");
    let body = &scene.model.bodies()[0];
    assert!(!body.to_string().to_lowercase().contains("tool") && !body.to_string().contains("MCP"), "{body}");
    kit.close().await;
    // Tools of the program itself are no MCP tools.
    let hello =
        LocalTool::with_schema("hello", "Greets", json!({"type": "object"}), |_, _| async { Ok("hello") });
    let kit = scene.kit(vec![hello], &[]).await;
    ask(&mut Agent::chat(scene.model("openai"), kit.clone()), "Hello").await;
    let body = scene.model.bodies().pop().unwrap();
    let system = body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("You have tools. ") && !system.contains("MCP"), "{system}");
    kit.close().await;
}

#[tokio::test]
async fn s4_9_the_state_of_an_agent_can_be_read() {
    let (good, mut gone) = (server(), server());
    gone.stop();
    let scene = Scene::new(json!([{"text": ["Hi."]}]));
    for (servers, state, connection) in [
        (vec![], AgentState::NoMcp, ConnectionState::NotConfigured),
        (vec![("x", good.url())], AgentState::WithMcp, ConnectionState::Connected),
        (vec![("x", good.url()), ("y", gone.url())], AgentState::WithMcp, ConnectionState::Connected),
    ] {
        let kit = scene.kit(Vec::new(), &servers).await;
        let agent = Agent::chat(scene.model("openai"), kit.clone());
        assert_eq!((agent.state(), agent.connection()), (state, connection), "{servers:?}");
        kit.close().await;
    }
    // What cannot be used as it is: nobody waits for it.
    for url in ["ftp://x", gone.url()] {
        let kit = scene.kit(Vec::new(), &[("x", url)]).await;
        let mut agent = Agent::chat(scene.model("openai"), kit.clone());
        assert_eq!(
            (agent.state(), agent.connection()),
            (AgentState::McpFailed, ConnectionState::Failed),
            "{url}"
        );
        assert_eq!(ask(&mut agent, "Hello").await.text, "Hi.", "it answers without tools");
        kit.close().await;
    }
    // Nothing is remembered of its servers, and nothing is waited for.
    let fresh = Scene::new(json!([]));
    let setup = Setup::from_specs(fresh.env(), vec![spec("x", good.url())]);
    let kit = Kitbag::start(setup, OpenOptions::default());
    let agent = Agent::chat(scene.model("openai"), kit.clone());
    assert_eq!((agent.state(), agent.connection()), (AgentState::Uninitialized, ConnectionState::Connecting));
    kit.close().await;
}

#[tokio::test]
async fn s4_15_tools_that_come_later_are_seen_in_the_same_conversation() {
    let server = server();
    let scene = Scene::new(json!([{"text": ["Nothing yet."]}, {"text": ["Now."]}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    ask(&mut agent, "first").await;
    kit.apply(Setup::from_specs(scene.env(), vec![spec("x", server.url())])).await.unwrap();
    kit.wait_for_all(testkit::PATIENCE).await;
    ask(&mut agent, "second").await;
    let bodies = scene.model.bodies();
    assert!(bodies[0].get("tools").is_none() && !bodies[1]["tools"].as_array().unwrap().is_empty());
    assert!(bodies[1].to_string().contains("Nothing yet."), "{}", bodies[1]);
    kit.close().await;
}
