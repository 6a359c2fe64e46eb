//! The tasks behind a conversation: one writes, one reads, one watches the clocks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::ask::QuestionKind;
use super::super::channel::{Closed, Incoming, LineSource, Outgoing, Sink, Unsent};
use super::super::message::{Message, NotAMessage, decode, is_answer_like, only_ours, sniff_id};
use super::questions::AskedBy;
use super::{Inbound, LAST_WORDS, Peer, RequestError, Shared};

/// Comes when the conversation is over.
type Ended = oneshot::Receiver<()>;

/// Hands lines over, as many at once as are waiting.
pub(super) async fn write(
    mut sink: impl Sink,
    mut queue: mpsc::Receiver<Outgoing>,
    shared: Arc<Shared>,
    broken: CancellationToken,
    mut ended: Ended,
) {
    let mut batch = Vec::with_capacity(64);
    loop {
        let more = tokio::select! {
            biased;
            more = queue.recv_many(&mut batch, 64) => more,
            _ = &mut ended => break,
        };
        if more == 0 {
            break;
        }
        mark(&shared, &mut batch);
        let sent = tokio::select! {
            biased;
            sent = sink.send(&mut batch) => sent,
            _ = &mut ended => break,
        };
        batch.clear();
        shared.unwritten.fetch_sub(more, Ordering::SeqCst);
        if let Err(Unsent { ids, closed }) = sent {
            unmark(&shared, &ids);
            // Mostly the program has ended, and the reader is about to learn how.
            let _ = tokio::time::timeout(LAST_WORDS, &mut ended).await;
            shared.close(closed);
            broken.cancel();
            break;
        }
    }
}

/// Ends calls that took too long. What it holds is let go when the conversation is over.
pub(super) async fn watch_clocks(peer: Peer, broken: CancellationToken, _hold: [oneshot::Sender<()>; 2]) {
    loop {
        let alarm = peer.0.lock().alarm;
        tokio::select! {
            () = broken.cancelled() => return,
            () = peer.0.earlier.notified() => {}
            () = sleep_until(alarm) => peer.end_overdue(),
        }
    }
}

async fn sleep_until(alarm: Option<Instant>) {
    match alarm {
        Some(alarm) => tokio::time::sleep_until(alarm).await,
        None => std::future::pending().await,
    }
}

/// From here on the requests may have been received. Those that nobody waits for any more were given up as
/// not delivered, so they must not be.
fn mark(shared: &Shared, batch: &mut Vec<Outgoing>) {
    let mut pending = shared.lock();
    batch.retain(|outgoing| match outgoing.id.map(|id| pending.slots.get_mut(&id)) {
        None => true,
        Some(None) => false,
        Some(Some(slot)) => {
            slot.sent = true;
            true
        }
    });
}

/// These were not received after all.
fn unmark(shared: &Shared, ids: &[u64]) {
    let mut pending = shared.lock();
    for id in ids {
        if let Some(slot) = pending.slots.get_mut(id) {
            slot.sent = false;
        }
    }
}

/// Takes lines in and finds the call each belongs to.
pub(super) async fn read(
    mut source: impl LineSource,
    inbound: Arc<dyn Inbound>,
    shared: Arc<Shared>,
    broken: CancellationToken,
    mut ended: Ended,
) {
    let limits = shared.limits;
    let peer = Peer(shared.clone());
    let (closed, over) = loop {
        let incoming = tokio::select! {
            biased;
            incoming = source.next() => incoming,
            _ = &mut ended => break (Closed::by_us(), false),
        };
        match incoming {
            Incoming::Closed(closed) => break (closed, true),
            Incoming::Line(line) => take(line, AskedBy::Unknown, &peer, &*inbound),
            Incoming::Beside { id, line } => take(line, AskedBy::Call(id), &peer, &*inbound),
            Incoming::Failed { id, error } => shared.finish(id, Err(error)),
            // Half an answer is none: its call is lost, and may be one to make again.
            Incoming::Rest(rest) if decode(rest).is_err() => inbound.noise(rest, NotAMessage::Noise),
            Incoming::Rest(rest) => take(rest, AskedBy::Unknown, &peer, &*inbound),
            Incoming::Oversized(head) if !is_answer_like(head) => inbound.noise(head, NotAMessage::Noise),
            Incoming::Oversized(head) => {
                let ids = sniff_id(head, b"").map_or_else(|| shared.sent(), |id| vec![id]);
                for id in ids {
                    shared.finish(id, Err(RequestError::TooLarge { limit: limits.line }));
                }
            }
        }
    };
    shared.close(closed);
    broken.cancel();
    // A server that is being ended may still be writing; breaking its pipe would fill its log with complaints.
    while !over && !matches!(source.next().await, Incoming::Closed(_)) {}
}

fn take(line: &[u8], origin: AskedBy, peer: &Peer, inbound: &dyn Inbound) {
    let shared = &peer.0;
    match decode(line) {
        Ok(Message::Answer { id, outcome: Ok(result) }) => shared.finish(id, Ok(result.to_owned())),
        Ok(Message::Answer { id, outcome: Err(error) }) => shared.finish(id, Err(remote(error))),
        Ok(Message::Notification { method, params: Some(params) }) if method == "notifications/cancelled" => {
            peer.withdraw_question(params);
        }
        Ok(Message::Notification { method, params }) => {
            if !params.is_some_and(|params| shared.note(&method, params)) {
                inbound.notification(&method, params);
            }
        }
        Ok(Message::Request { id, method, .. }) if only_ours(&method) && shared.waits_for(id) => {
            inbound.noise(line, NotAMessage::Echo);
        }
        Ok(Message::Request { id, method, params }) => {
            if let Some(ask) = QuestionKind::of(&method) {
                // Servers ask for folders when they please, mostly before there is a call.
                if let (QuestionKind::Roots, Some(roots)) = (ask, inbound.roots()) {
                    return peer.answer(id, Ok(roots));
                }
                return peer.take_question(id, ask, params, origin);
            }
            if let Some(outcome) = inbound.request(id, &method, params) {
                peer.answer(id, outcome.as_deref().map_err(|(code, message)| (*code, message.as_str())));
            }
        }
        Err(why) => {
            // A logger's lines may have ids too; only what means to be an answer can fail a call.
            let is_meant = is_answer_like(line)
                && (why == NotAMessage::Encoding || memchr::memmem::find(line, b"\"jsonrpc\"").is_some());
            let id = if is_meant { sniff_id(line, line) } else { None };
            match id {
                Some(id) => shared.finish(id, Err(RequestError::BadAnswer(why.to_string()))),
                None => inbound.noise(line, why),
            }
        }
    }
}

/// An error of the protocol, as received.
pub(crate) fn remote(raw: &RawValue) -> RequestError {
    #[derive(serde::Deserialize)]
    struct Error {
        #[serde(default)]
        code: i64,
        #[serde(default)]
        message: String,
    }
    match serde_json::from_str::<Error>(raw.get()) {
        Ok(error) => RequestError::Remote { code: error.code, message: error.message, raw: raw.to_owned() },
        Err(_) => RequestError::BadAnswer("an error without code and message".to_owned()),
    }
}
