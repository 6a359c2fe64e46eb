//! Results of any weight: what a client holds of one must not be many times what came.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::catalog::{Catalog, Listed, tool};
use super::{Entry, Fault, Take};
use crate::server::Server;
use crate::tools::{self, PNG};
use crate::wire::{self, Request, code};

pub(super) const FAULTS: &[Entry] = &[Entry {
    label: "c16",
    modes: &["start", "list", "page"],
    about: "`bulk` answers with `size` bytes of one `kind`: text, image, images, empty, deep, structured, rows, error; \
            start, list, page: the handshake, the list or its later pages are refused with 4 MiB of words",
    make: |modes| {
        let catalog = Catalog::new([definition(), Listed::plain("plain")]).run(run);
        match modes.0.first().copied() {
            Some("start") => Arc::new(Wordy(catalog, &["server/discover", "initialize"])),
            Some("list") => Arc::new(Wordy(catalog, &["tools/list"])),
            Some("page") => Arc::new(Wordy(catalog, &[])),
            _ => Arc::new(catalog),
        }
    },
}];

/// Refuses some requests, or else the later pages of its list, and says a lot about it.
struct Wordy(Catalog, &'static [&'static str]);

impl Fault for Wordy {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        let is_later = self.1.is_empty() && request.params.cursor.is_some();
        if !is_later && !self.1.contains(&request.method) {
            return self.0.request(server, request);
        }
        server.answer(&wire::error(request.id, code::BAD_PARAMS, &"e".repeat(4 << 20), ""));
        Take::Mine
    }

    fn definition(&self, name: &str) -> Option<&str> {
        self.0.definition(name)
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
    /// One picture.
    Image,
    /// Many small ones.
    Images,
    /// Pieces of content with nothing in them.
    Empty,
    /// Lists in lists, a hundred levels, again and again.
    Deep,
    Structured,
    /// The same with longer texts in it.
    Rows,
    /// A JSON-RPC error with that much to say.
    Error,
}

#[derive(Deserialize)]
struct Arguments {
    kind: Kind,
    size: usize,
}

fn definition() -> Listed {
    let kinds =
        json!({ "enum": ["text", "image", "images", "empty", "deep", "structured", "rows", "error"] });
    let properties = json!({ "kind": kinds, "size": { "type": "integer" } });
    let schema = json!({ "type": "object", "properties": properties, "required": ["kind", "size"] });
    Listed::new(&tool("bulk", "Answers with that much", &schema))
}

fn run(_: &Server, request: &Request<'_>) -> Vec<u8> {
    let Some(Arguments { kind, size }) = tools::arguments(request) else {
        return wire::error(request.id, code::BAD_PARAMS, "invalid arguments", "");
    };
    let body = match kind {
        Kind::Error => return wire::error(request.id, code::INTERNAL, &"e".repeat(size), ""),
        Kind::Text => format!("\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]", "t".repeat(size)),
        Kind::Image => format!("\"content\":[{}]", image(&"AAAA".repeat(size / 4))),
        Kind::Images => list("content", &image(PNG), size),
        Kind::Empty => list("content", "{}", size),
        Kind::Deep => {
            let nest = format!("{}{}", "[".repeat(100), "]".repeat(100));
            format!("\"content\":[],\"structuredContent\":{{{}}}", list("deep", &nest, size))
        }
        Kind::Structured => {
            let row = "{\"id\":1234567,\"name\":\"somebody\",\"on\":true}";
            format!("\"content\":[],\"structuredContent\":{{{}}}", list("rows", row, size))
        }
        Kind::Rows => {
            let row = format!("{{\"id\":1234567,\"name\":\"{}\"}}", "n".repeat(500));
            format!("\"content\":[],\"structuredContent\":{{{}}}", list("rows", &row, size))
        }
    };
    wire::result(request.id, request.speech, |line| line.extend_from_slice(body.as_bytes()))
}

fn image(data: &str) -> String {
    format!("{{\"type\":\"image\",\"data\":\"{data}\",\"mimeType\":\"image/png\"}}")
}

/// A member that is a list of the same thing, about that many bytes.
fn list(name: &str, item: &str, size: usize) -> String {
    let count = (size / (item.len() + 1)).max(1);
    format!("\"{name}\":[{}{item}]", format!("{item},").repeat(count - 1))
}
