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
    /// Whether it was given up: whatever else is refused in it is refused for that.
    given_up: AtomicBool,
}

impl Doubt {
    pub(crate) fn new(renewed: Arc<AtomicBool>) -> Self {
        Self { renewed, proven: AtomicBool::new(false), given_up: AtomicBool::new(false) }
    }

    /// A request succeeded.
    pub(crate) fn succeeded(&self, method: &str) {
        match method {
            "initialize" | "notifications/initialized" => return,
            "tools/call" => self.renewed.store(false, Ordering::Relaxed),
            _ => {}
        }
        self.proven.store(true, Ordering::Relaxed);
    }

    /// Whether the session is to be given up because of this refusal. Once for calls, else one that is always
    /// refused would cost a session each time; for anything else only if the session was good before.
    pub(crate) fn arises(&self, method: &str, refusal: &Refusal) -> bool {
        let arises = refusal.doubts_the_session()
            && (self.given_up.load(Ordering::Relaxed)
                || match method {
                    "tools/call" => !self.renewed.swap(true, Ordering::Relaxed),
                    _ => self.proven.load(Ordering::Relaxed),
                });
        self.given_up.fetch_or(arises, Ordering::Relaxed);
        arises
    }
}
