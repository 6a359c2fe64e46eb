//! Asking a server for its tools, and what is said in its log when that goes wrong: once for each matter, however
//! often the list is asked for.

use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use kitbag_core::Limits;

use super::super::list::{self, ToolList};
use super::super::open::Session;
use super::super::peer::RequestError;
use super::super::status::LinkState;
use super::super::waits::backoff;
use super::Inner;
use super::pace::Compared;

/// What came of listing.
pub(super) enum Listed {
    /// A list, or a word that there is none: as before, or not.
    Done(Compared),
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

/// Asks for the tools once.
pub(super) async fn refresh(inner: &Inner, session: &Session) -> Listed {
    if !session.greeting.has_tools {
        inner.status.send_modify(|status| {
            status.tools = Some(0);
            status.listed = Some(SystemTime::now());
        });
        warn(inner, session, Matter::NoTools, "it has no tools");
        inner.tools.send_replace(Some(Arc::default()));
        inner.state(LinkState::Ready, None);
        return Listed::Done(Compared::Same);
    }
    match list::tools(&session.peer, session.greeting.era, &inner.plan.limits).await {
        Err(_) if session.peer.is_closed() => Listed::Done(Compared::Same),
        Ok(list) => {
            let broke_off = list.broke_off.then_some(list.wait);
            let compared = take(inner, session, list);
            broke_off.map_or(Listed::Done(compared), |wait| Listed::Broken { wait })
        }
        // The last good list stays.
        Err(error) => {
            let text = session.redactor.line(format!("tools cannot be listed: {error}").as_bytes());
            warn(inner, session, Matter::of(&error), &text);
            inner.state(LinkState::Degraded, Some(text));
            let wait = error.wait();
            match error {
                // What it says now it will say again.
                RequestError::Remote { code: -32601, .. }
                | RequestError::BadAnswer(_)
                | RequestError::TooLarge { .. } => Listed::Done(Compared::Same),
                RequestError::Http { status: 400..500, .. } if !is_passing(&error) => {
                    Listed::Done(Compared::Same)
                }
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
fn take(inner: &Inner, session: &Session, mut list: ToolList) -> Compared {
    let clean = |text: String| session.redactor.line(text.as_bytes());
    let why = list.truncated.as_ref().map_or_else(String::new, |cut| cut.why.clone());
    if list.broke_off && inner.tools.borrow().is_some() {
        let text = clean(format!("tools cannot be listed: {why}"));
        warn(inner, session, Matter::BrokeOff, &text);
        inner.state(LinkState::Degraded, Some(text));
        return Compared::Same;
    }
    let cut = list.truncated.is_some().then(|| clean(format!("tool list cut short: {why}")));
    if let Some(cut) = &mut list.truncated {
        cut.why = clean(std::mem::take(&mut cut.why));
    }
    session.carrier.learn(&mut list, session.greeting.era);
    match &cut {
        Some(text) => warn(inner, session, Matter::CutShort, text),
        None if list.tools.is_empty() => warn(inner, session, Matter::Empty, "it lists no tools"),
        None => *inner.matter.lock().unwrap_or_else(PoisonError::into_inner) = None,
    }
    inner.status.send_modify(|status| {
        status.tools = Some(list.tools.len());
        status.listed = Some(SystemTime::now());
        status.error = cut;
    });
    let before = inner.tools.send_replace(Some(Arc::new(list)));
    inner.state(LinkState::Ready, None);
    let is_same = |before: &ToolList| inner.tools.borrow().as_ref().is_some_and(|list| list.is_same(before));
    if before.is_some_and(|before| is_same(&before)) { Compared::Same } else { Compared::Other }
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
