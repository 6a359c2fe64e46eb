//! The providers' rules, as a program that knows nothing of how definitions are made.

use std::collections::BTreeSet;

use kitbag_core::present::native::{NativeRequest, Provider, Strict};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// What is wrong with one definition.
pub(crate) fn broken(request: &NativeRequest, definition: &Value) -> Vec<String> {
    let provider = request.provider;
    let mut found = Vec::new();
    let (body, field): (&Value, &str) = match provider {
        Provider::OpenAiChat => (&definition["function"], "parameters"),
        Provider::OpenAiResponses | Provider::Generic | Provider::GeminiOpenApi => (definition, "parameters"),
        Provider::Anthropic => (definition, "input_schema"),
        Provider::Gemini => (definition, "parametersJsonSchema"),
    };
    let name = body["name"].as_str().unwrap_or_default().to_owned();
    let mut say = |what: String| found.push(format!("{name}: {what}"));
    let word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || 64 < name.len() || !word || name.starts_with(|c: char| c.is_ascii_digit()) {
        say("name".to_owned());
    }
    match body.get("description") {
        None => {}
        Some(Value::String(text)) if text.is_empty() => say("empty description".to_owned()),
        Some(Value::String(text)) if is_openai(provider) && 1024 < text.chars().count() => {
            say("long description".to_owned())
        }
        Some(Value::String(_)) => {}
        Some(_) => say("description is no text".to_owned()),
    }
    let fields: &[&str] = match provider {
        Provider::OpenAiChat => &["name", "description", "parameters", "strict"],
        Provider::OpenAiResponses => &["type", "name", "description", "parameters", "strict"],
        Provider::Anthropic => &["name", "description", "input_schema", "strict"],
        Provider::Gemini => &["name", "description", "parametersJsonSchema"],
        Provider::GeminiOpenApi | Provider::Generic => &["name", "description", "parameters"],
    };
    for key in body.as_object().unwrap().keys().filter(|key| !fields.contains(&key.as_str())) {
        say(format!("field {key}"));
    }
    if is_openai(provider) && definition["type"] != "function" {
        say("type".to_owned());
    }
    if provider == Provider::OpenAiResponses && !body["strict"].is_boolean() {
        say("strict must be said".to_owned());
    }
    let strict = body["strict"] == true;
    if strict && request.strict == Strict::Off {
        say("strict unasked".to_owned());
    }
    match body.get(field) {
        Some(Value::Object(root)) => {
            schema(provider, strict, root, &mut say);
        }
        None if provider == Provider::GeminiOpenApi => {}
        _ => say("no schema".to_owned()),
    }
    found
}

fn is_openai(provider: Provider) -> bool {
    matches!(provider, Provider::OpenAiChat | Provider::OpenAiResponses)
}

fn schema(provider: Provider, strict: bool, root: &Object, say: &mut dyn FnMut(String)) {
    if root.get("type") != Some(&"object".into()) || !root.get("properties").is_some_and(Value::is_object) {
        say("root".to_owned());
    }
    let never: &[&str] = match provider {
        Provider::OpenAiChat | Provider::OpenAiResponses => {
            &["anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"]
        }
        Provider::Anthropic | Provider::GeminiOpenApi => &["anyOf", "oneOf", "allOf", "$ref"],
        _ => &["$ref"],
    };
    never.iter().filter(|key| root.contains_key(**key)).for_each(|key| say(format!("{key} at the root")));
    let whole = Value::Object(root.clone());
    if !jsonschema::draft202012::meta::is_valid(&whole) {
        say("is not valid in 2020-12".to_owned());
    }
    walk(root, "", 0, &mut |at, one| {
        let mut say = |what: &str| say(format!("{at}: {what}"));
        every(provider, &whole, one, &mut say);
        match provider {
            Provider::Gemini => gemini(one, &mut say),
            Provider::GeminiOpenApi => open_api(one, &mut say),
            _ if strict && is_openai(provider) => strict_openai(one, &mut say),
            _ if strict => strict_anthropic(one, &mut say),
            _ => {}
        }
    });
    if strict && is_openai(provider) && (10 < levels(&whole) || 5000 < names(&whole)) {
        say("too deep or too large".to_owned());
    }
}

