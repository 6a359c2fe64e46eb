//! One call on its way: through the gate, onto whatever conversation there is, again when it certainly was not
//! delivered, and back and forth while the server asks something in return.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kitbag_core::text::cut;
use kitbag_core::{ErrorKind, Secret, ServerName, UserId};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{SemaphorePermit, mpsc};
use tokio::time::Instant;

use super::super::ask::{self, Asked, CallerInput, Responder, Responses, ResultType};
use super::super::era::{self, Era};
use super::super::http::check_headers;
use super::super::message::is_too_deep;
use super::super::notification::Notification;
use super::super::open::Session;
use super::super::peer::{Caller, Clocks, RequestContext, RequestError};
use super::super::reason::Reason;
use super::super::waits::backoff;
use super::super::wire::{MethodName, Param, Params, Speech, members};
use super::{Away, Link};

/// The longest that anybody is told to wait.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A call to a tool, by the server's own name for it.
pub struct RawCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments, a JSON object.
    pub arguments: &'a RawValue,
    /// What goes with it into `_meta`, a JSON object.
    pub meta: Option<&'a RawValue>,
    /// Headers of this call alone, for servers that are reached over HTTP.
    pub headers: &'a [(String, Secret)],
    /// Whether it may be made twice: the operator's word.
    pub repeatable: bool,
    /// Where notifications go while it runs.
    pub notifications: Option<mpsc::Sender<Notification>>,
    /// Who answers when the server asks something in return; nobody otherwise.
    pub responder: Option<Arc<dyn Responder>>,
    /// Set by callers that hand questions of newer servers on and come back with the answers.
    pub input: Option<&'a CallerInput>,
    /// For whom it is made.
    pub user: UserId,
    /// How long it may take, within the limits; as long as its server's configuration says otherwise.
    pub timeout: Option<Duration>,
}

impl<'a> RawCall<'a> {
    /// A call that is made once, heard by nobody.
    pub fn new(tool: &'a str, arguments: &'a RawValue) -> Self {
        let user = UserId::local();
        Self {
            tool,
            arguments,
            meta: None,
            headers: &[],
            repeatable: false,
            notifications: None,
            responder: None,
            input: None,
            user,
            timeout: None,
        }
    }
}

/// A request of any method, as it is written on the wire.
pub struct RawRequest<'a> {
    /// The method, such as `resources/list`.
    pub method: &'a str,
    /// Its parameters, a JSON object; what stands under `_meta` is added to ours.
    pub params: &'a RawValue,
    /// Headers of this request alone, for servers that are reached over HTTP.
    pub headers: &'a [(String, Secret)],
    /// Whether it may be made twice.
    pub repeatable: bool,
    /// Where notifications go while it runs.
    pub notifications: Option<mpsc::Sender<Notification>>,
    /// Who answers when the server asks something in return; nobody otherwise.
    pub responder: Option<Arc<dyn Responder>>,
    /// Set by callers that hand questions of newer servers on and come back with the answers.
    pub input: Option<&'a CallerInput>,
    /// For whom it is made.
    pub user: UserId,
    /// How long it may take, within the limits; as long as its server's configuration says otherwise.
    pub timeout: Option<Duration>,
}

impl<'a> RawRequest<'a> {
    /// A request that is made once.
    pub fn new(method: &'a str, params: &'a RawValue) -> Self {
        let user = UserId::local();
        Self {
            method,
            params,
            headers: &[],
            repeatable: false,
            notifications: None,
            responder: None,
            input: None,
            user,
            timeout: None,
        }
    }
}

/// What kind of result a call came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// What was asked for.
    Complete,
    /// A question for the client that its caller speaks for ([`RawCall::input`]).
    InputRequired,
}

/// What a call came back with.
#[derive(Debug)]
pub struct RawReply {
    /// The result, as received.
    pub result: Box<RawValue>,
    /// Of which kind it is.
    pub kind: ReplyKind,
    /// How often it had to be sent again.
    pub retries: u32,
    /// How long it took.
    pub took: Duration,
}

