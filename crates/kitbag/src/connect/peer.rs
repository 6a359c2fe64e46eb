//! One side of a JSON-RPC conversation: ids, calls in flight, notes on their way, deadlines, cancelling.
//!
//! Two tasks: one writes, one reads, and the reader never waits for the writer, so a full pipe cannot stop
//! answers from coming in. Results are handed on as the bytes received.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::Asked;
use super::channel::{Closed, Outgoing, Shortcut, Sink, Source};
use super::message::NotAMessage;
use super::wire::{self, Line, Params, Speech};

mod questions;
mod tasks;

pub(crate) use tasks::remote;

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

/// Who hears of a request while it runs, and who answers for it.
#[derive(Default)]
pub(crate) struct Voice {
    pub(crate) notes: Option<mpsc::Sender<Note>>,
    pub(crate) asked: Option<Arc<Asked>>,
}

/// How long one request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    /// When it was asked.
    pub(crate) from: Instant,
    /// Silence; a note of progress starts it anew.
    pub(crate) idle: Duration,
    /// Altogether.
    pub(crate) total: Duration,
}

impl Clocks {
    /// This long altogether, from now on.
    pub(crate) fn of(total: Duration) -> Self {
        Self { from: Instant::now(), idle: total, total }
    }
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
    /// It may have been received, and its answer broke off; the conversation goes on.
    #[error("{0}")]
    Broken(String),
    /// It was refused before anybody looked at it as a message.
    #[error("{text}")]
    Http {
        /// The status.
        status: u16,
        /// What was said.
        text: String,
        /// How long the server asks to be left alone.
        wait: Option<Duration>,
    },
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
    voice: Voice,
    /// Whether any byte may have left.
    sent: bool,
    /// When the server last said something about it.
    heard: Instant,
    /// Questions of the server that wait for an answer of ours. Meanwhile it is not the server that is silent.
    questions: usize,
    clocks: Clocks,
}

impl Slot {
    fn deadline(&self) -> Instant {
        let total = self.clocks.from + self.clocks.total;
        if self.questions == 0 { total.min(self.heard + self.clocks.idle) } else { total }
    }
}

/// Our own ids need no defence against being chosen to collide.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0.rotate_left(8) ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
struct Pending {
    slots: HashMap<u64, Slot, BuildHasherDefault<IdHasher>>,
    closed: Option<Closed>,
    /// When to look for calls that took too long. It may be too early, never too late, so that a call that
    /// does not end sooner than those before it costs no timer.
    alarm: Option<Instant>,
    /// The way past the writer for a call that is alone.
    shortcut: Option<Box<dyn Shortcut>>,
}

struct Shared {
    next: AtomicU64,
    pending: Mutex<Pending>,
    out: mpsc::Sender<Outgoing>,
    /// Lines that are queued or being written. Counted before they are queued, so that none can be overtaken.
    unwritten: AtomicUsize,
    closed: watch::Sender<Option<Closed>>,
    /// The same without a reason, for those who look often.
    over: AtomicBool,
    earlier: Notify,
    limits: Bounds,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Questions of the server that are being answered.
    questions: AtomicUsize,
    /// Told when a call ends while there are any.
    ended: Notify,
}

