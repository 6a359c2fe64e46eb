//! The older transport: one stream of events brings everything, and tells where lines are to be posted.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::channel::{Closed, Incoming, LineSource, Outgoing, Sink, Unsent};
use super::super::peer::RequestError;
use super::super::reason::ReasonClass;
use super::super::wire::MethodName;
use super::doubt::Doubt;
use super::events::{Events, TooLong};
use super::headers::{About, answered};
use super::mirror::Mirrors;
use super::reason::Trouble;
use super::remote::{Kind, Remote, kind_of};

/// The sending half.
pub(crate) struct Posts {
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

struct Shared {
    remote: Remote,
    /// Where lines go.
    endpoint: Url,
    failed: mpsc::Sender<(Option<u64>, Trouble)>,
    room: Semaphore,
    /// Lines that are being posted.
    posting: watch::Sender<usize>,
    doubt: Doubt,
    /// Requests that were not answered yet. While there are any, a line for which no connection can be made fails
    /// alone: the stream of events shows that the server is there.
    waiting: Mutex<HashSet<u64>>,
    /// Why nothing more is to be posted.
    over: OnceLock<Closed>,
    stop: CancellationToken,
}

/// The receiving half.
pub(crate) struct Stream {
    shared: Arc<Shared>,
    answer: Response,
    chunk: Vec<u8>,
    /// What of it was taken already.
    taken: usize,
    events: Events,
    failed: mpsc::Receiver<(Option<u64>, Trouble)>,
    line: Vec<u8>,
    /// Why there will be no more events, and until when what is being posted is waited for.
    over: Option<(Closed, Instant)>,
}

/// Opens the stream and waits until it says where to post.
pub(crate) async fn open(
    remote: Remote,
    renewed: Arc<AtomicBool>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> Result<(Posts, Stream), Trouble> {
    let mut answer = remote.listen(HeaderMap::new()).await?;
    if !answer.status().is_success() {
        let refusal = remote.refusal(answer).await;
        return Err(remote.refused(&refusal));
    }
    if kind_of(&answer) != Kind::Events {
        return Err(remote.not_mcp(&answer));
    }
    let mut events = Events::new(remote.limits.line);
    let (endpoint, chunk, taken) = loop {
        let bad = |why: &str| {
            let said = format!("the stream of events {why}");
            Trouble::Said(RequestError::NotMcp(remote.because(ReasonClass::NotMcp, said)))
        };
        let Some(chunk) = remote.chunk(&mut answer).await? else {
            return Err(bad("ended before it said where to post"));
        };
        let mut rest = &chunk[..];
        let event = events.take(&mut rest).map_err(|TooLong(_)| bad("begins with too long an event"))?;
        let Some(event) = event else { continue };
        if event.kind.as_deref() != Some("endpoint") {
            return Err(bad("does not begin by saying where to post"));
        }
        let place = String::from_utf8_lossy(&event.data).into_owned();
        let endpoint = remote.address.join(&place).map_err(|why| bad(&why))?;
        let taken = chunk.len() - rest.len();
        break (endpoint, chunk.to_vec(), taken);
    };
    let (told, failed) = mpsc::channel(remote.limits.queue);
    let room = Semaphore::new(remote.limits.http_posts);
    let posting = watch::Sender::new(0);
    let (doubt, stop) = (Doubt::new(renewed), stop.clone());
    let shared = Arc::new(Shared {
        remote,
        endpoint,
        failed: told,
        room,
        posting,
        doubt,
        waiting: Mutex::default(),
        over: OnceLock::new(),
        stop,
    });
    let posts = Posts { shared: shared.clone(), tasks: tasks.clone() };
    let line = Vec::new();
    Ok((posts, Stream { shared, answer, chunk, taken, events, failed, line, over: None }))
}

impl Sink for Posts {
    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        for outgoing in batch.drain(..) {
            let about = About::of(&outgoing, &Mirrors::default());
            let shared = self.shared.clone();
            shared.waiting().extend(outgoing.id);
            if let Some(id) = about.takes_back {
                shared.waiting().remove(&id);
            }
            shared.posting.send_modify(|count| *count += 1);
            let carried = shared.carry(outgoing.id, about.method.clone(), about.headers, outgoing.line.bytes);
            if about.method == "notifications/initialized" {
                // Nothing may overtake the end of the handshake.
                let _ = tokio::time::timeout(self.shared.remote.limits.wait_http, carried).await;
            } else {
                self.tasks.spawn(carried);
            }
        }
        Ok(())
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everything is over because one line failed, and why.
    fn end_by(&self, id: Option<u64>, trouble: &Trouble) -> Option<Closed> {
        let mut waiting = self.waiting();
        if let Some(id) = id {
            waiting.remove(&id);
        }
        let is_alone = !matches!(trouble, Trouble::Unreachable(_)) || waiting.is_empty();
        trouble.end().filter(|_| is_alone)
    }

    async fn carry(self: Arc<Self>, id: Option<u64>, method: MethodName, headers: HeaderMap, line: Vec<u8>) {
        let posting = async {
            let _room = self.room.acquire().await;
            if let Some(closed) = self.over.get() {
                return Err(Trouble::Unreachable(closed.0.clone()));
            }
            let answer = self.remote.post(&self.endpoint, headers, line).await?;
            if answer.status().is_success() {
                self.doubt.succeeded(&method);
                return Ok(());
            }
            let refusal = self.remote.refusal(answer).await;
            let status = refusal.status;
            let is_gone = || status == StatusCode::NOT_FOUND || self.doubt.arises(&method, &refusal);
            if !refusal.names(id) && is_gone() {
                let reason = self.remote.because(ReasonClass::SessionLost, format!("answered {status}"));
                return Err(Trouble::SessionGone { reason, maybe_done: status.is_server_error() });
            }
            Err(self.remote.refused(&refusal))
        };
        let outcome = tokio::select! {
            () = self.stop.cancelled() => Ok(()),
            outcome = posting => outcome,
        };
        if let Err(trouble) = outcome {
            // Before anybody is told: what comes next must not be posted into it.
            if let Some(closed) = self.end_by(id, &trouble) {
                let _ = self.over.set(closed);
            }
            let _ = self.failed.send((id, trouble)).await;
        }
        self.posting.send_modify(|count| *count -= 1);
    }
}

impl LineSource for Stream {
    async fn next(&mut self) -> Incoming<'_> {
        self.line = Vec::new();
        loop {
            if let Some((closed, until)) = self.over.clone() {
                return match self.last_failed(until).await {
                    Some((id, error)) => Incoming::Failed { id, error },
                    None => Incoming::Closed(closed),
                };
            }
            match self.buffered() {
                Ok(true) => return Incoming::Line(self.line.trim_ascii()),
                Ok(false) => {}
                Err(closed) => return Incoming::Closed(closed),
            }
            // Every arm is cancel-safe: a piece is kept as soon as it is there.
            let remote = &self.shared.remote;
            tokio::select! {
                biased;
                () = self.shared.stop.cancelled() => {
                    return Incoming::Closed(Closed::by_us());
                }
                failed = self.failed.recv() => {
                    let Some((id, trouble)) = failed else { continue };
                    if let Some(closed) = self.shared.over.get() {
                        self.end(closed.clone());
                    }
                    if let Some(id) = id {
                        return Incoming::Failed { id, error: trouble.into_error() };
                    }
                }
                chunk = remote.chunk(&mut self.answer) => match chunk {
                    Ok(Some(chunk)) => {
                        self.chunk = chunk.to_vec();
                        self.taken = 0;
                    }
                    Ok(None) => {
                        let said = "ended its stream of events".to_owned();
                        self.end(Closed(remote.because(ReasonClass::Closed, said)));
                    }
                    Err(trouble) => self.end(trouble.into_error().into_reason().into()),
                },
            }
        }
    }
}

impl Stream {
    fn end(&mut self, closed: Closed) {
        let until = Instant::now() + self.shared.remote.limits.wait_end;
        self.over.get_or_insert((closed, until));
    }

