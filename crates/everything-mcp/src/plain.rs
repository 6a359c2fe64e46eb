//! Tools that answer at once, and those that say something meanwhile.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::resources::IMAGE;
use crate::server::Everything;

/// Nothing to hear, for a moment.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// Between one thing that is said and the next.
const PAUSE: Duration = Duration::from_millis(50);

/// A result of one text.
pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The same for a failure.
pub(crate) fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// What a tool answers that asks nobody.
pub(crate) async fn call(
    server: &Everything,
    name: &str,
    arguments: &JsonObject,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let image = || json!({"type": "image", "data": IMAGE, "mimeType": "image/png"});
    let resource = |uri: &str, mime: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}});
    let content = |blocks: &[Value]| json!({"content": blocks});
    Ok(match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => content(&[image()]),
        "test_audio_content" => content(&[json!({"type": "audio", "data": SOUND, "mimeType": "audio/wav"})]),
        "test_embedded_resource" => {
            let text = "This is an embedded resource content.";
            content(&[resource("test://embedded-resource", "text/plain", text)])
        }
        "test_multiple_content_types" => {
            let first = json!({"type": "text", "text": "Multiple content types test:"});
            let data = json!({"test": "data", "value": 123}).to_string();
            content(&[first, image(), resource("test://mixed-content-resource", "application/json", &data)])
        }
        "test_error_handling" => failure("This tool intentionally returns an error for testing"),
        "test_tool_with_logging" | "test_logging_tool" => logs(server, context).await,
        "test_tool_with_progress" => progress(context).await,
        "json_schema_2020_12_tool" => text("valid"),
        "echo" => text(arguments.get("message").and_then(Value::as_str).unwrap_or_default()),
        "test_header_parameter" => text(arguments.get("region").and_then(Value::as_str).unwrap_or_default()),
        "wait" => wait(server, arguments).await,
        "waits" => text(&server.waits().told()),
        "test_trigger_tool_change" => changed(server, |counts| counts.tools += 1),
        "test_trigger_prompt_change" => changed(server, |counts| counts.prompts += 1),
        "test_trigger_resource_update" => changed(server, |counts| counts.watched += 1),
        _ => return Err(ErrorData::invalid_params(format!("unknown tool {name}"), None)),
    })
}

fn changed(server: &Everything, change: impl FnOnce(&mut crate::changes::Counts)) -> Value {
    server.changes().make(change);
    text("changed")
}

async fn logs(server: &Everything, context: &RequestContext<RoleServer>) -> Value {
    let said = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    for (index, words) in said.into_iter().enumerate() {
        if 0 < index {
            tokio::time::sleep(PAUSE).await;
        }
        if server.may_log(LoggingLevel::Info, context) {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, words.into());
            let _ = context.peer.notify_logging_message(message.with_logger("everything-mcp")).await;
        }
    }
    text("Logging test completed")
}

async fn progress(context: &RequestContext<RoleServer>) -> Value {
    let token = context.meta.get_progress_token();
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = &token {
            let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            let _ = context.peer.notify_progress(progress.with_message(format!("{done} of 100"))).await;
        }
        // After the last one, too: some clients forget what they are about to hear when the result comes at once.
        tokio::time::sleep(PAUSE).await;
    }
    text("Progress test completed")
}

/// How many wait, and how many were cancelled.
#[derive(Default)]
pub(crate) struct Waits {
    waiting: AtomicUsize,
    cancelled: AtomicUsize,
}

impl Waits {
    fn told(&self) -> String {
        let [waiting, cancelled] = [&self.waiting, &self.cancelled].map(|count| count.load(Ordering::SeqCst));
        format!("waiting {waiting} cancelled {cancelled}")
    }
}

/// Takes its time. One that is cancelled is counted, also when its future is only dropped.
async fn wait(server: &Everything, arguments: &JsonObject) -> Value {
    let ms = arguments.get("ms").and_then(Value::as_u64).unwrap_or_default();
    let mut waiting = Waiting::begin(server.waits());
    tokio::time::sleep(Duration::from_millis(ms)).await;
    waiting.is_done = true;
    text(&format!("waited {ms} ms"))
}

struct Waiting<'a> {
    waits: &'a Waits,
    is_done: bool,
}

impl<'a> Waiting<'a> {
    fn begin(waits: &'a Waits) -> Self {
        waits.waiting.fetch_add(1, Ordering::SeqCst);
        Self { waits, is_done: false }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.waits.cancelled.fetch_add(1, Ordering::SeqCst);
        }
        self.waits.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
