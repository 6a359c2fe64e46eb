//! What the headers of a request of the newer era must say: the same as its body.

use axum::http::HeaderMap;

use crate::answer::Incoming;
use crate::rpc::{RpcError, code};

/// Whether a request says what it must, and the same in headers and body: intermediaries decide by the headers. A revision
/// that is two different ones is told before one that is not spoken here.
pub(super) fn check(headers: &HeaderMap, request: &Incoming) -> Result<(), RpcError> {
    let mismatch = |message: String| RpcError::new(code::HEADER_MISMATCH, message);
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let compare = |name: &str, body: &str| match said(name) {
        Some(said) if decoded(said) == body => Ok(()),
        Some(said) => Err(mismatch(format!("{name} is {said:?}, the body says {body:?}"))),
        None => Err(mismatch(format!("the header {name} is missing; the body says {body:?}"))),
    };
    if let Some(version) = request.version() {
        compare("mcp-protocol-version", version)?;
    }
    request.check_modern()?;
    compare("mcp-method", &request.method)?;
    let params = request.read()?;
    let named = match request.method.as_str() {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        _ => return Ok(()),
    };
    match named {
        Some(named) => compare("mcp-name", &named),
        // What the body does not name is missing there, and told by whoever reads it.
        None if said("mcp-name").is_none() => Ok(()),
        None => compare("mcp-name", ""),
    }
}

/// A value that does not fit into a header is written in base64 within marks.
fn decoded(value: &str) -> String {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(|inner| data_encoding::BASE64.decode(inner.as_bytes()).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests;
