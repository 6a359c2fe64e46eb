//! Lists that only a client over HTTP has to look at twice: headers from parameters, and what is private.

use std::sync::Arc;

use serde_json::{Value, json};

use super::catalog::{Catalog, Listed, tool};
use super::{Entry, Fault, Take};
use crate::server::Server;
use crate::wire::{self, Request, Speech};

pub(super) const FAULTS: &[Entry] = &[
    Entry {
        label: "h12",
        modes: &[],
        about: "six tools with an x-mcp-header that is not allowed and one good one, `marked`; any can be called",
        make: |_| Arc::new(Catalog::new(marked())),
    },
    Entry {
        label: "h16",
        modes: &["public"],
        about: "each Authorization has a list of its own, which is private; public: which says it is public",
        make: |modes| Arc::new(Private { scope: if modes.has("public") { "public" } else { "private" } }),
    },
];

fn marked() -> impl Iterator<Item = Listed> {
    let with = |name: &str, properties: &Value| {
        Listed::new(&tool(name, "Looks things up", &json!({ "type": "object", "properties": properties })))
    };
    let text = |mark: &str| json!({ "type": "string", "x-mcp-header": mark });
    let nested = json!({ "type": "object", "properties": { "zone": text("Zone") } });
    [
        with("mark_empty", &json!({ "region": text("") })),
        with("mark_space", &json!({ "region": text("My Region") })),
        with("mark_crlf", &json!({ "region": text("Region\r\nX-Injected: yes") })),
        with("mark_twice", &json!({ "a": text("Region"), "b": text("region") })),
        with("mark_number", &json!({ "share": { "type": "number", "x-mcp-header": "Share" } })),
        with("mark_in_items", &json!({ "all": { "type": "array", "items": text("Region") } })),
        with(
            "marked",
            &json!({
                "region": text("Region"),
                "limit": { "type": "integer", "x-mcp-header": "Limit" },
                "dry": { "type": "boolean", "x-mcp-header": "Dry-Run" },
                "place": nested,
                "query": { "type": "string" },
            }),
        ),
    ]
    .into_iter()
}

/// The only tool of a client carries its credential in its name.
struct Private {
    scope: &'static str,
}

fn of(server: &Server) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let credential = server.credential.as_deref().unwrap_or("nobody");
    format!("private_{}", credential.trim_start_matches("Bearer ").chars().map(word).collect::<String>())
}

impl Fault for Private {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        let own = of(server);
        match request.method {
            "tools/list" => {
                let schema = json!({ "type": "object", "properties": {} });
                let mut result = json!({ "tools": [tool(&own, "Only for one client", &schema)] });
                if request.speech == Speech::Modern {
                    result["ttlMs"] = json!(60_000);
                    result["cacheScope"] = json!(self.scope);
                }
                server.answer(&wire::members(request, &result));
                Take::Mine
            }
            "tools/call" if request.params.name == own => {
                server.events.note(&["exec", &own]);
                server.answer_call(&wire::text_result(request.id, request.speech, &wire::quoted(&own)));
                Take::Mine
            }
            _ => Take::Leave,
        }
    }
}
