//! Calls that need approval by a person. Where nobody can be asked, the answer is no.

use futures_util::future::BoxFuture;
use kitbag_core::{ServerName, UserId};
use serde_json::{Map, Value};

/// A call that waits for a person's approval.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// For whom the call is made.
    pub user: UserId,
    /// Whose tool it is.
    pub server: ServerName,
    /// What the server calls it.
    pub tool: String,
    /// Its arguments, as the server would get them.
    pub arguments: Map<String, Value>,
}

/// Asks a person whether a call may be made; see [`crate::OpenOptions::approver`].
///
/// ```
/// use kitbag::{ApprovalRequest, Approver, BoxFuture};
///
/// /// Says yes to one user.
/// struct OnlyAda;
///
/// impl Approver for OnlyAda {
///     fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, bool> {
///         Box::pin(async move { approval.user.as_str() == "ada" })
///     }
/// }
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Whether a call may be made. The call waits for it, up to its total clock.
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, bool>;
}
