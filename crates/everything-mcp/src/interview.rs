//! Requests that ask their client something before they are answered. What is asked is said once: the newer era answers
//! with the questions and hears the same request again, the older one is asked while its request waits.

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, ErrorCode, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    JsonObject, RequestStateCodec, RequestStateError,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::{Value, json};

use crate::plain::text;
use crate::prompts::messages;

/// The prompt that asks for its context.
pub(crate) const PROMPT: &str = "test_input_required_result_prompt";

/// What a state says that was handed out.
const CONFIRM: &[u8] = b"confirm";
const FIRST: &[u8] = b"first";
const SECOND: &[u8] = b"second";

/// What is known when a request comes, or comes again.
pub(crate) struct Heard<'a> {
    pub(crate) arguments: &'a JsonObject,
    pub(crate) answers: &'a InputResponses,
    pub(crate) state: Option<&'a str>,
    pub(crate) can: ClientCapabilities,
}

/// What comes next.
pub(crate) enum Next {
    Ask(InputRequiredResult),
    Answer(Value),
}

/// Reads and makes states that nobody else can make.
pub(crate) fn states() -> Result<RequestStateCodec, RequestStateError> {
    RequestStateCodec::try_new(b"a key that only this test server knows".as_slice())
}

/// What a tool or prompt of this name does next; nothing for one that asks nobody.
pub(crate) fn next(
    name: &str,
    heard: &Heard<'_>,
    states: &RequestStateCodec,
) -> Option<Result<Next, ErrorData>> {
    let said = |key: &str| heard.arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let one = |key: &str, question: Value, answer: &dyn Fn(&Value) -> Value| heard.one(key, question, answer);
    Some(match name {
        "test_sampling" => one("model", sample(said("prompt"), 100), &llm),
        "test_elicitation" => {
            one("user", elicit(said("message"), &user()), &|answer| told("User response", answer))
        }
        "test_elicitation_sep1034_defaults" => {
            let question = elicit("Please check these values", &defaults());
            one("values", question, &|answer| told("Elicitation completed", answer))
        }
        "test_elicitation_sep1330_enums" => {
            let question = elicit("Please choose", &choices());
            one("choices", question, &|answer| told("Elicitation completed", answer))
        }
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => heard.name(),
        "test_input_required_result_sampling" => {
            one("capital_question", sample("What is the capital of France?", 100), &llm)
        }
        "test_input_required_result_list_roots" => {
            one("client_roots", roots(), &|answer| text(&format!("Roots: {}", answer["roots"])))
        }
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            heard.confirm(states)
        }
        "test_input_required_result_multiple_inputs" => heard.three(states),
        "test_input_required_result_multi_round" => heard.rounds(states),
        "test_input_required_result_capabilities" => heard.possible(),
        "test_missing_capability" => one("model", sample("Are you there?", 10), &llm),
        PROMPT => {
            let question =
                elicit("What context should the prompt use?", &properties(&[("context", "string")]));
            let prompt = |answer: &Value| {
                let text = format!("Prompt with context: {}", answer["content"]["context"]);
                messages(&[json!({"type": "text", "text": text})])
            };
            one("user_context", question, &prompt)
        }
        _ => return None,
    })
}

