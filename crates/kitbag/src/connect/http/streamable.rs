//! The streamable transport: every line is posted, and what comes back comes as JSON or as a stream of events.
//!
//! Which era is spoken shows in the lines: those that carry their version are of the newer one and need no session,
//! no resuming and no second stream. A conversation that is over ends when what is in flight has ended, too.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::channel::{Closed, Incoming, LineSource, Outgoing, Sink, Unsent};
use super::super::list::ToolList;
use super::super::peer::RequestError;
use super::super::reason::ReasonClass;
use super::super::waits::late;
use super::doubt::Doubt;
use super::headers::{About, SESSION, VERSION, answers};
use super::mirror::Mirrors;
use super::reason::Trouble;
use super::remote::{Kind, Remote, error_in, kind_of};

mod streams;

#[cfg(test)]
mod tests;

/// A server spoken to by the streamable transport; clones share it.
#[derive(Clone)]
pub(crate) struct Streamable(Arc<Shared>);

struct Shared {
    remote: Remote,
    /// What the handshake settled: which session, which version.
    settled: Mutex<HeaderMap>,
    mirrors: Mirrors,
    flights: Mutex<HashMap<u64, Flight>>,
    landed: Notify,
    out: mpsc::Sender<Arrived>,
    room: Semaphore,
    over: watch::Sender<Option<(Closed, Instant)>>,
    /// Why the last connection could not be made, while nothing has succeeded since.
    unreachable: Mutex<Option<Closed>>,
    doubt: Doubt,
    /// Cancelled once an older server's second stream stands, or is known not to.
    overhears: CancellationToken,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// A request on its way.
struct Flight {
    stop: CancellationToken,
    is_modern: bool,
}

/// What came back.
enum Arrived {
    Line(Via, Vec<u8>),
    Failed(u64, RequestError),
}

/// Where a line came from.
#[derive(Clone, Copy)]
enum Via {
    /// The answer to a request.
    Answer(u64),
    /// A stream that belongs to none.
    Elsewhere,
}

/// The sending half.
pub(crate) struct Posts(Arc<Shared>);

/// The receiving half.
pub(crate) struct Answers {
    shared: Arc<Shared>,
    arrived: mpsc::Receiver<Arrived>,
    line: Vec<u8>,
}

impl Streamable {
    /// Takes an address over. `renewed` outlives the conversation; see [`Doubt`].
    pub(crate) fn start(
        remote: Remote,
        renewed: Arc<AtomicBool>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> (Self, Posts, Answers) {
        let (out, arrived) = mpsc::channel(remote.limits.queue);
        let shared = Arc::new(Shared {
            room: Semaphore::new(remote.limits.http_posts),
            remote,
            settled: Mutex::default(),
            mirrors: Mirrors::default(),
            flights: Mutex::default(),
            landed: Notify::new(),
            out,
            over: watch::Sender::new(None),
            unreachable: Mutex::default(),
            doubt: Doubt::new(renewed),
            overhears: CancellationToken::new(),
            tasks: tasks.clone(),
            stop: stop.clone(),
        });
        tasks.spawn(leave(shared.clone()));
        let answers = Answers { shared: shared.clone(), arrived, line: Vec::new() };
        (Self(shared.clone()), Posts(shared), answers)
    }

    /// Takes note of the parameters that go into headers; leaves tools out that mark them wrongly.
    pub(crate) fn learn(&self, list: &mut ToolList) {
        self.0.mirrors.learn(list);
    }

    /// Where it is, without secrets.
    pub(crate) fn address(&self) -> &str {
        &self.0.remote.address.shown
    }

    /// Whether the conversation is over, and ends when what is in flight has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.why_over().is_some()
    }

    /// Whether the server keeps a session for us.
    pub(crate) fn has_session(&self) -> bool {
        self.0.settled().contains_key(SESSION)
    }
}

/// Tells the server that its session is no longer needed, when everything is over.
async fn leave(shared: Arc<Shared>) {
    shared.stop.cancelled().await;
    let headers = shared.settled().clone();
    // A session that is lost needs no goodbye.
    if headers.contains_key(SESSION) && shared.over.borrow().is_none() {
        let _ = tokio::time::timeout(shared.remote.limits.wait_end / 5, shared.remote.leave(headers)).await;
    }
}

impl Sink for Posts {
    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        for outgoing in batch.drain(..) {
            let about = About::of(&outgoing, &self.0.mirrors);
            if let Some(id) = about.takes_back {
                // Newer servers see that nobody listens any more; older ones have to be told.
                if self.0.abort(id).is_none_or(|flight| flight.is_modern) {
                    continue;
                }
            }
            let shared = self.0.clone();
            // Registered here and not by the task: what ends meanwhile waits for it.
            let landing = Landing::of(&shared, &about);
            if about.method == "notifications/initialized" {
                // Nothing may overtake the end of the handshake.
                let wait = shared.remote.limits.wait_http;
                let carried = shared.clone().carry(outgoing.line.bytes, about, landing);
                let _ = tokio::time::timeout(wait, carried).await;
                shared.tasks.spawn(shared.clone().overhear());
            } else if about.is_request && about.id.is_none() {
                // A request whose answer nobody waits for stays open for as long as it likes.
                shared.tasks.spawn(shared.clone().subscribe(outgoing.line.bytes, about));
            } else {
                shared.tasks.spawn(shared.clone().carry(outgoing.line.bytes, about, landing));
            }
        }
        Ok(())
    }
}

