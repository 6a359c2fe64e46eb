//! One side of a JSON-RPC conversation: ids, calls in flight, notes on their way, deadlines, cancelling.
//!
//! Two tasks: one writes, one reads, and the reader never waits for the writer, so a full pipe cannot stop
//! answers from coming in. Results are handed on as the bytes received.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::channel::{Closed, Outgoing, Sink, Source};
use super::era::Era;
use super::message::NotAMessage;
use super::wire::{self, Line, Params};

mod tasks;

#[cfg(test)]
mod tests;

/// How long a failed write waits for the reader to say why.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(600);

/// How the other side may ask and tell us things. Called from the reader: must not block.
pub(crate) trait Inbound: Send + Sync + 'static {
    /// A request; the answer now, or none when it will be given by [`Peer::answer`] later.
    fn request(
        &self,
        id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<Result<String, (i32, String)>>;
    /// A notification that belongs to no call.
    fn notification(&self, method: &str, params: Option<&RawValue>);
    /// Output that is no message.
    fn noise(&self, line: &[u8], why: NotAMessage);
}

/// Something a server says about a call while it runs, in the order said.
#[derive(Clone, Debug)]
pub struct Note {
    /// `notifications/progress` or `notifications/message`.
    pub method: String,
    /// Its parameters, as received.
    pub params: Box<RawValue>,
}

/// How long one request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    /// Silence; a note of progress starts it anew.
    pub(crate) idle: Duration,
    /// Altogether.
    pub(crate) total: Duration,
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// It never left: calling again cannot do harm.
    #[error("{0}")]
    NotSent(Closed),
    /// It may have been received, and then the connection ended.
    #[error("{0}")]
    Lost(Closed),
    /// It took too long.
    #[error("no answer within {after:?}")]
    Timeout {
        /// How long was waited.
        after: Duration,
        /// Whether any of it may have been received.
        sent: bool,
    },
    /// The server answered with an error.
    #[error("{message} (code {code})")]
    Remote {
        /// Its code.
        code: i64,
        /// Its words.
        message: String,
        /// The whole error, as received.
        raw: Box<RawValue>,
    },
    /// The answer cannot be read.
    #[error("the answer cannot be used: {0}")]
    BadAnswer(String),
    /// The answer is longer than the limit.
    #[error("the answer of {length} bytes is larger than the limit of {limit}")]
    TooLarge {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
}

/// What a call waits for.
enum Outcome {
    Result(Box<RawValue>),
    Error(RequestError),
}

struct Slot {
    reply: oneshot::Sender<Outcome>,
    notes: Option<mpsc::Sender<Note>>,
    /// Whether any byte may have left.
    sent: bool,
    /// When it was asked.
    began: Instant,
    /// When the server last said something about it.
    heard: Instant,
    clocks: Clocks,
}

impl Slot {
    fn deadline(&self) -> Instant {
        (self.began + self.clocks.total).min(self.heard + self.clocks.idle)
    }
}

#[derive(Default)]
struct Pending {
    slots: HashMap<u64, Slot>,
    closed: Option<Closed>,
    /// When to look for calls that took too long. It may be too early, never too late, so that a call that
    /// does not end sooner than those before it costs no timer.
    alarm: Option<Instant>,
}

struct Shared {
    next: AtomicU64,
    pending: Mutex<Pending>,
    out: mpsc::Sender<Outgoing>,
    closed: watch::Sender<Option<Closed>>,
    earlier: Notify,
    limits: Bounds,
}

/// The bounds a peer keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) line: usize,
    pub(crate) depth: usize,
    pub(crate) queue: usize,
}

/// A conversation. Clones share it; it ends with its channel.
#[derive(Clone)]
pub(crate) struct Peer(Arc<Shared>);

