//! Random schemas and random legal arguments: shown, decoded and restored they are what they were, in every form.

use kitbag_core::Limits;
use kitbag_core::present::native::{Compiled, NativeRequest, Provider, compile_tool, decode};
use kitbag_core::present::{Intent, ModelRequest};
use kitbag_core::schema::Schema;
use serde_json::{Map, Value, json};

use super::super::generate::Rng;
use super::super::size;
use super::corpus::part;
use super::round_trip::{reply, schema_of};
use super::{requests, rules};

const SCHEMAS: u32 = size(1_000, 100_000);
/// Where they begin, and one that was wrong once.
const START: u64 = 7_000;
const ODD: u64 = 11_976;
/// Arguments tried for each of them.
const TRIES: usize = 8;
/// Ways to say the same that are tried.
const MOST_WAYS: usize = 64;
/// Not every provider takes all of these.
const NAMES: [&str; 6] = ["a", "b", "c d", "$x", "input", "n"];

/// A schema as servers write them, at one level less.
fn schema(rng: &mut Rng, room: usize) -> Value {
    if room == 0 {
        return leaf(rng);
    }
    let inner = |rng: &mut Rng| schema(rng, room - 1);
    match rng.below(14) {
        0..=4 => leaf(rng),
        5 => json!({"type": "array", "items": inner(rng)}),
        6 => json!({"type": "array", "prefixItems": [inner(rng), inner(rng)], "items": inner(rng)}),
        7 => json!({"anyOf": [inner(rng), {"type": "null"}], "default": null}),
        8 => json!({"anyOf": [inner(rng), inner(rng)]}),
        9 => json!({"oneOf": [object(rng, room - 1), object(rng, room - 1)]}),
        10 => json!({"$ref": rng.pick(&["#/$defs/A", "#/$defs/B", "#/properties/a"])}),
        11 => json!({"allOf": [object(rng, room - 1), {"required": [rng.pick(&NAMES)]}]}),
        _ => object(rng, room - 1),
    }
}

fn leaf(rng: &mut Rng) -> Value {
    match rng.below(10) {
        0 => json!({"type": "string", "minLength": 1}),
        1 => json!({"type": "integer", "minimum": 0}),
        2 => json!({"type": "number"}),
        3 => json!({"type": "boolean"}),
        4 => json!({"type": ["string", "null"]}),
        5 => json!({"enum": ["x", "y", 3]}),
        6 => json!({"enum": ["x", null]}),
        7 => json!({"const": rng.pick(&["x", "y"])}),
        8 => json!({"type": ["integer", "null"], "default": null}),
        _ => json!({"type": "string"}),
    }
}

fn object(rng: &mut Rng, room: usize) -> Value {
    let mut named = Map::new();
    for _ in 0..rng.below(4) {
        named.insert(rng.pick(&NAMES).to_owned(), schema(rng, room));
    }
    let required: Vec<&String> = named.keys().filter(|_| rng.one_in(2)).collect();
    let mut object =
        Map::from_iter([("type".to_owned(), json!("object")), ("required".to_owned(), json!(required))]);
    object.insert("properties".to_owned(), Value::Object(named.clone()));
    let some =
        |rng: &mut Rng| json!({"properties": {rng.pick(&NAMES): leaf(rng)}, "required": [rng.pick(&NAMES)]});
    match rng.below(16) {
        0 => drop(object.insert("additionalProperties".to_owned(), json!(true))),
        1 => drop(object.insert("additionalProperties".to_owned(), leaf(rng))),
        2..=5 => drop(object.insert("additionalProperties".to_owned(), json!(false))),
        6 => {
            object.insert("if".to_owned(), some(rng));
            object.insert("then".to_owned(), some(rng));
            object.insert("else".to_owned(), some(rng));
        }
        7 => drop(object.insert("dependentSchemas".to_owned(), json!({rng.pick(&NAMES): some(rng)}))),
        8 => drop(object.insert("dependencies".to_owned(), json!({rng.pick(&NAMES): [rng.pick(&NAMES)]}))),
        9 => drop(object.insert(
            "anyOf".to_owned(),
            json!([{"required": [rng.pick(&NAMES)]}, {"required": [rng.pick(&NAMES)]}]),
        )),
        _ => {}
    }
    Value::Object(object)
}

