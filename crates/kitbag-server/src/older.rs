//! What clients of the older era cannot read: structured content that is no object, and schemas of it. Their SDKs refuse the
//! whole result, or the whole list, for it.

use kitbag::connect::raw::{members, quoted};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::rpc::{RpcError, raw};

#[cfg(test)]
mod tests;

const STRUCTURED: &str = "structuredContent";

/// The result of a call without structured content that is no object; where there is no other content, its JSON is that.
pub(crate) fn result(result: Box<RawValue>) -> Result<Box<RawValue>, RpcError> {
    if !result.get().contains(STRUCTURED) {
        return Ok(result);
    }
    let all = members(&result).unwrap_or_default();
    let is_odd = |key: &str, value: &RawValue| key == STRUCTURED && !value.get().starts_with('{');
    let Some(odd) = all.iter().rev().find(|(key, value)| is_odd(key, value)).map(|(_, value)| value.get())
    else {
        return Ok(result);
    };
    let is_empty = |value: &RawValue| {
        serde_json::from_str::<Vec<&RawValue>>(value.get()).is_ok_and(|all| all.is_empty())
    };
    let has_content = all.iter().any(|(key, value)| key == "content" && !is_empty(value));
    let is_kept = |key: &str| key != STRUCTURED && (has_content || key != "content");
    let kept = all.iter().filter(|(key, _)| is_kept(key));
    let mut kept: Vec<String> = kept.map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
    if !has_content {
        let text = (odd != "null").then(|| json!({"type": "text", "text": odd}));
        kept.push(format!("\"content\":{}", Value::from_iter(text)));
    }
    raw(format!("{{{}}}", kept.join(",")))
}

/// Whether the schema of a tool's structured content lets it be something else than an object.
pub(crate) fn is_readable(definition: &Value) -> bool {
    definition.get("outputSchema").is_none_or(|schema| schema["type"] == "object")
}
