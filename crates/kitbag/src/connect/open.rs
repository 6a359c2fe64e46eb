//! From a server's description to a conversation that both sides have agreed on.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kitbag_core::model::{ResolvedSpec, ResolvedTarget, Timeout};
use kitbag_core::text::Redactor;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::carrier::Carrier;
use super::channel::{LineSource, Sink};
use super::client::{Greeting, ProtocolVersion};
use super::era::{self, Era, Handshake, OpeningError};
use super::in_process;
use super::lines::no_longer_reads;
use super::logs::Tail;
use super::message::NotAMessage;
use super::news::{LinkNews, News};
use super::peer::{Bounds, Clocks, Inbound, LAST_WORDS, Peer, RequestError};
use super::plan::{LinkContext, Plan};
use super::reason::{Reason, ReasonClass};
use super::stdio::{self, StdinWatch};

mod download;
mod exactly;
#[cfg(feature = "http")]
mod remote;
#[cfg(not(feature = "http"))]
#[path = "open/no_remote.rs"]
mod remote;

use download::Download;

/// A conversation both sides have agreed on.
pub(crate) struct Session {
    pub(crate) peer: Peer,
    pub(crate) greeting: Arc<Handshake>,
    pub(crate) pid: Option<u32>,
    /// What carries it.
    pub(crate) carrier: Carrier,
    /// What the server says about its list of tools.
    pub(crate) news: Arc<News>,
    /// Ends it.
    pub(crate) stop: CancellationToken,
    pub(crate) noise: Arc<Noise>,
    pub(crate) tail: Arc<Tail>,
    /// Hides the secrets the server was given from what it says.
    pub(crate) redactor: Redactor,
}

/// Output that was no message.
#[derive(Default)]
pub(crate) struct Noise {
    pub(crate) count: AtomicU64,
}

/// Why there is no conversation.
#[derive(Clone, Debug)]
pub(crate) enum ConnectError {
    /// Trying again makes no sense before something changes: the configuration, or what it speaks of.
    Failed(Reason),
    /// Trying again may help.
    Again(Reason),
    /// It may help, but not before the server has been left alone for a while.
    Busy { reason: Reason, wait: Duration },
}

impl ConnectError {
    /// What went wrong.
    pub(crate) fn reason(&self) -> &Reason {
        match self {
            Self::Failed(reason) | Self::Again(reason) | Self::Busy { reason, .. } => reason,
        }
    }

    fn cleaned(self, plan: &Plan) -> Self {
        match self {
            Self::Failed(reason) => Self::Failed(plan.told(reason)),
            Self::Again(reason) => Self::Again(plan.told(reason)),
            Self::Busy { reason, wait } => Self::Busy { reason: plan.told(reason), wait },
        }
    }
}

/// What opening needs.
pub(crate) struct Opener<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) context: &'a LinkContext,
    pub(crate) tasks: &'a TaskTracker,
    pub(crate) stop: &'a CancellationToken,
    pub(crate) tries: &'a Tries,
    pub(crate) news: &'a Arc<LinkNews>,
}

/// What one try to open leaves for the next.
#[derive(Default)]
pub(crate) struct Tries {
    starts: AtomicU32,
    /// Asking the modern way ended it, and so did the other; or it cost a whole clock. Asking one way is enough
    /// from then on.
    both: AtomicBool,
    /// A session was given up because it may have been gone, and no call has succeeded since.
    renewed: Arc<AtomicBool>,
    /// Why the last try with an address failed: said once, not at every try.
    said: Mutex<Option<Reason>>,
    /// What the program that was started last says on stderr.
    tail: Mutex<Option<Arc<Tail>>>,
    /// Whether a first download may go on after us.
    let_go: Arc<AtomicBool>,
    downloads: AtomicBool,
}

impl Tries {
    /// How many processes were started since this was asked last.
    pub(crate) fn starts(&self) -> u32 {
        self.starts.swap(0, Ordering::Relaxed)
    }

    /// What the program that was started last says on stderr.
    pub(crate) fn tail(&self) -> Option<Arc<Tail>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the start that goes on may have to fetch its program first.
    pub(crate) fn may_download(&self) -> bool {
        self.downloads.load(Ordering::Relaxed)
    }

