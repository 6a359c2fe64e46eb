//! Resources, templates and prompts as a view lists them: the server's own definition, under the URI or name by which it is
//! read here.

use kitbag_core::shape::ViewTool;
use kitbag_core::{ServerName, ShownName};
use serde_json::{Map, Value};

use super::Offered;

/// A resource that a server lists.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resource {
    /// The URI it is read by: see [`Kitbag::resources`](crate::Kitbag::resources).
    pub uri: String,
    /// Whose it is.
    pub server: ServerName,
    /// Its URI as its server wrote it.
    pub own_uri: String,
    /// All its server says of it, under [`Self::uri`].
    pub definition: Value,
}

/// A template of URIs, each of which is a resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template; what it expands to can be read.
    pub uri_template: String,
    /// Whose it is.
    pub server: ServerName,
    /// The template as its server wrote it.
    pub own_uri_template: String,
    /// All its server says of it, under [`Self::uri_template`].
    pub definition: Value,
}

/// A prompt that a server lists.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prompt {
    /// The name it is got by; named like tools.
    pub name: ShownName,
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub own_name: String,
    /// All its server says of it, under [`Self::name`].
    pub definition: Value,
    pub(super) full: ShownName,
    pub(super) short: ShownName,
}

/// An argument of a prompt; its value is a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the prompt cannot be got without it.
    pub required: bool,
}

/// A text of a definition, by its key.
fn text<'a>(definition: &'a Value, key: &str) -> Option<&'a str> {
    definition.get(key).and_then(Value::as_str)
}

impl Resource {
    /// What people call it.
    pub fn title(&self) -> Option<&str> {
        text(&self.definition, "title").or_else(|| text(&self.definition, "name"))
    }

    /// What it holds.
    pub fn description(&self) -> Option<&str> {
        text(&self.definition, "description")
    }

    /// What kind of data that is.
    pub fn mime_type(&self) -> Option<&str> {
        text(&self.definition, "mimeType")
    }
}

impl ResourceTemplate {
    /// What people call it.
    pub fn title(&self) -> Option<&str> {
        text(&self.definition, "title").or_else(|| text(&self.definition, "name"))
    }

    /// What it leads to.
    pub fn description(&self) -> Option<&str> {
        text(&self.definition, "description")
    }
}

impl Prompt {
    /// What people call it.
    pub fn title(&self) -> Option<&str> {
        text(&self.definition, "title")
    }

    /// What it is for.
    pub fn description(&self) -> Option<&str> {
        text(&self.definition, "description")
    }

    /// Its arguments.
    pub fn arguments(&self) -> Vec<PromptArgument> {
        let all = self.definition.get("arguments").and_then(Value::as_array).map(Vec::as_slice);
        let argument = |argument: &Value| {
            Some(PromptArgument {
                name: text(argument, "name")?.to_owned(),
                description: text(argument, "description").map(str::to_owned),
                required: argument.get("required") == Some(&Value::Bool(true)),
            })
        };
        all.unwrap_or_default().iter().filter_map(argument).collect()
    }
}

/// A definition as it is shown: its texts as the rules have them and fit for a model, `key` with another value, and fields
/// that nobody here knows as they are.
pub(super) fn definition(offered: &Offered, shown: &ViewTool, key: &str, value: &str) -> Value {
    let mut fields: Map<String, Value> = offered.raw.as_object().cloned().unwrap_or_default();
    fields.insert(key.to_owned(), value.into());
    if shown.tool.description.is_empty() {
        fields.shift_remove("description");
    } else {
        fields.insert("description".to_owned(), shown.tool.description.as_str().into());
    }
    if fields.contains_key("title") {
        match &shown.tool.title {
            Some(title) => drop(fields.insert("title".to_owned(), title.as_str().into())),
            None => drop(fields.shift_remove("title")),
        }
    }
    for text in ["name", "mimeType"].into_iter().filter(|text| *text != key) {
        if let Some(Value::String(words)) = fields.get_mut(text) {
            *words = kitbag_core::text::neutral(words).into_owned();
        }
    }
    for argument in fields.get_mut("arguments").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::String(words)) = argument.get_mut("description") {
            *words = kitbag_core::text::neutral(words).into_owned();
        }
    }
    Value::Object(fields)
}
