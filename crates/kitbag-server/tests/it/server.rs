//! A server of a few lines, for tests that decide what it has.

use std::sync::Arc;

use kitbag::{ServerName, ServerSpec, in_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::Semaphore;

/// What a server waits for in calls of its tool `wait`, and by what it tells that one has come.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) came: Notes,
    pub(crate) gone: Notes,
}

/// Counts what happened.
pub(crate) struct Notes(Semaphore);

impl Default for Notes {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl Notes {
    fn note(&self) {
        self.0.add_permits(1);
    }

    /// Waits for the next one.
    pub(crate) async fn next(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// A server of the older protocol with these tools, each of which says `hi`; `wait` never answers.
pub(crate) fn server(name: &str, tools: &[&str], gate: &Arc<Gate>) -> ServerSpec {
    let tools: Vec<Value> =
        tools.iter().map(|tool| json!({"name": tool, "inputSchema": {"type": "object"}})).collect();
    let (tools, gate) = (Arc::new(Value::from(tools)), gate.clone());
    in_process(ServerName::parse(name).unwrap(), move |io| serve(io, tools.clone(), gate.clone()))
}

async fn serve(io: DuplexStream, tools: Arc<Value>, gate: Arc<Gate>) {
    let (read, mut write) = tokio::io::split(io);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        if let Some(answer) = answer(&message, &tools, &gate) {
            write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }
}

fn answer(message: &Value, tools: &Value, gate: &Gate) -> Option<Value> {
    let method = message["method"].as_str()?;
    let result = match method {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }),
        "tools/list" => json!({"tools": tools}),
        "tools/call" if message["params"]["name"] == "wait" => {
            gate.came.note();
            return None;
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "hi"}]}),
        "notifications/cancelled" => {
            gate.gone.note();
            return None;
        }
        _ if message["id"].is_null() => return None,
        _ => {
            let error = json!({"code": -32601, "message": "unknown"});
            return Some(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}