    /// Lets a first download go on when it is stopped from now on.
    pub(crate) fn let_go(&self) {
        self.let_go.store(true, Ordering::SeqCst);
    }
}

impl Opener<'_> {
    /// Opens a conversation, within the connect clock.
    pub(crate) async fn open(&self) -> Result<Session, ConnectError> {
        let resolved = match self.plan.resolved.as_ref() {
            Ok(resolved) => resolved,
            Err(faults) => {
                return Err(ConnectError::Failed(Reason::of_config(faults)));
            }
        };
        if let ResolvedTarget::Remote { transport, url, headers } = &resolved.link {
            return self.remote(*transport, url, headers, self.redactor().clone()).await;
        }
        let (own, download) = (self.plan.clocks.connect, self.download(resolved));
        let most = download.clock(own, &self.plan.limits);
        self.tries.downloads.store(download == Download::Likely, Ordering::Relaxed);
        let deadline = Instant::now() + most.time;
        let late = |clock: Timeout| {
            let late = format!("not connected within {clock}");
            Err(ConnectError::Again(Reason::new(ReasonClass::Timeout, late)))
        };
        let opened = tokio::select! {
            opened = tokio::time::timeout_at(deadline, self.agree(resolved, deadline)) => opened.unwrap_or_else(|_| late(most)),
            () = self.silence(own.time), if download == Download::Unlikely => late(own),
        };
        // What a server says when it refuses is its own choice of words.
        opened.map_err(|error| error.cleaned(self.plan))
    }

    /// The era that is configured or remembered, or a probe.
    async fn agree(&self, resolved: &ResolvedSpec, deadline: Instant) -> Result<Session, ConnectError> {
        if let Some(only) = self.greeting().revision.only() {
            return self.exactly(only, resolved, deadline).await;
        }
        let key = self.memory_key();
        let assumed = self.tries.both.load(Ordering::Relaxed).then_some(Era::Legacy);
        let configured = self.greeting().revision.asked().map(ProtocolVersion::era);
        let known = configured.or_else(|| self.context.memory.get(&key)).or(assumed);
        let session = match known {
            Some(Era::Legacy) => match self.legacy(resolved, deadline).await {
                Err(Opening::OtherEra) => self.probe(resolved, deadline).await?,
                // What was only assumed may be wrong in any way.
                Err(Opening::Failed(ConnectError::Failed(_))) if configured.is_none() => {
                    self.probe(resolved, deadline).await?
                }
                other => other.map_err(Opening::into_error)?,
            },
            _ => self.probe(resolved, deadline).await?,
        };
        self.context.memory.set(&key, Some(session.greeting.era), self.plan.limits.eras);
        Ok(session)
    }

    /// What the era is remembered by: the values, so that one user's server says nothing about another's.
    fn memory_key(&self) -> String {
        self.plan.identity.map(|identity| identity.to_string()).unwrap_or_default()
    }

    /// Asks the modern way. An error tells an older server; silence or an end does too, but then it may be
    /// in no state to be talked to, so it is started anew.
    async fn probe(&self, resolved: &ResolvedSpec, deadline: Instant) -> Result<Session, ConnectError> {
        let download = self.download(resolved);
        if download == Download::Likely {
            self.after_earlier_download().await;
        }
        let started = self.start(resolved)?;
        let found = match download {
            Download::No => {
                let budget = Clocks::of(self.probe_budget());
                era::discover(&started.peer, &self.greeting(), budget).await
            }
            Download::Unlikely | Download::Likely => self.patient_probe(&started, deadline).await,
        };
        match found {
            Ok(greeting) => Ok(started.agreed(greeting)),
            Err(OpeningError::OtherEra | OpeningError::Unwell) => {
                let clocks = until(deadline);
                let greeting = era::initialize(&started.peer, &self.greeting(), clocks).await;
                greeting
                    .map(|greeting| started.agreed(greeting))
                    .map_err(|error| Opening::from(error).into_error())
            }
            Err(OpeningError::Refused(reason)) => Err(ConnectError::Failed(reason)),
            Err(OpeningError::Request(error @ RequestError::Remote { .. })) => {
                Err(ConnectError::Failed(error.into_reason().of_failed("server/discover was refused")))
            }
            Err(OpeningError::Request(_)) => {
                drop(started);
                let opened = self.legacy(resolved, deadline).await.map_err(Opening::into_error);
                self.tries.both.store(opened.is_err(), Ordering::Relaxed);
                opened
            }
        }
    }

    async fn legacy(&self, resolved: &ResolvedSpec, deadline: Instant) -> Result<Session, Opening> {
        let started = self.start(resolved).map_err(Opening::Failed)?;
        let greeting =
            era::initialize(&started.peer, &self.greeting(), until(deadline)).await.map_err(Opening::from)?;
        Ok(started.agreed(greeting))
    }

    /// What this server is told of us.
    fn greeting(&self) -> Greeting {
        self.context.greeting.of(&self.plan.spec)
    }

    /// Hides every secret this server was given.
    fn redactor(&self) -> &Redactor {
        self.plan.redactor()
    }

    fn start(&self, resolved: &ResolvedSpec) -> Result<Started, ConnectError> {
        let redactor = self.redactor().clone();
        let tail = self.tail(&redactor);
        *self.tries.tail.lock().unwrap_or_else(PoisonError::into_inner) = Some(tail.clone());
        self.tries.starts.fetch_add(1, Ordering::Relaxed);
        let stop = self.stop.child_token();
        if let ResolvedTarget::InProcess(server) = &resolved.link {
            let channel = in_process::connect(server, self.plan.limits.line, self.tasks, &stop);
            let channel = channel.map_err(ConnectError::Failed)?;
            return Ok(self.converse(channel, Carrier::Memory, None, tail, redactor, stop));
        }
        let start = stdio::Start {
            server: &self.plan.spec.name,
            link: &resolved.link,
            reach: self.plan.reach,
            passed: &self.plan.passed,
            env: &self.context.env,
            launcher: &self.context.launcher,
            line: self.plan.limits.line,
            end: self.plan.limits.wait_end,
            identity: &self.memory_key(),
            linger: self.linger(resolved),
            let_go: self.tries.let_go.clone(),
        };
        let process = stdio::start(&start, tail.clone(), self.tasks, &stop);
        let process = process.map_err(|reason| match reason.class {
            // The system may just have had no room for it.
            ReasonClass::SpawnFailed => ConnectError::Again(reason),
            _ => ConnectError::Failed(reason),
        })?;
        let (pid, stdin) = (process.pid, process.watch);
        let started = self.converse((process.sink, process.source), Carrier::Pipe, pid, tail, redactor, stop);
        if let Some(stdin) = stdin {
            let (peer, stop) = (started.peer.clone(), started.stop.clone());
            self.tasks.spawn(watch_input(stdin, peer, stop));
        }
        Ok(started)
    }

    /// The log of its server.
    fn tail(&self, redactor: &Redactor) -> Arc<Tail> {
        let folder = self.plan.log_folder(&self.context.logs);
        Arc::new(Tail::new(redactor.clone(), &self.plan.limits, Some(&folder), &self.plan.spec.name))
    }

    /// A conversation on a channel, not agreed on yet.
    fn converse(
        &self,
        (sink, source): (impl Sink, impl LineSource),
        carrier: Carrier,
        pid: Option<u32>,
        tail: Arc<Tail>,
        redactor: Redactor,
        stop: CancellationToken,
    ) -> Started {
        let news = Arc::new(News::of(self.news));
        let noise = Arc::new(Noise::default());
        let messages = Arc::new(ServerMessages {
            news: news.clone(),
            noise: noise.clone(),
            tail: tail.clone(),
            roots: self.context.greeting.roots.clone(),
        });
        let bounds = Bounds {
            line: self.plan.limits.line,
            queue: self.plan.limits.queue,
            questions: self.plan.limits.questions,
            unanswered: self.plan.limits.unanswered,
            late: self.plan.limits.late_questions,
        };
        let client = self.context.greeting.client.clone();
        let peer = match &self.context.trace {
            None => Peer::start(sink, source, messages, bounds, client, self.tasks, &stop),
            Some(tracer) => {
                let (sink, source) = tracer.over(&self.plan.spec.name, &redactor, sink, source);
                Peer::start(sink, source, messages, bounds, client, self.tasks, &stop)
            }
        };
        let guard = stop.clone().drop_guard();
        Started { peer, pid, carrier, news, noise, tail, redactor, stop, guard }
    }
}

