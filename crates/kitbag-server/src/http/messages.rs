//! One request of HTTP: who makes it, for which part of everything, and the message in it.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_LENGTH, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use kitbag::connect::raw::{Message, decode};
use kitbag::{CancellationToken, Limits, ServerName, UserId};
use tokio::sync::mpsc;

use super::door::{self, Door};
use super::events::First;
use super::ops::Readiness;
use super::refusals::{
    bad_request, ending, json, last, method_not_allowed, too_many_sessions, unacceptable, unknown_session,
    unreadable,
};
use super::sessions::{Session, Sessions};
use super::streams::{StreamPlace, Streams};
use super::{accept, batch, events, modern};
use crate::access::Refused;
use crate::answer::{Incoming, LEGACY, MODERN, Speech, answer};
use crate::audience::Wishes;
use crate::client::{Client, Out};
use crate::endpoint::{Endpoint, Scope};
use crate::listen::{self, Subscription};
use crate::metrics::Metrics;
use crate::passes::Pass;
use crate::rpc::{self, RpcError, code};

const SESSION: &str = "mcp-session-id";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// What every request needs.
pub(super) struct App {
    pub(super) endpoint: Endpoint,
    pub(super) door: Door,
    pub(super) metrics: Arc<Metrics>,
    pub(super) readiness: Readiness,
    pub(super) sessions: Sessions,
    pub(super) streams: Streams,
    pub(super) limits: Arc<Limits>,
    pub(super) stop: CancellationToken,
}

pub(super) async fn everything(State(app): State<Arc<App>>, request: Request) -> Response {
    app.handle(Scope::Everything, request).await
}

/// The same for a request that no router looked at.
pub(super) async fn at_once(app: &App, request: Request) -> Response {
    let is_last = request.headers().contains_key(TRANSFER_ENCODING);
    let response = app.handle(Scope::Everything, request).await;
    if is_last { last(response) } else { response }
}

