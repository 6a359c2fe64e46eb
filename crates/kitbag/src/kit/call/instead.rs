//! A call that its server was certainly not given goes to the server that the files name for that case: judged anew, for
//! the tool that really runs.

use std::sync::Arc;
use std::time::Duration;

use kitbag_core::shape::ViewTool;
use kitbag_core::text::cut;
use kitbag_core::{ErrorKind, ServerName};

use super::entry::{AuditNote, Entry};
use super::meaning::Judged;
use super::way::{Missed, Way};
use crate::connect::CallerInput;
use crate::execute::{CallError, CallOptions, CallParts, CallResult, Want, prepare};

impl Way<'_> {
    /// The call at the servers that stand in for one that is not available, one after the other. Whatever keeps it from
    /// being made there leaves the failure as it was: nobody learns of a server by it.
    pub(super) async fn instead(
        &self,
        shown: Arc<ViewTool>,
        mut failure: CallError,
        entry: &mut Entry<'_>,
    ) -> Result<CallResult, CallError> {
        let mut away = shown.tool.server.clone();
        // What its client answers is meant for the server that asked.
        if self.call.options.input.as_ref().is_some_and(CallerInput::is_further) {
            return Err(failure);
        }
        loop {
            let Some(judged) = self.stand_in(&away, &shown).await else { return Err(failure) };
            let Some(options) = self.rest(&judged, entry.took()) else { return Err(failure) };
            let way = Way { call: CallParts { options: &options, ..self.call }, ..*self };
            let (server, most) = (judged.shown.tool.server.clone(), judged.now.world.limits.error);
            if let Err(why) = way.takes(&judged, &shown) {
                failure.message = cut(format!("{}; {server} cannot stand in: {why}", failure.message), most);
                return Err(failure);
            }
            entry.audit = entry.audit.stand_in(&judged, &away);
            match way.at(judged, entry).await {
                Ok(mut result) => {
                    result.info.notes.push(cut(format!("{server} answered in place of {failure}"), most));
                    return Ok(result);
                }
                Err(Missed::Undelivered(error)) => {
                    failure.message = cut(format!("{}; nor is {error}", failure.message), most);
                }
                // As if it were not there.
                Err(Missed::Failed(error)) if is_kept_away(error.kind) => return Err(failure),
                Err(Missed::Failed(error)) => {
                    let told = format!("{} ({server} was called in place of {failure})", error.message);
                    return Err(CallError { message: cut(told, most), ..error });
                }
            }
            away = server;
        }
    }

    /// The tool of the same name at the server that stands in for another one, if its caller may call it.
    async fn stand_in(&self, away: &ServerName, shown: &ViewTool) -> Option<Judged> {
        let now = self.kit.now();
        let other = now.world.fallbacks.get(away)?;
        if now.snapshot.part(other).is_none() {
            self.kit.wait_for(std::slice::from_ref(other), now.world.limits.wait_agent).await;
        }
        let view = self.kit.fresh(self.view);
        let mut all = view.tools().iter().chain(view.shadowed());
        let found = all.find(|found| found.tool.server == *other && found.tool.name == shown.tool.name)?;
        self.kit.judge(&view, found).ok()
    }

    /// The options for what is left of the call's time, if anything is.
    fn rest(&self, judged: &Judged, took: Duration) -> Option<CallOptions> {
        let left = self.most(judged).checked_sub(took).filter(|left| !left.is_zero())?;
        let timeout = self.call.options.timeout.map(|_| left);
        Some(CallOptions { timeout, ..self.call.options.clone() })
    }

    /// Whether the arguments fit, and come to the same: rules may fix some of them for the one tool and not for the other.
    fn takes(&self, judged: &Judged, first: &ViewTool) -> Result<(), String> {
        let limits = &judged.now.world.limits;
        let ready = self.prepare(judged, Want::Values).map_err(|failure| failure.message)?;
        let is_own = |shown: &ViewTool| shown.tool.undo.is_empty() && !shown.has_other_input();
        if is_own(first) && is_own(&judged.shown) {
            return Ok(());
        }
        let before = prepare(first, self.call.arguments, limits, Want::Values);
        match before {
            Ok(before) if before.arguments == ready.arguments => Ok(()),
            _ => Err("its rules make other arguments of these".to_owned()),
        }
    }
}

/// Whether a call ended so because its caller may not make it.
fn is_kept_away(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Denied | ErrorKind::Held)
}

impl AuditNote {
    /// What is said of a call that another server is given.
    fn stand_in(&self, judged: &Judged, away: &ServerName) -> Self {
        let server = judged.now.world.servers.get(away);
        let fallback = server.and_then(|server| server.spec().fallback.as_ref());
        let place = fallback.map(|fallback| format!(" ({})", fallback.place)).unwrap_or_default();
        let instead = Some(format!("in place of {away}, which is not available{place}"));
        Self { agent: self.agent.clone(), instead, ..Self::default() }
    }
}
