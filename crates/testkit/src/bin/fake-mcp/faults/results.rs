//! Results that are not what a result should be: one tool each.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Entry;
use super::catalog::{Catalog, Listed, tool};
use crate::server::Server;
use crate::tools::{self, PNG};
use crate::wire::{self, Request, code};

pub(super) const FAULTS: &[Entry] = &[Entry {
    label: "c10",
    modes: &[],
    about: "broken and odd results, each by a tool of its own; `good` is good",
    make: |_| Arc::new(Catalog::new(definitions()).run(run)),
}];

/// The name of a tool and the members of its result, `'` for `"`.
const RESULTS: &[(&str, &str)] = &[
    ("content_missing", "{}"),
    ("content_null", "{'content':null}"),
    ("content_object", "{'content':{'type':'text','text':'not in a list'}}"),
    ("content_text", "{'content':'not a list'}"),
    ("block_null", "{'content':[null,{'type':'text','text':'after null'}]}"),
    ("block_untyped", "{'content':[{'text':'no type'},{'type':'text','text':'after it'}]}"),
    ("block_unknown", "{'content':[{'type':'hologram','beam':1},{'type':'text','text':'after it'}]}"),
    ("text_number", "{'content':[{'type':'text','text':42}]}"),
    ("image_broken", "{'content':[{'type':'image','data':'not*base64!','mimeType':'image/png'}]}"),
    ("image_untyped", "{'content':[{'type':'image','data':'AAEC'}]}"),
    ("resource_nowhere", "{'content':[{'type':'resource','resource':{'text':'no uri'}}]}"),
    ("link_nowhere", "{'content':[{'type':'resource_link','name':'no uri'}]}"),
    ("error_text", "{'content':[{'type':'text','text':'is it one?'}],'isError':'true'}"),
    ("error_empty", "{'content':[],'isError':true}"),
    ("structured_wrong", "{'content':[{'type':'text','text':'five'}],'structuredContent':{'count':'five'}}"),
    ("structured_list", "{'content':[],'structuredContent':[1,2]}"),
    ("structured_missing", "{'content':[{'type':'text','text':'only text'}]}"),
    ("structured_only", "{'content':[],'structuredContent':{'count':5}}"),
    (
        "structured_twice",
        "{'content':[{'type':'text','text':'{ \\'unit\\': \\'km\\', \\'count\\': 5 }'}],\
          'structuredContent':{'count':5,'unit':'km'}}",
    ),
    ("empty", "{'content':[]}"),
];

/// Their results are no object, or are made for the call.
const OTHERS: [&str; 6] = ["result_null", "result_text", "result_list", "image_twice", "huge", "good"];

fn definitions() -> impl Iterator<Item = Listed> {
    let names = RESULTS.iter().map(|(name, _)| *name).chain(OTHERS);
    names.map(|name| Listed::new(&definition(name)))
}

fn definition(name: &str) -> Value {
    let properties = match name {
        "huge" => json!({ "size": { "type": "integer" } }),
        _ => json!({}),
    };
    let schema = json!({ "type": "object", "properties": properties });
    let mut tool = tool(name, "Answers in its own way", &schema);
    if name.starts_with("structured_") {
        let count = json!({ "type": "integer" });
        tool["outputSchema"] =
            json!({ "type": "object", "properties": { "count": count }, "required": ["count"] });
    }
    tool
}

fn run(server: &Server, request: &Request<'_>) -> Vec<u8> {
    let name = &*request.params.name;
    if let Some((_, members)) = RESULTS.iter().find(|(known, _)| *known == name) {
        let members: Value = serde_json::from_str(&members.replace('\'', "\"")).unwrap_or_default();
        return wire::members(request, &members);
    }
    match name {
        "result_null" => bare(request, "null"),
        "result_text" => bare(request, "\"just a text\""),
        "result_list" => bare(request, "[{\"type\":\"text\",\"text\":\"just the content\"}]"),
        "image_twice" => {
            let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
            let copy = json!({ "picture": { "mimeType": "image/png", "data": PNG }, "width": 1 });
            wire::members(request, &json!({ "content": [image], "structuredContent": copy }))
        }
        "huge" => huge(request),
        _ => tools::echoed(server, request),
    }
}

fn bare(request: &Request<'_>, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", request.id).into_bytes()
}

/// A text of `size` bytes (1 MiB), its lines numbered so that a part of it can be told from another.
fn huge(request: &Request<'_>) -> Vec<u8> {
    #[derive(Deserialize)]
    struct Huge {
        size: Option<usize>,
    }
    let Some(Huge { size }) = tools::arguments(request) else {
        return wire::error(request.id, code::BAD_PARAMS, "invalid arguments", "");
    };
    let size = size.unwrap_or(1024 * 1024);
    let mut text = String::with_capacity(size + 64);
    let mut number = 1;
    while text.len() < size {
        text.push_str(&format!("line {number:08} of a very long text\n"));
        number += 1;
    }
    text.truncate(size);
    wire::text_result(request.id, request.speech, &wire::quoted(&text))
}
