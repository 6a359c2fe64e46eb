//! Servers that answer something else over HTTP, or send their clients somewhere else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Entry, Fault, Modes, N};
use crate::http::{Asked, HttpFault, Reply};
use crate::wire::{self, code};

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "h05",
        modes: &[N, "400", "401", "500", "503", "wait"],
        about: "every session is lost after N (1) calls: 404 as specified, or another status and a text about it; \
                wait: and Retry-After",
        make: |modes| {
            let (status, wait) = (status(modes).unwrap_or(404), modes.has("wait"));
            Arc::new(Forgetful { calls: count(modes, 1), status, wait })
        },
    },
    Entry {
        label: "h07",
        modes: &["same", "other", "loop", "301", "302", "303", "307", "308", "call"],
        about: "redirects (307) to --elsewhere (other), to a path of its own that serves (same) or to itself \
                (loop); call: only calls",
        make: |modes| {
            let to = match () {
                () if modes.has("same") => Target::Same,
                () if modes.has("loop") => Target::Loop,
                () => Target::Other,
            };
            Arc::new(Redirect { to, status: status(modes).unwrap_or(307), which: Which::of(modes) })
        },
    },
    Entry {
        label: "h09",
        modes: &["html", "empty", "xml", "text", "call"],
        about: "no MCP at all: a login page (html), nothing, XML or a plain text, all with 200; call: only calls",
        make: |modes| Arc::new(Stranger { reply: stranger(modes), which: Which::of(modes) }),
    },
    Entry {
        label: "h11",
        modes: &["absolute", "relative", "userinfo"],
        about: "with --sse: the endpoint lies on --elsewhere, as a whole URL (absolute), without its scheme \
                (relative), or with our own address before the @ (userinfo)",
        make: |modes| {
            Arc::new(Elsewhere(modes.0.first().map_or_else(|| "absolute".into(), |&mode| mode.into())))
        },
    },
    Entry {
        label: "h17",
        modes: &["bare", "scope", "forbidden", "call", "list"],
        about: "401 with WWW-Authenticate; bare: without it; scope: 403 for a scope that is missing; forbidden: 403 \
                without a challenge; call: only calls; list: only lists",
        make: |modes| Arc::new(Stranger { reply: challenge(modes), which: Which::of(modes) }),
    },
    Entry {
        label: "h19",
        modes: &[N, "429", "503", "long", "date", "junk", "bare", "error", "call", "list", "page"],
        about: "busy (503) for the first N (2) requests, with Retry-After 1; long: a day; date: as a date; junk: \
                unreadable; bare: without; error: with an error of the protocol in it; call: only calls; list: only \
                lists; page: only further pages of lists",
        make: |modes| {
            let (status, left) = (status(modes).unwrap_or(503), AtomicUsize::new(count(modes, 2)));
            let reply = busy(modes)(status);
            let error = wire::error("null", code::TRANSPORT, "Too many requests", "");
            let reply = if modes.has("error") { reply.json(error) } else { reply };
            Arc::new(Busy { reply, left, which: Which::of(modes) })
        },
    },
];

/// A number among the modes that is a status.
fn status(modes: &Modes<'_>) -> Option<u16> {
    modes.0.iter().filter_map(|mode| mode.parse().ok()).find(|number| 300 <= *number)
}

/// A number among the modes that is none.
fn count(modes: &Modes<'_>, default: usize) -> usize {
    modes.0.iter().filter_map(|mode| mode.parse().ok()).find(|number| *number < 300).unwrap_or(default)
}

enum Which {
    Calls,
    Lists,
    Pages,
    All,
}

impl Which {
    fn of(modes: &Modes<'_>) -> Self {
        match () {
            () if modes.has("call") => Self::Calls,
            () if modes.has("list") => Self::Lists,
            () if modes.has("page") => Self::Pages,
            () => Self::All,
        }
    }

    fn holds(&self, asked: &Asked<'_>) -> bool {
        match self {
            Self::Calls => asked.is_spoilt(),
            Self::Lists => asked.method == "tools/list",
            Self::Pages => {
                let has_cursor = asked.http.body.windows(8).any(|word| word == b"\"cursor\"");
                asked.method == "tools/list" && has_cursor
            }
            Self::All => true,
        }
    }
}

struct Forgetful {
    calls: usize,
    status: u16,
    wait: bool,
}

impl Fault for Forgetful {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Forgetful {
    fn session_life(&self) -> Option<usize> {
        Some(self.calls)
    }

