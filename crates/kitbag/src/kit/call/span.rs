//! The `tracing` span of a call, `mcp.call`: `call` (its id), `user`, `server`, `tool` and `outcome` (`ok`, or the kind of the error), never
//! arguments or results.

use kitbag_core::{ErrorKind, UserId};
use tracing::{Span, field};

use crate::execute::{CallError, CallId, CallResult};

/// One call, from its caller to the end of its hooks.
pub(in crate::kit) fn begin(call: CallId, user: &UserId) -> Span {
    let empty = field::Empty;
    tracing::info_span!("mcp.call", %call, %user, server = empty, tool = empty, outcome = empty)
}

/// How a call ended. Names come from the catalog: what was asked for and means no tool is not told.
pub(in crate::kit) fn end(span: &Span, done: &Result<CallResult, CallError>) {
    if span.is_disabled() {
        return;
    }
    let (server, tool, kind) = match done {
        Ok(result) => (Some(&result.info.server), Some(&result.info.tool), result.kind()),
        Err(error) => (error.server.as_ref(), error.tool.as_ref(), Some(error.kind)),
    };
    if let Some(server) = server {
        span.record("server", server.as_str());
    }
    if let Some(tool) = tool {
        span.record("tool", tool.as_str());
    }
    span.record("outcome", kind.map_or("ok", ErrorKind::as_str));
}
