//! The record of one call: written once, whichever way the call ends, also when nobody waits for it any more.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use kitbag_core::text::{Redactor, visible};
use kitbag_core::{ErrorKind, ServerName, UserId};
use serde_json::{Map, Value};

use super::super::Kitbag;
use crate::execute::{
    CallError, CallId, CallParts, CallRecord, CallResult, Kept, OutgoingCall, Taken, troubled,
};
use crate::store::{AuditDecision, AuditOutcome, AuditRow};

/// The longest arguments that are kept with the record of a call.
const KEPT: usize = 16 << 10;
/// The most of a name that means nothing.
const NAME: usize = 120;

/// A call from its first moment to its record.
pub(in crate::kit) struct Entry<'a> {
    kit: Kitbag,
    call: CallParts<'a>,
    /// What it is called in logs.
    pub(in crate::kit) id: CallId,
    began: Instant,
    /// The call as far as it was understood.
    pub(in crate::kit) outgoing: OutgoingCall,
    /// Hides the secrets of its server; they may be others when somebody reads the record.
    pub(in crate::kit) redactor: Redactor,
    /// For the audit log.
    pub(in crate::kit) audit: AuditNote,
    stage: Stage,
}

/// What the audit log says of a call besides its record.
#[derive(Default)]
pub(in crate::kit) struct AuditNote {
    /// As which agent.
    pub(in crate::kit) agent: Option<String>,
    /// The rule that decided, where one did.
    pub(in crate::kit) rule: Option<String>,
    /// The server it was meant for, and where the setting stands by which another one was given it.
    pub(in crate::kit) instead: Option<String>,
    /// Whether a person said yes.
    pub(in crate::kit) is_approved: bool,
    /// Whether the result was cut.
    pub(in crate::kit) is_cut: bool,
    /// Bytes of the result, as received.
    pub(in crate::kit) received: usize,
}

impl AuditNote {
    /// Everything that decided, in one line.
    fn why(&mut self) -> Option<String> {
        match (self.rule.take(), self.instead.take()) {
            (Some(rule), Some(instead)) => Some(format!("{rule}; {instead}")),
            (rule, instead) => rule.or(instead),
        }
    }
}

#[derive(PartialEq, Eq)]
enum Stage {
    /// It is on its way.
    Open,
    /// Its hooks hear how it ended.
    Telling,
    /// It is taken down.
    Ended,
}

impl<'a> Entry<'a> {
    pub(in crate::kit) fn new(kit: &Kitbag, user: &UserId, call: CallParts<'a>) -> Self {
        let (tool, arguments, meta) = (String::new(), Map::new(), Map::new());
        let outgoing = OutgoingCall { user: user.clone(), server: None, tool, arguments, meta };
        let (began, redactor) = (Instant::now(), Redactor::default());
        let (audit, stage) = (AuditNote::default(), Stage::Open);
        let id = call.options.id.unwrap_or_else(CallId::new);
        Self { kit: kit.clone(), call, id, began, outgoing, redactor, audit, stage }
    }

    /// How long it has taken so far.
    pub(in crate::kit) fn took(&self) -> Duration {
        self.began.elapsed()
    }

    /// The call is over: whoever looks at calls hears of it, and it is taken down.
    pub(in crate::kit) async fn end(
        mut self,
        mut done: Result<CallResult, CallError>,
    ) -> Result<CallResult, CallError> {
        self.complete();
        self.stage = Stage::Telling;
        tell(&self.kit, &self.outgoing, &mut done).await;
        let kind = match &done {
            Ok(result) => result.kind(),
            Err(failure) => Some(failure.kind),
        };
        self.record(kind);
        done
    }

    /// A call that means no tool is known by what it asked for. Hooks see the arguments of every call.
    fn complete(&mut self) {
        let is_seen = !self.kit.0.options.hooks.is_empty();
        let OutgoingCall { server, tool, arguments, .. } = &mut self.outgoing;
        if server.is_none() {
            *tool = visible(self.call.tool).chars().take(NAME).collect();
        }
        if is_seen && arguments.is_empty() && self.call.arguments.len() <= KEPT {
            *arguments = serde_json::from_str(self.call.arguments).unwrap_or_default();
        }
    }

    fn record(&mut self, kind: Option<ErrorKind>) {
        self.stage = Stage::Ended;
        let OutgoingCall { user, server, tool, arguments, .. } = &mut self.outgoing;
        let (tool, arguments) = (std::mem::take(tool), std::mem::take(arguments));
        let (at, took, words) = (SystemTime::now(), self.began.elapsed(), String::new());
        let (user, server) = (user.clone(), server.clone());
        let record = CallRecord { id: self.id, at, user, server, tool, arguments: words, kind, took };
        let redactor = std::mem::take(&mut self.redactor);
        let taken = Taken { record, arguments: self.kept(arguments), redactor };
        self.log(&taken.record);
        self.audit(&taken);
        self.kit.0.records.push(taken);
    }