/// Why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{server}: {message}")]
pub struct RawCallError {
    /// Which way it went wrong.
    pub kind: ErrorKind,
    /// Whose server.
    pub server: ServerName,
    /// Which tool, by the server's own name; the method, where it was no call of a tool.
    pub tool: String,
    /// The root cause, in one line without secrets.
    pub message: String,
    /// The server's own code, when it answered with an error.
    pub code: Option<i64>,
    /// What it said beside (`data`), without secrets.
    pub data: Option<Box<Value>>,
    /// Why the server could not be used, where that is why.
    #[source]
    pub reason: Option<Arc<Reason>>,
}

impl RawCallError {
    /// The same of a call that was received before: what would say that it was not delivered does not know.
    fn may_have_run(self) -> Self {
        let is_undelivered = matches!(self.kind, ErrorKind::Unavailable | ErrorKind::Timeout);
        Self { kind: if is_undelivered { ErrorKind::OutcomeUnknown } else { self.kind }, ..self }
    }
}

impl Link {
    /// Calls a tool. It ends with a result or an error, within the call clocks, and never runs twice unless it
    /// may. Dropping the future cancels it, also for the server.
    pub async fn call(&self, call: RawCall<'_>) -> Result<RawReply, RawCallError> {
        let name = ("name", Param::Text(call.tool));
        let arguments = ("arguments", Param::Json(call.arguments.get()));
        let meta = ("_meta", Param::Json(call.meta.map_or("", RawValue::get)));
        let errand = Errand {
            method: "tools/call".into(),
            subject: call.tool,
            params: &[name, arguments, meta],
            headers: call.headers,
            repeatable: call.repeatable,
            notifications: call.notifications,
            responder: call.responder,
            input: call.input,
            user: call.user,
            timeout: call.timeout,
        };
        self.run(errand).await
    }

    /// Makes a request of any method under the same limits, timeouts and recovery as a call of a tool. The result is
    /// handed over as received.
    pub async fn request(&self, request: RawRequest<'_>) -> Result<RawReply, RawCallError> {
        let params = members(request.params).ok_or_else(|| {
            let why = "the parameters of a request must be a JSON object";
            self.error(request.method, ErrorKind::InvalidArguments, why.to_owned())
        })?;
        let params: Vec<_> =
            params.iter().map(|(key, value)| (key.as_str(), Param::Json(value.get()))).collect();
        let errand = Errand {
            method: request.method.to_owned().into(),
            subject: request.method,
            params: &params,
            headers: request.headers,
            repeatable: request.repeatable,
            notifications: request.notifications,
            responder: request.responder,
            input: request.input,
            user: request.user,
            timeout: request.timeout,
        };
        self.run(errand).await
    }

    /// Makes a call unless its server has stopped answering.
    async fn run(&self, call: Errand<'_>) -> Result<RawReply, RawCallError> {
        let turn = self.0.breaker.enter(Instant::now()).map_err(|open| {
            let when = match open.left.as_secs_f64().ceil() {
                0.0 => "one call is on its way to see whether it does again".to_owned(),
                seconds => format!("calls are tried again in {seconds} s"),
            };
            let why = format!("did not answer the last {} calls; {when}", open.failures);
            self.error(call.subject, ErrorKind::Unavailable, why)
        })?;
        let (began, timeout) = (Instant::now(), call.timeout);
        let done = self.carry(call).await;
        // Whoever waits for less than the server is given learns nothing about it that others should suffer from.
        let is_hurried = timeout.is_some_and(|timeout| timeout < self.0.plan.clocks.idle.time);
        if !is_hurried || timeout.is_some_and(|timeout| began.elapsed() < timeout) {
            turn.ended(done.as_ref().err().map(|error| error.kind), Instant::now(), &self.0.plan.limits);
        }
        done
    }

