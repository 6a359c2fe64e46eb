//! Tools that answer at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Done, arguments};
use crate::cut::{self, How};
use crate::server::Server;
use crate::wire::{self, Request};

pub(super) fn echo(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Echo<'a> {
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        token: Option<&'a RawValue>,
    }
    let Some(Echo { message: Some(message), token }) = arguments(request) else { return Done::BadArguments };
    // A string goes back as it came, anything else as its text.
    let message = message.get();
    let text = if message.starts_with('"') { None } else { Some(wire::quoted(message)) };
    Done::Answer(wire::result(request.id, request.speech, |line| {
        wire::text_content(line, text.as_deref().unwrap_or(message));
        line.extend_from_slice(b",\"structuredContent\":{\"token\":");
        line.extend_from_slice(token.map_or("null", |token| token.get()).as_bytes());
        line.push(b'}');
    }))
}

pub(super) fn add(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Add {
        a: f64,
        b: f64,
    }
    let Some(Add { a, b }) = arguments(request) else { return Done::BadArguments };
    text(request, &(a + b).to_string())
}

pub(super) fn big(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Big {
        bytes: usize,
    }
    let Some(Big { bytes }) = arguments(request) else { return Done::BadArguments };
    text(request, &"x".repeat(bytes))
}

pub(super) fn env(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Env {
        names: Option<Vec<String>>,
    }
    let Some(Env { names }) = arguments(request) else { return Done::BadArguments };
    let all = std::env::vars_os().map(|(name, value)| {
        (name.to_string_lossy().into_owned(), Value::from(value.to_string_lossy().into_owned()))
    });
    let seen = match names {
        None => Value::Array(all.map(|(name, _)| Value::from(name)).collect()),
        Some(names) => Value::Object(all.filter(|(name, _)| names.contains(name)).collect::<Map<_, _>>()),
    };
    text(request, &seen.to_string())
}

pub(super) fn fds(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let own = testkit::proc::open_fds(process::id());
    let open: Map<_, _> =
        own.into_iter().map(|(fd, what)| (fd.to_string(), json!(what.display().to_string()))).collect();
    let inherited: Map<_, _> =
        server.inherited.iter().map(|(fd, what)| (fd.to_string(), json!(what))).collect();
    text(request, &json!({ "inherited": inherited, "open": open }).to_string())
}

pub(super) fn pid(_: &Arc<Server>, request: &Request<'_>) -> Done {
    text(request, &process::id().to_string())
}

pub(super) fn count(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let token = super::token(request);
    server.events.note(&["exec", &token]);
    text(request, &token)
}

pub(super) fn fail(_: &Arc<Server>, request: &Request<'_>) -> Done {
    Done::Answer(wire::result(request.id, request.speech, |line| {
        wire::text_content(line, "\"this tool always fails\"");
        line.extend_from_slice(b",\"isError\":true");
    }))
}

pub(super) fn rpc_error(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct RpcError {
        code: Option<i64>,
    }
    let Some(RpcError { code }) = arguments(request) else { return Done::BadArguments };
    let data = "{\"why\":\"asked for\"}";
    Done::Answer(wire::error(request.id, code.unwrap_or(-32000), "the error that was asked for", data))
}

pub(super) fn die(server: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Die {
        how: Option<String>,
    }
    let Some(Die { how }) = arguments(request) else { return Done::BadArguments };
    server.out.flush();
    match how.as_deref() {
        Some("exit") | None => process::exit(1),
        Some("kill") => cut::end(How::Kill),
        Some("eof") => cut::end(How::Eof),
        Some(_) => Done::BadArguments,
    }
}

pub(super) fn grow(server: &Arc<Server>, request: &Request<'_>) -> Done {
    let grown = server.grown.fetch_add(1, Ordering::Relaxed) + 1;
    server.tools_changed();
    text(request, &format!("grown_{grown}"))
}

fn text(request: &Request<'_>, text: &str) -> Done {
    Done::Answer(wire::text_result(request.id, request.speech, &wire::quoted(text)))
}
