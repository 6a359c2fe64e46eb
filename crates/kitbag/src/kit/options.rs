//! What a handle is opened with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kitbag_core::shape::{Authorize, Shaper};
use kitbag_core::{Limits, ServerName};

use crate::connect::{ClientInfo, ProtocolVersion, QuestionKind, Responder, StartServers, Trace};
use crate::execute::{Approver, Hook};
use crate::guard::Launcher;
use crate::local::LocalTool;
use crate::store::Store;

/// Options of [`crate::Kitbag::open_with`]: local tools, rules, hooks, who answers, limits, timeouts.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// How long to wait for servers; the setup's own clock otherwise.
    pub wait: Option<Duration>,
    /// Only these servers.
    pub only: Option<Vec<ServerName>>,
    /// When servers are started; each as its entry says otherwise.
    pub start: StartServers,
    /// How servers are started; found out otherwise.
    pub launcher: Option<Launcher>,
    /// Limits and timeouts; the setup's otherwise.
    pub limits: Option<Limits>,
    /// Who answers what servers ask in the middle of a call; nobody otherwise, and they are refused.
    pub responder: Option<Arc<dyn Responder>>,
    /// What callers with a responder of their own can answer. Servers of the older protocol are told when they are
    /// connected what any call may be asked, and ask for nothing else; newer ones are told with each call what its
    /// responder answers. Handles that offer the same share their servers.
    pub answers: Vec<QuestionKind>,
    /// Who this program says it is; Kitbag otherwise.
    pub client: Option<ClientInfo>,
    /// The revision of the protocol to ask servers for whose configuration names none; the newest one both sides know
    /// otherwise.
    pub protocol: Option<ProtocolVersion>,
    /// The one revision of the protocol to speak, whatever a server's configuration says. A server that does not speak
    /// it is not connected. Comes before [`Self::protocol`].
    pub only_protocol: Option<ProtocolVersion>,
    /// Folders that servers are told of when they ask (`roots/list`), during a call or not. With any, servers are told
    /// that they may ask.
    pub roots: Vec<PathBuf>,
    /// Reads along: is given every message of every server, without secrets.
    pub trace: Option<Arc<dyn Trace>>,
    /// Who is asked before a call that needs approval; without one such a call is refused.
    pub approver: Option<Arc<dyn Approver>>,
    /// Tools of the program itself, in the same catalog.
    pub local: Vec<LocalTool>,
    /// Rules for all tools, after those the files ask for.
    pub rules: Arc<Shaper>,
    /// Hooks that see every call, in this order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Who may see and call what; everybody everything otherwise.
    pub permit: Option<Arc<dyn Authorize>>,
    /// Where pins, approvals and the audit log are kept; without one nothing is pinned or recorded beyond this process.
    pub store: Option<Arc<dyn Store>>,
}
