//! Messages of JSON-RPC, written. What they carry is JSON already and is copied as it is.

use kitbag::ErrorKind;
use kitbag::connect::raw::quoted;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::load::TooMuch;

/// Codes of the protocol.
pub(crate) mod code {
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    pub(crate) const NO_METHOD: i64 = -32601;
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    /// Of ours: come again later.
    pub(crate) const TOO_MUCH: i64 = -32029;
    pub(crate) const INTERNAL: i64 = -32603;
    pub(crate) const NO_RESOURCE: i64 = -32002;
    pub(crate) const HEADER_MISMATCH: i64 = -32020;
    pub(crate) const MISSING_CAPABILITY: i64 = -32021;
    pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
}

/// Why a request has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// Whether it is refused for now only, and why.
    pub(crate) too_much: Option<Box<TooMuch>>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, too_much: None }
    }

    pub(crate) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

impl From<TooMuch> for RpcError {
    fn from(refused: TooMuch) -> Self {
        let after = u64::try_from(refused.after.as_millis()).unwrap_or(u64::MAX);
        let data = json!({"kitbag/kind": ErrorKind::RateLimited.as_str(), "retryAfterMs": after});
        let error = Self::new(code::TOO_MUCH, refused.to_string()).with(data);
        Self { too_much: Some(Box::new(refused)), ..error }
    }
}

/// The answer to a request.
pub(crate) fn answer(id: &RawValue, outcome: &Result<Box<RawValue>, RpcError>) -> String {
    match outcome {
        Ok(result) => {
            let (id, result) = (id.get(), result.get());
            let mut line = String::with_capacity(id.len() + result.len() + 36);
            line.push_str(r#"{"jsonrpc":"2.0","id":"#);
            line.push_str(id);
            line.push_str(r#","result":"#);
            line.push_str(result);
            line.push('}');
            line
        }
        Err(error) => failure(id.get(), error),
    }
}

/// The answer to what could not be read far enough to know its id.
pub(crate) fn refusal(error: &RpcError) -> String {
    failure("null", error)
}

fn failure(id: &str, error: &RpcError) -> String {
    let data = error.data.as_ref().map_or_else(String::new, |data| format!(r#","data":{data}"#));
    let (code, message) = (error.code, quoted(&error.message));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#)
}

/// A request of ours.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, quoted(method))
}

/// A notification of ours.
pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#, quoted(method))
}

/// JSON that was written by us.
pub(crate) fn raw(text: String) -> Result<Box<RawValue>, RpcError> {
    RawValue::from_string(text).map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
}
