//! The definitions of all tools.

use serde_json::{Value, json};

/// The result of `tools/list`; one of the tools says how often the list changed.
pub(crate) fn list(changes: u64) -> Value {
    let mut tools: Vec<Value> = WITHOUT_ARGUMENTS
        .iter()
        .map(|(name, about)| tool(name, about, json!({"type": "object", "properties": {}})))
        .collect();
    let string = |name: &str, about: &str| json!({"type": "object", "properties": {name: {"type": "string", "description": about}}, "required": [name]});
    tools.extend([
        tool("echo", "Gives the message back", string("message", "Any text")),
        tool("test_sampling", "Asks the client's model", string("prompt", "What to ask it")),
        tool("test_elicitation", "Asks the user", string("message", "What to ask")),
        tool(
            "wait",
            "Waits",
            json!({"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]}),
        ),
        tool("test_header_parameter", "Has a parameter that HTTP clients send as a header, too", region()),
        tool("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", keywords()),
    ]);
    if let Some(first) = tools.first_mut() {
        first["_meta"] = json!({"changes": changes});
    }
    json!({"tools": tools})
}

const WITHOUT_ARGUMENTS: [(&str, &str); 25] = [
    ("test_simple_text", "Returns a text"),
    ("test_image_content", "Returns an image"),
    ("test_audio_content", "Returns a sound"),
    ("test_embedded_resource", "Returns a resource"),
    ("test_multiple_content_types", "Returns a text, an image and a resource"),
    ("test_error_handling", "Fails"),
    ("test_tool_with_logging", "Logs while it works"),
    ("test_logging_tool", "Logs while it works, where that was asked for"),
    ("test_tool_with_progress", "Reports progress"),
    ("test_elicitation_sep1034_defaults", "Asks for values that have defaults"),
    ("test_elicitation_sep1330_enums", "Asks for choices of every form"),
    ("test_missing_capability", "Needs a client with a model"),
    ("test_streaming_elicitation", "Reports progress, then asks the user"),
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks the model for a capital"),
    ("test_input_required_result_list_roots", "Asks for the roots"),
    ("test_input_required_result_request_state", "Asks for a confirmation, and keeps a state"),
    ("test_input_required_result_multiple_inputs", "Asks for three things at once"),
    ("test_input_required_result_multi_round", "Asks for one thing, then for another"),
    ("test_input_required_result_tampered_state", "Asks for a confirmation, and looks at its state closely"),
    ("test_input_required_result_capabilities", "Asks what the client can be asked"),
    ("test_trigger_tool_change", "Changes the list of tools"),
    ("test_trigger_prompt_change", "Changes the list of prompts"),
    ("test_trigger_resource_update", "Changes the watched resource"),
    ("waits", "How many wait, and how many were cancelled"),
];

fn tool(name: &str, about: &str, schema: Value) -> Value {
    json!({"name": name, "description": about, "inputSchema": schema})
}

fn region() -> Value {
    let region = json!({"type": "string", "description": "Any text", "x-mcp-header": "Region"});
    json!({"type": "object", "properties": {"region": region}})
}

/// Keywords of the newest draft, which must arrive as they are.
fn keywords() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
