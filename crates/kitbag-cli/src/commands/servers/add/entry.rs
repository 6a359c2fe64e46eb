//! The entry that the options of `kitbag servers add` describe.

use serde_json::{Map, Value, json};

use super::{AddOptions, Reached};
use crate::exit::{Exit, Failure};

pub(super) fn of(reached: &Reached<'_>, options: &AddOptions) -> Result<Value, Failure> {
    fits(reached, options)?;
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    match reached {
        Reached::Program([command, rest @ ..]) => {
            put("command", command.as_str().into());
            if !rest.is_empty() {
                put("args", (*rest).into());
            }
        }
        Reached::Address(url) => {
            put("url", url.as_str().into());
        }
        Reached::Program([]) | Reached::Unsaid => {}
    }
    if let Some(transport) = &options.transport {
        put("transport", transport.as_str().into());
    }
    let variable = options.bearer_token_env_var.as_ref().map(|name| format!("${{{name}}}"));
    if let Some(token) = options.bearer.clone().or(variable) {
        put("auth", json!({"type": "bearer", "token": token}));
    }
    if let Some(cwd) = &options.cwd {
        put("cwd", cwd.as_str().into());
    }
    for (key, pairs, sign) in [("env", &options.env, '='), ("headers", &options.header, ':')] {
        if !pairs.is_empty() {
            put(key, named(pairs, sign)?);
        }
    }
    Ok(Value::Object(entry))
}

/// A program takes no headers and an address no variables.
fn fits(reached: &Reached<'_>, options: &AddOptions) -> Result<(), Failure> {
    let bearer = options.bearer.is_some() || options.bearer_token_env_var.is_some();
    let (what, wrong) = match reached {
        Reached::Program(_) => {
            ("a command", [("--header", !options.header.is_empty()), ("--bearer", bearer)])
        }
        Reached::Address(_) => {
            ("an address", [("--env", !options.env.is_empty()), ("--cwd", options.cwd.is_some())])
        }
        Reached::Unsaid => return Ok(()),
    };
    match wrong.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            let failure = Failure::new(Exit::Usage, format!("{flag} cannot be used with {what}"));
            Err(failure.hint("kitbag servers add --help"))
        }
        None => Ok(()),
    }
}

/// `NAME=VALUE` or `Name: value` pairs. The text may hold a secret and is never repeated.
fn named(pairs: &[String], sign: char) -> Result<Value, Failure> {
    let split = |pair: &String| {
        let (name, value) = pair.split_once(sign)?;
        let value = if sign == ':' { value.trim() } else { value };
        (!name.trim().is_empty()).then(|| (name.trim().to_owned(), Value::from(value)))
    };
    let form = if sign == '=' { "--env NAME=VALUE" } else { "--header 'Name: value'" };
    let pairs: Option<Map<String, Value>> = pairs.iter().map(split).collect();
    pairs.map(Value::Object).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("a value after --{} has no {sign:?}", if sign == '=' { "env" } else { "header" }),
        )
        .hint(form)
    })
}