    async fn carry(&self, call: Errand<'_>) -> Result<RawReply, RawCallError> {
        let began = Instant::now();
        if let Err(reason) = check_headers(call.headers) {
            return Err(self.error(call.subject, ErrorKind::InvalidArguments, reason.to_string()));
        }
        let plan = &self.0.plan;
        let clocks = call.timeout.map_or(plan.clocks, |timeout| plan.clocks.for_call(timeout, &plan.limits));
        let asked = call
            .responder
            .as_ref()
            .map(|responder| Arc::new(Asked::new(responder, &plan.spec.name, call.subject, &call.user)));
        let end = began + clocks.total.time;
        let declared = call.input.map(CallerInput::declared);
        let (from, unsent, lost) = (began, 0, 0);
        let mut trip = Trip { link: self, call: &call, asked, declared, clocks, end, from, unsent, lost };
        let _permit = trip.gate().await?;
        let (mut responses, mut has_answered) = (call.input.and_then(Responses::brought), false);
        for _ in 0..=plan.limits.rounds {
            let (result, era) = match trip.ask(responses.as_ref()).await {
                Ok(answer) => answer,
                // That nobody was there for a later try says nothing of the one before.
                Err(error) if has_answered || 0 < trip.lost => return Err(error.may_have_run()),
                Err(error) => return Err(error),
            };
            let kind = match (ask::result_type(&result, era), call.input) {
                (ResultType::Complete, _) => ReplyKind::Complete,
                (ResultType::InputRequired, Some(input)) => {
                    ask::check_handed_on(&result, input)
                        .map_err(|why| self.error(call.subject, ErrorKind::ServerError, why))?;
                    ReplyKind::InputRequired
                }
                (ResultType::InputRequired, None) => {
                    (responses, has_answered) = (Some(trip.respond(&result).await?), true);
                    continue;
                }
                (ResultType::Unknown(kind), _) => {
                    let why = format!("answered with a result of the type {kind}, which was not asked for");
                    return Err(self.error(call.subject, ErrorKind::BadAnswer, why));
                }
            };
            let now = Instant::now();
            self.0.last_good.store(micros(now - self.0.born.0), Ordering::Relaxed);
            return Ok(RawReply { result, kind, retries: trip.unsent + trip.lost, took: now - began });
        }
        Err(self.error(call.subject, ErrorKind::ServerError, "keeps asking for input".to_owned()))
    }

    fn explain(&self, trip: &Trip<'_>, session: &Session, error: RequestError) -> RawCallError {
        let call = trip.call;
        let mut message = session.redactor.line(error.to_string().as_bytes());
        let (mut code, mut data) = (None, None);
        if let RequestError::Timeout { .. } = &error {
            message = trip.which_clock();
        }
        // Only where it was certainly not carried out: anything else must not be tried again just like that.
        if let RequestError::Http { status: 429, wait: Some(wait), .. } = &error {
            let seconds = (*wait).min(DAY).as_secs_f64().ceil();
            message.push_str(&format!("; try again in {seconds} s"));
        }
        let kind = match &error {
            RequestError::NotSent(_) => ErrorKind::Unavailable,
            RequestError::Lost(_) | RequestError::Broken(_) | RequestError::Timeout { sent: true, .. } => {
                ErrorKind::OutcomeUnknown
            }
            RequestError::Http { status, reason, .. } => refused(*status, reason),
            RequestError::Timeout { sent: false, .. } => ErrorKind::Timeout,
            RequestError::BadAnswer(_) | RequestError::NotMcp(_) => ErrorKind::BadAnswer,
            RequestError::TooLarge { .. } => ErrorKind::TooLarge,
            RequestError::Remote { code: theirs, raw, .. } => {
                let beside =
                    era::key(raw, "data").filter(|data| data.get().len() <= self.0.plan.limits.error);
                let beside = beside.and_then(|data| serde_json::from_str::<Value>(data.get()).ok());
                data = beside.map(|data| Box::new(session.redactor.mask_value(&data)));
                code = Some(*theirs);
                ErrorKind::ServerError
            }
        };
        let reason = Some(Arc::new(self.0.plan.told(error.into_reason())));
        RawCallError { code, data, reason, ..self.error(call.subject, kind, message) }
    }

