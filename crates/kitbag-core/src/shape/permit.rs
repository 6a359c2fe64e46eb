//! Who may see and call what. One question serves listing, describing, searching and calling, so that what is
//! denied is invisible and uncallable.

use crate::catalog::Tool;
use crate::names::UserId;

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Allow,
    /// After a person said yes.
    Ask,
    /// No, for a reason.
    Deny(String),
}

/// Answers whether a user may see and call a tool.
pub trait Authorize: Send + Sync {
    /// Decides by the tool as its server names it; what the server claims about it does not count.
    fn authorize(&self, user: &UserId, tool: &Tool) -> Decision;

    /// Counts the changes of what it answers: as long as the number stays, so do all answers. `None` when it
    /// is not known; views then ask anew each time.
    fn revision(&self) -> Option<u64> {
        None
    }
}

/// Everybody may do everything: the local user's rule, until permissions say otherwise.
pub struct AllowAll;

impl Authorize for AllowAll {
    fn authorize(&self, _user: &UserId, _tool: &Tool) -> Decision {
        Decision::Allow
    }

    fn revision(&self) -> Option<u64> {
        Some(0)
    }
}
