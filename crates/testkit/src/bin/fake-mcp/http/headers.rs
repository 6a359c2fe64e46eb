//! The headers of the modern era must say what the body says.

use serde_json::Value;

use super::connection::Reply;
use super::request::HttpRequest;
use crate::house::House;
use crate::wire::{self, Message, code};

/// Refuses a request whose headers are missing or differ. Notifications have none to compare.
pub(super) fn check(house: &House, request: &HttpRequest, message: &Message<'_>) -> Result<(), Reply> {
    // A handshake is refused for what it is, not for its headers.
    let Some(id) = message.id.filter(|_| !matches!(&*message.method, "" | "initialize")) else {
        return Ok(());
    };
    let refuse = |text: String| {
        Reply::new(400).json(wire::error(id.get(), code::BAD_HEADER, &format!("Header mismatch: {text}"), ""))
    };
    let version = message.params.meta.version.map(wire::bare);
    same(request, "mcp-protocol-version", version.as_deref()).map_err(refuse)?;
    same(request, "mcp-method", Some(&*message.method)).map_err(refuse)?;
    if message.method == "tools/call" {
        same(request, "mcp-name", Some(&*message.params.name)).map_err(refuse)?;
        params(house, request, message).map_err(refuse)?;
    }
    Ok(())
}

/// Whether the header is there and says the same as the body, as far as the body says anything.
fn same(request: &HttpRequest, name: &str, body: Option<&str>) -> Result<(), String> {
    let header = request.header(name).ok_or_else(|| format!("{name} is missing"))?;
    let header = decoded(header).ok_or_else(|| format!("{name} is malformed"))?;
    match body {
        Some(body) if body != header => Err(format!("{name} is '{header}', the body says '{body}'")),
        _ => Ok(()),
    }
}

/// The parameters that the tool's schema marks with `x-mcp-header`.
fn params(house: &House, request: &HttpRequest, message: &Message<'_>) -> Result<(), String> {
    let Some(definition) = house.definition(&message.params.name) else { return Ok(()) };
    let definition: Value = serde_json::from_str(definition).unwrap_or_default();
    let arguments = message.params.arguments.map_or("{}", |raw| raw.get());
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let mut marked = Vec::new();
    marks(&definition["inputSchema"], &arguments, &mut marked);
    for (mark, value) in marked {
        let name = format!("mcp-param-{}", mark.to_ascii_lowercase());
        match value {
            Value::Null if request.header(&name).is_some() => {
                return Err(format!("{name} has no value in the body"));
            }
            Value::Null => {}
            Value::String(text) => same(request, &name, Some(text))?,
            Value::Number(number) => {
                let header = request.header(&name).ok_or_else(|| format!("{name} is missing"))?;
                if header.parse::<f64>().ok() != number.as_f64() {
                    return Err(format!("{name} is '{header}', the body says '{number}'"));
                }
            }
            other => same(request, &name, Some(&other.to_string()))?,
        }
    }
    Ok(())
}

/// Each mark below `schema`, by a chain of `properties` alone, with the value of its argument.
fn marks<'a>(schema: &'a Value, arguments: &'a Value, found: &mut Vec<(&'a str, &'a Value)>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        if let Some(mark) = property["x-mcp-header"].as_str() {
            found.push((mark, &arguments[name]));
        }
        marks(property, &arguments[name], found);
    }
}

/// The value of a header, out of the Base64 sentinel if it is in one.
fn decoded(value: &str) -> Option<String> {
    let Some(inside) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        let plain = value.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte));
        return plain.then(|| value.to_owned());
    };
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    for four in inside.trim_end_matches('=').as_bytes().chunks(4) {
        let mut bits = 0u32;
        for at in 0..4 {
            bits = bits << 6 | u32::from(four.get(at).map_or(Some(0), |byte| digit(*byte))?);
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    String::from_utf8(bytes).ok()
}
