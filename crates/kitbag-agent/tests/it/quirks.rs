//! What single hosts do otherwise than the API has it, and what they want back of a reply.

use std::time::Duration;

use kitbag_agent::{Agent, AgentError, AgentEvent, HttpModel, ModelChoice, ModelError, choose};
use serde_json::{Value, json};

use crate::scene::{Scene, ask, call, events, quick, server};

fn both() -> Value {
    json!([call("echo", json!({"message": "one"})), call("echo", json!({"message": "two"}))])
}

#[tokio::test]
async fn calls_that_all_have_one_number_are_told_apart_by_their_ids() {
    let server = server();
    let scene = Scene::new(json!([{"calls": both(), "quirk": "one_index"}, {"text": ["done"]}]));
    let kit = scene.kit(Vec::new(), &[("x", server.url())]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    let report = ask(&mut agent, "Go").await;
    assert_eq!((report.executions.len(), report.errors().count()), (2, 0), "{report:?}");
    let sent = scene.model.bodies().pop().unwrap();
    let answers: Vec<&str> = [3, 4].map(|at| sent["messages"][at]["content"].as_str().unwrap()).to_vec();
    assert!(answers[0].contains("one") && answers[1].contains("two"), "{answers:?}");
    kit.close().await;
}

#[tokio::test]
async fn text_in_parts_is_text() {
    let scene = Scene::new(json!([{"text": ["in ", "parts"], "quirk": "parts"}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    assert_eq!(ask(&mut agent, "Go").await.text, "in parts");
    kit.close().await;
}

/// DeepSeek and others refuse a conversation in which it is missing.
#[tokio::test]
async fn what_a_chat_model_thought_goes_back_to_it_and_to_no_other() {
    let server = server();
    let thought = json!({"reasoning": ["I must ", "echo."], "calls": both()});
    let scene = Scene::new(json!([thought, {"text": ["done"]}, {"text": ["hello"]}]));
    let kit = scene.kit(Vec::new(), &[("x", server.url())]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    ask(&mut agent, "Go").await;
    let sent = scene.model.bodies().pop().unwrap();
    assert_eq!(sent["messages"][2]["reasoning_content"], "I must echo.", "{sent}");
    let other = ModelChoice { flag: Some("openai/other".into()), agent: None };
    agent.use_model(choose(&other, &scene.env(), &quick()).unwrap());
    ask(&mut agent, "Hi").await;
    let sent = scene.model.bodies().pop().unwrap();
    assert!(!sent.to_string().contains("I must echo."), "{sent}");
    assert_eq!(sent["messages"][2]["tool_calls"][1]["id"], "call_0_1", "{sent}");
    assert_eq!(testkit::check_calls(&scene.model.requests().pop().unwrap()), Ok(()));
    kit.close().await;
}

#[tokio::test]
async fn what_a_model_thought_goes_back_only_with_its_seal_and_is_asked_for_only_where_there_is_one() {
    let server = server();
    for (quirk, sealed) in [(Value::Null, true), (json!("unsealed"), false)] {
        let thought = json!({"reasoning": ["I must ", "echo."], "calls": both(), "quirk": quirk});
        let scene = Scene::new(json!([thought, {"text": ["done"]}]));
        let kit = scene.kit(Vec::new(), &[("x", server.url())]).await;
        ask(&mut Agent::chat(scene.model("openai-responses"), kit.clone()), "Go").await;
        let bodies = scene.model.bodies();
        assert_eq!(bodies[1].to_string().contains("\"reasoning\""), sealed, "{}", bodies[1]);
        assert_eq!(bodies[0]["include"], json!(["reasoning.encrypted_content"]));
        let plain = ModelChoice { flag: Some("openai-responses/gpt-4o".into()), agent: None };
        let plain = choose(&plain, &scene.env(), &quick()).unwrap();
        ask(&mut Agent::chat(plain, kit.clone()), "Go").await;
        assert!(scene.model.bodies()[2].get("include").is_none());
        kit.close().await;
    }
}

#[tokio::test]
async fn a_malformed_call_of_gemini_is_asked_for_again() {
    let scene = Scene::new(json!([{"quirk": "malformed_call"}, {"text": ["fine"]}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut agent = Agent::chat(scene.model("gemini"), kit.clone());
    let (events, error) = events(&mut agent, "Go").await;
    assert!(error.is_none(), "{error:?}");
    let again = |event: &&AgentEvent| matches!(event, AgentEvent::Retrying { error } if error.to_string().contains("not a call"));
    assert_eq!(events.iter().filter(again).count(), 1, "{events:?}");
    kit.close().await;
}

#[tokio::test]
async fn an_address_may_end_with_the_version_that_stands_in_the_path() {
    let scene = Scene::new(json!([{"text": ["fine"]}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let model = |vendor: &str, variable: &str, end: &str| -> HttpModel {
        let env = scene.env().with(variable, &format!("{}{end}", scene.model.url()));
        choose(&ModelChoice { flag: Some(format!("{vendor}/scripted")), agent: None }, &env, &quick())
            .unwrap()
    };
    for (vendor, variable, ends) in [
        ("openai", "OPENAI_BASE_URL", ["", "/v1", "/v1/"]),
        ("anthropic", "ANTHROPIC_BASE_URL", ["", "/v1", "/v1/"]),
        ("gemini", "GEMINI_BASE_URL", ["/", "/v1beta", "/v1beta/"]),
        ("ollama", "OLLAMA_BASE_URL", ["", "/api", "/v1/"]),
    ] {
        for end in ends {
            let mut agent = Agent::chat(model(vendor, variable, end), kit.clone());
            assert_eq!(ask(&mut agent, "Go").await.text, "fine", "{vendor} {end}");
            let path = scene.model.requests().pop().unwrap()["path"].as_str().unwrap().to_owned();
            let twice = ["/v1/v1", "v1beta/v1beta", "/api/api", "/v1/api"];
            assert!(!twice.iter().any(|twice| path.contains(twice)), "{vendor} {end}: {path}");
        }
    }
    kit.close().await;
}

/// Definitions and the system prompt stay the same from turn to turn, and are marked so; so is what was said so far.
#[tokio::test]
async fn anthropic_is_told_what_to_keep_in_its_cache() {
    let server = server();
    let scene = Scene::new(json!([{"calls": both()}, {"text": ["done"]}]));
    let kit = scene.kit(Vec::new(), &[("x", server.url())]).await;
    ask(&mut Agent::chat(scene.model("anthropic"), kit.clone()), "Go").await;
    let bodies = scene.model.bodies();
    for body in &bodies {
        // The mark behind the system prompt covers the definitions, which come before it.
        assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}), "{body}");
        let last = body["messages"].as_array().unwrap().last().unwrap();
        let last = last["content"].as_array().unwrap().last().unwrap();
        assert_eq!(last["cache_control"], json!({"type": "ephemeral"}), "{body}");
        assert!(body.to_string().matches("cache_control").count() <= 4, "the API takes no more: {body}");
    }
    assert_eq!((&bodies[0]["tools"], &bodies[0]["system"]), (&bodies[1]["tools"], &bodies[1]["system"]));
    kit.close().await;
}

#[tokio::test]
async fn google_says_in_its_words_how_long_to_wait_and_what_is_used_up_is_not_asked_for_again() {
    let delay = json!({"status": 429, "retry_after": "86400", "quirk": "retry_delay"});
    let spent = json!({"status": 429, "error": "insufficient_quota: check your plan"});
    for (vendor, turn, waits) in
        [("gemini", delay, Some(Duration::from_secs(86_400))), ("openai", spent, None)]
    {
        let scene = Scene::new(json!([turn, {"text": ["never"]}]));
        let kit = scene.kit(Vec::new(), &[]).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        let (_, error) = events(&mut agent, "Go").await;
        let Some(AgentError::Model(ModelError::Busy { wait, tries: 1, .. })) = error else {
            panic!("{vendor}: {error:?}")
        };
        assert_eq!((wait, scene.model.requests().len()), (waits, 1), "{vendor}");
        kit.close().await;
    }
}
