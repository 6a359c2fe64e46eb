//! What `key=text` means, by what the tool's schema says of that argument. Reading it and writing it for others to paste
//! go by this.

use kitbag_core::schema::{ExactJson, read_item, read_property};
use serde_json::Value;

/// One argument that was typed once. An error says why it cannot be what the schema wants.
pub(crate) fn once(schema: &Value, key: &str, text: &str) -> Result<ExactJson<'static>, String> {
    let takes = |probe: &str| !read_property(schema, key, probe).is_string();
    let (list, object) = (takes("[]"), takes("{}"));
    let read = ExactJson::parse(text).map(ExactJson::into_owned);
    match read {
        // Numbers keep all their digits, in lists and objects too.
        Ok(number @ ExactJson::Number(..)) if takes("0") => return Ok(number),
        Ok(value @ ExactJson::Array(_)) if list => return Ok(value),
        Ok(value @ ExactJson::Object(_)) if object => return Ok(value),
        Err(error) if (list || object) && text.trim_start().starts_with(['{', '[']) => {
            return Err(format!("{key} is not valid JSON: {error}"));
        }
        _ => {}
    }
    let items = || match text.trim() {
        "" => Some(Vec::new()),
        _ => read_item(schema, key, text)
            .filter(|whole| !text.contains(',') || whole.is_object())
            .map(|one| vec![one])
            .or_else(|| text.split(',').map(|part| read_item(schema, key, part.trim())).collect()),
    };
    let items = if list { items() } else { None };
    Ok(items.map_or_else(|| read_property(schema, key, text), Value::Array).into())
}

/// One argument that was typed several times: the items of a list. None where the schema wants no list.
pub(crate) fn repeated(schema: &Value, key: &str, texts: &[String]) -> Option<Value> {
    texts.iter().map(|text| read_item(schema, key, text)).collect()
}
