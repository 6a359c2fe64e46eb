//! Opening a conversation with an address: by which transport, in which era, and why not.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kitbag_core::model::{ResolvedSpec, ResolvedTarget, Transport};
use kitbag_core::text::{Redactor, redact_url};
use kitbag_core::{Limits, Secret};
use tokio::time::Instant;

use super::super::carrier::Carrier;
use super::super::client::ProtocolVersion;
use super::super::era::{self, Era, OpeningError};
use super::super::http::{Address, Remote, Route, Streamable, Trouble, open_sse};
use super::super::logs::Tail;
use super::super::peer::{Clocks, RequestError};
use super::super::reason::{Reason, ReasonClass};
use super::{ConnectError, Opener, Session, Started, until};
use crate::Env;

/// How a try with one transport failed.
enum Tried {
    /// The other one may do.
    Other(Reason),
    /// The other one would not do better.
    Stop(ConnectError),
}

/// What both transports start from.
struct Place<'a> {
    url: &'a Secret,
    headers: &'a [(String, Secret)],
    redactor: &'a Redactor,
    tail: Arc<Tail>,
    env: &'a Env,
    deadline: Instant,
}

impl Place<'_> {
    /// The address as it may be shown.
    fn shown(&self) -> String {
        redact_url(self.url.expose())
    }

    fn remote(&self, limits: &Limits) -> Result<Remote, Tried> {
        let route = Route::of(self.env);
        let remote = Remote::new(self.url, self.headers, limits, self.redactor.clone(), &route);
        remote.map_err(|reason| Tried::Stop(ConnectError::Failed(reason)))
    }
}