impl Peer {
    /// Starts the conversation on a channel.
    pub(crate) fn start(
        sink: impl Sink,
        source: impl Source,
        inbound: Arc<dyn Inbound>,
        limits: Bounds,
        tracker: &TaskTracker,
        stop: &CancellationToken,
    ) -> Self {
        let (out, queue) = mpsc::channel(limits.queue);
        let shared = Arc::new(Shared {
            next: AtomicU64::new(1),
            pending: Mutex::default(),
            out,
            closed: watch::Sender::new(None),
            earlier: Notify::new(),
            limits,
        });
        let broken = stop.child_token();
        tracker.spawn(tasks::write(sink, queue, shared.clone(), broken.clone()));
        tracker.spawn(tasks::watch_clocks(Self(shared.clone()), broken.clone()));
        tracker.spawn(tasks::read(source, inbound, shared.clone(), broken));
        Self(shared)
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request, also for the server.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Params<'_>,
        era: Era,
        clocks: Clocks,
        notes: Option<mpsc::Sender<Note>>,
    ) -> Result<Box<RawValue>, RequestError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let line = wire::request(id, method, params, era);
        let began = Instant::now();
        let room = match self.0.out.try_reserve() {
            Ok(room) => Ok(room),
            Err(_) => match tokio::time::timeout(clocks.total.min(clocks.idle), self.0.out.reserve()).await {
                Ok(room) => room,
                Err(_) => return Err(RequestError::Timeout { after: began.elapsed(), sent: false }),
            },
        };
        let room = room.map_err(|_| RequestError::NotSent(self.why_closed()))?;
        let (reply, answer) = oneshot::channel();
        {
            let mut pending = self.0.lock();
            if let Some(closed) = &pending.closed {
                return Err(RequestError::NotSent(closed.clone()));
            }
            let slot = Slot { reply, notes, sent: false, began, heard: began, clocks };
            let deadline = slot.deadline();
            pending.slots.insert(id, slot);
            if pending.alarm.is_none_or(|alarm| deadline < alarm) {
                pending.alarm = Some(deadline);
                self.0.earlier.notify_one();
            }
        }
        let mut ticket = Ticket { peer: self, id, method, done: false };
        room.send(Outgoing { id: Some(id), line });
        let outcome = match answer.await {
            Ok(Outcome::Result(result)) => Ok(result),
            Ok(Outcome::Error(error)) => Err(error),
            Err(_) => Err(RequestError::Lost(self.why_closed())),
        };
        ticket.done = true;
        outcome
    }

    /// Sends a notification, unless the queue is full or the conversation over.
    pub(crate) fn notify(&self, method: &str, params: &str) {
        self.post(wire::notification(method, params));
    }

    /// Sends a request whose answer nobody waits for.
    pub(crate) fn ask(&self, method: &str, params: Params<'_>, era: Era) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.post(wire::request(id, method, params, era));
    }

    /// Answers a request of the other side.
    pub(crate) fn answer(&self, id: &RawValue, outcome: Result<&str, (i32, &str)>) {
        self.post(wire::answer(id, outcome));
    }

    /// Waits until the conversation is over.
    pub(crate) async fn closed(&self) -> Closed {
        let mut closed = self.0.closed.subscribe();
        let seen = closed.wait_for(Option::is_some).await.ok().and_then(|seen| seen.clone());
        seen.unwrap_or_else(|| self.why_closed())
    }

    /// Ends it: nothing that was sent will be answered.
    pub(crate) fn give_up(&self, why: Closed) {
        self.0.close(why);
    }

    /// Whether it is over.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.closed.borrow().is_some()
    }

    /// Calls in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.0.lock().slots.len()
    }

    /// Ends every call whose time is up, tells the server, and sets the alarm for the next.
    fn end_overdue(&self) {
        let now = Instant::now();
        let mut pending = self.0.lock();
        let overdue: Vec<u64> =
            pending.slots.iter().filter(|(_, slot)| slot.deadline() <= now).map(|(id, _)| *id).collect();
        let ended: Vec<(u64, Slot)> =
            overdue.into_iter().filter_map(|id| Some((id, pending.slots.remove(&id)?))).collect();
        pending.alarm = pending.slots.values().map(Slot::deadline).min();
        drop(pending);
        for (id, slot) in ended {
            if slot.sent {
                self.cancel(id);
            }
            let timeout = RequestError::Timeout { after: now - slot.began, sent: slot.sent };
            let _ = slot.reply.send(Outcome::Error(timeout));
        }
    }

    /// Tells the server that nobody waits any more.
    fn cancel(&self, id: u64) {
        self.notify(
            "notifications/cancelled",
            &format!(r#"{{"requestId":{id},"reason":"no longer wanted"}}"#),
        );
    }

    fn post(&self, line: Line) {
        // A flood of questions must not make us wait; what finds no room was not worth it.
        let _ = self.0.out.try_send(Outgoing { id: None, line });
    }

    fn why_closed(&self) -> Closed {
        self.0.closed.borrow().clone().unwrap_or_else(|| Closed("the connection is closed".to_owned()))
    }
}

/// A call in flight. Dropping it before it is done tells the server to stop.
struct Ticket<'a> {
    peer: &'a Peer,
    id: u64,
    method: &'a str,
    done: bool,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let slot = self.peer.0.lock().slots.remove(&self.id);
        // Only what may have been received needs to be stopped, and an initialize cannot be.
        if slot.is_some_and(|slot| slot.sent) && self.method != "initialize" {
            self.peer.cancel(self.id);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the conversation: every call in flight learns whether it may have been received.
    fn close(&self, closed: Closed) {
        let mut pending = self.lock();
        let closed = pending.closed.get_or_insert(closed).clone();
        for (_, slot) in pending.slots.drain() {
            let error = if slot.sent {
                RequestError::Lost(closed.clone())
            } else {
                RequestError::NotSent(closed.clone())
            };
            let _ = slot.reply.send(Outcome::Error(error));
        }
        drop(pending);
        self.closed.send_if_modified(|seen| seen.is_none().then(|| *seen = Some(closed)).is_some());
    }

    fn finish(&self, id: u64, outcome: Outcome) {
        let slot = self.lock().slots.remove(&id);
        // An answer nobody waits for: given twice, too late, or to a question never asked.
        if let Some(slot) = slot {
            let _ = slot.reply.send(outcome);
        }
    }

    fn note(&self, method: &str, params: &RawValue) -> bool {
        let mut pending = self.lock();
        let slot = match (method, progress_token(params)) {
            ("notifications/progress", Some(id)) => pending.slots.get_mut(&id),
            // A log line names no call; with just one in flight there is no doubt.
            ("notifications/message", _) if pending.slots.len() == 1 => pending.slots.values_mut().next(),
            _ => None,
        };
        let Some(slot) = slot else { return false };
        if method == "notifications/progress" {
            slot.heard = Instant::now();
        }
        if let Some(notes) = &slot.notes {
            // A flood fills the mailbox and the rest is dropped; the call itself goes on.
            let _ = notes.try_send(Note { method: method.to_owned(), params: params.to_owned() });
        }
        true
    }
}

fn progress_token(params: &RawValue) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Progress {
        #[serde(rename = "progressToken")]
        token: u64,
    }
    serde_json::from_str::<Progress>(params.get()).ok().map(|progress| progress.token)
}
