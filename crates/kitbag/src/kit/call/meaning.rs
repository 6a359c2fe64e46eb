//! What a name means: waiting for servers that could change what it means, and judging by what is true now.

use std::sync::Arc;
use std::time::Duration;

use kitbag_core::catalog::Unreachable;
use kitbag_core::names::lookup::{MatchedBy, NameMatch};
use kitbag_core::shape::{View, ViewTool};
use kitbag_core::{ErrorKind, ServerName};

use super::super::views::{Unseen, WHOSE};
use super::super::{Inner, find};
use crate::execute::{CallError, Repair, troubled};
use crate::roster::Now;

/// The most names an ambiguous one is said to mean: spelled alike, a server may have thousands.
const MOST_NAMES: usize = 10;

/// A tool as the rules and permits of one moment have it.
pub(in crate::kit) struct Judged {
    pub(in crate::kit) now: Arc<Now>,
    /// With what its user may do with it.
    pub(in crate::kit) shown: Arc<ViewTool>,
}

impl Judged {
    /// Whether it is a tool of the program itself.
    pub(super) fn is_local(&self) -> bool {
        self.shown.tool.server == self.now.world.local
    }
}

impl Inner {
    /// The tool a name means in a view, as it is now.
    pub(super) async fn meant(&self, view: &View, name: &str) -> Result<Judged, CallError> {
        self.pins.is_read().await;
        let (found, by) = view.find_by(name);
        // It may be approved by now, or was held only because its pin was not read yet.
        let now = view.held(name).map(|_| self.fresh(view)).filter(|now| now.held(name).is_none());
        let view = now.as_deref().unwrap_or(view);
        let (found, by) = if now.is_some() { view.find_by(name) } else { (found, by) };
        if !self.is_open(view, name, &found, by) {
            let shown = resolve(view, name, found).map_err(|failure| self.with_reason(failure))?;
            return self.judge(view, shown);
        }
        self.wait_for_unlisted(view, name).await;
        let fresh = self.fresh(view);
        let (found, by) = fresh.find_by(name);
        if matches!(found, NameMatch::One(_)) && self.is_open(&fresh, name, &found, by) {
            return Err(not_sure(&fresh, name, &found));
        }
        let shown = resolve(&fresh, name, found).map_err(|failure| self.with_reason(failure))?;
        self.judge(&fresh, shown)
    }

    /// The same with why its server is away, where that is why.
    fn with_reason(&self, failure: CallError) -> CallError {
        let now = self.now();
        let opened = failure.server.as_ref().and_then(|server| now.links.get(server));
        let reason = opened.and_then(|opened| opened.status().error);
        CallError { reason, ..failure }
    }

    /// Whether a server that has not said what it has may change what a name means: one that is nobody's yet, one
    /// that only fits as a tool's own name, or one that was given out for the time being.
    fn is_open(&self, view: &View, name: &str, found: &NameMatch, by: MatchedBy) -> bool {
        if view.unlisted().next().is_none() {
            return false;
        }
        match found {
            NameMatch::One(_) if by == MatchedBy::Own => true,
            NameMatch::One(index) => {
                let shown = view.at(*index).filter(|shown| !find::speaks_of(&shown.tool.server, name));
                shown.is_some_and(|shown| self.roster.may_rename(shown))
            }
            NameMatch::None { .. } => true,
            NameMatch::Ambiguous(_) => false,
        }
    }

    /// The tool as the rules and permits of this moment have it. A view that somebody held for long shows it as it
    /// was.
    pub(super) fn judge(&self, view: &View, shown: &Arc<ViewTool>) -> Result<Judged, CallError> {
        let now = self.now();
        let gone = || not_found(view, shown.name.as_str(), Vec::new());
        let present = self.present(view, &now).map_err(|unseen| match unseen {
            Unseen::Clash(_) => gone(),
            Unseen::Trouble(trouble) => troubled(WHOSE, &trouble),
        })?;
        let shown = match present {
            None => shown.clone(),
            Some(present) => {
                let NameMatch::One(index) = present.find(shown.full.as_str()) else {
                    return Err(held(&present, shown.full.as_str()).unwrap_or_else(gone));
                };
                let found = present.at(index).filter(|found| {
                    let (found, before) = (&found.tool, &shown.tool);
                    found.server == before.server && found.name == before.name
                });
                found.filter(|found| view.keeps(found)).cloned().ok_or_else(gone)?
            }
        };
        Ok(Judged { now, shown })
    }

    /// What the same agent sees now, narrowed as the view was.
    pub(in crate::kit) fn fresh(&self, view: &View) -> Arc<View> {
        let fresh = self.view(view.user(), view.agent());
        fresh.unwrap_or_else(|_| Arc::new(View::empty(view.user()))).narrowed_like(view)
    }

