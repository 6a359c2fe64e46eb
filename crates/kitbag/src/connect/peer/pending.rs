//! Calls in flight: who waits for what, until when, and the answers on the last bit of their way.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::task::Waker;

use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::channel::{Closed, Shortcut};
use super::super::era::Era;
use super::late::Late;
use super::{Clocks, RequestContext, RequestError};

/// What a call waits for.
pub(super) type Outcome = Result<Box<RawValue>, RequestError>;

/// A call that waits for its answer.
pub(super) struct Slot {
    /// Whom to wake when it is there.
    pub(super) waker: Option<Waker>,
    pub(super) context: RequestContext,
    /// Whether any byte may have left.
    pub(super) sent: bool,
    /// When the server last said something about it.
    pub(super) heard: Instant,
    /// Questions of the server that wait for an answer of ours. Meanwhile it is not the server that is silent.
    pub(super) questions: usize,
    pub(super) clocks: Clocks,
    /// In which words it was asked.
    pub(super) era: Era,
    /// Whether the server may be told that nobody waits for it any more.
    pub(super) cancellable: bool,
}

impl Slot {
    pub(super) fn deadline(&self) -> Instant {
        let total = self.clocks.from + self.clocks.total;
        if self.questions == 0 { total.min(self.heard + self.clocks.idle) } else { total }
    }

    /// Whether the server is to be told that nobody waits any more: only what it may have received.
    pub(super) fn is_to_be_cancelled(&self) -> bool {
        self.sent && self.cancellable
    }

    /// Wakes whoever waits, and lets go of everything it holds.
    pub(super) fn wake(self) {
        self.waker.into_iter().for_each(Waker::wake);
    }
}

/// Our own ids need no defence against being chosen to collide.
#[derive(Default)]
pub(super) struct IdHasher(u64);

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

type ById<T> = HashMap<u64, T, BuildHasherDefault<IdHasher>>;

#[derive(Default)]
pub(super) struct Pending {
    pub(super) slots: ById<Slot>,
    /// Answers on the last bit of their way, from the reader to whoever waits.
    pub(super) answers: ById<Outcome>,
    /// Questions of the server that are being answered, by its own ids.
    pub(super) questions: HashMap<String, CancellationToken>,
    /// Calls that were given up, and may be worked on all the same.
    pub(super) late: Late,
    pub(super) closed: Option<Closed>,
    /// When to look for calls that took too long. It may be too early, never too late, so that a call that
    /// does not end sooner than those before it costs no timer.
    pub(super) alarm: Option<Instant>,
    /// The way past the writer for a call that is alone.
    pub(super) shortcut: Option<Box<dyn Shortcut>>,
    /// What its lines are written in, so that the next needs no memory of its own.
    pub(super) spare: Vec<u8>,
}

impl Pending {
    /// A call is answered. Its slot is to be woken, once this is no longer locked.
    pub(super) fn answer(&mut self, id: u64, outcome: impl FnOnce(&Slot) -> Outcome) -> Option<Slot> {
        // An answer nobody waits for: given twice, too late, or to a question never asked.
        let slot = self.slots.remove(&id)?;
        self.answers.insert(id, outcome(&slot));
        Some(slot)
    }

    /// Nobody waits for a call any more, and its server may not know. Newer servers ask within the call itself, so
    /// there is nothing to mix up.
    pub(super) fn give_up(&mut self, id: u64, slot: &Slot, most: usize) {
        if let Some(user) = slot.context.caller.user()
            && slot.sent
            && slot.era == Era::Legacy
        {
            self.late.add(id, user, slot.context.caller.person(), most);
        }
    }
}
