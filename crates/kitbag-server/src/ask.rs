//! What servers ask while a request of a client runs: handed to the task of that request, which knows how its client is
//! asked. That way nothing overtakes what the server said before.

use std::sync::Arc;

use kitbag::connect::raw::quoted;
use kitbag::{Answer, BoxFuture, CancellationToken, Question, QuestionKind, Responder};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::client::{Client, Out};

#[cfg(test)]
mod tests;

/// What a client says it can be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    kinds: Vec<QuestionKind>,
    /// In its own words.
    raw: Option<Box<RawValue>>,
    /// Whether it opens links for a person.
    has_links: bool,
    /// Whether it fills in forms with a person.
    has_forms: bool,
    /// Whether its model can be given tools.
    has_tools: bool,
}

impl Declared {
    /// By the capabilities it declares.
    pub(crate) fn read(capabilities: &Value) -> Self {
        let there = |key: &str| capabilities.get(key).filter(|value| !value.is_null());
        let all = [
            ("sampling", QuestionKind::Sampling),
            ("elicitation", QuestionKind::Elicitation),
            ("roots", QuestionKind::Roots),
        ];
        let kinds = all.into_iter().filter(|(key, _)| there(key).is_some()).map(|(_, kind)| kind).collect();
        let within = |key: &str, part: &str| {
            there(key).and_then(|value| value.get(part)).is_some_and(|part| !part.is_null())
        };
        let has_links = within("elicitation", "url");
        Self {
            kinds,
            raw: to_raw_value(capabilities).ok(),
            // Before there were links, an empty capability meant forms, and it still does.
            has_forms: within("elicitation", "form") || !has_links,
            has_links,
            has_tools: within("sampling", "tools"),
        }
    }

    pub(crate) fn raw(&self) -> Option<&RawValue> {
        self.raw.as_deref()
    }

    /// Why it cannot be asked this. Older servers are told of all that any client may answer.
    fn refuses(&self, question: &Question) -> Option<&'static str> {
        #[derive(Default, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            #[serde(default)]
            mode: Option<String>,
            #[serde(default)]
            tools: Option<serde::de::IgnoredAny>,
            #[serde(default)]
            tool_choice: Option<serde::de::IgnoredAny>,
        }
        let head: Head = serde_json::from_str(question.params.get()).unwrap_or_default();
        let is_link = head.mode.as_deref() == Some("url");
        match question.kind {
            QuestionKind::Elicitation if is_link && !self.has_links => Some("the client opens no links"),
            QuestionKind::Elicitation if !is_link && !self.has_forms => Some("the client fills in no forms"),
            QuestionKind::Sampling
                if !self.has_tools && (head.tools.is_some() || head.tool_choice.is_some()) =>
            {
                Some("the client's model takes no tools")
            }
            _ => None,
        }
    }
}

/// A question on its way to a client.
pub(crate) enum Asked {
    /// For a client of the older era: a request of ours, as it is written.
    Request(String),
    /// For one of the newer era, which is answered with it.
    Result(Unanswered),
}

/// A question that a client must come back from.
pub(crate) struct Unanswered {
    question: Question,
    /// Where its answer goes. Closed once nobody waits for that any more.
    pub(crate) reply: oneshot::Sender<Answer>,
}

impl Unanswered {
    /// As one of the `inputRequests` of a result.
    pub(crate) fn as_input(&self, key: &str) -> String {
        let (method, params) = (quoted(method(self.question.kind)), params(&self.question));
        format!(r#"{}:{{"method":{method},"params":{params}}}"#, quoted(key))
    }
}

fn method(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Sampling => "sampling/createMessage",
        QuestionKind::Elicitation => "elicitation/create",
        QuestionKind::Roots => "roots/list",
    }
}

/// Its parameters, an object in any case.
fn params(question: &Question) -> &str {
    Some(question.params.get()).filter(|params| params.starts_with('{')).unwrap_or("{}")
}

/// How a client is asked.
pub(crate) enum Way {
    /// By a request on this stream. Its answer comes by itself, also after the call whose stream it was.
    Request {
        client: Arc<Client>,
        out: Out,
        /// The client left the stream before its end: it may not have seen what was written there.
        left: CancellationToken,
    },
    /// By a result. Who makes the next call is not known, so each call has a person of its own.
    Result,
}

/// The responder of one request.
pub(crate) struct ToClient {
    declared: Declared,
    asked: mpsc::Sender<Asked>,
    way: Way,
}

impl ToClient {
    /// None where the client answers nothing.
    pub(crate) fn responder(
        declared: Declared,
        asked: mpsc::Sender<Asked>,
        way: Way,
    ) -> Option<Arc<dyn Responder>> {
        let answers_something = !declared.kinds.is_empty();
        answers_something.then(|| Arc::new(Self { declared, asked, way }) as Arc<dyn Responder>)
    }

    async fn ask(&self, question: Question) -> Answer {
        if let Some(why) = self.declared.refuses(&question) {
            return Err(why.to_owned());
        }
        // A server that does not say which call it asks about may mean one of this client's that has just ended.
        let untold = |error: TrySendError<Asked>| match error {
            TrySendError::Full(_) => "the client has too many questions to answer".to_owned(),
            TrySendError::Closed(_) => "not offered any more: the call has ended".to_owned(),
        };
        let gone = || Err("the client is gone".to_owned());
        match &self.way {
            Way::Request { client, out, left } => {
                let (_open, line, answer) = client.question(out, method(question.kind), params(&question));
                self.asked.try_send(Asked::Request(line)).map_err(untold)?;
                let answer = left.run_until_cancelled(answer).await;
                answer.and_then(Result::ok).unwrap_or_else(gone)
            }
            Way::Result => {
                let (reply, answer) = oneshot::channel();
                self.asked.try_send(Asked::Result(Unanswered { question, reply })).map_err(untold)?;
                answer.await.unwrap_or_else(|_| gone())
            }
        }
    }
}

impl Responder for ToClient {
    fn answers(&self) -> &[QuestionKind] {
        &self.declared.kinds
    }

    fn answer(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(self.ask(question))
    }

    fn capabilities(&self) -> Option<Box<RawValue>> {
        self.declared.raw.clone()
    }

    /// One client is one person, whichever of its calls it answers for.
    fn person(&self) -> usize {
        match &self.way {
            Way::Request { client, .. } => Arc::as_ptr(client).addr(),
            Way::Result => std::ptr::from_ref(self).addr(),
        }
    }
}
