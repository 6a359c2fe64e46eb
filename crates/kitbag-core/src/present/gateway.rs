//! One tool a server: `list` tells its tools, `execute` runs one. However many tools a server has, a model
//! pays for one definition until it asks.
//!
//! Inside a gateway a tool goes by its server's own name, or by the one an operator wrote down for it. Names
//! are looked up among the tools the view has of that server, so filters and permissions bind `execute` as
//! they bind `list`.

use serde_json::{Value, json};

use crate::catalog::Unreachable;
use crate::model::Transport;
use crate::names::{ServerName, ShownName, fit_gateway};
use crate::shape::View;

mod decode;
mod list;
mod outcome;
mod tools;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub use list::{Listing, list};
pub use tools::find;

pub use outcome::{ErrorFlag, GatewayOutcome, outcome};
pub(super) use tools::loosely;

/// What is said of a server's tools where they are not named.
const UNNAMED: &str = " - provides access to multiple tools";

/// A server that gets a gateway.
#[derive(Clone, Copy, Debug)]
pub struct GatewayServer<'a> {
    /// Its name.
    pub name: &'a ServerName,
    /// How it is spoken to.
    pub transport: Transport,
    /// What a model reads about it, if an operator wrote something.
    pub description: Option<&'a str>,
}

/// The one tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayDefinition {
    /// What a model calls it.
    pub name: ShownName,
    /// Whose gateway it is.
    pub server: ServerName,
    /// What a model reads about it.
    pub description: String,
    /// What its arguments must be.
    pub input: Value,
    /// The names of its tools, as many as have room; empty while they are not known.
    pub tools: String,
    /// Why the server cannot be reached now, if that is so. No part of the definition a model reads: that
    /// stays the same while a server comes and goes.
    pub unavailable: Option<Unreachable>,
}

impl GatewayDefinition {
    /// The definition as MCP writes tools, always the same for a server.
    pub fn to_value(&self) -> Value {
        json!({"name": self.name.as_str(), "description": self.description, "inputSchema": self.input})
    }

    /// The definition for a model: it names the server's tools, so that a model sees what the server is for before it
    /// lists them, and says which actions there are in the schema.
    pub fn to_model_value(&self) -> Value {
        let about = match (self.tools.as_str(), self.description.strip_suffix(UNNAMED)) {
            ("", _) => self.description.clone(),
            (tools, Some(server)) => format!("{server}: {tools}"),
            (tools, None) => format!("{} Tools: {tools}", self.description),
        };
        json!({"name": self.name.as_str(), "description": about, "inputSchema": model_input()})
    }
}

/// One definition a server, in the order given. A server whose tools are all kept from this view has none; one
/// whose tools are not known yet, or that is away, has one.
pub fn definitions(view: &View, servers: &[GatewayServer<'_>]) -> Vec<GatewayDefinition> {
    let define = |server: &GatewayServer<'_>| {
        let name = view.snapshot().names().gateways().get(server.name)?;
        let name = match view.agent().longest {
            Some(longest) => fit_gateway(name, server.name, longest),
            None => name.clone(),
        };
        let is_known = view.snapshot().part(server.name).is_some_and(|part| !part.tools.is_empty());
        if (is_known || view.is_narrowed()) && tools::of(view, server.name.as_str()).next().is_none() {
            return None;
        }
        let unavailable = view.snapshot().away(server.name).cloned();
        let (description, server) = (describe(server), server.name.clone());
        let tools = tools::some_names(view, server.as_str());
        Some(GatewayDefinition { name, server, description, input: input(), tools, unavailable })
    };
    servers.iter().filter_map(define).collect()
}

fn describe(server: &GatewayServer<'_>) -> String {
    match server.description.map(str::trim) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => {
            // Which of the two it will be is not known before the first connection, and the text must not change.
            let transport =
                if server.transport == Transport::Auto { Transport::Http } else { server.transport };
            format!("MCP server '{}' ({}){UNNAMED}", server.name, transport.as_str())
        }
    }
}

/// The arguments of every gateway.
fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "description": "Action: 'list' to show tools, 'execute' to run a specific tool",
                "default": "list",
            },
            "tool_name": {
                "type": "string",
                "description": "Name of the tool to execute (required when action='execute')",
            },
            "tool_inputs": {
                "type": "object",
                "description": "Inputs for the tool (required when action='execute')",
                "default": {},
            },
        },
    })
}

/// The same for a model. Every server pays for these words, so they are few.
fn model_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["list", "execute"],
                "description": "'list' shows tools and their inputs, 'execute' runs one",
                "default": "list",
            },
            "tool_name": {"type": "string", "description": "Tool to execute"},
            "tool_inputs": {"type": "object", "description": "Its inputs"},
        },
    })
}
