//! One request of a client on its way to a server and back. What the server tells meanwhile goes to the client, in order;
//! what it asks is put to the client as its era has it: as a request of ours, or as a result that the client comes back
//! from.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use kitbag::connect::CallerInput;
use kitbag::{CallOptions, CancellationToken, Notification};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use crate::answer::{Incoming, Speech};
use crate::ask::{Asked, Declared, ToClient, Unanswered, Way};
use crate::call::{level, tell};
use crate::client::{Client, Out};
use crate::parked::Claim;
use crate::rpc::{RpcError, code, raw};

#[cfg(test)]
mod tests;

/// How a request ends.
pub(crate) type Outcome = Result<Box<RawValue>, RpcError>;

/// What of a client's `_meta` is between it and us.
const OURS: &str = "io.modelcontextprotocol/";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Carries a request: `make` makes it, with the options it is given, and is dropped when the client is gone. Its id must not
/// be in use by this client.
pub(crate) async fn carry<F>(
    client: &Arc<Client>,
    request: &Incoming,
    out: &Out,
    make: impl FnOnce(CallOptions) -> F,
) -> Outcome
where
    F: Future<Output = Outcome> + Send + 'static,
{
    let running = client.begin(&request.id)?;
    let further = Further::read(request)?;
    let parked = further.name().filter(|name| client.parked.is_there(name));
    let taken = match &parked {
        Some(name) => client.parked.take(name, &claim(client, request)?),
        None => None,
    };
    let flight = match taken {
        Some(mut flight) => {
            flight.answered(&further);
            flight
        }
        None => Flight::begin(client, request, out, &further, make),
    };
    flight.go(client, request, out, &running.cancel).await
}

/// What a client of the newer era brings when it comes back with answers.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Further<'a> {
    #[serde(borrow, default)]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

impl<'a> Further<'a> {
    fn read(request: &'a Incoming) -> Result<Self, RpcError> {
        let wrong = |what: &str| RpcError::new(code::INVALID_PARAMS, format!("params.{what}"));
        if request.speech() == Speech::Legacy || !request.is_further {
            return Ok(Self::default());
        }
        let further: Self =
            serde_json::from_str(request.params.get()).map_err(|error| wrong(&error.to_string()))?;
        let is_readable =
            |raw| Self::results(raw).is_some_and(|all| all.values().all(|raw| raw.get().starts_with('{')));
        if !further.input_responses.is_none_or(is_readable) {
            return Err(wrong("inputResponses must be an object of results"));
        }
        if further.request_state.is_some_and(|raw| !raw.get().starts_with('"')) {
            return Err(wrong("requestState must be a string, as it was given"));
        }
        Ok(further)
    }

    fn name(&self) -> Option<String> {
        serde_json::from_str(self.request_state?.get()).ok()
    }

    /// By the key of their question.
    fn results(responses: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
        serde_json::from_str(responses.get()).ok()
    }

    fn responses(&self) -> BTreeMap<String, &'a RawValue> {
        self.input_responses.and_then(Self::results).unwrap_or_default()
    }
}

/// What a request is made with, whoever makes it: retries are the same but for what they bring.
fn claim(client: &Client, request: &Incoming) -> Result<Claim, RpcError> {
    let mut params: Map<String, Value> = serde_json::from_str(request.params.get())
        .map_err(|error| RpcError::new(code::INVALID_PARAMS, format!("invalid params: {error}")))?;
    for own in ["_meta", "inputResponses", "requestState"] {
        params.shift_remove(own);
    }
    let mut hash = Sha256::new();
    hash.update(request.method.as_bytes());
    hash.update([0]);
    hash.update(in_order(Value::Object(params)).to_string());
    Ok(Claim { user: client.user.clone(), scope: client.scope.clone(), request: hash.finalize().into() })
}