fn document(rng: &mut Rng) -> Value {
    let mut root = object(rng, 3);
    root["$defs"] = json!({"A": object(rng, 2), "B": schema(rng, 2)});
    root
}

/// A value that a schema may take; whether it does is asked later.
fn value(rng: &mut Rng, root: &Value, schema: &Value, room: usize) -> Value {
    let list = |key: &str| schema[key].as_array().filter(|list| !list.is_empty());
    if room == 0 {
        return Value::Null;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(&reference[1..]).unwrap_or(&Value::Null);
        return value(rng, root, target, room - 1);
    }
    if let Some(parts) = list("allOf") {
        return value(rng, root, &parts[0], room - 1);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(branches) = list(key).filter(|_| schema["type"] != "object") {
            let at = rng.below(branches.len());
            return value(rng, root, &branches[at], room - 1);
        }
    }
    if let Some(list) = list("enum") {
        return list[rng.below(list.len())].clone();
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    let kinds = list("type").cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    match kinds[rng.below(kinds.len())].as_str().unwrap_or("string") {
        "null" => Value::Null,
        "boolean" => rng.one_in(2).into(),
        "integer" => rng.below(9).into(),
        "number" => json!(rng.below(900) as f64 / 8.0),
        "array" => {
            let of = |at: usize| schema["prefixItems"].get(at).unwrap_or(&schema["items"]);
            (0..rng.below(4)).map(|at| value(rng, root, of(at), room - 1)).collect()
        }
        "object" => members(rng, root, schema, room),
        _ => "y".into(),
    }
}

/// Of all properties that are named, also under a condition, some.
fn members(rng: &mut Rng, root: &Value, schema: &Value, room: usize) -> Value {
    let mut all = Map::new();
    let mut parts = vec![schema, &schema["if"], &schema["then"], &schema["else"]];
    parts.extend(schema["dependentSchemas"].as_object().into_iter().flat_map(Map::values));
    for (name, inner) in parts.iter().filter_map(|part| part["properties"].as_object()).flatten() {
        let is_required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        if is_required || rng.one_in(2) {
            all.insert(name.clone(), value(rng, root, inner, room - 1));
        }
    }
    if let Some(rest) = schema.get("additionalProperties").filter(|rest| **rest != Value::Bool(false)) {
        all.insert("more".to_owned(), value(rng, root, rest, room - 1));
    }
    Value::Object(all)
}

/// What a model can give that is held to a schema where everything is required: null for what is not given. Nothing if
/// the schema does not let it say so; several if it has a choice.
fn held(root: &Value, schema: &Value, value: &Value) -> Vec<Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        return held(root, root.pointer(&reference[1..]).unwrap(), value);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        return branches.iter().flat_map(|branch| held(root, branch, value)).take(MOST_WAYS).collect();
    }
    let is = |kind: &Value| match kind.as_str().unwrap() {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let is_listed = schema["enum"].as_array().is_none_or(|list| list.contains(value));
    let is_kind = schema["type"].as_array().map_or_else(|| is(&schema["type"]), |kinds| kinds.iter().any(is));
    if !is_kind || !is_listed || schema.get("const").is_some_and(|only| only != value) {
        return Vec::new();
    }
    match value {
        Value::Array(list) => {
            let lists = every(list.iter().map(|item| held(root, &schema["items"], item)));
            lists.into_iter().map(Value::Array).collect()
        }
        Value::Object(given) => {
            let named = schema["properties"].as_object().unwrap();
            if !given.keys().all(|name| named.contains_key(name)) {
                return Vec::new();
            }
            let each =
                |(name, inner): (&String, _)| held(root, inner, given.get(name).unwrap_or(&Value::Null));
            let object = |values: Vec<Value>| named.keys().cloned().zip(values).collect();
            every(named.iter().map(each)).into_iter().map(object).collect()
        }
        value => vec![value.clone()],
    }
}

/// One of each, in every way.
fn every(parts: impl Iterator<Item = Vec<Value>>) -> Vec<Vec<Value>> {
    parts.fold(vec![Vec::new()], |ways, part| {
        let longer = |way: &Vec<Value>| {
            let with = |one: &Value| [way.as_slice(), std::slice::from_ref(one)].concat();
            part.iter().map(with).collect::<Vec<_>>()
        };
        ways.iter().flat_map(longer).take(MOST_WAYS).collect()
    })
}

