//! A content block of MCP, as far as providers tell them apart.

use serde_json::Value;

/// One block.
pub(in crate::present::native) enum Block<'a> {
    /// Text, whatever it came in.
    Text(String),
    /// Bytes of some kind, in base64.
    Media { mime: &'a str, data: &'a str, name: Option<&'a str> },
}

impl<'a> Block<'a> {
    pub(in crate::present::native) fn of(block: &'a Value) -> Self {
        let field = |name: &str| block.get(name).and_then(Value::as_str);
        match field("type") {
            Some("text") => Self::Text(field("text").unwrap_or_default().to_owned()),
            Some("image" | "audio") => {
                let mime = field("mimeType").unwrap_or("application/octet-stream");
                Self::Media { mime, data: field("data").unwrap_or_default(), name: None }
            }
            Some("resource") => resource(block.get("resource").unwrap_or(&Value::Null)),
            Some("resource_link") => Self::Text(link(block)),
            // What nobody knows yet is still readable.
            _ => Self::Text(block.to_string()),
        }
    }

    /// It as text; bytes as a word about them.
    pub(in crate::present::native) fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Media { mime, data, name } => {
                let name = name.map_or_else(String::new, |name| format!("{name}, "));
                format!("[{name}{mime}, {} bytes]", bytes(data))
            }
        }
    }
}

fn resource<'a>(resource: &'a Value) -> Block<'a> {
    let field = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = field("uri");
    match (field("text"), field("blob")) {
        (Some(text), _) => Block::Text(match uri {
            Some(uri) => format!("[{uri}]\n{text}"),
            None => text.to_owned(),
        }),
        (None, Some(data)) => {
            let mime = field("mimeType").unwrap_or("application/octet-stream");
            Block::Media { mime, data, name: uri.map(|uri| uri.rsplit('/').next().unwrap_or(uri)) }
        }
        (None, None) => Block::Text(uri.map_or_else(|| resource.to_string(), |uri| format!("[{uri}]"))),
    }
}

fn link(block: &Value) -> String {
    let field = |name: &str| block.get(name).and_then(Value::as_str);
    let name = field("title").or(field("name")).unwrap_or("resource");
    let mut text = format!("[{name}: {}", field("uri").unwrap_or_default());
    if let Some(mime) = field("mimeType") {
        text += &format!(" ({mime})");
    }
    text.push(']');
    if let Some(description) = field("description") {
        text += &format!(" {description}");
    }
    text
}

/// How many bytes a text in base64 stands for.
fn bytes(data: &str) -> usize {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    (data.len() / 4 * 3 + (data.len() % 4).saturating_sub(1)).saturating_sub(padding)
}
