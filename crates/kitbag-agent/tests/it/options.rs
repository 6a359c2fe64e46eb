//! What is asked of a reply stands in the request where each API has its place for it.

use futures_util::StreamExt as _;
use kitbag_agent::{
    ChatItem, Effort, HttpModel, Model as _, ModelChoice, ModelEvent, Prompt, ReplyOptions, ReplySchema,
    choose,
};
use serde_json::{Value, json};

use crate::scene::{Scene, VENDORS, quick};

/// Asks for one reply, and gives the body of the request.
async fn body(scene: &Scene, model: &HttpModel, options: &ReplyOptions) -> Value {
    let item = ChatItem::User("hello".to_owned());
    let prompt = Prompt { system: "Be brief.", items: &[&item], tools: &Value::Null, options };
    let mut stream = model.stream(&prompt);
    while let Some(event) = testkit::in_time(stream.next()).await {
        if let ModelEvent::End(_) = event.unwrap() {
            break;
        }
    }
    scene.model.bodies().pop().unwrap()
}

fn all() -> ReplyOptions {
    ReplyOptions {
        temperature: Some(1.5),
        effort: Some(Effort::High),
        stop: vec!["\nSYSTEM:".to_owned(), "\nUSER:".to_owned()],
        max_tokens: Some(77),
        schema: Some(ReplySchema { schema: json!({"type": "object"}), is_strict: true }),
    }
}

#[tokio::test]
async fn options_of_a_reply_stand_where_each_api_has_them() {
    for vendor in VENDORS {
        let scene = Scene::new(json!([{"text": ["hi"]}]));
        let body = body(&scene, &scene.model(vendor), &all()).await;
        let at = |path: &str| body.pointer(path).cloned().unwrap_or(Value::Null);
        let (stop, schema) = (json!(["\nSYSTEM:", "\nUSER:"]), json!({"type": "object"}));
        // As the providers' own SDKs of testdata/sdk have the requests.
        let expected: Vec<(&str, Value)> = match vendor {
            "openai" => vec![
                ("/temperature", json!(1.5)),
                ("/reasoning_effort", json!("high")),
                ("/stop", stop),
                ("/max_tokens", json!(77)),
                ("/max_completion_tokens", Value::Null),
                ("/response_format/type", json!("json_schema")),
                ("/response_format/json_schema", json!({"name": "reply", "schema": schema, "strict": true})),
            ],
            "openai-responses" => vec![
                ("/temperature", json!(1.5)),
                ("/reasoning", json!({"effort": "high"})),
                ("/stop", Value::Null),
                ("/max_output_tokens", json!(77)),
                (
                    "/text/format",
                    json!({"type": "json_schema", "name": "reply", "schema": schema, "strict": true}),
                ),
            ],
            "anthropic" => vec![
                ("/temperature", json!(1.0)),
                ("/output_config/effort", json!("high")),
                ("/stop_sequences", stop),
                ("/max_tokens", json!(77)),
                ("/output_config/format", json!({"type": "json_schema", "schema": schema})),
            ],
            "gemini" => vec![
                ("/generationConfig/temperature", json!(1.5)),
                ("/generationConfig/thinkingConfig", json!({"thinkingLevel": "high"})),
                ("/generationConfig/stopSequences", stop),
                ("/generationConfig/maxOutputTokens", json!(77)),
                ("/generationConfig/responseMimeType", json!("application/json")),
                ("/generationConfig/responseJsonSchema", schema),
            ],
            _ => vec![
                ("/options/temperature", json!(1.5)),
                ("/think", json!("high")),
                ("/options/stop", stop),
                ("/options/num_predict", json!(77)),
                ("/format", schema),
            ],
        };
        for (path, value) in expected {
            assert_eq!(at(path), value, "{vendor} {path}: {body}");
        }
    }
}

#[tokio::test]
async fn a_request_says_nothing_of_options_that_nobody_asked_for() {
    for vendor in VENDORS {
        let scene = Scene::new(json!([{"text": ["hi"]}]));
        let body = body(&scene, &scene.model(vendor), ReplyOptions::usual()).await;
        for key in [
            "temperature",
            "reasoning_effort",
            "reasoning",
            "stop",
            "max_completion_tokens",
            "response_format",
            "text",
            "stop_sequences",
            "output_config",
            "generationConfig",
            "options",
            "think",
            "format",
        ] {
            assert!(body.get(key).is_none(), "{vendor} {key}: {body}");
        }
        let told = body.get("max_tokens").and_then(Value::as_u64);
        assert_eq!(told, (vendor == "anthropic").then_some(8192), "{vendor}");
    }
}

#[tokio::test]
async fn s0_23_a_model_that_thinks_first_is_sent_no_temperature_and_no_stop_sequences() {
    let scene = Scene::new(json!([{"text": ["hi"]}]));
    for name in ["openai/o3-mini", "openai/gpt-5-mini", "openai-responses/o4-mini"] {
        let choice = ModelChoice { flag: Some(name.to_owned()), agent: None };
        let model = choose(&choice, &scene.env(), &quick()).unwrap();
        let body = body(&scene, &model, &all()).await;
        assert!(body.get("temperature").is_none() && body.get("stop").is_none(), "{name}: {body}");
        assert!(body.get("max_tokens").is_none() && body.to_string().contains("\"high\""), "{name}: {body}");
    }
    for name in ["openai/gpt-4o", "openai/local/o"] {
        let choice = ModelChoice { flag: Some(name.to_owned()), agent: None };
        let body = body(&scene, &choose(&choice, &scene.env(), &quick()).unwrap(), &all()).await;
        assert_eq!(body["temperature"], json!(1.5), "{name}: {body}");
    }
}

#[test]
fn s0_8_an_unknown_provider_is_refused_by_its_name() {
    let scene = Scene::new(json!([]));
    for name in ["vertexai", "cohere"] {
        let choice = ModelChoice { flag: Some(format!("{name}/x")), agent: None };
        let error = choose(&choice, &scene.env(), &quick()).unwrap_err().to_string();
        assert!(
            error.contains(&format!("\"{name}/x\"")) && error.contains("openai-responses, anthropic"),
            "{error}"
        );
    }
}
