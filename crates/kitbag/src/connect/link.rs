//! One server, kept alive: one task that starts it, watches it and starts it again, and calls that find it
//! wherever it is in that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use kitbag_core::model::Resolved;
use kitbag_core::{ErrorKind, Fault, Limits, ServerName, ServerSpec};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::era::{self, Era};
use super::list::{self, ToolList};
use super::memory::Memory;
use super::open::{OpenError, Opener, Session, Tries};
use super::peer::{Clocks, Note, RequestError};
use super::status::{LinkState, Status};
use super::wire::quoted;
use crate::Env;
use crate::guard::Launcher;

/// Where a link gets its description, asked again before every start.
pub(crate) trait Supply: Send + Sync + 'static {
    /// The server as it is configured now, with its values; none when it is no longer to be used.
    fn spec(&self) -> Option<(ServerSpec, Result<Resolved, Vec<Fault>>)>;
}

/// What all links of one Kitbag share.
pub(crate) struct Surroundings {
    pub(crate) env: Env,
    pub(crate) launcher: Launcher,
    pub(crate) limits: Limits,
    pub(crate) memory: Memory,
    pub(crate) logs: Option<std::path::PathBuf>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// A call to a tool, by the server's own name for it.
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments, a JSON object.
    pub arguments: &'a RawValue,
    /// Whether it may be made twice: the operator's word.
    pub repeatable: bool,
    /// Where notes go while it runs.
    pub notes: Option<mpsc::Sender<Note>>,
}

/// What a call came back with.
#[derive(Debug)]
pub struct Reply {
    /// The result, as received.
    pub result: Box<RawValue>,
    /// How often it had to be sent again.
    pub retries: u32,
    /// How long it took.
    pub took: Duration,
}

/// Why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{server}: {message}")]
pub struct CallError {
    /// Which way it went wrong.
    pub kind: ErrorKind,
    /// Whose server.
    pub server: ServerName,
    /// Which tool, by the server's own name.
    pub tool: String,
    /// The root cause, in one line without secrets.
    pub message: String,
    /// The server's own code, when it answered with an error.
    pub code: Option<i64>,
}

struct Inner {
    name: ServerName,
    around: Arc<Surroundings>,
    status: watch::Sender<Status>,
    session: watch::Sender<Option<Arc<Session>>>,
    /// When a call last came back, in milliseconds since the epoch; 0 when none did.
    last_good: AtomicU64,
    tools: watch::Sender<Arc<ToolList>>,
    wanted: watch::Sender<bool>,
    gate: Semaphore,
    tries: Tries,
    stop: CancellationToken,
}

/// A link to one server; clones share it.
#[derive(Clone)]
pub struct Link(Arc<Inner>);

impl Link {
    /// Takes a server over. A lazy one is started on first need.
    pub(crate) fn start(spec: &ServerSpec, supply: Arc<dyn Supply>, around: &Arc<Surroundings>) -> Self {
        let state = if spec.lazy { LinkState::Idle } else { LinkState::Starting };
        let concurrency = spec.concurrency.map_or(around.limits.concurrency, |limit| limit.max(1) as usize);
        let keeping = around.launcher.keeping().as_str();
        let inner = Arc::new(Inner {
            name: spec.name.clone(),
            around: around.clone(),
            status: watch::Sender::new(Status { keeping, ..Status::new(state) }),
            session: watch::Sender::new(None),
            last_good: AtomicU64::new(0),
            tools: watch::Sender::new(Arc::default()),
            wanted: watch::Sender::new(!spec.lazy),
            gate: Semaphore::new(concurrency),
            tries: Tries::default(),
            stop: around.stop.child_token(),
        });
        around.tasks.spawn(supervise(inner.clone(), supply));
        Self(inner)
    }

