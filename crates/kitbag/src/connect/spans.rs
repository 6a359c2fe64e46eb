//! `tracing` spans for opening and listing: which server, and what came of it.
//!
//! | span | fields |
//! |---|---|
//! | `mcp.open` | `server`, `outcome` (`ready`, or the class of the reason) |
//! | `mcp.list` | `server`, `outcome` (`ok`, or `failed`), `tools` |

use kitbag_core::ServerName;
use tracing::{Span, field};

/// One try to connect to a server and agree on the protocol.
pub(crate) fn open(server: &ServerName) -> Span {
    tracing::info_span!("mcp.open", %server, outcome = field::Empty)
}

/// One listing of a server's tools.
pub(crate) fn list(server: &ServerName) -> Span {
    tracing::debug_span!("mcp.list", %server, outcome = field::Empty, tools = field::Empty)
}

/// How a listing ended: with how many tools, if with any list.
pub(crate) fn end_list(span: &Span, tools: Option<usize>) {
    span.record("outcome", if tools.is_some() { "ok" } else { "failed" });
    if let Some(tools) = tools {
        span.record("tools", tools);
    }
}
