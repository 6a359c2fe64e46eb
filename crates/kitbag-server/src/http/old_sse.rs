//! The HTTP+SSE transport of 2024-11-05, for hosts that know nothing newer: one stream on which everything comes, and an
//! address to send to, which its first event names. The session is as long as the stream.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use kitbag::connect::raw::{Message, decode};
use kitbag::{CancellationToken, Limits, ServerName, UserId};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::messages::App;
use super::refusals::{
    bad_request, json, method_not_allowed, too_many_sessions, unacceptable, unknown_session, unreadable,
};
use super::sessions::{Session, SessionUse};
use super::streams::StreamPlace;
use super::{accept, door, events};
use crate::access::Refused;
use crate::answer::{Incoming, answer};
use crate::backlog::{Backlog, Room};
use crate::call;
use crate::client::Out;
use crate::endpoint::Scope;
use crate::news::NewsSource;
use crate::rpc::{self, RpcError, code};

/// Where a client of this transport sends its messages.
pub(super) const MESSAGES: &str = "/messages";

pub(super) async fn everything(State(app): State<Arc<App>>, request: Request) -> Response {
    open(app, Scope::Everything, request).await
}

pub(super) async fn of_server(
    State(app): State<Arc<App>>,
    Path(server): Path<String>,
    request: Request,
) -> Response {
    match ServerName::parse(&server) {
        Ok(server) => open(app, Scope::Server(server), request).await,
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) async fn of_agent(
    State(app): State<Arc<App>>,
    Path(agent): Path<String>,
    request: Request,
) -> Response {
    open(app, Scope::Agent(agent), request).await
}

/// What a session of this transport has beside others.
pub(super) struct Channel {
    out: Out,
    backlog: Backlog,
    /// Told when the client is ready to hear more than answers.
    greeted: CancellationToken,
    /// Its requests in flight.
    tasks: TaskTracker,
}

impl Channel {
    /// Waits until the endpoint ends, and then for what is still in flight.
    async fn last(&self, stop: &CancellationToken) {
        stop.cancelled().await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Answers on the stream. When the session ends, so does the request.
    fn answer(&self, session: &Arc<Session>, request: Incoming, room: Room) {
        let (session, out) = (session.clone(), self.out.clone());
        self.tasks.spawn(async move {
            let work = async {
                let outcome = call::or_told(&request, answer(&session.client, &request, &out).await);
                let _ = out.send(rpc::answer(&request.id, &outcome)).await;
            };
            session.ended.run_until_cancelled(work).await;
            drop(room);
        });
    }

    fn new(out: Out, limits: &Limits) -> Self {
        let (greeted, tasks) = (CancellationToken::new(), TaskTracker::new());
        Self { out, backlog: Backlog::new(limits), greeted, tasks }
    }
}

/// The stream of a session; when it is dropped, the session ends with its calls.
struct Opened {
    app: Arc<App>,
    id: String,
    session: Arc<Session>,
    endpoint: Option<Bytes>,
    messages: mpsc::Receiver<String>,
    /// From the moment on in which the client wants to hear of them.
    news: Option<NewsSource>,
    _use: SessionUse,
    _place: StreamPlace,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.app.sessions.end(&self.id, &self.session.client.user);
    }
}

async fn open(app: Arc<App>, scope: Scope, request: Request) -> Response {
    let door = app.clone();
    door.admitted(request, |user, parts, _| opened(app, scope, user, parts)).await
}

async fn opened(app: Arc<App>, scope: Scope, user: UserId, parts: Parts) -> Response {
    if parts.method != Method::GET {
        return method_not_allowed("GET");
    }
    if let Err(error) = accept::check_stream(&parts.headers) {
        return unacceptable(error);
    }
    let place = match app.stream(&user) {
        Ok(place) => place,
        Err(response) => return *response,
    };
    let Some(client) = app.client(scope, user, &parts.headers).await else {
        return door::answer(Refused::UnknownUser);
    };
    let Some((id, session)) = app.sessions.begin(client) else { return too_many_sessions() };
    let (out, messages) = mpsc::channel(app.limits.queue);
    session.open_channel(Channel::new(out, &app.limits));
    let endpoint = Some(events::named("endpoint", &format!("{MESSAGES}?sessionId={id}")));
    let (in_use, alive) = (session.in_use(), app.limits.serve_alive);
    let opened = Opened { app, id, session, endpoint, messages, news: None, _use: in_use, _place: place };
    events::telling(
        stream::unfold(opened, async |mut opened| Some((opened.next().await?, opened))).boxed(),
        alive,
    )
}

impl Opened {
    /// The next event; none when the session is over.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(endpoint) = self.endpoint.take() {
            return Some(endpoint);
        }
        let channel = self.session.channel()?;
        loop {
            let message = tokio::select! {
                biased;
                message = self.messages.recv() => message?,
                () = self.session.ended.cancelled() => return None,
                () = channel.last(&self.app.stop) => return None,
                () = channel.greeted.cancelled(), if self.news.is_none() => {
                    self.news = Some(NewsSource::since_read(&self.session.client));
                    continue;
                }
                news = told(&mut self.news) => news,
            };
            return Some(events::event(&message));
        }
    }
}

/// What is new; waits for ever where nothing ever will be.
async fn told(news: &mut Option<NewsSource>) -> String {
    match news {
        Some(source) => match source.next().await {
            Some(news) => news.plain(),
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

pub(super) async fn messages(State(app): State<Arc<App>>, request: Request) -> Response {
    app.admitted(request, |user, parts, body| taken(&app, user, parts, body)).await
}

async fn taken(app: &App, user: UserId, parts: Parts, body: Body) -> Response {
    if parts.method != Method::POST {
        return method_not_allowed("POST");
    }
    let id =
        parts.uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")));
    let Some(id) = id else { return bad_request("the address has no sessionId: it comes with GET /sse") };
    let Some(session) = app.sessions.find(id, &user) else { return unknown_session() };
    let Some(channel) = session.channel() else { return unknown_session() };
    let body = match app.read(&parts.headers, body).await {
        Ok(body) => body,
        Err(response) => return *response,
    };
    let Some(room) = channel.backlog.room_now(body.len()) else {
        let message = "too much is in flight: read the answers first, or raise `serve_backlog` in [limits]";
        let error = RpcError::new(code::INVALID_REQUEST, message);
        return json(StatusCode::TOO_MANY_REQUESTS, rpc::refusal(&error));
    };
    match decode(&body) {
        Ok(Message::Request { id, method, params }) => match Incoming::new(id, &method, params) {
            Ok(request) => channel.answer(&session, request, room),
            Err(error) => return json(StatusCode::BAD_REQUEST, rpc::answer(id, &Err(error))),
        },
        Ok(message) => {
            if matches!(&message, Message::Notification { method, .. } if method == "notifications/initialized")
            {
                channel.greeted.cancel();
            }
            session.client.told(message);
        }
        Err(error) => return json(StatusCode::BAD_REQUEST, rpc::refusal(&unreadable(&body, error))),
    }
    (StatusCode::ACCEPTED, "Accepted").into_response()
}