    /// The server's name.
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }

    /// How it is.
    pub fn status(&self) -> Status {
        let mut status = self.0.status.borrow().clone();
        let good = Duration::from_millis(self.0.last_good.load(Ordering::Relaxed));
        status.last_good = (!good.is_zero()).then(|| SystemTime::UNIX_EPOCH + good);
        status.noise = self
            .0
            .session
            .borrow()
            .as_ref()
            .map_or(status.noise, |session| session.noise.count.load(Ordering::Relaxed));
        status
    }

    /// The tools it lists, the last known ones while it is away.
    pub fn tools(&self) -> Arc<ToolList> {
        self.0.tools.borrow().clone()
    }

    /// Waits until it is connected, or will not be by trying as it is configured.
    pub async fn settled(&self) {
        self.0.wanted.send_replace(true);
        let mut status = self.0.status.subscribe();
        let over = |status: &Status| {
            status.state.is_connected() || matches!(status.state, LinkState::Failed | LinkState::Stopped)
        };
        let _ = status.wait_for(over).await;
    }

    /// A mailbox for the notes of a call, as large as the limits allow; what finds no room in it is dropped.
    pub fn mailbox(&self) -> (mpsc::Sender<Note>, mpsc::Receiver<Note>) {
        mpsc::channel(self.0.around.limits.notes)
    }

    /// Calls in flight.
    pub fn in_flight(&self) -> usize {
        self.0.session.borrow().as_ref().map_or(0, |session| session.peer.in_flight())
    }

    /// Calls a tool. It ends with a result or an error, within the call clocks, and never runs twice unless it
    /// may. Dropping the future cancels it, also for the server.
    pub async fn call(&self, call: Call<'_>) -> Result<Reply, CallError> {
        let limits = &self.0.around.limits;
        let began = Instant::now();
        let end = began + limits.wait_total;
        let name = quoted(call.tool);
        let params = [("name", name.as_str()), ("arguments", call.arguments.get())];
        let gate = match self.0.gate.try_acquire() {
            Ok(permit) => Some(permit),
            Err(_) => tokio::time::timeout_at(end, self.0.gate.acquire()).await.ok().and_then(Result::ok),
        };
        let Some(_permit) = gate else {
            return Err(self.error(
                &call,
                ErrorKind::Timeout,
                "too many calls to this server are in flight".to_owned(),
            ));
        };
        let mut retries = 0;
        loop {
            let session = match self.current() {
                Some(session) => session,
                None => {
                    let session = self.session(end.min(Instant::now() + limits.wait_agent)).await;
                    session.map_err(|why| self.error(&call, ErrorKind::Unavailable, why))?
                }
            };
            let left = end.saturating_duration_since(Instant::now());
            let clocks = Clocks { idle: limits.wait_idle.min(left), total: left };
            let notes = call.notes.clone();
            let error = match session
                .peer
                .request("tools/call", &params, session.greeting.era, clocks, notes)
                .await
            {
                Ok(result) if asks_back(&result, session.greeting.era) => {
                    let message = "asks for input, which nobody here can give".to_owned();
                    return Err(self.error(&call, ErrorKind::ServerError, message));
                }
                Ok(result) => {
                    self.0.last_good.store(millis_now(), Ordering::Relaxed);
                    return Ok(Reply { result, retries, took: began.elapsed() });
                }
                Err(error) => error,
            };
            let again = match &error {
                RequestError::NotSent(_) => true,
                RequestError::Lost(_) => call.repeatable,
                _ => false,
            };
            if !again || 1 < retries {
                return Err(self.explain(&call, &session, error));
            }
            retries += 1;
            self.renewed(&session, end).await;
        }
    }

    /// Ends the server and everything it started.
    pub fn stop(&self) {
        self.0.stop.cancel();
    }

    /// The conversation, if there is one.
    fn current(&self) -> Option<Arc<Session>> {
        self.0.session.borrow().as_ref().filter(|session| !session.peer.is_closed()).cloned()
    }

    /// The conversation, waiting for it until a moment; why there is none otherwise.
    async fn session(&self, until: Instant) -> Result<Arc<Session>, String> {
        self.0.wanted.send_replace(true);
        let mut sessions = self.0.session.subscribe();
        let mut status = self.0.status.subscribe();
        let live = |session: &Option<Arc<Session>>| {
            session.as_ref().is_some_and(|session| !session.peer.is_closed())
        };
        let hopeless = |status: &Status| matches!(status.state, LinkState::Failed | LinkState::Stopped);
        tokio::select! {
            biased;
            found = sessions.wait_for(live) => found.ok().and_then(|found| found.clone()).ok_or_else(|| "stopped".to_owned()),
            _ = status.wait_for(hopeless) => Err(self.why_away()),
            () = tokio::time::sleep_until(until) => Err(self.why_away()),
        }
    }

    /// Waits until another conversation has taken the place of this one, or a moment has come.
    async fn renewed(&self, old: &Arc<Session>, until: Instant) {
        let mut sessions = self.0.session.subscribe();
        let other = |session: &Option<Arc<Session>>| {
            session.as_ref().is_none_or(|session| !Arc::ptr_eq(session, old))
        };
        let _ = tokio::time::timeout_at(until, sessions.wait_for(other)).await;
    }

    fn why_away(&self) -> String {
        let status = self.0.status.borrow();
        let state = status.state.as_str();
        status.error.as_ref().map_or_else(|| format!("is {state}"), |error| format!("is {state}: {error}"))
    }

    fn explain(&self, call: &Call<'_>, session: &Session, error: RequestError) -> CallError {
        let message = session.redactor.line(error.to_string().as_bytes());
        let kind = match error {
            RequestError::NotSent(_) => ErrorKind::Unavailable,
            RequestError::Lost(_) | RequestError::Timeout { sent: true, .. } => ErrorKind::OutcomeUnknown,
            RequestError::Timeout { sent: false, .. } => ErrorKind::Timeout,
            RequestError::BadAnswer(_) => ErrorKind::BadAnswer,
            RequestError::TooLarge { .. } => ErrorKind::TooLarge,
            RequestError::Remote { code, .. } => {
                return CallError { code: Some(code), ..self.error(call, ErrorKind::ServerError, message) };
            }
        };
        self.error(call, kind, message)
    }

    fn error(&self, call: &Call<'_>, kind: ErrorKind, message: String) -> CallError {
        CallError { kind, server: self.0.name.clone(), tool: call.tool.to_owned(), message, code: None }
    }
}