    /// A request that is being posted while everything ends and comes to nothing: it may be known that it was not
    /// delivered.
    async fn last_failed(&mut self, until: Instant) -> Option<(u64, RequestError)> {
        let mut posting = self.shared.posting.subscribe();
        loop {
            let failed = tokio::select! {
                biased;
                failed = self.failed.recv() => failed?,
                () = self.shared.stop.cancelled() => return None,
                _ = posting.wait_for(|count| *count == 0) => self.failed.try_recv().ok()?,
                () = tokio::time::sleep_until(until) => return None,
            };
            if let (Some(id), trouble) = failed {
                return Some((id, trouble.into_error()));
            }
        }
    }

    /// The next message of what was read, put aside.
    fn buffered(&mut self) -> Result<bool, Closed> {
        loop {
            let mut rest = &self.chunk[self.taken..];
            let event = self.events.take(&mut rest);
            self.taken = self.chunk.len() - rest.len();
            match event {
                Ok(Some(event)) if event.is_message() => {
                    self.line = event.data;
                    if let Some(id) = answered(&self.line) {
                        self.shared.waiting().remove(&id);
                    }
                    return Ok(true);
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(false),
                Err(TooLong(length)) => {
                    let limit = self.shared.remote.limits.line;
                    let said = format!("sent an event of {length} bytes, more than {limit}");
                    return Err(Closed(self.shared.remote.because(ReasonClass::TooLarge, said)));
                }
            }
        }
    }
}