    pub(super) fn error(&self, subject: &str, kind: ErrorKind, message: String) -> RawCallError {
        RawCallError {
            kind,
            server: self.0.plan.spec.name.clone(),
            tool: subject.to_owned(),
            message: cut(message, self.0.plan.limits.error),
            code: None,
            data: None,
            reason: None,
        }
    }
}

/// A request on its way, whatever its method.
struct Errand<'a> {
    method: MethodName,
    /// What it is about, in errors and questions: the tool, or the method.
    subject: &'a str,
    params: Params<'a>,
    headers: &'a [(String, Secret)],
    repeatable: bool,
    notifications: Option<mpsc::Sender<Notification>>,
    responder: Option<Arc<dyn Responder>>,
    input: Option<&'a CallerInput>,
    user: UserId,
    timeout: Option<Duration>,
}

/// What a call carries from try to try.
struct Trip<'a> {
    link: &'a Link,
    call: &'a Errand<'a>,
    asked: Option<Arc<Asked>>,
    /// What a client declares that its caller speaks for.
    declared: Option<Box<str>>,
    clocks: kitbag_core::model::Timeouts,
    end: Instant,
    /// When the try began; the idle clock runs from here.
    from: Instant,
    /// How often it was not delivered.
    unsent: u32,
    /// How often it may have been, and was made again all the same.
    lost: u32,
}

