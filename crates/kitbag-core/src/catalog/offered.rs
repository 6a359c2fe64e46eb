//! Prompts and resources as rules, permits and pins look at them: like tools, under a name of their kind. So one rule says
//! who may have what, whatever it is, and what is denied is denied for all of it.

use serde_json::{Map, Value, json};

use super::{OperatorMarks, Rejected, Tool};
use crate::model::{Effect, Limits, Risk};
use crate::names::{ServerName, ToolName};

impl Tool {
    /// A prompt, by its definition as received: its arguments are those of a tool that takes strings.
    pub fn of_prompt(server: &ServerName, raw: &Value, limits: &Limits) -> Result<Self, Rejected> {
        let name = raw.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = ToolName::of_prompt(name).map_err(|invalid| Rejected::new(name, invalid.why()))?;
        let mut fields = read_by_people(raw);
        fields.insert("name".to_owned(), name.as_str().into());
        fields.insert("inputSchema".to_owned(), prompt_input(raw));
        Self::parse(server, Value::Object(fields), limits).map(Self::that_reads)
    }

    /// A resource, or a template of resources, by its URI. Of one that is not listed nothing else is known.
    pub fn of_resource(
        server: &ServerName,
        uri: &str,
        raw: &Value,
        limits: &Limits,
    ) -> Result<Self, Rejected> {
        let mut fields = read_by_people(raw);
        // A URI may be longer than any name, and rules look at the whole of it.
        fields.insert("name".to_owned(), "resource".into());
        fields.insert("inputSchema".to_owned(), json!({"type": "object"}));
        let tool = Self::parse(server, Value::Object(fields), limits)?;
        Ok(Self { name: ToolName::of_resource(uri), ..tool }.that_reads())
    }

    /// Getting and reading are what the protocol calls them; whether a server reaches beyond the machine for it nobody says.
    fn that_reads(self) -> Self {
        let risk = Risk { effect: Some(Effect::Read), open: None };
        Self { marks: OperatorMarks { risk, repeatable: true }, ..self }
    }
}

fn read_by_people(raw: &Value) -> Map<String, Value> {
    let read = |key: &str| Some((key.to_owned(), raw.get(key)?.clone()));
    ["title", "description"].into_iter().filter_map(read).collect()
}

fn prompt_input(raw: &Value) -> Value {
    let arguments = raw.get("arguments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in arguments {
        let Some(name) = argument.get("name").and_then(Value::as_str) else { continue };
        let mut schema = Map::from_iter([("type".to_owned(), "string".into())]);
        schema.extend(argument.get("description").map(|text| ("description".to_owned(), text.clone())));
        properties.insert(name.to_owned(), Value::Object(schema));
        if argument.get("required") == Some(&Value::Bool(true)) {
            required.push(Value::from(name));
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}