/// Arguments as a model gives them who means these, if it can.
pub(super) fn given(
    compiled: &Compiled,
    request: &NativeRequest,
    own: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut sent = own.clone();
    compiled.back.apply(&mut sent);
    let is_openai = matches!(request.provider, Provider::OpenAiChat | Provider::OpenAiResponses);
    if !compiled.is_strict() || !is_openai {
        return Some(sent);
    }
    let schema = schema_of(request.provider, &compiled.definition)?;
    let ways = held(schema, schema, &Value::Object(sent));
    let is_meant =
        |way: &&Value| back(compiled, request, way.as_object().unwrap()) == Value::Object(own.clone());
    ways.iter().find(is_meant).or(ways.first())?.as_object().cloned()
}

/// Through the provider's reply and back.
pub(super) fn back(compiled: &Compiled, request: &NativeRequest, sent: &Map<String, Value>) -> Value {
    let asked = decode(request.provider, &reply(request.provider, "t", sent));
    let [ModelRequest { intent: Intent::Call { arguments, .. }, .. }] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    serde_json::from_str(&compiled.back.restore_text(arguments).unwrap()).unwrap()
}

/// Without the members that are null by default: given or not, they mean the same.
fn without_defaults(input: &Value, value: &Value) -> Value {
    let is_default = |name: &str| {
        let of = |object: &Map<String, Value>| object.get("properties")?.get(name)?.get("default").cloned();
        let mut found = false;
        rules::walk(input.as_object().unwrap(), "", 0, &mut |_, one| found |= of(one) == Some(Value::Null));
        found
    };
    match value {
        Value::Array(list) => list.iter().map(|item| without_defaults(input, item)).collect(),
        Value::Object(object) => {
            let kept = object.iter().filter(|(name, value)| !value.is_null() || !is_default(name));
            kept.map(|(name, value)| (name.clone(), without_defaults(input, value))).collect()
        }
        value => value.clone(),
    }
}

#[test]
fn f96_f98_f99_random_legal_arguments_come_back_from_every_form() {
    let (mut trips, mut strict, mut held_back) = (0, 0, 0);
    for seed in (START..START + u64::from(SCHEMAS)).chain([ODD]) {
        let mut rng = Rng::new(seed);
        let input = document(&mut rng);
        let part = part("s", &[json!({"name": "t", "inputSchema": input})]);
        let Some(tool) = part.tools.first() else { continue };
        let Ok(own_schema) = Schema::compile(&tool.input, &Limits::default()) else { continue };
        let tries: Vec<Value> = (0..TRIES).map(|_| value(&mut rng, &input, &input, 8)).collect();
        let name = kitbag_core::ShownName::parse("t").unwrap();
        for request in requests() {
            let Ok(compiled) = compile_tool(&name, tool, &request) else { continue };
            let theirs = schema_of(request.provider, &compiled.definition)
                .and_then(|schema| Schema::compile(schema, &Limits::default()).ok());
            for own in tries.iter().filter(|own| own_schema.check(own).is_empty()) {
                let Value::Object(fields) = own else { continue };
                let about = || {
                    format!(
                        "seed {seed}, {}, {:?}, {:?}\n{input}\n{}\n{own}",
                        request.provider, request.strict, request.slim, compiled.definition
                    )
                };
                let Some(sent) = given(&compiled, &request, fields) else {
                    panic!("cannot be said: {}", about())
                };
                if compiled.is_strict() {
                    let problems = theirs.as_ref().unwrap().check(&Value::Object(sent.clone()));
                    assert!(problems.is_empty(), "{problems:?}: {}", about());
                }
                let came = back(&compiled, &request, &sent);
                // What means the same is taken for the same only where it must be.
                let meant = |value: &Value| match compiled.is_strict() {
                    true => without_defaults(&input, value),
                    false => value.clone(),
                };
                assert_eq!(meant(&came), meant(own), "{}", about());
                assert!(own_schema.check(&came).is_empty(), "{came} is not legal: {}", about());
                trips += 1;
                strict += usize::from(compiled.is_strict());
                held_back += usize::from(compiled.notes.iter().any(|note| note.starts_with("is not strict")));
            }
        }
    }
    assert!(
        3_000 < strict && 10 * strict < 9 * trips && strict < held_back * 20,
        "{trips} {strict} {held_back}"
    );
}
