//! Calls that need approval by a person. Where nobody can be asked, the answer is no.

use futures_util::future::BoxFuture;
use kitbag_core::{ServerName, UserId};
use serde_json::{Map, Value};

pub use crate::store::ApprovalAnswer;

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
    /// Which rule asks for it.
    pub why: String,
}

/// Asks a person whether a call may be made; see [`crate::OpenOptions::approver`].
///
/// ```
/// use kitbag::{ApprovalAnswer, ApprovalRequest, Approver, BoxFuture};
///
/// /// Says yes to one user.
/// struct OnlyAda;
///
/// impl Approver for OnlyAda {
///     fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
///         let says = if approval.user.as_str() == "ada" { ApprovalAnswer::Once } else { ApprovalAnswer::No };
///         Box::pin(async move { says })
///     }
/// }
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Whether a call may be made, and for how long that holds. The call waits for it, up to its total clock. Where there is
    /// a store ([`crate::OpenOptions::store`]), another process of the same user may answer first.
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer>;

    /// Whether it asks anybody in this process. Where not, and the question cannot be kept in the store, nobody can answer and
    /// the call is refused at once.
    fn asks_here(&self) -> bool {
        true
    }
}

/// Asks nobody here: whoever reads `kitbag approvals` in another process answers, or nobody in time.
pub struct AskElsewhere;

impl Approver for AskElsewhere {
    fn approve(&self, asked: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        tracing::warn!(
            target: "kitbag::approval",
            user = asked.user.as_str(),
            server = asked.server.as_str(),
            tool = asked.tool,
            "a call waits for approval: kitbag approvals"
        );
        Box::pin(std::future::pending())
    }

    fn asks_here(&self) -> bool {
        false
    }
}