impl LineSource for Answers {
    async fn next(&mut self) -> Incoming<'_> {
        // Who waits for the next message holds nothing of the last: it may have been large.
        self.line = Vec::new();
        let arrived = tokio::select! {
            biased;
            arrived = self.arrived.recv() => arrived,
            // The last to land may have said something just now.
            closed = self.shared.closed() => match self.arrived.try_recv() {
                Ok(arrived) => Some(arrived),
                Err(_) => return Incoming::Closed(closed),
            },
        };
        match arrived {
            Some(Arrived::Line(from, line)) => {
                self.line = line;
                let line = self.line.trim_ascii();
                match from {
                    Via::Answer(id) => Incoming::Beside { id, line },
                    Via::Elsewhere => Incoming::Line(line),
                }
            }
            Some(Arrived::Failed(id, error)) => Incoming::Failed { id, error },
            None => Incoming::Closed(Closed::by_us()),
        }
    }
}

impl Shared {
    fn settled(&self) -> MutexGuard<'_, HeaderMap> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<u64, Flight>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a request of ours; what it was, if it was on its way.
    fn abort(&self, id: u64) -> Option<Flight> {
        let flight = self.flights().remove(&id)?;
        flight.stop.cancel();
        Some(flight)
    }

    /// The conversation is over; what is in flight may still land.
    fn end(&self, closed: Closed) {
        let until = Instant::now() + self.remote.limits.wait_end;
        self.over.send_if_modified(|over| over.is_none().then(|| *over = Some((closed, until))).is_some());
    }

    fn unreachable(&self) -> MutexGuard<'_, Option<Closed>> {
        self.unreachable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No connection could be made for one request. Others that are in flight have one: as long as there are any, the
    /// server is not taken to be gone, and only this request fails.
    fn miss(&self, own: Option<u64>, closed: Closed) {
        let flights = self.flights();
        // Before the others can land: the last of them looks.
        *self.unreachable() = Some(closed.clone());
        let is_alone = flights.keys().all(|id| Some(*id) == own);
        drop(flights);
        if is_alone {
            self.end(closed);
        }
    }

    fn why_over(&self) -> Option<Closed> {
        self.over.borrow().as_ref().map(|(closed, _)| closed.clone())
    }

    /// Waits until it is over and everything has landed, or for no longer than an end may take.
    async fn closed(&self) -> Closed {
        let mut over = self.over.subscribe();
        let over = async {
            let seen = over.wait_for(Option::is_some).await.ok().and_then(|over| over.clone());
            let Some((closed, until)) = seen else { return std::future::pending().await };
            loop {
                let landed = self.landed.notified();
                tokio::pin!(landed);
                // Registered before looking, so that no landing is missed.
                landed.as_mut().enable();
                if self.flights().is_empty() || tokio::time::timeout_at(until, landed).await.is_err() {
                    return closed;
                }
            }
        };
        tokio::select! {
            closed = over => closed,
            () = self.stop.cancelled() => Closed::by_us(),
        }
    }

    /// Takes one line to the server and everything that comes back to the reader.
    async fn carry(self: Arc<Self>, line: Vec<u8>, about: About, landing: Landing) {
        let exchange = async {
            if about.method == "tools/call" && !about.is_modern {
                self.until_it_overhears().await;
            }
            let _room = self.room.acquire().await;
            // After all waiting: it may have been given up meanwhile.
            if let Some(closed) = self.why_over() {
                return Err(Trouble::Unreachable(closed.0));
            }
            self.exchange(line, &about).await
        };
        let outcome = tokio::select! {
            biased;
            () = landing.stop.cancelled() => return,
            outcome = exchange => outcome,
        };
        if let Err(trouble) = outcome {
            self.report(about.id, trouble).await;
        }
    }

    async fn report(&self, id: Option<u64>, trouble: Trouble) {
        // Before anybody is told: what comes next must not be posted into it.
        match (&trouble, trouble.end()) {
            (Trouble::Unreachable(_), Some(closed)) => self.miss(id, closed),
            (_, Some(closed)) => self.end(closed),
            (_, None) => {}
        }
        if let Some(id) = id {
            let _ = self.out.send(Arrived::Failed(id, trouble.into_error())).await;
        }
    }

    /// The headers of one request.
    fn headers(&self, about: &About) -> HeaderMap {
        let mut headers = about.headers.clone();
        if !about.is_modern && about.method != "initialize" {
            headers.extend(self.settled().clone());
        }
        headers
    }