    /// Waits for the servers that could have a tool of this name and whose tools nobody knows yet.
    async fn wait_for_unlisted(&self, view: &View, name: &str) {
        let speaks = |server: &&ServerName| find::speaks_of(server, name);
        let mut meant: Vec<ServerName> = view.unlisted().filter(speaks).cloned().collect();
        if meant.is_empty() {
            // A name that speaks of a server whose tools are known is nobody else's.
            let mut listed = view.snapshot().parts().map(|part| &part.server);
            if listed.any(|server| speaks(&server)) {
                return;
            }
            meant = view.unlisted().cloned().collect();
        }
        self.wait_for(&meant, self.now().world.limits.wait_agent).await;
    }

    /// Waits until these servers have listed their tools, or will not soon.
    pub(in crate::kit) async fn wait_for(&self, servers: &[ServerName], at_most: Duration) {
        let now = self.now();
        let opened = servers.iter().filter_map(|server| now.links.get(server));
        let all = futures_util::future::join_all(opened.map(|opened| opened.settled()));
        let _ = tokio::time::timeout(at_most, all).await;
    }
}

fn resolve<'v>(view: &'v View, name: &str, found: NameMatch) -> Result<&'v Arc<ViewTool>, CallError> {
    let names = |indexes: &[usize]| -> Vec<String> {
        indexes.iter().filter_map(|index| Some(view.at(*index)?.name.to_string())).collect()
    };
    match found {
        NameMatch::One(index) => view.at(index).ok_or_else(|| not_found(view, name, Vec::new())),
        NameMatch::Ambiguous(indexes) => {
            let names = names(&indexes[..indexes.len().min(MOST_NAMES)]);
            let more = match indexes.len() - names.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let message = format!("{name:?} may mean any of {}{more}", names.join(", "));
            Err(CallError::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names)))
        }
        NameMatch::None { near } => Err(held(view, name).unwrap_or_else(|| absent(view, name, names(&near)))),
    }
}

/// That a tool of this name waits for a person's approval.
fn held(view: &View, name: &str) -> Option<CallError> {
    let (hidden, why) = view.held(name)?;
    let message = format!(
        "is held: {why}; kitbag pins diff {0}/{1}, then kitbag pins approve {0}/{1}",
        hidden.server, hidden.tool
    );
    Some(CallError::new(ErrorKind::Held, message).of(&hidden.server, &hidden.tool))
}

/// Why a name means nothing in a view: a server that may have such a tool is away, or no server has it. `near` are names
/// like it.
pub fn absent(view: &View, name: &str, near: Vec<String>) -> CallError {
    away(view, name, &near).unwrap_or_else(|| not_found(view, name, near))
}

/// That a server which may have the tool is not there: the one the name speaks of, else all whose tools nobody knows.
fn away(view: &View, name: &str, near: &[String]) -> Option<CallError> {
    let is_unknown = |server: &ServerName| view.snapshot().part(server).is_none();
    let away: Vec<(&ServerName, &Unreachable)> =
        view.away().filter(|(server, _)| is_unknown(server)).collect();
    if let Some((server, away)) = away.iter().find(|(server, _)| find::speaks_of(server, name)) {
        let failure = CallError::new(away.kind, away.why.clone());
        return Some(CallError { server: Some((*server).clone()), ..failure });
    }
    // A name that speaks of another server is not one of theirs, and one that is almost known is a slip.
    if find::is_qualified(name) || !near.is_empty() {
        return None;
    }
    let ((server, first), others) = away.split_first()?;
    let is_alike = others.iter().all(|(_, away)| away.kind == first.kind);
    let kind = if is_alike { first.kind } else { ErrorKind::Unavailable };
    // They may have it or not: a model is told of their state alone, as for every other name.
    let server = others.is_empty().then(|| (*server).clone());
    Some(CallError { kind, server, ..not_found(view, name, Vec::new()) })
}

/// A bare name never reaches one server because another is slow.
fn not_sure(view: &View, name: &str, found: &NameMatch) -> CallError {
    let unlisted: Vec<&str> = view.unlisted().map(ServerName::as_str).collect();
    let shown = if let NameMatch::One(index) = found { view.at(*index) } else { None };
    let Some(shown) = shown else { return not_found(view, name, Vec::new()) };
    let message = format!(
        "{name:?} is a tool of {}, and may be one of {}, whose tools are not known yet",
        shown.tool.server,
        unlisted.join(", ")
    );
    let names = vec![shown.full.to_string()];
    CallError::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names))
}

/// That a view has no tool of this name. Servers that are away may have it, and a model should know that the list is
/// not complete: by their state alone, and only those it may know of.
pub(super) fn not_found(view: &View, name: &str, near: Vec<String>) -> CallError {
    let away: Vec<String> = view.away().map(|(server, away)| format!("{server} is {}", away.state)).collect();
    let away = if away.is_empty() { String::new() } else { format!("; not connected: {}", away.join("; ")) };
    let shown: String = kitbag_core::text::visible(name).chars().take(120).collect();
    let failure = CallError::new(ErrorKind::NotFound, format!("no tool is called {shown:?}{away}"));
    failure.repair(Repair::Names(near))
}
