//! Whoever wants to look at, change, answer or refuse calls: audit, redaction, caches, rate limits.

use futures_util::future::BoxFuture;
use kitbag_core::{ErrorKind, ServerName, UserId};
use serde_json::{Map, Value};

use super::{CallError, CallResult};

/// A call on its way to its server, in the server's own words. A hook may change arguments and `_meta`.
#[derive(Clone, Debug)]
pub struct OutgoingCall {
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

/// What a [`Hook`] decides about a call before it is sent.
#[derive(Debug)]
pub enum HookAction {
    /// It goes on.
    Go,
    /// It is answered here; the server is not asked.
    Answer(Box<CallResult>),
    /// It ends here.
    Refuse(ErrorKind, String),
}

/// Sees every call before it is sent and after it ended: for audit, redaction, caches, rate limits.
///
/// ```
/// use kitbag::{BoxFuture, ErrorKind, Hook, HookAction, OutgoingCall};
///
/// /// Refuses calls that would send a password.
/// struct NoPasswords;
///
/// impl Hook for NoPasswords {
///     fn before<'a>(&'a self, call: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
///         Box::pin(async move {
///             if call.arguments.contains_key("password") {
///                 return HookAction::Refuse(ErrorKind::Denied, "no passwords".to_owned());
///             }
///             HookAction::Go
///         })
///     }
/// }
/// ```
pub trait Hook: Send + Sync {
    /// Before it is sent.
    fn before<'a>(&'a self, _call: &'a mut OutgoingCall) -> BoxFuture<'a, HookAction> {
        Box::pin(async { HookAction::Go })
    }

    /// After it ended, one way or the other: also when it meant no tool, did not fit, was refused, or its caller no
    /// longer waits for it.
    fn after<'a>(
        &'a self,
        _call: &'a OutgoingCall,
        _result: &'a mut Result<CallResult, CallError>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}