/// The same with all keys in order: a client may write them anew.
fn in_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<String, Value> =
                fields.into_iter().map(|(key, value)| (key, in_order(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(in_order).collect(),
        plain => plain,
    }
}

/// A request that is made, with all that comes back from its server meanwhile. Dropped, it is cancelled.
pub(crate) struct Flight {
    call: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    notes: mpsc::Receiver<Notification>,
    asked: mpsc::Receiver<Asked>,
    cancel: CancellationToken,
    /// Questions its client was answered with, by their key.
    open: BTreeMap<String, Unanswered>,
    /// How many there were.
    questions: usize,
    /// How often its client was answered with some.
    rounds: usize,
    /// Tells whoever waits for an answer on its stream that the client has left it.
    left: Option<DropGuard>,
}

impl Flight {
    fn begin<F>(
        client: &Arc<Client>,
        request: &Incoming,
        out: &Out,
        further: &Further<'_>,
        make: impl FnOnce(CallOptions) -> F,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let limits = client.kit.limits();
        let (told, notes) = mpsc::channel(limits.notes);
        let (ask, asked) = mpsc::channel(limits.questions.max(1));
        let declared =
            |meta: &Map<String, Value>| Declared::read(meta.get(CAPABILITIES_KEY).unwrap_or(&Value::Null));
        let left = CancellationToken::new();
        let (declared, way) = match request.speech() {
            Speech::Legacy => {
                let (client, out, left) = (client.clone(), out.clone(), left.clone());
                (client.declared(), Way::Request { client, out, left })
            }
            Speech::Modern => (declared(&request.meta), Way::Result),
        };
        let input = (request.speech() == Speech::Modern).then(|| CallerInput {
            capabilities: declared.raw().map(RawValue::to_owned),
            responses: further.input_responses.map(RawValue::to_owned),
            state: further.request_state.map(RawValue::to_owned),
        });
        let cancel = CancellationToken::new();
        let options = CallOptions {
            meta: passed_on(&request.meta),
            notifications: Some(told),
            responder: ToClient::responder(declared, ask, way),
            input,
            cancel: Some(cancel.clone()),
            log_level: level(client, request),
            ..CallOptions::default()
        };
        let call = Box::pin(make(options));
        let (open, left) = (BTreeMap::new(), Some(left.drop_guard()));
        Self { call, notes, asked, cancel, open, questions: 0, rounds: 0, left }
    }

    /// Hands the answers of its client to whoever asked.
    fn answered(&mut self, further: &Further<'_>) {
        for (key, result) in further.responses() {
            if let Some(asked) = self.open.remove(&key) {
                // Whoever gave up waiting needs no answer.
                let _ = asked.reply.send(Ok(result.to_owned()));
            }
        }
    }

    /// Goes on until there is a result, or a question that its client must come back from.
    async fn go(
        mut self,
        client: &Arc<Client>,
        request: &Incoming,
        out: &Out,
        cancelled: &CancellationToken,
    ) -> Outcome {
        let (mut has_notes, mut has_questions, mut is_cancelled) = (true, true, false);
        let done = loop {
            if !self.open.is_empty() {
                match self.park(client, request) {
                    Parking::Waits(question) => return question,
                    Parking::GoesOn(flight) => self = flight,
                }
            }
            tokio::select! {
                biased;
                note = self.notes.recv(), if has_notes => match note {
                    Some(note) => tell(client, request, out, &note).await,
                    None => has_notes = false,
                },
                asked = self.asked.recv(), if has_questions => match asked {
                    // A client that is gone answers nothing; its call is cancelled with its request.
                    Some(Asked::Request(line)) => drop(out.send(line).await),
                    Some(Asked::Result(asked)) => self.keep(asked),
                    None => has_questions = false,
                },
                () = cancelled.cancelled(), if !is_cancelled => {
                    self.cancel.cancel();
                    is_cancelled = true;
                }
                done = &mut self.call => break done,
            }
        };
        while let Ok(note) = self.notes.try_recv() {
            tell(client, request, out, &note).await;
        }
        // Of a server that does not say which call it asks about it may be another call's of this client.
        while let Ok(Asked::Request(line)) = self.asked.try_recv() {
            let _ = out.send(line).await;
        }
        // What it was asked it answers without the stream.
        self.left.take().map(DropGuard::disarm);
        done
    }

    /// Keeps a question for its client.
    fn keep(&mut self, asked: Unanswered) {
        self.questions += 1;
        self.open.insert(format!("question-{}", self.questions), asked);
    }

    /// Lets the call wait for its client.
    fn park(mut self, client: &Client, request: &Incoming) -> Parking {
        while let Ok(Asked::Result(asked)) = self.asked.try_recv() {
            self.keep(asked);
        }
        self.open.retain(|_, asked| !asked.reply.is_closed());
        if self.open.is_empty() {
            return Parking::GoesOn(self);
        }
        let limits = client.kit.limits();
        self.rounds += 1;
        if limits.rounds < self.rounds {
            return self.refuse("this call has asked too often");
        }
        let requests: Vec<String> = self.open.iter().map(|(key, asked)| asked.as_input(key)).collect();
        let Ok(claim) = claim(client, request) else { return self.refuse("the call cannot wait") };
        let name = match client.parked.park(&claim, self, &limits) {
            Ok(name) => name,
            Err(flight) => return flight.refuse("too many calls wait for their client"),
        };
        let requests = requests.join(",");
        let question = format!(
            r#"{{"resultType":"input_required","inputRequests":{{{requests}}},"requestState":"{name}"}}"#
        );
        Parking::Waits(raw(question))
    }

    /// Answers every open question with why there is no answer.
    fn refuse(mut self, why: &str) -> Parking {
        for (_, asked) in std::mem::take(&mut self.open) {
            let _ = asked.reply.send(Err(why.to_owned()));
        }
        Parking::GoesOn(self)
    }
}

/// What became of a call whose server asks.
enum Parking {
    /// Its client was told, and must come back.
    Waits(Outcome),
    GoesOn(Flight),
}

/// The client's own words for the server; not those that are between it and us.
fn passed_on(meta: &Map<String, Value>) -> Map<String, Value> {
    let is_theirs = |key: &str| key != "progressToken" && !key.starts_with(OURS);
    meta.iter().filter(|(key, _)| is_theirs(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}
