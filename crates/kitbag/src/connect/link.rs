//! One server, kept alive: one task that starts it, watches it and starts it again, and calls that find it
//! wherever it is in that.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kitbag_core::{ErrorKind, ServerName};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::channel::Closed;
use super::era::Era;
use super::list::ToolList;
use super::open::{OpenError, Opener, Session, Tries};
use super::peer::Note;
use super::plan::{LinkContext, Plan};
use super::reason::Reason;
use super::status::{LinkState, Status};
use super::waits::backoff;
use super::wire::Param;

mod call;
mod listing;
mod pace;
mod retry;

pub use call::{Call, CallError, Reply};
use listing::{Listed, Matter, another_try, refresh};
use pace::{Pace, too_old};
use retry::{pause, retry_after};

struct Inner {
    plan: Plan,
    context: Arc<LinkContext>,
    status: watch::Sender<Status>,
    /// What the status says of being here, for whoever looks at thousands of links: no lock, no other memory.
    is_here: AtomicBool,
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
    /// Told when one that gave up shall try again.
    revived: Notify,
    /// How often somebody asked for that: an outcome older than the last wish is nobody's answer.
    wishes: AtomicU64,
    tries: Tries,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// A link to one server; clones share it.
#[derive(Clone)]
pub struct Link(Arc<Inner>);

impl Link {
    /// Takes a server over; it is started on first need.
    pub(crate) fn start(plan: Plan, context: &Arc<LinkContext>) -> Self {
        let state = LinkState::Idle;
        let keeping = context.launcher.keeping().as_str();
        let concurrency = plan.concurrency;
        let inner = Arc::new(Inner {
            plan,
            context: context.clone(),
            status: watch::Sender::new(Status { keeping, ..Status::new(state) }),
            is_here: AtomicBool::new(state.is_here()),
            session: watch::Sender::new(None),
            born: (Instant::now(), SystemTime::now()),
            last_good: AtomicU64::new(0),
            tools: watch::Sender::new(None),
            matter: Mutex::default(),
            wanted: watch::Sender::new(false),
            gate: Semaphore::new(concurrency),
            revived: Notify::new(),
            wishes: AtomicU64::new(0),
            tries: Tries::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        inner.tasks.spawn(supervise(inner.clone()));
        Self(inner)
    }

    /// The server's name.
    pub fn name(&self) -> &ServerName {
        &self.0.plan.spec.name
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

    /// How it is, in one word.
    pub(crate) fn state(&self) -> LinkState {
        self.0.status.borrow().state
    }

    /// Whether it is connected, or will be on first need.
    pub(crate) fn is_here(&self) -> bool {
        self.0.is_here.load(Ordering::Acquire)
    }

    /// Whether nobody need wait for it: it is not started, or will not be connected soon.
    pub(crate) fn is_given_up_or_idle(&self) -> bool {
        let status = self.0.status.borrow();
        status.state == LinkState::Idle || !status.state.is_connected() && status.is_settled()
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

    /// Waits until it is connected, or will not be soon: it cannot be started as it is configured, or has failed
    /// more than once in a row.
    pub async fn settled(&self) {
        self.want();
        let mut status = self.0.status.subscribe();
        let _ = status.wait_for(Status::is_settled).await;
    }

    /// A mailbox for the notes of a call, as large as the limits allow; what finds no room in it is dropped.
    pub fn mailbox(&self) -> (mpsc::Sender<Note>, mpsc::Receiver<Note>) {
        mpsc::channel(self.0.plan.limits.notes)
    }

    /// Calls in flight.
    pub fn in_flight(&self) -> usize {
        self.0.session.borrow().as_ref().map_or(0, |session| session.peer.in_flight())
    }

    /// Ends the server and everything it started.
    pub(crate) fn stop(&self) {
        self.0.gate.close();
        self.0.stop.cancel();
        self.0.tasks.close();
    }

    /// Ends the server once its calls have ended, at the latest after this time. No other call begins meanwhile.
    /// What is handed back waits until nothing of it is left; it ends also when nobody waits for that.
    pub(crate) fn end(&self, drain: Duration) -> impl Future<Output = ()> {
        let (inner, at_last) = (self.0.clone(), StopAtLast(self.clone()));
        self.0.tasks.spawn(async move {
            let all = u32::try_from(inner.plan.concurrency).unwrap_or(u32::MAX);
            let calls = tokio::time::timeout(drain, inner.gate.acquire_many(all)).await;
            drop(at_last);
            drop(calls);
        });
        // A server that cannot be ended must not hold up whoever waits.
        let bound = drain + self.0.plan.limits.wait_end * 2;
        async move {
            let _ = tokio::time::timeout(bound, self.0.tasks.wait()).await;
        }
    }

    /// Lets one that gave up, or waits before it tries again, do so now. From here on it counts as starting: whoever
    /// looks next waits for the new try, and is not told what came of an older one.
    pub(crate) fn revive(&self) {
        let is_away = self.0.status.send_if_modified(|status| {
            let is_away = matches!(status.state, LinkState::Failed | LinkState::Reconnecting);
            if is_away {
                self.0.wishes.fetch_add(1, Ordering::SeqCst);
                self.0.enter(status, LinkState::Starting);
                (status.failures, status.next_try) = (0, None);
            }
            is_away
        });
        if is_away {
            self.0.revived.notify_one();
        }
    }

    /// Starts the server anew once its calls have ended, at the latest after this time. Calls that come meanwhile
    /// wait for the new one.
    pub(crate) async fn restart(&self, drain: Duration) {
        self.want();
        self.revive();
        let all = u32::try_from(self.0.plan.concurrency).unwrap_or(u32::MAX);
        let held = tokio::time::timeout(drain, self.0.gate.acquire_many(all)).await;
        if let Some(session) = self.current() {
            session.peer.give_up(Reason::stopped("restarted").into());
            self.renewed(&session, Instant::now() + self.0.plan.limits.wait_end).await;
        }
        drop(held);
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
        if *self.0.wanted.borrow() {
            return;
        }
        // Said here and not by the task: whoever looks next must not take it for one that nobody waits for.
        self.0.status.send_if_modified(|status| {
            let is_first = status.state == LinkState::Idle;
            if is_first {
                self.0.enter(status, LinkState::Starting);
            }
            is_first
        });
        self.0.wanted.send_replace(true);
    }

    /// The conversation, if there is one.
    fn current(&self) -> Option<Arc<Session>> {
        self.0.session.borrow().as_ref().filter(|session| !session.peer.is_closed()).cloned()
    }

    /// The conversation, waiting for it until a moment; why there is none otherwise.
    async fn session(&self, until: Instant) -> Result<Arc<Session>, Away> {
        self.want();
        let mut sessions = self.0.session.subscribe();
        let mut status = self.0.status.subscribe();
        let live = |session: &Option<Arc<Session>>| {
            session.as_ref().is_some_and(|session| !session.peer.is_closed())
        };
        let hopeless = |status: &Status| matches!(status.state, LinkState::Failed | LinkState::Stopped);
        tokio::select! {
            biased;
            found = sessions.wait_for(live) => found.ok().and_then(|found| found.clone()).ok_or_else(|| self.why_away()),
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

    fn why_away(&self) -> Away {
        let status = self.0.status.borrow();
        let reason = status.error.as_ref().or(status.waits_for.as_ref()).cloned();
        Away { kind: status.kind_of_calls(), message: format!("is {}", status.line()), reason }
    }
}

/// Which way a call goes wrong while there is no conversation, and why.
struct Away {
    kind: ErrorKind,
    message: String,
    reason: Option<Arc<Reason>>,
}

/// Ends a server when it is dropped, be it with the runtime it waits in.
struct StopAtLast(Link);

impl Drop for StopAtLast {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Inner {
    fn state(&self, state: LinkState, error: Option<Reason>) {
        self.status.send_modify(|status| {
            if status.state != state {
                status.since = SystemTime::now();
            }
            self.enter(status, state);
            status.error = error.map(Arc::new).or(status.error.take());
        });
    }

    /// Says that it is away. Not where somebody asked for another try since this one began: they are told of that alone.
    fn fall(&self, setback: Setback, wishes: u64) {
        self.status.send_if_modified(|status| {
            if self.wishes.load(Ordering::SeqCst) != wishes {
                return false;
            }
            if status.state != setback.state {
                status.since = SystemTime::now();
            }
            self.enter(status, setback.state);
            status.error = Some(Arc::new(setback.error));
            status.failures = setback.failures;
            status.next_try = setback.delay.and_then(|delay| SystemTime::now().checked_add(delay));
            true
        });
    }

    /// The one place where a link gets another state.
    fn enter(&self, status: &mut Status, state: LinkState) {
        status.state = state;
        self.is_here.store(state.is_here(), Ordering::Release);
    }
}

/// Starts the server, watches it, and starts it again when it ends, ever more slowly if it ends at once.
async fn supervise(inner: Arc<Inner>) {
    let mut wanted = inner.wanted.subscribe();
    tokio::select! {
        () = inner.stop.cancelled() => return inner.state(LinkState::Stopped, None),
        _ = wanted.wait_for(|wanted| *wanted) => {}
    }
    inner.state(LinkState::Starting, None);
    let (mut failures, mut in_vain) = (0_u32, 0_u32);
    loop {
        let wishes = inner.wishes.load(Ordering::SeqCst);
        let ended = once(&inner).await;
        in_vain = if matches!(ended, Ended::Failed(_)) { in_vain + 1 } else { 0 };
        let setback = match ended {
            Ended::Stopped => break,
            Ended::Failed(error) => {
                let delay = retry_after(&error, in_vain, &inner.plan.limits);
                Setback { state: LinkState::Failed, error, failures, delay }
            }
            Ended::Lost { ran, error, least } => {
                // One that ran well gets a new start at once; one that keeps failing has to wait.
                let starts = inner.tries.starts();
                failures = match ran {
                    Some(ran) if inner.plan.limits.steady < ran => 0,
                    Some(_) => failures + 1,
                    // It said when to come back, and whoever waits for it can wait that long.
                    None if !least.is_zero() && least <= inner.plan.limits.wait_agent => failures,
                    // A try that asked both ways has cost two starts.
                    None => failures + starts.max(1),
                };
                let first = ran.is_some() && failures <= 1;
                inner.status.send_modify(|status| status.restarts += 1);
                let delay = if first { Duration::ZERO } else { backoff(failures, &inner.plan.limits) };
                let delay = delay.max(least.min(inner.plan.limits.restart_most));
                Setback { state: LinkState::Reconnecting, error, failures, delay: Some(delay) }
            }
        };
        let delay = setback.delay;
        inner.fall(setback, wishes);
        tokio::select! {
            () = inner.stop.cancelled() => break,
            () = inner.revived.notified() => in_vain = 0,
            () = pause(delay) => {}
        }
    }
    inner.session.send_replace(None);
    inner.state(LinkState::Stopped, None);
}

/// A link that is away, and when it is tried again; never where that cannot help.
struct Setback {
    state: LinkState,
    error: Reason,
    failures: u32,
    delay: Option<Duration>,
}

/// How one life of a server ended.
enum Ended {
    Stopped,
    /// It cannot be used before something changes.
    Failed(Reason),
    Lost {
        /// How long it ran, if it came to that.
        ran: Option<Duration>,
        error: Reason,
        /// How long it asked to be left alone.
        least: Duration,
    },
}

/// One life of a server: opened, listed, watched until it ends.
async fn once(inner: &Inner) -> Ended {
    let opener = Opener {
        plan: &inner.plan,
        context: &inner.context,
        tasks: &inner.tasks,
        stop: &inner.stop,
        tries: &inner.tries,
    };
    inner.status.send_modify(|status| {
        status.waits_for = opener.waits_for().map(Arc::new);
        status.next_try = None;
    });
    let opened = tokio::select! {
        () = inner.stop.cancelled() => return Ended::Stopped,
        opened = opener.open() => opened,
    };
    inner.status.send_modify(|status| status.waits_for = None);
    let session = match opened {
        Ok(session) => session,
        Err(OpenError::Failed(reason)) => return Ended::Failed(reason),
        Err(OpenError::Again(error)) => {
            return Ended::Lost { ran: None, error, least: Duration::ZERO };
        }
        Err(OpenError::Busy { reason, wait }) => {
            return Ended::Lost { ran: None, error: reason, least: wait };
        }
    };
    let began = Instant::now();
    inner.status.send_modify(|status| {
        status.version = Some(session.greeting.version.clone());
        status.pid = session.pid;
        status.transport = Some(session.carrier.as_str());
        status.era = Some(session.greeting.era.as_str());
        status.session = session.carrier.has_session();
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
    closed.map_or(Ended::Stopped, |Closed(reason)| lost(reason.cleaned(&session.redactor)))
}

/// Lists the tools, again whenever they change but never in a storm, until the conversation is over.
async fn watch_over(inner: &Inner, session: &Session) -> Closed {
    let limits = &inner.plan.limits;
    let gaps = [limits.refresh / 10, limits.refresh * 3 / 10];
    let mut round = 0;
    let mut failures = 0;
    let mut least = Duration::ZERO;
    let mut pace = Pace::new(limits);
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
            closed = session.peer.closed() => return closed,
            outcome = refresh(inner, session) => match outcome {
                Listed::Done(compared) => {
                    failures = 0;
                    pace.listed(compared, limits);
                }
                Listed::Broken { wait } => (failures, least) = (failures + 1, wait),
            }
        }
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed,
            () = session.news.changed.notified(), if failures == 0 || least.is_zero() => {}
            () = too_old(inner, session, &pace), if failures == 0 => {}
            () = another_try(failures, least, limits) => {}
        }
        // Quiet for a while: the next change is news again.
        round = if limits.refresh * 2 < listed.elapsed() { 0 } else { round };
        let gap = gaps.get(round).copied().unwrap_or(limits.refresh);
        round += 1;
        tokio::select! {
            biased;
            closed = session.peer.closed() => return closed,
            () = tokio::time::sleep_until(listed + gap) => {}
        }
        listed = Instant::now();
    }
}
