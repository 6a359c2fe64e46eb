//! Calls that need a person's yes. Where nobody can be asked, the answer is no.

use std::future::Future;
use std::pin::Pin;

use kitbag_core::{ServerName, UserId};
use serde_json::{Map, Value};

/// A call that waits for a person's yes.
#[derive(Clone, Debug)]
pub struct Approval {
    /// For whom the call is made.
    pub user: UserId,
    /// Whose tool it is.
    pub server: ServerName,
    /// What the server calls it.
    pub tool: String,
    /// Its arguments, as the server would get them.
    pub arguments: Map<String, Value>,
}

/// The answer on its way: whether the call may be made.
pub type ApprovalFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Asks a person.
pub trait Approver: Send + Sync + 'static {
    /// Whether a call may be made. The call waits for it, up to its total clock.
    fn approve(&self, approval: Approval) -> ApprovalFuture<'_>;
}