/// Ends the conversation when the server no longer listens, unless it is ending altogether: then the reader
/// knows better why.
async fn watch_input(stdin: StdinWatch, peer: Peer, stop: CancellationToken) {
    let silence = async {
        stdin.closed().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = silence => peer.give_up(no_longer_reads().into()),
    }
}

fn until(deadline: Instant) -> Clocks {
    Clocks::of(deadline.saturating_duration_since(Instant::now()))
}

/// A process that was started but not agreed with; dropping it ends it.
struct Started {
    peer: Peer,
    pid: Option<u32>,
    carrier: Carrier,
    news: Arc<News>,
    noise: Arc<Noise>,
    tail: Arc<Tail>,
    redactor: Redactor,
    stop: CancellationToken,
    guard: tokio_util::sync::DropGuard,
}

impl Started {
    fn agreed(self, greeting: Handshake) -> Session {
        let stop = self.guard.disarm();
        // Newer servers tell those who subscribed.
        if greeting.era == Era::Legacy && greeting.list_changed {
            self.news.declare();
        }
        Session {
            peer: self.peer,
            greeting: Arc::new(greeting),
            pid: self.pid,
            carrier: self.carrier,
            news: self.news,
            stop,
            noise: self.noise,
            tail: self.tail,
            redactor: self.redactor,
        }
    }
}

