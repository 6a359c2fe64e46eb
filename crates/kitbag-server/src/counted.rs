//! One call, counted however it ends: also when its client leaves and nothing of it goes on.

use std::sync::Arc;

use kitbag::{CallError, CallResult, ErrorKind, ServerName};
use kitbag_core::names::lookup::NameMatch;
use tokio::time::Instant;

use crate::client::Client;
use crate::metrics::Metrics;

/// A call on its way.
pub(crate) struct Counted<'a> {
    metrics: Option<&'a Arc<Metrics>>,
    client: &'a Client,
    tool: &'a str,
    began: Instant,
}

impl<'a> Counted<'a> {
    pub(crate) fn begin(client: &'a Client, tool: &'a str) -> Self {
        Self { metrics: client.endpoint.metrics(), client, tool, began: Instant::now() }
    }

    /// It ended by itself.
    pub(crate) fn end(mut self, done: &Result<CallResult, CallError>) {
        let Some(metrics) = self.metrics.take() else { return };
        let (server, kind) = match done {
            Ok(result) => (Some(&result.info.server), result.kind()),
            Err(error) => (error.server.as_ref(), Some(error.kind)),
        };
        metrics.called(server, kind, self.began.elapsed());
    }

    /// Whose tool it was to be.
    fn server(&self) -> Option<ServerName> {
        let (view, _) = self.client.view().ok()?;
        let NameMatch::One(at) = view.find(self.tool) else { return None };
        view.at(at).map(|shown| shown.tool.server.clone())
    }
}

impl Drop for Counted<'_> {
    /// Its client no longer waits for it.
    fn drop(&mut self) {
        if let Some(metrics) = self.metrics.take() {
            metrics.called(self.server().as_ref(), Some(ErrorKind::Cancelled), self.began.elapsed());
        }
    }
}
