//! Tools as their servers define them, taken over one by one: what is wrong with a definition costs that tool
//! and no other. One immutable [`Snapshot`] holds them all; everything a model reads or calls comes from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::fault::{Fault, FaultKind};
use crate::model::{Effect, Limits, Risk};
use crate::names::{NameForm, ServerName, ShownName, ToolName};
use crate::schema::tree::values;
use crate::schema::{Schema, neutral_schema};
use crate::text::{neutral, visible};

mod definition;
mod findings;
mod names;
mod notes;
mod offered;
mod snapshot;

#[cfg(test)]
mod tests;

pub use definition::DefinitionHash;
pub(crate) use findings::named_others;
pub use findings::{Finding, all_findings, findings};
pub use names::CatalogNames;
pub use notes::{ListCut, StaleList};
pub(crate) use notes::{seen_as, twin_tools};
pub use snapshot::{Snapshot, ToolChange, ToolChangeKind, Unreachable, changes};

/// Characters shown of a name that is none.
const LONGEST_NAME: usize = 80;
/// Characters shown of a reason.
const LONGEST_REASON: usize = 300;

/// A tool of a server. Its definition as received is `raw` and `name`; the rest is what a model sees, and rules may change
/// it.
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
    pub hints: ToolAnnotations,
    /// A name an operator wrote down for it.
    pub name_override: Option<ShownName>,
    /// Which form of name it has, if it has its own.
    pub form: Option<NameForm>,
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
    pub marks: OperatorMarks,
    /// Worth knowing about the definition; the tool works as it is.
    pub notes: Vec<Fault>,
    /// Of its definition as received.
    pub hash: DefinitionHash,
}

/// What a server says about what its tool does: hints, to be shown and never to be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Twice is as good as once.
    pub idempotent: Option<bool>,
    /// It reaches beyond the machine.
    pub open_world: Option<bool>,
}

impl ToolAnnotations {
    /// The risk these words mean, where they can be relied on; what they leave out is the worst, as the protocol has it.
    pub fn risk(self) -> Risk {
        let effect = match (self.read_only, self.destructive) {
            (Some(true), _) => Effect::Read,
            (_, Some(false)) => Effect::Write,
            _ => Effect::Destructive,
        };
        Risk { effect: Some(effect), open: Some(self.open_world.unwrap_or(true)) }
    }
}

/// What an operator says about what a tool does; decisions rest on this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorMarks {
    /// It may be called twice.
    pub repeatable: bool,
    /// What it may do to the world.
    pub risk: Risk,
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

impl Rejected {
    /// One with this name, empty if it has none, for this reason; both cut and made visible.
    pub fn new(tool: &str, why: &str) -> Self {
        let tool = (!tool.is_empty()).then(|| cut(tool, LONGEST_NAME));
        Self { tool, why: cut(why, LONGEST_REASON) }
    }
}

/// A definition that cannot be read as a whole; its name mostly can.
fn unreadable(text: &str, error: &serde_json::Error) -> Rejected {
    let fields = serde_json::from_str::<BTreeMap<String, &serde_json::value::RawValue>>(text);
    let name = fields.as_ref().ok().and_then(|fields| fields.get("name"));
    let tool: Option<String> = name.and_then(|name| serde_json::from_str(name.get()).ok());
    // What is passed over may be as deep as it likes; what is kept may not.
    let why =
        if fields.is_ok() { "it is nested too deep".to_owned() } else { format!("it is not JSON: {error}") };
    reject(tool.as_deref(), &why)
}

/// The tools of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTools {
    /// Whose they are.
    pub server: ServerName,
    /// In order of name.
    pub tools: Vec<Arc<Tool>>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
    /// How many more were left out; of a flood only the first are told one by one.
    pub rejected_more: usize,
    /// Why there may be more, if the list was not read to its end.
    pub truncated: Option<ListCut>,
}

