//! Calls by name, with one record each, whichever way they end.

use kitbag_core::shape::View;
use kitbag_core::{ErrorKind, ServerName};

use super::Kitbag;
use super::views::WHOSE;
use crate::connect::{Call, CallError, Reply};
use crate::execute::{ANSWERER, CallResult, Failure, ToolCall, Watched, troubled};

mod entry;
mod meaning;
mod way;

use entry::Entry;
pub use meaning::absent;
use way::Way;

impl Kitbag {
    /// Calls a tool of a view. What the files and permits say now holds, also for a view that is older.
    pub async fn call_tool(&self, view: &View, call: ToolCall<'_>) -> Result<CallResult, Failure> {
        let mut entry = Entry::new(self, view.user(), &call);
        let done = Way { kit: &self.0, view, call: &call }.go(&mut entry).await;
        entry.end(done).await
    }

    /// Calls a tool for whom this was opened: by name, with arguments as JSON text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<CallResult, Failure> {
        let call = ToolCall::new(tool, arguments);
        match self.0.own_view_or() {
            Ok(view) => self.call_tool(&view, call).await,
            Err(trouble) => {
                let entry = Entry::new(self, self.user(), &call);
                entry.end(Err(troubled(WHOSE, &trouble))).await
            }
        }
    }

    /// Several calls side by side. Results stand in the order of the calls, and none waits for another's
    /// failure.
    pub async fn call_all(&self, view: &View, calls: Vec<ToolCall<'_>>) -> Vec<Result<CallResult, Failure>> {
        futures_util::future::join_all(calls.into_iter().map(|call| self.call_tool(view, call))).await
    }

    /// Calls a tool by its server's own names, past every rule: what is below everything else.
    pub async fn send(&self, server: &ServerName, mut call: Call<'_>) -> Result<Reply, CallError> {
        let tool = call.tool;
        let failed = |kind, message| {
            let (server, tool) = (server.clone(), tool.to_owned());
            CallError { kind, server, tool, message, code: None, reason: None }
        };
        let Some(link) = self.link(server) else {
            return Err(failed(ErrorKind::NotFound, "is not in use".to_owned()));
        };
        let Some(responder) = call.responder.take().or_else(|| self.0.options.responder.clone()) else {
            return link.call(call).await;
        };
        let watched = async {
            let watched = Watched::new(&responder, &self.0.threads, &self.0.now().world.limits).await?;
            call.responder = Some(watched.clone());
            watched.unless_troubled(link.call(call)).await
        };
        let done = watched.await;
        done.unwrap_or_else(|trouble| Err(failed(ErrorKind::Internal, format!("{ANSWERER} {trouble}"))))
    }
}