impl Inner {
    fn state(&self, state: LinkState, error: Option<String>) {
        self.status.send_modify(|status| {
            if status.state != state {
                status.since = SystemTime::now();
            }
            status.state = state;
            status.error = error.or(status.error.take());
        });
    }
}

/// Starts the server, watches it, and starts it again when it ends, ever more slowly if it ends at once.
async fn supervise(inner: Arc<Inner>, supply: Arc<dyn Supply>) {
    let mut wanted = inner.wanted.subscribe();
    tokio::select! {
        () = inner.stop.cancelled() => return inner.state(LinkState::Stopped, None),
        _ = wanted.wait_for(|wanted| *wanted) => {}
    }
    inner.state(LinkState::Starting, None);
    let mut failures = 0_u32;
    loop {
        let (began, error) = match once(&inner, &*supply).await {
            Ended::Stopped => break,
            Ended::Hopeless(error) => {
                inner.state(LinkState::Failed, Some(error));
                inner.stop.cancelled().await;
                break;
            }
            Ended::Lost { ran, error } => (ran, error),
        };
        // One that ran well gets a new start at once; one that keeps failing has to wait.
        let starts = inner.tries.starts();
        failures = match began {
            Some(ran) if inner.around.limits.steady < ran => 0,
            Some(_) => failures + 1,
            // A try that asked both ways has cost two starts.
            None => failures + starts.max(1),
        };
        let first = began.is_some() && failures <= 1;
        inner.status.send_modify(|status| status.restarts += 1);
        inner.state(LinkState::Reconnecting, Some(error));
        let delay = if first { Duration::ZERO } else { backoff(failures, &inner.around.limits) };
        tokio::select! {
            () = inner.stop.cancelled() => break,
            () = tokio::time::sleep(delay) => {}
        }
    }
    inner.session.send_replace(None);
    inner.state(LinkState::Stopped, None);
}

/// Whether a result is a question in return. Looked at closely only when the word is there at all.
fn asks_back(result: &RawValue, era: Era) -> bool {
    let word = "\"input_required\"";
    era == Era::Modern
        && memchr::memmem::find(result.get().as_bytes(), word.as_bytes()).is_some()
        && era::key(result, "resultType").is_some_and(|kind| kind.get() == word)
}

