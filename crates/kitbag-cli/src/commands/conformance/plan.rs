//! Which tools a scenario wants called, and with what.

use kitbag::{Env, View, ViewTool};
use serde_json::{Map, Value};

use crate::exit::{Exit, Failure};

/// The suite says here which scenario it is.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// And here, as JSON, what the scenario asks for beyond that.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// What to call.
pub(super) enum Plan {
    /// Every tool once, with the example its schema gives.
    Each,
    /// These, in this order.
    Given(Vec<(String, Map<String, Value>)>),
    /// Give a tool's schema back as it was understood.
    Echo { of: &'static str, by: &'static str },
}

impl Plan {
    pub(super) fn of(env: &Env) -> Result<Self, Failure> {
        if env.get(SCENARIO) == Some("json-schema-2020-12-preservation") {
            return Ok(Self::Echo { of: "json_schema_2020_12_tool", by: "json_schema_echo" });
        }
        let Some(text) = env.filled(CONTEXT) else { return Ok(Self::Each) };
        let context: Value = serde_json::from_str(text)
            .map_err(|error| Failure::new(Exit::Usage, format!("{CONTEXT} is not JSON: {error}")))?;
        let calls = context.get("toolCalls").and_then(Value::as_array);
        Ok(calls.map_or(Self::Each, |calls| Self::Given(calls.iter().filter_map(given).collect())))
    }

    /// The calls, by the names tools have in a view.
    pub(super) fn calls(&self, view: &View) -> Vec<(String, Map<String, Value>)> {
        let tools = || view.tools().iter().filter(|shown| shown.tool.server.as_str() == super::SERVER);
        let named = |name: &str| tools().find(|shown| shown.tool.name.as_str() == name);
        match self {
            Self::Each => tools().map(|shown| (shown.name.to_string(), example(shown))).collect(),
            // A name that is not listed is called all the same: it fails where everybody can see it.
            Self::Given(calls) => calls
                .iter()
                .map(|(name, arguments)| {
                    let shown = named(name).map(|shown| shown.name.to_string());
                    (shown.unwrap_or_else(|| name.clone()), arguments.clone())
                })
                .collect(),
            Self::Echo { of, by } => {
                let schema = named(of).map(|shown| (*shown.tool.input).clone());
                let call = named(by).zip(schema).map(|(shown, schema)| {
                    (shown.name.to_string(), Map::from_iter([("schema".to_owned(), schema)]))
                });
                call.into_iter().collect()
            }
        }
    }
}

fn example(shown: &ViewTool) -> Map<String, Value> {
    match shown.examples().into_iter().next() {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    }
}

/// One call of the suite's list. It writes null where nothing is given; the schemas take no null, and nothing is
/// sent that they do not take.
fn given(call: &Value) -> Option<(String, Map<String, Value>)> {
    let name = call.get("name")?.as_str()?.to_owned();
    let mut arguments = call.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    arguments.retain(|_, value| !value.is_null());
    Some((name, arguments))
}

#[cfg(test)]
mod tests;
