//! A kit with two servers inside this process, an older and a newer one, whose tool asks as often as it is told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kitbag::connect::raw::quoted;
use kitbag::{CancellationToken, Env, Kitbag, Limits, OpenOptions, QuestionKind, ServerName, Setup, UserId};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{mpsc, oneshot};

use super::{Incoming, Outcome, Speech};
use crate::answer::{MODERN, answer};
use crate::client::{Client, Out};
use crate::endpoint::{Endpoint, EndpointOptions, Scope};

/// All that a client can be asked.
pub(super) fn everything() -> Value {
    json!({"sampling": {}, "elicitation": {"form": {}}, "roots": {}})
}

/// What the servers did.
#[derive(Default)]
pub(super) struct Ledger {
    /// How often the work of each token was finished.
    pub(super) finished: Mutex<HashMap<String, usize>>,
    /// How many calls the servers were told to stop.
    pub(super) cancelled: Mutex<usize>,
    /// Answers that came to a call with another token.
    pub(super) strayed: Mutex<Vec<String>>,
}

pub(super) struct Stage {
    pub(super) kit: Kitbag,
    pub(super) endpoint: Endpoint,
    pub(super) ledger: Arc<Ledger>,
}

impl Stage {
    pub(super) async fn new() -> Self {
        Self::within(Limits::default()).await
    }

    pub(super) async fn within(limits: Limits) -> Self {
        let ledger = Arc::new(Ledger::default());
        let server = |name: &str, speech: Speech| {
            let ledger = ledger.clone();
            let serve = move |io: DuplexStream| serve(io, speech, ledger.clone());
            kitbag::in_process(ServerName::parse(name).unwrap(), serve)
        };
        let servers = vec![server("old", Speech::Legacy), server("new", Speech::Modern)];
        let answers = vec![QuestionKind::Sampling, QuestionKind::Elicitation, QuestionKind::Roots];
        let options = OpenOptions { answers, limits: Some(limits), ..OpenOptions::default() };
        let (kit, faults) =
            Kitbag::open_with(Setup::from_specs(Env::default(), servers), options).await.unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        let endpoint = Endpoint::new(kit.clone(), EndpointOptions::default());
        Self { kit, endpoint, ledger }
    }

    /// A client that has said what it can be asked.
    pub(super) fn client(&self, user: &str) -> Arc<Client> {
        let user = UserId::parse(user).unwrap();
        let client = Client::new(self.endpoint.clone(), self.kit.clone(), user, Scope::Everything);
        client.offers(&everything());
        client
    }

    /// One request of a newer client that makes a server ask.
    pub(super) async fn ask(
        &self,
        client: &Arc<Client>,
        server: &str,
        token: &str,
        times: usize,
        capabilities: &Value,
    ) -> Outcome {
        let params = work(server, token, times);
        let request = incoming(&json!(token), &params, capabilities, Speech::Modern);
        answer(client, &request, &mpsc::channel(64).0).await
    }

    /// Calls on their way to any server.
    pub(super) fn in_flight(&self) -> usize {
        self.kit.links().iter().map(kitbag::connect::Link::in_flight).sum()
    }

    /// Waits for something that must happen.
    pub(super) async fn until(&self, mut done: impl FnMut() -> bool) {
        let waits = async {
            while !done() {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(Duration::from_secs(60), waits).await.is_ok(), "it never happened");
    }

    pub(super) async fn close(self) {
        self.kit.close().await;
    }
}

/// The parameters of a call of the one tool there is.
pub(super) fn work(server: &str, token: &str, times: usize) -> Value {
    json!({"name": format!("{server}_work"), "arguments": {"token": token, "times": times}})
}

pub(super) fn incoming(id: &Value, params: &Value, capabilities: &Value, speech: Speech) -> Incoming {
    let mut params = params.clone();
    if speech == Speech::Modern {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    }
    Incoming::new(&to_raw_value(id).unwrap(), "tools/call", Some(&to_raw_value(&params).unwrap())).unwrap()
}

/// Makes a request as an older client does, in a task of its own.
pub(super) async fn request(client: Arc<Client>, request: Incoming, out: Out) -> Outcome {
    answer(&client, &request, &out).await
}

/// What every client answers to every question: the token in it.
pub(super) fn answer_of(question: &Value) -> Value {
    json!({"action": "accept", "content": {"name": question["params"]["message"]}})
}

/// Calls that an older server is working on, by the id of the request.
type Working = Arc<Mutex<HashMap<String, CancellationToken>>>;
/// Questions of an older server, each with whoever waits for the answer.
type Questions = Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>;

async fn serve(io: DuplexStream, speech: Speech, ledger: Arc<Ledger>) {
    let (input, mut output) = tokio::io::split(io);
    let (out, mut written) = mpsc::channel::<String>(256);
    let (working, questions) = (Working::default(), Questions::default());
    let write = async move {
        while let Some(line) = written.recv().await {
            if output.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                return;
            }
        }
    };
    let read = async move {
        let mut lines = BufReader::new(input).lines();
        let mut calls = tokio::task::JoinSet::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let (id, params) = (message["id"].clone(), message["params"].clone());
            match message["method"].as_str() {
                Some("tools/call") if speech == Speech::Legacy => {
                    let stop = CancellationToken::new();
                    working.lock().unwrap().insert(id.to_string(), stop.clone());
                    let (out, questions, ledger) = (out.clone(), questions.clone(), ledger.clone());
                    calls.spawn(async move {
                        let work = older(&id, &params, &out, &questions, &ledger);
                        stop.run_until_cancelled(work).await;
                    });
                }
                Some("tools/call") => newer(&id, &params, &out, &ledger).await,
                Some("notifications/cancelled") => {
                    let call = working.lock().unwrap().remove(&params["requestId"].to_string());
                    call.iter().for_each(CancellationToken::cancel);
                    *ledger.cancelled.lock().unwrap() += 1;
                }
                Some(method) if !id.is_null() => drop(out.send(opening(&id, method, speech)).await),
                Some(_) => {}
                None => {
                    let waiting = questions.lock().unwrap().remove(&id.to_string());
                    let _ = waiting.map(|waiting| waiting.send(message));
                }
            }
        }
    };
    tokio::join!(write, read);
}

