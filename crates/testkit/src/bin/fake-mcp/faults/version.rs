//! Protocol versions that nobody speaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Entry, Fault, Take};
use crate::era;
use crate::server::Server;
use crate::wire::{Request, Speech};

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s16",
        modes: &["future", "past", "empty", "number", "none"],
        about: "a version that nobody speaks (future), or none, in initialize and as the only one in server/discover",
        make: |modes| {
            Arc::new(Odd(match modes.0.first().copied() {
                Some("past") => "\"2023-01-01\"",
                Some("empty") => "\"\"",
                Some("number") => "20251125",
                Some("none") => "null",
                _ => "\"2099-12-31\"",
            }))
        },
    },
    Entry {
        label: "s30",
        modes: &["always"],
        about: "the first server/discover (always: every one) is refused for a version that the refusal names",
        make: |modes| {
            let times = if modes.0.is_empty() { 1 } else { usize::MAX };
            Arc::new(Fickle(AtomicUsize::new(times)))
        },
    },
];

/// The version as JSON.
struct Odd(&'static str);

impl Fault for Odd {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        match (request.method, request.speech) {
            ("initialize", Speech::Legacy) => era::initialize_as(server, request, self.0),
            ("server/discover", Speech::Modern) => era::discover_as(server, request, self.0),
            _ => return Take::Leave,
        }
        Take::Mine
    }
}

/// How often it still refuses.
struct Fickle(AtomicUsize);

impl Fault for Fickle {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        let refuses = || {
            let less = |times: usize| times.checked_sub(1);
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        };
        if (request.method, request.speech) != ("server/discover", Speech::Modern) || !refuses() {
            return Take::Leave;
        }
        server.answer(&era::wrong_version(request.id, None));
        Take::Mine
    }
}