fn every(provider: Provider, root: &Value, one: &Object, say: &mut dyn FnMut(&str)) {
    let key_ok = |key: &str| {
        let inside = |c: char| match provider {
            Provider::Anthropic => c.is_ascii_alphanumeric() || "_.-".contains(c),
            Provider::Gemini | Provider::GeminiOpenApi => c.is_ascii_alphanumeric() || c == '_',
            _ => true,
        };
        let first = provider == Provider::Anthropic || !key.starts_with(|c: char| c.is_ascii_digit());
        matches!(provider, Provider::OpenAiChat | Provider::OpenAiResponses | Provider::Generic)
            || (1..=64).contains(&key.len()) && first && key.chars().all(inside)
    };
    for key in one.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
        if !key_ok(key) {
            say(&format!("key {key:?}"));
        }
    }
    if let Some(reference) = one.get("$ref").and_then(Value::as_str) {
        let plain = reference
            .strip_prefix('#')
            .filter(|at| at.is_empty() || at.starts_with("/$defs/") || at.starts_with("/definitions/"));
        if plain
            .and_then(|at| root.pointer(&at.replace("%20", " ").replace("%5B", "[").replace("%5D", "]")))
            .is_none()
        {
            say(&format!("reference {reference}"));
        }
    }
    let array = kinds(one).contains("array");
    if array && !one.contains_key("items") && !matches!(provider, Provider::Anthropic | Provider::Generic) {
        say("array without items");
    }
    for list in ["required", "enum", "type"].iter().filter_map(|key| one.get(*key)?.as_array()) {
        if list.is_empty() && !one.contains_key("required") {
            say("empty list");
        }
    }
}

fn gemini(one: &Object, say: &mut dyn FnMut(&str)) {
    for key in
        ["$schema", "const", "discriminator", "examples", "title", "exclusiveMinimum", "exclusiveMaximum"]
    {
        if one.contains_key(key) {
            say(key);
        }
    }
    if one.contains_key("format") && (kinds(one).contains("string") || !one.contains_key("type")) {
        say("format of a text");
    }
    if one.contains_key("$ref") && one.keys().any(|key| !key.starts_with('$')) {
        say("something beside a reference");
    }
}

fn open_api(one: &Object, say: &mut dyn FnMut(&str)) {
    const KNOWN: &[&str] = &[
        "type",
        "format",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "minimum",
        "maximum",
    ];
    for key in one.keys().filter(|key| !KNOWN.contains(&key.as_str())) {
        say(&format!("keyword {key}"));
    }
    if one.contains_key("anyOf") {
        if one.len() != 1 {
            say("something beside anyOf");
        }
        return;
    }
    let Some(kind) = one.get("type").and_then(Value::as_str) else { return say("no type") };
    let only = |key: &str, kinds: &[&str]| !one.contains_key(key) || kinds.contains(&kind);
    if !(only("properties", &["object"]) && only("required", &["object"]) && only("items", &["array"])) {
        say("properties or items of something else");
    }
    let texts = one.get("enum").and_then(Value::as_array);
    if texts.is_some_and(|list| {
        kind != "string" || list.iter().any(|text| text.as_str().is_none_or(str::is_empty))
    }) {
        say("enum");
    }
    match (kind, one.get("format").and_then(Value::as_str)) {
        (_, None) | ("string", Some("date-time")) => {}
        ("integer" | "number", Some("int32" | "int64" | "float" | "double")) => {}
        _ => say("format"),
    }
    let named = one.get("properties").and_then(Value::as_object);
    let required = one.get("required").and_then(Value::as_array).into_iter().flatten();
    if !required.filter_map(Value::as_str).all(|name| named.is_some_and(|named| named.contains_key(name))) {
        say("requires what it does not have");
    }
}

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

