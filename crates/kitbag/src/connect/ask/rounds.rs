//! Questions of a newer server, which are its result: the request is made again with what was answered.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::era::{self, Era};
use super::super::wire;
use super::offers::Offers;
use super::{Asked, Question, QuestionKind, leads_to_the_web, put};

/// Said of a call that goes on with another one where none waits.
pub(crate) const NOT_WAITING: &str = "no call waits for this answer: it was answered already, took too long, or is \
    somebody else's; make the call anew, without requestState and inputResponses";

/// What a caller brings that speaks for a client of the 2026-07-28 protocol. A result that asks for input is handed on to it
/// as received, and what its client answers comes with its next call: nothing is kept in between. Servers of the older
/// protocol ask whoever is the call's responder.
#[derive(Clone, Debug, Default)]
pub struct CallerInput {
    /// What the client declares that it can be asked (`clientCapabilities`). Its server is told of sampling, elicitation
    /// and roots in it, and of nothing else.
    pub capabilities: Option<Box<RawValue>>,
    /// What it answers (`inputResponses`).
    pub responses: Option<Box<RawValue>>,
    /// What the server wants to have back (`requestState`).
    pub state: Option<Box<RawValue>>,
}

impl CallerInput {
    /// Whether it goes on with a call that was made before.
    pub fn is_further(&self) -> bool {
        self.responses.is_some() || self.state.is_some()
    }

    pub(crate) fn declared(&self) -> Box<str> {
        self.capabilities.as_deref().map_or_else(|| "{}".into(), Offers::all_declared)
    }
}

/// What kind of result a newer server gave.
pub(crate) enum ResultType {
    /// What was asked for.
    Complete,
    /// A question in return.
    InputRequired,
    /// One that nobody here asked for.
    Unknown(String),
}

/// Looked at closely only when it may be another than the usual one.
pub(crate) fn result_type(result: &RawValue, era: Era) -> ResultType {
    static KEY: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new("\"resultType\""));
    let text = result.get().as_bytes();
    let is_usual = |at: usize| {
        let rest = text[at + KEY.needle().len()..].trim_ascii_start();
        let rest = rest.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
        rest.starts_with(b"\"complete\"")
    };
    if era == Era::Legacy || KEY.find_iter(text).all(is_usual) {
        return ResultType::Complete;
    }
    match era::key(result, "resultType").as_deref().map(RawValue::get) {
        None | Some("\"complete\"") => ResultType::Complete,
        Some("\"input_required\"") => ResultType::InputRequired,
        Some(other) => ResultType::Unknown(other.chars().take(40).collect()),
    }
}

/// A result that is a question in return.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired<'a> {
    #[serde(borrow, default)]
    input_requests: BTreeMap<String, InputRequest<'a>>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

/// One of the questions in it.
#[derive(Deserialize)]
struct InputRequest<'a> {
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl InputRequest<'_> {
    fn kind(&self) -> Result<QuestionKind, String> {
        QuestionKind::of(&self.method)
            .ok_or_else(|| format!("asks for {}, which is not available here", self.method))
    }
}

fn read(result: &RawValue) -> Result<InputRequired<'_>, String> {
    serde_json::from_str(result.get()).map_err(|_| "asks for input in a way that cannot be read".to_owned())
}

/// The parameters that answer such a result.
pub(crate) struct Responses {
    pub(crate) responses: Option<String>,
    pub(crate) state: Option<String>,
}

impl Responses {
    /// What a caller brings from its client.
    pub(crate) fn brought(input: &CallerInput) -> Option<Self> {
        let text = |raw: &Option<Box<RawValue>>| raw.as_deref().map(|raw| raw.get().to_owned());
        input.is_further().then(|| Self { responses: text(&input.responses), state: text(&input.state) })
    }
}

/// Answers every question in a result; why the call cannot go on otherwise.
pub(crate) async fn answer_all(result: &RawValue, asked: &Asked) -> Result<Responses, String> {
    let required = read(result)?;
    let mut responses = Vec::new();
    for (key, request) in &required.input_requests {
        let ask = request.kind()?;
        let params = request.params.unwrap_or(RawValue::NULL).to_owned();
        let (server, user) = (asked.server.clone(), asked.user.clone());
        let question = Question { server, user, tool: Some(asked.tool.clone()), kind: ask, params };
        let answer = put(asked, question)
            .await
            .map_err(|why| format!("asks for {}, which was refused: {why}", ask.as_str()))?;
        responses.push(format!("{}:{}", wire::quoted(key), answer.get()));
    }
    let state = required.request_state.map(|state| state.get().to_owned());
    Ok(Responses { responses: Some(format!("{{{}}}", responses.join(","))), state })
}

/// Whether a result may be handed on to the client that caused it: it asks for nothing that the client did not declare,
/// and leads it nowhere but to the web.
pub(crate) fn check_handed_on(result: &RawValue, input: &CallerInput) -> Result<(), String> {
    let offers = input.capabilities.as_deref().map(Offers::among).unwrap_or_default();
    for request in read(result)?.input_requests.values() {
        let ask = request.kind()?;
        if !offers.has(ask) {
            return Err(format!("asks for {}, which its caller does not offer", ask.as_str()));
        }
        if ask == QuestionKind::Elicitation && !request.params.is_none_or(leads_to_the_web) {
            return Err("asks to open a link that is neither http nor https".to_owned());
        }
    }
    Ok(())
}
