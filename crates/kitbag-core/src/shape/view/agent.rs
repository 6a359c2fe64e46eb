//! What one agent may see: what it asked for, within what its user may have.

use super::ViewRequest;
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind, Stage};
use crate::names::ServerName;
use crate::shape::unreadable::{agent_fault, server_fault};
use crate::shape::{Decision, RuleOutcome, RuleStep};
use crate::text::{BadGlob, Globs};

/// What an agent asked for and a user may have.
pub(super) struct AgentFilter<'a> {
    servers: Globs,
    allow: Globs,
    request: &'a ViewRequest<'a>,
}

impl<'a> AgentFilter<'a> {
    pub(super) fn new(request: &'a ViewRequest<'a>, faults: &mut Vec<Fault>) -> Self {
        let mut globs = |patterns: &[String]| {
            Globs::new(patterns).unwrap_or_else(|bad: BadGlob| {
                let fault = Fault::error(FaultKind::WrongValue, bad.to_string());
                faults.push(Fault { stage: Stage::Shape, ..fault });
                // Fits nothing: better too little than what was meant to be kept away.
                Globs::new(&[String::new()]).unwrap_or_default()
            })
        };
        Self { servers: globs(&request.agent.servers), allow: globs(&request.agent.allow), request }
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

    /// The step at which a tool is kept from the agent, if it is.
    pub(super) fn refusal(&self, tool: &Tool) -> Option<RuleStep> {
        let is_local = Some(&tool.server) == self.request.local;
        let fits = |globs: &Globs, text: &str| is_local || globs.is_empty() || globs.fit(text);
        let closed = self.request.agent.closed.as_ref().filter(|_| !is_local);
        let reason = if let Some(reason) = closed {
            Some(("unreadable", reason.clone()))
        } else if !self.has(&tool.server) {
            Some(("agent", "its server is not one of the agent's".to_owned()))
        } else if !fits(&self.allow, &format!("{}/{}", tool.server, tool.name)) {
            Some(("agent", "not in the agent's allow list".to_owned()))
        } else {
            match self.request.permit.authorize(self.request.user, tool) {
                Decision::Allow | Decision::Ask => None,
                Decision::Deny(why) => Some(("permission", why)),
            }
        };
        let (rule, why) = reason?;
        Some(RuleStep { rule: rule.to_owned(), outcome: RuleOutcome::Dropped(why) })
    }
}
