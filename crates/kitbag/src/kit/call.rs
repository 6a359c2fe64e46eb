//! Calls by name: what a name means, waiting for servers that could change what it means, and sending.

use std::sync::Arc;
use std::time::Duration;

use kitbag_core::names::lookup::{By, Found};
use kitbag_core::shape::{Shown, View};
use kitbag_core::{ErrorKind, ServerName};

use super::{Inner, Kitbag};
use crate::connect::{Call, CallError, Reply};
use crate::execute::{CallResult, Failure, Repair, Runner, ToolCall, not_found};

impl Kitbag {
    /// Calls a tool of a view. What the files and permits say now holds, also for a view that is older.
    pub async fn call_tool(&self, view: &View, call: ToolCall<'_>) -> Result<CallResult, Failure> {
        let kit = &*self.0;
        let shown = kit.meant(view, call.tool).await?;
        let now = kit.now();
        let runner = Runner {
            roster: &kit.roster,
            locals: &kit.locals,
            world: &now.world,
            hooks: &kit.options.hooks,
            permit: &*kit.permit,
            approver: kit.options.approver.as_deref(),
            responder: kit.options.responder.as_ref(),
            results: &kit.results,
            records: &kit.records,
        };
        runner.run(view, &shown, call).await
    }

    /// Calls a tool for whom this was opened: by name, with arguments as JSON text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<CallResult, Failure> {
        self.call_tool(&self.own_view(), ToolCall::new(tool, arguments)).await
    }

    /// Several calls side by side. Results stand in the order of the calls, and none waits for another's
    /// failure.
    pub async fn call_all(&self, view: &View, calls: Vec<ToolCall<'_>>) -> Vec<Result<CallResult, Failure>> {
        futures_util::future::join_all(calls.into_iter().map(|call| self.call_tool(view, call))).await
    }

    /// Calls a tool by its server's own names, past every rule: what is below everything else.
    pub async fn send(&self, server: &ServerName, mut call: Call<'_>) -> Result<Reply, CallError> {
        if call.responder.is_none() {
            call.responder.clone_from(&self.0.options.responder);
        }
        match self.link(server) {
            Some(link) => link.call(call).await,
            None => Err(CallError {
                kind: ErrorKind::NotFound,
                server: server.clone(),
                tool: call.tool.to_owned(),
                message: "is not in use".to_owned(),
                code: None,
            }),
        }
    }
}

impl Inner {
    /// The tool a name means in a view, as it is now.
    async fn meant(&self, view: &View, name: &str) -> Result<Arc<Shown>, Failure> {
        let (found, by) = view.find_by(name);
        // A name that is nobody's yet, or that only fits as a tool's own name, may belong to a server that has not
        // said what it has.
        let is_open = match &found {
            Found::One(_) => by == By::Own,
            Found::None { .. } => true,
            Found::Ambiguous(_) => false,
        };
        if is_open && view.unlisted().next().is_some() {
            self.wait_for_unlisted(view, name).await;
            let fresh = self.fresh(view);
            let (found, by) = fresh.find_by(name);
            if matches!(found, Found::One(_)) && by == By::Own {
                sure(&fresh, name, &found)?;
            }
            return self.as_now(&fresh, resolve(&fresh, name, found)?);
        }
        self.as_now(view, resolve(view, name, found)?)
    }

    /// The tool as the rules and permits of this moment have it. A view that somebody held for long shows it as it
    /// was.
    fn as_now(&self, view: &View, shown: &Arc<Shown>) -> Result<Arc<Shown>, Failure> {
        let gone = || not_found(view, shown.name.as_str(), Vec::new());
        let now = self.view(view.user(), view.agent()).map_err(|_| gone())?;
        if std::ptr::eq(&*now, view) {
            return Ok(shown.clone());
        }
        let Found::One(index) = now.find(shown.full.as_str()) else { return Err(gone()) };
        let found = now.at(index).filter(|found| {
            found.tool.server == shown.tool.server && found.tool.name == shown.tool.name && view.keeps(found)
        });
        found.cloned().ok_or_else(gone)
    }

    /// What the same agent sees now, narrowed as the view was.
    pub(super) fn fresh(&self, view: &View) -> Arc<View> {
        let fresh = self.view(view.user(), view.agent());
        fresh.unwrap_or_else(|_| Arc::new(View::empty(view.user()))).narrowed_like(view)
    }

    /// Waits for the servers that could have a tool of this name and whose tools nobody knows yet.
    async fn wait_for_unlisted(&self, view: &View, name: &str) {
        let speaks = |server: &&ServerName| super::find::speaks_of(server, name);
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
    pub(super) async fn wait_for(&self, servers: &[ServerName], at_most: Duration) {
        let now = self.now();
        let opened = servers.iter().filter_map(|server| now.links.get(server));
        let all = futures_util::future::join_all(opened.map(|opened| opened.settled()));
        let _ = tokio::time::timeout(at_most, all).await;
    }
}

fn resolve<'v>(view: &'v View, name: &str, found: Found) -> Result<&'v Arc<Shown>, Failure> {
    let names = |indexes: &[usize]| -> Vec<String> {
        indexes.iter().filter_map(|index| Some(view.at(*index)?.name.to_string())).collect()
    };
    match found {
        Found::One(index) => view.at(index).ok_or_else(|| not_found(view, name, Vec::new())),
        Found::Ambiguous(indexes) => {
            let names = names(&indexes);
            let message = format!("{name:?} may mean any of {}", names.join(", "));
            Err(Failure::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names)))
        }
        Found::None { near } => Err(away(view, name).unwrap_or_else(|| not_found(view, name, names(&near)))),
    }
}

/// That the server a name speaks of is not there, if that is why the name means nothing.
fn away(view: &View, name: &str) -> Option<Failure> {
    let (server, away) = view.away().find(|(server, _)| super::find::speaks_of(server, name))?;
    if view.snapshot().part(server).is_some() {
        return None;
    }
    let failure = Failure::new(ErrorKind::Unavailable, format!("is {}", away.why));
    Some(Failure { server: Some(server.clone()), ..failure })
}

/// A bare name never reaches one server because another is slow.
fn sure(view: &View, name: &str, found: &Found) -> Result<(), Failure> {
    let unlisted: Vec<&str> = view.unlisted().map(ServerName::as_str).collect();
    let (Found::One(index), false) = (found, unlisted.is_empty()) else { return Ok(()) };
    let Some(shown) = view.at(*index) else { return Ok(()) };
    let message = format!(
        "{name:?} is a tool of {}, and may be one of {}, whose tools are not known yet",
        shown.tool.server,
        unlisted.join(", ")
    );
    let names = vec![shown.full.to_string()];
    Err(Failure::new(ErrorKind::Ambiguous, message).repair(Repair::Names(names)))
}
