//! How a link is, for whoever wants to know.

use std::sync::Arc;
use std::time::SystemTime;

use kitbag_core::ErrorKind;

use super::reason::{Reason, ReasonClass};

/// The state of the connection to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// Switched off.
    Disabled,
    /// Waits for approval.
    Held,
    /// Not started yet; will be on first need.
    Idle,
    /// Being started, for the first time or because somebody asked for another try.
    Starting,
    /// Connected, its tools listed.
    Ready,
    /// Connected, but its tools could not be listed.
    Degraded,
    /// Lost, and being started again.
    Reconnecting,
    /// Cannot be used as things are; tried again slowly, unless only another configuration can help.
    Failed,
    /// Ended by us.
    Stopped,
}

impl LinkState {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Held => "held",
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Degraded => "degraded",
            Self::Reconnecting => "reconnecting",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// Whether a call could be made now.
    pub fn is_connected(self) -> bool {
        matches!(self, Self::Ready | Self::Degraded)
    }

    /// Whether a call could be made now, or after the start that it brings about.
    pub(crate) fn is_here(self) -> bool {
        self.is_connected() || self == Self::Idle
    }
}

/// The state of the connection to a server, with its reason, session and counters.
#[derive(Clone, Debug)]
pub struct LinkStatus {
    /// Its state.
    pub state: LinkState,
    /// Since when.
    pub since: SystemTime,
    /// The protocol version spoken, when connected.
    pub version: Option<String>,
    /// How many tools it lists; in [`crate::Kitbag::status`] those that can be used.
    pub tools: Option<usize>,
    /// When it last listed them.
    pub listed: Option<SystemTime>,
    /// What went wrong last.
    pub error: Option<Arc<Reason>>,
    /// What is being waited for, while it is.
    pub waits_for: Option<Arc<Reason>>,
    /// Whether it is being started for the first time by a launcher that downloads it (`npx`, `uvx`, `docker run`, …).
    pub downloading: bool,
    /// The last line it wrote to stderr that says something, while it is being started.
    pub stderr: Option<String>,
    /// When it is tried again, while it is away and will be.
    pub next_try: Option<SystemTime>,
    /// Until when calls to it fail at once, because too many in a row were not answered; the past while one is let through.
    pub calls_refused_until: Option<SystemTime>,
    /// How often it was started again.
    pub restarts: u32,
    /// How many starts in a row came to nothing, or did not last.
    pub failures: u32,
    /// When a call last came back.
    pub last_good: Option<SystemTime>,
    /// Lines of output that were no messages.
    pub noise: u64,
    /// How it is really spoken to, when connected: `stdio`, `http` or `sse`.
    pub transport: Option<&'static str>,
    /// Which kind of protocol: `legacy` or `modern`.
    pub era: Option<&'static str>,
    /// Whether the server keeps a session for us.
    pub session: bool,
    /// The process, when there is one.
    pub pid: Option<u32>,
    /// How surely its processes end with us.
    pub keeping: &'static str,
}

/// So many failures in a row, and nobody waits for a server as if it were just starting.
const HOPELESS: u32 = 2;

impl LinkStatus {
    /// Whether there is nothing to wait for: it is connected, or will not be soon.
    pub fn is_settled(&self) -> bool {
        let is_over = matches!(self.state, LinkState::Failed | LinkState::Stopped | LinkState::Held);
        self.state.is_connected() || is_over || HOPELESS <= self.failures
    }

    /// What went wrong or is being waited for.
    pub fn reason(&self) -> Option<&Reason> {
        self.error.as_deref().or(self.waits_for.as_deref())
    }

    /// Whether it cannot be used because it wants credentials.
    pub fn auth_required(&self) -> bool {
        self.error.as_ref().is_some_and(|reason| reason.class == ReasonClass::AuthRequired)
    }

    /// How a call ends that finds it away.
    pub(crate) fn kind_of_calls(&self) -> ErrorKind {
        self.error.as_ref().map_or(ErrorKind::Unavailable, |reason| reason.class.kind())
    }

    /// What went wrong or is being waited for, in one line; its state where neither is known.
    pub(crate) fn line(&self) -> String {
        self.reason().map_or_else(|| self.state.as_str().to_owned(), ToString::to_string)
    }

    /// A link that was not looked at yet.
    pub fn new(state: LinkState) -> Self {
        Self {
            state,
            since: SystemTime::now(),
            version: None,
            tools: None,
            listed: None,
            error: None,
            waits_for: None,
            downloading: false,
            stderr: None,
            next_try: None,
            calls_refused_until: None,
            restarts: 0,
            failures: 0,
            last_good: None,
            noise: 0,
            transport: None,
            era: None,
            session: false,
            pid: None,
            keeping: "",
        }
    }
}
