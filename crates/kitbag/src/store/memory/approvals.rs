//! Approvals in memory.

use std::collections::BTreeMap;
use std::time::SystemTime;

use kitbag_core::UserId;

use super::super::{
    AnswerError, ApprovalAnswer, ApprovalAsk, ApprovalId, ApprovalState, ApprovalStore, Grant,
    PendingApproval, StoreError, StoreFuture,
};
use super::MemoryStore;

#[derive(Default)]
pub(super) struct Table {
    asked: BTreeMap<ApprovalId, Approval>,
    grants: Vec<Grant>,
}

struct Approval {
    ask: ApprovalAsk,
    state: ApprovalState,
}

impl Approval {
    fn is_pending(&self, now: SystemTime) -> bool {
        self.state == ApprovalState::Pending && now < self.ask.expires
    }

    /// Ends it, if nothing else has.
    fn end(&mut self, state: ApprovalState) {
        if self.state == ApprovalState::Pending {
            self.state = state;
            self.ask.arguments.clear();
        }
    }

    fn expire(&mut self, now: SystemTime) {
        if self.ask.expires <= now {
            self.end(ApprovalState::Expired);
        }
    }

    fn grant(&self, at: SystemTime) -> Grant {
        let ApprovalAsk { user, server, tool, definition, .. } = self.ask.clone();
        Grant { user, server, tool, definition, at }
    }
}

impl Table {
    fn of(&mut self, user: &UserId, id: &ApprovalId) -> Option<&mut Approval> {
        self.asked.get_mut(id).filter(|approval| approval.ask.user == *user)
    }

    fn answer(
        &mut self,
        user: &UserId,
        id: &ApprovalId,
        answer: ApprovalAnswer,
        now: SystemTime,
    ) -> Result<(), AnswerError> {
        let approval = self.of(user, id).ok_or(AnswerError::Unknown)?;
        approval.expire(now);
        match approval.state {
            ApprovalState::Pending => {}
            ApprovalState::Answered { answer, .. } => return Err(AnswerError::AlreadyAnswered(answer)),
            ApprovalState::Expired => return Err(AnswerError::Expired),
            ApprovalState::Withdrawn => return Err(AnswerError::Withdrawn),
        }
        approval.end(ApprovalState::Answered { answer, at: now });
        if answer == ApprovalAnswer::Always {
            let grant = approval.grant(now);
            self.grants.retain(|other| !is_same(other, &grant));
            self.grants.push(grant);
        }
        Ok(())
    }
}

fn is_same(a: &Grant, b: &Grant) -> bool {
    (&a.user, &a.server, &a.tool, a.definition) == (&b.user, &b.server, &b.tool, b.definition)
}

impl ApprovalStore for MemoryStore {
    fn ask<'a>(&'a self, ask: &'a ApprovalAsk) -> StoreFuture<'a, ApprovalId> {
        self.with(move |tables| {
            let is_waiting = |other: &&Approval| other.ask.user == ask.user && other.is_pending(ask.created);
            let waiting = tables.approvals.asked.values().filter(is_waiting).count();
            if self.limits.approvals <= waiting {
                return Err(StoreError::TooMany { what: "approvals that wait", most: self.limits.approvals });
            }
            let id = ApprovalId::random()?;
            let approval = Approval { ask: ask.clone(), state: ApprovalState::Pending };
            tables.approvals.asked.insert(id.clone(), approval);
            Ok(id)
        })
    }

    fn pending<'a>(&'a self, user: &'a UserId, now: SystemTime) -> StoreFuture<'a, Vec<PendingApproval>> {
        self.with(move |tables| {
            let is_asked = |approval: &Approval| approval.ask.user == *user && approval.is_pending(now);
            let own = tables.approvals.asked.iter().filter(|(_, approval)| is_asked(approval));
            let pending = |(id, approval): (&ApprovalId, &Approval)| PendingApproval {
                id: id.clone(),
                ask: approval.ask.clone(),
            };
            let mut found: Vec<_> = own.map(pending).collect();
            found.sort_by(|a, b| (a.ask.created, &a.id).cmp(&(b.ask.created, &b.id)));
            Ok(found)
        })
    }

    fn answer<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
        answer: ApprovalAnswer,
        now: SystemTime,
    ) -> StoreFuture<'a, (), AnswerError> {
        self.with(move |tables| tables.approvals.answer(user, id, answer, now))
    }

    fn answer_of<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
        now: SystemTime,
    ) -> StoreFuture<'a, Option<ApprovalState>> {
        self.with(move |tables| {
            Ok(tables.approvals.of(user, id).map(|approval| {
                approval.expire(now);
                approval.state
            }))
        })
    }

    fn withdraw<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a ApprovalId,
    ) -> StoreFuture<'a, Option<ApprovalState>> {
        self.with(move |tables| {
            Ok(tables.approvals.of(user, id).map(|approval| {
                approval.end(ApprovalState::Withdrawn);
                approval.state
            }))
        })
    }

    fn sweep_approvals(&self, before: SystemTime) -> StoreFuture<'_, usize> {
        self.with(move |tables| {
            let count = tables.approvals.asked.len();
            tables.approvals.asked.retain(|_, approval| before <= approval.ask.expires);
            Ok(count - tables.approvals.asked.len())
        })
    }

    fn grants<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<Grant>> {
        self.with(move |tables| {
            let own = tables.approvals.grants.iter().filter(|grant| grant.user == *user);
            let mut found: Vec<_> = own.cloned().collect();
            found.sort_by(|a, b| (&a.server, &a.tool, a.definition).cmp(&(&b.server, &b.tool, b.definition)));
            Ok(found)
        })
    }

    fn revoke_grant<'a>(&'a self, grant: &'a Grant) -> StoreFuture<'a, bool> {
        self.with(move |tables| {
            let count = tables.approvals.grants.len();
            tables.approvals.grants.retain(|other| !is_same(other, grant));
            Ok(tables.approvals.grants.len() < count)
        })
    }
}
