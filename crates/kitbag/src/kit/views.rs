//! What one user's agent sees, and calling it.

use std::sync::{Arc, PoisonError};

use kitbag_core::catalog::{Change, Snapshot, changes};
use kitbag_core::model::AgentRules;
use kitbag_core::names::Form;
use kitbag_core::shape::{ClashError, View, ViewRequest};
use kitbag_core::text::nearest;
use kitbag_core::{ErrorKind, ServerName, Transport, UserId};
use tokio::sync::watch;

use super::Kitbag;
use crate::connect::{Call, CallError, Link, Reply};
use crate::execute::{CallResult, Failure, Links, Runner, ToolCall};

/// An agent nobody described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no agent is called {name:?}")]
pub struct NoAgent {
    /// What was asked for.
    pub name: String,
    /// What may have been meant.
    pub near: Option<String>,
}

impl Kitbag {
    /// What the files say about an agent.
    pub fn agent(&self, name: &str) -> Result<AgentRules, NoAgent> {
        let state = self.state();
        let agents = || state.setup.settings.iter().flat_map(|(_, settings)| &settings.agents);
        let found = agents().rfind(|(agent, _)| agent == name);
        found.map(|(_, rules)| rules.clone()).ok_or_else(|| {
            let near = nearest(name, agents().map(|(name, _)| name.as_str())).map(str::to_owned);
            NoAgent { name: name.to_owned(), near }
        })
    }

    /// What a user's agent sees now. Equal states give the same view.
    pub fn view(&self, user: &UserId, agent: &AgentRules) -> Result<Arc<View>, ClashError> {
        let snapshot = self.snapshot();
        let state = self.state();
        let key = format!("{user} {agent:?}");
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let before = views.get(&key).filter(|(generation, _)| *generation == state.generation);
        let before = before.map(|(_, view)| view.clone());
        if let Some(view) = before.as_ref().filter(|view| Arc::ptr_eq(view.snapshot(), &snapshot)) {
            return Ok(view.clone());
        }
        let settings = state.setup.settings.iter().rev();
        let form = settings.filter_map(|(_, settings)| settings.names).next().unwrap_or(Form::Full);
        let view = Arc::new(View::new(&ViewRequest {
            snapshot: &snapshot,
            shapers: &state.shapers,
            rules: &self.options.rules,
            agent,
            form: agent.names.unwrap_or(form),
            user,
            permit: &*self.permit,
            local: Some(&self.local),
            before: before.as_deref(),
        })?);
        // As many as users and agents there are; one that asks for everything under new rules each time
        // must not fill the memory.
        if 1_000 <= views.len() {
            views.clear();
        }
        views.insert(key, (state.generation, view.clone()));
        Ok(view)
    }

    /// What the local user sees without any agent's wishes.
    pub fn local_view(&self) -> Arc<View> {
        let rules = AgentRules::default();
        // Only the policy that asks for an error can end in one, and this is another.
        self.view(&UserId::local(), &rules).unwrap_or_else(|_| Arc::new(View::empty(&UserId::local())))
    }

    /// Calls a tool of a view.
    pub async fn call_tool(&self, view: &View, call: ToolCall<'_>) -> Result<CallResult, Failure> {
        let runner = Runner {
            links: self,
            locals: &self.locals,
            local: &self.local,
            limits: &self.around.limits,
            hooks: &self.options.hooks,
            permit: &*self.permit,
            results: &self.results,
            records: &self.records,
        };
        runner.run(view, call).await
    }

    /// Calls a tool as the local user: by name, with arguments as JSON text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<CallResult, Failure> {
        self.call_tool(&self.local_view(), ToolCall::new(tool, arguments)).await
    }

    /// Several calls side by side. Results stand in the order of the calls, and none waits for another's
    /// failure.
    pub async fn call_all(&self, view: &View, calls: Vec<ToolCall<'_>>) -> Vec<Result<CallResult, Failure>> {
        futures_util::future::join_all(calls.into_iter().map(|call| self.call_tool(view, call))).await
    }

    /// Calls a tool by its server's own names, past every rule: what is below everything else.
    pub async fn send(&self, server: &ServerName, call: Call<'_>) -> Result<Reply, CallError> {
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

    /// Tells what happens to tools from now on.
    pub fn changes(&self) -> Changes {
        let mut watch = self.watch();
        let last = watch.borrow_and_update().clone();
        Changes { watch, last }
    }
}

impl Links for Kitbag {
    fn link(&self, server: &ServerName) -> Option<(Link, Transport)> {
        self.state().open.get(server).map(|opened| (opened.lease.link().clone(), opened.transport))
    }

    fn why_none(&self, server: &ServerName) -> String {
        self.state().why_none(server).to_owned()
    }
}

/// What happens to tools, as it happens.
pub struct Changes {
    watch: watch::Receiver<Arc<Snapshot>>,
    last: Arc<Snapshot>,
}

impl Changes {
    /// The next changes; none when the catalog is closed.
    pub async fn next(&mut self) -> Option<Vec<Change>> {
        loop {
            self.watch.changed().await.ok()?;
            let now = self.watch.borrow_and_update().clone();
            let found = changes(&self.last, &now);
            self.last = now;
            if !found.is_empty() {
                return Some(found);
            }
        }
    }
}