impl ServerTools {
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
                Ok(tool) if tools.contains_key(&tool.name) => rejected.push(Rejected {
                    tool: Some(tool.name.to_string()),
                    why: "another of this name is listed before it".to_owned(),
                }),
                Ok(tool) => drop(tools.insert(tool.name.clone(), Arc::new(tool))),
                Err(reason) => rejected.push(reason),
            }
        }
        let tools = tools.into_values().collect();
        Self { server: server.clone(), tools, rejected, rejected_more: 0, truncated: None }
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
        let Some(fields) = raw.as_object() else { return Err(reject(None, "it is not an object")) };
        let Some(name) = fields.get("name").and_then(Value::as_str) else {
            return Err(reject(None, "it has no name"));
        };
        let name = ToolName::parse(name)
            .map_err(|invalid| reject(Some(name), &format!("its name {}", invalid.why())))?;
        let fail = |why: &str| reject(Some(name.as_str()), why);
        let mut said = Vec::new();
        let input = input_of(fields, &mut said).map_err(|why| fail(&why))?;
        let output = output_of(fields, &mut said);
        let description = text(fields, "description", &mut said).unwrap_or_default();
        let description = neutral(&description);
        if limits.description < description.len() {
            let words = format!("has a description of more than {} bytes; it is cut", limits.description);
            said.push((FaultKind::DescriptionCut, words));
        }
        let description = capped(&description, limits.description);
        let annotations = fields.get("annotations").and_then(Value::as_object);
        let title = text(fields, "title", &mut said)
            .or_else(|| Some(annotations?.get("title")?.as_str()?.to_owned()))
            .map(|title| capped(&neutral(&title).replace(['\n', '\t'], " "), limits.description));
        let said = said.iter().map(|(kind, said)| notes::of_tool(*kind, server, &name, said));
        let notes = notes::hidden(fields, server, &name).into_iter().chain(said).collect();
        Ok(Self {
            server: server.clone(),
            title: title.filter(|title| !title.trim().is_empty()),
            description,
            input: Arc::new(input),
            output: output.map(Arc::new),
            hints: annotations.map(hints).unwrap_or_default(),
            name,
            raw: Arc::new(raw),
            name_override: None,
            form: None,
            category: None,
            examples: Vec::new(),
            options: Map::new(),
            undo: Vec::new(),
            order: 0,
            marks: OperatorMarks::default(),
            hash: DefinitionHash::default(),
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
    let not_checked = |schema: &str, why: &str| {
        let said = format!("has {schema} schema that is not fully checked: {}", cut(why, LONGEST_REASON));
        notes::of_tool(FaultKind::SchemaNotChecked, &tool.server, &tool.name, &said)
    };
    let mut notes: Vec<Fault> = schema.notes().iter().map(|note| not_checked("an input", note)).collect();
    let output = tool.output.as_ref().map(|output| Schema::compile(output, limits));
    match output {
        Some(Ok(output)) => notes.extend(output.notes().iter().map(|note| not_checked("an output", note))),
        Some(Err(error)) => notes.push(not_checked("an output", &error.to_string())),
        None => {}
    }
    notes.extend(findings(&tool).iter().map(|finding| finding.note(&tool)));
    tool.notes.extend(notes);
    Ok(tool)
}

fn reject(tool: Option<&str>, why: &str) -> Rejected {
    Rejected::new(tool.unwrap_or_default(), why)
}

/// What is said about a definition shows everything, and not too much of it.
fn cut(text: &str, most: usize) -> String {
    visible(text).chars().take(most).collect()
}

/// What is said of a tool while its definition is read: what kind, and what follows its name.
type Said = Vec<(FaultKind, String)>;

fn input_of(fields: &Map<String, Value>, said: &mut Said) -> Result<Value, String> {
    let schema = match fields.get("inputSchema") {
        None | Some(Value::Null) => {
            let words = "has no input schema; it is taken for a tool without arguments";
            said.push((FaultKind::OddDefinition, words.to_owned()));
            return Ok(serde_json::json!({"type": "object", "properties": {}}));
        }
        Some(Value::Object(schema)) => schema,
        Some(_) => return Err("its input schema is not an object".to_owned()),
    };
    match schema.get("type") {
        None => {}
        Some(kind) if kind == "object" => {}
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "object") => {}
        Some(kind) => return Err(format!("its input schema is of type {kind}, not object")),
    }
    let raw = fields.get("inputSchema").unwrap_or(&Value::Null);
    let mut schema = shown_schema(raw)?;
    if let Some(schema) = schema.as_object_mut() {
        // Every provider wants it said, and arguments are an object, whatever else the schema would take.
        schema.insert("type".to_owned(), "object".into());
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
    values(schema)
        .filter_map(|(value, _)| value.as_object())
        .flat_map(Map::keys)
        .map(String::as_str)
        .find(|key| key.contains(['\n', '\t']))
}

fn output_of(fields: &Map<String, Value>, said: &mut Said) -> Option<Value> {
    let raw = fields.get("outputSchema").filter(|raw| !raw.is_null())?;
    match shown_schema(raw) {
        Ok(schema) if raw.is_object() => Some(schema),
        Ok(_) => {
            said.push((
                FaultKind::OddDefinition,
                "has an output schema that is not an object; it is ignored".to_owned(),
            ));
            None
        }
        Err(why) => {
            said.push((FaultKind::OddDefinition, format!("has an output schema that is ignored: {why}")));
            None
        }
    }
}

fn text(fields: &Map<String, Value>, key: &str, said: &mut Said) -> Option<String> {
    match fields.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        _ => {
            said.push((FaultKind::OddDefinition, format!("has a {key} that is not a string; it is ignored")));
            None
        }
    }
}

fn hints(annotations: &Map<String, Value>) -> ToolAnnotations {
    let flag = |key: &str| annotations.get(key).and_then(Value::as_bool);
    ToolAnnotations {
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
