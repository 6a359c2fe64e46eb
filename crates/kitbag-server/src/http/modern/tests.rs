use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::check;
use crate::answer::Incoming;

/// The code a request is refused with; 0 where it is not.
#[track_caller]
fn code(headers: &[(&'static str, &'static str)], method: &str, version: Value, name: &str) -> i64 {
    let name = (!name.is_empty()).then_some(name);
    let params = json!({"name": name, "_meta": {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let raw = |value: &Value| RawValue::from_string(value.to_string()).unwrap();
    let request = Incoming::new(&raw(&json!(1)), method, Some(&raw(&params))).unwrap();
    let header = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    let headers: HeaderMap = headers.iter().map(header).collect();
    check(&headers, &request).map_or_else(|error| error.code, |()| 0)
}

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const LIST: (&str, &str) = ("mcp-method", "tools/list");
const CALL: (&str, &str) = ("mcp-method", "tools/call");

#[test]
fn two_revisions_are_a_mismatch_before_they_are_unknown_ones() {
    let unknown = ("mcp-protocol-version", "v999");
    assert_eq!(code(&[VERSION, LIST], "tools/list", json!("2026-07-28"), ""), 0);
    assert_eq!(code(&[VERSION, LIST], "tools/list", json!("v999"), ""), -32020);
    assert_eq!(code(&[unknown, LIST], "tools/list", json!("2026-07-28"), ""), -32020);
    assert_eq!(code(&[unknown, LIST], "tools/list", json!("v999"), ""), -32022);
    assert_eq!(code(&[LIST], "tools/list", json!("2026-07-28"), ""), -32020);
}

#[test]
fn method_and_name_are_those_of_the_body() {
    let said = |name| code(&[VERSION, CALL, ("mcp-name", name)], "tools/call", json!("2026-07-28"), "grüße");
    assert_eq!(said("=?base64?Z3LDvMOfZQ==?="), 0);
    assert_eq!(said("gruesse"), -32020);
    assert_eq!(code(&[VERSION, CALL], "tools/call", json!("2026-07-28"), "x"), -32020);
    assert_eq!(code(&[VERSION, LIST], "tools/call", json!("2026-07-28"), "x"), -32020);
    assert_eq!(
        code(&[VERSION, CALL], "tools/call", json!("2026-07-28"), ""),
        0,
        "a missing name is told as such"
    );
    assert_eq!(code(&[VERSION, CALL, ("mcp-name", "x")], "tools/call", json!("2026-07-28"), ""), -32020);
    assert_eq!(code(&[VERSION], "tools/list", json!("2026-07-28"), ""), -32020);
}
