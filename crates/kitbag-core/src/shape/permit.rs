//! Who may see and call what. One question serves listing, describing, searching and calling, so that what is
//! denied is invisible and uncallable.

use super::policy::ToolAccess;
use crate::catalog::Tool;
use crate::model::{Risk, TrifectaPolicy};
use crate::names::UserId;

/// Whether a user may see and call a tool: the answer of [`Authorize`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Allow,
    /// After a person said yes.
    Ask,
    /// No, for a reason.
    Deny(String),
}

/// Decides whether a user may see and call a tool.
///
/// ```
/// use kitbag_core::UserId;
/// use kitbag_core::catalog::Tool;
/// use kitbag_core::shape::{Authorize, Decision};
///
/// /// Only admins delete; others have to ask.
/// struct Roles;
///
/// impl Authorize for Roles {
///     fn authorize(&self, user: &UserId, tool: &Tool) -> Decision {
///         match (user.as_str(), tool.name.as_str().starts_with("delete_")) {
///             ("admin", _) | (_, false) => Decision::Allow,
///             (_, true) => Decision::Ask,
///         }
///     }
///
///     fn revision(&self) -> Option<u64> {
///         Some(0) // these answers never change
///     }
/// }
/// ```
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

/// Why a tool is not in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolRefusal {
    /// Its user may not have it; as if it were not there.
    Denied(String),
    /// Its definition is not the one that was approved, or nobody approved it. Whoever asks for it is told.
    Held(String),
}

/// What the user of a view may do with tools.
pub trait Permissions {
    /// What may be done with a tool; why nothing otherwise.
    fn access(&self, tool: &Tool) -> Result<ToolAccess, ToolRefusal>;

    /// What a tool may do to the world, as far as somebody vouches for it.
    fn risk(&self, tool: &Tool) -> Risk {
        tool.marks.risk
    }

    /// What becomes of a set of tools by which private data can be carried off.
    fn trifecta(&self) -> TrifectaPolicy {
        TrifectaPolicy::default()
    }
}

/// What a program's own permit lets a user do.
pub struct PermittedBy<'a>(pub &'a UserId, pub &'a dyn Authorize);

impl Permissions for PermittedBy<'_> {
    fn access(&self, tool: &Tool) -> Result<ToolAccess, ToolRefusal> {
        ToolAccess::of(self.1.authorize(self.0, tool)).map_err(ToolRefusal::Denied)
    }
}