impl<'a> Trip<'a> {
    /// A place among the calls that may be in flight at once.
    async fn gate(&mut self) -> Result<SemaphorePermit<'a>, RawCallError> {
        let gate = &self.link.0.gate;
        if let Ok(permit) = gate.try_acquire() {
            return Ok(permit);
        }
        let permit = tokio::time::timeout_at(self.end, gate.acquire()).await;
        self.from = Instant::now();
        match permit {
            Ok(Ok(permit)) => Ok(permit),
            // Nobody takes calls any more: the server is being replaced or ended.
            Ok(Err(_)) => {
                Err(self.link.error(self.call.subject, ErrorKind::Unavailable, "is being ended".to_owned()))
            }
            Err(_) => {
                let why =
                    format!("too many calls to this server are in flight; waited {}", self.clocks.total);
                Err(self.link.error(self.call.subject, ErrorKind::Timeout, why))
            }
        }
    }

    /// Puts the call until it is answered; again only if that does no harm.
    async fn ask(&mut self, responses: Option<&Responses>) -> Result<(Box<RawValue>, Era), RawCallError> {
        let first = self.call.params;
        let again = responses.map(|responses| {
            let state = responses.state.as_deref().map(|state| ("requestState", Param::Json(state)));
            let responses = responses.responses.as_deref();
            let responses = responses.map(|responses| ("inputResponses", Param::Json(responses)));
            first.iter().copied().chain(responses).chain(state).collect::<Vec<_>>()
        });
        let params = again.as_deref().unwrap_or(first);
        loop {
            let session = self.session().await?;
            self.check_further(session.greeting.era)?;
            let left = self.end.saturating_duration_since(self.from);
            let clocks = Clocks { from: self.from, idle: self.clocks.idle.time.min(left), total: left };
            let headers = (!self.call.headers.is_empty()).then(|| self.call.headers.into());
            let silent = || Caller::Silent(self.call.user.clone());
            let caller = self.asked.clone().map_or_else(silent, Caller::Person);
            let context = RequestContext { notes: self.call.notifications.clone(), headers, caller };
            let speech = Speech { era: session.greeting.era, capabilities: self.capabilities() };
            let answer =
                session.peer.request(self.call.method.clone(), params, speech, clocks, context).await;
            let error = match answer {
                // Whoever reads it may go as deep as it is.
                Ok(result) if is_too_deep(result.get().as_bytes(), self.link.0.plan.limits.depth) => {
                    RequestError::BadAnswer("nested too deep".to_owned())
                }
                Ok(result) => return Ok((result, speech.era)),
                Err(error) => error,
            };
            // Counted apart: while a server ends, a call may be lost and then find nobody there.
            let before = match &error {
                RequestError::NotSent(_) => Some(&mut self.unsent),
                RequestError::Lost(_) | RequestError::Broken(_) => {
                    Some(&mut self.lost).filter(|_| self.call.repeatable)
                }
                _ => None,
            };
            match before.filter(|before| **before < 2) {
                Some(before) => *before += 1,
                None => return Err(self.link.explain(self, &session, error)),
            }
            let renewed = self.link.renewed(&session, self.end);
            match error {
                // The conversation goes on; only this answer is lost.
                RequestError::Broken(_) => {}
                // It goes on for others; no connection could be made for this call alone.
                RequestError::NotSent(_) if !session.peer.is_closed() && !session.carrier.is_over() => {
                    let pause = backoff(self.unsent, &self.link.0.plan.limits);
                    let _ = tokio::time::timeout(pause, renewed).await;
                }
                _ => renewed.await,
            }
            self.from = Instant::now();
        }
    }

    /// What the server may ask in return. Newer servers are told with each call, older ones were told at the start what
    /// any call may offer.
    fn capabilities(&self) -> &str {
        let declared = self.declared.as_deref();
        declared.or_else(|| self.asked.as_ref().map(|asked| asked.capabilities())).unwrap_or("{}")
    }

    /// A call that goes on with another one goes to whoever said how; older servers never do, so it must not be made
    /// there as if it were new.
    fn check_further(&self, era: Era) -> Result<(), RawCallError> {
        if era == Era::Modern || !self.call.input.is_some_and(CallerInput::is_further) {
            return Ok(());
        }
        Err(self.link.error(self.call.subject, ErrorKind::InvalidArguments, ask::NOT_WAITING.to_owned()))
    }

    async fn session(&mut self) -> Result<Arc<Session>, RawCallError> {
        if let Some(session) = self.link.current() {
            return Ok(session);
        }
        let until = self.end.min(Instant::now() + self.link.0.plan.limits.wait_agent);
        let session = self.link.session(until).await;
        self.from = Instant::now();
        session.map_err(|Away { kind, message, reason }| RawCallError {
            reason,
            ..self.link.error(self.call.subject, kind, message)
        })
    }

    /// That time ran out, and which clock said so.
    fn which_clock(&self) -> String {
        let clock = if self.end <= Instant::now() { self.clocks.total } else { self.clocks.idle };
        format!("no answer within {clock}")
    }

    /// Answers what the server asks in return.
    async fn respond(&mut self, result: &RawValue) -> Result<Responses, RawCallError> {
        let refused = |why: String| self.link.error(self.call.subject, ErrorKind::ServerError, why);
        let Some(asked) = &self.asked else {
            return Err(refused("asks for input, which is not available here".to_owned()));
        };
        let answers = tokio::time::timeout_at(self.end, ask::answer_all(result, asked)).await;
        let answers = answers.unwrap_or_else(|_| Err("asked for input that nobody gave in time".to_owned()));
        let answers = answers.map_err(refused)?;
        self.from = Instant::now();
        Ok(answers)
    }
}

/// What a status says about a call: whoever refuses a request with 4xx did not carry it out.
fn refused(status: u16, reason: &Reason) -> ErrorKind {
    match reason.class.kind() {
        ErrorKind::Unavailable if 500 <= status => ErrorKind::OutcomeUnknown,
        ErrorKind::Unavailable => ErrorKind::ServerError,
        kind => kind,
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
