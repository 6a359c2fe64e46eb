//! `tools/list`: the tools of the good server, as many more as asked for, and pages of them.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use crate::server::Server;
use crate::tools::TOOLS;
use crate::wire::{self, Request, Speech, code};

/// About what a tool of a real server takes.
const EXTRA_BYTES: usize = 400;

pub(crate) fn answer(server: &Server, request: &Request<'_>) -> Vec<u8> {
    if let Some(corpus) = &server.corpus {
        return paged(server, request, corpus.len(), |index| corpus.definition(index).into());
    }
    let grown = server.grown.load(Ordering::Relaxed);
    let total = TOOLS.len() + server.options.tools + grown;
    paged(server, request, total, |index| tool(server, index))
}

/// The page that was asked for of `total` tools.
pub(crate) fn paged<'a>(
    server: &Server,
    request: &Request<'_>,
    total: usize,
    tool: impl Fn(usize) -> Cow<'a, str>,
) -> Vec<u8> {
    let from = match request.params.cursor.as_deref() {
        None => Some(0),
        Some(cursor) => cursor.strip_prefix("at-").and_then(|at| at.parse().ok()).filter(|at| *at < total),
    };
    let Some(from) = from else {
        return wire::error(request.id, code::BAD_PARAMS, "unknown cursor", "");
    };
    let to = server.options.page.map_or(total, |page| total.min(from + page));
    let next = (to < total).then(|| format!("at-{to}"));
    let hints = Hints { scope: server.options.scope, ttl: server.options.ttl };
    hinted_page(request.id, request.speech, (from..to).map(tool), next.as_deref(), hints)
}

/// The definitions of the good server's own tools.
pub(crate) fn good() -> impl Iterator<Item = Cow<'static, str>> {
    TOOLS.iter().map(|tool| Cow::Owned(tool.definition()))
}

/// One page as a whole answer.
pub(crate) fn page<'a>(
    id: &str,
    speech: Speech,
    tools: impl Iterator<Item = Cow<'a, str>>,
    next: Option<&str>,
) -> Vec<u8> {
    hinted_page(id, speech, tools, next, Hints { scope: "public", ttl: Some(60_000) })
}

/// What a modern server says of its list: who may keep it, and for how long.
struct Hints {
    scope: &'static str,
    ttl: Option<u64>,
}

fn hinted_page<'a>(
    id: &str,
    speech: Speech,
    tools: impl Iterator<Item = Cow<'a, str>>,
    next: Option<&str>,
    Hints { scope, ttl }: Hints,
) -> Vec<u8> {
    wire::result(id, speech, |line| {
        line.extend_from_slice(b"\"tools\":[");
        for (index, tool) in tools.enumerate() {
            if 0 < index {
                line.push(b',');
            }
            line.extend_from_slice(tool.as_bytes());
        }
        line.push(b']');
        if let Some(next) = next {
            line.extend_from_slice(format!(",\"nextCursor\":{}", wire::quoted(next)).as_bytes());
        }
        if speech == Speech::Modern {
            let ttl = ttl.map(|ttl| format!(",\"ttlMs\":{ttl}")).unwrap_or_default();
            line.extend_from_slice(format!("{ttl},\"cacheScope\":\"{scope}\"").as_bytes());
        }
    })
}

/// A tool like those of real servers, `bytes` long in JSON (or a little more, if that is too short for it).
pub(crate) fn definition(name: &str, bytes: usize) -> String {
    let around = |words: &str| {
        format!(
            "{{\"name\":\"{name}\",\"description\":\"Reads records of the {name} collection.{words}\",\
             \"inputSchema\":{{\"type\":\"object\",\"properties\":{{\"query\":{{\"type\":\"string\",\
             \"description\":\"What to look for\"}},\"limit\":{{\"type\":\"integer\",\"minimum\":1}}}},\
             \"required\":[\"query\"]}},\"annotations\":{{\"readOnlyHint\":true}}}}"
        )
    };
    const WORDS: &str = " Results come newest first and hold the fields the query names.";
    let missing = bytes.saturating_sub(around("").len());
    let padding: String = WORDS.chars().cycle().take(missing).collect();
    around(&padding)
}

fn tool(server: &Server, index: usize) -> Cow<'static, str> {
    let own = TOOLS.get(index).map(|tool| tool.definition());
    let extra = index.wrapping_sub(TOOLS.len());
    let made = || match extra.checked_sub(server.options.tools) {
        None => definition(&format!("extra_{:04}", extra + 1), EXTRA_BYTES),
        Some(grown) => definition(&format!("grown_{}", grown + 1), EXTRA_BYTES),
    };
    Cow::Owned(own.unwrap_or_else(made))
}
