//! Tools of the program itself: state, progress, questions, images.

use std::sync::{Arc, Mutex};

use kitbag::{
    Answer, BoxFuture, CallOptions, LocalTool, OpenOptions, Progress, Question, QuestionKind, Responder,
    ToolCall, ToolOutput, UserId,
};
use serde_json::value::to_raw_value;
use serde_json::{Map, json};

use super::server::open;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn f34_local_tools_have_state() {
    let count = Arc::new(Mutex::new(0));
    let counter = LocalTool::with_state(count.clone(), "count", "Counts", async |count, _: Nothing, _| {
        let mut count = count.lock().map_err(|_| "poisoned")?;
        *count += 1;
        Ok(*count)
    });
    let kit = open(Vec::new(), OpenOptions { local: vec![counter], ..OpenOptions::default() }).await;
    kit.call("count", "{}").await.unwrap();
    let result = kit.call("count", "{}").await.unwrap();
    assert_eq!((result.structured, *count.lock().unwrap()), (Some(json!({"result": 2})), 2));
    kit.close().await;
}

#[tokio::test]
async fn f34_local_tools_give_images_and_meta() {
    let draw = LocalTool::new("draw", "Draws", async |_: Nothing, _| {
        Ok(ToolOutput::new().text("a dot").image("image/png", b"\x89PNG").meta(json!({"ms": 3})))
    });
    let kit = open(Vec::new(), OpenOptions { local: vec![draw], ..OpenOptions::default() }).await;
    let result = kit.call("draw", "{}").await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("a dot"));
    assert_eq!(result.content[1].bytes(), Some(("image/png".to_owned(), b"\x89PNG".to_vec())));
    assert_eq!(result.meta, Some(Map::from_iter([("ms".to_owned(), json!(3))])));
    kit.close().await;
}

/// Says who was asked, and for whom.
struct Person(Mutex<Vec<(QuestionKind, UserId, String)>>);

impl Responder for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Elicitation]
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        let asked = (question.kind, question.user, question.tool.unwrap_or_default());
        self.0.lock().unwrap().push(asked);
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        Box::pin(async move { to_raw_value(&answer).map_err(|error| error.to_string()) })
    }
}

#[tokio::test]
async fn f34_local_tools_tell_progress_and_ask_whoever_calls() {
    let greet = LocalTool::new("greet", "Greets", async |_: Nothing, context| {
        context.progress(&Progress { progress: 1.0, ..Progress::default() });
        let refused = context.ask(QuestionKind::Sampling, json!({})).await.unwrap_err();
        let params = json!({"message": "Who?", "requestedSchema": {"type": "object"}});
        let answer = context.ask(QuestionKind::Elicitation, params).await?;
        Ok(format!("{} {} {refused}", answer["content"]["name"].as_str().unwrap_or("?"), context.meta["n"]))
    });
    let kit = open(Vec::new(), OpenOptions { local: vec![greet], ..OpenOptions::default() }).await;
    let person = Arc::new(Person(Mutex::default()));
    let (sender, mut notifications) = tokio::sync::mpsc::channel(8);
    let options = CallOptions {
        responder: Some(person.clone()),
        notifications: Some(sender),
        meta: Map::from_iter([("n".to_owned(), json!(7))]),
        ..CallOptions::default()
    };
    let result = kit.call_tool(&kit.own_view(), ToolCall::new("greet", "{}").with(options)).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("Ada 7 sampling is not offered"));
    assert_eq!(notifications.recv().await.unwrap().progress().map(|told| told.progress), Some(1.0));
    let asked = vec![(QuestionKind::Elicitation, UserId::local(), "greet".to_owned())];
    assert_eq!(*person.0.lock().unwrap(), asked);
    // Nobody to ask: the tool is told so.
    let alone = kit.call("greet", "{}").await.unwrap();
    assert_eq!((alone.is_error, alone.content[0].as_text()), (true, Some("elicitation is not offered")));
    kit.close().await;
}
