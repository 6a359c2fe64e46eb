//! The task of a link: starts its server, lists its tools, watches it, and starts it again when it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument as _;

use super::super::channel::Closed;
use super::super::era::{Era, Handshake};
use super::super::open::{ConnectError, Opener, Session};
use super::super::reason::Reason;
use super::super::spans;
use super::super::status::LinkState;
use super::super::waits::backoff;
use super::super::wire::Param;
use super::Inner;
use super::listing::{Listed, another_try, refresh};
use super::pace::{Pace, too_old};
use super::retry::{pause, retry_after};

/// Starts the server, watches it, and starts it again when it ends, ever more slowly if it ends at once.
pub(super) async fn supervise(inner: Arc<Inner>) {
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
pub(super) struct Setback {
    pub(super) state: LinkState,
    pub(super) error: Reason,
    pub(super) failures: u32,
    pub(super) delay: Option<Duration>,
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
        news: &inner.news,
    };
    inner.status.send_modify(|status| {
        status.waits_for = opener.waits_for().map(Arc::new);
        status.next_try = None;
    });
    let span = spans::open(&inner.plan.spec.name);
    let opened = tokio::select! {
        () = inner.stop.cancelled() => return Ended::Stopped,
        opened = opener.open().instrument(span.clone()) => opened,
    };
    span.record("outcome", opened.as_ref().map_or_else(|error| error.reason().class.as_str(), |_| "ready"));
    drop(span);
    inner.status.send_modify(|status| status.waits_for = None);
    let session = match opened {
        Ok(session) => session,
        Err(ConnectError::Failed(reason)) => return Ended::Failed(reason),
        Err(ConnectError::Again(error)) => {
            return Ended::Lost { ran: None, error, least: Duration::ZERO };
        }
        Err(ConnectError::Busy { reason, wait }) => {
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
    inner.news.begin();
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
    if let Some(wanted) = wanted_news(session) {
        // Newer servers tell of changes only those who asked; one that cannot says so, and that is all.
        session.peer.ask("subscriptions/listen", &[("notifications", Param::Json(&wanted))], Era::Modern);
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

/// What a server of the newer era is asked to tell of.
fn wanted_news(session: &Session) -> Option<String> {
    let Handshake { era, has_tools, features, .. } = &*session.greeting;
    let all = [
        (*has_tools, "toolsListChanged"),
        (features.resources_changed, "resourcesListChanged"),
        (features.prompts_changed, "promptsListChanged"),
    ];
    let wanted: Vec<String> =
        all.iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, key)| format!("\"{key}\":true")).collect();
    (*era == Era::Modern && !wanted.is_empty()).then(|| format!("{{{}}}", wanted.join(",")))
}