fn opening(id: &Value, method: &str, speech: Speech) -> String {
    let is_newer = speech == Speech::Modern;
    let schema = json!({"type": "object"});
    let mut result = match method {
        "initialize" if !is_newer => {
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}})
        }
        "server/discover" if is_newer => {
            json!({"supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        }
        "tools/list" => json!({"tools": [{"name": "work", "inputSchema": schema}]}),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        }
    };
    if is_newer {
        (result["resultType"], result["ttlMs"]) = ("complete".into(), 3_600_000.into());
        result["cacheScope"] = "public".into();
    }
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

fn token_and_times(params: &Value) -> (String, usize) {
    let arguments = &params["arguments"];
    let times = arguments["times"].as_u64().unwrap_or_default();
    (arguments["token"].as_str().unwrap_or_default().to_owned(), usize::try_from(times).unwrap())
}

fn question(token: &str, round: usize) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    json!({"mode": "form", "message": format!("{token}/{round}"), "requestedSchema": schema})
}

impl Ledger {
    /// One call is done: this is what it was answered.
    fn finish(&self, token: &str, answers: &[Value]) -> Value {
        *self.finished.lock().unwrap().entry(token.to_owned()).or_default() += 1;
        let text = json!([token, answers]).to_string();
        json!({"content": [{"type": "text", "text": text}]})
    }

    /// An answer that came for a question of this call.
    fn check(&self, token: &str, round: usize, answer: &Value) {
        let is_own = answer["result"]["content"]["name"] == format!("{token}/{round}");
        if !is_own && answer.get("error").is_none() && answer["result"]["action"] != "decline" {
            self.strayed.lock().unwrap().push(format!("{token}/{round}: {answer}"));
        }
    }
}

async fn older(
    id: &Value,
    params: &Value,
    out: &mpsc::Sender<String>,
    questions: &Questions,
    ledger: &Ledger,
) {
    let (token, times) = token_and_times(params);
    let mut answers = Vec::new();
    for round in 0..times {
        let (sender, waiting) = oneshot::channel();
        let own = format!("{token}?{round}");
        questions.lock().unwrap().insert(quoted(&own), sender);
        let params = question(&token, round);
        let request = json!({"jsonrpc": "2.0", "id": own, "method": "elicitation/create", "params": params});
        let _ = out.send(request.to_string()).await;
        let Ok(answer) = waiting.await else { return };
        ledger.check(&token, round, &answer);
        answers.push(answer["result"].clone());
    }
    let result = ledger.finish(&token, &answers);
    let _ = out.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
}

/// Keeps nothing: what was answered before stands in the state.
async fn newer(id: &Value, params: &Value, out: &mpsc::Sender<String>, ledger: &Ledger) {
    let (token, times) = token_and_times(params);
    let state = params["requestState"].as_str().and_then(|state| serde_json::from_str(state).ok());
    let mut answers: Vec<Value> = state.unwrap_or_default();
    if let Some(answer) = params["inputResponses"].get("q") {
        ledger.check(&token, answers.len(), &json!({"result": answer}));
        answers.push(answer.clone());
    }
    let mut result = if times <= answers.len() {
        ledger.finish(&token, &answers)
    } else {
        let question = json!({"method": "elicitation/create", "params": question(&token, answers.len())});
        json!({"resultType": "input_required", "inputRequests": {"q": question},
            "requestState": Value::from(answers).to_string()})
    };
    if result.get("resultType").is_none() {
        result["resultType"] = "complete".into();
    }
    let _ = out.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
}

/// A raw value as a JSON value.
pub(super) fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap()
}
