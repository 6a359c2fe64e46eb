//! Asking a server for its tools, and what is said in its log when that goes wrong: once for each problem, however
//! often the list is asked for.

use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use kitbag_core::Limits;
use tracing::Instrument as _;

use super::super::list::{self, ToolList};
use super::super::open::Session;
use super::super::peer::RequestError;
use super::super::reason::{Reason, ReasonClass};
use super::super::spans;
use super::super::status::LinkState;
use super::super::waits::backoff;
use super::Inner;
use super::pace::Compared;

const NOT_LISTED: &str = "tools cannot be listed";

/// What came of listing.
pub(super) enum Listed {
    /// A list, or a word that there is none: as before, or not.
    Done(Compared),
    /// Nothing, and the conversation goes on: another try may do better, but not before the server wants one.
    Broken { wait: Duration },
}

/// What can be wrong with a list. Told apart by kind, not by words: those of a server may change every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListProblem {
    NoTools,
    Empty,
    CutShort,
    BrokeOff,
    Failed(Discriminant<RequestError>, Option<i64>),
}

impl ListProblem {
    fn of(error: &RequestError) -> Self {
        let code = match error {
            RequestError::Remote { code, .. } => Some(*code),
            RequestError::Http { status, .. } => Some(i64::from(*status)),
            _ => None,
        };
        Self::Failed(discriminant(error), code)
    }
}

/// Waits until what broke off may be tried again.
pub(super) async fn another_try(failures: u32, least: Duration, limits: &Limits) {
    match failures {
        0 => std::future::pending().await,
        _ => tokio::time::sleep(backoff(failures, limits).max(least.min(limits.restart_most))).await,
    }
}

/// Asks for the tools once.
pub(super) async fn refresh(inner: &Inner, session: &Session) -> Listed {
    if !session.greeting.has_tools {
        inner.status.send_modify(|status| {
            (status.tools, status.error) = (Some(0), None);
            status.listed = Some(SystemTime::now());
        });
        say(inner, session, ListProblem::NoTools, "it has no tools");
        inner.tools.send_replace(Some(Arc::default()));
        inner.state(LinkState::Ready, None);
        return Listed::Done(Compared::Same);
    }
    let span = spans::list(&inner.plan.spec.name);
    let listing = list::tools(&session.peer, session.greeting.era, &inner.plan.limits);
    let listed = listing.instrument(span.clone()).await;
    spans::end_list(&span, listed.as_ref().map(|list| list.tools.len()).ok());
    match listed {
        Err(_) if session.peer.is_closed() => Listed::Done(Compared::Same),
        Ok(list) => {
            let broke_off = list.broke_off.then_some(list.wait);
            let compared = take(inner, session, list);
            broke_off.map_or(Listed::Done(compared), |wait| Listed::Broken { wait })
        }
        // The last good list stays.
        Err(error) => {
            let (problem, wait) = (ListProblem::of(&error), error.wait());
            let outcome = match &error {
                // What it says now it will say again.
                RequestError::Remote { code: -32601, .. }
                | RequestError::BadAnswer(_)
                | RequestError::NotMcp(_)
                | RequestError::TooLarge { .. } => Listed::Done(Compared::Same),
                RequestError::Http { status: 400..500, .. } if !is_passing(&error) => {
                    Listed::Done(Compared::Same)
                }
                _ => Listed::Broken { wait },
            };
            let reason = error.into_reason().of_failed(NOT_LISTED);
            let reason = warn(inner, session, problem, reason);
            inner.state(LinkState::Degraded, Some(reason));
            outcome
        }
    }
}

/// Whether a refusal is about this moment, not about what was asked.
fn is_passing(error: &RequestError) -> bool {
    matches!(error, RequestError::Http { status: 408 | 425 | 429, .. })
}

/// Puts a list into the place of the one before. Half a list is worth more than none, but not more than a whole
/// one from before.
fn take(inner: &Inner, session: &Session, mut list: ToolList) -> Compared {
    if let Some(cut) = &mut list.truncated {
        cut.why = inner.plan.said(&cut.why);
    }
    let cut = list.truncated.as_ref().map(|cut| Reason::new(ReasonClass::CutShort, cut.why.clone()));
    if let Some(reason) = cut.clone().filter(|_| list.broke_off && inner.tools.borrow().is_some()) {
        let reason = warn(inner, session, ListProblem::BrokeOff, reason.of_failed(NOT_LISTED));
        inner.state(LinkState::Degraded, Some(reason));
        return Compared::Same;
    }
    session.carrier.learn(&mut list, session.greeting.era);
    let cut = cut.map(|reason| warn(inner, session, ListProblem::CutShort, reason));
    if cut.is_none() && list.tools.is_empty() {
        say(inner, session, ListProblem::Empty, "it lists no tools");
    } else if cut.is_none() {
        *inner.problem.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
    inner.status.send_modify(|status| {
        status.tools = Some(list.tools.len());
        status.listed = Some(SystemTime::now());
        status.error = cut.map(Arc::new);
    });
    let before = inner.tools.send_replace(Some(Arc::new(list)));
    inner.state(LinkState::Ready, None);
    let is_same = |before: &ToolList| inner.tools.borrow().as_ref().is_some_and(|list| list.is_same(before));
    if before.is_some_and(|before| is_same(&before)) { Compared::Same } else { Compared::Other }
}

/// A reason in the log, unless the last line was about the same; the reason as it may be shown.
fn warn(inner: &Inner, session: &Session, problem: ListProblem, reason: Reason) -> Reason {
    let reason = inner.plan.told(reason);
    let reason = match session.carrier.address() {
        Some(address) => reason.at(address),
        None => reason,
    };
    remark(inner, session, problem, &reason.to_string());
    reason
}

/// The same for what is no trouble.
fn say(inner: &Inner, session: &Session, problem: ListProblem, text: &str) {
    let at = session.carrier.address().map(|at| format!(" at {at}")).unwrap_or_default();
    remark(inner, session, problem, &format!("{text}{at}"));
}

/// One line in the log, unless the last one was about the same.
fn remark(inner: &Inner, session: &Session, problem: ListProblem, text: &str) {
    let before = inner.problem.lock().unwrap_or_else(PoisonError::into_inner).replace(problem);
    if before != Some(problem) {
        session.tail.remark(&format!("WARNING {text}"));
    }
}
