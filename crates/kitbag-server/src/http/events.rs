//! Streams of events: what a server says before its answer, and what belongs to no request.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kitbag::CancellationToken;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::sessions::{Listener, SessionUse};
use super::streams::StreamPlace;
use crate::listen::Subscription;
use crate::news::NewsSource;

/// One message as an event. JSON of ours has no line ends.
pub(super) fn event(message: &str) -> Bytes {
    named("message", message)
}

/// An event of another kind.
pub(super) fn named(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Says that the other side is still there.
const ALIVE: &[u8] = b":\n\n";

fn streamed(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        // Proxies that gather an answer before they pass it on would hold every event back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (StatusCode::OK, headers, body).into_response()
}

/// Work whose end is one last message.
pub(super) type Work = Pin<Box<dyn Future<Output = String> + Send>>;

struct Answering {
    first: Option<Bytes>,
    messages: mpsc::Receiver<String>,
    work: Option<Work>,
    alive: Duration,
}

/// How the stream of a request begins.
pub(super) enum First {
    Message(String),
    /// With the word that it goes on: proxies and clients cut off what says nothing.
    Alive,
}

/// The messages of a request, then its answer. Whoever drops the stream drops the work: the call is cancelled.
pub(super) fn answering(
    first: First,
    messages: mpsc::Receiver<String>,
    work: Work,
    alive: Duration,
) -> Response {
    let first = match first {
        First::Message(message) => event(&message),
        First::Alive => Bytes::from_static(ALIVE),
    };
    let state = Answering { first: Some(first), messages, work: Some(work), alive };
    let events = stream::unfold(state, async |mut state| {
        if let Some(first) = state.first.take() {
            return Some((Ok::<_, Infallible>(first), state));
        }
        let work = state.work.as_mut()?;
        tokio::select! {
            biased;
            message = state.messages.recv() => {
                // The work holds a sender: there is a message as long as it goes on.
                let message = message?;
                Some((Ok(event(&message)), state))
            }
            answer = work => {
                state.work = None;
                Some((Ok(last(&mut state.messages, &answer)), state))
            }
            () = tokio::time::sleep(state.alive) => Some((Ok(Bytes::from_static(ALIVE)), state)),
        }
    });
    streamed(Body::from_stream(events))
}

/// The same for a request whose answer is there already.
pub(super) fn answered(first: &str, mut messages: mpsc::Receiver<String>, answer: &str) -> Response {
    let bytes = [event(first), last(&mut messages, answer)].concat();
    streamed(bytes.into())
}

/// What is still to be said, and the answer.
fn last(messages: &mut mpsc::Receiver<String>, answer: &str) -> Bytes {
    let mut bytes = Vec::new();
    while let Ok(message) = messages.try_recv() {
        bytes.extend_from_slice(&event(&message));
    }
    bytes.extend_from_slice(&event(answer));
    bytes.into()
}

/// What a session of the older era hears that belongs to no request, until the session or the endpoint ends.
pub(super) fn listening(listener: Listener, alive: Duration, stop: CancellationToken) -> Response {
    let news = NewsSource::since_read(&listener.session.client);
    let messages = stream::unfold((listener, news, stop), async |(listener, mut news, stop)| {
        let next = tokio::select! {
            () = stop.cancelled() => return None,
            () = listener.session.ended.cancelled() => return None,
            next = news.next() => next?,
        };
        Some((event(&next.plain()), (listener, news, stop)))
    });
    telling(messages.boxed(), alive)
}

/// A subscription of the newer era. When the endpoint ends, so does it, with its answer.
pub(super) fn subscribed(
    subscription: Subscription,
    place: StreamPlace,
    alive: Duration,
    stop: CancellationToken,
) -> Response {
    let messages = stream::unfold(Some((subscription, place, stop)), async |state| {
        let (mut subscription, place, stop) = state?;
        match stop.run_until_cancelled(subscription.next()).await.flatten() {
            Some(message) => Some((event(&message), Some((subscription, place, stop)))),
            None => Some((event(&subscription.end()), None)),
        }
    });
    telling(messages.boxed(), alive)
}

/// A body that belongs to a session as long as it goes on, and ends with it.
pub(super) fn in_use(body: Body, session: SessionUse) -> Body {
    if body.size_hint().exact().is_some() {
        return body;
    }
    let parts = stream::unfold((body.into_data_stream(), session), async |(mut parts, session)| {
        let part = session.ended().run_until_cancelled(parts.next()).await.flatten()?;
        Some((part, (parts, session)))
    });
    Body::from_stream(parts)
}

struct Telling {
    events: BoxStream<'static, Bytes>,
    alive: Duration,
    next: Instant,
}

/// Events that come by themselves, with signs of life between them. They are asked for as the client reads: one that
/// does not read holds nothing but what its connection holds.
pub(super) fn telling(events: BoxStream<'static, Bytes>, alive: Duration) -> Response {
    let state = Telling { events, alive, next: Instant::now() + alive };
    let events = stream::unfold(state, async |mut state| {
        let bytes = tokio::select! {
            biased;
            event = state.events.next() => event?,
            () = sleep_until(state.next) => Bytes::from_static(ALIVE),
        };
        state.next = Instant::now() + state.alive;
        Some((Ok::<_, Infallible>(bytes), state))
    });
    streamed(Body::from_stream(events))
}
