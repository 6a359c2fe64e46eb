//! Calls over HTTP that are executed well and answered badly: slowly, endlessly, in half, not at all.

use std::sync::Arc;
use std::time::Duration;

use super::{Entry, Fault, Modes, N, Take, size, spoils};
use crate::cut::How;
use crate::http::{Asked, HttpFault, Lie, Shape};
use crate::options::Form;
use crate::out::Kind;
use crate::server::Server;
use crate::wire::Request;

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "h01",
        modes: &[N],
        about: "answers to calls one byte every N ms (100), head and body",
        make: |modes| Shaped::make(Shape::Drip(ms(modes.number(100)))),
    },
    Entry {
        label: "h02",
        modes: &[N],
        about: "instead of an answer to a call a stream of events with a comment every N ms (100) for ever",
        make: |modes| Shaped::formed(Shape::Endless(ms(modes.number(100))), Form::Sse),
    },
    Entry {
        label: "h03",
        modes: &[N, "endless"],
        about: "a call's answer as a JSON body of N MiB (64), valid; endless: one that never ends",
        make: |modes| Large::make(modes, Form::Json),
    },
    Entry {
        label: "h04",
        modes: &["fin", "rst", "json"],
        about: "the stream ends before the answer to a call, which can be fetched with Last-Event-ID where there \
                are sessions; rst: by a reset; json: half of a JSON body",
        make: |modes| {
            let form = if modes.has("json") { Form::Json } else { Form::Sse };
            Shaped::formed(Shape::Torn(how(modes, How::Close)), form)
        },
    },
    Entry {
        label: "h08",
        modes: &[N, "endless"],
        about: "a call's answer as one event of N MiB (64), valid; endless: one that never ends",
        make: |modes| Large::make(modes, Form::Sse),
    },
    Entry {
        label: "h10",
        modes: &["fin", "rst"],
        about: "a call is executed, then the connection is reset without a byte; fin: closed",
        make: |modes| Shaped::make(Shape::Lost(how(modes, How::Reset))),
    },
    Entry {
        label: "h13",
        modes: &["ran"],
        about: "the connection is reset while a call runs, which never happens; ran: which happens all the same",
        make: |modes| Arc::new(Interrupted { then: if modes.has("ran") { Take::Leave } else { Take::Mine } }),
    },
    Entry {
        label: "h14",
        modes: &["post"],
        about: "streams say `retry: 0` and the GET stream ends at once; post: so do the answers to calls, \
                which can be fetched",
        make: |modes| Arc::new(Bait { posts: modes.has("post") }),
    },
    Entry {
        label: "h15",
        modes: &["long", "short", "chunk", "junk", "twice", "negative", "sse"],
        about: "a Content-Length (long) or a chunk's size in the answer to a call that is wrong, too long (100 \
                bytes) unless told otherwise; sse: a chunk of a stream of events",
        make: |modes| {
            let form = if modes.has("sse") { Form::Sse } else { Form::Json };
            Shaped::formed(Shape::Lengths(lie(modes)), form)
        },
    },
    Entry {
        label: "h18",
        modes: &["all"],
        about: "answers to calls compressed by gzip, whatever the client takes; all: all answers",
        make: |modes| {
            let which = if modes.has("all") { Which::All } else { Which::Calls };
            Arc::new(Shaped { shape: Shape::Gzip, form: Some(Form::Json), which })
        },
    },
];

fn ms(number: usize) -> Duration {
    Duration::from_millis(number as u64)
}

fn how(modes: &Modes<'_>, default: How) -> How {
    match () {
        () if modes.has("rst") => How::Reset,
        () if modes.has("fin") => How::Close,
        () => default,
    }
}

fn lie(modes: &Modes<'_>) -> Lie {
    match modes.0.first().copied() {
        Some("short") => Lie::Short,
        Some("chunk") => Lie::Chunk,
        Some("junk") => Lie::Junk,
        Some("twice") => Lie::Twice,
        Some("negative") => Lie::Negative,
        _ => Lie::Long,
    }
}

#[derive(PartialEq, Eq)]
enum Which {
    Calls,
    All,
}

/// Good answers in a bad shape.
struct Shaped {
    shape: Shape,
    form: Option<Form>,
    which: Which,
}

impl Shaped {
    fn make(shape: Shape) -> Arc<dyn Fault> {
        Arc::new(Self { shape, form: None, which: Which::Calls })
    }

    fn formed(shape: Shape, form: Form) -> Arc<dyn Fault> {
        Arc::new(Self { shape, form: Some(form), which: Which::Calls })
    }
}

impl Fault for Shaped {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Shaped {
    fn shape(&self, asked: &Asked<'_>) -> Shape {
        if asked.is_spoilt() || self.which == Which::All { self.shape } else { Shape::Good }
    }

    fn form(&self) -> Option<Form> {
        self.form
    }
}

/// Answers that a client must not take whole.
struct Large {
    /// Without a size it has no end.
    mib: Option<usize>,
    form: Form,
}

impl Large {
    fn make(modes: &Modes<'_>, form: Form) -> Arc<dyn Fault> {
        let mib = (!modes.has("endless")).then(|| modes.number(64));
        Arc::new(Self { mib, form })
    }
}

impl Fault for Large {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        match self.mib {
            Some(mib) => server.answer_call(&size::huge(request, mib)),
            None => server.out.during(Kind::CallAnswer, |pipe| {
                let id = request.id;
                pipe.write_now(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"").as_bytes(),
                );
                let chunk = [b'A'; 64 * 1024];
                while !pipe.is_gone() {
                    pipe.write_now(&chunk);
                }
            }),
        }
        Take::Mine
    }

    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Large {
    fn form(&self) -> Option<Form> {
        Some(self.form)
    }
}

struct Interrupted {
    then: Take,
}

impl Fault for Interrupted {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        if !spoils(request) {
            return Take::Leave;
        }
        server.out.sever(How::Reset);
        self.then
    }
}

struct Bait {
    posts: bool,
}

impl Fault for Bait {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Bait {
    fn retry(&self) -> Option<u64> {
        Some(0)
    }

    fn shape(&self, asked: &Asked<'_>) -> Shape {
        let get = asked.http.method == "GET" && asked.http.header("last-event-id").is_none();
        if get || self.posts && asked.is_spoilt() { Shape::Brief } else { Shape::Good }
    }

    fn form(&self) -> Option<Form> {
        self.posts.then_some(Form::Sse)
    }
}