pub(super) async fn of_server(
    State(app): State<Arc<App>>,
    Path(server): Path<String>,
    request: Request,
) -> Response {
    match ServerName::parse(&server) {
        Ok(server) => app.handle(Scope::Server(server), request).await,
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn of_agent(
    State(app): State<Arc<App>>,
    Path(agent): Path<String>,
    request: Request,
) -> Response {
    app.handle(Scope::Agent(agent), request).await
}

/// Where a body ends that says no length is found out by reading it, and what comes behind it is nobody's next request:
/// the answer is the last on its connection.
pub(super) async fn without_length(request: Request, next: Next) -> Response {
    let is_last = request.headers().contains_key(TRANSFER_ENCODING);
    let response = next.run(request).await;
    if is_last { last(response) } else { response }
}

impl App {
    /// Answers a request as its user, if it may be made at all, and for as long as it may.
    pub(super) async fn admitted<W: Future<Output = Response>>(
        &self,
        request: Request,
        work: impl FnOnce(UserId, Parts, Body) -> W,
    ) -> Response {
        let (mut parts, body) = request.into_parts();
        Wishes::take_from_address(&parts.uri, &mut parts.headers);
        match self.admit(&parts).await {
            Ok(pass) => {
                let work = work(pass.user.clone(), parts, body);
                self.door.within(pass, work).await
            }
            Err(response) => *response,
        }
    }

    async fn admit(&self, parts: &Parts) -> Result<Pass, Box<Response>> {
        if self.stop.is_cancelled() {
            return Err(Box::new(ending()));
        }
        if !names_one_host(parts) {
            return Err(Box::new(bad_request("the address and Host name different hosts")));
        }
        let pass = self.door.let_in(parts).await?;
        Wishes::read(&parts.headers).map_err(|message| Box::new(bad_request(&message)))?;
        Ok(pass)
    }

    async fn handle(&self, scope: Scope, request: Request) -> Response {
        self.admitted(request, |user, parts, body| self.answered(scope, user, parts, body)).await
    }

    async fn answered(&self, scope: Scope, user: UserId, parts: Parts, body: Body) -> Response {
        match parts.method {
            Method::POST => self.post(scope, user, &parts.headers, body).await,
            Method::GET => self.listen(&user, &parts.headers),
            Method::DELETE => match session_id(&parts.headers) {
                Some(id) if self.sessions.end(id, &user) => StatusCode::NO_CONTENT.into_response(),
                Some(_) => unknown_session(),
                None => bad_request("the header Mcp-Session-Id is missing"),
            },
            _ => method_not_allowed("GET, POST, DELETE"),
        }
    }

    /// The stream of a session of the older era.
    fn listen(&self, user: &UserId, headers: &HeaderMap) -> Response {
        let Some(id) = session_id(headers) else {
            return method_not_allowed("POST");
        };
        if let Err(error) = accept::check_stream(headers) {
            return unacceptable(error);
        }
        let Some(session) = self.sessions.find(id, user) else { return unknown_session() };
        let place = match self.stream(user) {
            Ok(place) => place,
            Err(response) => return *response,
        };
        let Some(listener) = session.listen(place) else {
            let error = RpcError::new(code::INVALID_REQUEST, "this session has a stream already");
            return json(StatusCode::CONFLICT, rpc::refusal(&error));
        };
        events::listening(listener, self.limits.serve_alive, self.stop.clone())
    }

    /// A place for one more stream of a user's.
    pub(super) fn stream(&self, user: &UserId) -> Result<StreamPlace, Box<Response>> {
        self.streams.open(user).ok_or_else(|| {
            let message = "too many streams are open: close one, or raise `serve_streams` in [limits]";
            let error = RpcError::new(code::INVALID_REQUEST, message);
            Box::new(json(StatusCode::TOO_MANY_REQUESTS, rpc::refusal(&error)))
        })
    }

    async fn post(&self, scope: Scope, user: UserId, headers: &HeaderMap, body: Body) -> Response {
        if let Err(error) = accept::check_message(headers) {
            return unacceptable(error);
        }
        let body = match self.read(headers, body).await {
            Ok(body) => body,
            Err(response) => return *response,
        };
        if batch::is_batch(&body) {
            return self.batch(&user, headers, &body).await;
        }
        match decode(&body) {
            Ok(Message::Request { id, method, params }) => match Incoming::new(id, &method, params) {
                Ok(request) => self.request(scope, user, headers, request).await,
                Err(error) => json(StatusCode::BAD_REQUEST, rpc::answer(id, &Err(error))),
            },
            Ok(message) => match self.session(&user, headers) {
                Ok(session) => {
                    session.client.told(message);
                    StatusCode::ACCEPTED.into_response()
                }
                // In the newer era there is nothing to belong to: cancelling is closing the stream.
                Err(_) if headers.get(VERSION).is_some_and(|version| version == MODERN) => {
                    StatusCode::ACCEPTED.into_response()
                }
                Err(response) => *response,
            },
            Err(error) => json(StatusCode::BAD_REQUEST, rpc::refusal(&unreadable(&body, error))),
        }
    }

    /// The body, if it is small enough and comes in time. One that says it is too large is not read at all.
    pub(super) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Box<Response>> {
        let most = self.limits.serve_body;
        let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if said.is_some_and(|said| u64::try_from(most).is_ok_and(|most| most < said)) {
            return Err(Box::new(self.too_large()));
        }
        match tokio::time::timeout(self.limits.serve_request, to_bytes(body, most)).await {
            Ok(Ok(body)) => Ok(body),
            // Too large, or its connection broke: then nobody reads this.
            Ok(Err(_)) => Err(Box::new(self.too_large())),
            Err(_) => {
                let error =
                    RpcError::new(code::INVALID_REQUEST, "the body of the request did not come in time");
                Err(Box::new(last(json(StatusCode::REQUEST_TIMEOUT, rpc::refusal(&error)))))
            }
        }
    }

    fn too_large(&self) -> Response {
        let most = self.limits.serve_body;
        let message = format!("the body is larger than {most} bytes, `serve_body` in [limits]");
        let error = RpcError::new(code::INVALID_REQUEST, message);
        last(json(StatusCode::PAYLOAD_TOO_LARGE, rpc::refusal(&error)))
    }

    async fn request(&self, scope: Scope, user: UserId, headers: &HeaderMap, request: Incoming) -> Response {
        if request.speech() == Speech::Modern {
            if let Err(error) = modern::check(headers, &request) {
                return json(StatusCode::BAD_REQUEST, rpc::answer(&request.id, &Err(error)));
            }
            let Some(client) = self.client(scope, user, headers).await else {
                return door::answer(Refused::UnknownUser);
            };
            if request.method == listen::METHOD {
                return self.subscribe(&client, &request).await;
            }
            return self.answer(client, request).await;
        }
        // Says that it is of the newer era, and not what a request of that era must say.
        if headers.get(VERSION).is_some_and(|version| version == MODERN)
            && let Err(error) = request.check_modern()
        {
            return json(StatusCode::BAD_REQUEST, rpc::answer(&request.id, &Err(error)));
        }
        if request.method != "initialize" {
            return match self.session(&user, headers) {
                Ok(session) => self.answer_in(&session, request).await,
                Err(response) => *response,
            };
        }
        let Some(client) = self.client(scope, user, headers).await else {
            return door::answer(Refused::UnknownUser);
        };
        let Some((id, session)) = self.sessions.begin(client) else {
            return too_many_sessions();
        };
        let mut response = self.answer_in(&session, request).await;
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    /// Opens a subscription of the newer era.
    async fn subscribe(&self, client: &Arc<Client>, request: &Incoming) -> Response {
        let place = match self.stream(&client.user) {
            Ok(place) => place,
            Err(response) => return *response,
        };
        match Subscription::open(client, request).await {
            Ok(subscription) => {
                events::subscribed(subscription, place, self.limits.serve_alive, self.stop.clone())
            }
            Err(error) => json(StatusCode::BAD_REQUEST, rpc::answer(&request.id, &Err(error))),
        }
    }

    pub(super) async fn client(
        &self,
        scope: Scope,
        user: UserId,
        headers: &HeaderMap,
    ) -> Option<Arc<Client>> {
        let kit = self.endpoint.kit(&user).await?;
        let client = Client::new(self.endpoint.clone(), kit, user, scope);
        client.audience.wishes(Wishes::read(headers).unwrap_or_default());
        Some(client)
    }

    /// The session a request of the older era belongs to.
    pub(super) fn session(&self, user: &UserId, headers: &HeaderMap) -> Result<Arc<Session>, Box<Response>> {
        if let Some(version) = headers.get(VERSION)
            && !LEGACY.iter().any(|known| version == known)
        {
            let message =
                format!("MCP-Protocol-Version is none that is spoken here: {MODERN}, {}", LEGACY.join(", "));
            return Err(Box::new(bad_request(&message)));
        }
        let Some(id) = session_id(headers) else {
            return Err(Box::new(bad_request("the header Mcp-Session-Id is missing: begin with initialize")));
        };
        self.sessions.find(id, user).ok_or_else(|| Box::new(unknown_session()))
    }

    /// Answers a request of a session. When the session ends, so do its calls.
    async fn answer_in(&self, session: &Arc<Session>, request: Incoming) -> Response {
        let in_use = session.in_use();
        let answering = self.answer(session.client.clone(), request);
        match session.ended.run_until_cancelled(answering).await {
            Some(response) => response.map(|body| events::in_use(body, in_use)),
            None => unknown_session(),
        }
    }

    /// Answers with JSON, or with a stream where there is something to say before, or nothing for long.
    async fn answer(&self, client: Arc<Client>, request: Incoming) -> Response {
        let alive = self.limits.serve_alive;
        let (out, mut messages): (Out, _) = mpsc::channel(self.limits.queue);
        let speech = request.speech();
        let work = async move {
            let outcome = answer(&client, &request, &out).await;
            let headers = Head::of(speech, &outcome);
            (rpc::answer(&request.id, &outcome), headers)
        };
        let mut work = Box::pin(work);
        let first = tokio::select! {
            biased;
            // The work holds a sender, so there is a message.
            Some(message) = messages.recv() => First::Message(message),
            (answer, head) = &mut work => match messages.try_recv() {
                // What was said before it in the same moment comes before it.
                Ok(message) => return events::answered(&message, messages, &answer),
                Err(_) => return head.before(answer),
            },
            () = tokio::time::sleep(alive) => First::Alive,
        };
        let work = Box::pin(async move { work.await.0 });
        events::answering(first, messages, work, alive)
    }
}

/// What stands before an answer that is one message.
struct Head {
    status: StatusCode,
    /// When to come again, in seconds.
    retry_after: Option<u64>,
}

impl Head {
    fn of<T>(speech: Speech, outcome: &Result<T, RpcError>) -> Self {
        let error = outcome.as_ref().err();
        match error.and_then(|error| error.too_much.as_deref()) {
            Some(refused) => {
                Self { status: StatusCode::TOO_MANY_REQUESTS, retry_after: Some(refused.seconds()) }
            }
            None => Self { status: status(speech, error.map(|error| error.code)), retry_after: None },
        }
    }

    fn before(self, answer: String) -> Response {
        let mut response = json(self.status, answer);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The status of an answer: only the newer era gives errors one.
fn status(speech: Speech, error: Option<i64>) -> StatusCode {
    match (speech, error) {
        (Speech::Modern, Some(code::NO_METHOD)) => StatusCode::NOT_FOUND,
        (
            Speech::Modern,
            Some(
                code::UNSUPPORTED_VERSION
                | code::HEADER_MISMATCH
                | code::MISSING_CAPABILITY
                | code::INVALID_PARAMS,
            ),
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION).and_then(|id| id.to_str().ok())
}

/// Whether a request is meant for the host it names: an address may be written with its host, too.
fn names_one_host(parts: &Parts) -> bool {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    parts
        .uri
        .authority()
        .is_none_or(|named| host.is_some_and(|host| host.eq_ignore_ascii_case(named.as_str())))
}
