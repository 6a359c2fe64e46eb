//! Processes that are not there, or there and no use: silent, gone, half-closed.

use std::process;
use std::sync::Arc;

use super::{Entry, Fault, Modes, Take, live_on};
use crate::server::Server;
use crate::wire::Request;
use crate::{stdin, stdout};

const WHEN: &[&str] = &["start", "handshake", "list", "call"];

pub(super) const FAULTS: &[Entry] = &[
    Entry { label: "s05", modes: &[], about: "never answers anything", make: |_| Arc::new(Mute) },
    Entry {
        label: "s09",
        modes: &["exit0"],
        about: "ends silently at start with code 0",
        make: |_| Arc::new(Gone),
    },
    Entry {
        label: "s10",
        modes: WHEN,
        about: "closes its stdout and lives on; when: after the handshake unless told otherwise",
        make: |modes| At::make(modes, Loss::Stdout),
    },
    Entry {
        label: "s11",
        modes: WHEN,
        about: "closes its stdin and lives on, stdout open; when as s10",
        make: |modes| At::make(modes, Loss::Stdin),
    },
    Entry {
        label: "s12",
        modes: WHEN,
        about: "stops reading stdin; when as s10",
        make: |modes| At::make(modes, Loss::Reading),
    },
];

struct Mute;

impl Fault for Mute {
    fn request(&self, _: &Arc<Server>, _: &Request<'_>) -> Take {
        Take::Mine
    }
}

struct Gone;

impl Fault for Gone {
    fn start(&self, _: &Arc<Server>) {
        process::exit(0);
    }
}

#[derive(PartialEq, Eq)]
enum When {
    Start,
    /// After the first request that was served: the handshake, or what a modern client sends instead.
    Handshake,
    List,
    /// Instead of the answer to a call.
    Call,
}

enum Loss {
    Stdout,
    Stdin,
    Reading,
}

struct At {
    when: When,
    loss: Loss,
}

impl At {
    fn make(modes: &Modes<'_>, loss: Loss) -> Arc<dyn Fault> {
        let when = match modes.0.first().copied() {
            Some("start") => When::Start,
            Some("list") => When::List,
            Some("call") => When::Call,
            _ => When::Handshake,
        };
        Arc::new(Self { when, loss })
    }

    fn strike(&self, server: &Server) {
        server.out.flush();
        match self.loss {
            Loss::Stdout => stdout::close(),
            Loss::Stdin => {
                stdin::close();
                server.events.note(&["stdin-closed"]);
                live_on()
            }
            Loss::Reading => live_on(),
        }
    }
}

impl Fault for At {
    fn start(&self, server: &Arc<Server>) {
        if self.when == When::Start {
            self.strike(server);
        }
    }

    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if self.when != When::Call || request.method != "tools/call" {
            return Take::Leave;
        }
        self.strike(server);
        Take::Mine
    }

    fn after(&self, server: &Arc<Server>, request: &Request<'_>) {
        let now = match self.when {
            When::Start | When::Call => false,
            When::Handshake => true,
            When::List => request.method == "tools/list",
        };
        if now {
            self.strike(server);
        }
    }
}
