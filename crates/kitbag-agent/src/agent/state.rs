//! How an agent and its servers are, in the few words that people ask for.

use kitbag::connect::LinkStatus;
use kitbag::{Kitbag, LinkState, View};

/// Whether an agent has the tools of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// Its servers are being connected, and it has no tool of theirs yet.
    Uninitialized,
    /// There are no servers.
    NoMcp,
    /// It has tools of servers.
    WithMcp,
    /// There are servers, and it has no tool of theirs.
    McpFailed,
}

/// How the servers are, all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// There are none.
    NotConfigured,
    /// Some are being connected, and none is there.
    Connecting,
    /// At least one is there.
    Connected,
    /// None is there, and each has failed; some may be tried again.
    Failed,
}

impl AgentState {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uninitialized => "uninitialized",
            Self::NoMcp => "no_mcp",
            Self::WithMcp => "with_mcp",
            Self::McpFailed => "mcp_failed",
        }
    }

    /// How an agent is that sees these tools of a kit.
    pub fn of(kit: &Kitbag, view: Option<&View>) -> Self {
        let is_theirs = |server: &kitbag::ServerName| kit.link(server).is_some();
        let has_tools =
            view.is_some_and(|view| view.tools().iter().any(|shown| is_theirs(&shown.tool.server)));
        match ConnectionState::of(kit) {
            ConnectionState::NotConfigured => Self::NoMcp,
            _ if has_tools => Self::WithMcp,
            ConnectionState::Connecting => Self::Uninitialized,
            _ => Self::McpFailed,
        }
    }
}

impl ConnectionState {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConfigured => "not_configured",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Failed => "failed",
        }
    }

    /// How the servers of a kit are.
    pub fn of(kit: &Kitbag) -> Self {
        let all: Vec<LinkStatus> = kit.links().iter().map(|link| link.status()).collect();
        // One that has failed and is tried again is not there either.
        let is_coming = |status: &LinkStatus| {
            matches!(status.state, LinkState::Idle | LinkState::Starting) && status.error.is_none()
        };
        if all.is_empty() {
            Self::NotConfigured
        } else if all.iter().any(|status| status.state.is_connected()) {
            Self::Connected
        } else if all.iter().any(is_coming) {
            Self::Connecting
        } else {
            Self::Failed
        }
    }
}
