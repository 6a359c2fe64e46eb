//! The fake model is read by the providers' own SDKs: what it sends is their wire format, not only our idea of it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::FakeModel;

#[test]
fn the_official_sdks_read_every_wire_format_streamed_and_whole() {
    let calls = json!([["add", {"a": 2, "b": 40}], ["echo", {"message": "hel\"lo \u{fc}"}]]);
    let turn = json!({
        "reasoning": ["I must ", "add."], "text": ["Let me ", "see."], "usage": [10, 5],
        "calls": [{"name": "add", "arguments": calls[0][1]}, {
            "name": "echo", "arguments": calls[1][1], "namespace": "mcp__x",
        }],
    });
    let model = FakeModel::start(&json!({"turns": [turn]}));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sdk/read_model.py");
    // No key, address or proxy of this machine.
    let mut python = Command::new(testkit::tool("py-sdk/bin/python"));
    let ran = python.env_clear().arg("-B").arg(script).arg(model.url()).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    let lines: Vec<Value> = String::from_utf8_lossy(&ran.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sdks = ["openai", "openai-responses", "anthropic", "gemini", "ollama"];
    let read = |line: &Value| {
        let way = if line["way"] == "whole" { 0 } else { 1 };
        (sdks.iter().position(|sdk| line["sdk"] == *sdk), way)
    };
    let mut all: Vec<_> = lines.iter().map(read).collect();
    all.sort();
    let expected: Vec<_> = (0..sdks.len()).flat_map(|sdk| [(Some(sdk), 0), (Some(sdk), 1)]).collect();
    assert_eq!(all, expected, "{told}");
    for line in &lines {
        assert_eq!((&line["text"], &line["calls"]), (&json!("Let me see."), &calls), "{line}");
        assert_eq!(line["tokens"], json!([10, 5]), "{line}");
        let spaces = if line["sdk"] == "openai-responses" { json!([null, "mcp__x"]) } else { Value::Null };
        assert_eq!(line["namespaces"], spaces, "{line}");
    }
    assert!(ran.status.success(), "{told}");
}
