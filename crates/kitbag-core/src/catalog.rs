//! Tools as their servers define them, taken over one by one: what is wrong with a definition costs that tool
//! and no other. One immutable [`Snapshot`] holds them all; everything a model reads or calls comes from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::Limits;
use crate::names::{Form, ServerName, ShownName, ToolName};
use crate::schema::{Schema, neutral_schema};
use crate::text::{neutral, visible};

mod names;
mod snapshot;

#[cfg(test)]
mod tests;

pub use names::Names;
pub use snapshot::{Away, Change, ChangeKind, Snapshot, changes};

/// Characters shown of a name that is none.
const LONGEST_NAME: usize = 80;
/// Characters shown of a reason.
const LONGEST_REASON: usize = 300;

/// One tool. What its server said stays in `raw` and `name`; the rest is what a model sees, and rules may
/// change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub name: ToolName,
    /// Its definition, as received.
    pub raw: Arc<Value>,
    /// What a person reads as its name.
    pub title: Option<String>,
    /// What a model reads about it.
    pub description: String,
    /// What its arguments must be.
    pub input: Arc<Value>,
    /// What its structured results are said to be.
    pub output: Option<Arc<Value>>,
    /// What its server says about what it does. Nothing is decided by it.
    pub hints: Hints,
    /// A name an operator wrote down for it.
    pub wish: Option<ShownName>,
    /// Which form of name it has, if it has its own.
    pub form: Option<Form>,
    /// The heading it stands under.
    pub category: Option<String>,
    /// Arguments to show as examples.
    pub examples: Vec<Value>,
    /// Options for one provider's definition, by provider.
    pub options: Map<String, Value>,
    /// The way back from the arguments a model gives to those the server takes; the last is undone first.
    pub undo: Vec<Undo>,
    /// Earlier ones stand before later ones; equal ones by name.
    pub order: i64,
    /// Whether it may be called twice, and other words of the operator.
    pub marks: Marks,
    /// Worth knowing about the definition; nothing was lost by it.
    pub notes: Vec<String>,
}

/// What a server says about what its tool does: hints, to be shown and never to be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Twice is as good as once.
    pub idempotent: Option<bool>,
    /// It reaches beyond the machine.
    pub open_world: Option<bool>,
}

/// What an operator says about what a tool does; decisions rest on this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// It may be called twice.
    pub repeatable: bool,
    /// It needs a person's yes.
    pub approve: bool,
}

/// One step from the arguments a model gives back to those the server takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// The model calls it `shown`, the server `own`.
    Rename {
        /// What the model calls it.
        shown: String,
        /// What the server calls it.
        own: String,
    },
    /// Always this value.
    Pin {
        /// What the server calls it.
        own: String,
        /// The value.
        value: Value,
    },
    /// This value when the model gives none.
    Default {
        /// What the server calls it.
        own: String,
        /// The value.
        value: Value,
    },
    /// The model cannot give it.
    Hide {
        /// What the server calls it.
        own: String,
    },
}

/// A definition that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its name, as far as it has one, fit to be shown.
    pub tool: Option<String>,
    /// Why.
    pub why: String,
}

/// A definition that cannot be read as a whole; its name mostly can.
fn unreadable(text: &str, error: &serde_json::Error) -> Rejected {
    let fields = serde_json::from_str::<BTreeMap<String, &serde_json::value::RawValue>>(text);
    let name = fields.as_ref().ok().and_then(|fields| fields.get("name"));
    let tool: Option<String> = name.and_then(|name| serde_json::from_str(name.get()).ok());
    // What is passed over may be as deep as it likes; what is kept may not.
    let why = if fields.is_ok() { "is nested too deep".to_owned() } else { format!("is not JSON: {error}") };
    reject(tool.as_deref(), &why)
}

/// The tools of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whose they are.
    pub server: ServerName,
    /// In order of name.
    pub tools: Vec<Arc<Tool>>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
    /// Why there may be more, if the list was not read to its end.
    pub truncated: Option<String>,
}

impl Part {
    /// Takes over definitions as received, one by one.
    pub fn parse<'a>(
        server: &ServerName,
        definitions: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Self {
        let mut tools: BTreeMap<ToolName, Arc<Tool>> = BTreeMap::new();
        let mut rejected = Vec::new();
        for text in definitions {
            let parsed = serde_json::from_str::<Value>(text).map_err(|error| unreadable(text, &error));
            match parsed.and_then(|raw| usable(Tool::parse(server, raw, limits)?, limits)) {
                Ok(tool) if tools.contains_key(&tool.name) => rejected
                    .push(Rejected { tool: Some(tool.name.to_string()), why: "is listed twice".to_owned() }),
                Ok(tool) => drop(tools.insert(tool.name.clone(), Arc::new(tool))),
                Err(reason) => rejected.push(reason),
            }
        }
        Self { server: server.clone(), tools: tools.into_values().collect(), rejected, truncated: None }
    }

    /// A tool by its server's own name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        let at = self.tools.binary_search_by(|tool| tool.name.as_str().cmp(name)).ok()?;
        self.tools.get(at)
    }
}