impl Opener<'_> {
    /// What will be waited for, where that can be said before.
    pub(crate) fn waits_for(&self) -> Option<Reason> {
        let resolved = self.plan.resolved.as_ref().as_ref().ok()?;
        let ResolvedSpec { link: ResolvedTarget::Remote { url, .. } } = resolved else { return None };
        let reason = Reason::new(ReasonClass::Timeout, "no usable answer yet");
        Some(reason.at(&redact_url(url.expose())).cleaned(self.redactor()))
    }

    /// Opens a conversation with an address, within its clock. A failure is one line in the log, and not repeated
    /// there while nothing changes.
    pub(super) async fn remote(
        &self,
        transport: Transport,
        url: &Secret,
        headers: &[(String, Secret)],
        redactor: Redactor,
    ) -> Result<Session, ConnectError> {
        let clock = self.plan.clocks.connect;
        let deadline = Instant::now() + clock.time;
        let tail = self.tail(&redactor);
        let env = &self.context.env;
        let place = Place { url, headers, redactor: &redactor, tail: tail.clone(), env, deadline };
        let late = || {
            let reason = Reason::new(ReasonClass::Timeout, format!("no usable answer within {clock}"));
            ConnectError::Again(reason.at(&redact_url(url.expose())))
        };
        let opened = tokio::time::timeout_at(deadline, self.ways(transport, &place)).await;
        let opened = opened.unwrap_or_else(|_| Err(late())).map_err(|error| error.cleaned(self.plan));
        let why = opened.as_ref().err().map(|error| error.reason().clone());
        let mut said = self.tries.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_said = |why: &Reason| said.as_ref().is_some_and(|said| said.is_alike(why));
        if let Some(why) = why.as_ref().filter(|why| !is_said(why)) {
            tail.cannot_connect(why);
        }
        *said = why;
        opened
    }

    /// The transport that is likely, then the other one where the protocol says so.
    async fn ways(&self, transport: Transport, place: &Place<'_>) -> Result<Session, ConnectError> {
        let address = Address::parse(place.url.expose()).map_err(ConnectError::Failed)?;
        let sse_first = match transport {
            Transport::Sse => true,
            Transport::Auto => address.ends_in_sse(),
            Transport::Http | Transport::Stdio | Transport::InProcess => false,
        };
        let first = if sse_first { self.sse(place).await } else { self.streamable(place).await };
        let why = match first {
            Ok(session) => return Ok(session),
            Err(Tried::Stop(error)) => return Err(error),
            Err(Tried::Other(why)) => why,
        };
        let second = if sse_first { self.streamable(place).await } else { self.sse(place).await };
        second.map_err(|tried| match tried {
            Tried::Stop(error @ ConnectError::Busy { .. }) => error,
            Tried::Stop(ConnectError::Failed(reason)) if reason.class.is_about_access() => {
                ConnectError::Failed(reason)
            }
            // What the likely transport met says more.
            _ => ConnectError::Again(why),
        })
    }

    async fn streamable(&self, place: &Place<'_>) -> Result<Session, Tried> {
        let stop = self.stop.child_token();
        let remote = place.remote(&self.plan.limits)?;
        let (http, posts, answers) = Streamable::start(remote, self.tries.renewed.clone(), self.tasks, &stop);
        let redactor = place.redactor.clone();
        let channel = (posts, answers);
        let started = self.converse(channel, Carrier::Http(http), None, place.tail.clone(), redactor, stop);
        if let Some(only) = self.greeting().revision.only() {
            let greeting = self.exactly_at(only, &started, place).await?;
            return Ok(started.agreed(greeting));
        }
        let assumed = self.tries.both.load(Ordering::Relaxed).then_some(Era::Legacy);
        let configured = self.greeting().revision.asked().map(ProtocolVersion::era);
        let key = self.memory_key();
        let remembered = self.context.memory.get(&key);
        // What this run has learnt is newer than what was remembered.
        let known = configured.or(assumed).or(remembered);
        let greeting = match known {
            Some(Era::Legacy) => match self.initialize(&started, place).await {
                Err(Tried::Other(why)) if configured.is_none() => {
                    // What was remembered may be wrong by now.
                    self.discover(&started, place).await.map_err(|_| Tried::Other(why))
                }
                other => other,
            },
            _ => self.discover(&started, place).await,
        };
        let greeting = greeting?;
        if greeting.era == Era::Legacy && self.context.memory.get(&key) == Some(Era::Modern) {
            self.context.memory.set(&key, None, self.plan.limits.eras);
        }
        Ok(started.agreed(greeting))
    }

    /// Asks the modern way. Whatever only a newer server says stays with it; anything else is asked the older way.
    /// What is learnt by that is remembered, unless the question came to nothing: a server of both eras that was
    /// just being started would be taken for an older one for good.
    async fn discover(&self, started: &Started, place: &Place<'_>) -> Result<era::Handshake, Tried> {
        let budget = self.plan.limits.probe.min(self.plan.clocks.connect.time / 2);
        let eras = self.plan.limits.eras;
        let remember = |era| self.context.memory.set(&self.memory_key(), Some(era), eras);
        let error = match era::discover(&started.peer, &self.greeting(), Clocks::of(budget)).await {
            Ok(greeting) => {
                remember(Era::Modern);
                return Ok(greeting);
            }
            Err(error) => error,
        };
        let probed = match error {
            OpeningError::Refused(reason) => {
                return Err(Tried::Stop(ConnectError::Failed(reason.at(&place.shown()))));
            }
            OpeningError::Request(error @ RequestError::Remote { code: -32021 | -32020, .. }) => {
                let reason = error.into_reason().of_failed("server/discover was refused");
                return Err(Tried::Stop(ConnectError::Failed(reason.at(&place.shown()))));
            }
            OpeningError::Request(
                error @ (RequestError::NotSent(_) | RequestError::Http { status: 401 | 403, .. }),
            ) => return Err(tried(error, place)),
            OpeningError::Request(error) if wait(&error).is_some() => return Err(tried(error, place)),
            OpeningError::OtherEra => Probed::Older,
            OpeningError::Unwell => Probed::Unclear,
            OpeningError::Request(error) => Probed::of(&error),
        };
        let initialized = self.initialize(started, place).await;
        // A question that ends a server, or that it lets hang, must not be asked again.
        let both = match probed {
            Probed::Silent => true,
            Probed::Cut => initialized.is_err(),
            Probed::Older | Probed::Unclear => false,
        };
        self.tries.both.store(both, Ordering::Relaxed);
        if initialized.is_ok() && probed == Probed::Older {
            remember(Era::Legacy);
        }
        initialized
    }

    async fn initialize(&self, started: &Started, place: &Place<'_>) -> Result<era::Handshake, Tried> {
        let greeting = era::initialize(&started.peer, &self.greeting(), until(place.deadline)).await;
        greeting.map_err(|error| match error {
            OpeningError::OtherEra | OpeningError::Unwell => {
                Tried::Other(era::speaks_neither().at(&place.shown()))
            }
            OpeningError::Refused(reason) => Tried::Stop(ConnectError::Failed(reason.at(&place.shown()))),
            OpeningError::Request(error) => tried(error, place),
        })
    }

    /// The one revision that is to be spoken, and nothing else. What is learnt by that is not remembered.
    async fn exactly_at(
        &self,
        only: ProtocolVersion,
        started: &Started,
        place: &Place<'_>,
    ) -> Result<era::Handshake, Tried> {
        let greeting = self.greeting();
        let (opened, what) = match only.era() {
            Era::Legacy => {
                (era::initialize(&started.peer, &greeting, until(place.deadline)).await, "initialize")
            }
            Era::Modern => {
                (era::discover(&started.peer, &greeting, until(place.deadline)).await, "server/discover")
            }
        };
        let error = match opened {
            Ok(greeting) => return Ok(greeting),
            Err(error) => error,
        };
        let stop = |reason: Reason| Tried::Stop(ConnectError::Failed(reason.at(&place.shown())));
        let is_modern = only.era() == Era::Modern;
        Err(match error {
            OpeningError::Refused(reason) => stop(reason),
            // An older server knows no request without a session.
            OpeningError::Request(error)
                if is_modern && !is_about_access(&error) && Probed::of(&error) == Probed::Older =>
            {
                stop(era::not_spoken(only, "it refuses server/discover"))
            }
            OpeningError::Request(error) => tried(error, place),
            OpeningError::OtherEra | OpeningError::Unwell => {
                stop(era::not_spoken(only, &format!("it refuses {what}")))
            }
        })
    }

    async fn sse(&self, place: &Place<'_>) -> Result<Session, Tried> {
        if let Some(only) = self.greeting().revision.only().filter(|only| only.era() == Era::Modern) {
            let reason = era::not_spoken(only, "HTTP+SSE is older than that");
            return Err(Tried::Other(reason.at(&place.shown())));
        }
        let stop = self.stop.child_token();
        let remote = place.remote(&self.plan.limits)?;
        let carrier = Carrier::Sse(remote.address.shown.clone());
        let opened = open_sse(remote, self.tries.renewed.clone(), self.tasks, &stop).await;
        let channel = opened.map_err(|trouble: Trouble| tried(trouble.into_error(), place))?;
        let redactor = place.redactor.clone();
        let started = self.converse(channel, carrier, None, place.tail.clone(), redactor, stop);
        let greeting = self.initialize(&started, place).await?;
        Ok(started.agreed(greeting))
    }
}

