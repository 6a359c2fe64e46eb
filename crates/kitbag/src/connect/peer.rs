//! One side of a JSON-RPC conversation: ids, calls in flight, notes on their way, deadlines, cancelling.
//!
//! Two tasks: one writes, one reads, and the reader never waits for the writer, so a full pipe cannot stop
//! answers from coming in. Results are handed on as the bytes received.

use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use kitbag_core::UserId;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::Asked;
use super::channel::{Closed, LineSource, Outgoing, Sink};
use super::message::NotAMessage;
use super::notification::Notification;
use super::wire::{self, CallHeaders, Line, MethodName, Params, Speech};

mod error;
mod late;
mod pending;
mod questions;
mod tasks;

pub(crate) use error::RequestError;
use pending::{Outcome, Pending, Slot};
#[cfg(feature = "http")]
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
    /// The answer to `roots/list`, where it is the same for everybody who calls this server.
    fn roots(&self) -> Option<&str> {
        None
    }
    /// A notification that belongs to no call.
    fn notification(&self, method: &str, params: Option<&RawValue>);
    /// Output that is no message.
    fn noise(&self, line: &[u8], why: NotAMessage);
}

/// Who hears of a request while it runs, and who answers for it.
#[derive(Default)]
pub(crate) struct RequestContext {
    pub(crate) notes: Option<mpsc::Sender<Notification>>,
    pub(crate) headers: CallHeaders,
    pub(crate) caller: Caller,
}

/// On whose behalf a request is made.
#[derive(Default)]
pub(crate) enum Caller {
    /// Our own: lists, openings.
    #[default]
    Kitbag,
    /// Somebody whom no question can be put to.
    Silent(UserId),
    /// Somebody who answers.
    Person(Arc<Asked>),
}

impl Caller {
    /// Which user that is, if it is one.
    fn user(&self) -> Option<&UserId> {
        match self {
            Self::Kitbag => None,
            Self::Silent(user) => Some(user),
            Self::Person(asked) => Some(&asked.user),
        }
    }

    /// Which person answers for it, if anybody does.
    fn person(&self) -> Option<usize> {
        match self {
            Self::Kitbag | Self::Silent(_) => None,
            Self::Person(asked) => Some(asked.person()),
        }
    }
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
    /// `clientInfo`, as JSON.
    client: Arc<str>,
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
    pub(crate) queue: usize,
    pub(crate) questions: usize,
    pub(crate) unanswered: usize,
    /// How long a call that was given up stands between a question and other clients of the same user.
    pub(crate) late: Duration,
}

/// A conversation. Clones share it; it ends with its channel.
#[derive(Clone)]
pub(crate) struct Peer(Arc<Shared>);

impl Peer {
    /// Starts the conversation on a channel.
    pub(crate) fn start(
        sink: impl Sink,
        source: impl LineSource,
        inbound: Arc<dyn Inbound>,
        limits: Bounds,
        client: Arc<str>,
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
            client,
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
    pub(crate) async fn request<'a>(
        &self,
        method: impl Into<MethodName>,
        params: Params<'_>,
        speech: impl Into<Speech<'a>>,
        clocks: Clocks,
        context: RequestContext,
    ) -> Result<Box<RawValue>, RequestError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (method, speech) = (method.into(), speech.into());
        // The protocol forbids to cancel an initialize.
        let cancellable = method != "initialize";
        let headers = context.headers.clone();
        let line = |spare| {
            let line = wire::request(spare, id, method, params, speech, &self.0.client);
            Line { headers, ..line }
        };
        let (heard, era) = (clocks.from, speech.era);
        let slot = Slot { waker: None, context, sent: false, heard, questions: 0, clocks, era, cancellable };
        let mut ticket = Ticket { peer: self, id, done: false };
        if let Some((slot, line)) = self.0.send_alone(id, line, slot)? {
            let room = self.room(clocks).await?;
            self.0.wait_for(&mut self.0.lock(), id, slot)?;
            self.0.unwritten.fetch_add(1, Ordering::SeqCst);
            room.send(Outgoing { id: Some(id), line });
        }
        let outcome = poll_fn(|context| self.poll_answer(id, context)).await;
        ticket.done = true;
        self.0.tell_end();
        outcome
    }

    fn poll_answer(&self, id: u64, context: &Context<'_>) -> Poll<Outcome> {
        let mut pending = self.0.lock();
        if let Some(outcome) = pending.answers.remove(&id) {
            return Poll::Ready(outcome);
        }
        match pending.slots.get_mut(&id) {
            Some(slot) => slot.waker = Some(context.waker().clone()),
            None => return Poll::Ready(Err(RequestError::Lost(self.why_closed()))),
        }
        Poll::Pending
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
    pub(crate) fn notify(&self, method: impl Into<MethodName>, params: &str) {
        self.post(wire::notification(method.into(), params));
    }

    /// Sends a request whose answer nobody waits for.
    pub(crate) fn ask<'a>(
        &self,
        method: impl Into<MethodName>,
        params: Params<'_>,
        speech: impl Into<Speech<'a>>,
    ) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.post(wire::request(Vec::new(), id, method.into(), params, speech.into(), &self.0.client));
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

    /// Calls in flight, up to the moment in which whoever waits has taken the answer.
    pub(crate) fn in_flight(&self) -> usize {
        let pending = self.0.lock();
        pending.slots.len() + pending.answers.len()
    }

    /// Ends every call whose time is up, tells the server, and sets the alarm for the next.
    fn end_overdue(&self) {
        let now = Instant::now();
        let mut pending = self.0.lock();
        let overdue: Vec<u64> =
            pending.slots.iter().filter(|(_, slot)| slot.deadline() <= now).map(|(id, _)| *id).collect();
        let mut ended = Vec::new();
        for id in overdue {
            let why =
                |slot: &Slot| Err(RequestError::Timeout { after: now - slot.clocks.from, sent: slot.sent });
            let Some(slot) = pending.answer(id, why) else { continue };
            pending.give_up(id, &slot, self.0.limits.unanswered);
            ended.push((id, slot));
        }
        pending.alarm = pending.slots.values().map(Slot::deadline).min();
        drop(pending);
        for (id, slot) in ended {
            if slot.is_to_be_cancelled() {
                self.cancel(id);
            }
            slot.wake();
        }
    }

    /// Tells the server that nobody waits any more.
    fn cancel(&self, id: u64) {
        self.post(wire::cancelled(id));
    }

    fn post(&self, line: Line) {
        // A flood of questions must not make us wait; what finds no room was not worth it.
        self.0.unwritten.fetch_add(1, Ordering::SeqCst);
        if self.0.out.try_send(Outgoing { id: None, line }).is_err() {
            self.0.unwritten.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn why_closed(&self) -> Closed {
        self.0.closed.borrow().clone().unwrap_or_else(Closed::by_us)
    }
}

/// A call in flight. Dropping it before it is done tells the server to stop.
struct Ticket<'a> {
    peer: &'a Peer,
    id: u64,
    done: bool,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let mut pending = self.peer.0.lock();
        let slot = pending.slots.remove(&self.id);
        if let Some(slot) = &slot {
            pending.give_up(self.id, slot, self.peer.0.limits.unanswered);
        }
        pending.answers.remove(&self.id);
        drop(pending);
        self.peer.0.tell_end();
        if slot.is_some_and(|slot| slot.is_to_be_cancelled()) {
            self.peer.cancel(self.id);
        }
    }
}

