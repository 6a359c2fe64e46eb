//! A server of a few lines, for tests that decide what it says.

use std::sync::{Arc, Mutex};

use kitbag::{Env, Kitbag, OpenOptions, ServerName, ServerSpec, Setup, in_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// Every message a server received.
pub(super) type Heard = Arc<Mutex<Vec<Value>>>;

/// What a server says to one message: any messages, in order.
pub(super) type Say = fn(&Value) -> Vec<Value>;

pub(super) fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

/// A server of the older protocol with one tool, `echo`; `say` answers everything but the opening.
pub(super) fn server(server: &str, say: Say) -> (ServerSpec, Heard) {
    let heard = Heard::default();
    let spec = in_process(name(server), {
        let heard = heard.clone();
        move |io| serve(io, heard.clone(), say)
    });
    (spec, heard)
}

async fn serve(io: DuplexStream, heard: Heard, say: Say) {
    let (read, mut write) = tokio::io::split(io);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        heard.lock().unwrap().push(message.clone());
        for answer in opening(&message).unwrap_or_else(|| say(&message)) {
            write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }
}

/// What it says to whatever opens a conversation.
pub(super) fn opening(message: &Value) -> Option<Vec<Value>> {
    let result = match message["method"].as_str()? {
        "server/discover" => {
            let error = json!({"code": -32601, "message": "unknown"});
            return Some(vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error})]);
        }
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "notifications/initialized" | "notifications/cancelled" => return Some(Vec::new()),
        _ => return None,
    };
    Some(vec![answer(message, result)])
}

/// The answer to a request.
pub(super) fn answer(request: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

pub(super) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(super) fn says_hi(request: &Value) -> Vec<Value> {
    vec![answer(request, text("hi"))]
}

pub(super) async fn open(specs: Vec<ServerSpec>, options: OpenOptions) -> Kitbag {
    let (kit, faults) = Kitbag::open_with(Setup::from_specs(Env::default(), specs), options).await.unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    kit
}

/// Waits until a server has received a message of this method.
pub(super) async fn until_heard(heard: &Heard, method: &str) -> Value {
    let found = || heard.lock().unwrap().iter().find(|message| message["method"] == method).cloned();
    loop {
        match found() {
            Some(message) => return message,
            None => tokio::task::yield_now().await,
        }
    }
}
