//! Servers that ask for words of a model in the middle of a call: the configured model answers, once a person agrees.

use std::sync::{Arc, Mutex};

use kitbag::{
    ApprovalAnswer, ApprovalRequest, Approver, BoxFuture, Kitbag, OpenOptions, Question, QuestionKind,
    Responder, ServerName, Setup, UserId,
};
use kitbag_agent::{Agent, Sampling};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use testkit::Http;

use crate::scene::{Scene, VENDORS, ask, call, quick, spec};

/// Says always the same, and remembers what it was asked.
struct Says(ApprovalAnswer, Mutex<Vec<ApprovalRequest>>);

impl Says {
    fn new(answer: ApprovalAnswer) -> Arc<Self> {
        Arc::new(Self(answer, Mutex::default()))
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.1.lock().unwrap().clone()
    }
}

impl Approver for Says {
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        self.1.lock().unwrap().push(approval);
        let answer = self.0;
        Box::pin(async move { answer })
    }
}

async fn kit(scene: &Scene, url: &str, sampling: Sampling) -> Kitbag {
    let options =
        OpenOptions { responder: Some(Arc::new(sampling)), limits: Some(quick()), ..OpenOptions::default() };
    Kitbag::open_with(Setup::from_specs(scene.env(), vec![spec("x", url)]), options).await.unwrap().0
}

fn asks() -> Value {
    json!({"calls": [call("ask", json!({"what": "sampling"}))]})
}

#[tokio::test]
async fn a_server_of_either_era_is_answered_by_the_model_once_a_person_agrees() {
    for era in ["legacy", "modern"] {
        let server = Http::start(&["--era", era]);
        for vendor in VENDORS {
            let scene = Scene::new(json!([asks(), {"text": ["fo", "ur"]}, {"text": ["It is four."]}]));
            let says = Says::new(ApprovalAnswer::Once);
            let sampling = Sampling::new(scene.model(vendor), says.clone(), &quick());
            let kit = kit(&scene, server.url(), sampling).await;
            let mut agent = Agent::chat(scene.model(vendor), kit.clone());
            let report = ask(&mut agent, "Ask").await;
            assert_eq!((report.text.as_str(), report.errors().count()), ("It is four.", 0), "{era} {vendor}");
            let asked = says.asked();
            assert_eq!(asked.len(), 1, "{era} {vendor}: {asked:?}");
            assert_eq!((asked[0].server.as_str(), asked[0].tool.as_str()), ("x", "sampling/createMessage"));
            assert!(asked[0].why.contains(&format!("{vendor}/scripted")), "{}", asked[0].why);
            let bodies = scene.model.bodies();
            let (question, result) = (bodies[1].to_string(), bodies[2].to_string());
            assert!(
                question.contains("What is two and two?") && bodies[1].get("tools").is_none(),
                "{question}"
            );
            assert!(result.contains("four") && result.contains("endTurn"), "{era} {vendor}: {result}");
            kit.close().await;
        }
    }
}

#[tokio::test]
async fn what_a_person_refuses_is_not_asked_of_the_model() {
    let server = Http::start(&["--era", "both"]);
    let scene = Scene::new(json!([asks(), {"text": ["Then not."]}]));
    let says = Says::new(ApprovalAnswer::No);
    let kit = kit(&scene, server.url(), Sampling::new(scene.model("openai"), says.clone(), &quick())).await;
    let report = ask(&mut Agent::chat(scene.model("openai"), kit.clone()), "Ask").await;
    assert_eq!((report.text.as_str(), says.asked().len()), ("Then not.", 1));
    assert_eq!(scene.model.requests().len(), 2);
    assert!(scene.model.bodies()[1].to_string().contains("said no"), "{}", scene.model.bodies()[1]);
    kit.close().await;
}

async fn answered(sampling: &Sampling, params: Value) -> Result<Value, String> {
    let question = Question {
        server: ServerName::parse("x").unwrap(),
        user: UserId::local(),
        tool: None,
        kind: QuestionKind::Sampling,
        params: to_raw_value(&params).unwrap(),
    };
    sampling.answer(question).await.map(|answer| serde_json::from_str(answer.get()).unwrap())
}

fn said(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": 16})
}