impl Heard<'_> {
    /// One question, whose answer makes the result.
    fn one(&self, key: &str, question: Value, answer: &dyn Fn(&Value) -> Value) -> Result<Next, ErrorData> {
        match self.answers.get(key).filter(|answer| answer.is_object()) {
            Some(heard) => Ok(Next::Answer(answer(heard))),
            None => self.ask(&[(key, question)], None),
        }
    }

    fn name(&self) -> Result<Next, ErrorData> {
        let question = elicit("What is your name?", &properties(&[("name", "string")]));
        match self.answers.get("user_name").and_then(|answer| answer["content"]["name"].as_str()) {
            Some(name) => Ok(Next::Answer(text(&format!("Hello, {name}!")))),
            None => self.ask(&[("user_name", question)], None),
        }
    }

    fn confirm(&self, states: &RequestStateCodec) -> Result<Next, ErrorData> {
        let question = elicit("Please confirm", &properties(&[("ok", "boolean")]));
        match (self.answers.get("confirm"), self.state) {
            (Some(_), state) => {
                opened(states, state, CONFIRM)?;
                Ok(Next::Answer(text("state-ok")))
            }
            (None, _) => self.ask(&[("confirm", question)], Some(states.seal(CONFIRM))),
        }
    }

    fn three(&self, states: &RequestStateCodec) -> Result<Next, ErrorData> {
        let name = elicit("What is your name?", &properties(&[("name", "string")]));
        let questions =
            [("user_name", name), ("greeting", sample("Generate a greeting", 50)), ("client_roots", roots())];
        if questions.iter().any(|(key, _)| !self.answers.contains_key(*key)) {
            return self.ask(&questions, Some(states.seal(CONFIRM)));
        }
        opened(states, self.state, CONFIRM)?;
        let all: Vec<String> = questions.iter().map(|(key, _)| self.answers[*key].to_string()).collect();
        Ok(Next::Answer(text(&all.join(" "))))
    }

    fn rounds(&self, states: &RequestStateCodec) -> Result<Next, ErrorData> {
        let first = elicit("Step 1: What is your name?", &properties(&[("name", "string")]));
        let second = elicit("Step 2: What is your favorite color?", &properties(&[("color", "string")]));
        if let Some(color) = self.answers.get("step2") {
            opened(states, self.state, SECOND)?;
            return Ok(Next::Answer(text(&format!("The color is {}", color["content"]["color"]))));
        }
        if self.answers.contains_key("step1") {
            opened(states, self.state, FIRST)?;
            return self.ask(&[("step2", second)], Some(states.seal(SECOND)));
        }
        self.ask(&[("step1", first)], Some(states.seal(FIRST)))
    }

    /// Everything the client can be asked, at once.
    fn possible(&self) -> Result<Next, ErrorData> {
        let mut questions = Vec::new();
        if self.can.elicitation.is_some() {
            questions.push(("user_name", elicit("What is your name?", &properties(&[("name", "string")]))));
        }
        if self.can.sampling.is_some() {
            questions.push(("greeting", sample("Generate a greeting", 50)));
        }
        if questions.is_empty() || questions.iter().all(|(key, _)| self.answers.contains_key(*key)) {
            return Ok(Next::Answer(text(&format!("{} answers", questions.len()))));
        }
        self.ask(&questions, None)
    }

    /// Asks what the client says it can be asked, and nothing else.
    fn ask(&self, questions: &[(&str, Value)], state: Option<String>) -> Result<Next, ErrorData> {
        let mut asked = InputRequests::new();
        for (key, question) in questions {
            let question: InputRequest = parse(question.clone())?;
            self.check(&question)?;
            asked.insert((*key).to_owned(), question);
        }
        Ok(Next::Ask(InputRequiredResult::new(Some(asked), state)))
    }

    fn check(&self, question: &InputRequest) -> Result<(), ErrorData> {
        let (is_there, needed) = match question {
            InputRequest::CreateMessage(_) => (self.can.sampling.is_some(), json!({"sampling": {}})),
            InputRequest::Elicitation(_) => (self.can.elicitation.is_some(), json!({"elicitation": {}})),
            _ => (self.can.roots.is_some(), json!({"roots": {}})),
        };
        match is_there {
            true => Ok(()),
            false => Err(ErrorData::missing_required_client_capability(parse(needed)?)),
        }
    }
}

/// Asks a client of the older era, which answers while its request waits.
pub(crate) async fn ask(
    peer: &Peer<RoleServer>,
    questions: InputRequests,
) -> Result<InputResponses, ErrorData> {
    let mut answers = InputResponses::new();
    for (key, question) in questions {
        let refused = |error: rmcp::ServiceError| {
            ErrorData::new(ErrorCode::INTERNAL_ERROR, format!("the client did not answer: {error}"), None)
        };
        let answer = match question {
            InputRequest::CreateMessage(request) => {
                written(&peer.create_message(request.params).await.map_err(refused)?)?
            }
            InputRequest::Elicitation(request) => {
                written(&peer.create_elicitation(request.params).await.map_err(refused)?)?
            }
            _ => written(&peer.list_roots().await.map_err(refused)?)?,
        };
        answers.insert(key, answer);
    }
    Ok(answers)
}

fn written(value: &impl serde::Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A value as the SDK's type for it.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn opened(states: &RequestStateCodec, state: Option<&str>, expected: &[u8]) -> Result<(), ErrorData> {
    let opened = state.and_then(|state| states.open(state).ok());
    let wrong = || ErrorData::invalid_params("requestState is not what was handed out", None);
    opened.filter(|state| state == expected).map(drop).ok_or_else(wrong)
}

fn llm(answer: &Value) -> Value {
    let content = &answer["content"];
    let text_of = content["text"].as_str().or_else(|| content[0]["text"].as_str());
    text(&format!("LLM response: {}", text_of.unwrap_or("none")))
}

fn told(what: &str, answer: &Value) -> Value {
    let action = answer["action"].as_str().unwrap_or("none");
    text(&format!("{what}: action={action}, content={}", answer["content"]))
}

fn sample(prompt: &str, tokens: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

fn elicit(message: &str, schema: &Value) -> Value {
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

fn properties(rows: &[(&str, &str)]) -> Value {
    let fields: JsonObject =
        rows.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
    let required: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": fields, "required": required})
}

fn user() -> Value {
    let field = |about: &str| json!({"type": "string", "description": about});
    let fields = json!({"username": field("User's response"), "email": field("User's email address")});
    json!({"type": "object", "properties": fields, "required": ["username", "email"]})
}

fn defaults() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Whether it is verified", "default": true},
    }})
}

fn choices() -> Value {
    let titled = |word: &str| {
        let rows = [("value1", "First"), ("value2", "Second"), ("value3", "Third")];
        rows.map(|(value, title)| json!({"const": value, "title": format!("{title} {word}")}))
    };
    let plain = ["option1", "option2", "option3"];
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }})
}
