//! One tool a server that takes a task in words: whoever reads the call has another model do it with the server's tools, so
//! that the model which asks pays for one definition and one result.

use serde_json::{Value, json};

use super::Intent;
use super::gateway::GatewayDefinition;

const QUERY: &str = "query";

/// What its caller reads about the way it works.
const HOW: &str = "An agent with these tools does what the query asks for, and tells which calls it made.";

/// The definition made of that of the server's gateway.
pub(super) fn definition(gateway: GatewayDefinition) -> GatewayDefinition {
    let about = gateway.to_model_value()["description"].as_str().unwrap_or_default().to_owned();
    let end = if about.ends_with('.') { "" } else { "." };
    GatewayDefinition { description: format!("{about}{end} {HOW}"), input: input(), ..gateway }
}

fn input() -> Value {
    let query = json!({
        "type": "string",
        "description": "What to find out or to do, in words. It says all that must be known: nothing else of this conversation is seen",
    });
    json!({"type": "object", "properties": {QUERY: query}, "required": [QUERY], "additionalProperties": false})
}

/// The intent of a call of it, from its arguments as JSON text.
pub(super) fn decode(server: &str, arguments: &str) -> Intent {
    let query = match serde_json::from_str(arguments) {
        Ok(Value::Object(mut fields)) => fields.remove(QUERY),
        Ok(text @ Value::String(_)) => Some(text),
        // Some models write what a tool with one argument wants as it is.
        Err(_) if !arguments.trim_start().starts_with('{') => Some(arguments.into()),
        _ => None,
    };
    match query {
        Some(Value::String(query)) if !query.trim().is_empty() => {
            Intent::Delegate { server: server.to_owned(), query }
        }
        _ => Intent::Malformed {
            repair: format!(
                "the arguments must be {{\"{QUERY}\": \"…\"}}: a task in words for the tools of {server}"
            ),
        },
    }
}
