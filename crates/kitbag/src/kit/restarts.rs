//! Servers that are started again, in the audit log: one row each, whoever shares the server.

use std::time::{Duration, SystemTime};

use super::Inner;
use crate::connect::LinkStatus;
use crate::roster::Opened;
use crate::store::{AuditDecision, AuditOutcome, AuditRow};

impl Inner {
    /// Writes down every restart of a server, for as long as it is used.
    pub(super) fn record_restarts(&self, opened: &Opened) {
        let Some(audit) = self.audit.clone() else { return };
        let (link, end, stop) = (opened.link().clone(), opened.end(), self.stop.clone());
        let owner = opened.server.plan.owner.clone();
        let mut status = link.watch_status();
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    () = end.cancelled() => return,
                    () = stop.cancelled() => return,
                    changed = status.changed() => if changed.is_err() { return },
                }
                let now = status.borrow_and_update().clone();
                // Other handles may hold the same link: the first that sees a restart tells of it.
                for _ in 0..link.untold_restarts(now.restarts) {
                    let (server, user) = (Some(link.name().clone()), owner.clone());
                    audit.record(AuditRow { server, user, ..row(&now) });
                }
            }
        });
    }
}

fn row(status: &LinkStatus) -> AuditRow {
    AuditRow {
        at: SystemTime::now(),
        user: None,
        agent: None,
        server: None,
        tool: None,
        decision: AuditDecision::Restarted,
        rule: status.reason().map(ToString::to_string),
        outcome: AuditOutcome::Ok,
        took: Duration::ZERO,
        request_bytes: 0,
        result_bytes: 0,
        arguments: None,
        call: None,
    }
}