/// What a probe that gave no greeting says about the era.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Probed {
    /// It was refused in a way of the older one.
    Older,
    /// It was never answered.
    Silent,
    /// It ended in the middle.
    Cut,
    /// It was answered by something that is not about it.
    Unclear,
}

impl Probed {
    fn of(error: &RequestError) -> Self {
        match error {
            RequestError::Timeout { .. } => Self::Silent,
            RequestError::Broken(_) | RequestError::Lost(_) => Self::Cut,
            // Too slow, too early: that is not about the question.
            RequestError::Http { status: 408 | 425, .. } => Self::Unclear,
            RequestError::Http { status: 400..500, .. } => Self::Older,
            _ => Self::Unclear,
        }
    }
}

/// How long a server that is busy wants to be left alone; none if it is not, or does not say.
fn wait(error: &RequestError) -> Option<Duration> {
    match error {
        RequestError::Http { status: 429, wait, .. } => Some(wait.unwrap_or_default()),
        RequestError::Http { status: 503, wait, .. } => *wait,
        _ => None,
    }
}

fn is_about_access(error: &RequestError) -> bool {
    matches!(error, RequestError::Http { status: 401 | 403, .. })
}

/// What a failed request says about the transport it was made by.
fn tried(error: RequestError, place: &Place<'_>) -> Tried {
    let wait = wait(&error);
    let is_other = match &error {
        RequestError::Http { status, .. } => (400..500).contains(status),
        RequestError::Remote { .. } | RequestError::NotMcp(_) => true,
        _ => false,
    };
    let is_unreadable = matches!(error, RequestError::BadAnswer(_) | RequestError::TooLarge { .. });
    let mut reason = error.into_reason().at(&place.shown());
    if is_unreadable {
        reason.class = ReasonClass::NotMcp;
    }
    match wait {
        Some(wait) => Tried::Stop(ConnectError::Busy { reason, wait }),
        None if reason.class.is_about_access() => Tried::Stop(ConnectError::Failed(reason)),
        None if is_other => Tried::Other(reason),
        None => Tried::Stop(ConnectError::Again(reason)),
    }
}
