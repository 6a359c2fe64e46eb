//! What the model is to say, turn by turn.

use serde::Deserialize;
use serde_json::Value;

/// All of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) key: Option<String>,
    pub(crate) models: Option<Vec<String>>,
    pub(crate) turns: Vec<Turn>,
}

/// One turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Turn {
    pub(crate) text: Vec<String>,
    pub(crate) reasoning: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: [u64; 2],
    pub(crate) stop: Option<Stop>,
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) retry_after: Option<String>,
    pub(crate) fail: Option<String>,
    pub(crate) cut: Option<Cut>,
    pub(crate) broken: bool,
    pub(crate) whole: bool,
    pub(crate) hold: Hold,
    pub(crate) quirk: Option<Quirk>,
}

/// A call of a tool.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Call {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
    /// Where the tool stands in one, in OpenAI's responses.
    pub(crate) namespace: Option<String>,
}

impl Call {
    /// As text: a string is sent as it is.
    pub(crate) fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            value => value.to_string(),
        }
    }

    /// The same in two pieces.
    pub(crate) fn pieces(&self) -> [String; 2] {
        let text = self.text();
        let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        [text[..middle].to_owned(), text[middle..].to_owned()]
    }

    /// As an object.
    pub(crate) fn object(&self) -> Value {
        match &self.arguments {
            Value::Null => Value::Object(serde_json::Map::new()),
            value => value.clone(),
        }
    }
}

/// What single hosts do otherwise than the API has it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Quirk {
    /// Chat completions: every call has the number 0.
    OneIndex,
    /// Chat completions: text is a list of parts.
    Parts,
    /// Responses: what the model thought is not sealed.
    Unsealed,
    /// Gemini: how long to wait stands in the words of a refusal, and in no header.
    RetryDelay,
    /// Gemini: it says nothing but that a call was malformed.
    MalformedCall,
}

/// Why a reply ends early.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stop {
    Length,
    Filter,
}

/// How a stream ends early.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cut {
    Early,
    Reset,
}

/// Where an answer stays away: `true`, or `"middle"`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(from = "Value")]
pub(crate) enum Hold {
    #[default]
    Never,
    Always,
    Middle,
}

impl From<Value> for Hold {
    fn from(value: Value) -> Self {
        match value {
            Value::Bool(true) => Self::Always,
            Value::String(_) => Self::Middle,
            _ => Self::Never,
        }
    }
}
