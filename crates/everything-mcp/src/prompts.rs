//! The prompts, and what they come to.

use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::resources::IMAGE;

/// The result of `prompts/list`; it says how often it changed.
pub(crate) fn list(changes: u64) -> Value {
    let row = |name: &str, about: &str, arguments: &[(&str, &str)]| {
        let arguments: Vec<Value> = arguments
            .iter()
            .map(|(name, about)| json!({"name": name, "description": about, "required": true}))
            .collect();
        json!({"name": name, "description": about, "arguments": arguments, "_meta": {"changes": changes}})
    };
    json!({"prompts": [
        row("test_simple_prompt", "One sentence", &[]),
        row("test_prompt_with_arguments", "Both arguments in a sentence", &[("arg1", "The first"), ("arg2", "The second")]),
        row("test_prompt_with_embedded_resource", "A resource and a sentence", &[("resourceUri", "Which resource")]),
        row("test_prompt_with_image", "An image and a sentence", &[]),
        row(crate::interview::PROMPT, "Asks for a context first", &[]),
    ]})
}

/// The result of `prompts/get`, for all but the one that asks first.
pub(crate) fn get(name: &str, arguments: &JsonObject) -> Result<Value, ErrorData> {
    let argument = |name: &str| {
        let missing = || ErrorData::invalid_params(format!("the argument {name} is missing"), None);
        arguments.get(name).and_then(Value::as_str).ok_or_else(missing)
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    Ok(match name {
        "test_simple_prompt" => messages(&[text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            messages(&[text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({"uri": argument("resourceUri")?, "mimeType": "text/plain",
                "text": "Embedded resource content for testing."});
            let resource = json!({"type": "resource", "resource": resource});
            messages(&[resource, text("Please process the embedded resource above.")])
        }
        "test_prompt_with_image" => {
            let image = json!({"type": "image", "data": IMAGE, "mimeType": "image/png"});
            messages(&[image, text("Please analyze the image above.")])
        }
        _ => return Err(ErrorData::invalid_params(format!("unknown prompt {name}"), None)),
    })
}

/// What a user would have said, one message each.
pub(crate) fn messages(contents: &[Value]) -> Value {
    let message = |content: &Value| json!({"role": "user", "content": content});
    json!({"messages": contents.iter().map(message).collect::<Vec<_>>()})
}

/// The result of `completion/complete`: cities that begin with what is there.
pub(crate) fn complete(begun: &str) -> Value {
    let fits = ["paris", "park", "party", "test"].into_iter().filter(|value| value.starts_with(begun));
    let values: Vec<&str> = fits.collect();
    json!({"completion": {"total": values.len(), "values": values, "hasMore": false}})
}
