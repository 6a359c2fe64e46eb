//! What one agent may see: what it asked for, within what its user may have.

use super::ViewRequest;
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, Stage};
use crate::names::ServerName;
use crate::shape::policy::{RuleSet, ToolAccess};
use crate::shape::unreadable::{agent_fault, server_fault};
use crate::shape::{RuleOutcome, RuleStep, ToolRefusal};
use crate::text::Globs;

/// The step at which tools are left out that nobody approved as they are.
pub(super) const HELD: &str = "pin";

/// What an agent asked for and a user may have.
pub(super) struct AgentFilter<'a> {
    servers: Globs,
    rules: RuleSet,
    request: &'a ViewRequest<'a>,
}

impl<'a> AgentFilter<'a> {
    pub(super) fn new(request: &'a ViewRequest<'a>, faults: &mut Vec<Fault>) -> Self {
        let servers = Globs::new(&request.agent.servers).unwrap_or_else(|bad| {
            let fault = Fault::error(FaultKind::WrongValue, bad.to_string());
            faults.push(Fault { stage: Stage::Shape, ..fault });
            // Fits nothing: better too little than what was meant to be kept away.
            Globs::new(&[String::new()]).unwrap_or_default()
        });
        let (rules, bad) = RuleSet::of_agent(request.agent);
        faults.extend(bad);
        Self { servers, rules, request }
    }

    /// What keeps tools away because it cannot be read: the agent's own rules, or those of a server it asks for.
    pub(super) fn closed(&self) -> Vec<Fault> {
        if let Some(reason) = &self.request.agent.closed {
            return vec![agent_fault(reason)];
        }
        let closed = self.request.shapers.closed().into_iter();
        closed.filter(|(server, _)| self.has(server)).map(|(server, why)| server_fault(server, why)).collect()
    }

    /// Whether a server is one of the agent's.
    pub(super) fn has(&self, server: &ServerName) -> bool {
        let is_asked_for = self.servers.is_empty() || self.servers.fit(server.as_str());
        Some(server) == self.request.local || is_asked_for && self.request.agent.closed.is_none()
    }

    /// Whether the agent may see some tool of a server, whatever it has.
    pub(super) fn may_show(&self, server: &ServerName) -> bool {
        self.has(server) && (Some(server) == self.request.local || self.rules.may_show(server))
    }

    /// What may be done with a tool, or the step at which it is kept from the agent.
    pub(super) fn access(&self, tool: &Tool) -> Result<ToolAccess, RuleStep> {
        let is_local = Some(&tool.server) == self.request.local;
        let dropped =
            |rule: &str, why: String| RuleStep { rule: rule.to_owned(), outcome: RuleOutcome::Dropped(why) };
        if let Some(reason) = self.request.agent.closed.as_ref().filter(|_| !is_local) {
            return Err(dropped("unreadable", reason.clone()));
        }
        if !self.has(&tool.server) {
            return Err(dropped("agent", "its server is not one of the agent's".to_owned()));
        }
        let own = match is_local {
            true => ToolAccess::default(),
            false => self
                .rules
                .access(tool, self.request.permissions.risk(tool))
                .map_err(|why| dropped("agent", why))?,
        };
        let user = self.request.permissions.access(tool).map_err(|refusal| match refusal {
            ToolRefusal::Denied(why) => dropped("permission", why),
            ToolRefusal::Held(why) => dropped(HELD, why),
        })?;
        Ok(own.and(user))
    }
}
