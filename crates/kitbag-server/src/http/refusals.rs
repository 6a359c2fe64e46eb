//! Answers to requests that are not answered otherwise: the status, and an error of the protocol that says what to do.

use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use kitbag::connect::raw::NotAMessage;

use super::accept::Unacceptable;
use crate::rpc::{self, RpcError, code};

pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

pub(super) fn bad_request(message: &str) -> Response {
    json(StatusCode::BAD_REQUEST, rpc::refusal(&RpcError::new(code::INVALID_REQUEST, message)))
}

/// Why a body is no message.
pub(super) fn unreadable(body: &[u8], error: NotAMessage) -> RpcError {
    match error {
        NotAMessage::Malformed if body.trim_ascii_start().starts_with(b"[") => {
            RpcError::new(code::INVALID_REQUEST, "batches are not accepted: send each message by itself")
        }
        NotAMessage::Malformed | NotAMessage::Echo => {
            RpcError::new(code::INVALID_REQUEST, format!("the body is {error}"))
        }
        NotAMessage::Noise | NotAMessage::Encoding => {
            RpcError::new(code::PARSE, format!("the body is {error}"))
        }
    }
}

pub(super) fn method_not_allowed(allowed: &'static str) -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, HeaderValue::from_static(allowed))]).into_response()
}

pub(super) fn unacceptable(error: Unacceptable) -> Response {
    let status = match error {
        Unacceptable::Answer | Unacceptable::Stream => StatusCode::NOT_ACCEPTABLE,
        Unacceptable::Body => StatusCode::UNSUPPORTED_MEDIA_TYPE,
    };
    json(status, rpc::refusal(&RpcError::new(code::INVALID_REQUEST, error.to_string())))
}

pub(super) fn too_many_sessions() -> Response {
    let message = "too many sessions are in use: end one, or raise `serve_user_sessions` in [limits]";
    json(StatusCode::SERVICE_UNAVAILABLE, rpc::refusal(&RpcError::new(code::INVALID_REQUEST, message)))
}

/// Also for a session of another user.
pub(super) fn unknown_session() -> Response {
    let error = RpcError::new(code::INVALID_REQUEST, "this session has ended: begin with initialize");
    json(StatusCode::NOT_FOUND, rpc::refusal(&error))
}

/// The endpoint ends: whoever comes now finds the next one at the same address.
pub(super) fn ending() -> Response {
    let error = RpcError::new(code::INTERNAL, "kitbag is shutting down: try again in a moment");
    let mut response = last(json(StatusCode::SERVICE_UNAVAILABLE, rpc::refusal(&error)));
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// The last answer on its connection.
pub(super) fn last(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
