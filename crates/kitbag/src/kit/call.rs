//! Calls by name, with one record each, whichever way they end.

use std::sync::Arc;

use kitbag_core::shape::View;
use kitbag_core::{ErrorKind, ServerName};
use tracing::Instrument as _;

use super::Kitbag;
use super::views::WHOSE;
use crate::connect::{Link, RawCall, RawCallError, RawReply, RawRequest, Responder};
use crate::execute::{ANSWERER, CallError, CallOptions, CallParts, CallResult, ToolCall, Watched, troubled};

mod approval;
mod entry;
mod instead;
mod meaning;
pub(super) mod span;
mod way;

pub(super) use approval::SessionGrants;
pub(super) use entry::Entry;
pub(super) use meaning::Judged;
pub use meaning::absent;
pub(super) use way::{Way, link_in};

impl Kitbag {
    /// Calls a tool of a view. What the files and permits say now holds, also for a view that is older.
    pub async fn call_tool(&self, view: &View, call: ToolCall) -> Result<CallResult, CallError> {
        self.call_parts(view, call.parts()).await
    }

    pub(super) async fn call_parts(&self, view: &View, call: CallParts<'_>) -> Result<CallResult, CallError> {
        let mut entry = Entry::new(self, view.user(), call);
        let way = Way { kit: &self.0, view, call };
        let span = span::begin(entry.id, view.user());
        let done = match &call.options.cancel {
            None => way.go(&mut entry).instrument(span.clone()).await,
            Some(cancel) => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(CallError::new(ErrorKind::Cancelled, "the caller cancelled it")),
                done = way.go(&mut entry).instrument(span.clone()) => done,
            },
        };
        let done = entry.end(done).await;
        span::end(&span, &done);
        done
    }

    /// Calls a tool for whom this was opened: by name, with arguments as JSON text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<CallResult, CallError> {
        let call = CallParts { tool, arguments, options: &CallOptions::default() };
        match self.0.own_view_or() {
            Ok(view) => self.call_parts(&view, call).await,
            Err(trouble) => {
                let entry = Entry::new(self, self.user(), call);
                entry.end(Err(troubled(WHOSE, &trouble))).await
            }
        }
    }

    /// Several calls side by side. Results stand in the order of the calls, and none waits for another's
    /// failure.
    pub async fn call_all(&self, view: &View, calls: Vec<ToolCall>) -> Vec<Result<CallResult, CallError>> {
        futures_util::future::join_all(calls.into_iter().map(|call| self.call_tool(view, call))).await
    }

    /// Calls a tool by its server's own names, past every rule: what is below everything else.
    pub async fn call_raw(
        &self,
        server: &ServerName,
        mut call: RawCall<'_>,
    ) -> Result<RawReply, RawCallError> {
        let (tool, responder) = (call.tool, call.responder.take());
        let made = |link: Link, responder| async move { link.call(RawCall { responder, ..call }).await };
        self.below(server, tool, responder, made).await
    }

    /// Makes a request of any method, past every rule and permit: the operator's way to what is not a tool. Limits,
    /// timeouts, recovery and whoever answers questions are those of calls.
    ///
    /// ```no_run
    /// use kitbag::connect::RawRequest;
    /// use kitbag::{Kitbag, ServerName};
    ///
    /// # async fn example(kit: Kitbag) -> Result<(), Box<dyn std::error::Error>> {
    /// let params = serde_json::value::to_raw_value(&serde_json::json!({}))?;
    /// let reply = kit.request(&ServerName::parse("docs")?, RawRequest::new("resources/list", &params)).await?;
    /// println!("{}", reply.result);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn request(
        &self,
        server: &ServerName,
        mut request: RawRequest<'_>,
    ) -> Result<RawReply, RawCallError> {
        let (method, responder) = (request.method, request.responder.take());
        let made =
            |link: Link, responder| async move { link.request(RawRequest { responder, ..request }).await };
        self.below(server, method, responder, made).await
    }

    /// Something made through a server's link itself, with a responder that is watched.
    async fn below<F: Future<Output = Result<RawReply, RawCallError>>>(
        &self,
        server: &ServerName,
        subject: &str,
        responder: Option<Arc<dyn Responder>>,
        made: impl FnOnce(Link, Option<Arc<dyn Responder>>) -> F,
    ) -> Result<RawReply, RawCallError> {
        let failed = |kind, message| {
            let (server, tool) = (server.clone(), subject.to_owned());
            RawCallError { kind, server, tool, message, code: None, data: None, reason: None }
        };
        let Some(link) = self.link(server) else {
            return Err(failed(ErrorKind::NotFound, "is not in use".to_owned()));
        };
        let Some(responder) = self.0.responder(responder) else {
            return made(link, None).await;
        };
        let watched = async {
            let watched = Watched::new(&responder, &self.0.threads, &self.0.now().world.limits).await?;
            watched.unless_troubled(made(link, Some(watched.clone()))).await
        };
        let done = watched.await;
        done.unwrap_or_else(|trouble| Err(failed(ErrorKind::Internal, format!("{ANSWERER} {trouble}"))))
    }
}