impl Shared {
    /// Hands the line of a call that is alone straight over; gives it and the slot back when that cannot be.
    /// With others in flight the writer does better: it hands many over at once. The writer waits for this
    /// lock before it writes, so lines never mix.
    fn send_alone(
        &self,
        id: u64,
        line: impl FnOnce(Vec<u8>) -> Line,
        mut slot: Slot,
    ) -> Result<Option<(Slot, Line)>, RequestError> {
        let mut pending = self.lock();
        let alone = pending.slots.is_empty() && self.unwritten.load(Ordering::SeqCst) == 0;
        if !alone || pending.shortcut.is_none() {
            drop(pending);
            return Ok(Some((slot, line(Vec::new()))));
        }
        let mut line = line(mem::take(&mut pending.spare));
        slot.sent = pending.shortcut.as_mut().is_some_and(|shortcut| shortcut.take(&line.bytes));
        if !slot.sent {
            return Ok(Some((slot, line)));
        }
        line.bytes.clear();
        pending.spare = line.bytes;
        self.wait_for(&mut pending, id, slot).map(|()| None)
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
        let waiting: Vec<u64> = pending.slots.keys().copied().collect();
        let why = |slot: &Slot| {
            let error = if slot.sent { RequestError::Lost } else { RequestError::NotSent };
            Err(error(closed.clone()))
        };
        let ended: Vec<Slot> = waiting.into_iter().filter_map(|id| pending.answer(id, why)).collect();
        drop(pending);
        self.over.store(true, Ordering::Release);
        self.closed.send_if_modified(|seen| seen.is_none().then(|| *seen = Some(closed.clone())).is_some());
        // Whoever wakes must find it closed.
        ended.into_iter().for_each(Slot::wake);
    }

    fn tell_end(&self) {
        if 0 < self.questions.load(Ordering::Relaxed) {
            self.ended.notify_waiters();
        }
    }

    /// Whether this is the id of a request of ours that is not answered.
    fn waits_for(&self, id: &RawValue) -> bool {
        id.get().parse().is_ok_and(|id: u64| self.lock().slots.contains_key(&id))
    }

    /// The requests that may have been received and are not answered.
    fn sent(&self) -> Vec<u64> {
        self.lock().slots.iter().filter(|(_, slot)| slot.sent).map(|(id, _)| *id).collect()
    }

    fn finish(&self, id: u64, outcome: Outcome) {
        // An answer that broke off says nothing about whether its server is done.
        let is_open = matches!(outcome, Err(RequestError::Broken(_)));
        let mut pending = self.lock();
        let slot = pending.answer(id, |_| outcome);
        match &slot {
            Some(slot) if is_open => pending.give_up(id, slot, self.limits.unanswered),
            None if !is_open => pending.late.answered(id),
            _ => {}
        }
        drop(pending);
        slot.into_iter().for_each(Slot::wake);
    }

    fn note(&self, method: &str, params: &RawValue) -> bool {
        let mut pending = self.lock();
        let Pending { slots, late, .. } = &mut *pending;
        let slot = match (method, progress_token(params)) {
            ("notifications/progress", Some(id)) => slots.get_mut(&id),
            // A log line names no call; with just one in flight there is no doubt, unless another user gave one up.
            ("notifications/message", _) if slots.len() == 1 => {
                let is_meant =
                    |slot: &&mut Slot| slot.context.caller.user().is_none_or(|user| !late.are_others(user));
                slots.values_mut().next().filter(is_meant)
            }
            _ => None,
        };
        let Some(slot) = slot else { return false };
        if method == "notifications/progress" {
            slot.heard = Instant::now();
        }
        if let Some(notes) = &slot.context.notes {
            // A flood fills the mailbox and the rest is dropped; the call itself goes on.
            let _ = notes.try_send(Notification { method: method.to_owned(), params: params.to_owned() });
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
