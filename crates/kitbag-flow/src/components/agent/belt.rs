//! The tools that a drawing defines, as those who call them see them.

use std::sync::{Arc, Weak};

use kitbag::LocalTool;
use serde_json::{Map, Value as Json, json};

use crate::component::Call;
use crate::raised::Raised;
use crate::run::Running;
use crate::value::{Dialect, Dict, Value, read};

/// The one parameter of such a tool: whatever a model writes behind its name.
const INPUT: &str = "tool_input";

/// A tool made of nodes. The run it is of does not live on because of it.
#[derive(Clone)]
pub(super) struct DefinedTool {
    pub(super) name: String,
    pub(super) description: String,
    running: Weak<Running>,
    node: usize,
}

impl DefinedTool {
    pub(super) fn new(name: &str, description: &str, call: &Call) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            running: Arc::downgrade(&call.running),
            node: call.node,
        }
    }

    /// Runs its nodes with what stands behind its name.
    pub(super) async fn call(&self, input: &str, depth: usize) -> Result<Value, Raised> {
        let running = self.running.upgrade();
        let running = running.ok_or_else(|| Raised::new("RuntimeError", "the flow has ended"))?;
        let call = Call { running, node: self.node, depth };
        call.set("tool_input", input)?;
        call.set("tool_args", arguments(input))?;
        // What the tool gave before is no result of this call.
        call.context().set("tool_output", Value::None);
        call.follow().await?;
        let output = call.context().get("tool_output").unwrap_or_default();
        call.context().set("tool_output", Value::None);
        Ok(output)
    }

    /// The same for an agent.
    pub(super) fn local(&self, depth: usize) -> LocalTool {
        let tool = self.clone();
        let about = "what the tool is given, as text";
        let schema =
            json!({"type": "object", "properties": {INPUT: {"type": "string", "description": about}}});
        LocalTool::with_schema(&self.name, &self.description, schema, move |arguments, _| {
            let tool = tool.clone();
            async move {
                let output = tool.call(&written(&arguments), depth).await;
                output.map(|value| shown(&value)).map_err(|raised| raised.to_string())
            }
        })
    }
}

/// A result as a model reads it.
fn shown(value: &Value) -> String {
    if value.is_none() { String::new() } else { value.text() }
}

/// The text behind the name: that alone, or the object as it was written.
fn written(arguments: &Map<String, Json>) -> String {
    let only = arguments.get(INPUT).and_then(Json::as_str).filter(|_| arguments.len() == 1);
    match only {
        Some(text) => text.to_owned(),
        None if arguments.is_empty() => String::new(),
        None => Json::Object(arguments.clone()).to_string(),
    }
}

/// The text as a dictionary, if it is one of JSON.
fn arguments(input: &str) -> Value {
    match read(input.trim(), Dialect::Json) {
        Ok(value @ Value::Dict(_)) => value,
        _ => Value::None,
    }
}

/// The tools in the record of an agent, in their order.
pub(super) fn defined(record: &Dict) -> Vec<Arc<DefinedTool>> {
    let Some(Value::Dict(tools)) = record.get("agent_toolbelt") else { return Vec::new() };
    let tool = |(_, value)| match value {
        Value::Object(object) => object.get::<DefinedTool>(),
        _ => None,
    };
    tools.rows().into_iter().filter_map(tool).collect()
}