    /// One line for each call. What was asked for and means no tool is anybody's text and is not told.
    fn log(&self, record: &CallRecord) {
        tracing::info!(
            target: "kitbag::call",
            call = %self.id,
            user = record.user.as_str(),
            agent = self.audit.agent.as_deref(),
            server = record.server.as_ref().map(ServerName::as_str),
            tool = record.server.as_ref().map(|_| record.tool.as_str()),
            outcome = record.kind.map_or("ok", ErrorKind::as_str),
            took_ms = u64::try_from(record.took.as_millis()).unwrap_or(u64::MAX),
            request_bytes = self.call.arguments.len(),
            result_bytes = self.audit.received,
            "call"
        );
    }

    /// Hands a row to the audit log, where there is one; its arguments are masked when it is written.
    fn audit(&mut self, taken: &Taken) {
        let Some(audit) = self.kit.0.audit.as_ref() else { return };
        let mut note = std::mem::take(&mut self.audit);
        let (record, rule) = (&taken.record, note.why());
        let row = AuditRow {
            at: record.at,
            user: Some(record.user.clone()),
            agent: note.agent,
            server: record.server.clone(),
            tool: Some(record.tool.clone()),
            decision: decision(record.kind, note.is_approved),
            rule,
            outcome: record.kind.map_or(AuditOutcome::Ok, AuditOutcome::Failed),
            took: record.took,
            request_bytes: self.call.arguments.len() as u64,
            result_bytes: note.received as u64,
            arguments: None,
            call: Some(self.id.to_string()),
        };
        if note.is_cut {
            let rule = Some("[limits] result".to_owned());
            audit.record(AuditRow { decision: AuditDecision::Truncated, rule, ..row.clone() });
        }
        let world = self.kit.0.roster.glance().world.clone();
        if world.audit_payload {
            audit.record(AuditRow { arguments: Some(self.call.arguments.to_owned()), ..row });
            return;
        }
        let (arguments, redactor) = (taken.arguments.clone(), taken.redactor.clone());
        audit.record_lazy(row, self.call.arguments.len().min(KEPT), move || Some(arguments.shown(&redactor)));
    }

    fn kept(&self, arguments: Map<String, Value>) -> Kept {
        if arguments.is_empty() && self.call.arguments.len() <= KEPT {
            return Kept::Text(self.call.arguments.into());
        }
        let is_short = !arguments.is_empty() && arguments.values().map(weight).sum::<usize>() <= KEPT;
        if is_short { Kept::Values(arguments) } else { Kept::Nothing }
    }
}

impl Drop for Entry<'_> {
    /// Its caller no longer waits for it.
    fn drop(&mut self) {
        if self.stage == Stage::Open {
            self.complete();
            let (kit, call) = (self.kit.clone(), self.outgoing.clone());
            let inside = tokio::runtime::Handle::try_current().is_ok();
            if inside && !kit.0.options.hooks.is_empty() {
                let tasks = kit.0.tasks.clone();
                tasks.spawn(async move {
                    let gone = CallError::new(ErrorKind::Cancelled, "its caller no longer waits for it");
                    tell(&kit, &call, &mut Err(gone)).await;
                });
            }
        }
        if self.stage != Stage::Ended {
            self.record(Some(ErrorKind::Cancelled));
        }
    }
}

/// What was decided about a call that ended so.
fn decision(kind: Option<ErrorKind>, is_approved: bool) -> AuditDecision {
    match kind {
        Some(ErrorKind::Held) => AuditDecision::Held,
        Some(ErrorKind::ApprovalDenied) => AuditDecision::ApprovalDenied,
        Some(ErrorKind::Denied | ErrorKind::NotFound | ErrorKind::Ambiguous) => AuditDecision::Denied,
        _ if is_approved => AuditDecision::Approved,
        _ => AuditDecision::Allowed,
    }
}

/// Tells the hooks how a call ended, the last one first.
async fn tell(kit: &Kitbag, call: &OutgoingCall, done: &mut Result<CallResult, CallError>) {
    if kit.0.options.hooks.is_empty() {
        return;
    }
    let call = Arc::new(call.clone());
    for hook in kit.0.options.hooks.iter().rev() {
        let (hook, call) = (hook.clone(), call.clone());
        let mut given = std::mem::replace(done, Err(CallError::new(ErrorKind::Internal, "")));
        let work = async move {
            hook.after(&call, &mut given).await;
            given
        };
        let told = kit.0.threads.run(&kit.limits(), work).await;
        *done = told.unwrap_or_else(|trouble| Err(troubled("a hook", &trouble)));
    }
}

/// About how much a value holds, without writing it out.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        _ => 8,
    }
}
