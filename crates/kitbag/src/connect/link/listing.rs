//! Asking a server for its tools, and what is said in its log when that goes wrong: once for each matter, however
//! often the list is asked for.

use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kitbag_core::Limits;

use super::super::list;
use super::super::open::Session;
use super::super::peer::RequestError;
use super::super::status::LinkState;
use super::{Inner, backoff};

/// What came of listing.
pub(super) enum Listed {
    /// A list, or a word that there is none.
    Done,
    /// Nothing, and the conversation goes on: another try may do better, but not before the server wants one.
    Broken { wait: Duration },
}

/// What can be wrong with a list. Told apart by kind, not by words: those of a server may change every time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matter {
    NoTools,
    Empty,
    CutShort,
    BrokeOff,
    Failed(Discriminant<RequestError>, Option<i64>),
}

impl Matter {
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

/// Waits until the list is older than its server says it may be.
pub(super) async fn too_old(inner: &Inner) {
    let ttl = inner.tools.borrow().as_ref().and_then(|list| list.ttl);
    match ttl {
        Some(ttl) => tokio::time::sleep(ttl.max(inner.plan.limits.refresh)).await,
        None => std::future::pending().await,
    }
}

/// Asks for the tools once.
pub(super) async fn refresh(inner: &Inner, session: &Session) -> Listed {
    if !session.greeting.has_tools {
        inner.status.send_modify(|status| status.tools = Some(0));
        warn(inner, session, Matter::NoTools, "it has no tools");
        inner.tools.send_replace(Some(Arc::default()));
        inner.state(LinkState::Ready, None);
        return Listed::Done;
    }
    match list::tools(&session.peer, session.greeting.era, &inner.plan.limits).await {
        Err(_) if session.peer.is_closed() => Listed::Done,
        Ok(list) => {
            let broke_off = list.broke_off.then_some(list.wait);
            take(inner, session, list);
            broke_off.map_or(Listed::Done, |wait| Listed::Broken { wait })
        }
        // The last good list stays.
        Err(error) => {
            let text = inner.plan.said(&format!("tools cannot be listed: {error}"));
            warn(inner, session, Matter::of(&error), &text);
            inner.state(LinkState::Degraded, Some(text));
            let wait = error.wait();
            match error {
                // What it says now it will say again.
                RequestError::Remote { code: -32601, .. }
                | RequestError::BadAnswer(_)
                | RequestError::TooLarge { .. } => Listed::Done,
                RequestError::Http { status: 400..500, .. } if !is_passing(&error) => Listed::Done,
                _ => Listed::Broken { wait },
            }
        }
    }
}

/// Whether a refusal is about this moment, not about what was asked.
fn is_passing(error: &RequestError) -> bool {
    matches!(error, RequestError::Http { status: 408 | 425 | 429, .. })
}

/// Puts a list into the place of the one before. Half a list is worth more than none, but not more than a whole
/// one from before.
fn take(inner: &Inner, session: &Session, mut list: list::ToolList) {
    list.truncated = list.truncated.map(|why| inner.plan.said(&why));
    let why = list.truncated.as_deref().unwrap_or_default();
    if list.broke_off && inner.tools.borrow().is_some() {
        let text = inner.plan.said(&format!("tools cannot be listed: {why}"));
        warn(inner, session, Matter::BrokeOff, &text);
        return inner.state(LinkState::Degraded, Some(text));
    }
    let cut = list.truncated.is_some().then(|| inner.plan.said(&format!("tool list cut short: {why}")));
    session.carrier.learn(&mut list, session.greeting.era);
    match &cut {
        Some(text) => warn(inner, session, Matter::CutShort, text),
        None if list.tools.is_empty() => warn(inner, session, Matter::Empty, "it lists no tools"),
        None => *inner.matter.lock().unwrap_or_else(PoisonError::into_inner) = None,
    }
    inner.status.send_modify(|status| {
        status.tools = Some(list.tools.len());
        status.error = cut;
    });
    inner.tools.send_replace(Some(Arc::new(list)));
    inner.state(LinkState::Ready, None);
}

/// One line in the log, unless the last one was about the same.
fn warn(inner: &Inner, session: &Session, matter: Matter, text: &str) {
    let before = inner.matter.lock().unwrap_or_else(PoisonError::into_inner).replace(matter);
    if before == Some(matter) {
        return;
    }
    let at = session.carrier.address().filter(|at| !text.contains(at));
    let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
    session.tail.remark(&format!("WARNING {text}{at}"));
}
