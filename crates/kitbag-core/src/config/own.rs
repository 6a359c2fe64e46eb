//! A server in Kitbag's own words: what `add` and `import` write, whatever dialect it came from.
//!
//! Units, defaults and spellings of references differ between programs; written in our own form an entry
//! means the same here as it did there.

use serde_json::{Map, Value, json};

use crate::model::{Auth, Input, Piece, ServerSpec, ServerTarget, Template, Transport};

/// The entry for Kitbag's `mcp.json`, secrets as written.
pub fn entry(spec: &ServerSpec) -> Value {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| {
        let empty = value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        if !empty {
            entry.insert(key.to_owned(), value);
        }
    };
    put("description", spec.description.clone().into());
    match &spec.link {
        ServerTarget::Stdio(program) => {
            put("command", program.command.as_ref().map(Template::in_our_words).into());
            put("args", program.args.iter().map(Template::in_our_words).collect::<Vec<_>>().into());
            put("env", texts(&program.env));
            put("env_vars", program.pass.clone().into());
            put("envFile", program.env_file.as_ref().map(Template::in_our_words).into());
            put("cwd", program.cwd.as_ref().map(Template::in_our_words).into());
        }
        ServerTarget::Remote(endpoint) => {
            if endpoint.transport != Transport::Auto {
                put("transport", endpoint.transport.as_str().into());
            }
            put("url", endpoint.url.in_our_words().into());
            put("headers", texts(&endpoint.headers));
            match &endpoint.auth {
                Auth::None => {}
                Auth::Bearer(token) => put("auth", json!({"type": "bearer", "token": token.in_our_words()})),
                Auth::Header { name, value } => {
                    put("auth", json!({"type": "custom", "header": name, "token": value.in_our_words()}))
                }
            }
        }
        // No file can describe one.
        ServerTarget::InProcess(_) => {}
    }
    put("connect_timeout", spec.waits.connect.map(|wait| wait.as_secs_f64()).into());
    put("timeout", spec.waits.call.map(|wait| format!("{}ms", wait.as_millis())).into());
    put("include", spec.filter.include.clone().into());
    put("exclude", spec.filter.exclude.clone().into());
    put("required", spec.required.then_some(true).into());
    put("lazy", spec.lazy.then_some(true).into());
    put("concurrency", spec.concurrency.into());
    put("per_user", spec.per_user.then_some(true).into());
    put("mask_results", spec.mask_results.then_some(true).into());
    put(
        "inputs",
        spec.inputs.iter().filter(|input| asks_for(spec, &input.id)).map(input).collect::<Vec<_>>().into(),
    );
    if !spec.enabled {
        put("enabled", false.into());
    }
    let filtered = !spec.filter.include.is_empty() || !spec.filter.exclude.is_empty();
    for (key, value) in &spec.extra.0 {
        // What our own keys say already is not said twice.
        let said = matches!(key.as_str(), "connection" | "settings" | "source") || key == "tools" && filtered;
        if !said {
            entry.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Value::Object(entry)
}

/// Whether any text of the server refers to this input.
pub fn asks_for(spec: &ServerSpec, id: &str) -> bool {
    let refers = |piece: &Piece| matches!(piece, Piece::Input(known) if known == id);
    spec.templates().iter().any(|(_, template)| template.pieces().iter().any(refers))
}

fn texts(pairs: &[(String, Template)]) -> Value {
    pairs
        .iter()
        .map(|(name, value)| (name.clone(), Value::from(value.in_our_words())))
        .collect::<Map<_, _>>()
        .into()
}

fn input(input: &Input) -> Value {
    let mut value = json!({"id": input.id, "description": input.description, "password": input.password});
    if let Some(map) = value.as_object_mut() {
        if !input.options.is_empty() {
            map.insert("options".into(), input.options.clone().into());
        }
        if let Some(default) = &input.default {
            map.insert("default".into(), default.clone().into());
        }
    }
    value
}
