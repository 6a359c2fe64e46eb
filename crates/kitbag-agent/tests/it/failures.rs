//! What models and their hosts do wrong: each ends in an error that names the model, the host and what to do, and the
//! conversation goes on.

use std::time::Duration;

use kitbag_agent::{Agent, AgentError, AgentEvent, ChatItem, ModelError};
use serde_json::{Value, json};

use crate::scene::{KEY, Scene, VENDORS, ask, events, quick};

/// How a first message fails over one wire format, and that a second one is answered.
async fn fails(vendor: &str, turn: Value, then: Value) -> ModelError {
    let scene = Scene::new(json!([turn, then]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut limits = quick();
    limits.model_tries = 1;
    limits.model_first = Duration::from_secs(20);
    limits.model_idle = Duration::from_millis(300);
    let mut agent = Agent::chat(scene.model_within(vendor, &limits).unwrap(), kit.clone());
    let (_, error) = events(&mut agent, "first").await;
    let Some(AgentError::Model(error)) = error else { panic!("{vendor}: {error:?}") };
    let said = error.to_string();
    assert!(said.contains(&format!("{vendor}/scripted at http://127.0.0.1")), "{vendor}: {said}");
    assert!(!said.contains(KEY) && !format!("{error:?}").contains(KEY), "{vendor}: {said}");
    assert_eq!(ask(&mut agent, "second").await.text, "fine", "{vendor}: {said}");
    kit.close().await;
    error
}

#[tokio::test]
async fn hosts_that_fail_are_told_apart() {
    let fine = json!({"text": ["fi", "ne"]});
    for vendor in VENDORS {
        let busy = fails(vendor, json!({"status": 503, "error": "no room"}), fine.clone()).await;
        assert!(
            matches!(&busy, ModelError::Busy { status: 503, .. }) && busy.to_string().contains("no room"),
            "{busy}"
        );
        let refused = fails(vendor, json!({"status": 400, "error": "what?"}), fine.clone()).await;
        assert!(matches!(refused, ModelError::Refused { status: 400, .. }), "{refused}");
        let many = json!(["a", "b", "c", "d", "e", "f"]);
        for cut in ["early", "reset"] {
            let cut = fails(vendor, json!({"text": many, "cut": cut}), fine.clone()).await;
            assert!(matches!(cut, ModelError::Cut { .. }), "{vendor}: {cut:?}");
        }
        let broken = fails(vendor, json!({"text": many, "broken": true}), fine.clone()).await;
        assert!(matches!(broken, ModelError::Malformed { .. }), "{vendor}: {broken:?}");
        let failed = fails(vendor, json!({"text": many, "fail": "it burns"}), fine.clone()).await;
        assert!(
            matches!(failed, ModelError::Failed { .. }) && failed.to_string().contains("it burns"),
            "{failed:?}"
        );
        let silent = fails(vendor, json!({"text": many, "hold": "middle"}), fine.clone()).await;
        assert!(matches!(silent, ModelError::Silent { limit: "model_idle", .. }), "{vendor}: {silent:?}");
        let long = fails(vendor, json!({"text": many, "stop": "length"}), fine.clone()).await;
        assert!(matches!(long, ModelError::OutOfTokens { .. }), "{vendor}: {long:?}");
        if vendor != "ollama" {
            let filtered = fails(vendor, json!({"text": ["a"], "stop": "filter"}), fine.clone()).await;
            assert!(matches!(filtered, ModelError::Filtered { .. }), "{vendor}: {filtered:?}");
        }
        let empty = fails(vendor, json!({}), fine.clone()).await;
        assert!(matches!(empty, ModelError::Empty { .. }), "{vendor}: {empty:?}");
    }
}

#[tokio::test]
async fn keys_models_and_addresses_that_are_wrong_are_named_with_the_variable_to_correct() {
    for (vendor, key, base) in [
        ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("openai-responses", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL"),
    ] {
        let scene = Scene::of(&json!({"key": "another", "turns": []}));
        let error = first_error(&scene, vendor).await;
        assert!(matches!(error, ModelError::BadKey { status: 401, .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains(key) && said.contains("Incorrect") && !said.contains(KEY), "{said}");
        let scene = Scene::of(&json!({"key": KEY, "models": ["others"], "turns": []}));
        let error = first_error(&scene, vendor).await;
        assert!(
            matches!(error, ModelError::UnknownModel { .. }) && error.to_string().contains(base),
            "{error:?}"
        );
    }
    for vendor in VENDORS {
        let mut scene = Scene::new(json!([]));
        scene.model.stop();
        let error = first_error(&scene, vendor).await;
        assert!(matches!(error, ModelError::Unreachable { tries: 5, .. }), "{vendor}: {error:?}");
        assert!(error.to_string().contains("_BASE_URL"), "{error}");
    }
}

async fn first_error(scene: &Scene, vendor: &str) -> ModelError {
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut agent = Agent::chat(scene.model(vendor), kit.clone());
    let (_, error) = events(&mut agent, "hello").await;
    kit.close().await;
    match error {
        Some(AgentError::Model(error)) => error,
        other => panic!("{vendor}: {other:?}"),
    }
}

#[tokio::test]
async fn a_busy_host_is_asked_again_and_told_of() {
    for vendor in VENDORS {
        let busy = |status: u16| json!({"status": status, "retry_after": "0"});
        let scene = Scene::new(json!([busy(429), busy(529), busy(503), {"text": ["at last"]}]));
        let kit = scene.kit(Vec::new(), &[]).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        let (events, error) = events(&mut agent, "hello").await;
        assert!(error.is_none(), "{vendor}: {error:?}");
        let retries = events.iter().filter(|event| matches!(event, AgentEvent::Retrying { .. })).count();
        assert_eq!((retries, scene.model.requests().len()), (3, 4), "{vendor}");
        let bodies = scene.model.bodies();
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{vendor}: the same request each time");
        kit.close().await;
    }
}

#[tokio::test]
async fn a_host_that_asks_for_too_much_time_is_not_waited_for() {
    let scene = Scene::new(json!([{"status": 429, "retry_after": "86400"}, {"text": ["never"]}]));
    let error = first_error(&scene, "openai").await;
    let wait = Some(Duration::from_secs(86_400));
    assert!(matches!(&error, ModelError::Busy { wait: waits, tries: 1, .. } if *waits == wait), "{error:?}");
}

#[tokio::test]
async fn what_was_shown_is_not_asked_for_again() {
    for vendor in VENDORS {
        let scene =
            Scene::new(json!([{"text": ["a", "b", "c", "d", "e", "f"], "cut": "reset"}, {"text": ["no"]}]));
        let error = first_error(&scene, vendor).await;
        assert!(matches!(error, ModelError::Cut { .. }), "{vendor}: {error:?}");
        assert_eq!(scene.model.requests().len(), 1, "{vendor}");
    }
}

#[tokio::test]
async fn a_host_that_does_not_stream_is_understood() {
    for vendor in VENDORS {
        let scene = Scene::new(json!([{"text": ["all ", "at once"], "usage": [3, 4], "whole": true}]));
        let kit = scene.kit(Vec::new(), &[]).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        let report = ask(&mut agent, "hello").await;
        assert_eq!(
            (report.text.as_str(), report.usage.input, report.usage.output),
            ("all at once", 3, 4),
            "{vendor}"
        );
        assert!(matches!(agent.talk().items().last(), Some(ChatItem::Reply(_))));
        kit.close().await;
    }
}

#[tokio::test]
async fn a_reply_is_no_longer_than_its_limit() {
    for vendor in VENDORS {
        let long = "x".repeat(60_000);
        let scene = Scene::new(json!([{"text": [long, long, long]}]));
        let kit = scene.kit(Vec::new(), &[]).await;
        let mut limits = quick();
        limits.model_reply = 100_000;
        let mut agent = Agent::chat(scene.model_within(vendor, &limits).unwrap(), kit.clone());
        let (_, error) = events(&mut agent, "hello").await;
        assert!(matches!(error, Some(AgentError::Model(ModelError::TooLarge { .. }))), "{vendor}: {error:?}");
        kit.close().await;
    }
}

#[tokio::test]
async fn limits_of_models_are_obeyed() {
    let scene = Scene::new(json!([{"text": ["a"]}, {"hold": true}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut limits = quick();
    limits.model_tokens = 123;
    limits.model_first = Duration::from_millis(300);
    let mut agent = Agent::chat(scene.model_within("anthropic", &limits).unwrap(), kit.clone());
    ask(&mut agent, "hello").await;
    assert_eq!(scene.model.bodies()[0]["max_tokens"], 123);
    let (_, error) = events(&mut agent, "hello?").await;
    assert!(
        matches!(error, Some(AgentError::Model(ModelError::Silent { limit: "model_first", .. }))),
        "{error:?}"
    );
    kit.close().await;
}
