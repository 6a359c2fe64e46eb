//! Whoever wants to look at, change, answer or refuse calls: audit, redaction, caches, rate limits.

use std::future::Future;
use std::pin::Pin;

use kitbag_core::{ErrorKind, ServerName, UserId};
use serde_json::{Map, Value};

use super::{CallResult, Failure};

/// A call on its way to its server, in the server's own words. A hook may change arguments and `_meta`.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// For whom.
    pub user: UserId,
    /// Whose tool it is; none only where a call ended because it means no tool.
    pub server: Option<ServerName>,
    /// What the server calls it; what was asked for, where that means no tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// What goes with it into `_meta`.
    pub meta: Map<String, Value>,
}

/// What becomes of a call.
#[derive(Debug)]
pub enum Flow {
    /// It goes on.
    Go,
    /// It is answered here; the server is not asked.
    Answer(Box<CallResult>),
    /// It ends here.
    Refuse(ErrorKind, String),
}

/// Something on its way out of a hook.
pub type HookFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Looks at every call, before and after.
pub trait Hook: Send + Sync {
    /// Before it is sent.
    fn before<'a>(&'a self, _call: &'a mut Outgoing) -> HookFuture<'a, Flow> {
        Box::pin(async { Flow::Go })
    }

    /// After it ended, one way or the other: also when it meant no tool, did not fit, was refused, or its caller no
    /// longer waits for it.
    fn after<'a>(
        &'a self,
        _call: &'a Outgoing,
        _result: &'a mut Result<CallResult, Failure>,
    ) -> HookFuture<'a, ()> {
        Box::pin(async {})
    }
}
