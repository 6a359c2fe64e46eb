//! The arguments as they were typed.

use std::collections::BTreeSet;
use std::io::Read as _;

use kitbag::schema::{parse_unique, read_property};
use serde_json::{Map, Value};

use crate::exit::{Exit, Failure};

/// The longest arguments that are read from standard input.
const LONGEST: u64 = 64 << 20;

/// Arguments given as JSON, `-` for those that come by standard input.
pub(super) fn base(text: Option<&str>) -> Result<Map<String, Value>, Failure> {
    let wrong = |why: String| {
        Failure::new(Exit::InvalidArguments, format!("--args {why}")).hint("--args '{\"key\": \"value\"}'")
    };
    let Some(text) = text else { return Ok(Map::new()) };
    let mut given = text.to_owned();
    if text == "-" {
        given.clear();
        let read = std::io::stdin().lock().take(LONGEST).read_to_string(&mut given);
        read.map_err(|error| wrong(format!("cannot be read: {error}")))?;
    }
    match parse_unique(&given) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(wrong("must be a JSON object".to_owned())),
        Err(error) => Err(wrong(format!("is not valid JSON: {error}"))),
    }
}

/// `key=value` pairs on top, each by what the tool's schema says about it; `key:=json` is JSON whatever it says. No
/// key is given twice: which one was meant nobody knows.
pub(super) fn with_pairs(
    mut base: Map<String, Value>,
    pairs: &[String],
    schema: Option<&Value>,
) -> Result<Map<String, Value>, Failure> {
    let mut seen = BTreeSet::new();
    let mut put = |base: &mut Map<String, Value>, key: String, value: Value| {
        if !seen.insert(key.clone()) {
            let failure = Failure::new(Exit::InvalidArguments, format!("{key:?} is given twice"));
            return Err(failure.hint(format!("{key}:=[…], for a list")));
        }
        base.insert(key, value);
        Ok(())
    };
    let json = |what: &str, text: &str| {
        parse_unique(text).map_err(|error| {
            Failure::new(Exit::InvalidArguments, format!("{what} is not valid JSON: {error}"))
        })
    };
    for pair in pairs {
        if serde_json::from_str::<Map<String, Value>>(pair).is_ok() {
            let Value::Object(map) = json("the object", pair)? else { continue };
            for (key, value) in map {
                put(&mut base, key, value)?;
            }
            continue;
        }
        let Some((key, text)) = pair.split_once('=') else {
            let failure = Failure::new(Exit::InvalidArguments, format!("{pair:?} is not key=value"));
            return Err(failure.hint(format!("{pair}=…, or --args '{{…}}'")));
        };
        let value = match (key.strip_suffix(':'), schema) {
            (Some(key), _) => {
                json(key, text).map_err(|failure| failure.hint(format!("{key}={text}, for text")))?
            }
            (None, Some(schema)) => read_property(schema, key, text),
            (None, None) => text.into(),
        };
        put(&mut base, key.strip_suffix(':').unwrap_or(key).to_owned(), value)?;
    }
    Ok(base)
}
