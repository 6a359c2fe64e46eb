//! One line a tool, for tight budgets: `name(path: string, limit?: integer = 10) # What it does`.

use serde_json::Value;

use crate::shape::{View, ViewTool};

pub(crate) mod bounds;
pub(crate) mod inline;
pub(crate) mod kind;
pub(crate) mod params;
pub(crate) mod set;

#[cfg(test)]
mod tests;

use inline::{sentence, word};
use kind::{Detail, kind, value_text};
use params::{Param, params, spread};
use set::ParameterSet;

/// The longest sentence about a tool.
const SENTENCE: usize = 96;
/// The longest default that is told.
const DEFAULT: usize = 16;

/// Every tool of a view in one line each, in the order listed; empty without tools.
pub fn signatures(view: &View) -> String {
    of(view.tools().iter().map(|shown| &**shown))
}

/// The same of these tools.
pub(super) fn of<'a>(tools: impl Iterator<Item = &'a ViewTool>) -> String {
    tools.map(signature).collect::<Vec<_>>().join("\n")
}

/// One tool in one line.
pub fn signature(shown: &ViewTool) -> String {
    let root = &*shown.tool.input;
    let set = ParameterSet::of(root, root);
    let common = set.common.iter().map(|param| argument(root, param));
    let listed: Vec<String> = common.chain(spread(root, &set, Detail::TIGHT)).collect();
    let mut line = format!("{}({})", shown.name, listed.join(", "));
    if let Some(output) = shown.tool.output.as_deref().and_then(returns) {
        line.push_str(" -> ");
        line.push_str(&output);
    }
    let about = sentence(&shown.tool.description, SENTENCE);
    if !about.is_empty() {
        line.push_str(" # ");
        line.push_str(&about);
    }
    line
}

/// What comes back, if that is more than a text. Many servers wrap a single value as `{result: …}`.
fn returns(output: &Value) -> Option<String> {
    let listed = params(output, output);
    let text = match listed.as_slice() {
        [only] if only.name == "result" => kind(output, only.schema, Detail::RESULT),
        [only] if kind(output, only.schema, Detail::RESULT) == "string" => return None,
        _ => kind(output, output, Detail::RESULT),
    };
    (!matches!(text.as_str(), "string" | "any" | "object")).then_some(text)
}

fn argument(root: &Value, param: &Param<'_>) -> String {
    let mark = if param.required { "" } else { "?" };
    let default = param.default().filter(|value| tells(value)).map(value_text);
    let default = default.filter(|text| text.len() <= DEFAULT).map(|text| format!(" = {text}"));
    let kind = kind(root, param.schema, Detail::TIGHT);
    format!("{}{mark}: {kind}{}", word(param.name), default.unwrap_or_default())
}

/// Whether a default says more than that something may be left out.
fn tells(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Number(_) => true,
    }
}