fn strict_openai(one: &Object, say: &mut dyn FnMut(&str)) {
    for key in [
        "oneOf",
        "allOf",
        "not",
        "default",
        "minLength",
        "maxLength",
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "unevaluatedItems",
        "contains",
        "minContains",
        "maxContains",
        "uniqueItems",
        "prefixItems",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
    ] {
        if one.contains_key(key) {
            say(key);
        }
    }
    closed(one, say);
    if let Some(Value::Object(named)) = one.get("properties") {
        let required: BTreeSet<&str> = one
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if required != named.keys().map(String::as_str).collect() {
            say("not everything is required");
        }
    }
    if one.contains_key("$ref") && 1 < one.len() {
        say("something beside a reference");
    }
    if kinds(one).contains("array") && one.get("items").and_then(Value::as_object).is_none_or(Map::is_empty) {
        say("array without typed items");
    }
    if one.get("format").and_then(Value::as_str).is_some_and(|format| !FORMATS.contains(&format)) {
        say("format");
    }
    if one
        .get("pattern")
        .and_then(Value::as_str)
        .is_some_and(|pattern| pattern.contains("(?=") || pattern.contains("(?!") || pattern.contains("(?<"))
    {
        say("look-around");
    }
    if !["type", "anyOf", "$ref", "enum", "const"].iter().any(|key| one.contains_key(*key)) {
        say("takes anything");
    }
}

fn strict_anthropic(one: &Object, say: &mut dyn FnMut(&str)) {
    for key in [
        "oneOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "patternProperties",
    ] {
        if one.contains_key(key) {
            say(key);
        }
    }
    if one.get("minItems").is_some_and(|least| 1 < least.as_u64().unwrap()) {
        say("minItems");
    }
    closed(one, say);
}

fn closed(one: &Object, say: &mut dyn FnMut(&str)) {
    if (kinds(one).contains("object") || one.contains_key("properties"))
        && one.get("additionalProperties") != Some(&Value::Bool(false))
    {
        say("an open object");
    }
}

/// What is wrong with all of them in one request.
pub(crate) fn broken_together(request: &NativeRequest, all: &[&Value]) -> Vec<String> {
    let mut found = Vec::new();
    if request.provider != Provider::Anthropic {
        return found;
    }
    let strict: Vec<&&Value> = all.iter().filter(|one| one["strict"] == true).collect();
    let (mut optional, mut unions) = (0, 0);
    for one in &strict {
        walk(one["input_schema"].as_object().unwrap(), "", 0, &mut |_, schema| {
            let named = schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
            optional +=
                named - schema.get("required").and_then(Value::as_array).map_or(0, Vec::len).min(named);
            let branches = schema.get("anyOf").and_then(Value::as_array).map_or(0, Vec::len);
            unions += usize::from(schema.get("type").is_some_and(Value::is_array) || 1 < branches);
        });
    }
    if 20 < strict.len() || 24 < optional || 16 < unions {
        found.push(format!("{} strict, {optional} optional, {unions} unions", strict.len()));
    }
    found
}

fn kinds(one: &Object) -> BTreeSet<&str> {
    match one.get("type") {
        Some(Value::String(kind)) => BTreeSet::from([kind.as_str()]),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}

fn levels(value: &Value) -> usize {
    let Value::Object(object) = value else { return 0 };
    let deeper = |key: &str| match object.get(key) {
        Some(Value::Object(table)) if key == "properties" => {
            table.values().map(levels).max().map_or(0, |most| most + 1)
        }
        Some(items @ Value::Object(_)) => 1 + levels(items),
        _ => 0,
    };
    let beside =
        object.get("anyOf").and_then(Value::as_array).into_iter().flatten().map(levels).max().unwrap_or(0);
    deeper("properties").max(deeper("items")).max(beside)
}

fn names(value: &Value) -> usize {
    let mut count = 0;
    walk(value.as_object().unwrap(), "", 0, &mut |_, one| {
        count += one.get("properties").and_then(Value::as_object).map_or(0, Map::len)
    });
    count
}

/// Every schema in a schema.
pub(crate) fn walk(one: &Object, at: &str, depth: usize, visit: &mut dyn FnMut(&str, &Object)) {
    assert!(depth < 200);
    visit(at, one);
    for (keyword, value) in one {
        let at = format!("{at}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(table),
            ) => {
                for (name, inner) in table {
                    let Value::Object(inner) = inner else { panic!("{at}/{name} is no schema") };
                    walk(inner, &format!("{at}/{name}"), depth + 1, visit);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                for inner in list {
                    let Value::Object(inner) = inner else { panic!("{at} holds no schema") };
                    walk(inner, &at, depth + 1, visit);
                }
            }
            (
                "items"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "additionalProperties",
                Value::Object(inner),
            ) => {
                walk(inner, &at, depth + 1, visit);
            }
            _ => {}
        }
    }
}
