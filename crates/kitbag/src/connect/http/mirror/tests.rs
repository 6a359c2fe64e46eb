use serde_json::json;

use super::super::super::list::{RawTool, ToolList};
use super::*;

fn tool(name: &str, properties: Value) -> RawTool {
    let schema = json!({"type": "object", "properties": properties});
    let raw = serde_json::value::to_raw_value(&json!({"name": name, "inputSchema": schema})).unwrap();
    RawTool { name: kitbag_core::ToolName::parse(name).unwrap(), raw }
}

fn learnt(tools: Vec<RawTool>) -> (Mirrors, ToolList) {
    let mirrors = Mirrors::default();
    let mut list = ToolList { tools, ..ToolList::default() };
    mirrors.learn(&mut list);
    (mirrors, list)
}

#[test]
fn t41_a_tool_whose_marks_break_the_rules_is_left_out() {
    let text = |mark: Value| json!({"type": "string", "x-mcp-header": mark});
    let bad = [
        ("empty", json!({"a": text(json!(""))})),
        ("blank", json!({"a": text(json!("a b"))})),
        ("line", json!({"a": text(json!("X\r\nEvil: 1"))})),
        ("letters", json!({"a": text(json!("Größe"))})),
        ("number", json!({"a": text(json!(7))})),
        ("twice", json!({"a": text(json!("Region")), "b": text(json!("REGION"))})),
        ("object", json!({"a": {"type": "object", "x-mcp-header": "X"}})),
        ("fraction", json!({"a": {"type": "number", "x-mcp-header": "X"}})),
        ("typeless", json!({"a": {"x-mcp-header": "X"}})),
        ("items", json!({"a": {"type": "array", "items": text(json!("X"))}})),
        ("either", json!({"a": {"anyOf": [text(json!("X"))]}})),
    ];
    let mut tools: Vec<RawTool> = bad.iter().map(|(name, schema)| tool(name, schema.clone())).collect();
    tools.push(tool("good", json!({"r": text(json!("Region")), "in": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}})));
    tools.push(tool("parameter_of_that_name", json!({"x-mcp-header": {"type": "string"}})));
    let (_, list) = learnt(tools);
    let left: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(left, ["good", "parameter_of_that_name"]);
    assert_eq!(list.rejected.len(), bad.len(), "{:?}", list.rejected);
}

#[test]
fn t41_values_travel_as_they_are_or_encoded() {
    let marked = |kind: &str, mark: &str| json!({"type": kind, "x-mcp-header": mark});
    let schema = json!({
        "s": marked("string", "S"), "n": marked("integer", "N"), "b": marked("boolean", "B"),
        "deep": {"type": "object", "properties": {"x": marked("string", "Deep")}},
    });
    let (mirrors, _) = learnt(vec![tool("t", schema)]);
    let sent = |arguments: Value| {
        let raw = serde_json::value::to_raw_value(&arguments).unwrap();
        let headers = mirrors.headers("t", Some(raw.get().as_bytes()));
        headers.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(
        sent(json!({"s": "us-west1", "n": 42, "b": true, "deep": {"x": "y"}})),
        ["mcp-param-s=us-west1", "mcp-param-n=42", "mcp-param-b=true", "mcp-param-deep=y"]
    );
    assert_eq!(sent(json!({"s": "a\r\nEvil: 1"})), ["mcp-param-s==?base64?YQ0KRXZpbDogMQ==?="]);
    assert_eq!(sent(json!({"s": "Hello, 世界"})), ["mcp-param-s==?base64?SGVsbG8sIOS4lueVjA==?="]);
    assert_eq!(sent(json!({"s": " padded "})), ["mcp-param-s==?base64?IHBhZGRlZCA=?="]);
    assert_eq!(sent(json!({"s": "=?base64?x?="})), ["mcp-param-s==?base64?PT9iYXNlNjQ/eD89?="]);
    assert_eq!(sent(json!({"s": null, "n": [1]})), Vec::<String>::new());
}
