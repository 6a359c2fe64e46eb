//! When a refusal is taken to mean that a session is gone. Servers say so in many ways, and say the same when
//! something else is wrong; a session is renewed on suspicion, but not again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::remote::Refusal;

/// What is known about the session of one conversation.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// A session was given up because of a call, and none has succeeded since. Outlives the conversation.
    renewed: Arc<AtomicBool>,
    /// Whether anything has succeeded in this session.
    proven: AtomicBool,
    /// Whether it was refused for lack of time since something last succeeded.
    busy: AtomicBool,
    /// Whether it was given up: whatever else is refused in it is refused for that.
    given_up: AtomicBool,
}

impl Doubt {
    pub(crate) fn new(renewed: Arc<AtomicBool>) -> Self {
        let no = || AtomicBool::new(false);
        Self { renewed, proven: no(), busy: no(), given_up: no() }
    }

    /// A request succeeded.
    pub(crate) fn succeeded(&self, method: &str) {
        match method {
            "initialize" | "notifications/initialized" => return,
            "tools/call" => self.renewed.store(false, Ordering::Relaxed),
            _ => {}
        }
        self.proven.store(true, Ordering::Relaxed);
        self.busy.store(false, Ordering::Relaxed);
    }

    /// Whether the session is to be given up because of this refusal. Once for calls, else one that is always
    /// refused would cost a session each time; for anything else only if the session was good before.
    pub(crate) fn arises(&self, method: &str, refusal: &Refusal) -> bool {
        // Who says when to come back remembers us; who says so again and again may just have forgotten.
        let is_patient = refusal.is_busy() && !self.busy.swap(true, Ordering::Relaxed);
        let is_due = || match method {
            _ if is_patient => false,
            "tools/call" => !self.renewed.swap(true, Ordering::Relaxed),
            _ => self.proven.load(Ordering::Relaxed),
        };
        let arises = refusal.doubts_the_session() && (self.given_up.load(Ordering::Relaxed) || is_due());
        self.given_up.fetch_or(arises, Ordering::Relaxed);
        arises
    }
}
