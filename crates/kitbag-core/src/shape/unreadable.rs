//! The rule for restrictions that cannot be read: it drops what they could have meant, so that a slip in a
//! file never shows more than was intended.

use super::{Rule, RuleError, Verdict};
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind};
use crate::names::ServerName;

/// Drops every tool it is given, for this reason.
pub(super) struct Unreadable(pub(super) String);

impl Rule for Unreadable {
    fn name(&self) -> &str {
        "unreadable"
    }

    fn apply(&self, _tool: Tool) -> Result<Verdict, RuleError> {
        Ok(Verdict::Drop(self.0.clone()))
    }
}

/// What a view says about an agent that sees no server's tools.
pub(super) fn agent_fault(reason: &str) -> Fault {
    fault(format!("this agent sees no tool of any server: {reason}"))
}

/// What a view says about a server that offers no tools.
pub(super) fn server_fault(server: &ServerName, reason: &str) -> Fault {
    fault(format!("no tool of this server is offered: {reason}")).of(server)
}

/// What a view says to a user who may have nothing.
pub(super) fn denied_fault(reason: &str) -> Fault {
    fault(format!("this user may see and call no tool: {reason}"))
}

fn fault(message: String) -> Fault {
    Fault::error(FaultKind::Closed, message).hint("correct the setting, or remove it")
}