/// How a handshake went wrong.
enum Opening {
    OtherEra,
    Failed(ConnectError),
}

impl From<OpeningError> for Opening {
    fn from(error: OpeningError) -> Self {
        match error {
            OpeningError::OtherEra | OpeningError::Unwell => Self::OtherEra,
            OpeningError::Refused(reason) => Self::Failed(ConnectError::Failed(reason)),
            OpeningError::Request(error @ RequestError::Remote { .. }) => {
                Self::Failed(ConnectError::Failed(error.into_reason().of_failed("initialize was refused")))
            }
            OpeningError::Request(error) => Self::Failed(ConnectError::Again(error.into_reason())),
        }
    }
}

impl Opening {
    fn into_error(self) -> ConnectError {
        match self {
            Self::OtherEra => ConnectError::Failed(era::speaks_neither()),
            Self::Failed(error) => error,
        }
    }
}

/// What a server may say and ask on its own.
struct ServerMessages {
    news: Arc<News>,
    noise: Arc<Noise>,
    tail: Arc<Tail>,
    roots: Option<Arc<str>>,
}

impl Inbound for ServerMessages {
    fn roots(&self) -> Option<&str> {
        self.roots.as_deref()
    }

    fn request(
        &self,
        _id: &RawValue,
        method: &str,
        _params: Option<&RawValue>,
    ) -> Option<Result<String, (i32, String)>> {
        Some(match method {
            "ping" => Ok("{}".to_owned()),
            // Nobody here can answer for a user, so nobody does.
            _ => Err((-32601, format!("{method} is not offered"))),
        })
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/message" => {
                let text = params.map(|params| self.tail.clean(params.get().as_bytes())).unwrap_or_default();
                self.tail.remark(&format!("log: {text}"));
            }
            _ => self.news.hear(method, params),
        }
    }

    fn noise(&self, line: &[u8], why: NotAMessage) {
        if line.trim_ascii().is_empty() {
            return;
        }
        // Once is enough to know; a server that talks all the time must not fill the log.
        if self.noise.count.fetch_add(1, Ordering::Relaxed) == 0 {
            self.tail.remark(&format!("output that is {why}: {}", self.tail.clean(line)));
        }
    }
}