    fn session_refusal(&self) -> Option<Reply> {
        let text = match self.status {
            404 => return None,
            400 => "Bad Request: No valid session ID provided",
            401 => "Unauthorized: session expired",
            500 => "Internal error: session is not known here",
            _ => "Service unavailable: the session is gone",
        };
        let reply = Reply::new(self.status).json(wire::error("null", code::TRANSPORT, text, ""));
        Some(if self.wait { reply.header("Retry-After", "1") } else { reply })
    }
}

enum Target {
    Same,
    Other,
    Loop,
}

struct Redirect {
    to: Target,
    status: u16,
    which: Which,
}

impl Fault for Redirect {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Redirect {
    fn intercept(&self, asked: &Asked<'_>, elsewhere: Option<&str>) -> Option<Reply> {
        if asked.http.path == "/moved" || !self.which.holds(asked) {
            return None;
        }
        let to = match self.to {
            Target::Same => "/moved",
            Target::Loop => return Some(Reply::new(self.status).header("Location", &asked.http.path)),
            Target::Other => elsewhere.unwrap_or("http://127.0.0.1:9/mcp"),
        };
        Some(Reply::new(self.status).header("Location", to))
    }
}

/// The same answer to everything.
struct Stranger {
    reply: fn() -> Reply,
    which: Which,
}

impl Fault for Stranger {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Stranger {
    fn intercept(&self, asked: &Asked<'_>, _: Option<&str>) -> Option<Reply> {
        self.which.holds(asked).then(self.reply)
    }
}

const LOGIN: &str = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form action=\"/login\" \
                     method=\"post\"><input name=\"user\"><input name=\"password\" type=\"password\"></form>\
                     <script>document.forms[0].user.focus()</script></body></html>\n";

const XML: &str = "<?xml version=\"1.0\"?>\n<methodResponse><fault><value><string>no such method</string>\
                   </value></fault></methodResponse>\n";

fn stranger(modes: &Modes<'_>) -> fn() -> Reply {
    match () {
        () if modes.has("empty") => || Reply::new(200),
        () if modes.has("xml") => || Reply::new(200).body("application/xml", XML),
        () if modes.has("text") => || Reply::new(200).body("text/plain", "It works!\n"),
        () => || Reply::new(200).body("text/html; charset=utf-8", LOGIN),
    }
}

fn challenge(modes: &Modes<'_>) -> fn() -> Reply {
    const TOKEN: &str = "Bearer realm=\"fake-mcp\", error=\"invalid_token\", error_description=\"expired\"";
    const SCOPE: &str = "Bearer error=\"insufficient_scope\", scope=\"tools:call\"";
    match () {
        () if modes.has("bare") => || Reply::new(401).json("{\"error\":\"unauthorized\"}"),
        () if modes.has("forbidden") => || Reply::new(403).body("text/plain", "not for you\n"),
        () if modes.has("scope") => || Reply::new(403).header("WWW-Authenticate", SCOPE),
        () => || Reply::new(401).header("WWW-Authenticate", TOKEN),
    }
}

struct Elsewhere(Box<str>);

impl Fault for Elsewhere {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Elsewhere {
    fn endpoint(&self, own: &str, elsewhere: Option<&str>) -> Option<String> {
        let url = elsewhere.unwrap_or("http://127.0.0.1:9/mcp");
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        Some(match &*self.0 {
            "relative" => format!("//{rest}"),
            "userinfo" => format!("{own}@{rest}"),
            _ => url.to_owned(),
        })
    }
}

struct Busy {
    reply: Reply,
    left: AtomicUsize,
    which: Which,
}

impl Fault for Busy {
    fn http(&self) -> Option<&dyn HttpFault> {
        Some(self)
    }
}

impl HttpFault for Busy {
    fn intercept(&self, asked: &Asked<'_>, _: Option<&str>) -> Option<Reply> {
        let one_less = |left: usize| left.checked_sub(1);
        let busy = self.which.holds(asked)
            && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok();
        busy.then(|| self.reply.clone())
    }
}

fn busy(modes: &Modes<'_>) -> fn(u16) -> Reply {
    match () {
        () if modes.has("long") => |status| Reply::new(status).header("Retry-After", "86400"),
        () if modes.has("date") => {
            |status| Reply::new(status).header("Retry-After", "Fri, 31 Dec 2100 23:59:59 GMT")
        }
        () if modes.has("junk") => |status| Reply::new(status).header("Retry-After", "soon"),
        () if modes.has("bare") => Reply::new,
        () => |status| Reply::new(status).header("Retry-After", "1"),
    }
}