    async fn exchange(&self, line: Vec<u8>, about: &About) -> Result<(), Trouble> {
        let headers = self.headers(about);
        let in_session = headers.contains_key(SESSION);
        let answer = self.remote.post(&self.remote.address.url, headers, line).await?;
        self.unreachable().take();
        if !answer.status().is_success() {
            return Err(self.refused(answer, about, in_session).await);
        }
        self.doubt.succeeded(&about.method);
        let session = answer.headers().get(SESSION).filter(|_| about.method == "initialize").cloned();
        let Some(id) = about.id else { return Ok(()) };
        match kind_of(&answer) {
            Kind::Json => {
                let body = self.remote.body(answer, self.remote.limits.line).await?;
                self.take_body(id, body, |line| self.settle(about, session, line)).await
            }
            Kind::Events => self.take_events(id, answer, about, session).await,
            Kind::Other => Err(self.remote.not_mcp(&answer)),
        }
    }

    /// Keeps what the handshake gave: it goes with every request from now on.
    fn settle(&self, about: &About, session: Option<HeaderValue>, line: &[u8]) {
        if about.method != "initialize" {
            return;
        }
        let mut settled = self.settled();
        if let Some(session) = session {
            settled.insert(SESSION, session);
        }
        if let Some(version) = version_in(line) {
            settled.insert(VERSION, version);
        }
    }

    /// One JSON body: a response, or several messages among which it is.
    async fn take_body(&self, id: u64, body: Vec<u8>, settle: impl FnOnce(&[u8])) -> Result<(), Trouble> {
        let trimmed = body.trim_ascii();
        if answers(trimmed, id) {
            settle(trimmed);
            self.hand_on(Via::Answer(id), body).await;
            return Ok(());
        }
        let messages = messages_in(trimmed);
        let Some(response) = messages.iter().find(|message| answers(message, id)) else {
            return Err(Trouble::Said(error_in(trimmed).unwrap_or_else(|| not_a_response(trimmed))));
        };
        settle(response);
        for message in messages {
            self.hand_on(Via::Answer(id), message.to_vec()).await;
        }
        Ok(())
    }

    async fn hand_on(&self, from: Via, line: Vec<u8>) {
        let _ = self.out.send(Arrived::Line(from, line)).await;
    }

    /// A status that is a refusal: the protocol's own error, a session that is gone, or just that.
    async fn refused(&self, answer: Response, about: &About, in_session: bool) -> Trouble {
        let refusal = self.remote.refusal(answer).await;
        let status = refusal.status;
        let opens = matches!(&*about.method, "server/discover" | "initialize");
        if opens && (status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()) {
            // How it is now says nothing about what it speaks.
            return self.remote.said(&refusal);
        }
        let gone = |why: &str, maybe_done| {
            let reason = self.remote.because(ReasonClass::SessionLost, format!("answered {status}{why}"));
            Trouble::SessionGone { reason, maybe_done }
        };
        if !in_session || refusal.names(about.id) {
            return self.remote.refused(&refusal);
        }
        if status == StatusCode::NOT_FOUND {
            return gone("", false);
        }
        if self.doubt.arises(&about.method, &refusal) {
            return gone(", which may mean that much", status.is_server_error());
        }
        self.remote.refused(&refusal)
    }

    /// How long to wait before a stream is taken up again, after so many tries in vain.
    fn pause(&self, told: Option<Duration>, tries: u32) -> Duration {
        let limits = &self.remote.limits;
        let least = (limits.resume / 10).saturating_mul(1 << tries.min(16));
        late(told.unwrap_or(limits.resume).max(least)).min(limits.restart_most)
    }
}

/// The messages of a body that is not just one: a batch, as one older version has it, else what stands on each line, noise
/// and all.
fn messages_in(body: &[u8]) -> Vec<&[u8]> {
    let batch = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(body);
    match batch {
        Ok(batch) => batch.into_iter().map(|message| message.get().as_bytes()).collect(),
        Err(_) => body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect(),
    }
}

fn not_a_response(body: &[u8]) -> RequestError {
    let why = if body.is_empty() {
        "an empty body"
    } else {
        "a body that is not a JSON-RPC response to the request"
    };
    RequestError::BadAnswer(why.to_owned())
}

/// Says that a line has landed, if it is a request.
struct Landing {
    shared: Arc<Shared>,
    id: Option<u64>,
    stop: CancellationToken,
}

impl Landing {
    fn of(shared: &Arc<Shared>, about: &About) -> Self {
        let stop = shared.stop.child_token();
        if let Some(id) = about.id {
            let flight = Flight { stop: stop.clone(), is_modern: about.is_modern };
            shared.flights().insert(id, flight);
        }
        Self { shared: shared.clone(), id: about.id, stop }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut flights = self.shared.flights();
        flights.remove(&id);
        let is_last = flights.is_empty();
        drop(flights);
        if is_last && let Some(closed) = self.shared.unreachable().take() {
            self.shared.end(closed);
        }
        self.shared.landed.notify_waiters();
    }
}

/// The version a handshake settled.
fn version_in(line: &[u8]) -> Option<HeaderValue> {
    #[derive(serde::Deserialize)]
    struct Answer {
        result: Settled,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Settled {
        protocol_version: String,
    }
    let answer: Answer = serde_json::from_slice(line).ok()?;
    HeaderValue::from_str(&answer.result.protocol_version).ok()
}
