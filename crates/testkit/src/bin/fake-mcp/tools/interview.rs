//! A call that asks more than one thing, at once or one after the other, each question with the token of its call: an
//! answer that comes to another call, or a question that comes to another client, is found out by its token.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Done;
use super::ask::is_offered;
use crate::out::Kind;
use crate::server::{Answer, Server};
use crate::wire::{self, Request, Speech};

/// What a call of `ask` with a token asks.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Script {
    pub(super) token: Option<String>,
    /// What is asked at once: sampling, elicitation, roots.
    kinds: Option<Vec<String>>,
    /// How often.
    times: Option<usize>,
    /// After how many milliseconds a question is taken back; the call then ends without an answer.
    withdraw: Option<u64>,
    /// Whether it reports progress before each question.
    progress: bool,
}

impl Script {
    fn kinds(&self) -> Vec<String> {
        self.kinds.clone().unwrap_or_else(|| vec!["elicitation".to_owned()])
    }

    fn times(&self) -> usize {
        self.times.unwrap_or(1)
    }

    /// Method and parameters of one question.
    fn question(&self, kind: &str, round: usize) -> Option<(&'static str, Value)> {
        let text = format!("{} {round}", self.token.as_deref().unwrap_or_default());
        match kind {
            "elicitation" => Some((
                "elicitation/create",
                json!({"mode": "form", "message": text, "requestedSchema":
                    {"type": "object", "properties": {"name": {"type": "string"}}}}),
            )),
            "sampling" => {
                let content = json!({"type": "text", "text": text});
                let messages = json!([{"role": "user", "content": content}]);
                Some(("sampling/createMessage", json!({"messages": messages, "maxTokens": 16})))
            }
            "roots" => Some(("roots/list", json!({"_meta": {"token": text}}))),
            _ => None,
        }
    }
}

/// A call of the older era between its questions.
pub(crate) struct Interview {
    call: String,
    token: Option<String>,
    server: Arc<Server>,
    script: Script,
    round: usize,
    /// The answers of this round, by the number of their question.
    got: BTreeMap<usize, Value>,
    answers: Vec<Value>,
}

/// Whether it is part of this call.
pub(crate) fn is_of(interview: &Mutex<Interview>, call: &str) -> bool {
    lock(interview).call == call
}

pub(super) fn begin(server: &Arc<Server>, request: &Request<'_>, script: Script) -> Done {
    if script.kinds().iter().any(|kind| script.question(kind, 0).is_none()) {
        return Done::BadArguments;
    }
    if request.speech == Speech::Modern {
        return modern(server, request, &script);
    }
    let call = request.id.to_owned();
    let token = request.params.meta.progress_token.map(|token| token.get().to_owned());
    let (server, got, answers) = (Arc::clone(server), BTreeMap::new(), Vec::new());
    ask(&Arc::new(Mutex::new(Interview { call, token, server, script, round: 0, got, answers })));
    Done::Elsewhere
}

/// Asks what there is to ask in a round.
fn ask(interview: &Arc<Mutex<Interview>>) {
    let (server, withdraw, ids) = {
        let it = lock(interview);
        let mut ids = Vec::new();
        if let Some(token) = it.token.as_deref().filter(|_| it.script.progress) {
            let mut line = Vec::new();
            wire::progress(&mut line, token, it.round + 1, it.script.times());
            it.server.out.put(Kind::Note, &line);
        }
        for (number, kind) in it.script.kinds().iter().enumerate() {
            let Some((method, params)) = it.script.question(kind, it.round) else { continue };
            let id = wire::quoted(&format!("interview/{}/{}/{number}", it.call, it.round));
            it.server.state().interviews.insert(id.clone(), Arc::clone(interview));
            it.server.out.put(Kind::Note, &wire::request(&id, method, &params.to_string()));
            ids.push(id);
        }
        (Arc::clone(&it.server), it.script.withdraw, ids)
    };
    server.out.flush();
    let Some(ms) = withdraw else { return };
    let (own, interview) = (Arc::clone(&server), Arc::clone(interview));
    server.later.after(Duration::from_millis(ms), move || {
        for id in &ids {
            own.state().interviews.remove(id);
            own.out
                .put(Kind::Note, &wire::note("notifications/cancelled", &format!("{{\"requestId\":{id}}}")));
        }
        let call = lock(&interview).call.clone();
        own.answer_call(&wire::text_result(&call, Speech::Legacy, "\"withdrawn\""));
        own.out.flush();
        own.events.note(&["withdrawn"]);
    });
}

/// Takes an answer of the client; whether it was one to a question of these.
pub(super) fn answered(server: &Server, id: &str, answer: Answer<'_>) -> bool {
    let Some(interview) = server.state().interviews.remove(id) else { return false };
    let (Answer::Result(raw) | Answer::Error(raw)) = answer;
    let number = wire::bare_text(id).rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let goes_on = {
        let mut it = lock(&interview);
        it.got.insert(number, serde_json::from_str(raw.get()).unwrap_or_default());
        if it.got.len() < it.script.kinds().len() {
            return true;
        }
        let round = std::mem::take(&mut it.got).into_values().collect();
        it.answers.push(round);
        it.round += 1;
        it.round < it.script.times()
    };
    if goes_on {
        ask(&interview);
        return true;
    }
    let it = lock(&interview);
    it.server.events.note(&["interviewed", it.script.token.as_deref().unwrap_or_default()]);
    let text = wire::quoted(&Value::from(it.answers.clone()).to_string());
    it.server.answer_call(&wire::text_result(&it.call, Speech::Legacy, &text));
    it.server.out.flush();
    true
}

/// The newer era keeps nothing between the rounds: what was answered before stands in the state.
fn modern(server: &Arc<Server>, request: &Request<'_>, script: &Script) -> Done {
    let state = request.params.request_state.map(|raw| wire::bare_text(raw.get()));
    let mut answers: Vec<Value> =
        state.and_then(|state| serde_json::from_str(&state).ok()).unwrap_or_default();
    if let Some(responses) = request.params.input_responses {
        let given: BTreeMap<String, Value> = serde_json::from_str(responses.get()).unwrap_or_default();
        answers.push(given.into_values().collect());
    }
    if script.times() <= answers.len() {
        server.events.note(&["interviewed", script.token.as_deref().unwrap_or_default()]);
        let text = wire::quoted(&Value::from(answers).to_string());
        return Done::Answer(wire::text_result(request.id, request.speech, &text));
    }
    let mut requests = serde_json::Map::new();
    for (number, kind) in script.kinds().iter().enumerate() {
        let Some((method, params)) = script.question(kind, answers.len()) else { continue };
        if !is_offered(request, method) {
            let text = wire::quoted(&format!("the client does not offer {method}"));
            return Done::Answer(wire::text_result(request.id, request.speech, &text));
        }
        requests.insert(format!("{number} {kind}"), json!({"method": method, "params": params}));
    }
    let (id, requests) = (request.id, Value::Object(requests));
    // Written in a way that nobody who reads and writes it anew would choose.
    let state = wire::escaped(&wire::quoted(&Value::from(answers).to_string()));
    let result = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"inputRequests\":{requests},\"requestState\":{state},\
         \"resultType\":\"input_required\"}}}}\n"
    );
    Done::Answer(result.into_bytes())
}

fn lock(interview: &Mutex<Interview>) -> MutexGuard<'_, Interview> {
    interview.lock().unwrap_or_else(PoisonError::into_inner)
}
