//! f65: reading along, roots before there is a call, and one revision for all.

use std::sync::{Arc, Mutex};

use kitbag::connect::{Trace, TraceDirection, TraceLine};
use kitbag::{OpenOptions, ProtocolVersion, in_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::mpsc;

use super::server::{name, open, opening, says_hi, server};

#[derive(Default)]
struct Lines(Mutex<Vec<TraceLine>>);

impl Trace for Lines {
    fn trace(&self, line: &TraceLine) {
        self.0.lock().unwrap().push(line.clone());
        if line.text.contains("panic please") {
            panic!("as asked");
        }
    }
}

impl Lines {
    fn count(&self, direction: TraceDirection, word: &str) -> usize {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|line| line.direction == direction && line.text.contains(word)).count()
    }
}

#[tokio::test]
async fn f65_a_server_inside_the_program_is_traced_and_a_panic_of_the_reader_harms_nobody() {
    let (spec, _) = server("x", says_hi);
    let lines = Arc::new(Lines::default());
    let kit = open(vec![spec], OpenOptions { trace: Some(lines.clone()), ..OpenOptions::default() }).await;
    let result = kit.call("mcp_x_echo", r#"{"m": "panic please"}"#).await.unwrap();
    assert_eq!(result.content[0].as_text(), Some("hi"));
    assert_eq!(lines.count(TraceDirection::Sent, "tools/call"), 1);
    assert_eq!(lines.count(TraceDirection::Received, "\"hi\""), 1);
    assert!(lines.0.lock().unwrap().iter().all(|line| line.server == name("x")));
    kit.close().await;
    assert_eq!(lines.count(TraceDirection::Event, "connection closed"), 1);
}

/// Two handles share a server only where nobody reads along: else one would read what the other sends.
#[tokio::test]
async fn f65_whoever_reads_along_reads_nothing_of_another_handle() {
    let (spec, heard) = server("x", says_hi);
    let lines = Arc::new(Lines::default());
    let plain = open(vec![spec.clone()], OpenOptions::default()).await;
    let options = OpenOptions { trace: Some(lines.clone()), ..OpenOptions::default() };
    let traced = open(vec![spec], options).await;
    plain.call("mcp_x_echo", r#"{"m": "mine"}"#).await.unwrap();
    traced.call("mcp_x_echo", r#"{"m": "theirs"}"#).await.unwrap();
    assert_eq!(
        (lines.count(TraceDirection::Sent, "mine"), lines.count(TraceDirection::Sent, "theirs")),
        (0, 1)
    );
    assert_eq!(heard.lock().unwrap().iter().filter(|message| message["method"] == "initialize").count(), 2);
    plain.close().await;
    traced.close().await;
}

/// Asks for roots as soon as it is connected, as many servers do, and hands on what it is told.
async fn ask_early(io: DuplexStream, told: mpsc::Sender<Value>) {
    let (read, mut write) = tokio::io::split(io);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let mut answers = opening(&message).unwrap_or_default();
        match message["method"].as_str() {
            Some("notifications/initialized") => {
                answers.push(json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}));
            }
            Some("initialize") => told.send(message["params"]["capabilities"].clone()).await.unwrap(),
            Some(_) => {}
            None => told.send(message["result"].clone()).await.unwrap(),
        }
        for answer in answers {
            write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn f65_roots_are_told_before_there_is_a_call() {
    let (sender, mut told) = mpsc::channel(8);
    let spec = in_process(name("x"), move |io| ask_early(io, sender.clone()));
    let roots = vec!["/srv/a b".into()];
    let kit = open(vec![spec], OpenOptions { roots, ..OpenOptions::default() }).await;
    assert_eq!(told.recv().await, Some(json!({"roots": {}})));
    let root = json!({"uri": "file:///srv/a%20b", "name": "a b"});
    assert_eq!(told.recv().await, Some(json!({"roots": [root]})));
    kit.close().await;
}

#[tokio::test]
async fn f65_one_revision_is_asked_for_and_no_other_is_tried() {
    let (spec, heard) = server("x", says_hi);
    let only_protocol = Some(ProtocolVersion::V2024_11_05);
    let kit = open(vec![spec], OpenOptions { only_protocol, ..OpenOptions::default() }).await;
    let methods: Vec<Value> = heard.lock().unwrap().iter().map(|message| message["method"].clone()).collect();
    assert_eq!(methods[0], "initialize", "{methods:?}");
    assert_eq!(heard.lock().unwrap()[0]["params"]["protocolVersion"], "2024-11-05");
    kit.close().await;
}