/// The bounds a peer keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) line: usize,
    pub(crate) depth: usize,
    pub(crate) queue: usize,
    pub(crate) questions: usize,
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
        let broken = stop.child_token();
        let shared = Arc::new(Shared {
            next: AtomicU64::new(1),
            pending: Mutex::new(Pending { shortcut: sink.shortcut(), ..Pending::default() }),
            out,
            unwritten: AtomicUsize::new(0),
            closed: watch::Sender::new(None),
            over: AtomicBool::new(false),
            earlier: Notify::new(),
            limits,
            tasks: tracker.clone(),
            stop: broken.clone(),
            questions: AtomicUsize::new(0),
            ended: Notify::new(),
        });
        // Asked about at every line, so a kind of sign that takes no lock.
        let (quiet_writer, ended_writer) = oneshot::channel();
        let (quiet_reader, ended_reader) = oneshot::channel();
        let hold = [quiet_writer, quiet_reader];
        tracker.spawn(tasks::write(sink, queue, shared.clone(), broken.clone(), ended_writer));
        tracker.spawn(tasks::watch_clocks(Self(shared.clone()), broken.clone(), hold));
        tracker.spawn(tasks::read(source, inbound, shared.clone(), broken, ended_reader));
        Self(shared)
    }

    /// Sends a request and waits for its result. Dropping the future cancels the request, also for the server.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Params<'_>,
        speech: impl Into<Speech>,
        clocks: Clocks,
        voice: Voice,
    ) -> Result<Box<RawValue>, RequestError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let line = wire::request(id, method, params, speech.into());
        let (reply, answer) = oneshot::channel();
        let mut slot = Slot { reply, voice, sent: false, heard: clocks.from, questions: 0, clocks };
        let mut ticket = Ticket { peer: self, id, method, done: false };
        if let Err(alone) = self.0.send_alone(id, &line, slot)? {
            slot = alone;
            let room = self.room(clocks).await?;
            self.0.wait_for(&mut self.0.lock(), id, slot)?;
            self.0.unwritten.fetch_add(1, Ordering::SeqCst);
            room.send(Outgoing { id: Some(id), line });
        }
        let outcome = match answer.await {
            Ok(Outcome::Result(result)) => Ok(result),
            Ok(Outcome::Error(error)) => Err(error),
            Err(_) => Err(RequestError::Lost(self.why_closed())),
        };
        ticket.done = true;
        self.0.tell_end();
        outcome
    }

    /// Room for one line in the queue, waiting for it no longer than the call may take.
    async fn room(&self, clocks: Clocks) -> Result<mpsc::Permit<'_, Outgoing>, RequestError> {
        let room = match self.0.out.try_reserve() {
            Ok(room) => Ok(room),
            Err(_) => match tokio::time::timeout(clocks.total.min(clocks.idle), self.0.out.reserve()).await {
                Ok(room) => room,
                Err(_) => return Err(RequestError::Timeout { after: clocks.from.elapsed(), sent: false }),
            },
        };
        room.map_err(|_| RequestError::NotSent(self.why_closed()))
    }

    /// Sends a notification, unless the queue is full or the conversation over.
    pub(crate) fn notify(&self, method: &str, params: &str) {
        self.post(wire::notification(method, params));
    }

    /// Sends a request whose answer nobody waits for.
    pub(crate) fn ask(&self, method: &str, params: Params<'_>, speech: impl Into<Speech>) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.post(wire::request(id, method, params, speech.into()));
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
        self.0.over.load(Ordering::Acquire)
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
            let timeout = RequestError::Timeout { after: now - slot.clocks.from, sent: slot.sent };
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
        self.0.unwritten.fetch_add(1, Ordering::SeqCst);
        if self.0.out.try_send(Outgoing { id: None, line }).is_err() {
            self.0.unwritten.fetch_sub(1, Ordering::SeqCst);
        }
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
        self.peer.0.tell_end();
        // Only what may have been received needs to be stopped, and an initialize cannot be.
        if slot.is_some_and(|slot| slot.sent) && self.method != "initialize" {
            self.peer.cancel(self.id);
        }
    }
}

impl Shared {
    /// Hands the line of a call that is alone straight over; gives the slot back when that cannot be. With
    /// others in flight the writer does better: it hands many over at once. The writer waits for this lock
    /// before it writes, so lines never mix.
    fn send_alone(&self, id: u64, line: &Line, mut slot: Slot) -> Result<Result<(), Slot>, RequestError> {
        let mut pending = self.lock();
        let alone = pending.slots.is_empty() && self.unwritten.load(Ordering::SeqCst) == 0;
        slot.sent = alone && pending.shortcut.as_mut().is_some_and(|shortcut| shortcut.take(&line.0));
        if !slot.sent {
            return Ok(Err(slot));
        }
        self.wait_for(&mut pending, id, slot).map(Ok)
    }

    /// Takes note of a call, unless the conversation is over.
    fn wait_for(&self, pending: &mut Pending, id: u64, slot: Slot) -> Result<(), RequestError> {
        if let Some(closed) = &pending.closed {
            return Err(RequestError::NotSent(closed.clone()));
        }
        let deadline = slot.deadline();
        pending.slots.insert(id, slot);
        if pending.alarm.is_none_or(|alarm| deadline < alarm) {
            pending.alarm = Some(deadline);
            self.earlier.notify_one();
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the conversation: every call in flight learns whether it may have been received.
    fn close(&self, closed: Closed) {
        let mut pending = self.lock();
        let closed = pending.closed.get_or_insert(closed).clone();
        pending.shortcut = None;
        for (_, slot) in pending.slots.drain() {
            let error = if slot.sent {
                RequestError::Lost(closed.clone())
            } else {
                RequestError::NotSent(closed.clone())
            };
            let _ = slot.reply.send(Outcome::Error(error));
        }
        drop(pending);
        self.over.store(true, Ordering::Release);
        self.closed.send_if_modified(|seen| seen.is_none().then(|| *seen = Some(closed)).is_some());
    }

    fn tell_end(&self) {
        if 0 < self.questions.load(Ordering::Relaxed) {
            self.ended.notify_waiters();
        }
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
        if let Some(notes) = &slot.voice.notes {
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
