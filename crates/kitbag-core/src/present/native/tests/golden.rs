//! What each provider gets for schemas with everything in them.

use super::*;

/// `$ref`/`$defs`, enum, anyOf and oneOf, nested objects, arrays of objects, formats, defaults and
/// `additionalProperties`.
fn everything() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "searchArguments",
        "type": "object",
        "properties": {
            "query": {"type": "string", "title": "Query", "description": "What to look for", "minLength": 1},
            "mode": {"enum": ["fast", "deep"], "default": "fast", "title": "How hard to look"},
            "limit": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}], "default": null},
            "since": {"type": "string", "format": "date", "description": "Earliest day."},
            "site": {"type": ["string", "array"], "items": {"type": "string", "format": "uri"}},
            "kind": {"const": "page"},
            "level": {"type": "integer", "enum": [1, 2, 3]},
            "filter": {
                "type": "object",
                "properties": {
                    "author": {"$ref": "#/$defs/Person", "description": "Who wrote it"},
                    "tags": {"type": "array", "uniqueItems": true},
                },
                "required": ["author"],
                "additionalProperties": false,
            },
            "sort": {"type": "array", "items": {
                "type": "object",
                "properties": {"by": {"type": "string"}, "down": {"type": "boolean", "default": false}},
                "required": ["by"], "additionalProperties": false,
            }},
            "where": {"oneOf": [
                {"type": "object", "properties": {"near": {"$ref": "#/$defs/Point"}}, "required": ["near"]},
                {"type": "object", "properties": {"in": {"type": "string"}}, "required": ["in"]},
            ]},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["query"],
        "additionalProperties": false,
        "$defs": {
            "Person": {"title": "Person", "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            "Point": {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "minItems": 2},
            "Unused": {"type": "object"},
        },
    })
}

/// Everything a strict definition can hold.
fn firm() -> Value {
    let mut schema = everything();
    let properties = schema["properties"].as_object_mut().unwrap();
    properties.retain(|key, _| !matches!(key.as_str(), "labels" | "where" | "site"));
    properties["filter"]["properties"].as_object_mut().unwrap().shift_remove("tags");
    schema
}

fn tree() -> Value {
    json!({"type": "object", "required": ["root"], "properties": {"root": {"$ref": "#/definitions/Node"}},
    "definitions": {"Node": {"type": "object", "properties": {
        "label": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/definitions/Node"}},
    }}}})
}

fn odd_keys() -> Value {
    json!({"type": "object", "required": ["filter[name]", "max-results"], "properties": {
        "filter[name]": {"type": "string"}, "filter_name_": {"type": "string"}, "max-results": {"type": "integer"},
        "1st": {"type": "object", "properties": {"@type": {"type": "string"}}, "required": ["@type"]},
    }})
}