impl Tool {
    /// Takes over one definition. Texts are made fit for a model; what carries meaning on the wire must be
    /// fit already, since a model could not send it back.
    pub fn parse(server: &ServerName, raw: Value, limits: &Limits) -> Result<Self, Rejected> {
        let Some(fields) = raw.as_object() else { return Err(reject(None, "is no object")) };
        let Some(name) = fields.get("name").and_then(Value::as_str) else {
            return Err(reject(None, "has no name"));
        };
        let name = ToolName::parse(name).map_err(|invalid| reject(Some(name), &invalid.to_string()))?;
        let fail = |why: &str| reject(Some(name.as_str()), why);
        let mut notes = Vec::new();
        let input = input_of(fields, &mut notes).map_err(|why| fail(&why))?;
        let output = output_of(fields, &mut notes);
        let description = text(fields, "description", &mut notes).unwrap_or_default();
        let description = capped(&neutral(&description), limits.description);
        let annotations = fields.get("annotations").and_then(Value::as_object);
        let title = text(fields, "title", &mut notes)
            .or_else(|| Some(annotations?.get("title")?.as_str()?.to_owned()))
            .map(|title| capped(&neutral(&title).replace(['\n', '\t'], " "), limits.description));
        Ok(Self {
            server: server.clone(),
            title: title.filter(|title| !title.trim().is_empty()),
            description,
            input: Arc::new(input),
            output: output.map(Arc::new),
            hints: annotations.map(hints).unwrap_or_default(),
            name,
            raw: Arc::new(raw),
            wish: None,
            form: None,
            category: None,
            examples: Vec::new(),
            options: Map::new(),
            undo: Vec::new(),
            order: 0,
            marks: Marks::default(),
            notes,
        })
    }

    /// What its arguments must be by its server's own words.
    pub fn own_input(&self) -> Option<&Value> {
        self.raw.get("inputSchema").filter(|schema| schema.is_object())
    }
}

/// A tool whose arguments could never be checked could never be called, so it is not listed either.
fn usable(mut tool: Tool, limits: &Limits) -> Result<Tool, Rejected> {
    let own = tool.own_input().unwrap_or(&Value::Bool(true));
    let schema = Schema::compile(own, limits).map_err(|error| {
        reject(Some(tool.name.as_str()), &format!("its input schema cannot be used: {error}"))
    })?;
    tool.notes.extend(schema.notes().iter().map(|note| cut(note, LONGEST_REASON)));
    Ok(tool)
}

fn reject(tool: Option<&str>, why: &str) -> Rejected {
    Rejected { tool: tool.map(|name| cut(name, LONGEST_NAME)), why: cut(why, LONGEST_REASON) }
}

/// What is said about a definition shows everything, and not too much of it.
fn cut(text: &str, most: usize) -> String {
    visible(text).chars().take(most).collect()
}

fn input_of(fields: &Map<String, Value>, notes: &mut Vec<String>) -> Result<Value, String> {
    let schema = match fields.get("inputSchema") {
        None | Some(Value::Null) => {
            notes.push("has no input schema; it is taken for a tool without arguments".to_owned());
            return Ok(serde_json::json!({"type": "object", "properties": {}}));
        }
        Some(Value::Object(schema)) => schema,
        Some(_) => return Err("its input schema is no object".to_owned()),
    };
    match schema.get("type") {
        None => {}
        Some(kind) if kind == "object" => {}
        Some(kind) => return Err(format!("its input schema is of type {kind}, not object")),
    }
    let raw = fields.get("inputSchema").unwrap_or(&Value::Null);
    let mut schema = shown_schema(raw)?;
    if let Some(schema) = schema.as_object_mut() {
        // Every provider wants it said.
        schema.entry("type").or_insert_with(|| "object".into());
    }
    Ok(schema)
}

/// A schema as a model may read it, if it may.
fn shown_schema(raw: &Value) -> Result<Value, String> {
    let schema = neutral_schema(raw)?.into_owned();
    match key_of_lines(&schema) {
        Some(key) => Err(format!("the key {key:?} of its schema has more than one line or a tab")),
        None => Ok(schema),
    }
}

/// A name within a schema that would break out of a line; descriptions and values may have several.
fn key_of_lines(schema: &Value) -> Option<&str> {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(key) = fields.keys().find(|key| key.contains(['\n', '\t'])) {
                    return Some(key);
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    None
}

fn output_of(fields: &Map<String, Value>, notes: &mut Vec<String>) -> Option<Value> {
    let raw = fields.get("outputSchema").filter(|raw| !raw.is_null())?;
    match shown_schema(raw) {
        Ok(schema) if raw.is_object() => Some(schema),
        Ok(_) => {
            notes.push("its output schema is no object and is left out".to_owned());
            None
        }
        Err(why) => {
            notes.push(cut(&format!("its output schema is left out: {why}"), LONGEST_REASON));
            None
        }
    }
}

fn text(fields: &Map<String, Value>, key: &str, notes: &mut Vec<String>) -> Option<String> {
    match fields.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        _ => {
            notes.push(format!("its {key} is no text and is left out"));
            None
        }
    }
}

fn hints(annotations: &Map<String, Value>) -> Hints {
    let flag = |key: &str| annotations.get(key).and_then(Value::as_bool);
    Hints {
        read_only: flag("readOnlyHint"),
        destructive: flag("destructiveHint"),
        idempotent: flag("idempotentHint"),
        open_world: flag("openWorldHint"),
    }
}

/// At most this many bytes, cut at a character.
fn capped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub(3)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}
