//! The providers' own SDKs have the last word on what their APIs take. `testdata/sdk/check.py` gives them the
//! definitions; nothing is sent.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kitbag_core::present::native::{Native, NativeRequest, Provider, compile};
use kitbag_core::shape::View;
use serde_json::{Value, json};

use super::corpus::{part, view};
use super::requests;

/// Tools in one request: as many as the provider with the least room takes.
const BATCH: usize = 128;

/// All recorded tools, as a client with room for so many would send them.
fn batches() -> Vec<View> {
    let recorded = testkit::corpus::all();
    let all: Vec<(&str, &Value)> =
        recorded.iter().flat_map(|one| one.tools.iter().map(|tool| (one.server.as_str(), tool))).collect();
    let batch = |tools: &[(&str, &Value)]| {
        let of_server = tools.chunk_by(|(one, _), (next, _)| one == next).map(|tools| {
            let definitions: Vec<Value> = tools.iter().map(|(_, tool)| Value::clone(tool)).collect();
            part(tools[0].0, &definitions)
        });
        view(of_server.collect())
    };
    all.chunks(BATCH).map(batch).collect()
}

/// A line that the check reads.
fn line(label: &str, provider: Provider, tools: &Value) -> String {
    json!({"label": label, "provider": provider.as_str(), "tools": tools}).to_string() + "\n"
}

/// What the SDKs say to these requests.
fn checked(lines: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sdk/check.py");
    let mut python = Command::new(testkit::tool("py-sdk/bin/python"));
    // No key, address or proxy of this machine.
    python.env_clear().arg("-B").arg(script);
    python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = python.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may end before it has read all; its output says why.
        scope.spawn(move || input.write_all(lines.as_bytes()));
        child.wait_with_output().unwrap()
    })
}

#[test]
fn the_sdks_take_every_definition_and_send_it_unchanged() {
    let (batches, mut lines, mut definitions) = (batches(), String::new(), 0);
    // No SDK speaks for the generic form.
    let requests: Vec<NativeRequest> =
        requests().into_iter().filter(|request| request.provider != Provider::Generic).collect();
    for request in &requests {
        for (number, view) in batches.iter().enumerate() {
            let label = format!("{} {:?} {:?} {number}", request.provider, request.strict, request.slim);
            let Native { tools, quarantined, .. } = compile(view, request);
            definitions += view.tools().len() - quarantined.len();
            lines.push_str(&line(&label, request.provider, &tools));
        }
    }
    assert_eq!(definitions, 832 * requests.len());
    let output = checked(&lines);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}", output.status);
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts["requests"], requests.len() * batches.len(), "{counts}");
    assert_eq!(counts["definitions"], definitions, "{counts}");
    assert_eq!(counts["refused"], 0, "{counts}");
}

/// A check that takes everything would prove nothing.
#[test]
fn the_sdks_refuse_what_is_wrong() {
    let schema = json!({"type": "object", "properties": {}});
    let wrong = [
        (Provider::OpenAiChat, json!([{"type": "function", "function": {"parameters": schema}}])),
        (Provider::OpenAiChat, json!([{"type": "function", "function": {"name": "a"}, "input": schema}])),
        (Provider::OpenAiResponses, json!([{"type": "function", "name": "a", "parameters": schema}])),
        (Provider::OpenAiResponses, json!([{"type": "function", "function": {"name": "a"}}])),
        (Provider::Anthropic, json!([{"name": "a", "input_schema": {"properties": {}}}])),
        (Provider::Anthropic, json!([{"name": "a", "parameters": schema}])),
        (Provider::Gemini, json!([{"functionDeclarations": [{"name": "a", "parametersJson": schema}]}])),
        (
            Provider::GeminiOpenApi,
            json!([{"functionDeclarations": [{"name": "a", "parameters": {"type": "object", "oneOf": []}}]}]),
        ),
        (
            Provider::GeminiOpenApi,
            json!([{"functionDeclarations": [{"name": "a", "parameters": {"type": ["string", "null"]}}]}]),
        ),
        // Taken, but it arrives in another spelling.
        (
            Provider::GeminiOpenApi,
            json!([{"functionDeclarations": [{"name": "a", "parameters": {"type": "Object"}}]}]),
        ),
    ];
    let label = |number: usize| format!("wrong {number}:");
    let lines = wrong
        .iter()
        .enumerate()
        .map(|(number, (provider, tools))| line(label(number).trim_end_matches(':'), *provider, tools));
    let output = checked(&lines.collect::<String>());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for (number, (provider, tools)) in wrong.iter().enumerate() {
        assert!(told.contains(&label(number)), "{provider} takes {tools}\n{told}");
    }
    let last = format!("{} arrived as", label(wrong.len() - 1));
    assert!(told.contains(&last), "{told}");
}