#[tokio::test]
async fn what_servers_ask_of_a_model_is_bounded_and_a_word_for_the_session_is_asked_once() {
    let scene = Scene::new(json!([{"text": ["yes"]}]));
    let says = Says::new(ApprovalAnswer::Session);
    let mut limits = quick();
    (limits.sampling, limits.samplings) = (300, 2);
    let sampling = Sampling::new(scene.model("openai"), says.clone(), &limits);
    for _ in 0..2 {
        let answer = answered(&sampling, said("well?")).await.unwrap();
        assert_eq!((&answer["content"]["text"], &answer["stopReason"]), (&json!("yes"), &json!("endTurn")));
        assert_eq!(answer["model"], "openai/scripted");
    }
    assert_eq!(says.asked().len(), 1);
    let often = answered(&sampling, said("well?")).await.unwrap_err();
    assert!(often.contains("asked 2 times (samplings in [limits])"), "{often}");
    let long = answered(&sampling, said(&"x".repeat(400))).await.unwrap_err();
    assert!(long.contains("longer than 300 bytes (sampling in [limits])"), "{long}");
    assert_eq!(scene.model.requests().len(), 2);
}

#[tokio::test]
async fn a_model_that_fails_is_a_reason_for_the_server_and_tools_are_refused() {
    let scene = Scene::new(json!([{"status": 400, "error": "what?"}, {"text": ["a"], "stop": "length"}, {}]));
    let sampling = Sampling::new(scene.model("openai"), Says::new(ApprovalAnswer::Once), &quick());
    let failed = answered(&sampling, said("well?")).await.unwrap_err();
    assert!(failed.contains("openai/scripted at http://127.0.0.1") && failed.contains("what?"), "{failed}");
    let cut = answered(&sampling, said("well?")).await.unwrap();
    assert_eq!((&cut["content"]["text"], &cut["stopReason"]), (&json!("a"), &json!("maxTokens")));
    assert!(answered(&sampling, said("well?")).await.unwrap_err().contains("answered nothing"));
    let mut tools = said("well?");
    tools["tools"] = json!([{"name": "t", "inputSchema": {}}]);
    assert_eq!(answered(&sampling, tools).await.unwrap_err(), "tools are not offered to it");
    let odd = json!({"messages": [{"role": "user", "content": {"type": "video"}}], "maxTokens": 1});
    assert!(answered(&sampling, odd).await.unwrap_err().contains("\"video\" is not taken"));
    assert!(answered(&sampling, json!({"messages": []})).await.unwrap_err().contains("no messages"));
    assert!(answered(&sampling, json!({"messages": 7})).await.unwrap_err().contains("cannot be read"));
}

#[tokio::test]
async fn images_and_earlier_replies_reach_the_model_in_each_providers_words() {
    for vendor in VENDORS {
        let scene = Scene::new(json!([{"text": ["a cat"]}]));
        let sampling = Sampling::new(scene.model(vendor), Says::new(ApprovalAnswer::Once), &quick());
        let image = json!({"type": "image", "mimeType": "image/png", "data": "aW1hZ2U="});
        let params = json!({
            "systemPrompt": "Be short.", "modelPreferences": {"hints": [{"name": "other"}]}, "maxTokens": 16,
            "temperature": 0.25, "stopSequences": ["END"],
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Hello"}},
                {"role": "assistant", "content": {"type": "text", "text": "Show me."}},
                {"role": "user", "content": [image, {"type": "text", "text": "What is it?"}]},
            ],
        });
        assert_eq!(answered(&sampling, params).await.unwrap()["content"]["text"], "a cat", "{vendor}");
        let body = &scene.model.bodies()[0];
        let sent = body.to_string();
        for part in ["Be short.", "Hello", "Show me.", "What is it?"] {
            assert!(sent.contains(part), "{vendor}: {part} in {sent}");
        }
        let url = "data:image/png;base64,aW1hZ2U=";
        let (place, expected) = match vendor {
            "openai" => ("/messages/3/content/0/image_url/url", url),
            "openai-responses" => ("/input/2/content/0/image_url", url),
            "anthropic" => ("/messages/2/content/0/source/data", "aW1hZ2U="),
            "gemini" => ("/contents/2/parts/0/inlineData/data", "aW1hZ2U="),
            _ => ("/messages/3/images/0", "aW1hZ2U="),
        };
        assert_eq!(body.pointer(place).and_then(Value::as_str), Some(expected), "{vendor}: {sent}");
        // As the server wants it made; the responses of OpenAI know no stop sequences.
        let is_told = |what: &str| sent.contains(what);
        assert!(is_told(":16") && is_told(":0.25"), "{vendor}: {sent}");
        assert!(is_told("[\"END\"]") || vendor == "openai-responses", "{vendor}: {sent}");
    }
}
