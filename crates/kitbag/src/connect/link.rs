//! One server, kept alive: one task that starts it, watches it and starts it again, and calls that find it
//! wherever it is in that.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kitbag_core::{ErrorKind, ServerName};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::list::ToolList;
use super::news::LinkNews;
use super::notification::Notification;
use super::open::{Session, Tries};
use super::plan::{LinkContext, Plan};
use super::reason::Reason;
use super::status::{LinkState, LinkStatus};
use super::stdio::latest_line;

mod breaker;
mod call;
mod listing;
mod lists;
mod pace;
mod retry;
mod subscriptions;
mod supervise;

use breaker::Breaker;
pub use call::{RawCall, RawCallError, RawReply, RawRequest, ReplyKind};
use listing::ListProblem;
pub(crate) use lists::Items;
use lists::KeptLists;
pub(crate) use subscriptions::Subscribed;
use subscriptions::Subscriptions;
use supervise::{Setback, supervise};

struct Inner {
    plan: Plan,
    context: Arc<LinkContext>,
    status: watch::Sender<LinkStatus>,
    /// What the status says of being here, for whoever looks at thousands of links: no lock, no other memory.
    is_here: AtomicBool,
    session: watch::Sender<Option<Arc<Session>>>,
    /// When this began, by both clocks: a call then needs to look at only one.
    born: (Instant, SystemTime),
    /// Restarts that the audit log knows of.
    told_restarts: AtomicU32,
    /// When a call last came back, in microseconds after that; 0 when none did.
    last_good: AtomicU64,
    tools: watch::Sender<Option<Arc<ToolList>>>,
    /// What it lists beside tools, as far as anybody asked for it.
    lists: KeptLists,
    subscriptions: Subscriptions,
    /// What its server tells by itself, beside changes of its tools.
    news: Arc<LinkNews>,
    /// What was last wrong with the list of tools: told once, not at every refresh.
    problem: Mutex<Option<ListProblem>>,
    wanted: watch::Sender<bool>,
    gate: Semaphore,
    breaker: Breaker,
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
        let keeping = context.launcher.containment().as_str();
        let concurrency = plan.concurrency;
        let inner = Arc::new(Inner {
            plan,
            context: context.clone(),
            status: watch::Sender::new(LinkStatus { keeping, ..LinkStatus::new(state) }),
            is_here: AtomicBool::new(state.is_here()),
            session: watch::Sender::new(None),
            born: (Instant::now(), SystemTime::now()),
            told_restarts: AtomicU32::new(0),
            last_good: AtomicU64::new(0),
            tools: watch::Sender::new(None),
            lists: KeptLists::default(),
            subscriptions: Subscriptions::default(),
            news: Arc::default(),
            problem: Mutex::default(),
            wanted: watch::Sender::new(false),
            gate: Semaphore::new(concurrency),
            breaker: Breaker::default(),
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
    pub fn status(&self) -> LinkStatus {
        let mut status = self.0.status.borrow().clone();
        let good = Duration::from_micros(self.0.last_good.load(Ordering::Relaxed));
        status.last_good = (!good.is_zero()).then(|| self.0.born.1 + good);
        let open = self.0.breaker.open(Instant::now());
        status.calls_refused_until = open.and_then(|left| SystemTime::now().checked_add(left));
        status.noise = self
            .0
            .session
            .borrow()
            .as_ref()
            .map_or(status.noise, |session| session.noise.count.load(Ordering::Relaxed));
        if !status.state.is_connected() {
            status.downloading = status.state == LinkState::Starting && self.0.tries.may_download();
            let lines = self.0.tries.tail().map(|tail| tail.last(10)).unwrap_or_default();
            status.stderr = latest_line(&lines);
        }
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
    pub(crate) fn watch_status(&self) -> watch::Receiver<LinkStatus> {
        self.0.status.subscribe()
    }

    /// How many of so many restarts nobody has told of yet; they count as told then.
    pub(crate) fn untold_restarts(&self, restarts: u32) -> u32 {
        restarts.saturating_sub(self.0.told_restarts.fetch_max(restarts, Ordering::Relaxed))
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
        let _ = status.wait_for(LinkStatus::is_settled).await;
    }

    /// A mailbox for the notes of a call, as large as the limits allow; what finds no room in it is dropped.
    pub fn mailbox(&self) -> (mpsc::Sender<Notification>, mpsc::Receiver<Notification>) {
        mpsc::channel(self.0.plan.limits.notes)
    }

    /// Calls in flight.
    pub fn in_flight(&self) -> usize {
        self.0.session.borrow().as_ref().map_or(0, |session| session.peer.in_flight())
    }

    /// Lets a first download go on for a while when the link is ended, under its guard alone. Only a program that is
    /// about to end as it should may do this.
    pub(crate) fn let_go(&self) {
        if self.state() == LinkState::Starting {
            self.0.tries.let_go();
        }
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
        self.0.breaker.close();
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
        let hopeless = |status: &LinkStatus| matches!(status.state, LinkState::Failed | LinkState::Stopped);
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
        Away { kind: status.kind_of_calls(), message: status.line(), reason }
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
    fn enter(&self, status: &mut LinkStatus, state: LinkState) {
        status.state = state;
        self.is_here.store(state.is_here(), Ordering::Release);
    }
}
