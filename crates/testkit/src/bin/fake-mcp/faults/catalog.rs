//! A list of other tools than the good server's, for the faults that lie in a catalog's content. The good
//! server's own tools are not listed then, and still answer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Fault, Take};
use crate::server::Server;
use crate::wire::Request;
use crate::{list, tools};

/// The answer to a call of a listed tool.
type Run = Box<dyn Fn(&Server, &Request<'_>) -> Vec<u8> + Send + Sync>;

pub(super) struct Catalog {
    listed: Vec<Listed>,
    instructions: Option<String>,
    greeting: Option<String>,
    run: Run,
}

/// A definition as it is written, and the name that calls it.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) definition: String,
}

impl Catalog {
    /// Every call gives its params back.
    pub(super) fn new(listed: impl IntoIterator<Item = Listed>) -> Self {
        let run: Run = Box::new(tools::echoed);
        Self { listed: listed.into_iter().collect(), instructions: None, greeting: None, run }
    }

    /// `text` is a JSON string.
    pub(super) fn instructions(mut self, text: String) -> Self {
        self.instructions = Some(text);
        self
    }

    /// A line on stderr at start.
    pub(super) fn greeting(mut self, text: String) -> Self {
        self.greeting = Some(text);
        self
    }

    pub(super) fn run(
        mut self,
        run: impl Fn(&Server, &Request<'_>) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        self.run = Box::new(run);
        self
    }
}

impl Listed {
    pub(super) fn new(definition: &Value) -> Self {
        let name = definition["name"].as_str().unwrap_or_default();
        Self { name: name.to_owned(), definition: definition.to_string() }
    }

    /// A harmless one with one text argument.
    pub(super) fn plain(name: &str) -> Self {
        let properties = json!({ "text": { "type": "string" } });
        Self::new(&tool(name, "Does no harm", &json!({ "type": "object", "properties": properties })))
    }
}

/// A definition with nothing but what every tool has.
pub(super) fn tool(name: &str, about: &str, schema: &Value) -> Value {
    json!({ "name": name, "description": about, "inputSchema": schema })
}

impl Fault for Catalog {
    fn start(&self, _: &Arc<Server>) {
        if let Some(text) = &self.greeting {
            eprintln!("{text}");
        }
    }

    /// Each call of a listed tool is noted as an execution.
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        match request.method {
            "tools/list" => {
                let definition = |index: usize| (&*self.listed[index].definition).into();
                server.answer(&list::paged(server, request, self.listed.len(), definition));
                Take::Mine
            }
            "tools/call" if self.listed.iter().any(|listed| listed.name == request.params.name) => {
                server.events.note(&["exec", &request.params.name]);
                server.answer_call(&(self.run)(server, request));
                Take::Mine
            }
            _ => Take::Leave,
        }
    }

    fn definition(&self, name: &str) -> Option<&str> {
        let found = self.listed.iter().find(|listed| listed.name == name);
        found.map(|listed| &*listed.definition)
    }

    fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }
}
