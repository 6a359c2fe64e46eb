//! Answers that a client must not take whole: too long, too deep, not text.

use std::sync::Arc;

use super::{Entry, Fault, N, Take, spoils};
use crate::out::Kind;
use crate::server::Server;
use crate::wire::{self, Request};

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s02",
        modes: &[N, "noid"],
        about: "instead of an answer to a call a line of N MiB (512) that never becomes JSON; noid: without id",
        make: |modes| Arc::new(Endless { mib: modes.number(512), id: !modes.has("noid") }),
    },
    Entry {
        label: "s03",
        modes: &[N, "idlast"],
        about: "a call's result of N MiB (64), valid; idlast: the id stands at the end of the line",
        make: |modes| Arc::new(Huge { mib: modes.number(64), id_last: modes.has("idlast") }),
    },
    Entry {
        label: "s18",
        modes: &[],
        about: "an answer to a call with bytes inside that are no UTF-8",
        make: |_| Arc::new(BadText),
    },
    Entry {
        label: "s19",
        modes: &[N],
        about: "an answer to a call nested N (200000) deep",
        make: |modes| Arc::new(Deep { depth: modes.number(200_000) }),
    },
];

const MIB: usize = 1024 * 1024;

struct Endless {
    mib: usize,
    id: bool,
}

impl Fault for Endless {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        let id = if self.id { format!("\"id\":{},", request.id) } else { String::new() };
        let head =
            format!("{{\"jsonrpc\":\"2.0\",{id}\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"");
        let chunk = vec![b'A'; MIB / 4];
        server.out.during(Kind::CallAnswer, |pipe| {
            pipe.write_now(head.as_bytes());
            (0..4 * self.mib).for_each(|_| pipe.write_now(&chunk));
            pipe.write_now(b"\n");
        });
        Take::Mine
    }
}

/// A result with a text of that many MiB.
pub(super) fn huge(request: &Request<'_>, mib: usize) -> Vec<u8> {
    wire::text_result(request.id, request.speech, &format!("\"{}\"", "B".repeat(mib * MIB)))
}

struct Huge {
    mib: usize,
    id_last: bool,
}

impl Fault for Huge {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        let mut line = huge(request, self.mib);
        if self.id_last {
            let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},", request.id);
            line.splice(..head.len(), *b"{");
            line.truncate(line.len() - 2);
            line.extend_from_slice(format!(",\"jsonrpc\":\"2.0\",\"id\":{}}}\n", request.id).as_bytes());
        }
        server.answer_call(&line);
        Take::Mine
    }
}

struct BadText;

impl Fault for BadText {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        let mut line = wire::text_result(request.id, request.speech, "\"caf@\"");
        let at = line.iter().rposition(|byte| *byte == b'@').unwrap_or(0);
        line.splice(at..=at, *b"\xe9 \xff\xfe \xc3( \xed\xa0\x80");
        server.out.put(Kind::CallAnswer, &line);
        Take::Mine
    }
}

struct Deep {
    depth: usize,
}

impl Fault for Deep {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        let line = wire::result(request.id, request.speech, |line| {
            wire::text_content(line, "\"deep\"");
            line.extend_from_slice(b",\"structuredContent\":{\"deep\":");
            line.extend(std::iter::repeat_n(b'[', self.depth));
            line.extend(std::iter::repeat_n(b']', self.depth));
            line.push(b'}');
        });
        server.answer_call(&line);
        Take::Mine
    }
}