fn roots() -> [(&'static str, Value); 4] {
    let named =
        |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    [
        (
            "either",
            json!({"type": "object", "properties": {"id": {"type": "string"}, "url": {"type": "string"}},
            "anyOf": [{"required": ["id"]}, {"required": ["url"]}]}),
        ),
        ("union", json!({"type": "object", "oneOf": [named("a"), named("b"), {"$ref": "#"}]})),
        (
            "merged",
            json!({"type": "object", "allOf": [named("a"), {"$ref": "#/$defs/b"}], "$defs": {"b": named("b")}}),
        ),
        ("referred", json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": named("a")}})),
    ]
}

fn tools() -> Vec<Tool> {
    let all = [
        ("search", everything()),
        ("tree", tree()),
        ("odd_keys", odd_keys()),
        ("nothing", json!({"type": "object"})),
    ];
    let all = all.into_iter().chain(roots());
    all.map(|(name, input)| {
        tool(json!({"name": name, "description": format!("Does {name}."), "inputSchema": input}))
    })
    .collect()
}

fn show(tools: &[Tool], request: &NativeRequest) -> String {
    let mut out = String::new();
    for tool in tools {
        let name = ShownName::parse(&format!("mcp_s_{}", tool.name)).unwrap();
        let compiled = compile_tool(&name, tool, request).unwrap();
        out += &serde_json::to_string_pretty(&compiled.definition).unwrap();
        out += &format!("\nnotes: {:#?}\n\n", compiled.notes);
    }
    out
}

macro_rules! golden {
    ($name:expr, $shown:expr) => {
        insta::with_settings!({snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!($name, $shown);
        });
    };
}

#[test]
fn s3_11_schemas_reach_the_model_whole() {
    for provider in Provider::ALL {
        golden!(provider.as_str(), show(&tools(), &NativeRequest::new(provider)));
    }
}

#[test]
fn s3_11_strict_definitions() {
    let tools = [with_input(firm())];
    for provider in [Provider::OpenAiChat, Provider::Anthropic] {
        let request = NativeRequest { strict: Strict::WithinBudget, ..NativeRequest::new(provider) };
        golden!(format!("{provider}-strict"), show(&tools, &request));
    }
}

#[test]
fn s3_11_nothing_is_lost_where_nothing_must_be() {
    let plain = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "enum": ["x", "y"], "default": "x", "format": "email", "examples": ["x"]},
            "b": {"$ref": "#/$defs/B"},
            "c": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "description": "c", "x-own": {"y": 1}},
            "d": {"oneOf": [{"type": "string", "title": "One way"}, {"not": {"type": "string"}}]},
        },
        "required": ["a"],
        "additionalProperties": {"type": "integer"},
        "$defs": {"B": {"type": "array", "items": {"type": "object", "properties": {"e": {"type": "boolean"}}}}},
    });
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Anthropic, Provider::Generic]
    {
        let compiled = made(&with_input(plain.clone()), provider);
        assert_eq!(schema_of(provider, &compiled.definition), &plain, "{provider}");
        assert!(compiled.notes.is_empty() && compiled.back.is_plain());
    }
}

#[test]
fn s1_18_types_and_required_are_kept() {
    for provider in Provider::ALL {
        let compiled = made(&with_input(everything()), provider);
        let schema = schema_of(provider, &compiled.definition);
        assert_eq!(schema["required"], json!(["query"]), "{provider}");
        assert_eq!(schema["properties"]["query"]["type"], "string");
        assert_eq!(schema["properties"]["level"]["type"], "integer");
        assert_eq!(schema["properties"]["sort"]["items"]["required"], json!(["by"]));
        assert_eq!(schema["properties"]["sort"]["items"]["properties"]["down"]["type"], "boolean");
        assert_eq!(schema["properties"]["mode"]["enum"], json!(["fast", "deep"]));
        assert_eq!(schema["properties"].as_object().unwrap().len(), 11);
    }
}

#[test]
fn slim_or_not() {
    let input = json!({
        "$schema": "x", "title": "tArguments", "type": "object",
        "properties": {"max_size": {"type": "integer", "title": "Max Size", "description": ""},
            "b": {"type": "string", "title": "Something else"}, "free": {"type": "object", "additionalProperties": true}},
        "required": [], "additionalProperties": true, "$defs": {"x": {}}, "$comment": "for us",
    });
    let compiled = made(&with_input(input.clone()), Provider::Generic);
    assert_eq!(
        compiled.definition["parameters"],
        json!({"type": "object", "properties": {"max_size": {"type": "integer"},
            "b": {"type": "string", "title": "Something else"}, "free": {"type": "object", "additionalProperties": true}}})
    );
    let request = NativeRequest { slim: Slim::Off, ..NativeRequest::new(Provider::Generic) };
    let mut whole = input;
    whole["properties"]["max_size"].as_object_mut().unwrap().shift_remove("description");
    assert_eq!(
        compile_tool(&name(), &with_input(whole.clone()), &request).unwrap().definition["parameters"],
        whole
    );
}
