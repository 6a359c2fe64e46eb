//! A conversation as a value: who said what, as plain text, in nobody's wire format.

use serde_json::{Value, json};

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TalkRole {
    /// Whoever set the model its task.
    System,
    /// Its user; also what tools answered, in messages that begin with `SYSTEM:`.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TalkMessage {
    /// Who said it.
    pub role: TalkRole,
    /// What was said.
    pub text: String,
}

/// What was said so far, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk(Vec<TalkMessage>);

/// A value that is no conversation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "message {number} is not one of a conversation: it must have a \"role\" (system, user or assistant) and a \"content\" \
     that is a string"
)]
pub struct TalkError {
    /// Which; the first is 1.
    pub number: usize,
}

impl TalkRole {
    const ALL: [Self; 3] = [Self::System, Self::User, Self::Assistant];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Talk {
    /// A conversation that begins with a question.
    pub fn question(text: impl Into<String>) -> Self {
        Self::default().with(TalkRole::User, text)
    }

    /// The same with one more message.
    #[must_use]
    pub fn with(mut self, role: TalkRole, text: impl Into<String>) -> Self {
        self.push(role, text);
        self
    }

    /// Adds a message.
    pub fn push(&mut self, role: TalkRole, text: impl Into<String>) {
        self.0.push(TalkMessage { role, text: text.into() });
    }

    /// The messages.
    pub fn messages(&self) -> &[TalkMessage] {
        &self.0
    }

    /// The text of the system message it begins with, if it does.
    pub fn system(&self) -> Option<&str> {
        self.0.first().filter(|first| first.role == TalkRole::System).map(|first| first.text.as_str())
    }

    /// What the model said last.
    pub fn last_response(&self) -> Option<&str> {
        let said = self.0.iter().rev().find(|message| message.role == TalkRole::Assistant);
        said.map(|message| message.text.as_str())
    }

    /// Reads a list of `{"role": …, "content": …}`.
    pub fn from_json(value: &Value) -> Result<Self, TalkError> {
        let messages = value.as_array().ok_or(TalkError { number: 1 })?;
        let message = |(at, value): (usize, &Value)| {
            let text = |key: &str| value.get(key).and_then(Value::as_str);
            let role =
                text("role").and_then(|word| TalkRole::ALL.into_iter().find(|role| role.as_str() == word));
            match (role, text("content")) {
                (Some(role), Some(text)) => Ok(TalkMessage { role, text: text.to_owned() }),
                _ => Err(TalkError { number: at + 1 }),
            }
        };
        messages.iter().enumerate().map(message).collect::<Result<_, _>>().map(Self)
    }

    /// The same as a list of `{"role": …, "content": …}`.
    pub fn to_json(&self) -> Value {
        self.0.iter().map(|message| json!({"role": message.role.as_str(), "content": message.text})).collect()
    }
}
