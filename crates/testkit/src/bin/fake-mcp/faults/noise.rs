//! Things on stdout that are no messages, or none that anybody asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Entry, Fault, Take};
use crate::out::{Kind, Pipe};
use crate::server::Server;
use crate::wire::Request;

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "s01",
        modes: &[],
        about: "noise lines on stdout before and after every message",
        make: |_| Arc::new(Between { lines: NOISE, turn: AtomicUsize::new(0), opening: 6 }),
    },
    Entry { label: "s14", modes: &[], about: "every answer twice", make: |_| Arc::new(Twice) },
    Entry {
        label: "s15",
        modes: &[],
        about: "answers to ids never asked, also before the handshake",
        make: |_| Arc::new(Between { lines: STRAY, turn: AtomicUsize::new(0), opening: 3 }),
    },
    Entry {
        label: "s17",
        modes: &[],
        about: "malformed messages between good ones",
        make: |_| Arc::new(Between { lines: MALFORMED, turn: AtomicUsize::new(0), opening: 0 }),
    },
    Entry {
        label: "s31",
        modes: &[],
        about: "writes down on stdout what it receives, and answers nearly the same ids before the right one",
        make: |_| Arc::new(Diarist),
    },
];

const NOISE: &[&str] = &[
    "\x1b[32m✔\x1b[0m \x1b[1mserver ready\x1b[0m",
    "npm warn deprecated inflight@1.0.6: This module is not supported",
    "",
    "> some-server@1.2.3 start",
    r#"{"level":30,"time":1731667200,"msg":"listening"}"#,
    "Debugger listening on ws://127.0.0.1:9229/0f2c936f",
    "   ",
    r#"["not","json-rpc"]"#,
    "null",
    "\"just a string\"",
    "{not json at all",
    "\x1b[2J\x1b[H\u{7}progress: 50%\rprogress: 100%",
];

const STRAY: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":987654,"result":{"content":[{"type":"text","text":"stray"}]}}"#,
    r#"{"jsonrpc":"2.0","id":"never-asked","result":{}}"#,
    r#"{"jsonrpc":"2.0","id":987655,"error":{"code":-32000,"message":"stray"}}"#,
    r#"{"jsonrpc":"2.0","id":-1,"result":{"tools":[]}}"#,
    r#"{"jsonrpc":"2.0","id":18446744073709551616,"result":{}}"#,
];

const MALFORMED: &[&str] = &[
    r#"{"jsonrpc":"1.0","id":424242,"result":{}}"#,
    r#"{"id":424243,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#,
    r#"{"jsonrpc":"2.0","id":424244,"result":{},"error":{"code":-1,"message":"both"}}"#,
    r#"[{"jsonrpc":"2.0","id":424245,"result":{}},{"jsonrpc":"2.0","method":"notifications/message"}]"#,
    "42",
    r#"{"jsonrpc":"2.0","id":424246"#,
    r#"{"jsonrpc":"2.0","id":{"a":1},"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":424247}"#,
    r#"{"jsonrpc":"2.0","method":7,"params":"x"}"#,
    r#"{"jsonrpc":"2.0","id":424248,"error":"no object"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"half"}}"#,
    "{}",
];

/// One odd line before each message and one after it, in turn.
struct Between {
    lines: &'static [&'static str],
    turn: AtomicUsize,
    /// How many come before anything else.
    opening: usize,
}

impl Between {
    fn next(&self) -> String {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        format!("{}\n", self.lines[turn % self.lines.len()])
    }
}

impl Fault for Between {
    fn start(&self, server: &Arc<Server>) {
        let opening: String = (0..self.opening).map(|_| self.next()).collect();
        server.out.raw(opening.as_bytes());
    }

    fn emit(&self, pipe: &mut Pipe, _: Kind, line: &[u8]) {
        pipe.hold(self.next().as_bytes());
        pipe.hold(line);
        pipe.hold(self.next().as_bytes());
    }
}

/// Logs every request where only answers belong, and gives wrong answers to ids that are almost the one asked.
struct Diarist;

impl Fault for Diarist {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        let (id, copy) = (request.id, String::from_utf8_lossy(request.line));
        let copy = copy.trim_end();
        let wrong = r#""result":{"content":[{"type":"text","text":"wrong"}],"tools":[]}"#;
        let lines = [
            format!("[DEBUG] received: {copy}"),
            copy.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":{id}.5,{wrong}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}.0,{wrong}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":"{id}",{wrong}}}"#),
            format!(r#"[{{"jsonrpc":"2.0","id":{id},{wrong}}}]"#),
            format!(r#"INFO sending {{"jsonrpc":"2.0","id":{id},{wrong}}}"#),
        ];
        server.out.raw(format!("{}\n", lines.join("\n")).as_bytes());
        Take::Leave
    }
}

struct Twice;

impl Fault for Twice {
    fn emit(&self, pipe: &mut Pipe, kind: Kind, line: &[u8]) {
        pipe.hold(line);
        if kind != Kind::Note {
            pipe.hold(line);
        }
    }
}
