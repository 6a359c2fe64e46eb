//! What a server may ask of whoever called it, in the middle of a call: a model's words, a person's input,
//! the folders it may look at. Refused unless somebody is there to answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kitbag_core::{ServerName, UserId};
use serde::Deserialize;
use serde_json::value::RawValue;

mod offers;
mod rounds;

pub(crate) use offers::Offers;
pub use rounds::CallerInput;
pub(crate) use rounds::{NOT_WAITING, Responses, ResultType, answer_all, check_handed_on, result_type};

#[cfg(test)]
mod tests;

/// The kind of a server's [`Question`]: sampling, elicitation or roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// Words of a model (`sampling/createMessage`).
    Sampling,
    /// Input of a person (`elicitation/create`).
    Elicitation,
    /// The folders a server may look at (`roots/list`).
    Roots,
}

impl QuestionKind {
    pub(crate) fn of(method: &str) -> Option<Self> {
        match method {
            "sampling/createMessage" => Some(Self::Sampling),
            "elicitation/create" => Some(Self::Elicitation),
            "roots/list" => Some(Self::Roots),
            _ => None,
        }
    }

    /// By the capability that whoever answers such questions declares.
    pub(crate) fn declared_as(capability: &str) -> Option<Self> {
        [Self::Sampling, Self::Elicitation, Self::Roots].into_iter().find(|kind| kind.as_str() == capability)
    }

    /// That nobody answers such a question, and why where that is always the same.
    pub(crate) fn not_offered(self) -> String {
        let why = if self == Self::Sampling { ": no model is configured for it" } else { "" };
        format!("{} is not offered{why}", self.as_str())
    }

    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
        }
    }
}

/// A request that a server makes of its client during a call.
#[derive(Clone, Debug)]
pub struct Question {
    /// Who asks.
    pub server: ServerName,
    /// For whom the call is made that caused it.
    pub user: UserId,
    /// In which call, by the server's own name of the tool; none when several of the same caller are in flight
    /// and the server does not say.
    pub tool: Option<String>,
    /// What it asks for.
    pub kind: QuestionKind,
    /// With what, as received.
    pub params: Box<RawValue>,
}

/// The answer to a question: a result as the protocol has it, or why there is none.
pub type Answer = Result<Box<RawValue>, String>;

/// Answers what servers ask during a call: sampling, elicitation, roots. See [`crate::OpenOptions::responder`] and
/// [`crate::CallOptions::responder`].
///
/// ```
/// use kitbag::{Answer, BoxFuture, Question, QuestionKind, Responder};
/// use serde_json::value::to_raw_value;
///
/// /// Declines every form.
/// struct Decline;
///
/// impl Responder for Decline {
///     fn answers(&self) -> &[QuestionKind] {
///         &[QuestionKind::Elicitation]
///     }
///
///     fn answer(&self, _question: Question) -> BoxFuture<'_, Answer> {
///         let answer = serde_json::json!({"action": "decline"});
///         Box::pin(async move { to_raw_value(&answer).map_err(|error| error.to_string()) })
///     }
/// }
/// ```
pub trait Responder: Send + Sync + 'static {
    /// What it answers at all. Servers are told, and ask for nothing else.
    fn answers(&self) -> &[QuestionKind];

    /// Answers one question. The call waits for it, up to its total clock.
    fn answer(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// The capabilities of whoever it speaks for, in the protocol's words, as far as they say more than [`Self::answers`]:
    /// `{"elicitation":{"form":{}}}`. Servers of the 2026-07-28 protocol are told, of what it answers.
    fn capabilities(&self) -> Option<Box<RawValue>> {
        None
    }

    /// Tells responders apart; one that only hands on to another is that other.
    #[doc(hidden)]
    fn person(&self) -> usize {
        std::ptr::from_ref(self).cast::<()>().addr()
    }
}

/// Who answers for one call, and for whom it is made.
pub(crate) struct Asked {
    responder: Arc<dyn Responder>,
    offers: Offers,
    /// The same in the protocol's words, as newer servers are told.
    capabilities: Box<str>,
    person: usize,
    pub(crate) server: ServerName,
    pub(crate) tool: String,
    pub(crate) user: UserId,
}

impl Asked {
    /// Asks the responder here, in the task of its call, for all that must be known of it later: whoever reads what a
    /// server says runs no code of others. One that panics answers nothing.
    pub(crate) fn new(
        responder: &Arc<dyn Responder>,
        server: &ServerName,
        tool: &str,
        user: &UserId,
    ) -> Self {
        let told = || (Offers::of(responder.answers()), responder.person(), responder.capabilities());
        let (offers, person, declared) = catch_unwind(AssertUnwindSafe(told)).unwrap_or_default();
        let capabilities =
            declared.map_or_else(|| offers.json().into(), |declared| offers.declared(&declared));
        let (responder, server, tool) = (responder.clone(), server.clone(), tool.to_owned());
        Self { responder, offers, capabilities, person, server, tool, user: user.clone() }
    }

    /// What may be asked for, as newer servers are told.
    pub(crate) fn capabilities(&self) -> &str {
        &self.capabilities
    }

    /// Who answers.
    pub(crate) fn person(&self) -> usize {
        self.person
    }

    pub(crate) fn answers(&self, ask: QuestionKind) -> bool {
        self.offers.has(ask)
    }

    /// Whether both are answered for by the same person.
    pub(crate) fn is_same_person(&self, other: &Self) -> bool {
        self.person == other.person && self.user == other.user
    }
}

/// Puts a question to whoever answers; the answer in the protocol's words, or why there is none.
pub(crate) async fn put(asked: &Asked, question: Question) -> Result<Box<RawValue>, String> {
    let ask = question.kind;
    if !asked.answers(ask) {
        return Err(ask.not_offered());
    }
    // A link is for a person to open in a browser; anything but the web's own kind would be a trap.
    if ask == QuestionKind::Elicitation && !leads_to_the_web(&question.params) {
        return Err("only http and https links are passed on".to_owned());
    }
    // Others' code: one that panics has no answer, and the call goes on.
    let answer = AssertUnwindSafe(async { asked.responder.answer(question).await }).catch_unwind().await;
    match answer.unwrap_or_else(|_| Err("the responder panicked".to_owned())) {
        Err(_) if ask == QuestionKind::Elicitation => {
            RawValue::from_string(r#"{"action":"decline"}"#.to_owned()).map_err(|error| error.to_string())
        }
        answer => answer,
    }
}

fn leads_to_the_web(params: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Form {
        #[serde(default)]
        url: Option<String>,
    }
    let web = |url: &str| {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    };
    serde_json::from_str::<Form>(params.get()).is_ok_and(|form| form.url.is_none_or(|url| web(&url)))
}
