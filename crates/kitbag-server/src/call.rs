//! One `tools/call`: made by the kit of its user, heard and answered by the client that made it.

use std::sync::Arc;

use kitbag::connect::CallerInput;
use kitbag::offered::{CallId, LogLevel};
use kitbag::{CallError, CallOptions, CallResult, ErrorKind, Notification, Repair, ResultSize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::{Incoming, LOG_LEVEL_KEY, Speech};
use crate::client::{Client, Out};
use crate::counted::Counted;
use crate::flight::carry;
use crate::rpc::{RpcError, code, notification, raw};

/// Where a client is told what a call that failed is called in the logs.
const CALL_KEY: &str = "kitbag/call";

/// Calls a tool; what its server tells meanwhile goes to the client, in order, before the result.
pub(crate) async fn tool(
    client: &Arc<Client>,
    request: &Incoming,
    out: &Out,
) -> Result<Box<RawValue>, RpcError> {
    let Some(name) = request.name.clone() else {
        return Err(RpcError::new(code::INVALID_PARAMS, "params.name is missing: it names the tool"));
    };
    let id = CallId::new();
    let place = client.place()?;
    let (view, style) = client.view()?;
    let arguments = request.arguments().to_owned();
    let caller = client.clone();
    let made = move |options: CallOptions| async move {
        let _place = place;
        let counted = Counted::begin(&caller, &name);
        let is_further = options.input.as_ref().is_some_and(CallerInput::is_further);
        let options = CallOptions { id: Some(id), size: ResultSize::AsReceived, ..options };
        let done = caller.call_tool((&view, &style), &name, &arguments, options).await;
        counted.end(&done);
        match done {
            Ok(result) => result_of(result),
            // Its arguments were good before: it is what it goes on with that is not.
            Err(error) if is_further && error.kind == ErrorKind::InvalidArguments => {
                Err(RpcError::new(code::INVALID_PARAMS, error.message))
            }
            Err(error) => failed(&error, id),
        }
    };
    carry(client, request, out, made).await
}

/// A call that is refused for now, where no status of HTTP can say so: a result that says it failed.
pub(crate) fn or_told(
    request: &Incoming,
    outcome: Result<Box<RawValue>, RpcError>,
) -> Result<Box<RawValue>, RpcError> {
    match outcome {
        Err(RpcError { too_much: Some(refused), .. }) if request.method == "tools/call" => {
            failure(ErrorKind::RateLimited, &refused.to_string(), CallId::new())
        }
        outcome => outcome,
    }
}

/// How much a client wants to hear of a request.
pub(crate) fn level(client: &Client, request: &Incoming) -> Option<LogLevel> {
    match request.speech() {
        Speech::Legacy => client.level(),
        Speech::Modern => LogLevel::parse(request.meta.get(LOG_LEVEL_KEY)?.as_str()?),
    }
}

/// Whether a log message is less severe than what is to be heard.
fn is_below(level: Option<LogLevel>, note: &Notification) -> bool {
    #[derive(serde::Deserialize)]
    struct Logged {
        #[serde(default)]
        level: String,
    }
    let Some(level) = level else { return false };
    let logged = serde_json::from_str::<Logged>(note.params.get()).ok();
    logged.and_then(|logged| LogLevel::parse(&logged.level)).is_some_and(|logged| logged < level)
}

/// Hands a notification on, if the client wants it. One that reads too slowly to take it is waited for: the queue before
/// this one has a bound, and what finds no room there is dropped.
pub(crate) async fn tell(client: &Client, request: &Incoming, out: &Out, note: &Notification) {
    let params = match note.method.as_str() {
        "notifications/progress" => {
            let Some(token) = request.meta.get("progressToken") else { return };
            let Ok(Value::Object(mut params)) = serde_json::from_str(note.params.get()) else { return };
            params.insert("progressToken".to_owned(), token.clone());
            Value::Object(params).to_string()
        }
        "notifications/message" => {
            let level = level(client, request);
            let is_unasked = level.is_none() && request.speech() == Speech::Modern;
            if is_unasked || is_below(level, note) {
                return;
            }
            note.params.get().to_owned()
        }
        _ => note.params.get().to_owned(),
    };
    // A client that is gone hears nothing more; its call is cancelled with its request.
    let _ = out.send(notification(&note.method, &params)).await;
}

fn result_of(result: CallResult) -> Result<Box<RawValue>, RpcError> {
    if let Some(as_received) = result.raw {
        return Ok(as_received);
    }
    let mut fields = Map::new();
    fields.insert("content".to_owned(), json!(result.content));
    if let Some(structured) = result.structured {
        fields.insert("structuredContent".to_owned(), structured);
    }
    fields.insert("isError".to_owned(), result.is_error.into());
    if let Some(meta) = result.meta {
        fields.insert("_meta".to_owned(), Value::Object(meta));
    }
    raw(Value::Object(fields).to_string())
}

/// What a client is told of a call without a result. A name that means nothing is an error of the request, and an error of
/// the server's stays its own; everything else is a result that says it failed, so that the model reads why and goes on.
fn failed(error: &CallError, id: CallId) -> Result<Box<RawValue>, RpcError> {
    match (error.kind, error.code) {
        (ErrorKind::NotFound | ErrorKind::Ambiguous, _) => {
            let near = match error.repair.as_deref() {
                Some(Repair::Names(names)) if !names.is_empty() => {
                    format!("; did you mean {}?", names.join(", "))
                }
                _ => String::new(),
            };
            let error = RpcError::new(code::INVALID_PARAMS, format!("{}{near}", error.message));
            Err(error.with(json!({(CALL_KEY): id.to_string()})))
        }
        (ErrorKind::ServerError, Some(code)) => {
            let called = json!({(CALL_KEY): id.to_string()});
            let data = error.data.as_deref().cloned().unwrap_or(called);
            Err(RpcError::new(code, error.message.clone()).with(data))
        }
        (kind, _) => failure(kind, &error.for_model(), id),
    }
}

/// A result that says it failed, and what its call is called in the logs.
fn failure(kind: ErrorKind, text: &str, id: CallId) -> Result<Box<RawValue>, RpcError> {
    let content = json!([{"type": "text", "text": text}]);
    let meta = json!({"kitbag/kind": kind.as_str(), (CALL_KEY): id.to_string()});
    raw(json!({"content": content, "isError": true, "_meta": meta}).to_string())
}
