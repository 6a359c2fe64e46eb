//! What a local tool gives back.

use base64::Engine as _;
use serde::Serialize;
use serde_json::{Value, json};

/// The result of a local tool, block by block: for images, audio, links, or text beside structured content.
/// Tools that give one value return it as it is, see [`IntoToolOutput`].
///
/// ```
/// use kitbag::ToolOutput;
///
/// let png = [0x89, b'P', b'N', b'G'];
/// let output = ToolOutput::new().text("A chart of the week").image("image/png", &png);
/// # let _ = output;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    content: Vec<Value>,
    structured: Option<Value>,
    meta: Option<Value>,
}

impl ToolOutput {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.block(json!({"type": "text", "text": text.into()}))
    }

    /// Adds an image, such as `image/png`.
    #[must_use]
    pub fn image(self, mime_type: &str, bytes: &[u8]) -> Self {
        self.block(json!({"type": "image", "data": base64(bytes), "mimeType": mime_type}))
    }

    /// Adds audio, such as `audio/wav`.
    #[must_use]
    pub fn audio(self, mime_type: &str, bytes: &[u8]) -> Self {
        self.block(json!({"type": "audio", "data": base64(bytes), "mimeType": mime_type}))
    }

    /// Adds a link to a resource.
    #[must_use]
    pub fn resource_link(self, uri: &str, name: &str) -> Self {
        self.block(json!({"type": "resource_link", "uri": uri, "name": name}))
    }

    /// Adds a content block as the protocol writes it.
    #[must_use]
    pub fn block(mut self, block: Value) -> Self {
        self.content.push(block);
        self
    }

    /// Sets the structured content: an object, or a value that is put under `result`.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.structured = Some(if value.is_object() { value } else { json!({"result": value}) });
        self
    }

    /// Sets the result's `_meta`, an object.
    #[must_use]
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }

    /// As a server would answer `tools/call`.
    pub(super) fn into_result(self) -> Value {
        let mut result = json!({"content": self.content});
        if let Some(structured) = self.structured {
            result["structuredContent"] = structured;
        }
        if let Some(meta) = self.meta {
            result["_meta"] = meta;
        }
        result
    }
}

fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// What a local tool may return: anything serializable, or a [`ToolOutput`].
///
/// A string becomes text; `()` and `null` become an empty result; anything else becomes structured content with its
/// JSON as text beside it.
///
/// ```
/// use kitbag::{IntoToolOutput, ToolOutput};
///
/// assert_eq!("hi".into_tool_output(), Ok(ToolOutput::new().text("hi")));
/// let three = ToolOutput::new().text("3").structured(serde_json::json!({"result": 3}));
/// assert_eq!(3.into_tool_output(), Ok(three));
/// ```
pub trait IntoToolOutput {
    /// The result.
    fn into_tool_output(self) -> Result<ToolOutput, String>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, String> {
        Ok(self)
    }
}

impl<R: Serialize> IntoToolOutput for R {
    fn into_tool_output(self) -> Result<ToolOutput, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        Ok(match value {
            Value::String(text) => ToolOutput::new().text(text),
            Value::Null => ToolOutput::new(),
            value => ToolOutput::new().text(value.to_string()).structured(value),
        })
    }
}
