//! Several messages in one body, as the revision 2025-03-26 alone has them. They are answered together; what servers tell
//! meanwhile is left out, for there is no stream that it belongs to.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::join_all;
use kitbag::UserId;
use kitbag::connect::raw::{Message, decode};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::messages::{App, VERSION};
use super::refusals::{bad_request, json, unknown_session, unreadable};
use super::sessions::Session;
use crate::answer::{Incoming, answer};
use crate::call;
use crate::rpc::{self, RpcError, code};

/// The revision that has them; its clients send no header with it.
const REVISION: &str = "2025-03-26";

/// Whether a body holds several messages.
pub(super) fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'[')
}

impl App {
    /// Answers all messages of a body together.
    pub(super) async fn batch(&self, user: &UserId, headers: &HeaderMap, body: &[u8]) -> Response {
        if headers.get(VERSION).is_some_and(|version| version != REVISION) {
            return bad_request("batches are not part of this revision: send each message by itself");
        }
        let session = match self.session(user, headers) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        let parts: Vec<&RawValue> = match serde_json::from_slice(body) {
            Ok(parts) => parts,
            Err(error) => {
                let error = RpcError::new(code::PARSE, format!("the body is not JSON: {error}"));
                return json(StatusCode::BAD_REQUEST, rpc::refusal(&error));
            }
        };
        if parts.is_empty() || self.limits.queue < parts.len() {
            return bad_request(&format!("a batch has 1 to {} messages", self.limits.queue));
        }
        let _in_use = session.in_use();
        let answering = join_all(parts.into_iter().map(|part| one(&session, part.get().as_bytes())));
        let Some(answers) = session.ended.run_until_cancelled(answering).await else {
            return unknown_session();
        };
        let answers: Vec<String> = answers.into_iter().flatten().collect();
        if answers.is_empty() {
            return StatusCode::ACCEPTED.into_response();
        }
        json(StatusCode::OK, format!("[{}]", answers.join(",")))
    }
}

/// The answer to one message, if it has one.
async fn one(session: &Arc<Session>, part: &[u8]) -> Option<String> {
    match decode(part) {
        Ok(Message::Request { id, method, .. }) if method == "initialize" => {
            let error = RpcError::new(code::INVALID_REQUEST, "initialize must not be part of a batch");
            Some(rpc::answer(id, &Err(error)))
        }
        Ok(Message::Request { id, method, params }) => match Incoming::new(id, &method, params) {
            Ok(request) => {
                let (out, _) = mpsc::channel(1);
                let outcome = call::or_told(&request, answer(&session.client, &request, &out).await);
                Some(rpc::answer(id, &outcome))
            }
            Err(error) => Some(rpc::answer(id, &Err(error))),
        },
        Ok(message) => {
            session.client.told(message);
            None
        }
        Err(error) => Some(rpc::refusal(&unreadable(part, error))),
    }
}
