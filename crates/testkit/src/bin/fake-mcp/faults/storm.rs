//! Notifications without measure.

use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use super::{Entry, Fault, N, Take, spoils};
use crate::out::Kind;
use crate::server::Server;
use crate::wire::{self, Request};

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s23",
        modes: &[],
        about: "tools/list_changed every ms for ever, and after every tools/list",
        make: |_| Arc::new(Storm(Once::new())),
    },
    Entry {
        label: "s24",
        modes: &[N],
        about: "N (50000) progress and log notifications before the answer to a call",
        make: |modes| Arc::new(Flood { notes: modes.number(50_000) }),
    },
    Entry {
        label: "s25",
        modes: &[N],
        about: "progress every N ms (10) for ever, never an answer to a call",
        make: |modes| Arc::new(NoEnd { pause: Duration::from_millis(modes.number(10) as u64) }),
    },
];

struct Storm(Once);

impl Fault for Storm {
    /// From the first request on: before it a client does not know us.
    fn after(&self, server: &Arc<Server>, request: &Request<'_>) {
        if request.method == "tools/list" {
            server.tools_changed();
        }
        self.0.call_once(|| {
            let own = Arc::clone(server);
            thread::spawn(move || {
                loop {
                    own.tools_changed();
                    own.out.flush();
                    thread::sleep(Duration::from_millis(1));
                }
            });
        });
    }
}

struct Flood {
    notes: usize,
}

impl Fault for Flood {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if spoils(request) {
            let token = request.params.meta.progress_token.map(|token| token.get());
            for number in 1..=self.notes {
                let mut line = Vec::new();
                match token.filter(|_| number % 2 == 1) {
                    Some(token) => wire::progress(&mut line, token, number, self.notes),
                    None => wire::log(&mut line, number),
                }
                server.out.put(Kind::Note, &line);
            }
        }
        Take::Leave
    }
}

struct NoEnd {
    pause: Duration,
}

impl Fault for NoEnd {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        let token = request.params.meta.progress_token.map_or("0", |token| token.get());
        report(Arc::clone(server), token.to_owned(), self.pause, 1);
        Take::Mine
    }
}

/// Not even a cancellation stops it.
fn report(server: Arc<Server>, token: String, pause: Duration, done: usize) {
    let mut line = Vec::new();
    wire::progress(&mut line, &token, done, done + 1);
    server.out.put(Kind::Note, &line);
    server.out.flush();
    let later = Arc::clone(&server.later);
    later.after(pause, move || report(server, token, pause, done + 1));
}
