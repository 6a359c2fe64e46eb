//! Tools of the program itself: with state, progress, an image and a question to the caller; beside them a server, a hook
//! that sees every call, and a responder that answers questions.

use std::sync::{Arc, Mutex};

use kitbag::{
    Answer, BoxFuture, CallOptions, Env, Hook, HookAction, Kitbag, LocalTool, OpenOptions, OutgoingCall,
    Progress, Question, QuestionKind, Responder, ServerName, ServerSpec, Setup, ToolCall, ToolOutput,
};
use serde_json::{json, value::to_raw_value};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Note {
    /// What to write down
    text: String,
}

/// Writes down every call that is made.
struct Audit(Arc<Mutex<Vec<String>>>);

impl Hook for Audit {
    fn before<'a>(&'a self, call: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
        self.0.lock().map(|mut calls| calls.push(call.tool.clone())).unwrap_or_default();
        Box::pin(async { HookAction::Go })
    }
}

/// Answers what servers and local tools ask; a real one would show a form to a person.
struct Person;

impl Responder for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Elicitation]
    }

    fn answer(&self, _question: Question) -> BoxFuture<'_, Answer> {
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        Box::pin(async move { to_raw_value(&answer).map_err(|error| error.to_string()) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    kitbag::guard::init();
    let (notes, calls) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let note = LocalTool::with_state(notes, "note", "Keeps a note", async |notes, note: Note, context| {
        context.progress(&Progress { progress: 1.0, ..Progress::default() });
        let form = json!({"message": "Your name?", "requestedSchema": {"type": "object"}});
        let answer = context.ask(QuestionKind::Elicitation, form).await?;
        let mut notes = notes.lock().map_err(|_| "the notes are lost")?;
        notes.push(note.text);
        let text = format!("note {} of {}", notes.len(), answer["content"]["name"]);
        Ok(ToolOutput::new().text(text).image("image/png", b"\x89PNG"))
    });
    let program = testkit::bin("fake-mcp").display().to_string();
    let server = ServerSpec::program(ServerName::parse("server")?, &program, []);
    let options = OpenOptions {
        local: vec![note],
        hooks: vec![Arc::new(Audit(calls.clone()))],
        responder: Some(Arc::new(Person)),
        ..OpenOptions::default()
    };
    let env = Env::new([], std::env::current_dir()?);
    let (kit, _) = Kitbag::open_with(Setup::from_specs(env, vec![server]), options).await?;

    assert!(kit.call("note", "{}").await.is_err(), "arguments are checked before the tool runs");
    let (sender, mut told) = tokio::sync::mpsc::channel(8);
    let options = CallOptions { notifications: Some(sender), ..CallOptions::default() };
    let call = ToolCall::new("note", r#"{"text": "bread"}"#).with(options);
    let result = kit.call_tool(&kit.own_view(), call).await?;
    assert!(told.recv().await.is_some_and(|notification| notification.progress().is_some()));
    assert_eq!(result.content[0].as_text(), Some(r#"note 1 of "Ada""#));
    assert_eq!(result.content[1].bytes(), Some(("image/png".to_owned(), b"\x89PNG".to_vec())));
    let asked = kit.call("server/ask", r#"{"what": "elicitation"}"#).await?;
    assert!(asked.content[0].as_text().is_some_and(|text| text.contains("Ada")), "{asked:?}");
    kit.close().await;
    assert_eq!(*calls.lock().map_err(|_| "a hook panicked")?, ["note", "ask"]);
    Ok(())
}
