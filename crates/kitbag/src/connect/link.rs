//! One server, kept alive: one task that starts it, watches it and starts it again, and calls that find it
//! wherever it is in that.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kitbag_core::model::Resolved;
use kitbag_core::{ErrorKind, Fault, Limits, ServerName, ServerSpec};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::{Offers, Responder};
use super::era::Era;
use super::list::ToolList;
use super::memory::Memory;
use super::open::{OpenError, Opener, Session, Tries};
use super::peer::Note;
use super::status::{LinkState, Status};
use super::wire::Param;
use crate::Env;
use crate::guard::Launcher;

mod call;
mod listing;

pub use call::{Call, CallError, Reply};
use listing::{Listed, Matter, another_try, refresh, too_old};

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
    pub(crate) responder: Option<Arc<dyn Responder>>,
}

struct Inner {
    name: ServerName,
    around: Arc<Surroundings>,
    status: watch::Sender<Status>,
    session: watch::Sender<Option<Arc<Session>>>,
    /// When this began, by both clocks: a call then needs to look at only one.
    born: (Instant, SystemTime),
    /// When a call last came back, in microseconds after that; 0 when none did.
    last_good: AtomicU64,
    tools: watch::Sender<Option<Arc<ToolList>>>,
    /// What was last wrong with the list of tools: told once, not at every refresh.
    matter: Mutex<Option<Matter>>,
    wanted: watch::Sender<bool>,
    gate: Semaphore,
    tries: Tries,
    tasks: TaskTracker,
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
            born: (Instant::now(), SystemTime::now()),
            last_good: AtomicU64::new(0),
            tools: watch::Sender::new(None),
            matter: Mutex::default(),
            wanted: watch::Sender::new(!spec.lazy),
            gate: Semaphore::new(concurrency),
            tries: Tries::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        inner.tasks.spawn(supervise(inner.clone(), supply));
        Self(inner)
    }

    /// The server's name.
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }

    /// How it is.
    pub fn status(&self) -> Status {
        let mut status = self.0.status.borrow().clone();
        let good = Duration::from_micros(self.0.last_good.load(Ordering::Relaxed));
        status.last_good = (!good.is_zero()).then(|| self.0.born.1 + good);
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
        self.listed().unwrap_or_default()
    }

    /// The same; none before it listed any.
    pub(crate) fn listed(&self) -> Option<Arc<ToolList>> {
        self.0.tools.borrow().clone()
    }

    /// Tells when it lists anew.
    pub(crate) fn watch_tools(&self) -> watch::Receiver<Option<Arc<ToolList>>> {
        self.0.tools.subscribe()
    }

    /// Tells when its state changes.
    pub(crate) fn watch_status(&self) -> watch::Receiver<Status> {
        self.0.status.subscribe()
    }

    /// Writes a line into its log.
    pub(crate) fn remark(&self, line: &str) {
        if let Some(session) = self.0.session.borrow().as_ref() {
            session.tail.remark(line);
        }
    }

    /// Waits until it is connected, or will not be by trying as it is configured.
    pub async fn settled(&self) {
        self.want();
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

    /// Ends the server and everything it started.
    pub fn stop(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
    }

    /// Waits until nothing of a server that was ended is left.
    pub(crate) async fn gone(&self) {
        self.0.tasks.wait().await;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.stop.is_cancelled()
    }

    /// Whether both are the same link.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Starts it, if it was waiting for a need.
    pub(crate) fn want(&self) {
        self.0.wanted.send_replace(true);
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

    /// Which way a call goes wrong while there is no conversation.
    fn why_not(&self) -> ErrorKind {
        if self.0.status.borrow().auth_required { ErrorKind::AuthRequired } else { ErrorKind::Unavailable }
    }

    fn why_away(&self) -> String {
        let status = self.0.status.borrow();
        let state = status.state.as_str();
        status.reason().map_or_else(|| format!("is {state}"), |reason| format!("is {state}: {reason}"))
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
        let (began, error, least) = match once(&inner, &*supply).await {
            Ended::Stopped => break,
            Ended::Hopeless(error) => {
                inner.state(LinkState::Failed, Some(error));
                inner.stop.cancelled().await;
                break;
            }
            Ended::Lost { ran, error, least } => (ran, error, least),
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
        let delay = delay.max(least.min(inner.around.limits.restart_most));
        tokio::select! {
            () = inner.stop.cancelled() => break,
            () = tokio::time::sleep(delay) => {}
        }
    }
    inner.session.send_replace(None);
    inner.state(LinkState::Stopped, None);
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
        /// How long it asked to be left alone.
        least: Duration,
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
        tasks: &inner.tasks,
        stop: &inner.stop,
        tries: &inner.tries,
        offers: Offers::of(around.responder.as_ref()),
    };
    inner.status.send_modify(|status| status.waits_for = opener.waits_for());
    let opened = tokio::select! {
        () = inner.stop.cancelled() => return Ended::Stopped,
        opened = opener.open() => opened,
    };
    inner.status.send_modify(|status| status.waits_for = None);
    let session = match opened {
        Ok(session) => session,
        Err(OpenError::Final(error)) => return Ended::Hopeless(error),
        Err(OpenError::Auth(error)) => {
            inner.status.send_modify(|status| status.auth_required = true);
            return Ended::Hopeless(error);
        }
        Err(OpenError::Again(error)) => {
            return Ended::Lost { ran: None, error, least: Duration::ZERO };
        }
        Err(OpenError::Busy { why, wait }) => return Ended::Lost { ran: None, error: why, least: wait },
    };
    let began = Instant::now();
    inner.status.send_modify(|status| {
        status.version = Some(session.greeting.version.clone());
        status.pid = session.pid;
        status.transport = Some(session.carrier.as_str());
        status.era = Some(session.greeting.era.as_str());
        status.session = session.carrier.has_session();
        status.auth_required = false;
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
        status.session = false;
    });
    inner.session.send_replace(None);
    let lost = |error| Ended::Lost { ran: Some(began.elapsed()), error, least: Duration::ZERO };
    closed.map_or(Ended::Stopped, lost)
}

/// Lists the tools, again whenever they change but never in a storm, until the conversation is over.
async fn watch_over(inner: &Inner, session: &Session) -> String {
    let limits = &inner.around.limits;
    let gaps = [limits.refresh / 10, limits.refresh * 3 / 10];
    let mut round = 0;
    let mut failures = 0;
    let mut least = Duration::ZERO;
    let mut listed = Instant::now();
    if session.greeting.era == Era::Modern && session.greeting.has_tools {
        // Newer servers tell of changes only those who asked; one that cannot says so, and that is all.
        session.peer.ask(
            "subscriptions/listen",
            &[("notifications", Param::Json(r#"{"toolsListChanged":true}"#))],
            Era::Modern,
        );
    }
    loop {
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed.to_string(),
            outcome = refresh(inner, session) => match outcome {
                Listed::Done => failures = 0,
                Listed::Broken { wait } => (failures, least) = (failures + 1, wait),
            }
        }
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed.to_string(),
            () = session.changed.notified(), if failures == 0 || least.is_zero() => {}
            () = too_old(inner), if failures == 0 => {}
            () = another_try(failures, least, limits) => {}
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
