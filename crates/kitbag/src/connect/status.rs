//! How a link is, for whoever wants to know.

use std::time::SystemTime;

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// Switched off.
    Disabled,
    /// Waits for approval.
    Held,
    /// Not started yet; will be on first need.
    Idle,
    /// Being started for the first time.
    Starting,
    /// Connected, its tools listed.
    Ready,
    /// Connected, but its tools could not be listed.
    Degraded,
    /// Lost, and being started again.
    Reconnecting,
    /// Cannot be started as it is configured.
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

/// How a link is.
#[derive(Clone, Debug)]
pub struct Status {
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
    /// What went wrong last: the root cause, in one line without secrets.
    pub error: Option<String>,
    /// What is being waited for, while it is: the same kind of line.
    pub waits_for: Option<String>,
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
    /// Whether it is away because it wants to know who we are.
    pub auth_required: bool,
    /// The process, when there is one.
    pub pid: Option<u32>,
    /// How surely its processes end with us.
    pub keeping: &'static str,
}

/// So many failures in a row, and nobody waits for a server as if it were just starting.
const HOPELESS: u32 = 2;

impl Status {
    /// Whether there is nothing to wait for: it is connected, or will not be soon.
    pub fn is_settled(&self) -> bool {
        let is_over = matches!(self.state, LinkState::Failed | LinkState::Stopped | LinkState::Held);
        self.state.is_connected() || is_over || HOPELESS <= self.failures
    }

    /// What went wrong or is being waited for.
    pub fn reason(&self) -> Option<&str> {
        self.error.as_deref().or(self.waits_for.as_deref())
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
            restarts: 0,
            failures: 0,
            last_good: None,
            noise: 0,
            transport: None,
            era: None,
            session: false,
            auth_required: false,
            pid: None,
            keeping: "",
        }
    }
}
