//! Tools whose results are more than a text: one per kind of content, one with all of them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Done, arguments};
use crate::server::Server;
use crate::wire::{self, Request};

/// One grey pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

/// Four samples of 8 bits.
const WAV: &str = "UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAoIBg";

/// The bytes 0, 1, 2 and `fake`.
const BLOB: &str = "AAECZmFrZQ==";

pub(super) fn image(_: &Arc<Server>, request: &Request<'_>) -> Done {
    blocks(request, &[image_block()])
}

pub(super) fn audio(_: &Arc<Server>, request: &Request<'_>) -> Done {
    blocks(request, &[audio_block()])
}

pub(super) fn resource(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Kind {
        kind: Option<String>,
    }
    let Some(Kind { kind }) = arguments(request) else { return Done::BadArguments };
    match kind.as_deref() {
        None => blocks(request, &[text_resource(), blob_resource()]),
        Some("text") => blocks(request, &[text_resource()]),
        Some("blob") => blocks(request, &[blob_resource()]),
        Some(_) => Done::BadArguments,
    }
}

pub(super) fn resource_link(_: &Arc<Server>, request: &Request<'_>) -> Done {
    blocks(request, &[link_block()])
}

/// As the specification wants it: structured, and the same as a text.
pub(super) fn structured(_: &Arc<Server>, request: &Request<'_>) -> Done {
    #[derive(Deserialize)]
    struct Structured {
        value: String,
    }
    let Some(Structured { value }) = arguments(request) else { return Done::BadArguments };
    let content = json!({ "value": value, "length": value.chars().count() }).to_string();
    Done::Answer(wire::result(request.id, request.speech, |line| {
        wire::text_content(line, &wire::quoted(&content));
        line.extend_from_slice(b",\"structuredContent\":");
        line.extend_from_slice(content.as_bytes());
    }))
}

/// Every kind of block, in the order of the specification.
pub(super) fn mixed(_: &Arc<Server>, request: &Request<'_>) -> Done {
    let text = json!({ "type": "text", "text": "all kinds", "annotations": { "audience": ["user"] } });
    let all = [text, image_block(), audio_block(), link_block(), text_resource(), blob_resource()];
    blocks(request, &all)
}

fn blocks(request: &Request<'_>, blocks: &[Value]) -> Done {
    Done::Answer(wire::result(request.id, request.speech, |line| {
        line.extend_from_slice(format!("\"content\":{}", json!(blocks)).as_bytes());
    }))
}

fn image_block() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn audio_block() -> Value {
    json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })
}

fn link_block() -> Value {
    json!({
        "type": "resource_link", "uri": "fake://linked", "name": "linked", "title": "A linked resource",
        "description": "Not embedded", "mimeType": "text/plain", "size": 7,
    })
}

fn text_resource() -> Value {
    let resource = json!({ "uri": "fake://text", "mimeType": "text/plain", "text": "embedded text" });
    json!({ "type": "resource", "resource": resource })
}

fn blob_resource() -> Value {
    let resource = json!({ "uri": "fake://blob", "mimeType": "application/octet-stream", "blob": BLOB });
    json!({ "type": "resource", "resource": resource })
}