fn millis_now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn backoff(failures: u32, limits: &Limits) -> Duration {
    let doubled =
        limits.restart_first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(limits.restart_most);
    // Late by up to a quarter, so that many that fell together do not rise together.
    doubled + doubled.mul_f64(0.25 * fastrand::f64())
}

/// How one life of a server ended.
enum Ended {
    Stopped,
    Hopeless(String),
    Lost {
        /// How long it ran, if it came to that.
        ran: Option<Duration>,
        error: String,
    },
}

/// One life of a server: opened, listed, watched until it ends.
async fn once(inner: &Inner, supply: &dyn Supply) -> Ended {
    let Some((spec, resolved)) = supply.spec() else {
        return Ended::Hopeless("is no longer configured".to_owned());
    };
    let around = &inner.around;
    let opener = Opener {
        spec: &spec,
        resolved: &resolved,
        env: &around.env,
        launcher: &around.launcher,
        limits: &around.limits,
        memory: &around.memory,
        logs: around.logs.as_deref(),
        tasks: &around.tasks,
        stop: &inner.stop,
        tries: &inner.tries,
    };
    let opened = tokio::select! {
        () = inner.stop.cancelled() => return Ended::Stopped,
        opened = opener.open() => opened,
    };
    let session = match opened {
        Ok(session) => session,
        Err(OpenError::Final(error)) => return Ended::Hopeless(error),
        Err(OpenError::Again(error)) => return Ended::Lost { ran: None, error },
    };
    let began = Instant::now();
    inner.status.send_modify(|status| {
        status.version = Some(session.greeting.version.clone());
        status.pid = session.pid;
    });
    let session = Arc::new(session);
    inner.session.send_replace(Some(session.clone()));
    let closed = tokio::select! {
        () = inner.stop.cancelled() => None,
        closed = watch_over(inner, &session) => Some(closed),
    };
    session.stop.cancel();
    inner.status.send_modify(|status| {
        status.noise = session.noise.count.load(Ordering::Relaxed);
        status.pid = None;
    });
    inner.session.send_replace(None);
    closed.map_or(Ended::Stopped, |error| Ended::Lost { ran: Some(began.elapsed()), error })
}

/// Lists the tools, again whenever they change but never in a storm, until the conversation is over.
async fn watch_over(inner: &Inner, session: &Session) -> String {
    let limits = &inner.around.limits;
    let gaps = [limits.refresh / 10, limits.refresh * 3 / 10];
    let mut round = 0;
    let mut listed = Instant::now();
    if session.greeting.era == Era::Modern && session.greeting.has_tools {
        // Newer servers tell of changes only those who asked; one that cannot says so, and that is all.
        session.peer.ask(
            "subscriptions/listen",
            &[("notifications", r#"{"toolsListChanged":true}"#)],
            Era::Modern,
        );
    }
    loop {
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed.to_string(),
            () = refresh(inner, session) => {}
        }
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed.to_string(),
            () = session.changed.notified() => {}
        }
        // Quiet for a while: the next change is news again.
        round = if limits.refresh * 2 < listed.elapsed() { 0 } else { round };
        let gap = gaps.get(round).copied().unwrap_or(limits.refresh);
        round += 1;
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed.to_string(),
            () = tokio::time::sleep_until(listed + gap) => {}
        }
        listed = Instant::now();
    }
}

async fn refresh(inner: &Inner, session: &Session) {
    if !session.greeting.has_tools {
        inner.status.send_modify(|status| status.tools = Some(0));
        return inner.state(LinkState::Ready, None);
    }
    match list::tools(&session.peer, session.greeting.era, &inner.around.limits).await {
        Ok(list) => {
            inner.status.send_modify(|status| {
                status.tools = Some(list.tools.len());
                status.error = list.truncated.clone().map(|why| format!("tool list cut short: {why}"));
            });
            inner.tools.send_replace(Arc::new(list));
            inner.state(LinkState::Ready, None);
        }
        Err(_) if session.peer.is_closed() => {}
        // The last good list stays.
        Err(error) => {
            let error = session.redactor.line(format!("tools cannot be listed: {error}").as_bytes());
            inner.state(LinkState::Degraded, Some(error));
        }
    }
}
