//! What `list` answers.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::tools::{list_names, named, shown_text};
use crate::present::find::Words;
use crate::present::signatures::inline::cut;
use crate::present::signatures::kind::{Detail, kind};
use crate::present::signatures::params::params;
use crate::shape::{View, ViewTool};

/// Bytes of one page; a tool that is larger has a page of its own.
const PAGE: usize = 32 << 10;
/// Bytes of one tool; a larger one is told in short.
const LARGEST: usize = 128 << 10;
/// What is left of one that is larger: characters about an input, and inputs.
const SHORT_ABOUT: usize = 200;
const SHORT_INPUTS: usize = 200;

/// A page of the tools of one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The tools: a list of `{name, description, inputs, schema}`.
    pub tools: Value,
    /// How many tools fit the question, on all pages.
    pub total: usize,
    /// Which page this is; the first is 1.
    pub page: usize,
    /// How many there are.
    pub pages: usize,
    /// What else a model should know: how to see the rest, or why there is nothing.
    pub note: Option<String>,
}

/// The tools of a server that fit the words of the query, all without one. A page that is not there is the
/// last one.
pub fn list(view: &View, server: &str, query: Option<&str>, page: usize) -> Listing {
    let all = named(view, server);
    let words = Words::of(query.unwrap_or_default());
    let fitting: Vec<(&str, &Arc<ViewTool>)> =
        all.iter().filter(|(label, shown)| words.fit(label, shown)).copied().collect();
    let mut pages: Vec<Vec<Value>> = vec![Vec::new()];
    let mut room = PAGE;
    for (label, shown) in &fitting {
        let entry = entry(label, shown);
        let size = entry.to_string().len();
        match pages.last_mut() {
            Some(page) if size <= room || page.is_empty() => page.push(entry),
            _ => {
                pages.push(vec![entry]);
                room = PAGE;
            }
        }
        room = room.saturating_sub(size);
    }
    let (total, count) = (fitting.len(), pages.len());
    let page = page.clamp(1, count);
    let tools = pages.swap_remove(page - 1);
    let note = note(view, server, query, &all, (tools.len(), total, page, count));
    Listing { tools: Value::Array(tools), total, page, pages: count, note }
}

fn entry(label: &str, shown: &ViewTool) -> Value {
    let whole = described(label, shown, usize::MAX, usize::MAX);
    if whole.to_string().len() <= LARGEST {
        return whole;
    }
    // One tool must not fill a model's whole room.
    let mut short = described(label, shown, SHORT_ABOUT, SHORT_INPUTS);
    if let Value::Object(fields) = &mut short {
        fields.shift_remove("schema");
        let size = shown.tool.input.to_string().len();
        fields.insert("note".into(), format!("its schema of {size} bytes is too large to be listed").into());
    }
    short
}

fn described(label: &str, shown: &ViewTool, about_most: usize, inputs_most: usize) -> Value {
    let root = &*shown.tool.input;
    let mut inputs = Map::new();
    for param in params(root, root).into_iter().take(inputs_most) {
        let mut fields = Map::new();
        fields.insert("type".into(), kind(root, param.schema, Detail::WIDE.depth(1)).into());
        if let Some(about) = param.description(root) {
            fields.insert("description".into(), cut(about, about_most).into());
        }
        if let Some(default) = param.default() {
            fields.insert("default".into(), default.clone());
        }
        fields.insert("required".into(), param.required.into());
        inputs.insert(param.name.into(), fields.into());
    }
    json!({"name": label, "description": shown.tool.description, "inputs": inputs, "schema": root})
}

fn note(
    view: &View,
    server: &str,
    query: Option<&str>,
    all: &[(&str, &Arc<ViewTool>)],
    (here, total, page, pages): (usize, usize, usize, usize),
) -> Option<String> {
    let mut notes = Vec::new();
    if let Some(away) = view.away().find(|(name, _)| name.as_str() == server).map(|(_, away)| away) {
        notes.push(format!("MCP server '{server}' is not available now: {away}."));
    }
    if total == 0 {
        notes.push(match query {
            Some(query) if !all.is_empty() => {
                format!(
                    "No tool of '{server}' fits {}. Available tools: {}",
                    shown_text(query),
                    list_names(all)
                )
            }
            _ => format!("MCP server '{server}' has no tools."),
        });
    } else if 1 < pages {
        let next = if page < pages { page + 1 } else { 1 };
        // The next page of what was asked for, not of everything.
        let words = query.map(|query| format!("\"query\": {}, ", Value::from(query))).unwrap_or_default();
        notes.push(format!(
            "Page {page} of {pages}, {here} of {total} tools. Next: action='list', tool_inputs={{{words}\"page\": {next}}}; \
             narrower: tool_inputs={{\"query\": \"words\"}}. All tools: {}",
            list_names(all)
        ));
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}
